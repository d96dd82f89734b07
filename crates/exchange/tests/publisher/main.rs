//! The publisher against a receiver that was written from CME's rules.

#![allow(clippy::unwrap_used, reason = "this is all tests")]

mod bench;
mod endings;
#[path = "../receiver/mod.rs"]
mod receiver;
mod verbs;

use bench::{Bench, INSTRUMENTS};
use hairpin_cme_codecs::mdp3::AggressorSide;
use hairpin_exchange::{Feed, Kind, NewOrder, Owner, Pace, Publication, Side};
use hairpin_sbe::Decimal;
use hairpin_time::Duration;
use receiver::{Census, Receiver, SnapshotLoop};

fn run(seed: u64, events: u32) -> Census {
    let mut bench = Bench::new(seed);
    bench.seed();
    for n in 0..events {
        let step = bench.step();
        bench.drain_events();
        if matches!(step.kind, Kind::Take | Kind::Sweep) {
            let aggressor = match step.side {
                Side::Bid => AggressorSide::SELL,
                Side::Offer => AggressorSide::BUY,
            };
            assert_eq!(bench.receiver.last_aggressor, Some(aggressor));
        }
        match n % 1_000 {
            // Loops between the events, and now and then a silence.
            999 => {
                bench.pass(Duration::from_secs(1));
                assert_eq!(bench.poll().unwrap().feed, Feed::Incremental);
            }
            k if k % 4 == 0 => drop(bench.poll()),
            _ => bench.pass(Duration::from_micros(5)),
        }
    }
    bench.receiver.census
}

/// Events of a seed: fewer where the compiler does not optimise.
const EVENTS: u32 = if cfg!(debug_assertions) { 20_000 } else { 100_000 };

#[test]
fn a_receiver_ends_every_event_with_the_same_books() {
    let mut total = Census::default();
    for seed in 0..20 {
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

/// Joins at many moments of a loop by CME's procedure: snapshots, then what came behind their
/// 369, and compares with somebody who was there from the start.
#[test]
fn a_late_joiner_ends_with_the_same_books() {
    let mut bench = Bench::new(99);
    bench.publisher.set_pace(Pace::Paced, bench.now.monotonic);
    bench.seed();
    bench.kept = Some(Vec::new());
    let mut joined = 0;
    let mut behind = 0;
    for n in 0..20_000 {
        bench.pass(Duration::from_micros(500));
        bench.drain();
        if n % 3 == 0 {
            bench.step();
            bench.drain_events();
        }
        if let Some(SnapshotLoop { last_processed, books }) = bench.last_loop.take() {
            let mut late = Receiver::joining(books);
            let kept = bench.kept.as_mut().unwrap();
            kept.retain(|&(sequence, _)| sequence > last_processed);
            behind += kept.len();
            for (_, packet) in kept.iter() {
                late.handle_incremental(packet);
            }
            assert_eq!(late.books, bench.receiver.books, "join {joined}");
            joined += 1;
        }
    }
    println!("{joined} joins, {behind} packets behind the snapshots");
    assert!(joined > 50 && behind > 1_000);
}

#[test]
fn snapshots_of_a_loop_state_one_packet_however_long_it_takes() {
    let mut bench = Bench::new(3);
    bench.seed();
    while bench.poll().unwrap().feed != Feed::Snapshots {}
    let at_start = bench.receiver.books.clone();
    let start = bench.publisher.sequence();
    let loops = loop {
        if let Some(loops) = bench.last_loop.take() {
            break loops;
        }
        bench.poll();
        bench.step();
        bench.drain_events();
    };
    assert_eq!(loops.last_processed, start);
    assert_eq!(loops.books, at_start);
    assert_ne!(bench.receiver.books, at_start);
}

#[test]
fn an_order_far_below_the_book_changes_nothing_that_is_published() {
    let mut bench = Bench::new(4);
    bench.seed();
    for n in 0..2_000 {
        bench.step();
        bench.drain_events();
        let instrument = n % INSTRUMENTS;
        let tenth = bench.publisher.published(instrument).sides[0].levels()[9].price;
        let tick = bench.instruments[instrument as usize].tick.0;
        let price = Decimal(tenth.0 - 5 * tick);
        let order = NewOrder::limit(instrument, Side::Bid, price, 1, Owner(1));
        let before = *bench.publisher.published(instrument);
        let submitted = bench.matching.submit(&order, &mut bench.events).unwrap();
        assert_eq!(submitted.remaining, 1);
        assert_eq!(bench.publish(), Publication::Unchanged);
        assert!(bench.matching.cancel(submitted.order, &mut bench.events).is_some());
        assert_eq!(bench.publish(), Publication::Unchanged);
        assert!(!bench.publisher.has_event() && bench.events.is_empty());
        assert_eq!(*bench.publisher.published(instrument), before);
    }
}

#[test]
fn a_trade_with_very_many_orders_spans_packets() {
    let mut bench = Bench::new(5);
    let price = Decimal(1_000_000_000_000);
    let at = |side, quantity| NewOrder::limit(0, side, price, quantity, Owner::HOUSE);
    for _ in 0..500 {
        bench.matching.submit(&at(Side::Offer, 3), &mut bench.events).unwrap();
    }
    bench.publish();
    bench.drain_events();
    bench.matching.submit(&at(Side::Bid, 1_501), &mut bench.events).unwrap();
    bench.publish();
    bench.drain_events();
    let book = &bench.receiver.books[&bench.instruments[0].security_id];
    assert_eq!((book.volume, book.bids[0].1, book.offers.len()), (1_500, 1, 0));
    assert_eq!(bench.receiver.census.trades, 8);
}

#[test]
fn loops_begin_with_one_and_keep_their_pace() {
    let mut bench = Bench::new(6);
    bench.seed();
    bench.publisher.set_pace(Pace::Paced, bench.now.monotonic);
    let mut counts = [0_u32; 3];
    let start = bench.now.monotonic;
    for _ in 0..10_000 {
        bench.pass(Duration::from_micros(100));
        while let Some(transmit) = bench.poll() {
            counts[transmit.feed as usize] += 1;
        }
        assert!(bench.publisher.poll_timeout().unwrap() > bench.now.monotonic);
    }
    assert_eq!(bench.now.monotonic - start, Duration::from_secs(1));
    let census = bench.receiver.census;
    assert!((9..=11).contains(&census.definition_loops), "{census:?}");
    assert!((9..=11).contains(&census.snapshot_loops), "{census:?}");
    assert_eq!((counts[0], census.heartbeats), (1, 1));
    println!("{counts:?} packets a second");
}

#[test]
fn loops_alternate_when_flat_out() {
    let mut bench = Bench::new(7);
    bench.seed();
    for _ in 0..1_000 {
        assert!(bench.poll().is_some());
    }
    let census = bench.receiver.census;
    assert!(census.definition_loops > 10 && census.snapshot_loops > 5, "{census:?}");
}

/// A silent loop is no lost feed: at any pace a heartbeat comes each period, in the numbering of
/// the loop.
#[test]
fn an_empty_loop_of_snapshots_is_a_heartbeat_a_pass() {
    // Going flat out the incremental feed has a heartbeat every 10 ms, of its own.
    for (pace, beats) in [(Pace::FlatOut, 99), (Pace::Paced, 0)] {
        let mut bench = Bench::new(8);
        bench.publisher.set_pace(pace, bench.now.monotonic);
        let mut passes = 0;
        for _ in 0..100 {
            for _ in 0..3 {
                let packet = bench.poll();
                passes += u64::from(packet.is_some_and(|packet| packet.feed == Feed::Snapshots));
            }
            bench.pass(Duration::from_millis(10));
        }
        assert_eq!((passes, bench.snapshots.empty_loops), (10, 10), "{pace:?}");
        let census = bench.receiver.census;
        assert_eq!((bench.publisher.sequence(), census.heartbeats), (beats, u64::from(beats)));
        assert_eq!(census.snapshot_loops, 0);
        bench.seed();
        bench.pass(Duration::from_millis(200));
        while bench.receiver.census.snapshot_loops == 0 {
            bench.pass(Duration::from_millis(1));
            bench.poll();
        }
        assert_eq!((bench.snapshots.empty_loops, bench.receiver.books.len()), (10, 100));
    }
}

#[test]
fn heartbeats_only_after_a_second_of_silence() {
    let mut bench = Bench::new(9);
    bench.seed();
    bench.publisher.set_pace(Pace::Paced, bench.now.monotonic);
    for _ in 0..3 {
        let before = bench.receiver.census.heartbeats;
        bench.step();
        bench.drain_events();
        bench.pass(Duration::from_nanos(999_999_999));
        bench.drain();
        assert_eq!(bench.receiver.census.heartbeats, before);
        bench.pass(Duration::from_nanos(1));
        bench.drain();
        assert_eq!(bench.receiver.census.heartbeats, before + 1);
    }
}

#[test]
fn heartbeats_follow_each_other_while_loops_go_flat_out() {
    let mut bench = Bench::new(9);
    bench.seed();
    bench.drain_events();
    for beats in 1..=100 {
        bench.pass(Duration::from_millis(10));
        for _ in 0..10 {
            bench.poll();
        }
        assert_eq!(bench.receiver.census.heartbeats, beats);
    }
    assert!(bench.receiver.census.snapshot_loops > 5);
}

#[test]
fn events_wait_in_the_queue_and_beyond_it_in_the_accumulator() {
    let mut bench = Bench::new(10);
    bench.seed();
    let (mut queued, mut deferred) = (0, 0);
    for _ in 0..500 {
        bench.generator.step(&mut bench.matching, &mut bench.events).unwrap();
        match bench.publish() {
            Publication::Event(_) => queued += 1,
            Publication::Deferred => deferred += 1,
            other => panic!("{other:?}: a step that nobody sees"),
        }
    }
    assert!(queued > 10 && deferred > 10, "{queued} {deferred}");
    // The queue holds older pictures than matching: compare only at the end.
    while bench.publisher.has_event() {
        let mut buffer = [0; 1_500];
        let transmit = bench.publisher.poll_transmit(bench.now, &mut buffer).unwrap();
        bench.receiver.handle_incremental(&buffer[..transmit.length]);
    }
    assert!(matches!(bench.publish(), Publication::Event(_)));
    bench.drain_events();
    for security_id in bench.receiver.books.keys() {
        bench.compare(*security_id);
    }
}
