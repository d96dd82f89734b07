//! Books as seeded, and what a million steps do to them.

use super::*;
use crate::{Capacity, NewOrder, Owner};

struct Market {
    matching: Matching,
    events: Accumulator,
    generator: Generator,
}

fn market(seed: u64, instruments: u32) -> Market {
    varied(seed, instruments, Flow::default())
}

fn varied(seed: u64, instruments: u32, flow: Flow) -> Market {
    let instruments = Instrument::numbered(instruments);
    let terms = instruments.iter().map(Instrument::terms);
    let mut matching = Matching::new(terms, Capacity::default());
    let mut events = matching.accumulator();
    let mut generator = Generator::with_flow(seed, &instruments, flow);
    for index in 0..matching.instruments() {
        generator.seed(index, &mut matching, &mut events);
    }
    events.clear();
    Market { matching, events, generator }
}

#[test]
fn seeds_books_deeper_than_is_published() {
    let Market { matching, .. } = market(1, 100);
    for (instrument, side) in (0..100).flat_map(|i| Side::BOTH.map(|side| (i, side))) {
        assert_eq!(i64::from(matching.depth(instrument, side)), EXTENT);
    }
}

#[test]
fn is_the_same_for_the_same_seed_and_another_for_another() {
    let steps = |seed| {
        let mut market = market(seed, 10);
        (0..1000)
            .map(|_| market.generator.step(&mut market.matching, &mut market.events))
            .collect::<Vec<_>>()
    };
    assert_eq!(steps(7), steps(7));
    assert_ne!(steps(7), steps(8));
}

/// Hours of flow: 100 instruments at one step every few milliseconds.
#[test]
fn keeps_books_healthy_for_a_million_steps() {
    let census = run_healthy(market(42, 100), 1_000_000);
    let (default, varied) = census.split_at(4);
    assert!(default.iter().flatten().all(|&count| count > 10_000), "{census:?}");
    assert!(varied.iter().flatten().all(|&count| count == 0), "{census:?}");
}

#[test]
fn keeps_books_healthy_with_every_kind_of_order() {
    let census = run_healthy(varied(43, 100, Flow::ALL), 500_000);
    assert!(census.iter().flatten().all(|&count| count > 5_000), "{census:?}");
}

#[test]
fn has_the_kinds_that_are_asked_for_and_no_other() {
    for (flow, kind) in [
        (Flow { market: true, ..Flow::default() }, Kind::Market),
        (Flow { fill_and_kill: true, ..Flow::default() }, Kind::FillAndKill),
        (Flow { partial: true, ..Flow::default() }, Kind::Partial),
        (Flow { replace: true, ..Flow::default() }, Kind::Replace),
    ] {
        let census = run_healthy(varied(44, 10, flow), 20_000);
        for of in &Kind::ALL[4..] {
            let count: u32 = census[*of as usize].iter().sum();
            assert_eq!(count > 1_000, *of == kind, "{flow:?}: {census:?}");
        }
    }
}

/// Steps and what always holds behind each; how many of each kind and side there were.
fn run_healthy(mut market: Market, steps: u32) -> [[u32; 2]; Kind::ALL.len()] {
    let mut census = [[0_u32; 2]; Kind::ALL.len()];
    let mut trades = 0;
    let mut widest = 0;
    let mut most_orders = 0;
    for n in 0..steps {
        let step = market.generator.step(&mut market.matching, &mut market.events);
        let Step { instrument, side, kind } = step.unwrap_or_else(|| panic!("step {n}"));
        census[kind as usize][side.index()] += 1;
        trades += market.events.trades().len();
        assert_eq!(market.events.touched(), [instrument], "step {n}");
        let traded = !market.events.trades().is_empty();
        let trades_never = matches!(kind, Kind::Improve | Kind::Cancel | Kind::Replace);
        assert_eq!(traded, !trades_never, "step {n}: {step:?}");
        market.events.clear();

        let scale = market.generator.scale(instrument);
        let [bid, offer] =
            Side::BOTH.map(|side| market.matching.best(instrument, side).unwrap().price);
        let spread = (offer.0 - bid.0) / scale.tick;
        widest = widest.max(spread);
        assert!((1..=2 * REACH + 2).contains(&spread), "step {n}: spread {spread}");
        for side in Side::BOTH {
            let best = market.matching.best(instrument, side).unwrap().price;
            assert!(scale.ticks(side, best).abs() <= REACH + 1, "step {n}: {best:?}");
            assert!(market.matching.depth(instrument, side) > 10, "step {n}");
        }
        let tenth = market.matching.levels(instrument, Side::Bid).nth(9).unwrap().price;
        assert!(scale.ticks(Side::Bid, tenth) - 5 < -REACH - 1, "step {n}: in reach");
        most_orders = most_orders.max(market.matching.resting());
    }
    println!("census {census:?} trades {trades} spread {widest} orders {most_orders}");
    assert!(most_orders < 10_000, "{most_orders} orders");
    census
}

#[test]
fn lays_the_foundation_again_after_a_session_traded_through_it() {
    for side in Side::BOTH {
        let Market { mut matching, mut events, mut generator, .. } = market(5, 1);
        let limit = generator.scale(0).price(side, EXTENT + 30);
        let sweep = NewOrder::limit(0, side, limit, NewOrder::MAX_QUANTITY, Owner(1));
        matching.submit(&sweep, &mut events).unwrap();
        assert_eq!(matching.depth(0, side.opposite()), 0);
        for n in 0..10_000 {
            assert!(generator.step(&mut matching, &mut events).is_some(), "step {n}");
            events.clear();
        }
        assert!(Side::BOTH.iter().all(|&side| matching.depth(0, side) > 10));
    }
}

#[test]
fn trades_with_orders_of_others_and_never_cancels_them() {
    let Market { mut matching, mut events, mut generator, .. } = market(6, 1);
    let mut open = Vec::new();
    let mut filled = 0;
    for n in 0..2_000 {
        let side = Side::BOTH[n % 2];
        let price = matching.best(0, side).unwrap().price;
        let owner = Owner(1);
        let join = NewOrder::limit(0, side, price, 1, owner);
        open.push(matching.submit(&join, &mut events).unwrap().order);
        generator.step(&mut matching, &mut events).unwrap();
        for fill in events.fills().iter().filter(|fill| fill.owner == owner) {
            open.retain(|&order| order != fill.order);
            filled += 1;
        }
        assert!(open.iter().all(|&order| matching.order(order).is_some()), "step {n}");
        events.clear();
    }
    assert!(filled > 500, "{filled}");
}
