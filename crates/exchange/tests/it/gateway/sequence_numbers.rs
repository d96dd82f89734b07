//! Sequence numbers of business messages: gaps and NotApplied.

use hairpin_cme_codecs::ilink3::{KeepAliveLapsed, NotApplied513, RetransmitReject510};

use super::harness::{Harness, UUID};
use crate::client::{Reply, establish, order, retransmit_request, sequence, terminate};
use crate::decode;

/// CME's four examples of NotApplied.
#[test]
fn not_applied_count_includes_the_new_message() {
    let not_applied = |reply: &Reply| {
        let message = decode!(NotApplied513, reply);
        (message.uuid(), message.from_seq_no(), message.msg_count())
    };
    let price = 0;
    // SeqNum 100 at Establish is reached by a Sequence, then a Terminate and a new logon.
    let up_to_100 = |harness: &mut Harness, id| {
        assert_eq!(harness.send(id, &sequence(UUID, 100, KeepAliveLapsed::NOT_LAPSED)), []);
    };
    let again = |harness: &mut Harness, id, next| {
        harness.send(id, &terminate(UUID, 1, 0));
        assert!(harness.gateway.poll_action(&mut harness.listener).is_some());
        let id = harness.connect();
        let timestamp = harness.timestamp();
        (id, harness.send(id, &establish(UUID, timestamp, next)))
    };

    let (mut harness, id) = Harness::established();
    up_to_100(&mut harness, id);
    harness.send_one(id, &order(100, price));
    assert_eq!(not_applied(&harness.send_one(id, &order(110, price))), (UUID, 101, 10));

    let (mut harness, id) = Harness::established();
    up_to_100(&mut harness, id);
    assert_eq!(not_applied(&harness.send_one(id, &order(110, price))), (UUID, 100, 11));

    let (mut harness, id) = Harness::established();
    up_to_100(&mut harness, id);
    harness.send_one(id, &order(100, price));
    let (_, replies) = again(&mut harness, id, 110);
    assert_eq!((replies[0].template(), not_applied(&replies[1])), (504, (UUID, 101, 10)));

    let (mut harness, id) = Harness::established();
    up_to_100(&mut harness, id);
    let (id, _) = again(&mut harness, id, 100);
    let (_, replies) = again(&mut harness, id, 110);
    assert_eq!((replies[0].template(), not_applied(&replies[1])), (504, (UUID, 100, 11)));
}

#[test]
fn not_applied_reports_each_number_once() {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    let reported = |reply: &Reply| {
        let message = decode!(NotApplied513, reply);
        (message.from_seq_no(), message.msg_count())
    };
    assert_eq!(harness.send_one(id, &order(1, price)).template(), 522);
    assert_eq!(reported(&harness.send_one(id, &order(4, price))), (2, 3));
    assert_eq!(reported(&harness.send_one(id, &order(5, price))), (5, 1));
    // A replay from the first missing number.
    for number in 2..=5 {
        assert_eq!(harness.send_one(id, &order(number, price)).template(), 522);
    }
    // Another gap, filled this time.
    assert_eq!(reported(&harness.send_one(id, &order(9, price))), (6, 4));
    assert_eq!(harness.send(id, &sequence(UUID, 10, KeepAliveLapsed::NOT_LAPSED)), []);
    assert_eq!(harness.send_one(id, &order(10, price)).template(), 522);
    // A replay with a gap is reported again.
    assert_eq!(reported(&harness.send_one(id, &order(14, price))), (11, 4));
    assert_eq!(harness.send_one(id, &order(11, price)).template(), 522);
    assert_eq!(reported(&harness.send_one(id, &order(13, price))), (12, 2));
    let counters = harness.counters();
    assert_eq!((counters.not_applied, counters.gap_fills), (5, 1));
    assert_eq!(counters.orders, counters.acknowledgements);
}

/// The client sends its first message immediately after Establish, which named its number.
#[test]
fn gap_reported_at_establishment_is_not_repeated() {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    harness.send_one(id, &order(1, price));
    harness.send(id, &terminate(UUID, 1, 0));
    assert!(harness.gateway.poll_action(&mut harness.listener).is_some());
    let (id, timestamp) = (harness.connect(), harness.timestamp());
    let reported = |reply: &Reply| {
        let message = decode!(NotApplied513, reply);
        (message.from_seq_no(), message.msg_count())
    };
    let replies = harness.send(id, &establish(UUID, timestamp, 4));
    assert_eq!((replies[0].template(), reported(&replies[1])), (504, (2, 3)));
    assert_eq!(reported(&harness.send_one(id, &order(4, price))), (4, 1));
    assert_eq!(reported(&harness.send_one(id, &order(5, price))), (5, 1));
}

#[test]
fn rejects_retransmission_when_nothing_was_published() {
    let (mut harness, id) = Harness::established();
    let asked = harness.timestamp();
    let reply = harness.send_one(id, &retransmit_request(UUID, asked));
    let reject = decode!(RetransmitReject510, reply);
    assert_eq!((reject.uuid(), reject.request_timestamp(), reject.error_codes()), (UUID, asked, 0));
    assert_eq!(harness.counters().retransmit_rejects, 1);
}

/// A NotApplied on an earlier connection does not count.
#[test]
fn not_applied_is_repeated_on_another_connection() {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    let reported = |reply: &Reply| {
        let message = decode!(NotApplied513, reply);
        (message.from_seq_no(), message.msg_count())
    };
    assert_eq!(reported(&harness.send_one(id, &order(10, price))), (1, 10));
    harness.gateway.handle_closed(id, &mut harness.listener);
    let (id, timestamp) = (harness.connect(), harness.timestamp());
    assert_eq!(harness.send_one(id, &establish(UUID, timestamp, 1)).template(), 504);
    assert_eq!(reported(&harness.send_one(id, &order(12, price))), (1, 12));
}
