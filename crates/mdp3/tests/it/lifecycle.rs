//! The life of an instrument from its first definition to the last.

#![allow(clippy::unwrap_used, reason = "a packet that does not fit is an error in the test")]

use crate::support::*;
use hairpin_cme_codecs::mdp3::*;
use hairpin_mdp3::StatisticKind;
use hairpin_time::{Duration, Utc};

/// Builds a future with lot types that trades from `activation` through `last_trade`.
fn future(
    packet: PacketBuilder,
    action: SecurityUpdateAction,
    (activation, last_trade): (u64, u64),
    lots: &[(i8, i64)],
) -> PacketBuilder {
    packet.message(|buffer| {
        let (mut root, mut groups) = MDInstrumentDefinitionFuture54::encode(buffer).unwrap();
        root.set_match_event_indicator(MatchEventIndicator(END))
            .set_security_update_action(action)
            .set_security_group("ES")
            .set_symbol("ESH7")
            .set_security_id(9);
        let mut events = groups.no_events().unwrap();
        events.push().unwrap().set_event_type(EventType::ACTIVATION).set_event_time(activation);
        let last = EventType::LAST_ELIGIBLE_TRADE_DATE;
        events.push().unwrap().set_event_type(last).set_event_time(last_trade);
        let mut feed_types = groups.no_md_feed_types().unwrap();
        feed_types.push().unwrap().set_md_feed_type("GBX").set_market_depth(5);
        let mut rules = groups.no_lot_type_rules().unwrap();
        for (lot_type, size) in lots {
            let mut rule = rules.push().unwrap();
            rule.set_lot_type(*lot_type).set_min_lot_size(DecimalQty(*size));
        }
        groups.finish().unwrap()
    })
}

const NEW: SecurityUpdateAction = SecurityUpdateAction::ADD;
const MODIFY: SecurityUpdateAction = SecurityUpdateAction::MODIFY;
const DELETE: SecurityUpdateAction = SecurityUpdateAction::DELETE;

#[test]
fn stores_lot_types_in_order() {
    let mut trace = Trace::in_sync();
    trace.a(&future(packet(101), NEW, (1, 2), &[(1, 10_000), (3, 50_000)]));
    let definition = trace.channel.definition(trace.channel.find(9).unwrap()).unwrap();
    let lots: Vec<_> = definition.lots.iter().map(|lot| (lot.lot_type, lot.min_size)).collect();
    assert_eq!(lots, [(1, Some(DecimalQty(10_000))), (3, Some(DecimalQty(50_000)))]);
    // A changed lot type is a new definition; a repetition is not.
    trace.recorder.take();
    let lots = [(1, 20_000), (3, 50_000)];
    trace.a(&future(packet(102), MODIFY, (1, 2), &lots));
    trace.a(&future(packet(103), MODIFY, (1, 2), &lots));
    trace.assert_callbacks(["definition 9 ESH7 Modify", "end 102", "end 103"]);
}

#[test]
fn converts_lots_in_whole_units() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).message(|buffer| {
        let (mut root, mut groups) = MDInstrumentDefinitionFX63::encode(buffer).unwrap();
        root.set_security_id(9).set_security_update_action(NEW);
        groups.no_lot_type_rules().unwrap().push().unwrap().set_lot_type(2).set_min_lot_size(5);
        groups.finish().unwrap()
    }));
    let definition = trace.channel.definition(trace.channel.find(9).unwrap()).unwrap();
    assert_eq!(definition.lots[0].min_size, Some(DecimalQty(50_000)));
}

#[test]
fn instrument_expires_by_its_events() {
    let mut trace = Trace::in_sync();
    let day = Duration::from_secs(86_400);
    let (activation, last_trade) = (YEAR_2026 + day, YEAR_2026 + day + day);
    let events = (activation.as_nanos(), last_trade.as_nanos());
    trace.a(&future(packet(101), NEW, events, &[]));
    let nine = trace.channel.find(9).unwrap();
    let definition = trace.channel.definition(nine).unwrap();
    assert!(!definition.is_active(YEAR_2026) && definition.is_active(activation));
    assert!(!definition.is_expired(last_trade));
    let after = Utc::from_nanos(last_trade.as_nanos() + 1);
    assert!(definition.is_expired(after) && !definition.is_active(after));
    // Expiry is not deletion; the exchange deletes the instrument separately.
    assert!(trace.channel.book_of(9).unwrap().is_in_sync());
    // An extension is a modification.
    let longer = (events.0, after.as_nanos());
    trace.a(&future(packet(102), MODIFY, longer, &[]));
    assert!(!trace.channel.definition(nine).unwrap().is_expired(after));
}

#[test]
fn deleted_instrument_loses_definition_and_statistics() {
    let mut trace = Trace::in_sync();
    trace.a(&future(packet(101), NEW, (1, 2), &[]));
    trace.a(&packet(102).session_statistics(9, 1, &[statistic(b'7', None, 60)]));
    let nine = trace.channel.find(9).unwrap();
    let high =
        |trace: &Trace| trace.channel.instruments().statistics(nine).price(StatisticKind::High);
    assert!(high(&trace).is_some());
    trace.a(&future(packet(103), DELETE, (1, 2), &[]));
    assert_eq!((high(&trace), trace.channel.definition(nine)), (None, None));
    // The instrument starts over when added again.
    trace.a(&future(packet(104), NEW, (1, 2), &[]));
    trace.a(&packet(105).session_statistics(9, 1, &[statistic(b'7', None, 61)]));
    assert_eq!(high(&trace), Some(Price9(61_000_000_000)));
    assert_eq!(trace.channel.find(9), Some(nine));
}
