//! Keep-alive in both directions.

use super::*;

#[test]
fn sends_a_sequence_before_the_interval_ends() {
    let mut trace = Trace::established();
    assert_eq!(trace.deadline_millis(), Some(9_000));
    trace.at(8_999);
    assert!(trace.sent().is_empty());
    trace.at(9_000);
    assert_eq!(trace.sent(), ["Sequence 1"]);
    assert!(trace.events().is_empty());
    // An order counts as a keep-alive.
    trace.receive(&sequence(UUID, 1, KeepAliveLapsed::NOT_LAPSED));
    trace.at(15_000);
    trace.send(1).unwrap();
    trace.at(18_000);
    assert_eq!(trace.sent(), ["Order 1 id 1"]);
    trace.receive(&report(1));
    trace.at(24_000);
    assert_eq!(trace.sent(), ["Sequence 2"]);
}

#[test]
fn queues_one_sequence_while_it_cannot_be_sent() {
    let mut trace = Trace::established();
    trace.at(9_000);
    // Nothing is transmitted, and the deadline does not repeat immediately.
    assert_eq!(trace.deadline_millis(), Some(11_000));
}

#[test]
fn silence_requests_a_sequence_then_gives_up() {
    let mut trace = Trace::established();
    trace.at(9_000);
    assert_eq!(trace.sent(), ["Sequence 1"]);
    assert_eq!(trace.deadline_millis(), Some(11_000));
    trace.at(10_999);
    assert!(trace.sent().is_empty() && trace.events().is_empty());
    trace.at(11_000);
    assert_eq!(trace.sent(), ["Sequence 1 lapsed"]);
    assert_eq!(trace.events(), ["warning nothing received for a keep-alive interval"]);
    trace.at(20_000);
    assert_eq!(trace.sent(), ["Sequence 1"]);
    trace.at(20_999);
    assert!(trace.events().is_empty());
    trace.at(21_000);
    let error = "error nothing received for two keep-alive intervals";
    assert_eq!(trace.events(), [error, "state terminating"]);
    trace.assert_fault(20);
    assert_eq!(trace.session.poll_action(), Some(Action::Close));
    let counters = trace.session.inbound_counters();
    assert_eq!((counters.silences, counters.keep_alive_lapses, counters.errors()), (0, 1, 1));
}

#[test]
fn any_message_ends_the_silence() {
    let mut trace = Trace::established();
    trace.at(11_000);
    trace.transmitted();
    trace.at(19_000);
    trace.receive(&report(1));
    assert_eq!(trace.session.inbound_counters().silences, 1);
    trace.events();
    trace.at(29_999);
    assert!(trace.events().is_empty());
    trace.at(30_000);
    assert_eq!(trace.events(), ["warning nothing received for a keep-alive interval"]);
    assert_eq!(trace.session.state(), State::Established);
}

#[test]
fn suspended_process_requests_before_giving_up() {
    let mut trace = Trace::established();
    trace.at(100_000);
    assert_eq!(trace.sent(), ["Sequence 1 lapsed"]);
    assert_eq!(trace.session.state(), State::Established);
    trace.at(110_000);
    trace.assert_fault(20);
}

#[test]
fn answers_a_lapsed_sequence() {
    let mut trace = Trace::established();
    trace.receive(&sequence(UUID, 1, KeepAliveLapsed::LAPSED));
    assert_eq!(trace.sent(), ["Sequence 1"]);
    trace.receive(&sequence(UUID, 1, KeepAliveLapsed::NOT_LAPSED));
    assert!(trace.sent().is_empty());
    assert_eq!(trace.session.inbound_counters().asked_for_life, 1);
}

#[test]
fn tolerates_sequences_at_the_end_of_each_interval() {
    let mut trace = Trace::established();
    for interval in 1..=5 {
        let end = interval * KEEP_ALIVE;
        trace.at(end);
        trace.at(end + 20);
        trace.receive(&sequence(UUID, 1, KeepAliveLapsed::NOT_LAPSED));
    }
    assert!(trace.events().is_empty());
}
