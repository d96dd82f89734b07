//! Waiting for a connection.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use super::{Inner, SocketState, TcpSocket};
use crate::data_plane::Reader;
use crate::readiness::Epoll;
use crate::stack::SharedState;
use crate::tcp::now;

/// The token of the kernel's socket.
pub(super) const KERNEL: u64 = 1;
/// The events of the kernel's socket if its owner waits for bytes.
const INPUT: i32 = libc::EPOLLIN | libc::EPOLLRDHUP;

/// The descriptors that a waiting owner is notified of.
#[derive(Debug)]
pub(super) struct Watched {
    readable: bool,
    writable: bool,
    /// The owner of an adopted descriptor has found it not writable, and may wait. The next room is
    /// signaled once.
    pub(super) awaits_room: bool,
    /// `true` while the rings are watched.
    rings: bool,
    /// The events of the kernel's socket.
    pub(super) kernel_events: i32,
}

impl Default for Watched {
    fn default() -> Self {
        Self {
            readable: true,
            writable: false,
            awaits_room: false,
            rings: false,
            kernel_events: INPUT,
        }
    }
}

impl TcpSocket {
    /// Waits until bytes may be pending, `timeout` has passed, or a signal arrives. Returns `true`
    /// if bytes may be pending. `None` waits without limit.
    ///
    /// # Errors
    /// The kernel's.
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<bool> {
        self.set_spinning(false);
        let Self { state, owner, .. } = self;
        state.epoll().wait_until(timeout, |events| {
            // The frames of other sockets are passed on: this may be the only thread woken.
            owner.distribute_frames(&mut owner.data_plane(), Reader::Any)?;
            let by_kernel = events.iter().any(|event| event.u64 == KERNEL);
            Ok(by_kernel || state.may_have_input(owner))
        })
    }

    /// Enables or disables spinning, which is enabled at first. While a socket spins, its
    /// descriptor may not become readable.
    pub fn set_spinning(&mut self, spinning: bool) {
        if spinning != self.state.readiness.has_waiters() {
            return;
        }
        let mut inner = self.state.inner();
        self.state.readiness.set_has_waiters(!spinning);
        // On failure the rings stay as they are. Another thread then makes progress later.
        let _ = self.state.update_watched(&self.owner, &mut inner);
    }

    /// Sets when the descriptor becomes readable: when bytes may be pending, when bytes may be
    /// sent, or both. At first: when bytes may be pending.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_interest(&self, readable: bool, writable: bool) -> io::Result<()> {
        let mut inner = self.state.inner();
        if (inner.watched.readable, inner.watched.writable) == (readable, writable) {
            return Ok(());
        }
        (inner.watched.readable, inner.watched.writable) = (readable, writable);
        self.state.update_watched(&self.owner, &mut inner)
    }
}

impl SocketState {
    fn epoll(&self) -> &Epoll {
        self.epoll.as_ref().expect("only an adopted descriptor has none")
    }

    fn may_have_input(&self, shared: &SharedState) -> bool {
        let inner = self.inner();
        let unread = |bypass: &super::Bypass| bypass.connection.unread_length() > 0;
        inner.error.is_some()
            || inner.bypass.as_deref().is_some_and(|bypass| {
                unread(bypass) || self.readiness.has_frames() || !shared.rings_are_idle()
            })
    }

    /// Adapts the watched descriptors after a takeover, a handback or a change of interest.
    pub(super) fn update_watched(&self, shared: &SharedState, inner: &mut Inner) -> io::Result<()> {
        let Some(epoll) = &self.epoll else {
            // The owner waits with descriptors of its own, and checks again.
            self.readiness.wake();
            return Ok(());
        };
        let bypasses = inner.bypass.is_some();
        let watched = &mut inner.watched;
        let rings = bypasses && self.readiness.has_waiters();
        if rings != watched.rings {
            epoll.watch(shared.data_plane().interface.sockets(), rings)?;
            watched.rings = rings;
        }
        // While the connection bypasses the kernel, its socket accepts bytes at any time.
        let output = if watched.writable && !bypasses { libc::EPOLLOUT } else { 0 };
        let events = if watched.readable { INPUT | output } else { output };
        if events != watched.kernel_events {
            epoll.modify(self.descriptor.as_fd(), events, KERNEL)?;
            watched.kernel_events = events;
        }
        self.signal_waiter(inner);
        Ok(())
    }

    /// Clears the signal of frames that arrived after a handback. They are presented to the kernel.
    pub(super) fn clear_retired(&self) {
        if self.readiness.has_frames() {
            self.readiness.clear();
        }
    }

    /// Signals the owner that bytes are stored, or that bytes may be sent.
    pub(super) fn signal_waiter(&self, inner: &mut Inner) {
        let room_awaited = inner.take_awaited_room();
        let Inner { bypass: Some(bypass), watched, .. } = inner else { return };
        bypass.catch_up(now());
        let has_input = watched.readable && bypass.connection.unread_length() > 0;
        let has_room = watched.writable && bypass.connection.room() > 0;
        if has_input || has_room || room_awaited {
            self.readiness.signal();
        }
    }
}

/// Readable when the connection is ready for the interest of its owner, unless the socket spins.
impl AsFd for TcpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.state.epoll().as_fd()
    }
}
