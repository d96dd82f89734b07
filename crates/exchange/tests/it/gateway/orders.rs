//! Rejected orders and cancels.

use hairpin_cme_codecs::ilink3::{
    BooleanNULL, BusinessReject521, ExecInst, ExecutionReportCancel534, ExecutionReportNew522,
    ExecutionReportReject523, ManualOrdIndReq, MassQuoteAck545, NewOrderSingle514,
    NewOrderSingle514Encoder, OrderCancelReject535, OrderTypeReq, ShortSaleType, SideReq,
    TimeInForce,
};
use hairpin_exchange::{BusinessReason, OrderReason, Side};
use hairpin_sbe::{Decimal, MessageHeader};

use super::harness::{Harness, UUID};
use crate::client::{
    QuoteEntry, cancel, cancel_with, frame, mass_action_with, mass_quote, order, order_with,
    replace_with,
};
use crate::decode;

type Order<'a> = NewOrderSingle514Encoder<'a>;
type Change = for<'a, 'b> fn(&'b mut Order<'a>) -> &'b mut Order<'a>;

/// Invalid orders cause a BusinessReject.
#[test]
fn rejects_invalid_orders_with_a_business_reject() {
    use BusinessReason::{
        EnumNotSupported, IncorrectDataFormat, Other, RequiredFieldMissing,
        UnknownPartyDetailsListReqId, ValueOutOfRange,
    };
    let cases: [(Change, BusinessReason, u16); 20] = [
        (|o| o.set_price(None), RequiredFieldMissing, 44),
        (|o| o.set_order_qty(100_000), ValueOutOfRange, 38),
        (|o| o.set_sender_id(""), RequiredFieldMissing, 5392),
        (|o| o.set_cl_ord_id(""), RequiredFieldMissing, 11),
        (|o| o.set_location(""), RequiredFieldMissing, 9537),
        (|o| o.set_cl_ord_id(b"\x07"), IncorrectDataFormat, 11),
        (|o| o.set_side(SideReq(0)), EnumNotSupported, 54),
        (|o| o.set_side(SideReq::UNDISCLOSED), EnumNotSupported, 54),
        (|o| o.set_ord_type(OrderTypeReq(b'9')), EnumNotSupported, 40),
        (|o| o.set_time_in_force(TimeInForce(7)), EnumNotSupported, 59),
        (|o| o.set_stop_px(Decimal(1)), Other, 99),
        (|o| o.set_ord_type(OrderTypeReq::STOP_LIMIT), RequiredFieldMissing, 99),
        (|o| o.set_ord_type(OrderTypeReq::STOPWITH_PROTECTION), RequiredFieldMissing, 99),
        (|o| o.set_time_in_force(TimeInForce::GOOD_TILL_DATE), RequiredFieldMissing, 432),
        (|o| o.set_liquidity_flag(BooleanNULL(7)), EnumNotSupported, 9373),
        (|o| o.set_managed_order(BooleanNULL(7)), EnumNotSupported, 6881),
        (|o| o.set_short_sale_type(ShortSaleType(99)), EnumNotSupported, 5409),
        (|o| o.set_exec_inst(ExecInst::AON), Other, 18),
        (|o| o.set_party_details_list_req_id(2), UnknownPartyDetailsListReqId, 1505),
        (|o| o.set_party_details_list_req_id(u64::MAX), UnknownPartyDetailsListReqId, 1505),
    ];
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    let resting = harness.market.matching().resting();
    let count = cases.len() as u64;
    for (number, (change, reason, tag)) in (1..).zip(cases) {
        let request = order_with(number, price, |order| {
            change(order);
        });
        let reply = harness.send_one(id, &request);
        let reject = decode!(BusinessReject521, reply);
        assert_eq!(reject.business_reject_reason(), reason.code(), "order {number}");
        assert_eq!((reject.ref_tag_id(), reject.ref_seq_num()), (Some(tag), Some(number)));
        assert_eq!((reject.seq_num(), reject.uuid()), (number, UUID));
        assert_eq!(reject.ref_msg_type(), "D");
        assert_eq!(reject.business_reject_ref_id(), Some(u64::from(number) + 7_000));
        let call = harness.listener.0.pop().unwrap();
        assert_eq!(call, format!("rejected {reason:?} Some({tag})"));
    }
    assert_eq!(harness.market.matching().resting(), resting);
    let counters = harness.counters();
    assert_eq!((counters.orders, counters.business_rejects), (count, count));
    assert_eq!((counters.acknowledgements, counters.order_rejects), (0, 0));
}

/// Valid orders that this market rejects cause an ExecutionReportReject with the order's fields.
#[test]
fn rejects_unacceptable_orders_with_an_execution_report() {
    use OrderReason::{FieldIncorrect, Qualifier, Quantity, UnknownContract};
    let cases: [(Change, OrderReason); 11] = [
        (|o| o.set_security_id(5), UnknownContract),
        (|o| o.set_price(Decimal(1)), FieldIncorrect),
        (|o| o.set_price(Decimal(i64::MAX - 1)), FieldIncorrect),
        (|o| o.set_order_qty(0), Quantity),
        (|o| o.set_order_qty(10_001), Quantity),
        (|o| o.set_time_in_force(TimeInForce::GOOD_TILL_DATE).set_expire_date(1), Qualifier),
        (|o| o.set_time_in_force(TimeInForce::GOOD_FOR_SESSION), Qualifier),
        (|o| o.set_time_in_force(TimeInForce::FILL_OR_KILL).set_min_qty(2), Qualifier),
        (|o| o.set_time_in_force(TimeInForce::FILL_AND_KILL).set_min_qty(2), Qualifier),
        (|o| o.set_min_qty(2), Qualifier),
        (|o| o.set_expire_date(20_000), Qualifier),
    ];
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    let resting = harness.market.matching().resting();
    let count = cases.len() as u64;
    for (number, (change, reason)) in (1..).zip(cases) {
        let request = order_with(number, price, |order| {
            change(order);
        });
        let reply = harness.send_one(id, &request);
        let reject = decode!(ExecutionReportReject523, reply);
        assert_eq!(reject.ord_rej_reason(), reason.code(), "order {number}");
        assert_eq!(reject.text(), reason.text());
        assert_eq!((reject.seq_num(), reject.uuid(), reject.order_id()), (number, UUID, 0));
        assert_eq!(reject.cl_ord_id(), number.to_string().as_str());
        assert_eq!(reject.order_request_id(), u64::from(number) + 7_000);
        // The report repeats the fields of the order.
        let mut scratch = NewOrderSingle514::SCRATCH;
        let (header, body) = MessageHeader::decode(&request[4..]).unwrap();
        let sent = NewOrderSingle514::decode(&header, body, &mut scratch).unwrap();
        assert_eq!((reject.price(), reject.order_qty()), (sent.price(), sent.order_qty()));
        assert_eq!((reject.security_id(), reject.side()), (sent.security_id(), sent.side()));
        assert_eq!(reject.ord_type().map(|kind| kind.0), Some(sent.ord_type().0));
        assert_eq!(reject.time_in_force(), sent.time_in_force());
        assert_eq!((reject.min_qty(), reject.expire_date()), (sent.min_qty(), sent.expire_date()));
        let call = harness.listener.0.pop().unwrap();
        assert_eq!(call, format!("order rejected {number} {reason:?}"));
    }
    assert_eq!(harness.market.matching().resting(), resting);
    let counters = harness.counters();
    assert_eq!((counters.orders, counters.order_rejects), (count, count));
    assert_eq!((counters.acknowledgements, counters.business_rejects), (0, 0));
}

#[test]
fn null_time_in_force_means_day() {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    let request = order_with(1, price, |order| {
        order.set_time_in_force(None);
    });
    let reply = harness.send_one(id, &request);
    assert_eq!(decode!(ExecutionReportNew522, reply).time_in_force(), Some(TimeInForce::DAY));
}

#[test]
fn rejects_unsupported_and_undecodable_messages() {
    let (mut harness, id) = Harness::established();
    // ExecutionAck539 and SecurityDefinitionRequest560.
    for (number, template, length, offset, message_type) in
        [(1_u32, 539_u16, 101_usize, 17_usize, "BN"), (2, 560, 72, 17, "c")]
    {
        let mut message = vec![0; 8 + length];
        message[..2].copy_from_slice(&(length as u16).to_le_bytes());
        message[2..4].copy_from_slice(&template.to_le_bytes());
        message[4] = 8;
        message[6] = 9;
        message[8 + offset..][..4].copy_from_slice(&number.to_le_bytes());
        let reply = harness.send_one(id, &frame(&message));
        let reject = decode!(BusinessReject521, reply);
        assert_eq!((reject.business_reject_reason(), reject.ref_seq_num()), (3, Some(number)));
        assert_eq!(reject.ref_msg_type(), message_type);
    }
    // A truncated NewOrderSingle does not consume a sequence number.
    let price = harness.far_price();
    let cut = order(3, price)[4..60].to_vec();
    let reply = harness.send_one(id, &frame(&cut));
    let reject = decode!(BusinessReject521, reply);
    assert_eq!((reject.business_reject_reason(), reject.ref_seq_num()), (109, None));
    assert_eq!(harness.send_one(id, &order(3, price)).template(), 522);
}

#[test]
fn manual_order_indicator_must_be_0_or_1() {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    let of = |number, indicator| {
        order_with(number, price, |order| {
            order.set_manual_order_indicator(ManualOrdIndReq(indicator));
        })
    };
    assert_eq!(harness.send_one(id, &of(1, 1)).template(), 522);
    let all = mass_action_with(4, |request| {
        request.set_manual_order_indicator(ManualOrdIndReq(2));
    });
    for message in [of(2, 2), of(3, u8::MAX), all] {
        let reply = harness.send_one(id, &message);
        let reject = decode!(BusinessReject521, reply);
        assert_eq!((reject.business_reject_reason(), reject.ref_tag_id()), (115, Some(1_028)));
    }
    assert_eq!(harness.send_one(id, &of(5, 0)).template(), 522);
}

/// Undecoded fields are null, not 0, which could be one of the client's ids.
#[test]
fn business_reject_of_an_undecoded_message_has_null_fields() {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    let cut = |message: Vec<u8>| frame(&message[4..60]);
    // Of an ExecutionAck539 only the sequence number is decoded.
    let mut unsupported = vec![0; 8 + 101];
    unsupported[..8].copy_from_slice(&[101, 0, 27, 2, 8, 0, 9, 0]);
    unsupported[8 + 17..][..4].copy_from_slice(&1_u32.to_le_bytes());
    for (number, request) in [
        (None, cut(order(1, price))),
        (None, cut(replace_with(1, 5, price, |_| {}))),
        (None, cut(cancel(1, 5))),
        (Some(1), frame(&unsupported)),
    ] {
        let reply = harness.send_one(id, &request);
        let reject = decode!(BusinessReject521, reply);
        assert_eq!((reject.business_reject_ref_id(), reject.ref_seq_num()), (None, number));
        assert_eq!((reject.party_details_list_req_id(), reject.ref_tag_id()), (None, None));
        assert_eq!(reject.manual_order_indicator(), None);
        assert!(reject.sender_id().is_empty() && reject.location().is_empty());
    }
}

#[test]
fn rejects_cancels_of_unknown_and_foreign_orders() {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    let reply = harness.send_one(id, &cancel(1, 123_456));
    let reject = decode!(OrderCancelReject535, reply);
    assert_eq!((reject.cxl_rej_reason(), reject.order_id()), (2_045, 123_456));
    assert_eq!(reject.seq_num(), 1);
    assert_eq!(reject.cl_ord_id(), "1");

    // Without an OrderID, no order has this ClOrdID.
    let reply = harness.send_one(id, &cancel(2, None));
    let reject = decode!(OrderCancelReject535, reply);
    assert_eq!((reject.cxl_rej_reason(), reject.order_id()), (2_045, 0));

    // An order of the background flow.
    let house = harness.market.matching().orders_at_best(0, Side::Bid).next().unwrap().id;
    let resting = harness.market.matching().resting();
    let reply = harness.send_one(id, &cancel(3, house.0));
    assert_eq!(decode!(OrderCancelReject535, reply).cxl_rej_reason(), 2_048);
    assert_eq!(harness.market.matching().resting(), resting);

    // The same cancel twice.
    let reply = harness.send_one(id, &order(4, price));
    let order_id = decode!(ExecutionReportNew522, reply).order_id();
    assert_eq!(harness.send_one(id, &cancel(5, order_id)).template(), 534);
    assert_eq!(harness.send_one(id, &cancel(6, order_id)).template(), 535);
    let counters = harness.counters();
    assert_eq!((counters.cancels, counters.cancelled, counters.cancel_rejects), (5, 1, 4));
}

#[test]
fn quantity_99999_is_rejected_as_an_order() {
    let (mut harness, id) = Harness::established();
    let many = order_with(1, harness.far_price(), |order| {
        order.set_order_qty(99_999);
    });
    let reply = harness.send_one(id, &many);
    assert_eq!(decode!(ExecutionReportReject523, reply).ord_rej_reason(), 2_115);
}

#[test]
fn full_engine_rejects_orders_and_quotes() {
    let (mut harness, id) = Harness::established();
    let room = harness.market.matching().capacity() - harness.market.matching().resting();
    let price = harness.far_price();
    for number in 1..=room {
        assert_eq!(harness.send_one(id, &order(number, price)).template(), 522);
        harness.drain_feed();
    }
    let reply = harness.send_one(id, &order(room + 1, price));
    assert_eq!(decode!(ExecutionReportReject523, reply).ord_rej_reason(), 7_000);
    let entry = QuoteEntry { bid: (price, 1), ..QuoteEntry::default() };
    let reply = harness.send_one(id, &mass_quote(room + 2, &[entry]));
    assert_eq!(decode!(MassQuoteAck545, reply).quote_reject_reason(), Some(3));
}

#[test]
fn cancel_report_repeats_the_original_order_user() {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    let reply = harness.send_one(id, &order(1, price));
    let number = decode!(ExecutionReportNew522, reply).order_id();
    let by_another = cancel_with(2, number, |cancel| {
        cancel.set_orig_order_user("ORIGUSER");
    });
    let reply = harness.send_one(id, &by_another);
    assert_eq!(decode!(ExecutionReportCancel534, reply).orig_order_user(), "ORIGUSER");
}
