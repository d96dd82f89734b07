//! A connection that is taken over: its frames in and out.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use hairpin_tcp::{Connection, Listener, PreparedHeader, Reason, Rings, Verdict};
use hairpin_time::Instant;
use hairpin_wire::{
    EtherType, EthernetHeader, Ipv4Header, Ipv6Header, MacAddress, Protocol, Sum, TcpHeader,
};
use hairpin_xdp::{ETHERNET_HEADER, Entry, Interface, Packet};

use super::counters::Count;
use super::kernel_socket::{Beside, KernelSocket};
use super::ring::Ring;
use super::{TICK_MAX, now, tick};
use crate::control_plane::NextHop;
use crate::data_plane::is_down;
use crate::drops::GIVEN_UP_AFTER;
use crate::readiness::Readiness;
use crate::stack::SharedState;
use crate::{DropCause, FallbackReason, PathEvent};

/// The most frames processed per poll.
pub(super) const BATCH: usize = 32;
/// The most batches of frames that are processed before an expired deadline.
const LATE_BATCHES: usize = 8;
/// The most segments sent per poll.
const SEGMENTS_MAX: usize = 64;
/// The size of a read from the kernel's socket.
const READ: usize = 16 << 10;

/// A connection taken over.
#[derive(Debug)]
pub(super) struct Bypass {
    /// Several KiB, which a move would copy.
    pub(super) connection: Box<Connection>,
    pub(super) send_ring: Ring,
    pub(super) receive_ring: Ring,
    pub(super) header: PreparedHeader,
    /// The headers of segments that are presented to the kernel.
    pub(super) from_peer: PreparedHeader,
    pub(super) local: SocketAddr,
    pub(super) remote: SocketAddr,
    pub(super) entry: Entry,
    pub(super) flow: usize,
    /// The transmit queue.
    pub(super) queue: u32,
    pub(super) hop: NextHop,
    /// The control plane's generation when the path was found or lost.
    pub(super) generation: u64,
    /// `false` after the path was lost, until the connection is handed back.
    pub(super) has_path: bool,
    /// The sequence number of the next byte to read from the kernel's socket.
    pub(super) kernel_next: u32,
    /// The bytes read from the kernel's socket, which has counted them as received.
    pub(super) read_from_kernel: u64,
    /// The kernel's MSS clamp.
    pub(super) segment_size: u32,
    /// The values of `SO_KEEPALIVE` and `SO_REUSEADDR` before the takeover.
    pub(super) keepalive: i32,
    pub(super) reuse: i32,
    /// `true` once a handback has bound the kernel's socket, which then keeps its port.
    pub(super) is_bound: bool,
    /// `true` once the kernel's socket has reported an error. What it reports later, an end, is its
    /// own.
    pub(super) is_aborted: bool,
    pub(super) taken_at: Instant,
    /// The time of the last frame or send.
    pub(super) active_at: Instant,
    /// IP packets that only the kernel can process, presented to it after handback.
    pub(super) for_kernel: Vec<Vec<u8>>,
    /// Written to the kernel's socket by calls that were not seen.
    pub(super) beside: Beside,
    pub(super) packets: Vec<Packet>,
    /// A frame for the next segment, and the frame received last. Both are exchanged with the data
    /// plane when a segment is posted, so that an answer takes its lock only once.
    pub(super) spare: Option<Packet>,
    pub(super) received: Option<Packet>,
    pub(super) check: FrameCheck,
}

/// The state of the check of received frames.
#[derive(Debug)]
pub(super) struct FrameCheck {
    /// `true` after a segment with a partial checksum.
    has_partial: bool,
    /// The number of frames dropped, until one is accepted.
    lost_frames: Option<u32>,
}

impl FrameCheck {
    pub(super) fn new() -> Self {
        Self { has_partial: false, lost_frames: Some(0) }
    }
}

impl Bypass {
    /// Returns `true` if a poll would find nothing and do nothing: the usual case when spinning.
    #[inline]
    fn is_idle(&self, shared: &SharedState, readiness: &Readiness, tick: Instant) -> bool {
        !readiness.has_frames()
            && shared.rings_are_idle()
            && !readiness.is_kernel_pending()
            && !self.connection.has_transmit()
            && !self.has_expired(tick)
            && self.generation == shared.generation()
    }

    /// Processes what has arrived and expired, and sends what is due.
    ///
    /// # Errors
    /// The kernel's, of the interface.
    pub(super) fn poll(
        &mut self,
        shared: &SharedState,
        socket: KernelSocket<'_>,
        readiness: &Readiness,
        listener: &mut impl Listener,
    ) -> io::Result<()> {
        let polled = self.poll_first(shared, socket, readiness, tick(), listener);
        self.catch_up(now());
        polled
    }

    /// Like [`poll`](Self::poll), but may leave the last acknowledgment to
    /// [`catch_up`](Self::catch_up).
    ///
    /// # Errors
    /// The kernel's, of the interface.
    #[inline]
    pub(super) fn poll_first(
        &mut self,
        shared: &SharedState,
        socket: KernelSocket<'_>,
        readiness: &Readiness,
        tick: Instant,
        listener: &mut impl Listener,
    ) -> io::Result<()> {
        self.catch_up(tick);
        if self.is_idle(shared, readiness, tick) {
            return Ok(());
        }
        let now = self.receive_frames(shared, listener)?.unwrap_or_else(now);
        if readiness.take_kernel_pending() || self.connection.has_gap() {
            self.read_kernel(shared, socket, now, listener);
        }
        let now = if self.is_due(now) { self.expire(shared, now, listener)? } else { now };
        self.transmit(shared, now)
    }

    /// Processes expired deadlines, after all that had arrived when `now` was read: a thread that
    /// was held up before that must not send again what was acknowledged in time. Returns the time.
    #[cold]
    #[inline(never)]
    fn expire(
        &mut self,
        shared: &SharedState,
        mut now: Instant,
        listener: &mut impl Listener,
    ) -> io::Result<Instant> {
        for _ in 0..LATE_BATCHES {
            if !self.is_due(now) {
                return Ok(now);
            }
            let Some(later) = self.receive_frames(shared, listener)? else { break };
            now = later;
        }
        self.catch_up(now);
        self.connection.handle_timeout(now);
        Ok(now)
    }

    /// Returns `true` if a deadline has passed. The precise time is read only near one.
    #[inline]
    fn has_expired(&self, tick: Instant) -> bool {
        self.is_due(tick + TICK_MAX) && self.is_due(now())
    }

    #[inline]
    fn is_due(&self, now: Instant) -> bool {
        self.connection.poll_timeout().is_some_and(|at| at <= now)
    }

    /// Does what the last poll or send has left. A segment that was written leaves at `now`.
    #[inline]
    pub(super) fn catch_up(&mut self, now: Instant) {
        if self.connection.catch_up(now) {
            self.store();
        }
    }

    /// Processes frames. Returns the time; `None` without a frame. May leave the last
    /// acknowledgment to [`catch_up`](Self::catch_up).
    #[inline]
    pub(super) fn receive_frames(
        &mut self,
        shared: &SharedState,
        listener: &mut impl Listener,
    ) -> io::Result<Option<Instant>> {
        {
            let mut data_plane = shared.data_plane();
            data_plane.receive_flow(self.flow, &mut self.packets, BATCH)?;
            if self.packets.is_empty() {
                data_plane.interface.reclaim_idle(self.queue);
                shared.update_needs_refill(&data_plane);
                return Ok(None);
            }
        }
        // The frames are on their way from the core that wrote them.
        let now = now();
        self.active_at = now;
        if self.generation != shared.generation() {
            // Frames to a new Ethernet address arrive before the next segment is sent.
            self.find_path(shared);
        }
        let Self { connection, send_ring, receive_ring, packets, for_kernel, .. } = self;
        let Self { hop, check: FrameCheck { has_partial, lost_frames }, local, .. } = self;
        let mut rings = Rings { send: send_ring, receive: receive_ring };
        for packet in packets.iter() {
            let frame = shared.umem.bytes(packet);
            let segment = match segment(frame, hop.source_mac, has_partial) {
                Ok(segment) => segment,
                Err(cause) => {
                    drop_frame(shared, *local, cause, lost_frames, connection);
                    continue;
                }
            };
            *lost_frames = None;
            let verdict = connection.handle_segment_first(now, segment, &mut rings, listener);
            if verdict == Verdict::Kernel {
                for_kernel.push(frame[EthernetHeader::SIZE..].to_vec());
            }
        }
        // Before the bytes acknowledged now are overwritten.
        send_ring.store(|| connection.numbers());
        if let Some(last) = self.packets.pop() {
            self.keep(shared, last);
        }
        if !self.packets.is_empty() {
            let mut data_plane = shared.data_plane();
            for packet in self.packets.drain(..) {
                data_plane.interface.release(packet.into_frame());
            }
        }
        Ok(Some(now))
    }

    /// Keeps the frame received last until the next segment, or releases it if one is kept or
    /// frames are scarce.
    #[inline]
    fn keep(&mut self, shared: &SharedState, packet: Packet) {
        if self.received.is_none() && shared.tcp.spares_frames(shared.umem.settings().frames) {
            self.received = Some(packet);
        } else {
            shared.data_plane().interface.release(packet.into_frame());
        }
    }

    /// Exchanges the frame received last for one to send the next segment in.
    #[inline]
    fn exchange(&mut self, shared: &SharedState, interface: &mut Interface) {
        if self.spare.is_none() && shared.tcp.spares_frames(shared.umem.settings().frames) {
            self.spare = interface.packet(ETHERNET_HEADER);
        }
        if let Some(packet) = self.received.take() {
            interface.release(packet.into_frame());
        }
    }

    /// Returns the kept frame, with `length` bytes to write; `None` without one.
    #[inline]
    fn take_spare(&mut self, shared: &SharedState, length: u32) -> Option<Packet> {
        let frame = self.spare.take()?.into_frame();
        let packet = shared.umem.packet(frame, length);
        packet.map_err(|frame| shared.data_plane().interface.release(frame)).ok()
    }

    /// Releases the kept frames, at the end of the bypass.
    pub(super) fn release_kept(&mut self, shared: &SharedState) {
        for packet in [self.spare.take(), self.received.take()].into_iter().flatten() {
            shared.data_plane().interface.release(packet.into_frame());
        }
    }

    /// Reads late segments that the kernel has received and acknowledged.
    #[cold]
    pub(super) fn read_kernel(
        &mut self,
        shared: &SharedState,
        socket: KernelSocket<'_>,
        now: Instant,
        listener: &mut impl Listener,
    ) {
        if self.is_aborted {
            return;
        }
        let mut buffer = [0; READ];
        self.send_ring.store(|| self.connection.numbers());
        let mut rings = Rings { send: &mut self.send_ring, receive: &mut self.receive_ring };
        loop {
            match socket.read(&mut buffer) {
                Ok(Some(0)) => return self.connection.handle_end(self.kernel_next),
                Ok(Some(count)) => {
                    shared.tcp.count(Count::LateBytes, count as u64);
                    self.read_from_kernel += count as u64;
                    let (at, bytes) = (self.kernel_next, &buffer[..count]);
                    self.connection.handle_bytes(now, at, bytes, &mut rings, listener);
                    self.kernel_next = self.kernel_next.wrapping_add(count as u32);
                }
                Ok(None) => return,
                // Dissolved by a handback that found no route.
                Err(error) if error.kind() == io::ErrorKind::NotConnected => return,
                Err(error) => {
                    self.is_aborted = true;
                    // Otherwise the kernel has received an RST before the flow was redirected.
                    if error.kind() != io::ErrorKind::ConnectionReset {
                        // This host has ended the connection, with numbers that the peer ignores.
                        self.transmit_reset(shared);
                    }
                    return self.connection.request_handback(Reason::Reset);
                }
            }
        }
    }

    /// Returns `true` if no frame has arrived since the takeover, not even a dropped one.
    pub(super) fn has_received_nothing(&self) -> bool {
        self.check.lost_frames == Some(0)
    }

    /// Stores the numbers for the keeper.
    #[inline]
    pub(super) fn store(&self) {
        self.send_ring.store(|| self.connection.numbers());
    }

    /// Stores bytes to send, as many as fit. Returns their number.
    pub(super) fn queue(&mut self, now: Instant, bytes: &[u8]) -> usize {
        let mut rings = Rings { send: &mut self.send_ring, receive: &mut self.receive_ring };
        let count = self.connection.queue(now, &mut rings, bytes);
        self.store();
        count
    }

    /// Sends the segments that are due.
    ///
    /// # Errors
    /// The kernel's, of the interface.
    #[inline]
    pub(super) fn transmit(&mut self, shared: &SharedState, now: Instant) -> io::Result<()> {
        if !self.connection.has_transmit() {
            return Ok(());
        }
        if self.generation != shared.generation() {
            self.find_path(shared);
        }
        if !self.has_path {
            return Ok(());
        }
        self.catch_up(now);
        self.hop.used.store(true, Ordering::Relaxed);
        self.active_at = now;
        let longest = (ETHERNET_HEADER as usize + 40 + 40)
            .saturating_add(usize::try_from(self.segment_size).unwrap_or(usize::MAX));
        let longest = (longest as u32).min(shared.umem.settings().longest_frame());
        let mut frames = 0;
        // Without a free frame the segments stay due.
        let mut kept = self.take_spare(shared, longest);
        let mut data_plane = shared.data_plane();
        for _ in 0..SEGMENTS_MAX {
            let packet = kept.take().or_else(|| data_plane.interface.packet(longest));
            let Some(mut packet) = packet else { break };
            let frame = data_plane.interface.bytes_mut(&mut packet);
            let rings = Rings { send: &mut self.send_ring, receive: &mut self.receive_ring };
            let Some(length) = self.connection.poll_transmit(now, &rings, &self.header, frame)
            else {
                data_plane.interface.release(packet.into_frame());
                break;
            };
            packet.truncate(length as u32);
            // The keeper's numbers include a frame before it is sent.
            self.send_ring.store(|| self.connection.numbers());
            match data_plane.interface.post(self.queue, packet) {
                Ok(posted) => frames += posted,
                Err(packet) => {
                    // The ring is full: the segment is lost, and sent again after a timeout.
                    data_plane.interface.release(packet.into_frame());
                    break;
                }
            }
        }
        drop(data_plane);
        ignore_down(shared.kick(self.queue, frames))
    }

    /// Sends bytes in one segment, written in place. Returns `false` if that is not possible now.
    ///
    /// # Errors
    /// The kernel's, of the interface.
    #[inline]
    pub(super) fn send_in_place(
        &mut self,
        shared: &SharedState,
        tick: Instant,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<bool> {
        if self.generation != shared.generation() {
            self.find_path(shared);
        }
        if !self.has_path || length > usize::from(self.connection.segment_size()) {
            return Ok(false);
        }
        let needed = (self.header.segment_offset() + 60).saturating_add(length);
        let needed = u32::try_from(needed).unwrap_or(u32::MAX);
        let packet = self.take_spare(shared, needed);
        let packet = packet.or_else(|| shared.data_plane().interface.packet(needed));
        let Some(mut packet) = packet else { return Ok(false) };
        let mut rings = Rings { send: &mut self.send_ring, receive: &mut self.receive_ring };
        let frame = shared.umem.bytes_mut(&mut packet);
        let (connection, header) = (&mut self.connection, &self.header);
        let sent = connection.send_first(tick, &mut rings, header, length, frame, fill);
        let Some(length) = sent else {
            self.spare = Some(packet);
            return Ok(false);
        };
        self.hop.used.store(true, Ordering::Relaxed);
        packet.truncate(length as u32);
        self.store();
        let mut data_plane = shared.data_plane();
        self.exchange(shared, &mut data_plane.interface);
        match shared.transmit(data_plane, self.queue, packet) {
            // The ring is full: the segment is lost, and sent again after a timeout.
            Ok(Err(packet)) => shared.data_plane().interface.release(packet.into_frame()),
            sent => ignore_down(sent.map(drop))?,
        }
        let now = now();
        self.active_at = now;
        self.catch_up(now);
        Ok(true)
    }

    /// Finds the path again after routes, neighbors or addresses changed. If the path no longer
    /// bypasses the kernel, the connection asks to be handed back, and sends nothing until then.
    #[cold]
    pub(super) fn find_path(&mut self, shared: &SharedState) {
        self.generation = shared.generation();
        self.has_path = false;
        let Ok(hop) = shared.tcp.next_hop(shared, self.local, self.remote) else {
            return self.connection.request_handback(Reason::Path);
        };
        let headers = if self.local.ip().to_canonical().is_ipv4() { 40 } else { 60 };
        if self.connection.segment_size() as u32 + headers > hop.mtu {
            return self.connection.request_handback(Reason::Path);
        }
        self.header.set_macs(MacAddress(hop.source_mac), MacAddress(hop.mac));
        self.hop = hop;
        self.has_path = true;
    }
}

/// Ignores that the interface is down: segments are sent again after a timeout, by the kernel at
/// last.
fn ignore_down(result: io::Result<()>) -> io::Result<()> {
    result.or_else(|error| if is_down(&error) { Ok(()) } else { Err(error) })
}

/// Counts a dropped frame. If no frame has arrived since the takeover, reports the first one, and
/// asks for a handback after some.
#[cold]
fn drop_frame(
    shared: &SharedState,
    address: SocketAddr,
    cause: DropCause,
    lost_frames: &mut Option<u32>,
    connection: &mut Connection,
) {
    shared.tcp.count(Count::drop(cause), 1);
    let Some(lost) = lost_frames else { return };
    *lost += 1;
    let event = match *lost {
        1 => PathEvent::RxDropped { address, cause },
        GIVEN_UP_AFTER if !shared.strict => {
            connection.request_handback(Reason::FramesLost);
            PathEvent::RxFallback { address, reason: FallbackReason::Dropped(cause) }
        }
        _ => return,
    };
    shared.report(&mut shared.control_plane(), event);
}

/// Returns the TCP segment of a frame by the rules of the kernel.
///
/// The frame is for this host's Ethernet address. The lengths and the IP checksum are valid. The
/// TCP checksum is valid, or the partial sum that the kernel of a local sender leaves;
/// `has_partial` is set by the latter, which is then compared first.
#[inline]
pub(super) fn segment<'f>(
    frame: &'f [u8],
    mac: [u8; 6],
    has_partial: &mut bool,
) -> Result<&'f [u8], DropCause> {
    let malformed = |_| DropCause::Malformed;
    let (ethernet, packet) = EthernetHeader::split(frame).map_err(malformed)?;
    if ethernet.destination().0 != mac {
        return Err(DropCause::OtherMac);
    }
    let (segment, pseudo) = if ethernet.ether_type() == EtherType::IPV4 {
        let (ip, _, segment) = Ipv4Header::parse(packet).map_err(malformed)?;
        if !ip.is_checksum_valid(packet) {
            return Err(DropCause::Checksum);
        }
        let (source, to, length) = (ip.source(), ip.destination(), segment.len() as u16);
        (segment, Sum::pseudo_ipv4(source, to, Protocol::TCP, length))
    } else {
        let (ip, segment) = Ipv6Header::parse(packet).map_err(malformed)?;
        let (source, to, length) = (ip.source(), ip.destination(), segment.len() as u32);
        (segment, Sum::pseudo_ipv6(source, to, Protocol::TCP, length))
    };
    let is_partial = || {
        let header = TcpHeader::split(segment);
        header.is_ok_and(|(header, _)| pseudo.is_partial(header.checksum()))
    };
    if *has_partial && is_partial() || TcpHeader::is_checksum_valid(pseudo, segment) {
        return Ok(segment);
    }
    *has_partial = is_partial();
    if *has_partial { Ok(segment) } else { Err(DropCause::Checksum) }
}
