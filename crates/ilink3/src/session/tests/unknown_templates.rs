//! Business messages of templates that this version does not know.

use super::*;

const WARNING: &str = "warning template 572 of schema version 10 is unknown";

#[test]
fn unknown_business_template_is_numbered_kept_and_delivered() {
    let mut trace = Trace::established();
    trace.receive(&[unknown(UUID, 1), report(2), unknown(UUID, 3)].concat());
    assert_eq!(trace.events(), [WARNING, "message 1 of 572", "new 2", "message 3 of 572"]);
    assert_eq!(trace.session.progress().next_incoming, 4);
    let counters = trace.session.inbound_counters();
    assert_eq!((counters.business_messages, counters.unknown_messages), (3, 2));
    assert_eq!(counters.errors(), 0);
    let numbers: Vec<_> = trace.sink.inbox.iter().map(|kept| kept.1).collect();
    assert_eq!(numbers, [1, 2, 3]);
}

#[test]
fn unknown_business_template_survives_retransmission() {
    let mut trace = Trace::established();
    // Message 1 is missing; 2 is held, and requested again with 1.
    trace.receive(&unknown(UUID, 2));
    assert_eq!(trace.sent(), ["Retransmit 1 count 1"]);
    trace.receive(&unknown(UUID, 1));
    trace.receive(&report(3));
    let events = trace.events();
    let delivered: Vec<_> = events.iter().filter(|it| it.starts_with(['m', 'n'])).collect();
    assert_eq!(delivered, ["message 1 of 572", "message 2 of 572", "new 3"]);
    assert_eq!(trace.session.inbound_counters().errors(), 0);
}

#[test]
fn second_copy_of_an_unknown_message_is_dropped() {
    let mut trace = Trace::established();
    trace.receive(&[unknown(UUID, 1), unknown(UUID, 1), unknown(7, 1), report(2)].concat());
    let dropped = |uuid| format!("warning possible retransmission of 1 of {uuid} dropped");
    let events =
        [WARNING.into(), "message 1 of 572".into(), dropped(UUID), dropped(7), "new 2".into()];
    assert_eq!(trace.events(), events);
}

#[test]
fn unknown_message_of_a_previous_process_is_redelivered() {
    let mut trace = Trace::new();
    let message = unknown(UUID, 1).split_off(4);
    trace.session.redeliver(trace.now, &message, &mut trace.sink, &mut trace.log);
    assert_eq!(trace.events(), [WARNING, "message 1 of 572"]);
    assert_eq!(trace.session.inbound_counters().not_redelivered, 0);
}

#[test]
fn unknown_message_without_a_number_is_a_fault() {
    let mut trace = Trace::established();
    trace.receive(&template_only(572, 8, 11));
    trace.assert_fault(TerminateCode::DECODING_ERROR.0);
}

#[test]
fn unknown_session_template_is_a_fault() {
    for template_id in [499, 511, 512, 514, 518] {
        let mut trace = Trace::established();
        trace.receive(&template_only(template_id, 8, 132));
        trace.assert_fault(TerminateCode::DECODING_ERROR.0);
        assert_eq!(trace.session.inbound_counters().unknown_templates, 1, "{template_id}");
    }
}
