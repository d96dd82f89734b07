//! The publisher against a receiver that was implemented from CME's rules.

mod admin_events;
mod event_endings;
mod harness;

use crate::receiver::{Census, Receiver, SnapshotLoop};
use hairpin_cme_codecs::mdp3::AggressorSide;
use hairpin_exchange::{Feed, NewOrder, Owner, Pace, Publication, Side, StepKind};
use hairpin_sbe::Decimal;
use hairpin_testbed::scaled;
use hairpin_time::Duration;
use harness::{Harness, INSTRUMENTS};

fn run(seed: u64, events: u32) -> Census {
    let mut harness = Harness::new(seed);
    harness.seed();
    for n in 0..events {
        let step = harness.step();
        harness.drain_events();
        if matches!(step.kind, StepKind::Take | StepKind::Sweep) {
            let aggressor = match step.side {
                Side::Bid => AggressorSide::SELL,
                Side::Offer => AggressorSide::BUY,
            };
            assert_eq!(harness.receiver.last_aggressor, Some(aggressor));
        }
        match n % 1_000 {
            // Loops between the events, and sometimes silence.
            999 => {
                harness.pass(Duration::from_secs(1));
                assert_eq!(harness.poll().unwrap().feed, Feed::Incremental);
            }
            k if k % 4 == 0 => drop(harness.poll()),
            _ => harness.pass(Duration::from_micros(5)),
        }
    }
    harness.receiver.census
}

/// The number of events of a seed.
const EVENTS: u32 = 5_000;

#[test]
fn receiver_has_the_same_books_after_every_event() {
    let mut total = Census::default();
    for seed in 0..scaled(20) {
        let census = run(seed, EVENTS);
        println!("seed {seed}: {census:?}");
        for (class, count) in [
            ("new", census.new),
            ("change", census.change),
            ("delete", census.delete),
            ("trade", census.trades),
            ("volume", census.volumes),
            ("end on data", census.end_on_data),
            ("end in the same packet", census.end_same_packet),
            ("end in the next packet", census.end_next_packet),
            ("event over several packets", census.events_over_packets),
            ("heartbeat", census.heartbeats),
            ("definition loop", census.definition_loops),
            ("snapshot loop", census.snapshot_loops),
        ] {
            assert!(count > 0, "seed {seed}: no {class}");
        }
        assert_eq!(census.events, u64::from(EVENTS) + 1);
        assert!(census.end_same_packet.abs_diff(census.events / 4) <= 1);
        assert!(census.end_next_packet.abs_diff(census.events / 8) <= 1);
        total.events += census.events;
    }
    println!("{} events", total.events);
}

/// Joins at many points of a loop by CME's procedure: snapshots, then the packets after their tag
/// 369. Compares with a receiver that was there from the start.
#[test]
fn late_joiner_reaches_the_same_books() {
    let mut harness = Harness::new(99);
    harness.publisher.set_pace(Pace::Paced, harness.now.monotonic);
    harness.seed();
    harness.kept = Some(Vec::new());
    let mut joined = 0;
    let mut behind = 0;
    for n in 0..20_000 {
        harness.pass(Duration::from_micros(500));
        harness.drain();
        if n % 3 == 0 {
            harness.step();
            harness.drain_events();
        }
        if let Some(SnapshotLoop { last_processed, books }) = harness.last_loop.take() {
            let mut late = Receiver::joining(books);
            let kept = harness.kept.as_mut().unwrap();
            kept.retain(|&(sequence, _)| sequence > last_processed);
            behind += kept.len();
            for (_, packet) in kept.iter() {
                late.handle_incremental(packet);
            }
            assert_eq!(late.books, harness.receiver.books, "join {joined}");
            joined += 1;
        }
    }
    println!("{joined} joins, {behind} packets after the snapshots");
    assert!(joined > 50 && behind > 1_000);
}

#[test]
fn snapshot_loop_is_as_of_one_packet() {
    let mut harness = Harness::new(3);
    harness.seed();
    while harness.poll().unwrap().feed != Feed::Snapshots {}
    let at_start = harness.receiver.books.clone();
    let start = harness.publisher.sequence();
    let loops = loop {
        if let Some(loops) = harness.last_loop.take() {
            break loops;
        }
        harness.poll();
        harness.step();
        harness.drain_events();
    };
    assert_eq!(loops.last_processed, start);
    assert_eq!(loops.books, at_start);
    assert_ne!(harness.receiver.books, at_start);
}

#[test]
fn order_below_the_published_depth_is_not_published() {
    let mut harness = Harness::new(4);
    harness.seed();
    for n in 0..2_000 {
        harness.step();
        harness.drain_events();
        let instrument = n % INSTRUMENTS;
        let tenth = harness.publisher.published(instrument).sides[0].levels()[9].price;
        let tick = harness.instruments[instrument as usize].tick.0;
        let price = Decimal(tenth.0 - 5 * tick);
        let order = NewOrder::limit(instrument, Side::Bid, price, 1, Owner(1));
        let before = *harness.publisher.published(instrument);
        let submitted = harness.matching.submit(&order, &mut harness.events).unwrap();
        assert_eq!(submitted.remaining, 1);
        assert_eq!(harness.publish(), Publication::Unchanged);
        assert!(harness.matching.cancel(submitted.order, &mut harness.events).is_some());
        assert_eq!(harness.publish(), Publication::Unchanged);
        assert!(!harness.publisher.has_event() && harness.events.is_empty());
        assert_eq!(*harness.publisher.published(instrument), before);
    }
}

#[test]
fn trade_with_many_orders_spans_packets() {
    let mut harness = Harness::new(5);
    let price = Decimal(1_000_000_000_000);
    let at = |side, quantity| NewOrder::limit(0, side, price, quantity, Owner::BACKGROUND);
    for _ in 0..500 {
        harness.matching.submit(&at(Side::Offer, 3), &mut harness.events).unwrap();
    }
    harness.publish();
    harness.drain_events();
    harness.matching.submit(&at(Side::Bid, 1_501), &mut harness.events).unwrap();
    harness.publish();
    harness.drain_events();
    let book = &harness.receiver.books[&harness.instruments[0].security_id];
    assert_eq!((book.volume, book.bids[0].1, book.offers.len()), (1_500, 1, 0));
    assert_eq!(harness.receiver.census.trades, 8);
}

#[test]
fn loops_start_at_one_and_keep_their_pace() {
    let mut harness = Harness::new(6);
    harness.seed();
    harness.publisher.set_pace(Pace::Paced, harness.now.monotonic);
    let mut counts = [0_u32; 3];
    let start = harness.now.monotonic;
    for _ in 0..10_000 {
        harness.pass(Duration::from_micros(100));
        while let Some(transmit) = harness.poll() {
            counts[transmit.feed as usize] += 1;
        }
        assert!(harness.publisher.poll_timeout().unwrap() > harness.now.monotonic);
    }
    assert_eq!(harness.now.monotonic - start, Duration::from_secs(1));
    let census = harness.receiver.census;
    assert!((9..=11).contains(&census.definition_loops), "{census:?}");
    assert!((9..=11).contains(&census.snapshot_loops), "{census:?}");
    assert_eq!((counts[0], census.heartbeats), (1, 1));
    println!("{counts:?} packets a second");
}

#[test]
fn flat_out_loops_alternate() {
    let mut harness = Harness::new(7);
    harness.seed();
    for _ in 0..1_000 {
        assert!(harness.poll().is_some());
    }
    let census = harness.receiver.census;
    assert!(census.definition_loops > 10 && census.snapshot_loops > 5, "{census:?}");
}

/// An empty loop still shows that the feed is alive: one heartbeat per period at any pace, in the
/// sequence of the loop.
#[test]
fn empty_snapshot_loop_is_one_heartbeat() {
    for pace in [Pace::FlatOut, Pace::Paced] {
        let mut harness = Harness::new(8);
        harness.publisher.set_pace(pace, harness.now.monotonic);
        let mut passes = 0;
        for _ in 0..100 {
            for _ in 0..3 {
                let packet = harness.poll();
                passes += u64::from(packet.is_some_and(|packet| packet.feed == Feed::Snapshots));
            }
            harness.pass(Duration::from_millis(10));
        }
        assert_eq!((passes, harness.snapshots.empty_loops), (10, 10), "{pace:?}");
        let census = harness.receiver.census;
        assert_eq!((harness.publisher.sequence(), census.heartbeats), (0, 0));
        assert_eq!(census.snapshot_loops, 0);
        harness.seed();
        harness.pass(Duration::from_millis(200));
        while harness.receiver.census.snapshot_loops == 0 {
            harness.pass(Duration::from_millis(1));
            harness.poll();
        }
        assert_eq!((harness.snapshots.empty_loops, harness.receiver.books.len()), (10, 100));
    }
}

#[test]
fn heartbeats_follow_a_second_of_silence() {
    for pace in [Pace::FlatOut, Pace::Paced] {
        let mut harness = Harness::new(9);
        harness.seed();
        harness.publisher.set_pace(pace, harness.now.monotonic);
        // At flat out, packets of the loops are always due.
        let poll = |harness: &mut Harness| {
            for _ in 0..1_000 {
                harness.poll();
            }
        };
        for _ in 0..3 {
            let before = harness.receiver.census.heartbeats;
            harness.step();
            harness.drain_events();
            harness.pass(Duration::from_nanos(999_999_999));
            poll(&mut harness);
            assert_eq!(harness.receiver.census.heartbeats, before, "{pace:?}");
            harness.pass(Duration::from_nanos(1));
            poll(&mut harness);
            assert_eq!(harness.receiver.census.heartbeats, before + 1, "{pace:?}");
        }
    }
}

#[test]
fn full_queue_defers_events_to_the_accumulator() {
    let mut harness = Harness::new(10);
    harness.seed();
    let (mut queued, mut deferred) = (0, 0);
    for _ in 0..500 {
        harness.generator.step(&mut harness.matching, &mut harness.events).unwrap();
        match harness.publish() {
            Publication::Event(_) => queued += 1,
            Publication::Deferred => deferred += 1,
            other => panic!("unexpected publication {other:?}"),
        }
    }
    assert!(queued > 10 && deferred > 10, "{queued} {deferred}");
    // Queued events are older than the matching engine: compare only at the end.
    while harness.publisher.has_event() {
        let mut buffer = [0; 1_500];
        let transmit = harness.publisher.poll_transmit(harness.now, &mut buffer).unwrap();
        harness.receiver.handle_incremental(&buffer[..transmit.length]);
    }
    assert!(matches!(harness.publish(), Publication::Event(_)));
    harness.drain_events();
    for security_id in harness.receiver.books.keys() {
        harness.compare(*security_id);
    }
}
