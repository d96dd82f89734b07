//! A send up to the point where others could see it leaves no trace.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod exchange;
mod wire;

use exchange::now;
use hairpin_mapped::{Journal, JournalSettings, Record};
use hairpin_order_entry::*;
use hairpin_time::Duration;
use wire::Bench;

fn order(id: u64) -> NewOrder {
    NewOrder::limit(42, SideReq::BUY, Decimal(id as i64), 1, ClOrdId::from(id)).good_till_cancel()
}

fn warm_up(bench: &mut Bench, times: u64) {
    for id in 0..times {
        let mut sender = bench.session.sender(now(bench.time));
        let cancel = CancelOrder::new(7, 42, SideReq::BUY, ClOrdId::from(id));
        sender.warm_up(&order(1_000_000 + id)).unwrap();
        sender.warm_up(&cancel).unwrap();
    }
}

fn records(bench: &Bench) -> Vec<(Record, Vec<u8>)> {
    let records = bench.session.journal().records();
    records.map(|(record, frame)| (record, frame.to_vec())).collect()
}

#[test]
fn a_session_warmed_up_sends_and_keeps_what_another_does() {
    let run = |times| {
        let mut bench = Bench::established(4);
        bench.shared.wire().room = usize::MAX;
        for id in 1..=5 {
            warm_up(&mut bench, times);
            bench.session.sender(now(bench.time)).send(&order(id)).unwrap();
        }
        warm_up(&mut bench, times);
        let taken = bench.shared.wire().taken.clone();
        let counters = (*bench.session.counters(), *bench.session.outbound_counters());
        (taken, records(&bench), bench.session.progress(), counters, bench.session.next_deadline())
    };
    assert!(run(1_000) == run(0));
}

#[test]
fn another_process_sees_none_of_it() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("journal");
    let settings = JournalSettings { segment_bytes: 4_096, ..JournalSettings::default() };
    let journal = Journal::create_with(&folder, settings).unwrap();
    let mut bench = Bench::on(exchange::settings(1), journal).establish();
    bench.shared.wire().room = usize::MAX;
    // A segment ends in the middle of it: warming up goes on to no other.
    let mut refused = 0;
    for id in 1..=40 {
        bench.session.journal().wait_ready();
        let before = records(&bench);
        let segments = bench.session.journal().segments();
        let mut sender = bench.session.sender(now(bench.time));
        match sender.warm_up(&order(1_000_000)) {
            Ok(()) => {}
            Err(error) => {
                assert_eq!(error, SendError::OutboundSink(OutboundError::Full));
                refused += 1;
            }
        }
        assert_eq!(bench.session.journal().segments(), segments);
        assert!(records(&bench) == before);
        bench.session.sender(now(bench.time)).send(&order(id)).unwrap();
    }
    assert!(refused > 0, "no segment has ended");
    let last = records(&bench);
    bench.session.sender(now(bench.time)).warm_up(&order(1_000_000)).unwrap();
    let progress = bench.session.progress();
    drop(bench);
    let journal = Journal::open_with(&folder, settings).unwrap();
    let kept: Vec<_> = journal.records().map(|(_, frame)| frame.to_vec()).collect();
    assert!(kept.iter().eq(last.iter().map(|(_, frame)| frame)));
    let next = Session::new(exchange::settings(1), journal).unwrap();
    assert_eq!(next.progress().next_outgoing, progress.next_outgoing);
}

#[test]
fn warming_up_takes_nothing_of_a_limit() {
    for beyond in [WhenThrottled::Refuse, WhenThrottled::Queue] {
        let rate = Some(Rate { messages: 2, interval: Duration::from_millis(500) });
        let rates = Rates { cancels: rate, quotes: None, others: rate };
        let throttle = Some(ThrottleSettings { rates, beyond });
        let mut bench = Bench::with(Settings { throttle, ..exchange::settings(1) }).establish();
        bench.shared.wire().room = usize::MAX;
        warm_up(&mut bench, 100);
        assert!((0..2).all(|_| bench.send().unwrap().delivery == Delivery::Written));
    }
}

#[test]
fn what_would_be_refused_is_refused_and_not_counted() {
    let mut bench = Bench::connecting(1);
    let mut sender = bench.session.sender(now(1));
    let refused = SendError::NotEstablished(State::Connecting);
    assert_eq!(sender.warm_up(&order(1)), Err(refused));
    let mut bench = Bench::established(1);
    let nothing = NewOrder { quantity: 0, ..order(2) };
    let mut sender = bench.session.sender(now(1));
    assert_eq!(sender.warm_up(&nothing), Err(SendError::Request(RequestError::Quantity)));
    bench.send().unwrap();
    let before = *bench.session.outbound_counters();
    let waiting = bench.session.waiting();
    let mut sender = bench.session.sender(now(1));
    let full = SendError::OutboundSink(OutboundError::WouldBlock { waiting });
    assert_eq!(sender.warm_up(&order(1)), Err(full));
    assert_eq!(*bench.session.outbound_counters(), before);
}

/// A journal that may begin again does not for a message that is never kept.
#[test]
fn a_journal_in_memory_forgets_nothing_for_it() {
    let mut bench = Bench::forgetful(64);
    bench.shared.wire().room = usize::MAX;
    while bench.session.sender(now(bench.time)).warm_up(&order(1)).is_ok() {
        bench.send().unwrap();
    }
    assert_eq!(bench.session.counters().journals_begun_again, 0);
    bench.send().unwrap();
    assert_eq!(bench.session.counters().journals_begun_again, 1);
}
