//! The exchange on real sockets: the one module of this crate that does IO.

mod acceptor;
mod connections;
mod counters;
mod feeds;
mod replay_side;
mod settings;
mod subscriber;
mod tcp_side;

pub use counters::ExchangeCounters;
pub use settings::{Addresses, ExchangeSettings, FeedSide, Groups, Multicast, TcpFeed};

use std::io;
use std::net::SocketAddrV4;

use hairpin_endpoint::capture::{Recorder, RecorderSettings};
use hairpin_endpoint::{Receive, Stream, TcpListener, TcpOptions};
use hairpin_reactor::{Interest, Reactor, Ready};
use hairpin_time::{Instant, Now};

use crate::{
    Action, ConnectionId, Designation, EventPacket, EventPart, FaultTally, Feed, FeedFaults,
    Gateway, GatewayCounters, GatewaySettings, Listener, Pace, Publication, ReplayCounters,
    ReplaySettings, SessionState, SimulatedMarket, Tick,
};
use acceptor::{Accepted, Acceptor};
use connections::Connections;
use feeds::Feeds;
use replay_side::ReplaySide;
use tcp_side::TcpSide;

/// Bytes read from a session at once.
const CHUNK_MAX: usize = 16 << 10;
const _: () = assert!(CHUNK_MAX <= Gateway::CHUNK_MAX);

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
    floor: SimulatedMarket,
    gateway: Gateway,
    feeds: Feeds,
    replay: Option<ReplaySide>,
    acceptor: Acceptor,
    backup: Option<Acceptor>,
    connections: Connections,
    matching: bool,
    /// The event that is being sent is this tick's.
    tick: Option<u64>,
    counters: ExchangeCounters,
}

fn gateway_options() -> TcpOptions {
    TcpOptions { chunk_max: CHUNK_MAX, message_max: 0, ..TcpOptions::default() }
}

impl Exchange {
    /// Opens all sockets and seeds the books. Nothing is sent before the first
    /// [`Exchange::step`]; loops go flat out until [`Exchange::set_pace`].
    ///
    /// # Errors
    /// Those of the sockets, with the address that could not be used; `OutOfMemory` if the reactor
    /// has no room for the listeners.
    ///
    /// # Panics
    /// If instruments are not as [`crate::Instrument`] says.
    pub fn new(settings: ExchangeSettings, now: Now, reactor: &mut Reactor) -> io::Result<Self> {
        let addresses = &settings.addresses;
        let options = gateway_options();
        let start = now.monotonic;
        // What is likely to fail comes first, so that nothing is left in the reactor.
        let listener = TcpListener::bind(addresses.gateway)?;
        let orders = settings.floor.capacity.orders;
        Ok(Self {
            floor: SimulatedMarket::new(&settings.floor, now),
            gateway: Gateway::new(settings.accounts, settings.connections, orders),
            feeds: Feeds::new(addresses, &settings.transport, start, reactor)?,
            replay: None,
            acceptor: Acceptor::new(listener, options, start, reactor)?,
            backup: None,
            connections: Connections::new(settings.connections),
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
        let is_seen = matches!(publication, Publication::Event(_) | Publication::Conflated);
        debug_assert!(is_seen, "{publication:?}");
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
    /// only these. That a connection cannot be accepted is counted, and tried again later.
    pub fn step(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        listener: &mut impl Listener,
    ) -> io::Result<()> {
        self.send_events(now, listener)?;
        for id in self.connections.places() {
            self.receive(now, id, ready, reactor, listener)?;
        }
        if self.gateway.poll_timeout().is_some_and(|deadline| now.monotonic >= deadline) {
            self.gateway.handle_timeout(now, listener);
        }
        if self.gateway.has_lost() {
            self.gateway.handle_fills(now, &mut self.floor, listener);
            self.send_events(now, listener)?;
        }
        for id in self.connections.places() {
            self.transmit(id, reactor, listener)?;
        }
        while let Some(Action::Close(id)) = self.gateway.poll_action(listener) {
            self.connections.finish(id, now.monotonic, reactor)?;
        }
        self.connections.linger(now.monotonic, ready, reactor)?;
        self.accept(now, Designation::Primary, ready, reactor, listener)?;
        if self.backup.is_some() {
            self.accept(now, Designation::Backup, ready, reactor, listener)?;
        }
        self.feeds.tend(now.monotonic, ready, reactor, &mut self.counters)?;
        if let Some(replay) = &mut self.replay {
            replay.tend(now, ready, reactor, &mut self.counters)?;
        }
        self.send_packet(now, listener).map(drop)
    }

    /// When [`Exchange::step`] has something to do although nothing arrives.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let deadlines = [
            self.floor.publisher().poll_timeout(),
            self.gateway.poll_timeout(),
            self.connections.poll_timeout(),
            self.acceptor.poll_timeout(),
            self.backup.as_ref().and_then(Acceptor::poll_timeout),
            self.feeds.poll_timeout(),
            self.replay.as_ref().and_then(ReplaySide::poll_timeout),
        ];
        deadlines.into_iter().flatten().min()
    }

    /// Sets how fast the loops go: [`Pace::FlatOut`] until a trader is in sync.
    pub fn set_pace(&mut self, pace: Pace, now: Now) {
        self.floor.publisher_mut().set_pace(pace, now.monotonic);
    }

    /// Withholds all packets of a side, by multicast and by TCP, or sends them again: a fault for
    /// tests. The packets are made all the same, so their numbers are missing on that side.
    pub fn set_muted(&mut self, side: FeedSide, muted: bool) {
        self.feeds.set_muted(side, muted);
    }

    /// Makes faults on what leaves by multicast from now on, or none. Packets that are held back
    /// when faults are replaced are lost.
    pub fn set_faults(&mut self, faults: Option<FeedFaults>) {
        self.feeds.set_faults(faults);
    }

    /// What faults have happened on a side, if any are made.
    #[must_use]
    pub fn fault_tally(&self, side: FeedSide) -> Option<&FaultTally> {
        self.feeds.faults().map(|faults| faults.tally(side))
    }

    /// Keeps packets of the incremental feed from now on and replays them by TCP; returns where it
    /// listens. Port 0 has the kernel choose one.
    ///
    /// # Errors
    /// Those of the listener; `OutOfMemory` if the reactor has no room for it.
    pub fn serve_replay(
        &mut self,
        settings: ReplaySettings,
        address: SocketAddrV4,
        now: Now,
        reactor: &mut Reactor,
    ) -> io::Result<SocketAddrV4> {
        let replay = ReplaySide::new(settings, address, now.monotonic, reactor)?;
        let address = replay.address();
        self.replay = Some(replay);
        Ok(address)
    }

    /// Listens for the gateway's backup too from now on; returns where. Port 0 has the kernel
    /// choose one. What is connected there and at the primary together has the places that
    /// [`ExchangeSettings::connections`] says.
    ///
    /// # Errors
    /// Those of the listener; `OutOfMemory` if the reactor has no room for it.
    pub fn serve_backup(
        &mut self,
        address: SocketAddrV4,
        now: Now,
        reactor: &mut Reactor,
    ) -> io::Result<SocketAddrV4> {
        let listener = TcpListener::bind(address)?;
        let acceptor = Acceptor::new(listener, gateway_options(), now.monotonic, reactor)?;
        let address = acceptor.address();
        self.backup = Some(acceptor);
        Ok(address)
    }

    /// Puts another gateway in the place of this one, with other accounts or other rules: before
    /// anybody has connected. It has no more places than
    /// [`ExchangeSettings::connections`] says and holds as many orders as the floor.
    pub fn set_gateway(&mut self, settings: GatewaySettings) {
        let orders = self.floor.matching().capacity();
        let connections = settings.connections.min(self.connections.count());
        let settings = GatewaySettings { orders, connections, ..settings };
        self.gateway = Gateway::with_settings(settings);
    }

    /// The gateway, for what the house can do: a week begins, the primary fails, ports are opened.
    pub fn gateway_mut(&mut self) -> &mut Gateway {
        &mut self.gateway
    }

    /// What has happened at the replay service, if there is one.
    #[must_use]
    pub fn replay_counters(&self) -> Option<&ReplayCounters> {
        self.replay.as_ref().map(|replay| replay.server().counters())
    }

    /// Records what is published by multicast from now on, each side as it is sent, in a capture
    /// with an interface for each side of each feed; `channel` is put into their names. The file is
    /// written by a thread of its own, see [`Recorder`]; a packet costs a copy.
    ///
    /// # Errors
    /// Those of the file system, with the path. `Unsupported`: all feeds go by TCP.
    pub fn record(&mut self, settings: &RecorderSettings, channel: &str) -> io::Result<()> {
        self.feeds.record(settings, channel)
    }

    /// The recorder, if [`Exchange::record`] has begun one: to be looked at, or taken to end it.
    pub fn recorder(&mut self) -> &mut Option<Recorder> {
        self.feeds.recorder()
    }

    /// Turns the generator's matching on or off; see [`ExchangeSettings::matching`].
    pub fn set_matching(&mut self, matching: bool) {
        self.matching = matching;
    }

    /// Begins to end every session: Terminate, and then its answer or an interval.
    pub fn terminate(&mut self, now: Now, listener: &mut impl Listener) {
        for id in self.connections.places() {
            self.gateway.terminate(now, id, listener);
        }
    }

    /// Whether a connection is open, or was ended but has yet to be read to its end by the peer.
    #[must_use]
    pub fn has_connections(&self) -> bool {
        !self.connections.is_empty()
    }

    /// Whether a session is established.
    #[must_use]
    pub fn has_session(&self) -> bool {
        let is_established = |id| self.gateway.state(id) == SessionState::Established;
        self.connections.places().any(is_established)
    }

    /// The address that the gateway listens on.
    #[must_use]
    pub fn gateway_address(&self) -> SocketAddrV4 {
        self.acceptor.address()
    }

    /// The address that a feed's datagrams of a side come from, if it is sent there by multicast.
    #[must_use]
    pub fn feed_source(&self, feed: Feed, side: FeedSide) -> Option<SocketAddrV4> {
        self.feeds.source(feed, side)
    }

    /// The address that a side of the feeds listens on, if they go by TCP there.
    #[must_use]
    pub fn tcp_feed_address(&self, side: FeedSide) -> Option<SocketAddrV4> {
        self.feeds.tcp_side(side).map(TcpSide::address)
    }

    /// Traders connected to a side of the feeds by TCP.
    #[must_use]
    pub fn tcp_feed_connections(&self, side: FeedSide) -> usize {
        self.feeds.tcp_side(side).map_or(0, TcpSide::connections)
    }

    /// The market behind the sockets.
    #[must_use]
    pub fn floor(&self) -> &SimulatedMarket {
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
        let packet = self.feeds.packet();
        let Some(transmit) = self.floor.publisher_mut().poll_transmit(now, packet) else {
            return Ok(false);
        };
        if let Some(EventPart { begins, ends, .. }) = transmit.event {
            let (sequence, tick) = (transmit.sequence, self.tick);
            listener.before_transmit(EventPacket { sequence, begins, ends, tick });
        }
        let counter = match transmit.feed {
            Feed::Incremental => &mut self.counters.incremental_packets,
            Feed::Instruments => &mut self.counters.instrument_packets,
            Feed::Snapshots => &mut self.counters.snapshot_packets,
            Feed::SnapshotOrders => &mut self.counters.order_snapshot_packets,
        };
        *counter += 1;
        if let (Feed::Incremental, Some(replay)) = (transmit.feed, &mut self.replay) {
            replay.keep(transmit.sequence, &self.feeds.packet()[..transmit.length]);
        }
        self.feeds.send(now, &transmit, &mut self.counters)?;
        Ok(true)
    }

    fn receive(
        &mut self,
        now: Now,
        id: ConnectionId,
        ready: Ready,
        reactor: &mut Reactor,
        listener: &mut impl Listener,
    ) -> io::Result<()> {
        let Self { floor, gateway, counters, .. } = self;
        let Some(connection) = self.connections.at(id) else { return Ok(()) };
        if gateway.is_stalled(id) {
            gateway.handle_bytes(now, id, &[], floor, listener);
        }
        if !ready.is_readable(connection.token) || !gateway.can_receive(id) {
            return Ok(());
        }
        let outcome = connection.stream.receive(1, |_, bytes| {
            listener.on_received(id, bytes.len());
            counters.bytes_received += bytes.len() as u64;
            gateway.handle_bytes(now, id, bytes, floor, listener);
        });
        let has_ended = outcome.as_ref().map_or(true, |received| received.closed);
        counters.broken_connections += u64::from(outcome.is_err());
        if has_ended {
            gateway.handle_closed(id, listener);
            self.connections.drop(id, reactor)?;
        }
        self.send_events(now, listener)
    }

    /// Sends what waits for a client.
    fn transmit(
        &mut self,
        id: ConnectionId,
        reactor: &mut Reactor,
        listener: &mut impl Listener,
    ) -> io::Result<()> {
        let Some(connection) = self.connections.at(id) else { return Ok(()) };
        let Some(bytes) = self.gateway.poll_transmit(id) else { return Ok(()) };
        let length = bytes.len();
        let sent = match connection.stream.write(bytes) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(_) => {
                self.counters.broken_connections += 1;
                self.gateway.handle_closed(id, listener);
                return self.connections.drop(id, reactor);
            }
        };
        self.gateway.handle_sent(id, sent);
        self.counters.bytes_sent += sent as u64;
        // A client that has to read first is not listened to meanwhile.
        let interest = match (sent < length, self.gateway.can_receive(id)) {
            (false, _) => Interest::READABLE,
            (true, true) => Interest::BOTH,
            (true, false) => Interest::WRITABLE,
        };
        reactor.set_interest(connection.token, &connection.stream, interest)
    }

    fn accept(
        &mut self,
        now: Now,
        at: Designation,
        ready: Ready,
        reactor: &mut Reactor,
        listener: &mut impl Listener,
    ) -> io::Result<()> {
        let acceptor = match (at, &mut self.backup) {
            (Designation::Backup, Some(backup)) => backup,
            _ => &mut self.acceptor,
        };
        let stream = match acceptor.accept(now.monotonic, ready, reactor)? {
            Accepted::Stream(stream) => stream,
            Accepted::Nobody => return Ok(()),
            Accepted::Failed => {
                self.counters.failed_accepts += 1;
                return Ok(());
            }
        };
        // Without a place the stream is dropped, which closes it.
        let Some(id) = self.gateway.handle_connected_at(now, at, listener) else { return Ok(()) };
        if self.connections.insert(id, stream, reactor).is_err() {
            self.counters.failed_accepts += 1;
            self.gateway.handle_closed(id, listener);
        }
        Ok(())
    }
}
