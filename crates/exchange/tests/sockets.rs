//! The exchange on real sockets of this host's loopback, and a trader that answers each tick.

#![allow(clippy::unwrap_used, reason = "this is all tests")]

mod client;
mod receiver;

use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddrV4};

use client::{
    cancel, credentials, establish, negotiate, order_with, replies, retransmit_request_of,
    terminate,
};
use hairpin_cme_codecs::ilink3::{
    BusinessReject521, EstablishmentAck504, ExecutionReportCancel534, ExecutionReportNew522,
    ExecutionReportTradeOutright525, Retransmission509, Terminate507,
};
use hairpin_endpoint::{
    MulticastGroup, Receive, Stream, TcpOptions, TcpStream, UdpOptions, UdpReceiver, UdpSender,
};
use hairpin_exchange::{
    Addresses, ConnectionId, EventPacket, Exchange, ExchangeSettings, FeedSide, Groups, Listener,
    Multicast, OrderId, Pace, SessionState, Side, SimulatedMarketSettings, Tick,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant, Now, Utc};
use receiver::{LoopReceiver, Receiver};

const UUID: u64 = 1_700_000_000_000_000;

/// Turns after which what has not happened will not happen.
const PATIENCE: u32 = 2_000_000;

/// What the exchange says, as a benchmark would hear it.
#[derive(Debug, Default)]
struct Notes {
    ticks: Vec<Tick>,
    /// Tick by the sequence of the packet that ended its event.
    ended: BTreeMap<u32, u64>,
    begun: u64,
    received: u64,
    orders: Vec<u32>,
    acknowledged: u64,
    cancelled: u64,
    states: Vec<SessionState>,
}

impl Listener for Notes {
    fn on_event(&mut self, tick: Tick) {
        self.ticks.push(tick);
    }
    fn before_transmit(&mut self, packet: EventPacket) {
        let Some(tick) = packet.tick else { return };
        self.begun += u64::from(packet.begins);
        if packet.ends {
            assert!(self.ended.insert(packet.sequence, tick).is_none());
        }
    }
    fn on_received(&mut self, _: ConnectionId, length: usize) {
        assert!(length > 0);
        self.received += 1;
    }
    fn on_order(&mut self, _: ConnectionId, cl_ord_id: &[u8]) {
        assert!(self.received > 0, "an order before its bytes");
        self.orders.push(std::str::from_utf8(cl_ord_id).unwrap().parse().unwrap());
    }
    fn on_acknowledged(&mut self, _: ConnectionId, _: &[u8], _: OrderId) {
        self.acknowledged += 1;
    }
    fn on_cancelled(&mut self, _: ConnectionId, _: &[u8], _: OrderId) {
        self.cancelled += 1;
    }
    fn on_session(&mut self, _: ConnectionId, _: Option<usize>, state: SessionState) {
        self.states.push(state);
    }
}

/// Groups of this process and test alone; the port was free a moment ago.
fn addresses(test: u8) -> Addresses {
    let [high, low] = (std::process::id() as u16).to_be_bytes();
    let local = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
    let port = UdpSender::connect(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 9), Ipv4Addr::LOCALHOST)
        .unwrap()
        .local_address()
        .port();
    let group = |n: u8| {
        let address = Ipv4Addr::new(239, 128 | (test << 3) | n, high, low);
        SocketAddrV4::new(address, port)
    };
    Addresses {
        multicast: Some(Multicast {
            interface: Ipv4Addr::LOCALHOST,
            ttl: 1,
            incremental: Groups { a: group(0), b: Some(group(1)) },
            instruments: Groups { a: group(2), b: Some(group(3)) },
            snapshots: Groups { a: group(4), b: None },
            order_snapshots: None,
        }),
        tcp: None,
        gateway: local,
    }
}

fn join(group: SocketAddrV4) -> UdpReceiver {
    let interface = Ipv4Addr::LOCALHOST;
    let group = MulticastGroup { group, interface, sources: &[] };
    UdpReceiver::join(group, UdpOptions::default()).unwrap()
}

/// Both ends in one thread.
struct Bench {
    reactor: Reactor,
    exchange: Exchange,
    notes: Notes,
    start: std::time::Instant,
    incremental: [UdpReceiver; 2],
    /// The same packets by side: sequence and bytes, until taken.
    packets: [Vec<(u32, Vec<u8>)>; 2],
    instruments: UdpReceiver,
    snapshots: UdpReceiver,
    stream: TcpStream,
    inbox: VecDeque<u8>,
}

impl Bench {
    fn new(test: u8, matching: bool) -> Self {
        let addresses = addresses(test);
        let settings = ExchangeSettings {
            floor: SimulatedMarketSettings::default(),
            matching,
            accounts: vec![credentials()],
            connections: 4,
            transport: Default::default(),
            addresses,
        };
        let start = std::time::Instant::now();
        let mut reactor = Reactor::new(Wait::Spin).unwrap();
        let multicast = addresses.multicast.unwrap();
        let incremental = [join(multicast.incremental.a), join(multicast.incremental.b.unwrap())];
        let instruments = join(multicast.instruments.b.unwrap());
        let snapshots = join(multicast.snapshots.a);
        let exchange = Exchange::new(settings, now(start), &mut reactor).unwrap();
        let stream = TcpStream::connect(exchange.gateway_address(), TcpOptions::default()).unwrap();
        Self {
            reactor,
            exchange,
            notes: Notes::default(),
            start,
            incremental,
            packets: [Vec::new(), Vec::new()],
            instruments,
            snapshots,
            stream,
            inbox: VecDeque::new(),
        }
    }

    fn turn(&mut self) {
        let now = now(self.start);
        let ready = self.reactor.wait(now.monotonic, self.exchange.poll_timeout()).unwrap();
        self.exchange.step(now, ready, &mut self.reactor, &mut self.notes).unwrap();
        for (side, packets) in self.incremental.iter_mut().zip(&mut self.packets) {
            side.receive(64, |_, bytes| {
                packets.push((receiver::open(bytes).sequence, bytes.to_vec()));
            })
            .unwrap();
        }
    }

    /// Follows the loops until the market is known, and forgets what they contain.
    fn join_market(&mut self) -> Receiver {
        let mut definitions = LoopReceiver::default();
        let mut is_defined = false;
        self.until("a loop of definitions", |bench| {
            let on_packet = |_, bytes: &[u8]| {
                is_defined |= definitions.handle_definitions(bytes).is_some();
            };
            bench.instruments.receive(8, on_packet).unwrap();
            is_defined
        });
        let mut snapshots = LoopReceiver::default();
        let mut books = None;
        self.until("a loop of snapshots", |bench| {
            let on_packet = |_, bytes: &[u8]| {
                books = snapshots.handle_snapshots(bytes).or(books.take());
            };
            bench.snapshots.receive(8, on_packet).unwrap();
            books.is_some()
        });
        let books = books.unwrap();
        self.packets[0].retain(|&(sequence, _)| sequence > books.last_processed);
        Receiver::joining(books.books)
    }

    /// Turns until `is_done`.
    #[track_caller]
    fn until(&mut self, what: &str, mut is_done: impl FnMut(&mut Self) -> bool) {
        for _ in 0..PATIENCE {
            self.turn();
            if is_done(self) {
                return;
            }
        }
        panic!("{what} did not happen");
    }

    fn send(&mut self, bytes: &[u8]) {
        assert_eq!(self.stream.write(bytes).unwrap(), bytes.len());
    }

    /// The next message of the gateway.
    fn read(&mut self) -> client::Reply {
        let size_of = |inbox: &VecDeque<u8>| match (inbox.front(), inbox.get(1)) {
            (Some(&low), Some(&high)) => usize::from(u16::from_le_bytes([low, high])),
            _ => usize::MAX,
        };
        if self.inbox.len() < size_of(&self.inbox) {
            self.until("a reply", |bench| {
                let Bench { stream, inbox, .. } = bench;
                stream.receive(1, |_, bytes| inbox.extend(bytes)).unwrap();
                inbox.len() >= size_of(inbox)
            });
        }
        let frame: Vec<u8> = self.inbox.drain(..size_of(&self.inbox)).collect();
        replies(&frame).remove(0)
    }

    /// The exchange ends the connection, and keeps it until this end is closed too.
    fn expect_end(&mut self) {
        self.until("the end of the connection", |bench| {
            bench.stream.receive(1, |_, _| {}).unwrap().closed
        });
        assert!(self.exchange.has_connections());
        self.stream.shutdown().unwrap();
        self.until("the last of it", |bench| !bench.exchange.has_connections());
    }

    fn log_on(&mut self) {
        self.until("a connection", |bench| bench.stream.finish_connect().unwrap());
        let timestamp = now(self.start).utc.as_nanos();
        self.send(&negotiate(UUID, timestamp));
        assert_eq!(self.read().template(), 501);
        self.send(&establish(UUID, timestamp + 1, 1));
        assert_eq!(self.read().template(), 504);
        assert!(self.exchange.has_session());
    }
}

/// Monotonic time since the start of the test, and a wall clock that agrees with it.
fn now(start: std::time::Instant) -> Now {
    let nanos = u64::try_from(start.elapsed().as_nanos()).unwrap() + 1;
    Now {
        monotonic: Instant::from_nanos(nanos),
        utc: Utc::from_nanos(1_700_000_000_000_000_000 + nanos),
    }
}

#[test]
fn a_trader_answers_every_tick() {
    let mut bench = Bench::new(0, true);
    let mut trader = bench.join_market();
    bench.log_on();
    bench.exchange.set_pace(Pace::Paced, now(bench.start));

    let ticks = 300;
    let mut number = 0;
    for _ in 0..ticks {
        let now = now(bench.start);
        let intended = now.monotonic - Duration::from_micros(3);
        assert!(bench.exchange.tick(now, intended, &mut bench.notes).unwrap());
        assert_eq!(bench.notes.ticks.last().unwrap().intended, intended);
        let mut answer = None;
        bench.until("the event's end", |bench| {
            for (sequence, packet) in bench.packets[0].drain(..) {
                if let Some(touched) = trader.handle_incremental(&packet) {
                    answer = Some((sequence, touched[0]));
                }
            }
            answer.is_some()
        });
        let (sequence, security_id) = answer.unwrap();
        let tenth = trader.books[&security_id].bids[9].0;
        number += 1;
        let request = order_with(number, tenth - 5 * 250_000_000, |order| {
            order.set_cl_ord_id(sequence.to_string()).set_security_id(security_id);
        });
        bench.send(&request);
        let reply = bench.read();
        let report = decode!(ExecutionReportNew522, reply);
        assert_eq!(report.cl_ord_id().to_string(), sequence.to_string());
        number += 1;
        bench.send(&cancel(number, report.order_id()));
        assert_eq!(bench.read().template(), 534);
    }
    let notes = &bench.notes;
    assert_eq!((notes.ticks.len(), notes.begun, notes.ended.len()), (300, 300, 300));
    let answered: Vec<u64> = notes.orders.iter().map(|order| notes.ended[order]).collect();
    assert!(answered.into_iter().eq(1..=ticks));
    assert_eq!((notes.acknowledged, notes.cancelled), (ticks, ticks));
    let gateway = bench.exchange.gateway_counters();
    assert_eq!((gateway.orders, gateway.acknowledgements, gateway.cancelled), (300, 300, 300));
    assert_eq!((gateway.business_rejects, gateway.cancel_rejects), (0, 0));
    let counters = bench.exchange.counters();
    assert_eq!(counters.ticks, 300);
    assert_eq!((counters.lost_datagrams_a, counters.lost_datagrams_b), (0, 0));
    assert!(counters.instrument_packets > 20 && counters.snapshot_packets >= 50);

    let timestamp = now(bench.start).utc.as_nanos();
    bench.send(&terminate(UUID, timestamp, 0));
    assert_eq!(bench.read().template(), 507);
    bench.expect_end();
}

#[test]
fn both_sides_carry_the_same_packets_unless_one_is_muted() {
    let mut bench = Bench::new(1, true);
    bench.until("the seeding", |bench| bench.packets.iter().all(|side| side.len() >= 100));
    assert_eq!(bench.packets[0], bench.packets[1]);
    bench.packets = [Vec::new(), Vec::new()];
    for (muted, expected) in [(FeedSide::B, 0), (FeedSide::A, 1)] {
        bench.exchange.set_muted(muted, true);
        let before = *bench.exchange.counters();
        for _ in 0..50 {
            let now = now(bench.start);
            bench.exchange.tick(now, now.monotonic, &mut bench.notes).unwrap();
        }
        let sent = bench.exchange.counters().incremental_packets - before.incremental_packets;
        assert!(sent >= 50);
        let silent = muted as usize;
        bench.until("the other side", |bench| bench.packets[expected].len() as u64 >= sent);
        assert!(bench.packets[silent].is_empty());
        let counters = bench.exchange.counters();
        assert!([counters.muted_a, counters.muted_b][silent] >= sent);
        bench.exchange.set_muted(muted, false);
        bench.packets = [Vec::new(), Vec::new()];
    }
}

#[test]
fn without_matching_there_are_no_ticks() {
    let mut bench = Bench::new(2, false);
    bench.until("the seeding", |bench| bench.packets[0].len() >= 100);
    let before = bench.exchange.floor().publisher().events();
    for _ in 0..100 {
        let now = now(bench.start);
        assert!(!bench.exchange.tick(now, now.monotonic, &mut bench.notes).unwrap());
        bench.turn();
    }
    assert_eq!(bench.exchange.floor().publisher().events(), before);
    assert_eq!(bench.exchange.counters().ticks, 0);
    assert!(bench.notes.ticks.is_empty() && bench.notes.begun == 0);
    // Sessions are served all the same.
    bench.log_on();
}

#[test]
fn a_lost_connection_makes_room_for_the_next() {
    let mut bench = Bench::new(3, true);
    for uuid in UUID..UUID + 10 {
        bench.until("a connection", |bench| bench.stream.finish_connect().unwrap());
        let timestamp = now(bench.start).utc.as_nanos();
        bench.send(&negotiate(uuid, timestamp));
        assert_eq!(bench.read().template(), 501);
        let address = bench.exchange.gateway_address();
        bench.stream = TcpStream::connect(address, TcpOptions::default()).unwrap();
        bench
            .until("the old one's end", |bench| bench.notes.states.contains(&SessionState::Closed));
        bench.notes.states.clear();
    }
    assert_eq!(bench.exchange.gateway_counters().negotiated, 10);
    assert_eq!(bench.exchange.gateway_counters().refused_connections, 0);
}

#[test]
fn ends_its_sessions_when_told_to() {
    let mut bench = Bench::new(4, true);
    bench.log_on();
    bench.exchange.terminate(now(bench.start), &mut bench.notes);
    assert_eq!(bench.read().template(), 507);
    let timestamp = now(bench.start).utc.as_nanos();
    bench.send(&terminate(UUID, timestamp, 0));
    bench.expect_end();
    use SessionState::{Closed, Connected, Established, Negotiated, Terminating};
    assert_eq!(bench.notes.states, [Connected, Negotiated, Established, Terminating, Closed]);
}

#[test]
fn says_which_address_is_taken() {
    let bench = Bench::new(5, true);
    let taken = bench.exchange.gateway_address();
    let settings = ExchangeSettings {
        floor: SimulatedMarketSettings::default(),
        matching: true,
        accounts: vec![],
        connections: 1,
        transport: Default::default(),
        addresses: Addresses { gateway: taken, ..addresses(8) },
    };
    let mut reactor = Reactor::new(Wait::Spin).unwrap();
    let error = Exchange::new(settings, now(bench.start), &mut reactor).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
    assert!(error.to_string().contains(&taken.to_string()), "{error}");
}

/// Without lingering the rest of the junk would make the kernel reset the connection.
#[test]
fn a_client_reads_why_it_was_ended_though_it_had_more_to_say() {
    let mut bench = Bench::new(6, true);
    bench.log_on();
    let junk = [&[3, 0, 0xFE, 0xCA][..], &[7; 50_000]].concat();
    bench.send(&junk);
    let reply = bench.read();
    assert_eq!(decode!(Terminate507, reply).error_codes(), 18);
    bench.expect_end();
    assert_eq!(bench.exchange.gateway_counters().bad_frames, 1);
}

#[test]
fn a_client_that_reads_late_loses_nothing() {
    let mut bench = Bench::new(7, true);
    bench.log_on();
    // Refusals are long and orders that rest are bounded.
    let refused = |number| {
        order_with(number, 0, |order| {
            order.set_party_details_list_req_id(5);
        })
    };
    let total = 100_000;
    let orders: Vec<u8> = (1..=total).flat_map(refused).collect();
    let mut sent = 0;
    let mut idle = 0;
    // Until every buffer on the way is full.
    while sent < orders.len() && idle < 20_000 {
        idle += 1;
        if let Ok(count) = bench.stream.write(&orders[sent..]) {
            sent += count;
            idle = 0;
        }
        bench.turn();
    }
    assert!(sent < orders.len(), "the exchange takes everything");
    for number in 1..=total {
        let reply = bench.read();
        assert_eq!(decode!(BusinessReject521, reply).seq_num(), number);
        if sent < orders.len() {
            sent += bench.stream.write(&orders[sent..]).unwrap_or(0);
        }
    }
    assert_eq!(bench.exchange.gateway_counters().business_rejects, u64::from(total));
}

#[test]
fn the_backup_ends_with_the_primary() {
    let mut bench = Bench::new(8, false);
    let any = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
    let time = now(bench.start);
    let address = bench.exchange.serve_backup(any, time, &mut bench.reactor).unwrap();
    bench.log_on();
    let backup = TcpStream::connect(address, TcpOptions::default()).unwrap();
    let mut primary = std::mem::replace(&mut bench.stream, backup);
    bench.until("a connection", |bench| bench.stream.finish_connect().unwrap());
    let timestamp = now(bench.start).utc.as_nanos();
    bench.send(&establish(UUID, timestamp, 0));
    let ack = bench.read();
    assert_eq!(decode!(EstablishmentAck504, ack).next_seq_no(), 0);
    primary.shutdown().unwrap();
    let reply = bench.read();
    assert_eq!(decode!(Terminate507, reply).error_codes(), 26);
}

/// A client that was written to CME's documents alone, from its first byte to its last.
#[test]
fn an_independent_client_logs_on_trades_asks_again_and_leaves() {
    let mut bench = Bench::new(9, false);
    bench.log_on();
    let offer = bench.exchange.floor().matching().best(0, Side::Offer).unwrap();
    let take = order_with(1, offer.price.0, |order| {
        order.set_order_qty(offer.quantity + 1);
    });
    bench.send(&take);
    let new = bench.read();
    let number = decode!(ExecutionReportNew522, new).order_id();
    let trade = bench.read();
    assert_eq!(decode!(ExecutionReportTradeOutright525, trade).last_qty(), offer.quantity);
    bench.send(&cancel(2, number));
    let gone = bench.read();
    assert_eq!(decode!(ExecutionReportCancel534, gone).cum_qty(), offer.quantity);
    let timestamp = now(bench.start).utc.as_nanos();
    bench.send(&retransmit_request_of(UUID, timestamp, None, 1, 3));
    let announced = bench.read();
    assert_eq!(decode!(Retransmission509, announced).msg_count(), 3);
    for template in [new.template(), trade.template(), gone.template()] {
        assert_eq!(bench.read().template(), template);
    }
    bench.send(&terminate(UUID, timestamp + 1, 0));
    let answer = bench.read();
    assert_eq!(decode!(Terminate507, answer).request_timestamp(), timestamp + 1);
    bench.expect_end();
}
