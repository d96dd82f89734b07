//! One channel on kernel sockets.

use std::io;

use hairpin_endpoint::capture::{Recorder, RecorderSettings};
use hairpin_mdp3::{Action, Channel, ChannelState, FeedLine, Filter, Listener, Settings};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Duration, Instant, Now, Utc};

use crate::backlog::Backlog;
use crate::connection::Connection;
use crate::connections::Connections;
use crate::groups::Groups;
use crate::inlet::Inlet;
use crate::replay_line::ReplayLine;
use crate::{
    Addresses, CacheError, ConnectionError, ConnectionStatistics, DefinitionCache, FeedError,
    LineStatistics, Multicast, ReplayError, Statistics,
};

/// While books are not in sync, the longest time from one wake to the next: a wait may watch one
/// socket only (`Wait::Block`), and recovery comes by others.
pub(crate) const RECOVERY_WAKE: Duration = Duration::from_millis(10);

/// A market data channel and the sockets it is fed by: multicast groups, or TCP connections.
///
/// Groups are joined and left as the channel asks for it; connections are made at the start, and
/// again, after a pause, whenever one is lost; groups too, when their interface has gone and
/// returned. What neither side has brought is asked for by TCP replay, if
/// [`Settings::replay`](crate::Settings::replay) is set and [`Multicast::replay`] says where.
/// Nothing is allocated after the start but for what is made again, and for each replay.
///
/// For several channels, or other sources of packets than sockets in the caller's reactor, see
/// [`FeedHandlers`](crate::FeedHandlers).
#[derive(Debug)]
pub struct FeedHandler {
    inlet: Inlet,
    sockets: Sockets,
    replay: Option<Box<ReplayLine>>,
    backlog: Backlog,
    processed: Instant,
}

#[derive(Debug)]
enum Sockets {
    Multicast(Groups),
    Tcp(Connections),
}

impl FeedHandler {
    /// A handler that has joined the incremental feed, and what it needs to come in sync; or that
    /// has begun to connect. Of the feeds and sides that the settings name those are used that have
    /// an address.
    ///
    /// # Errors
    /// [`FeedError::NoFeed`], [`FeedError::NoSide`], [`FeedError::SameAddress`]: the addresses will
    /// not do. [`FeedError::Replay`]: the replay server cannot be asked. [`FeedError::Socket`],
    /// [`FeedError::Connection`]: one cannot be opened. That nobody answers at an address is no
    /// error: it is tried again.
    pub fn new(
        settings: Settings,
        addresses: impl Into<Addresses>,
        reactor: &mut Reactor,
    ) -> Result<Self, FeedError> {
        Self::new_with_filter(settings, Filter::default(), addresses, reactor)
    }

    /// The same for some of the channel's instruments.
    ///
    /// # Errors
    /// Those of [`FeedHandler::new`].
    pub fn new_with_filter(
        settings: Settings,
        filter: Filter,
        addresses: impl Into<Addresses>,
        reactor: &mut Reactor,
    ) -> Result<Self, FeedError> {
        let addresses = addresses.into();
        addresses.check()?;
        let settings = addresses.fit(settings);
        let replay = match &addresses {
            Addresses::Multicast(Multicast { replay: Some(server), interface, .. }) => {
                ReplayLine::open(server, &settings, *interface)?
            }
            _ => None,
        };
        let sockets = match &addresses {
            Addresses::Multicast(groups) => Sockets::Multicast(Groups::open(groups, reactor)?),
            Addresses::Tcp(lines) => Sockets::Tcp(Connections::open(lines, &settings, reactor)?),
        };
        let mut handler = Self {
            inlet: Inlet::new(Channel::new_with_filter(settings, filter)),
            sockets,
            replay,
            backlog: Backlog::default(),
            processed: Instant::ZERO,
        };
        // Nothing has come that could be told.
        let start = Now { monotonic: Instant::ZERO, utc: Utc::EPOCH };
        match handler.act(start, reactor, &mut ()) {
            Ok(()) => Ok(handler),
            Err(error) => {
                // The first error tells what is wrong; those of taking back would not.
                let _ = handler.close(reactor);
                Err(error)
            }
        }
    }

    /// Does what a wake calls for: hands the channel what has arrived, calls the listener, does
    /// what is due, joins and leaves, connects. If nothing has arrived, the listener is told that
    /// the loop is idle.
    ///
    /// A hole in the stream does not become a gap while an incremental line has more to read, nor
    /// before a wait that began when its time was over has brought nothing to fill it: so what had
    /// arrived by then is read first, though this thread was not let run for a while. `now` is read
    /// behind the wait that `ready` is of, and that wait began behind the call before this one.
    ///
    /// # Errors
    /// [`FeedError::Socket`], [`FeedError::Connection`], the first if there are several; the other
    /// lines were read nevertheless. [`EngineError::InterfaceGone`](crate::EngineError): told once;
    /// the groups are joined again when it returns ([`FeedError::is_passing`]). That a connection
    /// is lost is no error: see [`FeedHandler::last_failure`].
    #[inline]
    pub fn process(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        listener: &mut impl Listener,
    ) -> Result<(), FeedError> {
        let by_then = waited_from(&mut self.processed, now);
        let inlet = &mut self.inlet;
        let (received, backlog) = match &mut self.sockets {
            Sockets::Multicast(groups) => groups.receive(now, ready, reactor, inlet, listener),
            Sockets::Tcp(connections) => {
                connections.receive((now, by_then), ready, reactor, inlet, listener)
            }
        };
        self.backlog = backlog;
        let mut outcome = received;
        if self.replay.as_ref().is_some_and(|replay| replay.is_busy()) {
            outcome = outcome.and(self.refill(now, ready, reactor, listener));
        }
        if !backlog.may_fill_hole {
            self.inlet.channel.handle_timeout(by_then, listener);
        }
        outcome = outcome.and(self.act(now, reactor, listener));
        if backlog.is_idle {
            listener.on_idle(now);
        }
        outcome
    }

    /// When [`process`](Self::process) is due though nothing has arrived.
    #[must_use]
    #[inline]
    pub fn next_deadline(&self) -> Option<Instant> {
        if self.backlog.is_any {
            return Some(self.processed);
        }
        let is_in_sync = self.inlet.channel.state() == ChannelState::InSync;
        let is_refilling = self.replay.as_ref().is_some_and(|replay| replay.is_busy());
        let deadlines = [
            self.inlet.channel.poll_timeout(),
            (!is_in_sync || is_refilling).then(|| self.processed + RECOVERY_WAKE),
            self.replay.as_ref().and_then(|replay| replay.next_deadline()),
            match &self.sockets {
                Sockets::Multicast(groups) => groups.next_deadline(),
                Sockets::Tcp(connections) => connections.next_deadline(),
            },
        ];
        deadlines.into_iter().flatten().min()
    }

    /// Records every datagram that is received from now on in a capture, duplicates too, with its
    /// receive timestamp and an interface for each side of each feed; `channel` is put into their
    /// names. The file is written by a thread of its own; see [`Recorder`].
    ///
    /// # Errors
    /// Those of the file system, with the path. `Unsupported`: the channel goes by TCP.
    pub fn record(&mut self, settings: &RecorderSettings, channel: &str) -> io::Result<()> {
        match &mut self.sockets {
            Sockets::Multicast(groups) => groups.record(settings, channel),
            Sockets::Tcp(_) => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "market data by TCP is not recorded",
            )),
        }
    }

    /// The recorder, if [`FeedHandler::record`] has begun one: to be looked at, or taken to end it.
    pub fn recorder(&mut self) -> Option<&mut Option<Recorder>> {
        match &mut self.sockets {
            Sockets::Multicast(groups) => Some(groups.recorder()),
            Sockets::Tcp(_) => None,
        }
    }

    /// Takes the sockets from the reactor and closes them.
    ///
    /// # Errors
    /// [`FeedError::Socket`], [`FeedError::Connection`], the first if there are several; all are
    /// closed nevertheless.
    pub fn close(mut self, reactor: &mut Reactor) -> Result<(), FeedError> {
        if let Some(replay) = &mut self.replay {
            replay.close(reactor);
        }
        match &mut self.sockets {
            Sockets::Multicast(groups) => groups.close(reactor),
            Sockets::Tcp(connections) => connections.close(reactor),
        }
    }

    /// The channel: its state, instruments, books and counters.
    #[must_use]
    pub fn channel(&self) -> &Channel {
        &self.inlet.channel
    }

    /// Gives the channel the definitions of a cache before the first packet; returns how many. The
    /// listener is told of each. Books are joined at once; the loop of definitions is followed
    /// nevertheless, and corrects what has changed.
    ///
    /// # Errors
    /// [`CacheError::NotWanted`], the feeds' errors not counted in: they come with the next
    /// [`process`](Self::process).
    pub fn load_definitions(
        &mut self,
        cache: &DefinitionCache,
        now: Now,
        listener: &mut impl Listener,
    ) -> Result<usize, CacheError> {
        cache.load_into(&mut self.inlet.channel, now, listener)
    }

    /// Has a cache note every definition from now on.
    pub fn keep_definitions(&mut self, cache: DefinitionCache) {
        self.inlet.definitions = Some(Box::new(cache));
    }

    /// The cache that notes the definitions, to be saved.
    pub fn definitions(&mut self) -> Option<&mut DefinitionCache> {
        self.inlet.definitions.as_deref_mut()
    }

    /// What the sockets have counted since the start, all together.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let lines = self.lines().map(Statistics::from);
        let connections = self.connections().map(|connection| connection.statistics);
        let replay = self.replay.iter().map(|replay| replay.statistics());
        lines.chain(connections).chain(replay).fold(Statistics::default(), Statistics::plus)
    }

    /// The smallest receive buffer that the kernel granted a line of multicast, in bytes; asked for
    /// are 4 MiB.
    #[must_use]
    pub fn least_receive_buffer(&self) -> Option<usize> {
        self.lines().map(|line| line.receive_buffer.granted).min()
    }

    /// What each side of each feed has received since the start, by multicast.
    pub fn lines(&self) -> impl Iterator<Item = LineStatistics> {
        let groups = match &self.sockets {
            Sockets::Multicast(groups) => Some(groups.statistics()),
            Sockets::Tcp(_) => None,
        };
        groups.into_iter().flatten()
    }

    /// What each side has received since the start, by TCP.
    pub fn connections(&self) -> impl Iterator<Item = ConnectionStatistics> {
        self.sides().iter().map(Connection::statistics)
    }

    /// Why the last connection of a side was lost, or the last attempt failed.
    #[must_use]
    pub fn last_failure(&self, side: FeedLine) -> Option<&ConnectionError> {
        self.sides().iter().find_map(|connection| connection.last_failure(side))
    }

    /// Why the last request to the replay server that failed has failed.
    #[must_use]
    pub fn last_replay_failure(&self) -> Option<&ReplayError> {
        self.replay.as_ref()?.last_failure()
    }

    fn sides(&self) -> &[Connection] {
        match &self.sockets {
            Sockets::Multicast(_) => &[],
            Sockets::Tcp(connections) => connections.sides(),
        }
    }

    /// Does what the channel asks for.
    #[inline]
    fn act(
        &mut self,
        now: Now,
        reactor: &mut Reactor,
        listener: &mut impl Listener,
    ) -> Result<(), FeedError> {
        let mut outcome = Ok(());
        while let Some(action) = self.inlet.channel.poll_action() {
            outcome = outcome.and(self.sockets.act(action, reactor));
            if let Some(replay) = &mut self.replay {
                replay.note(action);
                replay.settle(now, reactor, &mut self.inlet, listener);
            }
        }
        outcome
    }

    /// Hands over what the replay server has sent. What has been asked for in this very turn takes
    /// the place of what is under way first.
    #[cold]
    fn refill(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        listener: &mut impl Listener,
    ) -> Result<(), FeedError> {
        let outcome = self.act(now, reactor, listener);
        if let Some(replay) = &mut self.replay {
            replay.turn(now, ready, reactor, &mut self.inlet, listener);
        }
        outcome
    }
}

/// The time by which a turn at `now` judges what has not come: that of the turn before, which is
/// noted in `processed`. All that had arrived by then is known to the wait between the two; what
/// came since may lie unread. In the first turn nothing is overdue.
#[inline]
pub(crate) fn waited_from(processed: &mut Instant, now: Now) -> Now {
    match core::mem::replace(processed, now.monotonic) {
        Instant::ZERO => now,
        before => Now { monotonic: before, ..now },
    }
}

impl Sockets {
    #[cold]
    fn act(&mut self, action: Action, reactor: &mut Reactor) -> Result<(), FeedError> {
        match self {
            Self::Multicast(groups) => groups.act(action, reactor),
            Self::Tcp(connections) => {
                connections.act(action);
                Ok(())
            }
        }
    }
}
