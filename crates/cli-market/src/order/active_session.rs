//! The session of a command: connected once, or kept connected.

use std::io;
use std::net::SocketAddrV4;

use anyhow::Result;
use hairpin_mapped::JournalError;
use hairpin_order_entry::{
    Binding, ConnectorSettings, Listener, NamedZone, ReconnectingSession, Sender, Session,
};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Instant, Now};

/// A session and its connection policy.
pub(super) enum ActiveSession {
    /// Connected once: when it ends, the command ends.
    Once(Box<Session>),
    /// Reconnected according to its settings.
    Kept(Box<ReconnectingSession>),
}

impl ActiveSession {
    pub(super) fn once(session: Session) -> Self {
        Self::Once(Box::new(session))
    }

    pub(super) fn kept(
        session: Session,
        connector: ConnectorSettings<SocketAddrV4>,
        zone: NamedZone,
    ) -> Self {
        Self::Kept(Box::new(ReconnectingSession::new(session, connector, zone)))
    }

    /// Connects.
    ///
    /// # Errors
    /// A connection exists already.
    pub(super) fn start(&mut self, now: Now) -> Result<()> {
        match self {
            Self::Once(session) => session.connect(now, Binding::New)?,
            Self::Kept(kept) => kept.start(now),
        }
        Ok(())
    }

    /// Terminates, and does not reconnect.
    pub(super) fn stop(&mut self, now: Now) {
        match self {
            Self::Once(session) => session.terminate(now),
            Self::Kept(kept) => kept.stop(),
        }
    }

    /// Handles a wakeup.
    ///
    /// # Errors
    /// The reactor's.
    pub(super) fn process(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        listener: &mut impl Listener,
    ) -> io::Result<()> {
        match self {
            Self::Once(session) => session.process(now, ready, reactor, listener),
            Self::Kept(kept) => kept.process(now, ready, reactor, listener),
        }
    }

    /// Returns when it has work to do even if nothing arrives.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        match self {
            Self::Once(session) => session.next_deadline(),
            Self::Kept(kept) => kept.next_deadline(),
        }
    }

    /// Returns `true` if it will not connect again. `has_ended` means that its last callback was
    /// its end, `is_leaving` that it was stopped.
    pub(super) fn is_over(&self, has_ended: bool, is_leaving: bool) -> bool {
        match self {
            Self::Once(_) => has_ended,
            Self::Kept(kept) => kept.is_idle() && (is_leaving || kept.has_given_up()),
        }
    }

    pub(super) fn session(&self) -> &Session {
        match self {
            Self::Once(session) => session,
            Self::Kept(kept) => kept.session(),
        }
    }

    pub(super) fn sender(&mut self, now: Now) -> Sender<'_> {
        match self {
            Self::Once(session) => session.sender(now),
            Self::Kept(kept) => kept.sender(now),
        }
    }

    /// Syncs the journal to disk, as its policy requires, at the end of the run.
    ///
    /// # Errors
    /// The journal could not be written to disk, now or earlier.
    pub(super) fn close_journal(&mut self) -> Result<(), JournalError> {
        match self {
            Self::Once(session) => session.close_journal(),
            Self::Kept(kept) => kept.close_journal(),
        }
    }

    /// Leaves the reactor, if the loop ended before the session.
    ///
    /// # Errors
    /// The reactor's.
    pub(super) fn abandon(
        &mut self,
        now: Now,
        reactor: &mut Reactor,
        listener: &mut impl Listener,
    ) -> Result<()> {
        match self {
            Self::Once(session) => Ok(session.abandon(now, reactor, listener)?),
            Self::Kept(kept) => Ok(kept.abandon(now, reactor, listener)?),
        }
    }
}
