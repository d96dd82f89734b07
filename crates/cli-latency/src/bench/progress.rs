//! The progress of the rounds of a benchmark.

use std::cell::Cell;

use hairpin_cli_harness::progress::Progress;

use super::bench_case::{BenchCase, Load};

/// The duration of a round besides its messages, in microseconds: synchronization and logon.
const START_US: u64 = 400_000;

/// A bar over all rounds. Its unit is a microsecond, so that slow rounds have their weight.
pub(super) struct BenchProgress {
    bar: Progress,
    interval_us: Cell<u64>,
}

impl BenchProgress {
    pub(super) fn new(plan: &[impl BenchCase], rounds: usize, introduction: String) -> Self {
        let total = plan.iter().flat_map(|case| {
            (0..rounds).map(|round| duration_us(case.share(round, rounds).load()))
        });
        Self { bar: Progress::new(total.sum(), introduction), interval_us: Cell::new(0) }
    }

    pub(super) fn begin(&self, case: &impl BenchCase) {
        self.interval_us.set(case.load().interval_us);
        self.bar.begin(duration_us(case.load()), format!("{}, {}", case.name(), case.pause()));
    }

    /// Moves to the point at which `messages` of the current round were sent.
    pub(super) fn advance(&self, messages: u64) {
        self.bar.advance(START_US + messages * self.interval_us.get());
    }

    pub(super) fn end(&self) {
        self.bar.end();
    }

    pub(super) fn finish(&self) {
        self.bar.finish();
    }
}

/// The approximate duration of a round, in microseconds.
fn duration_us(load: Load) -> u64 {
    START_US + (load.warm_up + load.samples) * load.interval_us
}
