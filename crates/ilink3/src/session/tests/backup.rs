//! The backup connection, and its promotion.

use super::*;

/// A backup session beside a primary that has received 1 and 2 and sent 1 to 4.
pub(super) fn established() -> Trace {
    let progress = primary();
    let mut trace = Trace::new();
    trace.session.follow(progress).unwrap();
    trace.connect(Binding::Backup);
    let ack = Ack { next_seq_no: 0, ..trace.ack() };
    trace.receive(&establishment_ack(&ack));
    assert_eq!(trace.session.state(), State::Established);
    trace.told();
    trace
}

fn primary() -> Progress {
    Progress { uuid: UUID, next_outgoing: 5, next_incoming: 3, ..Progress::default() }
}

/// The Sequence by which the exchange makes the backup the primary.
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
        self.session.take_over(self.now, progress, &mut self.wire, &mut self.log);
    }
}

#[test]
fn a_backup_establishes_the_uuid_of_its_primary_with_number_0() {
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
fn only_session_messages_flow_on_the_backup() {
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
fn a_number_other_than_0_on_the_backup_is_a_fault() {
    let mut trace = established();
    trace.receive(&sequence(UUID, 3, KeepAliveLapsed::NOT_LAPSED));
    assert_eq!(trace.told()[0], "error NextSeqNo 3 where 0 was next");
    assert_eq!(trace.sent(), ["Terminate 10"]);
}

#[test]
fn a_backup_that_is_made_the_primary_goes_on_where_that_was() {
    let mut trace = established();
    trace.receive(&[promotion(3), report(3)].concat());
    assert_eq!(trace.told(), ["failover from 3"]);
    assert!(trace.session.awaits_take_over());
    assert_eq!(trace.send(1), Err(SendError::Backup), "not before it has taken over");
    trace.take_over(primary());
    assert_eq!(trace.told(), ["active 5 in doubt", "new 3"]);
    assert_eq!(trace.send(9), Ok(5));
    trace.receive(&report(4));
    assert_eq!((trace.told(), trace.sent()), (vec!["new 4".into()], vec!["Order 5 id 9".into()]));
    assert!(!trace.session.awaits_take_over() && !trace.session.is_backup());
}

#[test]
fn what_the_old_primary_did_not_deliver_is_asked_for() {
    let mut trace = established();
    trace.receive(&[promotion(6), report(6)].concat());
    assert_eq!(trace.told(), ["failover from 6"], "what is missing is known when it takes over");
    trace.take_over(primary());
    assert_eq!(trace.told(), ["active 5 in doubt".into(), format!("gap 3 to 5 of {UUID}")]);
    assert_eq!(trace.sent(), ["Retransmit 3 count 3"]);
    for number in 3..=5 {
        trace.receive(&report_of(UUID, number, BooleanFlag::TRUE));
    }
    assert_eq!(trace.told(), ["new 3", "new 4", "new 5", "new 6"]);
}

#[test]
fn a_failover_of_the_past_ends_the_backup_alone() {
    // A connection that hung brings what was said before the primary was resumed elsewhere.
    for (late, error) in [
        (Progress { next_incoming: 6, ..primary() }, "error NextSeqNo 5 where 6 was next".into()),
        (Progress { uuid: 7, ..primary() }, format!("error UUID {UUID} instead of 7")),
    ] {
        let mut trace = established();
        trace.session.note_primary(&late);
        trace.receive(&[promotion(5), report(5)].concat());
        assert_eq!(trace.told(), [error, "state terminating".into()]);
        assert!(!trace.session.awaits_take_over() && trace.session.is_backup());
        assert_eq!(trace.sent().len(), 1, "a Terminate");
        assert_eq!(trace.session.inbound_counters().failovers, 0);
    }
    let mut trace = established();
    trace.session.note_primary(&Progress { next_incoming: 5, ..primary() });
    trace.receive(&promotion(5));
    assert_eq!(trace.told(), ["failover from 5"], "all it says is known");
}

#[test]
fn without_a_word_of_its_primary_a_backup_goes_by_what_it_followed() {
    let mut trace = established();
    trace.receive(&promotion(2));
    assert_eq!(trace.told()[0], "error NextSeqNo 2 where 3 was next");
}

#[test]
fn a_primary_that_had_received_more_is_a_fault() {
    let mut trace = established();
    trace.receive(&promotion(3));
    trace.told();
    trace.take_over(Progress { next_incoming: 4, ..primary() });
    assert_eq!(trace.told()[0], "error NextSeqNo 3 where 4 was next");
    let mut trace = established();
    trace.receive(&promotion(3));
    trace.take_over(Progress { uuid: 7, ..primary() });
    assert_eq!(trace.sent(), ["Terminate 13"]);
}

#[test]
fn a_promotion_is_told_once_and_a_primary_knows_it() {
    let mut trace = established();
    trace.receive(&[promotion(3), promotion(3)].concat());
    assert_eq!(trace.told(), ["failover from 3"]);
    let mut trace = Trace::established();
    trace.receive(&promotion(1));
    assert!(trace.told().is_empty());
    assert!(!trace.session.awaits_take_over());
}

#[test]
fn the_end_of_the_primary_ends_the_backup() {
    let mut trace = established();
    trace.receive(&terminate(TerminateCode::PRIMARY_GONE.0, 9));
    assert_eq!(trace.told(), ["state terminating", "terminated 26 so it is false"]);
    assert_eq!(trace.sent(), ["Terminate 0"]);
}

#[test]
fn a_take_over_nobody_asked_for_does_nothing() {
    let mut trace = established();
    trace.take_over(primary());
    assert!(trace.session.is_backup() && trace.told().is_empty());
}

/// A primary that has sent two orders, and its backup. The primary may be gone already.
fn pair(is_lost: bool) -> (Trace, Session) {
    let mut primary = Trace::established();
    primary.send(1).unwrap();
    primary.send(2).unwrap();
    primary.receive(&report(1));
    if is_lost {
        primary.session.handle_disconnected(primary.now, &mut primary.wire, &mut primary.log);
    }
    let mut trace = Trace::new();
    trace.session.follow(primary.session.progress()).unwrap();
    trace.connect(Binding::Backup);
    let ack = Ack { next_seq_no: 0, ..trace.ack() };
    trace.receive(&establishment_ack(&ack));
    trace.told();
    trace.sent();
    (trace, primary.session)
}

impl Trace {
    fn take_over_from(&mut self, primary: &mut Session) {
        self.session.take_over_from(self.now, primary, &mut self.wire, &mut self.log);
    }
}

#[test]
fn a_session_that_takes_over_has_all_the_primary_knew() {
    let (mut trace, mut primary) = pair(false);
    let rates = Rates { others: Some(Rate::per_second(1)), ..Rates::default() };
    primary.set_throttle(Some(&rates));
    trace.receive(&promotion(2));
    trace.take_over_from(&mut primary);
    assert_eq!(trace.told(), ["failover from 2", "active 3 in doubt"], "the state is the same");
    assert_eq!((primary.state(), primary.awaits_take_over()), (State::Disconnected, false));
    assert_eq!(trace.send(3), Ok(3));
    (4..6).for_each(|id| assert_eq!(trace.send(id), Ok(id as u32)));
    assert!(matches!(trace.send(6), Err(SendError::Throttled { .. })));
    let counters = trace.session.outbound_counters();
    assert_eq!((counters.business_messages, counters.negotiates), (5, 1));
    assert_eq!(trace.session.inbound_counters().business_messages, 1);
    assert_eq!(*primary.outbound_counters(), OutboundCounters::default());
    // The old one may stand by for the new one.
    primary.follow(trace.session.progress()).unwrap();
    primary.connect(trace.now, Binding::Backup).unwrap();
}

#[test]
fn how_long_nothing_could_be_sent_is_told() {
    let (mut trace, mut primary) = pair(true);
    trace.at(700);
    trace.receive(&promotion(2));
    trace.told();
    trace.at(900);
    trace.take_over_from(&mut primary);
    assert_eq!(trace.told(), ["state established", "active 3 in doubt"]);
    assert_eq!(trace.log.down_for, Duration::from_millis(900));
    let (mut trace, mut primary) = pair(false);
    trace.at(700);
    trace.receive(&promotion(2));
    trace.at(900);
    trace.take_over_from(&mut primary);
    assert_eq!(trace.log.down_for, Duration::from_millis(200));
}

#[test]
fn in_the_place_of_a_sequence_that_would_hide_what_is_in_doubt_it_logs_on_again() {
    for asks in [false, true] {
        let (mut trace, mut primary) = pair(true);
        trace.receive(&promotion(2));
        trace.take_over_from(&mut primary);
        trace.told();
        if asks {
            trace.receive(&sequence(UUID, 2, KeepAliveLapsed::LAPSED));
        } else {
            trace.at(9_001);
        }
        assert_eq!(trace.sent(), ["Terminate 0"]);
        let told = trace.told();
        let warning = "messages from 1 on may not have reached the failed primary";
        assert!(told[0].starts_with(&format!("warning {warning}")), "{told:?}");
        assert!(told.contains(&"state terminating".into()), "{told:?}");
        assert_eq!(trace.session.inbound_counters().settled_by_logon, 1);
    }
}

#[test]
fn a_message_takes_doubt_away_and_one_that_used_no_number_brings_it_back() {
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
    trace.session.outbound.take_back(trace.session.outbound.newest);
    trace.at(9_001);
    assert_eq!(trace.sent(), ["Order 3 id 3", "Terminate 0"]);
}

#[test]
fn nothing_is_in_doubt_that_was_sent_before_the_last_logon() {
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
    trace.told();
    trace.sent();
    trace.take_over_from(&mut primary.session);
    assert_eq!(trace.told(), ["active 5"]);
    trace.at(9_001);
    assert_eq!(trace.sent(), ["Sequence 5"]);
}

#[test]
fn a_logon_that_nobody_answers_settles_nothing() {
    let (mut trace, primary) = pair(true);
    let mut primary = Trace { session: primary, ..Trace::new() };
    primary.now = trace.now;
    primary.connect(Binding::Resume);
    assert_eq!(primary.sent(), ["Establish 3"]);
    primary.disconnect();
    trace.receive(&promotion(2));
    trace.told();
    trace.take_over_from(&mut primary.session);
    assert!(trace.told().contains(&"active 3 in doubt".into()));
}

#[test]
fn that_it_was_established_is_known_until_it_connects_again() {
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
fn one_that_was_leaving_leaves() {
    let (mut trace, mut primary) = pair(false);
    primary.terminate(trace.now);
    trace.receive(&promotion(2));
    trace.take_over_from(&mut primary);
    assert_eq!(trace.sent(), ["Terminate 0"]);
}

#[test]
fn a_business_message_on_the_backup_is_a_fault() {
    let (mut trace, _) = pair(false);
    trace.receive(&report(2));
    assert_eq!(trace.told()[0], "error template 522 has no place while established");
    assert_eq!(trace.sent(), ["Terminate 23"]);
}

#[test]
fn a_request_timestamp_is_above_that_of_the_other_connection() {
    let (mut trace, _) = pair(false);
    trace.session.note_request_timestamp(UTC * 2);
    trace.session.note_request_timestamp(UTC);
    assert_eq!(trace.session.progress().request_timestamp, UTC * 2);
}

#[test]
fn one_that_was_ended_before_it_has_taken_over_is_not_active() {
    let (mut trace, mut primary) = pair(true);
    trace.receive(&[promotion(2), terminate(TerminateCode::OTHER.0, 9)].concat());
    trace.told();
    trace.take_over_from(&mut primary);
    assert!(trace.told().is_empty());
    assert_eq!(trace.session.state(), State::Terminating);
    assert_eq!(trace.session.progress().next_outgoing, 3);
}
