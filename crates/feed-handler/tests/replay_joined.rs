//! A handler that has lost packets on both sides and asks for them by TCP: the exchange's own
//! replay service on the loopback interface, and servers that are of no use. Time is made up.
#![allow(clippy::unwrap_used, reason = "a socket that cannot be had fails the test")]

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, UdpSocket};

use hairpin_exchange::{
    Addresses, Exchange, ExchangeSettings, FaultSettings, FeedFaults, Groups, Ladder,
    Multicast as Published, Pace, ReplaySettings, SideFaults, SimulatedMarketSettings,
};
use hairpin_feed_handler::{
    Book, Channel, ChannelState, FeedHandler, FeedHandlers, Gap, HandlerId, Levels, Lines,
    Listener, Multicast, Replay, ReplayError, ReplayFailure, ReplayServer, ReplayUpdate, Same,
    Settings, SocketEngine, Statistics,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant, Now, Utc};

const LOCAL: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
/// Turns of 100 µs in which anything must have come.
const PATIENCE: usize = 40_000;

#[derive(Debug, Default)]
struct Told {
    replays: Vec<ReplayUpdate>,
    gaps: u32,
    idle: u64,
}

impl Listener for Told {
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

/// Either kind of handler.
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

    fn turn(&mut self, now: Now, told: &mut Same<Told>) {
        match self {
            Self::One(handler, reactor) => {
                let ready = reactor.wait(now.monotonic, Some(Instant::ZERO)).unwrap();
                handler.process(now, ready, reactor, &mut told.0).unwrap();
            }
            Self::Several(handlers, _) => {
                handlers.wait_until(now, Some(Instant::ZERO)).unwrap();
                handlers.process(now, told).unwrap();
            }
        }
    }

    /// Closes it; how many sockets are left behind.
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

/// An exchange, and a handler that hears it.
struct Bench {
    exchange: Exchange,
    reactor: Reactor,
    handler: Handler,
    told: Same<Told>,
    now: Now,
}

impl Bench {
    /// The handler asks at `server`, or as `user` of the exchange's own.
    fn new(test: u8, is_one: bool, server: Option<SocketAddrV4>, user: &str) -> Self {
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
            floor: SimulatedMarketSettings::default(),
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
        // As many as come while a server says nothing are held.
        let timeout = Duration::from_millis(40);
        let replay = Replay { timeout, attempts: 2, ..Replay::default() };
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
        Self { exchange, reactor, handler, told: Same(Told::default()), now }
    }

    fn turn(&mut self, ticks: bool) {
        let span = Duration::from_micros(100);
        self.now = Now { monotonic: self.now.monotonic + span, utc: self.now.utc + span };
        let Self { exchange, reactor, handler, told, now } = self;
        if ticks {
            exchange.tick(*now, now.monotonic, &mut ()).unwrap();
        }
        let ready = reactor.wait(now.monotonic, Some(Instant::ZERO)).unwrap();
        exchange.step(*now, ready, reactor, &mut ()).unwrap();
        handler.turn(*now, told);
    }

    fn until(&mut self, what: &str, ticks: bool, done: impl Fn(&Self) -> bool) {
        for _ in 0..PATIENCE {
            if done(self) {
                return;
            }
            self.turn(ticks);
        }
        panic!("{what} does not come: {:?}", self.told.0.replays);
    }

    fn is_in_sync(&self) -> bool {
        self.handler.channel().state() == ChannelState::InSync
    }

    /// Comes in sync; then each side loses three packets of ten while there are ticks.
    fn lose(&mut self) {
        self.until("sync", false, Self::is_in_sync);
        self.exchange.set_pace(Pace::Paced, self.now);
        (0..200).for_each(|_| self.turn(false));
        let side = SideFaults { drop_ppm: 300_000, ..SideFaults::default() };
        let faults = FaultSettings { seed: 7, a: side, b: side };
        self.exchange.set_faults(Some(FeedFaults::new(&faults)));
        (0..400).for_each(|_| self.turn(true));
        self.exchange.set_faults(None);
    }

    /// Every book is in sync and what is published now.
    fn judge(&self) {
        for (instrument, definition) in (0..).zip(SimulatedMarketSettings::default().instruments) {
            let book = self.handler.channel().book_of(definition.security_id).unwrap();
            let published = self.exchange.floor().publisher().published(instrument);
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

fn is_over(bench: &Bench) -> bool {
    !matches!(bench.told.0.replays.last(), None | Some(ReplayUpdate::Requested { .. }))
}

fn what_both_sides_have_lost_is_replayed(test: u8, is_one: bool) {
    let mut bench = Bench::new(test, is_one, None, "CME");
    bench.until("sync", false, Bench::is_in_sync);
    let before = *bench.handler.channel().counters();
    bench.lose();
    bench.until("the end of the last replay", true, is_over);
    (0..200).for_each(|_| bench.turn(false));
    let counters = *bench.handler.channel().counters();
    assert!(counters.replays_filled > 3, "{counters:?}");
    assert_eq!((counters.gaps, counters.replays_given_up, bench.told.0.gaps), (0, 0, 0));
    // Without a snapshot, and without an instrument out of sync.
    assert_eq!(counters.snapshot_packets, before.snapshot_packets);
    assert_eq!(counters.recoveries, before.recoveries);
    assert!(bench.is_in_sync());
    bench.judge();
    let statistics = bench.handler.statistics();
    assert!(statistics.replayed_packets >= counters.replays_filled, "{statistics:?}");
    assert!(statistics.replayed_bytes > 12 * statistics.replayed_packets);
    assert_eq!((statistics.failed_replays, statistics.refused_replays), (0, 0));
    assert_eq!(statistics.replay_requests, counters.replays + counters.replay_failures);
    assert!(bench.handler.last_failure().is_none());
    assert!(bench.told.0.idle > 0);
    assert_eq!(bench.handler.close(), 0, "sockets left in the reactor");
}

#[test]
fn what_both_sides_have_lost_is_replayed_to_one_handler() {
    what_both_sides_have_lost_is_replayed(0, true);
}

#[test]
fn what_both_sides_have_lost_is_replayed_to_several_handlers() {
    what_both_sides_have_lost_is_replayed(1, false);
}

/// A server that is of no use: gaps are given up for this reason, and snapshots repair the books.
fn is_given_up(bench: &mut Bench, reason: ReplayFailure) -> Statistics {
    bench.lose();
    bench.exchange.set_pace(Pace::FlatOut, bench.now);
    bench.until("the end of the first replay", true, is_over);
    bench.until("a gap", true, |bench| bench.told.0.gaps > 0);
    bench.until("recovery", false, |bench| is_over(bench) && bench.is_in_sync());
    bench.judge();
    let given_up = bench.told.0.replays.iter().filter_map(|update| match update {
        ReplayUpdate::GivenUp { reason, .. } => Some(*reason),
        _ => None,
    });
    let reasons: Vec<_> = given_up.collect();
    // Where attempts take long, what comes behind many holes is more than can be held.
    let is_other = |why: &&ReplayFailure| **why != reason && **why != ReplayFailure::BufferFull;
    assert_eq!((reasons[0], reasons.iter().find(is_other)), (reason, None), "{reasons:?}");
    let counters = bench.handler.channel().counters();
    assert_eq!(counters.replays_given_up, reasons.len() as u64);
    assert!(counters.gaps > 0 && counters.recoveries > 0);
    bench.handler.statistics()
}

/// Nothing else is wrong.
#[track_caller]
fn counts_only(statistics: Statistics, name: &str) {
    let plain = ["packets", "bytes", "replay_requests"];
    let wrong = statistics
        .iter()
        .filter(|&(other, count)| count != 0 && other != name && !plain.contains(&other));
    assert_eq!(wrong.collect::<Vec<_>>(), []);
    assert!(statistics.iter().any(|(other, count)| other == name && count > 0));
}

#[test]
fn counts_refused_replays_only() {
    let mut bench = Bench::new(2, true, None, "somebody");
    let statistics = is_given_up(&mut bench, ReplayFailure::Incomplete);
    counts_only(statistics, "refused_replays");
    // It is not asked twice.
    assert_eq!(statistics.replay_requests, bench.handler.channel().counters().replays);
    assert!(matches!(bench.handler.last_failure(), Some(ReplayError::Refused(_))));
}

#[test]
fn counts_failed_replays_only() {
    // Nobody listens there any more.
    let address = local(&TcpListener::bind(SocketAddr::V4(LOCAL)).unwrap());
    let mut bench = Bench::new(3, true, Some(address), "CME");
    let statistics = is_given_up(&mut bench, ReplayFailure::Failed);
    counts_only(statistics, "failed_replays");
    assert_eq!(statistics.failed_replays, statistics.replay_requests);
    // Each attempt but the last is followed by another.
    assert_eq!(statistics.replay_requests, 2 * bench.handler.channel().counters().replays);
}

#[test]
fn a_server_that_dies_is_asked_once_more_and_then_snapshots_do() {
    let listener = TcpListener::bind(SocketAddr::V4(LOCAL)).unwrap();
    let address = local(&listener);
    // Takes connections and ends them at once, until the test is over.
    listener.set_nonblocking(true).unwrap();
    let mut bench = Bench::new(4, false, Some(address), "CME");
    bench.until("sync", false, Bench::is_in_sync);
    let (stop, is_over) = std::sync::mpsc::channel::<()>();
    let server = std::thread::spawn(move || {
        let mut ended = 0_u32;
        while is_over.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
            match listener.accept() {
                Ok(connection) => {
                    drop(connection);
                    ended += 1;
                }
                Err(_) => std::thread::sleep(std::time::Duration::from_millis(1)),
            }
        }
        ended
    });
    let statistics = is_given_up(&mut bench, ReplayFailure::Failed);
    drop(stop);
    assert!(server.join().unwrap() > 0);
    counts_only(statistics, "failed_replays");
}

#[test]
fn a_server_that_says_nothing_is_given_up_in_time() {
    // The kernel takes its connections, and nobody else.
    let listener = TcpListener::bind(SocketAddr::V4(LOCAL)).unwrap();
    let mut bench = Bench::new(5, true, Some(local(&listener)), "CME");
    let statistics = is_given_up(&mut bench, ReplayFailure::TimedOut);
    counts_only(statistics, "failed_replays");
    let first = bench.told.0.replays.iter().take(3);
    let attempts: Vec<_> = first
        .map(|update| match update {
            ReplayUpdate::Requested { attempt, .. } => *attempt,
            _ => 0,
        })
        .collect();
    assert_eq!(attempts, [1, 2, 0]);
    // Each request has failed, the last of each gap too.
    assert_eq!(statistics.failed_replays, statistics.replay_requests);
    assert!(matches!(bench.handler.last_failure(), Some(ReplayError::TooSlow)));
}

#[test]
fn who_is_closed_amid_a_replay_leaves_nothing_behind() {
    for (test, is_one) in [(6, true), (7, false)] {
        let listener = TcpListener::bind(SocketAddr::V4(LOCAL)).unwrap();
        let mut bench = Bench::new(test, is_one, Some(local(&listener)), "CME");
        bench.lose();
        let is_asking = |bench: &Bench| {
            matches!(bench.told.0.replays.last(), Some(ReplayUpdate::Requested { .. }))
        };
        bench.until("a replay", true, is_asking);
        assert_eq!(bench.handler.close(), 0, "sockets left in the reactor");
    }
}

fn local(listener: &TcpListener) -> SocketAddrV4 {
    match listener.local_addr().unwrap() {
        SocketAddr::V4(address) => address,
        SocketAddr::V6(_) => panic!("an address of IPv4 was asked for"),
    }
}
