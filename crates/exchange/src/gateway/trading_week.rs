//! The trading week, and other administrative actions of the exchange.

use hairpin_time::Now;

use super::{ConnectionId, Gateway};
use crate::Listener;

impl Gateway {
    /// Ends the trading week and starts a new one. All sessions end, and sequence numbers restart
    /// at 1. Messages of the old week can no longer be requested. Until the next logon, published
    /// messages have UUID 0. Closed ports open. Party details have to be registered again. Orders
    /// are not affected, since the market handles them; later reports of those that stay are
    /// preceded by their party details under id 0 (CME, page 46210865).
    pub fn begin_week(&mut self, now: Now, listener: &mut impl Listener) {
        for slot in 0..self.connections.len() {
            // The number of slots fits in a `u32`.
            self.terminate(now, ConnectionId(slot as u32), listener);
        }
        self.accounts.iter_mut().for_each(super::account::Account::begin_week);
        for order in &mut self.orders {
            if order.outlasts_week() {
                order.carried = true;
                order.request.party_details_list_req_id = 0;
            }
        }
    }

    /// Opens the ports of an account that were closed for bad logons. `account` is the index in
    /// [`GatewaySettings::accounts`](crate::GatewaySettings::accounts); an invalid index has no
    /// effect.
    pub fn open_ports(&mut self, account: usize) {
        if let Some(account) = self.accounts.get_mut(account) {
            account.open_ports();
        }
    }

    /// Starts or ends the pre-open state, in which the order rate limit is lower.
    pub fn set_pre_open(&mut self, pre_open: bool) {
        self.rules.pre_open = pre_open;
    }
}
