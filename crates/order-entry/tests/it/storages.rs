//! A session on storages other than one journal segment in memory.

use std::cell::Cell;
use std::io;
use std::ops::RangeInclusive;
use std::rc::Rc;

use crate::mock_exchange::{self, seq_num};
use crate::session_harness::SessionHarness;
use hairpin_mapped::{
    Direction, Journal, JournalError, JournalSettings, MemoryStorage, Record, Retention, Storage,
    Tag,
};
use hairpin_order_entry::*;

#[test]
fn session_resumes_a_journal_without_its_first_segments() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("journal");
    let retention = Retention { segments: 2, age: None };
    let settings = JournalSettings { segment_bytes: 4096, retention, ..JournalSettings::default() };
    let journal = Journal::create_with(&folder, settings).unwrap();
    let mut harness = SessionHarness::with_storage(mock_exchange::settings(1), journal).establish();
    harness.connector.connection().room = usize::MAX;
    let mut last = 0;
    // The thread that drops segments runs at intervals; wait for it.
    let first_segment = |journal: &Journal| {
        let (record, _) = journal.records().next().unwrap();
        journal.segment_of(record)
    };
    while last < 200 || first_segment(harness.session.journal()) == 1 {
        last = harness.send().unwrap().seq_num;
        harness.session.needed_from(last);
        harness.session.journal().wait_ready();
        assert!(last < 1_000_000, "no segment was dropped");
    }
    let before = harness.session.progress();
    assert_eq!(before.next_outgoing, last + 1);
    drop(harness);
    let journal = Journal::open_with(&folder, settings).unwrap();
    assert!(seq_num(journal.records().next().unwrap().1) > 1);
    let next = Session::new(mock_exchange::settings(1), journal).unwrap();
    let after = Progress { next_incoming: 1, ..before };
    assert_eq!(next.progress(), after);
}

#[test]
fn sent_messages_are_durable_if_every_record_is_waited_for() {
    let harness =
        SessionHarness::with_storage(mock_exchange::settings(1), MemoryStorage::new(true));
    let mut harness = harness.establish();
    assert!(harness.session.journal().last(Direction::Control).is_some());
    assert_eq!(harness.session.journal().unsynced(), 0, "requests included");
    harness.connector.connection().room = usize::MAX;
    for number in 1..=10 {
        assert_eq!(harness.send().unwrap().seq_num, number);
        assert_eq!(harness.session.journal().unsynced(), 0);
    }
    let mut storage = harness.session.journal().clone();
    storage.crash(0);
    let uuid = harness.session.progress().uuid;
    let replayed: Vec<_> =
        storage.replay(Direction::Outbound, MESSAGE_RECORD, uuid, 3..=5).collect();
    let numbers: Vec<_> = replayed.iter().map(|&record| seq_num(storage.bytes(record))).collect();
    assert_eq!(numbers, [3, 4, 5]);
    let next = Session::new(mock_exchange::settings(1), storage).unwrap();
    assert_eq!(next.progress().next_outgoing, 11);
}

/// A custom storage whose disk may fail.
struct CustomStorage {
    inner: MemoryStorage,
    fails: Rc<Cell<bool>>,
}

impl Storage for CustomStorage {
    fn claim(&mut self, max: usize) -> Result<&mut [u8], JournalError> {
        self.inner.claim(max)
    }
    fn has_room(&self, payload: usize) -> bool {
        self.inner.has_room(payload)
    }
    fn commit(&mut self, tag: &Tag, length: usize) -> Record {
        self.inner.commit(tag, length)
    }
    fn bytes(&self, record: Record) -> &[u8] {
        self.inner.bytes(record)
    }
    fn tag(&self, record: Record) -> Tag {
        self.inner.tag(record)
    }
    fn mark(&mut self, record: Record) {
        self.inner.mark(record);
    }
    fn is_marked(&self, record: Record) -> bool {
        self.inner.is_marked(record)
    }
    fn next(&self, previous: Option<Record>) -> Option<Record> {
        self.inner.next(previous)
    }
    fn last(&self, direction: Direction) -> Option<Record> {
        self.inner.last(direction)
    }
    fn replay(
        &self,
        direction: Direction,
        kind: u16,
        uuid: u64,
        numbers: RangeInclusive<u32>,
    ) -> impl Iterator<Item = Record> {
        self.inner.replay(direction, kind, uuid, numbers)
    }
    fn needed_from(&mut self, uuid: u64, seq_num: u32) {
        self.inner.needed_from(uuid, seq_num);
    }
    fn waits(&self) -> bool {
        true
    }
    fn wait_durable(&mut self, record: Record) -> Result<(), JournalError> {
        match self.fails.get() {
            true => Err(io::Error::other("disk removed").into()),
            false => self.inner.wait_durable(record),
        }
    }
    fn begin_again(&mut self) -> bool {
        false
    }
}

#[test]
fn message_that_cannot_be_synced_is_not_sent() {
    let fails = Rc::new(Cell::new(false));
    let storage = CustomStorage { inner: MemoryStorage::new(true), fails: Rc::clone(&fails) };
    let mut harness = SessionHarness::with_storage(mock_exchange::settings(1), storage).establish();
    harness.connector.connection().room = usize::MAX;
    assert_eq!(harness.send().unwrap().delivery, Delivery::Written);
    fails.set(true);
    assert_eq!(harness.send().unwrap().delivery, Delivery::Broken);
    assert_eq!(harness.connector.written(), [(514, 1)]);
    harness.poll();
    assert_eq!(harness.session.state(), State::Disconnected);
    assert_eq!(harness.session.last_failure().unwrap().to_string(), "disk removed");
    assert_eq!(harness.connector.written(), [(514, 1)]);
}
