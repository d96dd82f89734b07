//! The exchange on real sockets: the one module of this crate that does IO.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_endpoint::{Receive, Stream, TcpListener, TcpOptions, TcpStream, Transmit, UdpSender};
use hairpin_reactor::{Interest, Reactor, Ready, Token, Wait};
use hairpin_time::{Duration, Instant, Now};

use crate::{
    Action, ConnectionId, Credentials, EventPacket, Feed, Floor, FloorSettings, Gateway,
    GatewayCounters, Listener, MAX_PAYLOAD, Pace, Publication, SessionState, Tick, publisher,
};

/// One of the two sides on which each feed is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FeedSide {
    /// The first.
    A,
    /// The second.
    B,
}

/// Where a feed goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Groups {
    /// Multicast group and port of side A.
    pub a: SocketAddrV4,
    /// Those of side B, if the feed has one.
    pub b: Option<SocketAddrV4>,
}

/// The addresses of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addresses {
    /// Local address of the interface that packets leave from.
    pub interface: Ipv4Addr,
    /// Time to live of the packets: 1 stays on the link.
    pub ttl: u8,
    /// Events and heartbeats.
    pub incremental: Groups,
    /// Definitions.
    pub instruments: Groups,
    /// Snapshots.
    pub snapshots: Groups,
    /// Where the gateway listens; port 0 has the kernel choose one.
    pub gateway: SocketAddrV4,
}

/// What an [`Exchange`] is made from.
#[derive(Debug, Clone)]
pub struct ExchangeSettings {
    /// Instruments, order flow, publisher.
    pub floor: FloorSettings,
    /// With it off nothing of the generator's flow is applied after the seeding, and there are no
    /// ticks. Sessions' orders are matched all the same.
    pub matching: bool,
    /// Who may log on.
    pub accounts: Vec<Credentials>,
    /// Connections at once.
    pub connections: u32,
    /// Where everything is.
    pub addresses: Addresses,
}

/// What has happened at the sockets, counted; see [`GatewayCounters`] for what lies above.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct ExchangeCounters {
    /// Matching events of the generator: ticks.
    pub ticks: u64,
    /// Packets of the incremental feed, each counted once for both sides.
    pub incremental_packets: u64,
    /// Packets of the instrument feed.
    pub instrument_packets: u64,
    /// Packets of the snapshot feed.
    pub snapshot_packets: u64,
    /// Datagrams that the kernel had no room for, by side.
    pub lost_datagrams: [u64; 2],
    /// Datagrams withheld because their side was muted, by side.
    pub muted_datagrams: [u64; 2],
    /// Bytes read from sessions.
    pub bytes_received: u64,
    /// Bytes written to sessions.
    pub bytes_sent: u64,
    /// Connections that ended by an error of the network.
    pub broken_connections: u64,
}

/// How often a spinning loop asks for new connections: rarely, since it costs a system call.
const ACCEPT_INTERVAL: Duration = Duration::from_millis(1);

/// Linux's ENOBUFS, for which std has no kind: the queue of the interface is full.
const NO_BUFFER_SPACE: i32 = 105;

/// Matching, publisher and gateway on UDP and TCP sockets, driven by one thread.
///
/// The owner runs the loop, reads the clock and keeps the schedule of ticks:
///
/// ```no_run
/// # use hairpin_exchange::*;
/// # use hairpin_reactor::{Reactor, Wait};
/// # use hairpin_time::{Duration, Now};
/// # fn read_clock() -> Now { todo() }
/// # fn todo() -> Now { unreachable!() }
/// # fn run(settings: ExchangeSettings) -> std::io::Result<()> {
/// let mut reactor = Reactor::new(Wait::Spin)?;
/// let mut now = read_clock();
/// let mut exchange = Exchange::new(settings, now, &mut reactor)?;
/// let mut due = now.monotonic + Duration::from_secs(1);
/// loop {
///     let ready = reactor.wait(now.monotonic, exchange.poll_timeout())?;
///     now = read_clock();
///     if now.monotonic >= due {
///         exchange.tick(now, due, &mut ())?;
///         due += Duration::from_micros(500);
///     }
///     exchange.step(now, ready, &mut reactor, &mut ())?;
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Exchange {
    floor: Floor,
    gateway: Gateway,
    feeds: Feeds,
    listener: TcpListener,
    listener_token: Token,
    connections: Box<[Option<Connection>]>,
    next_accept: Instant,
    matching: bool,
    /// The event that is being sent is this tick's.
    tick: Option<u64>,
    counters: ExchangeCounters,
}

#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    token: Token,
}

/// The senders, and the packet that is being sent.
#[derive(Debug)]
struct Feeds {
    senders: [[Option<UdpSender>; 2]; 3],
    muted: [bool; 2],
    packet: Box<[u8; MAX_PAYLOAD]>,
}

impl Exchange {
    /// Opens all sockets and seeds the books. Nothing is sent before the first
    /// [`Exchange::step`]; loops go flat out until [`Exchange::set_pace`].
    ///
    /// # Errors
    /// Those of the sockets, with the address that could not be used.
    ///
    /// # Panics
    /// If instruments are not as [`crate::Instrument`] says.
    pub fn new(settings: ExchangeSettings, now: Now, reactor: &mut Reactor) -> io::Result<Self> {
        let addresses = &settings.addresses;
        let mut listener = TcpListener::bind(addresses.gateway)?;
        let orders = settings.floor.capacity.orders;
        Ok(Self {
            floor: Floor::new(&settings.floor, now),
            gateway: Gateway::new(settings.accounts, settings.connections, orders),
            feeds: Feeds::new(addresses)?,
            listener_token: reactor.add(&mut listener, Interest::READABLE)?,
            listener,
            connections: (0..settings.connections).map(|_| None).collect(),
            next_accept: now.monotonic,
            matching: settings.matching,
            tick: None,
            counters: ExchangeCounters::default(),
        })
    }

    /// A tick is due: makes one matching event that changes a best price, and sends all packets
    /// of it. `false` if there was none: matching is off, or nothing could be changed.
    ///
    /// Never waits, whatever became of earlier ticks.
    ///
    /// # Errors
    /// Those of the network but for want of room, which is counted.
    pub fn tick(
        &mut self,
        now: Now,
        intended: Instant,
        listener: &mut impl Listener,
    ) -> io::Result<bool> {
        if !self.matching {
            return Ok(false);
        }
        self.send_events(now, listener)?;
        let Some((_, publication)) = self.floor.step(now) else { return Ok(false) };
        debug_assert!(matches!(publication, Publication::Event(_)), "{publication:?}");
        self.counters.ticks += 1;
        let number = self.counters.ticks;
        listener.on_event(Tick { number, intended });
        self.tick = Some(number);
        self.send_events(now, listener)?;
        self.tick = None;
        self.gateway.handle_fills(now, &mut self.floor, listener);
        Ok(true)
    }

    /// One turn: reads orders, matches, answers, sends what they caused, and one packet of the
    /// loops if one is due. `ready` is what the reactor that was given to [`Exchange::new`] found.
    ///
    /// # Errors
    /// Those of the network but for want of room, which is counted, and of connections, which end
    /// only these.
    pub fn step(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        listener: &mut impl Listener,
    ) -> io::Result<()> {
        self.send_events(now, listener)?;
        for index in 0..self.connections.len() {
            self.receive(now, index, ready, reactor, listener)?;
        }
        if self.gateway.poll_timeout().is_some_and(|deadline| now.monotonic >= deadline) {
            self.gateway.handle_timeout(now, listener);
        }
        for index in 0..self.connections.len() {
            self.transmit(index, reactor, listener)?;
        }
        while let Some(Action::Close(id)) = self.gateway.poll_action(listener) {
            self.close(id.0 as usize, reactor)?;
        }
        self.accept(now, ready, reactor, listener)?;
        self.send_packet(now, listener).map(drop)
    }

    /// When [`Exchange::step`] has something to do although nothing arrives.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let gateway = self.gateway.poll_timeout();
        self.floor.publisher().poll_timeout().into_iter().chain(gateway).min()
    }

    /// Sets how fast the loops go: [`Pace::FlatOut`] until a trader is in sync.
    pub fn set_pace(&mut self, pace: Pace, now: Now) {
        self.floor.publisher_mut().set_pace(pace, now.monotonic);
    }

    /// Withholds all packets of a side, or sends them again: a fault for tests. The packets are
    /// made all the same, so their numbers are missing on that side.
    pub fn set_muted(&mut self, side: FeedSide, muted: bool) {
        self.feeds.muted[side as usize] = muted;
    }

    /// Turns the generator's matching on or off; see [`ExchangeSettings::matching`].
    pub fn set_matching(&mut self, matching: bool) {
        self.matching = matching;
    }

    /// Begins to end every session: Terminate, and then its answer or an interval.
    pub fn terminate(&mut self, now: Now, listener: &mut impl Listener) {
        for id in (0..).take(self.connections.len()).map(ConnectionId) {
            self.gateway.terminate(now, id, listener);
        }
    }

    /// Whether a connection is open.
    #[must_use]
    pub fn has_connections(&self) -> bool {
        self.connections.iter().any(Option::is_some)
    }

    /// Whether a session is established.
    #[must_use]
    pub fn has_session(&self) -> bool {
        (0..)
            .take(self.connections.len())
            .any(|index| self.gateway.state(ConnectionId(index)) == SessionState::Established)
    }

    /// The address that the gateway listens on.
    #[must_use]
    pub fn gateway_address(&self) -> SocketAddrV4 {
        self.listener.local_address()
    }

    /// The address that a feed's packets of a side come from, if it is sent there.
    #[must_use]
    pub fn feed_source(&self, feed: Feed, side: FeedSide) -> Option<SocketAddrV4> {
        self.feeds.senders[feed as usize][side as usize].as_ref().map(UdpSender::local_address)
    }

    /// The market behind the sockets.
    #[must_use]
    pub fn floor(&self) -> &Floor {
        &self.floor
    }

    /// What has happened at the sockets.
    #[must_use]
    pub fn counters(&self) -> &ExchangeCounters {
        &self.counters
    }

    /// What has happened at the gateway.
    #[must_use]
    pub fn gateway_counters(&self) -> &GatewayCounters {
        self.gateway.counters()
    }

    /// Sends events until none waits.
    fn send_events(&mut self, now: Now, listener: &mut impl Listener) -> io::Result<()> {
        loop {
            while self.floor.publisher().has_event() {
                self.send_packet(now, listener)?;
            }
            if !self.floor.is_deferred() || self.floor.publish(now) == Publication::Deferred {
                return Ok(());
            }
        }
    }

    /// Sends the next packet, if one is due.
    fn send_packet(&mut self, now: Now, listener: &mut impl Listener) -> io::Result<bool> {
        let packet = &mut self.feeds.packet[..];
        let Some(transmit) = self.floor.publisher_mut().poll_transmit(now, packet) else {
            return Ok(false);
        };
        if let Some(publisher::EventPart { begins, ends, .. }) = transmit.event {
            let (sequence, tick) = (transmit.sequence, self.tick);
            listener.before_transmit(EventPacket { sequence, begins, ends, tick });
        }
        let counter = match transmit.feed {
            Feed::Incremental => &mut self.counters.incremental_packets,
            Feed::Instruments => &mut self.counters.instrument_packets,
            Feed::Snapshots => &mut self.counters.snapshot_packets,
        };
        *counter += 1;
        self.feeds.send(transmit.feed, transmit.length, &mut self.counters)?;
        Ok(true)
    }

    fn receive(
        &mut self,
        now: Now,
        index: usize,
        ready: Ready,
        reactor: &mut Reactor,
        listener: &mut impl Listener,
    ) -> io::Result<()> {
        let id = id_of(index);
        let Self { floor, gateway, counters, .. } = self;
        let Some(connection) = &mut self.connections[index] else { return Ok(()) };
        if !ready.is_readable(connection.token) || !gateway.can_receive(id) {
            return Ok(());
        }
        let outcome = connection.stream.receive(1, |_, bytes| {
            listener.on_received(id, bytes.len());
            counters.bytes_received += bytes.len() as u64;
            gateway.handle_bytes(now, id, bytes, floor, listener);
        });
        let has_ended = match outcome {
            Ok(received) => received.closed,
            Err(_) => {
                counters.broken_connections += 1;
                true
            }
        };
        if has_ended {
            gateway.handle_closed(id, listener);
            self.close(index, reactor)?;
        }
        self.send_events(now, listener)
    }

    /// Sends what waits for a client.
    fn transmit(
        &mut self,
        index: usize,
        reactor: &mut Reactor,
        listener: &mut impl Listener,
    ) -> io::Result<()> {
        let id = id_of(index);
        let Some(connection) = &mut self.connections[index] else { return Ok(()) };
        let Some(bytes) = self.gateway.poll_transmit(id) else { return Ok(()) };
        let length = bytes.len();
        let sent = match connection.stream.write(bytes) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(_) => {
                self.counters.broken_connections += 1;
                self.gateway.handle_closed(id, listener);
                return self.close(index, reactor);
            }
        };
        self.gateway.handle_sent(id, sent);
        self.counters.bytes_sent += sent as u64;
        let interest = if sent < length { Interest::BOTH } else { Interest::READABLE };
        reactor.set_interest(connection.token, &connection.stream, interest)
    }

    fn accept(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        listener: &mut impl Listener,
    ) -> io::Result<()> {
        let is_spinning = reactor.kind() == Wait::Spin;
        let is_early = is_spinning && now.monotonic < self.next_accept;
        if is_early || !ready.is_readable(self.listener_token) {
            return Ok(());
        }
        self.next_accept = now.monotonic + ACCEPT_INTERVAL;
        let options = TcpOptions { chunk_max: 16 << 10, message_max: 0, ..TcpOptions::default() };
        const { assert!(16 << 10 <= Gateway::CHUNK_MAX) };
        let Some(mut stream) = self.listener.accept(options)? else { return Ok(()) };
        // Without a place the stream is dropped, which closes it.
        let Some(id) = self.gateway.handle_connected(now, listener) else { return Ok(()) };
        let token = reactor.add(&mut stream, Interest::READABLE)?;
        self.connections[id.0 as usize] = Some(Connection { stream, token });
        Ok(())
    }

    fn close(&mut self, index: usize, reactor: &mut Reactor) -> io::Result<()> {
        match self.connections[index].take() {
            Some(mut connection) => reactor.remove(connection.token, &mut connection.stream),
            None => Ok(()),
        }
    }
}

impl Feeds {
    fn new(addresses: &Addresses) -> io::Result<Self> {
        let sender =
            |group: SocketAddrV4| UdpSender::new(group, addresses.interface, addresses.ttl);
        let pair = |groups: Groups| -> io::Result<[Option<UdpSender>; 2]> {
            Ok([Some(sender(groups.a)?), groups.b.map(sender).transpose()?])
        };
        Ok(Self {
            senders: [
                pair(addresses.incremental)?,
                pair(addresses.instruments)?,
                pair(addresses.snapshots)?,
            ],
            muted: [false; 2],
            packet: Box::new([0; MAX_PAYLOAD]),
        })
    }

    /// Sends the packet on both sides, A first.
    fn send(
        &mut self,
        feed: Feed,
        length: usize,
        counters: &mut ExchangeCounters,
    ) -> io::Result<()> {
        let packet = &self.packet[..length];
        for (side, sender) in self.senders[feed as usize].iter_mut().enumerate() {
            let Some(sender) = sender else { continue };
            if self.muted[side] {
                counters.muted_datagrams[side] += 1;
                continue;
            }
            match sender.transmit(length, |buffer| buffer.copy_from_slice(packet)) {
                Ok(()) => {}
                Err(error) if is_full(&error) => counters.lost_datagrams[side] += 1,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn is_full(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(NO_BUFFER_SPACE)
}

fn id_of(index: usize) -> ConnectionId {
    // As many as settings asked for in a `u32`.
    ConnectionId(index as u32)
}
