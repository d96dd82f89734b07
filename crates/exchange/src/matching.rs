//! The matching engine: limit, market and stop orders, price-time priority, replace and cancel.
//!
//! Sans-IO. Orders at one price form a queue; the prices of a side form a list that starts with the
//! best. Both are intrusive lists through slabs that are sized at the start, so nothing allocates.
//! The cost of trading and canceling does not depend on the depth of the book. Adding an order
//! walks from the best price to the order's price, because most orders are near the best price.
//!
//! Results are collected in an [`Accumulator`]; the engine calls no callbacks.
//!
//! CME's rules, from its pages on order types, order qualifiers and cancel-replace:
//!
//! | order | limit |
//! |---|---|
//! | limit | its price |
//! | market with protection | the opposite side's best price, plus the protection points |
//! | market-limit | the opposite side's best price |
//!
//! A market order of either kind is rejected if the opposite side is empty. The quantity that
//! cannot trade within the limit rests at the limit, behind all orders at that price. For a
//! fill-and-kill order it is eliminated instead. An order with a minimum quantity is eliminated as
//! a whole if that quantity cannot trade at once.
//!
//! Stop orders are stored outside the books until a trade triggers them; see [`StopOrder`].
//!
//! A replaced order keeps its priority if its price and kind stay and its open quantity does not
//! grow. Otherwise it enters the book again, and may trade.
//!
//! An order with a display quantity shows at most that quantity; the rest is hidden. When the shown
//! quantity has traded, it is shown again at the end of the queue, until the order is filled (CME,
//! page 46465381). An aggressor trades with hidden quantity after all that is shown at the price.
//!
//! Two orders with the same [`SelfMatchPrevention`] never trade with each other. Where they would,
//! the resting order or the rest of the aggressor is canceled, as the aggressor's instruction says.
//! Other orders of one owner trade with each other like any others.

mod accumulator;
mod order;
mod replace;
mod stop_orders;
mod trading_session;

pub use accumulator::{Accumulator, Fill, SelfMatchCancel, Trade};
pub use order::{
    NewOrder, Order, OrderId, OrderKind, Owner, Rejection, Replacement, SelfMatchInstruction,
    SelfMatchPrevention, Side, TimeInForce,
};
pub use replace::Replaced;
pub use stop_orders::StopOrder;

use accumulator::{Match, TradeNumbers};

use crate::Price;
use crate::slab::{NONE, Slab};

/// The sizes of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// The maximum number of resting orders in all books together, up to 16,777,215. One book holds
    /// up to 200,000 of them.
    pub orders: u32,
    /// The maximum number of price levels in all books together.
    pub levels: u32,
}

impl Default for Capacity {
    /// Returns sizes for the default flow. A hundred seeded books contain about 8,000 orders on
    /// 4,000 levels; the rest is for sessions.
    fn default() -> Self {
        Self { orders: 32_768, levels: 16_384 }
    }
}

/// The result of a new order. Contracts that neither rest nor were eliminated or canceled have
/// traded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Submitted {
    /// The id of the order.
    pub order: OrderId,
    /// The limit; for a market order the assigned one.
    pub price: Price,
    /// The contracts that rest.
    pub remaining: u32,
    /// The contracts that did not trade and may not rest.
    pub eliminated: u32,
    /// The contracts canceled by self-match prevention. The accumulator lists the cancel.
    pub prevented: u32,
}

/// The trading rules of one instrument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// The minimum price increment, positive.
    pub tick: Price,
    /// The distance beyond the best price to which a market order may trade: a multiple of the
    /// tick, or 0.
    pub protection: Price,
}

/// The resting orders at one price, as a sum.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct PriceLevel {
    /// The price.
    pub price: Price,
    /// The displayed quantity in contracts, summed over the orders.
    pub quantity: u32,
    /// The number of orders, at least 1.
    pub orders: u32,
}

/// The books of all instruments.
#[derive(Debug)]
pub struct Matching {
    books: Box<[Book]>,
    orders: Slab<Order>,
    levels: Slab<Level>,
    submissions: u64,
    /// The number of times an order has joined a queue, including re-entries.
    priorities: u64,
    numbers: TradeNumbers,
    /// The pending stop orders, oldest first. Their order slots are reserved and empty.
    stops: Vec<StopOrder>,
    /// The price of the last trade of each instrument, for stop orders.
    last: Box<[Option<Price>]>,
}

#[derive(Debug)]
struct Book {
    tick: i64,
    protection: i64,
    open: bool,
    best: [u32; 2],
    depth: [u32; 2],
    orders: u32,
    /// The times that hidden quantity may be shown, summed over the orders.
    tranches: u32,
    volume: u64,
}

/// The maximum number of orders in one book.
const BOOK_ORDERS_MAX: u32 = 200_000;

#[derive(Debug, Default, Clone, Copy)]
struct Level {
    view: PriceLevel,
    /// The quantity in contracts that is not displayed, summed over the orders.
    hidden: u32,
    first: u32,
    last: u32,
    better: u32,
    worse: u32,
}

impl Matching {
    /// Creates empty books, one for each of `terms`, open for trading.
    ///
    /// # Panics
    /// If terms violate the rules of [`Terms`] or `capacity.orders` exceeds 16,777,215.
    #[must_use]
    pub fn new(terms: impl IntoIterator<Item = Terms>, capacity: Capacity) -> Self {
        const LEVEL_QUANTITY_MAX: u64 = BOOK_ORDERS_MAX as u64 * NewOrder::MAX_QUANTITY as u64;
        const { assert!(LEVEL_QUANTITY_MAX < i32::MAX as u64) };
        assert!(
            capacity.orders < 1 << OrderId::SLOT_BITS,
            "capacity of {} orders exceeds 16777215",
            capacity.orders
        );
        let book = |Terms { tick, protection }: Terms| {
            assert!(tick.0 > 0, "tick {} is not positive", tick.0);
            let is_valid = protection.0 >= 0 && protection.0 % tick.0 == 0;
            assert!(
                is_valid,
                "protection {} is negative or not a multiple of the tick",
                protection.0
            );
            let (best, depth) = ([NONE; 2], [0; 2]);
            let (tick, protection) = (tick.0, protection.0);
            Book { tick, protection, open: true, best, depth, orders: 0, tranches: 0, volume: 0 }
        };
        let books: Box<[Book]> = terms.into_iter().map(book).collect();
        Self {
            stops: Vec::with_capacity(capacity.orders as usize),
            last: vec![None; books.len()].into(),
            books,
            orders: Slab::new(capacity.orders),
            levels: Slab::new(capacity.levels),
            submissions: 0,
            priorities: 0,
            numbers: TradeNumbers { trade: 1, side: 1 },
        }
    }

    /// Matches an order against the opposite side within its limit. The remainder rests behind all
    /// orders at its price, or is eliminated.
    ///
    /// # Errors
    /// See [`Rejection`]; nothing has changed then.
    pub fn submit(
        &mut self,
        new: &NewOrder,
        events: &mut Accumulator,
    ) -> Result<Submitted, Rejection> {
        self.check(new)?;
        let orders = self.books[new.instrument as usize].orders;
        let fills = self.fills_max(new.instrument, new.quantity);
        if self.levels.is_full() || orders == BOOK_ORDERS_MAX || !events.has_room(fills) {
            return Err(Rejection::Full);
        }
        let price = self.limit(new)?;
        let slot = self.orders.insert(Order::default()).ok_or(Rejection::Full)?;
        self.submissions += 1;
        let order = Order {
            id: OrderId::new(self.submissions, slot),
            instrument: new.instrument,
            side: new.side,
            kind: new.kind,
            price,
            quantity: new.quantity,
            remaining: new.quantity,
            display: new.display,
            shown: 0,
            traded: 0,
            time_in_force: new.time_in_force,
            owner: new.owner,
            self_match: new.self_match,
            quote: new.quote,
            priority: 0,
            mitigates: None,
            level: NONE,
            ahead: NONE,
            behind: NONE,
        };
        Ok(self.execute(order, new.minimum, events))
    }

    /// Cancels a resting order. Returns the order as it rested, or `None` if it does not rest.
    pub fn cancel(&mut self, id: OrderId, events: &mut Accumulator) -> Option<Order> {
        let order = *self.order(id)?;
        self.detach(id.slot());
        self.free(id.slot());
        events.touch(order.instrument);
        events.touch_order(id.slot());
        Some(order)
    }

    /// Returns a resting order.
    #[must_use]
    pub fn order(&self, id: OrderId) -> Option<&Order> {
        self.orders.at(id.slot()).filter(|order| order.id == id && id != OrderId::NONE)
    }

    /// Returns the best level of a side.
    #[must_use]
    pub fn best(&self, instrument: u32, side: Side) -> Option<PriceLevel> {
        self.levels(instrument, side).next()
    }

    /// Returns the levels of a side, best first.
    pub fn levels(&self, instrument: u32, side: Side) -> impl Iterator<Item = PriceLevel> + '_ {
        self.level_slots(instrument, side).map(|slot| self.levels[slot].view)
    }

    /// Returns the levels of a side with their whole quantity, displayed or hidden, best first.
    pub(crate) fn whole_levels(
        &self,
        instrument: u32,
        side: Side,
    ) -> impl Iterator<Item = PriceLevel> + '_ {
        self.level_slots(instrument, side).map(|slot| {
            let level = &self.levels[slot];
            PriceLevel { quantity: level.view.quantity + level.hidden, ..level.view }
        })
    }

    /// Returns the orders at the best price of a side, in order of priority.
    pub fn orders_at_best(&self, instrument: u32, side: Side) -> impl Iterator<Item = &Order> + '_ {
        let best = self.books[instrument as usize].best[side.index()];
        self.queue_from(if best == NONE { NONE } else { self.levels[best].first })
    }

    /// Returns the orders of a side, best price first, in order of priority at each price.
    pub fn orders(&self, instrument: u32, side: Side) -> impl Iterator<Item = &Order> + '_ {
        self.level_slots(instrument, side)
            .flat_map(|level| self.queue_from(self.levels[level].first))
    }

    /// Returns the resting order in a slot.
    pub(crate) fn order_in_slot(&self, slot: u32) -> Option<&Order> {
        self.orders.at(slot).filter(|order| order.id != OrderId::NONE)
    }

    /// Returns an order and the ones behind it in its queue; nothing for [`NONE`].
    fn queue_from(&self, first: u32) -> impl Iterator<Item = &Order> + '_ {
        let behind = |&slot: &u32| Some(self.orders[slot].behind).filter(|&slot| slot != NONE);
        core::iter::successors(Some(first).filter(|&slot| slot != NONE), behind)
            .map(|slot| &self.orders[slot])
    }

    /// Returns the number of levels of a side.
    #[must_use]
    pub fn depth(&self, instrument: u32, side: Side) -> u32 {
        self.books[instrument as usize].depth[side.index()]
    }

    /// Returns the number of contracts traded in an instrument.
    #[must_use]
    pub fn volume(&self, instrument: u32) -> u64 {
        self.books[instrument as usize].volume
    }

    /// Returns the maximum number of resting and pending orders.
    #[must_use]
    pub fn capacity(&self) -> u32 {
        self.orders.capacity()
    }

    /// Returns the number of resting orders and pending stop orders.
    #[must_use]
    pub fn resting(&self) -> u32 {
        self.orders.used()
    }

    /// Returns the number of instruments.
    #[must_use]
    pub fn instruments(&self) -> u32 {
        // The number was given as a `u32`.
        self.books.len() as u32
    }

    /// Creates an accumulator of the right size for this engine.
    #[must_use]
    pub fn accumulator(&self) -> Accumulator {
        Accumulator::new(self.instruments(), self.orders.capacity())
    }

    /// Checks that the market accepts such an order now.
    pub(crate) fn check(&self, new: &NewOrder) -> Result<(), Rejection> {
        // Adding a few thousand ticks to such a price cannot overflow.
        const PRICE_MAX: u64 = i64::MAX as u64 / 4;
        let book = self.books.get(new.instrument as usize).ok_or(Rejection::UnknownInstrument)?;
        if !book.open {
            return Err(Rejection::Closed);
        }
        if new.quantity == 0 || new.quantity > NewOrder::MAX_QUANTITY {
            return Err(Rejection::Quantity);
        }
        if new.minimum > new.quantity {
            return Err(Rejection::Minimum);
        }
        if new.display > new.quantity {
            return Err(Rejection::Display);
        }
        if new.display > 0 && new.display < new.minimum {
            return Err(Rejection::DisplayBelowMinimum);
        }
        let is_priced = new.kind == OrderKind::Limit;
        if is_priced && (new.price.0 % book.tick != 0 || new.price.0.unsigned_abs() > PRICE_MAX) {
            return Err(Rejection::Price);
        }
        Ok(())
    }

    /// Returns the limit of an order that enters the book now.
    fn limit(&self, new: &NewOrder) -> Result<Price, Rejection> {
        let opposite = || {
            let best = self.best(new.instrument, new.side.opposite());
            best.map(|level| level.price).ok_or(Rejection::NoOppositePrice)
        };
        match new.kind {
            OrderKind::Limit => Ok(new.price),
            OrderKind::MarketLimit => opposite(),
            OrderKind::Market => {
                let protection = self.books[new.instrument as usize].protection;
                Ok(new.side.improved(opposite()?, protection))
            }
        }
    }

    /// Matches an order with a reserved slot, then rests or eliminates its remainder.
    fn execute(&mut self, mut order: Order, minimum: u32, events: &mut Accumulator) -> Submitted {
        let slot = order.id.slot();
        let mut prevented = 0;
        if minimum == 0 || self.can_fill(&order, minimum) {
            prevented = self.match_order(&mut order, events);
        } else {
            order.time_in_force = TimeInForce::FillAndKill;
        }
        let is_fill_and_kill = order.time_in_force == TimeInForce::FillAndKill;
        if order.remaining == 0 || is_fill_and_kill {
            self.free(slot);
        } else {
            self.rest(slot, order);
        }
        events.touch(order.instrument);
        events.touch_order(slot);
        let (remaining, eliminated) =
            if is_fill_and_kill { (0, order.remaining) } else { (order.remaining, 0) };
        Submitted { order: order.id, price: order.price, remaining, eliminated, prevented }
    }

    /// Returns the most fills of resting orders that an order of `quantity` contracts can cause.
    /// Each order has one, and another one each time that hidden quantity is shown.
    fn fills_max(&self, instrument: u32, quantity: u32) -> u32 {
        let book = &self.books[instrument as usize];
        book.orders + book.tranches.min(quantity)
    }

    /// Returns `true` if the opposite side has `minimum` contracts within the limit of `order`,
    /// displayed or hidden.
    fn can_fill(&self, order: &Order, minimum: u32) -> bool {
        if order.self_match.is_some() {
            return self.can_fill_without_self_match(order, minimum);
        }
        let mut found = 0;
        self.levels_within_limit(order).any(|level| {
            found += level.view.quantity + level.hidden;
            found >= minimum
        })
    }

    /// Returns `true` if the orders that may trade with `order` have `minimum` contracts.
    fn can_fill_without_self_match(&self, order: &Order, minimum: u32) -> bool {
        let mut found = 0;
        for level in self.levels_within_limit(order) {
            // Hidden quantity trades after all that is displayed at its price.
            let mut hidden = 0;
            for resting in self.queue_from(level.first) {
                match prevented(order, resting) {
                    None => {
                        found += resting.shown;
                        hidden += resting.remaining - resting.shown;
                    }
                    Some(SelfMatchInstruction::CancelResting) => {}
                    Some(SelfMatchInstruction::CancelAggressor) => return found >= minimum,
                }
            }
            found += hidden;
            if found >= minimum {
                return true;
            }
        }
        false
    }

    /// Returns the opposite levels with which `order` may trade, best first.
    fn levels_within_limit(&self, order: &Order) -> impl Iterator<Item = &Level> + '_ {
        let (side, limit) = (order.side, order.price);
        self.level_slots(order.instrument, side.opposite())
            .map(|slot| &self.levels[slot])
            .take_while(move |level| !side.is_better(level.view.price, limit))
    }

    /// Matches an incoming order against the opposite side. Returns the contracts of the order that
    /// self-match prevention has canceled.
    fn match_order(&mut self, order: &mut Order, events: &mut Accumulator) -> u32 {
        let (instrument, side) = (order.instrument, order.side);
        while order.remaining > 0 {
            let best = self.books[instrument as usize].best[side.opposite().index()];
            if best == NONE || side.is_better(self.levels[best].view.price, order.price) {
                break;
            }
            let price = self.levels[best].view.price;
            let slot = self.levels[best].first;
            let resting = self.orders[slot];
            if let Some(instruction) = prevented(order, &resting) {
                if instruction == SelfMatchInstruction::CancelAggressor {
                    events.record_self_match(order, instruction);
                    return core::mem::take(&mut order.remaining);
                }
                self.detach(slot);
                self.free(slot);
                events.touch_order(slot);
                events.record_self_match(&resting, instruction);
                continue;
            }
            let quantity = resting.shown.min(order.remaining);
            order.remaining -= quantity;
            order.traded = order.traded.saturating_add(quantity);
            self.fill(slot, quantity);
            events.touch_order(slot);
            self.books[instrument as usize].volume += u64::from(quantity);
            let fill_of = |order: &Order, remaining, traded| Fill {
                order: order.id,
                owner: order.owner,
                quantity,
                remaining,
                traded,
                side_trade: 0,
            };
            let traded = resting.traded.saturating_add(quantity);
            events.record(
                &Match { instrument, price, side },
                &fill_of(order, order.remaining, order.traded),
                fill_of(&resting, resting.remaining - quantity, traded),
                &mut self.numbers,
            );
        }
        0
    }

    /// Adds an order at the end of the queue at its price, and displays its quantity.
    fn rest(&mut self, slot: u32, mut order: Order) {
        order.shown = order.shown_at_entry();
        let level = self.level_for(&order);
        let queue = &mut self.levels[level];
        let ahead = core::mem::replace(&mut queue.last, slot);
        if ahead == NONE {
            queue.first = slot;
        }
        queue.view.quantity += order.shown;
        queue.hidden += order.hidden();
        queue.view.orders += 1;
        if ahead != NONE {
            self.orders[ahead].behind = slot;
        }
        let book = &mut self.books[order.instrument as usize];
        book.orders += 1;
        book.tranches += order.tranches();
        self.priorities += 1;
        let priority = self.priorities;
        self.orders[slot] = Order { priority, level, ahead, behind: NONE, ..order };
    }

    /// Returns the level at an order's price, adding it if needed.
    fn level_for(&mut self, order: &Order) -> u32 {
        let (mut better, mut worse) = (NONE, NONE);
        for slot in self.level_slots(order.instrument, order.side) {
            let price = self.levels[slot].view.price;
            if price == order.price {
                return slot;
            }
            if order.side.is_better(order.price, price) {
                worse = slot;
                break;
            }
            better = slot;
        }
        let view = PriceLevel { price: order.price, quantity: 0, orders: 0 };
        let level = Level { view, hidden: 0, first: NONE, last: NONE, better, worse };
        let slot = self.levels.insert(level).expect("submit checked that a level is free");
        self.link(order.instrument, order.side, better, slot);
        if worse != NONE {
            self.levels[worse].better = slot;
        }
        self.books[order.instrument as usize].depth[order.side.index()] += 1;
        slot
    }

    /// Links `slot` behind the level `better`, or as the best level.
    fn link(&mut self, instrument: u32, side: Side, better: u32, slot: u32) {
        if better == NONE {
            self.books[instrument as usize].best[side.index()] = slot;
        } else {
            self.levels[better].worse = slot;
        }
    }

    /// Trades `quantity` displayed contracts of a resting order. A filled order leaves the book.
    fn fill(&mut self, slot: u32, quantity: u32) {
        let order = &mut self.orders[slot];
        if quantity == order.remaining {
            self.detach(slot);
            self.free(slot);
        } else if quantity == order.shown {
            self.replenish(slot);
        } else {
            order.remaining -= quantity;
            order.shown -= quantity;
            order.traded = order.traded.saturating_add(quantity);
            self.levels[order.level].view.quantity -= quantity;
        }
    }

    /// Trades all displayed contracts of an order with more, and displays its next contracts at the
    /// end of the queue.
    #[cold]
    fn replenish(&mut self, slot: u32) {
        let mut order = self.orders[slot];
        self.detach(slot);
        order.remaining -= order.shown;
        order.traded = order.traded.saturating_add(order.shown);
        self.rest(slot, order);
    }

    /// Removes a resting order from its queue, and its level if it was the last order there. The
    /// order keeps its slot.
    fn detach(&mut self, slot: u32) {
        let order = self.orders[slot];
        let book = &mut self.books[order.instrument as usize];
        book.orders -= 1;
        book.tranches -= order.tranches();
        let level = &mut self.levels[order.level];
        level.view.quantity -= order.shown;
        level.hidden -= order.hidden();
        level.view.orders -= 1;
        if order.ahead == NONE {
            level.first = order.behind;
        }
        if order.behind == NONE {
            level.last = order.ahead;
        }
        let level = *level;
        if order.ahead != NONE {
            self.orders[order.ahead].behind = order.behind;
        }
        if order.behind != NONE {
            self.orders[order.behind].ahead = order.ahead;
        }
        if level.view.orders == 0 {
            self.remove_level(&order, &level);
        }
    }

    /// Frees the slot of an order that is in no queue.
    fn free(&mut self, slot: u32) {
        self.orders[slot].id = OrderId::NONE;
        self.orders.remove(slot);
    }

    fn remove_level(&mut self, last: &Order, level: &Level) {
        self.link(last.instrument, last.side, level.better, level.worse);
        if level.worse != NONE {
            self.levels[level.worse].better = level.better;
        }
        self.levels.remove(last.level);
        self.books[last.instrument as usize].depth[last.side.index()] -= 1;
    }

    fn level_slots(&self, instrument: u32, side: Side) -> impl Iterator<Item = u32> + '_ {
        let best = self.books[instrument as usize].best[side.index()];
        let worse = |&slot: &u32| Some(self.levels[slot].worse).filter(|&slot| slot != NONE);
        core::iter::successors(Some(best).filter(|&slot| slot != NONE), worse)
    }
}

/// Returns the aggressor's instruction if the two orders may not trade with each other.
#[inline]
fn prevented(aggressor: &Order, resting: &Order) -> Option<SelfMatchInstruction> {
    let own = aggressor.self_match.as_ref()?;
    let is_prevented = resting.self_match.as_ref().is_some_and(|other| own.prevents(other));
    is_prevented.then_some(own.instruction)
}

#[cfg(test)]
mod tests;
