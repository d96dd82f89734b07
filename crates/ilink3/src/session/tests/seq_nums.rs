//! The exchange's sequence numbers, gaps and UUIDs.

use super::*;

#[test]
fn reports_are_delivered_in_order_and_callbacks_can_send() {
    let mut trace = Trace::established();
    trace.log.order_on = Some("new");
    trace.receive(&[report(1), report(2)].concat());
    let sent = |n| format!("Ok(Sent {{ seq_num: {n}, delivery: Written }})");
    assert_eq!(trace.events(), ["new 1", &sent(1), "new 2", &sent(2)]);
    assert_eq!(trace.sent(), ["Order 1 id 1", "Order 2 id 1"]);
    assert_eq!(trace.session.progress().next_incoming, 3);
}

#[test]
fn other_business_messages_reach_on_message() {
    let mut trace = Trace::established();
    trace.receive(&frame(BusinessReject521::ENCODED_LENGTH, |buffer| {
        BusinessReject521::encode(buffer).unwrap().set_uuid(UUID).set_seq_num(1);
    }));
    trace.receive(&frame(ExecutionReportStatus532::ENCODED_LENGTH, |buffer| {
        ExecutionReportStatus532::encode(buffer).unwrap().set_uuid(UUID).set_seq_num(2);
    }));
    assert_eq!(trace.events(), ["message 1 of 521", "message 2 of 532"]);
}

#[test]
fn gap_of_a_previous_uuid_is_reported() {
    let before = Progress { uuid: 7, next_incoming: 3, ..Progress::default() };
    for (previous, gap) in [
        ((7, 5), Some("gap 3 to 5 of 7")),
        ((7, 2), None),
        ((0, 4), Some("gap 1 to 4 of 0")),
        ((0, 0), None),
        ((6, 5), None),
    ] {
        let mut trace = Trace::with(before);
        trace.connect(Binding::New);
        let requested = trace.sent_request();
        trace.receive(&negotiation_response(UUID, requested));
        trace.events();
        let ack = Ack { previous, ..trace.ack() };
        trace.receive(&establishment_ack(&ack));
        let events = trace.events();
        assert_eq!(events[0], "state established");
        assert_eq!(events.get(1).map(String::as_str), gap, "previous {previous:?}");
        assert_eq!(trace.session.state(), State::Established);
    }
}

/// Starts a new session and loses the connection after Negotiate is sent.
fn negotiate_without_ack(trace: &mut Trace) -> u64 {
    trace.connect(Binding::New);
    assert_eq!(trace.sent(), ["Negotiate"]);
    trace.disconnect();
    trace.session.progress().uuid
}

/// Returns the events after an EstablishmentAck that names `previous`, without the state change.
fn events_after_previous(trace: &mut Trace, previous: (u64, u32)) -> Vec<String> {
    let ack = Ack { previous, ..trace.ack() };
    trace.events();
    trace.receive(&establishment_ack(&ack));
    let mut events = trace.events();
    assert_eq!(events.remove(0), "state established");
    events
}

#[test]
fn unacknowledged_logon_keeps_the_previous_stream() {
    for previous in [4, 5, 9] {
        let mut trace = Trace::with(Progress { uuid: 7, next_incoming: 5, ..Progress::default() });
        negotiate_without_ack(&mut trace);
        negotiate_without_ack(&mut trace);
        trace.connect(Binding::New);
        let requested = trace.sent_request();
        let uuid = trace.session.progress().uuid;
        trace.receive(&negotiation_response(uuid, requested));
        let events = events_after_previous(&mut trace, (7, previous));
        let gap = (previous > 4).then(|| format!("gap 5 to {previous} of 7"));
        assert_eq!(events, Vec::from_iter(gap));
    }
}

#[test]
fn resume_after_a_lost_acknowledgment_keeps_gaps() {
    let mut trace = Trace::with(Progress { uuid: 7, next_incoming: 5, ..Progress::default() });
    negotiate_without_ack(&mut trace);
    trace.connect(Binding::Resume);
    assert_eq!(events_after_previous(&mut trace, (7, 9)), ["gap 5 to 9 of 7"]);
    // The gap is reported once and requested until it is closed.
    trace.disconnect();
    trace.connect(Binding::Resume);
    assert!(events_after_previous(&mut trace, (7, 9)).is_empty());
    assert_eq!(trace.sent(), ["Retransmit 5 count 5 of 7"]);
}

#[test]
fn unacknowledged_uuid_is_missing_from_1() {
    let mut trace = Trace::with(Progress { uuid: 7, next_incoming: 5, ..Progress::default() });
    let lost = negotiate_without_ack(&mut trace);
    trace.connect(Binding::New);
    let requested = trace.sent_request();
    let uuid = trace.session.progress().uuid;
    trace.receive(&negotiation_response(uuid, requested));
    let events = events_after_previous(&mut trace, (lost, 3));
    let warning = "warning messages of 7 from 5 on may be missing";
    assert_eq!(events, [warning, &format!("gap 1 to 3 of {lost}")]);
    assert_eq!(trace.session.inbound_counters().unknown_ends, 1);
}

#[test]
fn first_session_has_no_unknown_end() {
    let mut trace = Trace::new();
    let lost = negotiate_without_ack(&mut trace);
    trace.connect(Binding::New);
    let requested = trace.sent_request();
    let uuid = trace.session.progress().uuid;
    trace.receive(&negotiation_response(uuid, requested));
    assert_eq!(events_after_previous(&mut trace, (lost, 3)), [format!("gap 1 to 3 of {lost}")]);
}

#[test]
fn next_number_reveals_the_gap_of_the_own_uuid() {
    let mut trace = Trace::with(Progress { uuid: 7, next_incoming: 5, ..Progress::default() });
    trace.connect(Binding::Resume);
    assert!(events_after_previous(&mut trace, (7, 9)).is_empty(), "NextSeqNo is 5");
}

#[test]
fn acknowledged_session_replaces_the_previous_one() {
    let mut trace = Trace::with(Progress { uuid: 7, next_incoming: 5, ..Progress::default() });
    trace.connect(Binding::New);
    trace.log_on();
    let second = trace.session.progress().uuid;
    trace.receive(&[report(1), report(2)].concat());
    trace.disconnect();
    trace.connect(Binding::New);
    let requested = trace.sent_request();
    let uuid = trace.session.progress().uuid;
    trace.receive(&negotiation_response(uuid, requested));
    let events = events_after_previous(&mut trace, (second, 6));
    assert_eq!(events, [format!("gap 3 to 6 of {second}")]);
}

#[test]
fn low_number_is_a_fault() {
    let mut trace = Trace::established();
    trace.receive(&[report(1), report(1), report(2)].concat());
    let error = "error SeqNum is 1, expected 2";
    assert_eq!(trace.events(), ["new 1", error, "state terminating"]);
    trace.assert_fault(11);
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
}

#[test]
fn low_next_number_is_a_fault() {
    let mut trace = Trace::established();
    trace.receive(&report(1));
    trace.receive(&sequence(UUID, 1, KeepAliveLapsed::NOT_LAPSED));
    trace.assert_fault(10);
    assert_eq!(trace.session.inbound_counters().sequence_errors, 1);
}

#[test]
fn number_above_the_maximum_is_a_fault() {
    let mut trace = Trace::established();
    trace.receive(&report(1_000_000_000));
    trace.assert_fault(11);
    assert_eq!(trace.session.inbound_counters().gaps, 0);

    let mut trace = Trace::established();
    trace.receive(&sequence(UUID, 1_000_000_001, KeepAliveLapsed::NOT_LAPSED));
    trace.assert_fault(10);
    assert_eq!(trace.session.inbound_counters().gaps, 0);
}

#[test]
fn delivers_the_last_number_and_nothing_after() {
    let progress = Progress { uuid: 7, next_incoming: 999_999_999, ..Progress::default() };
    let mut trace = Trace::with(progress);
    trace.connect(Binding::Resume);
    trace.acknowledge();
    let last = report_of(7, 999_999_999, BooleanFlag::FALSE);
    let no_more = sequence(7, 1_000_000_000, KeepAliveLapsed::NOT_LAPSED);
    trace.receive(&[last, no_more].concat());
    assert_eq!(trace.events(), ["new 999999999"]);
    trace.receive(&report_of(7, 1_000_000_000, BooleanFlag::FALSE));
    trace.assert_fault(11);
}

#[test]
fn possible_retransmission_is_delivered_once() {
    let mut trace = Trace::established();
    let possible = |number| report_of(UUID, number, BooleanFlag::TRUE);
    trace.receive(&[possible(1), possible(1), report(2)].concat());
    let dropped = format!("warning possible retransmission of 1 of {UUID} dropped");
    assert_eq!(trace.events(), ["new 1", &dropped, "new 2"]);
    trace.receive(&report_of(UUID - 5, 40, BooleanFlag::TRUE));
    assert_eq!(trace.session.state(), State::Established);
    assert_eq!(trace.session.inbound_counters().retransmissions_dropped, 2);
}

#[test]
fn another_uuid_is_a_fault() {
    for bytes in [
        report_of(UUID + 1, 1, BooleanFlag::FALSE),
        sequence(UUID - 1, 1, KeepAliveLapsed::NOT_LAPSED),
    ] {
        let mut trace = Trace::established();
        trace.receive(&bytes);
        trace.assert_fault(13);
        assert_eq!(trace.session.inbound_counters().uuid_errors, 1);
    }
}
