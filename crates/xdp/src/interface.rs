//! A whole interface: a filter, and one AF_XDP socket on every receive queue.

use std::fmt;
use std::io;

use crate::capabilities::CapabilityError;
use crate::device::{Device, DeviceError};
use crate::filter::{
    Entry, EntryError, Filter, FilterError, FilterSettings, Link, LinkError, Mode, Verdict,
};
use crate::frame::{Frame, Packet};
use crate::frame_pool::FramePool;
use crate::opened_interface::OpenedInterface;
use crate::rx_probe::RxProbe;
use crate::socket::{Socket, SocketError, SocketSettings};
use crate::timestamp::{ReceiveStamps, Stamp};
use crate::tx_wakeup::TxWakeup;
use crate::umem::{Umem, UmemError, UmemSettings};

/// Packets received from one queue before the next is served: the kernel's own NAPI budget per poll
/// (`NAPI_POLL_WEIGHT`).
const QUEUE_BUDGET: u32 = 64;

/// Frames that justify a store to the fill ring, unless an eighth of the target is fewer.
const REFILL_BATCH: u32 = 32;

/// Transmitted frames that justify reading the completion ring.
const RECLAIM_BATCH: u32 = 32;

/// The configuration of an [`Interface`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InterfaceSettings {
    /// The place where the filter runs: in the driver (native) or after it (generic).
    pub mode: Mode,
    /// The frame memory, shared by all queues: at least two frames per queue. Half of the frames
    /// are reserved for reception. If frames of 2,048 bytes are too short for the MTU, half as many
    /// of 4,096 are used.
    pub umem: UmemSettings,
    /// The settings of each socket. In generic mode frames are always copied.
    pub socket: SocketSettings,
    /// The filter's settings. `queues`, `receive_stamps`, `longest_datagram` and `long_frames` are
    /// overwritten.
    pub filter: FilterSettings,
    /// The source of receive timestamps.
    pub receive_stamps: ReceiveStamps,
}

/// The reason why an interface cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InterfaceError {
    /// The process lacks a capability.
    #[error(transparent)]
    Capabilities(#[from] CapabilityError),
    /// The interface cannot be queried.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The MTU allows frames longer than a frame of the UMEM, and they would be lost: Linux is
    /// older than 6.6, or [`SocketSettings::long_frames`] is not set.
    #[error(
        "cannot use {name}: MTU {mtu} exceeds {max_mtu}, the most that frames of {frame_size} \
         bytes hold (longer ones arrive in parts on Linux 6.6 or newer)"
    )]
    Mtu {
        /// The interface's name.
        name: String,
        /// The interface's MTU in bytes.
        mtu: u32,
        /// The UMEM's frame size in bytes.
        frame_size: u32,
        /// The highest MTU that fits, in bytes.
        max_mtu: u32,
    },
    /// Too few frames: a queue could not receive, or nothing could be sent.
    #[error(
        "cannot use {name}: {frames} frames are too few for {queues} queues, use at least two per \
         queue"
    )]
    Frames {
        /// The interface's name.
        name: String,
        /// The number of receive queues.
        queues: u32,
        /// The number of frames of the UMEM.
        frames: u32,
    },
    /// The frame memory cannot be allocated.
    #[error(transparent)]
    Umem(#[from] UmemError),
    /// The filter cannot be loaded.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// The filter cannot be attached to the interface.
    #[error("cannot attach the filter to {name}: {reason}")]
    Link {
        /// The interface's name.
        name: String,
        /// The cause.
        reason: LinkError,
    },
    /// A socket cannot be opened.
    #[error("cannot open a socket on {name}: {reason}")]
    Socket {
        /// The interface's name.
        name: String,
        /// The cause.
        reason: SocketError,
    },
    /// A socket cannot be entered into the filter's socket map.
    #[error("cannot add a socket to the filter: {0}")]
    Sockets(io::Error),
}

/// A filter on an interface, an AF_XDP socket on every receive queue, and the memory that they
/// share.
///
/// Nothing is redirected until an entry is added ([`redirect`](Self::redirect)). Dropping the value
/// or ending the process detaches everything.
///
/// A forked child inherits none of this, so that no redirected flow outlives its owner. The child
/// may only drop the inherited value. It can open an interface of its own once the parent has
/// closed its own.
///
/// The interface uses the queues that existed when it was opened. Frames on queues added later stay
/// with the kernel.
#[derive(Debug)]
pub struct Interface {
    /// Dropped first, so that nothing is redirected while the sockets close.
    link: Link,
    sockets: Vec<Socket>,
    pool: FramePool,
    umem: Umem,
    /// The index of the queue being served, and the packets left in its budget.
    current: usize,
    budget: u32,
    /// The number of frames that each socket should have for reception, and without a limit.
    rx_target: u32,
    rx_target_max: u32,
    /// `true` after a burst of half of the limit.
    is_bursty: bool,
    /// The deficit of receive frames at which a socket is refilled.
    refill_threshold: u32,
    /// The number of frames in transmission at which the completion ring is read, in one batch.
    reclaim_threshold: u32,
    /// `None` if another process has it.
    filter: Option<Filter>,
    device: Device,
    receive_stamps: ReceiveStamps,
    /// `true` if driver timestamps were requested and the driver does not provide them.
    lacks_timestamps: bool,
}

impl Interface {
    /// Opens an interface by name.
    ///
    /// # Errors
    /// See [`InterfaceError`].
    pub fn open(name: &str, settings: &InterfaceSettings) -> Result<Self, InterfaceError> {
        Self::from_opened(OpenedInterface::open(name, settings)?)
    }

    /// Begins to use an open interface. No capability is required.
    ///
    /// # Errors
    /// `Sockets`.
    pub fn from_opened(opened: OpenedInterface) -> Result<Self, InterfaceError> {
        let OpenedInterface { link, sockets, umem, pool, filter, .. } = opened;
        let OpenedInterface { device, receive_stamps, settings, .. } = opened;
        let rx_target = (settings.umem.frames / 2 / device.queues).clamp(1, settings.socket.ring);
        let mut interface = Self {
            link,
            sockets,
            pool,
            umem,
            current: 0,
            budget: budget(rx_target, rx_target),
            rx_target,
            rx_target_max: rx_target,
            is_bursty: false,
            refill_threshold: refill_threshold(rx_target),
            reclaim_threshold: RECLAIM_BATCH.min(settings.socket.ring / 2),
            filter,
            device,
            receive_stamps,
            lacks_timestamps: settings.receive_stamps != receive_stamps,
        };
        // Frames to receive into are posted before anything can be redirected.
        for socket in &mut interface.sockets {
            socket.refill(&mut interface.pool, rx_target);
        }
        if let Some(filter) = &interface.filter {
            for socket in &interface.sockets {
                let fd = std::os::fd::AsFd::as_fd(socket);
                let entered = filter.set_socket(filter.first_slot(), socket.queue(), fd);
                entered.map_err(InterfaceError::Sockets)?;
            }
        }
        // With zero-copy these frames are the only ones of the driver, also for what it passes to
        // the kernel. It has found none when the sockets were bound.
        interface.sockets.iter().for_each(Socket::start);
        Ok(interface)
    }

    /// Returns the next received packet and its queue number.
    ///
    /// Queues are served round-robin. When this returns `None`, every queue has been polled,
    /// refilled and, where needed, woken.
    ///
    /// # Errors
    /// The kernel's error of a wakeup: `NetworkDown` while the interface is down.
    #[inline(always)]
    pub fn receive(&mut self) -> io::Result<Option<(u32, Packet)>> {
        loop {
            if let Some(socket) = self.current()
                && let Some(packet) = socket.receive()
            {
                let queue = socket.queue();
                self.budget -= 1;
                return Ok(Some((queue, packet)));
            }
            if !self.next_queue()? {
                return Ok(None);
            }
        }
    }

    /// Returns the socket of the current queue while its budget lasts.
    #[inline(always)]
    fn current(&mut self) -> Option<&mut Socket> {
        if self.budget == 0 { None } else { Some(&mut self.sockets[self.current]) }
    }

    /// Ends the current queue's turn and moves to the next queue that has packets, if any. Each
    /// queue visited is refilled and woken. The current queue is visited last, and only if it used
    /// up its budget and so may have more.
    #[inline(never)]
    fn next_queue(&mut self) -> io::Result<bool> {
        let others = self.sockets.len() - usize::from(self.budget > 0);
        for step in 0..=others {
            self.refill(self.current);
            self.sockets[self.current].prefetch_next_fill();
            self.sockets[self.current].wake()?;
            self.current = if self.current + 1 < self.sockets.len() { self.current + 1 } else { 0 };
            let socket = &mut self.sockets[self.current];
            self.budget = budget(socket.rx_frames(), self.rx_target);
            if step < others && socket.has_packets() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns `true` if frames that are longer than a frame of the UMEM arrive in parts
    /// ([`SocketSettings::long_frames`]).
    #[must_use]
    pub fn takes_long_frames(&self) -> bool {
        self.sockets.iter().any(Socket::takes_long_frames)
    }

    /// Returns the next packet already fetched from the current queue's ring; `None` if the shared
    /// ring would have to be read again, as [`receive`](Self::receive) does.
    #[inline]
    pub fn receive_cached(&mut self) -> Option<(u32, Packet)> {
        let socket = self.current()?;
        let (queue, packet) = (socket.queue(), socket.receive_cached()?);
        self.budget -= 1;
        Some((queue, packet))
    }

    /// Returns `true` if a packet can be received. If not, all queues have been refilled and, where
    /// needed, woken.
    ///
    /// # Errors
    /// As for [`receive`](Self::receive).
    pub fn poll(&mut self) -> io::Result<bool> {
        if self.sockets.iter_mut().any(Socket::has_packets) {
            return Ok(true);
        }
        for index in 0..self.sockets.len() {
            self.refill(index);
            self.sockets[index].wake()?;
        }
        Ok(false)
    }

    /// Returns `true` if the kernel has removed the interface for good. An interface that is down
    /// is not removed.
    #[must_use]
    pub fn is_removed(&self) -> bool {
        self.sockets.iter().any(Socket::is_unbound)
    }

    /// Refills a socket's fill ring, reclaiming transmitted frames first if the pool is short.
    #[inline]
    fn refill(&mut self, index: usize) {
        if !self.is_below_threshold(&self.sockets[index]) {
            return;
        }
        let (limit, posted) = (self.rx_target, self.sockets[index].rx_frames());
        if posted <= limit / 2 && limit < self.rx_target_max {
            self.is_bursty = true;
            self.set_rx_target(self.rx_target_max);
        }
        self.post_frames(index);
    }

    /// Posts frames for reception up to the target.
    fn post_frames(&mut self, index: usize) {
        if (self.pool.len() as u32) < self.rx_target {
            self.reclaim();
        }
        self.sockets[index].refill(&mut self.pool, self.rx_target);
    }

    fn set_rx_target(&mut self, target: u32) {
        self.rx_target = target;
        self.refill_threshold = refill_threshold(target);
    }

    /// Limits the number of frames per queue that are posted for reception, from the next refill
    /// on. Few frames stay in the caches, and are received sooner; a longer burst is lost. `None`
    /// means half of all frames, as at first.
    ///
    /// A burst of half of the limit ends it: the next one could be longer.
    pub fn limit_receive_frames(&mut self, limit: Option<u32>) {
        let limit = limit.filter(|_| !self.is_bursty).unwrap_or(u32::MAX);
        let before = self.rx_target;
        self.set_rx_target(limit.clamp(1, self.rx_target_max));
        if self.rx_target > before {
            (0..self.sockets.len()).for_each(|index| self.post_frames(index));
        }
    }

    /// Returns `true` if the socket's deficit of receive frames has reached the refill threshold.
    /// Refilling a few frames at a time would cost a store to shared memory each.
    #[inline]
    fn is_below_threshold(&self, socket: &Socket) -> bool {
        self.rx_target.saturating_sub(socket.rx_frames()) >= self.refill_threshold
    }

    fn reclaim(&mut self) {
        for socket in &mut self.sockets {
            socket.reclaim(&mut self.pool);
        }
    }

    /// Returns a packet of `length` bytes, from the Ethernet header on, to write and transmit.
    ///
    /// Returns `None` if `length` does not fit a frame, or if no frame is free even after
    /// transmitted frames were reclaimed. Frames that the sockets still need for reception do not
    /// count as free.
    #[inline]
    pub fn packet(&mut self, length: u32) -> Option<Packet> {
        let rx_deficit = self.rx_deficit();
        if self.pool.len() <= rx_deficit {
            self.reclaim();
        }
        if self.pool.len() <= rx_deficit {
            return None;
        }
        let frame = self.pool.take_to_send()?;
        self.umem.packet(frame, length).map_err(|frame| self.pool.release(frame)).ok()
    }

    /// Returns the number of frames that are free to send in, after reclaiming those of packets
    /// sent earlier. Frames that the sockets still need for reception do not count as free.
    pub fn free_frames(&mut self) -> usize {
        self.reclaim();
        self.pool.len().saturating_sub(self.rx_deficit())
    }

    /// Returns `true` if a socket has far fewer receive frames than its target: no frames were free
    /// at the last refill, or packets have been received since.
    #[inline]
    #[must_use]
    pub fn needs_refill(&self) -> bool {
        self.sockets.iter().any(|socket| self.is_below_threshold(socket))
    }

    /// Returns a probe that checks from any thread whether packets may be pending.
    #[must_use]
    pub fn rx_probe(&self) -> RxProbe {
        RxProbe::new(&self.sockets)
    }

    /// Returns the number of receive frames that the sockets lack in total.
    #[inline]
    fn rx_deficit(&self) -> usize {
        let rx_deficit =
            |socket: &Socket| self.rx_target.saturating_sub(socket.rx_frames()) as usize;
        self.sockets.iter().map(rx_deficit).sum()
    }

    /// Adds a packet to a queue's transmit ring. It leaves with the next [`flush`](Self::flush). A
    /// received packet can be transmitted as it is.
    ///
    /// # Errors
    /// The packet, if the queue does not exist or its ring is full.
    #[inline(always)]
    pub fn transmit(&mut self, queue: u32, packet: Packet) -> Result<(), Packet> {
        let Some(socket) = self.sockets.get_mut(queue as usize) else { return Err(packet) };
        socket.transmit(packet)
    }

    /// Sends the content of all transmit rings and reclaims the frames of packets sent earlier.
    ///
    /// # Errors
    /// The kernel's; see [`Socket::flush`].
    #[inline]
    pub fn flush(&mut self) -> io::Result<()> {
        for socket in &mut self.sockets {
            socket.flush()?;
            socket.reclaim(&mut self.pool);
        }
        Ok(())
    }

    /// Publishes a queue's transmit ring to the kernel without a system call: the first half of
    /// [`flush`](Self::flush).
    ///
    /// Once enough frames are in transmission, it also reclaims those already sent. Returns the
    /// number of frames to pass to the queue's [`TxWakeup`](Self::tx_wakeup); 0 if the kernel needs
    /// no wakeup.
    #[inline(always)]
    pub fn submit(&mut self, queue: u32) -> u32 {
        let Some(socket) = self.sockets.get_mut(queue as usize) else { return 0 };
        if socket.tx_frames() >= self.reclaim_threshold {
            socket.reclaim(&mut self.pool);
        }
        socket.submit()
    }

    /// Does [`transmit`](Self::transmit) and [`submit`](Self::submit) for one packet.
    ///
    /// # Errors
    /// The packet, as for `transmit`.
    #[inline(always)]
    pub fn post(&mut self, queue: u32, packet: Packet) -> Result<u32, Packet> {
        let Some(socket) = self.sockets.get_mut(queue as usize) else { return Err(packet) };
        if socket.tx_frames() >= self.reclaim_threshold {
            socket.reclaim(&mut self.pool);
        }
        socket.transmit(packet)?;
        Ok(socket.submit())
    }

    /// Reclaims a queue's transmitted frames if at least half as many are in transmission as
    /// [`submit`](Self::submit) waits for. Call it when idle, so that the latency-critical path
    /// does not reclaim.
    #[inline]
    pub fn reclaim_idle(&mut self, queue: u32) {
        let Some(socket) = self.sockets.get_mut(queue as usize) else { return };
        if socket.tx_frames() >= self.reclaim_threshold.div_ceil(2) {
            socket.reclaim(&mut self.pool);
        }
    }

    /// Returns the handle that sends a queue's transmit ring without access to this interface;
    /// `None` if the queue does not exist.
    #[must_use]
    pub fn tx_wakeup(&self, queue: u32) -> Option<TxWakeup> {
        self.sockets.get(queue as usize).map(Socket::tx_wakeup)
    }

    /// Returns a frame to the pool.
    #[inline]
    pub fn release(&mut self, frame: Frame) {
        self.pool.release(frame);
    }

    /// Returns the bytes of a packet.
    #[inline]
    #[must_use]
    pub fn bytes<'a>(&'a self, packet: &'a Packet) -> &'a [u8] {
        self.umem.bytes(packet)
    }

    /// Returns the bytes of a packet for writing.
    #[inline]
    #[must_use]
    pub fn bytes_mut<'a>(&'a self, packet: &'a mut Packet) -> &'a mut [u8] {
        self.umem.bytes_mut(packet)
    }

    /// Returns the receive timestamp of a packet; see [`Socket::receive_stamp`].
    #[inline]
    #[must_use]
    pub fn receive_stamp(&self, packet: &Packet) -> Option<Stamp> {
        self.sockets[0].receive_stamp(packet)
    }

    /// Redirects the frames that match `entry` to this interface's sockets, from the next frame on.
    ///
    /// # Errors
    /// See [`EntryError`].
    pub fn redirect(&self, entry: &Entry) -> Result<(), EntryError> {
        let filter = self.own_filter()?;
        filter.insert(entry, Verdict::Slot(filter.first_slot()))
    }

    /// As [`Filter::has_arrived`].
    ///
    /// # Errors
    /// See [`EntryError`].
    pub fn has_arrived(&self, flow: &Entry) -> Result<bool, EntryError> {
        self.own_filter()?.has_arrived(flow)
    }

    /// Passes the frames that match `entry` to the kernel, even if a less specific entry would
    /// redirect them.
    ///
    /// # Errors
    /// See [`EntryError`].
    pub fn pass_to_kernel(&self, entry: &Entry) -> Result<(), EntryError> {
        self.own_filter()?.insert(entry, Verdict::Kernel)
    }

    /// Removes an entry. Returns `false` if there was no such entry.
    ///
    /// # Errors
    /// See [`EntryError`].
    pub fn remove(&self, entry: &Entry) -> Result<bool, EntryError> {
        self.own_filter()?.remove(entry)
    }

    fn own_filter(&self) -> Result<&Filter, EntryError> {
        self.filter.as_ref().ok_or_else(|| {
            EntryError::Refused("cannot change the filter: another process has it".to_owned())
        })
    }

    /// Returns the interface's properties as read when it was opened.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the filter, which may have slots for other users; `None` if another process has it.
    #[must_use]
    pub fn filter(&self) -> Option<&Filter> {
        self.filter.as_ref()
    }

    /// Returns the link that attaches the filter to the interface.
    #[must_use]
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// Returns the frame memory.
    #[must_use]
    pub fn umem(&self) -> &Umem {
        &self.umem
    }

    /// Returns the sockets, one per queue in queue order.
    #[must_use]
    pub fn sockets(&self) -> &[Socket] {
        &self.sockets
    }

    /// Returns the memory, the pool and the sockets, for callers that drive these themselves.
    pub fn parts(&mut self) -> (&Umem, &mut FramePool, &mut [Socket]) {
        (&self.umem, &mut self.pool, &mut self.sockets)
    }

    /// Returns the source of receive timestamps; [`ReceiveStamps::Off`] if the driver was requested
    /// and does not provide them.
    #[must_use]
    pub fn receive_stamps(&self) -> ReceiveStamps {
        self.receive_stamps
    }

    /// Returns `true` if every queue transfers frames between device and UMEM without a copy.
    #[must_use]
    pub fn is_zero_copy(&self) -> bool {
        self.sockets.iter().all(Socket::is_zero_copy)
    }
}

/// Formats one line: interface, driver, queues, mode, copy mode, timestamps.
impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Device { name, driver, queues, .. } = &self.device;
        let driver = driver.as_deref().unwrap_or("no driver");
        let plural = if *queues == 1 { "" } else { "s" };
        let copy_mode = if self.is_zero_copy() { "zero-copy" } else { "copy" };
        let mode = self.link.mode();
        write!(f, "{name}: {driver}, {queues} queue{plural}, {mode} mode, {copy_mode}")?;
        f.write_str(match self.receive_stamps {
            ReceiveStamps::Driver => ", receive timestamps from the driver",
            ReceiveStamps::Kernel => ", receive timestamps from the kernel",
            ReceiveStamps::Off if self.lacks_timestamps => {
                ", no receive timestamps from this driver"
            }
            ReceiveStamps::Off => "",
        })?;
        f.write_str(if self.device.strips_vlan { ", rx-vlan-offload on" } else { "" })
    }
}

/// Returns the deficit of receive frames at which a socket is refilled.
fn refill_threshold(rx_target: u32) -> u32 {
    (rx_target / 8).clamp(1, REFILL_BATCH)
}

/// Returns the budget of a queue's turn, for a socket with `rx_frames` receive frames and a target
/// of `target`. With few frames, the budget is at most half of them, so that other queues are
/// served before the frames run out.
#[inline]
fn budget(rx_target: u32, wanted: u32) -> u32 {
    QUEUE_BUDGET.min(rx_target.saturating_sub(wanted / 2)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queue_budget_leaves_half_of_the_frames_and_is_at_least_one() {
        assert_eq!([budget(1_024, 1_024), budget(8, 8), budget(6, 8)], [64, 4, 2]);
        assert_eq!([budget(4, 8), budget(0, 8), budget(1, 1)], [1, 1, 1]);
    }
}
