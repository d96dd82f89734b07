//! The transmit timestamps in a socket's error queue.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::os::fd::BorrowedFd;

use crate::Transmitted;
use crate::error_context::is_idle;
use crate::kernel::recv_batch::RecvBatch;

/// The transmit timestamps of a socket: those in its error queue, where the kernel puts them, and
/// those already taken from there.
pub(crate) struct ErrorQueue {
    batch: RecvBatch,
    /// The timestamps taken but not yet delivered, oldest first.
    pending: VecDeque<Transmitted>,
    discarded: u64,
    /// The number of sent datagrams whose timestamps are outstanding, so that the queue is read
    /// only if needed. `None` for a stream, where the number of segments and retransmissions is
    /// unknown.
    outstanding: Option<u64>,
}

/// The timestamps taken with one system call.
const BATCH: usize = 16;
/// The timestamps kept until they are delivered: the datagrams of one burst.
const PENDING_MAX: usize = 1_024;

impl ErrorQueue {
    pub(crate) fn new(stream: bool) -> Self {
        Self {
            batch: RecvBatch::new(BATCH, 1),
            pending: VecDeque::with_capacity(PENDING_MAX),
            discarded: 0,
            outstanding: (!stream).then_some(0),
        }
    }

    /// Counts a sent datagram.
    #[inline]
    pub(crate) fn count_sent(&mut self) {
        if let Some(outstanding) = &mut self.outstanding {
            *outstanding += 1;
        }
    }

    /// Returns `true` if the error queue may contain timestamps.
    #[inline]
    pub(crate) fn may_have_timestamps(&self) -> bool {
        self.outstanding != Some(0)
    }

    /// Takes all timestamps from the error queue, so that they do not make the socket ready in a
    /// wait. If there is no room, the oldest are discarded.
    pub(crate) fn take_from_socket(&mut self, socket: BorrowedFd<'_>) -> io::Result<()> {
        let Self { pending, discarded, .. } = self;
        let (mut pending, mut discarded) = (std::mem::take(pending), *discarded);
        let outcome = self.take(socket, |stamp| {
            if pending.len() == PENDING_MAX {
                pending.pop_front();
                discarded += 1;
            }
            pending.push_back(stamp);
        });
        (self.pending, self.discarded) = (pending, discarded);
        outcome.map(drop)
    }

    /// Delivers all timestamps and returns their number.
    pub(crate) fn deliver(
        &mut self,
        socket: BorrowedFd<'_>,
        mut on: impl FnMut(Transmitted),
    ) -> io::Result<usize> {
        let pending = self.pending.len();
        self.pending.drain(..).for_each(&mut on);
        if !self.may_have_timestamps() {
            return Ok(pending);
        }
        self.take(socket, on).map(|count| pending + count)
    }

    pub(crate) fn discarded(&self) -> u64 {
        self.discarded
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
                if let Some(id) = ancillary.transmit_id {
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
        f.debug_struct("ErrorQueue").field("pending", &self.pending.len()).finish_non_exhaustive()
    }
}
