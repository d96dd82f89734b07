//! The safeguard against messages that come in pieces.

use hairpin_cme_codecs::ilink3::{
    EstablishmentAck504, ExecutionReportNew522, NegotiationResponse501, SplitMsg,
};

use crate::bench::{Bench, UUID};
use crate::client::{establish, negotiate, order};
use crate::decode;

fn bench() -> Bench {
    Bench::with(2, |settings| settings.split_queue_max = Some(3))
}

#[test]
fn answers_say_that_their_message_was_split_or_waited_behind_one() {
    let mut bench = bench();
    let id = bench.connect();
    let bytes = negotiate(UUID, bench.timestamp());
    assert_eq!(bench.send(id, &bytes[..20]), []);
    let reply = bench.send_one(id, &bytes[20..]);
    let split = decode!(NegotiationResponse501, reply).split_msg();
    assert_eq!(split, Some(SplitMsg::SPLIT_MESSAGE_DELAYED));
    let bytes = establish(UUID, bench.timestamp(), 1);
    let reply = bench.send_one(id, &bytes);
    assert_eq!(decode!(EstablishmentAck504, reply).split_msg(), None);

    let price = bench.far();
    let bytes: Vec<u8> = (1..=3).flat_map(|number| order(number, price)).collect();
    let middle = bytes.len() / 2;
    let mut replies = bench.send(id, &bytes[..middle]);
    replies.extend(bench.send(id, &bytes[middle..]));
    let splits: Vec<Option<SplitMsg>> =
        replies.iter().map(|reply| decode!(ExecutionReportNew522, reply).split_msg()).collect();
    let (split, complete) = (SplitMsg::SPLIT_MESSAGE_DELAYED, SplitMsg::COMPLETE_MESSAGE_DELAYED);
    assert_eq!(splits, [None, Some(split), Some(complete)]);
    let reply = bench.send_one(id, &order(4, price));
    assert_eq!(decode!(ExecutionReportNew522, reply).split_msg(), None);
}

#[test]
fn too_many_behind_a_split_one_end_the_session() {
    for (behind, is_too_many) in [(3, false), (4, true)] {
        let mut bench = bench();
        let id = bench.connect();
        bench.log_on(id);
        let price = bench.far();
        let bytes: Vec<u8> = (1..=1 + behind).flat_map(|number| order(number, price)).collect();
        bench.send(id, &bytes[..50]);
        let replies = bench.send(id, &bytes[50..]);
        if is_too_many {
            bench.expect_terminate(id, &replies, 29);
        } else {
            assert_eq!(replies.len(), 4);
        }
    }
}

#[test]
fn what_came_out_of_order_says_so_once() {
    let mut bench = bench();
    let id = bench.connect();
    bench.log_on(id);
    let price = bench.far();
    bench.gateway.set_out_of_order(id);
    let bytes = [order(1, price), order(2, price)].concat();
    let mut replies = bench.send(id, &bytes);
    replies.extend(bench.send(id, &order(3, price)));
    let splits: Vec<Option<SplitMsg>> =
        replies.iter().map(|reply| decode!(ExecutionReportNew522, reply).split_msg()).collect();
    let (late, complete) =
        (SplitMsg::OUTOF_ORDER_MESSAGE_DELAYED, SplitMsg::COMPLETE_MESSAGE_DELAYED);
    assert_eq!(splits, [Some(late), Some(complete), None]);
}

#[test]
fn where_none_may_wait_the_first_behind_a_split_one_ends_the_session() {
    let mut bench = Bench::with(2, |settings| settings.split_queue_max = Some(0));
    let id = bench.connect();
    bench.log_on(id);
    let price = bench.far();
    let first = order(1, price);
    bench.send(id, &first[..50]);
    assert_eq!(bench.send_one(id, &first[50..]).template(), 522);
    let bytes = [order(2, price), order(3, price)].concat();
    bench.send(id, &bytes[..50]);
    let replies = bench.send(id, &bytes[50..]);
    bench.expect_terminate(id, &replies, 28);
}
