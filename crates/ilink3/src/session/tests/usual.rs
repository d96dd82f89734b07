//! The flags that say that nothing is to be looked out for: who takes them back, and when they are
//! there again.

use super::recovery::{again, news};
use super::replay::having_sent;
use super::*;

impl Trace {
    fn is_usual(&self) -> bool {
        let is_usual = self.session.outbound.is_usual;
        assert!(!is_usual || self.session.is_as_usual());
        is_usual
    }

    /// Whether a send has to look closer.
    fn is_restrained(&self) -> bool {
        self.session.outbound.is_restrained
    }
}

#[test]
fn all_is_as_usual_with_the_acknowledgement() {
    let mut trace = Trace::connected();
    assert!(!trace.is_usual());
    trace.log_on();
    assert!(trace.is_usual());
    trace.receive(&[report(1), sequence(UUID, 2, KeepAliveLapsed::NOT_LAPSED)].concat());
    assert!(trace.is_usual());
    trace.disconnect();
    assert!(!trace.is_usual());
}

#[test]
fn what_is_missing_is_looked_out_for_until_it_is_there() {
    let mut trace = Trace::established();
    trace.receive(&[report(1), report(3), report(4)].concat());
    assert!(!trace.is_usual());
    assert_eq!(trace.sent(), ["Retransmit 2 count 1"]);
    trace.receive(&retransmission(None, trace.stamp(), 2, 1));
    assert!(!trace.is_usual());
    trace.receive(&[again(2), report(5)].concat());
    assert!(trace.is_usual());
    trace.told();
    trace.receive(&report(6));
    assert_eq!(trace.told(), news(6, 6));
    trace.receive(&sequence(UUID, 9, KeepAliveLapsed::NOT_LAPSED));
    assert!(!trace.is_usual(), "a Sequence says that 7 and 8 are missing");
}

#[test]
fn a_cut_frame_is_looked_out_for_until_it_is_whole() {
    let mut trace = Trace::established();
    let stream = [report(1), report(2)].concat();
    for cut in 1..stream.len() {
        let mut trace = Trace::established();
        trace.receive(&stream[..cut]);
        assert_eq!(trace.is_usual(), cut == report(1).len(), "{cut}");
        trace.receive(&stream[cut..]);
        assert_eq!((trace.told(), trace.is_usual()), (news(1, 2), true), "{cut}");
    }
    trace.receive(&stream);
    assert!(trace.is_usual());
}

#[test]
fn a_callback_that_terminates_is_noticed_by_the_next_message_of_the_same_read() {
    let mut trace = Trace::established();
    trace.log.terminate_on = Some("new");
    trace.receive(&[report(1), report(2)].concat());
    assert!(!trace.is_usual());
    assert_eq!(trace.told(), ["new 1", "state terminating", "new 2"]);
}

#[test]
fn what_comes_behind_a_terminate_in_one_read_is_dropped_and_does_not_count() {
    let mut trace = Trace::established();
    trace.receive(&[report(1), terminate(9, 4_711), report(2)].concat());
    let told = ["new 1", "state terminating", "terminated 9 so it is false"];
    assert_eq!(trace.told(), told);
    assert_eq!(trace.session.inbound_counters().bytes_discarded, 0);
    trace.receive(&report(2));
    assert!(trace.told().is_empty());
    assert_eq!(trace.session.inbound_counters().bytes_discarded, report(2).len() as u64);
}

#[test]
fn a_state_nobody_was_told_of_is_told_by_the_next_bytes_even_if_there_are_none() {
    let mut trace = Trace::established();
    trace.session.terminate(trace.now);
    assert!(!trace.is_usual());
    trace.receive(&[]);
    assert_eq!(trace.told(), ["state terminating"]);
}

#[test]
fn a_send_looks_closer_once_after_a_logon_and_always_with_a_limit() {
    let mut trace = Trace::established();
    assert!(trace.is_restrained());
    assert_eq!((trace.send(1), trace.is_restrained()), (Ok(1), false));
    trace.session.set_throttle(Some(&Rates::default()));
    assert_eq!((trace.send(2), trace.is_restrained()), (Ok(2), true));
    trace.session.set_throttle(None);
    assert_eq!((trace.send(3), trace.is_restrained()), (Ok(3), false));
    trace.session.terminate(trace.now);
    assert_eq!(trace.send(4), Err(SendError::NotEstablished(State::Terminating)));
    assert!(trace.is_restrained());
}

#[test]
fn while_messages_are_sent_again_nothing_is_as_usual() {
    let mut trace = having_sent(3);
    assert!(trace.is_usual() && !trace.is_restrained());
    trace.wire.refusal = Some(OutboundError::WouldBlock { waiting: 9 });
    trace.receive(&not_applied(2, 2));
    assert!(!trace.is_usual() && trace.is_restrained());
    assert_eq!(trace.send(4), Err(SendError::Replaying));
    trace.wire.refusal = None;
    trace.at(1);
    assert_eq!(trace.sent(), ["Order 2 id 2", "Order 3 id 3"]);
    assert_eq!((trace.send(4), trace.is_restrained()), (Ok(4), false));
    assert!(!trace.session.is_due(trace.now) && trace.is_usual());
}
