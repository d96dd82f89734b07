//! The exchange on UDP and TCP sockets: the only module of this crate that does I/O.

mod acceptor;
mod connections;
mod counters;
mod feeds;
mod replay_service;
mod settings;
mod subscriber;
mod tcp_line;

pub use counters::ExchangeCounters;
pub use settings::{Addresses, ExchangeSettings, FeedLine, Groups, Multicast, TcpFeed};

use std::io;
use std::net::SocketAddrV4;

use hairpin_endpoint::capture::{Recorder, RecorderSettings};
use hairpin_endpoint::{Receive, Stream, TcpListener, TcpOptions, Transport};
use hairpin_reactor::{Interest, Reactor, Ready};
use hairpin_time::{Instant, Now};

use crate::{
    Action, ConnectionId, Designation, EventPacket, EventPart, FaultTally, Feed, FeedFaults,
    Gateway, GatewayCounters, GatewaySettings, Listener, Market, NewOrder, OrderId, Owner, Pace,
    Publication, ReplayCounters, ReplaySettings, SessionState, SimulatedMarket, Tick, TimeInForce,
};
use acceptor::{Accepted, Acceptor};
use connections::Connections;
use feeds::Feeds;
use replay_service::ReplayService;
use tcp_line::TcpLine;

/// The number of times that a change of the market is attempted. Each but the first follows after
/// all queued packets were sent.
const CHANGE_ATTEMPTS: u32 = 3;

/// The most bytes read from a session in one receive call.
const CHUNK_MAX: usize = 16 << 10;
const _: () = assert!(CHUNK_MAX <= Gateway::CHUNK_MAX);

/// Matching, publisher and gateway on UDP and TCP sockets, driven by one thread.
///
/// The owner runs the loop, reads the clock and schedules the ticks:
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
    market: SimulatedMarket,
    gateway: Gateway,
    feeds: Feeds,
    replay: Option<ReplayService>,
    transport: Transport,
    acceptor: Acceptor,
    backup: Option<Acceptor>,
    connections: Connections,
    matching: bool,
    /// The number of the tick whose event is being sent.
    tick: Option<u64>,
    counters: ExchangeCounters,
}

fn gateway_options() -> TcpOptions {
    TcpOptions { chunk_max: CHUNK_MAX, message_max: 0, ..TcpOptions::default() }
}

impl Exchange {
    /// Opens all sockets and seeds the books. The first packet is sent by the first
    /// [`Exchange::step`]. The feed loops run at [`Pace::FlatOut`] until [`Exchange::set_pace`].
    ///
    /// # Errors
    /// Errors of the sockets, with the address that cannot be used. `OutOfMemory` if the reactor
    /// has no room for the listeners.
    ///
    /// # Panics
    /// If an instrument violates the rules of [`crate::Instrument`].
    pub fn new(settings: ExchangeSettings, now: Now, reactor: &mut Reactor) -> io::Result<Self> {
        let addresses = &settings.addresses;
        let options = gateway_options();
        let start = now.monotonic;
        // Operations that are likely to fail come first, so that no entry is left in the reactor.
        let listener = TcpListener::bind_with(&settings.transport, addresses.gateway)?;
        let orders = settings.market.capacity.orders;
        Ok(Self {
            market: SimulatedMarket::new(&settings.market, now),
            gateway: Gateway::new(settings.accounts, settings.connections, orders),
            feeds: Feeds::new(addresses, &settings.transport, start, reactor)?,
            replay: None,
            transport: settings.transport.clone(),
            acceptor: Acceptor::new(listener, options, start, reactor)?,
            backup: None,
            connections: Connections::new(settings.connections),
            matching: settings.matching,
            tick: None,
            counters: ExchangeCounters::default(),
        })
    }

    /// Makes one matching event that changes a best price, and sends all its packets. Returns
    /// `false` if there was no event: matching is off, or no price could be changed.
    ///
    /// The exchange does not wait for the answers to earlier ticks.
    ///
    /// # Errors
    /// Errors of the network. A full send queue is not an error: the datagram is counted as lost.
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
        let Some((_, publication)) = self.market.step(now) else { return Ok(false) };
        let visible = matches!(publication, Publication::Event(_) | Publication::Conflated);
        debug_assert!(visible, "{publication:?}");
        self.counters.ticks += 1;
        let number = self.counters.ticks;
        listener.on_event(Tick { number, intended });
        self.tick = Some(number);
        self.send_events(now, listener)?;
        self.tick = None;
        self.gateway.handle_fills(now, &mut self.market, listener);
        Ok(true)
    }

    /// Runs one iteration of the loop: reads orders, matches, sends reports and the resulting
    /// market data, and one packet of the feed loops if one is due. `ready` is the result of the
    /// last wait of the reactor that was passed to [`Exchange::new`].
    ///
    /// # Errors
    /// Errors of the network, with two exceptions. A full send queue is counted. An error of one
    /// connection ends that connection only. A failed accept is counted and retried later.
    pub fn step(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        listener: &mut impl Listener,
    ) -> io::Result<()> {
        self.send_events(now, listener)?;
        for id in self.connections.slots() {
            self.receive(now, id, ready, reactor, listener)?;
        }
        if self.gateway.poll_timeout().is_some_and(|deadline| now.monotonic >= deadline) {
            self.gateway.handle_timeout(now, listener);
        }
        if self.gateway.has_lost_sessions() {
            self.gateway.handle_fills(now, &mut self.market, listener);
            self.send_events(now, listener)?;
        }
        for id in self.connections.slots() {
            self.transmit(id, reactor, listener)?;
        }
        while let Some(Action::Close(id)) = self.gateway.poll_action(listener) {
            self.connections.finish(id, now.monotonic, reactor)?;
        }
        self.connections.poll_lingering(now.monotonic, ready, reactor)?;
        self.accept(now, Designation::Primary, ready, reactor, listener)?;
        if self.backup.is_some() {
            self.accept(now, Designation::Backup, ready, reactor, listener)?;
        }
        self.feeds.poll(now.monotonic, ready, reactor, &mut self.counters)?;
        if let Some(replay) = &mut self.replay {
            replay.poll(now, ready, reactor, &mut self.counters)?;
        }
        self.send_packet(now, listener).map(drop)
    }

    /// Returns the time at which [`Exchange::step`] has work to do even if nothing arrives.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        // Reports since the last step, such as those of a tick's fills.
        if self.connections.unblocked().any(|id| self.gateway.poll_transmit(id).is_some()) {
            return Some(Instant::ZERO);
        }
        let deadlines = [
            self.market.publisher().poll_timeout(),
            self.gateway.poll_timeout(),
            self.connections.poll_timeout(),
            self.acceptor.poll_timeout(),
            self.backup.as_ref().and_then(Acceptor::poll_timeout),
            self.feeds.poll_timeout(),
            self.replay.as_ref().and_then(ReplayService::poll_timeout),
        ];
        deadlines.into_iter().flatten().min()
    }

    /// Sets the pace of the feed loops. They start at [`Pace::FlatOut`], which suits receivers that
    /// are not in sync yet.
    pub fn set_pace(&mut self, pace: Pace, now: Now) {
        self.market.publisher_mut().set_pace(pace, now.monotonic);
    }

    /// Withholds all packets of a feed line, both multicast and TCP, or sends them again. This is a
    /// fault for tests: packets still get their sequence numbers, which are missing on that line.
    pub fn set_muted(&mut self, line: FeedLine, muted: bool) {
        self.feeds.set_muted(line, muted);
    }

    /// Injects faults into the multicast packets from now on, or stops with `None`. Replacing the
    /// faults drops the packets that are being held back.
    pub fn set_faults(&mut self, faults: Option<FeedFaults>) {
        self.feeds.set_faults(faults);
    }

    /// Returns the counts of faults injected on a line, or `None` without faults.
    #[must_use]
    pub fn fault_tally(&self, line: FeedLine) -> Option<&FaultTally> {
        self.feeds.faults().map(|faults| faults.tally(line))
    }

    /// Starts the TCP replay service: stores packets of the incremental feed from now on. Returns
    /// the listening address. With port 0 the kernel chooses a port.
    ///
    /// # Errors
    /// Errors of the listener. `OutOfMemory` if the reactor has no room for it.
    pub fn serve_replay(
        &mut self,
        settings: ReplaySettings,
        address: SocketAddrV4,
        now: Now,
        reactor: &mut Reactor,
    ) -> io::Result<SocketAddrV4> {
        let replay = ReplayService::new(settings, address, now.monotonic, reactor)?;
        let address = replay.address();
        self.replay = Some(replay);
        Ok(address)
    }

    /// Starts listening as the backup gateway and returns the address. With port 0 the kernel
    /// chooses a port. Connections to primary and backup share the limit
    /// [`ExchangeSettings::connections`].
    ///
    /// # Errors
    /// Errors of the listener. `OutOfMemory` if the reactor has no room for it.
    pub fn serve_backup(
        &mut self,
        address: SocketAddrV4,
        now: Now,
        reactor: &mut Reactor,
    ) -> io::Result<SocketAddrV4> {
        let listener = TcpListener::bind_with(&self.transport, address)?;
        let acceptor = Acceptor::new(listener, gateway_options(), now.monotonic, reactor)?;
        let address = acceptor.address();
        self.backup = Some(acceptor);
        Ok(address)
    }

    /// Replaces the gateway, with other accounts or other rules. Call it before the first client
    /// connects. The new gateway has at most [`ExchangeSettings::connections`] connections, and as
    /// many orders as the matching engine.
    pub fn set_gateway(&mut self, settings: GatewaySettings) {
        let orders = self.market.matching().capacity();
        let connections = settings.connections.min(self.connections.count());
        let settings = GatewaySettings { orders, connections, ..settings };
        self.gateway = Gateway::with_settings(settings);
    }

    /// Returns the gateway, for administrative actions: start a trading week, fail the primary,
    /// open ports.
    pub fn gateway_mut(&mut self) -> &mut Gateway {
        &mut self.gateway
    }

    /// Returns the counters of the replay service, if there is one.
    #[must_use]
    pub fn replay_counters(&self) -> Option<&ReplayCounters> {
        self.replay.as_ref().map(|replay| replay.server().counters())
    }

    /// Records the multicast packets from now on, each line as it is sent. The capture has one
    /// interface for each line of each feed; `channel` is part of the interface names. A separate
    /// thread writes the file (see [`Recorder`]); recording costs one copy per packet.
    ///
    /// # Errors
    /// Errors of the file system, with the path. `Unsupported` if all feeds use TCP.
    pub fn record(&mut self, settings: &RecorderSettings, channel: &str) -> io::Result<()> {
        self.feeds.record(settings, channel)
    }

    /// Returns the recorder that [`Exchange::record`] started. Take it to stop recording.
    pub fn recorder(&mut self) -> &mut Option<Recorder> {
        self.feeds.recorder()
    }

    /// Turns the generator's matching on or off; see [`ExchangeSettings::matching`].
    pub fn set_matching(&mut self, matching: bool) {
        self.matching = matching;
    }

    /// Starts terminating every session: sends Terminate, then waits up to one keep-alive interval
    /// for the answer.
    pub fn terminate(&mut self, now: Now, listener: &mut impl Listener) {
        for id in self.connections.slots() {
            self.gateway.terminate(now, id, listener);
        }
    }

    /// Changes the market and sends the resulting packets: an announcement, a reset or a new week.
    /// `change` is called again after queued packets were sent, if it could not publish. Returns
    /// `false` if it still cannot.
    ///
    /// # Errors
    /// Errors of the network.
    pub fn change_market(
        &mut self,
        now: Now,
        listener: &mut impl Listener,
        mut change: impl FnMut(&mut SimulatedMarket) -> Publication,
    ) -> io::Result<bool> {
        let mut publication = Publication::Deferred;
        for _ in 0..CHANGE_ATTEMPTS {
            self.send_events(now, listener)?;
            publication = change(&mut self.market);
            if publication != Publication::Deferred {
                break;
            }
        }
        self.send_events(now, listener)?;
        self.gateway.handle_fills(now, &mut self.market, listener);
        Ok(publication != Publication::Deferred)
    }

    /// Fills a resting order completely: the background flow trades against all better orders of
    /// its side, then against the order. Returns `false` if there is no such order.
    ///
    /// # Errors
    /// Errors of the network.
    pub fn fill(
        &mut self,
        now: Now,
        order: OrderId,
        listener: &mut impl Listener,
    ) -> io::Result<bool> {
        let mut fills = false;
        while let Some(&resting) = self.market.order(order) {
            let aggressor = NewOrder {
                instrument: resting.instrument,
                side: resting.side.opposite(),
                price: resting.price,
                quantity: resting.remaining,
                time_in_force: TimeInForce::FillAndKill,
                owner: Owner::BACKGROUND,
                ..NewOrder::default()
            };
            if self.market.submit(now, &aggressor).is_err() {
                break;
            }
            fills = true;
            self.send_events(now, listener)?;
            self.gateway.handle_fills(now, &mut self.market, listener);
        }
        Ok(fills)
    }

    /// Closes every connection without Terminate, as a failed network does.
    ///
    /// # Errors
    /// Errors of the reactor.
    pub fn disconnect(
        &mut self,
        reactor: &mut Reactor,
        listener: &mut impl Listener,
    ) -> io::Result<()> {
        for id in self.connections.slots() {
            if self.connections.connection_mut(id).is_some() {
                self.gateway.handle_closed(id, listener);
                self.connections.drop(id, reactor)?;
            }
        }
        Ok(())
    }

    /// Returns `true` if a connection is open, or is closed on this side but not yet on the peer's.
    #[must_use]
    pub fn has_connections(&self) -> bool {
        !self.connections.is_empty()
    }

    /// Returns `true` if at least one session is established.
    #[must_use]
    pub fn has_session(&self) -> bool {
        let is_established = |id| self.gateway.state(id) == SessionState::Established;
        self.connections.slots().any(is_established)
    }

    /// Returns the address that the gateway listens on.
    #[must_use]
    pub fn gateway_address(&self) -> SocketAddrV4 {
        self.acceptor.address()
    }

    /// Returns the source address of a feed line, if it is sent by multicast.
    #[must_use]
    pub fn feed_source(&self, feed: Feed, line: FeedLine) -> Option<SocketAddrV4> {
        self.feeds.source(feed, line)
    }

    /// Returns the listening address of a TCP feed line, if there is one.
    #[must_use]
    pub fn tcp_feed_address(&self, line: FeedLine) -> Option<SocketAddrV4> {
        self.feeds.tcp_line(line).map(TcpLine::address)
    }

    /// Returns the number of traders connected to a TCP feed line.
    #[must_use]
    pub fn tcp_feed_connections(&self, line: FeedLine) -> usize {
        self.feeds.tcp_line(line).map_or(0, TcpLine::connections)
    }

    /// Returns the simulated market.
    #[must_use]
    pub fn market(&self) -> &SimulatedMarket {
        &self.market
    }

    /// Returns the counters of the sockets.
    #[must_use]
    pub fn counters(&self) -> &ExchangeCounters {
        &self.counters
    }

    /// Returns the counters of the gateway.
    #[must_use]
    pub fn gateway_counters(&self) -> &GatewayCounters {
        self.gateway.counters()
    }

    /// Sends event packets until none is pending.
    fn send_events(&mut self, now: Now, listener: &mut impl Listener) -> io::Result<()> {
        loop {
            while self.market.publisher().has_event() {
                self.send_packet(now, listener)?;
            }
            if !self.market.is_deferred() || self.market.publish(now) == Publication::Deferred {
                return Ok(());
            }
        }
    }

    /// Sends the next packet, if one is due.
    fn send_packet(&mut self, now: Now, listener: &mut impl Listener) -> io::Result<bool> {
        let packet = self.feeds.packet();
        let Some(transmit) = self.market.publisher_mut().poll_transmit(now, packet) else {
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
            replay.store(transmit.sequence, &self.feeds.packet()[..transmit.length]);
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
        let Self { market, gateway, counters, .. } = self;
        let Some(connection) = self.connections.connection_mut(id) else { return Ok(()) };
        if gateway.is_stalled(id) {
            gateway.handle_bytes(now, id, &[], market, listener);
        }
        if !ready.is_readable(connection.token) || !gateway.can_receive(id) {
            return Ok(());
        }
        let outcome = connection.stream.receive(1, |_, bytes| {
            listener.on_received(id, bytes.len());
            counters.bytes_received += bytes.len() as u64;
            gateway.handle_bytes(now, id, bytes, market, listener);
        });
        let has_ended = outcome.as_ref().map_or(true, |received| received.closed);
        counters.broken_connections += u64::from(outcome.is_err());
        if has_ended {
            gateway.handle_closed(id, listener);
            self.connections.drop(id, reactor)?;
        }
        self.send_events(now, listener)
    }

    /// Writes pending reports to a client.
    fn transmit(
        &mut self,
        id: ConnectionId,
        reactor: &mut Reactor,
        listener: &mut impl Listener,
    ) -> io::Result<()> {
        let Some(connection) = self.connections.connection_mut(id) else { return Ok(()) };
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
        connection.blocked = sent < length;
        self.gateway.handle_sent(id, sent);
        self.counters.bytes_sent += sent as u64;
        // While a client does not read its reports, its requests are not read.
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
        let stream = loop {
            match acceptor.accept(now.monotonic, ready, reactor)? {
                Accepted::Stream(stream) => break stream,
                Accepted::None => return Ok(()),
                // The descriptor of the closed connection is for the new one, so accept again now.
                Accepted::Exhausted
                    if self.connections.drop_lingering(reactor)?
                        || close_idle(
                            &mut self.gateway,
                            &mut self.connections,
                            listener,
                            reactor,
                        )? =>
                {
                    acceptor.retry(now.monotonic, reactor)?;
                }
                Accepted::Exhausted | Accepted::Failed => {
                    self.counters.failed_accepts += 1;
                    return Ok(());
                }
            }
        };
        if !self.gateway.has_room(at) {
            close_idle(&mut self.gateway, &mut self.connections, listener, reactor)?;
        }
        // Dropping the stream closes the connection.
        let Some(id) = self.gateway.handle_connected_at(now, at, listener) else { return Ok(()) };
        if self.connections.insert(id, stream, reactor).is_err() {
            self.counters.failed_accepts += 1;
            self.gateway.handle_closed(id, listener);
        }
        Ok(())
    }
}

/// Closes the oldest connection without a logon. Returns `false` if each has logged on.
#[cold]
fn close_idle(
    gateway: &mut Gateway,
    connections: &mut Connections,
    listener: &mut impl Listener,
    reactor: &mut Reactor,
) -> io::Result<bool> {
    match gateway.close_idle(listener) {
        Some(id) => connections.drop(id, reactor).map(|()| true),
        None => Ok(false),
    }
}
