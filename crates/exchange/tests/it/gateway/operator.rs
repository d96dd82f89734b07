//! Fields of single messages: operator, party list, and the id of the order.

use hairpin_cme_codecs::ilink3::{
    BusinessReject521, ExecutionReportCancel534, ExecutionReportModify531, ExecutionReportNew522,
    OrderCancelReject535, OrderMassActionReport562,
};
use hairpin_exchange::Venue;

use super::harness::Harness;
use crate::client::{
    Definition, Reply, cancel, cancel_with, definition, mass_action_with, order, order_with,
    replace_with,
};
use crate::decode;

/// Encodes an order of this operator.
fn order_by(harness: &Harness, number: u32, operator: &str) -> Vec<u8> {
    order_with(number, harness.far_price(), |order| {
        order.set_sender_id(operator);
    })
}

fn reject_fields(reply: &Reply) -> (u16, Option<u16>) {
    let reject = decode!(BusinessReject521, reply);
    (reject.business_reject_reason(), reject.ref_tag_id())
}

#[test]
fn operator_and_party_list_belong_to_the_message() {
    let (mut harness, id) = Harness::established();
    harness.send_one(id, &definition(&Definition { number: 1, ..Definition::new(7) }));
    for (number, operator, list) in [(2, "ALICE", 1), (3, "BOB", 7), (4, "ALICE", 7)] {
        let order = order_with(number, harness.far_price(), |order| {
            order.set_sender_id(operator).set_party_details_list_req_id(list);
        });
        let reply = harness.send_one(id, &order);
        let report = decode!(ExecutionReportNew522, reply);
        assert_eq!(
            (report.sender_id().to_string(), report.party_details_list_req_id()),
            (operator.into(), list)
        );
    }
    // A cancel by another operator is reported under that one.
    let by_bob = cancel_with(5, None, |cancel| {
        cancel.set_cl_ord_id("2").set_sender_id("BOB");
    });
    let reply = harness.send_one(id, &by_bob);
    assert_eq!(decode!(ExecutionReportCancel534, reply).sender_id(), "BOB");
}

#[test]
fn operator_has_the_audit_trails_format() {
    let (mut harness, id) = Harness::established();
    let cases = [
        ("ABCdef0123456789_-", None),
        (":@.+", None),
        ("ABCdef0123456789_-x", Some(101)),
        ("TRADER 1", Some(101)),
        ("TRADER/1", Some(101)),
        ("", Some(5)),
    ];
    for (number, (operator, reason)) in (1..).zip(cases) {
        let order = order_by(&harness, number, operator);
        let reply = harness.send_one(id, &order);
        match reason {
            None => assert_eq!(reply.template(), 522, "{operator}"),
            Some(reason) => assert_eq!(reject_fields(&reply), (reason, Some(5_392)), "{operator}"),
        }
    }
    // Other requests have the same rule.
    let cancel = mass_action_with(7, |request| {
        request.set_sender_id("ABCdef0123456789_-x");
    });
    assert_eq!(reject_fields(&harness.send_one(id, &cancel)), (101, Some(5_392)));
}

#[test]
fn ebs_operator_has_three_characters_and_is_echoed_in_upper_case() {
    let mut harness = Harness::with(2, |settings| settings.venue = Venue::Ebs);
    let id = harness.connect();
    harness.log_on(id);
    for (number, operator) in [(1, "AB"), (2, "ABCD")] {
        let order = order_by(&harness, number, operator);
        assert_eq!(reject_fields(&harness.send_one(id, &order)), (101, Some(5_392)));
    }
    let order = order_by(&harness, 3, "aB1");
    let reply = harness.send_one(id, &order);
    assert_eq!(decode!(ExecutionReportNew522, reply).sender_id(), "AB1");
    let cancel = mass_action_with(4, |request| {
        request.set_sender_id("xyz");
    });
    let reply = harness.send_one(id, &cancel);
    assert_eq!(decode!(OrderMassActionReport562, reply).sender_id(), "XYZ");
}

#[test]
fn order_without_order_id_is_found_by_cl_ord_id() {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    let replies = [1, 2].map(|number| harness.send_one(id, &order(number, price)));
    let ids = replies.map(|reply| decode!(ExecutionReportNew522, reply).order_id());
    let replace = replace_with(3, None, price, |replace| {
        replace.set_cl_ord_id("2").set_order_qty(2);
    });
    let reply = harness.send_one(id, &replace);
    let report = decode!(ExecutionReportModify531, reply);
    assert_eq!((report.order_id(), report.leaves_qty()), (ids[1], 2));
    let by_name = |number, name: &'static str| {
        cancel_with(number, None, |cancel| {
            cancel.set_cl_ord_id(name);
        })
    };
    let reply = harness.send_one(id, &by_name(4, "1"));
    assert_eq!(decode!(ExecutionReportCancel534, reply).order_id(), ids[0]);
    // The order is no longer in the book; another session's order has that name too.
    let other = harness.connect();
    harness.log_on_by(other, ("OTHERKEY", "XYZ"));
    harness.send_one(other, &order(1, price));
    let reply = harness.send_one(id, &by_name(5, "1"));
    assert_eq!(decode!(OrderCancelReject535, reply).cxl_rej_reason(), 2_045);
}

#[test]
fn brokertec_requires_the_order_id() {
    let mut harness = Harness::with(2, |settings| settings.venue = Venue::BrokerTec);
    let id = harness.connect();
    harness.log_on(id);
    let price = harness.far_price();
    let reply = harness.send_one(id, &order(1, price));
    let order_id = decode!(ExecutionReportNew522, reply).order_id();
    let nameless = cancel_with(2, None, |cancel| {
        cancel.set_cl_ord_id("1");
    });
    assert_eq!(reject_fields(&harness.send_one(id, &nameless)), (5, Some(37)));
    let nameless = replace_with(3, None, price, |replace| {
        replace.set_cl_ord_id("1");
    });
    assert_eq!(reject_fields(&harness.send_one(id, &nameless)), (5, Some(37)));
    assert_eq!(harness.send_one(id, &cancel(4, order_id)).template(), 534);
}
