//! A storage in ordinary memory that can lose power.

use std::ops::RangeInclusive;

use crate::journal::{Direction, JournalError, Record, Tag};
use crate::storage::Storage;

/// Records in a `Vec`: for tests, and for whoever needs no file. Committing allocates.
///
/// What was synced survives a [`crash`](Self::crash). Of what was not a prefix does, as long as
/// the caller says: the order of committing is kept.
#[derive(Debug, Default, Clone)]
pub struct MemoryStorage {
    kept: Vec<Kept>,
    claimed: Vec<u8>,
    synced: usize,
    waits: bool,
}

#[derive(Debug, Clone)]
struct Kept {
    tag: Tag,
    payload: Vec<u8>,
    marked: bool,
    /// A mark that was not synced is lost with power, and its message is delivered again.
    marked_durably: bool,
}

impl MemoryStorage {
    /// An empty storage. `waits`: whether each commit is waited for, which syncs it.
    #[must_use]
    pub fn new(waits: bool) -> Self {
        Self { waits, ..Self::default() }
    }

    /// What was committed and marked now survives a crash.
    pub fn sync(&mut self) {
        self.synced = self.kept.len();
        self.kept.iter_mut().for_each(|kept| kept.marked_durably = kept.marked);
    }

    /// Records committed and not synced.
    #[must_use]
    pub fn unsynced(&self) -> usize {
        self.kept.len() - self.synced
    }

    /// The machine stops and comes back: of the records that were not synced the first `survivors`
    /// are there, and no mark that was not synced.
    ///
    /// # Panics
    /// If so many are not unsynced.
    pub fn crash(&mut self, survivors: usize) {
        assert!(survivors <= self.unsynced(), "more survive than there were");
        self.kept.truncate(self.synced + survivors);
        self.kept.iter_mut().for_each(|kept| kept.marked = kept.marked_durably);
        self.sync();
    }

    fn record(&self, index: usize) -> Option<Record> {
        let kept = self.kept.get(index)?;
        Some(Record::new(1, index as u32, kept.payload.len() as u32, &kept.tag))
    }

    fn all(&self) -> impl DoubleEndedIterator<Item = Record> {
        (0..self.kept.len()).filter_map(|index| self.record(index))
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
        let index = self.kept.len() as u32;
        self.kept.push(Kept { tag: *tag, payload, marked: false, marked_durably: false });
        Record::new(1, index, length as u32, tag)
    }

    fn bytes(&self, record: Record) -> &[u8] {
        &self.kept[record.offset()].payload
    }

    fn tag(&self, record: Record) -> Tag {
        self.kept[record.offset()].tag
    }

    fn mark(&mut self, record: Record) {
        self.kept[record.offset()].marked = true;
    }

    fn is_marked(&self, record: Record) -> bool {
        self.kept[record.offset()].marked
    }

    fn next(&self, behind: Option<Record>) -> Option<Record> {
        self.record(behind.map_or(0, |record| record.offset() + 1))
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
        self.kept.clear();
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
    fn a_crash_keeps_what_was_synced_and_a_prefix_of_the_rest() {
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
    fn a_mark_that_was_not_synced_is_lost_with_power() {
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
    fn what_was_waited_for_survives() {
        let mut storage = MemoryStorage::new(true);
        let record = commit(&mut storage, Direction::Outbound, 1);
        assert!(storage.waits());
        storage.wait_durable(record).unwrap();
        storage.crash(0);
        assert_eq!(storage.bytes(record), 1_u32.to_le_bytes());
    }
}
