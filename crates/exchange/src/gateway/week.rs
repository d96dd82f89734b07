//! The trading week, and what only the house can change.

use hairpin_time::Now;

use super::{ConnectionId, Gateway};
use crate::Listener;

impl Gateway {
    /// A week ends and another begins: all sessions end, numbers begin at 1 again, nothing of the
    /// old week can be asked for any more, and until a session logs on what is published to it has
    /// UUID 0. Closed ports are open again. Orders are the market's matter.
    pub fn begin_week(&mut self, now: Now, listener: &mut impl Listener) {
        for place in 0..self.connections.len() {
            // There are fewer places than a `u32` has values.
            self.terminate(now, ConnectionId(place as u32), listener);
        }
        self.accounts.iter_mut().for_each(super::account::Account::begin_week);
    }

    /// Opens the ports of an account again, after they were closed for bad logons. Accounts are
    /// counted as they were given to the gateway; nothing happens if there is no such account.
    pub fn open_ports(&mut self, account: usize) {
        if let Some(known) = self.accounts.get_mut(account) {
            known.open_ports();
        }
    }

    /// A pre-open window begins or ends: orders have a lower limit in it.
    pub fn set_pre_open(&mut self, is_pre_open: bool) {
        self.rules.is_pre_open = is_pre_open;
    }
}
