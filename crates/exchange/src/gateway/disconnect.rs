//! Cancel on disconnect: the orders of a lost session are canceled.
//!
//! A session is lost if it ends without a Terminate handshake: its connection closes, or the
//! gateway ends it for an error. GTC and GTD orders stay. Quotes are reported together, by a
//! QuoteCancelAck563.

use hairpin_cme_codecs::ilink3::{ExecReason, TimeInForce};
use hairpin_sbe::CharArray;
use hairpin_time::Now;

use super::Gateway;
use super::order_requests::owner_of;
use super::reports::{CanceledState, encode_cancelled};
use crate::{Listener, Market};

impl Gateway {
    /// Returns `true` if orders of lost sessions have to be canceled. [`Gateway::handle_fills`]
    /// does so.
    #[must_use]
    pub fn has_lost_sessions(&self) -> bool {
        self.has_lost_sessions
    }

    #[cold]
    pub(super) fn cancel_lost(
        &mut self,
        now: Now,
        market: &mut impl Market,
        listener: &mut impl Listener,
    ) {
        self.has_lost_sessions = false;
        for account in 0..self.accounts.len() {
            if core::mem::take(&mut self.accounts[account].lost) {
                self.counters.disconnect_cancels += 1;
                self.cancel_session_orders(now, account, market, listener);
            }
        }
    }

    fn cancel_session_orders(
        &mut self,
        now: Now,
        account: usize,
        market: &mut impl Market,
        listener: &mut impl Listener,
    ) {
        self.remove_lost_quotes(now, account, market);
        let owner = owner_of(account);
        for slot in 0..self.orders.len() {
            let (order, time_in_force) = (self.orders[slot].order, self.orders[slot].time_in_force);
            if matches!(time_in_force, TimeInForce::GOOD_TILL_CANCEL | TimeInForce::GOOD_TILL_DATE)
            {
                continue;
            }
            // The market finds neither another session's order nor one that is no longer in the
            // book.
            let Some(canceled) = market.cancel(now, order, owner) else { continue };
            let reason = Some(ExecReason::CANCEL_ON_DISCONNECT);
            let reported = self.report(now, owner, order, |buffer, stamp, entry| {
                let canceled = CanceledState::from(&canceled);
                encode_cancelled(buffer, stamp, (&entry.request, &[]), (entry, canceled), reason)
            });
            if let Some((connection, text)) = reported {
                self.counters.cancelled += 1;
                listener.on_cancelled(connection, CharArray::new(&text).as_bytes(), order);
            }
        }
    }
}
