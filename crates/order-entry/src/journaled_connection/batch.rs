//! Batched writes of several records.

use std::io::IoSlice;

use hairpin_endpoint::Stream;
use hairpin_ilink3::Delivery;
use hairpin_mapped::Storage;

use super::{JournaledConnection, count_written};
use crate::Connect;
use crate::send_throttle::{SendThrottle, is_party_details};

/// The largest number of records per write: the orders that fit into a loopback segment.
const PARTS: usize = 64;

/// The state of an open batch: the records in the queue after those that waited before it.
#[derive(Debug)]
pub(super) struct Batch {
    /// The nesting depth of batches.
    depth: u32,
    /// The number of queued records when the outermost batch began.
    before: usize,
    /// The largest number of bytes per write on this connection.
    bytes_max: usize,
    /// The largest number of bytes per write on any connection.
    configured: usize,
}

impl Batch {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { depth: 0, before: 0, bytes_max, configured: bytes_max }
    }

    /// Limits the writes to the segment size of a new connection, so that no message spans segments
    /// without need.
    pub(super) fn set_segment_size(&mut self, segment_size: Option<usize>) {
        self.bytes_max = segment_size.unwrap_or(usize::MAX).min(self.configured);
    }

    pub(super) fn is_open(&self) -> bool {
        self.depth > 0
    }
}

impl<D: Connect, J: Storage> JournaledConnection<D, J> {
    pub(super) fn open_batch(&mut self) {
        if !self.batch.is_open() {
            self.batch.before = self.queue.len();
        }
        self.batch.depth += 1;
        self.fast_path = false;
    }

    /// Ends a batch. Returns its delivery, and the number of its records that are not completely
    /// written.
    pub(super) fn close_batch(&mut self) -> (Delivery, usize) {
        self.batch.depth -= 1;
        let waiting = self.waiting();
        if self.batch.is_open() {
            return (Delivery::Waiting { waiting }, 0);
        }
        let ended = self.write_outermost();
        self.update_fast_path();
        ended
    }

    /// Writes the records of the outermost batch.
    fn write_outermost(&mut self) -> (Delivery, usize) {
        let records = self.queue.len() - self.batch.before;
        let newest = self.queue.records().last().filter(|_| records > 0);
        let Some(newest) = newest else { return (Delivery::Written, 0) };
        if self.sync_before_write {
            self.wait_durable(newest);
        }
        if self.batch.before == 0 && self.control_left.is_empty() {
            self.write_queue();
        }
        let left = self.queue.len().min(records);
        let delivery = match &self.write_error {
            Some(_) => Delivery::Broken,
            None if left == 0 => Delivery::Written,
            None => Delivery::Waiting { waiting: self.waiting() },
        };
        (delivery, left)
    }

    /// Writes the queue from its start, as far as the connection and the throttle permit.
    pub(super) fn write_queue(&mut self) {
        while !self.queue.is_empty() && self.write_vectored() {}
    }

    /// Writes as many records as one write may contain. Returns `true` if more may be written.
    fn write_vectored(&mut self) -> bool {
        let Self { journal, queue, throttle, batch, stream, write_error, counters, .. } = self;
        let (Some(stream), None) = (stream, &*write_error) else { return false };
        let offset = queue.front().map_or(0, |(_, offset)| offset);
        let mut parts = [IoSlice::new(&[]); PARTS];
        let (mut count, mut bytes) = (0, 0);
        let mut records = queue.records().peekable();
        for place in &mut parts {
            let Some(record) = records.next() else { break };
            let (whole, next) = (journal.bytes(record), records.peek());
            let frame = if count == 0 { &whole[offset..] } else { whole };
            let is_too_large = count > 0 && bytes + frame.len() > batch.bytes_max;
            let admits = |throttle: &mut SendThrottle| {
                let next = next.map(|&record| journal.bytes(record));
                throttle.admits_nth(count, self.tag.now.monotonic, whole, next)
            };
            if is_too_large || !throttle.as_mut().is_none_or(admits) {
                break;
            }
            *place = IoSlice::new(frame);
            (count, bytes) = (count + 1, bytes + frame.len());
        }
        if count == 0 {
            return false;
        }
        // Party details leave with the message after them.
        if (2..queue.len()).contains(&count) && is_party_details(&parts[count - 1]) {
            count -= 1;
            bytes -= parts[count].len();
        }
        let outcome = stream.write_vectored(&parts[..count]);
        let written = count_written(outcome, bytes, write_error, counters);
        let completed = queue.advance(written);
        throttle.iter_mut().for_each(|throttle| throttle.remove_written(completed));
        written == bytes
    }
}
