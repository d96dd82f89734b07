//! Definitions of all kinds, from the loop and from the incremental feed.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use crate::support::*;
use hairpin_cme_codecs::mdp3::{
    InstAttribValue, LegSide, PutOrCall, RepoSubType, SecurityUpdateAction,
};
use hairpin_mdp3::{
    Action, ChannelState, Definition, Details, Feed, Leg, Price9, Related, Settings,
};
use hairpin_time::{Duration, Utc};

fn definition(trace: &Trace, id: i32) -> &Definition {
    trace.channel.definition(trace.channel.find(id).unwrap()).unwrap()
}

fn legs(trace: &Trace, id: i32) -> Vec<Leg> {
    let instrument = trace.channel.find(id).unwrap();
    trace.channel.instruments().legs(instrument).copied().collect()
}

#[test]
fn option_encoding_matches_layout() {
    let packet = packet(1).option(0x0A, 4, 7);
    let body = &packet.bytes()[12 + 10..];
    // PutOrCall at 71, StrikePrice at 80, TickRule at 135, InstrumentGUID at 213, block of 221.
    assert_eq!((body[71], body[135]), (1, 4));
    assert_eq!(body[80..88], 4_500_000_000_000_i64.to_le_bytes());
    assert_eq!(body[213..221], 77_u64.to_le_bytes());
    // Two events of 9 bytes: type, then time.
    assert_eq!(body[221..234], [9, 0, 2, 5, 0xE8, 3, 0, 0, 0, 0, 0, 0, 7]);
}

#[test]
fn option_has_underlyings() {
    let mut trace = Trace::new(SETTINGS);
    trace.instrument(&packet(1).definition(7, 2, 10).option(9, 2, 7));
    trace.assert_callbacks([
        "definition 7 ES7 Add",
        "definition 9 ESZ6 C4500 Add",
        "channel Recovering",
    ]);
    let option = definition(&trace, 9);
    assert_eq!((option.security_exchange.as_str(), option.security_group.as_str()), ("XCME", "EZ"));
    assert_eq!((option.min_trade_vol, option.max_trade_vol), (1, 3_000));
    assert_eq!((option.match_algorithm, option.underlying_product), (b'K', Some(5)));
    assert_eq!((option.depth, option.implied_depth), (3, 0));
    assert_eq!((option.min_price_increment, option.instrument_guid), (None, Some(77)));
    assert_eq!(option.activation, Some(Utc::from_nanos(1_000)));
    assert_eq!(option.last_trade, Some(Utc::from_nanos(2_000)));
    assert_eq!(option.attributes, InstAttribValue::ELECTRONIC_MATCH_ELIGIBLE);
    let Details::Option(details) = option.details else { panic!("{:?}", option.details) };
    assert_eq!(details.put_or_call, PutOrCall::CALL);
    assert_eq!(details.strike_price, Some(Price9(4_500_000_000_000)));
    assert_eq!(details.strike_currency, "USD");
    assert_eq!((details.min_cab_price, details.tick_rule), (Some(Price9(5_000_000)), Some(4)));
    let instruments = trace.channel.instruments();
    let instrument = instruments.find(9).unwrap();
    let underlyings: Vec<_> = instruments.underlyings(instrument).collect();
    assert_eq!(underlyings.len(), 1);
    assert_eq!((underlyings[0].security_id, underlyings[0].symbol.as_str()), (Some(7), "ESZ6"));
    let Some(Related::Instrument(related)) = instruments.related(instrument).nth(1) else {
        panic!("the related instrument follows the underlying")
    };
    assert_eq!(related.security_id, Some(99));
    assert_eq!(instruments.legs(instrument).count(), 0);
}

#[test]
fn spread_has_legs() {
    let mut trace = Trace::in_sync();
    let packet = packet(101).spread(9, 3, &[7, 8]);
    // Legs of 18 bytes at the end: SecurityID, side, ratio, price, delta.
    let second = &packet.bytes()[packet.bytes().len() - 18..];
    assert_eq!(second[..6], [8, 0, 0, 0, 2, 2]);
    assert_eq!(second[6..14], (-1_i64).to_le_bytes());
    assert_eq!(second[14..], i32::MAX.to_le_bytes());
    trace.a(&packet);
    trace.assert_callbacks(["definition 9 ESZ6-ESH7 Add", "9 in sync", "end 101"]);
    let legs = legs(&trace, 9);
    assert_eq!(legs.len(), 2);
    assert_eq!((legs[0].security_id, legs[0].side, legs[0].ratio), (7, LegSide::BUY_SIDE, 1));
    assert_eq!((legs[1].security_id, legs[1].side, legs[1].ratio), (8, LegSide::SELL_SIDE, 2));
    assert_eq!((legs[1].price, legs[1].option_delta), (Some(Price9(-1)), None));
    let spread = definition(&trace, 9);
    assert!(spread.user_defined);
    let Details::Spread(details) = spread.details else { panic!("{:?}", spread.details) };
    assert_eq!((details.sub_type.as_str(), details.price_ratio), ("SP", None));
}

#[test]
fn fx_and_fixed_income_have_details() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).fx(9, 5).bond(10, 5).repo(11, 5));
    let fx = definition(&trace, 9);
    assert_eq!((fx.symbol.as_str(), fx.currency.as_str()), ("EURUSD", "EUR"));
    assert_eq!(fx.min_price_increment, Some(Price9(10_000)));
    let Details::Fx(details) = fx.details else { panic!("{:?}", fx.details) };
    assert_eq!(details.currency_symbol, "EUR/USD");
    assert_eq!((details.price_quote_currency.as_str(), details.settl_type.as_str()), ("USD", "0"));
    assert_eq!((details.intervening_days, details.price_precision), (2, 5));
    assert_eq!(details.alt_min_price_increment, Some(Price9(50_000)));
    let Details::FixedIncome(bond) = definition(&trace, 10).details else { panic!("a bond") };
    assert_eq!(bond.maturity_date, Some(24_000));
    assert_eq!(bond.coupon_rate, Some(Price9(4_250_000_000)));
    assert_eq!(definition(&trace, 10).main_fraction, Some(32));
    let Details::Repo(repo) = definition(&trace, 11).details else { panic!("a repo") };
    assert_eq!((repo.start_date, repo.end_date), (Some(20_454), Some(20_455)));
    assert_eq!((repo.sub_type, repo.term_code.as_str()), (RepoSubType::GC, "ON"));
    let instrument = trace.channel.find(11).unwrap();
    let underlying = trace.channel.instruments().underlyings(instrument).next().unwrap();
    assert_eq!((underlying.security_id, underlying.symbol.as_str()), (None, "TN10"));
    assert!(matches!(definition(&trace, 7).details, Details::Future(_)));
}

#[test]
fn version_12_definition_lacks_version_13_fields() {
    let mut trace = Trace::in_sync();
    let fx = packet(101).fx(9, 3);
    let mut body = fx.bytes()[12 + 10..].to_vec();
    // Version 12 lacks AltMinPriceIncrement at 309 and everything after it in the block.
    body.drain(309..337);
    trace.a(&packet(101).raw([309, 63, 1, 12], &body));
    let Details::Fx(details) = definition(&trace, 9).details else { panic!("an exchange rate") };
    assert_eq!((details.intervening_days, details.alt_min_price_increment), (2, None));
    assert_eq!(trace.channel.book_of(9).unwrap().depth(), 10, "the following groups are decoded");
}

#[test]
fn modified_spread_replaces_legs() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).spread(9, 3, &[7, 8]));
    trace.recorder.take();
    trace.a(&packet(102).spread(9, 3, &[7, 8]));
    trace.assert_callbacks(["end 102"]);
    trace.a(&packet(103).spread_as(SecurityUpdateAction::MODIFY, 9, 3, &[7, 8, 7]));
    trace.assert_callbacks(["definition 9 ESZ6-ESH7 Modify", "end 103"]);
    assert_eq!(legs(&trace, 9).len(), 3);
    trace.a(&packet(104).spread_as(SecurityUpdateAction::DELETE, 9, 3, &[7, 8, 7]));
    assert!(legs(&trace, 9).is_empty());
    assert_eq!(trace.channel.definition(trace.channel.find(9).unwrap()), None);
    trace.a(&packet(105).spread(9, 3, &[8]));
    assert_eq!(legs(&trace, 9).len(), 1);
}

#[test]
fn legs_can_change_without_limit() {
    let mut trace = Trace::in_sync_with(Settings { max_related: 4, ..SETTINGS }, 10);
    for sequence in 101..1_000 {
        let legs = [7, 8, 7, 8];
        let count = sequence as usize % 4 + 1;
        trace.a(&packet(sequence).spread(9, 3, &legs[..count]));
    }
    assert_eq!(trace.counter("related_over_capacity"), 0);
    assert_eq!(legs(&trace, 9).len(), 4);
}

#[test]
fn loop_definitions_compare_by_last_update_time() {
    let mut trace = Trace::new(SETTINGS);
    trace.instrument(&packet(1).renamed(7, 2, "OLD", 5));
    trace.assert_callbacks(["definition 7 OLD Modify"]);
    // The loop lags behind the incremental feed; its repetitions are not reported.
    trace.a(&packet(100).renamed(7, 2, "NEW", 6));
    trace.assert_callbacks(["definition 7 NEW Modify", "end 100"]);
    trace.instrument(&sent_at(2, 10).renamed(7, 2, "OLD", 5));
    trace.instrument(&sent_at(2, 20).renamed(7, 2, "SAME TIME", 6));
    trace.assert_callbacks([]);
    assert_eq!(definition(&trace, 7).symbol, "NEW");
    trace.instrument(&sent_at(2, 30).renamed(7, 2, "NEWER", 7));
    trace.assert_callbacks(["definition 7 NEWER Modify"]);
}

#[test]
fn collects_lost_definitions_again() {
    let mut trace = Trace::in_sync_late();
    // Packet 101, with a new instrument and a change of another, is lost.
    trace.a(&packet(102).book(END, &[bid(7, 1_001).add(1, 50, 1), bid(8, 1_001).add(1, 20, 1)]));
    trace.wait(Duration::from_millis(10));
    assert!(trace.actions().contains(&Action::Join(Feed::Instrument)));
    assert_eq!(trace.channel.state(), ChannelState::InSync, "books do not wait for the collection");
    trace.recorder.take();
    trace.instrument(&sent_at(1, 200).definition(7, 3, 10).renamed(8, 3, "NEW", 5));
    trace.assert_callbacks(["definition 8 NEW Modify"]);
    trace.instrument(&sent_at(2, 201).definition(9, 3, 10));
    trace.assert_callbacks(["definition 9 ES9 Add", "channel Recovering"]);
    assert_eq!(trace.actions(), [Action::Leave(Feed::Instrument)]);
    // The new instrument's books come from a snapshot after the gap.
    trace.snapshot(&sent_at(1, 202).snapshot(9, 102, 1, 4, &[(b'0', 1, 9, 1)]));
    assert_eq!(trace.book(9), "1@9 |");
}

#[test]
fn gap_during_collection_requires_another() {
    let mut trace = Trace::new(SETTINGS);
    trace.a(&packet(100).heartbeat());
    trace.instrument(&packet(1).definition(7, 2, 10));
    // Packet 101, a change of 7, is lost; 7 has already been collected.
    trace.a(&packet(102).heartbeat());
    trace.wait(Duration::from_millis(10));
    trace.instrument(&packet(2).definition(8, 2, 10));
    assert_eq!(
        trace.channel.state(),
        ChannelState::Recovering,
        "the first restores the price book"
    );
    assert!(!trace.actions().contains(&Action::Leave(Feed::Instrument)));
    trace.instrument(&sent_at(1, 20).renamed(7, 2, "NEW", 5).definition(8, 2, 10));
    assert_eq!(definition(&trace, 7).symbol, "NEW");
    assert_eq!(trace.actions(), [Action::Leave(Feed::Instrument)]);
}

#[test]
fn collects_definition_of_known_instrument_later() {
    let mut trace = Trace::new(SETTINGS);
    // Instrument 9 has entries during the collection, but the loop does not contain it yet.
    trace.a(&packet(100).book(END, &[bid(9, 1).add(1, 50, 1)]));
    trace.instrument(&packet(1).definition(7, 1, 10));
    trace.snapshot(&packet(1).snapshot(7, 100, 1, 0, &[]));
    trace.actions();
    trace.a(&packet(101).book(END, &[bid(9, 2).add(1, 51, 1)]));
    assert_eq!(trace.actions(), [Action::Join(Feed::Instrument)]);
    trace.instrument(&sent_at(1, 20).definition(7, 2, 10).definition(9, 2, 10));
    // A snapshot from before the dropped entry is rejected.
    trace.snapshot(&sent_at(1, 30).snapshot(9, 100, 2, 1, &[(b'0', 1, 50, 1)]));
    assert!(!trace.channel.book_of(9).unwrap().is_in_sync());
    let levels = [(b'0', 1, 51, 1), (b'0', 2, 50, 1)];
    trace.snapshot(&sent_at(2, 31).snapshot(9, 101, 2, 2, &levels));
    assert_eq!(trace.book(9), "1@51 1@50 |");
}
