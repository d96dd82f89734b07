//! Records that leave together.

use std::io::IoSlice;

use hairpin_endpoint::Stream;
use hairpin_ilink3::Delivery;
use hairpin_mapped::Storage;

use super::{Link, taken};
use crate::Connect;

/// The most records of one write: as many orders as a loopback segment holds.
const PARTS: usize = 64;

/// A batch of records, while it is open, in the backlog: what is behind those that waited before.
#[derive(Debug)]
pub(super) struct Batch {
    /// Batches within one another.
    depth: u32,
    /// Records that waited when the outermost began.
    before: usize,
    /// The most bytes of one write.
    bytes_max: usize,
}

impl Batch {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { depth: 0, before: 0, bytes_max }
    }

    pub(super) fn is_open(&self) -> bool {
        self.depth > 0
    }
}

impl<D: Connect, J: Storage> Link<D, J> {
    pub(super) fn open_batch(&mut self) {
        if !self.batch.is_open() {
            self.batch.before = self.backlog.len();
        }
        self.batch.depth += 1;
        self.is_clear = false;
    }

    /// Ends a batch: how far its bytes are, and how many of its records have not left.
    pub(super) fn close_batch(&mut self) -> (Delivery, usize) {
        self.batch.depth -= 1;
        let waiting = self.waiting();
        if self.batch.is_open() {
            return (Delivery::Waiting { waiting }, 0);
        }
        let ended = self.write_ended();
        self.look();
        ended
    }

    /// Writes what the outermost batch has brought.
    fn write_ended(&mut self) -> (Delivery, usize) {
        let records = self.backlog.len() - self.batch.before;
        let newest = self.backlog.records().last().filter(|_| records > 0);
        let Some(newest) = newest else { return (Delivery::Written, 0) };
        if self.waits {
            self.wait_durable(newest);
        }
        if self.batch.before == 0 && self.control_left.is_empty() {
            self.write_batch();
        }
        let left = self.backlog.len().min(records);
        let delivery = match &self.broken {
            Some(_) => Delivery::Broken,
            None if left == 0 => Delivery::Written,
            None => Delivery::Waiting { waiting: self.waiting() },
        };
        (delivery, left)
    }

    /// Writes the backlog, of which nothing has left, as far as the connection takes it and the
    /// limit allows.
    fn write_batch(&mut self) {
        while !self.backlog.is_empty() && self.write_together() {}
    }

    /// Writes as many of the first records as one write may have: whether there may be room for
    /// more.
    fn write_together(&mut self) -> bool {
        let Self { journal, backlog, gate, batch, stream, broken, counters, .. } = self;
        let (Some(stream), None) = (stream, &*broken) else { return false };
        let offset = backlog.first().map_or(0, |(_, offset)| offset);
        let mut parts = [IoSlice::new(&[]); PARTS];
        let (mut count, mut bytes) = (0, 0);
        for (place, record) in parts.iter_mut().zip(backlog.records()) {
            let whole = journal.bytes(record);
            let frame = if count == 0 { &whole[offset..] } else { whole };
            let is_too_much = count > 0 && bytes + frame.len() > batch.bytes_max;
            let passes =
                |gate: &mut super::Gate| gate.nth_passes(count, self.tag.now.monotonic, whole);
            if is_too_much || !gate.as_mut().is_none_or(passes) {
                break;
            }
            *place = IoSlice::new(frame);
            (count, bytes) = (count + 1, bytes + frame.len());
        }
        if count == 0 {
            return false;
        }
        let written = taken(stream.write_vectored(&parts[..count]), bytes, broken, counters);
        let left = backlog.written(written);
        gate.iter_mut().for_each(|gate| gate.left(left));
        written > 0
    }
}
