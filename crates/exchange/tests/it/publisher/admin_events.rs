//! Trading statuses, resets, implied levels, and definitions of all kinds.

use hairpin_exchange::{
    BackgroundFlow, Instrument, InstrumentKind, Leg, OptionRight, Pace, PriceLevel, Publication,
    Side, StepKind, TradingStatus,
};
use hairpin_sbe::Decimal;
use hairpin_testbed::scaled;
use hairpin_time::Duration;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::harness::Harness;
use crate::receiver::{Census, Receiver, SnapshotLoop};

const TICK: i64 = 250_000_000;

/// Creates twelve instruments of all kinds, every second one with an implied book.
fn instruments() -> Vec<Instrument> {
    let mut instruments = Instrument::numbered(12);
    for (n, instrument) in instruments.iter_mut().enumerate() {
        instrument.implied_book = n % 2 == 1;
    }
    instruments[3].kind = InstrumentKind::Option {
        right: OptionRight::Put,
        strike: Decimal(1_025_000_000_000),
        underlying: (1_001, "HP001".into()),
    };
    let leg = |security_id, side, ratio| Leg { security_id, side, ratio };
    instruments[4].kind =
        InstrumentKind::Spread { legs: vec![leg(1_001, Side::Bid, 1), leg(1_002, Side::Offer, 2)] };
    instruments[5].kind =
        InstrumentKind::Spread { legs: (0..8).map(|n| leg(1_001 + n, Side::Bid, 1)).collect() };
    instruments[6].kind = InstrumentKind::Fx { currency: *b"EUR", price_currency: *b"USD" };
    instruments
}

fn harness(seed: u64) -> Harness {
    let mut harness = Harness::with(instruments(), seed, BackgroundFlow::ALL);
    harness.seed();
    harness
}

fn level(ticks: i64, quantity: u32) -> PriceLevel {
    PriceLevel { price: Decimal(ticks * TICK), quantity, orders: 0 }
}

/// Returns random implied levels: zero to three, of which two are published.
fn implied(random: &mut ChaCha8Rng, side: Side) -> Vec<PriceLevel> {
    let mut ticks = 4_000;
    (0..random.next_u32() % 4)
        .map(|_| {
            let by = 1 + i64::from(random.next_u32() % 3);
            ticks += if side == Side::Bid { -by } else { by };
            level(ticks, 1 + random.next_u32() % 5)
        })
        .collect()
}

const STATUSES: [TradingStatus; 5] = [
    TradingStatus::TradingHalt,
    TradingStatus::Close,
    TradingStatus::ReadyToTrade,
    TradingStatus::NotAvailable,
    TradingStatus::PreOpen,
];

fn happens_once_in(count: u32, random: &mut ChaCha8Rng) -> bool {
    random.next_u32().is_multiple_of(count)
}

/// Publishes one of the administrative events at random. Returns `false` if there was none.
fn publish_admin_event(harness: &mut Harness, random: &mut ChaCha8Rng) -> bool {
    let instrument = random.next_u32() % 12;
    let side = Side::BOTH[(random.next_u32() % 2) as usize];
    let status = STATUSES[(random.next_u32() % 5) as usize];
    let now = harness.now;
    match random.next_u32() % 40 {
        0..6 if harness.instruments[instrument as usize].implied_book => {
            let levels = implied(random, side);
            harness.publisher.set_implied(instrument, side, &levels);
            // At the end of an event of the market, or alone.
            if happens_once_in(2, random) {
                harness.step();
            } else {
                harness.publish();
            }
        }
        6 => drop(harness.publisher.set_status(now, Some(instrument), status)),
        7 if happens_once_in(4, random) => drop(harness.publisher.set_status(now, None, status)),
        8 => drop(harness.publisher.reset_book(now, instrument, &harness.matching)),
        9 if happens_once_in(8, random) => {
            let restarts = happens_once_in(2, random);
            let publication = harness.publisher.reset_channel(now, &harness.matching, restarts);
            assert!(matches!(publication, Publication::Event(_)));
            harness.last_loop = None;
        }
        _ => return false,
    }
    true
}

fn assert_nothing_missing(seed: u64, census: &Census) {
    for (class, count) in [
        ("implied new", census.implied_new),
        ("implied change", census.implied_change),
        ("implied delete", census.implied_delete),
        ("book reset", census.book_resets),
        ("instrument status", census.instrument_statuses),
        ("group status", census.group_statuses),
        ("channel reset", census.channel_resets),
        ("restart", census.restarts),
        ("continued numbering", census.channel_resets - census.restarts),
        ("resent event", census.resent_events),
        ("trade", census.trades),
        ("event over several packets", census.events_over_packets),
    ] {
        assert!(count > 0, "seed {seed}: no {class}: {census:?}");
    }
}

#[test]
fn receiver_follows_all_admin_events() {
    for seed in 0..scaled(4) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut harness = harness(seed);
        let mut kinds = [0_u32; StepKind::ALL.len()];
        for _ in 0..6_000 {
            if !publish_admin_event(&mut harness, &mut random) {
                kinds[harness.step().kind as usize] += 1;
            }
            // Each event ends with equal books; the harness checks this.
            harness.drain_events();
            harness.pass(Duration::from_micros(5));
            harness.poll();
        }
        println!("seed {seed}: {kinds:?} {:?}", harness.receiver.census);
        assert!(kinds.iter().all(|&count| count > 20), "seed {seed}: {kinds:?}");
        assert_nothing_missing(seed, &harness.receiver.census);
        for security_id in 1_001..1_013 {
            harness.compare(security_id);
        }
    }
}

#[test]
fn late_joiner_has_implied_books_and_statuses() {
    let mut total = 0;
    for seed in 100..105 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut harness = harness(seed);
        harness.publisher.set_pace(Pace::Paced, harness.now.monotonic);
        harness.kept = Some(Vec::new());
        let mut joined = 0;
        for n in 0..20_000 {
            harness.pass(Duration::from_micros(500));
            harness.drain();
            if n % 3 == 0 && !publish_admin_event(&mut harness, &mut random) {
                harness.step();
            }
            harness.drain_events();
            if let Some(SnapshotLoop { last_processed, books }) = harness.last_loop.take() {
                let mut late = Receiver::joining(books);
                let kept = harness.kept.as_mut().unwrap();
                kept.retain(|&(sequence, _)| sequence > last_processed);
                for (_, packet) in kept.iter() {
                    late.handle_incremental(packet);
                }
                for (id, book) in &harness.receiver.books {
                    assert_eq!(late.books.get(id), Some(book), "seed {seed}, join {joined}");
                }
                joined += 1;
            }
        }
        assert!(joined > 50, "{joined}");
        assert!(harness.receiver.census.restarts > 0 && harness.receiver.census.implied_new > 0);
        total += joined;
    }
    println!("{total} joins");
}

#[test]
fn channel_reset_voids_and_resends_the_books() {
    for restarts in [false, true] {
        let mut harness = harness(1);
        for _ in 0..500 {
            harness.step();
            harness.drain_events();
        }
        let before = harness.publisher.sequence();
        let traded = harness.receiver.books[&1_001].clone();
        assert!(traded.last_trade.is_some() && traded.rpt_seq > 100);
        harness.publisher.reset_channel(harness.now, &harness.matching, restarts);
        let reset = harness.poll().unwrap();
        // The reset has the next number; the following packets may restart at 1.
        assert_eq!(reset.sequence, before + 1);
        let empty = &harness.receiver.books[&1_001];
        assert_eq!((empty.rpt_seq, empty.volume, empty.bids.len()), (0, 0, 0));
        let next = harness.poll().unwrap();
        assert_eq!(next.sequence, if restarts { 1 } else { before + 2 });
        harness.drain_events();
        let again = &harness.receiver.books[&1_001];
        assert_eq!((&again.bids, &again.offers), (&traded.bids, &traded.offers));
        // Volume is resent, the last trade is not; RptSeq restarts at 1.
        assert_eq!((again.volume, again.last_trade), (traded.volume, None));
        let entries = 1 + again.bids.len() + again.offers.len();
        assert_eq!(again.rpt_seq as usize, entries);
        assert_eq!(harness.receiver.census.resent_events, 1);
    }
}

#[test]
fn channel_reset_restarts_the_snapshot_loop() {
    let mut harness = harness(2);
    // Advance to the middle of a loop.
    while harness.poll().unwrap().feed != hairpin_exchange::Feed::Snapshots {}
    harness.publisher.reset_channel(harness.now, &harness.matching, true);
    harness.drain_events();
    let last = harness.publisher.sequence();
    let loops = loop {
        let transmit = harness.poll().unwrap();
        if let Some(loops) = harness.last_loop.take() {
            break loops;
        }
        assert_ne!(transmit.sequence, 0);
    };
    assert_eq!(loops.last_processed, last);
    assert_eq!(loops.books, harness.receiver.books);
}

#[test]
fn book_reset_resends_the_book_and_continues_rpt_seq() {
    let mut harness = harness(3);
    harness.publisher.set_implied(1, Side::Bid, &[level(3_990, 5), level(3_980, 2)]);
    harness.publish();
    harness.drain_events();
    let before = harness.receiver.books[&1_002].clone();
    let number = harness.publisher.events();
    harness.publisher.reset_book(harness.now, 1, &harness.matching);
    harness.drain_events();
    let after = &harness.receiver.books[&1_002];
    assert_eq!(harness.publisher.events(), number + 1);
    assert_eq!((&after.bids, &after.offers), (&before.bids, &before.offers));
    assert_eq!(after.implied_bids, before.implied_bids);
    assert_eq!(after.rpt_seq, before.rpt_seq + 1 + 20 + 2);
    assert_eq!(harness.receiver.census.book_resets, 1);
}

#[test]
fn implied_levels_end_their_event_with_depth_two() {
    let mut harness = harness(4);
    let number = harness.publisher.events();
    let levels = [level(3_990, 5), level(3_980, 2), level(3_970, 9)];
    harness.publisher.set_implied(1, Side::Bid, &levels);
    assert!(harness.publisher.has_unpublished());
    harness.step();
    assert!(!harness.publisher.has_unpublished());
    harness.drain_events();
    assert_eq!(harness.publisher.events(), number + 1);
    let book = &harness.receiver.books[&1_002];
    assert_eq!(book.implied_bids, [(3_990 * TICK, 5), (3_980 * TICK, 2)]);
    assert_eq!(harness.receiver.census.implied_new, 2);
    // Unchanged levels send nothing.
    harness.publisher.set_implied(1, Side::Bid, &levels);
    assert_eq!(harness.publish(), Publication::Unchanged);
    harness.publisher.set_implied(1, Side::Bid, &[level(3_980, 3)]);
    assert!(matches!(harness.publish(), Publication::Event(_)));
    harness.drain_events();
    assert_eq!(harness.receiver.books[&1_002].implied_bids, [(3_980 * TICK, 3)]);
}

#[test]
#[should_panic(expected = "no implied book")]
fn rejects_implied_levels_without_an_implied_book() {
    harness(5).publisher.set_implied(0, Side::Bid, &[]);
}

#[test]
fn latest_status_of_instrument_or_group_applies() {
    let mut harness = harness(6);
    let mut publish_admin_event = |instrument, status| {
        harness.publisher.set_status(harness.now, instrument, status);
        harness.drain_events();
        let of =
            |id: i32| (harness.receiver.books[&id].status, harness.publisher.published(0).status);
        (of(1_001).0, of(1_002).0)
    };
    assert_eq!(publish_admin_event(Some(0), TradingStatus::TradingHalt), (2, 17));
    assert_eq!(publish_admin_event(None, TradingStatus::Close), (4, 4));
    assert_eq!(publish_admin_event(Some(1), TradingStatus::ReadyToTrade), (4, 17));
    assert_eq!(publish_admin_event(None, TradingStatus::ReadyToTrade), (17, 17));
}

#[test]
fn definitions_have_the_fields_of_their_kind() {
    let mut harness = harness(7);
    harness.publisher.set_status(harness.now, Some(4), TradingStatus::TradingHalt);
    while harness.last_definitions.get(&1_005).is_none_or(|of| of.status != 2) {
        harness.poll();
    }
    let of = |n: i32| &harness.last_definitions[&(1_000 + n)];
    let templates: Vec<u16> = (1..=12).map(|n| of(n).template).collect();
    assert_eq!(templates, [54, 54, 54, 55, 56, 56, 63, 54, 54, 54, 54, 54]);
    assert_eq!(of(1).depths, [("GBX".into(), 10)]);
    assert_eq!(of(2).depths, [("GBX".into(), 10), ("GBI".into(), 2)]);
    assert_eq!(of(4).option, Some((1_001, "HP001".into(), 0, 1_025_000_000_000)));
    assert_eq!(of(5).legs, [(1_001, true, 1), (1_002, false, 2)]);
    assert_eq!((of(6).legs.len(), of(6).depths.len()), (8, 2));
    assert_eq!(of(7).fx, Some(("EUR".into(), "USD".into(), 2)));
    assert!((1..=12).all(|n| of(n).status == if n == 5 { 2 } else { 17 }));
    assert!((1..=12).all(|n| of(n).group == "HP" && of(n).tick == TICK && of(n).total == 12));
}

#[test]
fn admin_events_are_deferred_when_the_queue_is_full() {
    let mut harness = harness(8);
    while harness.publisher.set_status(harness.now, None, TradingStatus::Close)
        != Publication::Deferred
    {}
    let now = harness.now;
    assert_eq!(harness.publisher.reset_book(now, 0, &harness.matching), Publication::Deferred);
    assert_eq!(
        harness.publisher.reset_channel(now, &harness.matching, true),
        Publication::Deferred
    );
    let status = harness.publisher.set_status(now, None, TradingStatus::ReadyToTrade);
    assert_eq!(status, Publication::Deferred);
    assert_eq!(harness.publisher.published(0).status, TradingStatus::Close);
    harness.drain_events();
    assert_eq!(harness.receiver.books[&1_001].status, 4);
}
