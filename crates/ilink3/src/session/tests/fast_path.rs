//! The fast-path and send-gate flags: the events that clear them and set them again.

use super::recovery::{again, news};
use super::replay::having_sent;
use super::*;

impl Trace {
    fn fast_path_armed(&self) -> bool {
        let fast_path_armed = self.session.outbound.fast_path_armed;
        assert!(!fast_path_armed || self.session.can_arm_fast_path());
        fast_path_armed
    }

    /// Returns `true` if a send must run `check_limits`.
    fn send_gated(&self) -> bool {
        self.session.outbound.send_gated
    }
}

#[test]
fn acknowledgment_arms_the_fast_path() {
    let mut trace = Trace::connected();
    assert!(!trace.fast_path_armed());
    trace.log_on();
    assert!(trace.fast_path_armed());
    trace.receive(&[report(1), sequence(UUID, 2, KeepAliveLapsed::NOT_LAPSED)].concat());
    assert!(trace.fast_path_armed());
    trace.disconnect();
    assert!(!trace.fast_path_armed());
}

#[test]
fn gap_disarms_the_fast_path_until_closed() {
    let mut trace = Trace::established();
    trace.receive(&[report(1), report(3), report(4)].concat());
    assert!(!trace.fast_path_armed());
    assert_eq!(trace.sent(), ["Retransmit 2 count 1"]);
    trace.receive(&retransmission(None, trace.stamp(), 2, 1));
    assert!(!trace.fast_path_armed());
    trace.receive(&[again(2), report(5)].concat());
    assert!(trace.fast_path_armed());
    trace.events();
    trace.receive(&report(6));
    assert_eq!(trace.events(), news(6, 6));
    trace.receive(&sequence(UUID, 9, KeepAliveLapsed::NOT_LAPSED));
    assert!(!trace.fast_path_armed(), "a Sequence says that 7 and 8 are missing");
}

#[test]
fn partial_frame_disarms_the_fast_path_until_complete() {
    let mut trace = Trace::established();
    let stream = [report(1), report(2)].concat();
    for cut in 1..stream.len() {
        let mut trace = Trace::established();
        trace.receive(&stream[..cut]);
        assert_eq!(trace.fast_path_armed(), cut == report(1).len(), "{cut}");
        trace.receive(&stream[cut..]);
        assert_eq!((trace.events(), trace.fast_path_armed()), (news(1, 2), true), "{cut}");
    }
    trace.receive(&stream);
    assert!(trace.fast_path_armed());
}

#[test]
fn terminate_in_a_callback_affects_the_next_message() {
    let mut trace = Trace::established();
    trace.log.terminate_on = Some("new");
    trace.receive(&[report(1), report(2)].concat());
    assert!(!trace.fast_path_armed());
    assert_eq!(trace.events(), ["new 1", "state terminating", "new 2"]);
}

#[test]
fn bytes_after_a_terminate_are_dropped_uncounted() {
    let mut trace = Trace::established();
    trace.receive(&[report(1), terminate(9, 4_711), report(2)].concat());
    let events = ["new 1", "state terminating", "terminated 9 so it is false"];
    assert_eq!(trace.events(), events);
    assert_eq!(trace.session.inbound_counters().bytes_discarded, 0);
    trace.receive(&report(2));
    assert!(trace.events().is_empty());
    assert_eq!(trace.session.inbound_counters().bytes_discarded, report(2).len() as u64);
}

#[test]
fn empty_input_reports_a_pending_state() {
    let mut trace = Trace::established();
    trace.session.terminate(trace.now);
    assert!(!trace.fast_path_armed());
    trace.receive(&[]);
    assert_eq!(trace.events(), ["state terminating"]);
}

#[test]
fn send_gate_closes_after_a_logon_and_with_a_throttle() {
    let mut trace = Trace::established();
    assert!(trace.send_gated());
    assert_eq!((trace.send(1), trace.send_gated()), (Ok(1), false));
    trace.session.set_throttle(Some(&Rates::default()));
    assert_eq!((trace.send(2), trace.send_gated()), (Ok(2), true));
    trace.session.set_throttle(None);
    assert_eq!((trace.send(3), trace.send_gated()), (Ok(3), false));
    trace.session.terminate(trace.now);
    assert_eq!(trace.send(4), Err(SendError::NotEstablished(State::Terminating)));
    assert!(trace.send_gated());
}

#[test]
fn replay_disarms_the_fast_path() {
    let mut trace = having_sent(3);
    assert!(trace.fast_path_armed() && !trace.send_gated());
    trace.sink.rejection = Some(OutboundError::WouldBlock { waiting: 9 });
    trace.receive(&not_applied(2, 2));
    assert!(!trace.fast_path_armed() && trace.send_gated());
    assert_eq!(trace.send(4), Err(SendError::Replaying));
    trace.sink.rejection = None;
    trace.at(1);
    assert_eq!(trace.sent(), ["Order 2 id 2", "Order 3 id 3"]);
    assert_eq!((trace.send(4), trace.send_gated()), (Ok(4), false));
    assert!(!trace.session.is_due(trace.now) && trace.fast_path_armed());
}
