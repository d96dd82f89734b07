//! Terminate from either side.

use super::*;

#[test]
fn terminates_and_waits_for_the_answer() {
    let mut trace = Trace::established();
    let before = trace.session.progress().request_timestamp;
    trace.session.terminate(trace.now);
    assert_eq!(trace.send(1), Err(SendError::NotEstablished(State::Terminating)));
    assert_eq!(trace.sent(), ["Terminate 0"]);
    assert_eq!(trace.session.progress().request_timestamp, before + 1);
    assert_eq!(trace.session.poll_action(), None);
    // What is on its way still arrives; a Sequence that asks is not answered any more.
    trace.receive(&[report(1), sequence(UUID, 2, KeepAliveLapsed::LAPSED)].concat());
    assert_eq!(trace.told(), ["state terminating", "new 1"]);
    assert!(trace.sent().is_empty());
    trace.receive(&terminate(0, trace.session.progress().request_timestamp));
    assert_eq!(trace.told(), ["terminated 0 so it is true"]);
    assert!(trace.sent().is_empty());
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
    assert_eq!(trace.session.poll_action(), None);
    trace.disconnect();
    assert_eq!(trace.told(), ["state disconnected"]);
    assert_eq!(trace.session.inbound_counters().errors(), 0);
}

#[test]
fn who_leaves_before_the_logon_is_answered_takes_no_messages() {
    // What is before them, of an earlier UUID say, is known with the answer only.
    let mut trace = Trace::connected();
    let requested = trace.sent_request();
    trace.receive(&negotiation_response(UUID, requested));
    let ack = trace.ack();
    trace.session.terminate(trace.now);
    assert_eq!(trace.sent(), ["Terminate 0"]);
    trace.told();
    let late = report_of(UUID, 7, BooleanFlag::TRUE);
    trace.receive(&[establishment_ack(&ack), report(1), late, report(2)].concat());
    assert_eq!(trace.told(), ["state terminating"]);
    assert_eq!(trace.session.progress().next_incoming, 1, "they come with the next logon");
    assert_eq!(trace.session.inbound_counters().undelivered, 3);
    assert_eq!(trace.session.inbound_counters().errors(), 0);
}

#[test]
fn an_unanswered_terminate_is_given_up_after_one_interval() {
    let mut trace = Trace::established();
    trace.at(1_000);
    trace.session.terminate(trace.now);
    trace.at(3_000);
    trace.transmitted();
    assert_eq!(trace.deadline_millis(), Some(3_000 + KEEP_ALIVE));
    trace.told();
    trace.at(3_000 + KEEP_ALIVE - 1);
    assert!(trace.told().is_empty());
    trace.at(3_000 + KEEP_ALIVE);
    assert_eq!(trace.told(), ["error Terminate was not answered"]);
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
    assert!(trace.sent().is_empty());
}

#[test]
fn a_terminate_that_cannot_leave_is_given_up_after_one_interval() {
    let mut trace = Trace::established();
    trace.receive(&report(9));
    trace.receive(&terminate(9, 1));
    assert_eq!(trace.deadline_millis(), Some(KEEP_ALIVE));
    trace.at(KEEP_ALIVE);
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
    assert!(trace.sent().is_empty());
}

#[test]
fn answers_a_terminate_and_closes() {
    let mut trace = Trace::established();
    trace.receive(&[terminate(9, 4_711), report(1)].concat());
    assert_eq!(trace.told(), ["state terminating", "terminated 9 so it is false"]);
    assert_eq!(trace.session.poll_action(), None, "the answer has not left");
    let frames = trace.transmitted();
    decode!(frames[0] => Terminate507 as answer);
    assert_eq!((answer.error_codes(), answer.request_timestamp()), (0, 4_711));
    assert_eq!(answer.uuid(), UUID);
    assert_eq!(frames.len(), 1);
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
}

#[test]
fn a_terminate_ends_a_logon_too() {
    let mut trace = Trace::connected();
    trace.transmitted();
    trace.told();
    trace.receive(&terminate(TerminateCode::PORT_CLOSURE.0, 5));
    assert_eq!(trace.told(), ["state terminating", "terminated 8 so it is false"]);
}

#[test]
fn two_terminates_that_cross_need_no_answer() {
    let mut trace = Trace::established();
    trace.session.terminate(trace.now);
    trace.transmitted();
    trace.receive(&terminate(0, 99));
    assert!(trace.sent().is_empty());
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
}

#[test]
fn a_callback_can_terminate() {
    let mut trace = Trace::established();
    trace.log.terminate_on = Some("new");
    trace.receive(&[report(1), report(2)].concat());
    assert_eq!(trace.told(), ["new 1", "state terminating", "new 2"]);
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
fn terminate_before_negotiate_has_left_closes_at_once() {
    let mut trace = Trace::connected();
    trace.session.terminate(trace.now);
    assert!(trace.sent().is_empty());
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
}

#[test]
fn how_it_ended_is_known_afterwards() {
    let mut trace = Trace::established();
    trace.disconnect();
    assert_eq!(trace.session.ending(), Ending::Lost);
    let mut trace = Trace::established();
    trace.session.terminate(trace.now);
    trace.transmitted();
    trace.receive(&terminate(0, trace.session.progress().request_timestamp));
    assert_eq!(trace.session.ending(), Ending::Finished);
    let mut trace = Trace::established();
    trace.receive(&terminate(6, 1));
    assert_eq!(trace.session.ending(), Ending::Terminated(TerminateCode(6)));
    // Whoever finds out that numbers do not fit: they do not.
    let mut trace = Trace::established();
    trace.receive(&sequence(UUID, 0, KeepAliveLapsed::NOT_LAPSED));
    let sent = trace.sent();
    let Ending::Terminated(code) = trace.session.ending() else { panic!("{sent:?}") };
    assert_eq!(sent, [format!("Terminate {}", code.0)]);
    trace.disconnect();
    trace.session.connect(trace.now, Binding::Resume).unwrap();
    assert_eq!(trace.session.ending(), Ending::Lost, "nothing is known of the next one");
}

#[test]
fn behind_our_terminate_a_fault_sends_nothing_more() {
    let mut trace = Trace::established();
    trace.session.terminate(trace.now);
    assert_eq!(trace.sent(), ["Terminate 0"]);
    trace.receive(&template_only(999, 8, 8));
    assert_eq!(
        trace.told(),
        ["state terminating", "error template 999 is not one the exchange sends"]
    );
    assert!(trace.sent().is_empty());
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
}
