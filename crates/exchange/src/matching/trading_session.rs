//! Trading sessions: opening and closing instruments, and expiring orders.

use super::{Accumulator, Matching, Order, OrderId, TimeInForce};

impl Matching {
    /// Opens an instrument for trading, or closes it. A closed instrument accepts cancels only.
    /// Resting orders stay.
    ///
    /// # Panics
    /// If the instrument does not exist.
    pub fn set_open(&mut self, instrument: u32, open: bool) {
        self.books[instrument as usize].open = open;
    }

    /// Returns `true` if an instrument is open for trading.
    ///
    /// # Panics
    /// If the instrument does not exist.
    #[must_use]
    pub fn is_open(&self, instrument: u32) -> bool {
        self.books[instrument as usize].open
    }

    /// Ends the trading session: day orders leave their books, including pending stop orders.
    /// GTC and GTD orders stay with their priority. `on_expired` receives each
    /// order as it rested: resting orders by slot, then stop orders by age.
    pub fn end_session(&mut self, events: &mut Accumulator, on_expired: impl FnMut(&Order)) {
        self.expire(events, |time_in_force| time_in_force == TimeInForce::Day, on_expired);
    }

    /// Ends the trading session on `day`, counted from 1970-01-01. In addition to
    /// [`Matching::end_session`], GTD orders of that day or an earlier one leave.
    pub fn end_session_on(
        &mut self,
        day: u16,
        events: &mut Accumulator,
        on_expired: impl FnMut(&Order),
    ) {
        let is_expired = |time_in_force| match time_in_force {
            TimeInForce::Day => true,
            TimeInForce::GoodTillDate(last) => last <= day,
            TimeInForce::GoodTillCancel | TimeInForce::FillAndKill => false,
        };
        self.expire(events, is_expired, on_expired);
    }

    /// Removes the quotes of the instruments that are closed. `on_removed` receives each side as it
    /// rested.
    pub fn remove_closed_quotes(
        &mut self,
        events: &mut Accumulator,
        mut on_removed: impl FnMut(&Order),
    ) {
        for slot in 0..self.orders.capacity() {
            let order = self.orders[slot];
            if order.id == OrderId::NONE || !order.quote || self.is_open(order.instrument) {
                continue;
            }
            self.detach(slot);
            self.free(slot);
            events.touch(order.instrument);
            events.touch_order(slot);
            on_removed(&order);
        }
    }

    fn expire(
        &mut self,
        events: &mut Accumulator,
        is_expired: impl Fn(TimeInForce) -> bool,
        mut on_expired: impl FnMut(&Order),
    ) {
        for slot in 0..self.orders.capacity() {
            let order = self.orders[slot];
            if order.id == OrderId::NONE || !is_expired(order.time_in_force) {
                continue;
            }
            self.detach(slot);
            self.free(slot);
            events.touch(order.instrument);
            events.touch_order(slot);
            on_expired(&order);
        }
        self.expire_stops(is_expired, on_expired);
    }
}
