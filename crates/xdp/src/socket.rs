//! An AF_XDP socket on one queue of an interface.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use crate::frame::{Frame, FrameAddress, Packet};
use crate::frame_pool::FramePool;
use crate::prepared_socket::{PreparedSocket, Rings};
use crate::ring::{Consumer, Descriptor, Producer, RingView};
use crate::timestamp::{ReceiveStamps, Stamp, StampSource};
use crate::tx_wakeup::TxWakeup;
use crate::umem::{TRANSMIT_METADATA, Umem, UmemSettings};
use crate::xsk_socket::XskSocket;

/// The pause between attempts to bind while the kernel is still releasing the queue's previous
/// socket.
pub(crate) const BIND_PAUSE: Duration = Duration::from_millis(2);
/// The length of an Ethernet header, the shortest frame that the kernel transmits.
const MIN_FRAME_LENGTH: u32 = 14;

/// Copy or zero-copy transfer between device and UMEM.
///
/// With zero-copy the frames of the socket are the only ones of the queue. When a process that is
/// stopped, or too slow, has filled its receive ring, drivers such as igb wait for it, and the host
/// receives nothing else on this queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum CopyMode {
    /// Zero-copy if the driver supports it, otherwise copy. [`Socket::is_zero_copy`] reports which.
    Auto,
    /// Copy.
    #[default]
    Copy,
    /// Zero-copy, or an error.
    ZeroCopy,
}

/// Busy polling: the socket's own calls poll the driver instead of interrupts.
///
/// It needs a NAPI driver and the interface settings `napi_defer_hard_irqs` and
/// `gro_flush_timeout`. It costs a system call for each poll of an empty ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BusyPolling {
    /// The longest time that a call polls, in microseconds.
    pub microseconds: u32,
    /// The most frames per poll.
    pub budget: u32,
}

/// The configuration of a [`Socket`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketSettings {
    /// The entries of each of the four rings, a power of two.
    pub ring: u32,
    /// Copy or zero-copy.
    pub copy_mode: CopyMode,
    /// Busy polling by the socket's own calls.
    pub busy_polling: Option<BusyPolling>,
    /// The time to retry while the queue is busy. The kernel releases a closed socket
    /// asynchronously: usually within milliseconds, later under load.
    pub bind_timeout: Duration,
    /// The source of receive timestamps, as the filter was loaded. The timestamp field of each
    /// frame is cleared before reception.
    pub receive_stamps: ReceiveStamps,
    /// Receives frames that are longer than a frame of the UMEM in parts
    /// ([`Packet::is_part`]), if the kernel supports it (`XDP_USE_SG`, Linux 6.6). Otherwise the
    /// kernel drops them. With zero-copy not all drivers support it.
    pub long_frames: bool,
}

impl Default for SocketSettings {
    fn default() -> Self {
        Self {
            ring: 1_024,
            copy_mode: CopyMode::default(),
            busy_polling: None,
            bind_timeout: Duration::from_secs(3),
            receive_stamps: ReceiveStamps::Off,
            long_frames: false,
        }
    }
}

/// The reason why a socket cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SocketError {
    /// The socket cannot be created: `EPERM` without `CAP_NET_RAW`, or a kernel without AF_XDP.
    #[error("cannot create an AF_XDP socket: {0}")]
    Open(io::Error),
    /// The UMEM exceeds the locked-memory limit of this user.
    #[error("cannot lock {0} bytes of frame memory: raise ulimit -l or use fewer frames")]
    MemlockLimit(u64),
    /// The kernel rejects the UMEM.
    #[error("cannot register the frame memory: {0}")]
    Register(io::Error),
    /// A ring, by name, cannot be created or mapped.
    #[error("cannot set up the {0} ring: {1}")]
    Ring(&'static str, io::Error),
    /// Busy polling cannot be enabled. More than the default budget requires `CAP_NET_ADMIN`.
    #[error("cannot enable busy polling: {0}")]
    BusyPolling(io::Error),
    /// Another socket is bound to the queue, or the previous one was not released in time.
    #[error("cannot bind to queue {queue}: still in use after {bind_timeout:?}")]
    QueueBusy {
        /// The queue number.
        queue: u32,
        /// The time spent retrying.
        bind_timeout: Duration,
    },
    /// Zero-copy was requested and the driver does not support it.
    #[error("cannot bind to queue {0}: the driver does not support zero-copy")]
    NoZeroCopy(u32),
    /// The interface is down, the queue does not exist (`EINVAL`), or the kernel reports another
    /// error.
    #[error("cannot bind to queue {queue}: {reason}")]
    Bind {
        /// The queue number.
        queue: u32,
        /// The kernel's error.
        reason: io::Error,
    },
}

/// The kernel's counters of a socket, `struct xdp_statistics`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Received frames dropped for other reasons than a full ring, for example frames that are too
    /// long.
    pub receive_dropped: u64,
    /// Invalid descriptors in the fill ring.
    pub receive_invalid: u64,
    /// Invalid descriptors in the transmit ring.
    pub transmit_invalid: u64,
    /// Received frames dropped because the receive ring was full.
    pub receive_ring_full: u64,
    /// Received frames dropped because the fill ring was empty.
    pub fill_ring_empty: u64,
    /// Times that the kernel found the transmit ring empty.
    pub transmit_ring_empty: u64,
}

/// A transmitted frame that the kernel has returned, with its timestamp if requested and available.
#[derive(Debug, PartialEq, Eq)]
pub struct Completion {
    /// The frame, free for reuse.
    pub frame: Frame,
    /// The transmit timestamp.
    pub stamp: Option<Stamp>,
}

/// An AF_XDP socket on one queue, with its four rings in the memory of a [`Umem`].
///
/// Frames that the socket holds when it is dropped are lost until the UMEM is unmapped. The kernel
/// releases the queue some milliseconds later. A forked child has neither the socket nor its
/// memory; it may only drop the inherited value.
#[derive(Debug)]
pub struct Socket {
    receive: Consumer<Descriptor>,
    fill: Producer<u64>,
    transmit: Producer<Descriptor>,
    completion: Consumer<u64>,
    umem: Umem,
    /// Frames lent to the kernel for reception and not returned yet.
    rx_frames: u32,
    /// Frames lent to the kernel for transmission and not returned yet.
    tx_frames: u32,
    /// Bytes that must be free before a transmitted packet.
    tx_headroom: u32,
    /// Invalid descriptors received from the kernel.
    invalid: u64,
    /// The last descriptor's frame continues in the next one.
    in_long_frame: bool,
    xsk: Arc<XskSocket>,
    tx_wakeup: TxWakeup,
    queue: u32,
    zero_copy: bool,
    settings: SocketSettings,
    /// `true` for each frame whose timestamp was requested; empty if the UMEM does not support
    /// timestamps.
    stamps_requested: Box<[bool]>,
}

impl Socket {
    /// Opens a socket on a queue and registers the UMEM with it. A queue can have one socket.
    ///
    /// # Errors
    /// See [`SocketError`].
    pub fn open(
        interface: u32,
        queue: u32,
        umem: &Umem,
        settings: &SocketSettings,
    ) -> Result<Self, SocketError> {
        let prepared = PreparedSocket::new(queue, Some(umem), settings)?;
        Self::bind(prepared, interface, None, umem.clone())
    }

    /// Returns `true` if frames that are longer than a frame of the UMEM arrive in parts.
    #[must_use]
    pub fn takes_long_frames(&self) -> bool {
        self.settings.long_frames
    }

    /// Opens a socket on another queue that shares this socket's UMEM and copy mode.
    ///
    /// A second socket on the same queue is not supported, because the two would have to share the
    /// fill ring.
    ///
    /// # Errors
    /// See [`SocketError`].
    pub fn open_shared_umem(&self, interface: u32, queue: u32) -> Result<Self, SocketError> {
        let prepared = PreparedSocket::new(queue, None, &self.settings)?;
        Self::bind(prepared, interface, Some(self.xsk.as_fd()), self.umem.clone())
    }

    fn bind(
        mut prepared: PreparedSocket,
        interface: u32,
        first: Option<BorrowedFd<'_>>,
        umem: Umem,
    ) -> Result<Self, SocketError> {
        let rings = prepared.map()?;
        prepared.bind(interface, first)?;
        // SAFETY: the socket is new, so its rings are empty and have no other user.
        unsafe { Self::from_prepared(prepared, rings, umem) }
    }

    /// Takes over a socket that another process created and bound to `queue` with these settings.
    ///
    /// # Safety
    /// `umem` is the memory registered with the socket. No other process or thread uses the
    /// socket's rings from now on. No frame in the rings has another owner.
    ///
    /// # Errors
    /// `Ring` if the descriptor is not such a socket; `Open` as for
    /// [`ForkGuardedFd::from_fn`](crate::ForkGuardedFd::from_fn).
    pub unsafe fn from_fd(
        descriptor: OwnedFd,
        queue: u32,
        umem: &Umem,
        settings: &SocketSettings,
    ) -> Result<Self, SocketError> {
        let prepared = PreparedSocket::from_fd(descriptor, queue, settings)?;
        let rings = prepared.map()?;
        // SAFETY: the caller guarantees the same conditions.
        unsafe { Self::from_prepared(prepared, rings, umem.clone()) }
    }

    /// Begins to use a socket that has been mapped and bound.
    ///
    /// # Safety
    /// As for [`from_fd`](Self::from_fd); the rings are the socket's.
    pub(crate) unsafe fn from_prepared(
        prepared: PreparedSocket,
        rings: Rings,
        umem: Umem,
    ) -> Result<Self, SocketError> {
        let PreparedSocket { xsk, queue, settings } = prepared;
        let Rings { fill, completion, receive, transmit } = rings;
        let size = settings.ring;
        let zero_copy = xsk.is_zero_copy().map_err(|reason| SocketError::Bind { queue, reason })?;
        let (tx_headroom, stamps_requested) = match umem.settings() {
            UmemSettings { transmit_stamps: true, frames, .. } => (TRANSMIT_METADATA, *frames),
            _ => (0, 0),
        };
        let xsk = Arc::new(xsk);
        // SAFETY: the kernel laid out each ring with this size and entry type and plays the other
        // side. The caller guarantees that this value is the only user of this side.
        let mut socket = unsafe {
            Self {
                receive: Consumer::new(receive.0, receive.1, size),
                fill: Producer::new(fill.0, fill.1, size),
                transmit: Producer::new(transmit.0, transmit.1, size),
                completion: Consumer::new(completion.0, completion.1, size),
                umem,
                rx_frames: 0,
                tx_frames: 0,
                tx_headroom,
                invalid: 0,
                in_long_frame: false,
                tx_wakeup: TxWakeup::new(xsk.clone()),
                xsk,
                queue,
                zero_copy,
                settings,
                stamps_requested: vec![false; stamps_requested as usize].into_boxed_slice(),
            }
        };
        socket.recount_frames();
        Ok(socket)
    }

    /// Recounts the frames lent to the kernel from the rings. Frames that a driver is processing
    /// are in no ring, so the counts can be too low and more frames than requested may be posted.
    fn recount_frames(&mut self) {
        self.rx_frames = self.fill.pending() + self.receive.available();
        self.tx_frames = self.transmit.pending() + self.completion.available();
    }

    /// Returns the next received packet, from the Ethernet header on.
    ///
    /// One read of the shared producer index serves all packets that it covers. Their ring entries
    /// are released when this returns `None`.
    #[inline(always)]
    pub fn receive(&mut self) -> Option<Packet> {
        if !self.receive.has_cached() {
            if !self.receive.poll() {
                return None;
            }
            // The entry and the frame are both fetched from the core that wrote them. Prefetching
            // overlaps the two transfers.
            self.prefetch_next_fill();
        }
        let descriptor = self.receive.pop()?;
        self.accept(descriptor)
    }

    /// Returns the next packet covered by the last read of the shared index; `None` if it would
    /// have to be read again.
    #[inline]
    pub fn receive_cached(&mut self) -> Option<Packet> {
        let descriptor = self.receive.pop()?;
        self.accept(descriptor)
    }

    /// Returns `true` if the next [`receive`](Self::receive) finds a packet.
    pub(crate) fn has_packets(&mut self) -> bool {
        self.receive.available() > 0
    }

    /// Returns `true` if the interface has been removed.
    pub(crate) fn is_unbound(&self) -> bool {
        // An unbound socket has no ring to process, so the wakeup fails with `ENXIO`.
        self.xsk.wake().is_err_and(|error| error.raw_os_error() == Some(libc::ENXIO))
    }

    #[inline(always)]
    fn accept(&mut self, descriptor: Descriptor) -> Option<Packet> {
        self.rx_frames = self.rx_frames.saturating_sub(1);
        // SAFETY: the kernel returns each frame that `refill` lent it by exactly one entry of the
        // receive ring and does not access it afterwards.
        let packet =
            unsafe { self.umem.packet_from_descriptor(descriptor.address, descriptor.length) };
        self.invalid += u64::from(packet.is_none());
        if descriptor.options & libc::XDP_PKT_CONTD != 0 || self.in_long_frame {
            return self.accept_part(descriptor, packet);
        }
        packet
    }

    #[cold]
    fn accept_part(&mut self, descriptor: Descriptor, packet: Option<Packet>) -> Option<Packet> {
        let is_first = !std::mem::replace(
            &mut self.in_long_frame,
            descriptor.options & libc::XDP_PKT_CONTD != 0,
        );
        let mut packet = packet?;
        packet.mark_part(is_first, !self.in_long_frame);
        Some(packet)
    }

    /// Returns when a received packet arrived; `None` without timestamps or if the driver had none
    /// for this packet.
    ///
    /// The timestamp is stored in front of the packet. The result is meaningless for a packet that
    /// was not received, was cut at the front, or had bytes written in front.
    #[inline]
    #[must_use]
    pub fn receive_stamp(&self, packet: &Packet) -> Option<Stamp> {
        let source = match self.settings.receive_stamps {
            ReceiveStamps::Off => return None,
            ReceiveStamps::Driver => StampSource::Hardware,
            ReceiveStamps::Kernel => StampSource::SoftwareReceive,
        };
        let nanoseconds = self.umem.receive_stamp(packet)?;
        Some(Stamp { nanoseconds, source })
    }

    /// Posts frames to the fill ring until the kernel has `wanted` of them, the pool is empty, or
    /// the ring is full. Returns the number that the kernel then has.
    ///
    /// Call it once per batch, before the posted frames run out.
    #[inline]
    pub fn refill(&mut self, pool: &mut FramePool, wanted: u32) -> u32 {
        // Releases the entries read so far, even in the middle of a batch.
        self.receive.release();
        let missing = wanted.saturating_sub(self.rx_frames);
        if missing == 0 {
            return self.rx_frames;
        }
        for _ in 0..missing {
            let Some(reservation) = self.fill.reserve() else { break };
            let Some(mut frame) = pool.take() else { break };
            frame.check(self.umem.id());
            if self.settings.receive_stamps != ReceiveStamps::Off {
                self.umem.clear_receive_stamp(&mut frame);
            }
            reservation.write(frame.address().0);
            self.rx_frames += 1;
        }
        self.fill.submit();
        self.rx_frames
    }

    /// Adds a packet to the transmit ring. It leaves with the next [`flush`](Self::flush), or with
    /// [`submit`](Self::submit) and the wakeup that it requests.
    ///
    /// # Errors
    /// The packet, if
    ///
    /// - the ring is full,
    /// - the packet is shorter than an Ethernet header, or
    /// - the UMEM supports timestamps and fewer than [`TRANSMIT_METADATA`] bytes are free in front
    ///   of the packet, or they are not 8-byte aligned and a timestamp was requested.
    ///
    /// The kernel would never return such a frame.
    ///
    /// # Panics
    /// If the packet belongs to another UMEM.
    #[inline(always)]
    pub fn transmit(&mut self, packet: Packet) -> Result<(), Packet> {
        packet.frame().check(self.umem.id());
        // The completion ring is no longer than the transmit ring, so no more frames may be in
        // flight.
        let is_full = self.tx_frames >= self.settings.ring;
        if is_full || packet.length() < MIN_FRAME_LENGTH || packet.offset() < self.tx_headroom {
            return Err(packet);
        }
        let Some(reservation) = self.transmit.reserve() else { return Err(packet) };
        let mut options = 0;
        if packet.stamp_requested() && !self.stamps_requested.is_empty() {
            if !self.umem.request_transmit_stamp(&packet) {
                return Err(packet);
            }
            options = libc::XDP_TX_METADATA;
            self.stamps_requested[index(&self.umem, packet.frame())] = true;
        }
        let (address, length) = (packet.address(), packet.length());
        reservation.write(Descriptor { address, length, options });
        self.tx_frames += 1;
        Ok(())
    }

    /// Publishes the transmit ring to the kernel and has it sent: [`submit`](Self::submit) and
    /// [`TxWakeup::kick`] in one.
    ///
    /// # Errors
    /// The kernel's: `NetworkDown` while the interface is down; the packets stay in the ring. A
    /// busy driver is not an error; the next call continues.
    #[inline]
    pub fn flush(&mut self) -> io::Result<()> {
        let frames = self.submit();
        self.tx_wakeup.kick(frames)
    }

    /// Publishes the transmit ring to the kernel.
    ///
    /// Returns the number of frames to pass to [`TxWakeup::kick`], including those that the kernel
    /// has not taken yet; 0 if the kernel needs no wakeup.
    #[inline(always)]
    pub fn submit(&mut self) -> u32 {
        self.transmit.submit();
        if self.transmit.needs_wakeup() { self.transmit.pending() } else { 0 }
    }

    /// Returns the handle that makes the kernel send submitted packets, without access to this
    /// socket.
    #[must_use]
    pub fn tx_wakeup(&self) -> TxWakeup {
        self.tx_wakeup.clone()
    }

    /// Returns the next frame that has been transmitted. One read of the shared index serves all of
    /// them.
    #[inline]
    pub fn complete(&mut self) -> Option<Completion> {
        let address = self.completion.next()?;
        self.tx_frames = self.tx_frames.saturating_sub(1);
        // SAFETY: the kernel returns each frame that `transmit` lent it by exactly one entry of the
        // completion ring and does not access it afterwards.
        let packet = unsafe { self.umem.packet_from_descriptor(address, 0) };
        let Some(packet) = packet else {
            self.invalid += 1;
            return None;
        };
        let stamp = if self.stamps_requested.is_empty() { None } else { self.take_stamp(&packet) };
        Some(Completion { frame: packet.into_frame(), stamp })
    }

    /// Returns all transmitted frames to the pool and their number.
    #[inline(never)]
    pub fn reclaim(&mut self, pool: &mut FramePool) -> u32 {
        let mut count = 0;
        while let Some(Completion { frame, .. }) = self.complete() {
            pool.release_sent(frame);
            count += 1;
        }
        count
    }

    fn take_stamp(&mut self, packet: &Packet) -> Option<Stamp> {
        let index = index(&self.umem, packet.frame());
        if !std::mem::take(&mut self.stamps_requested[index]) {
            return None;
        }
        let source =
            if self.zero_copy { StampSource::Hardware } else { StampSource::SoftwareCompletion };
        self.umem.transmit_stamp(packet, source)
    }

    /// Returns what an [`RxProbe`](crate::RxProbe) reads: the receive ring, the fill ring, and
    /// `true` if the socket busy-polls, which makes the rings inconclusive.
    pub(crate) fn rx_probe(&self) -> (RingView, RingView, bool) {
        let busy_polls = self.settings.busy_polling.is_some();
        (self.receive.view(), self.fill.view(), busy_polls)
    }

    /// Returns the frame that the kernel receives into next, if it takes frames in ring order;
    /// `None` if it has none.
    #[must_use]
    pub fn next_fill_frame(&self) -> Option<FrameAddress> {
        self.fill.nth_last(self.rx_frames).map(FrameAddress)
    }

    /// Prefetches the first bytes of the [next frame](Self::next_fill_frame) that the kernel
    /// receives into.
    ///
    /// That frame was last used as many packets ago as there are receive frames. Call it when
    /// nothing was received; [`receive`](Self::receive) does so for a packet that has just arrived.
    #[inline]
    pub fn prefetch_next_fill(&self) {
        if let Some(frame) = self.next_fill_frame() {
            self.umem.prefetch(frame);
        }
    }

    /// Makes the kernel take the first frames to receive into.
    pub(crate) fn start(&self) {
        // While the interface is down there is nothing to start.
        let _ = self.xsk.wake();
    }

    /// Wakes the kernel if it sleeps although it has frames to receive into, and polls the driver
    /// if the socket busy-polls. Call it when nothing was received.
    ///
    /// # Errors
    /// The kernel's: `NetworkDown` while the interface is down.
    #[inline]
    pub fn wake(&mut self) -> io::Result<()> {
        if self.settings.busy_polling.is_some() || self.fill.needs_wakeup() {
            self.xsk.wake()?;
        }
        Ok(())
    }

    /// Sleeps until a packet can be received or `timeout` has passed, rounded up to milliseconds.
    /// Returns `true` if one can be received.
    ///
    /// # Errors
    /// The kernel's: `Interrupted` by a signal; `NetworkDown` if the interface was removed.
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<bool> {
        let milliseconds = timeout.map_or(-1, |timeout| {
            timeout.as_micros().div_ceil(1_000).try_into().unwrap_or(i32::MAX)
        });
        self.xsk.wait(milliseconds)
    }

    /// Returns the kernel's counters.
    ///
    /// # Errors
    /// The kernel's.
    pub fn statistics(&self) -> io::Result<Statistics> {
        let counted = self.xsk.statistics()?;
        Ok(Statistics {
            receive_dropped: counted.rx_dropped,
            receive_invalid: counted.rx_invalid_descs,
            transmit_invalid: counted.tx_invalid_descs,
            receive_ring_full: counted.rx_ring_full,
            fill_ring_empty: counted.rx_fill_ring_empty_descs,
            transmit_ring_empty: counted.tx_ring_empty_descs,
        })
    }

    /// Returns `true` if frames are transferred without a copy, as the kernel reports.
    #[must_use]
    pub fn is_zero_copy(&self) -> bool {
        self.zero_copy
    }

    /// Returns the queue number.
    #[must_use]
    pub fn queue(&self) -> u32 {
        self.queue
    }

    /// Returns the number of frames lent to the kernel for reception.
    #[must_use]
    pub fn rx_frames(&self) -> u32 {
        self.rx_frames
    }

    /// Returns the number of frames in transmission.
    #[must_use]
    pub fn tx_frames(&self) -> u32 {
        self.tx_frames
    }

    /// Returns the number of invalid descriptors received from the kernel. It stays 0 unless
    /// another process writes to the rings.
    #[must_use]
    pub fn invalid(&self) -> u64 {
        self.invalid
    }
}

/// Returns the index of a frame in its UMEM.
fn index(umem: &Umem, frame: &Frame) -> usize {
    (frame.offset_in_umem() / umem.settings().frame_size) as usize
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.xsk.as_fd()
    }
}
