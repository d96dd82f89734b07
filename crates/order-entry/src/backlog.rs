//! Committed records whose bytes the connection has not taken yet.

use std::collections::VecDeque;

use hairpin_mapped::Record;

/// A bounded queue of records; of the first, some bytes may have left.
#[derive(Debug)]
pub(crate) struct Backlog {
    records: VecDeque<Record>,
    max: usize,
    /// Bytes of the first record that have left.
    offset: usize,
    /// Bytes of all records that have not left.
    waiting: usize,
}

impl Backlog {
    /// An empty backlog for `max` records, at least one.
    pub(crate) fn new(max: usize) -> Self {
        let max = max.max(1);
        Self { records: VecDeque::with_capacity(max), max, offset: 0, waiting: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.records.len() == self.max
    }

    /// Records that have not left wholly.
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// Bytes that have not left.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Appends a record of which `written` bytes have left. The caller has seen that it is not
    /// full, and that it is empty if any bytes have left.
    pub(crate) fn push(&mut self, record: Record, written: usize) {
        debug_assert!(!self.is_full() && (written == 0 || self.is_empty()));
        if self.is_empty() {
            self.offset = written;
        }
        self.waiting += record.length() - written;
        self.records.push_back(record);
    }

    /// The first record and how many of its bytes have left.
    pub(crate) fn first(&self) -> Option<(Record, usize)> {
        self.records.front().map(|&record| (record, self.offset))
    }

    /// Notes that `count` more bytes of the first record have left.
    pub(crate) fn written(&mut self, count: usize) {
        self.offset += count;
        self.waiting -= count;
        if self.records.front().is_some_and(|record| record.length() == self.offset) {
            self.records.pop_front();
            self.offset = 0;
        }
    }

    pub(crate) fn clear(&mut self) {
        self.records.clear();
        self.offset = 0;
        self.waiting = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairpin_mapped::Journal;

    #[test]
    fn counts_what_waits_and_drops_a_record_with_its_last_byte() {
        let mut journal = Journal::anonymous(1_000).unwrap();
        let mut commit = |length| journal.claim(length).unwrap().commit(length);
        let (first, second) = (commit(10), commit(7));
        let mut backlog = Backlog::new(2);
        backlog.push(first, 4);
        assert!(!backlog.is_full());
        backlog.push(second, 0);
        assert!(backlog.is_full());
        assert_eq!((backlog.waiting(), backlog.first()), (13, Some((first, 4))));
        backlog.written(5);
        assert_eq!((backlog.waiting(), backlog.first()), (8, Some((first, 9))));
        backlog.written(1);
        assert_eq!((backlog.waiting(), backlog.first()), (7, Some((second, 0))));
        backlog.written(7);
        assert!(backlog.is_empty() && backlog.waiting() == 0);
    }
}
