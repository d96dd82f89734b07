//! Messages that leave together, and sends that are rehearsed.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::Rates;

#[test]
fn a_batch_is_ended_once_though_what_is_done_in_it_panics() {
    let mut trace = Trace::established();
    let mut sender = trace.session.sender(trace.now, &mut trace.wire);
    assert!(sender.batch(|sender| sender.send(&order(1))).value.is_ok());
    let panics = catch_unwind(AssertUnwindSafe(|| sender.batch(|_| panic!("on purpose")).value));
    assert!(panics.is_err());
    assert_eq!(trace.wire.batches, (2, 2));
}

#[test]
fn messages_that_wait_are_counted_once_at_the_end_of_their_batch() {
    let mut trace = Trace::established();
    trace.wire.delivery = Some(Delivery::Waiting { waiting: 10 });
    let mut sender = trace.session.sender(trace.now, &mut trace.wire);
    let batched = sender.batch(|sender| {
        sender.send(&order(1)).unwrap();
        sender.send(&order(2)).unwrap();
    });
    assert_eq!(batched.delivery, Delivery::Waiting { waiting: 10 });
    assert_eq!(trace.session.outbound_counters().queued, 1, "as the outlet has said");
}

#[test]
fn a_rehearsed_send_leaves_everything_as_it_was() {
    let mut trace = Trace::established();
    let rate = Some(Rate { messages: 1, interval: Duration::from_secs(3) });
    trace.session.set_throttle(Some(&Rates { cancels: rate, quotes: rate, others: rate }));
    let (progress, counters) = (trace.session.progress(), *trace.session.outbound_counters());
    let mut sender = trace.session.sender(trace.now, &mut trace.wire);
    for _ in 0..3 {
        assert_eq!(sender.warm_up(&order(1)), Ok(()));
    }
    assert_eq!(trace.session.progress(), progress);
    assert_eq!(*trace.session.outbound_counters(), counters);
    assert!(trace.wire.frames.is_empty());
    assert_eq!(trace.send(1), Ok(1));
    let throttled = trace.session.sender(trace.now, &mut trace.wire).warm_up(&order(2));
    assert!(matches!(throttled, Err(SendError::Throttled { .. })));
    let refused = trace.session.outbound_counters().refused_throttled;
    assert_eq!(refused, 0, "a rehearsal is not counted");
}

#[test]
fn a_rehearsed_send_that_finds_no_room_says_so() {
    let mut trace = Trace::established();
    trace.wire.refusal = Some(OutboundError::Full);
    let refused = trace.session.sender(trace.now, &mut trace.wire).warm_up(&order(1));
    assert_eq!(refused, Err(SendError::OutboundSink(OutboundError::Full)));
    assert_eq!(trace.session.outbound_counters().refused_by_outlet, 0);
}
