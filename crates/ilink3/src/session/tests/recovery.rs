//! Missing messages: asked for, delivered in order, and given up.

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
    /// The RequestTimestamp of the request that was sent last.
    pub(super) fn stamp(&self) -> u64 {
        self.session.progress().request_timestamp
    }

    /// Message 1 was delivered, message 4 has come, 2 and 3 were asked for and announced.
    fn asked_for_2_and_3() -> Self {
        let mut trace = Trace::established();
        trace.receive(&[report(1), report(4)].concat());
        assert_eq!(trace.told(), ["new 1", &format!("gap 2 to 3 of {UUID}")]);
        assert_eq!(trace.sent(), ["Retransmit 2 count 2"]);
        trace.receive(&retransmission(None, trace.stamp(), 2, 2));
        trace
    }

    /// Established under a new UUID, when `previous` was published last; told is what is missing.
    pub(super) fn established_after(progress: Progress, previous: (u64, u32)) -> Self {
        let mut trace = Trace::with(progress);
        trace.connect(Binding::New);
        let requested = trace.sent_request();
        trace.receive(&negotiation_response(UUID, requested));
        let ack = Ack { previous, ..trace.ack() };
        trace.told();
        trace.receive(&establishment_ack(&ack));
        assert_eq!(trace.log.told.remove(0), "state established");
        trace
    }
}

#[test]
fn a_gap_is_asked_for_and_what_came_meanwhile_is_delivered_after_it() {
    let mut trace = Trace::asked_for_2_and_3();
    // Live messages come between those of the retransmission.
    trace.receive(&[again(2), report(5), again(3), report(6)].concat());
    assert_eq!(trace.told(), news(2, 6));
    let counters = *trace.session.inbound_counters();
    assert_eq!((counters.gaps, counters.gap_messages, counters.retransmitted), (1, 2, 2));
    assert_eq!((counters.held, counters.undelivered, counters.business_messages), (2, 0, 6));
    assert!(trace.sent().is_empty());
    assert_eq!(trace.deadline_millis(), Some(9_000), "nothing is awaited any more");
}

#[test]
fn a_request_names_the_present_uuid_and_has_a_timestamp_of_its_own() {
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
fn a_gap_in_a_sequence_is_asked_for_too() {
    let mut trace = Trace::established();
    trace.receive(&sequence(UUID, 3, KeepAliveLapsed::NOT_LAPSED));
    assert_eq!(trace.told(), [format!("gap 1 to 2 of {UUID}")]);
    assert_eq!(trace.sent(), ["Retransmit 1 count 2"]);
    trace.receive(&range(again, 1, 2));
    trace.receive(&[sequence(UUID, 3, KeepAliveLapsed::NOT_LAPSED), report(3)].concat());
    assert_eq!(trace.told(), news(1, 3));
}

#[test]
fn a_gap_in_the_acknowledgement_is_asked_for_too() {
    let progress = Progress { uuid: UUID, next_incoming: 3, ..Progress::default() };
    let mut trace = Trace::with(progress);
    trace.connect(Binding::Resume);
    trace.told();
    let ack = Ack { next_seq_no: 6, ..trace.ack() };
    trace.receive(&establishment_ack(&ack));
    assert_eq!(trace.told(), ["state established".to_string(), format!("gap 3 to 5 of {UUID}")]);
    assert_eq!(trace.sent(), ["Retransmit 3 count 3"]);
    trace.receive(&[report(6), range(again, 3, 5)].concat());
    assert_eq!(trace.told(), news(3, 6));
}

#[test]
fn a_large_gap_is_asked_for_in_batches_of_2500_one_at_a_time() {
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
    assert_eq!(trace.told()[1..], news(1, 6_002));
    assert_eq!(trace.session.outbound_counters().retransmit_requests, 3);
}

#[test]
fn what_an_earlier_uuid_misses_comes_before_all_of_the_present_one() {
    let progress = Progress { uuid: 7, next_incoming: 3, ..Progress::default() };
    let mut trace = Trace::established_after(progress, (7, 5));
    assert_eq!(trace.told(), ["gap 3 to 5 of 7"]);
    assert_eq!(trace.sent(), ["Retransmit 3 count 3 of 7"]);
    trace.receive(&retransmission(Some(7), trace.stamp(), 3, 3));
    trace.receive(&[report(1), again_of(7, 3), report(2), again_of(7, 4)].concat());
    assert_eq!(trace.told(), ["new 3", "new 4"]);
    trace.receive(&again_of(7, 5));
    assert_eq!(trace.told(), ["new 5", "new 1", "new 2"]);
    trace.receive(&report(3));
    assert_eq!(trace.told(), ["new 3"]);
    assert_eq!(trace.session.progress().earlier.first_missing(), None);
}

#[test]
fn uuid_0_holds_what_was_published_before_the_first_logon_of_the_week() {
    let mut trace = Trace::established_after(Progress::default(), (0, 2));
    assert_eq!(trace.told(), ["gap 1 to 2 of 0"]);
    assert_eq!(trace.sent(), ["Retransmit 1 count 2 of 0"]);
    trace.receive(&[report(1), again_of(0, 1), again_of(0, 2)].concat());
    assert_eq!(trace.told(), ["new 1", "new 2", "new 1"]);
    // At the next logon only what has been published since is missing.
    trace.disconnect();
    let kept = trace.session.progress();
    assert_eq!(kept.earlier.next_default, 3);
}

#[test]
fn a_gap_of_the_present_uuid_waits_for_those_of_earlier_ones() {
    let progress = Progress { uuid: 7, next_incoming: 3, ..Progress::default() };
    let mut trace = Trace::established_after(progress, (7, 3));
    assert_eq!(trace.sent(), ["Retransmit 3 count 1 of 7"]);
    trace.receive(&report(3));
    assert_eq!(trace.told(), ["gap 3 to 3 of 7", &format!("gap 1 to 2 of {UUID}")]);
    assert!(trace.sent().is_empty());
    trace.receive(&again_of(7, 3));
    assert_eq!(trace.sent(), ["Retransmit 1 count 2"]);
    trace.receive(&range(again, 1, 2));
    assert_eq!(trace.told(), ["new 3", "new 1", "new 2", "new 3"]);
}

#[test]
fn what_is_missing_outlives_the_connection_and_the_process() {
    let progress = Progress { uuid: 7, next_incoming: 3, ..Progress::default() };
    let mut trace = Trace::established_after(progress, (7, 5));
    trace.transmitted();
    trace.receive(&again_of(7, 3));
    let kept = trace.session.progress();
    let mut trace = Trace::with(kept);
    trace.connect(Binding::Resume);
    // Something was published under the present UUID since: the acknowledgement is silent on 7.
    let ack = Ack { previous: (UUID, 1), next_seq_no: 2, ..trace.ack() };
    trace.receive(&establishment_ack(&ack));
    assert_eq!(trace.sent(), ["Retransmit 4 count 2 of 7"]);
    trace.receive(&range(|number| again_of(7, number), 4, 5));
    assert_eq!(trace.sent(), ["Retransmit 1 count 1"]);
    trace.receive(&again(1));
    let told = trace.told();
    assert_eq!(told[told.len() - 3..], ["new 4", "new 5", "new 1"]);
}

#[test]
fn a_gap_within_a_retransmission_is_asked_for_again() {
    let mut trace = Trace::established();
    trace.receive(&report(6));
    trace.transmitted();
    trace.told();
    trace.receive(&[again(1), again(2), again(4)].concat());
    let early = format!("warning retransmitted 4 of {UUID} has others missing before it");
    assert_eq!(trace.told(), ["new 1", "new 2", &early]);
    assert!(trace.sent().is_empty(), "the retransmission goes on");
    trace.receive(&again(5));
    assert_eq!(trace.sent(), ["Retransmit 3 count 3"]);
    trace.told();
    trace.receive(&range(again, 3, 5));
    assert_eq!(trace.told(), news(3, 6));
}

#[test]
fn a_gap_within_the_messages_that_are_held_is_asked_for_too() {
    let mut trace = Trace::asked_for_2_and_3();
    trace.receive(&report(7));
    assert_eq!(trace.told(), [format!("gap 5 to 6 of {UUID}")]);
    trace.receive(&range(again, 2, 3));
    assert_eq!(trace.told(), news(2, 4));
    assert_eq!(trace.sent(), ["Retransmit 5 count 2"]);
    trace.receive(&range(again, 5, 6));
    assert_eq!(trace.told(), news(5, 7));
}

#[test]
fn what_finds_no_room_is_asked_for_later() {
    let one = report(1).len() + 2;
    let conduct = SessionPolicy { held_bytes: 2 * one, ..SessionPolicy::default() };
    let mut trace = Trace::conducted(Progress::default(), conduct);
    trace.connect(Binding::New);
    trace.log_on();
    trace.receive(&range(report, 2, 5));
    let full = "warning no room to hold 4 until what is missing before it has come";
    assert_eq!(trace.told(), [&format!("gap 1 to 1 of {UUID}"), full]);
    assert_eq!(trace.sent(), ["Retransmit 1 count 1"]);
    trace.receive(&again(1));
    assert_eq!(trace.told(), news(1, 3));
    assert_eq!(trace.sent(), ["Retransmit 4 count 2"]);
    trace.receive(&[again(4), report(6), again(5)].concat());
    assert_eq!(trace.told(), news(4, 6));
    assert_eq!(trace.session.inbound_counters().undelivered, 2);
}

#[test]
fn a_message_that_comes_twice_while_others_are_missing_is_a_low_number() {
    let mut trace = Trace::asked_for_2_and_3();
    trace.receive(&report(4));
    assert_eq!(trace.told()[0], "error SeqNum 4 where 5 was next");
    assert_eq!(trace.sent(), ["Terminate 11"]);
}

#[test]
fn a_next_number_below_what_is_held_is_a_low_number() {
    let mut trace = Trace::asked_for_2_and_3();
    trace.receive(&sequence(UUID, 4, KeepAliveLapsed::NOT_LAPSED));
    assert_eq!(trace.told()[0], "error NextSeqNo 4 where 5 was next");
}

#[test]
fn a_retransmission_that_comes_twice_is_delivered_once() {
    let mut trace = Trace::asked_for_2_and_3();
    trace.receive(&[range(again, 2, 3), range(again, 2, 4), report(5)].concat());
    let told = trace.told();
    let delivered: Vec<_> = told.iter().filter(|line| line.starts_with("new")).collect();
    assert_eq!(delivered, ["new 2", "new 3", "new 4", "new 5"]);
    assert_eq!(trace.session.inbound_counters().retransmissions_dropped, 3);
}

#[test]
fn a_message_of_an_earlier_uuid_that_is_not_marked_as_retransmitted_is_a_fault() {
    let progress = Progress { uuid: 7, next_incoming: 3, ..Progress::default() };
    let mut trace = Trace::established_after(progress, (7, 3));
    trace.transmitted();
    trace.receive(&report_of(7, 3, BooleanFlag::FALSE));
    assert_eq!(trace.sent(), ["Terminate 13"]);
}

#[test]
fn a_retransmission_that_stops_is_asked_for_again_and_then_given_up() {
    let mut trace = Trace::established();
    trace.receive(&report(5));
    trace.transmitted();
    trace.at(4_000);
    trace.receive(&again(1));
    trace.told();
    // Live traffic is no sign that the retransmission goes on.
    trace.at(13_000);
    trace.receive(&report(6));
    trace.at(13_999);
    assert!(trace.told().is_empty());
    trace.transmitted();
    trace.at(14_000);
    let stalled = format!("warning retransmission of 2 to 4 of {UUID} stands still");
    assert_eq!(trace.told(), [stalled]);
    assert_eq!(trace.sent(), ["Retransmit 2 count 3"]);
    for (number, seconds) in (7..).zip([24, 34, 44]) {
        trace.receive(&report(number));
        trace.at(seconds * 1_000);
        let sent = trace.sent();
        let asked = sent.iter().any(|line| line.starts_with("Retransmit"));
        assert_eq!(asked, seconds < 44, "{sent:?}");
    }
    let given_up = format!("error messages 2 to 4 of {UUID} did not come though asked for");
    assert!(trace.told().contains(&given_up));
    assert_eq!(trace.session.state(), State::Terminating);
    assert_eq!(trace.session.progress().next_incoming, 2, "resuming asks again");
}

impl Trace {
    /// The connection breaks, and the session is resumed when `published` was published.
    fn resume(&mut self, published: u32) {
        self.disconnect();
        self.connect(Binding::Resume);
        let ack = Ack { next_seq_no: published + 1, previous: (UUID, published), ..self.ack() };
        self.receive(&establishment_ack(&ack));
        assert_eq!(self.session.state(), State::Established);
    }

    /// Nothing of a retransmission comes while messages are published, until `published`.
    fn hear_live_messages_alone(&mut self, published: &mut u32) {
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
fn what_an_earlier_uuid_does_not_send_in_time_is_asked_for_on_another_connection() {
    let progress = Progress { uuid: 7, next_incoming: 3, ..Progress::default() };
    let mut trace = Trace::established_after(progress, (7, 4));
    let mut published = 0;
    trace.hear_live_messages_alone(&mut published);
    let given_up = "error messages 3 to 4 of 7 did not come though asked for".to_string();
    assert!(trace.told().contains(&given_up));
    assert_eq!(trace.sent(), ["Terminate 23"]);
    assert_eq!(trace.session.inbound_counters().lost, 0);
    trace.resume(published);
    assert_eq!(trace.sent(), ["Retransmit 3 count 2 of 7"]);
    trace.told();
    trace.receive(&range(|number| again_of(7, number), 3, 4));
    assert_eq!(trace.told(), news(3, 4));
}

#[test]
fn what_an_earlier_uuid_never_sends_is_lost_on_the_third_connection_and_the_session_goes_on() {
    let progress = Progress { uuid: 7, next_incoming: 3, ..Progress::default() };
    let mut trace = Trace::established_after(progress, (7, 4));
    let mut published = 0;
    for _ in 0..2 {
        trace.hear_live_messages_alone(&mut published);
        assert_eq!(trace.sent(), ["Terminate 23"]);
        trace.resume(published);
    }
    trace.hear_live_messages_alone(&mut published);
    let told = trace.told();
    assert_eq!(told.last().unwrap(), "lost 3 to 4 of 7");
    assert_eq!(trace.session.state(), State::Established);
    assert_eq!(trace.session.inbound_counters().lost, 2);
    assert_eq!(trace.sent(), ["Sequence 1", "Retransmit 1 count 6"]);
    trace.receive(&range(again, 1, 6));
    assert_eq!(trace.told(), news(1, 9), "what was held is delivered");
}

#[test]
fn under_the_present_uuid_time_loses_nothing_on_however_many_connections() {
    let mut trace = Trace::established();
    let mut published = 3;
    trace.receive(&report(3));
    for _ in 0..4 {
        trace.hear_live_messages_alone(&mut published);
        assert_eq!(trace.sent(), ["Terminate 23"]);
        trace.resume(published);
    }
    assert_eq!(trace.sent(), [format!("Retransmit 1 count {published}")]);
    assert_eq!(trace.session.inbound_counters().lost, 0);
}

#[test]
fn a_message_that_comes_allows_three_connections_again() {
    let progress = Progress { uuid: 7, next_incoming: 3, ..Progress::default() };
    let mut trace = Trace::established_after(progress, (7, 4));
    let mut published = 0;
    trace.hear_live_messages_alone(&mut published);
    trace.resume(published);
    trace.hear_live_messages_alone(&mut published);
    trace.resume(published);
    trace.transmitted();
    trace.receive(&again_of(7, 3));
    trace.told();
    trace.hear_live_messages_alone(&mut published);
    trace.hear_live_messages_alone(&mut published);
    let given_up = "error messages 4 to 4 of 7 did not come though asked for".to_string();
    let told = trace.told();
    assert!(told.contains(&given_up) && told.iter().all(|line| !line.starts_with("lost")));
    trace.resume(published);
    assert_eq!(trace.sent(), ["Retransmit 4 count 1 of 7"]);
}

#[test]
fn a_line_that_stands_still_ends_the_connection_and_loses_nothing_however_short_the_timeout() {
    let timeout = Duration::from_millis(100);
    let conduct = SessionPolicy { retransmission_timeout: timeout, ..SessionPolicy::default() };
    let progress = Progress { uuid: 7, next_incoming: 3, ..Progress::default() };
    let mut trace = Trace::conducted(progress, conduct);
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
    assert_eq!(trace.sent(), ["Terminate 23"]);
    trace.resume(0);
    assert_eq!(trace.sent(), ["Retransmit 3 count 2 of 7"]);
    assert_eq!(trace.session.inbound_counters().lost, 0);
}

#[test]
fn a_refusal_for_good_loses_the_messages_and_delivers_the_rest() {
    for code in [1, 6, 7, 8, 9] {
        let mut trace = Trace::asked_for_2_and_3();
        trace.receive(&retransmit_reject(trace.stamp(), code));
        let refused = format!("refused 2 to 3 of {UUID}: {}", RetransmitRejectCode(code));
        let lost = format!("lost 2 to 3 of {UUID}");
        assert_eq!(trace.told(), [&refused, &lost, "new 4"]);
        trace.receive(&report(5));
        assert_eq!(trace.told(), ["new 5"]);
        assert!(trace.sent().is_empty());
    }
}

#[test]
fn a_refusal_for_now_is_asked_again_after_a_while() {
    for code in [2, 3, 4, 77] {
        let mut trace = Trace::asked_for_2_and_3();
        trace.at(1_000);
        trace.receive(&retransmit_reject(trace.stamp(), code));
        let refused = format!("refused 2 to 3 of {UUID}: {}", RetransmitRejectCode(code));
        assert_eq!(trace.told(), [refused]);
        trace.at(10_999);
        trace.receive(&report(5));
        assert_eq!(trace.sent(), ["Sequence 1"]);
        trace.at(11_000);
        assert_eq!(trace.sent(), ["Retransmit 2 count 2"]);
        trace.receive(&range(again, 2, 3));
        assert_eq!(trace.told(), news(2, 5));
    }
}

#[test]
fn an_announcement_of_less_than_was_asked_for_ends_there() {
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
fn an_announcement_of_something_else_is_ignored() {
    let mut trace = Trace::established();
    trace.receive(&report(3));
    trace.transmitted();
    trace.told();
    let stamp = trace.stamp();
    for (last_uuid, stamp, from) in [(None, stamp - 1, 1), (Some(7), stamp, 1), (None, stamp, 2)] {
        trace.receive(&retransmission(last_uuid, stamp, from, 2));
        assert_eq!(trace.told(), ["warning template 509 answers no request of ours"]);
    }
    trace.receive(&frame(Retransmission509::ENCODED_LENGTH, |buffer| {
        let mut message = Retransmission509::encode(buffer).unwrap();
        // As if the present UUID's messages were those of an earlier one of another session.
        message.set_uuid(UUID + 1).set_last_uuid(Some(UUID)).set_request_timestamp(stamp);
        message.set_from_seq_no(1).set_msg_count(2);
    }));
    assert_eq!(trace.told(), ["warning template 509 answers no request of ours"]);
}

#[test]
fn a_retransmission_may_stand_still_for_a_millisecond_at_least() {
    let conduct =
        SessionPolicy { retransmission_timeout: Duration::ZERO, ..SessionPolicy::default() };
    let mut trace = Trace::conducted(Progress::default(), conduct);
    trace.connect(Binding::New);
    trace.log_on();
    trace.receive(&report(2));
    assert_eq!(trace.sent(), ["Retransmit 1 count 1"]);
    assert_eq!(trace.deadline_millis(), Some(1));
}

#[test]
fn a_gap_while_leaving_is_told_and_not_asked_for() {
    let mut trace = Trace::established();
    trace.session.terminate(trace.now);
    assert_eq!(trace.sent(), ["Terminate 0"]);
    trace.receive(&[report(1), report(4), report(5)].concat());
    let gap = format!("gap 2 to 3 of {UUID}");
    assert_eq!(trace.told(), ["state terminating", "new 1", &gap]);
    assert!(trace.sent().is_empty());
    assert_eq!(trace.session.inbound_counters().undelivered, 2);
    assert_eq!(trace.session.progress().next_incoming, 2, "what is missing can be asked for");
}

#[test]
fn a_request_waits_for_no_sign_of_life_and_follows_no_terminate() {
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
    let mut trace = Trace::asked_for_2_and_3();
    trace.log.order_on = Some("new");
    trace.receive(&range(again, 2, 3));
    assert_eq!(trace.sent(), ["Order 1 id 1", "Order 2 id 1", "Order 3 id 1"]);
}

#[test]
fn nothing_is_held_across_connections() {
    let mut trace = Trace::asked_for_2_and_3();
    trace.disconnect();
    trace.connect(Binding::Resume);
    trace.told();
    let ack = Ack { next_seq_no: 5, ..trace.ack() };
    trace.receive(&establishment_ack(&ack));
    assert_eq!(trace.sent(), ["Retransmit 2 count 3"]);
    trace.told();
    trace.receive(&range(again, 2, 4));
    assert_eq!(trace.told(), news(2, 4));
}

#[test]
fn a_refused_number_of_an_earlier_uuid_takes_none_of_this_one_back() {
    let progress = Progress { uuid: 7, next_incoming: 3, ..Progress::default() };
    let mut trace = Trace::established_after(progress, (7, 3));
    trace.send(1).unwrap();
    trace.transmitted();
    trace.receive(&frame(BusinessReject521::ENCODED_LENGTH, |buffer| {
        let mut message = BusinessReject521::encode(buffer).unwrap();
        message.set_uuid(7).set_seq_num(3).set_poss_retrans_flag(BooleanFlag::TRUE);
        message.set_business_reject_ref_id(1);
    }));
    assert_eq!(trace.told(), ["gap 3 to 3 of 7", "message 3 of 521"]);
    assert_eq!(trace.session.progress().next_outgoing, 2);
}
