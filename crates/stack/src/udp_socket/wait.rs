//! Waiting for datagrams.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use super::UdpSocket;
use crate::data_plane::Reader;

impl UdpSocket {
    /// Waits until a datagram may be pending, `timeout` has passed, or a signal arrives. Returns
    /// `true` if one may be pending. `None` waits without limit.
    ///
    /// # Errors
    /// The kernel's.
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<bool> {
        self.watch(true)?;
        let Self { xdp, backing, epoll, .. } = self;
        epoll.wait_until(timeout, |events| {
            if !events.is_empty() && backing.is_readable() {
                xdp.readiness.set_kernel_pending();
            }
            let mut data_plane = xdp.shared.data_plane();
            xdp.frames.recycle(&mut data_plane);
            xdp.is_empty = false;
            xdp.shared.distribute_frames(&mut data_plane, Reader::Udp(xdp.id.index() as usize))?;
            let has_queued = data_plane.queue(xdp.id).is_some_and(|queue| queue.len() > 0);
            if has_queued || !xdp.frames.received.is_empty() {
                xdp.readiness.enlist();
                return Ok(true);
            }
            xdp.readiness.clear();
            drop(data_plane);
            xdp.shared.check()?;
            Ok(xdp.readiness.is_kernel_pending() && backing.is_readable())
        })
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
