//! Quotes and quote cancels.

use hairpin_cme_codecs::ilink3::mass_quote_ack545::NoQuoteEntries;
use hairpin_cme_codecs::ilink3::quote_cancel_ack563::{
    NoQuoteEntries as UnknownEntries, NoQuoteSets as UnknownSets,
};
use hairpin_cme_codecs::ilink3::{
    BusinessReject521, ExecutionReportTradeOutright525, MassQuoteAck545, OrderCancelReject535,
    OrderCancelReplaceReject536, QuoteAckStatus, QuoteCancelAck563, QuoteCxlStatus, SideReq,
};
use hairpin_exchange::{ConnectionId, Order, Owner, Side, TradingStatus};

use super::harness::Harness;
use crate::client::{
    CancelNames, QuoteEntry, Reply, cancel, mass_action_with, mass_quote, order_with, quote_cancel,
    quote_cancel_by, replace_with,
};
use crate::decode;

const TICK: i64 = 250_000_000;

/// Creates a quoting session and another one. Returns the best bid and the best offer.
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

/// Returns the session's orders in an instrument by side: price and quantity.
fn quoted(harness: &Harness, instrument: u32) -> [Vec<(i64, u32)>; 2] {
    Side::BOTH.map(|side| {
        let orders = harness.market.matching().orders(instrument, side);
        let own = orders.filter(|order| order.owner == Owner(1));
        own.map(|order: &Order| (order.price.0, order.remaining)).collect()
    })
}

/// Returns the number of accepted entries, and the rejected ones with their reasons.
fn acknowledged(reply: &Reply) -> (u8, Vec<(u32, u8)>) {
    let ack = decode!(MassQuoteAck545, reply);
    let (mut entries, mut scratch) = (ack.no_quote_entries(), NoQuoteEntries::SCRATCH);
    let mut refused = Vec::new();
    while let Some(entry) = entries.next(&mut scratch) {
        refused.push((entry.quote_entry_id(), entry.quote_entry_reject_reason()));
    }
    let is_rejected = ack.quote_status() == QuoteAckStatus::REJECTED;
    assert_eq!(
        (is_rejected, ack.quote_reject_reason().is_some()),
        (ack.no_processed_entries() == 0, is_rejected)
    );
    (ack.no_processed_entries(), refused)
}

fn both(bid: i64, offer: i64, quantity: u32) -> QuoteEntry {
    QuoteEntry { bid: (bid, quantity), offer: (offer, quantity), ..QuoteEntry::default() }
}

#[test]
fn quote_rests_changes_and_trades() {
    let (mut harness, id, other, bid, offer) = harness();
    let reply = harness.send_one(id, &mass_quote(1, &[both(bid, offer, 5)]));
    let ack = decode!(MassQuoteAck545, reply);
    assert_eq!((ack.quote_id(), ack.seq_num(), ack.tot_no_quote_entries()), (9_001, 1, Some(1)));
    assert_eq!(acknowledged(&reply), (1, vec![]));
    assert_eq!(quoted(&harness, 0), [vec![(bid, 5)], vec![(offer, 5)]]);
    // In one instrument, another price for the bid and a smaller offer; a quote in a second one.
    let elsewhere = QuoteEntry { id: 2, security: 1_002, bid: (TICK, 1), ..QuoteEntry::default() };
    let changed = QuoteEntry { id: 3, bid: (bid - TICK, 6), offer: (offer, 4), ..elsewhere };
    let changed = QuoteEntry { security: 1_001, ..changed };
    let reply = harness.send_one(id, &mass_quote(2, &[changed, elsewhere]));
    assert_eq!(acknowledged(&reply), (2, vec![]));
    assert_eq!(quoted(&harness, 0), [vec![(bid - TICK, 6)], vec![(offer, 4)]]);
    assert_eq!(quoted(&harness, 1), [vec![(TICK, 1)], vec![]]);
    // A quote of another set is added; a side without price or size is removed.
    let beside = QuoteEntry { set: 2, bid: (bid - 2 * TICK, 1), ..QuoteEntry::default() };
    let half = QuoteEntry { bid: (bid - TICK, 6), offer: (offer, 0), ..QuoteEntry::default() };
    harness.send_one(id, &mass_quote(3, &[beside, half]));
    assert_eq!(quoted(&harness, 0), [vec![(bid - TICK, 6), (bid - 2 * TICK, 1)], vec![]]);
    // All bids above are taken, then three contracts of the quote.
    harness.send_one(
        id,
        &mass_quote(4, &[QuoteEntry { id: 77, bid: (bid + TICK, 3), ..both(0, 0, 0) }]),
    );
    let sell = order_with(1, bid + TICK, |order| {
        order.set_side(SideReq::SELL).set_order_qty(2);
    });
    harness.drain_feed();
    assert_eq!(harness.send(other, &sell).len(), 2);
    let reply = &harness.read(id)[0];
    let trade = decode!(ExecutionReportTradeOutright525, reply);
    assert_eq!(
        (trade.cl_ord_id().to_string(), trade.last_qty(), trade.leaves_qty()),
        ("77".into(), 2, 1)
    );
    assert_eq!(trade.side(), SideReq::BUY);
    assert_eq!(harness.counters().mass_quotes, 4);
}

#[test]
fn new_quote_does_not_trade_with_the_previous_one() {
    let (mut harness, id, _, bid, offer) = harness();
    harness.send_one(id, &mass_quote(1, &[both(bid + TICK, offer, 5)]));
    let middle = bid + TICK;
    // The new offer is at the old bid, and vice versa.
    let down = QuoteEntry { bid: (bid - TICK, 5), offer: (middle, 5), ..QuoteEntry::default() };
    assert_eq!(harness.send(id, &mass_quote(2, &[down])).len(), 1);
    assert_eq!(quoted(&harness, 0), [vec![(bid - TICK, 5)], vec![(middle, 5)]]);
    let up = QuoteEntry { bid: (middle, 5), offer: (offer, 5), ..QuoteEntry::default() };
    assert_eq!(harness.send(id, &mass_quote(3, &[up])).len(), 1);
    assert_eq!(quoted(&harness, 0), [vec![(middle, 5)], vec![(offer, 5)]]);
}

#[test]
fn rejected_entries_are_listed_and_leave_no_quote() {
    let (mut harness, id, _, bid, offer) = harness();
    harness.send_one(id, &mass_quote(1, &[both(bid, offer, 5)]));
    let good = QuoteEntry { id: 9, security: 1_002, bid: (TICK, 1), ..QuoteEntry::default() };
    let of = |entry: QuoteEntry, id| QuoteEntry { id, ..entry };
    let wrong = [
        of(QuoteEntry { security: 7, ..both(bid, offer, 5) }, 1),
        of(both(offer, offer, 5), 2),
        of(both(bid + 1, offer, 5), 3),
        of(both(bid, offer, 10_001), 4),
        good,
    ];
    let reply = harness.send_one(id, &mass_quote(2, &wrong));
    assert_eq!(acknowledged(&reply), (1, vec![(1, 1), (2, 7), (3, 8), (4, 99)]));
    assert_eq!(quoted(&harness, 0), [vec![], vec![]]);
    assert_eq!(quoted(&harness, 1), [vec![(TICK, 1)], vec![]]);
    // An empty or oversized message is rejected as a whole.
    for (number, count) in [(3, 0), (4, 51)] {
        let reply = harness.send_one(id, &mass_quote(number, &vec![good; count]));
        let ack = decode!(MassQuoteAck545, reply);
        assert_eq!(
            (ack.quote_status(), ack.quote_reject_reason()),
            (QuoteAckStatus::REJECTED, Some(3))
        );
    }
    harness.drain_feed();
    harness.market.set_status(harness.now, Some(0), TradingStatus::TradingHalt);
    let reply = harness.send_one(id, &mass_quote(5, &[both(bid, offer, 5)]));
    assert_eq!(acknowledged(&reply), (0, vec![(1, 2)]));
}

/// Creates three quotes: two sets of one instrument, and one of another.
fn with_quotes() -> (Harness, ConnectionId) {
    let (mut harness, id, _, bid, offer) = harness();
    let elsewhere = QuoteEntry { security: 1_002, bid: (TICK, 1), ..QuoteEntry::default() };
    let second = QuoteEntry { set: 2, ..both(bid - TICK, offer + TICK, 3) };
    let reply = harness.send_one(id, &mass_quote(1, &[both(bid, offer, 5), second, elsewhere]));
    assert_eq!(acknowledged(&reply), (3, vec![]));
    (harness, id)
}

fn left(harness: &Harness) -> usize {
    [0, 1].into_iter().flat_map(|instrument| quoted(harness, instrument)).flatten().count()
}

#[test]
fn cancels_quotes_by_instrument_group_set_or_all() {
    let cases = [
        (CancelNames::Instruments(&[1_001]), QuoteCxlStatus::CANCELPER_INSTRUMENT, 2, 1),
        (CancelNames::Instruments(&[1_002, 1_001]), QuoteCxlStatus::CANCELPER_INSTRUMENT, 3, 0),
        (CancelNames::Groups(&["HP"]), QuoteCxlStatus::CANCELPER_INSTRUMENTGROUP, 3, 0),
        (CancelNames::Sets(&[2]), QuoteCxlStatus::CANCELPER_QUOTE_SET, 1, 3),
        (CancelNames::Sets(&[1]), QuoteCxlStatus::CANCELPER_QUOTE_SET, 2, 2),
        (CancelNames::All, QuoteCxlStatus::CANCELALLQUOTES, 3, 0),
    ];
    for (named, status, cancelled, stay) in cases {
        let mut messages = vec![quote_cancel(2, named)];
        if !matches!(named, CancelNames::All) {
            messages.push(quote_cancel_by(2, named));
        }
        for message in messages {
            let (mut harness, id) = with_quotes();
            let reply = harness.send_one(id, &message);
            let ack = decode!(QuoteCancelAck563, reply);
            assert_eq!(
                (ack.quote_status(), ack.quote_reject_reason()),
                (status, None),
                "{named:?}"
            );
            assert_eq!(
                (ack.no_processed_entries(), left(&harness)),
                (cancelled, stay),
                "{named:?}"
            );
            assert_eq!((ack.quote_id(), ack.seq_num()), (9_002, 2));
        }
    }
}

#[test]
fn rejects_quote_cancels_with_unknown_names_only() {
    let (mut harness, id) = with_quotes();
    let unknown = |reply: &Reply| {
        let ack = decode!(QuoteCancelAck563, reply);
        let (mut entries, mut scratch) = (ack.no_quote_entries(), UnknownEntries::SCRATCH);
        let mut instruments = Vec::new();
        while let Some(entry) = entries.next(&mut scratch) {
            instruments.push((entry.security_id(), entry.quote_entry_reject_reason()));
        }
        let (mut sets, mut scratch) = (ack.no_quote_sets(), UnknownSets::SCRATCH);
        let mut numbers = Vec::new();
        while let Some(set) = sets.next(&mut scratch) {
            numbers.push((set.quote_set_id(), set.quote_error_code()));
        }
        (ack.quote_status() == QuoteCxlStatus::REJECTED, instruments, numbers)
    };
    let reply = harness.send_one(id, &quote_cancel(2, CancelNames::Instruments(&[7])));
    assert_eq!(unknown(&reply), (true, vec![(7, 1)], vec![]));
    let reply = harness.send_one(id, &quote_cancel(3, CancelNames::Groups(&["X"])));
    assert!(unknown(&reply).0);
    let reply = harness.send_one(id, &quote_cancel(4, CancelNames::Sets(&[8])));
    assert_eq!(unknown(&reply), (true, vec![], vec![(8, 5)]));
    assert_eq!(left(&harness), 5);
    // The known names in the same cancel are canceled.
    let reply = harness.send_one(id, &quote_cancel(5, CancelNames::Instruments(&[7, 1_002])));
    assert_eq!(unknown(&reply), (false, vec![(7, 1)], vec![]));
    assert_eq!(left(&harness), 4);
    let reply = harness.send_one(id, &quote_cancel(6, CancelNames::Type(9)));
    let reject = decode!(BusinessReject521, reply);
    assert_eq!((reject.business_reject_reason(), reject.ref_tag_id()), (115, Some(298)));
    // A second cancel finds nothing, which is not an error.
    harness.send_one(id, &quote_cancel(7, CancelNames::All));
    let reply = harness.send_one(id, &quote_cancel(8, CancelNames::All));
    assert_eq!(decode!(QuoteCancelAck563, reply).no_processed_entries(), 0);
    assert_eq!((harness.counters().quote_cancels, harness.counters().quote_rejects), (7, 3));
}

#[test]
fn order_requests_do_not_change_quotes() {
    let (mut harness, id) = with_quotes();
    let quotes = left(&harness);
    let matching = harness.market.matching();
    let number = matching.orders(0, Side::Bid).find(|order| order.owner == Owner(1)).unwrap().id.0;
    let reply = harness.send_one(id, &cancel(2, number));
    assert_eq!(decode!(OrderCancelReject535, reply).cxl_rej_reason(), 2_045);
    harness.send_one(id, &mass_action_with(3, |_| {}));
    assert_eq!(left(&harness), quotes);
}

#[test]
fn quote_keeps_its_priority_if_unchanged() {
    let (mut harness, id, other, bid, offer) = harness();
    harness.send_one(id, &mass_quote(1, &[both(bid + TICK, offer, 5)]));
    let behind = order_with(1, bid + TICK, |order| {
        order.set_order_qty(5);
    });
    harness.send_one(other, &behind);
    harness.send_one(id, &mass_quote(2, &[both(bid + TICK, offer, 4)]));
    let first = harness.market.matching().orders(0, Side::Bid).next().unwrap();
    assert_eq!((first.owner, first.remaining), (Owner(1), 4));
}

#[test]
fn quote_trade_reports_its_side() {
    let (mut harness, id, other, bid, offer) = harness();
    assert!(offer - bid > TICK);
    harness.send_one(id, &mass_quote(1, &[both(bid, offer - TICK, 5)]));
    harness.drain_feed();
    harness.send(other, &order_with(1, offer - TICK, |_| {}));
    let trade = &harness.read(id)[0];
    assert_eq!(decode!(ExecutionReportTradeOutright525, trade).side(), SideReq::SELL);
}

#[test]
fn price_of_0_removes_a_side_and_rejects_are_counted() {
    let (mut harness, id, _, bid, offer) = harness();
    let mut message = mass_quote(1, &[both(bid, offer, 5)]);
    let price = bid.to_le_bytes();
    let place = message.windows(8).position(|window| window == price).unwrap();
    message[place..place + 8].fill(0);
    assert_eq!(acknowledged(&harness.send_one(id, &message)), (1, vec![]));
    assert_eq!(quoted(&harness, 0), [vec![], vec![(offer, 5)]]);
    // An empty message, then two wrong entries: three.
    harness.send_one(id, &mass_quote(2, &[]));
    assert_eq!(harness.counters().quote_rejects, 1);
    let wrong = [QuoteEntry { security: 7, ..both(bid, offer, 5) }; 2];
    let reply = harness.send_one(id, &mass_quote(3, &wrong));
    assert_eq!(decode!(MassQuoteAck545, reply).quote_reject_reason(), Some(1));
    assert_eq!(harness.counters().quote_rejects, 3);
}

/// Creates one-sided quotes in so many sets, at the far end of a book.
fn quote_sets(harness: &mut Harness, id: ConnectionId, number: u32, sets: std::ops::Range<u16>) {
    let price = harness.far_price();
    let of = |set| QuoteEntry { set, bid: (price, 1), ..QuoteEntry::default() };
    let entries: Vec<QuoteEntry> = sets.map(of).collect();
    for (number, entries) in (number..).zip(entries.chunks(50)) {
        let reply = harness.send_one(id, &mass_quote(number, entries));
        assert_eq!(acknowledged(&reply), (entries.len() as u8, vec![]));
        harness.drain_feed();
    }
}

#[test]
fn session_is_limited_to_1024_live_quotes() {
    let (mut harness, id, _, _, _) = harness();
    let price = harness.far_price();
    quote_sets(&mut harness, id, 1, 0..1_024);
    let more = QuoteEntry { set: 2_000, bid: (price, 1), ..QuoteEntry::default() };
    let reply = harness.send_one(id, &mass_quote(22, &[more]));
    assert_eq!(acknowledged(&reply), (0, vec![(1, 3)]));
    // One earlier quote is removed: there is room for one, and not for another.
    let gone = QuoteEntry { set: 5, ..QuoteEntry::default() };
    harness.send_one(id, &mass_quote(23, &[gone]));
    let reply = harness.send_one(id, &mass_quote(24, &[more]));
    assert_eq!(acknowledged(&reply), (1, vec![]));
    let reply = harness.send_one(id, &mass_quote(25, &[QuoteEntry { set: 2_001, ..more }]));
    assert_eq!(acknowledged(&reply), (0, vec![(1, 3)]));
    assert_eq!(quoted(&harness, 0)[0].len(), 1_024);
}

#[test]
fn empty_quote_is_canceled_without_being_counted() {
    let (mut harness, id, _, bid, offer) = harness();
    harness.send_one(id, &mass_quote(1, &[both(bid, offer, 5)]));
    harness.send_one(id, &mass_quote(2, &[both(0, 0, 0)]));
    let reply = harness.send_one(id, &quote_cancel(3, CancelNames::All));
    assert_eq!(decode!(QuoteCancelAck563, reply).no_processed_entries(), 0);
}

#[test]
fn quote_cancel_reject_names_unknown_set_or_instrument() {
    let (mut harness, id) = with_quotes();
    for (number, named, reason) in
        [(2, CancelNames::Sets(&[9][..]), 5), (3, CancelNames::Instruments(&[9][..]), 1)]
    {
        let reply = harness.send_one(id, &quote_cancel(number, named));
        assert_eq!(decode!(QuoteCancelAck563, reply).quote_reject_reason(), Some(reason));
    }
}

#[test]
fn order_replace_does_not_change_quotes() {
    let (mut harness, id, _, bid, offer) = harness();
    harness.send_one(id, &mass_quote(1, &[both(bid, offer, 5)]));
    let own = |order: &&Order| order.owner == Owner(1);
    let quote = harness.market.matching().orders(0, Side::Bid).find(own).unwrap().id;
    let reply = harness.send_one(id, &replace_with(2, quote.0, bid, |_| {}));
    assert_eq!(decode!(OrderCancelReplaceReject536, reply).cxl_rej_reason(), 2_045);
    assert_eq!(quoted(&harness, 0), [vec![(bid, 5)], vec![(offer, 5)]]);
}

#[test]
fn mass_quote_ack_repeats_request_fields() {
    let (mut harness, id, _, bid, offer) = harness();
    let wrong = [
        QuoteEntry { set: 5, security: 7, ..both(bid, offer, 5) },
        QuoteEntry { id: 2, set: 6, ..both(offer, bid, 5) },
    ];
    let mut message = mass_quote(1, &wrong);
    // QuoteReqID is at offset 41 of the block.
    message[12 + 41..][..8].copy_from_slice(&88_u64.to_le_bytes());
    let reply = harness.send_one(id, &message);
    let ack = decode!(MassQuoteAck545, reply);
    assert_eq!((ack.quote_req_id(), ack.tot_no_quote_entries()), (Some(88), Some(2)));
    // If all entries are rejected, the message is rejected with the reason of the first.
    assert_eq!((ack.quote_reject_reason(), ack.no_processed_entries()), (Some(1), 0));
    let (mut entries, mut scratch) = (ack.no_quote_entries(), NoQuoteEntries::SCRATCH);
    for (set, security) in [(5, 7), (6, 1_001)] {
        let entry = entries.next(&mut scratch).unwrap();
        assert_eq!((entry.quote_set_id(), entry.security_id()), (set, security));
    }
}
