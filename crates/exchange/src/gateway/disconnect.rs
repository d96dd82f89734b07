//! Cancel on disconnect: a session that is lost loses its orders.
//!
//! Lost is what ends without a Terminate handshake: a closed connection, and whatever this side
//! ends for an error. Orders good till cancelled or till a date stay.

use hairpin_cme_codecs::ilink3::{ExecReason, TimeInForce};
use hairpin_sbe::CharArray;
use hairpin_time::Now;

use super::Gateway;
use super::business::owner_of;
use super::reports::encode_cancelled;
use crate::{Listener, Market};

impl Gateway {
    /// Whether sessions have been lost whose orders have yet to be cancelled: call
    /// [`Gateway::handle_fills`].
    #[must_use]
    pub fn has_lost(&self) -> bool {
        self.has_lost
    }

    #[cold]
    pub(super) fn cancel_lost(
        &mut self,
        now: Now,
        market: &mut impl Market,
        listener: &mut impl Listener,
    ) {
        self.has_lost = false;
        for account in 0..self.accounts.len() {
            if core::mem::take(&mut self.accounts[account].is_lost) {
                self.counters.disconnect_cancels += 1;
                self.cancel_orders(now, account, market, listener);
            }
        }
    }

    fn cancel_orders(
        &mut self,
        now: Now,
        account: usize,
        market: &mut impl Market,
        listener: &mut impl Listener,
    ) {
        let owner = owner_of(account);
        for slot in 0..self.orders.len() {
            let (order, time) = (self.orders[slot].order, self.orders[slot].time_in_force);
            if matches!(time, TimeInForce::GOOD_TILL_CANCEL | TimeInForce::GOOD_TILL_DATE) {
                continue;
            }
            // Another's order, or one that is gone, the market does not find.
            let Some(gone) = market.cancel(now, order, owner) else { continue };
            let reason = Some(ExecReason::CANCEL_ON_DISCONNECT);
            let told = self.report(now, owner, order, |buffer, stamp, of| {
                encode_cancelled(buffer, stamp, (&of.request, &[]), (of, &gone), reason)
            });
            if let Some((connection, text)) = told {
                self.counters.cancelled += 1;
                listener.on_cancelled(connection, CharArray::new(&text).as_bytes(), order);
            }
        }
    }
}
