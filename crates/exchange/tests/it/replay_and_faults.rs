//! The exchange on loopback with injected feed faults, and its replay service.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};

use hairpin_endpoint::{MulticastGroup, Receive, UdpOptions, UdpReceiver};
use hairpin_exchange::{
    Addresses, Exchange, ExchangeSettings, FaultSettings, FeedFaults, FeedLine, Groups, LineFaults,
    Multicast, Pace, ReplaySettings, SimulatedMarketSettings,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant, Now, Utc};

const LOCAL: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);

/// The number of loop iterations after which a condition counts as missed.
const ITERATIONS_MAX: u32 = 2_000_000;

struct Harness {
    exchange: Exchange,
    reactor: Reactor,
    /// The virtual time: 100 µs per iteration.
    now: Now,
    lines: [UdpReceiver; 2],
    /// The bytes of each incremental packet and how often it was received, by line.
    received: [BTreeMap<u32, (Vec<u8>, u32)>; 2],
}

impl Harness {
    fn new(test: u8) -> Self {
        let [high, low] = (std::process::id() as u16).to_be_bytes();
        let port = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let group =
            |n: u8| SocketAddrV4::new(Ipv4Addr::new(239, 64 + test * 8 + n, high, low), port);
        let pair = |n| Groups { a: group(n), b: Some(group(n + 1)) };
        let multicast = Multicast {
            interface: Ipv4Addr::LOCALHOST,
            ttl: 1,
            incremental: pair(0),
            instruments: pair(2),
            snapshots: pair(4),
            order_snapshots: None,
        };
        let addresses = Addresses { multicast: Some(multicast), tcp: None, gateway: LOCAL };
        let settings = ExchangeSettings {
            market: SimulatedMarketSettings::default(),
            matching: true,
            accounts: Vec::new(),
            connections: 1,
            transport: Default::default(),
            addresses,
        };
        let now = Now { monotonic: Instant::from_nanos(1), utc: Utc::from_nanos(1_700_000_000) };
        let mut reactor = Reactor::new(Wait::Spin).unwrap();
        let mut exchange = Exchange::new(settings, now, &mut reactor).unwrap();
        exchange.set_pace(Pace::Paced, now);
        let join = |group| {
            let group = MulticastGroup { group, interface: Ipv4Addr::LOCALHOST, sources: &[] };
            UdpReceiver::join(group, UdpOptions::default()).unwrap()
        };
        let lines = [join(group(0)), join(group(1))];
        Self { exchange, reactor, now, lines, received: Default::default() }
    }

    fn iterate(&mut self, ticks: bool) {
        let span = Duration::from_micros(100);
        self.now = Now { monotonic: self.now.monotonic + span, utc: self.now.utc + span };
        let Self { exchange, reactor, now, lines, received } = self;
        if ticks {
            exchange.tick(*now, now.monotonic, &mut ()).unwrap();
        }
        let ready = reactor.wait(now.monotonic, Some(Instant::ZERO)).unwrap();
        exchange.step(*now, ready, reactor, &mut ()).unwrap();
        for (side, received) in lines.iter_mut().zip(received) {
            side.receive(64, |_, bytes| {
                let sequence = u32::from_le_bytes(bytes[..4].try_into().unwrap());
                received.entry(sequence).or_insert_with(|| (bytes.to_vec(), 0)).1 += 1;
            })
            .unwrap();
        }
    }
}

#[test]
fn faults_affect_their_own_line_only() {
    let mut harness = Harness::new(0);
    let a = LineFaults {
        drop_ppm: 100_000,
        duplicate_ppm: 100_000,
        delay_ppm: 100_000,
        delay_max: Duration::from_millis(2),
        ..LineFaults::default()
    };
    let faults = FaultSettings { seed: 5, a, b: LineFaults::default() };
    harness.exchange.set_faults(Some(FeedFaults::new(&faults)));
    (0..2_000).for_each(|_| harness.iterate(true));
    (0..100).for_each(|_| harness.iterate(false));
    let sent = harness.exchange.counters().incremental_packets;
    let [a, b] = &harness.received;
    assert!(b.len() as u64 == sent && b.values().all(|&(_, times)| times == 1));
    assert!(a.iter().all(|(sequence, (bytes, _))| b[sequence].0 == *bytes));
    let lost = sent - a.len() as u64;
    assert!(lost > sent / 20 && lost < sent / 5, "{lost} of {sent}");
    assert!(a.values().any(|&(_, times)| times == 2));
    let [a, b] = FeedLine::ALL.map(|side| *harness.exchange.fault_tally(side).unwrap());
    assert!(a.dropped > lost && a.delayed > 0 && b.dropped + b.delayed + b.duplicated == 0);
    assert_eq!(harness.exchange.counters().lost_datagrams_a, 0);
}

/// Builds a FIX message with this body; `|` ends a field.
fn message(body: &str) -> Vec<u8> {
    let mut bytes = format!("9={}|{body}", body.len()).replace('|', "\u{1}").into_bytes();
    let sum = bytes.iter().fold(0_u8, |sum, &byte| sum.wrapping_add(byte));
    bytes.extend_from_slice(format!("10={sum:03}\u{1}").as_bytes());
    bytes
}

#[test]
fn replays_packets_over_tcp_unchanged() {
    let mut harness = Harness::new(1);
    let settings = ReplaySettings { packets: 4_096, ..ReplaySettings::default() };
    let Harness { exchange, reactor, now, .. } = &mut harness;
    let address = exchange.serve_replay(settings, LOCAL, *now, reactor).unwrap();
    (0..2_000).for_each(|_| harness.iterate(true));
    for _ in 0..3 {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_nonblocking(true).unwrap();
        stream.write_all(&message("35=A|553=CME|554=CME|")).unwrap();
        stream.write_all(&message("35=V|1180=310|262=310-1|1182=201|1183=2200|")).unwrap();
        let mut bytes = Vec::new();
        let is_read = (0..ITERATIONS_MAX).any(|_| {
            harness.iterate(false);
            let mut chunk = [0; 16 << 10];
            match stream.read(&mut chunk) {
                Ok(0) => true,
                Ok(count) => {
                    bytes.extend_from_slice(&chunk[..count]);
                    false
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock);
                    false
                }
            }
        });
        assert!(is_read, "the service did not close the connection");
        let mut packets = Vec::new();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (packet, behind) =
                rest[2..].split_at(usize::from(u16::from_le_bytes([rest[0], rest[1]])));
            packets.push(packet);
            rest = behind;
        }
        assert_eq!(packets.len(), 2_002);
        let template = |packet: &[u8]| u16::from_le_bytes([packet[16], packet[17]]);
        assert_eq!([template(packets[0]), template(packets[2_001])], [15, 16]);
        for (packet, sequence) in packets[1..2_001].iter().zip(201..) {
            assert_eq!(*packet, harness.received[0][&sequence].0, "{sequence}");
        }
    }
    let counters = harness.exchange.replay_counters().unwrap();
    assert_eq!((counters.requests, counters.packets, counters.rejected), (3, 6_000, 0));
}
