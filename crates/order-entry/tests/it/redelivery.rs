//! Inbound messages are journaled before their callback, and redelivered if the process dies before
//! the callback returns.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::mock_exchange::{self, now};
use crate::session_harness::{SessionHarness, TestConnector};
use hairpin_mapped::{Direction, MemoryStorage, Storage, Tag};
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Ready, Wait};

/// A listener that records reports, and panics at one of them like a dying process.
#[derive(Default)]
struct CrashingListener {
    events: Vec<(u32, bool)>,
    warnings: usize,
    crashes_at: u32,
}

impl Listener for CrashingListener {
    fn on_execution_report_new(
        &mut self,
        _: &mut Sender<'_>,
        _: ExecutionReportNew522<'_>,
        message: &Message<'_>,
    ) {
        self.events.push((message.seq_num, message.redelivered));
        assert_ne!(message.seq_num, self.crashes_at, "the process crashes");
    }
    fn on_warning(&mut self, _: &mut Sender<'_>, _: &Warning) {
        self.warnings += 1;
    }
}

/// Sends three orders and crashes in the callback of the second report. Returns the journal and the
/// session's progress.
fn crashed() -> (MemoryStorage, Progress) {
    let mut harness =
        SessionHarness::with_storage(mock_exchange::settings(1), MemoryStorage::new(false))
            .establish();
    harness.connector.connection().room = usize::MAX;
    (0..3).for_each(|_| assert!(harness.send().is_ok()));
    harness.deliver_answers();
    let mut listener = CrashingListener { crashes_at: 2, ..CrashingListener::default() };
    let ready = harness.reactor.wait(now(9).monotonic, None).unwrap();
    let life = AssertUnwindSafe(|| {
        harness.session.process(now(9), ready, &mut harness.reactor, &mut listener).unwrap();
    });
    assert!(catch_unwind(life).is_err());
    assert_eq!(listener.events, [(1, false), (2, false)]);
    (harness.session.journal().clone(), harness.session.progress())
}

/// Runs the first wakeup of a new process on this journal.
fn restarted(storage: MemoryStorage) -> (Session<TestConnector, MemoryStorage>, CrashingListener) {
    let settings = mock_exchange::settings(1);
    let mut session = Session::with_connect(settings, storage, TestConnector::default()).unwrap();
    let (mut listener, mut reactor) =
        (CrashingListener::default(), Reactor::new(Wait::Spin).unwrap());
    session.process(now(20), Ready::EMPTY, &mut reactor, &mut listener).unwrap();
    (session, listener)
}

#[test]
fn message_with_an_unfinished_callback_is_redelivered_once() {
    let (storage, before) = crashed();
    let (session, listener) = restarted(storage);
    assert_eq!(listener.events, [(2, true)]);
    // The third report was not journaled: the exchange is asked for it.
    assert_eq!(before.next_incoming, 3);
    assert_eq!(session.progress(), before);
    let (session, listener) = restarted(session.journal().clone());
    assert_eq!(listener.events, [], "the callback has returned");
    assert_eq!(session.progress(), before);
}

#[test]
fn redelivery_is_due_at_once() {
    let (storage, _) = crashed();
    let settings = mock_exchange::settings(1);
    let waiting = Session::with_connect(settings, storage, TestConnector::default()).unwrap();
    assert_eq!(waiting.next_deadline(), Some(hairpin_time::Instant::ZERO));
    let (session, _) = restarted(waiting.journal().clone());
    assert_eq!(session.next_deadline(), None);
}

#[test]
fn unreadable_record_is_one_warning() {
    let mut storage = MemoryStorage::new(false);
    let tag = Tag { direction: Direction::Inbound, seq_num: 1, uuid: 7, ..Tag::default() };
    for payload in [&b""[..], b"abc", b"no message of any schema"] {
        storage.claim(payload.len()).unwrap().copy_from_slice(payload);
        storage.commit(&tag, payload.len());
    }
    let (session, listener) = restarted(storage);
    assert_eq!((listener.events.len(), listener.warnings), (0, 3));
    assert_eq!(restarted(session.journal().clone()).1.warnings, 0);
}

#[test]
fn inbound_messages_are_not_journaled_unless_enabled() {
    let settings = Settings { keep_inbound: false, ..mock_exchange::settings(1) };
    let mut harness = SessionHarness::with_storage(settings, MemoryStorage::new(false)).establish();
    harness.connector.connection().room = usize::MAX;
    harness.send().unwrap();
    harness.deliver_answers();
    harness.poll();
    assert_eq!(harness.session.inbound_counters().business_messages, 1);
    assert_eq!(harness.session.journal().last(Direction::Inbound), None);
}

#[test]
fn journal_restarted_in_a_callback_marks_no_record() {
    /// Sends this number of orders.
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
    // The report's position is then empty, or inside another record.
    for orders in 24..64 {
        let mut harness = SessionHarness::with_restarting_journal(4);
        harness.connector.connection().room = usize::MAX;
        harness.send().unwrap();
        harness.deliver_answers();
        let (mut filler, at) = (Filler(orders), now(harness.time));
        let ready = harness.reactor.wait(at.monotonic, None).unwrap();
        harness.session.process(at, ready, &mut harness.reactor, &mut filler).unwrap();
        let journal = harness.session.journal();
        assert!(harness.session.counters().journals_begun_again > 0);
        assert_eq!(journal.unmarked().count(), 0);
        assert!(journal.records().all(|(record, _)| !journal.is_marked(record)));
        let journaled: Vec<u8> = journal.records().flat_map(|(_, frame)| frame.to_vec()).collect();
        assert!(
            !journaled.is_empty() && harness.connector.connection().written.ends_with(&journaled)
        );
    }
}
