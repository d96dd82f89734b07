//! Orders with a display quantity: their reports, rejects and market data.

use hairpin_cme_codecs::ilink3::{
    ExecutionReportCancel534, ExecutionReportElimination524, ExecutionReportModify531,
    ExecutionReportNew522, ExecutionReportReject523, ExecutionReportStatus532,
    ExecutionReportTradeOutright525, OrderCancelReplaceReject536, OrderTypeReq, SideReq,
    TimeInForce,
};
use hairpin_exchange::{OrderId, Side};
use hairpin_sbe::Decimal;

use super::harness::Harness;
use crate::client::{Reply, cancel, order_with, replace_with, status_request};
use crate::decode;

const TICK: i64 = 250_000_000;

/// The published quantity and number of orders at a price.
fn level(harness: &Harness, price: i64) -> Option<(u32, u32)> {
    let levels = harness.market.publisher().published(0).sides[0].levels();
    levels.iter().find(|level| level.price.0 == price).map(|level| (level.quantity, level.orders))
}

#[test]
fn reports_of_an_iceberg_have_its_display_quantity() {
    let (mut harness, id) = Harness::established();
    let best = |harness: &Harness, side| harness.market.matching().best(0, side).unwrap().price.0;
    let (bid, offer) = (best(&harness, Side::Bid), best(&harness, Side::Offer));
    assert!(offer - bid > TICK, "no price between {bid} and {offer}");
    let price = bid + TICK;
    let show = |quantity: u32, display: u32| {
        move |number| {
            order_with(number, price, |order| {
                order.set_order_qty(quantity).set_display_qty(display);
            })
        }
    };
    let new = harness.send_one(id, &show(10, 3)(1));
    let new = decode!(ExecutionReportNew522, new);
    assert_eq!((new.order_qty(), new.display_qty()), (10, Some(3)));
    let order = new.order_id();
    harness.drain_feed();
    assert_eq!(level(&harness, price), Some((3, 1)));
    // The session's other order trades with it: two fills of the iceberg, hidden contracts last.
    let replies = harness.send(
        id,
        &order_with(2, price, |order| {
            order.set_side(SideReq::SELL).set_order_qty(4);
        }),
    );
    let trades: Vec<(u64, u32, u32, u32)> = replies
        .iter()
        .filter(|reply| reply.template() == 525)
        .map(|reply| decode!(ExecutionReportTradeOutright525, reply))
        .map(|trade| (trade.order_id(), trade.last_qty(), trade.cum_qty(), trade.leaves_qty()))
        .filter(|trade| trade.0 == order)
        .collect();
    assert_eq!(trades, [(order, 3, 3, 7), (order, 1, 4, 6)]);
    harness.drain_feed();
    assert_eq!(level(&harness, price), Some((2, 1)));
    let status = harness.send_one(id, &status_request(3, order));
    let status = decode!(ExecutionReportStatus532, status);
    assert_eq!((status.display_qty(), status.leaves_qty()), (Some(3), 6));
    let fewer = |number, display| {
        replace_with(number, order, price, |replace| {
            replace.set_order_qty(6).set_display_qty(display);
        })
    };
    let modified = harness.send_one(id, &fewer(4, Some(2)));
    assert_eq!(decode!(ExecutionReportModify531, modified).display_qty(), Some(2));
    let canceled = harness.send_one(id, &cancel(5, order));
    assert_eq!(decode!(ExecutionReportCancel534, canceled).display_qty(), Some(2));
    assert_eq!(level(&harness, price), None);
}

#[test]
fn rejects_invalid_display_quantities_with_cmes_codes() {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    for (number, (display, minimum, code)) in
        (1..).zip([(11, None, 2_046), (2, Some(3), 7_613), (0, None, 1_013)])
    {
        let reply = harness.send_one(
            id,
            &order_with(number, price, |order| {
                order.set_order_qty(10).set_display_qty(display).set_min_qty(minimum);
            }),
        );
        let reject = decode!(ExecutionReportReject523, reply);
        let found = (reject.ord_rej_reason(), reject.display_qty());
        assert_eq!(found, (code, Some(display)), "{display} {minimum:?}");
    }
    let reply: Reply = harness.send_one(
        id,
        &order_with(4, price, |order| {
            order.set_order_qty(10).set_display_qty(4);
        }),
    );
    let order = decode!(ExecutionReportNew522, reply).order_id();
    for (number, (display, code)) in (5..).zip([(None, 5_102), (Some(11), 2_046), (Some(0), 1_013)])
    {
        let reply = harness.send_one(
            id,
            &replace_with(number, order, price, |replace| {
                replace.set_order_qty(10).set_display_qty(display);
            }),
        );
        let reject = decode!(OrderCancelReplaceReject536, reply);
        assert_eq!(reject.cxl_rej_reason(), code, "{display:?}");
    }
}

#[test]
fn fill_and_kill_and_stop_orders_may_have_a_display_quantity() {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    let replies = harness.send(
        id,
        &order_with(1, price, |order| {
            order.set_order_qty(5).set_display_qty(2).set_time_in_force(TimeInForce::FILL_AND_KILL);
        }),
    );
    assert_eq!(decode!(ExecutionReportNew522, replies[0]).display_qty(), Some(2));
    assert_eq!(decode!(ExecutionReportElimination524, replies[1]).display_qty(), Some(2));
    let offer = harness.market.matching().best(0, Side::Offer).unwrap().price.0;
    let reply = harness.send_one(
        id,
        &order_with(2, offer + 4 * TICK, |order| {
            order
                .set_ord_type(OrderTypeReq::STOP_LIMIT)
                .set_stop_px(Decimal(offer + 2 * TICK))
                .set_order_qty(5)
                .set_display_qty(2);
        }),
    );
    assert_eq!(decode!(ExecutionReportNew522, reply).display_qty(), Some(2));
    let stop = harness.market.matching().stops()[0].order;
    assert_eq!((stop.display, stop.shown), (2, 0));
}

/// The background flow takes whole levels, hidden contracts included, so each step changes a best
/// price.
#[test]
fn background_flow_trades_an_iceberg_away() {
    let (mut harness, id) = Harness::established();
    let bid = harness.market.matching().best(0, Side::Bid).unwrap().price.0;
    let iceberg = order_with(1, bid, |order| {
        order.set_order_qty(900).set_display_qty(1);
    });
    let new = harness.send_one(id, &iceberg);
    let order = OrderId(decode!(ExecutionReportNew522, new).order_id());
    let mut steps = 0;
    while harness.market.matching().order(order).is_some() {
        harness.market.step(harness.now).unwrap();
        harness.report();
        harness.read(id);
        steps += 1;
        assert!(steps < 100_000);
    }
    assert!(harness.counters().fills >= 900, "{:?}", harness.counters());
}
