//! A limit of our own: what is beyond it is refused, or waits for its turn.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod exchange;
mod wire;

use exchange::now;
use hairpin_mapped::Journal;
use hairpin_order_entry::*;
use hairpin_time::{Duration, Instant};
use wire::{Bench, ORDER};

/// A session that may send two messages in 500 ms, and `waiting` of which may wait.
fn limited(beyond: WhenThrottled, waiting_max: usize) -> Bench<Journal> {
    let rate = Some(Rate { messages: 2, interval: Duration::from_millis(500) });
    let rates = Rates { cancels: None, quotes: None, others: rate };
    let throttle = Some(ThrottleSettings { rates, beyond });
    let settings = Settings { waiting_max, throttle, ..exchange::settings(1) };
    let bench = Bench::on(settings, Journal::anonymous(1 << 16).unwrap()).establish();
    bench.shared.wire().room = usize::MAX >> 1;
    bench
}

/// The time of the turn at so many milliseconds.
fn at(millis: u64) -> Instant {
    now(millis * 1_000_000 + 1).monotonic
}

#[test]
fn what_is_beyond_the_limit_is_refused() {
    let mut bench = limited(WhenThrottled::Refuse, 4);
    bench.at_millis(100);
    let room = bench.shared.wire().room;
    assert!((0..2).all(|_| bench.send().unwrap().delivery == Delivery::Written));
    assert_eq!(bench.send(), Err(SendError::Throttled { until: at(600) }));
    assert_eq!(bench.shared.wire().room, room - 2 * ORDER);
    bench.at_millis(600);
    assert_eq!(bench.send().unwrap().seq_num, 3);
}

#[test]
fn what_is_beyond_the_limit_waits_for_its_turn() {
    let mut bench = limited(WhenThrottled::Queue, 3);
    bench.at_millis(100);
    bench.send().unwrap();
    bench.at_millis(300);
    assert_eq!(bench.send().unwrap().delivery, Delivery::Written);
    for waits in 1..=3 {
        let waiting = waits * ORDER;
        assert_eq!(bench.send().unwrap().delivery, Delivery::Waiting { waiting });
    }
    let waiting = 3 * ORDER;
    assert_eq!(bench.send(), Err(SendError::OutboundSink(OutboundError::WouldBlock { waiting })));
    assert_eq!(bench.session.next_deadline(), Some(at(600)));
    bench.at_millis(599);
    assert_eq!(bench.shared.taken(), [(514, 1), (514, 2)]);
    bench.at_millis(600);
    assert_eq!(bench.shared.taken(), [(514, 1), (514, 2), (514, 3)]);
    assert_eq!(bench.session.next_deadline(), Some(at(800)));
    assert_eq!(bench.send().unwrap().delivery, Delivery::Waiting { waiting });
    bench.at_millis(800);
    bench.at_millis(1_100);
    bench.at_millis(1_300);
    assert_eq!(bench.shared.taken().last(), Some(&(514, 6)));
    assert_eq!(bench.session.waiting(), 0);
}

#[test]
fn a_message_that_the_connection_does_not_take_counts_once() {
    let mut bench = limited(WhenThrottled::Queue, 4);
    bench.at_millis(100);
    bench.shared.wire().room = 0;
    (0..3).for_each(|_| assert_ne!(bench.send().unwrap().delivery, Delivery::Written));
    bench.at_millis(200);
    bench.at_millis(300);
    assert!(bench.shared.taken().is_empty());
    bench.give(usize::MAX >> 1);
    assert_eq!(bench.shared.taken(), [(514, 1), (514, 2)]);
    bench.at_millis(600);
    assert_eq!(bench.shared.taken(), [(514, 1), (514, 2), (514, 3)]);
}

#[test]
fn a_connection_that_ends_takes_what_was_held_back_along() {
    let mut bench = limited(WhenThrottled::Queue, 4);
    bench.at_millis(100);
    (0..3).for_each(|_| assert!(bench.send().is_ok()));
    bench.shared.wire().is_ended = true;
    bench.at_millis(101);
    bench.at_millis(102);
    assert_eq!(bench.session.state(), State::Disconnected);
    assert_eq!((bench.session.waiting(), bench.session.next_deadline()), (0, None));
    assert_eq!(bench.session.counters().unsent_records, 1);
}

#[test]
fn behind_a_batch_the_limit_holds_as_before_it() {
    let mut bench = limited(WhenThrottled::Queue, 4);
    bench.at_millis(100);
    let order = NewOrder::limit(42, SideReq::BUY, Decimal(1), 1, ClOrdId::from(1));
    let batched = bench.session.sender(now(bench.time)).batch(|sender| sender.send(&order));
    assert_eq!(batched.delivery, Delivery::Written);
    assert_eq!(bench.send().unwrap().delivery, Delivery::Written);
    assert_eq!(bench.send().unwrap().delivery, Delivery::Waiting { waiting: ORDER });
}

#[test]
fn the_sequence_that_fills_a_gap_is_not_limited() {
    let mut bench = limited(WhenThrottled::Queue, 4);
    bench.at_millis(100);
    (0..2).for_each(|_| assert!(bench.send().is_ok()));
    let message = bench.shared.wire().exchange.not_applied(2, 1);
    bench.shared.wire().incoming.extend(message);
    bench.at_millis(101);
    assert_eq!(bench.shared.taken(), [(514, 1), (514, 2), (506, 0)]);
}
