//! The backup connection and its promotion.

use super::*;

/// Creates a backup session whose primary has received 1 and 2 and sent 1 to 4.
pub(super) fn established() -> Trace {
    let progress = primary();
    let mut trace = Trace::new();
    trace.session.follow(progress).unwrap();
    trace.connect(Binding::Backup);
    let ack = Ack { next_seq_no: 0, ..trace.ack() };
    trace.receive(&establishment_ack(&ack));
    assert_eq!(trace.session.state(), State::Established);
    trace.events();
    trace
}

fn primary() -> Progress {
    Progress { uuid: UUID, next_outgoing: 5, next_incoming: 3, ..Progress::default() }
}

/// Creates the Sequence that promotes the backup to primary.
pub(super) fn promotion(next_seq_no: u32) -> Vec<u8> {
    frame(Sequence506::ENCODED_LENGTH, |buffer| {
        let mut message = Sequence506::encode(buffer).unwrap();
        message.set_uuid(UUID).set_next_seq_no(next_seq_no);
        message.set_fault_tolerance_indicator(FTI::PRIMARY);
        message.set_keep_alive_interval_lapsed(KeepAliveLapsed::NOT_LAPSED);
    })
}

impl Trace {
    fn take_over(&mut self, progress: Progress) {
        self.session.take_over(self.now, progress, &mut self.sink, &mut self.log);
    }
}

#[test]
fn establishes_the_primary_uuid_with_number_0() {
    let mut trace = Trace::new();
    let nothing = trace.session.connect(trace.now, Binding::Backup);
    assert_eq!(nothing, Err(ConnectError::NothingToResume));
    trace.session.follow(primary()).unwrap();
    trace.connect(Binding::Backup);
    let frames = trace.transmitted();
    decode!(frames[0] => Establish503 as establish);
    assert_eq!((establish.uuid(), establish.next_seq_no()), (UUID, 0));
    assert_eq!(trace.session.follow(primary()), Err(ConnectError::Busy(State::Establishing)));
}

#[test]
fn sends_only_session_messages_on_the_backup() {
    let mut trace = established();
    assert!(trace.session.is_backup());
    assert_eq!(trace.send(1), Err(SendError::Backup));
    trace.at(9_000);
    trace.receive(&sequence(UUID, 0, KeepAliveLapsed::LAPSED));
    assert_eq!(trace.sent(), ["Sequence 0"]);
    trace.session.terminate(trace.now);
    assert_eq!(trace.sent(), ["Terminate 0"]);
}

#[test]
fn nonzero_number_on_the_backup_is_a_fault() {
    let mut trace = established();
    trace.receive(&sequence(UUID, 3, KeepAliveLapsed::NOT_LAPSED));
    assert_eq!(trace.events()[0], "error NextSeqNo is 3, expected 0");
    trace.assert_fault(10);
}

#[test]
fn takeover_continues_the_primary_numbers() {
    let mut trace = established();
    trace.receive(&[promotion(3), report(3)].concat());
    assert_eq!(trace.events(), ["failover from 3"]);
    assert!(trace.session.is_takeover_pending());
    assert_eq!(trace.send(1), Err(SendError::Backup), "no send before the takeover");
    trace.take_over(primary());
    assert_eq!(trace.events(), ["active 5 in doubt", "new 3"]);
    assert_eq!(trace.send(9), Ok(5));
    trace.receive(&report(4));
    assert_eq!((trace.events(), trace.sent()), (vec!["new 4".into()], vec!["Order 5 id 9".into()]));
    assert!(!trace.session.is_takeover_pending() && !trace.session.is_backup());
}

#[test]
fn takeover_requests_undelivered_messages() {
    let mut trace = established();
    trace.receive(&[promotion(6), report(6)].concat());
    assert_eq!(trace.events(), ["failover from 6"], "the gap is known at the takeover");
    trace.take_over(primary());
    assert_eq!(trace.events(), ["active 5 in doubt".into(), format!("gap 3 to 5 of {UUID}")]);
    assert_eq!(trace.sent(), ["Retransmit 3 count 3"]);
    for number in 3..=5 {
        trace.receive(&report_of(UUID, number, BooleanFlag::TRUE));
    }
    assert_eq!(trace.events(), ["new 3", "new 4", "new 5", "new 6"]);
}

#[test]
fn outdated_promotion_ends_only_the_backup() {
    // A stalled connection delivers messages from before the primary was resumed elsewhere.
    for (late, error) in [
        (Progress { next_incoming: 6, ..primary() }, "error NextSeqNo is 5, expected 6".into()),
        (Progress { uuid: 7, ..primary() }, format!("error UUID is {UUID}, expected 7")),
    ] {
        let mut trace = established();
        trace.session.update_primary(&late);
        trace.receive(&[promotion(5), report(5)].concat());
        assert_eq!(trace.events(), [error, "state terminating".into()]);
        assert!(!trace.session.is_takeover_pending() && trace.session.is_backup());
        assert!(trace.sent().is_empty() && trace.session.outbound.pending.is_closing());
        assert_eq!(trace.session.inbound_counters().failovers, 0);
    }
    let mut trace = established();
    trace.session.update_primary(&Progress { next_incoming: 5, ..primary() });
    trace.receive(&promotion(5));
    assert_eq!(trace.events(), ["failover from 5"], "the same progress is valid");
}

#[test]
fn promotion_check_uses_the_followed_progress_by_default() {
    let mut trace = established();
    trace.receive(&promotion(2));
    assert_eq!(trace.events()[0], "error NextSeqNo is 2, expected 3");
}

#[test]
fn takeover_fails_if_the_primary_received_more() {
    let mut trace = established();
    trace.receive(&promotion(3));
    trace.events();
    trace.take_over(Progress { next_incoming: 4, ..primary() });
    assert_eq!(trace.events()[0], "error NextSeqNo is 3, expected 4");
    let mut trace = established();
    trace.receive(&promotion(3));
    trace.take_over(Progress { uuid: 7, ..primary() });
    trace.assert_fault(13);
}

#[test]
fn promotion_is_reported_once() {
    let mut trace = established();
    trace.receive(&[promotion(3), promotion(3)].concat());
    assert_eq!(trace.events(), ["failover from 3"]);
    let mut trace = Trace::established();
    trace.receive(&promotion(1));
    assert!(trace.events().is_empty());
    assert!(!trace.session.is_takeover_pending());
}

#[test]
fn terminate_26_ends_the_backup() {
    let mut trace = established();
    trace.receive(&terminate(TerminateCode::PRIMARY_DISCONNECTED.0, 9));
    assert_eq!(trace.events(), ["state terminating", "terminated 26 so it is false"]);
    assert_eq!(trace.sent(), ["Terminate 0"]);
}

#[test]
fn takeover_without_promotion_does_nothing() {
    let mut trace = established();
    trace.take_over(primary());
    assert!(trace.session.is_backup() && trace.events().is_empty());
}

/// Creates a primary that has sent two orders, and its backup. With `is_lost` the primary's
/// connection is lost.
fn pair(is_lost: bool) -> (Trace, Session) {
    let mut primary = Trace::established();
    primary.send(1).unwrap();
    primary.send(2).unwrap();
    primary.receive(&report(1));
    if is_lost {
        primary.session.handle_disconnected(primary.now, &mut primary.sink, &mut primary.log);
    }
    let mut trace = Trace::new();
    trace.session.follow(primary.session.progress()).unwrap();
    trace.connect(Binding::Backup);
    let ack = Ack { next_seq_no: 0, ..trace.ack() };
    trace.receive(&establishment_ack(&ack));
    trace.events();
    trace.sent();
    (trace, primary.session)
}

impl Trace {
    fn take_over_from(&mut self, primary: &mut Session) {
        self.session.take_over_from(self.now, primary, &mut self.sink, &mut self.log);
    }
}

#[test]
fn takeover_inherits_throttle_and_counters() {
    let (mut trace, mut primary) = pair(false);
    let rates = Rates { others: Some(Rate::per_second(1)), ..Rates::default() };
    primary.set_throttle(Some(&rates));
    trace.receive(&promotion(2));
    trace.take_over_from(&mut primary);
    assert_eq!(trace.events(), ["failover from 2", "active 3 in doubt"], "the state is the same");
    assert_eq!((primary.state(), primary.is_takeover_pending()), (State::Disconnected, false));
    assert_eq!(trace.send(3), Ok(3));
    (4..6).for_each(|id| assert_eq!(trace.send(id), Ok(id as u32)));
    assert!(matches!(trace.send(6), Err(SendError::Throttled { .. })));
    let counters = trace.session.outbound_counters();
    assert_eq!((counters.business_messages, counters.negotiates), (5, 1));
    assert_eq!(trace.session.inbound_counters().business_messages, 1);
    assert_eq!(*primary.outbound_counters(), OutboundCounters::default());
    // The old primary may become the backup of the new one.
    primary.follow(trace.session.progress()).unwrap();
    primary.connect(trace.now, Binding::Backup).unwrap();
}

#[test]
fn takeover_reports_its_down_time() {
    let (mut trace, mut primary) = pair(true);
    trace.at(700);
    trace.receive(&promotion(2));
    trace.events();
    trace.at(900);
    trace.take_over_from(&mut primary);
    assert_eq!(trace.events(), ["state established", "active 3 in doubt"]);
    assert_eq!(trace.log.down_for, Duration::from_millis(900));
    let (mut trace, mut primary) = pair(false);
    trace.at(700);
    trace.receive(&promotion(2));
    trace.at(900);
    trace.take_over_from(&mut primary);
    assert_eq!(trace.log.down_for, Duration::from_millis(200));
}

#[test]
fn logs_on_again_instead_of_hiding_messages_in_doubt() {
    for asks in [false, true] {
        let (mut trace, mut primary) = pair(true);
        trace.receive(&promotion(2));
        trace.take_over_from(&mut primary);
        trace.events();
        if asks {
            trace.receive(&sequence(UUID, 2, KeepAliveLapsed::LAPSED));
        } else {
            trace.at(9_001);
        }
        assert_eq!(trace.sent(), ["Terminate 0"]);
        let events = trace.events();
        let warning = "messages from 1 on may not have reached the failed primary";
        assert!(events[0].starts_with(&format!("warning {warning}")), "{events:?}");
        assert!(events.contains(&"state terminating".into()), "{events:?}");
        assert_eq!(trace.session.inbound_counters().settled_by_logon, 1);
    }
}

#[test]
fn doubt_ends_with_a_message_and_returns_with_its_reject() {
    let (mut trace, mut primary) = pair(true);
    trace.receive(&promotion(2));
    trace.take_over_from(&mut primary);
    assert_eq!(trace.send(3), Ok(3));
    trace.at(9_001);
    assert_eq!(trace.sent(), ["Order 3 id 3", "Sequence 4"]);
    let (mut trace, mut primary) = pair(true);
    trace.receive(&promotion(2));
    trace.take_over_from(&mut primary);
    assert_eq!(trace.send(3), Ok(3));
    trace.session.outbound.reclaim_seq_num(trace.session.outbound.newest);
    trace.at(9_001);
    assert_eq!(trace.sent(), ["Order 3 id 3", "Terminate 0"]);
}

#[test]
fn messages_before_the_last_logon_are_not_in_doubt() {
    let progress = Progress { uuid: UUID, next_outgoing: 5, ..Progress::default() };
    let mut primary = Trace::with(progress);
    primary.connect(Binding::Resume);
    let ack = Ack { next_seq_no: 1, ..primary.ack() };
    primary.receive(&establishment_ack(&ack));
    let mut trace = Trace::new();
    trace.session.follow(primary.session.progress()).unwrap();
    trace.connect(Binding::Backup);
    let ack = Ack { next_seq_no: 0, ..trace.ack() };
    trace.receive(&establishment_ack(&ack));
    trace.receive(&promotion(1));
    trace.events();
    trace.sent();
    trace.take_over_from(&mut primary.session);
    assert_eq!(trace.events(), ["active 5"]);
    trace.at(9_001);
    assert_eq!(trace.sent(), ["Sequence 5"]);
}

#[test]
fn unanswered_logon_resolves_no_doubt() {
    let (mut trace, primary) = pair(true);
    let mut primary = Trace { session: primary, ..Trace::new() };
    primary.now = trace.now;
    primary.connect(Binding::Resume);
    assert_eq!(primary.sent(), ["Establish 3"]);
    primary.disconnect();
    trace.receive(&promotion(2));
    trace.events();
    trace.take_over_from(&mut primary.session);
    assert!(trace.events().contains(&"active 3 in doubt".into()));
}

#[test]
fn was_established_lasts_until_the_next_connect() {
    let mut trace = Trace::established();
    assert!(trace.session.was_established());
    trace.disconnect();
    assert!(trace.session.was_established());
    trace.connect(Binding::Resume);
    assert!(!trace.session.was_established());
    trace.disconnect();
    assert!(!trace.session.was_established());
}

#[test]
fn takeover_inherits_the_termination() {
    let (mut trace, mut primary) = pair(false);
    primary.terminate(trace.now);
    trace.receive(&promotion(2));
    trace.take_over_from(&mut primary);
    assert_eq!(trace.sent(), ["Terminate 0"]);
}

#[test]
fn business_message_on_the_backup_is_a_fault() {
    let (mut trace, _) = pair(false);
    trace.receive(&report(2));
    assert_eq!(trace.events()[0], "error template 522 is not allowed while established");
    trace.assert_fault(23);
}

#[test]
fn request_timestamp_exceeds_the_other_connections() {
    let (mut trace, _) = pair(false);
    trace.session.raise_request_timestamp(UTC * 2);
    trace.session.raise_request_timestamp(UTC);
    assert_eq!(trace.session.progress().request_timestamp, UTC * 2);
}

#[test]
fn takeover_of_an_ended_session_is_not_reported() {
    let (mut trace, mut primary) = pair(true);
    trace.receive(&[promotion(2), terminate(TerminateCode::OTHER.0, 9)].concat());
    trace.events();
    trace.take_over_from(&mut primary);
    assert!(trace.events().is_empty());
    assert_eq!(trace.session.state(), State::Terminating);
    assert_eq!(trace.session.progress().next_outgoing, 3);
}
