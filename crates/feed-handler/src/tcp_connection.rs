//! The TCP connection of one side of a channel, with reconnection.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_endpoint::{Receive, Stream, TcpOptions, TcpStream, Timestamping};
use hairpin_mdp3::{Feed, FeedLine, Input, Listener, Settings, TemplateIds};
use hairpin_reactor::{Interest, Reactor, Ready, Token};
use hairpin_time::{Duration, Instant, Now, Utc};

use crate::channel_input::ChannelInput;
use crate::frame_decoder::{FrameDecoder, packet_feed, packet_sequence};
use crate::sequence_gate::SequenceGate;
use crate::{ConnectionError, FeedError, Statistics};

/// The bytes per read: no more packets of a typical size than the channel buffers while it waits
/// for the other side.
const CHUNK_MAX: usize = 16 << 10;

/// The delay before the first reconnection. Each further failure doubles the delay.
pub(crate) const BACKOFF_FIRST: Duration = Duration::from_millis(10);
/// The longest delay between two attempts.
pub(crate) const BACKOFF_MAX: Duration = Duration::from_secs(1);
/// The time limit of an attempt: two SYN retransmissions of the kernel, after 1 s and after 3 s.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(4);
/// The silence after which the exchange counts as dead: ten of its heartbeats. Detects a host that
/// crashed or a cut cable, which TCP does not report.
pub(crate) const SILENCE_MAX: Duration = Duration::from_secs(10);
/// The interval of connect status checks under a wait that reports every socket as ready: each
/// check costs system calls.
const CHECK_INTERVAL: Duration = Duration::from_millis(1);

/// The TCP connection of one side.
#[derive(Debug)]
pub(crate) struct TcpConnection {
    side: FeedLine,
    address: SocketAddrV4,
    options: TcpOptions,
    state: State,
    frames: FrameDecoder,
    templates: TemplateIds,
    /// The time of the last incremental packet, or of the connection if later.
    progress: Instant,
    /// The next reconnection delay, and the packet count when it was last reset.
    backoff: Duration,
    packets_before: u64,
    statistics: Statistics,
    last_failure: Option<ConnectionError>,
}

#[derive(Debug)]
enum State {
    /// Disconnected until the next attempt.
    Waiting { until: Instant },
    /// A connect is in progress. The first attempt has no deadline until the first poll supplies
    /// the time.
    Connecting { link: Link, until: Option<Instant>, next_check: Instant },
    /// Connected; `last_received` is the time of the last bytes.
    Open { link: Link, last_received: Instant },
}

#[derive(Debug)]
struct Link {
    stream: TcpStream,
    token: Token,
}

/// Counters of one side of a channel over TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectionStatistics {
    /// The side.
    pub side: FeedLine,
    /// The exchange's address and port.
    pub address: SocketAddrV4,
    /// `true` while the side is connected.
    pub connected: bool,
    /// The counters of this side.
    pub statistics: Statistics,
}

impl TcpConnection {
    /// Starts the first attempt. A failed attempt is retried, unless no attempt can succeed.
    pub(crate) fn open(
        (side, address): (FeedLine, SocketAddrV4),
        interface: Ipv4Addr,
        settings: &Settings,
        reactor: &mut Reactor,
    ) -> Result<Self, FeedError> {
        let local = (!interface.is_unspecified()).then(|| SocketAddrV4::new(interface, 0));
        let options = TcpOptions {
            chunk_max: CHUNK_MAX,
            message_max: 0,
            send_buffer: None,
            timestamping: Timestamping::default(),
            local,
        };
        let mut connection = Self {
            side,
            address,
            options,
            state: State::Waiting { until: Instant::ZERO },
            frames: FrameDecoder::new(settings.max_packet, CHUNK_MAX),
            templates: settings.templates,
            progress: Instant::ZERO,
            backoff: BACKOFF_FIRST,
            packets_before: 0,
            statistics: Statistics::default(),
            last_failure: None,
        };
        match connection.start_connect(reactor) {
            Ok(link) => {
                let (until, next_check) = (None, Instant::ZERO);
                connection.state = State::Connecting { link, until, next_check };
            }
            Err(error) if is_permanent(&error) => return Err(connection.error(error)),
            Err(error) => connection.record_failure(ConnectionError::Failed(error)),
        }
        Ok(connection)
    }

    /// Returns `true` if the connection may have data to read.
    #[inline]
    pub(crate) fn is_readable(&self, ready: Ready) -> bool {
        matches!(&self.state, State::Open { link, .. } if ready.is_readable(link.token))
    }

    /// Returns `true` if the connection is established.
    pub(crate) fn is_connected(&self) -> bool {
        matches!(self.state, State::Open { .. })
    }

    /// Returns `true` if a packet is held back: it is ahead of the next sequence number, and the
    /// other side may still deliver the packets before it.
    #[inline]
    pub(crate) fn is_holding(&self) -> bool {
        self.frames.deferred().is_some()
    }

    /// Returns the sequence number of the packet that is held back.
    pub(crate) fn held(&self) -> Option<u32> {
        self.frames.deferred().map(packet_sequence)
    }

    /// Returns the time of the last delivered incremental packet, or of the connection if later.
    pub(crate) fn progress(&self) -> Instant {
        self.progress
    }

    /// Delivers the packets that one chunk completes. Returns `true` if no more chunks are
    /// available.
    ///
    /// # Errors
    /// The reactor's errors. A connection fault is not an error: it is counted, and the side
    /// reconnects.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        now: Now,
        gate: &mut SequenceGate,
        reactor: &mut Reactor,
        channel_input: &mut ChannelInput,
        listener: &mut impl Listener,
    ) -> Result<bool, FeedError> {
        let mut pipeline = PacketPipeline {
            now,
            side: self.side,
            received: None,
            templates: &self.templates,
            gate,
            statistics: &mut self.statistics,
            progress: &mut self.progress,
            channel_input,
        };
        let State::Open { link, last_received } = &mut self.state else { return Ok(true) };
        let frames = &mut self.frames;
        let mut framing = Ok(());
        let received = link.stream.receive(1, |meta, bytes| {
            *last_received = now.monotonic;
            pipeline.received = meta.timestamp.utc();
            framing = frames.handle_bytes(bytes, |packet| pipeline.process(packet, listener));
        });
        let cause = match (framing, received) {
            (Err(error), _) => error.into(),
            (Ok(()), _) if self.is_holding() => {
                return self.set_interest(Interest::NONE, reactor).map(|()| true);
            }
            (Ok(()), Ok(received)) if !received.closed => return Ok(received.drained),
            (Ok(()), Ok(_)) => match self.frames.missing() {
                Some(missing) => ConnectionError::EndedMidPacket { missing },
                None => ConnectionError::Ended,
            },
            (Ok(()), Err(error)) => ConnectionError::Broken(error),
        };
        self.drop_connection(now.monotonic, cause, reactor).map(|()| true)
    }

    /// Delivers held packets as far as they are in sequence now.
    ///
    /// # Errors
    /// The reactor's errors.
    #[cold]
    pub(crate) fn resume(
        &mut self,
        now: Now,
        gate: &mut SequenceGate,
        reactor: &mut Reactor,
        channel_input: &mut ChannelInput,
        listener: &mut impl Listener,
    ) -> Result<(), FeedError> {
        let mut pipeline = PacketPipeline {
            now,
            side: self.side,
            received: None,
            templates: &self.templates,
            gate,
            statistics: &mut self.statistics,
            progress: &mut self.progress,
            channel_input,
        };
        match self.frames.resume(|packet| pipeline.process(packet, listener)) {
            Err(error) => self.drop_connection(now.monotonic, error.into(), reactor),
            Ok(()) if self.is_holding() => Ok(()),
            Ok(()) => {
                if let State::Open { last_received, .. } = &mut self.state {
                    // The socket was not polled while the packet was held, so silence means
                    // nothing.
                    *last_received = now.monotonic;
                }
                self.set_interest(Interest::READABLE, reactor)
            }
        }
    }

    /// Runs the connection's timers: connects, checks an attempt, or drops a silent connection.
    ///
    /// # Errors
    /// The reactor's errors.
    #[inline]
    pub(crate) fn poll(
        &mut self,
        now: Instant,
        ready: Ready,
        reactor: &mut Reactor,
    ) -> Result<(), FeedError> {
        match &self.state {
            State::Open { last_received, .. } if now < *last_received + SILENCE_MAX => Ok(()),
            State::Waiting { until } if now < *until => Ok(()),
            _ => self.change_state(now, ready, reactor),
        }
    }

    #[cold]
    fn change_state(
        &mut self,
        now: Instant,
        ready: Ready,
        reactor: &mut Reactor,
    ) -> Result<(), FeedError> {
        match &mut self.state {
            State::Open { .. } => {
                self.drop_connection(now, ConnectionError::Silent(SILENCE_MAX), reactor)
            }
            State::Waiting { .. } => self.attempt(now, reactor),
            State::Connecting { link, until, next_check } => {
                let until = *until.get_or_insert(now + CONNECT_TIMEOUT);
                if ready.is_writable(link.token) && now >= *next_check {
                    *next_check = now + CHECK_INTERVAL;
                    self.check_connect(now, reactor)?;
                }
                if now >= until && matches!(self.state, State::Connecting { .. }) {
                    let message = format!("no reply within {CONNECT_TIMEOUT}");
                    let error = io::Error::new(io::ErrorKind::TimedOut, message);
                    return self.drop_connection(now, ConnectionError::Failed(error), reactor);
                }
                Ok(())
            }
        }
    }

    /// Returns the next time at which [`TcpConnection::poll`] must run without input.
    pub(crate) fn next_deadline(&self) -> Instant {
        match self.state {
            State::Waiting { until } => until,
            State::Connecting { until, .. } => until.unwrap_or(Instant::ZERO),
            State::Open { last_received, .. } => last_received + SILENCE_MAX,
        }
    }

    /// Closes the connection or the attempt, and removes the socket from the reactor.
    pub(crate) fn close(&mut self, reactor: &mut Reactor) -> Result<(), FeedError> {
        let state = core::mem::replace(&mut self.state, State::Waiting { until: Instant::ZERO });
        match state {
            State::Waiting { .. } => Ok(()),
            State::Connecting { mut link, .. } | State::Open { mut link, .. } => {
                let removed = reactor.remove(link.token, &mut link.stream);
                removed.map_err(|error| self.error(error))
            }
        }
    }

    /// Returns the number of packets received on all feeds.
    #[inline]
    pub(crate) fn packets(&self) -> u64 {
        self.statistics.packets
    }

    pub(crate) fn statistics(&self) -> ConnectionStatistics {
        ConnectionStatistics {
            side: self.side,
            address: self.address,
            connected: self.is_connected(),
            statistics: self.statistics,
        }
    }

    /// Returns the cause of the last failure, if this is the connection of `side`.
    pub(crate) fn last_failure(&self, side: FeedLine) -> Option<&ConnectionError> {
        self.last_failure.as_ref().filter(|_| self.side == side)
    }

    #[cold]
    fn start_connect(&self, reactor: &mut Reactor) -> io::Result<Link> {
        let mut stream = TcpStream::connect(self.address, self.options)?;
        let token = reactor.add(&mut stream, Interest::WRITABLE)?;
        Ok(Link { stream, token })
    }

    #[cold]
    fn attempt(&mut self, now: Instant, reactor: &mut Reactor) -> Result<(), FeedError> {
        match self.start_connect(reactor) {
            Ok(link) => {
                let until = Some(now + CONNECT_TIMEOUT);
                self.state = State::Connecting { link, until, next_check: now };
                Ok(())
            }
            Err(error) => self.drop_connection(now, ConnectionError::Failed(error), reactor),
        }
    }

    /// Checks whether the connect has completed.
    #[cold]
    fn check_connect(&mut self, now: Instant, reactor: &mut Reactor) -> Result<(), FeedError> {
        let State::Connecting { link, .. } = &mut self.state else { return Ok(()) };
        match link.stream.finish_connect() {
            Ok(false) => return Ok(()),
            Ok(true) => {}
            Err(error) => {
                return self.drop_connection(now, ConnectionError::Failed(error), reactor);
            }
        }
        let outcome = reactor.set_interest(link.token, &link.stream, Interest::READABLE);
        let waiting = State::Waiting { until: now };
        if let State::Connecting { link, .. } = core::mem::replace(&mut self.state, waiting) {
            self.state = State::Open { link, last_received: now };
            self.progress = now;
        }
        self.statistics.reconnections += u64::from(self.statistics.connections > 0);
        self.statistics.connections += 1;
        outcome.map_err(|error| self.error(error))
    }

    /// Closes the connection, counts the cause and schedules a reconnection.
    #[cold]
    fn drop_connection(
        &mut self,
        now: Instant,
        cause: ConnectionError,
        reactor: &mut Reactor,
    ) -> Result<(), FeedError> {
        self.record_failure(cause);
        if self.statistics.packets > self.packets_before {
            // The connection delivered packets, so this failure starts a new backoff.
            self.packets_before = self.statistics.packets;
            self.backoff = BACKOFF_FIRST;
        }
        let closed = self.close(reactor);
        self.frames.clear();
        self.state = State::Waiting { until: now + self.backoff };
        self.backoff = (self.backoff * 2).min(BACKOFF_MAX);
        closed
    }

    /// Sets the events to wait for.
    #[cold]
    fn set_interest(&mut self, interest: Interest, reactor: &mut Reactor) -> Result<(), FeedError> {
        let State::Open { link, .. } = &self.state else { return Ok(()) };
        let outcome = reactor.set_interest(link.token, &link.stream, interest);
        outcome.map_err(|error| self.error(error))
    }

    fn record_failure(&mut self, cause: ConnectionError) {
        *self.statistics.counter(&cause) += 1;
        self.last_failure = Some(cause);
    }

    #[cold]
    fn error(&self, error: io::Error) -> FeedError {
        FeedError::Connection { side: self.side, error }
    }
}

/// The path of a packet from a connection to the channel.
struct PacketPipeline<'a> {
    now: Now,
    side: FeedLine,
    received: Option<Utc>,
    templates: &'a TemplateIds,
    gate: &'a mut SequenceGate,
    statistics: &'a mut Statistics,
    progress: &'a mut Instant,
    channel_input: &'a mut ChannelInput,
}

impl PacketPipeline<'_> {
    /// Delivers a packet if its feed is joined. Returns `false` if the packet has to wait.
    #[inline]
    fn process(&mut self, packet: &[u8], listener: &mut impl Listener) -> bool {
        let feed = packet_feed(packet, self.templates);
        if feed == Feed::Incremental {
            if !self.gate.admits(packet_sequence(packet)) {
                return false;
            }
            *self.progress = self.now.monotonic;
        }
        self.statistics.packets += 1;
        self.statistics.bytes += packet.len() as u64;
        if !self.gate.joined[feed as usize] {
            self.statistics.packets_not_joined += 1;
            return true;
        }
        let input = Input { feed, line: self.side, received: self.received };
        self.channel_input.handle_packet(self.now, input, packet, listener);
        true
    }
}

/// Returns `true` if the arguments are wrong, so that no attempt can succeed.
fn is_permanent(error: &io::Error) -> bool {
    use io::ErrorKind::{AddrNotAvailable, InvalidInput, OutOfMemory, PermissionDenied};
    matches!(error.kind(), AddrNotAvailable | InvalidInput | OutOfMemory | PermissionDenied)
}
