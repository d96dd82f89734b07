//! The `Source` trait: an endpoint that a reactor can wait for.

use std::fmt;
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use hairpin_time::{Duration, Instant};
use socket2::Socket;

use crate::recv_buffer::Fill;
use crate::{DropNotifier, UringHandle};

/// An endpoint with a file descriptor that becomes readable or writable.
pub trait Source: AsFd {
    /// Prepares for a wait that blocks in this source's own receive, or undoes the preparation.
    /// `timeout` is the longest time to block, rounded up to the kernel's tick. Returns a handle to
    /// block with, or `None` if `timeout` is `None`.
    ///
    /// [`crate::Receive::receive`] and all other methods still never block. A source that cannot
    /// block in its receive returns `None`, and a reactor polls the source instead.
    ///
    /// # Errors
    /// The kernel's errors.
    fn set_blocking(&mut self, timeout: Option<Duration>) -> io::Result<Option<Blocker>>;

    /// Prepares for a [`crate::Ring`] that receives for this source by io_uring requests. With
    /// `None`, undoes the preparation. Called by the ring.
    ///
    /// From the ring's first request until this is undone, [`crate::Receive::receive`] delivers
    /// only what the requests have received and makes no system calls. Afterwards `receive` first
    /// delivers what the requests left over. A source that cannot receive by requests returns
    /// `None`, and the ring polls the source instead.
    ///
    /// # Errors
    /// `AlreadyExists` if the source is in another ring.
    fn set_uring_handle(
        &mut self,
        drop_notifier: Option<DropNotifier>,
    ) -> io::Result<Option<UringHandle>> {
        let _ = drop_notifier;
        Ok(None)
    }

    /// Returns the deadline of a source that has work at certain times even if nothing arrives,
    /// such as retransmissions. A reactor that waits calls this when the source is added. When the
    /// deadline has passed, the reactor reports the source as ready, so that its owner receives
    /// from it, and the source does its work in that call.
    ///
    /// The source keeps the deadline current. A source that wraps another one passes the call on.
    /// The default implementation returns `None`.
    fn deadline(&mut self) -> Option<SourceDeadline> {
        None
    }

    /// Sets whether the source's owner only spins on `receive` and never waits. While spinning, a
    /// kernel-bypass source needs no wakeups, and its descriptor may not become readable. The
    /// default implementation does nothing.
    fn set_spinning(&mut self, is_spinning: bool) {
        let _ = is_spinning;
    }

    /// Prepares for a wait with this interest. Returns `true` if the descriptor becomes readable
    /// when the source is ready for either, also for writing, and `false` if it becomes readable or
    /// writable like the source. The default implementation does nothing and returns `false`.
    ///
    /// # Errors
    /// The kernel's errors.
    fn set_interest(&self, readable: bool, writable: bool) -> io::Result<bool> {
        let _ = (readable, writable);
        Ok(false)
    }
}

/// The deadline of a source, shared with its reactor.
#[derive(Debug, Clone)]
pub struct SourceDeadline(Arc<AtomicU64>);

impl SourceDeadline {
    /// The value without a deadline.
    const NONE: u64 = u64::MAX;

    /// Returns the time at which the source has work to do.
    #[inline]
    #[must_use]
    pub fn get(&self) -> Option<Instant> {
        let nanos = self.0.load(Ordering::Relaxed);
        (nanos != Self::NONE).then_some(Instant::from_nanos(nanos))
    }

    /// Sets the time at which the source has work to do.
    #[inline]
    pub fn set(&self, deadline: Option<Instant>) {
        let nanos = deadline.map_or(Self::NONE, Instant::as_nanos);
        self.0.store(nanos, Ordering::Relaxed);
    }
}

impl Default for SourceDeadline {
    fn default() -> Self {
        Self(Arc::new(AtomicU64::new(Self::NONE)))
    }
}

/// A kernel-bypass source in whose receive a thread can block.
pub(crate) trait Wait: Send {
    /// Blocks until data can be received or the source's timeout has passed. Keeps an error for the
    /// next delivery.
    fn wait(&mut self);
}

/// A handle that blocks in the receive of a source owned by another part of the program.
///
/// The source keeps the received data, and its next `receive` delivers them without a system call.
/// So a loop can block, then read the clock, then deliver, as with every other wait.
#[derive(Clone)]
pub struct Blocker(LentSource);

/// The source in whose receive the handle blocks.
#[derive(Clone)]
enum LentSource {
    Kernel { socket: Weak<Socket>, recv_buffer: Weak<Mutex<dyn Fill>> },
    Stack(Weak<Mutex<dyn Wait>>),
}

impl Blocker {
    pub(crate) fn from_kernel(socket: Weak<Socket>, recv_buffer: Weak<Mutex<dyn Fill>>) -> Self {
        Self(LentSource::Kernel { socket, recv_buffer })
    }

    pub(crate) fn from_stack(recv_buffer: Weak<Mutex<dyn Wait>>) -> Self {
        Self(LentSource::Stack(recv_buffer))
    }

    /// Blocks until data have arrived, the timeout has passed or a signal was caught. Returns
    /// immediately if the source has undelivered data. Makes one system call; with kernel bypass
    /// one or two.
    ///
    /// Errors are kept for the source's own `receive`, like data. Returns `false` if the source has
    /// been dropped.
    #[must_use]
    pub fn block(&self) -> bool {
        match &self.0 {
            LentSource::Kernel { socket, recv_buffer } => {
                let (Some(socket), Some(recv_buffer)) = (socket.upgrade(), recv_buffer.upgrade())
                else {
                    return false;
                };
                recv_buffer.lock().unwrap_or_else(PoisonError::into_inner).fill(socket.as_fd());
            }
            LentSource::Stack(recv_buffer) => {
                let Some(recv_buffer) = recv_buffer.upgrade() else { return false };
                recv_buffer.lock().unwrap_or_else(PoisonError::into_inner).wait();
            }
        }
        true
    }
}

impl fmt::Debug for Blocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let socket = match &self.0 {
            LentSource::Kernel { socket, .. } => socket.upgrade(),
            LentSource::Stack(_) => None,
        };
        f.debug_struct("Blocker").field("socket", &socket).finish_non_exhaustive()
    }
}
