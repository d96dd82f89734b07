//! What matching has done since the publisher last looked.

use crate::{OrderId, Owner, Price, Side};

/// One price at which an aggressor traded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trade {
    /// The instrument's index.
    pub instrument: u32,
    /// The price of the resting orders.
    pub price: Price,
    /// Contracts traded, counted once.
    pub quantity: u32,
    /// The side of the order that came in.
    pub aggressor: Side,
    /// Number of the trade (tag 37711), from 1.
    pub id: u32,
    first_fill: u32,
    fills: u32,
}

/// One order's part in a [`Trade`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fill {
    /// The order.
    pub order: OrderId,
    /// Whose it is.
    pub owner: Owner,
    /// Contracts traded here.
    pub quantity: u32,
    /// Contracts of it that are still open.
    pub remaining: u32,
    /// Contracts of it that have traded, these included.
    pub traded: u32,
    /// Number of this side of the trade (tag 1506), from 1.
    pub side_trade: u32,
}

/// Trades and changed books, collected between two publications.
///
/// Matching appends, the publisher reads and clears. Sized at the start: it never allocates.
#[derive(Debug)]
pub struct Accumulator {
    trades: Vec<Trade>,
    fills: Vec<Fill>,
    touched: Vec<u32>,
    is_touched: Box<[bool]>,
    /// Slots of changed orders, each once; nothing unless asked for.
    orders: Vec<u32>,
    is_order_touched: Box<[bool]>,
    order_slots: u32,
}

impl Accumulator {
    /// The most fills of one [`Trade`], the aggressor's included: so many order entries of
    /// template 48 fit in one packet beside the trade. A longer one becomes several trades.
    pub const MAX_FILLS_PER_TRADE: u32 = 64;

    /// The most resting orders that one submission can meet.
    const MET_MAX: u32 = 1 << 16;

    /// Room for any one submission to an engine of `orders` orders that meets at most 65,536 of
    /// them, and as much again; what might meet more is refused.
    ///
    /// Of the fills of a submission, all but one remove a resting order, and each trade adds
    /// the aggressor's.
    #[must_use]
    pub fn new(instruments: u32, orders: u32) -> Self {
        let fills = Self::fills_of_one_submission(orders.min(Self::MET_MAX)) * 2;
        Self {
            trades: Vec::with_capacity(fills / 2),
            fills: Vec::with_capacity(fills),
            touched: Vec::with_capacity(instruments as usize),
            is_touched: vec![false; instruments as usize].into(),
            orders: Vec::new(),
            is_order_touched: Box::default(),
            order_slots: orders,
        }
    }

    /// The same, which also notes every order that has changed: for a publisher of orders.
    #[must_use]
    pub fn with_orders(mut self) -> Self {
        self.orders = Vec::with_capacity(self.order_slots as usize);
        self.is_order_touched = vec![false; self.order_slots as usize].into();
        self
    }

    /// Trades, oldest first.
    #[must_use]
    pub fn trades(&self) -> &[Trade] {
        &self.trades
    }

    /// The orders that met in `trade`: the aggressor, then the resting ones in the order of
    /// their priority.
    #[must_use]
    pub fn fills_of(&self, trade: &Trade) -> &[Fill] {
        &self.fills[trade.first_fill as usize..][..trade.fills as usize]
    }

    /// Every fill, oldest first.
    #[must_use]
    pub fn fills(&self) -> &[Fill] {
        &self.fills
    }

    /// Instruments whose book changed, each once, in the order of their first change.
    #[must_use]
    pub fn touched(&self) -> &[u32] {
        &self.touched
    }

    /// Whether nothing happened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.touched.is_empty()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        for instrument in self.touched.drain(..) {
            self.is_touched[instrument as usize] = false;
        }
        for slot in self.orders.drain(..) {
            self.is_order_touched[slot as usize] = false;
        }
        self.trades.clear();
        self.fills.clear();
    }

    /// Slots of orders that have come, changed or gone, each once; none unless it was made
    /// [`Accumulator::with_orders`].
    pub(crate) fn orders(&self) -> &[u32] {
        &self.orders
    }

    /// Slots of orders that it can note, 0 unless it was made [`Accumulator::with_orders`].
    pub(crate) fn order_capacity(&self) -> usize {
        self.is_order_touched.len()
    }

    /// The most trades and fills it can hold.
    pub(crate) fn capacity(&self) -> (usize, usize) {
        (self.trades.capacity(), self.fills.capacity())
    }

    /// Whether a submission that meets `orders` resting orders is sure to fit.
    pub(super) fn has_room(&self, orders: u32) -> bool {
        self.fills.capacity() - self.fills.len() >= Self::fills_of_one_submission(orders)
            && self.trades.capacity() - self.trades.len() > orders as usize
    }

    pub(super) fn touch(&mut self, instrument: u32) {
        let is_touched = &mut self.is_touched[instrument as usize];
        if !*is_touched {
            *is_touched = true;
            self.touched.push(instrument);
        }
    }

    /// Notes that what rests in a slot is, or may be, another order or has other terms.
    pub(super) fn touch_order(&mut self, slot: u32) {
        if let Some(is_touched) = self.is_order_touched.get_mut(slot as usize)
            && !*is_touched
        {
            *is_touched = true;
            self.orders.push(slot);
        }
    }

    /// `aggressor` took `resting.quantity` contracts from `resting`: part of the last trade if
    /// that is the same aggressor at the same price and has room for it, else a new trade.
    pub(super) fn record(
        &mut self,
        taken: &Taken,
        aggressor: &Fill,
        resting: Fill,
        numbers: &mut TradeNumbers,
    ) {
        let quantity = resting.quantity;
        let same = self.trades.last().is_some_and(|trade| {
            trade.price == taken.price
                && trade.instrument == taken.instrument
                && trade.fills < Self::MAX_FILLS_PER_TRADE
                && self.fills[trade.first_fill as usize].order == aggressor.order
        });
        if !same {
            // The fills are bounded by the capacity, which is a `u32` doubled at most thrice.
            let first_fill = self.fills.len() as u32;
            let id = take_number(&mut numbers.trade);
            let side_trade = take_number(&mut numbers.side);
            let &Taken { instrument, price, side } = taken;
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
        self.fills.push(Fill { side_trade: take_number(&mut numbers.side), ..resting });
    }

    fn fills_of_one_submission(orders: u32) -> usize {
        2 * (orders as usize + 1)
    }
}

/// The numbers that the next trade gets (tag 37711) and the next side of one (tag 1506).
#[derive(Debug, Clone, Copy)]
pub(super) struct TradeNumbers {
    pub(super) trade: u32,
    pub(super) side: u32,
}

/// Takes a number; they begin at 1 again before the null of a u32.
fn take_number(next: &mut u32) -> u32 {
    let number = *next;
    *next = if number >= u32::MAX - 1 { 1 } else { number + 1 };
    number
}

/// Where an aggressor trades.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taken {
    pub(super) instrument: u32,
    pub(super) price: Price,
    /// The aggressor's.
    pub(super) side: Side,
}
