//! The TCP feeds over loopback.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};

use crate::client::credentials;
use crate::receiver::{LoopReceiver, Receiver};
use hairpin_endpoint::{MulticastGroup, Receive, UdpOptions, UdpReceiver};
use hairpin_exchange::{
    Addresses, Exchange, ExchangeCounters, ExchangeSettings, FeedLine, Groups, Multicast, Pace,
    SimulatedMarketSettings, TcpFeed,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant, Now, Utc};

/// The number of loop iterations after which a condition counts as missed.
const ITERATIONS_MAX: u32 = 200_000;
const LOCAL: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
use FeedLine::{A, B};

/// A trader that reads packets from its connection, or does not read.
struct Trader {
    stream: TcpStream,
    inbox: Vec<u8>,
    definitions: LoopReceiver,
    snapshots: LoopReceiver,
    follows_loops: bool,
    is_defined: bool,
    /// The incremental packets before the books are known, and the number of unusable ones.
    early: Vec<(u32, Vec<u8>)>,
    incremental: Option<Receiver>,
    /// All packets of the incremental feed.
    packets: Vec<Vec<u8>>,
    has_ended: bool,
}

impl Trader {
    fn connect(exchange: &Exchange, side: FeedLine) -> Self {
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

    /// Reads and decodes the available bytes.
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
        let opened = crate::receiver::open(packet);
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

    /// Checks that the trader's books equal the published books.
    fn assert_books_match(&self, exchange: &Exchange) {
        let receiver = self.incremental.as_ref().unwrap();
        let instruments = &SimulatedMarketSettings::default().instruments;
        for (index, instrument) in (0..).zip(instruments) {
            let published = exchange.market().publisher().published(index);
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

struct Harness {
    reactor: Reactor,
    exchange: Exchange,
    now: Now,
}

impl Harness {
    fn new(wait: Wait, tcp: TcpFeed) -> Self {
        Self::with(wait, Addresses { multicast: None, tcp: Some(tcp), gateway: LOCAL })
    }

    fn with(wait: Wait, addresses: Addresses) -> Self {
        let settings = ExchangeSettings {
            market: SimulatedMarketSettings::default(),
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

    /// Runs one iteration of the loop, which advances the test's clock by 100 µs.
    fn iterate(&mut self) {
        self.now.monotonic += Duration::from_micros(100);
        self.now.utc = self.now.utc + Duration::from_micros(100);
        // The wait must not block: deadlines are on the test's clock.
        let ready = self.reactor.wait(self.now.monotonic, Some(Instant::ZERO)).unwrap();
        self.exchange.step(self.now, ready, &mut self.reactor, &mut ()).unwrap();
    }

    fn tick(&mut self) {
        assert!(self.exchange.tick(self.now, self.now.monotonic, &mut ()).unwrap());
    }

    /// Iterates until `is_done`.
    #[track_caller]
    fn until(&mut self, what: &str, mut is_done: impl FnMut(&Self) -> bool) {
        for _ in 0..ITERATIONS_MAX {
            self.iterate();
            if is_done(self) {
                return;
            }
        }
        panic!("condition not reached: {what}: {:?}", self.exchange.counters());
    }

    fn set_paced(&mut self) {
        self.exchange.set_pace(Pace::Paced, self.now);
    }

    fn join(&mut self, side: FeedLine) -> Trader {
        let mut trader = Trader::connect(&self.exchange, side);
        self.until("sync", |_| {
            trader.read();
            trader.is_in_sync()
        });
        trader
    }

    /// Checks that only one error or warning counter is not 0.
    #[track_caller]
    fn assert_only_counter(&self, name: &str) {
        let error_counters: BTreeMap<_, _> = self.error_counters().collect();
        assert_eq!(error_counters, BTreeMap::from([(name, 1)]));
    }

    /// Iterates over the error and warning counters that are not 0.
    fn error_counters(&self) -> impl Iterator<Item = (&'static str, u64)> {
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
fn traders_have_the_published_books_under_every_wait() {
    for wait in Wait::ALL {
        let mut harness = Harness::new(wait, both());
        let mut traders = [harness.join(A), harness.join(B), harness.join(A)];
        harness.set_paced();
        for _ in 0..500 {
            harness.tick();
            harness.iterate();
            traders.iter_mut().for_each(Trader::read);
        }
        let last = harness.exchange.market().publisher().sequence();
        harness.until("the last packet", |_| {
            traders.iter_mut().all(|trader| {
                trader.read();
                crate::receiver::open(trader.packets.last().unwrap()).sequence == last
            })
        });
        for trader in &traders {
            trader.assert_books_match(&harness.exchange);
            assert!(!trader.has_ended);
        }
        assert_eq!(
            (harness.exchange.tcp_feed_connections(A), harness.error_counters().count()),
            (2, 0)
        );
    }
}

#[test]
fn late_trader_starts_with_a_whole_packet() {
    let mut harness = Harness::new(Wait::Epoll, both());
    let mut first = harness.join(A);
    harness.set_paced();
    for _ in 0..200 {
        harness.tick();
        harness.iterate();
        first.read();
    }
    let missed = first.packets.len();
    let mut second = Trader::connect(&harness.exchange, A);
    for _ in 0..2_000 {
        harness.tick();
        harness.iterate();
        second.read();
    }
    assert!(second.is_in_sync());
    second.assert_books_match(&harness.exchange);
    first.read();
    let (_, common) = first.packets.split_at(first.packets.len() - second.packets.len());
    assert!(common == second.packets && first.packets.len() - second.packets.len() >= missed);
}

#[test]
fn closes_only_the_trader_that_never_reads() {
    for wait in Wait::ALL {
        let mut harness = Harness::new(wait, TcpFeed { backlog: 32 << 10, ..both() });
        let mut sleeper = Trader::connect(&harness.exchange, A);
        let mut traders = [harness.join(A), harness.join(A)];
        // Loops fill the kernel's buffer, but do not close the connection.
        harness.until("a full connection", |harness| {
            traders.iter_mut().for_each(Trader::read);
            harness.exchange.counters().feed_packets_left_out > 100
        });
        harness.set_paced();
        assert_eq!(harness.exchange.tcp_feed_connections(A), 3);
        let mut ticks = 0;
        while harness.exchange.tcp_feed_connections(A) == 3 {
            ticks += 1;
            assert!(ticks < 10_000, "the connection is never closed");
            harness.tick();
            harness.iterate();
            traders.iter_mut().for_each(Trader::read);
        }
        for _ in 0..10 {
            harness.tick();
            harness.iterate();
            traders.iter_mut().for_each(Trader::read);
        }
        for trader in &traders {
            trader.assert_books_match(&harness.exchange);
            assert!(!trader.has_ended);
        }
        harness.assert_only_counter("feed_overflows");
        assert!(harness.exchange.counters().feed_backlogs > 0);
        // The trader can read whole packets up to the end of the connection.
        while !sleeper.has_ended {
            sleeper.read();
        }
        assert!(sleeper.is_in_sync());
    }
}

#[test]
fn slow_reader_receives_all_events_and_later_loops() {
    let mut harness = Harness::new(Wait::Poll, both());
    let mut trader = Trader::connect(&harness.exchange, A);
    harness.until("a backlog", |harness| harness.exchange.counters().feed_packets_left_out > 100);
    assert_eq!(harness.exchange.counters().feed_overflows, 0);
    for _ in 0..5_000 {
        harness.tick();
        harness.iterate();
    }
    harness.set_paced();
    // Loop packets were skipped, event packets were not.
    trader.follows_loops = false;
    let last = harness.exchange.market().publisher().sequence();
    harness.until("the last packet", |_| {
        trader.read();
        trader.packets.last().is_some_and(|packet| crate::receiver::open(packet).sequence == last)
    });
    let sequences = trader.packets.iter().map(|packet| crate::receiver::open(packet).sequence);
    assert!(sequences.eq(last + 1 - trader.packets.len() as u32..=last));
    assert!(trader.packets.len() > 5_000);
    // The next loops are complete.
    trader.follows_loops = true;
    trader.early.clear();
    harness.until("sync", |_| {
        trader.read();
        trader.is_in_sync()
    });
    trader.assert_books_match(&harness.exchange);
    assert_eq!(harness.error_counters().count(), 0);
}

#[test]
fn muted_line_is_silent_on_tcp() {
    let mut harness = Harness::new(Wait::Spin, both());
    let mut traders = [harness.join(A), harness.join(B)];
    harness.set_paced();
    for trader in &mut traders {
        trader.incremental = None;
        trader.follows_loops = false;
    }
    for (muted, silent) in [(B, 1), (A, 0)] {
        harness.exchange.set_muted(muted, true);
        for trader in &mut traders {
            trader.read();
            trader.packets.clear();
        }
        let before = *harness.exchange.counters();
        for _ in 0..50 {
            harness.tick();
            harness.iterate();
        }
        let counters = *harness.exchange.counters();
        let sent = counters.incremental_packets - before.incremental_packets;
        let withheld = |counters: ExchangeCounters| [counters.muted_a, counters.muted_b][silent];
        assert!(sent >= 50 && withheld(counters) - withheld(before) >= sent);
        traders[1 - silent].read();
        assert_eq!(traders[1 - silent].packets.len() as u64, sent);
        harness.exchange.set_muted(muted, false);
        traders[silent].read();
        assert!(traders[silent].packets.is_empty());
    }
    assert_eq!(harness.error_counters().count(), 0);
}

#[test]
fn multicast_and_tcp_carry_the_same_packets() {
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
    let mut harness = Harness::with(Wait::Epoll, addresses);
    let interface = Ipv4Addr::LOCALHOST;
    let group = MulticastGroup { group: group(1), interface, sources: &[] };
    let mut datagrams = UdpReceiver::join(group, UdpOptions::default()).unwrap();
    let mut trader = Trader::connect(&harness.exchange, B);
    harness.until("a connection", |harness| harness.exchange.tcp_feed_connections(B) == 1);
    for _ in 0..50 {
        harness.tick();
        harness.iterate();
    }
    trader.read();
    assert!(trader.packets.len() >= 50);
    let mut received = Vec::new();
    datagrams.receive(1_000, |_, bytes| received.push(bytes.to_vec())).unwrap();
    let first = received.iter().position(|packet| *packet == trader.packets[0]).unwrap();
    assert_eq!(received[first..], trader.packets);
}

#[test]
fn disconnected_trader_frees_its_slot() {
    for wait in Wait::ALL {
        let mut harness = Harness::new(wait, TcpFeed { connections: 1, ..both() });
        for n in 1..=5 {
            let trader = harness.join(A);
            trader.stream.shutdown(std::net::Shutdown::Write).unwrap();
            harness.until("its end", |harness| {
                harness.exchange.counters().feed_connections_ended == n
            });
            assert_eq!(harness.exchange.tcp_feed_connections(A), 0);
        }
        assert_eq!(
            (harness.exchange.counters().feed_connections, harness.error_counters().count()),
            (5, 0)
        );
    }
}

#[test]
fn counts_feed_overflows_only() {
    let mut harness = Harness::new(Wait::Epoll, TcpFeed { backlog: 0, ..both() });
    let _sleeper = Trader::connect(&harness.exchange, A);
    harness.until("it", |harness| harness.exchange.counters().feed_overflows > 0);
    harness.assert_only_counter("feed_overflows");
}

#[test]
fn counts_refused_feed_connections_only() {
    let mut harness = Harness::new(Wait::Epoll, TcpFeed { connections: 1, ..both() });
    let _first = harness.join(A);
    let mut second = Trader::connect(&harness.exchange, A);
    harness.until("its end", |_| {
        second.read();
        second.has_ended
    });
    harness.assert_only_counter("refused_feed_connections");
}

#[test]
fn counts_unexpected_feed_bytes_only() {
    let mut harness = Harness::new(Wait::Epoll, both());
    let mut trader = harness.join(A);
    trader.stream.write_all(b"?").unwrap();
    harness.until("it", |harness| harness.exchange.counters().unexpected_feed_bytes > 0);
    harness.assert_only_counter("unexpected_feed_bytes");
    assert_eq!(harness.exchange.tcp_feed_connections(A), 1);
}

#[test]
fn counts_broken_feed_connections_only() {
    let mut harness = Harness::new(Wait::Epoll, both());
    let trader = harness.join(A);
    // Closing with unread bytes resets the connection.
    harness.until("more", |_| trader.stream.peek(&mut [0]).is_ok());
    drop(trader);
    harness.until("it", |harness| harness.exchange.tcp_feed_connections(A) == 0);
    harness.assert_only_counter("broken_feed_connections");
}

#[test]
fn counts_broken_connections_only() {
    let mut harness = Harness::new(Wait::Epoll, both());
    let mut client = TcpStream::connect(harness.exchange.gateway_address()).unwrap();
    client.write_all(&crate::client::negotiate(1, harness.now.utc.as_nanos())).unwrap();
    client.set_nonblocking(true).unwrap();
    harness.until("an answer", |_| client.peek(&mut [0]).is_ok());
    drop(client);
    harness.until("it", |harness| harness.exchange.counters().broken_connections > 0);
    harness.assert_only_counter("broken_connections");
}
