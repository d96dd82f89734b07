//! Statuses, resets, implied levels, and the definitions of all kinds.

use hairpin_exchange::{
    Flow, Instrument, InstrumentKind, Kind, Leg, OptionRight, Pace, PriceLevel, Publication, Side,
    TradingStatus,
};
use hairpin_sbe::Decimal;
use hairpin_time::Duration;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::bench::Bench;
use crate::receiver::{Census, Receiver, SnapshotLoop};

const TICK: i64 = 250_000_000;

/// Twelve instruments of all kinds, every other one with an implied book.
fn instruments() -> Vec<Instrument> {
    let mut instruments = Instrument::numbered(12);
    for (n, instrument) in instruments.iter_mut().enumerate() {
        instrument.has_implied = n % 2 == 1;
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

fn bench(seed: u64) -> Bench {
    let mut bench = Bench::with(instruments(), seed, Flow::ALL);
    bench.seed();
    bench
}

fn level(ticks: i64, quantity: u32) -> PriceLevel {
    PriceLevel { price: Decimal(ticks * TICK), quantity, orders: 0 }
}

/// Implied levels at random: none to three, of which two are published.
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

fn one_in(count: u32, random: &mut ChaCha8Rng) -> bool {
    random.next_u32().is_multiple_of(count)
}

/// One of the verbs, now and then; `false` if it was none.
fn say(bench: &mut Bench, random: &mut ChaCha8Rng) -> bool {
    let instrument = random.next_u32() % 12;
    let side = Side::BOTH[(random.next_u32() % 2) as usize];
    let status = STATUSES[(random.next_u32() % 5) as usize];
    let now = bench.now;
    match random.next_u32() % 40 {
        0..6 if bench.instruments[instrument as usize].has_implied => {
            let levels = implied(random, side);
            bench.publisher.set_implied(instrument, side, &levels);
            // At the end of an event of the market, or alone.
            if one_in(2, random) {
                bench.step();
            } else {
                bench.publish();
            }
        }
        6 => drop(bench.publisher.set_status(now, Some(instrument), status)),
        7 if one_in(4, random) => drop(bench.publisher.set_status(now, None, status)),
        8 => drop(bench.publisher.reset_book(now, instrument, &bench.matching)),
        9 if one_in(8, random) => {
            let restarts = one_in(2, random);
            let publication = bench.publisher.reset_channel(now, &bench.matching, restarts);
            assert!(matches!(publication, Publication::Event(_)));
            bench.last_loop = None;
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
fn a_receiver_follows_whatever_is_said() {
    for seed in 0..10 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut bench = bench(seed);
        let mut kinds = [0_u32; Kind::ALL.len()];
        for _ in 0..6_000 {
            if !say(&mut bench, &mut random) {
                kinds[bench.step().kind as usize] += 1;
            }
            // Each event ends with equal books: see the bench.
            bench.drain_events();
            bench.pass(Duration::from_micros(5));
            bench.poll();
        }
        println!("seed {seed}: {kinds:?} {:?}", bench.receiver.census);
        assert!(kinds.iter().all(|&count| count > 20), "seed {seed}: {kinds:?}");
        assert_nothing_missing(seed, &bench.receiver.census);
        for security_id in 1_001..1_013 {
            bench.compare(security_id);
        }
    }
}

#[test]
fn a_late_joiner_has_the_implied_books_and_statuses_too() {
    let mut total = 0;
    for seed in 100..105 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut bench = bench(seed);
        bench.publisher.set_pace(Pace::Paced, bench.now.monotonic);
        bench.kept = Some(Vec::new());
        let mut joined = 0;
        for n in 0..20_000 {
            bench.pass(Duration::from_micros(500));
            bench.drain();
            if n % 3 == 0 && !say(&mut bench, &mut random) {
                bench.step();
            }
            bench.drain_events();
            if let Some(SnapshotLoop { last_processed, books }) = bench.last_loop.take() {
                let mut late = Receiver::joining(books);
                let kept = bench.kept.as_mut().unwrap();
                kept.retain(|&(sequence, _)| sequence > last_processed);
                for (_, packet) in kept.iter() {
                    late.handle_incremental(packet);
                }
                for (id, book) in &bench.receiver.books {
                    assert_eq!(late.books.get(id), Some(book), "seed {seed}, join {joined}");
                }
                joined += 1;
            }
        }
        assert!(joined > 50, "{joined}");
        assert!(bench.receiver.census.restarts > 0 && bench.receiver.census.implied_new > 0);
        total += joined;
    }
    println!("{total} joins");
}

#[test]
fn a_reset_of_the_channel_voids_everything_and_sends_the_books_again() {
    for restarts in [false, true] {
        let mut bench = bench(1);
        for _ in 0..500 {
            bench.step();
            bench.drain_events();
        }
        let before = bench.publisher.sequence();
        let traded = bench.receiver.books[&1_001].clone();
        assert!(traded.last_trade.is_some() && traded.rpt_seq > 100);
        bench.publisher.reset_channel(bench.now, &bench.matching, restarts);
        let reset = bench.poll().unwrap();
        // The reset has the next number; what follows may begin at 1.
        assert_eq!(reset.sequence, before + 1);
        let empty = &bench.receiver.books[&1_001];
        assert_eq!((empty.rpt_seq, empty.volume, empty.bids.len()), (0, 0, 0));
        let next = bench.poll().unwrap();
        assert_eq!(next.sequence, if restarts { 1 } else { before + 2 });
        bench.drain_events();
        let again = &bench.receiver.books[&1_001];
        assert_eq!((&again.bids, &again.offers), (&traded.bids, &traded.offers));
        // Volume is sent again, the last trade is not; RptSeq counts from 1.
        assert_eq!((again.volume, again.last_trade), (traded.volume, None));
        let entries = 1 + again.bids.len() + again.offers.len();
        assert_eq!(again.rpt_seq as usize, entries);
        assert_eq!(bench.receiver.census.resent_events, 1);
    }
}

#[test]
fn a_reset_of_the_channel_begins_the_loop_of_snapshots_anew() {
    let mut bench = bench(2);
    // Into the middle of a loop.
    while bench.poll().unwrap().feed != hairpin_exchange::Feed::Snapshots {}
    bench.publisher.reset_channel(bench.now, &bench.matching, true);
    bench.drain_events();
    let last = bench.publisher.sequence();
    let loops = loop {
        let transmit = bench.poll().unwrap();
        if let Some(loops) = bench.last_loop.take() {
            break loops;
        }
        assert_ne!(transmit.sequence, 0);
    };
    assert_eq!(loops.last_processed, last);
    assert_eq!(loops.books, bench.receiver.books);
}

#[test]
fn a_book_reset_restates_the_book_in_its_event_and_goes_on_counting() {
    let mut bench = bench(3);
    bench.publisher.set_implied(1, Side::Bid, &[level(3_990, 5), level(3_980, 2)]);
    bench.publish();
    bench.drain_events();
    let before = bench.receiver.books[&1_002].clone();
    let number = bench.publisher.events();
    bench.publisher.reset_book(bench.now, 1, &bench.matching);
    bench.drain_events();
    let after = &bench.receiver.books[&1_002];
    assert_eq!(bench.publisher.events(), number + 1);
    assert_eq!((&after.bids, &after.offers), (&before.bids, &before.offers));
    assert_eq!(after.implied_bids, before.implied_bids);
    assert_eq!(after.rpt_seq, before.rpt_seq + 1 + 20 + 2);
    assert_eq!(bench.receiver.census.book_resets, 1);
}

#[test]
fn implied_levels_end_their_event_and_are_two_deep() {
    let mut bench = bench(4);
    let number = bench.publisher.events();
    let levels = [level(3_990, 5), level(3_980, 2), level(3_970, 9)];
    bench.publisher.set_implied(1, Side::Bid, &levels);
    assert!(bench.publisher.has_unpublished());
    bench.step();
    assert!(!bench.publisher.has_unpublished());
    bench.drain_events();
    assert_eq!(bench.publisher.events(), number + 1);
    let book = &bench.receiver.books[&1_002];
    assert_eq!(book.implied_bids, [(3_990 * TICK, 5), (3_980 * TICK, 2)]);
    assert_eq!(bench.receiver.census.implied_new, 2);
    // Nothing new is nothing said.
    bench.publisher.set_implied(1, Side::Bid, &levels);
    assert_eq!(bench.publish(), Publication::Unchanged);
    bench.publisher.set_implied(1, Side::Bid, &[level(3_980, 3)]);
    assert!(matches!(bench.publish(), Publication::Event(_)));
    bench.drain_events();
    assert_eq!(bench.receiver.books[&1_002].implied_bids, [(3_980 * TICK, 3)]);
}

#[test]
#[should_panic(expected = "no implied book")]
fn an_instrument_without_an_implied_book_gets_no_levels() {
    bench(5).publisher.set_implied(0, Side::Bid, &[]);
}

#[test]
fn the_last_status_counts_of_an_instrument_or_of_the_group() {
    let mut bench = bench(6);
    let mut say = |instrument, status| {
        bench.publisher.set_status(bench.now, instrument, status);
        bench.drain_events();
        let of = |id: i32| (bench.receiver.books[&id].status, bench.publisher.published(0).status);
        (of(1_001).0, of(1_002).0)
    };
    assert_eq!(say(Some(0), TradingStatus::TradingHalt), (2, 17));
    assert_eq!(say(None, TradingStatus::Close), (4, 4));
    assert_eq!(say(Some(1), TradingStatus::ReadyToTrade), (4, 17));
    assert_eq!(say(None, TradingStatus::ReadyToTrade), (17, 17));
}

#[test]
fn definitions_say_what_kind_they_are_of() {
    let mut bench = bench(7);
    bench.publisher.set_status(bench.now, Some(4), TradingStatus::TradingHalt);
    while bench.last_definitions.get(&1_005).is_none_or(|of| of.status != 2) {
        bench.poll();
    }
    let of = |n: i32| &bench.last_definitions[&(1_000 + n)];
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
fn verbs_wait_like_events_when_the_queue_is_full() {
    let mut bench = bench(8);
    while bench.publisher.set_status(bench.now, None, TradingStatus::Close) != Publication::Deferred
    {
    }
    let now = bench.now;
    assert_eq!(bench.publisher.reset_book(now, 0, &bench.matching), Publication::Deferred);
    assert_eq!(bench.publisher.reset_channel(now, &bench.matching, true), Publication::Deferred);
    let status = bench.publisher.set_status(now, None, TradingStatus::ReadyToTrade);
    assert_eq!(status, Publication::Deferred);
    assert_eq!(bench.publisher.published(0).status, TradingStatus::Close);
    bench.drain_events();
    assert_eq!(bench.receiver.books[&1_001].status, 4);
}
