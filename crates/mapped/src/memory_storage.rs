//! A storage in ordinary memory that simulates power loss.

use std::ops::RangeInclusive;

use crate::journal::{Direction, JournalError, Record, Tag};
use crate::storage::Storage;

/// Records in a `Vec`, for tests and for programs that need no file. Committing allocates.
///
/// Synced records survive a [`crash`](Self::crash). Of the unsynced records a prefix survives, of a
/// length chosen by the caller; commit order is preserved.
#[derive(Debug, Default, Clone)]
pub struct MemoryStorage {
    records: Vec<StoredRecord>,
    claimed: Vec<u8>,
    synced: usize,
    waits: bool,
}

#[derive(Debug, Clone)]
struct StoredRecord {
    tag: Tag,
    payload: Vec<u8>,
    marked: bool,
    /// An unsynced mark is lost on power loss, and its message is delivered again.
    marked_durably: bool,
}

impl MemoryStorage {
    /// Creates an empty storage. `waits`: `true` if each commit must be durable, which syncs it.
    #[must_use]
    pub fn new(waits: bool) -> Self {
        Self { waits, ..Self::default() }
    }

    /// Syncs all records and marks.
    pub fn sync(&mut self) {
        self.synced = self.records.len();
        self.records.iter_mut().for_each(|record| record.marked_durably = record.marked);
    }

    /// Returns the number of unsynced records.
    #[must_use]
    pub fn unsynced(&self) -> usize {
        self.records.len() - self.synced
    }

    /// Simulates a machine crash: of the unsynced records the first `survivors` survive, and no
    /// unsynced mark does.
    ///
    /// # Panics
    /// If `survivors` exceeds the number of unsynced records.
    pub fn crash(&mut self, survivors: usize) {
        assert!(survivors <= self.unsynced(), "survivors must not exceed the unsynced records");
        self.records.truncate(self.synced + survivors);
        self.records.iter_mut().for_each(|record| record.marked = record.marked_durably);
        self.sync();
    }

    fn record(&self, index: usize) -> Option<Record> {
        let record = self.records.get(index)?;
        Some(Record::new(index as u32, record.payload.len() as u32, &record.tag))
    }

    fn all(&self) -> impl DoubleEndedIterator<Item = Record> {
        (0..self.records.len()).filter_map(|index| self.record(index))
    }
}

impl Storage for MemoryStorage {
    fn claim(&mut self, max: usize) -> Result<&mut [u8], JournalError> {
        self.claimed.resize(max, 0);
        Ok(&mut self.claimed)
    }

    fn has_room(&self, _: usize) -> bool {
        true
    }

    fn commit(&mut self, tag: &Tag, length: usize) -> Record {
        let payload = self.claimed[..length].to_vec();
        let index = self.records.len() as u32;
        self.records.push(StoredRecord {
            tag: *tag,
            payload,
            marked: false,
            marked_durably: false,
        });
        Record::new(index, length as u32, tag)
    }

    fn bytes(&self, record: Record) -> &[u8] {
        &self.records[record.offset()].payload
    }

    fn tag(&self, record: Record) -> Tag {
        self.records[record.offset()].tag
    }

    fn mark(&mut self, record: Record) {
        self.records[record.offset()].marked = true;
    }

    fn is_marked(&self, record: Record) -> bool {
        self.records[record.offset()].marked
    }

    fn next(&self, after: Option<Record>) -> Option<Record> {
        self.record(after.map_or(0, |record| record.offset() + 1))
    }

    fn last(&self, direction: Direction) -> Option<Record> {
        self.all().rfind(|record| record.direction() == direction)
    }

    fn replay(
        &self,
        direction: Direction,
        kind: u16,
        uuid: u64,
        numbers: RangeInclusive<u32>,
    ) -> impl Iterator<Item = Record> {
        numbers.filter_map(move |number| {
            self.all().rfind(|&record| {
                let tag = self.tag(record);
                (tag.direction, tag.kind, tag.uuid, tag.seq_num) == (direction, kind, uuid, number)
            })
        })
    }

    fn needed_from(&mut self, _: u64, _: u32) {}

    fn waits(&self) -> bool {
        self.waits
    }

    fn wait_durable(&mut self, _: Record) -> Result<(), JournalError> {
        self.sync();
        Ok(())
    }

    fn begin_again(&mut self) -> bool {
        self.records.clear();
        self.synced = 0;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairpin_netsim::Random;

    fn commit(storage: &mut MemoryStorage, direction: Direction, seq_num: u32) -> Record {
        storage.claim(4).unwrap().copy_from_slice(&seq_num.to_le_bytes());
        storage.commit(&Tag { direction, seq_num, uuid: 7, ..Tag::default() }, 4)
    }

    #[test]
    fn crash_keeps_synced_records_and_prefix_of_rest() {
        let mut random = Random::new(11);
        let mut lengths = std::collections::BTreeSet::new();
        for _ in 0..100 {
            let mut storage = MemoryStorage::new(false);
            for number in 1..=3 {
                commit(&mut storage, Direction::Outbound, number);
            }
            storage.sync();
            for number in 4..=7 {
                commit(&mut storage, Direction::Outbound, number);
            }
            storage.crash(random.below(storage.unsynced() as u64 + 1) as usize);
            let last = storage.last(Direction::Outbound).unwrap();
            assert_eq!(storage.tag(last).seq_num as usize, last.offset() + 1);
            assert_eq!(storage.unsynced(), 0);
            lengths.insert(last.offset() + 1);
        }
        assert_eq!(lengths.into_iter().collect::<Vec<_>>(), [3, 4, 5, 6, 7]);
    }

    #[test]
    fn crash_loses_unsynced_mark() {
        let mut storage = MemoryStorage::new(false);
        let first = commit(&mut storage, Direction::Inbound, 1);
        storage.mark(first);
        storage.sync();
        let second = commit(&mut storage, Direction::Inbound, 2);
        storage.mark(second);
        assert_eq!(storage.unmarked().count(), 0);
        storage.crash(1);
        assert_eq!(storage.unmarked().collect::<Vec<_>>(), [second]);
    }

    #[test]
    fn crash_keeps_awaited_record() {
        let mut storage = MemoryStorage::new(true);
        let record = commit(&mut storage, Direction::Outbound, 1);
        assert!(storage.waits());
        storage.wait_durable(record).unwrap();
        storage.crash(0);
        assert_eq!(storage.bytes(record), 1_u32.to_le_bytes());
    }
}
