//! Stop orders: their reports and the order of these.

use hairpin_cme_codecs::ilink3::{
    BusinessReject521, ExecutionReportCancel534, ExecutionReportModify531, ExecutionReportNew522,
    ExecutionReportReject523, ExecutionReportTradeOutright525, NewOrderSingle514Encoder,
    OrderCancelReplaceReject536, OrderType, OrderTypeReq, SideReq, TimeInForce,
};
use hairpin_exchange::{ConnectionId, OrderId, Side};
use hairpin_sbe::Decimal;

use super::harness::Harness;
use crate::client::{Reply, cancel, order, order_with, replace_with};
use crate::decode;

const TICK: i64 = 250_000_000;

fn templates(replies: &[Reply]) -> Vec<u16> {
    replies.iter().map(Reply::template).collect()
}

/// Creates a session and a counterparty. Returns the best bid and the best offer.
fn harness() -> (Harness, ConnectionId, ConnectionId, i64, i64) {
    let mut harness = Harness::with_connections(3);
    let id = harness.connect();
    harness.log_on(id);
    let other = harness.connect();
    harness.log_on_by(other, ("OTHERKEY", "XYZ"));
    let best = |side| harness.market.matching().best(0, side).unwrap().price.0;
    let (bid, offer) = (best(Side::Bid), best(Side::Offer));
    (harness, id, other, bid, offer)
}

/// Encodes a stop limit order to buy two contracts.
fn stop(number: u32, trigger: i64, limit: i64) -> Vec<u8> {
    stop_with(number, trigger, limit, |_| {})
}

fn stop_with(
    number: u32,
    trigger: i64,
    limit: i64,
    change: impl FnOnce(&mut NewOrderSingle514Encoder<'_>),
) -> Vec<u8> {
    order_with(number, limit, |order| {
        order.set_ord_type(OrderTypeReq::STOP_LIMIT).set_stop_px(Decimal(trigger)).set_order_qty(2);
        change(order);
    })
}

/// Buys one contract at a price.
fn buy(harness: &mut Harness, other: ConnectionId, number: u32, price: i64) -> Vec<Reply> {
    let replies = harness.send(other, &order(number, price));
    harness.drain_feed();
    replies
}

#[test]
fn stop_limit_order_is_triggered_and_trades() {
    let (mut harness, id, other, _, offer) = harness();
    let resting = harness.market.matching().orders(0, Side::Bid).count();
    let reply = harness.send_one(id, &stop(1, offer, offer + 2 * TICK));
    let new = decode!(ExecutionReportNew522, reply);
    let number = new.order_id();
    assert_eq!((new.price(), new.stop_px()), (Decimal(offer + 2 * TICK), Some(Decimal(offer))));
    assert_eq!(new.ord_type(), Some(OrderType::STOP_LIMIT));
    // The order is not in a book.
    assert_eq!(harness.market.matching().orders(0, Side::Bid).count(), resting);
    assert_eq!(templates(&buy(&mut harness, other, 1, offer)), [522, 525]);
    let replies = harness.read(id);
    assert_eq!(templates(&replies)[..2], [522, 525]);
    let triggered = decode!(ExecutionReportNew522, replies[0]);
    assert_eq!((triggered.order_id(), triggered.seq_num()), (number, 2));
    assert_eq!(triggered.cl_ord_id(), "1");
    let trade = decode!(ExecutionReportTradeOutright525, replies[1]);
    assert_eq!((trade.order_id(), trade.stop_px()), (number, Some(Decimal(offer))));
    assert!(trade.last_px() >= Decimal(offer) && trade.aggressor_indicator().0 == 1);
    assert!(harness.listener.0.iter().any(|note| note == "triggered 1"));
    assert_eq!(harness.counters().triggers, 1);
}

#[test]
fn stop_with_protection_derives_its_limit() {
    let (mut harness, id, other, bid, offer) = harness();
    for (number, side, trigger, limit) in [
        (1, SideReq::BUY, offer + TICK, offer + 25 * TICK),
        (2, SideReq::SELL, bid - TICK, bid - 25 * TICK),
    ] {
        let with_protection = stop_with(number, trigger, 0, |order| {
            order.set_price(None).set_side(side).set_ord_type(OrderTypeReq::STOPWITH_PROTECTION);
        });
        let reply = harness.send_one(id, &with_protection);
        let new = decode!(ExecutionReportNew522, reply);
        assert_eq!((new.price(), new.side()), (Decimal(limit), side));
        // Reports have no separate type for it.
        assert_eq!(new.ord_type(), Some(OrderType::STOP_LIMIT));
    }
    // A trade at the offer triggers neither: one trigger is above, the other below.
    buy(&mut harness, other, 1, offer);
    assert_eq!(harness.read(id), []);
    assert_eq!(harness.market.matching().stops().len(), 2);
    let sell = order_with(2, bid - TICK, |order| {
        order.set_side(SideReq::SELL).set_order_qty(10_000);
    });
    harness.send(other, &sell);
    let replies = harness.read(id);
    assert_eq!(decode!(ExecutionReportNew522, replies[0]).cl_ord_id(), "2");
    assert_eq!(harness.market.matching().stops().len(), 1);
}

#[test]
fn triggered_order_triggers_another() {
    let (mut harness, id, other, _, offer) = harness();
    let level = harness.market.matching().best(0, Side::Offer).unwrap().quantity;
    // The first takes the whole level and one contract of the next, which triggers the second.
    let first = stop_with(1, offer, offer + TICK, |order| {
        order.set_order_qty(level);
    });
    harness.send_one(id, &first);
    harness.send_one(id, &stop(2, offer + TICK, offer + 9 * TICK));
    buy(&mut harness, other, 1, offer);
    let listener: Vec<&String> =
        harness.listener.0.iter().filter(|note| note.starts_with("triggered")).collect();
    assert_eq!(listener, ["triggered 1", "triggered 2"]);
    let replies = harness.read(id);
    assert_eq!(templates(&replies).iter().filter(|&&template| template == 522).count(), 2);
    // The first order's reports precede the second's.
    assert_eq!(templates(&replies)[..2], [522, 525]);
}

#[test]
fn cancels_replaces_and_expires_stop_orders() {
    let (mut harness, id, other, _, offer) = harness();
    let number = |reply: &Reply| decode!(ExecutionReportNew522, reply).order_id();
    let first = number(&harness.send_one(id, &stop(1, offer, offer)));
    let second = number(&harness.send_one(id, &stop(2, offer, offer)));
    let good = stop_with(3, offer + 9 * TICK, offer + 9 * TICK, |order| {
        order.set_time_in_force(TimeInForce::GOOD_TILL_CANCEL);
    });
    harness.send_one(id, &good);
    let reply = harness.send_one(id, &cancel(4, first));
    let gone = decode!(ExecutionReportCancel534, reply);
    assert_eq!((gone.order_id(), gone.stop_px()), (first, Some(Decimal(offer))));
    assert!(harness.market.matching().stop(OrderId(first)).is_none());
    let replace = replace_with(5, second, offer + 3 * TICK, |replace| {
        replace
            .set_ord_type(OrderTypeReq::STOP_LIMIT)
            .set_stop_px(Decimal(offer + 2 * TICK))
            .set_order_qty(5);
    });
    let reply = harness.send_one(id, &replace);
    let modified = decode!(ExecutionReportModify531, reply);
    assert_eq!((modified.order_id(), modified.leaves_qty()), (second, 5));
    assert_eq!(modified.stop_px(), Some(Decimal(offer + 2 * TICK)));
    // The previous trigger price has no effect any more.
    buy(&mut harness, other, 1, offer);
    assert_eq!(harness.read(id), []);
    // A stop order stays a stop order.
    let limit = replace_with(6, second, offer, |_| {});
    let reply = harness.send_one(id, &limit);
    assert_eq!(decode!(OrderCancelReplaceReject536, reply).cxl_rej_reason(), 2_311);
    harness.drain_feed();
    harness.market.end_session(harness.now);
    harness.report();
    assert_eq!(templates(&harness.read(id)), [524]);
    assert_eq!(harness.market.matching().stops().len(), 1);
}

#[test]
fn rejects_invalid_stop_orders() {
    let (mut harness, id, other, bid, offer) = harness();
    buy(&mut harness, other, 1, offer);
    let sell = |order: &mut NewOrderSingle514Encoder<'_>| {
        order.set_side(SideReq::SELL);
    };
    let requests = [
        (stop(1, offer, offer + TICK), 2_061),
        (stop_with(2, offer, offer - TICK, sell), 2_060),
        (stop(3, offer + 2 * TICK, offer + TICK), 2_058),
        (stop_with(4, bid, bid + TICK, sell), 2_059),
        (stop(5, offer + 1, offer + TICK), 1_011),
        (
            stop_with(6, offer + TICK, offer + TICK, |order| {
                order.set_time_in_force(TimeInForce::FILL_AND_KILL);
            }),
            1_013,
        ),
        (
            stop_with(7, offer + TICK, offer + TICK, |order| {
                order.set_min_qty(1);
            }),
            1_013,
        ),
    ];
    for (request, code) in requests {
        let reply = harness.send_one(id, &request);
        let reject = decode!(ExecutionReportReject523, reply);
        assert_eq!(reject.ord_rej_reason(), code);
        assert!(reject.stop_px().is_some());
    }
    assert_eq!(harness.market.matching().stops().len(), 0);
    let without = order_with(8, offer, |order| {
        order.set_ord_type(OrderTypeReq::STOP_LIMIT);
    });
    let reply = harness.send_one(id, &without);
    assert_eq!(decode!(BusinessReject521, reply).ref_tag_id(), Some(99));
}

#[test]
fn trade_triggers_only_in_its_instrument() {
    let (mut harness, id, other, _, offer) = harness();
    let elsewhere = stop_with(1, offer, offer, |order| {
        order.set_security_id(1_002);
    });
    assert_eq!(harness.send_one(id, &elsewhere).template(), 522);
    buy(&mut harness, other, 1, offer);
    assert_eq!(harness.read(id), []);
    assert_eq!(harness.market.matching().stops().len(), 1);
}
