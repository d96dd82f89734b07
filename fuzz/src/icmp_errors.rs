//! ICMP errors of the error queue: the control messages, and the quotes for a live socket.
//!
//! Checks:
//!
//! - No control message and no quote causes a panic.
//! - Only port unreachable of ICMP or ICMPv6 counts as final.
//! - An error drops a message only if its quote has the incarnations of both sockets. Otherwise the
//!   message is delivered once.
//! - Errors cause at most one packet before the next timeout.
//!
//! Input: errors, each with the lengths of its control messages and its quote.

use core::num::NonZeroU32;
use std::net::SocketAddr;

use hairpin_rds::packet::HEADER;
use hairpin_rds::{Config, Delivery, Socket};
use hairpin_time::{Duration, Instant};

use crate::Seed;
use crate::error_queue::extended_error::ExtendedError;
use crate::script::Script;

/// The most errors of one input.
const ERRORS: usize = 64;

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    let mut pair = Pair::new();
    let packet = pair.send();
    let mut early = 0;
    for _ in 0..ERRORS {
        if script.is_over() {
            break;
        }
        let length = script.byte();
        let control = script.bytes(length.into());
        let is_mine = script.byte().is_multiple_of(4);
        let length = script.byte();
        let changes = script.bytes(length.into());
        // A quote of the packet in flight with changes, or any bytes.
        let mut quote = if is_mine { packet.clone() } else { Vec::new() };
        quote.extend(changes.get(2..).unwrap_or_default());
        if let ([at, change, ..], true) = (changes, is_mine) {
            quote[usize::from(*at) % packet.len()] ^= change;
        }
        let Some(error) = ExtendedError::parse(control) else { continue };
        assert!(!error.is_port_unreachable() || error.is_failure());
        let before = pair.a.counters().icmp_accepted;
        match error.is_port_unreachable() {
            true => pair.a.handle_undeliverable(B.ip(), B.port(), &quote),
            false => pair.a.handle_unreachable(B.ip(), B.port()),
        }
        let is_accepted = pair.a.counters().icmp_accepted > before;
        assert!(!is_accepted || quote[8..20] == packet[8..20], "{quote:?}");
        early += pair.packets().len();
    }
    assert!(early <= 1, "{early} packets");
    pair.finish();
}

const A: SocketAddr = address(1);
const B: SocketAddr = address(2);

const fn address(host: u8) -> SocketAddr {
    let ip = std::net::Ipv4Addr::new(10, 0, 0, host);
    SocketAddr::V4(std::net::SocketAddrV4::new(ip, 4_000))
}

/// Two sockets that know each other.
struct Pair {
    now: Instant,
    a: Socket,
    b: Socket,
    received: u32,
}

impl Pair {
    fn new() -> Self {
        let now = Instant::from_nanos(1_000_000_000);
        let config = Config {
            packet_max: 104,
            message_max: 64,
            send_buffer: 1_040,
            receive_buffer: 1_040,
            peers: 4,
            unconfirmed_peers: 2,
            ..Config::new(crc32c::crc32c_append)
        };
        let open = |address, incarnation: u32| {
            let mut socket = Socket::new(config, now);
            let incarnation = NonZeroU32::new(incarnation).expect("not zero");
            socket.bind(now, address, incarnation).expect("the socket is new");
            socket
        };
        let (a, b) = (open(A, 0xA1A1_A1A1), open(B, 0xB2B2_B2B2));
        let mut pair = Self { now, a, b, received: 0 };
        pair.a.send(now, B, 5, |bytes| bytes.fill(1)).expect("there is room");
        pair.settle();
        assert_eq!(pair.received, 1);
        pair
    }

    /// Sends a message and returns its packet, which is lost.
    fn send(&mut self) -> Vec<u8> {
        self.a.send(self.now, B, 5, |bytes| bytes.fill(2)).expect("there is room");
        self.packets().pop().expect("the window is open")
    }

    fn packets(&mut self) -> Vec<Vec<u8>> {
        let mut packets = Vec::new();
        while let Some(transmit) = self.a.poll_transmit(self.now) {
            packets.push(transmit.packet.to_vec());
        }
        packets
    }

    fn settle(&mut self) {
        for _ in 0..1_000 {
            for packet in self.packets() {
                let message = self.b.handle_packet(self.now, A.ip(), &packet, Delivery::InPlace);
                self.received += u32::from(message.is_some());
            }
            while self.b.receive(|_| ()) {
                self.received += 1;
            }
            while let Some(transmit) = self.b.poll_transmit(self.now) {
                self.a.handle_packet(self.now, B.ip(), transmit.packet, Delivery::InPlace);
            }
            let timeouts = [self.a.poll_timeout(), self.b.poll_timeout()];
            let Some(next) = timeouts.into_iter().flatten().min() else { return };
            self.now = next.max(self.now + Duration::from_micros(10));
            self.a.handle_timeout(self.now);
            self.b.handle_timeout(self.now);
        }
        panic!("pending work does not complete");
    }

    /// Completes what is pending: a message that was not dropped arrives, and so does the next one.
    fn finish(&mut self) {
        let dropped = self.a.counters().messages_dropped as u32;
        assert!(dropped == 0 || self.a.counters().icmp_accepted > 0, "dropped without a reason");
        self.settle();
        assert_eq!(self.received + dropped, 2, "messages received or dropped");
        self.a.send(self.now, B, 5, |bytes| bytes.fill(3)).expect("there is room");
        self.settle();
        assert_eq!(self.received + dropped, 3, "messages received or dropped");
    }
}

/// Returns a control message.
fn control(level: i32, kind: i32, data: &[u8]) -> Vec<u8> {
    let mut bytes = (16 + data.len() as u64).to_ne_bytes().to_vec();
    bytes.extend(level.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(data);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

/// Returns the control message of an error.
fn error(origin: u8, kind: u8, code: u8) -> Vec<u8> {
    let mut data = libc::ECONNREFUSED.to_ne_bytes().to_vec();
    data.extend([origin, kind, code]);
    data.resize(32, 0);
    match origin {
        libc::SO_EE_ORIGIN_ICMP6 => control(libc::IPPROTO_IPV6, libc::IPV6_RECVERR, &data),
        _ => control(libc::IPPROTO_IP, libc::IP_RECVERR, &data),
    }
}

/// Returns an input with one error per entry: its control messages, and the changes of its quote.
fn input(errors: &[(Vec<u8>, u8, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (control, is_mine, changes) in errors {
        bytes.push(control.len() as u8);
        bytes.extend(control);
        bytes.push(*is_mine);
        bytes.push(changes.len() as u8);
        bytes.extend(*changes);
    }
    bytes
}

/// Returns the initial corpus.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let seed = |name: &str, errors: &[(Vec<u8>, u8, &[u8])]| (name.to_owned(), input(errors));
    let stamp = control(libc::SOL_SOCKET, libc::SCM_TIMESTAMPING, &[7; 48]);
    let behind = [stamp.clone(), error(2, 3, 3)].concat();
    vec![
        seed("refused", &[(error(2, 3, 3), 0, &[])]),
        seed("refused_v6", &[(error(3, 1, 4), 0, &[])]),
        seed("short_quote", &[(error(2, 3, 3), 1, &[])]),
        seed("other_incarnation", &[(error(2, 3, 3), 0, &[12, 1]), (error(2, 3, 3), 0, &[16, 1])]),
        seed("other_port", &[(error(2, 3, 3), 0, &[9, 1]), (error(2, 3, 3), 0, &[11, 1])]),
        seed("any_quote", &[(error(2, 3, 3), 1, &[0x11; HEADER + 2])]),
        seed("host_unreachable", &[(error(2, 3, 1), 0, &[]), (error(2, 11, 0), 0, &[])]),
        seed("local", &[(error(1, 0, 0), 0, &[])]),
        seed("timestamp_before", &[(stamp, 0, &[]), (behind, 0, &[])]),
    ]
}
