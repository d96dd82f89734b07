//! The progress of the rounds of `t2t`.

use std::cell::Cell;

use hairpin_cli_harness::progress::Progress;
use hairpin_cli_harness::t2t_setup::Load;

use super::run_plan::{RunPlan, T2tCase};

/// A bar over all rounds. Its unit is a microsecond of schedule, so that slow rounds weigh more.
pub(super) struct RunProgress {
    bar: Progress,
    tick_us: Cell<u64>,
}

impl RunProgress {
    pub(super) fn new(plan: &RunPlan, introduction: String) -> Self {
        Self { bar: Progress::new(plan_us(plan), introduction), tick_us: Cell::new(0) }
    }

    /// Adds the rounds of another plan.
    pub(super) fn extend(&self, plan: &RunPlan) {
        self.bar.extend(plan_us(plan));
    }

    pub(super) fn begin(&self, case: &T2tCase) {
        let T2tCase { feed, transport, wait, load } = case;
        let (feed, transport) = (feed.name(), transport.transport.name());
        self.tick_us.set(tick_us(load));
        let text = format!("{feed}, {transport}, {wait}, {} us", load.interval_us);
        self.bar.begin(round_us(load), text);
    }

    /// Moves to the point at which `ticks` of the current round were sent.
    pub(super) fn advance(&self, ticks: u64) {
        self.bar.advance(ticks.saturating_mul(self.tick_us.get()));
    }

    pub(super) fn end(&self) {
        self.bar.end();
    }

    pub(super) fn finish(&self) {
        self.bar.finish();
    }
}

/// Returns the duration of all rounds of all cases, each with its warm-up.
fn plan_us(plan: &RunPlan) -> u64 {
    let rounds = 0..plan.rounds as usize;
    let case =
        |index| rounds.clone().map(|round| round_us(&plan.share(index, round).load)).sum::<u64>();
    (0..plan.cases.len()).map(case).sum()
}

/// Returns the duration of a tick: about ten microseconds or more.
fn tick_us(load: &Load) -> u64 {
    load.interval_us.max(10)
}

fn round_us(load: &Load) -> u64 {
    (load.warm_up + load.samples) * tick_us(load)
}
