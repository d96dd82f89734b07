//! MassQuoteRequest567: one-sided quotes and their answers.

use hairpin_cme_codecs::ilink3::mass_quote_response571::NoQuoteEntries;
use hairpin_cme_codecs::ilink3::{
    self, BooleanNULL, BusinessReject521, ExecutionReportTradeOutright525, MassQuoteResponse571,
    QuoteAckStatus, QuoteCancelAck563, SideReq,
};
use hairpin_exchange::{ConnectionId, Owner, Side, TradingStatus};

use super::harness::{Harness, UUID};
use crate::client::{
    CancelNames, QuoteEntry, Reply, SideEntry, mass_quote, mass_quote_request_with, order_with,
    quote_cancel_by, retransmit_request_of,
};
use crate::decode;

const TICK: i64 = 250_000_000;

/// Creates a session. Returns the best bid and the best offer.
fn harness() -> (Harness, ConnectionId, i64, i64) {
    let (harness, id) = Harness::established();
    let best = |side| harness.market.matching().best(0, side).unwrap().price.0;
    let (bid, offer) = (best(Side::Bid), best(Side::Offer));
    (harness, id, bid, offer)
}

fn entry(id: u32, side: Side, price: i64, quantity: u32) -> SideEntry {
    let side = match side {
        Side::Bid => ilink3::Side::BUY,
        Side::Offer => ilink3::Side::SELL,
    };
    SideEntry { id, set: 1, security: 1_001, side, price, quantity }
}

fn request(number: u32, entries: &[SideEntry]) -> Vec<u8> {
    mass_quote_request_with(number, entries, |_| {})
}

/// Returns the session's quotes in the first book by side: id, price and quantity.
fn quoted(harness: &Harness) -> [Vec<(u64, i64, u32)>; 2] {
    Side::BOTH.map(|side| {
        let orders = harness.market.matching().orders(0, side);
        let own = orders.filter(|order| order.owner == Owner(1));
        own.map(|order| (order.id.0, order.price.0, order.remaining)).collect()
    })
}

/// Returns the prices and quantities of the session's quotes.
fn prices(harness: &Harness) -> [Vec<(i64, u32)>; 2] {
    quoted(harness).map(|side| side.into_iter().map(|(_, price, count)| (price, count)).collect())
}

/// Returns QuoteEntryID, order and reason of every entry, in order.
fn listed(reply: &Reply) -> Vec<(u32, Option<u64>, Option<u8>)> {
    let answer = decode!(MassQuoteResponse571, reply);
    let (mut entries, mut scratch) = (answer.no_quote_entries(), NoQuoteEntries::SCRATCH);
    let mut listed = Vec::new();
    while let Some(of) = entries.next(&mut scratch) {
        listed.push((of.quote_entry_id(), of.order_id(), of.quote_entry_reject_reason()));
    }
    listed
}

#[test]
fn entries_enter_change_or_remove_one_side() {
    let (mut harness, id, bid, offer) = harness();
    let both = [entry(5, Side::Bid, bid, 3), entry(6, Side::Offer, offer, 4)];
    let reply = harness.send_one(id, &request(1, &both));
    let [bids, offers] = quoted(&harness);
    assert_eq!((bids[0].1, bids[0].2, offers[0].1, offers[0].2), (bid, 3, offer, 4));
    assert_eq!(listed(&reply), [(5, Some(bids[0].0), None), (6, Some(offers[0].0), None)]);
    let answer = decode!(MassQuoteResponse571, reply);
    assert_eq!((answer.seq_num(), answer.uuid(), answer.quote_id()), (1, UUID, 9_001));
    assert_eq!((answer.quote_status(), answer.quote_reject_reason()), (QuoteAckStatus(0), None));
    assert_eq!((answer.no_processed_entries(), answer.tot_no_quote_entries()), (2, Some(2)));
    assert_eq!(
        (answer.sender_id().to_string(), answer.party_details_list_req_id()),
        ("TRADER".into(), 1)
    );
    let (mut entries, mut scratch) = (answer.no_quote_entries(), NoQuoteEntries::SCRATCH);
    let first = entries.next(&mut scratch).unwrap();
    assert_eq!(
        (first.quote_set_id(), first.security_id(), first.side()),
        (1, 1_001, ilink3::Side::BUY)
    );
    // One side changes and keeps its id and priority; the other side stays.
    let fewer = [entry(7, Side::Bid, bid, 2)];
    let reply = harness.send_one(id, &request(2, &fewer));
    assert_eq!(listed(&reply), [(7, Some(bids[0].0), None)]);
    assert_eq!(prices(&harness), [vec![(bid, 2)], vec![(offer, 4)]]);
    // An entry without quantity or price removes the side and has no order.
    let reply = harness.send_one(id, &request(3, &[entry(8, Side::Offer, offer, 0)]));
    assert_eq!(listed(&reply), [(8, None, None)]);
    assert_eq!(prices(&harness), [vec![(bid, 2)], vec![]]);
    harness.drain_feed();
    harness.send_one(id, &request(4, &[entry(8, Side::Bid, 0, 5)]));
    assert_eq!(prices(&harness), [vec![], vec![]]);
    assert_eq!((harness.counters().mass_quotes, harness.counters().quote_rejects), (4, 0));
}

#[test]
fn shares_quotes_with_mass_quote_and_quote_cancel() {
    let (mut harness, id, bid, offer) = harness();
    let quote = QuoteEntry { bid: (bid, 5), offer: (offer, 5), ..QuoteEntry::default() };
    harness.send_one(id, &mass_quote(1, &[quote]));
    let beside = SideEntry { set: 2, ..entry(2, Side::Bid, bid - TICK, 1) };
    harness.send_one(id, &request(2, &[entry(1, Side::Bid, bid, 4), beside]));
    assert_eq!(prices(&harness), [vec![(bid, 4), (bid - TICK, 1)], vec![(offer, 5)]]);
    let reply = harness.send_one(id, &quote_cancel_by(3, CancelNames::Sets(&[1])));
    assert_eq!(decode!(QuoteCancelAck563, reply).no_processed_entries(), 1);
    assert_eq!(prices(&harness), [vec![(bid - TICK, 1)], vec![]]);
}

#[test]
fn new_price_does_not_trade_with_its_own_quote() {
    let (mut harness, id, bid, offer) = harness();
    let middle = bid + TICK;
    harness.send_one(
        id,
        &request(1, &[entry(1, Side::Bid, middle, 5), entry(2, Side::Offer, offer, 5)]),
    );
    // The new offer would cross the bid, which is canceled; an order that it does not cross stays.
    assert_eq!(harness.send(id, &request(2, &[entry(3, Side::Offer, middle, 5)])).len(), 1);
    assert_eq!(prices(&harness), [vec![], vec![(middle, 5)]]);
    harness.drain_feed();
    harness.send_one(id, &request(3, &[entry(4, Side::Bid, bid, 5)]));
    assert_eq!(prices(&harness), [vec![(bid, 5)], vec![(middle, 5)]]);
}

#[test]
fn trade_has_the_entry_id_and_follows_the_answer() {
    let (mut harness, id, _, offer) = harness();
    let quantity = harness.market.matching().best(0, Side::Offer).unwrap().quantity;
    harness.drain_feed();
    let replies = harness.send(id, &request(1, &[entry(77, Side::Bid, offer, quantity + 1)]));
    assert_eq!(replies[0].template(), 571);
    let order = listed(&replies[0])[0].1;
    let trade = decode!(ExecutionReportTradeOutright525, replies[1]);
    assert_eq!((trade.cl_ord_id().to_string(), Some(trade.order_id())), ("77".into(), order));
    assert_eq!((trade.last_qty(), trade.leaves_qty(), trade.side()), (quantity, 1, SideReq::BUY));
    // The remainder rests and trades with the same entry id.
    let other = harness.connect();
    harness.log_on_by(other, ("OTHERKEY", "XYZ"));
    let sell = order_with(1, offer, |order| {
        order.set_side(SideReq::SELL);
    });
    harness.drain_feed();
    harness.send(other, &sell);
    let replies = harness.read(id);
    let last = decode!(ExecutionReportTradeOutright525, replies[0]);
    assert_eq!((last.cl_ord_id().to_string(), last.leaves_qty()), ("77".into(), 0));
}

#[test]
fn rejected_entries_leave_no_order_on_their_side() {
    let (mut harness, id, bid, offer) = harness();
    harness
        .send_one(id, &request(1, &[entry(1, Side::Bid, bid, 5), entry(2, Side::Offer, offer, 5)]));
    harness.market.set_status(harness.now, Some(1), TradingStatus::TradingHalt);
    harness.drain_feed();
    let entries = [
        entry(3, Side::Bid, bid + 1, 5),
        SideEntry { security: 7, ..entry(4, Side::Bid, bid, 5) },
        SideEntry { security: 1_002, ..entry(5, Side::Bid, bid, 5) },
        entry(7, Side::Offer, offer, 10_001),
        SideEntry { set: 2, ..entry(8, Side::Bid, bid, 1) },
    ];
    let reply = harness.send_one(id, &request(2, &entries));
    let reasons: Vec<Option<u8>> =
        listed(&reply).into_iter().map(|(_, _, reason)| reason).collect();
    assert_eq!(reasons, [Some(8), Some(1), Some(2), Some(99), None]);
    let answer = decode!(MassQuoteResponse571, reply);
    assert_eq!((answer.no_processed_entries(), answer.quote_status()), (1, QuoteAckStatus(0)));
    assert_eq!(prices(&harness), [vec![(bid, 1)], vec![]]);
    assert_eq!(harness.counters().quote_rejects, 4);
    // If all entries are rejected, the message is rejected with the reason of the first.
    let reply = harness.send_one(id, &request(3, &entries[..2]));
    let answer = decode!(MassQuoteResponse571, reply);
    assert_eq!(
        (answer.quote_status(), answer.quote_reject_reason()),
        (QuoteAckStatus::REJECTED, Some(8))
    );
}

#[test]
fn rejects_empty_oversized_and_blocking_messages() {
    let (mut harness, id, bid, _) = harness();
    let far = bid - 30 * TICK;
    let many: Vec<SideEntry> =
        (1..=51).map(|set| SideEntry { set, ..entry(set.into(), Side::Bid, far, 1) }).collect();
    for (number, entries) in [(1, &many[..0]), (2, &many[..])] {
        let reply = harness.send_one(id, &request(number, entries));
        let answer = decode!(MassQuoteResponse571, reply);
        assert_eq!(
            (answer.quote_status(), answer.quote_reject_reason()),
            (QuoteAckStatus::REJECTED, Some(3))
        );
        assert!(listed(&reply).is_empty());
    }
    let (yes, no) = (BooleanNULL::TRUE, BooleanNULL::FALSE);
    let open = mass_quote_request_with(3, &many[..1], |root| {
        root.set_quote_entry_open(no);
    });
    let control = mass_quote_request_with(4, &many[..1], |root| {
        root.set_quote_entry_control(yes);
    });
    let nobody = mass_quote_request_with(5, &many[..1], |root| {
        root.set_sender_id("");
    });
    // The response would repeat the side.
    let undefined = SideEntry { side: ilink3::Side(9), ..entry(6, Side::Bid, bid, 5) };
    let side = request(6, &[many[0], undefined]);
    for (message, reason, tag) in
        [(open, 0, 9_182), (control, 0, 39_034), (nobody, 5, 5_392), (side, 115, 54)]
    {
        let reply = harness.send_one(id, &message);
        let reject = decode!(BusinessReject521, reply);
        assert_eq!((reject.business_reject_reason(), reject.ref_tag_id()), (reason, Some(tag)));
        assert_eq!(reject.ref_msg_type(), "i");
    }
    assert_eq!(prices(&harness), [vec![], vec![]]);
    // The maximum number of entries, also when retransmitted.
    let reply = harness.send_one(id, &request(7, &many[..50]));
    assert_eq!((listed(&reply).len(), prices(&harness)[0].len()), (50, 50));
    let timestamp = harness.timestamp();
    let again = harness.send(id, &retransmit_request_of(UUID, timestamp, None, 7, 1));
    assert_eq!(decode!(MassQuoteResponse571, again[1]).poss_retrans_flag().0, 1);
    assert_eq!(listed(&again[1]), listed(&reply));
}
