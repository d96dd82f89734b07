//! Ranges that the exchange cannot send whole: halved until the numbers that are missing are found.

use super::recovery::{again, again_of, news, range};
use super::*;
use crate::RetransmitRejectCode;

/// An exchange that sends again what it is asked for, unless a number of it `is_gone`.
struct Exchange<F> {
    is_gone: F,
    /// What it was asked for: first and last number.
    asked: Vec<(u32, u32)>,
    code: u16,
}

impl<F: Fn(u32) -> bool> Exchange<F> {
    fn without(is_gone: F) -> Self {
        Self { is_gone, asked: Vec::new(), code: 0 }
    }

    /// Answers one request; whether there was one.
    fn answer(&mut self, trace: &mut Trace) -> bool {
        let mut frames = trace.transmitted();
        frames.retain(|frame| describe(frame).starts_with("Retransmit"));
        let Some(frame) = frames.first() else { return false };
        assert_eq!(frames.len(), 1, "one at a time");
        decode!(frame => RetransmitRequest508 as request);
        let (from, count) = (request.from_seq_no(), request.msg_count());
        let (to, stamp) = (from + u32::from(count) - 1, request.request_timestamp());
        self.asked.push((from, to));
        if (from..=to).any(&self.is_gone) {
            trace.receive(&retransmit_reject(stamp, self.code));
            return true;
        }
        trace.receive(&retransmission(request.last_uuid(), stamp, from, count));
        let uuid = request.last_uuid().unwrap_or(UUID);
        trace.receive(&range(|number| again_of(uuid, number), from, to));
        true
    }

    fn answer_all(&mut self, trace: &mut Trace) {
        while self.answer(trace) {}
    }
}

impl Trace {
    /// Message `next` has come, and all before it are missing.
    fn missing_before(next: u32) -> Self {
        let mut trace = Trace::established();
        trace.receive(&report(next));
        trace.told();
        trace
    }

    /// What the listener was told since the last look, refusals left out.
    fn told_but_refusals(&mut self) -> Vec<String> {
        self.told().into_iter().filter(|line| !line.starts_with("refused")).collect()
    }
}

fn lost(from: u32, to: u32) -> String {
    format!("lost {from} to {to} of {UUID}")
}

#[test]
fn a_number_missing_in_the_first_half_is_lost_alone() {
    let mut trace = Trace::missing_before(9);
    let mut exchange = Exchange::without(|number| number == 2);
    exchange.answer(&mut trace);
    let refused = format!("refused 1 to 8 of {UUID}: {}", RetransmitRejectCode(0));
    assert_eq!(trace.told(), [refused]);
    exchange.answer_all(&mut trace);
    let asked = [(1, 8), (1, 4), (1, 2), (1, 1), (2, 2), (3, 3), (4, 5), (6, 8)];
    assert_eq!(exchange.asked, asked);
    assert_eq!(trace.told_but_refusals(), [news(1, 1), vec![lost(2, 2)], news(3, 9)].concat());
    let counters = trace.session.inbound_counters();
    assert_eq!((counters.lost, counters.retransmit_rejects), (1, 4));
    assert_eq!(trace.deadline_millis(), Some(9_000), "nothing is awaited any more");
}

#[test]
fn a_number_missing_in_the_second_half_is_lost_alone() {
    let mut trace = Trace::missing_before(9);
    let mut exchange = Exchange::without(|number| number == 7);
    // What is published meanwhile waits.
    exchange.answer(&mut trace);
    trace.receive(&report(10));
    exchange.answer(&mut trace);
    trace.receive(&report(11));
    exchange.answer_all(&mut trace);
    assert_eq!(exchange.asked, [(1, 8), (1, 4), (5, 6), (7, 7), (8, 8)]);
    assert_eq!(trace.told_but_refusals(), [news(1, 6), vec![lost(7, 7)], news(8, 11)].concat());
    assert_eq!(trace.session.inbound_counters().held, 3);
}

#[test]
fn a_number_in_the_middle_of_2500_is_lost_alone() {
    for code in [0, 5] {
        let mut trace = Trace::missing_before(2_501);
        let mut exchange = Exchange { code, ..Exchange::without(|number| number == 1_250) };
        exchange.answer_all(&mut trace);
        let told = [news(1, 1_249), vec![lost(1_250, 1_250)], news(1_251, 2_501)].concat();
        assert_eq!(trace.told_but_refusals(), told);
        let begun = [(1, 2_500), (1, 1_250), (1, 625), (626, 937), (938, 1_093), (1_094, 1_171)];
        assert_eq!(exchange.asked[..6], begun);
        assert_eq!(trace.session.inbound_counters().retransmit_rejects, 3);
        assert!(exchange.asked.len() < 30, "{:?}", exchange.asked);
    }
}

#[test]
fn where_nothing_is_left_64_refusals_give_up_the_rest_of_the_range() {
    let mut trace = Trace::missing_before(4_001);
    let mut exchange = Exchange::without(|number| number <= 2_500);
    exchange.answer_all(&mut trace);
    let singly: Vec<_> = (1..=52).map(|number| lost(number, number)).collect();
    let told = [singly, vec![lost(53, 2_500)], news(2_501, 4_001)].concat();
    assert_eq!(trace.told_but_refusals(), told);
    assert_eq!(exchange.asked.len(), 64 + 1);
    assert_eq!(exchange.asked[64], (2_501, 4_000));
    let counters = trace.session.inbound_counters();
    assert_eq!((counters.lost, counters.retransmit_rejects), (2_500, 64));
}

#[test]
fn what_was_refused_before_does_not_count_in_a_later_recovery() {
    let mut trace = Trace::missing_before(4);
    let mut exchange = Exchange::without(|number| number == 3);
    exchange.answer_all(&mut trace);
    assert_eq!(exchange.asked, [(1, 3), (1, 1), (2, 2), (3, 3)]);
    trace.receive(&report(3_001));
    exchange.answer_all(&mut trace);
    assert_eq!(exchange.asked[4..], [(5, 2_504), (2_505, 3_000)]);
}

#[test]
fn a_number_missing_of_an_earlier_uuid_is_lost_alone() {
    let progress = Progress { uuid: 7, next_incoming: 3, ..Progress::default() };
    let mut trace = Trace::established_after(progress, (7, 12));
    let mut exchange = Exchange::without(|number| number == 4);
    exchange.answer(&mut trace);
    trace.receive(&[report(1), report(5)].concat());
    exchange.answer(&mut trace);
    let gaps = ["gap 3 to 12 of 7", &format!("gap 2 to 4 of {UUID}")];
    assert_eq!(trace.told_but_refusals(), gaps);
    while exchange.asked.last() != Some(&(12, 12)) {
        assert!(exchange.answer(&mut trace));
    }
    let lost = vec!["lost 4 to 4 of 7".to_string()];
    assert_eq!(trace.told_but_refusals(), [news(3, 3), lost, news(5, 12), news(1, 1)].concat());
    assert_eq!(exchange.asked[..5], [(3, 12), (3, 7), (3, 4), (3, 3), (4, 4)]);
    assert_eq!(exchange.asked[5..], [(5, 5), (6, 7), (8, 11), (12, 12)]);
    assert_eq!(trace.sent(), ["Retransmit 2 count 3"], "the present one begins with all at once");
    trace.receive(&range(again, 2, 4));
    assert_eq!(trace.told(), news(2, 5));
}

#[test]
fn a_half_that_stands_still_is_asked_for_again_and_halving_goes_on() {
    let mut trace = Trace::missing_before(9);
    let mut exchange = Exchange::without(|number| number == 3);
    exchange.answer(&mut trace);
    assert_eq!(trace.sent(), ["Retransmit 1 count 4"]);
    trace.at(10_000);
    let stalled = format!("warning retransmission of 1 to 4 of {UUID} stands still");
    assert!(trace.told().contains(&stalled));
    assert_eq!(trace.sent(), ["Sequence 1", "Retransmit 1 count 4"]);
    trace.receive(&retransmit_reject(trace.stamp(), 0));
    // One of a half has come when that stands still.
    assert_eq!(trace.sent(), ["Retransmit 1 count 2"]);
    trace.receive(&again(1));
    trace.at(20_000);
    assert_eq!(trace.sent(), ["Sequence 1", "Retransmit 2 count 1"]);
    trace.receive(&again(2));
    exchange.asked.clear();
    exchange.answer_all(&mut trace);
    assert_eq!(exchange.asked, [(3, 3), (4, 4), (5, 6), (7, 8)]);
    let told: Vec<_> =
        trace.told_but_refusals().into_iter().filter(|line| !line.starts_with("warn")).collect();
    assert_eq!(told, [news(1, 2), vec![lost(3, 3)], news(4, 9)].concat());
}

#[test]
fn halves_that_are_refused_do_not_add_up_to_requests_in_vain() {
    let mut trace = Trace::missing_before(9);
    let mut exchange = Exchange::without(|number| number == 1);
    for (number, seconds) in (10..).zip([10, 20]) {
        trace.transmitted();
        trace.receive(&report(number));
        trace.at(seconds * 1_000);
    }
    // The third request in vain would be given up: this one is answered.
    exchange.answer(&mut trace);
    trace.transmitted();
    trace.receive(&report(12));
    trace.at(30_000);
    assert_eq!(trace.session.state(), State::Established);
    exchange.answer_all(&mut trace);
    assert_eq!(trace.session.progress().next_incoming, 13);
}

#[test]
fn a_number_of_a_refused_range_is_not_lost_because_the_others_have_come() {
    let mut trace = Trace::missing_before(4);
    assert_eq!(trace.sent(), ["Retransmit 1 count 3"]);
    // Sent again by an answer to an earlier request, say.
    trace.receive(&range(again, 1, 2));
    trace.receive(&retransmit_reject(trace.stamp(), 0));
    assert_eq!(trace.told_but_refusals(), news(1, 2));
    assert_eq!(trace.sent(), ["Retransmit 3 count 1"]);
    trace.receive(&retransmit_reject(trace.stamp(), 0));
    assert_eq!(trace.told_but_refusals(), [vec![lost(3, 3)], news(4, 4)].concat());
}

#[test]
fn who_terminates_when_told_of_a_refusal_asks_for_nothing_more() {
    let mut trace = Trace::missing_before(9);
    trace.transmitted();
    trace.log.terminate_on = Some("refused");
    trace.receive(&retransmit_reject(trace.stamp(), 0));
    assert_eq!(trace.sent(), ["Terminate 0"]);
    assert_eq!(trace.session.progress().next_incoming, 1);
}
