//! What a reactor can wait for.

use std::fmt;
use std::io;
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError, Weak};

use hairpin_time::Duration;
use socket2::Socket;

use crate::inbox::Fill;
use crate::xdp_datagrams::XdpDatagrams;
use crate::{DropNotifier, UringHandle};

/// An endpoint with a file descriptor that becomes readable or writable.
pub trait Source: AsFd {
    /// Prepares for a wait that blocks in this source's own receive, for `timeout` at a time and
    /// no longer (rounded up to the kernel's tick), and returns the means to do so; or, with
    /// `None`, undoes that.
    ///
    /// [`crate::Receive::receive`] and all else stay as they are and never wait. A source that
    /// cannot block in its receive returns `None`, and a reactor polls for it instead.
    ///
    /// # Errors
    /// The kernel's.
    fn set_blocking(&mut self, timeout: Option<Duration>) -> io::Result<Option<Blocker>>;

    /// Prepares for a [`crate::Ring`] that receives for this source by request, and returns the
    /// means to do so; or, with `None`, undoes that. For a ring to call.
    ///
    /// From the ring's first request on until this is undone, [`crate::Receive::receive`] delivers
    /// what has arrived by request and asks the kernel for nothing; after that it first delivers
    /// what is left. A source that cannot receive by request returns `None`, and the ring polls
    /// for it instead.
    ///
    /// # Errors
    /// `AlreadyExists` if the source is in another ring.
    fn set_uring_handle(
        &mut self,
        notice: Option<DropNotifier>,
    ) -> io::Result<Option<UringHandle>> {
        let _ = notice;
        Ok(None)
    }

    /// Says that nobody will wait for this source, only try it again and again; or that from now
    /// on somebody may. One past the kernel then needs not wake anybody, and its descriptor may not
    /// become readable. By default nothing happens.
    fn set_spinning(&mut self, is_spinning: bool) {
        let _ = is_spinning;
    }
}

/// The right to block in another's receive.
///
/// What arrives is kept in the source, whose next `receive` delivers it without a system call:
/// so a loop can block, then read the clock, then deliver, as it does with every other wait.
#[derive(Clone)]
pub struct Blocker(Lender);

/// Whose receive it is.
#[derive(Clone)]
enum Lender {
    Kernel { socket: Weak<Socket>, inbox: Weak<Mutex<dyn Fill>> },
    Stack(Weak<Mutex<XdpDatagrams>>),
}

impl Blocker {
    pub(crate) fn of_kernel(socket: Weak<Socket>, inbox: Weak<Mutex<dyn Fill>>) -> Self {
        Self(Lender::Kernel { socket, inbox })
    }

    pub(crate) fn of_stack(inbox: Weak<Mutex<XdpDatagrams>>) -> Self {
        Self(Lender::Stack(inbox))
    }

    /// Blocks until something has arrived, the timeout has passed or a signal has come; at once if
    /// the source still holds something undelivered. One system call; past the kernel one or two,
    /// and the timeout is rounded up to milliseconds.
    ///
    /// Errors are kept for the source's own `receive`, like data. Returns false if the source has
    /// been dropped.
    #[must_use]
    pub fn block(&self) -> bool {
        match &self.0 {
            Lender::Kernel { socket, inbox } => {
                let (Some(socket), Some(inbox)) = (socket.upgrade(), inbox.upgrade()) else {
                    return false;
                };
                inbox.lock().unwrap_or_else(PoisonError::into_inner).fill(socket.as_fd());
            }
            Lender::Stack(inbox) => {
                let Some(inbox) = inbox.upgrade() else { return false };
                inbox.lock().unwrap_or_else(PoisonError::into_inner).wait();
            }
        }
        true
    }
}

impl fmt::Debug for Blocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let socket = match &self.0 {
            Lender::Kernel { socket, .. } => socket.upgrade(),
            Lender::Stack(_) => None,
        };
        f.debug_struct("Blocker").field("socket", &socket).finish_non_exhaustive()
    }
}
