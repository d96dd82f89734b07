//! Trades of sessions' orders.

use hairpin_cme_codecs::ilink3::{ExecutionReportNew522, ExecutionReportTradeOutright525};
use hairpin_exchange::{OrderId, Owner, Side};

use super::harness::Harness;
use crate::client::{QuoteEntry, Reply, mass_quote, order, order_with};
use crate::decode;

#[test]
fn reports_trades_of_an_aggressor_and_of_a_resting_order() {
    let (mut harness, id) = Harness::established();
    let offer = harness.market.matching().best(0, Side::Offer).unwrap();
    // Takes the whole best offer and rests one contract there.
    let quantity = offer.quantity + 1;
    let request = order_with(1, offer.price.0, |order| {
        order.set_order_qty(quantity);
    });
    let replies = harness.send(id, &request);
    let report = decode!(ExecutionReportNew522, replies[0]);
    let order_id = report.order_id();
    assert_eq!(replies.len(), 2);
    let trade = decode!(ExecutionReportTradeOutright525, replies[1]);
    assert_eq!((trade.seq_num(), trade.order_id()), (2, order_id));
    assert_eq!(trade.cl_ord_id(), "1");
    assert_eq!((trade.last_px(), trade.last_qty()), (offer.price, offer.quantity));
    assert_eq!((trade.cum_qty(), trade.leaves_qty()), (offer.quantity, 1));
    assert_eq!((trade.ord_status().0, trade.aggressor_indicator().0), (1, 1));
    // The order is the best bid now, and the background flow takes it eventually.
    harness.listener.0.clear();
    let mut steps = 0;
    while harness.market.matching().order(OrderId(order_id)).is_some() {
        harness.market.step(harness.now).unwrap();
        let now = harness.now;
        harness.gateway.handle_fills(now, &mut harness.market, &mut harness.listener);
        steps += 1;
        assert!(steps < 10_000);
        // The publisher's packets are not needed here.
        while harness.market.publisher().has_event() {
            harness.market.publisher_mut().poll_transmit(now, &mut [0; 1_420]);
        }
    }
    let replies = harness.read(id);
    let trade = decode!(ExecutionReportTradeOutright525, replies[0]);
    assert_eq!((trade.seq_num(), trade.last_qty(), trade.leaves_qty()), (3, 1, 0));
    assert_eq!((trade.ord_status().0, trade.aggressor_indicator().0), (2, 0));
    assert_eq!(harness.listener.0, ["fill 1 1"]);
    assert_eq!(harness.counters().fills, 2);
}

#[test]
fn counts_unreported_trades_of_a_closed_session() {
    let (mut harness, id) = Harness::established();
    let bid = harness.market.matching().best(0, Side::Bid).unwrap();
    harness.send_one(id, &order(1, bid.price.0 + 250_000_000));
    harness.gateway.handle_closed(id, &mut harness.listener);
    for _ in 0..1_000 {
        harness.market.step(harness.now).unwrap();
        harness.gateway.handle_fills(harness.now, &mut harness.market, &mut harness.listener);
        while harness.market.publisher().has_event() {
            harness.market.publisher_mut().poll_transmit(harness.now, &mut [0; 1_420]);
        }
    }
    assert_eq!((harness.counters().fills, harness.counters().unreported), (0, 1));
}

/// A message with several orders reuses the slots of orders that it fills. Their trades are
/// reported after it.
#[test]
fn trades_of_orders_whose_slots_are_reused_are_reported() {
    let mut harness = Harness::with_connections(3);
    let id = harness.connect();
    harness.log_on(id);
    let other = harness.connect();
    harness.log_on_by(other, ("OTHERKEY", "XYZ"));
    // The other session's order is the best bid; the first entry fills it, the second reuses slots.
    let price = harness.market.matching().best(0, Side::Bid).unwrap().price.0 + 250_000_000;
    let resting = harness.send_one(other, &order(1, price));
    let resting = decode!(ExecutionReportNew522, resting).order_id();
    harness.drain_feed();
    let filling = QuoteEntry { id: 7, offer: (price, 1), ..QuoteEntry::default() };
    let bid = (250_000_000, 1);
    let reusing = QuoteEntry { id: 8, security: 1_002, bid, offer: (2 * price, 1), ..filling };
    let replies = harness.send(id, &mass_quote(1, &[filling, reusing]));
    let used = [0, 1].map(|instrument| {
        let orders = Side::BOTH.map(|side| {
            let orders = harness.market.matching().orders(instrument, side);
            orders.filter(|order| order.owner == Owner(1)).map(|order| order.id.0 & 0xFF_FFFF)
        });
        orders.into_iter().flatten().collect::<Vec<_>>()
    });
    assert!(used[1].contains(&(resting & 0xFF_FFFF)), "the slot is not reused: {used:?}");
    let templates: Vec<_> = replies.iter().map(Reply::template).collect();
    assert_eq!(templates, [545, 525], "acknowledgment, trade of the first entry");
    assert_eq!(decode!(ExecutionReportTradeOutright525, replies[1]).cl_ord_id(), "7");
    let trade = harness.read(other);
    let trade = decode!(ExecutionReportTradeOutright525, trade[0]);
    assert_eq!((trade.order_id(), trade.leaves_qty()), (resting, 0));
    assert_eq!(harness.counters().fills, 2);
}
