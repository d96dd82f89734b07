//! Ranges that the exchange cannot retransmit completely are halved until the missing numbers are
//! found.

use super::recovery::{again, again_of, news, range};
use super::*;
use crate::RetransmitRejectCode;

/// An exchange that retransmits requested ranges, except those with a number for which `is_missing`
/// returns `true`.
struct Exchange<F> {
    is_missing: F,
    /// The requested ranges: first and last number.
    requested: Vec<(u32, u32)>,
    code: u16,
}

impl<F: Fn(u32) -> bool> Exchange<F> {
    fn without(is_missing: F) -> Self {
        Self { is_missing, requested: Vec::new(), code: 0 }
    }

    /// Answers one request. Returns `false` if there was none.
    fn respond(&mut self, trace: &mut Trace) -> bool {
        let mut frames = trace.transmitted();
        frames.retain(|frame| describe(frame).starts_with("Retransmit"));
        let Some(frame) = frames.first() else { return false };
        assert_eq!(frames.len(), 1, "one at a time");
        decode!(frame => RetransmitRequest508 as request);
        let (from, count) = (request.from_seq_no(), request.msg_count());
        let (to, stamp) = (from + u32::from(count) - 1, request.request_timestamp());
        self.requested.push((from, to));
        if (from..=to).any(&self.is_missing) {
            trace.receive(&retransmit_reject(stamp, self.code));
            return true;
        }
        trace.receive(&retransmission(request.last_uuid(), stamp, from, count));
        let uuid = request.last_uuid().unwrap_or(UUID);
        trace.receive(&range(|number| again_of(uuid, number), from, to));
        true
    }

    fn respond_to_all(&mut self, trace: &mut Trace) {
        while self.respond(trace) {}
    }
}

impl Trace {
    /// Creates a session that has received message `next`; all messages before it are missing.
    fn missing_before(next: u32) -> Self {
        let mut trace = Trace::established();
        trace.receive(&report(next));
        trace.events();
        trace
    }

    /// Returns the events since the last call, without rejects.
    fn events_without_rejects(&mut self) -> Vec<String> {
        self.events().into_iter().filter(|line| !line.starts_with("rejected request")).collect()
    }
}

fn lost(from: u32, to: u32) -> String {
    format!("lost {from} to {to} of {UUID}")
}

#[test]
fn loses_only_the_missing_number_in_the_first_half() {
    let mut trace = Trace::missing_before(9);
    let mut exchange = Exchange::without(|number| number == 2);
    exchange.respond(&mut trace);
    let rejected = format!("rejected request 1 to 8 of {UUID}: {}", RetransmitRejectCode(0));
    assert_eq!(trace.events(), [rejected]);
    exchange.respond_to_all(&mut trace);
    let requested = [(1, 8), (1, 4), (1, 2), (1, 1), (2, 2), (3, 3), (4, 5), (6, 8)];
    assert_eq!(exchange.requested, requested);
    assert_eq!(trace.events_without_rejects(), [news(1, 1), vec![lost(2, 2)], news(3, 9)].concat());
    let counters = trace.session.inbound_counters();
    assert_eq!((counters.lost, counters.retransmit_rejects), (1, 4));
    assert_eq!(trace.deadline_millis(), Some(9_000), "no request is pending");
}

#[test]
fn loses_only_the_missing_number_in_the_second_half() {
    let mut trace = Trace::missing_before(9);
    let mut exchange = Exchange::without(|number| number == 7);
    // Messages published in the meantime are held.
    exchange.respond(&mut trace);
    trace.receive(&report(10));
    exchange.respond(&mut trace);
    trace.receive(&report(11));
    exchange.respond_to_all(&mut trace);
    assert_eq!(exchange.requested, [(1, 8), (1, 4), (5, 6), (7, 7), (8, 8)]);
    assert_eq!(
        trace.events_without_rejects(),
        [news(1, 6), vec![lost(7, 7)], news(8, 11)].concat()
    );
    assert_eq!(trace.session.inbound_counters().held, 3);
}

#[test]
fn loses_only_the_missing_number_in_the_middle_of_2500() {
    for code in [0, 5] {
        let mut trace = Trace::missing_before(2_501);
        let mut exchange = Exchange { code, ..Exchange::without(|number| number == 1_250) };
        exchange.respond_to_all(&mut trace);
        let events = [news(1, 1_249), vec![lost(1_250, 1_250)], news(1_251, 2_501)].concat();
        assert_eq!(trace.events_without_rejects(), events);
        let begun = [(1, 2_500), (1, 1_250), (1, 625), (626, 937), (938, 1_093), (1_094, 1_171)];
        assert_eq!(exchange.requested[..6], begun);
        assert_eq!(trace.session.inbound_counters().retransmit_rejects, 3);
        assert!(exchange.requested.len() < 30, "{:?}", exchange.requested);
    }
}

#[test]
fn gives_up_the_range_after_64_rejects() {
    let mut trace = Trace::missing_before(4_001);
    let mut exchange = Exchange::without(|number| number <= 2_500);
    exchange.respond_to_all(&mut trace);
    let singly: Vec<_> = (1..=52).map(|number| lost(number, number)).collect();
    let events = [singly, vec![lost(53, 2_500)], news(2_501, 4_001)].concat();
    assert_eq!(trace.events_without_rejects(), events);
    assert_eq!(exchange.requested.len(), 64 + 1);
    assert_eq!(exchange.requested[64], (2_501, 4_000));
    let counters = trace.session.inbound_counters();
    assert_eq!((counters.lost, counters.retransmit_rejects), (2_500, 64));
}

#[test]
fn earlier_rejects_do_not_count_in_a_later_recovery() {
    let mut trace = Trace::missing_before(4);
    let mut exchange = Exchange::without(|number| number == 3);
    exchange.respond_to_all(&mut trace);
    assert_eq!(exchange.requested, [(1, 3), (1, 1), (2, 2), (3, 3)]);
    trace.receive(&report(3_001));
    exchange.respond_to_all(&mut trace);
    assert_eq!(exchange.requested[4..], [(5, 2_504), (2_505, 3_000)]);
}

#[test]
fn loses_only_the_missing_number_of_a_previous_uuid() {
    let progress = Progress { uuid: 7, next_incoming: 3, ..Progress::default() };
    let mut trace = Trace::established_after(progress, (7, 12));
    let mut exchange = Exchange::without(|number| number == 4);
    exchange.respond(&mut trace);
    trace.receive(&[report(1), report(5)].concat());
    exchange.respond(&mut trace);
    let gaps = ["gap 3 to 12 of 7", &format!("gap 2 to 4 of {UUID}")];
    assert_eq!(trace.events_without_rejects(), gaps);
    while exchange.requested.last() != Some(&(12, 12)) {
        assert!(exchange.respond(&mut trace));
    }
    let lost = vec!["lost 4 to 4 of 7".to_string()];
    assert_eq!(
        trace.events_without_rejects(),
        [news(3, 3), lost, news(5, 12), news(1, 1)].concat()
    );
    assert_eq!(exchange.requested[..5], [(3, 12), (3, 7), (3, 4), (3, 3), (4, 4)]);
    assert_eq!(exchange.requested[5..], [(5, 5), (6, 7), (8, 11), (12, 12)]);
    assert_eq!(trace.sent(), ["Retransmit 2 count 3"], "the current UUID starts with a full chunk");
    trace.receive(&range(again, 2, 4));
    assert_eq!(trace.events(), news(2, 5));
}

#[test]
fn stalled_half_is_repeated_and_halving_continues() {
    let mut trace = Trace::missing_before(9);
    let mut exchange = Exchange::without(|number| number == 3);
    exchange.respond(&mut trace);
    assert_eq!(trace.sent(), ["Retransmit 1 count 4"]);
    trace.at(10_000);
    let stalled = format!("warning retransmission of 1 to 4 of {UUID} stalled");
    assert!(trace.events().contains(&stalled));
    assert_eq!(trace.sent(), ["Sequence 1", "Retransmit 1 count 4"]);
    trace.receive(&retransmit_reject(trace.stamp(), 0));
    // One message of a half has arrived when the retransmission stalls.
    assert_eq!(trace.sent(), ["Retransmit 1 count 2"]);
    trace.receive(&again(1));
    trace.at(20_000);
    assert_eq!(trace.sent(), ["Sequence 1", "Retransmit 2 count 1"]);
    trace.receive(&again(2));
    exchange.requested.clear();
    exchange.respond_to_all(&mut trace);
    assert_eq!(exchange.requested, [(3, 3), (4, 4), (5, 6), (7, 8)]);
    let events: Vec<_> = trace
        .events_without_rejects()
        .into_iter()
        .filter(|line| !line.starts_with("warn"))
        .collect();
    assert_eq!(events, [news(1, 2), vec![lost(3, 3)], news(4, 9)].concat());
}

#[test]
fn rejected_halves_are_not_failed_requests() {
    let mut trace = Trace::missing_before(9);
    let mut exchange = Exchange::without(|number| number == 1);
    for (number, seconds) in (10..).zip([10, 20]) {
        trace.transmitted();
        trace.receive(&report(number));
        trace.at(seconds * 1_000);
    }
    // A third request without progress would end the connection; this one is answered.
    exchange.respond(&mut trace);
    trace.transmitted();
    trace.receive(&report(12));
    trace.at(30_000);
    assert_eq!(trace.session.state(), State::Established);
    exchange.respond_to_all(&mut trace);
    assert_eq!(trace.session.progress().next_incoming, 13);
}

#[test]
fn rejected_range_is_not_lost_if_its_rest_arrives() {
    let mut trace = Trace::missing_before(4);
    assert_eq!(trace.sent(), ["Retransmit 1 count 3"]);
    // For example, retransmitted in response to an earlier request.
    trace.receive(&range(again, 1, 2));
    trace.receive(&retransmit_reject(trace.stamp(), 0));
    assert_eq!(trace.events_without_rejects(), news(1, 2));
    assert_eq!(trace.sent(), ["Retransmit 3 count 1"]);
    trace.receive(&retransmit_reject(trace.stamp(), 0));
    assert_eq!(trace.events_without_rejects(), [vec![lost(3, 3)], news(4, 4)].concat());
}

#[test]
fn terminate_in_the_reject_callback_ends_requests() {
    let mut trace = Trace::missing_before(9);
    trace.transmitted();
    trace.log.terminate_on = Some("rejected request");
    trace.receive(&retransmit_reject(trace.stamp(), 0));
    assert_eq!(trace.sent(), ["Terminate 0"]);
    assert_eq!(trace.session.progress().next_incoming, 1);
}
