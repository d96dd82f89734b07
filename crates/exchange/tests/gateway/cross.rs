//! Crosses: a buyer and a seller at one price.

use hairpin_cme_codecs::ilink3::{
    BusinessReject521, ExecutionReportElimination524, ExecutionReportNew522,
    ExecutionReportReject523, ExecutionReportTradeOutright525, SideReq, SideTimeInForce,
};
use hairpin_exchange::{ConnectionId, Owner, Side};

use crate::bench::Bench;
use crate::client::{CrossSide, Reply, cross, order_with};
use crate::decode;

const TICK: i64 = 250_000_000;

fn side(side: SideReq, quantity: u32) -> CrossSide {
    let cl_ord_id = if side == SideReq::BUY { "BUYER" } else { "SELLER" };
    CrossSide { cl_ord_id, parties: 1, quantity, side, time: SideTimeInForce::DAY }
}

fn both(quantity: u32) -> [CrossSide; 2] {
    [side(SideReq::BUY, quantity), side(SideReq::SELL, quantity)]
}

/// A session, and a price a tick above the best bid where nobody is: the spread is wide enough.
fn bench() -> (Bench, ConnectionId, i64) {
    let (bench, id) = Bench::established();
    let best = |side| bench.floor.matching().best(0, side).unwrap().price.0;
    let price = best(Side::Bid) + TICK;
    assert!(price < best(Side::Offer));
    (bench, id, price)
}

fn own(bench: &Bench) -> usize {
    let matching = bench.floor.matching();
    let orders = Side::BOTH.into_iter().flat_map(|side| matching.orders(0, side));
    orders.filter(|order| order.owner == Owner(1)).count()
}

fn templates(replies: &[Reply]) -> Vec<u16> {
    replies.iter().map(Reply::template).collect()
}

#[test]
fn both_sides_are_accepted_and_trade_with_each_other() {
    let (mut bench, id, price) = bench();
    let replies = bench.send(id, &cross(1, price, &both(5)));
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
    assert_eq!((traded, own(&bench)), (names.map(String::from).into(), 0));
    assert_eq!((bench.counters().crosses, bench.counters().acknowledgements), (1, 2));
}

#[test]
fn what_has_priority_trades_first_and_the_rest_rests() {
    let (mut bench, id, price) = bench();
    let earlier = order_with(1, price, |order| {
        order.set_order_qty(2);
    });
    bench.send_one(id, &earlier);
    let replies = bench.send(id, &cross(2, price, &both(5)));
    // The seller meets the order of before, then three of the buyer's.
    let sold: Vec<(String, u32)> = replies[2..]
        .iter()
        .map(|reply| {
            let trade = decode!(ExecutionReportTradeOutright525, reply);
            (trade.cl_ord_id().to_string(), trade.leaves_qty())
        })
        .collect();
    assert!(sold.contains(&("1".into(), 0)) && sold.contains(&("BUYER".into(), 2)), "{sold:?}");
    assert_eq!(own(&bench), 1);
}

#[test]
fn the_side_that_may_not_rest_comes_in_second() {
    let (mut bench, id, price) = bench();
    let mut sides = both(5);
    sides[0].time = SideTimeInForce::FAK;
    let replies = bench.send(id, &cross(1, price, &sides));
    let first = decode!(ExecutionReportNew522, replies[0]);
    assert_eq!(first.cl_ord_id(), "SELLER");
    assert_eq!(templates(&replies), [522, 522, 525, 525]);
    // With an offer of before the buyer has enough, and the rest of the seller's rests.
    let earlier = order_with(2, price, |order| {
        order.set_order_qty(2).set_side(SideReq::SELL);
    });
    bench.drain_feed();
    bench.send_one(id, &earlier);
    bench.drain_feed();
    bench.send(id, &cross(3, price, &sides));
    assert_eq!(own(&bench), 1);
    // A seller that may not rest: what it does not sell is gone.
    bench.drain_feed();
    let buy = order_with(4, price, |order| {
        order.set_order_qty(2);
    });
    bench.send(id, &buy);
    bench.drain_feed();
    let mut sides = both(3);
    sides[1].time = SideTimeInForce::FAK;
    let low = price - 40 * TICK;
    let replies = bench.send(id, &cross(5, low, &sides));
    let gone = replies.iter().filter(|reply| reply.template() == 524);
    assert!(
        gone.map(|reply| decode!(ExecutionReportElimination524, reply).cum_qty()).all(|n| n < 3)
    );
}

#[test]
fn what_is_no_cross_is_refused_and_neither_side_enters() {
    let (mut bench, id, price) = bench();
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
        let reply = bench.send_one(id, &cross(number, price, sides));
        let reject = decode!(BusinessReject521, reply);
        assert_eq!((reject.business_reject_reason(), reject.ref_tag_id()), (reason, tag));
        assert_eq!(reject.ref_msg_type(), "s");
    }
    assert_eq!(own(&bench), 0);
    // What could be orders, but not of this market: each is refused as one.
    let replies = bench.send(id, &cross(11, price + 1, &both(5)));
    for (reply, name) in replies.iter().zip(["BUYER", "SELLER"]) {
        let reject = decode!(ExecutionReportReject523, reply);
        assert_eq!((reject.ord_rej_reason(), reject.cl_ord_id().to_string()), (1_011, name.into()));
    }
    assert_eq!((replies.len(), own(&bench)), (2, 0));
    assert_eq!(bench.counters().order_rejects, 2);
}
