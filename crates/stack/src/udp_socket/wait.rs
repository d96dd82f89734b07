//! Waiting for datagrams.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use super::UdpSocket;
use crate::data_plane::Reader;

impl UdpSocket {
    /// Waits until a datagram may be pending, `timeout` has passed (rounded up to milliseconds), or
    /// a signal arrives. Returns `true` if one may be pending. `None` waits without limit.
    ///
    /// # Errors
    /// The kernel's.
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<bool> {
        self.watch(true)?;
        let until = timeout.map(|timeout| Instant::now() + timeout);
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 4];
        loop {
            {
                let mut data_plane = self.xdp.shared.data_plane();
                self.xdp.frames.recycle(&mut data_plane);
                if !self.xdp.frames.received.is_empty() {
                    return Ok(true);
                }
                self.xdp.is_empty = false;
                // Frames of other sockets are passed on, so that they do not keep this thread
                // awake.
                self.xdp.shared.poll_rings(&mut data_plane, Reader::Udp(self.xdp.id), 1)?;
                if data_plane.queue(self.xdp.id).is_some_and(|queue| queue.len() > 0) {
                    return Ok(true);
                }
                self.xdp.readiness.clear();
            }
            self.xdp.shared.check()?;
            if self.xdp.readiness.is_kernel_pending() && self.backing.is_readable() {
                return Ok(true);
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Ok(false);
            }
            if self.epoll.wait(&mut events, left)?.is_empty() {
                // The timeout, or a signal: the caller may want to stop.
                return Ok(false);
            }
            if self.backing.is_readable() {
                self.xdp.readiness.set_kernel_pending();
            }
        }
    }

    /// Enables or disables spinning. While a socket spins, other sockets that take its frames off
    /// the rings signal no waiter.
    pub fn set_spinning(&mut self, spinning: bool) {
        // On failure the sockets stay as they are, and `wait` reports the error.
        let _ = self.watch(!spinning);
    }

    /// Makes the kernel and other sockets wake waiters, or not.
    fn watch(&mut self, watching: bool) -> io::Result<()> {
        if watching == self.xdp.readiness.has_waiters() {
            return Ok(());
        }
        let mut data_plane = self.xdp.shared.data_plane();
        self.epoll.watch(data_plane.interface.sockets(), watching)?;
        self.xdp.readiness.set_has_waiters(watching);
        // No waiter was signaled for frames queued meanwhile.
        if watching && data_plane.queue(self.xdp.id).is_some_and(|queue| queue.len() > 0) {
            self.xdp.readiness.signal();
        }
        Ok(())
    }
}

/// Readable when a datagram may be pending, unless the socket spins.
impl AsFd for UdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}
