//! Crosses: a buyer and a seller at one price.

use hairpin_cme_codecs::ilink3::{
    BusinessReject521, CrossTypeEnum, ExecutionReportElimination524, ExecutionReportNew522,
    ExecutionReportReject523, ExecutionReportTradeOutright525, SideReq, SideTimeInForce,
};
use hairpin_exchange::{ConnectionId, Owner, Side};
use hairpin_time::Duration;

use crate::bench::Bench;
use crate::client::{CrossSide, Reply, cross, cross_of, order_with, request_for_cross};
use crate::decode;
use crate::quote_request::published;

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

#[test]
fn a_request_for_cross_is_a_cross_of_the_kind_that_it_says() {
    let (mut bench, id, price) = bench();
    for (number, kind) in [(1, CrossTypeEnum::CROSS), (2, CrossTypeEnum::R_CROSS)] {
        let replies = bench.send(id, &request_for_cross((number, 9), kind, price, &both(5)));
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
        // The next day the number is free again.
        bench.pass(Duration::from_secs(86_400));
        bench.drain_feed();
    }
    assert_eq!(bench.counters().crosses, 2);
    // A committed cross would wait for better prices; others there are not.
    for (number, kind, reason) in [(3, CrossTypeEnum::C_CROSS, 0), (4, CrossTypeEnum(4), 115)] {
        let request = request_for_cross((number, 10), kind, price, &both(5));
        let reply = bench.send_one(id, &request);
        let reject = decode!(BusinessReject521, reply);
        assert_eq!((reject.business_reject_reason(), reject.ref_tag_id()), (reason, Some(549)));
    }
}

#[test]
fn the_market_is_told_of_a_cross_before_it_and_of_nothing_that_is_refused() {
    let (mut bench, id, price) = bench();
    bench.drain_feed();
    // Refused as no cross, as orders, as orders of no instrument that trades.
    bench.send_one(id, &cross(1, price, &[]));
    assert_eq!(bench.send(id, &cross(2, price + 1, &both(5))).len(), 2);
    assert_eq!(bench.send(id, &cross(3, price, &both(10_001))).len(), 2);
    assert_eq!(published(&mut bench), []);
    bench.send(id, &cross(4, price, &both(5)));
    let told = published(&mut bench);
    assert_eq!(told.len(), 1);
    let (number, security, quantity, side) = &told[0];
    assert_eq!((*security, *quantity, *side), (1_001, None, Some(8)));
    bench.send(id, &request_for_cross((5, 1), CrossTypeEnum::R_CROSS, price, &both(5)));
    let again = published(&mut bench);
    assert!(again.len() == 1 && again[0].0 != *number, "{again:?}");
}

#[test]
fn a_cross_id_is_good_once_a_day_by_either_message() {
    let (mut bench, id, price) = bench();
    let used = |bench: &mut Bench, message: &[u8]| {
        let reply = bench.send_one(id, message);
        let reject = decode!(BusinessReject521, reply);
        assert_eq!((reject.business_reject_reason(), reject.ref_tag_id()), (0, Some(548)));
        assert_eq!((reject.ref_msg_type().to_string(), own(bench)), ("s".into(), 0));
    };
    // What is no cross uses up no CrossID.
    bench.send_one(id, &cross_of(1, 77, price, &[]));
    assert_eq!(bench.send(id, &cross_of(2, 77, price, &both(5))).len(), 4);
    used(&mut bench, &cross_of(3, 77, price, &both(5)));
    used(&mut bench, &request_for_cross((4, 77), CrossTypeEnum::CROSS, price, &both(5)));
    // What is refused as orders does.
    bench.drain_feed();
    assert_eq!(bench.send(id, &cross_of(5, 76, price + 1, &both(5))).len(), 2);
    used(&mut bench, &cross_of(6, 76, price, &both(5)));
    // Others are free, and another session's are its own.
    assert_eq!(bench.send(id, &cross_of(7, 78, price, &both(5))).len(), 4);
    let other = bench.connect();
    bench.log_on_by(other, ("OTHERKEY", "XYZ"));
    bench.drain_feed();
    assert_eq!(bench.send(other, &cross_of(1, 77, price, &both(5))).len(), 4);
    // Midnight UTC: those of the day before are forgotten.
    let rest = 86_400 - bench.now.utc.as_nanos() / 1_000_000_000 % 86_400;
    bench.pass(Duration::from_secs(rest - 1));
    used(&mut bench, &cross_of(8, 77, price, &both(5)));
    bench.pass(Duration::from_secs(1));
    bench.drain_feed();
    assert_eq!(bench.send(id, &cross_of(9, 77, price, &both(5))).len(), 4);
}

#[test]
fn a_session_has_4_096_crosses_a_day() {
    let (mut bench, id, price) = bench();
    for number in 1..=4_096 {
        assert_eq!(bench.send(id, &cross(number, price, &both(1))).len(), 4);
        bench.drain_feed();
    }
    let reply = bench.send_one(id, &cross(4_097, price, &both(1)));
    let reject = decode!(BusinessReject521, reply);
    assert_eq!((reject.business_reject_reason(), reject.ref_tag_id()), (0, Some(548)));
    assert!(reject.text().to_string().contains("Too many"), "{}", reject.text());
    // Each of them is known still.
    for (number, id_of) in [(4_098, 4_001), (4_099, 6_000), (4_100, 8_096)] {
        let reply = bench.send_one(id, &cross_of(number, id_of, price, &both(1)));
        let reject = decode!(BusinessReject521, reply);
        assert!(reject.text().to_string().contains("before"), "{id_of}: {}", reject.text());
    }
    bench.pass(Duration::from_secs(86_400));
    assert_eq!(bench.send(id, &cross(4_101, price, &both(1))).len(), 4);
}
