//! The exchange on loopback sockets, and a trader that answers each tick.

use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddrV4};

use crate::client::{
    SYSTEM, cancel, credentials, establish, establish_with, negotiate, order_with, replies,
    retransmit_request_of, terminate,
};
use crate::decode;
use crate::receiver::{LoopReceiver, Receiver};
use hairpin_cme_codecs::ilink3::{
    BusinessReject521, EstablishmentAck504, ExecutionReportCancel534, ExecutionReportNew522,
    ExecutionReportTradeOutright525, Retransmission509, Terminate507,
};
use hairpin_endpoint::{
    MulticastGroup, Receive, Stream, TcpOptions, TcpStream, UdpOptions, UdpReceiver, UdpSender,
};
use hairpin_exchange::{
    Addresses, ConnectionId, EventPacket, Exchange, ExchangeSettings, FeedLine, Groups, Listener,
    Multicast, OrderId, Pace, SessionState, Side, SimulatedMarketSettings, Tick,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant, Now, Utc};

const UUID: u64 = 1_700_000_000_000_000;

/// The number of loop iterations after which a condition counts as missed.
const ITERATIONS_MAX: u32 = 2_000_000;

/// The events that the exchange reports, as a benchmark records them.
#[derive(Debug, Default)]
struct RecordingListener {
    ticks: Vec<Tick>,
    /// The tick by sequence number of the packet that ended its event.
    ended: BTreeMap<u32, u64>,
    begun: u64,
    received: u64,
    orders: Vec<u32>,
    acknowledged: u64,
    cancelled: u64,
    states: Vec<SessionState>,
}

impl Listener for RecordingListener {
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
        assert!(self.received > 0, "an order was decoded before its bytes were received");
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

/// Returns groups that only this test of this process uses, with a port that was free.
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

/// The template of Sequence506.
const KEEP_ALIVE: u16 = 506;

/// The exchange and a trader in one thread.
struct Harness {
    reactor: Reactor,
    exchange: Exchange,
    listener: RecordingListener,
    start: std::time::Instant,
    incremental: [UdpReceiver; 2],
    /// The sequence number and bytes of the packets not yet taken, by line.
    packets: [Vec<(u32, Vec<u8>)>; 2],
    instruments: UdpReceiver,
    snapshots: UdpReceiver,
    stream: TcpStream,
    inbox: VecDeque<u8>,
}

impl Harness {
    fn new(test: u8, matching: bool) -> Self {
        let addresses = addresses(test);
        let settings = ExchangeSettings {
            market: SimulatedMarketSettings::default(),
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
            listener: RecordingListener::default(),
            start,
            incremental,
            packets: [Vec::new(), Vec::new()],
            instruments,
            snapshots,
            stream,
            inbox: VecDeque::new(),
        }
    }

    fn iterate(&mut self) {
        let now = now(self.start);
        let ready = self.reactor.wait(now.monotonic, self.exchange.poll_timeout()).unwrap();
        self.exchange.step(now, ready, &mut self.reactor, &mut self.listener).unwrap();
        for (side, packets) in self.incremental.iter_mut().zip(&mut self.packets) {
            side.receive(64, |_, bytes| {
                packets.push((crate::receiver::open(bytes).sequence, bytes.to_vec()));
            })
            .unwrap();
        }
    }

    /// Follows the loops until the market is known, then drops the received packets.
    fn join_market(&mut self) -> Receiver {
        let mut definitions = LoopReceiver::default();
        let mut is_defined = false;
        self.until("a loop of definitions", |harness| {
            let on_packet = |_, bytes: &[u8]| {
                is_defined |= definitions.handle_definitions(bytes).is_some();
            };
            harness.instruments.receive(8, on_packet).unwrap();
            is_defined
        });
        let mut snapshots = LoopReceiver::default();
        let mut books = None;
        self.until("a loop of snapshots", |harness| {
            let on_packet = |_, bytes: &[u8]| {
                books = snapshots.handle_snapshots(bytes).or(books.take());
            };
            harness.snapshots.receive(8, on_packet).unwrap();
            books.is_some()
        });
        let books = books.unwrap();
        self.packets[0].retain(|&(sequence, _)| sequence > books.last_processed);
        Receiver::joining(books.books)
    }

    /// Iterates until `is_done`.
    #[track_caller]
    fn until(&mut self, what: &str, mut is_done: impl FnMut(&mut Self) -> bool) {
        for _ in 0..ITERATIONS_MAX {
            self.iterate();
            if is_done(self) {
                return;
            }
        }
        panic!("condition not reached: {what}");
    }

    fn send(&mut self, bytes: &[u8]) {
        assert_eq!(self.stream.write(bytes).unwrap(), bytes.len());
    }

    /// Returns the next message of the gateway that is not a keep-alive: those depend on the
    /// machine's time.
    fn read(&mut self) -> crate::client::Reply {
        loop {
            let reply = self.read_any();
            if reply.template() != KEEP_ALIVE {
                break reply;
            }
        }
    }

    fn read_any(&mut self) -> crate::client::Reply {
        let size_of = |inbox: &VecDeque<u8>| match (inbox.front(), inbox.get(1)) {
            (Some(&low), Some(&high)) => usize::from(u16::from_le_bytes([low, high])),
            _ => usize::MAX,
        };
        if self.inbox.len() < size_of(&self.inbox) {
            self.until("a reply", |harness| {
                let Harness { stream, inbox, .. } = harness;
                stream.receive(1, |_, bytes| inbox.extend(bytes)).unwrap();
                inbox.len() >= size_of(inbox)
            });
        }
        let frame: Vec<u8> = self.inbox.drain(..size_of(&self.inbox)).collect();
        replies(&frame).remove(0)
    }

    /// Expects the exchange to close the connection, and to keep it until this end closes too.
    fn expect_end(&mut self) {
        self.until("the end of the connection", |harness| {
            harness.stream.receive(1, |_, _| {}).unwrap().closed
        });
        assert!(self.exchange.has_connections());
        self.stream.shutdown().unwrap();
        self.until("the last of it", |harness| !harness.exchange.has_connections());
    }

    fn log_on(&mut self) {
        self.until("a connection", |harness| harness.stream.finish_connect().unwrap());
        let timestamp = now(self.start).utc.as_nanos();
        self.send(&negotiate(UUID, timestamp));
        assert_eq!(self.read().template(), 501);
        // The longest interval, so that no session ends while the test waits for the machine.
        self.send(&establish_with(UUID, timestamp + 1, 1, 60_000, SYSTEM));
        assert_eq!(self.read().template(), 504);
        assert!(self.exchange.has_session());
    }
}

/// Returns the monotonic time since the start of the test, and a matching wall clock.
fn now(start: std::time::Instant) -> Now {
    let nanos = u64::try_from(start.elapsed().as_nanos()).unwrap() + 1;
    Now {
        monotonic: Instant::from_nanos(nanos),
        utc: Utc::from_nanos(1_700_000_000_000_000_000 + nanos),
    }
}

#[test]
fn trader_answers_every_tick() {
    let mut harness = Harness::new(0, true);
    let mut trader = harness.join_market();
    harness.log_on();
    harness.exchange.set_pace(Pace::Paced, now(harness.start));

    let ticks = 300;
    let mut number = 0;
    for _ in 0..ticks {
        let now = now(harness.start);
        let intended = now.monotonic - Duration::from_micros(3);
        assert!(harness.exchange.tick(now, intended, &mut harness.listener).unwrap());
        assert_eq!(harness.listener.ticks.last().unwrap().intended, intended);
        let mut answer = None;
        harness.until("the event's end", |harness| {
            for (sequence, packet) in harness.packets[0].drain(..) {
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
        harness.send(&request);
        let reply = harness.read();
        let report = decode!(ExecutionReportNew522, reply);
        assert_eq!(report.cl_ord_id().to_string(), sequence.to_string());
        number += 1;
        harness.send(&cancel(number, report.order_id()));
        assert_eq!(harness.read().template(), 534);
    }
    let listener = &harness.listener;
    assert_eq!((listener.ticks.len(), listener.begun, listener.ended.len()), (300, 300, 300));
    let answered: Vec<u64> = listener.orders.iter().map(|order| listener.ended[order]).collect();
    assert!(answered.into_iter().eq(1..=ticks));
    assert_eq!((listener.acknowledged, listener.cancelled), (ticks, ticks));
    let gateway = harness.exchange.gateway_counters();
    assert_eq!((gateway.orders, gateway.acknowledgements, gateway.cancelled), (300, 300, 300));
    assert_eq!((gateway.business_rejects, gateway.cancel_rejects), (0, 0));
    let counters = harness.exchange.counters();
    assert_eq!(counters.ticks, 300);
    assert_eq!((counters.lost_datagrams_a, counters.lost_datagrams_b), (0, 0));
    assert!(counters.instrument_packets > 20 && counters.snapshot_packets >= 50);

    let timestamp = now(harness.start).utc.as_nanos();
    harness.send(&terminate(UUID, timestamp, 0));
    assert_eq!(harness.read().template(), 507);
    harness.expect_end();
}

#[test]
fn lines_carry_the_same_packets_unless_muted() {
    let mut harness = Harness::new(1, true);
    harness.until("the seeding", |harness| harness.packets.iter().all(|side| side.len() >= 100));
    assert_eq!(harness.packets[0], harness.packets[1]);
    harness.packets = [Vec::new(), Vec::new()];
    for (muted, expected) in [(FeedLine::B, 0), (FeedLine::A, 1)] {
        harness.exchange.set_muted(muted, true);
        let before = *harness.exchange.counters();
        for _ in 0..50 {
            let now = now(harness.start);
            harness.exchange.tick(now, now.monotonic, &mut harness.listener).unwrap();
        }
        let sent = harness.exchange.counters().incremental_packets - before.incremental_packets;
        assert!(sent >= 50);
        let silent = muted as usize;
        harness.until("the other side", |harness| harness.packets[expected].len() as u64 >= sent);
        assert!(harness.packets[silent].is_empty());
        let counters = harness.exchange.counters();
        assert!([counters.muted_a, counters.muted_b][silent] >= sent);
        harness.exchange.set_muted(muted, false);
        harness.packets = [Vec::new(), Vec::new()];
    }
}

#[test]
fn matching_off_makes_no_ticks() {
    let mut harness = Harness::new(2, false);
    harness.until("the seeding", |harness| harness.packets[0].len() >= 100);
    let before = harness.exchange.market().publisher().events();
    for _ in 0..100 {
        let now = now(harness.start);
        assert!(!harness.exchange.tick(now, now.monotonic, &mut harness.listener).unwrap());
        harness.iterate();
    }
    assert_eq!(harness.exchange.market().publisher().events(), before);
    assert_eq!(harness.exchange.counters().ticks, 0);
    assert!(harness.listener.ticks.is_empty() && harness.listener.begun == 0);
    // Sessions are still served.
    harness.log_on();
}

#[test]
fn lost_connection_frees_its_slot() {
    let mut harness = Harness::new(3, true);
    for uuid in UUID..UUID + 10 {
        harness.until("a connection", |harness| harness.stream.finish_connect().unwrap());
        let timestamp = now(harness.start).utc.as_nanos();
        harness.send(&negotiate(uuid, timestamp));
        assert_eq!(harness.read().template(), 501);
        let address = harness.exchange.gateway_address();
        harness.stream = TcpStream::connect(address, TcpOptions::default()).unwrap();
        harness.until("the old one's end", |harness| {
            harness.listener.states.contains(&SessionState::Closed)
        });
        harness.listener.states.clear();
    }
    assert_eq!(harness.exchange.gateway_counters().negotiated, 10);
    assert_eq!(harness.exchange.gateway_counters().refused_connections, 0);
}

#[test]
fn terminates_sessions_on_request() {
    let mut harness = Harness::new(4, true);
    harness.log_on();
    let is_idle = |exchange: &Exchange| exchange.poll_timeout() > Some(Instant::ZERO);
    harness.until("nothing to do", |harness| is_idle(&harness.exchange));
    harness.exchange.terminate(now(harness.start), &mut harness.listener);
    assert!(!is_idle(&harness.exchange), "bytes wait for the next step");
    assert_eq!(harness.read().template(), 507);
    assert!(is_idle(&harness.exchange));
    let timestamp = now(harness.start).utc.as_nanos();
    harness.send(&terminate(UUID, timestamp, 0));
    harness.expect_end();
    use SessionState::{Closed, Connected, Established, Negotiated, Terminating};
    assert_eq!(harness.listener.states, [Connected, Negotiated, Established, Terminating, Closed]);
}

#[test]
fn bind_error_names_the_address() {
    let harness = Harness::new(5, true);
    let taken = harness.exchange.gateway_address();
    let settings = ExchangeSettings {
        market: SimulatedMarketSettings::default(),
        matching: true,
        accounts: vec![],
        connections: 1,
        transport: Default::default(),
        addresses: Addresses { gateway: taken, ..addresses(8) },
    };
    let mut reactor = Reactor::new(Wait::Spin).unwrap();
    let error = Exchange::new(settings, now(harness.start), &mut reactor).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
    assert!(error.to_string().contains(&taken.to_string()), "{error}");
}

/// Without lingering, the unread input would make the kernel reset the connection.
#[test]
fn client_receives_terminate_despite_unread_input() {
    let mut harness = Harness::new(6, true);
    harness.log_on();
    let junk = [&[3, 0, 0xFE, 0xCA][..], &[7; 50_000]].concat();
    harness.send(&junk);
    let reply = harness.read();
    assert_eq!(decode!(Terminate507, reply).error_codes(), 18);
    harness.expect_end();
    assert_eq!(harness.exchange.gateway_counters().bad_frames, 1);
}

#[test]
fn slow_reader_receives_every_report() {
    let mut harness = Harness::new(7, true);
    harness.log_on();
    // Rejects are long, and the number of resting orders is bounded.
    let refused = |number| {
        order_with(number, 0, |order| {
            order.set_party_details_list_req_id(5);
        })
    };
    let total = 100_000;
    let orders: Vec<u8> = (1..=total).flat_map(refused).collect();
    let mut sent = 0;
    let mut idle = 0;
    // Until all buffers are full.
    while sent < orders.len() && idle < 20_000 {
        idle += 1;
        if let Ok(count) = harness.stream.write(&orders[sent..]) {
            sent += count;
            idle = 0;
        }
        harness.iterate();
    }
    assert!(sent < orders.len(), "the exchange never stops reading");
    // The socket reports when more can be written.
    assert!(harness.exchange.poll_timeout() > Some(Instant::ZERO));
    for number in 1..=total {
        let reply = harness.read();
        assert_eq!(decode!(BusinessReject521, reply).seq_num(), number);
        if sent < orders.len() {
            sent += harness.stream.write(&orders[sent..]).unwrap_or(0);
        }
    }
    assert_eq!(harness.exchange.gateway_counters().business_rejects, u64::from(total));
}

#[test]
fn backup_session_ends_with_the_primary_session() {
    let mut harness = Harness::new(8, false);
    let any = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
    let time = now(harness.start);
    let address = harness.exchange.serve_backup(any, time, &mut harness.reactor).unwrap();
    harness.log_on();
    let backup = TcpStream::connect(address, TcpOptions::default()).unwrap();
    let mut primary = std::mem::replace(&mut harness.stream, backup);
    harness.until("a connection", |harness| harness.stream.finish_connect().unwrap());
    let timestamp = now(harness.start).utc.as_nanos();
    harness.send(&establish(UUID, timestamp, 0));
    let ack = harness.read();
    assert_eq!(decode!(EstablishmentAck504, ack).next_seq_no(), 0);
    primary.shutdown().unwrap();
    let reply = harness.read();
    assert_eq!(decode!(Terminate507, reply).error_codes(), 26);
}

/// Runs the Python client, which was written only from CME's documents.
#[test]
fn foreign_client_trades_over_a_socket() {
    let mut harness = Harness::new(9, false);
    harness.log_on();
    let offer = harness.exchange.market().matching().best(0, Side::Offer).unwrap();
    let take = order_with(1, offer.price.0, |order| {
        order.set_order_qty(offer.quantity + 1);
    });
    harness.send(&take);
    let new = harness.read();
    let number = decode!(ExecutionReportNew522, new).order_id();
    let trade = harness.read();
    assert_eq!(decode!(ExecutionReportTradeOutright525, trade).last_qty(), offer.quantity);
    harness.send(&cancel(2, number));
    let gone = harness.read();
    assert_eq!(decode!(ExecutionReportCancel534, gone).cum_qty(), offer.quantity);
    let timestamp = now(harness.start).utc.as_nanos();
    harness.send(&retransmit_request_of(UUID, timestamp, None, 1, 3));
    let announced = harness.read();
    assert_eq!(decode!(Retransmission509, announced).msg_count(), 3);
    for template in [new.template(), trade.template(), gone.template()] {
        assert_eq!(harness.read().template(), template);
    }
    harness.send(&terminate(UUID, timestamp + 1, 0));
    let answer = harness.read();
    assert_eq!(decode!(Terminate507, answer).request_timestamp(), timestamp + 1);
    harness.expect_end();
}

/// A crowd that connects and never logs on keeps no client out: the oldest of it gives way.
#[test]
fn client_logs_on_beside_2_000_idle_connections() {
    let mut harness = Harness::new(14, true);
    harness.log_on();
    let address = harness.exchange.gateway_address();
    let connect = || TcpStream::connect(address, TcpOptions::default()).unwrap();
    // This end keeps the latest hundred: descriptors may be few.
    let mut idle = VecDeque::new();
    for batch in 1..=20 {
        idle.extend((0..100).map(|_| connect()));
        harness.until("the batch", |harness| {
            harness.exchange.gateway_counters().connections == 1 + 100 * batch
        });
        idle.drain(..idle.len().saturating_sub(100));
    }
    // The client queues behind another batch.
    idle.extend((0..100).map(|_| connect()));
    let session = std::mem::replace(&mut harness.stream, connect());
    let before = harness.exchange.gateway_counters().connections;
    harness.until("a connection", |harness| harness.stream.finish_connect().unwrap());
    harness.until("its turn", |harness| {
        harness.exchange.gateway_counters().connections >= before + 101
    });
    let timestamp = now(harness.start).utc.as_nanos();
    let message = crate::client::negotiate_by(UUID, timestamp, "OTHER", "XYZ");
    harness.send(&message);
    // An unknown key is answered, and so is the session that was established before the crowd.
    assert_eq!(harness.read().template(), 502);
    harness.stream = session;
    let price = harness.exchange.market().matching().best(0, Side::Bid).unwrap().price.0;
    harness.send(&order_with(1, price, |_| {}));
    assert_eq!(harness.read().template(), 522);
    let counters = harness.exchange.gateway_counters();
    assert!(counters.connections >= 2_102, "{counters:?}");
    assert_eq!((counters.refused_connections, counters.logon_timeouts), (0, 0));
    assert!(counters.idle_connections_closed >= 2_098, "{counters:?}");
}
