//! Two sockets and the packets between them, moved by hand.

use core::num::NonZeroU32;
use std::net::SocketAddr;

use hairpin_rds::{Config, Delivery, Event, MessageId, Outcome, Socket};
use hairpin_time::{Duration, Instant};

/// The one-way delay of a packet.
pub(crate) const DELAY: Duration = Duration::from_micros(50);

pub(crate) fn config() -> Config {
    Config {
        packet_max: 104,
        message_max: 64_000,
        send_buffer: 104 * 200,
        receive_buffer: 104 * 200,
        peers: 8,
        unconfirmed_peers: 2,
        tracked_messages: 16,
        ..Config::new(crc32c::crc32c_append)
    }
}

/// The payload bytes of a packet with this configuration.
pub(crate) const PAYLOAD: usize = 64;

pub(crate) fn address(host: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, host], 4_000))
}

pub(crate) fn bound(now: Instant, host: u8, incarnation: u32, config: Config) -> Socket {
    let mut socket = Socket::new(config, now);
    socket.bind(now, address(host), NonZeroU32::new(incarnation).unwrap()).unwrap();
    socket
}

/// Returns all packets that a socket has to transmit, with the destination's host number.
pub(crate) fn packets(now: Instant, socket: &mut Socket) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    while let Some(transmit) = socket.poll_transmit(now) {
        packets.push(transmit.packet.to_vec());
    }
    packets
}

pub(crate) fn deliver(now: Instant, from: u8, socket: &mut Socket, packets: &[Vec<u8>]) {
    for packet in packets {
        socket.handle_packet(now, address(from).ip(), packet, Delivery::Queue);
    }
}

pub(crate) fn send(now: Instant, socket: &mut Socket, to: u8, bytes: &[u8]) -> MessageId {
    let fill = |buffer: &mut [u8]| buffer.copy_from_slice(bytes);
    socket.send_tracked(now, address(to), bytes.len(), fill).unwrap()
}

pub(crate) fn received(socket: &mut Socket) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    while socket.receive(|message| all.push(message.bytes.to_vec())) {}
    all
}

pub(crate) fn events(socket: &mut Socket) -> Vec<Event> {
    std::iter::from_fn(|| socket.poll_event()).collect()
}

pub(crate) fn outcome(id: MessageId, outcome: Outcome) -> Event {
    Event::Outcome { id, outcome }
}

/// Host 1 (`a`) and host 2 (`b`), which know each other.
pub(crate) struct Pair {
    pub(crate) now: Instant,
    pub(crate) a: Socket,
    pub(crate) b: Socket,
}

impl Pair {
    pub(crate) fn new(config: Config) -> Self {
        let start = Instant::from_nanos(1_000_000_000);
        let mut pair =
            Self { now: start, a: bound(start, 1, 0xA1, config), b: bound(start, 2, 0xB1, config) };
        pair.now += Duration::from_secs(11);
        send(pair.now, &mut pair.a, 2, b"hello");
        send(pair.now, &mut pair.b, 1, b"hello");
        pair.settle();
        assert_eq!(received(&mut pair.a).len() + received(&mut pair.b).len(), 2);
        assert_eq!(events(&mut pair.a).len() + events(&mut pair.b).len(), 2);
        pair
    }

    pub(crate) fn wait(&mut self, time: Duration) {
        self.now += time;
    }

    /// Moves the packets of `a` to `b` after the delay.
    pub(crate) fn a_to_b(&mut self) {
        let packets = packets(self.now, &mut self.a);
        self.wait(DELAY);
        deliver(self.now, 1, &mut self.b, &packets);
    }

    pub(crate) fn b_to_a(&mut self) {
        let packets = packets(self.now, &mut self.b);
        self.wait(DELAY);
        deliver(self.now, 2, &mut self.a, &packets);
    }

    /// Moves packets and expires deadlines until neither socket has anything to do.
    pub(crate) fn settle(&mut self) {
        for _ in 0..10_000 {
            self.a_to_b();
            self.b_to_a();
            let next = [self.a.poll_timeout(), self.b.poll_timeout()].into_iter().flatten().min();
            let Some(next) = next else { return };
            self.now = self.now.max(next);
            self.a.handle_timeout(self.now);
            self.b.handle_timeout(self.now);
        }
        panic!("pending work does not complete");
    }
}
