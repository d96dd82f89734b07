//! The exchange's feeds by TCP, received by the feed handler over loopback.
#![allow(clippy::unwrap_used, reason = "a socket that cannot be had fails the test")]

mod proxy;

use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_exchange::{
    Addresses, Exchange, ExchangeSettings, FeedLine as PublishedLine, Ladder, Pace,
    SimulatedMarketSettings, TcpFeed,
};
use hairpin_feed_handler::{
    Book, ChannelState, EndOfEvent, FeedHandler, FeedLine, Gap, Levels, Listener, Settings,
    TcpLines,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant, Now, Utc};
use proxy::Proxy;

const LOCAL: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
/// A turn of the loop takes so long by the clock of the test.
const TURN: Duration = Duration::from_micros(500);

/// What a listener was told.
#[derive(Debug, Default)]
struct Told {
    gaps: u32,
    last_end: u32,
    ends: u64,
    is_stamped: bool,
}

impl Listener for Told {
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        self.ends += 1;
        self.last_end = event.packet.sequence;
        self.is_stamped |= event.packet.received.is_some();
    }
    fn on_gap(&mut self, _: &Gap) {
        self.gaps += 1;
    }
}

/// A feed handler and the loop it stands in.
struct Trader {
    reactor: Reactor,
    handler: FeedHandler,
    told: Told,
    turns: u32,
}

impl Trader {
    fn new(wait: Wait, lines: TcpLines) -> Self {
        let mut reactor = Reactor::new(wait).unwrap();
        let settings = Settings { max_instruments: 100, ..Settings::default() };
        let handler = FeedHandler::new(settings, lines, &mut reactor).unwrap();
        Self { reactor, handler, told: Told::default(), turns: 0 }
    }

    fn turn(&mut self, now: Now) {
        // No wait in earnest, but of a blocking one now and then: it knows but ticks of the kernel.
        self.turns += 1;
        let blocks = self.reactor.kind() == Wait::Block && self.turns.is_multiple_of(256);
        let deadline = if blocks { now.monotonic + TURN } else { now.monotonic };
        let ready = self.reactor.wait(now.monotonic, Some(deadline)).unwrap();
        self.handler.process(now, ready, &mut self.reactor, &mut self.told).unwrap();
    }

    fn is_in_sync(&self) -> bool {
        self.handler.channel().state() == ChannelState::InSync
    }

    fn is_connected(&self) -> [bool; 2] {
        let mut sides = self.handler.connections().map(|side| side.is_connected);
        [sides.next().unwrap(), sides.next().unwrap()]
    }

    /// All its books are those that the exchange has published.
    fn judge(&self, exchange: &Exchange) {
        for (index, instrument) in (0..).zip(&SimulatedMarketSettings::default().instruments) {
            let book = self.handler.channel().book_of(instrument.security_id).unwrap();
            let published = exchange.market().publisher().published(index);
            assert!(book.is_in_sync() && is_equal(book, &published.sides), "{book:?}");
            assert_eq!(book.rpt_seq(), Some(published.rpt_seq));
        }
    }

    /// Nothing was wrong with connections, beyond these counters.
    fn nothing_wrong_but(&self, names: &[&str]) {
        let plain = ["packets", "bytes", "packets_not_joined", "connections", "reconnections"];
        for (name, count) in self.handler.statistics().iter() {
            let may_be = plain.contains(&name) || names.contains(&name);
            assert!(may_be || count == 0, "{count} {name}");
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

/// The exchange, and wires to it that can be cut.
struct Market {
    reactor: Reactor,
    exchange: Exchange,
    wires: [Proxy; 2],
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
        let wires = [PublishedLine::A, PublishedLine::B]
            .map(|side| Proxy::new(exchange.tcp_feed_address(side).unwrap()));
        Self { reactor, exchange, wires, now }
    }

    /// The two sides without a wire between.
    fn lines(&self) -> TcpLines {
        let address = |side| self.exchange.tcp_feed_address(side).unwrap();
        TcpLines::both(address(PublishedLine::A), address(PublishedLine::B))
    }

    /// The two sides by the wires.
    fn wired(&self) -> TcpLines {
        let [a, b] = [&self.wires[0], &self.wires[1]].map(Proxy::address);
        TcpLines::both(a, b)
    }

    fn turn(&mut self, traders: &mut [Trader]) {
        self.now.monotonic += TURN;
        self.now.utc = self.now.utc + TURN;
        let ready = self.reactor.wait(self.now.monotonic, Some(Instant::ZERO)).unwrap();
        self.exchange.step(self.now, ready, &mut self.reactor, &mut ()).unwrap();
        self.wires.iter_mut().for_each(Proxy::pump);
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
        what: &str,
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
        panic!("{what} does not come: {counts:?} {:?}", self.exchange.counters());
    }

    /// Until all are in sync and have seen the last event, on books that are right.
    #[track_caller]
    fn settle(&mut self, traders: &mut [Trader]) {
        // The last packet that ends an event; what comes after are heartbeats.
        self.ticks(1, traders);
        let last = self.exchange.market().publisher().sequence();
        self.until("the last event", traders, |_, traders| {
            traders.iter().all(|trader| trader.is_in_sync() && trader.told.last_end >= last)
        });
        traders.iter().for_each(|trader| trader.judge(&self.exchange));
    }

    #[track_caller]
    fn come_in_sync(&mut self, traders: &mut [Trader]) {
        self.until("sync", traders, |_, traders| {
            traders.iter().all(|trader| trader.is_in_sync() && trader.is_connected() == [true; 2])
        });
        self.exchange.set_pace(Pace::Paced, self.now);
        self.settle(traders);
    }
}

#[test]
fn books_are_those_of_the_exchange_under_every_wait() {
    for wait in Wait::ALL {
        let mut market = Market::new(4 << 20);
        let mut traders = [Trader::new(wait, market.lines())];
        market.come_in_sync(&mut traders);
        let ends = traders[0].told.ends;
        market.ticks(500, &mut traders);
        market.settle(&mut traders);
        let [trader] = &mut traders;
        assert_eq!((trader.told.ends - ends, trader.told.gaps), (501, 0), "{wait}");
        assert!(trader.told.is_stamped, "the kernel's time reaches the callback");
        trader.nothing_wrong_but(&[]);
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
fn one_side_is_enough() {
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
        market.settle(&mut traders);
        assert_eq!(traders[0].told.gaps, 0);
        let counters = traders[0].handler.channel().counters();
        assert_eq!(counters.packets_a == 0, only == FeedLine::B);
        assert_eq!(counters.packets_b == 0, only == FeedLine::A);
    }
}

#[test]
fn a_side_that_is_cut_loses_nothing_and_comes_back() {
    for wait in Wait::ALL {
        let mut market = Market::new(4 << 20);
        let mut traders = [Trader::new(wait, market.wired())];
        market.come_in_sync(&mut traders);
        for (side, left) in [(0, [false, true]), (1, [true, false])] {
            market.wires[side].cut();
            market.ticks(300, &mut traders);
            assert_eq!(traders[0].is_connected(), left);
            market.settle(&mut traders);
            market.wires[side].restore();
            market.until("it", &mut traders, |_, traders| traders[0].is_connected() == [true; 2]);
            market.ticks(300, &mut traders);
            market.settle(&mut traders);
        }
        let [trader] = &traders;
        assert_eq!((trader.told.gaps, trader.handler.channel().counters().recoveries), (0, 1));
        assert_eq!(trader.handler.statistics().reconnections, 2);
        for side in FeedLine::ALL {
            assert!(trader.handler.last_failure(side).is_some());
        }
        trader.nothing_wrong_but(&["failed_connects", "ended_connections", "packets_cut"]);
    }
}

#[test]
fn both_sides_cut_and_restored_is_a_gap_that_loops_close() {
    for wait in Wait::ALL {
        let mut market = Market::new(4 << 20);
        let mut traders = [Trader::new(wait, market.wired())];
        market.come_in_sync(&mut traders);
        market.wires.iter_mut().for_each(Proxy::cut);
        market.ticks(300, &mut traders);
        assert_eq!(traders[0].is_connected(), [false; 2]);
        // Attempts go on, but not in every turn.
        let failed = traders[0].handler.statistics().failed_connects;
        assert!((2..20).contains(&failed), "{failed}");
        market.wires.iter_mut().for_each(Proxy::restore);
        market.until("both", &mut traders, |_, traders| traders[0].is_connected() == [true; 2]);
        market.ticks(10, &mut traders);
        market.settle(&mut traders);
        assert_eq!((traders[0].told.gaps, traders[0].handler.statistics().reconnections), (1, 2));
    }
}

#[test]
fn who_never_reads_is_closed_and_two_others_lose_nothing() {
    for wait in Wait::ALL {
        let mut market = Market::new(64 << 10);
        let mut sleeper = [Trader::new(wait, market.lines())];
        let mut traders = [0, 1].map(|_| Trader::new(wait, market.lines()));
        market.until("three", &mut sleeper, |exchange, _| {
            exchange.tcp_feed_connections(PublishedLine::A) == 3
        });
        // Loops fill what the kernel keeps for the sleeper, and do no more.
        market.until("its sleep", &mut traders, |exchange, _| {
            exchange.counters().feed_packets_left_out > 100
        });
        market.come_in_sync(&mut traders);
        while market.exchange.counters().feed_overflows < 2 {
            market.ticks(1, &mut traders);
        }
        market.ticks(100, &mut traders);
        market.settle(&mut traders);
        for trader in &traders {
            trader.nothing_wrong_but(&[]);
            assert_eq!((trader.told.gaps, trader.is_connected()), (0, [true; 2]));
            assert_eq!(trader.handler.statistics().connections, 2);
        }
        // It wakes, reads what was there, is told the end, and comes back to books that are right.
        let mut all = traders.into_iter().chain(sleeper).collect::<Vec<_>>();
        market
            .until("its return", &mut all, |_, all| all[2].handler.statistics().reconnections == 2);
        market.settle(&mut all);
        all[2].nothing_wrong_but(&["packets_cut", "ended_connections"]);
    }
}

#[test]
fn wires_that_cut_the_stream_anywhere_change_nothing() {
    let mut market = Market::new(4 << 20);
    market.exchange.set_pace(Pace::Paced, market.now);
    let mut traders = [Trader::new(Wait::Epoll, market.wired())];
    for (wire, seed) in market.wires.iter_mut().zip(1..) {
        wire.chop(seed);
    }
    market.until("sync", &mut traders, |_, traders| traders[0].is_in_sync());
    for _ in 0..300 {
        market.ticks(1, &mut traders);
        (0..20).for_each(|_| market.turn(&mut traders));
    }
    market.settle(&mut traders);
    assert_eq!((traders[0].told.gaps, traders[0].handler.statistics().reconnections), (0, 0));
    traders[0].nothing_wrong_but(&[]);
    let single: u64 = market.wires.iter().map(|wire| wire.single_bytes).sum();
    assert!(single > 1_000, "{single} chunks of one byte");
}

#[test]
fn an_exchange_that_comes_later_is_found() {
    for wait in Wait::ALL {
        let mut market = Market::new(4 << 20);
        market.wires.iter_mut().for_each(Proxy::cut);
        let mut traders = [Trader::new(wait, market.wired())];
        market.ticks(500, &mut traders);
        assert_eq!(traders[0].is_connected(), [false; 2]);
        market.wires.iter_mut().for_each(Proxy::restore);
        market.come_in_sync(&mut traders);
        traders[0].nothing_wrong_but(&["failed_connects"]);
    }
}

#[test]
fn muted_sides_are_a_gap_on_connections_that_stand() {
    let mut market = Market::new(4 << 20);
    let mut traders = [Trader::new(Wait::Epoll, market.lines())];
    market.come_in_sync(&mut traders);
    for side in PublishedLine::ALL {
        market.exchange.set_muted(side, true);
        market.ticks(50, &mut traders);
        market.exchange.set_muted(side, false);
        market.settle(&mut traders);
    }
    assert_eq!(traders[0].told.gaps, 0);
    PublishedLine::ALL.into_iter().for_each(|side| market.exchange.set_muted(side, true));
    market.ticks(50, &mut traders);
    PublishedLine::ALL.into_iter().for_each(|side| market.exchange.set_muted(side, false));
    market.settle(&mut traders);
    assert_eq!((traders[0].told.gaps, traders[0].handler.statistics().connections), (1, 2));
    traders[0].nothing_wrong_but(&[]);
}
