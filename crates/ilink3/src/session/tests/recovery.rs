//! Gap recovery: missing messages are requested, delivered in order, or given up.

use super::*;
use crate::RetransmitRejectCode;

pub(super) fn again(seq_num: u32) -> Vec<u8> {
    report_of(UUID, seq_num, BooleanFlag::TRUE)
}

pub(super) fn again_of(uuid: u64, seq_num: u32) -> Vec<u8> {
    report_of(uuid, seq_num, BooleanFlag::TRUE)
}

pub(super) fn range(make: impl Fn(u32) -> Vec<u8>, from: u32, to: u32) -> Vec<u8> {
    (from..=to).flat_map(make).collect()
}

pub(super) fn news(from: u32, to: u32) -> Vec<String> {
    (from..=to).map(|number| format!("new {number}")).collect()
}

impl Trace {
    /// Returns the RequestTimestamp of the last request.
    pub(super) fn stamp(&self) -> u64 {
        self.session.progress().request_timestamp
    }

    /// Creates a session that has delivered 1 and received 4; 2 and 3 are requested and announced.
    fn missing_2_and_3() -> Self {
        let mut trace = Trace::established();
        trace.receive(&[report(1), report(4)].concat());
        assert_eq!(trace.events(), ["new 1", &format!("gap 2 to 3 of {UUID}")]);
        assert_eq!(trace.sent(), ["Retransmit 2 count 2"]);
        trace.receive(&retransmission(None, trace.stamp(), 2, 2));
        trace
    }

    /// Establishes a new UUID after `previous` was published last. The events report what is
    /// missing.
    pub(super) fn established_after(progress: Progress, previous: (u64, u32)) -> Self {
        let mut trace = Trace::with(progress);
        trace.connect(Binding::New);
        let requested = trace.sent_request();
        trace.receive(&negotiation_response(UUID, requested));
        let ack = Ack { previous, ..trace.ack() };
        trace.events();
        trace.receive(&establishment_ack(&ack));
        assert_eq!(trace.log.events.remove(0), "state established");
        trace
    }
}

#[test]
fn gap_is_requested_and_later_messages_are_held() {
    let mut trace = Trace::missing_2_and_3();
    // Live messages arrive between retransmitted ones.
    trace.receive(&[again(2), report(5), again(3), report(6)].concat());
    assert_eq!(trace.events(), news(2, 6));
    let counters = *trace.session.inbound_counters();
    assert_eq!((counters.gaps, counters.gap_messages, counters.retransmitted), (1, 2, 2));
    assert_eq!((counters.held, counters.undelivered, counters.business_messages), (2, 0, 6));
    assert!(trace.sent().is_empty());
    assert_eq!(trace.deadline_millis(), Some(9_000), "no request is pending");
}

#[test]
fn request_has_the_current_uuid_and_a_new_timestamp() {
    let mut trace = Trace::established();
    let before = trace.stamp();
    trace.receive(&report(3));
    assert!(trace.session.has_pending());
    let frames = trace.transmitted();
    decode!(frames[0] => RetransmitRequest508 as request);
    assert_eq!((request.uuid(), request.last_uuid()), (UUID, None));
    assert_eq!((request.from_seq_no(), request.msg_count()), (1, 2));
    assert_eq!((request.request_timestamp(), trace.stamp()), (before + 1, before + 1));
    assert_eq!(frames.len(), 1);
}

#[test]
fn gap_in_a_sequence_is_requested() {
    let mut trace = Trace::established();
    trace.receive(&sequence(UUID, 3, KeepAliveLapsed::NOT_LAPSED));
    assert_eq!(trace.events(), [format!("gap 1 to 2 of {UUID}")]);
    assert_eq!(trace.sent(), ["Retransmit 1 count 2"]);
    trace.receive(&range(again, 1, 2));
    trace.receive(&[sequence(UUID, 3, KeepAliveLapsed::NOT_LAPSED), report(3)].concat());
    assert_eq!(trace.events(), news(1, 3));
}

#[test]
fn gap_in_the_acknowledgment_is_requested() {
    let progress = Progress { uuid: UUID, next_incoming: 3, ..Progress::default() };
    let mut trace = Trace::with(progress);
    trace.connect(Binding::Resume);
    trace.events();
    let ack = Ack { next_seq_no: 6, ..trace.ack() };
    trace.receive(&establishment_ack(&ack));
    assert_eq!(trace.events(), ["state established".to_string(), format!("gap 3 to 5 of {UUID}")]);
    assert_eq!(trace.sent(), ["Retransmit 3 count 3"]);
    trace.receive(&[report(6), range(again, 3, 5)].concat());
    assert_eq!(trace.events(), news(3, 6));
}

#[test]
fn large_gap_is_requested_in_chunks_of_2500() {
    let mut trace = Trace::established();
    trace.receive(&report(6_002));
    assert_eq!(trace.sent(), ["Retransmit 1 count 2500"]);
    trace.receive(&range(again, 1, 2_499));
    assert!(trace.sent().is_empty(), "one at a time");
    trace.receive(&again(2_500));
    assert_eq!(trace.sent(), ["Retransmit 2501 count 2500"]);
    trace.receive(&retransmission(None, trace.stamp(), 2_501, 2_500));
    trace.receive(&range(again, 2_501, 5_000));
    assert_eq!(trace.sent(), ["Retransmit 5001 count 1001"]);
    trace.receive(&range(again, 5_001, 6_001));
    assert!(trace.sent().is_empty());
    assert_eq!(trace.events()[1..], news(1, 6_002));
    assert_eq!(trace.session.outbound_counters().retransmit_requests, 3);
}

#[test]
fn previous_uuid_gaps_come_first() {
    let progress = Progress { uuid: 7, next_incoming: 3, ..Progress::default() };
    let mut trace = Trace::established_after(progress, (7, 5));
    assert_eq!(trace.events(), ["gap 3 to 5 of 7"]);
    assert_eq!(trace.sent(), ["Retransmit 3 count 3 of 7"]);
    trace.receive(&retransmission(Some(7), trace.stamp(), 3, 3));
    trace.receive(&[report(1), again_of(7, 3), report(2), again_of(7, 4)].concat());
    assert_eq!(trace.events(), ["new 3", "new 4"]);
    trace.receive(&again_of(7, 5));
    assert_eq!(trace.events(), ["new 5", "new 1", "new 2"]);
    trace.receive(&report(3));
    assert_eq!(trace.events(), ["new 3"]);
    assert_eq!(trace.session.progress().previous_uuids.first_gap(), None);
}

#[test]
fn uuid_0_has_messages_before_the_first_logon_of_the_week() {
    let mut trace = Trace::established_after(Progress::default(), (0, 2));
    assert_eq!(trace.events(), ["gap 1 to 2 of 0"]);
    assert_eq!(trace.sent(), ["Retransmit 1 count 2 of 0"]);
    trace.receive(&[report(1), again_of(0, 1), again_of(0, 2)].concat());
    assert_eq!(trace.events(), ["new 1", "new 2", "new 1"]);
    // At the next logon, only messages published since then are missing.
    trace.disconnect();
    let kept = trace.session.progress();
    assert_eq!(kept.previous_uuids.next_default, 3);
}

#[test]
fn current_uuid_gap_waits_for_previous_uuid_gaps() {
    let progress = Progress { uuid: 7, next_incoming: 3, ..Progress::default() };
    let mut trace = Trace::established_after(progress, (7, 3));
    assert_eq!(trace.sent(), ["Retransmit 3 count 1 of 7"]);
    trace.receive(&report(3));
    assert_eq!(trace.events(), ["gap 3 to 3 of 7", &format!("gap 1 to 2 of {UUID}")]);
    assert!(trace.sent().is_empty());
    trace.receive(&again_of(7, 3));
    assert_eq!(trace.sent(), ["Retransmit 1 count 2"]);
    trace.receive(&range(again, 1, 2));
    assert_eq!(trace.events(), ["new 3", "new 1", "new 2", "new 3"]);
}

#[test]
fn gaps_survive_the_connection_and_the_process() {
    let progress = Progress { uuid: 7, next_incoming: 3, ..Progress::default() };
    let mut trace = Trace::established_after(progress, (7, 5));
    trace.transmitted();
    trace.receive(&again_of(7, 3));
    let kept = trace.session.progress();
    let mut trace = Trace::with(kept);
    trace.connect(Binding::Resume);
    // A message was published under the current UUID since then, so the acknowledgment does not
    // mention UUID 7.
    let ack = Ack { previous: (UUID, 1), next_seq_no: 2, ..trace.ack() };
    trace.receive(&establishment_ack(&ack));
    assert_eq!(trace.sent(), ["Retransmit 4 count 2 of 7"]);
    trace.receive(&range(|number| again_of(7, number), 4, 5));
    assert_eq!(trace.sent(), ["Retransmit 1 count 1"]);
    trace.receive(&again(1));
    let events = trace.events();
    assert_eq!(events[events.len() - 3..], ["new 4", "new 5", "new 1"]);
}

#[test]
fn gap_within_a_retransmission_is_requested_again() {
    let mut trace = Trace::established();
    trace.receive(&report(6));
    trace.transmitted();
    trace.events();
    trace.receive(&[again(1), again(2), again(4)].concat());
    let early = format!("warning retransmitted 4 of {UUID} arrived out of order");
    assert_eq!(trace.events(), ["new 1", "new 2", &early]);
    assert!(trace.sent().is_empty(), "the retransmission continues");
    trace.receive(&again(5));
    assert_eq!(trace.sent(), ["Retransmit 3 count 3"]);
    trace.events();
    trace.receive(&range(again, 3, 5));
    assert_eq!(trace.events(), news(3, 6));
}

#[test]
fn gap_within_held_messages_is_requested() {
    let mut trace = Trace::missing_2_and_3();
    trace.receive(&report(7));
    assert_eq!(trace.events(), [format!("gap 5 to 6 of {UUID}")]);
    trace.receive(&range(again, 2, 3));
    assert_eq!(trace.events(), news(2, 4));
    assert_eq!(trace.sent(), ["Retransmit 5 count 2"]);
    trace.receive(&range(again, 5, 6));
    assert_eq!(trace.events(), news(5, 7));
}

#[test]
fn overflowed_messages_are_requested_later() {
    let one = report(1).len() + 2;
    let policy = SessionPolicy { held_bytes: 2 * one, ..SessionPolicy::default() };
    let mut trace = Trace::with_policy(Progress::default(), policy);
    trace.connect(Binding::New);
    trace.log_on();
    trace.receive(&range(report, 2, 5));
    let full = "warning no room to hold 4 after a gap";
    assert_eq!(trace.events(), [&format!("gap 1 to 1 of {UUID}"), full]);
    assert_eq!(trace.sent(), ["Retransmit 1 count 1"]);
    trace.receive(&again(1));
    assert_eq!(trace.events(), news(1, 3));
    assert_eq!(trace.sent(), ["Retransmit 4 count 2"]);
    trace.receive(&[again(4), report(6), again(5)].concat());
    assert_eq!(trace.events(), news(4, 6));
    assert_eq!(trace.session.inbound_counters().undelivered, 2);
}

#[test]
fn duplicate_during_recovery_is_a_low_number() {
    let mut trace = Trace::missing_2_and_3();
    trace.receive(&report(4));
    assert_eq!(trace.events()[0], "error SeqNum is 4, expected 5");
    trace.assert_fault(11);
}

#[test]
fn next_number_below_held_messages_is_low() {
    let mut trace = Trace::missing_2_and_3();
    trace.receive(&sequence(UUID, 4, KeepAliveLapsed::NOT_LAPSED));
    assert_eq!(trace.events()[0], "error NextSeqNo is 4, expected 5");
}

#[test]
fn duplicate_retransmission_is_delivered_once() {
    let mut trace = Trace::missing_2_and_3();
    trace.receive(&[range(again, 2, 3), range(again, 2, 4), report(5)].concat());
    let events = trace.events();
    let delivered: Vec<_> = events.iter().filter(|line| line.starts_with("new")).collect();
    assert_eq!(delivered, ["new 2", "new 3", "new 4", "new 5"]);
    assert_eq!(trace.session.inbound_counters().retransmissions_dropped, 3);
}

#[test]
fn unmarked_message_of_a_previous_uuid_is_a_fault() {
    let progress = Progress { uuid: 7, next_incoming: 3, ..Progress::default() };
    let mut trace = Trace::established_after(progress, (7, 3));
    trace.transmitted();
    trace.receive(&report_of(7, 3, BooleanFlag::FALSE));
    trace.assert_fault(13);
}

#[test]
fn stalled_retransmission_is_repeated_and_then_given_up() {
    let mut trace = Trace::established();
    trace.receive(&report(5));
    trace.transmitted();
    trace.at(4_000);
    trace.receive(&again(1));
    trace.events();
    // Live messages do not extend the retransmission timeout.
    trace.at(13_000);
    trace.receive(&report(6));
    trace.at(13_999);
    assert!(trace.events().is_empty());
    trace.transmitted();
    trace.at(14_000);
    let stalled = format!("warning retransmission of 2 to 4 of {UUID} stalled");
    assert_eq!(trace.events(), [stalled]);
    assert_eq!(trace.sent(), ["Retransmit 2 count 3"]);
    for (number, seconds) in (7..).zip([24, 34, 44]) {
        trace.receive(&report(number));
        trace.at(seconds * 1_000);
        let sent = trace.sent();
        let asked = sent.iter().any(|line| line.starts_with("Retransmit"));
        assert_eq!(asked, seconds < 44, "{sent:?}");
    }
    let stalled = format!("error messages 2 to 4 of {UUID} did not arrive after retries");
    assert!(trace.events().contains(&stalled));
    assert_eq!(trace.session.state(), State::Terminating);
    assert_eq!(trace.session.progress().next_incoming, 2, "a resume requests again");
}

impl Trace {
    /// Loses the connection and resumes the session after message `published` was published.
    fn resume(&mut self, published: u32) {
        self.disconnect();
        self.connect(Binding::Resume);
        let ack = Ack { next_seq_no: published + 1, previous: (UUID, published), ..self.ack() };
        self.receive(&establishment_ack(&ack));
        assert_eq!(self.session.state(), State::Established);
    }

    /// Receives live messages up to `published`, but no retransmitted ones.
    fn receive_only_live_messages(&mut self, published: &mut u32) {
        let millis = (self.now.monotonic - Instant::from_nanos(5)).as_millis();
        for later in [10_000, 20_000, 30_000] {
            self.transmitted();
            *published += 1;
            self.receive(&report(*published));
            self.at(millis + later);
        }
    }
}

#[test]
fn stalled_previous_uuid_is_requested_on_the_next_connection() {
    let progress = Progress { uuid: 7, next_incoming: 3, ..Progress::default() };
    let mut trace = Trace::established_after(progress, (7, 4));
    let mut published = 0;
    trace.receive_only_live_messages(&mut published);
    let stalled = "error messages 3 to 4 of 7 did not arrive after retries".to_string();
    assert!(trace.events().contains(&stalled));
    trace.assert_fault(23);
    assert_eq!(trace.session.inbound_counters().lost, 0);
    trace.resume(published);
    assert_eq!(trace.sent(), ["Retransmit 3 count 2 of 7"]);
    trace.events();
    trace.receive(&range(|number| again_of(7, number), 3, 4));
    assert_eq!(trace.events(), news(3, 4));
}

#[test]
fn previous_uuid_is_lost_on_the_third_connection() {
    let progress = Progress { uuid: 7, next_incoming: 3, ..Progress::default() };
    let mut trace = Trace::established_after(progress, (7, 4));
    let mut published = 0;
    for _ in 0..2 {
        trace.receive_only_live_messages(&mut published);
        trace.assert_fault(23);
        trace.resume(published);
    }
    trace.receive_only_live_messages(&mut published);
    let events = trace.events();
    assert_eq!(events.last().unwrap(), "lost 3 to 4 of 7");
    assert_eq!(trace.session.state(), State::Established);
    assert_eq!(trace.session.inbound_counters().lost, 2);
    assert_eq!(trace.sent(), ["Sequence 1", "Retransmit 1 count 6"]);
    trace.receive(&range(again, 1, 6));
    assert_eq!(trace.events(), news(1, 9), "held messages are delivered");
}

#[test]
fn current_uuid_is_never_lost_by_timeouts() {
    let mut trace = Trace::established();
    let mut published = 3;
    trace.receive(&report(3));
    for _ in 0..4 {
        trace.receive_only_live_messages(&mut published);
        trace.assert_fault(23);
        trace.resume(published);
    }
    assert_eq!(trace.sent(), [format!("Retransmit 1 count {published}")]);
    assert_eq!(trace.session.inbound_counters().lost, 0);
}

#[test]
fn progress_resets_the_connection_limit() {
    let progress = Progress { uuid: 7, next_incoming: 3, ..Progress::default() };
    let mut trace = Trace::established_after(progress, (7, 4));
    let mut published = 0;
    trace.receive_only_live_messages(&mut published);
    trace.resume(published);
    trace.receive_only_live_messages(&mut published);
    trace.resume(published);
    trace.transmitted();
    trace.receive(&again_of(7, 3));
    trace.events();
    trace.receive_only_live_messages(&mut published);
    trace.receive_only_live_messages(&mut published);
    let stalled = "error messages 4 to 4 of 7 did not arrive after retries".to_string();
    let events = trace.events();
    assert!(events.contains(&stalled) && events.iter().all(|line| !line.starts_with("lost")));
    trace.resume(published);
    assert_eq!(trace.sent(), ["Retransmit 4 count 1 of 7"]);
}

#[test]
fn stall_with_a_short_timeout_loses_nothing() {
    let timeout = Duration::from_millis(100);
    let policy = SessionPolicy { retransmission_timeout: timeout, ..SessionPolicy::default() };
    let progress = Progress { uuid: 7, next_incoming: 3, ..Progress::default() };
    let mut trace = Trace::with_policy(progress, policy);
    trace.connect(Binding::New);
    let requested = trace.sent_request();
    trace.receive(&negotiation_response(UUID, requested));
    let ack = Ack { previous: (7, 4), ..trace.ack() };
    trace.receive(&establishment_ack(&ack));
    for millis in [100, 200, 300] {
        assert_eq!(trace.session.state(), State::Established);
        assert_eq!(trace.sent(), ["Retransmit 3 count 2 of 7"]);
        trace.at(millis);
    }
    trace.assert_fault(23);
    trace.resume(0);
    assert_eq!(trace.sent(), ["Retransmit 3 count 2 of 7"]);
    assert_eq!(trace.session.inbound_counters().lost, 0);
}

#[test]
fn final_reject_loses_messages_and_delivers_the_rest() {
    for code in [1, 6, 7, 8, 9] {
        let mut trace = Trace::missing_2_and_3();
        trace.receive(&retransmit_reject(trace.stamp(), code));
        let rejected = format!("rejected request 2 to 3 of {UUID}: {}", RetransmitRejectCode(code));
        let lost = format!("lost 2 to 3 of {UUID}");
        assert_eq!(trace.events(), [&rejected, &lost, "new 4"]);
        trace.receive(&report(5));
        assert_eq!(trace.events(), ["new 5"]);
        assert!(trace.sent().is_empty());
    }
}

#[test]
fn temporary_reject_is_retried_later() {
    for code in [2, 3, 4, 77] {
        let mut trace = Trace::missing_2_and_3();
        trace.at(1_000);
        trace.receive(&retransmit_reject(trace.stamp(), code));
        let rejected = format!("rejected request 2 to 3 of {UUID}: {}", RetransmitRejectCode(code));
        assert_eq!(trace.events(), [rejected]);
        trace.at(10_999);
        trace.receive(&report(5));
        assert_eq!(trace.sent(), ["Sequence 1"]);
        trace.at(11_000);
        assert_eq!(trace.sent(), ["Retransmit 2 count 2"]);
        trace.receive(&range(again, 2, 3));
        assert_eq!(trace.events(), news(2, 5));
    }
}

#[test]
fn shorter_announcement_shortens_the_request() {
    let mut trace = Trace::established();
    trace.receive(&report(10));
    trace.transmitted();
    trace.receive(&retransmission(None, trace.stamp(), 1, 4));
    trace.receive(&range(again, 1, 4));
    assert_eq!(trace.sent(), ["Retransmit 5 count 5"]);
    trace.receive(&retransmission(None, trace.stamp(), 5, 0));
    assert_eq!(trace.sent(), ["Retransmit 5 count 5"]);
}

#[test]
fn ignores_announcements_of_other_messages() {
    let mut trace = Trace::established();
    trace.receive(&report(3));
    trace.transmitted();
    trace.events();
    let stamp = trace.stamp();
    for (last_uuid, stamp, from) in [(None, stamp - 1, 1), (Some(7), stamp, 1), (None, stamp, 2)] {
        trace.receive(&retransmission(last_uuid, stamp, from, 2));
        assert_eq!(trace.events(), ["warning template 509 matches no pending request"]);
    }
    trace.receive(&frame(Retransmission509::ENCODED_LENGTH, |buffer| {
        let mut message = Retransmission509::encode(buffer).unwrap();
        // A response that presents the current UUID's messages as those of a previous UUID of
        // another session.
        message.set_uuid(UUID + 1).set_last_uuid(Some(UUID)).set_request_timestamp(stamp);
        message.set_from_seq_no(1).set_msg_count(2);
    }));
    assert_eq!(trace.events(), ["warning template 509 matches no pending request"]);
}

#[test]
fn retransmission_timeout_is_at_least_1_ms() {
    let policy =
        SessionPolicy { retransmission_timeout: Duration::ZERO, ..SessionPolicy::default() };
    let mut trace = Trace::with_policy(Progress::default(), policy);
    trace.connect(Binding::New);
    trace.log_on();
    trace.receive(&report(2));
    assert_eq!(trace.sent(), ["Retransmit 1 count 1"]);
    assert_eq!(trace.deadline_millis(), Some(1));
}

#[test]
fn gap_while_terminating_is_reported_only() {
    let mut trace = Trace::established();
    trace.session.terminate(trace.now);
    assert_eq!(trace.sent(), ["Terminate 0"]);
    trace.receive(&[report(1), report(4), report(5)].concat());
    let gap = format!("gap 2 to 3 of {UUID}");
    assert_eq!(trace.events(), ["state terminating", "new 1", &gap]);
    assert!(trace.sent().is_empty());
    assert_eq!(trace.session.inbound_counters().undelivered, 2);
    assert_eq!(trace.session.progress().next_incoming, 2, "missing messages can be requested");
}

#[test]
fn request_does_not_wait_for_a_sequence_or_follow_terminate() {
    let mut trace = Trace::established();
    trace.receive(&[sequence(UUID, 1, KeepAliveLapsed::LAPSED), report(3)].concat());
    assert_eq!(trace.sent(), ["Sequence 1", "Retransmit 1 count 2"]);
    let mut trace = Trace::established();
    trace.receive(&report(3));
    trace.session.terminate(trace.now);
    assert_eq!(trace.sent(), ["Terminate 0"]);
}

#[test]
fn callbacks_can_send_from_held_messages_too() {
    let mut trace = Trace::missing_2_and_3();
    trace.log.order_on = Some("new");
    trace.receive(&range(again, 2, 3));
    assert_eq!(trace.sent(), ["Order 1 id 1", "Order 2 id 1", "Order 3 id 1"]);
}

#[test]
fn hold_queue_is_cleared_between_connections() {
    let mut trace = Trace::missing_2_and_3();
    trace.disconnect();
    trace.connect(Binding::Resume);
    trace.events();
    let ack = Ack { next_seq_no: 5, ..trace.ack() };
    trace.receive(&establishment_ack(&ack));
    assert_eq!(trace.sent(), ["Retransmit 2 count 3"]);
    trace.events();
    trace.receive(&range(again, 2, 4));
    assert_eq!(trace.events(), news(2, 4));
}

#[test]
fn reject_of_a_previous_uuid_reclaims_no_number() {
    let progress = Progress { uuid: 7, next_incoming: 3, ..Progress::default() };
    let mut trace = Trace::established_after(progress, (7, 3));
    trace.send(1).unwrap();
    trace.transmitted();
    trace.receive(&frame(BusinessReject521::ENCODED_LENGTH, |buffer| {
        let mut message = BusinessReject521::encode(buffer).unwrap();
        message.set_uuid(7).set_seq_num(3).set_poss_retrans_flag(BooleanFlag::TRUE);
        message.set_business_reject_ref_id(1);
    }));
    assert_eq!(trace.events(), ["gap 3 to 3 of 7", "message 3 of 521"]);
    assert_eq!(trace.session.progress().next_outgoing, 2);
}
