//! The exchange, its receivers and the network between them, from the first packet.

use hairpin_netsim::{Census, Clock};
use hairpin_time::{Duration, Instant, Utc};

use crate::exchange::Exchange;
use crate::plan::Plan;
use crate::receiver::Receiver;

/// The maximum number of steps at one instant. More steps indicate an endless loop.
const MAX_STEPS: u32 = 10_000;

/// Runs a seed to its end and returns the census.
///
/// # Panics
/// If a check fails.
pub(crate) fn run(seed: u64) -> Census {
    let mut clock = Clock::new(Utc::from_nanos(1_800_000_000_000_000_000));
    let mut plan = Plan::new(seed, clock.now().monotonic);
    let mut exchange = Exchange::new(&mut plan, clock.now());
    let lacks_rpt_seq = plan.kind.lacks_rpt_seq();
    let receiver_plans = std::mem::take(&mut plan.receiver_plans).into_iter().enumerate();
    let mut receivers: Vec<_> = receiver_plans
        .map(|(number, receiver_plan)| Receiver::new(number, receiver_plan, lacks_rpt_seq))
        .collect();
    // Packets in flight at the end still have to arrive.
    let ends = plan.ends + DRAIN_TIME;
    let mut steps = 0;
    while clock.now().monotonic < ends {
        let before = clock.now().monotonic;
        let due = |receiver: &Receiver| receiver.next_at(before);
        let next = receivers.iter().filter_map(due).chain(exchange.next_at()).min();
        clock.advance_to(next.expect("loops never end").min(ends));
        steps = if clock.now().monotonic > before { 0 } else { steps + 1 };
        assert!(steps < MAX_STEPS, "endless loop: time does not advance");
        step(&clock, &mut exchange, &mut receivers);
    }
    let mut census = Census::new();
    for receiver in &mut receivers {
        census.merge(&receiver.finish(clock.now(), &exchange));
    }
    census.merge(&exchange.census);
    census.count(plan.kind.class());
    census.count("runs");
    census.add("ms simulated", (clock.now().monotonic - START).as_millis());
    census
}

/// The time to drain the network: longer than any conflation interval, line delay and loop.
const DRAIN_TIME: Duration = Duration::from_millis(400);
/// The start of every run.
const START: Instant = Instant::from_nanos(Duration::from_secs(1).as_nanos());

/// Handles all due events.
fn step(clock: &Clock, exchange: &mut Exchange, receivers: &mut [Receiver]) {
    let now = clock.now();
    // A receiver that joins now receives the packets that are sent now.
    for receiver in receivers.iter_mut() {
        receiver.run(now, exchange);
    }
    exchange.run(now, &mut |feed, bytes| {
        receivers.iter_mut().for_each(|receiver| receiver.send(now.monotonic, feed, bytes));
    });
}
