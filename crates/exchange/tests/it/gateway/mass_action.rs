//! Mass actions: the canceled orders and their reports.

use hairpin_cme_codecs::ilink3::order_mass_action_report562::NoAffectedOrders;
use hairpin_cme_codecs::ilink3::{
    BusinessReject521, MassActionOrdTyp, MassActionResponse, MassActionScope, MassCancelTIF,
    OrderMassActionReport562, OrderMassActionRequest529Encoder, OrderTypeReq, SideNULL, SideReq,
    TimeInForce,
};
use hairpin_exchange::{ConnectionId, Owner, Side};
use hairpin_sbe::Decimal;

use super::harness::{Harness, UUID};
use crate::client::{Reply, mass_action_with, order, order_with, retransmit_request_of};
use crate::decode;

const TICK: i64 = 250_000_000;

/// Returns the ClOrdIDs and quantities that a report lists.
fn listed(reply: &Reply) -> Vec<(String, u32)> {
    let report = decode!(OrderMassActionReport562, reply);
    let (mut orders, mut scratch) = (report.no_affected_orders(), NoAffectedOrders::SCRATCH);
    let mut listed = Vec::new();
    while let Some(order) = orders.next(&mut scratch) {
        listed.push((order.orig_ci_ord_id().to_string(), order.cxl_quantity()));
    }
    listed
}

/// Creates orders 1 to 5 of the first session: to buy, to sell, GTC, of another
/// instrument, and a stop order; and one order of another session.
fn harness() -> (Harness, ConnectionId) {
    let mut harness = Harness::with_connections(3);
    let id = harness.connect();
    harness.log_on(id);
    let other = harness.connect();
    harness.log_on_by(other, ("OTHERKEY", "XYZ"));
    let price = harness.far_price();
    harness.send_one(other, &order(1, price));
    harness.send_one(id, &order(1, price));
    let sell = order_with(2, price + 200 * TICK, |order| {
        order.set_side(SideReq::SELL).set_order_qty(7);
    });
    harness.send_one(id, &sell);
    let good = order_with(3, price, |order| {
        order.set_time_in_force(TimeInForce::GOOD_TILL_CANCEL);
    });
    harness.send_one(id, &good);
    let elsewhere = order_with(4, TICK, |order| {
        order.set_security_id(1_002);
    });
    harness.send_one(id, &elsewhere);
    let stop = order_with(5, price + 300 * TICK, |order| {
        order.set_ord_type(OrderTypeReq::STOP_LIMIT).set_stop_px(Decimal(price + 300 * TICK));
    });
    harness.send_one(id, &stop);
    (harness, id)
}

/// Returns the number of remaining orders of the first session.
fn left(harness: &Harness) -> usize {
    let matching = harness.market.matching();
    let sides = [0, 1].into_iter().flat_map(|instrument| Side::BOTH.map(|side| (instrument, side)));
    let orders = sides.flat_map(|(instrument, side)| matching.orders(instrument, side));
    orders.filter(|order| order.owner == Owner(1)).count() + matching.stops().len()
}

type Change = fn(&mut OrderMassActionRequest529Encoder<'_>);

#[test]
fn cancels_selected_orders_only() {
    let cases: [(Change, &[&str]); 9] = [
        (|_| {}, &["1", "2", "3", "4", "5"]),
        (
            |request| {
                request.set_mass_action_scope(MassActionScope::INSTRUMENT).set_security_id(1_002);
            },
            &["4"],
        ),
        (
            |request| {
                request.set_mass_action_scope(MassActionScope::INSTRUMENT_GROUP);
                request.set_security_group("HP");
            },
            &["1", "2", "3", "4", "5"],
        ),
        (
            |request| {
                request.set_mass_action_scope(MassActionScope::MARKET_SEGMENT_ID);
                request.set_market_segment_id(64);
            },
            &["1", "2", "3", "4", "5"],
        ),
        (|request| drop_ref(request.set_side(SideNULL::SELL)), &["2"]),
        (|request| drop_ref(request.set_ord_type(MassActionOrdTyp::STOP_LIMIT)), &["5"]),
        (|request| drop_ref(request.set_ord_type(MassActionOrdTyp::LIMIT)), &["1", "2", "3", "4"]),
        (|request| drop_ref(request.set_time_in_force(MassCancelTIF::GOOD_TILL_CANCEL)), &["3"]),
        (|request| drop_ref(request.set_time_in_force(MassCancelTIF::GOOD_TILL_DATE)), &[]),
    ];
    for (change, names) in cases {
        let (mut harness, id) = harness();
        let reply = harness.send_one(id, &mass_action_with(6, change));
        let report = decode!(OrderMassActionReport562, reply);
        assert_eq!(report.mass_action_response(), MassActionResponse::ACCEPTED);
        assert_eq!(report.total_affected_orders() as usize, names.len());
        assert_eq!((report.last_fragment().0, report.mass_action_reject_reason()), (1, None));
        assert_eq!((report.order_request_id(), report.seq_num()), (7_006, 6));
        let mut orders: Vec<String> = listed(&reply).into_iter().map(|(name, _)| name).collect();
        orders.sort_unstable();
        assert_eq!(orders, names);
        assert_eq!(left(&harness), 5 - names.len());
        assert_eq!(harness.counters().cancelled as usize, names.len());
    }
}

fn drop_ref<T>(_: &mut T) {}

#[test]
fn rejected_mass_action_cancels_nothing() {
    let (mut harness, id) = harness();
    let cases: [(Change, u8); 4] = [
        (|request| drop_ref(request.set_mass_action_scope(MassActionScope::INSTRUMENT)), 1),
        (
            |request| {
                request.set_mass_action_scope(MassActionScope::INSTRUMENT).set_security_id(7);
            },
            1,
        ),
        (|request| drop_ref(request.set_mass_action_scope(MassActionScope::INSTRUMENT_GROUP)), 9),
        (|request| drop_ref(request.set_mass_action_scope(MassActionScope::QUOTE_SET_ID)), 0),
    ];
    for (number, (change, reason)) in (6..).zip(cases) {
        let reply = harness.send_one(id, &mass_action_with(number, change));
        let report = decode!(OrderMassActionReport562, reply);
        assert_eq!(report.mass_action_response(), MassActionResponse::REJECTED);
        assert_eq!(report.mass_action_reject_reason(), Some(reason));
        assert_eq!((report.total_affected_orders(), listed(&reply)), (0, Vec::new()));
    }
    let nameless = mass_action_with(10, |request| drop_ref(request.set_sender_id("")));
    let reply = harness.send_one(id, &nameless);
    assert_eq!(decode!(BusinessReject521, reply).ref_msg_type(), "CA");
    assert_eq!(left(&harness), 5);
    assert_eq!(harness.counters().mass_action_rejects, 4);
}

#[test]
fn splits_long_lists_over_several_reports() {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    for number in 1..=55 {
        let order = order_with(number, price, |order| {
            order.set_order_qty(number);
        });
        harness.send_one(id, &order);
    }
    let replies = harness.send(id, &mass_action_with(56, |_| {}));
    let fragments: Vec<(usize, u8, u32)> = replies
        .iter()
        .map(|reply| {
            let report = decode!(OrderMassActionReport562, reply);
            (listed(reply).len(), report.last_fragment().0, report.total_affected_orders())
        })
        .collect();
    assert_eq!(fragments, [(25, 0, 55), (25, 0, 55), (5, 1, 55)]);
    let mut all: Vec<(String, u32)> = replies.iter().flat_map(listed).collect();
    all.sort_unstable_by_key(|(_, quantity)| *quantity);
    let expected = (1..=55).map(|number: u32| (number.to_string(), number));
    assert!(all.into_iter().eq(expected));
    // The reports are stored like all others.
    let timestamp = harness.timestamp();
    let again = harness.send(id, &retransmit_request_of(UUID, timestamp, None, 56, 3));
    assert_eq!(again.len(), 4);
    assert_eq!(decode!(OrderMassActionReport562, again[1]).poss_retrans_flag().0, 1);
    assert_eq!(listed(&again[1]), listed(&replies[0]));
}

#[test]
fn full_list_fits_in_one_report_without_traded_orders() {
    let (mut harness, id) = Harness::established();
    let offer = harness.market.matching().best(0, Side::Offer).unwrap();
    let partly = order_with(1, offer.price.0, |order| {
        order.set_order_qty(offer.quantity + 3);
    });
    harness.send(id, &partly);
    let price = harness.far_price();
    for number in 2..=25 {
        harness.send_one(id, &order(number, price));
    }
    let reply = harness.send_one(id, &mass_action_with(26, |_| {}));
    assert_eq!(decode!(OrderMassActionReport562, reply).last_fragment().0, 1);
    let listed = listed(&reply);
    assert_eq!(listed.len(), 25);
    assert!(listed.contains(&("1".into(), 3)), "{listed:?}");
}
