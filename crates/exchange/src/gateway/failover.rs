//! Primary and backup: two gateways that know the same sessions, one of which trades.
//!
//! A session is established on the primary first, then by the same UUID on the backup, where every
//! number is 0 and only session messages are taken. When it ends on the primary it ends on the
//! backup too; but when the primary itself fails, the backup goes on as the primary, and says so
//! by a Sequence whose FTI (tag 39010) is 1. It stays the primary when the other one is back.

use hairpin_cme_codecs::ilink3::KeepAliveLapsed;
use hairpin_time::Now;

use super::reason::TerminateCode;
use super::{Connection, Gateway, SessionState};
use crate::Listener;

/// Which of two gateways, as they were designated; which one trades may be another matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Designation {
    /// Trades until it fails.
    Primary,
    /// Takes over then.
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
    /// Which of the two gateways is the primary now.
    #[must_use]
    pub fn primary(&self) -> Designation {
        self.primary
    }

    /// The primary fails: its connections end without a word, nobody can connect to it until
    /// [`Gateway::restore`], and the other one is the primary from now on. Sessions that were not
    /// established on that are lost.
    pub fn fail_primary(&mut self, now: Now, listener: &mut impl Listener) {
        let failed = self.primary;
        self.primary = failed.other();
        self.failed = Some(failed);
        for Connection { session, .. } in &mut self.connections {
            if session.at == failed && session.state != SessionState::Closed {
                session.account = None;
                session.outbound.clear();
                session.close(now);
            }
        }
        for account in 0..self.accounts.len() {
            let known = &mut self.accounts[account];
            match (known.connection, known.backup.take()) {
                (Some(lost), None) => self.leave(account, lost, false),
                (_, backup) => {
                    known.connection = backup;
                    known.is_established = backup.is_some();
                }
            }
        }
        for place in 0..self.connections.len() {
            self.promote(now, place, listener);
        }
    }

    fn promote(&mut self, now: Now, place: usize, listener: &mut impl Listener) {
        let session = &mut self.connections[place].session;
        if session.at != self.primary {
            return;
        }
        session.was_promoted = session.is_backup;
        session.is_backup = false;
        let Some(account) = session.account.filter(|_| session.is_established()) else { return };
        let next = self.accounts[account].next_outbound;
        session.send_sequence(now, next, KeepAliveLapsed::NOT_LAPSED);
        self.counters.promotions += 1;
        listener.on_session(session.id, session.account, session.state);
    }

    /// The gateway that has failed takes connections again, as the backup.
    pub fn restore(&mut self) {
        self.failed = None;
    }

    /// A connection of an account is gone.
    pub(super) fn leave(&mut self, account: usize, place: u32, is_graceful: bool) {
        let known = &mut self.accounts[account];
        if known.backup == Some(place) {
            known.backup = None;
        }
        if known.connection != Some(place) {
            return;
        }
        known.connection = None;
        self.has_orphans |= known.backup.is_some();
        let was_established = core::mem::take(&mut known.is_established);
        if self.rules.cancels_on_disconnect && was_established && !is_graceful {
            known.is_lost = true;
            self.has_lost = true;
        }
    }

    /// Ends what may not go on: sessions on the backup that have ended on the primary, and all of
    /// those whose ports were closed.
    #[cold]
    pub(super) fn end_orphans(&mut self, now: Now, listener: &mut impl Listener) {
        self.has_orphans = false;
        let Self { accounts, connections, counters, .. } = self;
        for known in accounts {
            let (places, code) = if known.is_closed {
                ([known.connection, known.backup], TerminateCode::PortClosure)
            } else if known.connection.is_none() {
                ([known.backup, None], TerminateCode::EndedFromPrimary)
            } else {
                continue;
            };
            for place in places.into_iter().flatten() {
                let session = &mut connections[place as usize].session;
                if session.listens() {
                    counters.orphaned_backups += u64::from(!known.is_closed);
                    session.fail(now, code, counters, listener);
                }
            }
        }
    }
}
