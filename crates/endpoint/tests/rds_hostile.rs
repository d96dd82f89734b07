//! Forged packets to a real socket: each is dropped and counted, the memory of the process does not
//! grow, and a live pair loses nothing.
//!
//! The number of packets is 100,000, scaled by `HAIRPIN_TEST_SCALE`: 10 makes it a million.
//!
//! The program measures the memory of its process, so it contains no other test.
#![expect(clippy::unwrap_used, reason = "all of this program is tests")]

use std::fs;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::num::NonZeroU32;

use hairpin_endpoint::rds::{Event, MessageId, Outcome, RdsOptions, RdsSocket, RdsTransport};
use hairpin_host::Clock;
use hairpin_rds::packet::{HEADER, Kind as Type};
use hairpin_rds::{Config, Counters, Delivery, Socket};
use hairpin_testbed::{CountingAllocator, allocated_bytes, scaled};
use hairpin_testkit::Random;
use hairpin_time::{Duration, Instant};

const PACKETS: u64 = 100_000;
/// The packets between two messages of the live pair.
const BATCH: u64 = 32;
/// The most bytes by which memory may grow.
const GROWTH_MAX: u64 = 1 << 20;
/// The packets of the live pair that are kept for replay.
const KEPT: usize = 256;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// A forged packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Random bytes.
    Noise,
    /// A data packet of the live pair, sent again.
    Replayed,
    /// The beginning of a data packet of the live pair.
    Truncated,
    /// A data packet of the live pair with one bit inverted.
    Damaged,
    /// From the live peer's address with another incarnation.
    WrongSource,
    /// From the live peer's address, for another incarnation of the receiver.
    WrongDestination,
    /// A challenge or a reject packet from the live peer's address, which answers nothing.
    WrongAnswer,
    /// For another port.
    WrongPort,
    /// From a stranger: numbers, lengths and acknowledgments at their limits.
    HugeCounts,
    /// From strangers with random addresses: a whole message each.
    Strangers,
}

impl Kind {
    const ALL: [Self; 10] = [
        Self::Noise,
        Self::Replayed,
        Self::Truncated,
        Self::Damaged,
        Self::WrongSource,
        Self::WrongDestination,
        Self::WrongAnswer,
        Self::WrongPort,
        Self::HugeCounts,
        Self::Strangers,
    ];
}

/// Replaces bytes of a packet and corrects its checksum. `docs/reference/wire-formats.md` has the
/// offsets.
fn forged(packet: &mut [u8], changes: &[(usize, &[u8])]) {
    for (at, bytes) in changes {
        packet[*at..][..bytes.len()].copy_from_slice(bytes);
    }
    let crc = crc32c::crc32c(&packet[4..]);
    packet[..4].copy_from_slice(&crc.to_be_bytes());
}

/// The live peer: the protocol alone, whose packets pass through the test.
struct Peer {
    protocol: Socket,
    udp: UdpSocket,
    /// The newest data packets, in a ring, and their number.
    kept: Vec<Vec<u8>>,
    data_sent: usize,
    received: u64,
    pending: Vec<MessageId>,
}

impl Peer {
    fn new(now: Instant) -> Self {
        let config = Config { peers: 8, ..Config::new(crc32c::crc32c_append) };
        let mut protocol = Socket::new(config, now);
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        udp.set_nonblocking(true).unwrap();
        protocol.bind(now, udp.local_addr().unwrap(), NonZeroU32::new(77).unwrap()).unwrap();
        let kept = (0..KEPT).map(|_| Vec::with_capacity(2_048)).collect();
        Self { protocol, udp, kept, data_sent: 0, received: 0, pending: Vec::with_capacity(64) }
    }

    fn address(&self) -> SocketAddr {
        self.udp.local_addr().unwrap()
    }

    fn turn(&mut self, now: Instant) {
        let mut buffer = [0; 2_048];
        loop {
            let (length, from) = match self.udp.recv_from(&mut buffer) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => panic!("{error}"),
            };
            let packet = &buffer[..length];
            if let Some(message) =
                self.protocol.handle_packet(now, from.ip(), packet, Delivery::InPlace)
            {
                check(message.bytes, &mut self.received);
            }
            while self.protocol.receive(|message| check(message.bytes, &mut self.received)) {}
        }
        self.protocol.handle_timeout(now);
        while let Some(transmit) = self.protocol.poll_transmit(now) {
            if transmit.packet[4] & 0x0F == Type::Data as u8 {
                let kept = &mut self.kept[self.data_sent % KEPT];
                kept.clear();
                kept.extend_from_slice(transmit.packet);
                self.data_sent += 1;
            }
            self.udp.send_to(transmit.packet, transmit.to).unwrap();
        }
        while let Some(event) = self.protocol.poll_event() {
            conclude(event, &mut self.pending);
        }
    }
}

/// Checks the next message of the live pair, which starts with its number.
fn check(message: &[u8], received: &mut u64) {
    assert_eq!(message[..8], received.to_le_bytes(), "messages arrive once and in order");
    assert!(message[8..].iter().all(|&byte| byte == *received as u8));
    *received += 1;
}

fn fill(number: u64, message: &mut [u8]) {
    message.fill(number as u8);
    message[..8].copy_from_slice(&number.to_le_bytes());
}

/// Expects the report of a delivered message.
fn conclude(event: Event, pending: &mut Vec<MessageId>) {
    let Event::Outcome { id, outcome: Outcome::Delivered } = event else {
        panic!("forged packets cause {event:?}");
    };
    let at = pending.iter().position(|&pending| pending == id).unwrap();
    pending.swap_remove(at);
}

/// The packets that a socket has dropped, for whatever reason.
fn dropped(counters: &Counters) -> u64 {
    let is_drop = |name: &str| name.starts_with("dropped_") || name == "duplicates";
    counters.iter().filter(|(name, _)| is_drop(name)).map(|(_, count)| count).sum()
}

/// The resident memory of this process in bytes.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib * 1_024
}

/// The socket that is attacked, its live peer, and the sender of forged packets.
struct Attack {
    clock: Clock,
    socket: RdsSocket,
    to: SocketAddr,
    peer: Peer,
    /// Sends from the live peer's IP address.
    beside: UdpSocket,
    /// Sends from another address.
    elsewhere: UdpSocket,
    random: Random,
    packet: Vec<u8>,
    received: u64,
    from_strangers: u64,
    sent: u64,
    pending: Vec<MessageId>,
}

impl Attack {
    fn new() -> Self {
        let clock = Clock::from_kernel();
        let now = clock.instant();
        let mut socket = RdsSocket::new(now, RdsOptions::default());
        socket.bind(now, &RdsTransport::Kernel, "127.0.0.1:0".parse().unwrap()).unwrap();
        Self {
            clock,
            to: socket.local_address().unwrap(),
            peer: Peer::new(now),
            socket,
            beside: UdpSocket::bind("127.0.0.1:0").unwrap(),
            // No other program has sockets there, so the answers to random ports reach none.
            elsewhere: UdpSocket::bind("127.77.0.1:0").unwrap(),
            random: Random::new(19),
            packet: Vec::with_capacity(2_048),
            received: 0,
            from_strangers: 0,
            sent: 0,
            pending: Vec::with_capacity(64),
        }
    }

    /// Returns a time at which both sockets accept unknown senders without a challenge.
    fn now(&self) -> Instant {
        self.clock.instant() + Duration::from_secs(11)
    }

    /// Sends a message in each direction, now and then one of several packets.
    fn send_live(&mut self) {
        let (now, number) = (self.now(), self.sent);
        let length = if number.is_multiple_of(16) { 20_000 } else { 64 };
        let (to, from) = (self.to, self.peer.address());
        let write = |message: &mut [u8]| fill(number, message);
        self.pending.push(self.socket.send_tracked(now, from, length, write).unwrap());
        let id = self.peer.protocol.send_tracked(now, to, length, write).unwrap();
        self.peer.pending.push(id);
        self.sent += 1;
    }

    /// Runs both sockets until the messages of the live pair are delivered.
    fn run_live(&mut self) {
        let start = self.now();
        loop {
            self.turn();
            let now = self.now();
            self.peer.turn(now);
            if self.pending.is_empty() && self.peer.pending.is_empty() {
                return;
            }
            let waited = now.saturating_since(start);
            assert!(waited < Duration::from_secs(60), "{:?}", self.socket.counters());
        }
    }

    /// Receives all that waits.
    fn turn(&mut self) {
        let (now, live) = (self.now(), self.peer.address());
        loop {
            let Self { received, from_strangers, .. } = self;
            let got = self.socket.receive(now, 64, |message| match message.source == live {
                true => check(message.bytes, received),
                false => *from_strangers += 1,
            });
            if got.unwrap().drained {
                break;
            }
        }
        self.socket.handle_timeout(now).unwrap();
        while let Some(event) = self.socket.poll_event() {
            conclude(event, &mut self.pending);
        }
    }

    /// Writes a forged packet into the buffer.
    fn forge(&mut self, kind: Kind) {
        let Self { random, packet, peer, .. } = self;
        let kept = &peer.kept[random.index(peer.data_sent.min(KEPT))];
        packet.clear();
        packet.extend_from_slice(kept);
        let [first, second, third] = [(); 3].map(|()| (random.any() as u32).to_be_bytes());
        match kind {
            Kind::Noise => {
                packet.clear();
                (0..random.index(100)).for_each(|_| packet.push(random.any() as u8));
            }
            Kind::Replayed => {}
            Kind::Truncated => packet.truncate(random.index(packet.len())),
            Kind::Damaged => {
                let bit = random.index(packet.len() * 8);
                packet[bit / 8] ^= 1 << (bit % 8);
            }
            Kind::WrongSource => forged(packet, &[(12, &first), (16, &[0; 4])]),
            Kind::WrongDestination => forged(packet, &[(16, &first)]),
            Kind::WrongAnswer => {
                packet.truncate(HEADER);
                let kind = [0x14 + (first[0] & 1), first[1], 0, 0];
                match first[2] & 1 {
                    0 => forged(packet, &[(4, &kind), (12, &second), (16, &third)]),
                    // The right incarnation, and a time at which nothing was sent.
                    _ => {
                        let echo = [packet[36] ^ 0x40, packet[37], packet[38], packet[39]];
                        forged(packet, &[(4, &kind), (12, &second), (36, &echo)]);
                    }
                }
            }
            Kind::WrongPort => forged(packet, &[(10, &[0, 2])]),
            Kind::HugeCounts => {
                packet.truncate(HEADER);
                packet.extend_from_slice(&[0xFF; 64]);
                // A first fragment of 2^32 - 1 bytes, or a number 2^31 - 1 ahead, or both.
                let flags = [0x11, 0x01 + 2 * (first[0] & 1), 0, 64];
                let port = (4_000 + u16::from(first[1] & 3)).to_be_bytes();
                let ahead = [0x7F, 0xFF, 0xFF, first[2]];
                let changes: [(usize, &[u8]); 6] = [
                    (4, &flags),
                    (8, &port),
                    (12, &[1; 4]),
                    (20, &ahead),
                    (24, &[0; 4]),
                    (28, &ahead),
                ];
                forged(packet, &changes);
            }
            Kind::Strangers => {
                packet.truncate(HEADER);
                packet.extend_from_slice(b"message");
                let changes: [(usize, &[u8]); 6] = [
                    (4, &[0x11, 3, 0, 7]),
                    (8, &first[..2]),
                    (12, &second),
                    (16, &[0; 4]),
                    (20, &[0, 0, 0, 1]),
                    (24, &[0, 0, 0, 1]),
                ];
                forged(packet, &changes);
            }
        }
    }

    /// Sends packets of one kind, and returns the number of those that arrived.
    fn batch(&mut self, kind: Kind) -> u64 {
        // The live peer's last acknowledgments.
        self.turn();
        let before = (*self.socket.counters(), self.from_strangers);
        for _ in 0..BATCH {
            self.forge(kind);
            let is_stranger = matches!(kind, Kind::HugeCounts | Kind::Strangers);
            let from = if is_stranger { &self.elsewhere } else { &self.beside };
            // An ICMP error about an earlier answer does not concern this packet.
            let _ = from.send_to(&self.packet, self.to);
        }
        self.turn();
        let after = self.socket.counters();
        let arrived = after.packets_received - before.0.packets_received;
        let dropped = dropped(after) - dropped(&before.0);
        let delivered = self.from_strangers - before.1;
        assert!(delivered == 0 || kind == Kind::Strangers, "{kind:?} delivers a message");
        assert!(dropped + delivered >= arrived, "{kind:?}: {arrived} arrived, {dropped} dropped");
        arrived
    }
}

#[test]
fn forged_packets_use_no_memory_and_a_live_pair_loses_nothing() {
    let mut attack = Attack::new();
    attack.send_live();
    attack.run_live();
    let count = scaled(PACKETS);
    let mut start = None;
    let mut arrived = [0; Kind::ALL.len()];
    for number in 0..count / BATCH {
        let kind = number as usize % Kind::ALL.len();
        arrived[kind] += attack.batch(Kind::ALL[kind]);
        attack.send_live();
        attack.run_live();
        if number == 2 * Kind::ALL.len() as u64 {
            // All code has run once, and all buffers of the test exist.
            let resident = resident();
            start = Some((allocated_bytes(), resident));
        }
    }
    let (end, counters) = ((allocated_bytes(), resident()), *attack.socket.counters());
    let start = start.unwrap();
    let [allocated, resident] = [end.0 - start.0, end.1.saturating_sub(start.1)];
    println!(
        "{arrived:?} of {count} arrived; {resident} bytes more resident, {allocated} allocated"
    );
    println!("{counters:?}");
    assert_eq!(allocated, 0, "the socket allocates after its setup");
    assert!(resident <= GROWTH_MAX, "{resident} bytes");
    assert_eq!((attack.received, attack.peer.received), (attack.sent, attack.sent));
    assert!(arrived.iter().all(|&arrived| arrived > count / 20), "{arrived:?}");
    assert!(counters.peers_evicted > 0 && counters.peers_restarted == 0, "{counters:?}");
}
