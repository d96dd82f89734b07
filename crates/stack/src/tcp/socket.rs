//! A TCP socket whose data bypass the kernel while its connection is taken over.

mod adopted;
mod attendance;
mod wait;

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hairpin_tcp::{Action, Counters, Listener, Reason, Rings};
use hairpin_time::{Duration, Instant};

use super::bypass::Bypass;
use super::counters::Count;
use super::kernel_socket::KernelSocket;
use super::takeover::{self, Constants, RING, TakeoverError};
use super::{TcpTotals, now, tick, tick_length};
use crate::fast_mutex::{FastGuard, FastMutex};
use crate::readiness::{Epoll, Readiness};
use crate::stack::{Owner, SharedState};
use crate::watcher::FIRST_SOCKET_TOKEN;
use crate::{FallbackReason, PathEvent};
pub use adopted::{AdoptedTcp, TcpStatus};
pub(crate) use attendance::Attendance;
use wait::Watched;

/// The size of a read while the connection is the kernel's.
const READ: usize = 64 << 10;

/// The errors of connect(2) and bind(2) without a route, and that without a keeper.
const UNROUTABLE: [io::ErrorKind; 4] = [
    NO_KEEPER,
    io::ErrorKind::NetworkUnreachable,
    io::ErrorKind::HostUnreachable,
    io::ErrorKind::AddrNotAvailable,
];
/// The error of a handback if the keepers have ended.
const NO_KEEPER: io::ErrorKind = io::ErrorKind::PermissionDenied;
/// The room that makes an adopted descriptor writable: a third, as with the kernel.
const WRITABLE: usize = RING / 3;
/// The time without a poll and without unread bytes after which an adopted connection is handed
/// back.
const IDLE: Duration = Duration::from_secs(10);

/// The takeovers in a row without a frame after which a connection stays with the kernel, and the
/// attempts without one after which that is the reason. One alone may be a loss.
const SILENT_MAX: u8 = 3;
/// Tokens of the watcher, apart from those of UDP sockets, which count up from the first.
static TOKENS: AtomicU64 = AtomicU64::new(FIRST_SOCKET_TOKEN | 1 << 63);

/// A TCP socket of the kernel, connected or connecting. Its data take the kernel's path, or bypass
/// the kernel after [`take_over`](Self::take_over) until [`hand_back`](Self::hand_back).
///
/// The connection is handed back by itself when it needs the kernel: the peer closes or resets it,
/// its window stays closed, two retransmission timeouts follow each other, bulk data are sent, or
/// no call polls it for 100 ms or [`unpolled_max`](crate::StackSettings::unpolled_max). No byte is
/// lost; [`last_handback`](Self::last_handback) returns the reason. A connection that was handed
/// back because of a pause is taken over again.
///
/// Dropping the socket hands the connection back and closes it as the kernel does. While the kernel
/// has no route to the peer, the stack's thread keeps the connection, and closes it later.
pub struct TcpSocket {
    owner: Arc<Owner>,
    state: Arc<SocketState>,
    buffer: Box<[u8]>,
}

/// The state of a socket that the stack's thread shares.
#[derive(Debug)]
pub(crate) struct SocketState {
    descriptor: Descriptor,
    readiness: Arc<Readiness>,
    /// The kernel's socket, the readiness and, while a thread may wait, the rings. `None` if the
    /// owner waits with descriptors of its own.
    epoll: Option<Epoll>,
    token: u64,
    constants: Constants,
    /// `true` while there is a bypass; changed under the lock, at the end of each transition.
    is_bypassing: AtomicBool,
    inner: FastMutex<Inner>,
}

/// The kernel's socket.
#[derive(Debug)]
enum Descriptor {
    Owned(TcpStream),
    /// The caller keeps and closes it.
    Adopted(BorrowedFd<'static>),
}

impl AsFd for Descriptor {
    #[inline]
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Owned(stream) => stream.as_fd(),
            Self::Adopted(fd) => *fd,
        }
    }
}

#[derive(Debug)]
struct Inner {
    bypass: Option<Box<Bypass>>,
    watched: Watched,
    polled_at: Instant,
    /// The polls of the poller that the socket belongs to.
    attendance: Option<Arc<Attendance>>,
    last_handback: Option<Handback>,
    /// What bypassed the kernel in all takeovers that have ended.
    totals: TcpTotals,
    /// The takeovers in a row that ended with timeouts before a frame arrived.
    silent_takeovers: u8,
    /// The attempts in a row that found that no frame has arrived on the interface.
    unseen: u8,
    /// The control plane's generation in which a handback was not possible, and the error: the
    /// kernel had no route, or no keeper is left.
    unroutable: Option<(u64, io::ErrorKind)>,
    /// The error of a handback by the stack's thread.
    error: Option<io::Error>,
}

impl Inner {
    /// Returns the bypass with all that its last poll has left done.
    #[inline]
    fn up_to_date(&mut self) -> Option<&mut Bypass> {
        let bypass = self.bypass.as_deref_mut()?;
        bypass.catch_up(now());
        Some(bypass)
    }

    /// Returns the error of a refused takeover. That no frame has arrived on the interface may have
    /// the reason that it was just opened.
    #[cold]
    fn put_off(&mut self, shared: &SharedState, error: TakeoverError) -> TakeoverError {
        if !matches!(error, TakeoverError::Path(FallbackReason::NothingArrived)) {
            return error;
        }
        self.unseen = self.unseen.saturating_add(1);
        // A strict stack fails, and tries longer before.
        if self.unseen >= if shared.strict { u8::MAX } else { SILENT_MAX } {
            return error;
        }
        shared.tcp.count(Count::Unseen, 1);
        TakeoverError::Busy
    }

    /// Returns `true` once if the owner may wait for room and there is some.
    #[inline]
    fn take_awaited_room(&mut self) -> bool {
        let has_room = self.watched.awaits_room
            && self.up_to_date().is_some_and(|bypass| bypass.connection.room() >= WRITABLE);
        self.watched.awaits_room &= !has_room;
        has_room
    }
}

/// The cause of a handback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Handback {
    Requested,
    Connection(Reason),
    Abandoned,
    Displaced,
    /// The program has written to the kernel's socket by calls that were not seen.
    WrittenBeside,
    KeeperLost,
}

impl Handback {
    fn count(self) -> Count {
        match self {
            Self::Requested => Count::Requested,
            Self::Connection(reason) => Count::handback(reason),
            Self::Abandoned => Count::Abandoned,
            Self::Displaced => Count::Displaced,
            Self::WrittenBeside => Count::WrittenBeside,
            Self::KeeperLost => Count::KeeperLost,
        }
    }
}

/// The result of [`TcpSocket::receive_chunks`].
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct TcpReceived {
    /// The number of chunks passed on.
    pub chunks: usize,
    /// `true` if nothing was left afterwards.
    pub drained: bool,
    /// `true` at the end of the stream.
    pub closed: bool,
    /// `true` if the connection is the kernel's.
    pub is_kernel: bool,
}

/// Passes bytes on in chunks, and counts them.
struct Reader<F> {
    read: F,
    chunk_max: usize,
    /// The number of chunks that may still be passed on.
    budget: usize,
    count: usize,
}

impl<F: FnMut(&[u8])> Reader<F> {
    fn new(read: F) -> Self {
        Self { read, chunk_max: usize::MAX, budget: usize::MAX, count: 0 }
    }
}

impl<F: FnMut(&[u8])> Listener for Reader<F> {
    #[inline]
    fn on_data(&mut self, _: Instant, bytes: &[u8]) -> usize {
        let mut taken = 0;
        while taken < bytes.len() && self.budget > 0 {
            let rest = &bytes[taken..];
            let chunk = &rest[..rest.len().min(self.chunk_max)];
            (self.read)(chunk);
            self.budget -= 1;
            taken += chunk.len();
        }
        self.count += taken;
        taken
    }
}

impl TcpSocket {
    pub(crate) fn new(owner: &Arc<Owner>, stream: TcpStream) -> io::Result<Self> {
        let readiness = Arc::new(Readiness::new()?);
        readiness.set_has_waiters(false);
        let token = TOKENS.fetch_add(1, Ordering::Relaxed);
        let (epoll, watched) = (Epoll::new()?, Watched::default());
        epoll.add(stream.as_fd(), watched.kernel_events, wait::KERNEL)?;
        epoll.add_readiness(&readiness, 0)?;
        let inner = Inner {
            bypass: None,
            watched,
            polled_at: now(),
            attendance: None,
            last_handback: None,
            totals: TcpTotals::default(),
            silent_takeovers: 0,
            unseen: 0,
            unroutable: None,
            error: None,
        };
        let (descriptor, epoll) = (Descriptor::Owned(stream), Some(epoll));
        let (constants, inner) = (Constants::default(), FastMutex::new(inner));
        let is_bypassing = AtomicBool::new(false);
        let state =
            SocketState { descriptor, readiness, epoll, token, constants, is_bypassing, inner };
        let buffer = vec![0; READ].into_boxed_slice();
        Ok(Self { owner: Arc::clone(owner), state: Arc::new(state), buffer })
    }

    /// Takes the connection over from the kernel.
    ///
    /// Nothing may be unacknowledged or unread: in request and response, call it when the request
    /// has been read and the answer has not been sent.
    ///
    /// # Errors
    /// See [`TakeoverError`]. The connection then stays with the kernel, unchanged.
    pub fn take_over(&mut self) -> Result<(), TakeoverError> {
        let mut inner = self.state.inner();
        if inner.bypass.is_some() {
            return Ok(());
        }
        let lost = match inner.last_handback {
            Some(Handback::Connection(Reason::FramesLost)) => Some(FallbackReason::FramesLost),
            Some(Handback::Connection(Reason::NothingArrived)) => {
                Some(FallbackReason::NothingArrived)
            }
            _ => None,
        };
        if let Some(reason) = lost {
            let error = TakeoverError::Path(reason);
            self.owner.tcp.count_refusal(&error);
            return Err(error);
        }
        self.owner
            .tcp
            .reserve(&self.owner)
            .inspect_err(|error| self.owner.tcp.count_refusal(error))?;
        let socket = self.state.kernel();
        let SocketState { descriptor, constants, readiness, .. } = &*self.state;
        let is_owned = matches!(descriptor, Descriptor::Owned(_));
        let bypass = takeover::take_over(&self.owner, socket, constants, is_owned, readiness);
        let mut bypass = bypass.map_err(|error| {
            let error = inner.put_off(&self.owner, error);
            self.owner.tcp.count_refusal(&error);
            self.owner.tcp.release();
            error
        })?;
        inner.unseen = 0;
        self.owner.tcp.count(Count::TakenOver, 1);
        bypass.is_bound = inner.last_handback.is_some();
        inner.polled_at = bypass.taken_at;
        if let Some(attendance) = &inner.attendance {
            attendance.remove_kernel_socket();
        }
        let bypass = inner.bypass.insert(Box::new(bypass));
        self.state.is_bypassing.store(true, Ordering::Release);
        self.state.readiness.set_kernel_pending();
        self.state.watch(&self.owner)?;
        // Late segments; later ones are reported by the watcher.
        bypass.read_kernel(&self.owner, socket, now(), &mut ());
        self.state.update_watched(&self.owner, &mut inner)?;
        drop(inner);
        self.owner.tcp.add(&self.state);
        self.owner.tcp.keep_awake(&self.owner);
        Ok(())
    }

    /// Hands the connection back to the kernel, if it is taken over. Waits up to 5 ms until sent
    /// data are acknowledged.
    ///
    /// # Errors
    /// `NetworkUnreachable` if the kernel has no route to the peer, because an interface is down
    /// for example: the connection is still taken over. After another error of the kernel it is
    /// lost.
    pub fn hand_back(&mut self) -> io::Result<()> {
        let mut inner = self.state.inner();
        self.state.hand_back(&self.owner, &mut inner, Handback::Requested)
    }

    /// Hands the connection back and returns the kernel's socket.
    ///
    /// # Errors
    /// As for [`hand_back`](Self::hand_back).
    pub fn into_stream(mut self) -> io::Result<TcpStream> {
        self.hand_back()?;
        self.kernel_socket().try_clone()
    }

    /// Passes what has arrived to `read`, in order, and returns the number of bytes: 0 at the end
    /// of the stream. Bytes of the connection's next segments are still in their frames.
    ///
    /// # Errors
    /// `WouldBlock` if nothing has arrived; otherwise the kernel's.
    #[inline]
    pub fn receive(&mut self, read: impl FnMut(&[u8])) -> io::Result<usize> {
        let mut reader = Reader::new(read);
        match self.receive_via_xdp(&mut reader)? {
            Some(_) if reader.count > 0 => Ok(reader.count),
            Some(_) => Err(would_block()),
            None => {
                let count = self.receive_via_kernel(&mut reader)?.ok_or_else(would_block)?;
                if count > 0 {
                    self.resume();
                }
                Ok(count)
            }
        }
    }

    /// Passes what has arrived to `read` in at most `budget` chunks of at most `chunk_max` bytes,
    /// in order. Bytes of the connection's next segments are still in their frames. While the
    /// connection is the kernel's, at most one chunk is read.
    ///
    /// # Errors
    /// The kernel's.
    #[inline]
    pub fn receive_chunks(
        &mut self,
        budget: usize,
        chunk_max: usize,
        read: impl FnMut(&[u8]),
    ) -> io::Result<TcpReceived> {
        let chunk_max = chunk_max.max(1);
        let mut reader = Reader { read, chunk_max, budget, count: 0 };
        if let Some(drained) = self.receive_via_xdp(&mut reader)? {
            let chunks = budget - reader.budget;
            return Ok(TcpReceived { chunks, drained, closed: false, is_kernel: false });
        }
        let count = if budget > 0 { self.receive_via_kernel(&mut reader)? } else { None };
        let drained = count.is_none_or(|count| count < chunk_max.min(READ));
        let (chunks, closed) = (budget - reader.budget, count == Some(0));
        if chunks > 0 {
            self.resume();
        }
        Ok(TcpReceived { chunks, drained, closed, is_kernel: !self.is_bypassing() })
    }

    /// Receives over AF_XDP. Returns `true` if nothing is left, and `None` if the connection is the
    /// kernel's.
    #[inline]
    fn receive_via_xdp(&mut self, reader: &mut impl Listener) -> io::Result<Option<bool>> {
        let mut inner = self.state.inner();
        let Some(bypass) = inner.bypass.as_deref_mut() else { return Ok(None) };
        let tick = tick();
        let socket = self.state.kernel();
        let Bypass { connection, send_ring, receive_ring, .. } = &mut *bypass;
        if connection.unread_length() > 0 {
            let rings = Rings { send: send_ring, receive: receive_ring };
            connection.receive(&rings, |bytes| reader.on_data(tick, bytes));
            bypass.store();
        }
        bypass.poll_first(&self.owner, socket, &self.state.readiness, tick, reader)?;
        let action = bypass.connection.poll_action();
        let is_left = bypass.connection.unread_length() > 0;
        inner.polled_at = tick;
        self.state.hand_back_if_due(&self.owner, &mut inner, action)?;
        if inner.bypass.is_none() {
            return Ok(Some(false));
        }
        let readiness = &self.state.readiness;
        if is_left || inner.take_awaited_room() {
            readiness.signal();
        }
        Ok(Some(!is_left && !readiness.has_frames() && self.owner.rings_are_idle()))
    }

    /// Receives through the kernel. Returns the number of bytes, 0 at the end of the stream, and
    /// `None` if nothing has arrived.
    #[cold]
    fn receive_via_kernel<F: FnMut(&[u8])>(
        &mut self,
        reader: &mut Reader<F>,
    ) -> io::Result<Option<usize>> {
        if let Some(error) = self.state.inner().error.take() {
            return Err(error);
        }
        self.state.clear_retired();
        let length = reader.chunk_max.min(READ);
        let count = self.state.kernel().read(&mut self.buffer[..length])?;
        if let Some(count) = count.filter(|count| *count > 0) {
            reader.on_data(Instant::ZERO, &self.buffer[..count]);
        }
        Ok(count)
    }

    /// Takes a connection over again after its owner's pause.
    fn resume(&mut self) {
        if self.state.inner().last_handback == Some(Handback::Abandoned) {
            // If it is busy, the next read tries again.
            let _ = self.take_over();
        }
    }

    /// Sends bytes; as many as fit the send buffer. Returns their number.
    ///
    /// # Errors
    /// `WouldBlock` if the buffer is full; otherwise the kernel's.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.send_via_xdp(bytes)? {
            Some(0) if !bytes.is_empty() => return Err(would_block()),
            Some(count) => return Ok(count),
            None => {}
        }
        self.state.clear_retired();
        let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        socket2::SockRef::from(&self.state.descriptor).send_with_flags(bytes, flags)
    }

    /// Sends over AF_XDP as many bytes as fit the send buffer. Returns their number, and `None` if
    /// the connection is the kernel's.
    #[inline]
    fn send_via_xdp(&mut self, bytes: &[u8]) -> io::Result<Option<usize>> {
        let mut inner = self.state.inner();
        // What the kernel's socket has comes before these bytes.
        self.state.follow_beside(&self.owner, &mut inner)?;
        let Some(bypass) = inner.bypass.as_deref_mut() else { return Ok(None) };
        let tick = tick();
        if bypass.send_in_place(&self.owner, tick, bytes.len(), |to| to.copy_from_slice(bytes))? {
            inner.polled_at = tick;
            return Ok(Some(bytes.len()));
        }
        let time = now();
        let mut count = bypass.queue(time, bytes);
        if count == 0 && !bytes.is_empty() {
            // Acknowledgments that have arrived make room.
            let socket = self.state.kernel();
            bypass.poll(&self.owner, socket, &self.state.readiness, &mut ())?;
            count = bypass.queue(time, bytes);
        }
        bypass.transmit(&self.owner, time)?;
        let (action, unread) = (bypass.connection.poll_action(), bypass.connection.unread_length());
        inner.polled_at = time;
        if unread > 0 {
            self.state.readiness.signal();
        }
        self.state.hand_back_if_due(&self.owner, &mut inner, action)?;
        Ok((count > 0 || inner.bypass.is_some()).then_some(count))
    }

    /// Sends `length` bytes as one segment if that is possible at once: `fill` writes them in
    /// place. Returns `false`, and `fill` is not called, if the connection is the kernel's, or if a
    /// window or queued bytes do not permit it. Then use [`send`](Self::send).
    ///
    /// # Errors
    /// The kernel's, of the interface.
    #[inline]
    pub fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<bool> {
        let mut inner = self.state.inner();
        if self.state.beside(&inner) > 0 {
            return Ok(false);
        }
        let Some(bypass) = inner.bypass.as_deref_mut() else { return Ok(false) };
        let tick = tick();
        let sent = bypass.send_in_place(&self.owner, tick, length, fill)?;
        inner.polled_at = tick;
        Ok(sent)
    }

    /// Writes a frame of `length` bytes as [`transmit`](Self::transmit) does, without sending it,
    /// to bring code and data into the caches.
    pub fn warm_up(&mut self, length: usize) {
        let inner = self.state.inner();
        if let Some(bypass) = inner.bypass.as_deref() {
            let mut frame = [0; 2_048];
            bypass.connection.warm_up(&bypass.header, length, &mut frame);
        }
    }

    /// Returns `true` while the connection bypasses the kernel.
    #[must_use]
    #[inline]
    pub fn is_bypassing(&self) -> bool {
        self.state.is_bypassing()
    }

    /// Returns the reason of the last handback, as text; `None` if there was none.
    #[must_use]
    pub fn last_handback(&self) -> Option<String> {
        self.state.inner().last_handback.map(|cause| match cause {
            Handback::Requested => "requested".to_string(),
            Handback::Connection(reason) => reason.to_string(),
            Handback::Abandoned => {
                format!("not polled for {} ms", self.owner.tcp.unpolled_max.as_millis())
            }
            Handback::Displaced => "idle longest of 1,024 connections".to_string(),
            Handback::WrittenBeside => "written to by calls that were not seen".to_string(),
            Handback::KeeperLost => "the keeper has ended".to_string(),
        })
    }

    /// Returns the number of bytes sent and not acknowledged; 0 while the connection is the
    /// kernel's.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.state.inner().up_to_date().map_or(0, |bypass| bypass.connection.in_flight())
    }

    /// Returns the counters of the connection since its takeover; `None` while it is the kernel's.
    #[must_use]
    pub fn counters(&self) -> Option<Counters> {
        self.state.inner().up_to_date().map(|bypass| *bypass.connection.counters())
    }

    /// Returns the kernel's socket, for its addresses and options. It must not be connected to
    /// another peer. Data must not be read from it or written to it while the connection bypasses
    /// the kernel.
    #[must_use]
    pub fn kernel_socket(&self) -> &TcpStream {
        match &self.state.descriptor {
            Descriptor::Owned(stream) => stream,
            Descriptor::Adopted(_) => unreachable!("AdoptedTcp does not expose its TcpSocket"),
        }
    }

    pub(crate) fn state(&self) -> &Arc<SocketState> {
        &self.state
    }

    pub(crate) fn owner(&self) -> &Arc<Owner> {
        &self.owner
    }

    /// Returns the peer's address.
    ///
    /// # Errors
    /// The kernel's, if the connection is closed.
    pub fn peer_address(&self) -> io::Result<SocketAddr> {
        self.kernel_socket().peer_addr()
    }
}

impl SocketState {
    #[inline]
    fn inner(&self) -> FastGuard<'_, Inner> {
        self.inner.lock()
    }

    fn kernel(&self) -> KernelSocket<'_> {
        KernelSocket::new(self.descriptor.as_fd())
    }

    /// Reports data of the kernel's socket to the readiness.
    fn watch(&self, shared: &SharedState) -> io::Result<()> {
        let mut control_plane = shared.control_plane();
        control_plane.readiness_by_token.insert(self.token, Arc::clone(&self.readiness));
        shared.event_source.add(self.descriptor.as_fd(), self.token)
    }

    fn unwatch(&self, shared: &SharedState) {
        shared.event_source.remove(self.descriptor.as_fd());
        shared.control_plane().readiness_by_token.remove(&self.token);
    }

    fn hand_back(
        self: &Arc<Self>,
        shared: &SharedState,
        inner: &mut Inner,
        cause: Handback,
    ) -> io::Result<()> {
        let Inner { bypass: Some(bypass), unroutable, silent_takeovers, .. } = &mut *inner else {
            return Ok(());
        };
        let generation = shared.generation();
        if let Some((before, kind)) = *unroutable
            && (before == generation || kind == NO_KEEPER)
        {
            return self.end_stranded(shared, inner, cause, kind);
        }
        if !shared.tcp.has_route(shared, bypass.local, bypass.remote) {
            *unroutable = Some((generation, io::ErrorKind::NetworkUnreachable));
            return Err(io::ErrorKind::NetworkUnreachable.into());
        }
        let silent = match cause {
            _ if !bypass.has_received_nothing() => 0,
            // A strict stack tries without limit.
            Handback::Connection(Reason::Timeouts) => silent_takeovers.saturating_add(1),
            _ => *silent_takeovers,
        };
        let is_elsewhere = silent >= SILENT_MAX && !shared.strict;
        let cause = match cause {
            Handback::Connection(Reason::Timeouts) if is_elsewhere => {
                Handback::Connection(Reason::NothingArrived)
            }
            cause => cause,
        };
        let reason = match cause {
            Handback::Connection(reason) => Some(reason),
            _ => None,
        };
        // Otherwise the changes of the kernel's socket would wake the stack's thread.
        self.unwatch(shared);
        let before = self.kernel().info();
        let restored = bypass.restore(shared, self.kernel(), &self.readiness, reason);
        if let Err(error) = &restored
            && UNROUTABLE.contains(&error.kind())
        {
            // The route was lost since, or no keeper is left.
            let kind = error.kind();
            *unroutable = Some((generation, kind));
            self.watch(shared)?;
            self.readiness.set_kernel_pending();
            return self.end_stranded(shared, inner, cause, kind);
        }
        *unroutable = None;
        *silent_takeovers = silent;
        let Some(bypass) = inner.bypass.take() else { return Ok(()) };
        if cause == Handback::Connection(Reason::NothingArrived) {
            let (address, reason) = (bypass.local, FallbackReason::NothingArrived);
            let event = PathEvent::RxFallback { address, reason };
            shared.report(&mut shared.control_plane(), event);
        }
        if let Some(attendance) = &inner.attendance {
            attendance.add_kernel_socket();
        }
        inner.last_handback = Some(cause);
        bypass.add_totals(&mut inner.totals, [before, self.kernel().info()]);
        let result = bypass.hand_back(shared, reason, restored);
        let result = result.and(self.leave_table(shared, inner));
        shared.tcp.count(Count::HandedBack, 1);
        shared.tcp.count(cause.count(), 1);
        result
    }

    fn leave_table(self: &Arc<Self>, shared: &SharedState, inner: &mut Inner) -> io::Result<()> {
        self.readiness.clear();
        self.is_bypassing.store(false, Ordering::Release);
        let result = self.update_watched(shared, inner);
        shared.tcp.remove(self);
        shared.tcp.release();
        result
    }

    /// Returns the error of a handback that is not possible. Without a keeper this state is final:
    /// the connection continues, and a segment that only the kernel can answer resets it.
    #[cold]
    fn end_stranded(
        self: &Arc<Self>,
        shared: &SharedState,
        inner: &mut Inner,
        cause: Handback,
        kind: io::ErrorKind,
    ) -> io::Result<()> {
        use Reason::{Fin, Option, Reset, Syn, Urgent};
        let ends = matches!(cause, Handback::Connection(Fin | Reset | Syn | Urgent | Option));
        if kind == NO_KEEPER && ends {
            inner.last_handback = Some(cause);
            return self.reset(shared, inner);
        }
        Err(kind.into())
    }

    /// Resets the connection at both ends, after what was sent is acknowledged.
    #[cold]
    fn reset(self: &Arc<Self>, shared: &SharedState, inner: &mut Inner) -> io::Result<()> {
        let Some(bypass) = inner.bypass.take() else { return Ok(()) };
        self.unwatch(shared);
        bypass.reset(shared, self.kernel(), &self.readiness);
        if let Some(attendance) = &inner.attendance {
            attendance.add_kernel_socket();
        }
        self.leave_table(shared, inner)
    }

    /// Returns the time without a poll after which the connection is handed back. The owner of an
    /// adopted descriptor sleeps without polls while nothing arrives.
    fn abandoned_after(&self, bypass: &Bypass, abandoned: Duration) -> Duration {
        match self.descriptor {
            Descriptor::Adopted(_) if bypass.connection.unread_length() == 0 => IDLE,
            _ => abandoned,
        }
    }

    /// Hands the connection back if it requests this. Without a route it continues, as a connection
    /// of the kernel does.
    ///
    /// # Errors
    /// The kernel's. The connection is then lost.
    #[inline]
    fn hand_back_if_due(
        self: &Arc<Self>,
        shared: &SharedState,
        inner: &mut Inner,
        action: Option<Action>,
    ) -> io::Result<()> {
        let Some(Action::HandBack(reason)) = action else { return Ok(()) };
        let result = self.hand_back(shared, inner, Handback::Connection(reason));
        if inner.bypass.is_some() { Ok(()) } else { result }
    }

    /// Returns the time of the last frame or send; `None` if the connection is the kernel's or in
    /// use by another thread.
    pub(super) fn active_at(&self) -> Option<Instant> {
        self.try_inner()?.bypass.as_ref().map(|bypass| bypass.active_at)
    }

    /// Hands the connection back for another one; `None` if another thread uses it now.
    pub(super) fn displace(self: &Arc<Self>, shared: &SharedState) -> Option<()> {
        let mut inner = self.try_inner()?;
        inner.bypass.as_ref()?;
        self.hand_back_unasked(shared, &mut inner, Handback::Displaced);
        inner.bypass.is_none().then_some(())
    }

    /// Hands the connection back; the owner receives an error from its next call.
    fn hand_back_unasked(
        self: &Arc<Self>,
        shared: &SharedState,
        inner: &mut Inner,
        cause: Handback,
    ) {
        let result = self.hand_back(shared, inner, cause);
        // Without a route the connection continues, and the next change of routes tries again.
        if inner.bypass.is_none() {
            inner.error = result.err();
        }
    }

    /// Returns the number of bytes that the program has written to a connection that is taken over,
    /// by calls that were not seen: the kernel's socket has them to send.
    #[inline]
    fn beside(&self, inner: &Inner) -> u32 {
        match self.descriptor {
            Descriptor::Adopted(_) if inner.bypass.is_some() => {
                self.kernel().unacknowledged().unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// Hands the connection back if the program has written to it by calls that were not seen.
    #[inline]
    fn follow_beside(self: &Arc<Self>, shared: &SharedState, inner: &mut Inner) -> io::Result<()> {
        match self.beside(inner) {
            0 => Ok(()),
            _ => self.hand_back(shared, inner, Handback::WrittenBeside),
        }
    }

    /// Hands the connection back if a rule of the host restricts packets of its family: the sum of
    /// 1 for IPv4 and 2 for IPv6.
    pub(super) fn obey_rules(self: &Arc<Self>, shared: &SharedState, families: u32) {
        let mut inner = self.inner();
        let Some(bypass) = &inner.bypass else { return };
        let family = if bypass.local.ip().to_canonical().is_ipv4() { 1 } else { 2 };
        if families & family != 0 {
            self.hand_back_unasked(shared, &mut inner, Handback::Connection(Reason::Path));
        }
    }

    /// Hands the connection back because no process would end it after the death of this one.
    pub(super) fn leave_keeper(self: &Arc<Self>, shared: &SharedState) {
        self.hand_back_unasked(shared, &mut self.inner(), Handback::KeeperLost);
    }

    /// Returns the state; `None` while the owner polls.
    fn try_inner(&self) -> Option<FastGuard<'_, Inner>> {
        self.inner.try_lock()
    }

    /// Makes progress for an owner that has not polled for `unattended`, and hands the connection
    /// back after `abandoned`.
    pub(super) fn make_progress(
        self: &Arc<Self>,
        shared: &SharedState,
        time: Instant,
        unattended: Duration,
        abandoned: Duration,
    ) {
        let Some(mut inner) = self.try_inner() else { return };
        let beside = self.beside(&inner);
        if let Some(bypass) = inner.bypass.as_deref_mut().filter(|_| beside > 0) {
            let may_write = self.kernel().may_have_waiter().unwrap_or(false)
                && bypass.grow_send_buffer(self.kernel()).is_ok();
            if std::mem::replace(&mut bypass.beside.queued, beside) == beside && !may_write {
                // No call is writing now: the handback would end it with an error.
                return self.hand_back_unasked(shared, &mut inner, Handback::WrittenBeside);
            }
        }
        // A poll is recorded by the last tick.
        let since = (time - inner.polled_at).saturating_sub(tick_length());
        let unpolled = inner.attendance.as_ref().map_or(since, |it| since.min(it.age(time)));
        let Some(bypass) = inner.bypass.as_deref_mut().filter(|_| since >= unattended) else {
            return;
        };
        // An error is the interface's: the owner receives it from its own call.
        let _ = bypass.poll(shared, self.kernel(), &self.readiness, &mut ());
        let cause = match bypass.connection.poll_action() {
            Some(Action::HandBack(reason)) => Handback::Connection(reason),
            None if unpolled >= self.abandoned_after(bypass, abandoned) => Handback::Abandoned,
            None => return self.signal_waiter(&mut inner),
        };
        self.hand_back_unasked(shared, &mut inner, cause);
    }
}

fn would_block() -> io::Error {
    io::ErrorKind::WouldBlock.into()
}

impl Drop for TcpSocket {
    fn drop(&mut self) {
        self.state.attend(None);
        // There is no caller to report a failure to.
        if self.hand_back().is_err_and(|error| error.kind() == NO_KEEPER) {
            let _ = self.state.reset(&self.owner, &mut self.state.inner());
        }
    }
}

impl fmt::Debug for TcpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpSocket")
            .field("kernel_socket", &self.state.descriptor)
            .field("bypassing", &self.is_bypassing())
            .finish_non_exhaustive()
    }
}
