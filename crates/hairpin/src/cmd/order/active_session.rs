//! The session of a command: connected once, or kept connected.

use std::io;
use std::net::SocketAddrV4;

use anyhow::Result;
use hairpin_order_entry::{
    Binding, ConnectorSettings, Listener, NamedZone, ReconnectingSession, Sender, Session,
};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Instant, Now};

/// A session, and who connects it.
pub(super) enum ActiveSession {
    /// Once: when it ends, all ends.
    Once(Box<Session>),
    /// Whenever it is to be.
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
    /// That there is a connection.
    pub(super) fn start(&mut self, now: Now) -> Result<()> {
        match self {
            Self::Once(session) => session.connect(now, Binding::New)?,
            Self::Kept(kept) => kept.start(now),
        }
        Ok(())
    }

    /// Terminates, and connects no more.
    pub(super) fn stop(&mut self, now: Now) {
        match self {
            Self::Once(session) => session.terminate(now),
            Self::Kept(kept) => kept.stop(),
        }
    }

    /// Does what a wake calls for.
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

    /// When it has something to do though nothing has arrived.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        match self {
            Self::Once(session) => session.next_deadline(),
            Self::Kept(kept) => kept.next_deadline(),
        }
    }

    /// Whether nothing connects it any more. `has_ended` is whether the last thing it told was its
    /// end, `is_leaving` whether it was stopped.
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

    /// Leaves the reactor, if the loop ended before the session did.
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
