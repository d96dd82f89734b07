//! Cancel-replace: the reports, their fields, the rejects.

use hairpin_cme_codecs::ilink3::{
    BusinessReject521, ExecInst, ExecutionReportCancel534, ExecutionReportElimination524,
    ExecutionReportModify531, ExecutionReportNew522, ExecutionReportTradeOutright525,
    OFMOverrideReq, OrderCancelReplaceReject536, OrderCancelReplaceRequest515Encoder, OrderType,
    OrderTypeReq, SideReq, TimeInForce,
};
use hairpin_exchange::{ConnectionId, OrderId, OrderReason, Side};
use hairpin_sbe::Decimal;

use super::harness::{Harness, UUID};
use crate::client::{cancel, order_with, replace_with};
use crate::decode;

const TICK: i64 = 250_000_000;

/// Creates an order to buy ten contracts far below the market. Returns its id and price.
fn with_order() -> (Harness, ConnectionId, u64, i64) {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    let reply = harness.send_one(
        id,
        &order_with(1, price, |order| {
            order.set_order_qty(10);
        }),
    );
    let order_id = decode!(ExecutionReportNew522, reply).order_id();
    harness.listener.0.clear();
    (harness, id, order_id, price)
}

#[test]
fn modify_report_has_the_new_terms() {
    let (mut harness, id, order_id, price) = with_order();
    let request = replace_with(2, order_id, price - TICK, |replace| {
        replace
            .set_order_qty(7)
            .set_sender_id("ANOTHER")
            .set_location("DE")
            .set_time_in_force(TimeInForce::GOOD_TILL_CANCEL);
    });
    let reply = harness.send_one(id, &request);
    let modified = decode!(ExecutionReportModify531, reply);
    assert_eq!((modified.seq_num(), modified.uuid()), (2, UUID));
    assert_eq!((modified.order_id(), modified.price()), (order_id, Decimal(price - TICK)));
    let quantities = (modified.order_qty(), modified.cum_qty(), modified.leaves_qty());
    assert_eq!(quantities, (7, 0, 7));
    assert_eq!(
        (modified.cl_ord_id().to_string(), modified.order_request_id()),
        ("2".into(), 7_002)
    );
    assert_eq!(modified.sender_id(), "ANOTHER");
    assert_eq!(modified.location(), "DE");
    assert_eq!((modified.security_id(), modified.side()), (1_001, SideReq::BUY));
    assert_eq!(modified.ord_type(), Some(OrderType::LIMIT));
    assert_eq!(modified.time_in_force(), Some(TimeInForce::GOOD_TILL_CANCEL));
    assert_eq!(
        (modified.min_qty(), modified.display_qty(), modified.stop_px()),
        (None, None, None)
    );
    assert_eq!(
        (modified.transact_time(), modified.poss_retrans_flag().0),
        (super::harness::START + 2_000, 0)
    );
    assert_eq!(harness.listener.0, ["replace 2", "replaced 2"]);
    // Later reports have the new ids and terms.
    let reply = harness.send_one(id, &cancel(3, order_id));
    let cancelled = decode!(ExecutionReportCancel534, reply);
    assert_eq!((cancelled.order_qty(), cancelled.price()), (7, Decimal(price - TICK)));
    assert_eq!(cancelled.time_in_force(), Some(TimeInForce::GOOD_TILL_CANCEL));
    let counters = harness.counters();
    assert_eq!((counters.replaces, counters.replaced, counters.replace_rejects), (1, 1, 0));
}

#[test]
fn crossing_replacement_is_reported_before_its_trades() {
    let (mut harness, id, order_id, _) = with_order();
    let best = harness.market.matching().best(0, Side::Offer).unwrap();
    let request = replace_with(2, order_id, best.price.0, |replace| {
        replace.set_order_qty(best.quantity + 1).set_time_in_force(TimeInForce::FILL_AND_KILL);
    });
    let replies = harness.send(id, &request);
    let modified = decode!(ExecutionReportModify531, replies[0]);
    assert_eq!((modified.cum_qty(), modified.leaves_qty()), (0, best.quantity + 1));
    let trade = decode!(ExecutionReportTradeOutright525, replies[1]);
    assert_eq!((trade.order_id(), trade.cl_ord_id().to_string()), (order_id, "2".into()));
    assert_eq!((trade.last_qty(), trade.leaves_qty()), (best.quantity, 1));
    let gone = decode!(ExecutionReportElimination524, replies[2]);
    assert_eq!((gone.cum_qty(), replies.len()), (best.quantity, 3));
}

/// Creates an order for ten contracts, of which the background flow has taken four.
fn with_fill() -> (Harness, ConnectionId, u64, i64) {
    let (mut harness, id) = Harness::established();
    let best = harness.market.matching().best(0, Side::Offer).unwrap();
    let quantity = best.quantity + 10;
    let request = order_with(1, best.price.0, |order| {
        order.set_order_qty(quantity);
    });
    let replies = harness.send(id, &request);
    let order_id = decode!(ExecutionReportNew522, replies[0]).order_id();
    let trade = decode!(ExecutionReportTradeOutright525, replies[1]);
    assert_eq!(trade.leaves_qty(), 10);
    (harness, id, order_id, best.price.0)
}

#[test]
fn replace_without_mitigation_sets_the_open_quantity() {
    let (mut harness, id, order_id, price) = with_fill();
    let traded = harness.market.matching().order(OrderId(order_id)).unwrap().traded;
    let request = replace_with(2, order_id, price, |replace| {
        replace.set_order_qty(3);
    });
    let reply = harness.send_one(id, &request);
    let modified = decode!(ExecutionReportModify531, reply);
    let quantities = (modified.order_qty(), modified.cum_qty(), modified.leaves_qty());
    assert_eq!(quantities, (3, traded, 3));
}

#[test]
fn replace_with_mitigation_subtracts_traded_contracts() {
    let mitigated = |quantity| {
        move |replace: &mut OrderCancelReplaceRequest515Encoder<'_>| {
            replace.set_order_qty(quantity).set_ofm_override(OFMOverrideReq::ENABLED);
        }
    };
    let (mut harness, id, order_id, price) = with_fill();
    let traded = harness.market.matching().order(OrderId(order_id)).unwrap().traded;
    let reply = harness.send_one(id, &replace_with(2, order_id, price, mitigated(traded + 2)));
    let modified = decode!(ExecutionReportModify531, reply);
    let quantities = (modified.order_qty(), modified.cum_qty(), modified.leaves_qty());
    assert_eq!(quantities, (traded + 2, traded, 2));
    // Mitigation cannot be disabled for this order any more.
    let reply = harness.send_one(id, &replace_with(3, order_id, price, |_| {}));
    assert_eq!(decode!(OrderCancelReplaceReject536, reply).cxl_rej_reason(), 2_101);
    harness.listener.0.clear();
    let reply = harness.send_one(id, &replace_with(4, order_id, price, mitigated(traded)));
    let cancelled = decode!(ExecutionReportCancel534, reply);
    assert_eq!((cancelled.order_id(), cancelled.cum_qty()), (order_id, traded));
    assert_eq!(cancelled.cl_ord_id(), "4");
    assert_eq!(harness.listener.0, ["replace 4", "canceled 4"]);
    assert!(harness.market.matching().order(OrderId(order_id)).is_none());
    assert_eq!(harness.counters().cancelled, 1);
}

type Replace<'a> = OrderCancelReplaceRequest515Encoder<'a>;
type Change = for<'a, 'b> fn(&'b mut Replace<'a>) -> &'b mut Replace<'a>;

#[test]
fn rejected_replacement_leaves_the_order() {
    use OrderReason::{
        FieldIncorrect, NotOnBook, OrderType, OtherContract, OtherSide, Qualifier, Quantity,
        UnknownContract,
    };
    let cases: [(Change, OrderReason); 10] = [
        (|r| r.set_order_id(99), NotOnBook),
        (|r| r.set_side(SideReq::SELL), OtherSide),
        (|r| r.set_security_id(1_002), OtherContract),
        (|r| r.set_security_id(5), UnknownContract),
        (|r| r.set_price(Decimal(1)), FieldIncorrect),
        (|r| r.set_order_qty(0), Quantity),
        (|r| r.set_order_qty(10_001), Quantity),
        (|r| r.set_ord_type(OrderTypeReq::STOP_LIMIT).set_stop_px(Decimal(0)), OrderType),
        (|r| r.set_time_in_force(TimeInForce::GOOD_TILL_DATE).set_expire_date(1), Qualifier),
        (|r| r.set_min_qty(2), Qualifier),
    ];
    let (mut harness, id, order_id, price) = with_order();
    let before = *harness.market.matching().order(OrderId(order_id)).unwrap();
    let count = cases.len() as u64;
    for (number, (change, reason)) in (2..).zip(cases) {
        let request = replace_with(number, order_id, price, |replace| {
            change(replace);
        });
        let reply = harness.send_one(id, &request);
        let reject = decode!(OrderCancelReplaceReject536, reply);
        assert_eq!(reject.cxl_rej_reason(), reason.code(), "{number}");
        assert_eq!(reject.text(), reason.text());
        assert_eq!(reject.cl_ord_id(), number.to_string().as_str());
        assert_eq!(reject.seq_num(), number);
        let call = harness.listener.0.pop().unwrap();
        assert_eq!(call, format!("replace rejected {number} {reason:?}"));
    }
    assert_eq!(harness.market.matching().order(OrderId(order_id)), Some(&before));
    assert_eq!(harness.counters().replace_rejects, count);
    // An order of the background flow.
    let house = harness.market.matching().orders_at_best(0, Side::Bid).next().unwrap().id;
    let reply = harness.send_one(id, &replace_with(12, house.0, price, |_| {}));
    let reject = decode!(OrderCancelReplaceReject536, reply);
    assert_eq!((reject.cxl_rej_reason(), reject.order_id()), (2_048, house.0));
}

#[test]
fn rejects_invalid_replacements_with_a_business_reject() {
    let cases: [(Change, u16, u16); 4] = [
        (|r| r.set_price(None), 5, 44),
        (|r| r.set_cl_ord_id(""), 5, 11),
        (|r| r.set_stop_px(Decimal(1)), 0, 99),
        (|r| r.set_exec_inst(ExecInst::AON), 0, 18),
    ];
    let (mut harness, id, order_id, price) = with_order();
    for (number, (change, reason, tag)) in (2..).zip(cases) {
        let request = replace_with(number, order_id, price, |replace| {
            change(replace);
        });
        let reply = harness.send_one(id, &request);
        let reject = decode!(BusinessReject521, reply);
        assert_eq!((reject.business_reject_reason(), reject.ref_tag_id()), (reason, Some(tag)));
        assert_eq!(reject.ref_msg_type(), "G");
    }
}
