//! Connecting, and the responses to Negotiate and Establish.

use super::*;

#[test]
fn logs_on_with_negotiate_and_establish() {
    let mut trace = Trace::connected();
    assert_eq!(trace.events(), ["state connecting", "state negotiating"]);
    let frames = trace.transmitted();
    assert_eq!(frames.len(), 1);
    decode!(frames[0] => Negotiate500 as negotiate);
    assert_eq!((negotiate.uuid(), negotiate.request_timestamp()), (UUID, UTC));
    assert_eq!(negotiate.access_key_id(), "ACCESS-KEY-ID-123456");
    assert_eq!((negotiate.session(), negotiate.firm()).0, "ABC");
    assert_eq!(negotiate.firm(), "DEFGH");
    // The canonical form of these values is the first vector of the signature tests.
    assert_eq!(negotiate.hmac_signature().raw()[..4], [0x08, 0x5c, 0xbf, 0x53]);
    assert_eq!(frames[0].len(), 12 + 76 + 2);

    trace.receive(&negotiation_response(UUID, UTC));
    assert_eq!(trace.events(), ["state establishing"]);
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
    assert_eq!(trace.events(), ["state established", sent]);
    assert_eq!(trace.sent(), ["Order 1 id 1"]);
}

#[test]
fn resume_establishes_the_same_uuid() {
    let progress = Progress {
        uuid: 7,
        request_timestamp: 9,
        next_outgoing: 5,
        next_incoming: 3,
        ..Progress::default()
    };
    let mut trace = Trace::with(progress);
    trace.connect(Binding::Resume);
    assert_eq!(trace.events(), ["state connecting", "state establishing"]);
    let ack = trace.ack();
    assert_eq!((ack.uuid, ack.next_seq_no), (7, 3));
    trace.receive(&establishment_ack(&ack));
    assert_eq!(trace.send(1), Ok(5));
    trace.receive(&report_of(7, 3, BooleanFlag::FALSE));
    assert_eq!(trace.events(), ["state established", "new 3"]);
}

#[test]
fn rejects_connect_while_connected_or_without_a_session() {
    let mut trace = Trace::new();
    let nothing = trace.session.connect(trace.now, Binding::Resume);
    assert_eq!(nothing, Err(ConnectError::NothingToResume));
    trace.connect(Binding::New);
    let busy = trace.session.connect(trace.now, Binding::New);
    assert_eq!(busy, Err(ConnectError::Busy(State::Negotiating)));
}

#[test]
fn new_session_raises_the_uuid_if_utc_steps_back() {
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
fn rejected_negotiation_is_reported_and_closes() {
    let mut trace = Trace::connected();
    trace.transmitted();
    trace.events();
    trace.receive(&frame(NegotiationReject502::ENCODED_LENGTH, |buffer| {
        let mut reject = NegotiationReject502::encode(buffer).unwrap();
        reject.set_uuid(UUID).set_request_timestamp(UTC).set_error_codes(0).set_reason("bad key");
    }));
    let rejected = "rejected negotiating 0 (signature does not match) bad key None";
    assert_eq!(trace.events(), [rejected, "state terminating"]);
    assert!(trace.sent().is_empty());
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
    trace.disconnect();
    assert_eq!(trace.events(), ["state disconnected"]);
    assert_eq!(trace.session.disconnect_reason(), DisconnectReason::Rejected(crate::RejectCode(0)));
    assert_eq!(trace.session.inbound_counters().rejects, 1);
}

#[test]
fn rejected_establishment_is_reported_and_closes() {
    let mut trace = Trace::connected();
    let requested = trace.sent_request();
    trace.receive(&negotiation_response(UUID, requested));
    trace.events();
    trace.transmitted();
    trace.receive(&frame(EstablishmentReject505::ENCODED_LENGTH, |buffer| {
        let mut reject = EstablishmentReject505::encode(buffer).unwrap();
        reject.set_uuid(UUID).set_request_timestamp(UTC + 1).set_error_codes(11).set_next_seq_no(4);
    }));
    let code = "11 (KeepAliveInterval is outside 5000 to 60000 milliseconds)";
    let rejected = format!("rejected establishing {code}  Some(4)");
    assert_eq!(trace.events(), [&rejected, "state terminating"]);
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
}

#[test]
fn response_to_another_request_ends_the_connection() {
    for (uuid, request_timestamp, code) in [(UUID + 1, UTC, 13), (UUID, UTC - 1, 14)] {
        let mut trace = Trace::connected();
        trace.transmitted();
        trace.receive(&negotiation_response(uuid, request_timestamp));
        trace.assert_fault(code);
        assert_eq!(trace.session.poll_action(), Some(Action::Close));
    }
}

#[test]
fn unanswered_logon_is_repeated_and_then_given_up() {
    let mut trace = Trace::connected();
    trace.transmitted();
    assert_eq!(trace.deadline_millis(), Some(2 * KEEP_ALIVE));
    trace.events();
    trace.at(2 * KEEP_ALIVE - 1);
    assert!(trace.events().is_empty());
    trace.at(2 * KEEP_ALIVE);
    assert_eq!(trace.events(), ["warning no response while negotiating: request repeated"]);
    assert_eq!(trace.sent(), ["Negotiate"]);
    assert_eq!(trace.session.progress().uuid, UUID, "the session is the same");
    assert_eq!(trace.deadline_millis(), Some(4 * KEEP_ALIVE));
    trace.at(4 * KEEP_ALIVE);
    assert_eq!(trace.events(), ["error no response while negotiating", "state terminating"]);
    assert!(trace.sent().is_empty());
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
    assert_eq!(trace.session.poll_timeout(), None);

    let mut trace = Trace::connected();
    let requested = trace.sent_request();
    trace.at(7_000);
    trace.receive(&negotiation_response(UUID, requested));
    trace.transmitted();
    assert_eq!(trace.deadline_millis(), Some(7_000 + 2 * KEEP_ALIVE));
    trace.events();
    trace.at(7_000 + 2 * KEEP_ALIVE);
    assert_eq!(trace.events(), ["warning no response while establishing: request repeated"]);
    assert_eq!(trace.sent(), ["Establish 1"]);
    trace.at(7_000 + 4 * KEEP_ALIVE);
    assert_eq!(trace.events(), ["error no response while establishing", "state terminating"]);
}

#[test]
fn repeated_logon_accepts_both_responses() {
    for late in [false, true] {
        let mut trace = Trace::connected();
        let first = trace.sent_request();
        trace.at(2 * KEEP_ALIVE);
        let second = trace.sent_request();
        assert!(second > first);
        trace.events();
        trace.receive(&negotiation_response(UUID, if late { second } else { first }));
        assert_eq!(trace.events(), ["state establishing"]);
        let ack = trace.ack();
        trace.receive(&negotiation_response(UUID, second));
        assert_eq!(trace.events(), ["warning template 501 matches no pending request"]);
        trace.receive(&establishment_ack(&ack));
        assert_eq!(trace.session.state(), State::Established);
    }
}

#[test]
fn response_older_than_the_first_request_is_a_fault() {
    let mut trace = Trace::connected();
    let first = trace.sent_request();
    trace.at(2 * KEEP_ALIVE);
    trace.transmitted();
    trace.receive(&negotiation_response(UUID, first - 1));
    trace.assert_fault(14);
}

#[test]
fn policy_limits_logon_attempts() {
    let policy = SessionPolicy { logon_attempts: 1, ..SessionPolicy::default() };
    let mut trace = Trace::with_policy(Progress::default(), policy);
    trace.connect(Binding::New);
    trace.transmitted();
    trace.at(2 * KEEP_ALIVE);
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
}

#[test]
fn connecting_times_out_after_two_intervals() {
    let mut trace = Trace::new();
    trace.session.connect(trace.now, Binding::New).unwrap();
    assert_eq!(trace.session.poll_action(), Some(Action::Connect));
    assert_eq!(trace.deadline_millis(), Some(2 * KEEP_ALIVE));
    trace.at(2 * KEEP_ALIVE);
    let events = ["state connecting", "error no response while connecting", "state terminating"];
    assert_eq!(trace.events(), events);
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
    trace.disconnect();
    assert_eq!(trace.events(), ["state disconnected"]);
}

#[test]
fn refused_connection_can_be_retried() {
    let mut trace = Trace::new();
    trace.session.connect(trace.now, Binding::New).unwrap();
    trace.session.poll_action();
    trace.disconnect();
    let events =
        ["state connecting", "error connection lost while connecting", "state disconnected"];
    assert_eq!(trace.events(), events);
    trace.connect(Binding::New);
    trace.log_on();
}

#[test]
fn different_keep_alive_interval_warns() {
    let mut trace = Trace::connected();
    let requested = trace.sent_request();
    trace.receive(&negotiation_response(UUID, requested));
    let ack = Ack { keep_alive_interval: 5_000, ..trace.ack() };
    trace.events();
    trace.receive(&establishment_ack(&ack));
    let warning = "warning the exchange acknowledges KeepAliveInterval 5000 ms instead of ours";
    assert_eq!(trace.events(), [warning, "state established"]);
    assert_eq!(trace.deadline_millis(), Some(9_000));
}

#[test]
fn session_messages_wait_for_a_large_enough_buffer() {
    let mut trace = Trace::connected();
    let mut short = [0; CONTROL_LENGTH - 1];
    assert_eq!(trace.session.poll_transmit(trace.now, &mut short), None);
    assert_eq!(trace.sent(), ["Negotiate"]);
}

#[test]
fn unsent_logon_request_is_given_up() {
    let mut trace = Trace::connected();
    trace.events();
    trace.at(2 * KEEP_ALIVE);
    assert_eq!(trace.events(), ["error no response while negotiating", "state terminating"]);
    assert!(trace.sent().is_empty());
}

#[test]
fn acknowledgment_with_a_low_next_number_is_a_fault() {
    let progress = Progress { uuid: UUID, next_incoming: 3, ..Progress::default() };
    let mut trace = Trace::with(progress);
    trace.connect(Binding::Resume);
    trace.events();
    let ack = Ack { next_seq_no: 2, ..trace.ack() };
    trace.receive(&establishment_ack(&ack));
    assert_eq!(trace.events()[0], "error NextSeqNo is 2, expected 3");
    trace.assert_fault(10);
}
