//! Three traders at once, and one that trades with itself.

use hairpin_cme_codecs::ilink3::{
    ExecutionReportNew522, ExecutionReportTradeOutright525, OrderCancelReject535, SideReq,
};
use hairpin_exchange::{ConnectionId, Side};

use super::harness::{Harness, UUID};
use crate::client::{Reply, cancel, order_with};
use crate::decode;

fn three() -> (Harness, [ConnectionId; 3]) {
    let mut harness = Harness::with_connections(3);
    let ids = [(); 3].map(|()| harness.connect());
    harness.log_on(ids[0]);
    harness.log_on_by(ids[1], ("OTHERKEY", "XYZ"));
    harness.log_on_by(ids[2], ("THIRDKEY", "TRI"));
    (harness, ids)
}

/// Returns a price inside the spread of a seeded book.
fn middle(harness: &Harness) -> i64 {
    let bid = harness.market.matching().best(0, Side::Bid).unwrap().price.0;
    bid + 250_000_000
}

fn buy(number: u32, price: i64, quantity: u32) -> Vec<u8> {
    order_with(number, price, |order| {
        order.set_order_qty(quantity);
    })
}

fn sell(number: u32, price: i64, quantity: u32) -> Vec<u8> {
    order_with(number, price, |order| {
        order.set_order_qty(quantity).set_side(SideReq::SELL);
    })
}

fn order_id(reply: &Reply) -> u64 {
    decode!(ExecutionReportNew522, reply).order_id()
}

#[test]
fn reports_a_trade_to_its_parties_only() {
    let (mut harness, [one, two, three]) = three();
    let price = middle(&harness);
    let first = order_id(&harness.send_one(one, &buy(1, price, 4)));
    let second = order_id(&harness.send_one(two, &buy(1, price, 9)));
    assert_ne!(first, second);
    let replies = harness.send(three, &sell(1, price, 6));
    let aggressor = decode!(ExecutionReportTradeOutright525, replies[1]);
    assert_eq!((replies.len(), aggressor.last_qty(), aggressor.leaves_qty()), (2, 6, 0));
    assert_eq!((aggressor.ord_status().0, aggressor.aggressor_indicator().0), (2, 1));
    let mut sides = vec![aggressor.side_trade_id()];
    let mut executions = vec![aggressor.exec_id().to_string()];
    for (id, order, quantity, leaves) in [(one, first, 4, 0), (two, second, 2, 7)] {
        let replies = harness.read(id);
        assert_eq!(replies.len(), 1);
        let trade = decode!(ExecutionReportTradeOutright525, replies[0]);
        assert_eq!((trade.order_id(), trade.seq_num(), trade.uuid()), (order, 2, UUID));
        assert_eq!((trade.last_qty(), trade.leaves_qty()), (quantity, leaves));
        assert_eq!((trade.cum_qty(), trade.aggressor_indicator().0), (quantity, 0));
        // One trade, and its sides.
        assert_eq!(trade.md_trade_entry_id(), aggressor.md_trade_entry_id());
        assert_eq!(trade.sec_exec_id(), aggressor.sec_exec_id());
        sides.push(trade.side_trade_id());
        executions.push(trade.exec_id().to_string());
    }
    for numbers in [&mut executions, &mut sides.iter().map(u32::to_string).collect()] {
        numbers.sort();
        numbers.dedup();
        assert_eq!(numbers.len(), 3, "{numbers:?}");
    }
    assert_eq!(harness.counters().fills, 3);
}

#[test]
fn session_cannot_cancel_foreign_orders() {
    let (mut harness, [one, two, _]) = three();
    let price = middle(&harness);
    let order = order_id(&harness.send_one(one, &buy(1, price, 4)));
    let reply = harness.send_one(two, &cancel(1, order));
    assert_eq!(decode!(OrderCancelReject535, reply).cxl_rej_reason(), 2_048);
    assert_eq!(harness.send_one(one, &cancel(2, order)).template(), 534);
}

/// Self-match prevention does not exist. Both sides are reported as usual: the aggressor's
/// acknowledgement, then its trade, then the resting order's.
#[test]
fn orders_of_one_session_trade_with_each_other() {
    let (mut harness, [one, ..]) = three();
    let price = middle(&harness);
    let resting = order_id(&harness.send_one(one, &buy(1, price, 4)));
    let replies = harness.send(one, &sell(2, price, 4));
    assert_eq!(replies.iter().map(Reply::template).collect::<Vec<_>>(), [522, 525, 525]);
    let sold = decode!(ExecutionReportTradeOutright525, replies[1]);
    let bought = decode!(ExecutionReportTradeOutright525, replies[2]);
    assert_eq!((sold.side(), bought.side()), (SideReq::SELL, SideReq::BUY));
    assert_eq!((sold.cl_ord_id().to_string(), bought.order_id()), ("2".into(), resting));
    assert_eq!((sold.seq_num(), bought.seq_num()), (3, 4));
    assert_ne!(sold.side_trade_id(), bought.side_trade_id());
}
