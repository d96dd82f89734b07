//! One end of a connection: the value, its rings and its headers.

use std::net::SocketAddr;

use hairpin_tcp::{
    Config, Connection, Listener, PreparedHeader, Rings, Route, Snapshot, Timestamps, Verdict,
};
use hairpin_time::Instant;
use hairpin_wire::{Ipv4Header, MacAddress, Protocol, Sum, TcpHeader};

/// The length of the longest frame.
pub(crate) const FRAME: usize = 2_048;

/// The settings of a connection, the same at both ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) segment_size: u16,
    pub(crate) timestamps: bool,
    pub(crate) selective: bool,
    pub(crate) scale: u8,
    pub(crate) ring: usize,
    pub(crate) config: Config,
    /// The first sequence numbers of both ends.
    pub(crate) starts: [u32; 2],
}

impl Shape {
    pub(crate) const USUAL: Self = Self {
        segment_size: 1_460,
        timestamps: true,
        selective: true,
        scale: 7,
        ring: 1 << 16,
        config: Config { nagle: false, quick_ack: false, hands_back_bulk: true },
        starts: [1_000, 5_000],
    };
}

/// One end.
pub(crate) struct Host {
    pub(crate) connection: Connection,
    pub(crate) send: Vec<u8>,
    pub(crate) receive: Vec<u8>,
    header: PreparedHeader,
    /// The header of the opposite direction.
    from_peer: PreparedHeader,
    config: Config,
}

impl Host {
    /// Creates the end with this number, 0 or 1.
    pub(crate) fn new(now: Instant, shape: &Shape, end: usize) -> Self {
        let window = (shape.ring / 2) as u32;
        let value = 77_000 * (end as u32 + 1);
        let snapshot = Snapshot {
            send_unacknowledged: shape.starts[end],
            send_next: shape.starts[end],
            send_window: window,
            send_window_max: window,
            send_window_update: shape.starts[1 - end],
            receive_next: shape.starts[1 - end],
            receive_window: window,
            send_scale: shape.scale,
            receive_scale: shape.scale,
            segment_size: shape.segment_size,
            selective: shape.selective,
            timestamps: shape.timestamps.then_some(Timestamps {
                value,
                floor: value,
                recent: None,
            }),
            round_trip: None,
        };
        let (mut send, mut receive) = (vec![0; shape.ring], vec![0; shape.ring]);
        let mut rings = Rings { send: &mut send, receive: &mut receive };
        let connection = Connection::new(now, &snapshot, &[], shape.config, &mut rings).unwrap();
        let ends: [SocketAddr; 2] =
            ["10.0.0.1:1000".parse().unwrap(), "10.0.0.2:2000".parse().unwrap()];
        let route = |from: usize| Route {
            source_mac: MacAddress([2; 6]),
            next_hop: MacAddress([4; 6]),
            local: ends[from],
            remote: ends[1 - from],
            ttl: 64,
            traffic_class: 0,
        };
        let header = PreparedHeader::new(&route(end));
        let from_peer = PreparedHeader::new(&route(1 - end));
        Self { connection, send, receive, header, from_peer, config: shape.config }
    }

    pub(crate) fn queue(&mut self, now: Instant, bytes: &[u8]) -> usize {
        let mut rings = Rings { send: &mut self.send, receive: &mut self.receive };
        self.connection.queue(now, &mut rings, bytes)
    }

    /// Returns the next frame that is due.
    pub(crate) fn transmit(&mut self, now: Instant) -> Option<Vec<u8>> {
        let rings = Rings { send: &mut self.send, receive: &mut self.receive };
        let mut frame = [0; FRAME];
        let length = self.connection.poll_transmit(now, &rings, &self.header, &mut frame)?;
        Some(frame[..length].to_vec())
    }

    /// Sends bytes in one segment, written in place.
    pub(crate) fn send_in_place(&mut self, now: Instant, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut rings = Rings { send: &mut self.send, receive: &mut self.receive };
        let mut frame = [0; FRAME];
        let fill = |to: &mut [u8]| to.copy_from_slice(bytes);
        let (header, length) = (&self.header, bytes.len());
        let sent = self.connection.send(now, &mut rings, header, length, &mut frame, fill)?;
        Some(frame[..sent].to_vec())
    }

    /// Processes a frame. Invalid ones are dropped, as `hairpin-stack` does.
    pub(crate) fn handle(
        &mut self,
        now: Instant,
        frame: &[u8],
        listener: &mut impl Listener,
    ) -> Option<Verdict> {
        let segment = segment(frame)?;
        let mut rings = Rings { send: &mut self.send, receive: &mut self.receive };
        Some(self.connection.handle_segment(now, segment, &mut rings, listener))
    }

    /// Passes unread bytes to `read`.
    pub(crate) fn read(&mut self, read: impl FnMut(&[u8]) -> usize) -> usize {
        let rings = Rings { send: &mut self.send, receive: &mut self.receive };
        self.connection.receive(&rings, read)
    }

    /// Returns an acknowledgment from the peer of a byte that was received before, as the kernel
    /// probes windows and idle peers.
    pub(crate) fn probe_of_peer(&self, now: Instant) -> Vec<u8> {
        let mut frame = [0; FRAME];
        let sequence = self.connection.receive_next().wrapping_sub(1);
        let flags = hairpin_wire::TcpFlags::ACK;
        let header = &self.from_peer;
        let length =
            self.connection.write_from_peer(now, header, flags, sequence, [&[], &[]], &mut frame);
        frame[..length].to_vec()
    }

    /// Moves the connection through a snapshot and its bytes into a new value with new rings, as
    /// handback and takeover do. Bytes received out of order are lost.
    pub(crate) fn restore(&mut self, now: Instant) {
        let snapshot = self.connection.snapshot(now);
        let rings = Rings { send: &mut self.send, receive: &mut self.receive };
        let join = |parts: [&[u8]; 2]| parts.concat();
        let unacknowledged = join(self.connection.unacknowledged(&rings));
        let unsent = join(self.connection.unsent(&rings));
        let unread = join(self.connection.unread(&rings));
        self.send.fill(0xEE);
        self.receive.fill(0xEE);
        // The unread bytes are received again, as the kernel's are after a takeover.
        let first = snapshot.receive_next.wrapping_sub(unread.len() as u32);
        let window = snapshot.receive_window + unread.len() as u32;
        let snapshot = Snapshot { receive_next: first, receive_window: window, ..snapshot };
        let mut rings = Rings { send: &mut self.send, receive: &mut self.receive };
        let connection = Connection::new(now, &snapshot, &unacknowledged, self.config, &mut rings);
        self.connection = connection.unwrap();
        let mut rings = Rings { send: &mut self.send, receive: &mut self.receive };
        self.connection.handle_bytes(now, first, &unread, &mut rings, &mut ());
        assert_eq!(self.connection.queue(now, &mut rings, &unsent), unsent.len());
        self.connection.request_acknowledgment();
    }
}

/// Returns the TCP segment of an IPv4 frame with valid checksums.
pub(crate) fn segment(frame: &[u8]) -> Option<&[u8]> {
    let packet = frame.get(14..)?;
    let (ip, _, segment) = Ipv4Header::parse(packet).ok()?;
    let length = segment.len() as u16;
    let pseudo = Sum::pseudo_ipv4(ip.source(), ip.destination(), Protocol::TCP, length);
    let valid = ip.protocol() == Protocol::TCP
        && ip.is_checksum_valid(packet)
        && TcpHeader::is_checksum_valid(pseudo, segment);
    valid.then_some(segment)
}
