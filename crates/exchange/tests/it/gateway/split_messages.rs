//! The safeguard against split messages.

use hairpin_cme_codecs::ilink3::{
    EstablishmentAck504, ExecutionReportNew522, NegotiationResponse501, SplitMsg,
};

use super::harness::{Harness, UUID};
use crate::client::{establish, negotiate, order};
use crate::decode;

fn harness() -> Harness {
    Harness::with(2, |settings| settings.split_queue_max = Some(3))
}

#[test]
fn answers_report_split_and_queued_messages() {
    let mut harness = harness();
    let id = harness.connect();
    let bytes = negotiate(UUID, harness.timestamp());
    assert_eq!(harness.send(id, &bytes[..20]), []);
    let reply = harness.send_one(id, &bytes[20..]);
    let split = decode!(NegotiationResponse501, reply).split_msg();
    assert_eq!(split, Some(SplitMsg::SPLIT_MESSAGE_DELAYED));
    let bytes = establish(UUID, harness.timestamp(), 1);
    let reply = harness.send_one(id, &bytes);
    assert_eq!(decode!(EstablishmentAck504, reply).split_msg(), None);

    let price = harness.far_price();
    let bytes: Vec<u8> = (1..=3).flat_map(|number| order(number, price)).collect();
    let middle = bytes.len() / 2;
    let mut replies = harness.send(id, &bytes[..middle]);
    replies.extend(harness.send(id, &bytes[middle..]));
    let splits: Vec<Option<SplitMsg>> =
        replies.iter().map(|reply| decode!(ExecutionReportNew522, reply).split_msg()).collect();
    let (split, complete) = (SplitMsg::SPLIT_MESSAGE_DELAYED, SplitMsg::COMPLETE_MESSAGE_DELAYED);
    assert_eq!(splits, [None, Some(split), Some(complete)]);
    let reply = harness.send_one(id, &order(4, price));
    assert_eq!(decode!(ExecutionReportNew522, reply).split_msg(), None);
}

#[test]
fn too_many_messages_behind_a_split_end_the_session() {
    for (behind, is_too_many) in [(3, false), (4, true)] {
        let mut harness = harness();
        let id = harness.connect();
        harness.log_on(id);
        let price = harness.far_price();
        let bytes: Vec<u8> = (1..=1 + behind).flat_map(|number| order(number, price)).collect();
        harness.send(id, &bytes[..50]);
        let replies = harness.send(id, &bytes[50..]);
        if is_too_many {
            harness.expect_terminate(id, &replies, 29);
        } else {
            assert_eq!(replies.len(), 4);
        }
    }
}

#[test]
fn reports_an_out_of_order_message_once() {
    let mut harness = harness();
    let id = harness.connect();
    harness.log_on(id);
    let price = harness.far_price();
    harness.gateway.set_out_of_order(id);
    let bytes = [order(1, price), order(2, price)].concat();
    let mut replies = harness.send(id, &bytes);
    replies.extend(harness.send(id, &order(3, price)));
    let splits: Vec<Option<SplitMsg>> =
        replies.iter().map(|reply| decode!(ExecutionReportNew522, reply).split_msg()).collect();
    let (late, complete) =
        (SplitMsg::OUTOF_ORDER_MESSAGE_DELAYED, SplitMsg::COMPLETE_MESSAGE_DELAYED);
    assert_eq!(splits, [Some(late), Some(complete), None]);
}

#[test]
fn limit_of_0_ends_the_session_at_the_first_queued_message() {
    let mut harness = Harness::with(2, |settings| settings.split_queue_max = Some(0));
    let id = harness.connect();
    harness.log_on(id);
    let price = harness.far_price();
    let first = order(1, price);
    harness.send(id, &first[..50]);
    assert_eq!(harness.send_one(id, &first[50..]).template(), 522);
    let bytes = [order(2, price), order(3, price)].concat();
    harness.send(id, &bytes[..50]);
    let replies = harness.send(id, &bytes[50..]);
    harness.expect_terminate(id, &replies, 28);
}
