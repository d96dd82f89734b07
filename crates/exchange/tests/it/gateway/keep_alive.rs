//! Sequence messages in both directions.

use hairpin_cme_codecs::ilink3::{KeepAliveLapsed, Sequence506};
use hairpin_exchange::SessionState;
use hairpin_time::Duration;

use super::harness::{Harness, UUID};
use crate::client::sequence;
use crate::decode;

#[test]
fn keeps_a_quiet_session_alive_by_sequence() {
    let (mut harness, id) = Harness::established();
    for _ in 0..5 {
        harness.pass(Duration::from_secs(5));
        // The client has sent something, the gateway has not.
        assert_eq!(harness.send(id, &sequence(UUID, 1, KeepAliveLapsed::NOT_LAPSED)), []);
        assert_eq!(harness.timeout(id), []);
        let due = harness.now.monotonic + Duration::from_secs(5);
        assert_eq!(harness.gateway.poll_timeout(), Some(due));
        harness.pass(Duration::from_secs(5));
        let replies = harness.timeout(id);
        let message = decode!(Sequence506, replies[0]);
        assert_eq!((replies.len(), message.uuid(), message.next_seq_no()), (1, UUID, 1));
        assert_eq!(message.keep_alive_interval_lapsed(), KeepAliveLapsed::NOT_LAPSED);
    }
    assert_eq!(harness.counters().lapses, 0);
}

#[test]
fn warns_then_terminates_a_silent_client() {
    let (mut harness, id) = Harness::established();
    harness.pass(Duration::from_secs(10));
    let replies = harness.timeout(id);
    assert_eq!(replies.len(), 1);
    let message = decode!(Sequence506, replies[0]);
    assert_eq!(message.keep_alive_interval_lapsed(), KeepAliveLapsed::LAPSED);
    harness.pass(Duration::from_nanos(9_999_999_999));
    assert_eq!(harness.timeout(id), []);
    harness.pass(Duration::from_nanos(1));
    let replies = harness.timeout(id);
    harness.expect_terminate(id, &replies, 20);
    assert_eq!((harness.counters().lapses, harness.counters().terminates), (1, 1));
}

#[test]
fn client_that_answers_the_warning_stays_connected() {
    let (mut harness, id) = Harness::established();
    for _ in 0..3 {
        harness.pass(Duration::from_secs(10));
        assert_eq!(harness.timeout(id).len(), 1);
        harness.pass(Duration::from_secs(9));
        harness.send(id, &sequence(UUID, 1, KeepAliveLapsed::NOT_LAPSED));
    }
    assert_eq!(harness.gateway.state(id), SessionState::Established);
}

#[test]
fn answers_a_lapse() {
    let (mut harness, id) = Harness::established();
    let reply = harness.send_one(id, &sequence(UUID, 1, KeepAliveLapsed::LAPSED));
    let message = decode!(Sequence506, reply);
    assert_eq!(message.keep_alive_interval_lapsed(), KeepAliveLapsed::NOT_LAPSED);
}
