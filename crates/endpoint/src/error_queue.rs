//! Where the kernel puts the timestamps of what has been sent.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::os::fd::BorrowedFd;

use crate::Transmitted;
use crate::batch::Batch;
use crate::context::is_idle;

/// The timestamps of what a socket has sent: those in its error queue, which the kernel uses for
/// them too, and those taken from there already.
pub(crate) struct ErrorQueue {
    batch: Batch,
    /// Taken but not yet delivered, the oldest first.
    kept: VecDeque<Transmitted>,
    lost: u64,
    /// Datagrams sent whose stamps have not come: whether it is worth asking. Of a stream nobody
    /// knows how many segments it makes and how often they leave.
    outstanding: Option<u64>,
}

/// Stamps taken with one system call.
const BATCH: usize = 16;
/// Stamps kept for whoever does not ask for them: as many as the datagrams of a burst.
const KEPT: usize = 1_024;

impl ErrorQueue {
    pub(crate) fn new(is_stream: bool) -> Self {
        Self {
            batch: Batch::new(BATCH, 1),
            kept: VecDeque::with_capacity(KEPT),
            lost: 0,
            outstanding: (!is_stream).then_some(0),
        }
    }

    /// Notes that a datagram has been sent.
    #[inline]
    pub(crate) fn expect(&mut self) {
        if let Some(outstanding) = &mut self.outstanding {
            *outstanding += 1;
        }
    }

    /// Whether there may be something in the error queue.
    #[inline]
    pub(crate) fn is_expecting(&self) -> bool {
        self.outstanding != Some(0)
    }

    /// Takes what is in the error queue, lest a wait find the socket ready for nothing but that.
    /// What there is no room for goes, the oldest first.
    pub(crate) fn keep(&mut self, socket: BorrowedFd<'_>) -> io::Result<()> {
        let Self { kept, lost, .. } = self;
        let (mut kept, mut lost) = (std::mem::take(kept), *lost);
        let outcome = self.take(socket, |stamp| {
            if kept.len() == KEPT {
                kept.pop_front();
                lost += 1;
            }
            kept.push_back(stamp);
        });
        (self.kept, self.lost) = (kept, lost);
        outcome.map(drop)
    }

    /// Delivers all there are, and returns how many.
    pub(crate) fn deliver(
        &mut self,
        socket: BorrowedFd<'_>,
        mut on: impl FnMut(Transmitted),
    ) -> io::Result<usize> {
        let kept = self.kept.len();
        self.kept.drain(..).for_each(&mut on);
        if !self.is_expecting() {
            return Ok(kept);
        }
        self.take(socket, on).map(|count| kept + count)
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    fn take(
        &mut self,
        socket: BorrowedFd<'_>,
        mut on: impl FnMut(Transmitted),
    ) -> io::Result<usize> {
        let mut count = 0;
        loop {
            let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
            let received = match self.batch.receive(socket, BATCH, flags) {
                Err(error) if is_idle(&error) => return Ok(count),
                outcome => outcome?,
            };
            for index in 0..received {
                let ancillary = self.batch.datagram(index).ancillary;
                if let Some(id) = ancillary.transmitted {
                    on(Transmitted { id, timestamp: ancillary.timestamp });
                    count += 1;
                    self.outstanding = self.outstanding.map(|left| left.saturating_sub(1));
                }
            }
            if received < BATCH {
                return Ok(count);
            }
        }
    }
}

impl fmt::Debug for ErrorQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErrorQueue").field("kept", &self.kept.len()).finish_non_exhaustive()
    }
}
