//! Numbers of business messages: gaps and what becomes of them.

use hairpin_cme_codecs::ilink3::{KeepAliveLapsed, NotApplied513, RetransmitReject510};

use crate::bench::{Bench, UUID};
use crate::client::{Reply, establish, order, retransmit_request, sequence, terminate};
use crate::decode;

/// CME's four examples of NotApplied.
#[test]
fn counts_what_is_not_applied_through_the_new_message() {
    let not_applied = |reply: &Reply| {
        let message = decode!(NotApplied513, reply);
        (message.uuid(), message.from_seq_no(), message.msg_count())
    };
    let price = 0;
    // Establish 100 is reached by a Sequence, then a terminate and a new logon.
    let up_to_100 = |bench: &mut Bench, id| {
        assert_eq!(bench.send(id, &sequence(UUID, 100, KeepAliveLapsed::NOT_LAPSED)), []);
    };
    let again = |bench: &mut Bench, id, next| {
        bench.send(id, &terminate(UUID, 1, 0));
        assert!(bench.gateway.poll_action(&mut bench.notes).is_some());
        let id = bench.connect();
        let timestamp = bench.timestamp();
        (id, bench.send(id, &establish(UUID, timestamp, next)))
    };

    let (mut bench, id) = Bench::established();
    up_to_100(&mut bench, id);
    bench.send_one(id, &order(100, price));
    assert_eq!(not_applied(&bench.send_one(id, &order(110, price))), (UUID, 101, 10));

    let (mut bench, id) = Bench::established();
    up_to_100(&mut bench, id);
    assert_eq!(not_applied(&bench.send_one(id, &order(110, price))), (UUID, 100, 11));

    let (mut bench, id) = Bench::established();
    up_to_100(&mut bench, id);
    bench.send_one(id, &order(100, price));
    let (_, replies) = again(&mut bench, id, 110);
    assert_eq!((replies[0].template(), not_applied(&replies[1])), (504, (UUID, 101, 10)));

    let (mut bench, id) = Bench::established();
    up_to_100(&mut bench, id);
    let (id, _) = again(&mut bench, id, 100);
    let (_, replies) = again(&mut bench, id, 110);
    assert_eq!((replies[0].template(), not_applied(&replies[1])), (504, (UUID, 100, 11)));
}

#[test]
fn a_gap_is_filled_or_replayed_and_each_number_told_once() {
    let (mut bench, id) = Bench::established();
    let price = bench.far();
    let told = |reply: &Reply| {
        let message = decode!(NotApplied513, reply);
        (message.from_seq_no(), message.msg_count())
    };
    assert_eq!(bench.send_one(id, &order(1, price)).template(), 522);
    assert_eq!(told(&bench.send_one(id, &order(4, price))), (2, 3));
    assert_eq!(told(&bench.send_one(id, &order(5, price))), (5, 1));
    // A replay from the first missing number on.
    for number in 2..=5 {
        assert_eq!(bench.send_one(id, &order(number, price)).template(), 522);
    }
    // A gap once more, filled this time.
    assert_eq!(told(&bench.send_one(id, &order(9, price))), (6, 4));
    assert_eq!(bench.send(id, &sequence(UUID, 10, KeepAliveLapsed::NOT_LAPSED)), []);
    assert_eq!(bench.send_one(id, &order(10, price)).template(), 522);
    // A replay that leaves something out is told so again.
    assert_eq!(told(&bench.send_one(id, &order(14, price))), (11, 4));
    assert_eq!(bench.send_one(id, &order(11, price)).template(), 522);
    assert_eq!(told(&bench.send_one(id, &order(13, price))), (12, 2));
    let counters = bench.counters();
    assert_eq!((counters.not_applied, counters.gap_fills), (5, 1));
    assert_eq!(counters.orders, counters.acknowledgements);
}

/// A client that sends at once when it is established has named that number in Establish.
#[test]
fn what_is_told_with_the_establishment_is_not_told_again_when_the_next_message_comes() {
    let (mut bench, id) = Bench::established();
    let price = bench.far();
    bench.send_one(id, &order(1, price));
    bench.send(id, &terminate(UUID, 1, 0));
    assert!(bench.gateway.poll_action(&mut bench.notes).is_some());
    let (id, timestamp) = (bench.connect(), bench.timestamp());
    let told = |reply: &Reply| {
        let message = decode!(NotApplied513, reply);
        (message.from_seq_no(), message.msg_count())
    };
    let replies = bench.send(id, &establish(UUID, timestamp, 4));
    assert_eq!((replies[0].template(), told(&replies[1])), (504, (2, 3)));
    assert_eq!(told(&bench.send_one(id, &order(4, price))), (4, 1));
    assert_eq!(told(&bench.send_one(id, &order(5, price))), (5, 1));
}

#[test]
fn says_that_nothing_can_be_retransmitted() {
    let (mut bench, id) = Bench::established();
    let asked = bench.timestamp();
    let reply = bench.send_one(id, &retransmit_request(UUID, asked));
    let reject = decode!(RetransmitReject510, reply);
    assert_eq!((reject.uuid(), reject.request_timestamp(), reject.error_codes()), (UUID, asked, 0));
    assert_eq!(bench.counters().retransmit_rejects, 1);
}

/// A connection knows nothing of what the one before it was told.
#[test]
fn what_is_not_applied_is_told_anew_on_another_connection() {
    let (mut bench, id) = Bench::established();
    let price = bench.far();
    let told = |reply: &Reply| {
        let message = decode!(NotApplied513, reply);
        (message.from_seq_no(), message.msg_count())
    };
    assert_eq!(told(&bench.send_one(id, &order(10, price))), (1, 10));
    bench.gateway.handle_closed(id, &mut bench.notes);
    let (id, timestamp) = (bench.connect(), bench.timestamp());
    assert_eq!(bench.send_one(id, &establish(UUID, timestamp, 1)).template(), 504);
    assert_eq!(told(&bench.send_one(id, &order(12, price))), (1, 12));
}
