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
        Self::from_snapshot(now, &snapshot, shape, end)
    }

    /// Creates the end with this number from a state.
    pub(crate) fn from_snapshot(
        now: Instant,
        snapshot: &Snapshot,
        shape: &Shape,
        end: usize,
    ) -> Self {
        let (mut send, mut receive) = (vec![0; shape.ring], vec![0; shape.ring]);
        let mut rings = Rings { send: &mut send, receive: &mut receive };
        let connection = Connection::new(now, snapshot, &[], shape.config, &mut rings).unwrap();
        let ends: [SocketAddr; 2] =
            ["10.0.0.1:1000".parse().unwrap(), "10.0.0.2:2000".parse().unwrap()];
        let header = PreparedHeader::new(&Route {
            source_mac: MacAddress([2; 6]),
            next_hop: MacAddress([4; 6]),
            local: ends[end],
            remote: ends[1 - end],
            ttl: 64,
            traffic_class: 0,
        });
        Self { connection, send, receive, header, config: shape.config }
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
        let mut frame = [0; FRAME];
        let sent = self.send_into(now, bytes, &mut frame)?;
        Some(frame[..sent].to_vec())
    }

    /// Like [`send_in_place`](Self::send_in_place); [`Connection::catch_up`] must follow.
    pub(crate) fn send_first(&mut self, now: Instant, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut frame = [0; FRAME];
        let mut rings = Rings { send: &mut self.send, receive: &mut self.receive };
        let (header, into) = (&self.header, &mut frame);
        let fill = |to: &mut [u8]| to.copy_from_slice(bytes);
        let sent = self.connection.send_first(now, &mut rings, header, bytes.len(), into, fill)?;
        Some(frame[..sent].to_vec())
    }

    /// Sends bytes in one segment, written in place. Returns the length of the frame.
    #[inline]
    pub(crate) fn send_into(
        &mut self,
        now: Instant,
        bytes: &[u8],
        frame: &mut [u8],
    ) -> Option<usize> {
        let mut rings = Rings { send: &mut self.send, receive: &mut self.receive };
        let fill = |to: &mut [u8]| to.copy_from_slice(bytes);
        self.connection.send(now, &mut rings, &self.header, bytes.len(), frame, fill)
    }

    /// Processes a frame. Invalid ones are dropped, as `hairpin-stack` does.
    #[inline]
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

    /// Like [`handle`](Self::handle); [`Connection::catch_up`] must follow.
    pub(crate) fn handle_first(
        &mut self,
        now: Instant,
        frame: &[u8],
        listener: &mut impl Listener,
    ) -> Option<Verdict> {
        let segment = segment(frame)?;
        let mut rings = Rings { send: &mut self.send, receive: &mut self.receive };
        Some(self.connection.handle_segment_first(now, segment, &mut rings, listener))
    }

    /// Passes unread bytes to `read`.
    pub(crate) fn read(&mut self, read: impl FnMut(&[u8]) -> usize) -> usize {
        let rings = Rings { send: &mut self.send, receive: &mut self.receive };
        self.connection.receive(&rings, read)
    }

    /// Returns an acknowledgment with the number of a byte that the peer has received: the kernel
    /// probes windows and idle peers in this way.
    pub(crate) fn window_probe(&mut self, now: Instant) -> Vec<u8> {
        let mut frame = [0; FRAME];
        let length = self.connection.write_acknowledgment(now, &self.header, &mut frame);
        let mut frame = frame[..length].to_vec();
        let (ip, _, _) = Ipv4Header::parse(&frame[14..]).unwrap();
        let (source, destination, length) = (ip.source(), ip.destination(), frame.len() - 34);
        let pseudo = Sum::pseudo_ipv4(source, destination, Protocol::TCP, length as u16);
        let (header, _) = TcpHeader::split_mut(&mut frame[34..]).unwrap();
        header.set_sequence_number(self.connection.send_unacknowledged().wrapping_sub(1));
        header.set_checksum(0);
        let checksum = pseudo.bytes(&frame[34..]).checksum();
        TcpHeader::split_mut(&mut frame[34..]).unwrap().0.set_checksum(checksum);
        assert!(segment(&frame).is_some());
        frame
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
