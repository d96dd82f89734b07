//! Primary and backup: two gateways that share the sessions, one of which accepts business
//! messages.
//!
//! A client establishes its session on the primary first, then with the same UUID on the backup. On
//! the backup every sequence number is 0 and only session messages are accepted. When the session
//! ends on the primary, it ends on the backup too. When the primary itself fails, the backup
//! becomes the primary and reports this by a Sequence with FaultToleranceIndicator (tag 39010) 1.
//! It stays the primary after the other gateway is restored.

use hairpin_cme_codecs::ilink3::KeepAliveLapsed;
use hairpin_time::Now;

use super::reason_codes::TerminateCode;
use super::{Connection, Gateway, SessionState};
use crate::Listener;

/// The designated role of a gateway. After a failover, the designated backup acts as the primary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Designation {
    /// Accepts business messages until it fails.
    Primary,
    /// Takes over after a failure of the primary.
    Backup,
}

impl Designation {
    const fn other(self) -> Self {
        match self {
            Self::Primary => Self::Backup,
            Self::Backup => Self::Primary,
        }
    }
}

impl Gateway {
    /// Returns the gateway that is the primary now.
    #[must_use]
    pub fn primary(&self) -> Designation {
        self.primary
    }

    /// Fails the primary: its connections close without a Terminate, and it accepts no connection
    /// until [`Gateway::restore`]. The other gateway becomes the primary. Sessions that were not
    /// established there are lost.
    pub fn fail_primary(&mut self, now: Now, listener: &mut impl Listener) {
        let failed = self.primary;
        self.primary = failed.other();
        self.failed = Some(failed);
        for Connection { session, .. } in &mut self.connections {
            if session.designation == failed && session.state != SessionState::Closed {
                session.account = None;
                session.outbound.clear();
                session.close(now);
            }
        }
        for account in 0..self.accounts.len() {
            let account_state = &mut self.accounts[account];
            match (account_state.connection, account_state.backup.take()) {
                (Some(lost), None) => self.detach(account, lost, false),
                (_, backup) => {
                    account_state.connection = backup;
                    account_state.established = backup.is_some();
                }
            }
        }
        for slot in 0..self.connections.len() {
            self.promote(now, slot, listener);
        }
    }

    fn promote(&mut self, now: Now, slot: usize, listener: &mut impl Listener) {
        let session = &mut self.connections[slot].session;
        if session.designation != self.primary {
            return;
        }
        session.promoted = session.backup;
        session.backup = false;
        let Some(account) = session.account.filter(|_| session.is_established()) else { return };
        let next = self.accounts[account].next_outbound;
        session.send_sequence(now, next, KeepAliveLapsed::NOT_LAPSED);
        self.counters.promotions += 1;
        listener.on_session(session.id, session.account, session.state);
    }

    /// Restores the failed gateway, which accepts connections again as the backup.
    pub fn restore(&mut self) {
        self.failed = None;
    }

    /// Detaches a closed connection from its account.
    pub(super) fn detach(&mut self, account: usize, slot: u32, graceful: bool) {
        let account_state = &mut self.accounts[account];
        if account_state.backup == Some(slot) {
            account_state.backup = None;
        }
        if account_state.connection != Some(slot) {
            return;
        }
        account_state.connection = None;
        self.has_orphans |= account_state.backup.is_some();
        let was_established = core::mem::take(&mut account_state.established);
        if self.rules.cancels_on_disconnect && was_established && !graceful {
            account_state.lost = true;
            self.has_lost_sessions = true;
        }
    }

    /// Ends the connections that may not continue: backup sessions whose primary session has ended,
    /// and all sessions with closed ports.
    #[cold]
    pub(super) fn end_orphans(&mut self, now: Now, listener: &mut impl Listener) {
        self.has_orphans = false;
        let Self { accounts, connections, counters, .. } = self;
        for account in accounts {
            let (slots, code) = if account.ports_closed {
                ([account.connection, account.backup], TerminateCode::PortClosure)
            } else if account.connection.is_none() {
                ([account.backup, None], TerminateCode::EndedFromPrimary)
            } else {
                continue;
            };
            for slot in slots.into_iter().flatten() {
                let session = &mut connections[slot as usize].session;
                if session.accepts_input() {
                    counters.orphaned_backups += u64::from(!account.ports_closed);
                    session.fail(now, code, counters, listener);
                }
            }
        }
    }
}
