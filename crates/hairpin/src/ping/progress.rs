//! How far a ping has got: a bar on a terminal, nothing in a pipe.

use std::cell::Cell as Shared;
use std::io::Write;

use indicatif::{ProgressBar, ProgressStyle};

use super::plan::Cell;

/// A bar over all rounds, each of the same weight.
pub(super) struct Progress {
    /// Said when the first round is under way: before that an error may be all there is to say.
    introduction: Shared<Option<String>>,
    bar: ProgressBar,
    done: Shared<u64>,
    pings: Shared<u64>,
}

/// Parts of a round that the bar tells apart.
const PARTS: u64 = 100;

impl Progress {
    pub(super) fn new(plan: &[Cell], rounds: usize, introduction: String) -> Self {
        let bar = ProgressBar::new(plan.len() as u64 * rounds as u64 * PARTS);
        let template = "{bar:40} {percent:>3}% {eta_precise} left  {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let introduction = Shared::new(Some(introduction));
        Self { introduction, bar, done: Shared::new(0), pings: Shared::new(1) }
    }

    pub(super) fn begin(&self, cell: &Cell) {
        let Cell { protocol, wait, size, load, .. } = cell;
        self.pings.set(load.samples.max(1));
        self.bar.set_message(format!("{}, {wait}, {size} bytes", protocol.name()));
    }

    /// So many pings of the current round have left.
    pub(super) fn at(&self, pings: u64) {
        if let Some(introduction) = self.introduction.take() {
            self.bar.suspend(|| {
                let _ = writeln!(std::io::stderr(), "{introduction}");
            });
        }
        let part = (pings * PARTS / self.pings.get()).min(PARTS);
        self.bar.set_position(self.done.get() + part);
    }

    pub(super) fn end(&self) {
        self.done.set(self.done.get() + PARTS);
        self.bar.set_position(self.done.get());
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
