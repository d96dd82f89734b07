//! Terminate from either side.

use super::*;

#[test]
fn terminates_and_waits_for_the_confirmation() {
    let mut trace = Trace::established();
    let before = trace.session.progress().request_timestamp;
    trace.session.terminate(trace.now);
    assert_eq!(trace.send(1), Err(SendError::NotEstablished(State::Terminating)));
    assert_eq!(trace.sent(), ["Terminate 0"]);
    assert_eq!(trace.session.progress().request_timestamp, before + 1);
    assert_eq!(trace.session.poll_action(), None);
    // Messages in flight still arrive; a Sequence that requests one is no longer answered.
    trace.receive(&[report(1), sequence(UUID, 2, KeepAliveLapsed::LAPSED)].concat());
    assert_eq!(trace.events(), ["state terminating", "new 1"]);
    assert!(trace.sent().is_empty());
    trace.receive(&terminate(0, trace.session.progress().request_timestamp));
    assert_eq!(trace.events(), ["terminated 0 so it is true"]);
    assert!(trace.sent().is_empty());
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
    assert_eq!(trace.session.poll_action(), None);
    trace.disconnect();
    assert_eq!(trace.events(), ["state disconnected"]);
    assert_eq!(trace.session.inbound_counters().errors(), 0);
}

#[test]
fn terminate_before_the_logon_response_drops_messages() {
    // Missing messages before these, for example of a previous UUID, are known only with the
    // response.
    let mut trace = Trace::connected();
    let requested = trace.sent_request();
    trace.receive(&negotiation_response(UUID, requested));
    let ack = trace.ack();
    trace.session.terminate(trace.now);
    assert_eq!(trace.sent(), ["Terminate 0"]);
    trace.events();
    let late = report_of(UUID, 7, BooleanFlag::TRUE);
    trace.receive(&[establishment_ack(&ack), report(1), late, report(2)].concat());
    assert_eq!(trace.events(), ["state terminating"]);
    assert_eq!(trace.session.progress().next_incoming, 1, "the next logon requests them");
    assert_eq!(trace.session.inbound_counters().undelivered, 3);
    assert_eq!(trace.session.inbound_counters().errors(), 0);
}

#[test]
fn unanswered_terminate_times_out_after_one_interval() {
    let mut trace = Trace::established();
    trace.at(1_000);
    trace.session.terminate(trace.now);
    trace.at(3_000);
    trace.transmitted();
    assert_eq!(trace.deadline_millis(), Some(3_000 + KEEP_ALIVE));
    trace.events();
    trace.at(3_000 + KEEP_ALIVE - 1);
    assert!(trace.events().is_empty());
    trace.at(3_000 + KEEP_ALIVE);
    assert_eq!(trace.events(), ["error no response to Terminate"]);
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
    assert!(trace.sent().is_empty());
}

#[test]
fn unsent_terminate_times_out_after_one_interval() {
    let mut trace = Trace::established();
    trace.receive(&report(9));
    trace.receive(&terminate(9, 1));
    assert_eq!(trace.deadline_millis(), Some(KEEP_ALIVE));
    trace.at(KEEP_ALIVE);
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
    assert!(trace.sent().is_empty());
}

#[test]
fn confirms_a_terminate_and_closes() {
    let mut trace = Trace::established();
    trace.receive(&[terminate(9, 4_711), report(1)].concat());
    assert_eq!(trace.events(), ["state terminating", "terminated 9 so it is false"]);
    assert_eq!(trace.session.poll_action(), None, "the response is not sent yet");
    let frames = trace.transmitted();
    decode!(frames[0] => Terminate507 as answer);
    assert_eq!((answer.error_codes(), answer.request_timestamp()), (0, 4_711));
    assert_eq!(answer.uuid(), UUID);
    assert_eq!(frames.len(), 1);
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
}

#[test]
fn terminate_ends_a_logon() {
    let mut trace = Trace::connected();
    trace.transmitted();
    trace.events();
    trace.receive(&terminate(TerminateCode::PORT_CLOSURE.0, 5));
    assert_eq!(trace.events(), ["state terminating", "terminated 8 so it is false"]);
}

#[test]
fn crossing_terminates_need_no_confirmation() {
    let mut trace = Trace::established();
    trace.session.terminate(trace.now);
    trace.transmitted();
    trace.receive(&terminate(0, 99));
    assert!(trace.sent().is_empty());
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
}

#[test]
fn callback_can_terminate() {
    let mut trace = Trace::established();
    trace.log.terminate_on = Some("new");
    trace.receive(&[report(1), report(2)].concat());
    assert_eq!(trace.events(), ["new 1", "state terminating", "new 2"]);
    assert_eq!(trace.sent(), ["Terminate 0"]);
}

#[test]
fn terminate_before_the_connection_closes_at_once() {
    let mut trace = Trace::new();
    trace.session.terminate(trace.now);
    assert_eq!(trace.session.state(), State::Disconnected);
    trace.session.connect(trace.now, Binding::New).unwrap();
    trace.session.terminate(trace.now);
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
    assert!(trace.sent().is_empty());
}

#[test]
fn terminate_before_negotiate_is_sent_closes_at_once() {
    let mut trace = Trace::connected();
    trace.session.terminate(trace.now);
    assert!(trace.sent().is_empty());
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
}

#[test]
fn disconnect_reason_is_available_afterwards() {
    let mut trace = Trace::established();
    trace.disconnect();
    assert_eq!(trace.session.disconnect_reason(), DisconnectReason::Lost);
    let mut trace = Trace::established();
    trace.session.terminate(trace.now);
    trace.transmitted();
    trace.receive(&terminate(0, trace.session.progress().request_timestamp));
    assert_eq!(trace.session.disconnect_reason(), DisconnectReason::Finished);
    let mut trace = Trace::established();
    trace.receive(&terminate(6, 1));
    assert_eq!(trace.session.disconnect_reason(), DisconnectReason::Terminated(TerminateCode(6)));
    // A sequence number mismatch has the same consequence no matter which side detects it.
    let mut trace = Trace::established();
    trace.receive(&sequence(UUID, 0, KeepAliveLapsed::NOT_LAPSED));
    trace.assert_fault(TerminateCode::INVALID_NEXT_SEQ_NO.0);
    trace.disconnect();
    trace.session.connect(trace.now, Binding::Resume).unwrap();
    assert_eq!(
        trace.session.disconnect_reason(),
        DisconnectReason::Lost,
        "the next one is unknown"
    );
}

#[test]
fn fault_after_our_terminate_sends_nothing() {
    let mut trace = Trace::established();
    trace.session.terminate(trace.now);
    assert_eq!(trace.sent(), ["Terminate 0"]);
    trace.receive(&template_only(499, 8, 8));
    assert_eq!(
        trace.events(),
        ["state terminating", "error the exchange never sends template 499"]
    );
    assert!(trace.sent().is_empty());
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
}

/// Input that ends a session, with CME's code for the fault.
fn faults() -> Vec<(Vec<u8>, u16)> {
    let mut framing = report(1);
    framing[2] = 0;
    vec![
        (framing, 18),
        (template_only(522, 7, 226), 19),
        (template_only(499, 8, 20), 19),
        (negotiation_response(UUID, UTC), 23),
        (sequence(UUID + 1, 1, KeepAliveLapsed::NOT_LAPSED), 13),
        (sequence(UUID, 0, KeepAliveLapsed::NOT_LAPSED), 10),
        (report_of(UUID, 0, BooleanFlag::FALSE), 11),
    ]
}

/// Returns an established session that terminates after a fault.
fn terminating_on_fault() -> Trace {
    let policy = SessionPolicy { on_fault: OnFault::Terminate, ..SessionPolicy::default() };
    let mut trace = Trace::with_policy(Progress::default(), policy);
    trace.connect(Binding::New);
    trace.log_on();
    trace
}

#[test]
fn fault_closes_without_a_terminate_by_default() {
    for (input, code) in faults() {
        let mut trace = Trace::established();
        trace.receive(&input);
        trace.assert_fault(code);
        assert_eq!(trace.session.poll_action(), Some(Action::Close));
        assert_eq!(trace.session.inbound_counters().errors(), 1, "{code}");
    }
}

#[test]
fn fault_can_terminate_with_0_and_wait_for_the_response() {
    for (input, code) in faults() {
        let mut trace = terminating_on_fault();
        trace.receive(&input);
        assert_eq!(trace.sent(), ["Terminate 0"], "{code}");
        assert_eq!(trace.session.poll_action(), None, "waits for the response");
        let error = trace.events().remove(0);
        assert!(error.starts_with("error "), "{error}");
        // Nothing after the fault is delivered.
        trace.receive(&[report(1), sequence(UUID, 2, KeepAliveLapsed::LAPSED)].concat());
        assert!(trace.events().is_empty() && trace.sent().is_empty());
        let reason = DisconnectReason::Terminated(TerminateCode(code));
        let is_framed = code != TerminateCode::INVALID_SOFH.0;
        trace.receive(&terminate(0, trace.session.progress().request_timestamp));
        assert_eq!(trace.session.poll_action(), is_framed.then_some(Action::Close));
        assert_eq!(trace.session.disconnect_reason(), reason);
    }
}

#[test]
fn unanswered_terminate_after_a_fault_keeps_the_cause() {
    let mut trace = terminating_on_fault();
    trace.receive(&sequence(UUID, 0, KeepAliveLapsed::NOT_LAPSED));
    trace.transmitted();
    trace.at(KEEP_ALIVE);
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
    let code = TerminateCode::INVALID_NEXT_SEQ_NO;
    assert_eq!(trace.session.disconnect_reason(), DisconnectReason::Terminated(code));
    trace.disconnect();
    trace.connect(Binding::Resume);
    trace.acknowledge();
    trace.receive(&report(1));
    assert!(trace.events().contains(&"new 1".to_string()), "the next connection delivers");
}
