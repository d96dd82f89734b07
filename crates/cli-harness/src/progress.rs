//! The progress of a run: a bar on a terminal, nothing in a pipe.

use std::cell::Cell;
use std::io::Write;

use hairpin_measure::Style;
use indicatif::{ProgressBar, ProgressStyle};

/// A bar over all rounds of a run. The caller chooses the unit.
pub struct Progress {
    /// The line printed once the first round has started: before that, an error may be the only
    /// output.
    introduction: Cell<Option<String>>,
    bar: ProgressBar,
    /// The rounds that have ended.
    done: Cell<u64>,
    /// The current round.
    round: Cell<u64>,
}

impl Progress {
    /// Returns a bar of length `total`.
    pub fn new(total: u64, introduction: String) -> Self {
        let bar = ProgressBar::new(total);
        let template = "{bar:20} {percent:>3}% {eta_precise} left  {wide_msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let introduction = Cell::new(Some(introduction));
        Self { introduction, bar, done: Cell::new(0), round: Cell::new(0) }
    }

    /// Makes the bar longer by `more`.
    pub fn extend(&self, more: u64) {
        self.bar.inc_length(more);
    }

    /// Starts a round of length `round`.
    pub fn begin(&self, round: u64, message: String) {
        self.round.set(round);
        self.bar.set_message(message);
    }

    /// Moves to `part` of the current round.
    pub fn advance(&self, part: u64) {
        self.print_introduction();
        self.bar.set_position(self.done.get() + part.min(self.round.get()));
    }

    /// Ends the current round.
    pub fn end(&self) {
        self.done.set(self.done.get() + self.round.take());
        self.bar.set_position(self.done.get());
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Prints a line above the bar.
    pub fn print(&self, line: &str) {
        self.print_introduction();
        self.print_above(line);
    }

    fn print_introduction(&self) {
        if let Some(introduction) = self.introduction.take() {
            self.print_above(&introduction);
        }
    }

    fn print_above(&self, line: &str) {
        self.bar.suspend(|| {
            let line = Style::for_stderr().wrap(line);
            let _ = writeln!(std::io::stderr(), "{line}");
        });
    }
}
