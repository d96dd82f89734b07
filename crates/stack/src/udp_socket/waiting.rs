//! How one sleeps until a socket has something.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use super::UdpSocket;
use crate::core::Reader;

impl UdpSocket {
    /// Sleeps until there may be something to receive, `timeout` has passed, rounded up to
    /// milliseconds, or a signal has come; whether there may be. `None` waits for ever.
    ///
    /// # Errors
    /// The kernel's.
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<bool> {
        self.watch(true)?;
        let until = timeout.map(|timeout| Instant::now() + timeout);
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 4];
        loop {
            {
                let mut core = self.shared.core();
                self.frames.settle(&mut core);
                if !self.frames.taken.is_empty() {
                    return Ok(true);
                }
                self.is_empty = false;
                // Frames of others are handed on, so that they do not keep this one awake.
                self.shared.pump(&mut core, Reader::Udp(self.id), 1)?;
                if core.seat(self.id).is_some_and(|seat| seat.len() > 0) {
                    return Ok(true);
                }
                self.readiness.lower();
            }
            self.shared.check()?;
            if self.readiness.is_by_kernel() && self.kernel.is_readable() {
                return Ok(true);
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Ok(false);
            }
            if self.epoll.wait(&mut events, left)?.is_empty() {
                // The timeout, or a signal: who waits may want to end.
                return Ok(false);
            }
            if self.kernel.is_readable() {
                self.readiness.set_by_kernel();
            }
        }
    }

    /// Says whether the socket is only ever looked at without sleeping: then others that take its
    /// frames off the rings need not wake anybody.
    pub fn set_spinning(&mut self, is_spinning: bool) {
        // One that cannot be watched stays as it is, and `wait` tells.
        let _ = self.watch(!is_spinning);
    }

    /// Has the kernel and others wake whoever sleeps, or not.
    fn watch(&mut self, is_watching: bool) -> io::Result<()> {
        if is_watching == self.readiness.is_awaited() {
            return Ok(());
        }
        let mut core = self.shared.core();
        self.epoll.watch(core.interface.sockets(), is_watching)?;
        self.readiness.set_awaited(is_watching);
        // Nobody was woken for what came meanwhile.
        if is_watching && core.seat(self.id).is_some_and(|seat| seat.len() > 0) {
            self.readiness.raise();
        }
        Ok(())
    }
}

/// Readable when there may be something to receive, unless it was said to spin.
impl AsFd for UdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}
