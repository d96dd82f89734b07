//! The exchange, its receivers and the network between them, from the first packet on.

use hairpin_netsim::{Census, Clock};
use hairpin_time::{Duration, Instant, Utc};

use crate::plan::Plan;
use crate::receiver::Receiver;
use crate::stage::Stage;

/// Steps at one time: more is a loop that never ends.
const MOST_STEPS: u32 = 10_000;

/// Runs a seed to its end and returns what has happened.
///
/// # Panics
/// If anything is not as it should be.
pub(crate) fn run(seed: u64) -> Census {
    let mut clock = Clock::new(Utc::from_nanos(1_800_000_000_000_000_000));
    let mut plan = Plan::new(seed, clock.now().monotonic);
    let mut stage = Stage::new(&mut plan, clock.now());
    let is_unnumbered = plan.kind.is_unnumbered();
    let audiences = std::mem::take(&mut plan.audiences).into_iter().enumerate();
    let mut receivers: Vec<_> = audiences
        .map(|(number, audience)| Receiver::new(number, audience, is_unnumbered))
        .collect();
    // What has happened by then still has to arrive.
    let ends = plan.ends + LAST_WAY;
    let mut steps = 0;
    while clock.now().monotonic < ends {
        let before = clock.now().monotonic;
        let due = |receiver: &Receiver| receiver.next_at(before);
        let next = receivers.iter().filter_map(due).chain(stage.next_at()).min();
        clock.advance_to(next.expect("loops never end").min(ends));
        steps = if clock.now().monotonic > before { 0 } else { steps + 1 };
        assert!(steps < MOST_STEPS, "no time passes any more");
        step(&clock, &mut stage, &mut receivers);
    }
    let mut census = Census::new();
    for receiver in &mut receivers {
        census.merge(&receiver.finish(clock.now(), &stage));
    }
    census.merge(&stage.census);
    census.count(plan.kind.class());
    census.count("runs");
    census.add("ms simulated", (clock.now().monotonic - START).as_millis());
    census
}

/// Longer than any interval of conflation and any line, and the loops behind them.
const LAST_WAY: Duration = Duration::from_millis(400);
/// When every run begins.
const START: Instant = Instant::from_nanos(Duration::from_secs(1).as_nanos());

/// What is due now.
fn step(clock: &Clock, stage: &mut Stage, receivers: &mut [Receiver]) {
    let now = clock.now();
    // Who joins now hears what is sent now.
    for receiver in receivers.iter_mut() {
        receiver.run(now, stage);
    }
    stage.run(now, &mut |feed, bytes| {
        receivers.iter_mut().for_each(|receiver| receiver.send(now.monotonic, feed, bytes));
    });
}
