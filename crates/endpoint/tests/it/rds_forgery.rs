//! Forged packets and ICMP errors against a live pair on two hosts. Needs root.
//!
//! The forger sees no traffic. It knows the addresses and ports of both sockets.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use hairpin_endpoint::rds::{RdsOptions, RdsSocket};
use hairpin_testbed::{Host, Testbed, scaled};
use socket2::{Domain, Protocol, Socket, Type};

use crate::rds_hosts::{Kind, exchange, now};

/// The messages of a test in CI, in each direction.
const MESSAGES: u64 = 10_000;
/// The forged packets to each host before these messages: every kind of them.
const FORGED: u32 = 4 * ERRORS.len() as u32 * 3;
const PORT: u16 = 4_000;
/// The types and codes of ICMP errors (RFC 792) about a packet.
const ERRORS: [(u8, u8); 12] = [
    (3, 0),
    (3, 1),
    (3, 2),
    (3, 3),
    (3, 4),
    (3, 5),
    (3, 10),
    (3, 13),
    (4, 0),
    (11, 0),
    (11, 1),
    (12, 0),
];

/// The internet checksum (RFC 1071).
fn checksum(bytes: &[u8]) -> [u8; 2] {
    let low = |pair: &[u8]| pair.get(1).map_or(0, |&byte| u32::from(byte));
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | low(pair));
    let sum: u32 = words.sum();
    let sum = (sum & 0xFFFF) + (sum >> 16);
    (!((sum & 0xFFFF) + (sum >> 16)) as u16).to_be_bytes()
}

/// An IP packet without options.
fn ip(protocol: u8, source: Ipv4Addr, destination: Ipv4Addr, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x45, 0];
    packet.extend((20 + payload.len() as u16).to_be_bytes());
    packet.extend([0, 7, 0, 0, 64, protocol, 0, 0]);
    packet.extend(source.octets());
    packet.extend(destination.octets());
    let sum = checksum(&packet);
    packet[10..12].copy_from_slice(&sum);
    packet.extend(payload);
    packet
}

fn udp(source: u16, destination: u16, payload: &[u8]) -> Vec<u8> {
    let mut datagram = Vec::new();
    for word in [source, destination, 8 + payload.len() as u16, 0] {
        datagram.extend(word.to_be_bytes());
    }
    datagram.extend(payload);
    datagram
}

/// An RDS packet with a valid checksum and random incarnations.
fn rds(number: u32) -> Vec<u8> {
    let random = number.wrapping_mul(0x9E37_79B9);
    let mut packet = vec![0; 40];
    let kind = [1, 2, 3, 4, 5][number as usize % 5];
    packet[4] = 0x10 | kind;
    packet[5] = 0x03;
    packet[8..10].copy_from_slice(&PORT.to_be_bytes());
    packet[10..12].copy_from_slice(&PORT.to_be_bytes());
    packet[12..16].copy_from_slice(&(random | 1).to_be_bytes());
    let known = if number.is_multiple_of(2) { 0 } else { !random };
    packet[16..20].copy_from_slice(&known.to_be_bytes());
    for at in [20, 24, 28] {
        packet[at..at + 4].copy_from_slice(&(random % 200).to_be_bytes());
    }
    packet[32..36].copy_from_slice(&(random.rotate_left(7)).to_be_bytes());
    if kind == 2 {
        packet[6..8].copy_from_slice(&8_u16.to_be_bytes());
        packet.extend([0xFF; 8]);
    }
    let crc = crc32c::crc32c(&packet[4..]);
    packet[..4].copy_from_slice(&crc.to_be_bytes());
    packet
}

/// Returns a forged packet to `victim`, of or about `other`.
fn forged(number: u32, victim: Ipv4Addr, other: Ipv4Addr) -> Vec<u8> {
    if number.is_multiple_of(2) {
        return ip(17, other, victim, &udp(PORT, PORT, &rds(number / 2)));
    }
    let (kind, code) = ERRORS[number as usize / 2 % ERRORS.len()];
    let quoted = udp(PORT, PORT, &rds(number));
    // The shortest legal quote, one that is cut in the middle, and a whole packet.
    let length = [8, 30, quoted.len()][number as usize / 2 % 3];
    let mut error = vec![kind, code, 0, 0, 0, 0, 2, 64];
    error.extend(ip(17, victim, other, &quoted[..length]));
    let sum = checksum(&error);
    error[2..4].copy_from_slice(&sum);
    ip(1, other, victim, &error)
}

/// Sends forged packets to both hosts, about 1,000 per second, until `is_over`.
fn forge(hosts: [&Host; 2], sent: &AtomicU32, is_over: &AtomicBool) {
    let raw = || {
        let protocol = Protocol::from(libc::IPPROTO_RAW);
        Socket::new(Domain::IPV4, Type::RAW, Some(protocol)).unwrap()
    };
    let [a, b] = hosts.map(|host| (host.address(), host.run(raw).unwrap()));
    for number in 0_u32.. {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        // From the host of the claimed sender, as a forger on the path would.
        for ((victim, _), (other, socket)) in [(&a, &b), (&b, &a)] {
            let to = SocketAddrV4::new(*victim, 0);
            let _ = socket.send_to(&forged(number, *victim, *other), &to.into());
        }
        sent.fetch_add(1, Ordering::Relaxed);
        thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Exchanges one message in each direction.
fn establish(socket: &mut RdsSocket, peer: SocketAddr) {
    socket.send(now(), peer, 1, |bytes| bytes.fill(0)).unwrap();
    let mut received = false;
    while !received || !socket.is_acknowledged() {
        // The peer may be further, and its next messages wait.
        match received {
            true => _ = socket.process(now(), 32).unwrap(),
            false => _ = socket.receive(now(), 1, |_| received = true).unwrap(),
        }
        thread::yield_now();
    }
}

fn run(kind: Kind) {
    let testbed = Testbed::builder().build().unwrap();
    let [a, b] = testbed.hosts();
    let counts = [const { AtomicU32::new(0) }; 4];
    let ([bound, live, sent, done], is_over) = (&counts, &AtomicBool::new(false));
    let both: Vec<_> = thread::scope(|scope| {
        let ends = [(a, b), (b, a)].map(|(host, peer)| {
            scope.spawn(move || {
                let run = || {
                    let mut socket = RdsSocket::new(now(), RdsOptions::default());
                    let local = SocketAddr::new(IpAddr::V4(host.address()), PORT);
                    let peer = SocketAddr::new(IpAddr::V4(peer.address()), PORT);
                    socket.bind(now(), &kind.transport(host), local).unwrap();
                    // Both sockets must exist before the first message.
                    bound.fetch_add(1, Ordering::Relaxed);
                    while bound.load(Ordering::Relaxed) < 2 && !is_over.load(Ordering::Relaxed) {
                        thread::yield_now();
                    }
                    establish(&mut socket, peer);
                    live.fetch_add(1, Ordering::Relaxed);
                    while sent.load(Ordering::Relaxed) < FORGED && !is_over.load(Ordering::Relaxed)
                    {
                        socket.process(now(), 32).unwrap();
                        thread::yield_now();
                    }
                    let hashes = exchange(&mut socket, peer, scaled(MESSAGES), done);
                    (hashes, *socket.counters(), socket.carrier_counters())
                };
                host.run(run).unwrap()
            })
        });
        let forger = scope.spawn(|| {
            while live.load(Ordering::Relaxed) < 2 && !is_over.load(Ordering::Relaxed) {
                thread::sleep(std::time::Duration::from_millis(1));
            }
            forge([a, b], sent, is_over);
        });
        let results: Vec<_> = ends.into_iter().map(thread::ScopedJoinHandle::join).collect();
        is_over.store(true, Ordering::Relaxed);
        forger.join().unwrap();
        results.into_iter().map(Result::unwrap).collect()
    });
    let [(hashes_a, counters_a, errors_a), (hashes_b, counters_b, errors_b)] = &both[..] else {
        unreachable!()
    };
    println!("{counters_a:?} {errors_a:?}\n{counters_b:?} {errors_b:?}");
    assert_eq!((hashes_a[0], hashes_b[0]), (hashes_b[1], hashes_a[1]), "sent and received");
    for counters in [counters_a, counters_b] {
        assert!(counters.icmp_ignored > 0 && counters.dropped_incarnation > 0, "{counters:?}");
        let accepted =
            counters.icmp_accepted + counters.peers_restarted + counters.messages_dropped;
        assert_eq!(accepted, 0, "{counters:?}");
    }
    assert!(errors_a.iter().any(|error| error.1 > 0), "{errors_a:?}");
}

#[test]
#[ignore = "needs root"]
fn forgery_loses_nothing_of_a_live_pair_over_kernel_udp() {
    run(Kind::Kernel);
}

#[test]
#[ignore = "needs root"]
fn forgery_loses_nothing_of_a_live_pair_over_xdp() {
    run(Kind::Xdp);
}
