//! What the exchange sent is in the journal before its callback, and is delivered again if a
//! process dies before that has returned.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod exchange;
mod wire;

use std::panic::{AssertUnwindSafe, catch_unwind};

use exchange::now;
use hairpin_mapped::{Direction, MemoryStorage, Storage, Tag};
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Ready, Wait};
use wire::{Bench, Shared};

/// Notes reports, and dies of the one with this number.
#[derive(Default)]
struct Mortal {
    told: Vec<(u32, bool)>,
    warnings: usize,
    dies_of: u32,
}

impl Listener for Mortal {
    fn on_execution_report_new(
        &mut self,
        _: &mut Sender<'_>,
        _: ExecutionReportNew522<'_>,
        message: &Message<'_>,
    ) {
        self.told.push((message.seq_num, message.redelivered));
        assert_ne!(message.seq_num, self.dies_of, "the process dies");
    }
    fn on_warning(&mut self, _: &mut Sender<'_>, _: &Warning) {
        self.warnings += 1;
    }
}

/// Three orders have left, and their reports come: the process dies in the callback of the second.
/// What its storage holds then.
fn died() -> (MemoryStorage, Progress) {
    let mut bench = Bench::on(exchange::settings(1), MemoryStorage::new(false)).establish();
    bench.shared.wire().room = usize::MAX;
    (0..3).for_each(|_| assert!(bench.send().is_ok()));
    bench.answer();
    let mut mortal = Mortal { dies_of: 2, ..Mortal::default() };
    let ready = bench.reactor.wait(now(9).monotonic, None).unwrap();
    let life = AssertUnwindSafe(|| {
        bench.session.process(now(9), ready, &mut bench.reactor, &mut mortal).unwrap();
    });
    assert!(catch_unwind(life).is_err());
    assert_eq!(mortal.told, [(1, false), (2, false)]);
    (bench.session.journal().clone(), bench.session.progress())
}

/// A new process with what the last one left: its first turn.
fn restarted(storage: MemoryStorage) -> (Session<Shared, MemoryStorage>, Mortal) {
    let settings = exchange::settings(1);
    let mut session = Session::with_connect(settings, storage, Shared::default()).unwrap();
    let (mut mortal, mut reactor) = (Mortal::default(), Reactor::new(Wait::Spin).unwrap());
    session.process(now(20), Ready::NOTHING, &mut reactor, &mut mortal).unwrap();
    (session, mortal)
}

#[test]
fn a_message_whose_callback_did_not_return_is_delivered_once_more() {
    let (storage, before) = died();
    let (session, mortal) = restarted(storage);
    assert_eq!(mortal.told, [(2, true)]);
    // The third was not kept: the exchange is asked for it.
    assert_eq!(before.next_incoming, 3);
    assert_eq!(session.progress(), before);
    let (session, mortal) = restarted(session.journal().clone());
    assert_eq!(mortal.told, [], "that callback has returned");
    assert_eq!(session.progress(), before);
}

#[test]
fn what_is_to_be_delivered_again_is_due_at_once() {
    let (storage, _) = died();
    let settings = exchange::settings(1);
    let waiting = Session::with_connect(settings, storage, Shared::default()).unwrap();
    assert_eq!(waiting.next_deadline(), Some(hairpin_time::Instant::ZERO));
    let (session, _) = restarted(waiting.journal().clone());
    assert_eq!(session.next_deadline(), None);
}

#[test]
fn a_record_that_cannot_be_read_is_a_warning_once() {
    let mut storage = MemoryStorage::new(false);
    let tag = Tag { direction: Direction::Inbound, seq_num: 1, uuid: 7, ..Tag::default() };
    for payload in [&b""[..], b"abc", b"no message of any schema"] {
        storage.claim(payload.len()).unwrap().copy_from_slice(payload);
        storage.commit(&tag, payload.len());
    }
    let (session, mortal) = restarted(storage);
    assert_eq!((mortal.told.len(), mortal.warnings), (0, 3));
    assert_eq!(restarted(session.journal().clone()).1.warnings, 0);
}

#[test]
fn nothing_is_kept_unless_it_is_wanted() {
    let settings = Settings { keep_inbound: false, ..exchange::settings(1) };
    let mut bench = Bench::on(settings, MemoryStorage::new(false)).establish();
    bench.shared.wire().room = usize::MAX;
    bench.send().unwrap();
    bench.answer();
    bench.turn();
    assert_eq!(bench.session.inbound_counters().business_messages, 1);
    assert_eq!(bench.session.journal().last(Direction::Inbound), None);
}

#[test]
fn a_journal_that_begins_again_amid_a_callback_marks_nothing_of_what_it_forgot() {
    /// Sends so many orders.
    struct Filler(u32);
    impl Listener for Filler {
        fn on_execution_report_new(
            &mut self,
            sender: &mut Sender<'_>,
            _: ExecutionReportNew522<'_>,
            _: &Message<'_>,
        ) {
            let order = NewOrder::limit(42, SideReq::BUY, Decimal(1), 1, ClOrdId::from(1));
            (0..self.0).for_each(|_| assert!(sender.send(&order).is_ok()));
        }
    }
    // Where the report was, there is nothing again, or any part of a record.
    for orders in 24..64 {
        let mut bench = Bench::forgetful(4);
        bench.shared.wire().room = usize::MAX;
        bench.send().unwrap();
        bench.answer();
        let (mut filler, at) = (Filler(orders), now(bench.time));
        let ready = bench.reactor.wait(at.monotonic, None).unwrap();
        bench.session.process(at, ready, &mut bench.reactor, &mut filler).unwrap();
        let journal = bench.session.journal();
        assert!(bench.session.counters().journals_begun_again > 0);
        assert_eq!(journal.unmarked().count(), 0);
        assert!(journal.records().all(|(record, _)| !journal.is_marked(record)));
        let kept: Vec<u8> = journal.records().flat_map(|(_, frame)| frame.to_vec()).collect();
        assert!(!kept.is_empty() && bench.shared.wire().taken.ends_with(&kept));
    }
}
