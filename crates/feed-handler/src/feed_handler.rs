//! A feed handler for one channel.

use std::io;

use hairpin_endpoint::UdpOptions;
use hairpin_endpoint::capture::{Recorder, RecorderSettings};
use hairpin_mdp3::{Action, Channel, ChannelState, FeedLine, Filter, Listener, Settings};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Duration, Instant, Now, Utc};

use crate::channel_input::ChannelInput;
use crate::channel_replay::ChannelReplay;
use crate::multicast_sockets::MulticastSockets;
use crate::tcp_connection::TcpConnection;
use crate::tcp_connections::TcpConnections;
use crate::unread_sockets::UnreadSockets;
use crate::{
    Addresses, CacheError, ConnectionError, ConnectionStatistics, DefinitionCache, FeedError,
    LineStatistics, Multicast, ReplayError, Statistics,
};

/// The longest time between two wakeups while books are out of sync. `Wait::Block` watches one
/// socket only, and recovery data arrives on others.
pub(crate) const RECOVERY_WAKE: Duration = Duration::from_millis(10);

/// A market data channel with its sockets: multicast groups or TCP connections.
///
/// The handler joins and leaves groups as the channel requests. After an interface returns, it
/// rejoins the groups. TCP connections are opened at startup and reopened after a delay. Packets
/// lost on both sides are requested by TCP replay, if [`Settings::replay`](crate::Settings::replay)
/// and [`Multicast::replay`] are set. After startup only reconnections and replays allocate.
///
/// For several channels, or for packet sources other than sockets in the caller's reactor, see
/// [`FeedHandlers`](crate::FeedHandlers).
#[derive(Debug)]
pub struct FeedHandler {
    channel_input: ChannelInput,
    sockets: Sockets,
    replay: Option<Box<ChannelReplay>>,
    unread: UnreadSockets,
    processed: Instant,
}

#[derive(Debug)]
enum Sockets {
    Multicast(MulticastSockets),
    Tcp(TcpConnections),
}

impl FeedHandler {
    /// Creates a handler and joins the incremental feed and the recovery feeds, or starts to
    /// connect. Uses the feeds and sides that are in `settings` and have an address.
    ///
    /// # Errors
    /// [`FeedError::NoFeed`], [`FeedError::NoSide`], [`FeedError::SameAddress`]: the addresses are
    /// invalid. [`FeedError::Replay`]: the replay client cannot be created. [`FeedError::Socket`],
    /// [`FeedError::Connection`]: a socket cannot be opened. An exchange that does not answer is
    /// not an error: the connection is retried.
    pub fn new(
        settings: Settings,
        addresses: impl Into<Addresses>,
        reactor: &mut Reactor,
    ) -> Result<Self, FeedError> {
        Self::new_with_filter(settings, Filter::default(), addresses, reactor)
    }

    /// Creates a handler for a subset of the channel's instruments.
    ///
    /// # Errors
    /// The errors of [`FeedHandler::new`].
    pub fn new_with_filter(
        settings: Settings,
        filter: Filter,
        addresses: impl Into<Addresses>,
        reactor: &mut Reactor,
    ) -> Result<Self, FeedError> {
        Self::new_with_options(settings, filter, addresses, UdpOptions::default(), reactor)
    }

    /// Creates a handler for a subset of the channel's instruments, whose multicast sockets have
    /// these options.
    ///
    /// # Errors
    /// The errors of [`FeedHandler::new`].
    pub fn new_with_options(
        settings: Settings,
        filter: Filter,
        addresses: impl Into<Addresses>,
        options: UdpOptions,
        reactor: &mut Reactor,
    ) -> Result<Self, FeedError> {
        let addresses = addresses.into();
        addresses.check()?;
        let settings = addresses.fit(settings);
        let replay = match &addresses {
            Addresses::Multicast(Multicast { replay: Some(server), interface, .. }) => {
                ChannelReplay::open(server, &settings, *interface)?
            }
            _ => None,
        };
        let sockets = match &addresses {
            Addresses::Multicast(groups) => {
                Sockets::Multicast(MulticastSockets::open(groups, options, reactor)?)
            }
            Addresses::Tcp(lines) => Sockets::Tcp(TcpConnections::open(lines, &settings, reactor)?),
        };
        let mut handler = Self {
            channel_input: ChannelInput::new(Channel::new_with_filter(settings, filter)),
            sockets,
            replay,
            unread: UnreadSockets::default(),
            processed: Instant::ZERO,
        };
        // No packet has arrived, so there is nothing to report.
        let start = Now { monotonic: Instant::ZERO, utc: Utc::EPOCH };
        match handler.handle_actions(start, reactor, &mut ()) {
            Ok(()) => Ok(handler),
            Err(error) => {
                // The first error is the cause; a close error would hide it.
                let _ = handler.close(reactor);
                Err(error)
            }
        }
    }

    /// Processes one wakeup: delivers received packets to the channel, runs timers, joins and
    /// leaves groups, and connects. Reports an idle loop to the listener if no packet arrived.
    ///
    /// A sequence gap is declared only when no incremental line has unread packets, and when a wait
    /// that began after the gap's timeout delivered nothing to fill it. Packets that arrived in
    /// time are read first, even if this thread was descheduled. `now` must be read after the wait
    /// that produced `ready`, and that wait must have begun after the previous call.
    ///
    /// # Errors
    /// [`FeedError::Socket`], [`FeedError::Connection`]: the first of several; the other lines are
    /// still read. [`EngineError::InterfaceLost`](crate::EngineError): reported once; groups are
    /// rejoined when the interface returns ([`FeedError::is_transient`]). A lost connection is not
    /// an error: see [`FeedHandler::last_failure`].
    #[inline]
    pub fn process(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        listener: &mut impl Listener,
    ) -> Result<(), FeedError> {
        let timeout_now = previous_process_time(&mut self.processed, now);
        let channel_input = &mut self.channel_input;
        let (received, unread) = match &mut self.sockets {
            Sockets::Multicast(groups) => {
                groups.receive(now, ready, reactor, channel_input, listener)
            }
            Sockets::Tcp(connections) => {
                connections.receive((now, timeout_now), ready, reactor, channel_input, listener)
            }
        };
        self.unread = unread;
        let mut outcome = received;
        if self.replay.as_ref().is_some_and(|replay| replay.is_busy()) {
            outcome = outcome.and(self.poll_replay(now, ready, reactor, listener));
        }
        if !unread.may_fill_gap {
            self.channel_input.channel.handle_timeout(timeout_now, listener);
        }
        outcome = outcome.and(self.handle_actions(now, reactor, listener));
        if unread.idle {
            listener.on_idle(now);
        }
        outcome
    }

    /// Returns the next time at which [`process`](Self::process) must run without input.
    #[must_use]
    #[inline]
    pub fn next_deadline(&self) -> Option<Instant> {
        if self.unread.any {
            return Some(self.processed);
        }
        let is_in_sync = self.channel_input.channel.state() == ChannelState::InSync;
        let is_replaying = self.replay.as_ref().is_some_and(|replay| replay.is_busy());
        let deadlines = [
            self.channel_input.channel.poll_timeout(),
            (!is_in_sync || is_replaying).then(|| self.processed + RECOVERY_WAKE),
            self.replay.as_ref().and_then(|replay| replay.next_deadline()),
            match &self.sockets {
                Sockets::Multicast(groups) => groups.next_deadline(),
                Sockets::Tcp(connections) => connections.next_deadline(),
            },
        ];
        deadlines.into_iter().flatten().min()
    }

    /// Starts to record every received datagram in a capture, including duplicates, with receive
    /// timestamps. Each side of each feed gets a capture interface whose name contains `channel`. A
    /// separate thread writes the file; see [`Recorder`].
    ///
    /// # Errors
    /// The file system's error, with the path. `Unsupported` for a TCP channel.
    pub fn record(&mut self, settings: &RecorderSettings, channel: &str) -> io::Result<()> {
        match &mut self.sockets {
            Sockets::Multicast(groups) => groups.record(settings, channel),
            Sockets::Tcp(_) => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "cannot record market data over TCP: only multicast is supported",
            )),
        }
    }

    /// Returns the recorder of [`FeedHandler::record`], to read its state or to take and stop it.
    pub fn recorder(&mut self) -> Option<&mut Option<Recorder>> {
        match &mut self.sockets {
            Sockets::Multicast(groups) => Some(groups.recorder()),
            Sockets::Tcp(_) => None,
        }
    }

    /// Removes the sockets from the reactor and closes them.
    ///
    /// # Errors
    /// [`FeedError::Socket`], [`FeedError::Connection`]: the first of several; all sockets are
    /// closed.
    pub fn close(mut self, reactor: &mut Reactor) -> Result<(), FeedError> {
        if let Some(replay) = &mut self.replay {
            replay.close(reactor);
        }
        match &mut self.sockets {
            Sockets::Multicast(groups) => groups.close(reactor),
            Sockets::Tcp(connections) => connections.close(reactor),
        }
    }

    /// Returns the channel: state, instruments, books and counters.
    #[must_use]
    pub fn channel(&self) -> &Channel {
        &self.channel_input.channel
    }

    /// Passes cached definitions to the channel before its first packet. Returns their number.
    ///
    /// The listener receives each definition. The channel joins books at once; the instrument feed
    /// then corrects outdated definitions.
    ///
    /// # Errors
    /// [`CacheError::NotCollecting`]. Errors of the feeds are reported by the next
    /// [`process`](Self::process).
    pub fn load_definitions(
        &mut self,
        cache: &DefinitionCache,
        now: Now,
        listener: &mut impl Listener,
    ) -> Result<usize, CacheError> {
        cache.load_into(&mut self.channel_input.channel, now, listener)
    }

    /// Sets a cache that records every definition from now on.
    pub fn set_definition_cache(&mut self, cache: DefinitionCache) {
        self.channel_input.definitions = Some(Box::new(cache));
    }

    /// Returns the cache that records definitions, to save it.
    pub fn definition_cache(&mut self) -> Option<&mut DefinitionCache> {
        self.channel_input.definitions.as_deref_mut()
    }

    /// Returns the sum of the sockets' counters since startup.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let lines = self.lines().map(Statistics::from);
        let connections = self.connections().map(|connection| connection.statistics);
        let replay = self.replay.iter().map(|replay| replay.statistics());
        lines.chain(connections).chain(replay).fold(Statistics::default(), Statistics::plus)
    }

    /// Returns the smallest receive buffer that the kernel granted to a multicast line, in bytes.
    /// The requested size is 4 MiB.
    #[must_use]
    pub fn least_receive_buffer(&self) -> Option<usize> {
        self.lines().map(|line| line.receive_buffer.granted).min()
    }

    /// Returns the multicast counters of each side of each feed since startup.
    pub fn lines(&self) -> impl Iterator<Item = LineStatistics> {
        let groups = match &self.sockets {
            Sockets::Multicast(groups) => Some(groups.statistics()),
            Sockets::Tcp(_) => None,
        };
        groups.into_iter().flatten()
    }

    /// Returns the TCP counters of each side since startup.
    pub fn connections(&self) -> impl Iterator<Item = ConnectionStatistics> {
        self.sides().iter().map(TcpConnection::statistics)
    }

    /// Returns the cause of the last lost connection or failed attempt of a side.
    #[must_use]
    pub fn last_failure(&self, side: FeedLine) -> Option<&ConnectionError> {
        self.sides().iter().find_map(|connection| connection.last_failure(side))
    }

    /// Returns the cause of the last failed replay request.
    #[must_use]
    pub fn last_replay_failure(&self) -> Option<&ReplayError> {
        self.replay.as_ref()?.last_failure()
    }

    fn sides(&self) -> &[TcpConnection] {
        match &self.sockets {
            Sockets::Multicast(_) => &[],
            Sockets::Tcp(connections) => connections.sides(),
        }
    }

    /// Executes the actions that the channel requests.
    #[inline]
    fn handle_actions(
        &mut self,
        now: Now,
        reactor: &mut Reactor,
        listener: &mut impl Listener,
    ) -> Result<(), FeedError> {
        let mut outcome = Ok(());
        while let Some(action) = self.channel_input.channel.poll_action() {
            outcome = outcome.and(self.sockets.handle_action(action, reactor));
            if let Some(replay) = &mut self.replay {
                replay.handle_action(action);
                replay.start_requested(now, reactor, &mut self.channel_input, listener);
            }
        }
        outcome
    }

    /// Delivers packets from the replay server. A request made during this call first replaces the
    /// request in progress.
    #[cold]
    fn poll_replay(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        listener: &mut impl Listener,
    ) -> Result<(), FeedError> {
        let outcome = self.handle_actions(now, reactor, listener);
        if let Some(replay) = &mut self.replay {
            replay.poll(now, ready, reactor, &mut self.channel_input, listener);
        }
        outcome
    }
}

/// Returns the time at which timeouts are judged in a call at `now`: the time of the previous call,
/// which `processed` holds.
///
/// The wait between the two calls reported all packets that had arrived by then. Packets that
/// arrived later may be unread. In the first call nothing is overdue.
#[inline]
pub(crate) fn previous_process_time(processed: &mut Instant, now: Now) -> Now {
    match core::mem::replace(processed, now.monotonic) {
        Instant::ZERO => now,
        before => Now { monotonic: before, ..now },
    }
}

impl Sockets {
    #[cold]
    fn handle_action(&mut self, action: Action, reactor: &mut Reactor) -> Result<(), FeedError> {
        match self {
            Self::Multicast(groups) => groups.handle_action(action, reactor),
            Self::Tcp(connections) => {
                connections.handle_action(action);
                Ok(())
            }
        }
    }
}
