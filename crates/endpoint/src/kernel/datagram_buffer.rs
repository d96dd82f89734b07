//! The receive state of a kernel UDP socket: a batch of datagrams and the delivery position.

use std::io;
use std::os::fd::BorrowedFd;

use crate::error_context::is_idle;
use crate::kernel::datagram::Datagram;
use crate::kernel::recv_batch::RecvBatch;
use crate::recv_buffer::Fill;
use crate::uring::multishot_receive::BufferLayout;
use crate::uring::receiver::{DropNotifier, UringHandle, UringReceiver};
use crate::{Meta, Received, Timestamp, Timestamping, UdpOptions};

/// The datagrams of the last recvmmsg(2) call and the number already delivered.
///
/// After a receive of its own, `receive` has delivered everything. After a blocking receive made by
/// a reactor, the batch contains undelivered datagrams until `receive` is called. What a ring
/// receives by requests comes through `uring`, and then `receive` makes no system calls.
pub(crate) struct DatagramBuffer {
    batch: RecvBatch,
    next: usize,
    filled: usize,
    /// The last system call returned fewer datagrams than requested.
    short_read: bool,
    /// The next delivery needs no system call: its outcome is already here.
    outcome_pending: bool,
    failure: Option<io::Error>,
    counters: DropCounters,
    takes_timestamps: bool,
    uring: Option<UringReceiver>,
}

/// The drop and truncation counters of a socket.
#[derive(Default)]
struct DropCounters {
    /// The kernel's last reported drop count, modulo 2^32.
    kernel_drops: u32,
    dropped: u64,
    truncated: u64,
}

impl DropCounters {
    #[inline]
    fn record(&mut self, datagram: &Datagram<'_>) {
        self.truncated += u64::from(datagram.truncated);
        if let Some(drops) = datagram.ancillary.drops {
            self.dropped += u64::from(drops.wrapping_sub(self.kernel_drops));
            self.kernel_drops = drops;
        }
    }
}

/// The buffers for io_uring requests, in batches: the kernel fills one while the other is
/// delivered.
const URING_BATCHES: usize = 2;

impl DatagramBuffer {
    pub(crate) fn new(options: UdpOptions) -> Self {
        Self {
            batch: RecvBatch::new(options.batch.max(1), options.datagram_max),
            next: 0,
            filled: 0,
            short_read: false,
            outcome_pending: false,
            failure: None,
            counters: DropCounters::default(),
            takes_timestamps: options.timestamping != Timestamping::Off,
            uring: None,
        }
    }

    #[inline]
    pub(crate) fn receive(
        &mut self,
        socket: BorrowedFd<'_>,
        budget: usize,
        mut on: impl FnMut(Meta, &[u8]),
    ) -> io::Result<Received> {
        if budget == 0 {
            return Ok(Received::default());
        }
        if self.uring.as_ref().is_some_and(UringReceiver::is_active) {
            return self.deliver_from_uring(budget, on);
        }
        if !self.has_outcome() {
            self.fetch(socket, budget, libc::MSG_DONTWAIT);
        }
        self.outcome_pending = false;
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let mut count = self.deliver(budget, &mut on);
        while count < budget && !self.short_read {
            self.fetch(socket, budget - count, libc::MSG_DONTWAIT);
            count += self.deliver(budget - count, &mut on);
        }
        let drained = self.short_read && self.next == self.filled;
        Ok(Received { count, drained, closed: false })
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.counters.dropped
    }

    pub(crate) fn truncated(&self) -> u64 {
        self.counters.truncated
    }

    /// Attaches a ring that receives by requests, or detaches it.
    pub(crate) fn set_uring_handle(
        &mut self,
        drop_notifier: Option<DropNotifier>,
    ) -> io::Result<Option<UringHandle>> {
        let (count, length) = (self.batch.count() * URING_BATCHES, self.batch.length());
        let new = || UringReceiver::new(BufferLayout::Datagrams, count, length);
        let uring = self.uring.get_or_insert_with(new);
        uring.set_open();
        uring.attach(drop_notifier)
    }

    /// Delivers what a blocking receive has left over, then what has arrived by requests.
    #[inline]
    fn deliver_from_uring(
        &mut self,
        budget: usize,
        mut on: impl FnMut(Meta, &[u8]),
    ) -> io::Result<Received> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let mut count = self.deliver(budget, &mut on);
        let Self { counters, uring: Some(uring), takes_timestamps, .. } = self else {
            return Ok(Received::default());
        };
        while count < budget {
            match uring.first_message() {
                None => break,
                Some(Ok(message)) => {
                    let datagram = Datagram::from_recvmsg_out(&message);
                    counters.record(&datagram);
                    on(meta(&datagram, *takes_timestamps), datagram.bytes);
                }
                Some(Err(_)) if count > 0 => break,
                Some(Err(error)) => {
                    uring.pop();
                    return Err(error);
                }
            }
            uring.pop();
            count += 1;
        }
        Ok(Received { count, drained: uring.is_empty(), closed: false })
    }

    #[inline]
    fn deliver(&mut self, budget: usize, on: &mut impl FnMut(Meta, &[u8])) -> usize {
        let end = self.filled.min(self.next + budget);
        let count = end - self.next;
        for index in self.next..end {
            let datagram = self.batch.datagram(index);
            self.counters.record(&datagram);
            on(meta(&datagram, self.takes_timestamps), datagram.bytes);
        }
        self.next = end;
        count
    }

    /// Receives from the kernel, after everything has been delivered. An error is kept and is
    /// reported after the data received before it.
    #[inline]
    fn fetch(&mut self, socket: BorrowedFd<'_>, limit: usize, flags: libc::c_int) {
        let limit = limit.min(self.batch.count());
        let outcome = self.batch.receive(socket, limit, flags);
        self.next = 0;
        self.filled = *outcome.as_ref().unwrap_or(&0);
        self.short_read = self.filled < limit;
        if let Err(error) = outcome
            && !is_idle(&error)
        {
            self.failure = Some(error);
            self.outcome_pending = true;
        }
    }

    fn has_outcome(&self) -> bool {
        self.outcome_pending || self.next < self.filled
    }
}

/// Returns the metadata of a datagram. If this socket timestamps only what it sends, the kernel may
/// still pass on an arrival time that another socket has requested; that time is ignored.
#[inline]
fn meta(datagram: &Datagram<'_>, takes_timestamps: bool) -> Meta {
    let timestamp = if takes_timestamps { datagram.ancillary.timestamp } else { Timestamp::None };
    Meta { source: datagram.source, timestamp }
}

impl Fill for DatagramBuffer {
    fn fill(&mut self, socket: BorrowedFd<'_>) {
        if self.next < self.filled || self.failure.is_some() {
            return;
        }
        // Block for the first datagram only, and also take those that have arrived with it.
        self.fetch(socket, self.batch.count(), libc::MSG_WAITFORONE);
        self.outcome_pending = true;
    }
}
