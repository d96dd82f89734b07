//! Unsolicited quote cancels: QuoteCancelAck563 with the reason in tag 9775, after party details
//! under id 0.

use hairpin_cme_codecs::ilink3::party_details_definition_request_ack519::NoPartyDetails;
use hairpin_cme_codecs::ilink3::quote_cancel_ack563::NoQuoteEntries;
use hairpin_cme_codecs::ilink3::{
    PartyDetailsDefinitionRequestAck519, QuoteCancelAck563, QuoteCxlStatus,
};
use hairpin_exchange::{ConnectionId, GatewaySettings, Owner, RateLimits, Side, TradingStatus};

use super::harness::{Harness, UUID};
use crate::client::{
    Definition, QuoteEntry, Reply, definition, establish, mass_quote_with, order,
    retransmit_request_of,
};
use crate::decode;

const TICK: i64 = 250_000_000;

fn quote(number: u32, entries: &[QuoteEntry]) -> Vec<u8> {
    mass_quote_with(number, entries, |root| {
        root.set_party_details_list_req_id(7).set_sender_id("QUOTER");
    })
}

/// Creates a session with a quote in each instrument under registered party details, and an order.
fn with_quotes(change: impl FnOnce(&mut GatewaySettings)) -> (Harness, ConnectionId) {
    let mut harness = Harness::with(3, change);
    let id = harness.connect();
    harness.log_on(id);
    let price = harness.far_price();
    assert_eq!(harness.send_one(id, &definition(&Definition::new(7))).template(), 519);
    let first = QuoteEntry { id: 11, bid: (price, 5), ..QuoteEntry::default() };
    let second = QuoteEntry { id: 12, security: 1_002, bid: (TICK, 1), ..QuoteEntry::default() };
    assert_eq!(harness.send_one(id, &quote(2, &[first, second])).template(), 545);
    assert_eq!(harness.send_one(id, &order(3, price)).template(), 522);
    harness.drain_feed();
    (harness, id)
}

/// Returns the number of the session's orders in an instrument.
fn resting(harness: &Harness, instrument: u32) -> usize {
    let orders = harness.market.matching().orders(instrument, Side::Bid);
    orders.filter(|order| order.owner == Owner(1)).count()
}

/// A reported cancel: reason, status, number of quotes, and the listed entries.
type Cancel = (char, QuoteCxlStatus, u32, Vec<(u32, i32)>);

/// Expects pairs of party details and quote cancels. Returns the cancels.
#[track_caller]
fn cancels(replies: &[Reply]) -> Vec<Cancel> {
    assert!(replies.len().is_multiple_of(2), "{replies:?}");
    let cancel = |pair: &[Reply]| {
        let details = decode!(PartyDetailsDefinitionRequestAck519, pair[0]);
        assert_eq!(details.party_details_list_req_id(), 0);
        let (mut parties, mut scratch) = (details.no_party_details(), NoPartyDetails::SCRATCH);
        assert_eq!(parties.next(&mut scratch).unwrap().party_detail_id(), "TRADER");
        let ack = decode!(QuoteCancelAck563, pair[1]);
        assert_eq!((ack.party_details_list_req_id(), ack.quote_id()), (0, 9_002));
        assert_eq!(ack.sender_id(), "QUOTER");
        let (mut entries, mut scratch) = (ack.no_quote_entries(), NoQuoteEntries::SCRATCH);
        let mut listed = Vec::new();
        while let Some(entry) = entries.next(&mut scratch) {
            listed.push((entry.quote_entry_id(), entry.security_id()));
        }
        let reason = ack.unsolicited_cancel_type().map_or(' ', char::from);
        (reason, ack.quote_status(), ack.no_processed_entries(), listed)
    };
    replies.chunks(2).map(cancel).collect()
}

#[test]
fn lost_session_has_its_quotes_canceled_for_reason_a() {
    let (mut harness, id) = with_quotes(|settings| settings.cancels_on_disconnect = true);
    harness.gateway.handle_closed(id, &mut harness.listener);
    harness.report();
    assert_eq!((resting(&harness, 0), resting(&harness, 1)), (0, 0));
    let id = harness.connect();
    let timestamp = harness.timestamp();
    harness.send_one(id, &establish(UUID, timestamp, 4));
    let timestamp = harness.timestamp();
    let replies = harness.send(id, &retransmit_request_of(UUID, timestamp, None, 4, 0));
    let all = ('A', QuoteCxlStatus::CANCELALLQUOTES, 2, vec![]);
    assert_eq!(cancels(&replies[1..3]), [all]);
    // The order is canceled by a report of its own.
    assert_eq!((replies[3].template(), replies.len()), (534, 4));
}

#[test]
fn first_quote_above_the_reject_limit_cancels_all_quotes_for_reason_b() {
    let (mut harness, id) = with_quotes(|settings| settings.limits = Some(RateLimits::default()));
    let other = harness.connect();
    harness.log_on_by(other, ("OTHERKEY", "XYZ"));
    let price = harness.far_price();
    let theirs = QuoteEntry { bid: (price, 1), ..QuoteEntry::default() };
    harness.send_one(other, &mass_quote_with(1, &[theirs], |_| {}));
    // 350 per second are 1,050 in the window of 3 s. The 1,051st is rejected.
    for number in 4..1_053 {
        let replies = harness.send(id, &quote(number, &[]));
        assert_eq!((replies[0].template(), replies.len()), (545, 1));
    }
    assert_eq!((resting(&harness, 0), resting(&harness, 1)), (2, 1));
    let mut replies = harness.send(id, &quote(1_053, &[]));
    assert_eq!(replies.remove(0).template(), 521);
    let templates: Vec<u16> = replies.iter().map(Reply::template).collect();
    assert_eq!(templates, [519, 563]);
    let ack = decode!(QuoteCancelAck563, replies[1]);
    assert_eq!(ack.unsolicited_cancel_type(), Some(b'B'));
    assert_eq!(
        (ack.quote_status(), ack.no_processed_entries()),
        (QuoteCxlStatus::CANCELALLQUOTES, 2)
    );
    // The order stays, and so does the other session's quote.
    assert_eq!((resting(&harness, 0), resting(&harness, 1)), (1, 0));
    let orders = harness.market.matching().orders(0, Side::Bid);
    assert_eq!(orders.filter(|order| order.owner == Owner(2)).count(), 1);
    // No quote is left for the next rejected message.
    assert_eq!(harness.send_one(id, &quote(1_054, &[])).template(), 521);
}

#[test]
fn end_of_session_cancels_quotes_for_reason_e() {
    let (mut harness, id) = with_quotes(|_| {});
    harness.market.end_session(harness.now);
    harness.report();
    let mut replies = harness.read(id);
    // The day order is eliminated as an order.
    assert_eq!(replies.remove(0).template(), 524);
    let per_instrument = |entry| ('E', QuoteCxlStatus::CANCELPER_INSTRUMENT, 1, vec![entry]);
    assert_eq!(cancels(&replies), [per_instrument((11, 1_001)), per_instrument((12, 1_002))]);
}

#[test]
fn instrument_that_leaves_trading_loses_its_quotes_only() {
    let (mut harness, id) = with_quotes(|_| {});
    harness.market.set_status(harness.now, Some(0), TradingStatus::TradingHalt);
    harness.report();
    let expected = ('E', QuoteCxlStatus::CANCELPER_INSTRUMENT, 1, vec![(11, 1_001)]);
    assert_eq!(cancels(&harness.read(id)), [expected]);
    // The order in that instrument and the quote in the other one stay.
    assert_eq!((resting(&harness, 0), resting(&harness, 1)), (1, 1));
    assert_eq!(harness.counters().unsolicited_quote_cancels, 1);
}

#[test]
fn exchange_eliminates_quotes_for_reasons_c_and_d() {
    for (group_only, reason, scope) in [
        (false, 'C', QuoteCxlStatus::CANCELALLQUOTES),
        (true, 'D', QuoteCxlStatus::CANCELPER_INSTRUMENTGROUP),
    ] {
        let (mut harness, id) = with_quotes(|_| {});
        let (now, market) = (harness.now, &mut harness.market);
        harness.gateway.eliminate_quotes(now, 0, group_only, market);
        assert_eq!(cancels(&harness.read(id)), [(reason, scope, 2, vec![])]);
        assert_eq!((resting(&harness, 0), resting(&harness, 1)), (1, 0));
    }
}
