//! How far the rounds have got: a bar on a terminal, nothing in a pipe.

use std::cell::Cell as Shared;
use std::io::Write;

use indicatif::{ProgressBar, ProgressStyle};

use super::plan::Cell;

/// Microseconds that a round takes beside its packets, about: to come in sync.
const START_US: u64 = 400_000;

/// A bar over all rounds. Its unit is a microsecond, so that slow rounds weigh what they take.
pub(super) struct Progress {
    /// Said when the first round is under way: before that an error may be all there is to say.
    introduction: Shared<Option<String>>,
    bar: ProgressBar,
    done: Shared<u64>,
    current: Shared<Option<Cell>>,
}

impl Progress {
    pub(super) fn new(plan: &[Cell], rounds: usize, introduction: String) -> Self {
        let all = plan
            .iter()
            .flat_map(|cell| (0..rounds).map(|round| length(&cell.share(round, rounds))));
        let bar = ProgressBar::new(all.sum());
        let template = "{bar:40} {percent:>3}% {eta_precise} left  {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let introduction = Shared::new(Some(introduction));
        Self { introduction, bar, done: Shared::new(0), current: Shared::new(None) }
    }

    pub(super) fn begin(&self, cell: &Cell) {
        self.current.set(Some(*cell));
        let pause = match cell.load.interval_us {
            0 => "no delay".to_owned(),
            interval => format!("{interval} µs"),
        };
        self.bar.set_message(format!("{}, {pause}", cell.name()));
    }

    /// So many packets of the current round have left.
    pub(super) fn at(&self, packets: u64) {
        if let Some(introduction) = self.introduction.take() {
            self.bar.suspend(|| {
                let _ = writeln!(std::io::stderr(), "{introduction}");
            });
        }
        if let Some(cell) = self.current.get() {
            let passed = START_US + packets * cell.load.interval_us;
            self.bar.set_position(self.done.get() + passed.min(length(&cell)));
        }
    }

    pub(super) fn end(&self) {
        let length = self.current.get().map_or(0, |cell| length(&cell));
        self.done.set(self.done.get() + length);
        self.bar.set_position(self.done.get());
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// How long a round takes, about.
fn length(cell: &Cell) -> u64 {
    START_US + (cell.load.warm_up + cell.load.samples) * cell.load.interval_us
}
