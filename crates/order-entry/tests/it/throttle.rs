//! The client's rate limit: messages beyond it are refused or queued.

use crate::mock_exchange::{self, now};
use crate::session_harness::{ORDER, SessionHarness};
use hairpin_mapped::Journal;
use hairpin_order_entry::*;
use hairpin_time::{Duration, Instant};

/// Creates a session with a limit of two messages per 500 ms, in which `waiting_max` messages can
/// wait.
fn limited(beyond: WhenThrottled, waiting_max: usize) -> SessionHarness<Journal> {
    let rate = Some(Rate { messages: 2, interval: Duration::from_millis(500) });
    let rates = Rates { cancels: None, quotes: None, others: rate };
    let throttle = Some(ThrottleSettings { rates, beyond });
    let settings = Settings { waiting_max, throttle, ..mock_exchange::settings(1) };
    let harness =
        SessionHarness::with_storage(settings, Journal::anonymous(1 << 16).unwrap()).establish();
    harness.connector.connection().room = usize::MAX >> 1;
    harness
}

/// Returns the time of the wakeup at this number of milliseconds.
fn at(millis: u64) -> Instant {
    now(millis * 1_000_000 + 1).monotonic
}

#[test]
fn messages_beyond_the_limit_are_refused() {
    let mut harness = limited(WhenThrottled::Refuse, 4);
    harness.poll_at_millis(100);
    let room = harness.connector.connection().room;
    assert!((0..2).all(|_| harness.send().unwrap().delivery == Delivery::Written));
    assert_eq!(harness.send(), Err(SendError::Throttled { until: at(600) }));
    assert_eq!(harness.connector.connection().room, room - 2 * ORDER);
    harness.poll_at_millis(600);
    assert_eq!(harness.send().unwrap().seq_num, 3);
}

#[test]
fn messages_beyond_the_limit_are_queued() {
    let mut harness = limited(WhenThrottled::Queue, 3);
    harness.poll_at_millis(100);
    harness.send().unwrap();
    harness.poll_at_millis(300);
    assert_eq!(harness.send().unwrap().delivery, Delivery::Written);
    for waits in 1..=3 {
        let waiting = waits * ORDER;
        assert_eq!(harness.send().unwrap().delivery, Delivery::Waiting { waiting });
    }
    let waiting = 3 * ORDER;
    assert_eq!(harness.send(), Err(SendError::Sink(OutboundError::WouldBlock { waiting })));
    assert_eq!(harness.session.next_deadline(), Some(at(600)));
    harness.poll_at_millis(599);
    assert_eq!(harness.connector.written(), [(514, 1), (514, 2)]);
    harness.poll_at_millis(600);
    assert_eq!(harness.connector.written(), [(514, 1), (514, 2), (514, 3)]);
    assert_eq!(harness.session.next_deadline(), Some(at(800)));
    assert_eq!(harness.send().unwrap().delivery, Delivery::Waiting { waiting });
    harness.poll_at_millis(800);
    harness.poll_at_millis(1_100);
    harness.poll_at_millis(1_300);
    assert_eq!(harness.connector.written().last(), Some(&(514, 6)));
    assert_eq!(harness.session.waiting(), 0);
}

#[test]
fn message_that_the_connection_does_not_accept_counts_once() {
    let mut harness = limited(WhenThrottled::Queue, 4);
    harness.poll_at_millis(100);
    harness.connector.connection().room = 0;
    (0..3).for_each(|_| assert_ne!(harness.send().unwrap().delivery, Delivery::Written));
    harness.poll_at_millis(200);
    harness.poll_at_millis(300);
    assert!(harness.connector.written().is_empty());
    harness.add_room(usize::MAX >> 1);
    assert_eq!(harness.connector.written(), [(514, 1), (514, 2)]);
    harness.poll_at_millis(600);
    assert_eq!(harness.connector.written(), [(514, 1), (514, 2), (514, 3)]);
}

#[test]
fn lost_connection_drops_held_messages() {
    let mut harness = limited(WhenThrottled::Queue, 4);
    harness.poll_at_millis(100);
    (0..3).for_each(|_| assert!(harness.send().is_ok()));
    harness.connector.connection().ended = true;
    harness.poll_at_millis(101);
    harness.poll_at_millis(102);
    assert_eq!(harness.session.state(), State::Disconnected);
    assert_eq!((harness.session.waiting(), harness.session.next_deadline()), (0, None));
    assert_eq!(harness.session.counters().unsent_records, 1);
}

#[test]
fn limit_counts_messages_of_a_batch() {
    let mut harness = limited(WhenThrottled::Queue, 4);
    harness.poll_at_millis(100);
    let order = NewOrder::limit(42, SideReq::BUY, Decimal(1), 1, ClOrdId::from(1));
    let batched = harness.session.sender(now(harness.time)).batch(|sender| sender.send(&order));
    assert_eq!(batched.delivery, Delivery::Written);
    assert_eq!(harness.send().unwrap().delivery, Delivery::Written);
    assert_eq!(harness.send().unwrap().delivery, Delivery::Waiting { waiting: ORDER });
}

#[test]
fn gap_fill_sequence_is_not_limited() {
    let mut harness = limited(WhenThrottled::Queue, 4);
    harness.poll_at_millis(100);
    (0..2).for_each(|_| assert!(harness.send().is_ok()));
    let message = harness.connector.connection().exchange.not_applied(2, 1);
    harness.connector.connection().incoming.extend(message);
    harness.poll_at_millis(101);
    assert_eq!(harness.connector.written(), [(514, 1), (514, 2), (506, 0)]);
}
