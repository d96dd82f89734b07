//! The listening socket, the connection and the packets between it and the script.

use std::collections::VecDeque;
use std::net::{SocketAddr, SocketAddrV4};
use std::time::{Instant as SystemInstant, SystemTime};

use hairpin_tcp::{
    Config, Connection, PreparedHeader, Rings, Route, Snapshot, Timestamps, Verdict,
};
use hairpin_time::{Duration, Instant};
use hairpin_wire::{EthernetHeader, MacAddress, TcpFlags};

use crate::packet::{Arrived, Segment, SynOptions, combine, parse};

/// The length of a ring.
const RING: usize = 1 << 20;
/// The window promised in the handshake.
const WINDOW: u16 = 0xFFFF;
/// The kernel's with the settings of the scripts.
const SCALE: u8 = 8;
const SEGMENT_SIZE: u16 = 1_460;
const FIRST: u32 = 1_000_000;
const TSVAL: u32 = 5_000;

/// Everything behind the calls of packetdrill.
pub(crate) struct Endpoint {
    started: SystemInstant,
    state: State,
    /// Packets that the script has not received, with the system's time in microseconds.
    pub(crate) sent: VecDeque<(i64, Vec<u8>)>,
    pub(crate) nodelay: bool,
    /// The descriptor of the connection, once accepted.
    pub(crate) descriptor: Option<i32>,
}

enum State {
    Closed,
    Listening,
    /// A SYN was answered.
    Answered(Peer),
    Established(Box<Established>),
}

/// The result of a SYN.
#[derive(Debug, Clone, Copy)]
struct Peer {
    local: SocketAddrV4,
    remote: SocketAddrV4,
    options: SynOptions,
    /// The number of the peer's first byte.
    next: u32,
    answered_at: Instant,
}

struct Established {
    peer: Peer,
    connection: Connection,
    header: PreparedHeader,
    send: Vec<u8>,
    receive: Vec<u8>,
    /// Set by `close`. The FIN follows once everything is sent, or an RST if bytes are unread.
    closing: bool,
    /// The numbers to send and to receive after our FIN.
    ended: Option<(u32, u32)>,
}

impl Endpoint {
    pub(crate) fn new() -> Self {
        let started = SystemInstant::now();
        Self {
            started,
            state: State::Closed,
            sent: VecDeque::new(),
            nodelay: false,
            descriptor: None,
        }
    }

    pub(crate) fn now(&self) -> Instant {
        let start = Instant::ZERO + Duration::from_secs(1);
        start + Duration::from_nanos(self.started.elapsed().as_nanos() as u64)
    }

    pub(crate) fn listen(&mut self) {
        self.state = State::Listening;
    }

    /// Returns the peer of the established connection.
    pub(crate) fn remote(&self) -> Option<SocketAddrV4> {
        match &self.state {
            State::Established(established) => Some(established.peer.remote),
            _ => None,
        }
    }

    /// Processes a packet of the script.
    pub(crate) fn handle(&mut self, packet: &[u8]) {
        let now = self.now();
        let Some(arrived) = parse(packet) else { return };
        match &mut self.state {
            State::Closed => {}
            State::Listening => self.answer_syn(&arrived),
            State::Answered(peer) => {
                let peer = *peer;
                let is_last = arrived.header.flags() == TcpFlags::ACK
                    || arrived.header.flags() == TcpFlags::ACK | TcpFlags::PSH;
                if is_last && arrived.header.acknowledgement_number() == FIRST.wrapping_add(1) {
                    let nagle = !self.nodelay;
                    let established = Established::new(now, peer, &arrived, nagle);
                    self.state = State::Established(Box::new(established));
                    if !arrived.payload.is_empty() {
                        self.handle(packet);
                    }
                }
            }
            State::Established(established) => {
                let answer = established.handle(now, &arrived);
                self.push(answer);
            }
        }
        self.transmit();
    }

    fn answer_syn(&mut self, arrived: &Arrived<'_>) {
        if arrived.header.flags() != TcpFlags::SYN {
            return;
        }
        let peer = Peer {
            answered_at: self.now(),
            local: arrived.to,
            remote: arrived.from,
            options: arrived.options,
            next: arrived.header.sequence_number().wrapping_add(1),
        };
        let options = SynOptions {
            segment_size: Some(SEGMENT_SIZE),
            scale: arrived.options.scale.map(|_| SCALE),
            ..arrived.options
        };
        let segment = Segment {
            from: peer.local,
            to: peer.remote,
            sequence: FIRST,
            acknowledgment: peer.next,
            flags: TcpFlags::SYN | TcpFlags::ACK,
            window: WINDOW,
            timestamps: arrived.options.timestamp.map(|value| (TSVAL, value)),
            syn: Some(options),
        };
        self.push([segment.write()]);
        self.state = State::Answered(peer);
    }

    /// Queues bytes to send. Returns the number of bytes accepted.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Option<usize> {
        let now = self.now();
        let State::Established(it) = &mut self.state else { return None };
        let mut rings = Rings { send: &mut it.send, receive: &mut it.receive };
        it.connection.set_nagle(!self.nodelay);
        let count = it.connection.queue(now, &mut rings, bytes);
        self.transmit();
        Some(count)
    }

    /// Reads received bytes. Returns their number, and `None` if nothing was received.
    pub(crate) fn read(&mut self, into: &mut [u8]) -> Option<usize> {
        let State::Established(it) = &mut self.state else { return None };
        let rings = Rings { send: &mut it.send, receive: &mut it.receive };
        let mut count = 0;
        it.connection.receive(&rings, |bytes| {
            let part = bytes.len().min(into.len() - count);
            into[count..count + part].copy_from_slice(&bytes[..part]);
            count += part;
            part
        });
        let is_end = it.connection.is_at_end();
        self.transmit();
        (count > 0 || is_end).then_some(count)
    }

    pub(crate) fn close(&mut self) {
        if let State::Established(established) = &mut self.state {
            established.closing = true;
        }
        self.transmit();
    }

    /// Processes what has expired and queues what is due.
    pub(crate) fn transmit(&mut self) {
        let now = self.now();
        if let State::Established(established) = &mut self.state {
            let due = established.transmit(now);
            self.push(due);
        }
    }

    fn push(&mut self, packets: impl IntoIterator<Item = Vec<u8>>) {
        let time = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |it| it.as_micros() as i64);
        self.sent.extend(packets.into_iter().map(|packet| (time, packet)));
    }
}

impl Established {
    fn new(now: Instant, peer: Peer, arrived: &Arrived<'_>, nagle: bool) -> Self {
        let send_scale = peer.options.scale.unwrap_or(0);
        let window = u32::from(arrived.header.window()) << send_scale;
        let next = FIRST.wrapping_add(1);
        let recent = arrived.options.timestamp.or(peer.options.timestamp);
        let round_trip = now - peer.answered_at;
        let value = TSVAL.wrapping_add(round_trip.as_millis() as u32);
        let snapshot = Snapshot {
            send_unacknowledged: next,
            send_next: next,
            send_window: window,
            send_window_max: window,
            send_window_update: peer.next,
            receive_next: peer.next,
            receive_window: WINDOW.into(),
            send_scale,
            receive_scale: peer.options.scale.map_or(0, |_| SCALE),
            segment_size: peer.options.segment_size.unwrap_or(536).min(SEGMENT_SIZE),
            selective: peer.options.selective,
            timestamps: peer.options.timestamp.map(|_| Timestamps { value, floor: value, recent }),
            round_trip: Some(round_trip),
        };
        let (mut send, mut receive) = (vec![0; RING], vec![0; RING]);
        let mut rings = Rings { send: &mut send, receive: &mut receive };
        // The scripts end before the kernel leaves its quick acknowledgment mode.
        let config = Config { nagle, quick_ack: true, hands_back_bulk: false };
        let connection = Connection::new(now, &snapshot, &[], config, &mut rings)
            .expect("the handshake gives a valid state");
        let header = PreparedHeader::new(&Route {
            source_mac: MacAddress([2; 6]),
            next_hop: MacAddress([2; 6]),
            local: SocketAddr::V4(peer.local),
            remote: SocketAddr::V4(peer.remote),
            ttl: 64,
            traffic_class: 0,
        });
        Self { peer, connection, header, send, receive, closing: false, ended: None }
    }

    /// Processes a segment. Returns the answers that the engine does not give.
    fn handle(&mut self, now: Instant, arrived: &Arrived<'_>) -> Option<Vec<u8>> {
        if let Some((next, received)) = &mut self.ended {
            if !arrived.header.flags().contains(TcpFlags::FIN) {
                return None;
            }
            *received = arrived.header.sequence_number().wrapping_add(1);
            let (next, received) = (*next, *received);
            return Some(self.segment(now, TcpFlags::ACK, next, received));
        }
        let mut rings = Rings { send: &mut self.send, receive: &mut self.receive };
        // A segment for the kernel is not answered: a script that sends one fails.
        let _: Verdict = self.connection.handle_segment(now, arrived.segment, &mut rings, &mut ());
        None
    }

    fn transmit(&mut self, now: Instant) -> Vec<Vec<u8>> {
        if self.ended.is_some() {
            return Vec::new();
        }
        if self.connection.poll_timeout().is_some_and(|at| at <= now) {
            self.connection.handle_timeout(now);
        }
        let rings = Rings { send: &mut self.send, receive: &mut self.receive };
        let mut packets: Vec<Vec<u8>> = Vec::new();
        let mut frame = [0; 2_048];
        while let Some(length) =
            self.connection.poll_transmit(now, &rings, &self.header, &mut frame)
        {
            let packet = &frame[EthernetHeader::SIZE..length];
            if !packets.last_mut().is_some_and(|last| combine(last, packet)) {
                packets.push(packet.to_vec());
            }
        }
        let unsent: usize = self.connection.unsent(&rings).iter().map(|part| part.len()).sum();
        if self.closing && unsent == 0 {
            let snapshot = self.connection.snapshot(now);
            let (next, received) = (snapshot.send_next, snapshot.receive_next);
            let is_read = self.connection.unread_length() == 0;
            let end = if is_read { TcpFlags::FIN } else { TcpFlags::RST };
            packets.push(self.segment(now, end | TcpFlags::ACK, next, received));
            self.ended = Some((next.wrapping_add(1), received));
        }
        packets
    }

    /// Writes a segment without data.
    fn segment(&self, now: Instant, flags: TcpFlags, next: u32, received: u32) -> Vec<u8> {
        let timestamps = self.connection.snapshot(now).timestamps;
        let segment = Segment {
            from: self.peer.local,
            to: self.peer.remote,
            sequence: next,
            acknowledgment: received,
            flags,
            window: WINDOW >> self.peer.options.scale.map_or(0, |_| SCALE),
            timestamps: timestamps.map(|it| (it.value, it.recent.unwrap_or(0))),
            syn: None,
        };
        segment.write()
    }
}
