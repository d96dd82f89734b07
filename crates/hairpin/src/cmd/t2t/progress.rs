//! How far a `t2t` run has got: a bar on a terminal, nothing in a pipe.

use std::cell::Cell;
use std::io::Write;

use indicatif::{ProgressBar, ProgressStyle};

use super::run_plan::{Cell as Planned, Plan};
use crate::harness::t2t_setup::Load;

/// A bar over all rows. Its unit is a microsecond of schedule, so that slow rows weigh what they
/// take.
pub(super) struct Progress {
    /// Said when the first row is under way: before that an error may be all there is to say.
    introduction: Cell<Option<String>>,
    bar: ProgressBar,
    done: Cell<u64>,
    current: Cell<Option<Load>>,
}

impl Progress {
    pub(super) fn new(plan: &Plan, introduction: String) -> Self {
        let bar = ProgressBar::new(length(plan));
        let template = "{bar:40} {percent:>3}% {eta_precise} left  {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let introduction = Cell::new(Some(introduction));
        Self { introduction, bar, done: Cell::new(0), current: Cell::new(None) }
    }

    /// More than was planned.
    pub(super) fn add(&self, plan: &Plan) {
        self.bar.inc_length(length(plan));
    }

    pub(super) fn begin(&self, row: &Planned) {
        let Planned { feed, wait, load } = row;
        self.current.set(Some(*load));
        self.bar.set_message(format!("{}, {wait}, {} us", feed.name(), load.interval_us));
    }

    /// So many ticks of the current row have left.
    pub(super) fn at(&self, ticks: u64) {
        if let Some(introduction) = self.introduction.take() {
            self.bar.suspend(|| {
                let _ = writeln!(std::io::stderr(), "{introduction}");
            });
        }
        if let Some(load) = self.current.get() {
            let part = ticks.saturating_mul(pace(&load)).min(weight(&load));
            self.bar.set_position(self.done.get() + part);
        }
    }

    pub(super) fn end(&self) {
        if let Some(load) = self.current.take() {
            self.done.set(self.done.get() + weight(&load));
            self.bar.set_position(self.done.get());
        }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// All rounds of all sets, each with its warm-up.
fn length(plan: &Plan) -> u64 {
    let rounds = 0..plan.rounds as usize;
    let set = |side| rounds.clone().map(|round| weight(&plan.share(side, round).load)).sum::<u64>();
    (0..plan.cells.len()).map(set).sum()
}

/// Without a pause a tick takes some ten microseconds.
fn pace(load: &Load) -> u64 {
    load.interval_us.max(10)
}

fn weight(load: &Load) -> u64 {
    (load.warm_up + load.samples) * pace(load)
}
