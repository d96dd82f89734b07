//! The feeds by TCP, over this host's loopback.

#![allow(clippy::unwrap_used, reason = "this is all tests")]

mod client;
mod receiver;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};

use client::credentials;
use hairpin_endpoint::{MulticastGroup, Receive, UdpOptions, UdpReceiver};
use hairpin_exchange::{
    Addresses, Exchange, ExchangeCounters, ExchangeSettings, FeedSide, Groups, Multicast, Pace,
    SimulatedMarketSettings, TcpFeed,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant, Now, Utc};
use receiver::{LoopReceiver, Receiver};

/// Turns after which what has not happened will not happen.
const PATIENCE: u32 = 200_000;
const LOCAL: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
use FeedSide::{A, B};

/// A trader that takes packets from its connection, or does not.
struct Trader {
    stream: TcpStream,
    inbox: Vec<u8>,
    definitions: LoopReceiver,
    snapshots: LoopReceiver,
    follows_loops: bool,
    is_defined: bool,
    /// Packets of the incremental feed before the books are known, and those that were no use.
    early: Vec<(u32, Vec<u8>)>,
    incremental: Option<Receiver>,
    /// Every packet of the incremental feed.
    packets: Vec<Vec<u8>>,
    has_ended: bool,
}

impl Trader {
    fn connect(exchange: &Exchange, side: FeedSide) -> Self {
        let stream = TcpStream::connect(exchange.tcp_feed_address(side).unwrap()).unwrap();
        stream.set_nonblocking(true).unwrap();
        Self {
            stream,
            inbox: Vec::new(),
            definitions: LoopReceiver::default(),
            snapshots: LoopReceiver::default(),
            follows_loops: true,
            is_defined: false,
            early: Vec::new(),
            incremental: None,
            packets: Vec::new(),
            has_ended: false,
        }
    }

    /// Reads what there is, and takes it apart.
    fn read(&mut self) {
        let mut chunk = [0; 8_192];
        loop {
            match self.stream.read(&mut chunk) {
                Ok(0) => break self.has_ended = true,
                Ok(count) => self.inbox.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
                Err(_) => break self.has_ended = true,
            }
        }
        let mut rest = &self.inbox[..];
        let mut packets = Vec::new();
        while let Some((length, behind)) = rest.split_first_chunk() {
            let length = usize::from(u16::from_le_bytes(*length));
            let Some((packet, behind)) = behind.split_at_checked(length) else { break };
            packets.push(packet.to_vec());
            rest = behind;
        }
        self.inbox = rest.to_vec();
        for packet in packets {
            self.handle(&packet);
        }
    }

    fn handle(&mut self, packet: &[u8]) {
        let opened = receiver::open(packet);
        match opened.messages[0].0.template_id {
            52..=58 | 63 | 69 if self.is_in_sync() || !self.follows_loops => {}
            54..=58 | 63 => {
                self.is_defined |= self.definitions.handle_definitions(packet).is_some();
            }
            52 | 53 | 69 => {
                let books = self.snapshots.handle_snapshots(packet);
                if let (Some(books), None) = (books, &self.incremental) {
                    let mut incremental = Receiver::joining(books.books);
                    self.early.retain(|&(sequence, _)| sequence > books.last_processed);
                    for (_, packet) in &self.early {
                        incremental.handle_incremental(packet);
                    }
                    self.incremental = Some(incremental);
                }
            }
            _ => {
                self.packets.push(packet.to_vec());
                match &mut self.incremental {
                    Some(incremental) => drop(incremental.handle_incremental(packet)),
                    None => self.early.push((opened.sequence, packet.to_vec())),
                }
            }
        }
    }

    fn is_in_sync(&self) -> bool {
        self.is_defined && self.incremental.is_some()
    }

    /// Its books are those that the exchange has published.
    fn judge(&self, exchange: &Exchange) {
        let receiver = self.incremental.as_ref().unwrap();
        let instruments = &SimulatedMarketSettings::default().instruments;
        for (index, instrument) in (0..).zip(instruments) {
            let published = exchange.floor().publisher().published(index);
            let book = &receiver.books[&instrument.security_id];
            assert_eq!(book.rpt_seq, published.rpt_seq);
            for (levels, ladder) in [&book.bids, &book.offers].into_iter().zip(&published.sides) {
                let published: Vec<_> = (ladder.levels().iter())
                    .map(|level| (level.price.0, level.quantity as i32, level.orders as i32))
                    .collect();
                assert_eq!(*levels, published);
            }
        }
    }
}

struct Bench {
    reactor: Reactor,
    exchange: Exchange,
    now: Now,
}

impl Bench {
    fn new(wait: Wait, tcp: TcpFeed) -> Self {
        Self::with(wait, Addresses { multicast: None, tcp: Some(tcp), gateway: LOCAL })
    }

    fn with(wait: Wait, addresses: Addresses) -> Self {
        let settings = ExchangeSettings {
            floor: SimulatedMarketSettings::default(),
            matching: true,
            accounts: vec![credentials()],
            connections: 2,
            transport: Default::default(),
            addresses,
        };
        let now = Now {
            monotonic: Instant::from_nanos(1),
            utc: Utc::from_nanos(1_700_000_000_000_000_000),
        };
        let mut reactor = Reactor::new(wait).unwrap();
        let exchange = Exchange::new(settings, now, &mut reactor).unwrap();
        Self { reactor, exchange, now }
    }

    /// A turn of the loop, which takes a hundred microseconds by the clock of the test.
    fn turn(&mut self) {
        self.now.monotonic += Duration::from_micros(100);
        self.now.utc = self.now.utc + Duration::from_micros(100);
        // Not to wait in earnest: deadlines are those of the clock of the test.
        let ready = self.reactor.wait(self.now.monotonic, Some(Instant::ZERO)).unwrap();
        self.exchange.step(self.now, ready, &mut self.reactor, &mut ()).unwrap();
    }

    fn tick(&mut self) {
        assert!(self.exchange.tick(self.now, self.now.monotonic, &mut ()).unwrap());
    }

    /// Turns until `is_done`.
    #[track_caller]
    fn until(&mut self, what: &str, mut is_done: impl FnMut(&Self) -> bool) {
        for _ in 0..PATIENCE {
            self.turn();
            if is_done(self) {
                return;
            }
        }
        panic!("{what} did not happen: {:?}", self.exchange.counters());
    }

    fn pace(&mut self) {
        self.exchange.set_pace(Pace::Paced, self.now);
    }

    fn join(&mut self, side: FeedSide) -> Trader {
        let mut trader = Trader::connect(&self.exchange, side);
        self.until("sync", |_| {
            trader.read();
            trader.is_in_sync()
        });
        trader
    }

    /// Nothing is wrong but one thing.
    #[track_caller]
    fn counts_only(&self, name: &str) {
        let wrong: BTreeMap<_, _> = self.wrong().collect();
        assert_eq!(wrong, BTreeMap::from([(name, 1)]));
    }

    /// The counters of errors and warnings that are not 0.
    fn wrong(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let good: Vec<_> =
            ExchangeCounters::default().iter().map(|(name, _)| name).take(14).collect();
        assert_eq!(good.last(), Some(&"feed_packets_left_out"));
        let all = self.exchange.counters().iter();
        all.filter(move |(name, count)| *count != 0 && !good.contains(name))
    }
}

fn both() -> TcpFeed {
    TcpFeed::new(LOCAL, LOCAL)
}

#[test]
fn three_traders_have_the_books_of_the_exchange_under_every_wait() {
    for wait in Wait::ALL {
        let mut bench = Bench::new(wait, both());
        let mut traders = [bench.join(A), bench.join(B), bench.join(A)];
        bench.pace();
        for _ in 0..500 {
            bench.tick();
            bench.turn();
            traders.iter_mut().for_each(Trader::read);
        }
        let last = bench.exchange.floor().publisher().sequence();
        bench.until("the last packet", |_| {
            traders.iter_mut().all(|trader| {
                trader.read();
                receiver::open(trader.packets.last().unwrap()).sequence == last
            })
        });
        for trader in &traders {
            trader.judge(&bench.exchange);
            assert!(!trader.has_ended);
        }
        assert_eq!((bench.exchange.tcp_feed_connections(A), bench.wrong().count()), (2, 0));
    }
}

#[test]
fn a_trader_who_comes_amid_the_stream_begins_with_a_whole_packet() {
    let mut bench = Bench::new(Wait::Epoll, both());
    let mut first = bench.join(A);
    bench.pace();
    for _ in 0..200 {
        bench.tick();
        bench.turn();
        first.read();
    }
    let missed = first.packets.len();
    let mut second = Trader::connect(&bench.exchange, A);
    for _ in 0..2_000 {
        bench.tick();
        bench.turn();
        second.read();
    }
    assert!(second.is_in_sync());
    second.judge(&bench.exchange);
    first.read();
    let (_, common) = first.packets.split_at(first.packets.len() - second.packets.len());
    assert!(common == second.packets && first.packets.len() - second.packets.len() >= missed);
}

#[test]
fn one_who_never_reads_is_closed_and_nobody_else_loses_anything() {
    for wait in Wait::ALL {
        let mut bench = Bench::new(wait, TcpFeed { backlog: 32 << 10, ..both() });
        let mut sleeper = Trader::connect(&bench.exchange, A);
        let mut traders = [bench.join(A), bench.join(A)];
        // Loops fill what the kernel keeps for it, but do not end it.
        bench.until("a full connection", |bench| {
            traders.iter_mut().for_each(Trader::read);
            bench.exchange.counters().feed_packets_left_out > 100
        });
        bench.pace();
        assert_eq!(bench.exchange.tcp_feed_connections(A), 3);
        let mut ticks = 0;
        while bench.exchange.tcp_feed_connections(A) == 3 {
            ticks += 1;
            assert!(ticks < 10_000, "it is never closed");
            bench.tick();
            bench.turn();
            traders.iter_mut().for_each(Trader::read);
        }
        for _ in 0..10 {
            bench.tick();
            bench.turn();
            traders.iter_mut().for_each(Trader::read);
        }
        for trader in &traders {
            trader.judge(&bench.exchange);
            assert!(!trader.has_ended);
        }
        bench.counts_only("feed_overflows");
        assert!(bench.exchange.counters().feed_backlogs > 0);
        // It can read what was on the way, whole packets, and then the end.
        while !sleeper.has_ended {
            sleeper.read();
        }
        assert!(sleeper.is_in_sync());
    }
}

#[test]
fn a_slow_reader_gets_every_packet_of_the_market_and_whole_loops_later() {
    let mut bench = Bench::new(Wait::Poll, both());
    let mut trader = Trader::connect(&bench.exchange, A);
    bench.until("a backlog", |bench| bench.exchange.counters().feed_packets_left_out > 100);
    assert_eq!(bench.exchange.counters().feed_overflows, 0);
    for _ in 0..5_000 {
        bench.tick();
        bench.turn();
    }
    bench.pace();
    // Loops were left out, the market was not.
    trader.follows_loops = false;
    let last = bench.exchange.floor().publisher().sequence();
    bench.until("the last packet", |_| {
        trader.read();
        trader.packets.last().is_some_and(|packet| receiver::open(packet).sequence == last)
    });
    let sequences = trader.packets.iter().map(|packet| receiver::open(packet).sequence);
    assert!(sequences.eq(last + 1 - trader.packets.len() as u32..=last));
    assert!(trader.packets.len() > 5_000);
    // The next loops are whole.
    trader.follows_loops = true;
    trader.early.clear();
    bench.until("sync", |_| {
        trader.read();
        trader.is_in_sync()
    });
    trader.judge(&bench.exchange);
    assert_eq!(bench.wrong().count(), 0);
}

#[test]
fn a_muted_side_is_silent_by_tcp_too() {
    let mut bench = Bench::new(Wait::Spin, both());
    let mut traders = [bench.join(A), bench.join(B)];
    bench.pace();
    for trader in &mut traders {
        trader.incremental = None;
        trader.follows_loops = false;
    }
    for (muted, silent) in [(B, 1), (A, 0)] {
        bench.exchange.set_muted(muted, true);
        for trader in &mut traders {
            trader.read();
            trader.packets.clear();
        }
        let before = *bench.exchange.counters();
        for _ in 0..50 {
            bench.tick();
            bench.turn();
        }
        let counters = *bench.exchange.counters();
        let sent = counters.incremental_packets - before.incremental_packets;
        let withheld = |counters: ExchangeCounters| [counters.muted_a, counters.muted_b][silent];
        assert!(sent >= 50 && withheld(counters) - withheld(before) >= sent);
        traders[1 - silent].read();
        assert_eq!(traders[1 - silent].packets.len() as u64, sent);
        bench.exchange.set_muted(muted, false);
        traders[silent].read();
        assert!(traders[silent].packets.is_empty());
    }
    assert_eq!(bench.wrong().count(), 0);
}

#[test]
fn multicast_and_tcp_carry_the_same_packets_at_once() {
    let [high, low] = (std::process::id() as u16).to_be_bytes();
    let port = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let group = |n: u8| SocketAddrV4::new(Ipv4Addr::new(239, 120 + n, high, low), port);
    let multicast = Multicast {
        interface: Ipv4Addr::LOCALHOST,
        ttl: 1,
        incremental: Groups { a: group(0), b: Some(group(1)) },
        instruments: Groups { a: group(2), b: None },
        snapshots: Groups { a: group(3), b: None },
        order_snapshots: None,
    };
    let addresses = Addresses { multicast: Some(multicast), tcp: Some(both()), gateway: LOCAL };
    let mut bench = Bench::with(Wait::Epoll, addresses);
    let interface = Ipv4Addr::LOCALHOST;
    let group = MulticastGroup { group: group(1), interface, sources: &[] };
    let mut datagrams = UdpReceiver::join(group, UdpOptions::default()).unwrap();
    let mut trader = Trader::connect(&bench.exchange, B);
    bench.until("a connection", |bench| bench.exchange.tcp_feed_connections(B) == 1);
    for _ in 0..50 {
        bench.tick();
        bench.turn();
    }
    trader.read();
    assert!(trader.packets.len() >= 50);
    let mut received = Vec::new();
    datagrams.receive(1_000, |_, bytes| received.push(bytes.to_vec())).unwrap();
    let first = received.iter().position(|packet| *packet == trader.packets[0]).unwrap();
    assert_eq!(received[first..], trader.packets);
}

#[test]
fn a_trader_who_leaves_makes_room_for_the_next() {
    for wait in Wait::ALL {
        let mut bench = Bench::new(wait, TcpFeed { connections: 1, ..both() });
        for n in 1..=5 {
            let trader = bench.join(A);
            trader.stream.shutdown(std::net::Shutdown::Write).unwrap();
            bench.until("its end", |bench| bench.exchange.counters().feed_connections_ended == n);
            assert_eq!(bench.exchange.tcp_feed_connections(A), 0);
        }
        assert_eq!((bench.exchange.counters().feed_connections, bench.wrong().count()), (5, 0));
    }
}

#[test]
fn counts_feed_overflows_only() {
    let mut bench = Bench::new(Wait::Epoll, TcpFeed { backlog: 0, ..both() });
    let _sleeper = Trader::connect(&bench.exchange, A);
    bench.until("it", |bench| bench.exchange.counters().feed_overflows > 0);
    bench.counts_only("feed_overflows");
}

#[test]
fn counts_refused_feed_connections_only() {
    let mut bench = Bench::new(Wait::Epoll, TcpFeed { connections: 1, ..both() });
    let _first = bench.join(A);
    let mut second = Trader::connect(&bench.exchange, A);
    bench.until("its end", |_| {
        second.read();
        second.has_ended
    });
    bench.counts_only("refused_feed_connections");
}

#[test]
fn counts_unexpected_feed_bytes_only() {
    let mut bench = Bench::new(Wait::Epoll, both());
    let mut trader = bench.join(A);
    trader.stream.write_all(b"?").unwrap();
    bench.until("it", |bench| bench.exchange.counters().unexpected_feed_bytes > 0);
    bench.counts_only("unexpected_feed_bytes");
    assert_eq!(bench.exchange.tcp_feed_connections(A), 1);
}

#[test]
fn counts_broken_feed_connections_only() {
    let mut bench = Bench::new(Wait::Epoll, both());
    let trader = bench.join(A);
    // Closed with bytes unread it is reset.
    bench.until("more", |_| trader.stream.peek(&mut [0]).is_ok());
    drop(trader);
    bench.until("it", |bench| bench.exchange.tcp_feed_connections(A) == 0);
    bench.counts_only("broken_feed_connections");
}

#[test]
fn counts_broken_connections_only() {
    let mut bench = Bench::new(Wait::Epoll, both());
    let mut client = TcpStream::connect(bench.exchange.gateway_address()).unwrap();
    client.write_all(&client::negotiate(1, bench.now.utc.as_nanos())).unwrap();
    client.set_nonblocking(true).unwrap();
    bench.until("an answer", |_| client.peek(&mut [0]).is_ok());
    drop(client);
    bench.until("it", |bench| bench.exchange.counters().broken_connections > 0);
    bench.counts_only("broken_connections");
}
