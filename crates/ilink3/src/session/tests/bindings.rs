//! Session bindings: the start of a week, mid-week, and one session across connections.

use super::*;

#[test]
fn new_week_drops_old_gaps() {
    for (binding, events) in [(Binding::New, vec!["gap 3 to 5 of 7"]), (Binding::NewWeek, vec![])] {
        let mut trace = Trace::with(Progress { uuid: 7, next_incoming: 3, ..Progress::default() });
        trace.connect(binding);
        let requested = trace.sent_request();
        trace.receive(&negotiation_response(UUID, requested));
        let ack = Ack { previous: (7, 5), ..trace.ack() };
        trace.events();
        trace.receive(&establishment_ack(&ack));
        assert_eq!(trace.events()[1..], events, "{binding:?}");
    }
}

#[test]
fn uuid_0_starts_at_1_each_week() {
    let mut trace = Trace::new();
    for (binding, events) in [
        (Binding::NewWeek, Some("gap 1 to 2 of 0")),
        (Binding::New, Some("gap 3 to 3 of 0")),
        (Binding::NewWeek, Some("gap 1 to 3 of 0")),
    ] {
        trace.connect(binding);
        let requested = trace.sent_request();
        let uuid = trace.session.progress().uuid;
        trace.receive(&negotiation_response(uuid, requested));
        let published = if events == Some("gap 1 to 2 of 0") { 2 } else { 3 };
        let ack = Ack { previous: (0, published), ..trace.ack() };
        trace.events();
        trace.receive(&establishment_ack(&ack));
        assert_eq!(trace.events().get(1).map(String::as_str), events);
        for number in 1..=published {
            trace.receive(&report_of(0, number, BooleanFlag::TRUE));
        }
        trace.transmitted();
        trace.disconnect();
    }
}

#[test]
fn new_week_raises_uuid_and_timestamp_if_utc_steps_back() {
    let mut trace = Trace::established();
    trace.send(1).unwrap();
    trace.transmitted();
    let first = trace.session.progress();
    // Another process, with the stored progress, an hour earlier.
    let mut trace = Trace::with(first);
    trace.now.utc = trace.now.utc - Duration::from_secs(3_600);
    trace.connect(Binding::NewWeek);
    let frames = trace.transmitted();
    decode!(frames[0] => Negotiate500 as negotiate);
    assert_eq!(negotiate.uuid(), first.uuid + 1);
    assert_eq!(negotiate.request_timestamp(), first.request_timestamp + 1);
    assert_eq!(trace.session.progress().next_outgoing, 1);
}

#[test]
fn lost_acknowledgment_keeps_the_gap_of_the_response() {
    let mut trace = Trace::with(Progress { uuid: 7, next_incoming: 3, ..Progress::default() });
    trace.connect(Binding::New);
    let requested = trace.sent_request();
    trace.events();
    trace.receive(&frame(NegotiationResponse501::ENCODED_LENGTH, |buffer| {
        let mut message = NegotiationResponse501::encode(buffer).unwrap();
        message.set_uuid(UUID).set_request_timestamp(requested);
        message.set_previous_uuid(7).set_previous_seq_no(5);
    }));
    assert_eq!(trace.events(), ["state establishing", "gap 3 to 5 of 7"]);
    trace.transmitted();
    trace.disconnect();
    // The exchange had established the session and has published since.
    trace.connect(Binding::Resume);
    let ack = Ack { previous: (UUID, 1), next_seq_no: 2, ..trace.ack() };
    trace.receive(&establishment_ack(&ack));
    assert_eq!(trace.sent(), ["Retransmit 3 count 3 of 7"]);
}

#[test]
fn session_without_numbers_requires_negotiate() {
    let next_outgoing = SEQ_NUM_MAX + 1;
    let mut trace = Trace::with(Progress { uuid: 7, next_outgoing, ..Progress::default() });
    let resumed = trace.session.connect(trace.now, Binding::Resume);
    assert_eq!(resumed, Err(ConnectError::NumbersExhausted));
    trace.connect(Binding::New);
    trace.log_on();
    assert_eq!(trace.send(1), Ok(1));
}

#[test]
fn resumes_repeatedly() {
    let mut trace = Trace::established();
    for number in 1..5 {
        assert_eq!(trace.send(1), Ok(number));
        trace.receive(&report(number));
        trace.transmitted();
        trace.disconnect();
        trace.connect(Binding::Resume);
        assert_eq!(trace.session.progress().uuid, UUID);
        trace.acknowledge();
    }
}
