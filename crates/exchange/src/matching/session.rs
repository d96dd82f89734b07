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

    /// Ends the session: every order good for the day leaves its book, those good till cancelled
    /// stay as they are and where they are. `on_expired` gets each as it rested, by slot.
    pub fn end_session(&mut self, events: &mut Accumulator, mut on_expired: impl FnMut(&Order)) {
        for slot in 0..self.orders.capacity() {
            let order = self.orders[slot];
            if order.id == OrderId::NONE || order.time_in_force != TimeInForce::Day {
                continue;
            }
            self.detach(slot);
            self.free(slot);
            events.touch(order.instrument);
            events.touch_order(slot);
            on_expired(&order);
        }
    }
}
