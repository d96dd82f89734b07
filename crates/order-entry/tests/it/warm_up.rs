//! Warm-up: a send up to the point of a visible effect, without a trace.

use crate::mock_exchange::{self, now};
use crate::session_harness::SessionHarness;
use hairpin_mapped::{Direction, Journal, JournalSettings, Record};
use hairpin_order_entry::*;
use hairpin_time::Duration;

fn order(id: u64) -> NewOrder {
    NewOrder::limit(42, SideReq::BUY, Decimal(id as i64), 1, ClOrdId::from(id)).good_till_cancel()
}

fn warm_up(harness: &mut SessionHarness, times: u64) {
    for id in 0..times {
        let mut sender = harness.session.sender(now(harness.time));
        let cancel = CancelOrder::new(7, 42, SideReq::BUY, ClOrdId::from(id));
        sender.warm_up(&order(1_000_000 + id)).unwrap();
        sender.warm_up(&cancel).unwrap();
    }
}

/// Returns the offset, kind, direction and frame of every record. Handles differ between journals.
fn records(harness: &SessionHarness) -> Vec<((usize, u16, Direction), Vec<u8>)> {
    let key = |record: Record| (record.offset(), record.kind(), record.direction());
    let records = harness.session.journal().records();
    records.map(|(record, frame)| (key(record), frame.to_vec())).collect()
}

#[test]
fn warmed_up_session_sends_and_journals_the_same() {
    let run = |times| {
        let mut harness = SessionHarness::established(4);
        harness.connector.connection().room = usize::MAX;
        for id in 1..=5 {
            warm_up(&mut harness, times);
            harness.session.sender(now(harness.time)).send(&order(id)).unwrap();
        }
        warm_up(&mut harness, times);
        let written = harness.connector.connection().written.clone();
        let counters = (*harness.session.counters(), *harness.session.outbound_counters());
        (
            written,
            records(&harness),
            harness.session.progress(),
            counters,
            harness.session.next_deadline(),
        )
    };
    assert!(run(1_000) == run(0));
}

#[test]
fn warm_up_is_invisible_to_another_process() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("journal");
    let settings = JournalSettings { segment_bytes: 4_096, ..JournalSettings::default() };
    let journal = Journal::create_with(&folder, settings).unwrap();
    let mut harness = SessionHarness::with_storage(mock_exchange::settings(1), journal).establish();
    harness.connector.connection().room = usize::MAX;
    // A journal segment ends during the test; a warm-up does not continue into another one.
    let mut refused = 0;
    for id in 1..=40 {
        harness.session.journal().wait_ready();
        let before = records(&harness);
        let segments = harness.session.journal().segments();
        let mut sender = harness.session.sender(now(harness.time));
        match sender.warm_up(&order(1_000_000)) {
            Ok(()) => {}
            Err(error) => {
                assert_eq!(error, SendError::Sink(OutboundError::Full));
                refused += 1;
            }
        }
        assert_eq!(harness.session.journal().segments(), segments);
        assert!(records(&harness) == before);
        harness.session.sender(now(harness.time)).send(&order(id)).unwrap();
    }
    assert!(refused > 0, "no segment has ended");
    let last = records(&harness);
    harness.session.sender(now(harness.time)).warm_up(&order(1_000_000)).unwrap();
    let progress = harness.session.progress();
    drop(harness);
    let journal = Journal::open_with(&folder, settings).unwrap();
    let journaled: Vec<_> = journal.records().map(|(_, frame)| frame.to_vec()).collect();
    assert!(journaled.iter().eq(last.iter().map(|(_, frame)| frame)));
    let next = Session::new(mock_exchange::settings(1), journal).unwrap();
    assert_eq!(next.progress().next_outgoing, progress.next_outgoing);
}

#[test]
fn warm_up_does_not_use_the_rate_limit() {
    for beyond in [WhenThrottled::Refuse, WhenThrottled::Queue] {
        let rate = Some(Rate { messages: 2, interval: Duration::from_millis(500) });
        let rates = Rates { cancels: rate, quotes: None, others: rate };
        let throttle = Some(ThrottleSettings { rates, beyond });
        let mut harness =
            SessionHarness::with_settings(Settings { throttle, ..mock_exchange::settings(1) })
                .establish();
        harness.connector.connection().room = usize::MAX;
        warm_up(&mut harness, 100);
        assert!((0..2).all(|_| harness.send().unwrap().delivery == Delivery::Written));
    }
}

#[test]
fn warm_up_is_refused_like_a_send_and_not_counted() {
    let mut harness = SessionHarness::connecting(1);
    let mut sender = harness.session.sender(now(1));
    let refused = SendError::NotEstablished(State::Connecting);
    assert_eq!(sender.warm_up(&order(1)), Err(refused));
    let mut harness = SessionHarness::established(1);
    let nothing = NewOrder { quantity: 0, ..order(2) };
    let mut sender = harness.session.sender(now(1));
    assert_eq!(sender.warm_up(&nothing), Err(SendError::Request(RequestError::Quantity)));
    harness.send().unwrap();
    let before = *harness.session.outbound_counters();
    let waiting = harness.session.waiting();
    let mut sender = harness.session.sender(now(1));
    let full = SendError::Sink(OutboundError::WouldBlock { waiting });
    assert_eq!(sender.warm_up(&order(1)), Err(full));
    assert_eq!(*harness.session.outbound_counters(), before);
}

/// A warm-up must not restart a full journal.
#[test]
fn warm_up_does_not_restart_a_full_journal() {
    let mut harness = SessionHarness::with_restarting_journal(64);
    harness.connector.connection().room = usize::MAX;
    while harness.session.sender(now(harness.time)).warm_up(&order(1)).is_ok() {
        harness.send().unwrap();
    }
    assert_eq!(harness.session.counters().journals_begun_again, 0);
    harness.send().unwrap();
    assert_eq!(harness.session.counters().journals_begun_again, 1);
}
