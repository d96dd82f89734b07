//! Kept messages of the exchange and their redelivery by the next process.

use super::*;

/// Returns the numbers of kept messages, and `true` if all of them are marked.
fn inbox(trace: &Trace) -> (Vec<u32>, bool) {
    let numbers = trace.sink.inbox.iter().map(|kept| kept.1).collect();
    (numbers, trace.sink.inbox.iter().all(|kept| kept.3))
}

fn redeliver(trace: &mut Trace, message: &[u8]) {
    trace.session.redeliver(trace.now, message, &mut trace.sink, &mut trace.log);
}

#[test]
fn business_message_is_kept_unchanged_and_marked() {
    let mut trace = Trace::established();
    let (report, sequence) = (report(1), sequence(UUID, 2, KeepAliveLapsed::NOT_LAPSED));
    trace.receive(&[&report[..], &sequence].concat());
    assert_eq!(trace.events(), ["new 1"]);
    assert_eq!(trace.sink.inbox, [(UUID, 1, report[4..].to_vec(), true)]);
}

#[test]
fn held_message_is_kept_on_delivery() {
    let mut trace = Trace::established();
    trace.receive(&report(3));
    assert_eq!(inbox(&trace).0, [0; 0]);
    let again = |number| report_of(UUID, number, BooleanFlag::TRUE);
    assert_eq!(trace.sent(), ["Retransmit 1 count 2"]);
    let requested = trace.session.progress().request_timestamp;
    trace.receive(&retransmission(None, requested, 1, 2));
    trace.receive(&[again(1), again(2)].concat());
    assert_eq!(inbox(&trace), (vec![1, 2, 3], true));
    // A duplicate is dropped and not kept.
    trace.receive(&again(2));
    assert_eq!(inbox(&trace), (vec![1, 2, 3], true));
}

#[test]
fn rejected_message_is_not_kept() {
    let mut trace = Trace::established();
    trace.receive(&report_of(UUID + 1, 1, BooleanFlag::FALSE));
    assert_eq!(inbox(&trace).0, [0; 0]);
}

#[test]
fn redelivery_changes_no_number() {
    let progress = Progress { uuid: UUID, next_incoming: 8, ..Progress::default() };
    let mut trace = Trace::with(progress);
    for number in [6, 7] {
        redeliver(&mut trace, &report(number)[4..]);
    }
    assert_eq!(trace.events(), ["new 6 redelivered", "new 7 redelivered"]);
    assert_eq!((trace.session.progress(), trace.session.state()), (progress, State::Disconnected));
    assert_eq!(inbox(&trace).0, [0; 0], "the message is already kept");
    let counters = trace.session.inbound_counters();
    assert_eq!((counters.redelivered, counters.business_messages), (2, 0));
    // Later messages are new again.
    trace.connect(Binding::Resume);
    trace.acknowledge();
    trace.receive(&report(8));
    assert_eq!((trace.events(), inbox(&trace)), (vec!["new 8".to_string()], (vec![8], true)));
}

#[test]
fn sends_during_redelivery_are_rejected() {
    let mut trace = Trace::with(Progress { uuid: UUID, ..Progress::default() });
    trace.log.order_on = Some("new");
    redeliver(&mut trace, &report(1)[4..]);
    let events = trace.events();
    assert_eq!(events[0], "new 1 redelivered");
    assert!(events[1].starts_with("Err(NotEstablished"), "{events:?}");
}

#[test]
fn undecodable_redelivery_warns() {
    let report = &report(1)[4..];
    let foreign = template_only(522, 9, 4);
    let session = &sequence(UUID, 2, KeepAliveLapsed::NOT_LAPSED)[4..];
    for (message, template_id) in
        [(&[][..], 0), (&report[..20], 522), (&foreign[4..], 0), (session, 506)]
    {
        let mut trace = Trace::new();
        redeliver(&mut trace, message);
        let warning = format!("warning cannot decode a kept message: template {template_id}");
        assert_eq!(trace.events(), [warning]);
        assert_eq!(trace.session.state(), State::Disconnected);
        assert_eq!(trace.session.inbound_counters().not_redelivered, 1);
    }
}
