//! The results of matching, collected until the next publication.

use super::{Order, SelfMatchInstruction};
use crate::{OrderId, Owner, Price, Side};

/// The trade of an aggressor at one price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trade {
    /// The index of the instrument.
    pub instrument: u32,
    /// The price of the resting orders.
    pub price: Price,
    /// The traded contracts, counted once.
    pub quantity: u32,
    /// The side of the aggressor.
    pub aggressor: Side,
    /// MDTradeEntryID (tag 37711), starting at 1.
    pub id: u32,
    first_fill: u32,
    fills: u32,
}

/// An order's part in a [`Trade`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fill {
    /// The order.
    pub order: OrderId,
    /// The owner of the order.
    pub owner: Owner,
    /// The contracts traded in this trade.
    pub quantity: u32,
    /// The contracts of the order that are still open.
    pub remaining: u32,
    /// The contracts of the order traded so far, including these.
    pub traded: u32,
    /// SideTradeID of this side of the trade (tag 1506), starting at 1.
    pub side_trade: u32,
}

/// An order canceled by self-match prevention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SelfMatchCancel {
    /// The order.
    pub order: OrderId,
    /// The owner of the order.
    pub owner: Owner,
    /// The limit of the order.
    pub price: Price,
    /// The contracts canceled.
    pub remaining: u32,
    /// The contracts of the order traded so far.
    pub traded: u32,
    /// The aggressor's instruction: it shows whether the order was resting or the aggressor.
    pub instruction: SelfMatchInstruction,
}

/// The trades and changed books between two publications.
///
/// The matching engine appends; the publisher reads and clears. The size is fixed at the start: an
/// accumulator never allocates.
#[derive(Debug)]
pub struct Accumulator {
    trades: Vec<Trade>,
    fills: Vec<Fill>,
    self_matches: Vec<SelfMatchCancel>,
    touched: Vec<u32>,
    is_touched: Box<[bool]>,
    /// The slots of changed orders, each once. Empty unless enabled by
    /// [`Accumulator::with_orders`].
    orders: Vec<u32>,
    is_order_touched: Box<[bool]>,
    order_slots: u32,
}

impl Accumulator {
    /// The maximum number of fills in one [`Trade`], including the aggressor's. So many order
    /// entries of template 48 fit in one packet together with the trade. A trade with more fills is
    /// split.
    pub const MAX_FILLS_PER_TRADE: u32 = 64;

    /// The maximum number of resting orders that one submission can match.
    const MATCHED_ORDERS_MAX: u32 = 1 << 16;

    /// The number of times that one submission can match hidden quantity in addition, in an engine
    /// of any size.
    const SHOWN_AGAIN: u32 = 64;

    /// Creates an accumulator for an engine of `orders` orders. It has room for two submissions
    /// that match up to 65,536 orders each. Submissions that may match more are rejected.
    ///
    /// All fills of a submission but one remove a resting order or show hidden quantity again, and
    /// each trade adds the aggressor's fill.
    #[must_use]
    pub fn new(instruments: u32, orders: u32) -> Self {
        let fills =
            Self::fills_of_one_submission(orders.min(Self::MATCHED_ORDERS_MAX) + Self::SHOWN_AGAIN)
                * 2;
        Self {
            trades: Vec::with_capacity(fills / 2),
            fills: Vec::with_capacity(fills),
            self_matches: Vec::with_capacity(fills / 2),
            touched: Vec::with_capacity(instruments as usize),
            is_touched: vec![false; instruments as usize].into(),
            orders: Vec::new(),
            is_order_touched: Box::default(),
            order_slots: orders,
        }
    }

    /// Enables recording of changed orders, for a publisher of individual orders.
    #[must_use]
    pub fn with_orders(mut self) -> Self {
        self.orders = Vec::with_capacity(self.order_slots as usize);
        self.is_order_touched = vec![false; self.order_slots as usize].into();
        self
    }

    /// Returns the trades, oldest first.
    #[must_use]
    pub fn trades(&self) -> &[Trade] {
        &self.trades
    }

    /// Returns the orders matched in `trade`: the aggressor, then the resting orders in order of
    /// priority.
    #[must_use]
    pub fn fills_of(&self, trade: &Trade) -> &[Fill] {
        &self.fills[trade.first_fill as usize..][..trade.fills as usize]
    }

    /// Returns all fills, oldest first.
    #[must_use]
    pub fn fills(&self) -> &[Fill] {
        &self.fills
    }

    /// Returns the orders canceled by self-match prevention, oldest first.
    #[must_use]
    pub fn self_matches(&self) -> &[SelfMatchCancel] {
        &self.self_matches
    }

    /// Returns the instruments whose book changed, each once, in order of their first change.
    #[must_use]
    pub fn touched(&self) -> &[u32] {
        &self.touched
    }

    /// Returns `true` if nothing happened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.touched.is_empty()
    }

    /// Clears the collected results.
    pub fn clear(&mut self) {
        for instrument in self.touched.drain(..) {
            self.is_touched[instrument as usize] = false;
        }
        for slot in self.orders.drain(..) {
            self.is_order_touched[slot as usize] = false;
        }
        self.trades.clear();
        self.fills.clear();
        self.self_matches.clear();
    }

    /// Returns the slots of added, changed and removed orders, each once. Empty unless enabled by
    /// [`Accumulator::with_orders`].
    pub(crate) fn orders(&self) -> &[u32] {
        &self.orders
    }

    /// Returns the number of order slots that can be recorded: 0 unless enabled by
    /// [`Accumulator::with_orders`].
    pub(crate) fn order_capacity(&self) -> usize {
        self.is_order_touched.len()
    }

    /// Returns the capacities for trades and fills.
    pub(crate) fn capacity(&self) -> (usize, usize) {
        (self.trades.capacity(), self.fills.capacity())
    }

    /// Returns `true` if a submission that matches resting orders up to `matched` times fits.
    pub(super) fn has_room(&self, matched: u32) -> bool {
        self.fills.capacity() - self.fills.len() >= Self::fills_of_one_submission(matched)
            && self.trades.capacity() - self.trades.len() > matched as usize
            && self.self_matches.capacity() - self.self_matches.len() > matched as usize
    }

    /// Records the cancel of an order by self-match prevention, with its state before the cancel.
    #[cold]
    pub(super) fn record_self_match(&mut self, order: &Order, instruction: SelfMatchInstruction) {
        let &Order { id, owner, price, remaining, traded, .. } = order;
        self.self_matches.push(SelfMatchCancel {
            order: id,
            owner,
            price,
            remaining,
            traded,
            instruction,
        });
    }

    pub(super) fn touch(&mut self, instrument: u32) {
        let is_touched = &mut self.is_touched[instrument as usize];
        if !*is_touched {
            *is_touched = true;
            self.touched.push(instrument);
        }
    }

    /// Records that the order in a slot has been added, changed or removed.
    pub(super) fn touch_order(&mut self, slot: u32) {
        if let Some(is_touched) = self.is_order_touched.get_mut(slot as usize)
            && !*is_touched
        {
            *is_touched = true;
            self.orders.push(slot);
        }
    }

    /// Records that `aggressor` traded `resting.quantity` contracts with `resting`. The fill joins
    /// the last trade if aggressor and price are the same and the trade has room. Otherwise a new
    /// trade starts.
    pub(super) fn record(
        &mut self,
        place: &Match,
        aggressor: &Fill,
        resting: Fill,
        numbers: &mut TradeNumbers,
    ) {
        let quantity = resting.quantity;
        let same = self.trades.last().is_some_and(|trade| {
            trade.price == place.price
                && trade.instrument == place.instrument
                && trade.fills < Self::MAX_FILLS_PER_TRADE
                && self.fills[trade.first_fill as usize].order == aggressor.order
        });
        if !same {
            // The number of fills is bounded by the capacity, a `u32` multiplied by at most 8.
            let first_fill = self.fills.len() as u32;
            let id = next_number(&mut numbers.trade);
            let side_trade = next_number(&mut numbers.side);
            let &Match { instrument, price, side } = place;
            let trade =
                Trade { instrument, price, quantity: 0, aggressor: side, id, first_fill, fills: 1 };
            self.trades.push(trade);
            self.fills.push(Fill { quantity: 0, side_trade, ..*aggressor });
        }
        let Some(trade) = self.trades.last_mut() else { return };
        trade.quantity += quantity;
        trade.fills += 1;
        let first = &mut self.fills[trade.first_fill as usize];
        first.quantity += quantity;
        first.remaining = aggressor.remaining;
        first.traded = aggressor.traded;
        self.fills.push(Fill { side_trade: next_number(&mut numbers.side), ..resting });
    }

    fn fills_of_one_submission(orders: u32) -> usize {
        2 * (orders as usize + 1)
    }
}

/// The next MDTradeEntryID (tag 37711) and the next SideTradeID (tag 1506).
#[derive(Debug, Clone, Copy)]
pub(super) struct TradeNumbers {
    pub(super) trade: u32,
    pub(super) side: u32,
}

/// Returns the next number. Numbers restart at 1 before the null value of a `u32`.
fn next_number(next: &mut u32) -> u32 {
    let number = *next;
    *next = if number >= u32::MAX - 1 { 1 } else { number + 1 };
    number
}

/// The place of a match.
#[derive(Debug, Clone, Copy)]
pub(super) struct Match {
    pub(super) instrument: u32,
    pub(super) price: Price,
    /// The side of the aggressor.
    pub(super) side: Side,
}
