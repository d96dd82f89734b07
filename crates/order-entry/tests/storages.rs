//! A session on storages other than one segment in memory.

mod exchange;
mod wire;

use std::cell::Cell;
use std::io;
use std::ops::RangeInclusive;
use std::rc::Rc;

use exchange::seq_num;
use hairpin_mapped::{
    Direction, Journal, JournalError, JournalSettings, MemoryStorage, Record, Retention, Storage,
    Tag,
};
use hairpin_order_entry::*;
use wire::Bench;

#[test]
fn a_session_goes_on_from_a_journal_whose_first_segments_are_gone() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("journal");
    let retention = Retention { segments: 2, age: None };
    let settings = JournalSettings { segment_bytes: 4096, retention, ..JournalSettings::default() };
    let journal = Journal::create_with(&folder, settings).unwrap();
    let mut bench = Bench::on(exchange::settings(1), journal).establish();
    bench.shared.wire().room = usize::MAX;
    let mut last = 0;
    // The thread that drops segments sleeps in between: for as long as it takes.
    while last < 200 || bench.session.journal().records().next().unwrap().0.segment() == 1 {
        last = bench.send().unwrap().seq_num;
        bench.session.needed_from(last);
        bench.session.journal().wait_ready();
        assert!(last < 1_000_000, "nothing is ever dropped");
    }
    let before = bench.session.progress();
    assert_eq!(before.next_outgoing, last + 1);
    drop(bench);
    let journal = Journal::open_with(&folder, settings).unwrap();
    assert!(seq_num(journal.records().next().unwrap().1) > 1);
    let next = Session::new(exchange::settings(1), journal).unwrap();
    let after = Progress { next_incoming: 1, ..before };
    assert_eq!(next.progress(), after);
}

#[test]
fn what_is_on_the_wire_is_durable_where_each_record_is_waited_for() {
    let bench = Bench::on(exchange::settings(1), MemoryStorage::new(true));
    let mut bench = bench.establish();
    assert!(bench.session.journal().last(Direction::Control).is_some());
    assert_eq!(bench.session.journal().unsynced(), 0, "requests too");
    bench.shared.wire().room = usize::MAX;
    for number in 1..=10 {
        assert_eq!(bench.send().unwrap().seq_num, number);
        assert_eq!(bench.session.journal().unsynced(), 0);
    }
    let mut storage = bench.session.journal().clone();
    storage.crash(0);
    let uuid = bench.session.progress().uuid;
    let replayed: Vec<_> =
        storage.replay(Direction::Outbound, MESSAGE_RECORD, uuid, 3..=5).collect();
    let numbers: Vec<_> = replayed.iter().map(|&record| seq_num(storage.bytes(record))).collect();
    assert_eq!(numbers, [3, 4, 5]);
    let next = Session::new(exchange::settings(1), storage).unwrap();
    assert_eq!(next.progress().next_outgoing, 11);
}

/// A user's own storage, on a disk that may fail.
struct Own {
    kept: MemoryStorage,
    fails: Rc<Cell<bool>>,
}

impl Storage for Own {
    fn claim(&mut self, max: usize) -> Result<&mut [u8], JournalError> {
        self.kept.claim(max)
    }
    fn has_room(&self, payload: usize) -> bool {
        self.kept.has_room(payload)
    }
    fn commit(&mut self, tag: &Tag, length: usize) -> Record {
        self.kept.commit(tag, length)
    }
    fn bytes(&self, record: Record) -> &[u8] {
        self.kept.bytes(record)
    }
    fn tag(&self, record: Record) -> Tag {
        self.kept.tag(record)
    }
    fn mark(&mut self, record: Record) {
        self.kept.mark(record);
    }
    fn is_marked(&self, record: Record) -> bool {
        self.kept.is_marked(record)
    }
    fn next(&self, behind: Option<Record>) -> Option<Record> {
        self.kept.next(behind)
    }
    fn last(&self, direction: Direction) -> Option<Record> {
        self.kept.last(direction)
    }
    fn replay(
        &self,
        direction: Direction,
        kind: u16,
        uuid: u64,
        numbers: RangeInclusive<u32>,
    ) -> impl Iterator<Item = Record> {
        self.kept.replay(direction, kind, uuid, numbers)
    }
    fn needed_from(&mut self, uuid: u64, seq_num: u32) {
        self.kept.needed_from(uuid, seq_num);
    }
    fn waits(&self) -> bool {
        true
    }
    fn wait_durable(&mut self, record: Record) -> Result<(), JournalError> {
        match self.fails.get() {
            true => Err(io::Error::other("the disk is gone").into()),
            false => self.kept.wait_durable(record),
        }
    }
    fn begin_again(&mut self) -> bool {
        false
    }
}

#[test]
fn what_cannot_be_forced_to_the_disk_does_not_leave() {
    let fails = Rc::new(Cell::new(false));
    let storage = Own { kept: MemoryStorage::new(true), fails: Rc::clone(&fails) };
    let mut bench = Bench::on(exchange::settings(1), storage).establish();
    bench.shared.wire().room = usize::MAX;
    assert_eq!(bench.send().unwrap().delivery, Delivery::Written);
    fails.set(true);
    assert_eq!(bench.send().unwrap().delivery, Delivery::Broken);
    assert_eq!(bench.shared.taken(), [(514, 1)]);
    bench.turn();
    assert_eq!(bench.session.state(), State::Disconnected);
    assert_eq!(bench.session.last_failure().unwrap().to_string(), "the disk is gone");
    assert_eq!(bench.shared.taken(), [(514, 1)]);
}
