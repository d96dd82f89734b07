//! Order types and times in force: the reports, their order and fields.

use hairpin_cme_codecs::ilink3::{
    ExecutionReportCancel534, ExecutionReportElimination524, ExecutionReportNew522,
    ExecutionReportReject523, ExecutionReportTradeOutright525, OrderType, OrderTypeReq, SideReq,
    TimeInForce,
};
use hairpin_exchange::{OrderId, PriceLevel, Side, TradingStatus};
use hairpin_sbe::Decimal;

use super::harness::Harness;
use crate::client::{Reply, cancel, establish, order, order_with, replace_with};
use crate::decode;

const TICK: i64 = 250_000_000;

fn templates(replies: &[Reply]) -> Vec<u16> {
    replies.iter().map(Reply::template).collect()
}

fn offers(harness: &Harness) -> Vec<PriceLevel> {
    harness.market.matching().levels(0, Side::Offer).collect()
}

#[test]
fn market_order_trades_within_protection_and_rests_at_its_limit() {
    let (mut harness, id) = Harness::established();
    let levels = offers(&harness);
    // Seeded books have a level at each of twenty ticks; the protection is 24 ticks.
    let there: u32 = levels.iter().map(|level| level.quantity).sum();
    let request = order_with(1, 0, |order| {
        order
            .set_price(None)
            .set_ord_type(OrderTypeReq::MARKETWITH_PROTECTION)
            .set_order_qty(there + 5);
    });
    let replies = harness.send(id, &request);
    let limit = Decimal(levels[0].price.0 + 24 * TICK);
    let new = decode!(ExecutionReportNew522, replies[0]);
    assert_eq!((new.price(), new.order_qty()), (limit, there + 5));
    assert_eq!(new.ord_type(), Some(OrderType::MARKET_WITH_PROTECTION));
    assert_eq!(replies.len(), 1 + levels.len());
    let mut cumulated = 0;
    for (reply, level) in replies[1..].iter().zip(&levels) {
        let trade = decode!(ExecutionReportTradeOutright525, reply);
        cumulated += level.quantity;
        assert_eq!((trade.last_px(), trade.last_qty()), (level.price, level.quantity));
        assert_eq!((trade.cum_qty(), trade.leaves_qty()), (cumulated, there + 5 - cumulated));
        assert_eq!((trade.price(), trade.ord_status().0), (limit, 1));
        assert_eq!(trade.ord_type(), Some(OrderType::MARKET_WITH_PROTECTION));
    }
    let rest = harness.market.matching().best(0, Side::Bid).unwrap();
    assert_eq!((rest.price, rest.quantity), (limit, 5));
    // The opposite side is empty now.
    for (number, kind) in [(2, b'1'), (3, b'K')] {
        let request = order_with(number, 0, |order| {
            order.set_price(None).set_ord_type(OrderTypeReq(kind));
        });
        let reply = harness.send_one(id, &request);
        assert_eq!(decode!(ExecutionReportReject523, reply).ord_rej_reason(), 2_013);
    }
}

#[test]
fn market_limit_order_rests_at_the_best_opposite_price() {
    let (mut harness, id) = Harness::established();
    let best = offers(&harness)[0];
    let request = order_with(1, 5, |order| {
        // The price of a market order is ignored.
        order
            .set_ord_type(OrderTypeReq::MARKET_WITH_LEFTOVER_AS_LIMIT)
            .set_order_qty(best.quantity + 3);
    });
    let replies = harness.send(id, &request);
    assert_eq!(templates(&replies), [522, 525]);
    assert_eq!(decode!(ExecutionReportNew522, replies[0]).price(), best.price);
    let trade = decode!(ExecutionReportTradeOutright525, replies[1]);
    assert_eq!((trade.last_px(), trade.leaves_qty()), (best.price, 3));
    assert_eq!(harness.market.matching().best(0, Side::Bid).unwrap().price, best.price);
}

#[test]
fn fill_and_kill_is_acknowledged_traded_and_eliminated() {
    let (mut harness, id) = Harness::established();
    let best = offers(&harness)[0];
    let request = order_with(1, best.price.0, |order| {
        order.set_time_in_force(TimeInForce::FILL_AND_KILL).set_order_qty(best.quantity + 4);
    });
    let replies = harness.send(id, &request);
    assert_eq!(templates(&replies), [522, 525, 524]);
    let new = decode!(ExecutionReportNew522, replies[0]);
    assert_eq!(new.time_in_force(), Some(TimeInForce::FILL_AND_KILL));
    let trade = decode!(ExecutionReportTradeOutright525, replies[1]);
    assert_eq!((trade.ord_status().0, trade.leaves_qty()), (1, 4));
    let gone = decode!(ExecutionReportElimination524, replies[2]);
    assert_eq!((gone.seq_num(), gone.order_id()), (3, new.order_id()));
    assert_eq!((gone.order_qty(), gone.cum_qty()), (best.quantity + 4, best.quantity));
    assert_eq!((gone.price(), gone.min_qty()), (best.price, None));
    assert_eq!((gone.cl_ord_id().to_string(), gone.order_request_id()), ("1".into(), 7_001));
    assert_eq!((gone.security_id(), gone.side()), (1_001, SideReq::BUY));
    assert_eq!(gone.time_in_force(), Some(TimeInForce::FILL_AND_KILL));
    assert!(harness.market.matching().order(OrderId(new.order_id())).is_none());
    let fill = format!("fill 1 {}", best.quantity);
    assert_eq!(harness.listener.0, ["order 1", "acknowledged 1", fill.as_str(), "eliminated 1"]);
    assert_eq!((harness.counters().fills, harness.counters().eliminations), (1, 1));
}

#[test]
fn fill_or_kill_and_full_minimum_trade_all_or_nothing() {
    let (mut harness, id) = Harness::established();
    for number in [1, 2, 3] {
        let best = offers(&harness)[0];
        // CME recommends fill and kill with the quantity as the minimum.
        let request = |number, quantity| {
            order_with(number, best.price.0, |order| {
                order.set_order_qty(quantity);
                match number % 3 {
                    0 => order.set_time_in_force(TimeInForce::FILL_OR_KILL),
                    1 => order.set_time_in_force(TimeInForce::FILL_AND_KILL).set_min_qty(quantity),
                    _ => order.set_time_in_force(TimeInForce::FILL_OR_KILL).set_min_qty(quantity),
                };
            })
        };
        let replies = harness.send(id, &request(2 * number - 1, best.quantity + 1));
        assert_eq!(templates(&replies), [522, 524]);
        let gone = decode!(ExecutionReportElimination524, replies[1]);
        assert_eq!((gone.cum_qty(), gone.order_qty()), (0, best.quantity + 1));
        let replies = harness.send(id, &request(2 * number, best.quantity));
        assert_eq!(templates(&replies), [522, 525]);
    }
}

#[test]
fn day_order_with_minimum_is_eliminated_or_rests() {
    let (mut harness, id) = Harness::established();
    let best = offers(&harness)[0];
    let request = |number, minimum| {
        order_with(number, best.price.0, |order| {
            order.set_min_qty(minimum).set_order_qty(best.quantity + 2);
        })
    };
    let replies = harness.send(id, &request(1, best.quantity + 1));
    assert_eq!(templates(&replies), [522, 524]);
    let gone = decode!(ExecutionReportElimination524, replies[1]);
    assert_eq!((gone.min_qty(), gone.cum_qty()), (Some(best.quantity + 1), 0));
    assert_eq!(gone.time_in_force(), Some(TimeInForce::DAY));
    let replies = harness.send(id, &request(2, best.quantity));
    assert_eq!(templates(&replies), [522, 525]);
    let new = decode!(ExecutionReportNew522, replies[0]);
    assert_eq!(new.min_qty(), Some(best.quantity));
    assert!(harness.market.matching().order(OrderId(new.order_id())).is_some());
}

#[test]
fn session_end_eliminates_day_orders_only() {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    let day = harness.send_one(id, &order(1, price));
    let good = order_with(2, price, |order| {
        order.set_time_in_force(TimeInForce::GOOD_TILL_CANCEL);
    });
    let good = harness.send_one(id, &good);
    let good = decode!(ExecutionReportNew522, good);
    assert_eq!(good.time_in_force(), Some(TimeInForce::GOOD_TILL_CANCEL));
    harness.drain_feed();
    harness.market.end_session(harness.now);
    harness.report();
    let replies = harness.read(id);
    assert_eq!(templates(&replies), [524]);
    let gone = decode!(ExecutionReportElimination524, replies[0]);
    assert_eq!(gone.order_id(), decode!(ExecutionReportNew522, day).order_id());
    assert_eq!((gone.time_in_force(), gone.cum_qty()), (Some(TimeInForce::DAY), 0));
    // The background orders are day orders.
    assert_eq!(harness.market.matching().resting(), 1);
    // The client disconnects and returns: its order still rests and belongs to it.
    harness.gateway.handle_closed(id, &mut harness.listener);
    harness.market.end_session(harness.now);
    let id = harness.connect();
    let timestamp = harness.timestamp();
    let replies = harness.send(id, &establish(super::harness::UUID, timestamp, 3));
    assert_eq!(templates(&replies), [504]);
    let reply = harness.send_one(id, &cancel(3, good.order_id()));
    let cancelled = decode!(ExecutionReportCancel534, reply);
    assert_eq!(cancelled.time_in_force(), Some(TimeInForce::GOOD_TILL_CANCEL));
    assert_eq!(harness.market.matching().resting(), 0);
}

#[test]
fn halted_instrument_accepts_cancels_only() {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    let reply = harness.send_one(id, &order(1, price));
    let order_id = decode!(ExecutionReportNew522, reply).order_id();
    harness.drain_feed();
    harness.market.set_status(harness.now, Some(0), TradingStatus::TradingHalt);
    let reply = harness.send_one(id, &order(2, price));
    assert_eq!(decode!(ExecutionReportReject523, reply).ord_rej_reason(), 1_003);
    let reply = harness.send_one(id, &replace_with(3, order_id, price - TICK, |_| {}));
    assert_eq!(reply.template(), 536);
    assert_eq!(harness.send_one(id, &cancel(4, order_id)).template(), 534);
    // The other instrument trades on, and so does its background flow.
    let steps: Vec<u32> = (0..50)
        .map(|_| {
            let step = harness.market.step(harness.now).unwrap().0;
            harness.drain_feed();
            step.instrument
        })
        .collect();
    assert!(steps.iter().all(|&instrument| instrument == 1));
    harness.market.set_status(harness.now, None, TradingStatus::Close);
    assert!(harness.market.step(harness.now).is_none());
    harness.market.set_status(harness.now, None, TradingStatus::ReadyToTrade);
    assert_eq!(harness.send_one(id, &order(5, price)).template(), 522);
    assert!(harness.market.step(harness.now).is_some());
}

#[test]
fn good_till_date_order_ends_with_its_day() {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    // Days since 1970 fit in 16 bits until 2149.
    let today = harness.now.utc.days() as u16;
    for (number, last) in [(1, today), (2, today + 1), (3, today + 2)] {
        let dated = order_with(number, price, |order| {
            order.set_time_in_force(TimeInForce::GOOD_TILL_DATE).set_expire_date(last);
        });
        let reply = harness.send_one(id, &dated);
        let new = decode!(ExecutionReportNew522, reply);
        assert_eq!(new.time_in_force(), Some(TimeInForce::GOOD_TILL_DATE));
        assert_eq!(new.expire_date(), Some(last));
    }
    let mut gone = Vec::new();
    for _ in 0..2 {
        harness.drain_feed();
        harness.market.end_session(harness.now);
        harness.report();
        for reply in harness.read(id) {
            let report = decode!(ExecutionReportElimination524, reply);
            gone.push((report.cl_ord_id().to_string(), report.expire_date()));
        }
        harness.pass(hairpin_time::Duration::from_secs(86_400));
    }
    assert_eq!(gone, [("1".into(), Some(today)), ("2".into(), Some(today + 1))]);
    // The third order rests; a replacement can change its date.
    let number = harness.market.matching().orders(0, Side::Bid).next().unwrap().id.0;
    let replace = replace_with(4, number, price, |replace| {
        replace.set_time_in_force(TimeInForce::GOOD_TILL_DATE).set_expire_date(today + 9);
    });
    assert_eq!(templates(&harness.send(id, &replace)), [531]);
}
