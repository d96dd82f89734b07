//! The exchange's TCP feeds, received by the feed handler on the loopback interface.

use std::net::{Ipv4Addr, SocketAddrV4};

use crate::tcp_proxy::TcpProxy;
use hairpin_exchange::{
    Addresses, Exchange, ExchangeSettings, FeedLine as ExchangeLine, Ladder, Pace,
    SimulatedMarketSettings, TcpFeed,
};
use hairpin_feed_handler::{
    Book, ChannelState, EndOfEvent, FeedHandler, FeedLine, Gap, Levels, Listener, Settings,
    TcpLines,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant, Now, Utc};

const LOCAL: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
/// The virtual time of one loop iteration.
const TURN: Duration = Duration::from_micros(500);

/// The events of a listener.
#[derive(Debug, Default)]
struct RecordedEvents {
    gaps: u32,
    last_end: u32,
    ends: u64,
    timestamped: bool,
}

impl Listener for RecordedEvents {
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        self.ends += 1;
        self.last_end = event.packet.sequence;
        self.timestamped |= event.packet.received.is_some();
    }
    fn on_gap(&mut self, _: &Gap) {
        self.gaps += 1;
    }
}

/// A feed handler and its loop.
struct Trader {
    reactor: Reactor,
    handler: FeedHandler,
    events: RecordedEvents,
    turns: u32,
}

impl Trader {
    fn new(wait: Wait, lines: TcpLines) -> Self {
        let mut reactor = Reactor::new(wait).unwrap();
        let settings = Settings { max_instruments: 100, ..Settings::default() };
        let handler = FeedHandler::new(settings, lines, &mut reactor).unwrap();
        Self { reactor, handler, events: RecordedEvents::default(), turns: 0 }
    }

    fn turn(&mut self, now: Now) {
        // No real wait, except for an occasional blocking one: it has the resolution of kernel
        // ticks.
        self.turns += 1;
        let blocks = self.reactor.kind() == Wait::Block && self.turns.is_multiple_of(256);
        let deadline = if blocks { now.monotonic + TURN } else { now.monotonic };
        let ready = self.reactor.wait(now.monotonic, Some(deadline)).unwrap();
        self.handler.process(now, ready, &mut self.reactor, &mut self.events).unwrap();
    }

    fn is_in_sync(&self) -> bool {
        self.handler.channel().state() == ChannelState::InSync
    }

    fn is_connected(&self) -> [bool; 2] {
        let mut sides = self.handler.connections().map(|side| side.connected);
        [sides.next().unwrap(), sides.next().unwrap()]
    }

    /// Checks that all books equal the exchange's published books.
    fn check_books(&self, exchange: &Exchange) {
        for (index, instrument) in (0..).zip(&SimulatedMarketSettings::default().instruments) {
            let book = self.handler.channel().book_of(instrument.security_id).unwrap();
            let published = exchange.market().publisher().published(index);
            assert!(book.is_in_sync() && is_equal(book, &published.sides), "{book:?}");
            assert_eq!(book.rpt_seq(), Some(published.rpt_seq));
        }
    }

    /// Checks that only these fault counters are not zero.
    fn only_faults(&self, names: &[&str]) {
        let plain = ["packets", "bytes", "packets_not_joined", "connections", "reconnections"];
        for (name, count) in self.handler.statistics().iter() {
            let is_allowed = plain.contains(&name) || names.contains(&name);
            assert!(is_allowed || count == 0, "{count} {name}");
        }
    }
}

fn is_equal(book: Book<'_>, sides: &[Ladder; 2]) -> bool {
    let same = |levels: Levels<'_>, ladder: &Ladder| {
        levels.len() == ladder.levels().len()
            && levels.iter().zip(ladder.levels()).all(|(level, published)| {
                level.price == published.price
                    && level.quantity == u64::from(published.quantity)
                    && level.orders == published.orders
            })
    };
    same(book.bids(), &sides[0]) && same(book.asks(), &sides[1])
}

/// The exchange, and a proxy for each side that can be cut.
struct Market {
    reactor: Reactor,
    exchange: Exchange,
    proxies: [TcpProxy; 2],
    now: Now,
}

impl Market {
    fn new(backlog: usize) -> Self {
        let tcp = Some(TcpFeed { backlog, ..TcpFeed::new(LOCAL, LOCAL) });
        let settings = ExchangeSettings {
            market: SimulatedMarketSettings::default(),
            matching: true,
            accounts: vec![],
            connections: 1,
            transport: Default::default(),
            addresses: Addresses { multicast: None, tcp, gateway: LOCAL },
        };
        let now = Now {
            monotonic: Instant::from_nanos(1_000_000_000),
            utc: Utc::from_nanos(1_767_225_600_000_000_000),
        };
        let mut reactor = Reactor::new(Wait::Poll).unwrap();
        let exchange = Exchange::new(settings, now, &mut reactor).unwrap();
        let proxies = [ExchangeLine::A, ExchangeLine::B]
            .map(|side| TcpProxy::new(exchange.tcp_feed_address(side).unwrap()));
        Self { reactor, exchange, proxies, now }
    }

    /// Returns the addresses of both sides.
    fn lines(&self) -> TcpLines {
        let address = |side| self.exchange.tcp_feed_address(side).unwrap();
        TcpLines::both(address(ExchangeLine::A), address(ExchangeLine::B))
    }

    /// Returns the addresses of both sides through the proxies.
    fn proxied(&self) -> TcpLines {
        let [a, b] = [&self.proxies[0], &self.proxies[1]].map(TcpProxy::address);
        TcpLines::both(a, b)
    }

    fn turn(&mut self, traders: &mut [Trader]) {
        self.now.monotonic += TURN;
        self.now.utc = self.now.utc + TURN;
        let ready = self.reactor.wait(self.now.monotonic, Some(Instant::ZERO)).unwrap();
        self.exchange.step(self.now, ready, &mut self.reactor, &mut ()).unwrap();
        self.proxies.iter_mut().for_each(TcpProxy::pump);
        traders.iter_mut().for_each(|trader| trader.turn(self.now));
    }

    fn ticks(&mut self, count: u32, traders: &mut [Trader]) {
        for _ in 0..count {
            assert!(self.exchange.tick(self.now, self.now.monotonic, &mut ()).unwrap());
            self.turn(traders);
        }
    }

    #[track_caller]
    fn until(
        &mut self,
        event: &str,
        traders: &mut [Trader],
        is_done: impl Fn(&Exchange, &[Trader]) -> bool,
    ) {
        for _ in 0..100_000 {
            self.turn(traders);
            if is_done(&self.exchange, traders) {
                return;
            }
        }
        let counts: Vec<_> = traders.iter().map(|trader| trader.handler.statistics()).collect();
        panic!("{event} does not happen: {counts:?} {:?}", self.exchange.counters());
    }

    /// Runs until all traders are in sync and have received the last event, and checks their books.
    #[track_caller]
    fn catch_up(&mut self, traders: &mut [Trader]) {
        // The last packet that ends an event; later packets are heartbeats.
        self.ticks(1, traders);
        let last = self.exchange.market().publisher().sequence();
        self.until("the last event", traders, |_, traders| {
            traders.iter().all(|trader| trader.is_in_sync() && trader.events.last_end >= last)
        });
        traders.iter().for_each(|trader| trader.check_books(&self.exchange));
    }

    #[track_caller]
    fn come_in_sync(&mut self, traders: &mut [Trader]) {
        self.until("sync", traders, |_, traders| {
            traders.iter().all(|trader| trader.is_in_sync() && trader.is_connected() == [true; 2])
        });
        self.exchange.set_pace(Pace::Paced, self.now);
        self.catch_up(traders);
    }
}

#[test]
fn books_equal_the_exchange_under_every_wait() {
    for wait in Wait::ALL {
        let mut market = Market::new(4 << 20);
        let mut traders = [Trader::new(wait, market.lines())];
        market.come_in_sync(&mut traders);
        let ends = traders[0].events.ends;
        market.ticks(500, &mut traders);
        market.catch_up(&mut traders);
        let [trader] = &mut traders;
        assert_eq!((trader.events.ends - ends, trader.events.gaps), (501, 0), "{wait}");
        assert!(trader.events.timestamped, "the receive timestamp reaches the callback");
        trader.only_faults(&[]);
        let statistics = trader.handler.statistics();
        assert_eq!((statistics.connections, statistics.reconnections), (2, 0));
        let counters = trader.handler.channel().counters();
        assert!(counters.packets_a.min(counters.packets_b) > 500);
        assert!(statistics.packets_not_joined > 0);
        let sides: Vec<_> = trader.handler.connections().map(|side| side.statistics).collect();
        assert_eq!(sides[0].packets + sides[1].packets, statistics.packets);
        assert!(sides[0].bytes > 100_000 && sides[1].bytes > 100_000);
    }
}

#[test]
fn synchronizes_with_a_single_side() {
    for only in FeedLine::ALL {
        let mut market = Market::new(4 << 20);
        let mut lines = market.lines();
        match only {
            FeedLine::A => lines.b = None,
            FeedLine::B => lines.a = None,
        }
        let mut traders = [Trader::new(Wait::Epoll, lines)];
        market.until("sync", &mut traders, |_, traders| traders[0].is_in_sync());
        market.exchange.set_pace(Pace::Paced, market.now);
        market.ticks(200, &mut traders);
        market.catch_up(&mut traders);
        assert_eq!(traders[0].events.gaps, 0);
        let counters = traders[0].handler.channel().counters();
        assert_eq!(counters.packets_a == 0, only == FeedLine::B);
        assert_eq!(counters.packets_b == 0, only == FeedLine::A);
    }
}

#[test]
fn cut_side_loses_nothing_and_reconnects() {
    for wait in Wait::ALL {
        let mut market = Market::new(4 << 20);
        let mut traders = [Trader::new(wait, market.proxied())];
        market.come_in_sync(&mut traders);
        for (side, left) in [(0, [false, true]), (1, [true, false])] {
            market.proxies[side].cut();
            market.ticks(300, &mut traders);
            assert_eq!(traders[0].is_connected(), left);
            market.catch_up(&mut traders);
            market.proxies[side].restore();
            market.until("the return", &mut traders, |_, traders| {
                traders[0].is_connected() == [true; 2]
            });
            market.ticks(300, &mut traders);
            market.catch_up(&mut traders);
        }
        let [trader] = &traders;
        assert_eq!((trader.events.gaps, trader.handler.channel().counters().recoveries), (0, 1));
        assert_eq!(trader.handler.statistics().reconnections, 2);
        for side in FeedLine::ALL {
            assert!(trader.handler.last_failure(side).is_some());
        }
        trader.only_faults(&["failed_connects", "ended_connections", "packets_cut"]);
    }
}

#[test]
fn cut_of_both_sides_is_a_gap_that_snapshots_repair() {
    for wait in Wait::ALL {
        let mut market = Market::new(4 << 20);
        let mut traders = [Trader::new(wait, market.proxied())];
        market.come_in_sync(&mut traders);
        market.proxies.iter_mut().for_each(TcpProxy::cut);
        market.ticks(300, &mut traders);
        assert_eq!(traders[0].is_connected(), [false; 2]);
        // Attempts continue, but not in every call.
        let failed = traders[0].handler.statistics().failed_connects;
        assert!((2..20).contains(&failed), "{failed}");
        market.proxies.iter_mut().for_each(TcpProxy::restore);
        market.until("both", &mut traders, |_, traders| traders[0].is_connected() == [true; 2]);
        market.ticks(10, &mut traders);
        market.catch_up(&mut traders);
        assert_eq!((traders[0].events.gaps, traders[0].handler.statistics().reconnections), (1, 2));
    }
}

#[test]
fn slow_reader_is_disconnected_without_loss_for_others() {
    for wait in Wait::ALL {
        let mut market = Market::new(64 << 10);
        let mut sleeper = [Trader::new(wait, market.lines())];
        let mut traders = [0, 1].map(|_| Trader::new(wait, market.lines()));
        market.until("three", &mut sleeper, |exchange, _| {
            exchange.tcp_feed_connections(ExchangeLine::A) == 3
        });
        // The loops fill the kernel's buffers of the slow reader, and do nothing more.
        market.until("the overflow", &mut traders, |exchange, _| {
            exchange.counters().feed_packets_left_out > 100
        });
        market.come_in_sync(&mut traders);
        while market.exchange.counters().feed_overflows < 2 {
            market.ticks(1, &mut traders);
        }
        market.ticks(100, &mut traders);
        market.catch_up(&mut traders);
        for trader in &traders {
            trader.only_faults(&[]);
            assert_eq!((trader.events.gaps, trader.is_connected()), (0, [true; 2]));
            assert_eq!(trader.handler.statistics().connections, 2);
        }
        // The slow reader reads the buffered data, sees the end, and recovers with correct books.
        let mut all = traders.into_iter().chain(sleeper).collect::<Vec<_>>();
        market
            .until("its return", &mut all, |_, all| all[2].handler.statistics().reconnections == 2);
        market.catch_up(&mut all);
        all[2].only_faults(&["packets_cut", "ended_connections"]);
    }
}

#[test]
fn stream_split_anywhere_changes_nothing() {
    let mut market = Market::new(4 << 20);
    market.exchange.set_pace(Pace::Paced, market.now);
    let mut traders = [Trader::new(Wait::Epoll, market.proxied())];
    for (proxy, seed) in market.proxies.iter_mut().zip(1..) {
        proxy.split_stream(seed);
    }
    market.until("sync", &mut traders, |_, traders| traders[0].is_in_sync());
    for _ in 0..300 {
        market.ticks(1, &mut traders);
        (0..20).for_each(|_| market.turn(&mut traders));
    }
    market.catch_up(&mut traders);
    assert_eq!((traders[0].events.gaps, traders[0].handler.statistics().reconnections), (0, 0));
    traders[0].only_faults(&[]);
    let single: u64 = market.proxies.iter().map(|proxy| proxy.single_bytes).sum();
    assert!(single > 1_000, "{single} chunks of one byte");
}

#[test]
fn exchange_that_starts_later_is_found() {
    for wait in Wait::ALL {
        let mut market = Market::new(4 << 20);
        market.proxies.iter_mut().for_each(TcpProxy::cut);
        let mut traders = [Trader::new(wait, market.proxied())];
        market.ticks(500, &mut traders);
        assert_eq!(traders[0].is_connected(), [false; 2]);
        market.proxies.iter_mut().for_each(TcpProxy::restore);
        market.come_in_sync(&mut traders);
        traders[0].only_faults(&["failed_connects"]);
    }
}

#[test]
fn muted_sides_are_a_gap_on_open_connections() {
    let mut market = Market::new(4 << 20);
    let mut traders = [Trader::new(Wait::Epoll, market.lines())];
    market.come_in_sync(&mut traders);
    for side in ExchangeLine::ALL {
        market.exchange.set_muted(side, true);
        market.ticks(50, &mut traders);
        market.exchange.set_muted(side, false);
        market.catch_up(&mut traders);
    }
    assert_eq!(traders[0].events.gaps, 0);
    ExchangeLine::ALL.into_iter().for_each(|side| market.exchange.set_muted(side, true));
    market.ticks(50, &mut traders);
    ExchangeLine::ALL.into_iter().for_each(|side| market.exchange.set_muted(side, false));
    market.catch_up(&mut traders);
    assert_eq!((traders[0].events.gaps, traders[0].handler.statistics().connections), (1, 2));
    traders[0].only_faults(&[]);
}
