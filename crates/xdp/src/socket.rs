//! A socket on one queue of an interface.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::frame::{Frame, FrameAddress, Packet};
use crate::frame_pool::FramePool;
use crate::kernel_socket::{KernelSocket, Ring};
use crate::ring::{Consumer, Cursors, Descriptor, Producer};
use crate::stamp::{ReceiveStamps, Stamp, StampSource};
use crate::tx_wakeup::TxWakeup;
use crate::umem::{TRANSMIT_METADATA, Umem, UmemSettings};

/// Between two tries to bind while the kernel still clears the last socket of the queue away.
const BIND_PAUSE: Duration = Duration::from_millis(2);
/// An Ethernet header.
const SHORTEST: u32 = 14;

/// Whether frames go between device and UMEM without a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum CopyMode {
    /// Without, where the driver can; else with. Which of the two is told.
    #[default]
    Auto,
    /// With.
    Copy,
    /// Without, or there is no socket.
    ZeroCopy,
}

/// Has the socket's own calls poll the driver, in place of interrupts. It does something where the
/// driver polls by NAPI at all, and together with the interface's `napi_defer_hard_irqs` and
/// `gro_flush_timeout`; it costs a system call for each look at an empty ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BusyPolling {
    /// How long a call may poll, in microseconds.
    pub microseconds: u32,
    /// How many frames at most.
    pub budget: u32,
}

/// What a [`Socket`] is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketSettings {
    /// Entries of each of the four rings, a power of two.
    pub ring: u32,
    /// With or without a copy.
    pub copying: CopyMode,
    /// Polling by the socket's own calls.
    pub busy_polling: Option<BusyPolling>,
    /// How long to try while the queue is taken. The kernel clears a closed socket away in its own
    /// time: milliseconds as a rule, more when it is busy.
    pub patience: Duration,
    /// Who stamps received frames, as the filter was loaded. The places of stamps are wiped before.
    pub receive_stamps: ReceiveStamps,
}

impl Default for SocketSettings {
    fn default() -> Self {
        Self {
            ring: 1_024,
            copying: CopyMode::Auto,
            busy_polling: None,
            patience: Duration::from_secs(3),
            receive_stamps: ReceiveStamps::Off,
        }
    }
}

/// Why there is no socket.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SocketError {
    /// `EPERM` without `CAP_NET_RAW`; a kernel without AF_XDP.
    #[error("an AF_XDP socket: {0}")]
    Open(io::Error),
    /// More memory than this user may lock.
    #[error("{0} bytes of frames cannot be locked; raise ulimit -l, or have fewer")]
    Locked(u64),
    /// The kernel does not take the memory as it is.
    #[error("the frame memory cannot be registered: {0}")]
    Register(io::Error),
    /// A ring, by its name.
    #[error("the {0} ring: {1}")]
    Ring(&'static str, io::Error),
    /// Busy polling. More than the defaults takes `CAP_NET_ADMIN`.
    #[error("busy polling: {0}")]
    BusyPolling(io::Error),
    /// Another socket has the queue, or the last one was not cleared away in time.
    #[error("queue {queue} is taken, still after {patience:?}")]
    Taken {
        /// Which.
        queue: u32,
        /// How long it was tried.
        patience: Duration,
    },
    /// Zero-copy was asked for, and the driver has none.
    #[error("queue {0} has no zero-copy")]
    NoZeroCopy(u32),
    /// The interface is down, has no such queue (`EINVAL`), or the kernel has another reason.
    #[error("queue {queue} cannot be had: {reason}")]
    Bind {
        /// Which.
        queue: u32,
        /// The kernel's answer.
        reason: io::Error,
    },
}

/// What the kernel has counted of a socket, `struct xdp_statistics`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Received frames lost for other reasons than a full ring, such as frames too long.
    pub receive_dropped: u64,
    /// Entries of the fill ring that are no frames.
    pub receive_invalid: u64,
    /// Entries of the transmit ring that are no frames.
    pub transmit_invalid: u64,
    /// Received frames lost because the receive ring was full.
    pub receive_ring_full: u64,
    /// Received frames for which the fill ring had none.
    pub fill_ring_empty: u64,
    /// Times the kernel found the transmit ring empty.
    pub transmit_ring_empty: u64,
}

/// A frame that the kernel is done with, and when it left, if that was asked for and is known.
#[derive(Debug, PartialEq, Eq)]
pub struct Completion {
    /// To be used again.
    pub frame: Frame,
    /// When.
    pub stamp: Option<Stamp>,
}

/// A socket on one queue: frames come out of it and go into it, in memory of its [`Umem`].
///
/// Frames that it holds when it is dropped are lost until the UMEM is gone. The kernel clears it
/// away some milliseconds later. A forked child has neither the socket nor its memory: what it
/// inherits of both it may drop, and nothing else.
#[derive(Debug)]
pub struct Socket {
    receive: Consumer<Descriptor>,
    fill: Producer<u64>,
    transmit: Producer<Descriptor>,
    completion: Consumer<u64>,
    umem: Umem,
    /// Frames that were given to be received into and have not come back.
    filling: u32,
    /// Frames that are being transmitted.
    transmitting: u32,
    /// Bytes that are to be free before a packet that is transmitted.
    front: u32,
    /// Entries from the kernel that are no frames.
    invalid: u64,
    kernel: Arc<KernelSocket>,
    kicker: TxWakeup,
    queue: u32,
    is_zero_copy: bool,
    settings: SocketSettings,
    /// For each frame whether its stamp was asked for; empty if none can be.
    stamped: Box<[bool]>,
}

impl Socket {
    /// A socket on a queue, with whom the memory is registered. A queue has one.
    ///
    /// # Errors
    /// See [`SocketError`].
    pub fn open(
        interface: u32,
        queue: u32,
        umem: &Umem,
        settings: &SocketSettings,
    ) -> Result<Self, SocketError> {
        let kernel = KernelSocket::open().map_err(SocketError::Open)?;
        kernel.register(umem).map_err(|reason| match reason.raw_os_error() {
            Some(libc::ENOBUFS) => SocketError::Locked(umem.bytes_in_all()),
            _ => SocketError::Register(reason),
        })?;
        let flags = libc::XDP_USE_NEED_WAKEUP
            | match settings.copying {
                CopyMode::Auto => 0,
                CopyMode::Copy => libc::XDP_COPY,
                CopyMode::ZeroCopy => libc::XDP_ZEROCOPY,
            };
        Self::set_up(kernel, umem.clone(), settings, queue, |kernel| {
            kernel.bind(interface, queue, flags, None)
        })
    }

    /// A socket on another queue with the same memory. Whether frames are copied is as with this
    /// one. A second socket on the same queue is not supported: the two would have to take turns
    /// with the fill ring.
    ///
    /// # Errors
    /// See [`SocketError`].
    pub fn open_beside(&self, interface: u32, queue: u32) -> Result<Self, SocketError> {
        let kernel = KernelSocket::open().map_err(SocketError::Open)?;
        let flags = libc::XDP_SHARED_UMEM;
        let settings = &self.settings;
        Self::set_up(kernel, self.umem.clone(), settings, queue, |kernel| {
            kernel.bind(interface, queue, flags, Some(self.kernel.as_fd()))
        })
    }

    /// Takes over a socket that another process has made and bound to `queue`, with the settings it
    /// was made with.
    ///
    /// # Safety
    /// `umem` is the memory that was registered with it. Nobody else uses the socket's rings while
    /// this does, from now or from [`resume`](Self::resume) to [`suspend`](Self::suspend); none of
    /// the frames in them belongs to anybody.
    ///
    /// # Errors
    /// `Ring` if it is no such socket; `Open` as of
    /// [`ForkGuardedFd::make`](crate::ForkGuardedFd::make).
    pub unsafe fn adopt(
        descriptor: OwnedFd,
        queue: u32,
        umem: &Umem,
        settings: &SocketSettings,
    ) -> Result<Self, SocketError> {
        let kernel = KernelSocket::of(descriptor).map_err(SocketError::Open)?;
        // SAFETY: the caller's word.
        unsafe { Self::over(kernel, queue, umem.clone(), settings) }
    }

    fn set_up(
        kernel: KernelSocket,
        umem: Umem,
        settings: &SocketSettings,
        queue: u32,
        bind: impl Fn(&KernelSocket) -> io::Result<()>,
    ) -> Result<Self, SocketError> {
        for ring in [Ring::Fill, Ring::Completion, Ring::Receive, Ring::Transmit] {
            let refused = |reason| SocketError::Ring(ring.name(), reason);
            kernel.set_ring_size(ring, settings.ring).map_err(refused)?;
        }
        if let Some(BusyPolling { microseconds, budget }) = settings.busy_polling {
            kernel.set_busy_polling(microseconds, budget).map_err(SocketError::BusyPolling)?;
        }
        let until = Instant::now() + settings.patience;
        while let Err(reason) = bind(&kernel) {
            match reason.raw_os_error() {
                Some(libc::EBUSY) if Instant::now() < until => std::thread::sleep(BIND_PAUSE),
                Some(libc::EBUSY) => {
                    return Err(SocketError::Taken { queue, patience: settings.patience });
                }
                Some(libc::EOPNOTSUPP | libc::EPROTONOSUPPORT)
                    if settings.copying == CopyMode::ZeroCopy =>
                {
                    return Err(SocketError::NoZeroCopy(queue));
                }
                _ => return Err(SocketError::Bind { queue, reason }),
            }
        }
        // SAFETY: the socket is new, so its rings are empty and nobody else has them.
        unsafe { Self::over(kernel, queue, umem, settings) }
    }

    /// # Safety
    /// As [`adopt`](Self::adopt).
    unsafe fn over(
        kernel: KernelSocket,
        queue: u32,
        umem: Umem,
        settings: &SocketSettings,
    ) -> Result<Self, SocketError> {
        let size = settings.ring;
        let refused = |ring: Ring| move |reason| SocketError::Ring(ring.name(), reason);
        let addresses = |ring| kernel.map_ring::<u64>(ring, size).map_err(refused(ring));
        let descriptors = |ring| kernel.map_ring::<Descriptor>(ring, size).map_err(refused(ring));
        let (fill, completion) = (addresses(Ring::Fill)?, addresses(Ring::Completion)?);
        let (receive, transmit) = (descriptors(Ring::Receive)?, descriptors(Ring::Transmit)?);
        let is_zero_copy =
            kernel.is_zero_copy().map_err(|reason| SocketError::Bind { queue, reason })?;
        let (front, stamped) = match umem.settings() {
            UmemSettings { transmit_stamps: true, frames, .. } => (TRANSMIT_METADATA, *frames),
            _ => (0, 0),
        };
        let kernel = Arc::new(kernel);
        // SAFETY: the kernel has laid each of these out as a ring of this size, of this kind, and
        // plays the other side; this side is the caller's, which is our only one.
        let mut socket = unsafe {
            Self {
                receive: Consumer::new(receive.0, receive.1, size),
                fill: Producer::new(fill.0, fill.1, size),
                transmit: Producer::new(transmit.0, transmit.1, size),
                completion: Consumer::new(completion.0, completion.1, size),
                umem,
                filling: 0,
                transmitting: 0,
                front,
                invalid: 0,
                kicker: TxWakeup::new(kernel.clone()),
                kernel,
                queue,
                is_zero_copy,
                settings: settings.clone(),
                stamped: vec![false; stamped as usize].into_boxed_slice(),
            }
        };
        socket.count();
        Ok(socket)
    }

    /// Leaves the rings to another owner of the same socket: what was written is the kernel's, what
    /// was read is its again.
    pub fn suspend(&mut self) {
        self.fill.submit();
        self.transmit.submit();
        self.receive.release();
        self.completion.release();
    }

    /// Goes on after another owner has used the rings. Of what others sent there are no stamps.
    ///
    /// # Safety
    /// The last who used them has suspended, and nobody uses them until this does. The frames in
    /// them belong to nobody.
    pub unsafe fn resume(&mut self) {
        self.fill.resume();
        self.transmit.resume();
        self.receive.resume();
        self.completion.resume();
        self.count();
        self.stamped.fill(false);
    }

    /// Counts the frames that the kernel has by what is in the rings. Those that a driver is at
    /// work on are missed, and so are given once more than asked for.
    fn count(&mut self) {
        self.filling = self.fill.pending() + self.receive.filled();
        self.transmitting = self.transmit.pending() + self.completion.filled();
    }

    /// The next frame that came in, from the Ethernet header on. One look at the shared ring serves
    /// all frames that are there, whose places are the kernel's again when this returns `None`.
    #[inline(always)]
    pub fn receive(&mut self) -> Option<Packet> {
        if !self.receive.has_known() {
            if !self.receive.look() {
                return None;
            }
            // Both the entry and the frame come from the core that wrote them: at once, and not one
            // after the other.
            self.anticipate();
        }
        let descriptor = self.receive.pop()?;
        self.accept(descriptor)
    }

    /// The next of the frames that the last look at the shared ring has found; `None` if it would
    /// take another look.
    #[inline]
    pub fn receive_known(&mut self) -> Option<Packet> {
        let descriptor = self.receive.pop()?;
        self.accept(descriptor)
    }

    /// Whether the next [`receive`](Self::receive) will find one.
    pub(crate) fn has_packets(&mut self) -> bool {
        self.receive.filled() > 0
    }

    /// Whether the interface has been taken away from under it.
    pub(crate) fn is_unbound(&self) -> bool {
        // A socket that is bound to nothing has no ring that could be gone on with (`ENXIO`).
        self.kernel.wake().is_err_and(|error| error.raw_os_error() == Some(libc::ENXIO))
    }

    #[inline(always)]
    fn accept(&mut self, descriptor: Descriptor) -> Option<Packet> {
        self.filling = self.filling.saturating_sub(1);
        // SAFETY: the kernel gives a frame back by one entry of the receive ring, of those that
        // `refill` gave it, and does not touch it any more.
        let packet = unsafe { self.umem.packet_at(descriptor.address, descriptor.length) };
        self.invalid += u64::from(packet.is_none());
        packet
    }

    /// When a received packet came in; `None` if nobody stamps, or the driver had no time for it.
    /// It stands in front of the frame: of a packet that was not received, or in front of which
    /// something was written, or that was cut there, it says nothing.
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

    /// Gives the kernel frames to receive into until it has `wanted` of them, or the pool is empty,
    /// or the ring full; how many it has then. To be called once for a batch, and before it has
    /// used up those it had.
    #[inline]
    pub fn refill(&mut self, pool: &mut FramePool, wanted: u32) -> u32 {
        // Places of frames that were read are free again by now, also in the midst of a batch.
        self.receive.release();
        let missing = wanted.saturating_sub(self.filling);
        if missing == 0 {
            return self.filling;
        }
        for _ in 0..missing {
            let Some(place) = self.fill.place() else { break };
            let Some(mut frame) = pool.take() else { break };
            frame.check(self.umem.id());
            if self.settings.receive_stamps != ReceiveStamps::Off {
                self.umem.clear_receive_stamp(&mut frame);
            }
            place.write(frame.address().0);
            self.filling += 1;
        }
        self.fill.submit();
        self.filling
    }

    /// Puts a packet into the transmit ring. It leaves with the next [`flush`](Self::flush),
    /// or [`submit`](Self::submit) and the kick that this asks for.
    ///
    /// # Errors
    /// The packet, if the ring is full; if it is shorter than an Ethernet header; and, with a UMEM
    /// made for stamps, if [`TRANSMIT_METADATA`] bytes are not free in front of it, or do not begin
    /// on a multiple of 8 though a stamp was asked for. The kernel would never give such a frame
    /// back.
    ///
    /// # Panics
    /// If the packet is of another UMEM.
    #[inline(always)]
    pub fn transmit(&mut self, packet: Packet) -> Result<(), Packet> {
        packet.frame().check(self.umem.id());
        // The completion ring is no longer than the transmit ring, so no more may be under way.
        let is_full = self.transmitting >= self.settings.ring;
        if is_full || packet.length() < SHORTEST || packet.offset() < self.front {
            return Err(packet);
        }
        let Some(place) = self.transmit.place() else { return Err(packet) };
        let mut options = 0;
        if packet.wants_stamp() && !self.stamped.is_empty() {
            if !self.umem.request_transmit_stamp(&packet) {
                return Err(packet);
            }
            options = libc::XDP_TX_METADATA;
            self.stamped[index(&self.umem, packet.frame())] = true;
        }
        let (address, length) = (packet.address(), packet.length());
        place.write(Descriptor { address, length, options });
        self.transmitting += 1;
        Ok(())
    }

    /// Shows the kernel what was put into the transmit ring, and has it sent. It is
    /// [`submit`](Self::submit) and [`TxWakeup::kick`] in one.
    ///
    /// # Errors
    /// The kernel's: `NetworkDown` while the interface is down; the packets stay in the ring. A
    /// driver that is busy is none: the next call goes on.
    #[inline]
    pub fn flush(&mut self) -> io::Result<()> {
        let frames = self.submit();
        self.kicker.kick(frames)
    }

    /// Shows the kernel what was put into the transmit ring. How many frames it must be
    /// [kicked](TxWakeup::kick) for, those among them that it has not taken yet; nought if it goes
    /// on
    /// by itself.
    #[inline(always)]
    pub fn submit(&mut self) -> u32 {
        self.transmit.submit();
        if self.transmit.wants_wake() { self.transmit.pending() } else { 0 }
    }

    /// What has the kernel send what was submitted, without this socket.
    #[must_use]
    pub fn kicker(&self) -> TxWakeup {
        self.kicker.clone()
    }

    /// The next frame that has been transmitted. One look at the shared ring serves all of them.
    #[inline]
    pub fn complete(&mut self) -> Option<Completion> {
        let address = self.completion.next()?;
        self.transmitting = self.transmitting.saturating_sub(1);
        // SAFETY: the kernel gives a frame back by one entry of the completion ring, of those that
        // `transmit` gave it, and does not touch it any more.
        let packet = unsafe { self.umem.packet_at(address, 0) };
        let Some(packet) = packet else {
            self.invalid += 1;
            return None;
        };
        let stamp = if self.stamped.is_empty() { None } else { self.take_stamp(&packet) };
        Some(Completion { frame: packet.into_frame(), stamp })
    }

    /// Puts all frames that have been transmitted back into the pool; how many they were.
    #[inline(never)]
    pub fn reclaim(&mut self, pool: &mut FramePool) -> u32 {
        let mut count = 0;
        while let Some(Completion { frame, .. }) = self.complete() {
            pool.give(frame);
            count += 1;
        }
        count
    }

    fn take_stamp(&mut self, packet: &Packet) -> Option<Stamp> {
        let index = index(&self.umem, packet.frame());
        if !std::mem::take(&mut self.stamped[index]) {
            return None;
        }
        let source =
            if self.is_zero_copy { StampSource::Hardware } else { StampSource::SoftwareCompletion };
        self.umem.transmit_stamp(packet, source)
    }

    /// What a [`RxProbe`](crate::RxProbe) looks at: the receive ring, the fill ring, and whether it
    /// is no use, for this polls.
    pub(crate) fn glance(&self) -> (Cursors, Cursors, bool) {
        let polls = self.settings.busy_polling.is_some();
        (self.receive.cursors(), self.fill.cursors(), polls)
    }

    /// The frame that is received into next, if the kernel takes them in their order; `None` if it
    /// has none.
    #[must_use]
    pub fn next_to_fill(&self) -> Option<FrameAddress> {
        self.fill.first_of_last(self.filling).map(FrameAddress)
    }

    /// Has this core fetch what of [that frame](Self::next_to_fill) is written first. It was used
    /// last as many packets ago as there are frames to receive into. To be called when there was
    /// nothing to receive; [`receive`](Self::receive) does it for a packet that has just come.
    #[inline]
    pub fn anticipate(&self) {
        if let Some(frame) = self.next_to_fill() {
            self.umem.prefetch(frame);
        }
    }

    /// Wakes the kernel if it sleeps though it has frames to receive into, and has it poll the
    /// driver if the socket is to do so. To be called when there was nothing to receive.
    ///
    /// # Errors
    /// The kernel's: `NetworkDown` while the interface is down.
    #[inline]
    pub fn wake(&mut self) -> io::Result<()> {
        if self.settings.busy_polling.is_some() || self.fill.wants_wake() {
            self.kernel.wake()?;
        }
        Ok(())
    }

    /// Sleeps until there is something to receive, or for `timeout`; true if there is. Rounded up
    /// to milliseconds.
    ///
    /// # Errors
    /// The kernel's: `Interrupted` by a signal; `NetworkDown` when the interface is gone.
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<bool> {
        let milliseconds = timeout.map_or(-1, |timeout| {
            timeout.as_micros().div_ceil(1_000).try_into().unwrap_or(i32::MAX)
        });
        self.kernel.wait(milliseconds)
    }

    /// What the kernel has counted so far.
    ///
    /// # Errors
    /// The kernel's.
    pub fn statistics(&self) -> io::Result<Statistics> {
        let counted = self.kernel.statistics()?;
        Ok(Statistics {
            receive_dropped: counted.rx_dropped,
            receive_invalid: counted.rx_invalid_descs,
            transmit_invalid: counted.tx_invalid_descs,
            receive_ring_full: counted.rx_ring_full,
            fill_ring_empty: counted.rx_fill_ring_empty_descs,
            transmit_ring_empty: counted.tx_ring_empty_descs,
        })
    }

    /// Whether frames go between device and UMEM without a copy, as the kernel says.
    #[must_use]
    pub fn is_zero_copy(&self) -> bool {
        self.is_zero_copy
    }

    /// The queue that it is bound to.
    #[must_use]
    pub fn queue(&self) -> u32 {
        self.queue
    }

    /// How many frames the kernel has to receive into.
    #[must_use]
    pub fn filling(&self) -> u32 {
        self.filling
    }

    /// How many frames are being transmitted.
    #[must_use]
    pub fn transmitting(&self) -> u32 {
        self.transmitting
    }

    /// Entries that came from the kernel and are no frames: always 0, unless somebody else writes
    /// the rings.
    #[must_use]
    pub fn invalid(&self) -> u64 {
        self.invalid
    }
}

/// Which of a UMEM's frames it is.
fn index(umem: &Umem, frame: &Frame) -> usize {
    (frame.start() / umem.settings().frame_size) as usize
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.kernel.as_fd()
    }
}
