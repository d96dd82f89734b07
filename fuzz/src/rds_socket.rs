//! Three sockets of reliable datagrams, and packets that are lost, delayed, repeated or forged.
//!
//! Checks:
//!
//! - No order of calls and no packet causes a panic.
//! - Transmission ends: there is never more to transmit than the buffers hold.
//! - Each requested outcome is reported at most once.
//! - Without forged packets: every message received was sent, has the right content, and comes
//!   once and in order from its socket. A message reported as not delivered is never received; one
//!   reported as delivered is, unless its receiver was closed. At the end, on a network without
//!   loss, everything pending completes.
//!
//! Input: two clock offsets, then steps of a kind and arguments.

use core::num::NonZeroU32;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use hairpin_rds::packet::{HEADER, reject};
use hairpin_rds::{Config, Delivery, Event, MessageId, Outcome, Socket};
use hairpin_time::{Duration, Instant};

use crate::Seed;
use crate::rds_packet::fill_checksum;
use crate::script::Script;

const HOSTS: usize = 3;
/// The packets kept for repetition.
const KEPT: usize = 16;
/// The time that a packet takes.
const LATENCY: Duration = Duration::from_micros(10);
/// The age from which a packet counts as forged: a socket that does not know its sender may accept
/// an older one.
const LIFETIME: Duration = Duration::from_secs(10);
/// The bytes that identify a message: the sender's incarnation and the message's number.
const IDENTITY: usize = 8;

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    let mut network = Network::new([0, script.byte(), script.byte()]);
    while !script.is_over() {
        network.step(&mut script);
    }
    network.complete();
}

/// The identity of a message: the sender's incarnation and the message's number in its socket.
type Identity = (u32, u32);

/// A packet that can be repeated.
#[derive(Clone)]
struct Packet {
    at: Instant,
    from: usize,
    to: usize,
    bytes: Vec<u8>,
}

struct Network {
    now: Instant,
    /// The difference of each host's clock.
    offsets: [Duration; HOSTS],
    /// The sockets with their incarnations; `None` while a port has no socket.
    sockets: [Option<(u32, Socket)>; HOSTS],
    next_incarnation: u32,
    kept: Vec<Packet>,
    ledger: Ledger,
}

impl Network {
    fn new(offsets: [u8; HOSTS]) -> Self {
        let mut network = Self {
            now: Instant::from_nanos(1_000_000_000),
            offsets: offsets.map(|offset| Duration::from_secs(u64::from(offset) * 7)),
            sockets: [const { None }; HOSTS],
            next_incarnation: 1,
            kept: Vec::new(),
            ledger: Ledger::default(),
        };
        (0..HOSTS).for_each(|host| network.open(host));
        network
    }

    fn time(&self, host: usize) -> Instant {
        self.now + self.offsets[host]
    }

    fn open(&mut self, host: usize) {
        let now = self.time(host);
        let mut socket = Socket::new(config(), now);
        let incarnation = self.next_incarnation;
        self.next_incarnation += 1;
        let number = NonZeroU32::new(incarnation).expect("incarnations start at 1");
        socket.bind(now, address(host), number).expect("the socket is new");
        self.sockets[host] = Some((incarnation, socket));
    }

    fn step(&mut self, script: &mut Script<'_>) {
        let kind = script.byte();
        let host = usize::from(kind >> 4 & 3) % HOSTS;
        let other = (host + 1 + usize::from(kind >> 6 & 1)) % HOSTS;
        match kind & 0x0F {
            0..=2 => self.send(host, if kind >> 6 == 3 { HOSTS } else { other }, script.word()),
            3..=6 => self.transmit(host, script.byte()),
            7 => self.repeat(script.byte()),
            8 => self.forge(script),
            9 => self.advance(Duration::from_micros(u64::from(script.word()))),
            10 => self.advance(Duration::from_millis(u64::from(script.word()))),
            11 => self.cancel(host, other),
            12 => self.handle_timeout(host),
            13 => self.read(host),
            14 => self.report_undeliverable(host, other, script),
            _ => {
                self.sockets[host] = None;
                if kind >> 7 == 0 {
                    self.open(host);
                }
            }
        }
        self.poll_events();
    }

    fn advance(&mut self, time: Duration) {
        self.now += time;
    }

    fn send(&mut self, host: usize, to: usize, argument: u16) {
        let now = self.time(host);
        let Some((incarnation, socket)) = &mut self.sockets[host] else { return };
        let incarnation = *incarnation;
        let number = self.ledger.next_number(incarnation);
        let length = usize::from(argument) % (config().message_max + 1);
        let fill = |bytes: &mut [u8]| write_content((incarnation, number), bytes);
        if let Ok(id) = socket.send_tracked(now, address(to), length, fill) {
            let receiver = self.sockets.get(to).and_then(Option::as_ref).map(|socket| socket.0);
            self.ledger.on_sent((incarnation, number), id, length, receiver);
        }
    }

    fn cancel(&mut self, host: usize, other: usize) {
        let now = self.time(host);
        if let Some((_, socket)) = &mut self.sockets[host] {
            socket.cancel(now, address(other));
        }
    }

    fn handle_timeout(&mut self, host: usize) {
        let now = self.time(host);
        if let Some((_, socket)) = &mut self.sockets[host] {
            socket.handle_timeout(now);
        }
    }

    /// Transmits everything. Each bit of `lost` loses every eighth packet; all bits: the carrier
    /// has no room.
    fn transmit(&mut self, host: usize, lost: u8) {
        for number in 0.. {
            let now = self.time(host);
            assert!(number < 1_000, "transmission does not end");
            let Some((_, socket)) = &mut self.sockets[host] else { return };
            let Some(transmit) = socket.poll_transmit(now) else { return };
            let to = (0..HOSTS).find(|&to| address(to) == transmit.to);
            let bytes = transmit.packet.to_vec();
            if lost == 0xFF {
                socket.retry_last();
                return;
            }
            let Some(to) = to else {
                self.refuse(host, address(HOSTS), &bytes);
                continue;
            };
            let packet = Packet { at: self.now, from: host, to, bytes };
            if lost >> (number % 8) & 1 == 0 {
                self.deliver(&packet);
            }
            self.kept.truncate(KEPT - 1);
            self.kept.insert(0, packet);
        }
    }

    fn deliver(&mut self, packet: &Packet) {
        self.advance(LATENCY);
        let Packet { from, to, bytes, .. } = packet;
        let (now, from_ip) = (self.time(*to), address(*from).ip());
        let Some((incarnation, socket)) = &mut self.sockets[*to] else {
            self.refuse(*from, address(*to), bytes);
            return;
        };
        let delivery = if bytes.len() % 2 == 0 { Delivery::InPlace } else { Delivery::Queue };
        if let Some(message) = socket.handle_packet(now, from_ip, bytes, delivery) {
            self.ledger.on_received(*incarnation, message.bytes);
        }
    }

    /// Answers a packet to a port without a socket: with a reject packet or an ICMP error.
    fn refuse(&mut self, host: usize, by: SocketAddr, packet: &[u8]) {
        let now = self.time(host);
        let Some((_, socket)) = &mut self.sockets[host] else { return };
        let mut answer = [0; HEADER];
        if packet.len() % 2 == 0 {
            socket.handle_undeliverable(by.ip(), by.port(), packet);
        } else if reject(packet, &mut answer, crc32c::crc32c_append).is_some() {
            socket.handle_packet(now, by.ip(), &answer, Delivery::InPlace);
        }
    }

    /// Delivers an earlier packet again. A port without a socket does not answer: the sender takes
    /// the answer to a packet that it has sent once for a proof that no socket has received it.
    fn repeat(&mut self, number: u8) {
        let Some(packet) = self.kept.get(usize::from(number) % KEPT).cloned() else { return };
        if self.sockets[packet.to].is_some() {
            self.ledger.is_forged |= self.now.saturating_since(packet.at) > LIFETIME;
            self.deliver(&packet);
        }
    }

    /// Alters an earlier packet, or makes one, and corrects its checksum.
    fn forge(&mut self, script: &mut Script<'_>) {
        self.ledger.is_forged = true;
        let [number, place, length] = [(); 3].map(|()| usize::from(script.byte()));
        let over = script.bytes(length % 64);
        let new = || Packet { at: self.now, from: number % HOSTS, to: 0, bytes: vec![0; 48] };
        let kept = self.kept.get(number % KEPT).filter(|_| number < 0xE0);
        let mut packet = kept.cloned().unwrap_or_else(new);
        let place = place % packet.bytes.len();
        let end = place + over.len();
        packet.bytes.resize(packet.bytes.len().max(end), 0);
        packet.bytes[place..end].copy_from_slice(over);
        fill_checksum(&mut packet.bytes);
        self.deliver(&packet);
    }

    /// Reports an ICMP error with an arbitrary quote.
    fn report_undeliverable(&mut self, host: usize, other: usize, script: &mut Script<'_>) {
        self.ledger.is_forged = true;
        let quote = script.bytes(HEADER);
        if let Some((_, socket)) = &mut self.sockets[host] {
            let to = address(other);
            socket.handle_undeliverable(to.ip(), to.port(), quote);
        }
    }

    fn read(&mut self, host: usize) {
        let Some((incarnation, socket)) = &mut self.sockets[host] else { return };
        let peeked = socket.peek().map(|message| message.bytes.to_vec());
        let mut first = None;
        while socket.receive(|message| {
            first.get_or_insert_with(|| message.bytes.to_vec());
            self.ledger.on_received(*incarnation, message.bytes);
        }) {}
        assert_eq!(peeked, first, "peek");
    }

    fn poll_events(&mut self) {
        for (incarnation, socket) in self.sockets.iter_mut().flatten() {
            while let Some(event) = socket.poll_event() {
                if let Event::Outcome { id, outcome } = event {
                    self.ledger.on_outcome(*incarnation, id, outcome);
                }
            }
        }
    }

    /// Runs without loss until nothing is pending.
    fn complete(&mut self) {
        for _ in 0..2_000 {
            for host in 0..HOSTS {
                self.handle_timeout(host);
                self.transmit(host, 0);
                self.read(host);
            }
            self.poll_events();
            let pending = self.sockets.iter().flatten().any(|socket| !socket.1.is_acknowledged());
            let transmits = self.sockets.iter().flatten().any(|it| it.1.has_pending_transmit());
            if !pending && !transmits {
                break;
            }
            let due = (0..HOSTS).filter_map(|host| {
                let due = self.sockets[host].as_ref()?.1.poll_timeout()?;
                Some(due.saturating_since(self.time(host)))
            });
            let step = if transmits { Duration::ZERO } else { due.min().unwrap_or(Duration::ZERO) };
            self.advance(step.max(Duration::from_micros(1)));
        }
        if !self.ledger.is_forged {
            let all = self.sockets.iter().flatten().all(|socket| socket.1.is_acknowledged());
            assert!(all, "pending messages do not complete");
            let open = self.sockets.iter().flatten().map(|socket| socket.0).collect();
            self.ledger.check_end(&open);
        }
    }
}

/// The messages sent and received.
#[derive(Default)]
struct Ledger {
    is_forged: bool,
    numbers: BTreeMap<u32, u32>,
    sent: BTreeMap<Identity, Sent>,
    /// The identity of each message by its sender's incarnation and its identifier.
    identities: BTreeMap<(u32, MessageId), Identity>,
    /// The newest message of each pair of incarnations, receiver last.
    newest: BTreeMap<(u32, u32), u32>,
}

struct Sent {
    length: usize,
    /// The receiver's incarnation when the message was sent.
    receiver: Option<u32>,
    is_received: bool,
    outcome: Option<Outcome>,
}

impl Ledger {
    fn next_number(&mut self, incarnation: u32) -> u32 {
        let number = self.numbers.entry(incarnation).or_default();
        *number += 1;
        *number
    }

    fn on_sent(&mut self, identity: Identity, id: MessageId, length: usize, to: Option<u32>) {
        self.identities.insert((identity.0, id), identity);
        let sent = Sent { length, receiver: to, is_received: false, outcome: None };
        self.sent.insert(identity, sent);
    }

    fn on_received(&mut self, receiver: u32, bytes: &[u8]) {
        if self.is_forged || bytes.len() < IDENTITY {
            return;
        }
        let identity = read_identity(bytes);
        let sent = self.sent.get_mut(&identity).expect("a received message was sent");
        assert_eq!(sent.length, bytes.len(), "{identity:?}");
        let mut expected = vec![0; bytes.len()];
        write_content(identity, &mut expected);
        assert!(bytes == expected, "wrong content of {identity:?}");
        assert_ne!(sent.outcome, Some(Outcome::NotDelivered), "{identity:?} was received");
        sent.is_received = true;
        let newest = self.newest.entry((identity.0, receiver)).or_default();
        assert!(*newest < identity.1, "{identity:?} was received after {newest} by {receiver}");
        *newest = identity.1;
    }

    fn on_outcome(&mut self, incarnation: u32, id: MessageId, outcome: Outcome) {
        let identity = self.identities.remove(&(incarnation, id));
        let identity = identity.unwrap_or_else(|| panic!("a second outcome of {id:?}"));
        let sent = self.sent.get_mut(&identity).expect("the message was accepted");
        sent.outcome = Some(outcome);
        let is_wrong = sent.is_received && outcome == Outcome::NotDelivered;
        assert!(self.is_forged || !is_wrong, "{identity:?} was received before");
    }

    /// Checks that messages reported as delivered were received by sockets that are still open.
    fn check_end(&self, open: &BTreeSet<u32>) {
        for (identity, sent) in &self.sent {
            let is_open = sent.receiver.is_some_and(|receiver| open.contains(&receiver));
            let is_missing = sent.outcome == Some(Outcome::Delivered) && !sent.is_received;
            let has_identity = sent.length >= IDENTITY;
            assert!(!(is_open && is_missing && has_identity), "{identity:?} was not received");
        }
    }
}

fn config() -> Config {
    Config {
        packet_max: 104,
        message_max: 640,
        send_buffer: 2_000,
        receive_buffer: 1_000,
        peers: 8,
        unconfirmed_peers: 1,
        tracked_messages: 8,
        ..Config::new(crc32c::crc32c_append)
    }
}

fn address(host: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, host as u8 + 1], 7))
}

/// Writes the content of a message, which starts with its identity if there is room.
fn write_content((incarnation, number): Identity, bytes: &mut [u8]) {
    bytes.fill((incarnation ^ number) as u8);
    if let Some(identity) = bytes.first_chunk_mut::<IDENTITY>() {
        identity[..4].copy_from_slice(&incarnation.to_be_bytes());
        identity[4..].copy_from_slice(&number.to_be_bytes());
    }
}

fn read_identity(bytes: &[u8]) -> Identity {
    let word = |at: usize| u32::from_be_bytes([0, 1, 2, 3].map(|byte| bytes[at + byte]));
    (word(0), word(4))
}

/// Returns an exchange in both directions, a long message with loss, a restart, a cancel, an
/// overload, a port without a socket, evictions and forged packets.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    // Three hosts: the step kinds of host 1 are 0x10 higher. 11 s make all senders trusted.
    let trusted = [0, 9, 10, 0xF8, 0x2A];
    let round = [3, 0, 0x13, 0, 3, 0, 0x13, 0];
    let seed = |name: &str, parts: &[&[u8]]| {
        let parts: Vec<_> = [&trusted[..]].iter().chain(parts).copied().collect();
        (name.to_owned(), parts.concat())
    };
    let overload = [0, 100, 0, 0x20, 100, 0, 3, 0, 0x23, 0, 0x13, 0].repeat(20);
    let forged: Vec<u8> =
        (0..80).flat_map(|place| [0, 20, 0, 3, 0, 0x13, 0, 8, 0, place % 40, 1, 0xA5]).collect();
    vec![
        ("untrusted".to_owned(), [&[0, 0, 0, 9, 0][..], &round, &round].concat()),
        seed("exchange", &[&[0, 9, 0, 0x50, 20, 0], &round, &[0x1D, 0x0D]]),
        seed("long", &[&[0, 0x80, 2, 3, 0x5A, 0x13, 0, 9, 0xFF, 0xFF, 12, 3, 0], &round]),
        seed("restart", &[&[0, 9, 0], &round, &[0, 30, 0, 0x1F], &round, &round, &[0x1D]]),
        seed("cancel", &[&[0, 9, 0, 3, 0xF0, 11, 0, 9, 0], &round, &[0x1D]]),
        seed("overload", &[&overload, &[0x1D], &round]),
        seed("no_socket", &[&[0x9F, 0, 9, 0, 0, 10, 0, 3, 0, 0x1F, 0, 9, 0], &round]),
        seed("evictions", &[&[0, 9, 0, 0x60, 9, 0, 3, 0, 0x23, 0], &round, &[0x23, 0], &round]),
        seed("late", &[&[0, 9, 0, 3, 1, 0x1F, 10, 0xE0, 0x2E, 7, 0, 12], &round, &[7, 1]]),
        seed("unreachable", &[&[0, 9, 0, 3, 1, 10, 0xE0, 0x2E, 12, 3, 1, 0xC0, 9, 0, 3, 0]]),
        seed("forged", &[&forged, &round, &[0x0E, 1, 2, 3]]),
    ]
}
