//! Self-match prevention: the aggressor's instruction decides which order is canceled.

use hairpin_cme_codecs::ilink3::{
    ExecReason, ExecutionReportCancel534, ExecutionReportNew522, ExecutionReportTradeOutright525,
    PartyDetailRole, SMPI, SideReq, TimeInForce,
};
use hairpin_exchange::{ConnectionId, Credentials, Side};

use super::harness::Harness;
use crate::client::{Definition, KEY, QuoteEntry, Reply, definition, mass_quote_with, order_with};
use crate::decode;

const TICK: i64 = 250_000_000;

/// The party details of the tests: SelfMatchPreventionID 99 with each instruction, and another id.
const ABSENT: u64 = 10;
const OLDEST: u64 = 11;
const NEWEST: u64 = 12;
const OTHER_ID: u64 = 13;
const NO_ID: u64 = 1;

/// Creates two sessions of one firm and one of another, all with these party details. Returns a
/// price between the best prices.
fn harness() -> (Harness, [ConnectionId; 3], i64) {
    let mut harness = Harness::with(3, |settings| {
        settings.accounts[2] = Credentials::new("THIRDKEY", KEY, "TRI", "DEFGH").unwrap();
    });
    let ids = [0; 3].map(|_: u32| harness.connect());
    harness.log_on(ids[0]);
    harness.log_on_by(ids[1], ("OTHERKEY", "XYZ"));
    harness.log_on_by(ids[2], ("THIRDKEY", "TRI"));
    let details = [
        (ABSENT, Some(99), None),
        (OLDEST, Some(99), Some(SMPI::CANCEL_OLDEST)),
        (NEWEST, Some(99), Some(SMPI::CANCEL_NEWEST)),
        (OTHER_ID, Some(98), None),
    ];
    for id in ids {
        for (number, (list, self_match, instruction)) in (1..).zip(details) {
            let parties = &[("ACCOUNT", PartyDetailRole::CUSTOMER_ACCOUNT)];
            let of = Definition {
                number,
                parties,
                self_match: (self_match, instruction),
                ..Definition::new(list)
            };
            assert_eq!(harness.send_one(id, &definition(&of)).template(), 519);
        }
    }
    let price = harness.market.matching().best(0, Side::Bid).unwrap().price.0 + TICK;
    (harness, ids, price)
}

fn order_of(number: u32, side: SideReq, price: i64, quantity: u32, list: u64) -> Vec<u8> {
    order_with(number, price, |order| {
        order.set_side(side).set_order_qty(quantity).set_party_details_list_req_id(list);
    })
}

/// Describes the reports: new orders, trades and cancels.
fn described(replies: &[Reply]) -> Vec<String> {
    let describe = |reply: &Reply| match reply.template() {
        522 => format!("new {}", decode!(ExecutionReportNew522, reply).cl_ord_id()),
        525 => {
            let trade = decode!(ExecutionReportTradeOutright525, reply);
            format!("trade {} {}", trade.cl_ord_id(), trade.last_qty())
        }
        534 => {
            let cancel = decode!(ExecutionReportCancel534, reply);
            let reason = cancel.exec_restatement_reason().map_or(0, |reason| reason.0);
            format!("cancel {} {reason}", cancel.cl_ord_id())
        }
        other => other.to_string(),
    };
    replies.iter().map(describe).collect()
}

/// Returns the open quantity of the session orders at a price.
fn open(harness: &Harness, side: Side, price: i64) -> u32 {
    let orders = harness.market.matching().orders(0, side);
    let own = orders.filter(|order| order.owner.0 > 0 && order.price.0 == price);
    own.map(|order| order.remaining).sum()
}

/// Rests an order to buy 5 with these details, then enters one to sell 3 from the same session.
fn outcome(resting: u64, aggressor: u64) -> (Vec<String>, u32, u32) {
    let (mut harness, [id, ..], price) = harness();
    harness.send_one(id, &order_of(5, SideReq::BUY, price, 5, resting));
    let replies = harness.send(id, &order_of(6, SideReq::SELL, price, 3, aggressor));
    let open = |side| open(&harness, side, price);
    (described(&replies), open(Side::Bid), open(Side::Offer))
}

#[test]
fn aggressors_instruction_cancels_the_resting_order_or_the_aggressor() {
    let cancels_resting = |of| (vec!["new 6".into(), format!("cancel 5 {of}")], 0, 3);
    assert_eq!(outcome(ABSENT, OLDEST), cancels_resting(103));
    assert_eq!(outcome(ABSENT, ABSENT), cancels_resting(103));
    let cancels_aggressor = (vec!["new 6".into(), "cancel 6 107".into()], 5, 0);
    assert_eq!(outcome(ABSENT, NEWEST), cancels_aggressor);
    assert_eq!(ExecReason::SELF_MATCH_PREVENTION_NEWEST_ORDER_CANCELLED.0, 107);
}

#[test]
fn instruction_of_the_resting_order_means_nothing() {
    assert_eq!(outcome(NEWEST, OLDEST).0[1], "cancel 5 103");
    assert_eq!(outcome(NEWEST, ABSENT).0[1], "cancel 5 103");
    assert_eq!(outcome(OLDEST, NEWEST).0[1], "cancel 6 107");
}

#[test]
fn orders_with_different_or_no_ids_trade() {
    for (resting, aggressor) in
        [(NO_ID, NEWEST), (NEWEST, NO_ID), (OTHER_ID, NEWEST), (NO_ID, NO_ID)]
    {
        let (reports, bid, offer) = outcome(resting, aggressor);
        assert_eq!(reports, ["new 6", "trade 6 3", "trade 5 3"], "{resting} {aggressor}");
        assert_eq!((bid, offer), (2, 0));
    }
}

#[test]
fn sessions_of_a_firm_share_their_ids() {
    let (mut harness, [id, other, _], price) = harness();
    harness.send_one(id, &order_of(5, SideReq::BUY, price, 5, ABSENT));
    let replies = harness.send(other, &order_of(5, SideReq::SELL, price, 3, ABSENT));
    assert_eq!(described(&replies), ["new 5"]);
    assert_eq!(described(&harness.read(id)), ["cancel 5 103"]);
    assert_eq!(harness.counters().self_match_cancels, 1);
}

#[test]
fn sessions_of_different_firms_trade() {
    let mut harness = Harness::with(2, |settings| {
        settings.accounts[1] = Credentials::new("OTHERKEY", KEY, "XYZ", "OTHER").unwrap();
    });
    let id = harness.connect();
    harness.log_on(id);
    let other = harness.connect();
    let timestamp = harness.timestamp();
    let by = ("OTHERKEY", "XYZ", "OTHER");
    let uuid = super::harness::UUID;
    harness.send_one(other, &crate::client::negotiate_of(uuid, timestamp, by));
    let timestamp = harness.timestamp();
    let reply = harness.send_one(other, &crate::client::establish_of(uuid, timestamp, by));
    assert_eq!(reply.template(), 504);
    for id in [id, other] {
        let reply = harness.send_one(id, &definition(&Definition::new(ABSENT)));
        assert_eq!(reply.template(), 519);
    }
    let price = harness.market.matching().best(0, Side::Bid).unwrap().price.0 + TICK;
    harness.send_one(id, &order_of(2, SideReq::BUY, price, 5, ABSENT));
    let replies = harness.send(other, &order_of(2, SideReq::SELL, price, 3, ABSENT));
    assert_eq!(described(&replies), ["new 2", "trade 2 3"]);
}

#[test]
fn only_orders_that_would_have_traded_are_canceled() {
    let (mut harness, [id, other, _], price) = harness();
    // In the queue: another firm's order of 2, then own orders of 5 and 4; one more at a worse
    // price.
    harness.send_one(other, &order_of(5, SideReq::BUY, price, 2, OTHER_ID));
    harness.send_one(id, &order_of(5, SideReq::BUY, price, 5, ABSENT));
    harness.send_one(id, &order_of(6, SideReq::BUY, price, 4, ABSENT));
    harness.send_one(id, &order_of(7, SideReq::BUY, price - TICK, 4, ABSENT));
    // The aggressor is filled by the order ahead: nothing is canceled.
    let replies = harness.send(id, &order_of(8, SideReq::SELL, price, 2, OLDEST));
    assert_eq!(described(&replies), ["new 8", "trade 8 2"]);
    // The next one meets both own orders at its price, and not the one beyond its limit.
    let replies = harness.send(id, &order_of(9, SideReq::SELL, price, 1, OLDEST));
    assert_eq!(described(&replies), ["new 9", "cancel 5 103", "cancel 6 103"]);
    assert_eq!(open(&harness, Side::Bid, price - TICK), 4);
    assert_eq!(open(&harness, Side::Offer, price), 1);
}

#[test]
fn aggressor_trades_before_it_is_canceled() {
    let (mut harness, [id, other, _], price) = harness();
    harness.send_one(other, &order_of(5, SideReq::BUY, price, 2, OTHER_ID));
    harness.send_one(id, &order_of(5, SideReq::BUY, price, 5, ABSENT));
    let replies = harness.send(id, &order_of(6, SideReq::SELL, price, 4, NEWEST));
    assert_eq!(described(&replies), ["new 6", "trade 6 2", "cancel 6 107"]);
    let cancel = decode!(ExecutionReportCancel534, replies[2]);
    assert_eq!(cancel.cum_qty(), 2);
    assert_eq!((open(&harness, Side::Bid, price), open(&harness, Side::Offer, price)), (5, 0));
}

#[test]
fn minimum_quantity_does_not_count_own_orders() {
    for (list, reports) in [(OLDEST, ["new 6", "524"]), (NEWEST, ["new 6", "524"])] {
        let (mut harness, [id, ..], price) = harness();
        harness.send_one(id, &order_of(5, SideReq::BUY, price, 5, ABSENT));
        let fill_or_kill = order_with(6, price, |order| {
            order
                .set_side(SideReq::SELL)
                .set_order_qty(3)
                .set_time_in_force(TimeInForce::FILL_OR_KILL)
                .set_party_details_list_req_id(list);
        });
        let replies = harness.send(id, &fill_or_kill);
        assert_eq!(described(&replies), reports);
        // It could not trade, so nothing is canceled.
        assert_eq!(open(&harness, Side::Bid, price), 5);
    }
}

#[test]
fn triggered_stop_order_is_an_aggressor() {
    let (mut harness, [id, other, _], price) = harness();
    let stop = order_with(5, price, |order| {
        order
            .set_side(SideReq::SELL)
            .set_ord_type(hairpin_cme_codecs::ilink3::OrderTypeReq::STOP_LIMIT)
            .set_price(hairpin_sbe::Decimal(price - TICK))
            .set_stop_px(hairpin_sbe::Decimal(price))
            .set_party_details_list_req_id(NEWEST);
    });
    assert_eq!(harness.send_one(id, &stop).template(), 522);
    harness.send_one(id, &order_of(6, SideReq::BUY, price, 5, ABSENT));
    harness.drain_feed();
    harness.send(other, &order_of(5, SideReq::SELL, price, 1, OTHER_ID));
    assert_eq!(described(&harness.read(id)), ["trade 6 1", "new 5", "cancel 5 107"]);
}

#[test]
fn on_demand_details_prevent_a_self_match() {
    let (mut harness, [id, ..], price) = harness();
    harness.send_one(id, &order_of(5, SideReq::BUY, price, 5, ABSENT));
    let self_match = (Some(99), Some(SMPI::CANCEL_NEWEST));
    harness.send(id, &definition(&Definition { number: 6, self_match, ..Definition::new(0) }));
    let replies = harness.send(id, &order_of(7, SideReq::SELL, price, 3, 0));
    assert_eq!(described(&replies), ["519", "new 7", "cancel 7 107"]);
}

#[test]
fn quote_that_is_the_aggressor_is_never_canceled() {
    let (mut harness, [id, ..], price) = harness();
    harness.send_one(id, &order_of(5, SideReq::BUY, price, 5, ABSENT));
    let entry = QuoteEntry { offer: (price, 3), ..QuoteEntry::default() };
    let quote = mass_quote_with(6, &[entry], |root| {
        root.set_party_details_list_req_id(NEWEST);
    });
    let replies = harness.send(id, &quote);
    assert_eq!(described(&replies), ["545", "cancel 5 103"]);
    assert_eq!((open(&harness, Side::Bid, price), open(&harness, Side::Offer, price)), (0, 3));
    // A resting quote is canceled like an order.
    let replies = harness.send(id, &order_of(7, SideReq::BUY, price, 1, OLDEST));
    assert_eq!(described(&replies), ["new 7", "cancel 1 103"]);
    assert_eq!((open(&harness, Side::Bid, price), open(&harness, Side::Offer, price)), (1, 0));
}
