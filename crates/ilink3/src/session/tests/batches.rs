//! Batches and warm-ups.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::Rates;

#[test]
fn batch_ends_once_on_a_panic() {
    let mut trace = Trace::established();
    let mut sender = trace.session.sender(trace.now, &mut trace.sink);
    assert!(sender.batch(|sender| sender.send(&order(1))).value.is_ok());
    let panics = catch_unwind(AssertUnwindSafe(|| sender.batch(|_| panic!("on purpose")).value));
    assert!(panics.is_err());
    assert_eq!(trace.sink.batches, (2, 2));
}

#[test]
fn batch_counts_waiting_messages_once_at_its_end() {
    let mut trace = Trace::established();
    trace.sink.delivery = Some(Delivery::Waiting { waiting: 10 });
    let mut sender = trace.session.sender(trace.now, &mut trace.sink);
    let batched = sender.batch(|sender| {
        sender.send(&order(1)).unwrap();
        sender.send(&order(2)).unwrap();
    });
    assert_eq!(batched.delivery, Delivery::Waiting { waiting: 10 });
    assert_eq!(trace.session.outbound_counters().queued, 1, "as the sink reported");
}

#[test]
fn warm_up_changes_nothing() {
    let mut trace = Trace::established();
    let rate = Some(Rate { messages: 1, interval: Duration::from_secs(3) });
    trace.session.set_throttle(Some(&Rates { cancels: rate, quotes: rate, others: rate }));
    let (progress, counters) = (trace.session.progress(), *trace.session.outbound_counters());
    let mut sender = trace.session.sender(trace.now, &mut trace.sink);
    for _ in 0..3 {
        assert_eq!(sender.warm_up(&order(1)), Ok(()));
    }
    assert_eq!(trace.session.progress(), progress);
    assert_eq!(*trace.session.outbound_counters(), counters);
    assert!(trace.sink.frames.is_empty());
    assert_eq!(trace.send(1), Ok(1));
    let throttled = trace.session.sender(trace.now, &mut trace.sink).warm_up(&order(2));
    assert!(matches!(throttled, Err(SendError::Throttled { .. })));
    let refused = trace.session.outbound_counters().refused_throttled;
    assert_eq!(refused, 0, "a warm-up is not counted");
}

#[test]
fn warm_up_fails_without_room() {
    let mut trace = Trace::established();
    trace.sink.rejection = Some(OutboundError::Full);
    let refused = trace.session.sender(trace.now, &mut trace.sink).warm_up(&order(1));
    assert_eq!(refused, Err(SendError::Sink(OutboundError::Full)));
    assert_eq!(trace.session.outbound_counters().refused_by_outlet, 0);
}
