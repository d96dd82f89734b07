//! A batch of datagrams, and how far it has been delivered.

use std::io;
use std::os::fd::BorrowedFd;

use crate::arrivals::Shape;
use crate::batch::Batch;
use crate::context::is_idle;
use crate::datagram::Datagram;
use crate::delivery::{Delivery, DropNotifier, UringHandle};
use crate::inbox::Fill;
use crate::{Meta, Received, Timestamp, Timestamping, UdpOptions};

/// What recvmmsg brought and what of it has been handed on.
///
/// After a receive of its own, `receive` has handed on everything. After a blocking one made by a
/// reactor the batch is full of what it brought, until `receive` is called. What a ring receives
/// by request comes by the delivery instead, and then nothing is asked of the kernel here.
pub(crate) struct Datagrams {
    batch: Batch,
    next: usize,
    filled: usize,
    /// The last system call brought less than it could have.
    is_short: bool,
    /// The next delivery needs no system call: what there is to say is here already.
    is_answered: bool,
    failure: Option<io::Error>,
    tally: Tally,
    takes_timestamps: bool,
    delivery: Option<Delivery>,
}

/// What has gone wrong with datagrams.
#[derive(Default)]
struct Tally {
    /// The kernel's count of drops as last seen, modulo 2^32.
    kernel_drops: u32,
    dropped: u64,
    truncated: u64,
}

impl Tally {
    #[inline]
    fn note(&mut self, datagram: &Datagram<'_>) {
        self.truncated += u64::from(datagram.is_truncated);
        if let Some(drops) = datagram.ancillary.drops {
            self.dropped += u64::from(drops.wrapping_sub(self.kernel_drops));
            self.kernel_drops = drops;
        }
    }
}

/// Buffers for requests, in batches: while one is delivered, the kernel fills another.
const REQUESTED_BATCHES: usize = 2;

impl Datagrams {
    pub(crate) fn new(options: UdpOptions) -> Self {
        Self {
            batch: Batch::new(options.batch.max(1), options.datagram_max),
            next: 0,
            filled: 0,
            is_short: false,
            is_answered: false,
            failure: None,
            tally: Tally::default(),
            takes_timestamps: options.timestamping != Timestamping::Off,
            delivery: None,
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
        if self.delivery.as_ref().is_some_and(Delivery::is_responsible) {
            return self.deliver_requested(budget, on);
        }
        if !self.has_answer() {
            self.fetch(socket, budget, libc::MSG_DONTWAIT);
        }
        self.is_answered = false;
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let mut count = self.deliver(budget, &mut on);
        while count < budget && !self.is_short {
            self.fetch(socket, budget - count, libc::MSG_DONTWAIT);
            count += self.deliver(budget - count, &mut on);
        }
        let drained = self.is_short && self.next == self.filled;
        Ok(Received { count, drained, closed: false })
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.tally.dropped
    }

    pub(crate) fn truncated(&self) -> u64 {
        self.tally.truncated
    }

    /// Lets a ring receive by request, or ends that.
    pub(crate) fn set_uring_handle(
        &mut self,
        notice: Option<DropNotifier>,
    ) -> io::Result<Option<UringHandle>> {
        let (count, length) = (self.batch.count() * REQUESTED_BATCHES, self.batch.length());
        let new = || Delivery::new(Shape::Datagrams, count, length);
        let delivery = self.delivery.get_or_insert_with(new);
        delivery.set_open();
        delivery.attach(notice)
    }

    /// Delivers what has arrived by request, behind what a blocking receive may have left.
    #[inline]
    fn deliver_requested(
        &mut self,
        budget: usize,
        mut on: impl FnMut(Meta, &[u8]),
    ) -> io::Result<Received> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let mut count = self.deliver(budget, &mut on);
        let Self { tally, delivery: Some(delivery), takes_timestamps, .. } = self else {
            return Ok(Received::default());
        };
        while count < budget {
            match delivery.first_message() {
                None => break,
                Some(Ok(message)) => {
                    let datagram = Datagram::of_request(&message);
                    tally.note(&datagram);
                    on(meta(&datagram, *takes_timestamps), datagram.bytes);
                }
                Some(Err(_)) if count > 0 => break,
                Some(Err(error)) => {
                    delivery.pop();
                    return Err(error);
                }
            }
            delivery.pop();
            count += 1;
        }
        Ok(Received { count, drained: delivery.is_empty(), closed: false })
    }

    #[inline]
    fn deliver(&mut self, budget: usize, on: &mut impl FnMut(Meta, &[u8])) -> usize {
        let end = self.filled.min(self.next + budget);
        let count = end - self.next;
        for index in self.next..end {
            let datagram = self.batch.datagram(index);
            self.tally.note(&datagram);
            on(meta(&datagram, self.takes_timestamps), datagram.bytes);
        }
        self.next = end;
        count
    }

    /// Asks the kernel, when everything has been delivered. A failure is kept, to be reported
    /// after what came before it.
    #[inline]
    fn fetch(&mut self, socket: BorrowedFd<'_>, limit: usize, flags: libc::c_int) {
        let limit = limit.min(self.batch.count());
        let outcome = self.batch.receive(socket, limit, flags);
        self.next = 0;
        self.filled = *outcome.as_ref().unwrap_or(&0);
        self.is_short = self.filled < limit;
        if let Err(error) = outcome
            && !is_idle(&error)
        {
            self.failure = Some(error);
            self.is_answered = true;
        }
    }

    fn has_answer(&self) -> bool {
        self.is_answered || self.next < self.filled
    }
}

/// What there is to say of a datagram. Without being asked to, the kernel passes on an arrival's
/// time that another socket has had it take, if this one has stamps of what it sends.
#[inline]
fn meta(datagram: &Datagram<'_>, takes_timestamps: bool) -> Meta {
    let timestamp = if takes_timestamps { datagram.ancillary.timestamp } else { Timestamp::None };
    Meta { source: datagram.source, timestamp }
}

impl Fill for Datagrams {
    fn fill(&mut self, socket: BorrowedFd<'_>) {
        if self.next < self.filled || self.failure.is_some() {
            return;
        }
        // Waits for the first datagram only, and takes those that have come with it.
        self.fetch(socket, self.batch.count(), libc::MSG_WAITFORONE);
        self.is_answered = true;
    }
}
