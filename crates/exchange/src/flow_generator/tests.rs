//! Tests of seeded books and of the flow over a million steps.

use super::*;
use crate::{Capacity, NewOrder, Owner};

struct Market {
    matching: Matching,
    events: Accumulator,
    generator: FlowGenerator,
}

fn market(seed: u64, instruments: u32) -> Market {
    varied(seed, instruments, BackgroundFlow::default())
}

fn varied(seed: u64, instruments: u32, flow: BackgroundFlow) -> Market {
    let instruments = Instrument::numbered(instruments);
    let terms = instruments.iter().map(Instrument::terms);
    let mut matching = Matching::new(terms, Capacity::default());
    let mut events = matching.accumulator();
    let mut generator = FlowGenerator::with_flow(seed, &instruments, flow);
    for index in 0..matching.instruments() {
        generator.seed(index, &mut matching, &mut events);
    }
    events.clear();
    Market { matching, events, generator }
}

#[test]
fn seeds_more_levels_than_are_published() {
    let Market { matching, .. } = market(1, 100);
    for (instrument, side) in (0..100).flat_map(|i| Side::BOTH.map(|side| (i, side))) {
        assert_eq!(i64::from(matching.depth(instrument, side)), BOOK_RANGE);
    }
}

#[test]
fn seed_determines_the_flow() {
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
fn default_flow_holds_invariants_for_a_million_steps() {
    let census = run_checked(market(42, 100), 1_000_000);
    let (default, varied) = census.split_at(4);
    assert!(default.iter().flatten().all(|&count| count > 10_000), "{census:?}");
    assert!(varied.iter().flatten().all(|&count| count == 0), "{census:?}");
}

#[test]
fn varied_flow_holds_invariants() {
    let census = run_checked(varied(43, 100, BackgroundFlow::ALL), 500_000);
    assert!(census.iter().flatten().all(|&count| count > 5_000), "{census:?}");
}

#[test]
fn flow_contains_only_enabled_kinds() {
    for (flow, kind) in [
        (BackgroundFlow { market: true, ..BackgroundFlow::default() }, StepKind::Market),
        (
            BackgroundFlow { fill_and_kill: true, ..BackgroundFlow::default() },
            StepKind::FillAndKill,
        ),
        (BackgroundFlow { partial: true, ..BackgroundFlow::default() }, StepKind::Partial),
        (BackgroundFlow { replace: true, ..BackgroundFlow::default() }, StepKind::Replace),
    ] {
        let census = run_checked(varied(44, 10, flow), 20_000);
        for other in &StepKind::ALL[4..] {
            let count: u32 = census[*other as usize].iter().sum();
            assert_eq!(count > 1_000, *other == kind, "{flow:?}: {census:?}");
        }
    }
}

/// Runs steps and checks the invariants after each. Returns the number of each kind and side.
fn run_checked(mut market: Market, steps: u32) -> [[u32; 2]; StepKind::ALL.len()] {
    let mut census = [[0_u32; 2]; StepKind::ALL.len()];
    let mut trades = 0;
    let mut widest = 0;
    let mut most_orders = 0;
    for n in 0..steps {
        let step = market.generator.step(&mut market.matching, &mut market.events);
        let FlowStep { instrument, side, kind } = step.unwrap_or_else(|| panic!("step {n}"));
        census[kind as usize][side.index()] += 1;
        trades += market.events.trades().len();
        assert_eq!(market.events.touched(), [instrument], "step {n}");
        let traded = !market.events.trades().is_empty();
        let never_trades = matches!(kind, StepKind::Improve | StepKind::Cancel | StepKind::Replace);
        assert_eq!(traded, !never_trades, "step {n}: {step:?}");
        market.events.clear();

        let scale = market.generator.scale(instrument);
        let [bid, offer] =
            Side::BOTH.map(|side| market.matching.best(instrument, side).unwrap().price);
        let spread = (offer.0 - bid.0) / scale.tick;
        widest = widest.max(spread);
        assert!((1..=2 * STEP_RANGE + 2).contains(&spread), "step {n}: spread {spread}");
        for side in Side::BOTH {
            let best = market.matching.best(instrument, side).unwrap().price;
            assert!(scale.ticks(side, best).abs() <= STEP_RANGE + 1, "step {n}: {best:?}");
            assert!(market.matching.depth(instrument, side) > 10, "step {n}");
        }
        let tenth = market.matching.levels(instrument, Side::Bid).nth(9).unwrap().price;
        assert!(scale.ticks(Side::Bid, tenth) - 5 < -STEP_RANGE - 1, "step {n}: in reach");
        most_orders = most_orders.max(market.matching.resting());
    }
    println!("census {census:?} trades {trades} spread {widest} orders {most_orders}");
    assert!(most_orders < 10_000, "{most_orders} orders");
    census
}

#[test]
fn restores_base_levels_after_a_session_traded_through_them() {
    for side in Side::BOTH {
        let Market { mut matching, mut events, mut generator, .. } = market(5, 1);
        let limit = generator.scale(0).price(side, BOOK_RANGE + 30);
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
fn never_cancels_session_orders() {
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
