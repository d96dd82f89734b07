//! Instrument events: each is a separate event after the conflated changes.

use hairpin_cme_codecs::mdp3::WorkupTradingStatus;
use hairpin_exchange::{
    BROKERTEC_INTERVAL, Collateral, DailyStatistic, DefinitionChange, DefinitionCount, Feed,
    Instrument, InstrumentKind, Limits, OrderId, Pace, Publication, PublisherSettings,
    QuoteRequest, Settlement, Side, TradingStatus, Workup, WorkupOrder,
};
use hairpin_sbe::Decimal;
use hairpin_time::Duration;

use super::harness::Harness;
use crate::follower::Seen;

fn harness(settings: PublisherSettings) -> Harness {
    let mut harness = Harness::new(settings, Instrument::numbered(6), 1);
    harness.drain();
    harness.pass(Duration::from_millis(60));
    harness.drain();
    harness.follower.take_seen();
    harness
}

/// A leading definition would be taken for one of the loop.
#[test]
fn definition_is_never_the_first_incremental_message() {
    let mut harness = harness(PublisherSettings { unlisted: 1, ..PublisherSettings::default() });
    let now = harness.now;
    harness.market.change_definition(now, 5, DefinitionChange::Add);
    let mut packet = [0; hairpin_exchange::MAX_PAYLOAD];
    harness.market.publisher_mut().poll_transmit(now, &mut packet).unwrap();
    assert_eq!(packet[16..18], [46, 0]);
}

/// Returns the templates and indicators of the sent messages; nothing else was due.
fn sent_messages(harness: &mut Harness) -> Vec<(u16, u8)> {
    harness.drain();
    let seen = harness.follower.take_seen();
    seen.into_iter().map(|Seen { template, indicator, .. }| (template, indicator)).collect()
}

const SETTLEMENT: DailyStatistic = DailyStatistic::Settlement(Settlement {
    price: Decimal(1_000_250_000_000),
    final_price: true,
    actual: true,
    rounded: false,
    intraday: false,
    date: None,
});

#[test]
fn daily_statistics_carry_only_the_end_of_event_bit() {
    let mut harness = harness(PublisherSettings::premium());
    let now = harness.now;
    let few = [
        (0, SETTLEMENT),
        (0, DailyStatistic::OpenInterest(77)),
        (1, DailyStatistic::ClearedVolume(5)),
    ];
    let publication = harness.market.announce(now, |publisher| publisher.set_daily(now, &few));
    assert!(matches!(publication, Publication::Event(_)));
    assert_eq!(sent_messages(&mut harness), [(49, 0x80)]);
    let known = &harness.follower.books[&1_001].statistics;
    assert_eq!((known[&b'6'], known[&b'C']), (1_000_250_000_000, 77));
    let many: Vec<_> = (0..50).map(|n| (n % 6, DailyStatistic::OpenInterest(100 + n))).collect();
    harness.market.announce(now, |publisher| publisher.set_daily(now, &many));
    assert_eq!(sent_messages(&mut harness), [(49, 0x00), (49, 0x80)]);
    // A complete snapshot loop has the same statistics.
    let loops = harness.loops[1];
    while harness.loops[1] < loops + 2 {
        harness.pass(Duration::from_millis(10));
        harness.drain();
    }
}

#[test]
fn channel_reset_resends_session_statistics_only() {
    let mut harness = harness(PublisherSettings::premium());
    for _ in 0..200 {
        harness.market.step(harness.now).unwrap();
        harness.drain();
    }
    let now = harness.now;
    let limits = Limits { high: Some(Decimal(5)), ..Limits::default() };
    harness.market.announce(now, |publisher| publisher.set_daily(now, &[(0, SETTLEMENT)]));
    harness.market.announce(now, |publisher| publisher.set_limits(now, 0, limits));
    harness.drain();
    let before = harness.follower.books[&1_001].clone();
    assert_eq!((before.limits, before.statistics[&b'6']), ([5, 0, 0], 1_000_250_000_000));
    harness.follower.take_seen();
    harness.market.reset_channel(now, true);
    // All messages after the reset are marked as resent (0x20).
    let sent = sent_messages(&mut harness);
    assert_eq!(sent[0], (4, 0x80));
    assert!(sent.len() > 4 && sent[1..].iter().all(|(_, indicator)| indicator & 0x20 != 0));
    let after = &harness.follower.books[&1_001];
    assert_eq!((after.limits, after.statistics.get(&b'6')), ([0; 3], None));
    for kind in *b"478NO" {
        assert_eq!(after.statistics.get(&kind), before.statistics.get(&kind));
    }
    assert_eq!((after.volume, &after.orders), (before.volume, &before.orders));
    // A complete snapshot loop has the same statistics.
    let loops = harness.loops[1];
    while harness.loops[1] < loops + 2 {
        harness.pass(Duration::from_millis(10));
        harness.drain();
    }
}

#[test]
fn flushes_conflated_changes_before_instrument_events() {
    let mut harness = harness(PublisherSettings::brokertec());
    let now = harness.now;
    let collateral = [Collateral {
        cusip: "91282CAV3",
        guid: 7,
        price: Decimal(99_000_000_000),
        dirty_price: Decimal(99_500_000_000),
    }];
    let orders = [
        WorkupOrder { order: OrderId(5), side: Side::Bid, aggressor: true },
        WorkupOrder { order: OrderId(6), side: Side::Offer, aggressor: false },
    ];
    let workup = Workup {
        instrument: 2,
        price: Some(Decimal(1)),
        trade_link: 9,
        status: WorkupTradingStatus::PRIVATE_WORKUP,
        orders: &orders,
    };
    let quote = QuoteRequest { id: "Q1", instrument: 1, quantity: None, side: Some(Side::Bid) };
    let limits = Limits { high: Some(Decimal(5)), low: Some(Decimal(1)), max_variation: None };
    for template in [50, 62, 60, 39, 49] {
        harness.market.step(now).unwrap();
        let publication = harness.market.announce(now, |publisher| match template {
            50 => publisher.set_limits(now, 4, limits),
            62 => publisher.set_collateral(now, &collateral),
            60 => publisher.set_workup(now, &workup),
            39 => publisher.request_quote(now, &quote),
            _ => publisher.set_daily(now, &[(0, SETTLEMENT)]),
        });
        assert!(matches!(publication, Publication::Event(_)));
        let sent_messages = sent_messages(&mut harness);
        let ends: Vec<_> =
            sent_messages.iter().filter(|(_, indicator)| indicator & 0x80 != 0).collect();
        assert_eq!((ends.len(), ends[1]), (2, &(template, 0x80)), "{sent_messages:?}");
    }
    assert_eq!(harness.follower.books[&1_005].limits, [5, 1, 0]);
}

#[test]
fn adds_modifies_and_deletes_definitions_intraday() {
    let settings = PublisherSettings { unlisted: 2, ..PublisherSettings::premium() };
    let mut harness = harness(settings);
    let whole = |harness: &mut Harness| {
        let loops = harness.loops[0];
        while harness.loops[0] < loops + 2 {
            harness.pass(Duration::from_millis(10));
            harness.drain();
        }
        harness.defined.iter().map(|(&id, facts)| (id, facts.2)).collect::<Vec<_>>()
    };
    let all = |last: &[(i32, u8)]| [&[(1_001, b'A'), (1_002, b'A')], last].concat();
    assert_eq!(whole(&mut harness), all(&[(1_003, b'A'), (1_004, b'A')]));
    assert!(!harness.follower.books.contains_key(&1_005));
    let now = harness.now;
    harness.market.change_definition(now, 4, DefinitionChange::Add);
    harness.market.change_definition(now, 2, DefinitionChange::Modify);
    harness.market.change_definition(now, 3, DefinitionChange::Delete);
    harness.drain();
    assert_eq!(harness.follower.definitions, [(1_005, b'A'), (1_003, b'M'), (1_004, b'D')]);
    assert_eq!(whole(&mut harness), all(&[(1_003, b'M'), (1_004, b'D'), (1_005, b'A')]));
    // An added instrument trades, a deleted one does not.
    let deleted = harness.follower.books[&1_004].rpt_seq;
    for _ in 0..300 {
        harness.market.step(harness.now).unwrap();
        harness.drain();
    }
    assert_eq!(harness.follower.books[&1_004].rpt_seq, deleted);
    assert!(harness.follower.books[&1_005].volume > 0);
    let renamed = Instrument { symbol: "RENAMED".into(), ..Instrument::numbered(1).remove(0) };
    harness.market.announce(now, |publisher| publisher.redefine(now, 0, renamed));
    whole(&mut harness);
    assert_eq!(harness.defined[&1_001].1, "RENAMED");
}

/// Found by `sim feed`, seed 2.
#[test]
fn group_status_does_not_open_unlisted_instruments() {
    let mut harness = harness(PublisherSettings { unlisted: 1, ..PublisherSettings::default() });
    let now = harness.now;
    harness.market.change_definition(now, 3, DefinitionChange::Delete);
    harness.market.set_status(now, None, TradingStatus::ReadyToTrade);
    harness.drain();
    let deleted = harness.follower.books[&1_004].rpt_seq;
    for _ in 0..300 {
        harness.market.step(harness.now).unwrap();
        harness.drain();
    }
    assert_eq!(harness.follower.books[&1_004].rpt_seq, deleted);
    assert!(!harness.follower.books.contains_key(&1_006));
}

/// The loop restarts; otherwise it would have two totals.
#[test]
fn definition_change_restarts_the_loop() {
    let mut harness = Harness::new(PublisherSettings::default(), Instrument::numbered(60), 1);
    harness.market.publisher_mut().set_pace(Pace::FlatOut, harness.now.monotonic);
    let next = |harness: &mut Harness| loop {
        let transmit = harness.poll().unwrap();
        if transmit.feed == Feed::Instruments {
            return transmit.sequence;
        }
    };
    while next(&mut harness) != 2 {}
    let now = harness.now;
    harness.market.change_definition(now, 0, DefinitionChange::Delete);
    assert_eq!([next(&mut harness), next(&mut harness)], [1, 2]);
}

#[test]
#[should_panic(expected = "invalid change Modify of instrument 5")]
fn unlisted_instrument_can_only_be_added() {
    let mut harness = harness(PublisherSettings { unlisted: 1, ..PublisherSettings::default() });
    let now = harness.now;
    harness.market.change_definition(now, 5, DefinitionChange::Modify);
}

#[test]
fn empty_definition_loop_is_a_heartbeat() {
    let mut harness = harness(PublisherSettings { unlisted: 6, ..PublisherSettings::default() });
    assert!(harness.definitions.empty > 0 && harness.loops == [0; 3]);
    let now = harness.now;
    harness.market.change_definition(now, 0, DefinitionChange::Add);
    harness.pass(Duration::from_secs(1));
    harness.drain();
    assert!(harness.defined.contains_key(&1_001));
}

#[test]
fn definition_loop_contains_every_kind() {
    let mut instruments = Instrument::numbered(3);
    instruments[1].kind = InstrumentKind::Bond { coupon: Decimal(4_250_000_000) };
    instruments[2].kind =
        InstrumentKind::Repo { special: true, underlying: (1_002, "HP002".into()) };
    let mut harness = Harness::new(PublisherSettings::brokertec(), instruments, 1);
    harness.drain();
    harness.pass(Duration::from_secs(1));
    harness.drain();
    let templates: Vec<_> = harness.defined.values().map(|facts| facts.0).collect();
    assert_eq!(templates, [54, 57, 58]);
}

#[test]
fn collateral_over_two_messages_ends_with_the_second() {
    let mut harness = harness(PublisherSettings::brokertec());
    let now = harness.now;
    let value = Collateral {
        cusip: "91282CAV3",
        guid: 7,
        price: Decimal(99_000_000_000),
        dirty_price: Decimal(99_500_000_000),
    };
    harness.market.announce(now, |publisher| publisher.set_collateral(now, &[value; 40]));
    assert_eq!(sent_messages(&mut harness), [(62, 0x00), (62, 0x80)]);
}

/// Waits for two further loops of each snapshot feed, which the harness compares with the books.
fn compare_snapshots(harness: &mut Harness) {
    let loops = harness.loops;
    let is_missing = |harness: &Harness| {
        (1..3).any(|of| (of == 1 || loops[of] > 0) && harness.loops[of] < loops[of] + 2)
    };
    while is_missing(harness) {
        harness.pass(Duration::from_millis(10));
        harness.drain();
    }
}

#[test]
fn statistics_reset_leaves_exactly_the_session_out_of_the_snapshots() {
    for settings in [PublisherSettings::premium(), PublisherSettings::ebs()] {
        let mut harness = harness(settings);
        for _ in 0..400 {
            harness.pass(Duration::from_millis(1));
            harness.market.step(harness.now).unwrap();
            harness.drain();
        }
        let now = harness.now;
        let kept = [
            (0, SETTLEMENT),
            (0, DailyStatistic::OpenInterest(77)),
            (0, DailyStatistic::ClearedVolume(5)),
            (0, DailyStatistic::Fixing(Decimal(9))),
        ];
        let limits = Limits { high: Some(Decimal(5)), ..Limits::default() };
        harness.market.announce(now, |publisher| publisher.set_daily(now, &kept));
        harness.market.announce(now, |publisher| publisher.set_limits(now, 0, limits));
        harness.drain();
        let before = harness.follower.books.clone();
        assert!(before[&1_001].volume > 0 && before[&1_002].volume > 0);
        for kind in *b"478NO" {
            assert!(before[&1_001].statistics.contains_key(&kind));
        }
        // The first instrument alone: others keep their statistics.
        harness.follower.take_seen();
        let earlier = harness.market.matching().volume(0);
        harness.market.reset_statistics(now, Some(0));
        assert_eq!(sent_messages(&mut harness), [(30, 0x80)]);
        let after = &harness.follower.books;
        assert_eq!((after[&1_001].volume, after[&1_001].last_trade), (0, None));
        assert_eq!(after[&1_002], before[&1_002]);
        let left: Vec<u8> = after[&1_001].statistics.keys().copied().collect();
        assert_eq!(left, *b"6BCW");
        assert_eq!(after[&1_001].limits, [5, 0, 0]);
        assert_eq!(after[&1_001].sides, before[&1_001].sides);
        compare_snapshots(&mut harness);
        // The volume of the session restarts; then all instruments are reset.
        for _ in 0..400 {
            harness.pass(Duration::from_millis(1));
            harness.market.step(harness.now).unwrap();
            harness.drain();
        }
        harness.pass(BROKERTEC_INTERVAL);
        harness.drain();
        let traded = harness.market.matching().volume(0) - earlier;
        assert!(traded > 0);
        assert_eq!(harness.follower.books[&1_001].volume, traded);
        let now = harness.now;
        harness.market.reset_statistics(now, None);
        harness.drain();
        assert!(harness.follower.books.values().all(|book| book.volume == 0));
        assert_eq!(harness.follower.census.statistics_resets, 2);
        compare_snapshots(&mut harness);
        // A channel reset sends the volume since then.
        harness.market.reset_channel(now, false);
        harness.drain();
        assert!(harness.follower.books.values().all(|book| book.volume == 0));
        compare_snapshots(&mut harness);
    }
}

#[test]
fn settlements_of_each_date_and_kind_are_in_the_snapshot() {
    let mut harness = harness(PublisherSettings::premium());
    let now = harness.now;
    let settlement = |price, bits: u8, date| {
        (
            0,
            DailyStatistic::Settlement(Settlement {
                price: Decimal(price),
                final_price: bits & 1 != 0,
                actual: bits & 2 != 0,
                rounded: bits & 4 != 0,
                intraday: bits & 8 != 0,
                date: Some(date),
            }),
        )
    };
    // Preliminary, then final; the rounded one is of another kind, and so is another date.
    for (price, bits, date) in [(1, 2, 10), (2, 6, 10), (3, 3, 10), (4, 7, 10), (5, 3, 10)] {
        let publication = harness
            .market
            .announce(now, |publisher| publisher.set_daily(now, &[settlement(price, bits, date)]));
        assert!(matches!(publication, Publication::Event(_)));
        harness.drain();
    }
    let known = &harness.follower.books[&1_001].settlements;
    let expected = [((10, 0), 1), ((10, 1), 5), ((10, 4), 2), ((10, 5), 4)];
    assert!(known.iter().map(|(&key, &price)| (key, price)).eq(expected), "{known:?}");
    compare_snapshots(&mut harness);
}

#[test]
fn market_best_prices_are_beside_the_book() {
    let mut harness = harness(PublisherSettings::ebs());
    let now = harness.now;
    let set = |harness: &mut Harness, side, best| {
        harness.market.announce(now, |publisher| publisher.set_market_best(now, 0, side, best));
        assert_eq!(sent_messages(harness), [(64, 0x84)]);
        harness.follower.books[&1_001].market_best
    };
    let before = harness.follower.books[&1_001].clone();
    let bid = Some((Decimal(7), Some(5)));
    assert_eq!(set(&mut harness, Side::Bid, bid), [Some((7, Some(5))), None]);
    let both = [Some((7, Some(5))), Some((9, None))];
    assert_eq!(set(&mut harness, Side::Offer, Some((Decimal(9), None))), both);
    compare_snapshots(&mut harness);
    assert_eq!(set(&mut harness, Side::Bid, None), [None, both[1]]);
    let after = &harness.follower.books[&1_001];
    assert_eq!((&after.sides, after.rpt_seq), (&before.sides, before.rpt_seq + 3));
    compare_snapshots(&mut harness);
    harness.market.reset_book(now, 0);
    harness.drain();
    assert_eq!(harness.follower.books[&1_001].market_best, [None; 2]);
    compare_snapshots(&mut harness);
}

#[test]
fn definition_loop_may_repeat_an_instrument_and_count_messages() {
    let definition_count = DefinitionCount::Messages;
    let settings = PublisherSettings { definition_count, ..PublisherSettings::default() };
    let mut harness = Harness::new(settings, Instrument::numbered(3), 1);
    let mut received = Vec::new();
    let mut totals = Vec::new();
    harness.market.publisher_mut().set_pace(Pace::FlatOut, harness.now.monotonic);
    let mut packet = [0; hairpin_exchange::MAX_PAYLOAD];
    while received.len() < 4 {
        let now = harness.now;
        let publisher = harness.market.publisher_mut();
        let transmit = publisher.poll_transmit(now, &mut packet).unwrap();
        if transmit.feed == Feed::Instruments {
            for message in crate::follower::Packet::open(&packet[..transmit.length]).messages {
                totals.push(u32::from_le_bytes(message.block[1..5].try_into().unwrap()));
                received.push(i32::from_le_bytes(message.block[55..59].try_into().unwrap()));
            }
        }
    }
    assert_eq!((received, totals), (vec![1_001, 1_002, 1_003, 1_001], vec![4; 4]));
}
