//! Sessions of several market segments on one loop.

use std::fmt;
use std::io;

use hairpin_ilink3::{Listener, Sender, Zone};
use hairpin_mapped::{Journal, Storage};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Instant, Now};
use thiserror::Error;

use crate::{Connect, NamedZone, ReconnectingSession, TcpConnect};

/// A session for the same market segment is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("market segment {0} has a session already")]
pub struct SegmentTaken(pub u8);

/// Who listens to the sessions of several market segments.
///
/// What listens may be made anew for each wake, of parts that all segments share:
///
/// ```
/// use hairpin_order_entry::{Listener, Listeners, Sender, State};
///
/// #[derive(Default)]
/// struct Strategy {
///     established: Vec<u8>,
/// }
///
/// struct On<'a>(&'a mut Strategy, u8);
///
/// impl Listener for On<'_> {
///     fn on_state(&mut self, _: &mut Sender<'_>, state: State) {
///         if state == State::Established {
///             self.0.established.push(self.1);
///         }
///     }
/// }
///
/// impl Listeners for Strategy {
///     type Of<'a> = On<'a>;
///     fn of(&mut self, segment: u8) -> On<'_> {
///         On(self, segment)
///     }
/// }
/// ```
pub trait Listeners {
    /// What listens to one of them.
    type Of<'a>: Listener
    where
        Self: 'a;

    /// Who listens to the session of this segment.
    fn of(&mut self, segment: u8) -> Self::Of<'_>;
}

/// Sessions by MarketSegmentID (1300), which share a reactor and nothing else: what becomes of one
/// does not concern the others.
///
/// Drive them like one [`ReconnectingSession`]. Numbers, UUID and journal are each session's own,
/// as CME
/// has them for each segment.
pub struct Segments<D: Connect = TcpConnect, J: Storage = Journal, Z: Zone = NamedZone> {
    sessions: Vec<(u8, ReconnectingSession<D, J, Z>)>,
}

impl<D: Connect, J: Storage, Z: Zone> Default for Segments<D, J, Z> {
    fn default() -> Self {
        Self { sessions: Vec::new() }
    }
}

impl<D: Connect, J: Storage, Z: Zone + fmt::Debug> fmt::Debug for Segments<D, J, Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<D: Connect, J: Storage, Z: Zone> Segments<D, J, Z> {
    /// Adds the session of a segment.
    ///
    /// # Errors
    /// [`SegmentTaken`], and `session` is gone.
    pub fn add(
        &mut self,
        segment: u8,
        session: ReconnectingSession<D, J, Z>,
    ) -> Result<(), SegmentTaken> {
        if self.session(segment).is_some() {
            return Err(SegmentTaken(segment));
        }
        self.sessions.push((segment, session));
        Ok(())
    }

    /// The sessions with their segments, in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = (u8, &ReconnectingSession<D, J, Z>)> {
        self.sessions.iter().map(|(segment, session)| (*segment, session))
    }

    /// The session of a segment.
    #[must_use]
    pub fn session(&self, segment: u8) -> Option<&ReconnectingSession<D, J, Z>> {
        self.iter().find(|(it, _)| *it == segment).map(|(_, session)| session)
    }

    /// The same, to start or stop it alone.
    pub fn session_mut(&mut self, segment: u8) -> Option<&mut ReconnectingSession<D, J, Z>> {
        self.sessions.iter_mut().find(|(it, _)| *it == segment).map(|(_, session)| session)
    }

    /// The sending half of a segment's session: see [`Session::sender`](crate::Session::sender).
    pub fn sender(&mut self, segment: u8, now: Now) -> Option<Sender<'_>> {
        self.session_mut(segment).map(|session| session.sender(now))
    }

    /// Has all of them connect from now on.
    pub fn start(&mut self, now: Now) {
        self.sessions.iter_mut().for_each(|(_, session)| session.start(now));
    }

    /// Terminates all gracefully. Drive them on until they [are idle](Self::is_idle).
    pub fn stop(&mut self) {
        self.sessions.iter_mut().for_each(|(_, session)| session.stop());
    }

    /// Whether none has a connection, or is making one.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.sessions.iter().all(|(_, session)| session.is_idle())
    }

    /// Does what a wake calls for in each: see [`Session::process`](crate::Session::process).
    ///
    /// # Errors
    /// The reactor's, after all had their turn: of several errors the first.
    pub fn process(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        listeners: &mut impl Listeners,
    ) -> io::Result<()> {
        let mut outcome = Ok(());
        for (segment, session) in &mut self.sessions {
            let listener = &mut listeners.of(*segment);
            outcome = outcome.and(session.process(now, ready, reactor, listener));
        }
        outcome
    }

    /// When [`process`](Self::process) is due though nothing has arrived.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.sessions.iter().filter_map(|(_, session)| session.next_deadline()).min()
    }

    /// Ends all at once, without a Terminate, and leaves the reactor.
    ///
    /// # Errors
    /// The reactor's: of several the first.
    pub fn abandon(
        &mut self,
        now: Now,
        reactor: &mut Reactor,
        listeners: &mut impl Listeners,
    ) -> io::Result<()> {
        let mut outcome = Ok(());
        for (segment, session) in &mut self.sessions {
            let listener = &mut listeners.of(*segment);
            outcome = outcome.and(session.abandon(now, reactor, listener));
        }
        outcome
    }
}
