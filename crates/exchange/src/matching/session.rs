//! What a market's day does to its orders.

use super::{Accumulator, Matching, Order, OrderId, TimeInForce};

impl Matching {
    /// Opens an instrument for trading, or closes it: then orders may be cancelled, nothing else.
    /// What rests stays.
    ///
    /// # Panics
    /// If there is no such instrument.
    pub fn set_open(&mut self, instrument: u32, is_open: bool) {
        self.books[instrument as usize].is_open = is_open;
    }

    /// Whether an instrument trades.
    ///
    /// # Panics
    /// If there is no such instrument.
    #[must_use]
    pub fn is_open(&self, instrument: u32) -> bool {
        self.books[instrument as usize].is_open
    }

    /// Ends the session: every order good for the day leaves its book, stop orders that wait
    /// included; those good till cancelled or till a date stay as they are and where they are.
    /// `on_expired` gets each as it rested: those that rest by slot, then stop orders by age.
    pub fn end_session(&mut self, events: &mut Accumulator, on_expired: impl FnMut(&Order)) {
        self.expire(events, |time| time == TimeInForce::Day, on_expired);
    }

    /// The same at the end of `day`, counted from 1970-01-01: orders good till then leave too.
    pub fn end_session_of(
        &mut self,
        day: u16,
        events: &mut Accumulator,
        on_expired: impl FnMut(&Order),
    ) {
        let is_over = |time| match time {
            TimeInForce::Day => true,
            TimeInForce::GoodTillDate(last) => last <= day,
            TimeInForce::GoodTillCancel | TimeInForce::FillAndKill => false,
        };
        self.expire(events, is_over, on_expired);
    }

    fn expire(
        &mut self,
        events: &mut Accumulator,
        is_over: impl Fn(TimeInForce) -> bool,
        mut on_expired: impl FnMut(&Order),
    ) {
        for slot in 0..self.orders.capacity() {
            let order = self.orders[slot];
            if order.id == OrderId::NONE || !is_over(order.time_in_force) {
                continue;
            }
            self.detach(slot);
            self.free(slot);
            events.touch(order.instrument);
            events.touch_order(slot);
            on_expired(&order);
        }
        self.expire_stops(is_over, on_expired);
    }
}
