//! Connecting, Negotiate and Establish, their answers, and none.

use super::*;

#[test]
fn logs_on_with_negotiate_and_establish() {
    let mut trace = Trace::connected();
    assert_eq!(trace.told(), ["state connecting", "state negotiating"]);
    let frames = trace.transmitted();
    assert_eq!(frames.len(), 1);
    decode!(frames[0] => Negotiate500 as negotiate);
    assert_eq!((negotiate.uuid(), negotiate.request_timestamp()), (UUID, UTC));
    assert_eq!(negotiate.access_key_id(), "ACCESS-KEY-ID-123456");
    assert_eq!((negotiate.session(), negotiate.firm()).0, "ABC");
    assert_eq!(negotiate.firm(), "DEFGH");
    // The canonical form of these very values is the first vector of the signature tests.
    assert_eq!(negotiate.hmac_signature().raw()[..4], [0x08, 0x5c, 0xbf, 0x53]);
    assert_eq!(frames[0].len(), 12 + 76 + 2);

    trace.receive(&negotiation_response(UUID, UTC));
    assert_eq!(trace.told(), ["state establishing"]);
    let frames = trace.transmitted();
    decode!(frames[0] => Establish503 as establish);
    assert_eq!((establish.uuid(), establish.request_timestamp()), (UUID, UTC + 1));
    assert_eq!((establish.next_seq_no(), establish.keep_alive_interval()), (1, 10_000));
    assert_eq!(establish.trading_system_name(), "TestSys");
    assert_eq!(establish.trading_system_version(), "1.0");
    assert_eq!(establish.trading_system_vendor(), "TestVendor");
    let subject = crate::EstablishSubject {
        negotiate: crate::NegotiateSubject {
            request_timestamp: UTC + 1,
            uuid: UUID,
            session: "ABC",
            firm: "DEFGH",
        },
        trading_system_name: "TestSys",
        trading_system_version: "1.0",
        trading_system_vendor: "TestVendor",
        next_seq_no: 1,
        keep_alive_interval: 10_000,
    };
    let signature = subject.sign(&settings().secret_key);
    assert_eq!(establish.hmac_signature().raw(), signature);
    assert_eq!(frames[0].len(), 12 + 132 + 2);

    assert_eq!(trace.send(1), Err(SendError::NotEstablished(State::Establishing)));
    trace.log.order_on = Some("state");
    let ack = Ack {
        uuid: UUID,
        request_timestamp: UTC + 1,
        next_seq_no: 1,
        previous: (0, 0),
        keep_alive_interval: 10_000,
    };
    trace.receive(&establishment_ack(&ack));
    let sent = "Ok(Sent { seq_num: 1, delivery: Written })";
    assert_eq!(trace.told(), ["state established", sent]);
    assert_eq!(trace.sent(), ["Order 1 id 1"]);
}

#[test]
fn resume_establishes_the_same_uuid_and_goes_on() {
    let progress = Progress {
        uuid: 7,
        request_timestamp: 9,
        next_outgoing: 5,
        next_incoming: 3,
        ..Progress::default()
    };
    let mut trace = Trace::with(progress);
    trace.connect(Binding::Resume);
    assert_eq!(trace.told(), ["state connecting", "state establishing"]);
    let ack = trace.ack();
    assert_eq!((ack.uuid, ack.next_seq_no), (7, 3));
    trace.receive(&establishment_ack(&ack));
    assert_eq!(trace.send(1), Ok(5));
    trace.receive(&report_of(7, 3, BooleanFlag::FALSE));
    assert_eq!(trace.told(), ["state established", "new 3"]);
}

#[test]
fn connects_only_when_disconnected_and_resumes_only_what_was_negotiated() {
    let mut trace = Trace::new();
    let nothing = trace.session.connect(trace.now, Binding::Resume);
    assert_eq!(nothing, Err(ConnectError::NothingToResume));
    trace.connect(Binding::New);
    let busy = trace.session.connect(trace.now, Binding::New);
    assert_eq!(busy, Err(ConnectError::Busy(State::Negotiating)));
}

#[test]
fn a_new_session_has_a_greater_uuid_even_if_utc_steps_back() {
    let mut trace = Trace::established();
    trace.send(1).unwrap();
    trace.receive(&report(1));
    trace.transmitted();
    let first = trace.session.progress();
    assert_eq!((first.next_outgoing, first.next_incoming), (2, 2));
    trace.disconnect();
    trace.now.utc = trace.now.utc - Duration::from_secs(3_600);
    trace.connect(Binding::New);
    trace.log_on();
    let second = trace.session.progress();
    assert_eq!(second.uuid, first.uuid + 1);
    assert_eq!(second.request_timestamp, first.request_timestamp + 2);
    assert_eq!((second.next_outgoing, second.next_incoming), (1, 1));
}

#[test]
fn a_rejected_negotiation_is_told_and_closed() {
    let mut trace = Trace::connected();
    trace.transmitted();
    trace.told();
    trace.receive(&frame(NegotiationReject502::ENCODED_LENGTH, |buffer| {
        let mut reject = NegotiationReject502::encode(buffer).unwrap();
        reject.set_uuid(UUID).set_request_timestamp(UTC).set_error_codes(0).set_reason("bad key");
    }));
    let rejected = "rejected negotiating 0 (signature does not match) bad key None";
    assert_eq!(trace.told(), [rejected, "state terminating"]);
    assert!(trace.sent().is_empty());
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
    trace.disconnect();
    assert_eq!(trace.told(), ["state disconnected"]);
    assert_eq!(trace.session.ending(), Ending::Rejected(crate::RejectCode(0)));
    assert_eq!(trace.session.inbound_counters().rejects, 1);
}

#[test]
fn a_rejected_establishment_is_told_and_closed() {
    let mut trace = Trace::connected();
    let requested = trace.sent_request();
    trace.receive(&negotiation_response(UUID, requested));
    trace.told();
    trace.transmitted();
    trace.receive(&frame(EstablishmentReject505::ENCODED_LENGTH, |buffer| {
        let mut reject = EstablishmentReject505::encode(buffer).unwrap();
        reject.set_uuid(UUID).set_request_timestamp(UTC + 1).set_error_codes(11).set_next_seq_no(4);
    }));
    let code = "11 (KeepAliveInterval is outside 5000 to 60000 milliseconds)";
    let rejected = format!("rejected establishing {code}  Some(4)");
    assert_eq!(trace.told(), [&rejected, "state terminating"]);
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
}

#[test]
fn a_response_that_echoes_another_request_terminates() {
    for (uuid, request_timestamp, code) in [(UUID + 1, UTC, 13), (UUID, UTC - 1, 14)] {
        let mut trace = Trace::connected();
        trace.transmitted();
        trace.receive(&negotiation_response(uuid, request_timestamp));
        assert_eq!(trace.sent(), [format!("Terminate {code}")]);
        assert_eq!(trace.session.poll_action(), Some(Action::Close));
    }
}

#[test]
fn an_unanswered_logon_is_sent_again_after_two_intervals_and_given_up_after_two_more() {
    let mut trace = Trace::connected();
    trace.transmitted();
    assert_eq!(trace.deadline_millis(), Some(2 * KEEP_ALIVE));
    trace.told();
    trace.at(2 * KEEP_ALIVE - 1);
    assert!(trace.told().is_empty());
    trace.at(2 * KEEP_ALIVE);
    assert_eq!(trace.told(), ["warning no answer while negotiating: asked again"]);
    assert_eq!(trace.sent(), ["Negotiate"]);
    assert_eq!(trace.session.progress().uuid, UUID, "the session is the same");
    assert_eq!(trace.deadline_millis(), Some(4 * KEEP_ALIVE));
    trace.at(4 * KEEP_ALIVE);
    assert_eq!(trace.told(), ["error no answer while negotiating", "state terminating"]);
    assert!(trace.sent().is_empty());
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
    assert_eq!(trace.session.poll_timeout(), None);

    let mut trace = Trace::connected();
    let requested = trace.sent_request();
    trace.at(7_000);
    trace.receive(&negotiation_response(UUID, requested));
    trace.transmitted();
    assert_eq!(trace.deadline_millis(), Some(7_000 + 2 * KEEP_ALIVE));
    trace.told();
    trace.at(7_000 + 2 * KEEP_ALIVE);
    assert_eq!(trace.told(), ["warning no answer while establishing: asked again"]);
    assert_eq!(trace.sent(), ["Establish 1"]);
    trace.at(7_000 + 4 * KEEP_ALIVE);
    assert_eq!(trace.told(), ["error no answer while establishing", "state terminating"]);
}

#[test]
fn a_logon_sent_again_takes_the_answer_to_either_and_the_second_is_no_fault() {
    for late in [false, true] {
        let mut trace = Trace::connected();
        let first = trace.sent_request();
        trace.at(2 * KEEP_ALIVE);
        let second = trace.sent_request();
        assert!(second > first);
        trace.told();
        trace.receive(&negotiation_response(UUID, if late { second } else { first }));
        assert_eq!(trace.told(), ["state establishing"]);
        let ack = trace.ack();
        trace.receive(&negotiation_response(UUID, second));
        assert_eq!(trace.told(), ["warning template 501 answers no request of ours"]);
        trace.receive(&establishment_ack(&ack));
        assert_eq!(trace.session.state(), State::Established);
    }
}

#[test]
fn an_answer_from_before_the_first_request_is_a_fault() {
    let mut trace = Trace::connected();
    let first = trace.sent_request();
    trace.at(2 * KEEP_ALIVE);
    trace.transmitted();
    trace.receive(&negotiation_response(UUID, first - 1));
    assert_eq!(trace.sent(), ["Terminate 14"]);
}

#[test]
fn a_logon_is_sent_once_if_so_conducted() {
    let conduct = SessionPolicy { logon_attempts: 1, ..SessionPolicy::default() };
    let mut trace = Trace::conducted(Progress::default(), conduct);
    trace.connect(Binding::New);
    trace.transmitted();
    trace.at(2 * KEEP_ALIVE);
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
}

#[test]
fn a_connection_that_does_not_come_is_given_up_after_two_intervals() {
    let mut trace = Trace::new();
    trace.session.connect(trace.now, Binding::New).unwrap();
    assert_eq!(trace.session.poll_action(), Some(Action::Connect));
    assert_eq!(trace.deadline_millis(), Some(2 * KEEP_ALIVE));
    trace.at(2 * KEEP_ALIVE);
    let told = ["state connecting", "error no answer while connecting", "state terminating"];
    assert_eq!(trace.told(), told);
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
    trace.disconnect();
    assert_eq!(trace.told(), ["state disconnected"]);
}

#[test]
fn a_refused_connection_is_lost_and_can_be_tried_again() {
    let mut trace = Trace::new();
    trace.session.connect(trace.now, Binding::New).unwrap();
    trace.session.poll_action();
    trace.disconnect();
    let told = ["state connecting", "error connection lost while connecting", "state disconnected"];
    assert_eq!(trace.told(), told);
    trace.connect(Binding::New);
    trace.log_on();
}

#[test]
fn another_keep_alive_interval_is_told() {
    let mut trace = Trace::connected();
    let requested = trace.sent_request();
    trace.receive(&negotiation_response(UUID, requested));
    let ack = Ack { keep_alive_interval: 5_000, ..trace.ack() };
    trace.told();
    trace.receive(&establishment_ack(&ack));
    let warning = "warning the exchange acknowledges a KeepAliveInterval of 5000 ms, not ours";
    assert_eq!(trace.told(), [warning, "state established"]);
    assert_eq!(trace.deadline_millis(), Some(9_000));
}

#[test]
fn control_traffic_waits_for_a_buffer_that_holds_it() {
    let mut trace = Trace::connected();
    let mut short = [0; CONTROL_LENGTH - 1];
    assert_eq!(trace.session.poll_transmit(trace.now, &mut short), None);
    assert_eq!(trace.sent(), ["Negotiate"]);
}

#[test]
fn a_request_that_could_not_leave_is_given_up_and_not_repeated() {
    let mut trace = Trace::connected();
    trace.told();
    trace.at(2 * KEEP_ALIVE);
    assert_eq!(trace.told(), ["error no answer while negotiating", "state terminating"]);
    assert!(trace.sent().is_empty());
}

#[test]
fn an_acknowledgement_with_a_low_next_number_terminates() {
    let progress = Progress { uuid: UUID, next_incoming: 3, ..Progress::default() };
    let mut trace = Trace::with(progress);
    trace.connect(Binding::Resume);
    trace.told();
    let ack = Ack { next_seq_no: 2, ..trace.ack() };
    trace.receive(&establishment_ack(&ack));
    assert_eq!(trace.told()[0], "error NextSeqNo 2 where 3 was next");
    assert_eq!(trace.sent(), ["Terminate 10"]);
}
