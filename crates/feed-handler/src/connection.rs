//! One side of a channel by TCP: its connection, made again whenever it is lost.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_endpoint::{Receive, Stream, TcpOptions, TcpStream, Timestamping};
use hairpin_mdp3::{Feed, FeedLine, Input, Listener, Settings, TemplateIds};
use hairpin_reactor::{Interest, Reactor, Ready, Token};
use hairpin_time::{Duration, Instant, Now, Utc};

use crate::frames::{Frames, feed_of, sequence_of};
use crate::inlet::Inlet;
use crate::order::Order;
use crate::{ConnectionError, FeedError, Statistics};

/// Bytes read at once: no more packets of a usual size than the channel holds while it waits for
/// the other side.
const CHUNK_MAX: usize = 16 << 10;

/// The pause before a lost connection is made again, and before an attempt that has failed is
/// repeated for the first time. Each further failure doubles it.
pub(crate) const PAUSE_FIRST: Duration = Duration::from_millis(10);
/// The longest pause.
pub(crate) const PAUSE_MAX: Duration = Duration::from_secs(1);
/// How long an attempt may take: two of the kernel's retransmissions, after 1 s and after 3 s.
pub(crate) const CONNECT_PATIENCE: Duration = Duration::from_secs(4);
/// Silence after which the exchange must be gone without a word, as when its host has died or the
/// wire is cut: ten of its heartbeats.
pub(crate) const SILENCE_MAX: Duration = Duration::from_secs(10);
/// How often a wait that has everything tried asks about an attempt: it costs system calls.
const LOOK: Duration = Duration::from_millis(1);

/// The connection of one side.
#[derive(Debug)]
pub(crate) struct Connection {
    side: FeedLine,
    address: SocketAddrV4,
    options: TcpOptions,
    state: State,
    frames: Frames,
    templates: TemplateIds,
    /// When it last brought a packet of the incremental feed, or was connected.
    progress: Instant,
    /// The next pause, and the packets that had come when it was last chosen.
    pause: Duration,
    packets_before: u64,
    statistics: Statistics,
    last_failure: Option<ConnectionError>,
}

#[derive(Debug)]
enum State {
    /// There is none until the next attempt.
    Waiting { until: Instant },
    /// One is being made. The first of all has no end yet, since nobody has told the time.
    Connecting { link: Link, until: Option<Instant>, next_look: Instant },
    /// It stands, and something came over it then.
    Open { link: Link, heard: Instant },
}

#[derive(Debug)]
struct Link {
    stream: TcpStream,
    token: Token,
}

/// What one side of a channel by TCP has to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectionStatistics {
    /// The side.
    pub side: FeedLine,
    /// The address and port that the exchange listens on.
    pub address: SocketAddrV4,
    /// Whether there is a connection now.
    pub is_connected: bool,
    /// What this side alone has counted.
    pub statistics: Statistics,
}

impl Connection {
    /// Begins the first attempt. That it fails at once is no error, unless no other can succeed.
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
            frames: Frames::new(settings.max_packet, CHUNK_MAX),
            templates: settings.templates,
            progress: Instant::ZERO,
            pause: PAUSE_FIRST,
            packets_before: 0,
            statistics: Statistics::default(),
            last_failure: None,
        };
        match connection.dial(reactor) {
            Ok(link) => {
                let (until, next_look) = (None, Instant::ZERO);
                connection.state = State::Connecting { link, until, next_look };
            }
            Err(error) if is_hopeless(&error) => return Err(connection.error(error)),
            Err(error) => connection.note(ConnectionError::Failed(error)),
        }
        Ok(connection)
    }

    /// Whether there may be something to read.
    #[inline]
    pub(crate) fn is_readable(&self, ready: Ready) -> bool {
        matches!(&self.state, State::Open { link, .. } if ready.is_readable(link.token))
    }

    /// Whether there is a connection.
    pub(crate) fn is_connected(&self) -> bool {
        matches!(self.state, State::Open { .. })
    }

    /// Whether it holds a packet back: one that is not the next, while the other side may bring
    /// those between.
    #[inline]
    pub(crate) fn is_holding(&self) -> bool {
        self.frames.refused().is_some()
    }

    /// The packet that is held back.
    pub(crate) fn held(&self) -> Option<u32> {
        self.frames.refused().map(sequence_of)
    }

    /// When a packet of the incremental feed was last handed over, or the connection made.
    pub(crate) fn progress(&self) -> Instant {
        self.progress
    }

    /// Hands over what one chunk completes; true if there are no more chunks.
    ///
    /// # Errors
    /// The reactor's. What is wrong with the connection is none: it is counted, and the connection
    /// made again.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        now: Now,
        order: &mut Order,
        reactor: &mut Reactor,
        inlet: &mut Inlet,
        listener: &mut impl Listener,
    ) -> Result<bool, FeedError> {
        let mut intake = Intake {
            now,
            side: self.side,
            received: None,
            templates: &self.templates,
            order,
            statistics: &mut self.statistics,
            progress: &mut self.progress,
            inlet,
        };
        let State::Open { link, heard } = &mut self.state else { return Ok(true) };
        let frames = &mut self.frames;
        let mut framing = Ok(());
        let received = link.stream.receive(1, |meta, bytes| {
            *heard = now.monotonic;
            intake.received = meta.timestamp.utc();
            framing = frames.handle_bytes(bytes, |packet| intake.take(packet, listener));
        });
        let cause = match (framing, received) {
            (Err(error), _) => error.into(),
            (Ok(()), _) if self.is_holding() => {
                return self.listen(Interest::NONE, reactor).map(|()| true);
            }
            (Ok(()), Ok(received)) if !received.closed => return Ok(received.drained),
            (Ok(()), Ok(_)) => match self.frames.missing() {
                Some(missing) => ConnectionError::EndedAmidPacket { missing },
                None => ConnectionError::Ended,
            },
            (Ok(()), Err(error)) => ConnectionError::Broken(error),
        };
        self.lose(now.monotonic, cause, reactor).map(|()| true)
    }

    /// Hands over what was held back, as far as it is in order now.
    ///
    /// # Errors
    /// The reactor's.
    #[cold]
    pub(crate) fn resume(
        &mut self,
        now: Now,
        order: &mut Order,
        reactor: &mut Reactor,
        inlet: &mut Inlet,
        listener: &mut impl Listener,
    ) -> Result<(), FeedError> {
        let mut intake = Intake {
            now,
            side: self.side,
            received: None,
            templates: &self.templates,
            order,
            statistics: &mut self.statistics,
            progress: &mut self.progress,
            inlet,
        };
        match self.frames.resume(|packet| intake.take(packet, listener)) {
            Err(error) => self.lose(now.monotonic, error.into(), reactor),
            Ok(()) if self.is_holding() => Ok(()),
            Ok(()) => {
                if let State::Open { heard, .. } = &mut self.state {
                    // It was not asked meanwhile.
                    *heard = now.monotonic;
                }
                self.listen(Interest::READABLE, reactor)
            }
        }
    }

    /// Does what is due: makes the connection, or gives it up.
    ///
    /// # Errors
    /// The reactor's.
    #[inline]
    pub(crate) fn tend(
        &mut self,
        now: Instant,
        ready: Ready,
        reactor: &mut Reactor,
    ) -> Result<(), FeedError> {
        match &mut self.state {
            State::Open { heard, .. } if now < *heard + SILENCE_MAX => Ok(()),
            State::Open { .. } => self.lose(now, ConnectionError::Silent(SILENCE_MAX), reactor),
            State::Waiting { until } if now < *until => Ok(()),
            State::Waiting { .. } => self.attempt(now, reactor),
            State::Connecting { link, until, next_look } => {
                let until = *until.get_or_insert(now + CONNECT_PATIENCE);
                if ready.is_writable(link.token) && now >= *next_look {
                    *next_look = now + LOOK;
                    self.look(now, reactor)?;
                }
                if now >= until && matches!(self.state, State::Connecting { .. }) {
                    let words = format!("no answer within {CONNECT_PATIENCE}");
                    let error = io::Error::new(io::ErrorKind::TimedOut, words);
                    return self.lose(now, ConnectionError::Failed(error), reactor);
                }
                Ok(())
            }
        }
    }

    /// When [`Connection::tend`] is due though nothing has happened.
    pub(crate) fn next_deadline(&self) -> Instant {
        match self.state {
            State::Waiting { until } => until,
            State::Connecting { until, .. } => until.unwrap_or(Instant::ZERO),
            State::Open { heard, .. } => heard + SILENCE_MAX,
        }
    }

    /// Ends the connection, or the attempt, and takes it from the reactor.
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

    /// Packets that have come, of whatever feed.
    #[inline]
    pub(crate) fn packets(&self) -> u64 {
        self.statistics.packets
    }

    pub(crate) fn statistics(&self) -> ConnectionStatistics {
        ConnectionStatistics {
            side: self.side,
            address: self.address,
            is_connected: self.is_connected(),
            statistics: self.statistics,
        }
    }

    /// Why the last connection, or attempt, has failed, if it was on this side.
    pub(crate) fn last_failure(&self, side: FeedLine) -> Option<&ConnectionError> {
        self.last_failure.as_ref().filter(|_| self.side == side)
    }

    #[cold]
    fn dial(&self, reactor: &mut Reactor) -> io::Result<Link> {
        let mut stream = TcpStream::connect(self.address, self.options)?;
        let token = reactor.add(&mut stream, Interest::WRITABLE)?;
        Ok(Link { stream, token })
    }

    #[cold]
    fn attempt(&mut self, now: Instant, reactor: &mut Reactor) -> Result<(), FeedError> {
        match self.dial(reactor) {
            Ok(link) => {
                let until = Some(now + CONNECT_PATIENCE);
                self.state = State::Connecting { link, until, next_look: now };
                Ok(())
            }
            Err(error) => self.lose(now, ConnectionError::Failed(error), reactor),
        }
    }

    /// Asks what has become of the attempt.
    #[cold]
    fn look(&mut self, now: Instant, reactor: &mut Reactor) -> Result<(), FeedError> {
        let State::Connecting { link, .. } = &mut self.state else { return Ok(()) };
        match link.stream.finish_connect() {
            Ok(false) => return Ok(()),
            Ok(true) => {}
            Err(error) => return self.lose(now, ConnectionError::Failed(error), reactor),
        }
        let outcome = reactor.set_interest(link.token, &link.stream, Interest::READABLE);
        let waiting = State::Waiting { until: now };
        if let State::Connecting { link, .. } = core::mem::replace(&mut self.state, waiting) {
            self.state = State::Open { link, heard: now };
            self.progress = now;
        }
        self.statistics.reconnections += u64::from(self.statistics.connections > 0);
        self.statistics.connections += 1;
        outcome.map_err(|error| self.error(error))
    }

    /// Gives the connection up, and pauses.
    #[cold]
    fn lose(
        &mut self,
        now: Instant,
        cause: ConnectionError,
        reactor: &mut Reactor,
    ) -> Result<(), FeedError> {
        self.note(cause);
        if self.statistics.packets > self.packets_before {
            // It has been of use, so that this is a new trouble.
            self.packets_before = self.statistics.packets;
            self.pause = PAUSE_FIRST;
        }
        let closed = self.close(reactor);
        self.frames.clear();
        self.state = State::Waiting { until: now + self.pause };
        self.pause = (self.pause * 2).min(PAUSE_MAX);
        closed
    }

    /// Has the connection waited for, or not.
    #[cold]
    fn listen(&mut self, interest: Interest, reactor: &mut Reactor) -> Result<(), FeedError> {
        let State::Open { link, .. } = &self.state else { return Ok(()) };
        let outcome = reactor.set_interest(link.token, &link.stream, interest);
        outcome.map_err(|error| self.error(error))
    }

    fn note(&mut self, cause: ConnectionError) {
        *self.statistics.counter(&cause) += 1;
        self.last_failure = Some(cause);
    }

    #[cold]
    fn error(&self, error: io::Error) -> FeedError {
        FeedError::Connection { side: self.side, error }
    }
}

/// What a packet passes on its way from a connection to the channel.
struct Intake<'a> {
    now: Now,
    side: FeedLine,
    received: Option<Utc>,
    templates: &'a TemplateIds,
    order: &'a mut Order,
    statistics: &'a mut Statistics,
    progress: &'a mut Instant,
    inlet: &'a mut Inlet,
}

impl Intake<'_> {
    /// Hands a packet over, unless nobody has asked for its feed; false if it has to wait.
    #[inline]
    fn take(&mut self, packet: &[u8], listener: &mut impl Listener) -> bool {
        let feed = feed_of(packet, self.templates);
        if feed == Feed::Incremental {
            if !self.order.admits(sequence_of(packet)) {
                return false;
            }
            *self.progress = self.now.monotonic;
        }
        self.statistics.packets += 1;
        self.statistics.bytes += packet.len() as u64;
        if !self.order.joined[feed as usize] {
            self.statistics.packets_not_joined += 1;
            return true;
        }
        let input = Input { feed, line: self.side, received: self.received };
        self.inlet.handle_packet(self.now, input, packet, listener);
        true
    }
}

/// Whether it is the words that are wrong, so that no other attempt can succeed.
fn is_hopeless(error: &io::Error) -> bool {
    use io::ErrorKind::{AddrNotAvailable, InvalidInput, OutOfMemory, PermissionDenied};
    matches!(error.kind(), AddrNotAvailable | InvalidInput | OutOfMemory | PermissionDenied)
}
