//! Committed records that wait for the connection.

use std::collections::{VecDeque, vec_deque};
use std::iter::Copied;

use hairpin_mapped::Record;

/// A bounded queue of journal records. The front record may be partly advance.
#[derive(Debug)]
pub(crate) struct SendQueue {
    records: VecDeque<Record>,
    max: usize,
    /// The bytes of the front record that are advance.
    offset: usize,
    /// The bytes of all records that are not advance.
    pending: usize,
}

impl SendQueue {
    /// Creates a queue for `max` records, at least one.
    pub(crate) fn new(max: usize) -> Self {
        let max = max.max(1);
        Self { records: VecDeque::with_capacity(max), max, offset: 0, pending: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub(crate) fn is_full(&self) -> bool {
        !self.has_room(1)
    }

    /// Returns `true` if `count` more records fit.
    pub(crate) fn has_room(&self, count: usize) -> bool {
        self.records.len() + count <= self.max
    }

    /// Returns the number of records that are not completely advance.
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// Returns the number of bytes that are not advance.
    pub(crate) fn pending_bytes(&self) -> usize {
        self.pending
    }

    /// Appends a record of which `advance` bytes are advance. The queue must not be full, and must
    /// be empty if `advance` is not 0.
    pub(crate) fn push(&mut self, record: Record, advance: usize) {
        debug_assert!(!self.is_full() && (advance == 0 || self.is_empty()));
        if self.is_empty() {
            self.offset = advance;
        }
        self.pending += record.length() - advance;
        self.records.push_back(record);
    }

    /// Returns the front record and the number of its bytes that are advance.
    pub(crate) fn front(&self) -> Option<(Record, usize)> {
        self.records.front().map(|&record| (record, self.offset))
    }

    /// Returns all records in order. The front record may be partly advance.
    pub(crate) fn records(&self) -> Copied<vec_deque::Iter<'_, Record>> {
        self.records.iter().copied()
    }

    /// Advances the queue by `count` advance bytes. Returns the number of records completed.
    pub(crate) fn advance(&mut self, count: usize) -> usize {
        self.offset += count;
        self.pending -= count;
        let before = self.records.len();
        while let Some(record) = self.records.front().filter(|it| it.length() <= self.offset) {
            self.offset -= record.length();
            self.records.pop_front();
        }
        before - self.records.len()
    }

    pub(crate) fn clear(&mut self) {
        self.records.clear();
        self.offset = 0;
        self.pending = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairpin_mapped::Journal;

    #[test]
    fn counts_pending_bytes_and_drops_completed_records() {
        let mut journal = Journal::anonymous(1_000).unwrap();
        let mut commit = |length| journal.claim(length).unwrap().commit(length);
        let (front, second) = (commit(10), commit(7));
        let mut queue = SendQueue::new(2);
        queue.push(front, 4);
        assert!(!queue.is_full());
        queue.push(second, 0);
        assert!(queue.is_full());
        assert_eq!((queue.pending_bytes(), queue.front()), (13, Some((front, 4))));
        assert_eq!(queue.advance(5), 0);
        assert_eq!((queue.pending_bytes(), queue.front()), (8, Some((front, 9))));
        assert_eq!(queue.advance(1), 1);
        assert_eq!((queue.pending_bytes(), queue.front()), (7, Some((second, 0))));
        assert_eq!(queue.advance(7), 1);
        assert!(queue.is_empty() && queue.pending_bytes() == 0);
    }

    #[test]
    fn write_may_complete_several_records() {
        let mut journal = Journal::anonymous(1_000).unwrap();
        let records = [10, 7, 5].map(|length| journal.claim(length).unwrap().commit(length));
        for (count, left) in [(0, 3), (9, 3), (10, 2), (16, 2), (17, 1), (21, 1), (22, 0)] {
            let mut queue = SendQueue::new(3);
            records.iter().for_each(|&record| queue.push(record, 0));
            assert_eq!(queue.advance(count), 3 - left, "{count}");
            assert_eq!((queue.len(), queue.pending_bytes()), (left, 22 - count), "{count}");
            let front = queue.records().next();
            assert_eq!(front, records.get(3 - left).copied(), "{count}");
        }
    }
}
