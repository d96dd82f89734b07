//! The progress of a run, for `hairpin stat`.

use hairpin_cli_harness::counter_publisher::CounterPublisher;
use hairpin_host::Clock;
use hairpin_mapped::{CounterWriter, Unit};

use super::run_plan::RunPlan;

/// The counters of the process that runs the others.
pub(super) struct RunCounters {
    publisher: CounterPublisher,
    clock: Clock,
    counts: RoundCounts,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct RoundCounts {
    planned: u64,
    done: u64,
    failed: u64,
}

impl RunCounters {
    /// Publishes the plan, with nothing done, as the process of `command`.
    pub(super) fn publish(command: &str, plan: &RunPlan) -> Self {
        let counts = RoundCounts { planned: rounds_of(plan), ..RoundCounts::default() };
        let title = format!("{command} --rounds {}", plan.rounds);
        let publisher = CounterPublisher::new(&title, "rounds", |writer| counts.write(writer));
        Self { publisher, clock: Clock::from_kernel(), counts }
    }

    /// Adds another plan.
    pub(super) fn add(&mut self, plan: &RunPlan) {
        self.counts.planned += rounds_of(plan);
        self.update();
    }

    /// Counts a round that is over.
    pub(super) fn record_round(&mut self, has_failed: bool) {
        self.counts.done += 1;
        self.counts.failed += u64::from(has_failed);
        self.update();
    }

    fn update(&mut self) {
        let Self { publisher, clock, counts } = self;
        publisher.update(clock.instant(), |writer| counts.write(writer));
    }
}

impl RoundCounts {
    fn write(&self, writer: &mut CounterWriter<'_>) {
        writer.gauge("run", "rounds_planned", Unit::Count, self.planned);
        writer.counter("run", "rounds", Unit::Count, self.done);
        writer.counter("run", "failed_rounds", Unit::Count, self.failed);
    }
}

/// Returns the number of rounds of all cases.
fn rounds_of(plan: &RunPlan) -> u64 {
    plan.cases.len() as u64 * u64::from(plan.rounds)
}

#[cfg(test)]
mod tests {
    use super::super::run_plan::tests::plan;
    use super::*;

    #[test]
    fn rounds_are_counted_and_those_that_failed_apart() {
        let mut counters = RunCounters::publish("t2t", &plan(3, 90, 7));
        counters.record_round(false);
        counters.record_round(true);
        counters.add(&plan(1, 90, 7));
        assert_eq!(counters.counts, RoundCounts { planned: 28, done: 2, failed: 1 });
    }
}
