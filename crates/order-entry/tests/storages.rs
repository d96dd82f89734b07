//! A session on storages other than one segment in memory.

mod exchange;
mod wire;

use exchange::seq_num;
use hairpin_mapped::{Direction, Journal, JournalSettings, MemoryStorage, Retention, Storage};
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
