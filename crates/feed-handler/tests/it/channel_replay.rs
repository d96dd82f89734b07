//! Replay of packets lost on both sides: the exchange's own replay service on the loopback
//! interface, and servers that fail. Time is virtual.
use std::cell::Cell;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::rc::Rc;

use hairpin_exchange::{
    Addresses, Exchange, ExchangeSettings, FaultSettings, FeedFaults, Groups, Ladder, LineFaults,
    Multicast as Published, Pace, ReplaySettings, SimulatedMarketSettings,
};
use hairpin_feed_handler::{
    Book, Channel, ChannelState, FeedHandler, FeedHandlers, Gap, HandlerId, Levels, Lines,
    Listener, Multicast, Replay, ReplayError, ReplayFailure, ReplayServer, ReplayUpdate, Settings,
    SharedListener, SocketEngine, Statistics,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant, Now, Utc};

const LOCAL: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
/// The number of 100 µs calls within which every awaited event must happen.
const CALLS_MAX: usize = 40_000;

#[derive(Debug, Default)]
struct RecordedEvents {
    replays: Vec<ReplayUpdate>,
    gaps: u32,
    idle: u64,
}

impl Listener for RecordedEvents {
    fn on_replay(&mut self, update: &ReplayUpdate) {
        self.replays.push(*update);
    }
    fn on_gap(&mut self, gap: &Gap) {
        self.gaps += gap.count;
    }
    fn on_idle(&mut self, _: Now) {
        self.idle += 1;
    }
}

/// A single handler, or several handlers on an engine.
enum Handler {
    One(Box<FeedHandler>, Box<Reactor>),
    Several(Box<FeedHandlers<SocketEngine>>, HandlerId),
}

impl Handler {
    fn channel(&self) -> &Channel {
        match self {
            Self::One(handler, _) => handler.channel(),
            Self::Several(handlers, id) => handlers.channel(*id),
        }
    }

    fn statistics(&self) -> Statistics {
        match self {
            Self::One(handler, _) => handler.statistics(),
            Self::Several(handlers, _) => handlers.statistics(),
        }
    }

    fn last_failure(&self) -> Option<&ReplayError> {
        match self {
            Self::One(handler, _) => handler.last_replay_failure(),
            Self::Several(handlers, id) => handlers.last_replay_failure(*id),
        }
    }

    fn poll(&mut self, now: Now, events: &mut SharedListener<RecordedEvents>) {
        match self {
            Self::One(handler, reactor) => {
                let ready = reactor.wait(now.monotonic, Some(Instant::ZERO)).unwrap();
                handler.process(now, ready, reactor, &mut events.0).unwrap();
            }
            Self::Several(handlers, _) => {
                handlers.wait_until(now, Some(Instant::ZERO)).unwrap();
                handlers.process(now, events).unwrap();
            }
        }
    }

    /// Closes the handler; returns the number of sockets left in its reactor.
    fn close(self) -> usize {
        match self {
            Self::One(handler, mut reactor) => {
                handler.close(&mut reactor).unwrap();
                reactor.count()
            }
            Self::Several(handlers, _) => {
                let (mut engine, closed) = handlers.close();
                closed.unwrap();
                engine.reactor().count()
            }
        }
    }
}

/// An exchange and the handler that receives it.
struct Harness {
    exchange: Exchange,
    reactor: Reactor,
    handler: Handler,
    events: SharedListener<RecordedEvents>,
    now: Now,
    /// Serves connections in each call, so that no server falls behind the virtual time.
    serve: Box<dyn FnMut()>,
}

impl Harness {
    /// Creates a handler that requests replays from `server`, or as `user` from the exchange's own
    /// server.
    fn new(test: u8, is_one: bool, server: Option<SocketAddrV4>, user: &str) -> Self {
        Self::with_pause(test, is_one, server, user, Duration::ZERO)
    }

    /// Creates the same with a pause after a refused login and unreachable hosts.
    fn with_pause(
        test: u8,
        is_one: bool,
        server: Option<SocketAddrV4>,
        user: &str,
        pause: Duration,
    ) -> Self {
        let [high, low] = (std::process::id() as u16).to_be_bytes();
        let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let group =
            |n: u8| SocketAddrV4::new(Ipv4Addr::new(239, 128 + test * 8 + n, high, low), port);
        let pair = |n| Groups { a: group(n), b: Some(group(n + 1)) };
        let published = Published {
            interface: Ipv4Addr::LOCALHOST,
            ttl: 0,
            incremental: pair(0),
            instruments: pair(2),
            snapshots: pair(4),
            order_snapshots: None,
        };
        let settings = ExchangeSettings {
            market: SimulatedMarketSettings::default(),
            matching: true,
            accounts: Vec::new(),
            connections: 1,
            transport: Default::default(),
            addresses: Addresses { multicast: Some(published), tcp: None, gateway: LOCAL },
        };
        let start = Utc::from_nanos(1_767_225_600_000_000_000);
        let now = Now { monotonic: Instant::from_nanos(1), utc: start };
        let mut reactor = Reactor::new(Wait::Spin).unwrap();
        let mut exchange = Exchange::new(settings, now, &mut reactor).unwrap();
        let replay = ReplaySettings { packets: 8_192, ..ReplaySettings::default() };
        let own = exchange.serve_replay(replay, LOCAL, now, &mut reactor).unwrap();
        let server = ReplayServer::new("310", &[server.unwrap_or(own)]).as_user(user, "CME");
        let lines = |n| Lines::both(group(n), group(n + 1));
        let addresses = Multicast {
            incremental: lines(0),
            instrument: lines(2),
            snapshot: lines(4),
            interface: Ipv4Addr::LOCALHOST,
            replay: Some(server),
            ..Multicast::default()
        };
        // All packets received while a server is silent fit into the reorder buffer.
        let timeout = Duration::from_millis(40);
        let replay = Replay { timeout, attempts: 2, pause, ..Replay::default() };
        let settings =
            Settings { max_instruments: 100, replay: Some(replay), ..Settings::default() };
        let handler = if is_one {
            let mut reactor = Reactor::new(Wait::Spin).unwrap();
            let handler = FeedHandler::new(settings, addresses, &mut reactor).unwrap();
            Handler::One(Box::new(handler), Box::new(reactor))
        } else {
            let mut handlers = FeedHandlers::new(SocketEngine::new(Wait::Spin).unwrap());
            let id = handlers.add(settings, &addresses).unwrap();
            Handler::Several(Box::new(handlers), id)
        };
        let (events, serve) = (SharedListener(RecordedEvents::default()), Box::new(|| ()));
        Self { exchange, reactor, handler, events, now, serve }
    }

    fn poll(&mut self, ticks: bool) {
        let span = Duration::from_micros(100);
        self.now = Now { monotonic: self.now.monotonic + span, utc: self.now.utc + span };
        let Self { exchange, reactor, handler, events, now, serve } = self;
        serve();
        if ticks {
            exchange.tick(*now, now.monotonic, &mut ()).unwrap();
        }
        let ready = reactor.wait(now.monotonic, Some(Instant::ZERO)).unwrap();
        exchange.step(*now, ready, reactor, &mut ()).unwrap();
        handler.poll(*now, events);
    }

    fn until(&mut self, event: &str, ticks: bool, done: impl Fn(&Self) -> bool) {
        for _ in 0..CALLS_MAX {
            if done(self) {
                return;
            }
            self.poll(ticks);
        }
        panic!("{event} does not happen: {:?}", self.events.0.replays);
    }

    fn is_in_sync(&self) -> bool {
        self.handler.channel().state() == ChannelState::InSync
    }

    /// Synchronizes; then each side loses 30 % of the packets during ticks.
    fn lose_packets(&mut self) {
        self.until("sync", false, Self::is_in_sync);
        self.exchange.set_pace(Pace::Paced, self.now);
        (0..200).for_each(|_| self.poll(false));
        let side = LineFaults { drop_ppm: 300_000, ..LineFaults::default() };
        let faults = FaultSettings { seed: 7, a: side, b: side };
        self.exchange.set_faults(Some(FeedFaults::new(&faults)));
        (0..400).for_each(|_| self.poll(true));
        self.exchange.set_faults(None);
    }

    /// Checks that every book is in sync and equals the published book.
    fn check_books(&self) {
        for (instrument, definition) in (0..).zip(SimulatedMarketSettings::default().instruments) {
            let book = self.handler.channel().book_of(definition.security_id).unwrap();
            let published = self.exchange.market().publisher().published(instrument);
            assert!(book.is_in_sync() && is_equal(book, &published.sides), "{book:?}");
        }
    }
}

fn is_equal(book: Book<'_>, sides: &[Ladder; 2]) -> bool {
    let same = |levels: Levels<'_>, ladder: &Ladder| {
        let pairs = || levels.iter().zip(ladder.levels());
        levels.len() == ladder.levels().len()
            && pairs().all(|(level, published)| level.price == published.price)
            && pairs().all(|(level, published)| level.quantity == u64::from(published.quantity))
    };
    same(book.bids(), &sides[0]) && same(book.asks(), &sides[1])
}

fn is_finished(harness: &Harness) -> bool {
    !matches!(harness.events.0.replays.last(), None | Some(ReplayUpdate::Requested { .. }))
}

fn packets_lost_on_both_sides_are_replayed(test: u8, is_one: bool) {
    let mut harness = Harness::new(test, is_one, None, "CME");
    harness.until("sync", false, Harness::is_in_sync);
    let before = *harness.handler.channel().counters();
    harness.lose_packets();
    harness.until("the end of the last replay", true, is_finished);
    (0..200).for_each(|_| harness.poll(false));
    let counters = *harness.handler.channel().counters();
    assert!(counters.replays_filled > 3, "{counters:?}");
    assert_eq!((counters.gaps, counters.replays_given_up, harness.events.0.gaps), (0, 0, 0));
    // No snapshot was needed, and no instrument lost sync.
    assert_eq!(counters.snapshot_packets, before.snapshot_packets);
    assert_eq!(counters.recoveries, before.recoveries);
    assert!(harness.is_in_sync());
    harness.check_books();
    let statistics = harness.handler.statistics();
    assert!(statistics.replayed_packets >= counters.replays_filled, "{statistics:?}");
    assert!(statistics.replayed_bytes > 12 * statistics.replayed_packets);
    assert_eq!((statistics.failed_replays, statistics.refused_replays), (0, 0));
    assert_eq!(statistics.replay_requests, counters.replays + counters.replay_failures);
    assert!(harness.handler.last_failure().is_none());
    assert!(harness.events.0.idle > 0);
    assert_eq!(harness.handler.close(), 0, "sockets left in the reactor");
}

#[test]
fn packets_lost_on_both_sides_are_replayed_to_one_handler() {
    packets_lost_on_both_sides_are_replayed(0, true);
}

#[test]
fn packets_lost_on_both_sides_are_replayed_to_several_handlers() {
    packets_lost_on_both_sides_are_replayed(1, false);
}

/// Runs against a server that fails: gaps are abandoned for `reason`, and snapshots repair the
/// books.
fn check_given_up(harness: &mut Harness, reason: ReplayFailure) -> Statistics {
    harness.lose_packets();
    harness.exchange.set_pace(Pace::FlatOut, harness.now);
    harness.until("the end of the first replay", true, is_finished);
    harness.until("a gap", true, |harness| harness.events.0.gaps > 0);
    harness.until("recovery", false, |harness| is_finished(harness) && harness.is_in_sync());
    harness.check_books();
    let given_up = harness.events.0.replays.iter().filter_map(|update| match update {
        ReplayUpdate::GivenUp { reason, .. } => Some(*reason),
        _ => None,
    });
    let reasons: Vec<_> = given_up.collect();
    // While attempts take long, packets after many gaps may exceed the reorder buffer.
    let is_other = |why: &&ReplayFailure| **why != reason && **why != ReplayFailure::BufferFull;
    assert_eq!((reasons[0], reasons.iter().find(is_other)), (reason, None), "{reasons:?}");
    let counters = harness.handler.channel().counters();
    assert_eq!(counters.replays_given_up, reasons.len() as u64);
    assert!(counters.gaps > 0 && counters.recoveries > 0);
    harness.handler.statistics()
}

/// Checks that no other fault is counted.
#[track_caller]
fn assert_only(statistics: Statistics, name: &str) {
    let plain = ["packets", "bytes", "replay_requests"];
    let faults = statistics
        .iter()
        .filter(|&(other, count)| count != 0 && other != name && !plain.contains(&other));
    assert_eq!(faults.collect::<Vec<_>>(), []);
    assert!(statistics.iter().any(|(other, count)| other == name && count > 0));
}

#[test]
fn counts_refused_replays_only() {
    let mut harness = Harness::new(2, true, None, "other-user");
    let statistics = check_given_up(&mut harness, ReplayFailure::Incomplete);
    assert_only(statistics, "refused_replays");
    // A refused request is not repeated.
    assert_eq!(statistics.replay_requests, harness.handler.channel().counters().replays);
    assert!(matches!(harness.handler.last_failure(), Some(ReplayError::LoginRefused(_))));
}

/// Loses packets again, and waits until the gap is given up and the books are in sync.
fn lose_and_recover(harness: &mut Harness) {
    let before = harness.events.0.gaps;
    harness.lose_packets();
    harness.exchange.set_pace(Pace::FlatOut, harness.now);
    harness.until("a gap", true, |harness| harness.events.0.gaps > before);
    harness.until("recovery", false, |harness| is_finished(harness) && harness.is_in_sync());
    harness.check_books();
}

/// A server that does the same with each connection.
struct Server {
    address: SocketAddrV4,
    /// The number of connections served.
    served: Rc<Cell<u32>>,
    serve: Box<dyn FnMut()>,
}

impl Server {
    fn new(mut accepted: impl FnMut(TcpStream) + 'static) -> Self {
        let listener = TcpListener::bind(SocketAddr::V4(LOCAL)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let (address, served) = (local(&listener), Rc::new(Cell::new(0)));
        let count = Rc::clone(&served);
        let serve = move || {
            while let Ok((connection, _)) = listener.accept() {
                accepted(connection);
                count.set(count.get() + 1);
            }
        };
        Self { address, served, serve: Box::new(serve) }
    }

    /// Refuses each login of the Global TCP Recovery schema by a logout.
    fn refusing() -> Self {
        let mut open = Vec::new();
        Self::new(move |mut connection| {
            // A made-up template of another schema with a block of 180 bytes.
            let message = [190, 180, 903, 9, 1].map(u16::to_le_bytes).concat();
            let packet = [&[1, 0, 0, 0][..], &[0; 8], &message, &[0; 180]].concat();
            let length = (packet.len() as u16).to_le_bytes();
            connection.write_all(&[&length[..], &packet].concat()).unwrap();
            open.push(connection);
        })
    }
}

#[test]
fn refused_login_pauses_requests() {
    let Server { address, served, serve } = Server::refusing();
    let pause = Duration::from_secs(5);
    let mut harness = Harness::with_pause(8, true, Some(address), "CME", pause);
    harness.serve = serve;
    lose_and_recover(&mut harness);
    let first = harness.handler.statistics();
    assert!(matches!(harness.handler.last_failure(), Some(ReplayError::LoginRefused(_))));
    assert_eq!((first.refused_replays, first.replay_requests), (1, 1));
    assert!(first.suppressed_replays > 0, "{first:?}");
    // After the pause the client asks once more.
    harness.now = Now { monotonic: harness.now.monotonic + pause, ..harness.now };
    lose_and_recover(&mut harness);
    assert_eq!(harness.handler.statistics().replay_requests, 2);
    assert_eq!(served.get(), 2);
}

#[test]
fn unreachable_hosts_pause_requests() {
    // No server listens at this address.
    let address = local(&TcpListener::bind(SocketAddr::V4(LOCAL)).unwrap());
    let pause = Duration::from_secs(300);
    let mut harness = Harness::with_pause(9, true, Some(address), "CME", pause);
    lose_and_recover(&mut harness);
    lose_and_recover(&mut harness);
    let statistics = harness.handler.statistics();
    assert_eq!(statistics.replay_requests, 2, "both attempts for the first gap");
    assert!(statistics.suppressed_replays > 1, "{statistics:?}");
}

#[test]
fn counts_failed_replays_only() {
    // No server listens at this address.
    let address = local(&TcpListener::bind(SocketAddr::V4(LOCAL)).unwrap());
    let mut harness = Harness::new(3, true, Some(address), "CME");
    let statistics = check_given_up(&mut harness, ReplayFailure::Failed);
    assert_only(statistics, "failed_replays");
    assert_eq!(statistics.failed_replays, statistics.replay_requests);
    // Each attempt except the last is followed by another.
    assert_eq!(statistics.replay_requests, 2 * harness.handler.channel().counters().replays);
}

#[test]
fn failing_server_is_retried_once_and_then_snapshots_recover() {
    // Closes connections at once.
    let Server { address, served, serve } = Server::new(drop);
    let mut harness = Harness::new(4, false, Some(address), "CME");
    harness.serve = serve;
    harness.until("sync", false, Harness::is_in_sync);
    let statistics = check_given_up(&mut harness, ReplayFailure::Failed);
    assert!(served.get() > 0);
    assert_only(statistics, "failed_replays");
}

#[test]
fn silent_server_times_out() {
    // The kernel accepts the connections, but no process serves them.
    let listener = TcpListener::bind(SocketAddr::V4(LOCAL)).unwrap();
    let mut harness = Harness::new(5, true, Some(local(&listener)), "CME");
    let statistics = check_given_up(&mut harness, ReplayFailure::TimedOut);
    assert_only(statistics, "failed_replays");
    let first = harness.events.0.replays.iter().take(3);
    let attempts: Vec<_> = first
        .map(|update| match update {
            ReplayUpdate::Requested { attempt, .. } => *attempt,
            _ => 0,
        })
        .collect();
    assert_eq!(attempts, [1, 2, 0]);
    // Each request has failed, including the last of each gap.
    assert_eq!(statistics.failed_replays, statistics.replay_requests);
    assert!(matches!(harness.handler.last_failure(), Some(ReplayError::TimedOut)));
}

#[test]
fn close_during_a_replay_leaves_no_socket() {
    for (test, is_one) in [(6, true), (7, false)] {
        let listener = TcpListener::bind(SocketAddr::V4(LOCAL)).unwrap();
        let mut harness = Harness::new(test, is_one, Some(local(&listener)), "CME");
        harness.lose_packets();
        let is_asking = |harness: &Harness| {
            matches!(harness.events.0.replays.last(), Some(ReplayUpdate::Requested { .. }))
        };
        harness.until("a replay", true, is_asking);
        assert_eq!(harness.handler.close(), 0, "sockets left in the reactor");
    }
}

fn local(listener: &TcpListener) -> SocketAddrV4 {
    match listener.local_addr().unwrap() {
        SocketAddr::V4(address) => address,
        SocketAddr::V6(_) => panic!("the listener is bound to an IPv4 address"),
    }
}
