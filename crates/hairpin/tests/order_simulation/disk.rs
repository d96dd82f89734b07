//! A trader's journal on a simulated disk, at which the process or the machine can crash at any
//! time.

use std::ops::RangeInclusive;
use std::rc::Rc;

use hairpin_mapped::{Direction, JournalError, MemoryStorage, Record, Storage, Tag};
use hairpin_netsim::{Chance, Random};

use crate::crash_point::CrashPoint;

/// A journal in memory that survives the process. Its synced records also survive the machine.
#[derive(Debug)]
pub(crate) struct Disk {
    pub(crate) memory: MemoryStorage,
    crash_point: Rc<CrashPoint>,
    random: Random,
    /// The probability of a sync at each commit, unless the session waits for each record.
    syncs: Chance,
}

impl Disk {
    pub(crate) fn new(memory: MemoryStorage, crash_point: Rc<CrashPoint>, random: Random) -> Self {
        Self { memory, crash_point, random, syncs: Chance::percent(10) }
    }
}

impl Storage for Disk {
    fn claim(&mut self, max: usize) -> Result<&mut [u8], JournalError> {
        self.memory.claim(max)
    }

    fn has_room(&self, payload: usize) -> bool {
        self.memory.has_room(payload)
    }

    fn commit(&mut self, tag: &Tag, length: usize) -> Record {
        let [before, behind] = match tag.direction {
            Direction::Outbound => ["killed before a commit", "killed between commit and write"],
            Direction::Inbound => {
                ["killed before recording a message", "killed between recording and callback"]
            }
            Direction::Control => ["killed before a request", "killed between request and write"],
        };
        self.crash_point.step(before);
        if !self.memory.waits() && self.random.happens(self.syncs) {
            self.memory.sync();
        }
        let record = self.memory.commit(tag, length);
        // A session that waits for the disk may not write yet.
        if !(self.memory.waits() && tag.direction != Direction::Inbound) {
            self.crash_point.step(behind);
        }
        record
    }

    fn bytes(&self, record: Record) -> &[u8] {
        self.memory.bytes(record)
    }

    fn tag(&self, record: Record) -> Tag {
        self.memory.tag(record)
    }

    fn mark(&mut self, record: Record) {
        self.crash_point.step("killed between callback and mark");
        self.memory.mark(record);
        self.crash_point.step("killed after a mark");
    }

    fn is_marked(&self, record: Record) -> bool {
        self.memory.is_marked(record)
    }

    fn next(&self, behind: Option<Record>) -> Option<Record> {
        self.memory.next(behind)
    }

    fn last(&self, direction: Direction) -> Option<Record> {
        self.memory.last(direction)
    }

    fn replay(
        &self,
        direction: Direction,
        kind: u16,
        uuid: u64,
        numbers: RangeInclusive<u32>,
    ) -> impl Iterator<Item = Record> {
        self.memory.replay(direction, kind, uuid, numbers)
    }

    fn needed_from(&mut self, uuid: u64, seq_num: u32) {
        self.memory.needed_from(uuid, seq_num);
    }

    fn waits(&self) -> bool {
        self.memory.waits()
    }

    fn wait_durable(&mut self, record: Record) -> Result<(), JournalError> {
        self.crash_point.step("killed between commit and sync");
        self.memory.wait_durable(record)?;
        self.crash_point.step("killed between sync and write");
        Ok(())
    }

    fn clear(&mut self) -> bool {
        false
    }
}
