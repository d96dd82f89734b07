//! What is said besides books: each an event of its own, behind what was kept.

use hairpin_cme_codecs::mdp3::WorkupTradingStatus;
use hairpin_exchange::{
    Collateral, DailyStatistic, DefinitionChange, Feed, Instrument, InstrumentKind, Limits,
    OrderId, Pace, Publication, PublisherSettings, QuoteRequest, Settlement, Side, TradingStatus,
    Workup, WorkupOrder,
};
use hairpin_sbe::Decimal;
use hairpin_time::Duration;

use crate::follower::Seen;
use crate::stage::Stage;

fn stage(settings: PublisherSettings) -> Stage {
    let mut stage = Stage::new(settings, Instrument::numbered(6), 1);
    stage.drain();
    stage.pass(Duration::from_millis(60));
    stage.drain();
    stage.follower.take_seen();
    stage
}

/// Where all feeds share a connection, a definition in front would be taken for one of the loop.
#[test]
fn a_definition_is_never_the_first_message_of_the_incremental_feed() {
    let mut stage = stage(PublisherSettings { unlisted: 1, ..PublisherSettings::default() });
    let now = stage.now;
    stage.floor.change_definition(now, 5, DefinitionChange::Add);
    let mut packet = [0; hairpin_exchange::MAX_PAYLOAD];
    stage.floor.publisher_mut().poll_transmit(now, &mut packet).unwrap();
    assert_eq!(packet[16..18], [46, 0]);
}

/// Templates and indicators of what was said; nothing else was due.
fn said(stage: &mut Stage) -> Vec<(u16, u8)> {
    stage.drain();
    let seen = stage.follower.take_seen();
    seen.into_iter().map(|Seen { template, indicator, .. }| (template, indicator)).collect()
}

const SETTLEMENT: DailyStatistic = DailyStatistic::Settlement(Settlement {
    price: Decimal(1_000_250_000_000),
    is_final: true,
    is_actual: true,
});

#[test]
fn statistics_of_the_day_say_nothing_but_the_end() {
    let mut stage = stage(PublisherSettings::premium());
    let now = stage.now;
    let few = [
        (0, SETTLEMENT),
        (0, DailyStatistic::OpenInterest(77)),
        (1, DailyStatistic::ClearedVolume(5)),
    ];
    let publication = stage.floor.announce(now, |publisher| publisher.set_daily(now, &few));
    assert!(matches!(publication, Publication::Event(_)));
    assert_eq!(said(&mut stage), [(49, 0x80)]);
    let known = &stage.follower.books[&1_001].statistics;
    assert_eq!((known[&b'6'], known[&b'C']), (1_000_250_000_000, 77));
    let many: Vec<_> = (0..50).map(|n| (n % 6, DailyStatistic::OpenInterest(100 + n))).collect();
    stage.floor.announce(now, |publisher| publisher.set_daily(now, &many));
    assert_eq!(said(&mut stage), [(49, 0x00), (49, 0x80)]);
    // And a whole loop of snapshots says the same.
    let loops = stage.loops[1];
    while stage.loops[1] < loops + 2 {
        stage.pass(Duration::from_millis(10));
        stage.drain();
    }
}

#[test]
fn a_reset_of_the_channel_does_not_send_the_day_again_but_the_session() {
    let mut stage = stage(PublisherSettings::premium());
    for _ in 0..200 {
        stage.floor.step(stage.now).unwrap();
        stage.drain();
    }
    let now = stage.now;
    let limits = Limits { high: Some(Decimal(5)), ..Limits::default() };
    stage.floor.announce(now, |publisher| publisher.set_daily(now, &[(0, SETTLEMENT)]));
    stage.floor.announce(now, |publisher| publisher.set_limits(now, 0, limits));
    stage.drain();
    let before = stage.follower.books[&1_001].clone();
    assert_eq!((before.limits, before.statistics[&b'6']), ([5, 0, 0], 1_000_250_000_000));
    stage.floor.reset_channel(now, true);
    stage.drain();
    let after = &stage.follower.books[&1_001];
    assert_eq!((after.limits, after.statistics.get(&b'6')), ([0; 3], None));
    for kind in *b"478NO" {
        assert_eq!(after.statistics.get(&kind), before.statistics.get(&kind));
    }
    assert_eq!((after.volume, &after.orders), (before.volume, &before.orders));
    // And a whole loop of snapshots says the same.
    let loops = stage.loops[1];
    while stage.loops[1] < loops + 2 {
        stage.pass(Duration::from_millis(10));
        stage.drain();
    }
}

#[test]
fn what_is_said_comes_behind_what_a_conflated_group_keeps() {
    let mut stage = stage(PublisherSettings::brokertec());
    let now = stage.now;
    let collateral = [Collateral {
        cusip: "91282CAV3",
        guid: 7,
        price: Decimal(99_000_000_000),
        dirty_price: Decimal(99_500_000_000),
    }];
    let orders = [
        WorkupOrder { order: OrderId(5), side: Side::Bid, is_aggressor: true },
        WorkupOrder { order: OrderId(6), side: Side::Offer, is_aggressor: false },
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
        stage.floor.step(now).unwrap();
        let publication = stage.floor.announce(now, |publisher| match template {
            50 => publisher.set_limits(now, 4, limits),
            62 => publisher.set_collateral(now, &collateral),
            60 => publisher.set_workup(now, &workup),
            39 => publisher.request_quote(now, &quote),
            _ => publisher.set_daily(now, &[(0, SETTLEMENT)]),
        });
        assert!(matches!(publication, Publication::Event(_)));
        let said = said(&mut stage);
        let ends: Vec<_> = said.iter().filter(|(_, indicator)| indicator & 0x80 != 0).collect();
        assert_eq!((ends.len(), ends[1]), (2, &(template, 0x80)), "{said:?}");
    }
    assert_eq!(stage.follower.books[&1_005].limits, [5, 1, 0]);
}

#[test]
fn definitions_are_added_modified_and_deleted_in_the_course_of_the_day() {
    let settings = PublisherSettings { unlisted: 2, ..PublisherSettings::premium() };
    let mut stage = stage(settings);
    let whole = |stage: &mut Stage| {
        let loops = stage.loops[0];
        while stage.loops[0] < loops + 2 {
            stage.pass(Duration::from_millis(10));
            stage.drain();
        }
        stage.defined.iter().map(|(&id, facts)| (id, facts.2)).collect::<Vec<_>>()
    };
    let all = |last: &[(i32, u8)]| [&[(1_001, b'A'), (1_002, b'A')], last].concat();
    assert_eq!(whole(&mut stage), all(&[(1_003, b'A'), (1_004, b'A')]));
    assert!(!stage.follower.books.contains_key(&1_005));
    let now = stage.now;
    stage.floor.change_definition(now, 4, DefinitionChange::Add);
    stage.floor.change_definition(now, 2, DefinitionChange::Modify);
    stage.floor.change_definition(now, 3, DefinitionChange::Delete);
    stage.drain();
    assert_eq!(stage.follower.definitions, [(1_005, b'A'), (1_003, b'M'), (1_004, b'D')]);
    assert_eq!(whole(&mut stage), all(&[(1_003, b'M'), (1_004, b'D'), (1_005, b'A')]));
    // What is new trades, what is deleted does not.
    let deleted = stage.follower.books[&1_004].rpt_seq;
    for _ in 0..300 {
        stage.floor.step(stage.now).unwrap();
        stage.drain();
    }
    assert_eq!(stage.follower.books[&1_004].rpt_seq, deleted);
    assert!(stage.follower.books[&1_005].volume > 0);
    let renamed = Instrument { symbol: "RENAMED".into(), ..Instrument::numbered(1).remove(0) };
    stage.floor.announce(now, |publisher| publisher.redefine(now, 0, renamed));
    whole(&mut stage);
    assert_eq!(stage.defined[&1_001].1, "RENAMED");
}

/// Found by `sim feed`, seed 2.
#[test]
fn a_status_of_the_group_opens_nothing_that_is_not_listed() {
    let mut stage = stage(PublisherSettings { unlisted: 1, ..PublisherSettings::default() });
    let now = stage.now;
    stage.floor.change_definition(now, 3, DefinitionChange::Delete);
    stage.floor.set_status(now, None, TradingStatus::ReadyToTrade);
    stage.drain();
    let deleted = stage.follower.books[&1_004].rpt_seq;
    for _ in 0..300 {
        stage.floor.step(stage.now).unwrap();
        stage.drain();
    }
    assert_eq!(stage.follower.books[&1_004].rpt_seq, deleted);
    assert!(!stage.follower.books.contains_key(&1_006));
}

/// Else one loop would have two totals.
#[test]
fn a_change_in_the_midst_of_a_loop_of_definitions_begins_it_anew() {
    let mut stage = Stage::new(PublisherSettings::default(), Instrument::numbered(60), 1);
    stage.floor.publisher_mut().set_pace(Pace::FlatOut, stage.now.monotonic);
    let next = |stage: &mut Stage| loop {
        let transmit = stage.poll().unwrap();
        if transmit.feed == Feed::Instruments {
            return transmit.sequence;
        }
    };
    while next(&mut stage) != 2 {}
    let now = stage.now;
    stage.floor.change_definition(now, 0, DefinitionChange::Delete);
    assert_eq!([next(&mut stage), next(&mut stage)], [1, 2]);
}

#[test]
#[should_panic(expected = "Modify of 5")]
fn what_has_no_definition_can_only_be_added() {
    let mut stage = stage(PublisherSettings { unlisted: 1, ..PublisherSettings::default() });
    let now = stage.now;
    stage.floor.change_definition(now, 5, DefinitionChange::Modify);
}

#[test]
fn a_loop_without_definitions_is_a_heartbeat() {
    let mut stage = stage(PublisherSettings { unlisted: 6, ..PublisherSettings::default() });
    assert!(stage.definitions.empty > 0 && stage.loops == [0; 3]);
    let now = stage.now;
    stage.floor.change_definition(now, 0, DefinitionChange::Add);
    stage.pass(Duration::from_secs(1));
    stage.drain();
    assert!(stage.defined.contains_key(&1_001));
}

#[test]
fn every_kind_of_definition_is_in_the_loop() {
    let mut instruments = Instrument::numbered(3);
    instruments[1].kind = InstrumentKind::Bond { coupon: Decimal(4_250_000_000) };
    instruments[2].kind =
        InstrumentKind::Repo { is_special: true, underlying: (1_002, "HP002".into()) };
    let mut stage = Stage::new(PublisherSettings::brokertec(), instruments, 1);
    stage.drain();
    stage.pass(Duration::from_secs(1));
    stage.drain();
    let templates: Vec<_> = stage.defined.values().map(|facts| facts.0).collect();
    assert_eq!(templates, [54, 57, 58]);
}

#[test]
fn values_of_collateral_that_need_two_messages_end_with_the_second() {
    let mut stage = stage(PublisherSettings::brokertec());
    let now = stage.now;
    let value = Collateral {
        cusip: "91282CAV3",
        guid: 7,
        price: Decimal(99_000_000_000),
        dirty_price: Decimal(99_500_000_000),
    };
    stage.floor.announce(now, |publisher| publisher.set_collateral(now, &[value; 40]));
    assert_eq!(said(&mut stage), [(62, 0x00), (62, 0x80)]);
}
