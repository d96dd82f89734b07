//! How far the rounds have got: a bar on a terminal, nothing in a pipe.

use std::cell::Cell as Shared;
use std::io::Write;

use indicatif::{ProgressBar, ProgressStyle};

use super::bench_case::{Cell, Load};

/// Microseconds that a round takes beside its messages, about: to come in sync, to log on.
const START_US: u64 = 400_000;

/// A bar over all rounds. Its unit is a microsecond, so that slow rounds weigh what they take.
pub(super) struct Progress {
    /// Said when the first round is under way: before that an error may be all there is to say.
    introduction: Shared<Option<String>>,
    bar: ProgressBar,
    done: Shared<u64>,
    current: Shared<Option<Load>>,
}

impl Progress {
    pub(super) fn new(plan: &[impl Cell], rounds: usize, introduction: String) -> Self {
        let all = plan
            .iter()
            .flat_map(|cell| (0..rounds).map(|round| length(cell.share(round, rounds).load())));
        let bar = ProgressBar::new(all.sum());
        let template = "{bar:40} {percent:>3}% {eta_precise} left  {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let introduction = Shared::new(Some(introduction));
        Self { introduction, bar, done: Shared::new(0), current: Shared::new(None) }
    }

    pub(super) fn begin(&self, cell: &impl Cell) {
        self.current.set(Some(cell.load()));
        self.bar.set_message(format!("{}, {}", cell.name(), cell.pause()));
    }

    /// So many messages of the current round have left.
    pub(super) fn at(&self, messages: u64) {
        if let Some(introduction) = self.introduction.take() {
            self.bar.suspend(|| {
                let _ = writeln!(std::io::stderr(), "{introduction}");
            });
        }
        if let Some(load) = self.current.get() {
            let passed = START_US + messages * load.interval_us;
            self.bar.set_position(self.done.get() + passed.min(length(load)));
        }
    }

    pub(super) fn end(&self) {
        self.done.set(self.done.get() + self.current.get().map_or(0, length));
        self.bar.set_position(self.done.get());
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// How long a round takes, about.
fn length(load: Load) -> u64 {
    START_US + (load.warm_up + load.samples) * load.interval_us
}
