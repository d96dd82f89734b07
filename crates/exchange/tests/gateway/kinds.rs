//! Kinds of order and times in force: which reports they get, in which order, with which fields.

use hairpin_cme_codecs::ilink3::{
    ExecutionReportCancel534, ExecutionReportElimination524, ExecutionReportNew522,
    ExecutionReportReject523, ExecutionReportTradeOutright525, OrderType, OrderTypeReq, SideReq,
    TimeInForce,
};
use hairpin_exchange::{OrderId, PriceLevel, Side, TradingStatus};
use hairpin_sbe::Decimal;

use crate::bench::Bench;
use crate::client::{Reply, cancel, establish, order, order_with, replace_with};
use crate::decode;

const TICK: i64 = 250_000_000;

fn templates(replies: &[Reply]) -> Vec<u16> {
    replies.iter().map(Reply::template).collect()
}

fn offers(bench: &Bench) -> Vec<PriceLevel> {
    bench.floor.matching().levels(0, Side::Offer).collect()
}

#[test]
fn a_market_order_trades_through_its_protection_and_rests_at_its_end() {
    let (mut bench, id) = Bench::established();
    let levels = offers(&bench);
    // Seeded books have a level at each of twenty ticks; protection is 24 ticks.
    let there: u32 = levels.iter().map(|level| level.quantity).sum();
    let request = order_with(1, 0, |order| {
        order
            .set_price(None)
            .set_ord_type(OrderTypeReq::MARKETWITH_PROTECTION)
            .set_order_qty(there + 5);
    });
    let replies = bench.send(id, &request);
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
    let rest = bench.floor.matching().best(0, Side::Bid).unwrap();
    assert_eq!((rest.price, rest.quantity), (limit, 5));
    // Now there is no other side.
    for (number, kind) in [(2, b'1'), (3, b'K')] {
        let request = order_with(number, 0, |order| {
            order.set_price(None).set_ord_type(OrderTypeReq(kind));
        });
        let reply = bench.send_one(id, &request);
        assert_eq!(decode!(ExecutionReportReject523, reply).ord_rej_reason(), 2_013);
    }
}

#[test]
fn a_market_limit_order_rests_at_the_price_it_found() {
    let (mut bench, id) = Bench::established();
    let best = offers(&bench)[0];
    let request = order_with(1, 5, |order| {
        // A price on a market order is not looked at.
        order
            .set_ord_type(OrderTypeReq::MARKET_WITH_LEFTOVER_AS_LIMIT)
            .set_order_qty(best.quantity + 3);
    });
    let replies = bench.send(id, &request);
    assert_eq!(templates(&replies), [522, 525]);
    assert_eq!(decode!(ExecutionReportNew522, replies[0]).price(), best.price);
    let trade = decode!(ExecutionReportTradeOutright525, replies[1]);
    assert_eq!((trade.last_px(), trade.leaves_qty()), (best.price, 3));
    assert_eq!(bench.floor.matching().best(0, Side::Bid).unwrap().price, best.price);
}

#[test]
fn fill_and_kill_is_acknowledged_traded_and_eliminated() {
    let (mut bench, id) = Bench::established();
    let best = offers(&bench)[0];
    let request = order_with(1, best.price.0, |order| {
        order.set_time_in_force(TimeInForce::FILL_AND_KILL).set_order_qty(best.quantity + 4);
    });
    let replies = bench.send(id, &request);
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
    assert!(bench.floor.matching().order(OrderId(new.order_id())).is_none());
    let fill = format!("fill 1 {}", best.quantity);
    assert_eq!(bench.notes.0, ["order 1", "acknowledged 1", fill.as_str(), "eliminated 1"]);
    assert_eq!((bench.counters().fills, bench.counters().eliminations), (1, 1));
}

#[test]
fn fill_or_kill_trades_all_or_nothing_by_either_name() {
    let (mut bench, id) = Bench::established();
    for number in [1, 2, 3] {
        let best = offers(&bench)[0];
        // CME's recommendation is fill and kill with the quantity as the minimum.
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
        let replies = bench.send(id, &request(2 * number - 1, best.quantity + 1));
        assert_eq!(templates(&replies), [522, 524]);
        let gone = decode!(ExecutionReportElimination524, replies[1]);
        assert_eq!((gone.cum_qty(), gone.order_qty()), (0, best.quantity + 1));
        let replies = bench.send(id, &request(2 * number, best.quantity));
        assert_eq!(templates(&replies), [522, 525]);
    }
}

#[test]
fn a_day_order_with_a_minimum_is_eliminated_or_rests() {
    let (mut bench, id) = Bench::established();
    let best = offers(&bench)[0];
    let request = |number, minimum| {
        order_with(number, best.price.0, |order| {
            order.set_min_qty(minimum).set_order_qty(best.quantity + 2);
        })
    };
    let replies = bench.send(id, &request(1, best.quantity + 1));
    assert_eq!(templates(&replies), [522, 524]);
    let gone = decode!(ExecutionReportElimination524, replies[1]);
    assert_eq!((gone.min_qty(), gone.cum_qty()), (Some(best.quantity + 1), 0));
    assert_eq!(gone.time_in_force(), Some(TimeInForce::DAY));
    let replies = bench.send(id, &request(2, best.quantity));
    assert_eq!(templates(&replies), [522, 525]);
    let new = decode!(ExecutionReportNew522, replies[0]);
    assert_eq!(new.min_qty(), Some(best.quantity));
    assert!(bench.floor.matching().order(OrderId(new.order_id())).is_some());
}

#[test]
fn the_end_of_the_session_eliminates_day_orders_and_leaves_the_others() {
    let (mut bench, id) = Bench::established();
    let price = bench.far();
    let day = bench.send_one(id, &order(1, price));
    let good = order_with(2, price, |order| {
        order.set_time_in_force(TimeInForce::GOOD_TILL_CANCEL);
    });
    let good = bench.send_one(id, &good);
    let good = decode!(ExecutionReportNew522, good);
    assert_eq!(good.time_in_force(), Some(TimeInForce::GOOD_TILL_CANCEL));
    bench.drain_feed();
    bench.floor.end_session(bench.now);
    bench.report();
    let replies = bench.read(id);
    assert_eq!(templates(&replies), [524]);
    let gone = decode!(ExecutionReportElimination524, replies[0]);
    assert_eq!(gone.order_id(), decode!(ExecutionReportNew522, day).order_id());
    assert_eq!((gone.time_in_force(), gone.cum_qty()), (Some(TimeInForce::DAY), 0));
    // The house's orders are good for the day.
    assert_eq!(bench.floor.matching().resting(), 1);
    // The client leaves and comes back: its order is there, and it is its own.
    bench.gateway.handle_closed(id, &mut bench.notes);
    bench.floor.end_session(bench.now);
    let id = bench.connect();
    let timestamp = bench.timestamp();
    let replies = bench.send(id, &establish(crate::bench::UUID, timestamp, 3));
    assert_eq!(templates(&replies), [504]);
    let reply = bench.send_one(id, &cancel(3, good.order_id()));
    let cancelled = decode!(ExecutionReportCancel534, reply);
    assert_eq!(cancelled.time_in_force(), Some(TimeInForce::GOOD_TILL_CANCEL));
    assert_eq!(bench.floor.matching().resting(), 0);
}

#[test]
fn a_halted_instrument_takes_cancels_and_nothing_else() {
    let (mut bench, id) = Bench::established();
    let price = bench.far();
    let reply = bench.send_one(id, &order(1, price));
    let order_id = decode!(ExecutionReportNew522, reply).order_id();
    bench.drain_feed();
    bench.floor.set_status(bench.now, Some(0), TradingStatus::TradingHalt);
    let reply = bench.send_one(id, &order(2, price));
    assert_eq!(decode!(ExecutionReportReject523, reply).ord_rej_reason(), 1_003);
    let reply = bench.send_one(id, &replace_with(3, order_id, price - TICK, |_| {}));
    assert_eq!(reply.template(), 536);
    assert_eq!(bench.send_one(id, &cancel(4, order_id)).template(), 534);
    // The other instrument goes on, and so does the order flow in it.
    let steps: Vec<u32> = (0..50)
        .map(|_| {
            let step = bench.floor.step(bench.now).unwrap().0;
            bench.drain_feed();
            step.instrument
        })
        .collect();
    assert!(steps.iter().all(|&instrument| instrument == 1));
    bench.floor.set_status(bench.now, None, TradingStatus::Close);
    assert!(bench.floor.step(bench.now).is_none());
    bench.floor.set_status(bench.now, None, TradingStatus::ReadyToTrade);
    assert_eq!(bench.send_one(id, &order(5, price)).template(), 522);
    assert!(bench.floor.step(bench.now).is_some());
}

#[test]
fn good_till_a_date_ends_with_that_day_and_not_before() {
    let (mut bench, id) = Bench::established();
    let price = bench.far();
    // Days since 1970 fit in 16 bits until 2149.
    let today = bench.now.utc.days() as u16;
    for (number, last) in [(1, today), (2, today + 1), (3, today + 2)] {
        let dated = order_with(number, price, |order| {
            order.set_time_in_force(TimeInForce::GOOD_TILL_DATE).set_expire_date(last);
        });
        let reply = bench.send_one(id, &dated);
        let new = decode!(ExecutionReportNew522, reply);
        assert_eq!(new.time_in_force(), Some(TimeInForce::GOOD_TILL_DATE));
        assert_eq!(new.expire_date(), Some(last));
    }
    let mut gone = Vec::new();
    for _ in 0..2 {
        bench.drain_feed();
        bench.floor.end_session(bench.now);
        bench.report();
        for reply in bench.read(id) {
            let report = decode!(ExecutionReportElimination524, reply);
            gone.push((report.cl_ord_id().to_string(), report.expire_date()));
        }
        bench.pass(hairpin_time::Duration::from_secs(86_400));
    }
    assert_eq!(gone, [("1".into(), Some(today)), ("2".into(), Some(today + 1))]);
    // The third one is there; a replacement can give it another date.
    let number = bench.floor.matching().orders(0, Side::Bid).next().unwrap().id.0;
    let replace = replace_with(4, number, price, |replace| {
        replace.set_time_in_force(TimeInForce::GOOD_TILL_DATE).set_expire_date(today + 9);
    });
    assert_eq!(templates(&bench.send(id, &replace)), [531]);
}
