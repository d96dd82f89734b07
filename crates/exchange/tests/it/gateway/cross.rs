//! Crosses: a buyer and a seller at one price.

use hairpin_cme_codecs::ilink3::{
    BusinessReject521, CrossTypeEnum, ExecutionReportElimination524, ExecutionReportNew522,
    ExecutionReportReject523, ExecutionReportTradeOutright525, SideReq, SideTimeInForce,
};
use hairpin_exchange::{ConnectionId, Owner, Side};
use hairpin_time::Duration;

use super::harness::Harness;
use super::quote_request::published;
use crate::client::{CrossSide, Reply, cross, cross_of, order_with, request_for_cross};
use crate::decode;

const TICK: i64 = 250_000_000;

fn side(side: SideReq, quantity: u32) -> CrossSide {
    let cl_ord_id = if side == SideReq::BUY { "BUYER" } else { "SELLER" };
    CrossSide { cl_ord_id, parties: 1, quantity, side, time: SideTimeInForce::DAY }
}

fn both(quantity: u32) -> [CrossSide; 2] {
    [side(SideReq::BUY, quantity), side(SideReq::SELL, quantity)]
}

/// Creates a session, and a price inside the spread, a tick above the best bid.
fn harness() -> (Harness, ConnectionId, i64) {
    let (harness, id) = Harness::established();
    let best = |side| harness.market.matching().best(0, side).unwrap().price.0;
    let price = best(Side::Bid) + TICK;
    assert!(price < best(Side::Offer));
    (harness, id, price)
}

fn own(harness: &Harness) -> usize {
    let matching = harness.market.matching();
    let orders = Side::BOTH.into_iter().flat_map(|side| matching.orders(0, side));
    orders.filter(|order| order.owner == Owner(1)).count()
}

fn templates(replies: &[Reply]) -> Vec<u16> {
    replies.iter().map(Reply::template).collect()
}

#[test]
fn cross_sides_trade_with_each_other() {
    let (mut harness, id, price) = harness();
    let replies = harness.send(id, &cross(1, price, &both(5)));
    assert_eq!(templates(&replies), [522, 522, 525, 525]);
    let names = ["BUYER", "SELLER"];
    for (reply, name) in replies.iter().zip(names) {
        let new = decode!(ExecutionReportNew522, reply);
        assert_eq!((new.cl_ord_id().to_string(), new.order_qty()), (name.into(), 5));
        assert_eq!((new.cross_id(), new.cross_type()), (Some(4_001), Some(3)));
        assert_eq!((new.order_request_id(), new.price().0), (7_001, price));
    }
    let mut traded = Vec::new();
    for reply in &replies[2..] {
        let trade = decode!(ExecutionReportTradeOutright525, reply);
        assert_eq!((trade.last_qty(), trade.leaves_qty(), trade.last_px().0), (5, 0, price));
        assert_eq!((trade.cross_id(), trade.cross_type()), (Some(4_001), Some(3)));
        traded.push(trade.cl_ord_id().to_string());
    }
    traded.sort_unstable();
    assert_eq!((traded, own(&harness)), (names.map(String::from).into(), 0));
    assert_eq!((harness.counters().crosses, harness.counters().acknowledgements), (1, 2));
}

#[test]
fn resting_orders_with_priority_trade_before_the_cross() {
    let (mut harness, id, price) = harness();
    let earlier = order_with(1, price, |order| {
        order.set_order_qty(2);
    });
    harness.send_one(id, &earlier);
    let replies = harness.send(id, &cross(2, price, &both(5)));
    // The seller first trades with the earlier order, then three contracts with the buyer.
    let sold: Vec<(String, u32)> = replies[2..]
        .iter()
        .map(|reply| {
            let trade = decode!(ExecutionReportTradeOutright525, reply);
            (trade.cl_ord_id().to_string(), trade.leaves_qty())
        })
        .collect();
    assert!(sold.contains(&("1".into(), 0)) && sold.contains(&("BUYER".into(), 2)), "{sold:?}");
    assert_eq!(own(&harness), 1);
}

#[test]
fn fill_and_kill_side_enters_second() {
    let (mut harness, id, price) = harness();
    let mut sides = both(5);
    sides[0].time = SideTimeInForce::FAK;
    let replies = harness.send(id, &cross(1, price, &sides));
    let first = decode!(ExecutionReportNew522, replies[0]);
    assert_eq!(first.cl_ord_id(), "SELLER");
    assert_eq!(templates(&replies), [522, 522, 525, 525]);
    // The buyer fills from an earlier offer, and the rest of the seller's order rests.
    let earlier = order_with(2, price, |order| {
        order.set_order_qty(2).set_side(SideReq::SELL);
    });
    harness.drain_feed();
    harness.send_one(id, &earlier);
    harness.drain_feed();
    harness.send(id, &cross(3, price, &sides));
    assert_eq!(own(&harness), 1);
    // A seller's fill-and-kill order: the unsold quantity is eliminated.
    harness.drain_feed();
    let buy = order_with(4, price, |order| {
        order.set_order_qty(2);
    });
    harness.send(id, &buy);
    harness.drain_feed();
    let mut sides = both(3);
    sides[1].time = SideTimeInForce::FAK;
    let low = price - 40 * TICK;
    let replies = harness.send(id, &cross(5, low, &sides));
    let gone = replies.iter().filter(|reply| reply.template() == 524);
    assert!(
        gone.map(|reply| decode!(ExecutionReportElimination524, reply).cum_qty()).all(|n| n < 3)
    );
}

#[test]
fn rejects_invalid_crosses_as_a_whole() {
    let (mut harness, id, price) = harness();
    let [buy, sell] = both(5);
    let of = |time| CrossSide { time, ..buy };
    let fak = SideTimeInForce::FAK;
    let cases: [(&[CrossSide], u16, Option<u16>); 10] = [
        (&[], 132, Some(54)),
        (&[buy], 132, Some(54)),
        (&[sell, buy], 132, Some(54)),
        (&[buy, buy], 132, Some(54)),
        (&[buy, sell, sell], 132, Some(54)),
        (&[buy, side(SideReq::SELL, 6)], 100, Some(38)),
        (&[buy, CrossSide { cl_ord_id: "", ..sell }], 5, Some(11)),
        (&[buy, CrossSide { parties: 9, ..sell }], 1, Some(1_505)),
        (&[of(SideTimeInForce(1)), sell], 115, Some(962)),
        (&[of(fak), CrossSide { time: fak, ..sell }], 0, Some(962)),
    ];
    for (number, (sides, reason, tag)) in (1..).zip(cases) {
        let reply = harness.send_one(id, &cross(number, price, sides));
        let reject = decode!(BusinessReject521, reply);
        assert_eq!((reject.business_reject_reason(), reject.ref_tag_id()), (reason, tag));
        assert_eq!(reject.ref_msg_type(), "s");
    }
    assert_eq!(own(&harness), 0);
    // Valid orders that this market rejects: each is rejected as an order.
    let replies = harness.send(id, &cross(11, price + 1, &both(5)));
    for (reply, name) in replies.iter().zip(["BUYER", "SELLER"]) {
        let reject = decode!(ExecutionReportReject523, reply);
        assert_eq!((reject.ord_rej_reason(), reject.cl_ord_id().to_string()), (1_011, name.into()));
    }
    assert_eq!((replies.len(), own(&harness)), (2, 0));
    assert_eq!(harness.counters().order_rejects, 2);
}

#[test]
fn request_for_cross_has_its_own_cross_type() {
    let (mut harness, id, price) = harness();
    for (number, kind) in [(1, CrossTypeEnum::CROSS), (2, CrossTypeEnum::R_CROSS)] {
        let replies = harness.send(id, &request_for_cross((number, 9), kind, price, &both(5)));
        assert_eq!(templates(&replies), [522, 522, 525, 525]);
        let new = decode!(ExecutionReportNew522, replies[1]);
        assert_eq!((new.cross_id(), new.cross_type()), (Some(9), Some(kind.0)));
        assert_eq!(
            (new.cl_ord_id().to_string(), new.order_request_id()),
            ("SELLER".into(), u64::from(number) + 7_000)
        );
        let trade = decode!(ExecutionReportTradeOutright525, replies[3]);
        assert_eq!((trade.cross_id(), trade.cross_type()), (Some(9), Some(kind.0)));
        assert_eq!((trade.last_px().0, trade.last_qty()), (price, 5));
        // The CrossID may be used again the next day.
        harness.pass(Duration::from_secs(86_400));
        harness.drain_feed();
    }
    assert_eq!(harness.counters().crosses, 2);
    // A committed cross would wait for better prices; other types are undefined.
    for (number, kind, reason) in [(3, CrossTypeEnum::C_CROSS, 0), (4, CrossTypeEnum(4), 115)] {
        let request = request_for_cross((number, 10), kind, price, &both(5));
        let reply = harness.send_one(id, &request);
        let reject = decode!(BusinessReject521, reply);
        assert_eq!((reject.business_reject_reason(), reject.ref_tag_id()), (reason, Some(549)));
    }
}

#[test]
fn announces_only_accepted_crosses() {
    let (mut harness, id, price) = harness();
    harness.drain_feed();
    // Rejected as a cross, as orders, and as orders of an instrument that does not trade.
    harness.send_one(id, &cross(1, price, &[]));
    assert_eq!(harness.send(id, &cross(2, price + 1, &both(5))).len(), 2);
    assert_eq!(harness.send(id, &cross(3, price, &both(10_001))).len(), 2);
    assert_eq!(published(&mut harness), []);
    harness.send(id, &cross(4, price, &both(5)));
    let reported = published(&mut harness);
    assert_eq!(reported.len(), 1);
    let (number, security, quantity, side) = &reported[0];
    assert_eq!((*security, *quantity, *side), (1_001, None, Some(8)));
    harness.send(id, &request_for_cross((5, 1), CrossTypeEnum::R_CROSS, price, &both(5)));
    let again = published(&mut harness);
    assert!(again.len() == 1 && again[0].0 != *number, "{again:?}");
}

#[test]
fn cross_id_is_unique_per_day_over_both_messages() {
    let (mut harness, id, price) = harness();
    let used = |harness: &mut Harness, message: &[u8]| {
        let reply = harness.send_one(id, message);
        let reject = decode!(BusinessReject521, reply);
        assert_eq!((reject.business_reject_reason(), reject.ref_tag_id()), (0, Some(548)));
        assert_eq!((reject.ref_msg_type().to_string(), own(harness)), ("s".into(), 0));
    };
    // An invalid cross does not consume its CrossID.
    harness.send_one(id, &cross_of(1, 77, price, &[]));
    assert_eq!(harness.send(id, &cross_of(2, 77, price, &both(5))).len(), 4);
    used(&mut harness, &cross_of(3, 77, price, &both(5)));
    used(&mut harness, &request_for_cross((4, 77), CrossTypeEnum::CROSS, price, &both(5)));
    // A cross rejected as orders does.
    harness.drain_feed();
    assert_eq!(harness.send(id, &cross_of(5, 76, price + 1, &both(5))).len(), 2);
    used(&mut harness, &cross_of(6, 76, price, &both(5)));
    // Other ids are free, and another session has its own ids.
    assert_eq!(harness.send(id, &cross_of(7, 78, price, &both(5))).len(), 4);
    let other = harness.connect();
    harness.log_on_by(other, ("OTHERKEY", "XYZ"));
    harness.drain_feed();
    assert_eq!(harness.send(other, &cross_of(1, 77, price, &both(5))).len(), 4);
    // At midnight UTC the ids of the previous day are cleared.
    let rest = 86_400 - harness.now.utc.as_nanos() / 1_000_000_000 % 86_400;
    harness.pass(Duration::from_secs(rest - 1));
    used(&mut harness, &cross_of(8, 77, price, &both(5)));
    harness.pass(Duration::from_secs(1));
    harness.drain_feed();
    assert_eq!(harness.send(id, &cross_of(9, 77, price, &both(5))).len(), 4);
}

#[test]
fn session_is_limited_to_4_096_crosses_per_day() {
    let (mut harness, id, price) = harness();
    for number in 1..=4_096 {
        assert_eq!(harness.send(id, &cross(number, price, &both(1))).len(), 4);
        harness.drain_feed();
    }
    let reply = harness.send_one(id, &cross(4_097, price, &both(1)));
    let reject = decode!(BusinessReject521, reply);
    assert_eq!((reject.business_reject_reason(), reject.ref_tag_id()), (0, Some(548)));
    assert!(reject.text().to_string().contains("Too many"), "{}", reject.text());
    // Each of them is still stored.
    for (number, id_of) in [(4_098, 4_001), (4_099, 6_000), (4_100, 8_096)] {
        let reply = harness.send_one(id, &cross_of(number, id_of, price, &both(1)));
        let reject = decode!(BusinessReject521, reply);
        assert!(reject.text().to_string().contains("already used"), "{id_of}: {}", reject.text());
    }
    harness.pass(Duration::from_secs(86_400));
    assert_eq!(harness.send(id, &cross(4_101, price, &both(1))).len(), 4);
}
