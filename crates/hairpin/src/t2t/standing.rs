//! How far a run has come, for `hairpin stat`.

use hairpin_host::Clock;
use hairpin_mapped::{CounterWriter, Unit};

use super::plan::Plan;
use crate::live::Live;

/// The live counters of the process that runs the others.
pub(super) struct Standing {
    live: Live,
    clock: Clock,
    counts: Counts,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Counts {
    planned: u64,
    done: u64,
    failed: u64,
}

impl Standing {
    /// Publishes, as the process of `command`, that nothing of the plan is done yet.
    pub(super) fn publish(command: &str, plan: &Plan) -> Self {
        let counts = Counts { planned: rounds_of(plan), ..Counts::default() };
        let title = format!("{command} --rounds {}", plan.rounds);
        let live = Live::publish(&title, "rounds", |sheet| counts.tell(sheet));
        Self { live, clock: Clock::from_kernel(), counts }
    }

    /// More than was planned.
    pub(super) fn add(&mut self, plan: &Plan) {
        self.counts.planned += rounds_of(plan);
        self.update();
    }

    /// A round is over.
    pub(super) fn note(&mut self, has_failed: bool) {
        self.counts.done += 1;
        self.counts.failed += u64::from(has_failed);
        self.update();
    }

    fn update(&mut self) {
        let Self { live, clock, counts } = self;
        live.update(clock.instant(), |sheet| counts.tell(sheet));
    }
}

impl Counts {
    fn tell(&self, sheet: &mut CounterWriter<'_>) {
        sheet.gauge("run", "rounds_planned", Unit::Count, self.planned);
        sheet.counter("run", "rounds", Unit::Count, self.done);
        sheet.counter("run", "failed_rounds", Unit::Count, self.failed);
    }
}

/// All rounds of all sets.
fn rounds_of(plan: &Plan) -> u64 {
    plan.cells.len() as u64 * u64::from(plan.rounds)
}

#[cfg(test)]
mod tests {
    use super::super::plan::tests::plan;
    use super::*;

    #[test]
    fn rounds_are_counted_and_those_that_failed_apart() {
        let mut standing = Standing::publish("t2t", &plan(3, 90, 7));
        standing.note(false);
        standing.note(true);
        standing.add(&plan(1, 90, 7));
        assert_eq!(standing.counts, Counts { planned: 28, done: 2, failed: 1 });
    }
}
