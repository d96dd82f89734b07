//! The matching engine: limit orders good for the day, price-time priority, cancel.
//!
//! Sans-IO. Orders of one price form a queue, the prices of a side a list that begins with the
//! best; both are intrusive lists through slabs sized at the start, so nothing allocates. Trading
//! and cancelling cost the same however deep the book; joining a book walks from the best price
//! to the order's own, because order flow crowds near the best.
//!
//! What happens is collected in an [`Accumulator`]; the engine tells nobody itself.

mod accumulator;
mod order;

pub use accumulator::{Accumulator, Fill, Trade};
pub use order::{NewOrder, Order, OrderId, Owner, Rejection, Side};

use accumulator::Taken;

use crate::Price;
use crate::slab::{NONE, Slab};

/// Sizes of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// Orders that rest at once in all books together, up to 200,000.
    pub orders: u32,
    /// Prices at which orders rest at once, in all books together.
    pub levels: u32,
}

impl Default for Capacity {
    /// A hundred books as the generator seeds them hold some 8,000 orders on 4,000 levels; the
    /// rest is for sessions.
    fn default() -> Self {
        Self { orders: 32_768, levels: 16_384 }
    }
}

/// What became of a submitted order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Submitted {
    /// Its number.
    pub order: OrderId,
    /// Contracts that rest; the others have traded.
    pub remaining: u32,
}

/// All that rests at one price.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct PriceLevel {
    /// The price.
    pub price: Price,
    /// Contracts, the sum of the orders.
    pub quantity: u32,
    /// Orders, at least one.
    pub orders: u32,
}

/// The books of all instruments.
#[derive(Debug)]
pub struct Matching {
    books: Box<[Book]>,
    orders: Slab<Order>,
    levels: Slab<Level>,
    submissions: u64,
    next_trade: u32,
}

#[derive(Debug)]
struct Book {
    tick: i64,
    best: [u32; 2],
    depth: [u32; 2],
    volume: u64,
}

#[derive(Debug, Default, Clone, Copy)]
struct Level {
    view: PriceLevel,
    first: u32,
    last: u32,
    better: u32,
    worse: u32,
}

impl Matching {
    /// Empty books, one for each tick (mantissa, at least 1) of `ticks`.
    ///
    /// # Panics
    /// If a tick is not positive or `capacity.orders` exceeds 200,000.
    #[must_use]
    pub fn new(ticks: impl IntoIterator<Item = Price>, capacity: Capacity) -> Self {
        const MAX_ORDERS: u32 = 200_000;
        const { assert!(MAX_ORDERS as u64 * (NewOrder::MAX_QUANTITY as u64) < i32::MAX as u64) };
        assert!(capacity.orders <= MAX_ORDERS, "{} orders", capacity.orders);
        let book = |tick: Price| {
            assert!(tick.0 > 0, "a tick of {}", tick.0);
            Book { tick: tick.0, best: [NONE; 2], depth: [0; 2], volume: 0 }
        };
        Self {
            books: ticks.into_iter().map(book).collect(),
            orders: Slab::new(capacity.orders),
            levels: Slab::new(capacity.levels),
            submissions: 0,
            next_trade: 1,
        }
    }

    /// Matches an order against the other side as far as its limit allows; what is left rests
    /// behind all orders of its price.
    ///
    /// # Errors
    /// See [`Rejection`]; nothing has changed then.
    pub fn submit(
        &mut self,
        new: &NewOrder,
        events: &mut Accumulator,
    ) -> Result<Submitted, Rejection> {
        self.check(new, events)?;
        let slot = self.orders.insert(Order::default()).ok_or(Rejection::Full)?;
        self.submissions += 1;
        let id = OrderId::new(self.submissions, slot);
        let mut order = Order {
            id,
            instrument: new.instrument,
            side: new.side,
            price: new.price,
            quantity: new.quantity,
            remaining: new.quantity,
            owner: new.owner,
            level: NONE,
            ahead: NONE,
            behind: NONE,
        };
        self.take(&mut order, events);
        if order.remaining == 0 {
            self.orders.remove(slot);
        } else {
            self.rest(slot, order);
        }
        events.touch(new.instrument);
        Ok(Submitted { order: id, remaining: order.remaining })
    }

    /// Takes an order out of its book; returns it as it rested, or `None` if it does not rest.
    pub fn cancel(&mut self, id: OrderId, events: &mut Accumulator) -> Option<Order> {
        let order = *self.order(id)?;
        self.reduce(id.slot(), order.remaining);
        events.touch(order.instrument);
        Some(order)
    }

    /// A resting order.
    #[must_use]
    pub fn order(&self, id: OrderId) -> Option<&Order> {
        self.orders.at(id.slot()).filter(|order| order.id == id && id != OrderId::NONE)
    }

    /// The best level of a side.
    #[must_use]
    pub fn best(&self, instrument: u32, side: Side) -> Option<PriceLevel> {
        self.levels(instrument, side).next()
    }

    /// The levels of a side, best first.
    pub fn levels(&self, instrument: u32, side: Side) -> impl Iterator<Item = PriceLevel> + '_ {
        self.level_slots(instrument, side).map(|slot| self.levels[slot].view)
    }

    /// The orders at the best price of a side, first in priority first.
    pub fn orders_at_best(&self, instrument: u32, side: Side) -> impl Iterator<Item = &Order> + '_ {
        let best = self.books[instrument as usize].best[side.index()];
        let first = if best == NONE { NONE } else { self.levels[best].first };
        let behind = |&slot: &u32| Some(self.orders[slot].behind).filter(|&slot| slot != NONE);
        core::iter::successors(Some(first).filter(|&slot| slot != NONE), behind)
            .map(|slot| &self.orders[slot])
    }

    /// How many levels a side has.
    #[must_use]
    pub fn depth(&self, instrument: u32, side: Side) -> u32 {
        self.books[instrument as usize].depth[side.index()]
    }

    /// Contracts traded in an instrument.
    #[must_use]
    pub fn volume(&self, instrument: u32) -> u64 {
        self.books[instrument as usize].volume
    }

    /// Orders that rest in all books.
    #[must_use]
    pub fn resting(&self) -> u32 {
        self.orders.used()
    }

    /// Instruments.
    #[must_use]
    pub fn instruments(&self) -> u32 {
        // As many as settings asked for in a `u32`.
        self.books.len() as u32
    }

    /// An accumulator of the right size for this engine.
    #[must_use]
    pub fn accumulator(&self) -> Accumulator {
        Accumulator::new(self.instruments(), self.orders.capacity())
    }

    fn check(&self, new: &NewOrder, events: &Accumulator) -> Result<(), Rejection> {
        // Far from where adding a few thousand ticks could overflow.
        const FARTHEST: u64 = i64::MAX as u64 / 4;
        let book = self.books.get(new.instrument as usize).ok_or(Rejection::UnknownInstrument)?;
        if new.quantity == 0 || new.quantity > NewOrder::MAX_QUANTITY {
            return Err(Rejection::Quantity);
        }
        if new.price.0 % book.tick != 0 || new.price.0.unsigned_abs() > FARTHEST {
            return Err(Rejection::Price);
        }
        let full = self.orders.is_full() || self.levels.is_full();
        if full || !events.has_room(self.orders.used()) {
            return Err(Rejection::Full);
        }
        Ok(())
    }

    /// Trades an incoming order against the other side.
    fn take(&mut self, order: &mut Order, events: &mut Accumulator) {
        let (instrument, side) = (order.instrument, order.side);
        while order.remaining > 0 {
            let best = self.books[instrument as usize].best[side.opposite().index()];
            if best == NONE || side.is_better(self.levels[best].view.price, order.price) {
                break;
            }
            let price = self.levels[best].view.price;
            let slot = self.levels[best].first;
            let resting = self.orders[slot];
            let quantity = resting.remaining.min(order.remaining);
            order.remaining -= quantity;
            self.reduce(slot, quantity);
            self.books[instrument as usize].volume += u64::from(quantity);
            let fill_of = |order: &Order, remaining| Fill {
                order: order.id,
                owner: order.owner,
                quantity,
                remaining,
            };
            events.record(
                &Taken { instrument, price, side },
                &fill_of(order, order.remaining),
                fill_of(&resting, resting.remaining - quantity),
                &mut self.next_trade,
            );
        }
    }

    /// Puts an order at the end of the queue of its price.
    fn rest(&mut self, slot: u32, order: Order) {
        let level = self.level_for(&order);
        let queue = &mut self.levels[level];
        let ahead = core::mem::replace(&mut queue.last, slot);
        if ahead == NONE {
            queue.first = slot;
        }
        queue.view.quantity += order.remaining;
        queue.view.orders += 1;
        if ahead != NONE {
            self.orders[ahead].behind = slot;
        }
        self.orders[slot] = Order { level, ahead, behind: NONE, ..order };
    }

    /// The level at an order's price, made if there is none.
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
        let level = Level { view, first: NONE, last: NONE, better, worse };
        let slot = self.levels.insert(level).expect("a free level was seen before the order");
        self.link(order.instrument, order.side, better, slot);
        if worse != NONE {
            self.levels[worse].better = slot;
        }
        self.books[order.instrument as usize].depth[order.side.index()] += 1;
        slot
    }

    /// Makes `slot` what follows the level `better`, or the best.
    fn link(&mut self, instrument: u32, side: Side, better: u32, slot: u32) {
        if better == NONE {
            self.books[instrument as usize].best[side.index()] = slot;
        } else {
            self.levels[better].worse = slot;
        }
    }

    /// Takes `quantity` off a resting order; it leaves the book with its last contract, and the
    /// level with its last order.
    fn reduce(&mut self, slot: u32, quantity: u32) {
        let order = &mut self.orders[slot];
        order.remaining -= quantity;
        let order = *order;
        let level = &mut self.levels[order.level];
        level.view.quantity -= quantity;
        if order.remaining > 0 {
            return;
        }
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
        self.orders[slot].id = OrderId::NONE;
        self.orders.remove(slot);
        if level.view.orders == 0 {
            self.remove_level(&order, &level);
        }
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

#[cfg(test)]
mod tests;
