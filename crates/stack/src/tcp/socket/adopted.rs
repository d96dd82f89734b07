//! A TCP connection whose descriptor the caller keeps.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hairpin_tcp::{Listener, Reason, Rings};

use super::{
    Constants, Descriptor, Handback, Inner, SocketState, TOKENS, TcpSocket, WRITABLE, Watched,
};
use crate::TakeoverError;
use crate::fast_mutex::FastMutex;
use crate::readiness::Readiness;
use crate::stack::Owner;
use crate::tcp::takeover::RING;
use crate::tcp::{TcpTotals, now};

/// A TCP connection of the kernel whose descriptor the caller keeps, reads, waits for and closes.
///
/// Like [`TcpSocket`] without descriptors of its own. It carries only the bytes that bypass the
/// kernel: while the connection is the kernel's, the caller uses the descriptor. The caller drops
/// this value before it closes the descriptor.
#[derive(Debug)]
pub struct AdoptedTcp(TcpSocket);

/// A receive of an [`AdoptedTcp`]: passes bytes to the caller, which may consume only a part.
struct Consumer<F> {
    read: F,
    count: usize,
}

impl<F: FnMut(&[u8]) -> usize> Listener for Consumer<F> {
    #[inline]
    fn on_data(&mut self, _: hairpin_time::Instant, bytes: &[u8]) -> usize {
        let consumed = (self.read)(bytes);
        self.count += consumed;
        consumed
    }
}

impl AdoptedTcp {
    /// `wake` wakes the caller's sleeping threads; see [`Adoption::wake`](crate::Adoption::wake).
    pub(crate) fn new(owner: &Arc<Owner>, fd: BorrowedFd<'static>, wake: fn(RawFd)) -> Self {
        let inner = Inner {
            bypass: None,
            watched: Watched::default(),
            polled_at: now(),
            attendance: None,
            last_handback: None,
            totals: TcpTotals::default(),
            silent_takeovers: 0,
            unseen: 0,
            unroutable: None,
            error: None,
        };
        let state = SocketState {
            descriptor: Descriptor::Adopted(fd),
            readiness: Arc::new(Readiness::with_call(wake, fd.as_raw_fd())),
            epoll: None,
            token: TOKENS.fetch_add(1, Ordering::Relaxed),
            constants: Constants::default(),
            is_bypassing: AtomicBool::new(false),
            inner: FastMutex::new(inner),
        };
        Self(TcpSocket { owner: Arc::clone(owner), state: Arc::new(state), buffer: Box::new([]) })
    }

    /// Takes the connection over from the kernel; see [`TcpSocket::take_over`].
    ///
    /// # Errors
    /// See [`TakeoverError`]. The connection then stays with the kernel, unchanged.
    pub fn take_over(&mut self) -> Result<(), TakeoverError> {
        self.0.take_over()
    }

    /// Hands the connection back to the kernel; see [`TcpSocket::hand_back`].
    ///
    /// # Errors
    /// The kernel's. The connection is then lost.
    pub fn hand_back(&mut self) -> io::Result<()> {
        self.0.hand_back()
    }

    /// Ends the bypass without a call on the descriptor, which another file has replaced. The
    /// connection is lost.
    pub fn discard(self) {
        let (owner, state) = (&self.0.owner, &self.0.state);
        let Some(mut bypass) = state.inner().bypass.take() else { return };
        bypass.release_kept(owner);
        state.is_bypassing.store(false, Ordering::Release);
        owner.control_plane().readiness_by_token.remove(&state.token);
        owner.tcp.retire(owner, &bypass.entry, bypass.flow);
        owner.tcp.remove(state);
        owner.tcp.release();
    }

    /// Returns `true` while the connection bypasses the kernel.
    #[must_use]
    #[inline]
    pub fn is_bypassing(&self) -> bool {
        self.0.is_bypassing()
    }

    /// Processes what has arrived. Returns `true` while the connection bypasses the kernel; the
    /// connection may have been handed back by this call.
    ///
    /// # Errors
    /// The kernel's, of the interface or of a handback.
    #[inline]
    pub fn poll(&mut self) -> io::Result<bool> {
        self.0.receive_via_xdp(&mut ()).map(|polled| polled.is_some() && self.is_bypassing())
    }

    /// Passes what has arrived to `read`, in order, until it consumes less than a part. Returns the
    /// number of bytes consumed, and `None` if the connection is the kernel's.
    ///
    /// # Errors
    /// The kernel's, of the interface or of a handback.
    #[inline]
    pub fn receive(&mut self, read: impl FnMut(&[u8]) -> usize) -> io::Result<Option<usize>> {
        let mut consumer = Consumer { read, count: 0 };
        match self.0.receive_via_xdp(&mut consumer)? {
            None => Ok(None),
            Some(_) if consumer.count == 0 && !self.is_bypassing() => Ok(None),
            Some(_) => Ok(Some(consumer.count)),
        }
    }

    /// Passes the unread bytes to `read`, in one or two parts, and keeps them. Call
    /// [`poll`](Self::poll) before.
    pub fn peek(&mut self, mut read: impl FnMut(&[u8])) {
        if let Some(bypass) = self.0.state.inner().bypass.as_deref_mut() {
            let (send, receive) = (&mut *bypass.send_ring, &mut *bypass.receive_ring);
            let rings = Rings { send, receive };
            let parts = bypass.connection.unread(&rings);
            parts.into_iter().filter(|part| !part.is_empty()).for_each(&mut read);
        }
    }

    /// Sends bytes, as many as fit the send ring. Returns their number, and `None` if the
    /// connection is the kernel's.
    ///
    /// # Errors
    /// The kernel's, of the interface or of a handback.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<Option<usize>> {
        self.0.send_via_xdp(bytes)
    }

    /// Sends `length` bytes as one segment if possible at once; see [`TcpSocket::transmit`].
    ///
    /// # Errors
    /// The kernel's, of the interface.
    #[inline]
    pub fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<bool> {
        self.0.transmit(length, fill)
    }

    /// Switches Nagle's algorithm on or off.
    pub fn set_nagle(&mut self, nagle: bool) {
        if let Some(bypass) = self.0.state.inner().bypass.as_deref_mut() {
            bypass.connection.set_nagle(nagle);
        }
    }

    /// Holds back segments shorter than a full one (`TCP_CORK`), at most 200 ms. Without this, the
    /// next send or poll sends them.
    pub fn set_corked(&mut self, is_corked: bool) {
        if let Some(bypass) = self.0.state.inner().bypass.as_deref_mut() {
            bypass.connection.set_corked(is_corked);
        }
    }

    /// Returns the state of the connection; `None` if it is the kernel's. Call
    /// [`poll`](Self::poll) before.
    #[must_use]
    pub fn status(&self) -> Option<TcpStatus> {
        let mut inner = self.0.state.inner();
        let connection = &inner.up_to_date()?.connection;
        let status = TcpStatus {
            unread: connection.unread_length(),
            unacknowledged: RING - connection.room(),
            room: connection.room(),
            received: connection.receive_next(),
        };
        // Another thread, or the stack's, may process the acknowledgments that make room.
        inner.watched.awaits_room = !status.is_writable();
        Some(status)
    }

    /// Returns what has bypassed the kernel in takeovers that have ended.
    #[must_use]
    pub fn totals(&self) -> TcpTotals {
        self.0.state.inner().totals
    }

    /// Completes a `struct tcp_info` of the kernel's socket, of which `info` may be only the start:
    /// adds what has bypassed the kernel and, while the connection does, writes its state.
    pub fn complete_info(&self, info: &mut [u8]) {
        let mut inner = self.0.state.inner();
        let before = inner.totals;
        match inner.up_to_date() {
            Some(bypass) => {
                let idle = now().saturating_since(bypass.active_at);
                bypass.complete_info(info, &before, idle);
            }
            None => before.add_to(info),
        }
    }

    /// Returns the reason for which the connection itself asked for its last handback; `None` if
    /// the caller did, or if the caller did not poll.
    #[must_use]
    pub fn handback_reason(&self) -> Option<Reason> {
        match self.0.state.inner().last_handback? {
            Handback::Connection(reason) => Some(reason),
            _ => None,
        }
    }

    /// Hands the connection back if bytes were written to the descriptor by calls that were not
    /// seen. Call it before a wait: the peer may wait for them.
    ///
    /// # Errors
    /// The kernel's, of a handback.
    pub fn follow_beside(&mut self) -> io::Result<()> {
        self.0.state.follow_beside(&self.0.owner, &mut self.0.state.inner())
    }

    /// Returns `true` if the last handback was because bytes were written to the descriptor by
    /// calls that were not seen. They follow all that was sent before.
    #[must_use]
    pub fn is_written_beside(&self) -> bool {
        self.0.state.inner().last_handback == Some(Handback::WrittenBeside)
    }

    /// Returns the value of `SO_KEEPALIVE` that a handback restores; `None` if the connection is
    /// the kernel's.
    #[must_use]
    pub fn keepalive(&self) -> Option<i32> {
        self.0.state.inner().bypass.as_ref().map(|bypass| bypass.keepalive)
    }
}

/// The state of a connection that bypasses the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpStatus {
    /// The number of bytes received in order and not read (`SIOCINQ`).
    pub unread: usize,
    /// The number of bytes sent or queued, and not acknowledged (`SIOCOUTQ`).
    pub unacknowledged: usize,
    /// The number of bytes that the send ring accepts.
    pub room: usize,
    /// The next sequence number expected, which grows with each byte received in order.
    pub received: u32,
}

impl TcpStatus {
    /// Returns `true` if a third of the send ring is free, as the kernel requires to report a
    /// socket as writable.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        self.room >= WRITABLE
    }
}
