//! The exchange, its receivers and the network between them, from the first packet.

use hairpin_netsim::{Census, Clock};
use hairpin_time::{Duration, Instant, Utc};

use crate::plan::Plan;
use crate::receiver::Receiver;
use crate::stage::Stage;

/// The maximum number of steps at one instant. More steps indicate an endless loop.
const MOST_STEPS: u32 = 10_000;

/// Runs a seed to its end and returns the census.
///
/// # Panics
/// If a check fails.
pub(crate) fn run(seed: u64) -> Census {
    let mut clock = Clock::new(Utc::from_nanos(1_800_000_000_000_000_000));
    let mut plan = Plan::new(seed, clock.now().monotonic);
    let mut stage = Stage::new(&mut plan, clock.now());
    let is_unnumbered = plan.kind.is_unnumbered();
    let audiences = std::mem::take(&mut plan.audiences).into_iter().enumerate();
    let mut receivers: Vec<_> = audiences
        .map(|(number, audience)| Receiver::new(number, audience, is_unnumbered))
        .collect();
    // Packets in flight at the end still have to arrive.
    let ends = plan.ends + LAST_WAY;
    let mut steps = 0;
    while clock.now().monotonic < ends {
        let before = clock.now().monotonic;
        let due = |receiver: &Receiver| receiver.next_at(before);
        let next = receivers.iter().filter_map(due).chain(stage.next_at()).min();
        clock.advance_to(next.expect("loops never end").min(ends));
        steps = if clock.now().monotonic > before { 0 } else { steps + 1 };
        assert!(steps < MOST_STEPS, "endless loop: time does not advance");
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

/// The time to drain the network: longer than any conflation interval, line delay and loop.
const LAST_WAY: Duration = Duration::from_millis(400);
/// The start of every run.
const START: Instant = Instant::from_nanos(Duration::from_secs(1).as_nanos());

/// Handles all due events.
fn step(clock: &Clock, stage: &mut Stage, receivers: &mut [Receiver]) {
    let now = clock.now();
    // A receiver that joins now receives the packets that are sent now.
    for receiver in receivers.iter_mut() {
        receiver.run(now, stage);
    }
    stage.run(now, &mut |feed, bytes| {
        receivers.iter_mut().for_each(|receiver| receiver.send(now.monotonic, feed, bytes));
    });
}
