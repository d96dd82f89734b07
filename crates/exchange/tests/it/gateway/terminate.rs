//! The ends of sessions, and their codes.

use hairpin_cme_codecs::ilink3::{KeepAliveLapsed, Terminate507};
use hairpin_exchange::Action;

use super::harness::{Harness, START, UUID};
use crate::client::{
    Reply, establish, frame, negotiate, order, retransmit_request, sequence, terminate,
};
use crate::decode;

#[test]
fn terminates_with_cmes_codes_before_establish() {
    let price = 0;
    for (what, messages, code) in [
        ("an order before Negotiate", vec![order(1, price)], 2),
        ("a Sequence before Negotiate", vec![sequence(UUID, 1, KeepAliveLapsed::NOT_LAPSED)], 2),
        ("Establish before any Negotiate", vec![establish(UUID, START, 1)], 2),
        ("an order before Establish", vec![negotiate(UUID, START), order(1, price)], 3),
        ("Negotiate twice", vec![negotiate(UUID, START), negotiate(UUID + 1, START + 1)], 4),
        ("a UUID beyond CME's", vec![negotiate(u64::MAX - 1, START)], 13),
        ("no UUID", vec![negotiate(u64::MAX, START)], 15),
        ("another UUID", vec![negotiate(UUID, START), establish(UUID + 1, START + 1, 1)], 13),
        ("NextSeqNo not 1", vec![negotiate(UUID, START), establish(UUID, START + 1, 2)], 10),
        ("NextSeqNo 0", vec![negotiate(UUID, START), establish(UUID, START + 1, 0)], 10),
    ] {
        let mut harness = Harness::new();
        let id = harness.connect();
        let mut last = Vec::new();
        for message in &messages {
            last = harness.send(id, message);
        }
        harness.expect_terminate(id, &last, code);
        assert_eq!(harness.counters().terminates, 1, "{what}");
    }
}

/// No UUID is negotiated yet, so the message's own is the only one that its client knows.
#[test]
fn terminate_before_negotiation_repeats_the_messages_uuid() {
    let own = 77;
    for (what, message, uuid) in [
        ("a Sequence", sequence(own, 1, KeepAliveLapsed::NOT_LAPSED), own),
        ("an Establish", establish(own, START, 1), own),
        ("a Terminate", terminate(own, START, 0), own),
        ("a RetransmitRequest", retransmit_request(own, START), own),
        ("a Negotiate beyond CME's UUIDs", negotiate(u64::MAX - 1, START), u64::MAX - 1),
        ("an order, which has no UUID", order(1, 0), 0),
        ("a short Sequence", frame(&[14, 0, 0xFA, 1, 8, 0, 9, 0, 1, 2, 3]), 0),
    ] {
        let mut harness = Harness::new();
        let id = harness.connect();
        let replies = harness.send(id, &message);
        assert_eq!(decode!(Terminate507, replies.last().unwrap()).uuid(), uuid, "{what}");
    }
    // Once negotiated, it is the session's.
    let mut harness = Harness::new();
    let id = harness.connect();
    harness.send(id, &negotiate(UUID, START));
    let replies = harness.send(id, &sequence(own, 1, KeepAliveLapsed::NOT_LAPSED));
    assert_eq!(decode!(Terminate507, replies[0]).uuid(), UUID);
}

#[test]
fn terminates_with_cmes_codes_when_established() {
    let now = START + 2_000;
    let price = 0;
    for (what, message, code) in [
        ("Negotiate again", negotiate(UUID + 1, now), 4),
        ("Establish again", establish(UUID, now, 1), 6),
        ("a low number", order(0, price), 11),
        ("a number out of range", order(1_000_000_000, price), 11),
        ("Sequence of another UUID", sequence(UUID + 1, 1, KeepAliveLapsed::NOT_LAPSED), 13),
        ("Sequence too low", sequence(UUID, 0, KeepAliveLapsed::NOT_LAPSED), 10),
        ("Terminate with an error", terminate(UUID, now, 5), 23),
        ("Terminate of another UUID", terminate(UUID + 1, now, 0), 13),
        ("RetransmitRequest of another UUID", retransmit_request(UUID + 1, now), 13),
        ("an invalid length", vec![3, 0, 0xFE, 0xCA], 18),
        ("another encoding", vec![26, 0, 0xCA, 0xFE], 18),
        ("an unknown template", frame(&[0, 0, 1, 0, 8, 0, 9, 0]), 19),
        ("a message that only the gateway sends", frame(&[14, 0, 0xF5, 1, 8, 0, 9, 0]), 19),
        ("another schema", frame(&[14, 0, 0xFA, 1, 1, 0, 9, 0]), 19),
        ("a short Sequence", frame(&[14, 0, 0xFA, 1, 8, 0, 9, 0, 1, 2, 3]), 19),
    ] {
        let (mut harness, id) = Harness::established();
        let replies = harness.send(id, &message);
        harness.expect_terminate(id, &replies, code);
        let counters = harness.counters();
        assert_eq!(counters.terminates, 1, "{what}");
        assert_eq!(counters.bad_frames, u64::from(code == 18), "{what}");
        assert_eq!(counters.undecodable, u64::from(code == 19), "{what}");
    }
}

#[test]
fn sends_nothing_after_its_own_terminate() {
    for (what, message) in [
        ("an invalid length", vec![3, 0, 0xFE, 0xCA]),
        ("another encoding", vec![26, 0, 0xCA, 0xFE]),
        ("a short Terminate", frame(&[14, 0, 0xFB, 1, 8, 0, 9, 0, 1, 2, 3])),
        ("a Terminate of another schema", frame(&[14, 0, 0xFB, 1, 1, 0, 9, 0])),
    ] {
        let (mut harness, id) = Harness::established();
        harness.gateway.terminate(harness.now, id, &mut harness.listener);
        let replies = harness.send(id, &message);
        let templates: Vec<u16> = replies.iter().map(Reply::template).collect();
        assert_eq!(templates, [507], "{what}");
        assert_eq!(harness.counters().terminates, 0, "{what}");
        assert_eq!(harness.gateway.poll_action(&mut ()), Some(Action::Close(id)), "{what}");
    }
}
