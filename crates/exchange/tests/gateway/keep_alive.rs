//! Sequence, both ways.

use hairpin_cme_codecs::ilink3::{KeepAliveLapsed, Sequence506};
use hairpin_exchange::SessionState;
use hairpin_time::Duration;

use crate::bench::{Bench, UUID};
use crate::client::sequence;
use crate::decode;

#[test]
fn keeps_a_quiet_session_alive_by_sequence() {
    let (mut bench, id) = Bench::established();
    for _ in 0..5 {
        bench.pass(Duration::from_secs(5));
        // The client has spoken, the gateway has not.
        assert_eq!(bench.send(id, &sequence(UUID, 1, KeepAliveLapsed::NOT_LAPSED)), []);
        assert_eq!(bench.timeout(id), []);
        let due = bench.now.monotonic + Duration::from_secs(5);
        assert_eq!(bench.gateway.poll_timeout(), Some(due));
        bench.pass(Duration::from_secs(5));
        let replies = bench.timeout(id);
        let message = decode!(Sequence506, replies[0]);
        assert_eq!((replies.len(), message.uuid(), message.next_seq_no()), (1, UUID, 1));
        assert_eq!(message.keep_alive_interval_lapsed(), KeepAliveLapsed::NOT_LAPSED);
    }
    assert_eq!(bench.counters().lapses, 0);
}

#[test]
fn warns_a_silent_client_and_terminates_it_after_another_interval() {
    let (mut bench, id) = Bench::established();
    bench.pass(Duration::from_secs(10));
    let replies = bench.timeout(id);
    assert_eq!(replies.len(), 1);
    let message = decode!(Sequence506, replies[0]);
    assert_eq!(message.keep_alive_interval_lapsed(), KeepAliveLapsed::LAPSED);
    bench.pass(Duration::from_nanos(9_999_999_999));
    assert_eq!(bench.timeout(id), []);
    bench.pass(Duration::from_nanos(1));
    let replies = bench.timeout(id);
    bench.expect_terminate(id, &replies, 20);
    assert_eq!((bench.counters().lapses, bench.counters().terminates), (1, 1));
}

#[test]
fn a_client_that_answers_the_warning_stays() {
    let (mut bench, id) = Bench::established();
    for _ in 0..3 {
        bench.pass(Duration::from_secs(10));
        assert_eq!(bench.timeout(id).len(), 1);
        bench.pass(Duration::from_secs(9));
        bench.send(id, &sequence(UUID, 1, KeepAliveLapsed::NOT_LAPSED));
    }
    assert_eq!(bench.gateway.state(id), SessionState::Established);
}

#[test]
fn answers_a_lapse() {
    let (mut bench, id) = Bench::established();
    let reply = bench.send_one(id, &sequence(UUID, 1, KeepAliveLapsed::LAPSED));
    let message = decode!(Sequence506, reply);
    assert_eq!(message.keep_alive_interval_lapsed(), KeepAliveLapsed::NOT_LAPSED);
}
