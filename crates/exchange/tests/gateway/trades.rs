//! Trades of sessions' orders.

use hairpin_cme_codecs::ilink3::{ExecutionReportNew522, ExecutionReportTradeOutright525};
use hairpin_exchange::{OrderId, Side};

use crate::bench::Bench;
use crate::client::{order, order_with};
use crate::decode;

#[test]
fn reports_trades_of_an_aggressor_and_of_a_resting_order() {
    let (mut bench, id) = Bench::established();
    let offer = bench.floor.matching().best(0, Side::Offer).unwrap();
    // Takes the whole best offer and rests one contract there.
    let quantity = offer.quantity + 1;
    let request = order_with(1, offer.price.0, |order| {
        order.set_order_qty(quantity);
    });
    let replies = bench.send(id, &request);
    let report = decode!(ExecutionReportNew522, replies[0]);
    let order_id = report.order_id();
    assert_eq!(replies.len(), 2);
    let trade = decode!(ExecutionReportTradeOutright525, replies[1]);
    assert_eq!((trade.seq_num(), trade.order_id()), (2, order_id));
    assert_eq!(trade.cl_ord_id(), "1");
    assert_eq!((trade.last_px(), trade.last_qty()), (offer.price, offer.quantity));
    assert_eq!((trade.cum_qty(), trade.leaves_qty()), (offer.quantity, 1));
    assert_eq!((trade.ord_status().0, trade.aggressor_indicator().0), (1, 1));
    // Now it is the best bid, and the order flow takes it sooner or later.
    bench.notes.0.clear();
    let mut steps = 0;
    while bench.floor.matching().order(OrderId(order_id)).is_some() {
        bench.floor.step(bench.now).unwrap();
        let now = bench.now;
        bench.gateway.handle_fills(now, &mut bench.floor, &mut bench.notes);
        steps += 1;
        assert!(steps < 10_000);
        // The publisher's packets are of no interest here.
        while bench.floor.publisher().has_event() {
            bench.floor.publisher_mut().poll_transmit(now, &mut [0; 1_420]);
        }
    }
    let replies = bench.read(id);
    let trade = decode!(ExecutionReportTradeOutright525, replies[0]);
    assert_eq!((trade.seq_num(), trade.last_qty(), trade.leaves_qty()), (3, 1, 0));
    assert_eq!((trade.ord_status().0, trade.aggressor_indicator().0), (2, 0));
    assert_eq!(bench.notes.0, ["fill 1 1"]);
    assert_eq!(bench.counters().fills, 2);
}

#[test]
fn counts_trades_of_a_session_that_has_left() {
    let (mut bench, id) = Bench::established();
    let bid = bench.floor.matching().best(0, Side::Bid).unwrap();
    bench.send_one(id, &order(1, bid.price.0 + 250_000_000));
    bench.gateway.handle_closed(id, &mut bench.notes);
    for _ in 0..1_000 {
        bench.floor.step(bench.now).unwrap();
        bench.gateway.handle_fills(bench.now, &mut bench.floor, &mut bench.notes);
        while bench.floor.publisher().has_event() {
            bench.floor.publisher_mut().poll_transmit(bench.now, &mut [0; 1_420]);
        }
    }
    assert_eq!((bench.counters().fills, bench.counters().unreported), (0, 1));
}
