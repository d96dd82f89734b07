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

    /// All records, in order. Of the first some bytes may have left.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record> {
        self.records.iter().copied()
    }

    /// Notes that `count` more bytes have left, and tells of how many records they were the last.
    pub(crate) fn written(&mut self, count: usize) -> usize {
        self.offset += count;
        self.waiting -= count;
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
        assert_eq!(backlog.written(5), 0);
        assert_eq!((backlog.waiting(), backlog.first()), (8, Some((first, 9))));
        assert_eq!(backlog.written(1), 1);
        assert_eq!((backlog.waiting(), backlog.first()), (7, Some((second, 0))));
        assert_eq!(backlog.written(7), 1);
        assert!(backlog.is_empty() && backlog.waiting() == 0);
    }

    #[test]
    fn bytes_of_several_records_may_leave_at_once() {
        let mut journal = Journal::anonymous(1_000).unwrap();
        let records = [10, 7, 5].map(|length| journal.claim(length).unwrap().commit(length));
        for (count, left) in [(0, 3), (9, 3), (10, 2), (16, 2), (17, 1), (21, 1), (22, 0)] {
            let mut backlog = Backlog::new(3);
            records.iter().for_each(|&record| backlog.push(record, 0));
            assert_eq!(backlog.written(count), 3 - left, "{count}");
            assert_eq!((backlog.len(), backlog.waiting()), (left, 22 - count), "{count}");
            let first = backlog.records().next();
            assert_eq!(first, records.get(3 - left).copied(), "{count}");
        }
    }
}
