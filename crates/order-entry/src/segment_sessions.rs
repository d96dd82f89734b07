//! Sessions of several market segments on one loop.

use std::fmt;
use std::io;

use hairpin_ilink3::{Listener, Sender, Zone};
use hairpin_mapped::{Journal, Storage};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Instant, Now};
use thiserror::Error;

use crate::{Connect, NamedZone, ReconnectingSession, TcpConnect};

/// A session for this market segment exists already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("cannot add market segment {0}: it already has a session")]
pub struct DuplicateSegment(pub u8);

/// The listeners of the sessions of several market segments.
///
/// A listener may be created for each call from state that all segments share:
///
/// ```
/// use hairpin_order_entry::{Listener, Listeners, Sender, State};
///
/// #[derive(Default)]
/// struct Strategy {
///     established: Vec<u8>,
/// }
///
/// struct SegmentView<'a>(&'a mut Strategy, u8);
///
/// impl Listener for SegmentView<'_> {
///     fn on_state(&mut self, _: &mut Sender<'_>, state: State) {
///         if state == State::Established {
///             self.0.established.push(self.1);
///         }
///     }
/// }
///
/// impl Listeners for Strategy {
///     type SegmentListener<'a> = SegmentView<'a>;
///     fn listener(&mut self, segment: u8) -> SegmentView<'_> {
///         SegmentView(self, segment)
///     }
/// }
/// ```
pub trait Listeners {
    /// The listener type of one segment.
    type SegmentListener<'a>: Listener
    where
        Self: 'a;

    /// Returns the listener of a segment's session.
    fn listener(&mut self, segment: u8) -> Self::SegmentListener<'_>;
}

/// Sessions by MarketSegmentID (1300) that share a reactor and no other state. A failure of one
/// session does not affect the others.
///
/// Drive them like one [`ReconnectingSession`]. Each session has its own UUID, sequence numbers and
/// journal, as CME requires per segment.
pub struct SegmentSessions<D: Connect = TcpConnect, J: Storage = Journal, Z: Zone = NamedZone> {
    sessions: Vec<(u8, ReconnectingSession<D, J, Z>)>,
}

impl<D: Connect, J: Storage, Z: Zone> Default for SegmentSessions<D, J, Z> {
    fn default() -> Self {
        Self { sessions: Vec::new() }
    }
}

impl<D: Connect, J: Storage, Z: Zone + fmt::Debug> fmt::Debug for SegmentSessions<D, J, Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<D: Connect, J: Storage, Z: Zone> SegmentSessions<D, J, Z> {
    /// Adds the session of a segment.
    ///
    /// # Errors
    /// [`DuplicateSegment`]; `session` is dropped.
    pub fn add(
        &mut self,
        segment: u8,
        session: ReconnectingSession<D, J, Z>,
    ) -> Result<(), DuplicateSegment> {
        if self.session(segment).is_some() {
            return Err(DuplicateSegment(segment));
        }
        self.sessions.push((segment, session));
        Ok(())
    }

    /// Returns the sessions with their segments, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (u8, &ReconnectingSession<D, J, Z>)> {
        self.sessions.iter().map(|(segment, session)| (*segment, session))
    }

    /// Returns the session of a segment.
    #[must_use]
    pub fn session(&self, segment: u8) -> Option<&ReconnectingSession<D, J, Z>> {
        self.iter().find(|(it, _)| *it == segment).map(|(_, session)| session)
    }

    /// Returns the session of a segment mutably, to start or stop it.
    pub fn session_mut(&mut self, segment: u8) -> Option<&mut ReconnectingSession<D, J, Z>> {
        self.sessions.iter_mut().find(|(it, _)| *it == segment).map(|(_, session)| session)
    }

    /// Returns the sending half of a segment's session: see
    /// [`Session::sender`](crate::Session::sender).
    pub fn sender(&mut self, segment: u8, now: Now) -> Option<Sender<'_>> {
        self.session_mut(segment).map(|session| session.sender(now))
    }

    /// Starts to connect all sessions.
    pub fn start(&mut self, now: Now) {
        self.sessions.iter_mut().for_each(|(_, session)| session.start(now));
    }

    /// Terminates all sessions gracefully. Continue to process until they [are
    /// idle](Self::is_idle).
    pub fn stop(&mut self) {
        self.sessions.iter_mut().for_each(|(_, session)| session.stop());
    }

    /// Returns `true` if no session has a connection or is connecting.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.sessions.iter().all(|(_, session)| session.is_idle())
    }

    /// Processes one wakeup of each session: see [`Session::process`](crate::Session::process).
    ///
    /// # Errors
    /// The first of the reactor's errors. All sessions are processed.
    pub fn process(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        listeners: &mut impl Listeners,
    ) -> io::Result<()> {
        let mut outcome = Ok(());
        for (segment, session) in &mut self.sessions {
            let listener = &mut listeners.listener(*segment);
            outcome = outcome.and(session.process(now, ready, reactor, listener));
        }
        outcome
    }

    /// Returns the next time at which [`process`](Self::process) must run without input.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.sessions.iter().filter_map(|(_, session)| session.next_deadline()).min()
    }

    /// Closes all connections without a Terminate and leaves the reactor.
    ///
    /// # Errors
    /// The first of the reactor's errors.
    pub fn abandon(
        &mut self,
        now: Now,
        reactor: &mut Reactor,
        listeners: &mut impl Listeners,
    ) -> io::Result<()> {
        let mut outcome = Ok(());
        for (segment, session) in &mut self.sessions {
            let listener = &mut listeners.listener(*segment);
            outcome = outcome.and(session.abandon(now, reactor, listener));
        }
        outcome
    }
}
