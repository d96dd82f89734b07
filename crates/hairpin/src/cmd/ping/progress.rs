//! How far a ping has got: a bar on a terminal, nothing in a pipe.

use std::cell::{Cell as Shared, RefCell};
use std::collections::BTreeSet;
use std::io::Write;

use indicatif::{ProgressBar, ProgressStyle};

use super::ping_case::Cell;
use super::round::News;

/// A bar over all rounds, each of the same weight.
pub(super) struct Progress {
    /// Said when the first round is under way: before that an error may be all there is to say.
    introduction: Shared<Option<String>>,
    bar: ProgressBar,
    done: Shared<u64>,
    pings: Shared<u64>,
    /// What each side stands on, as far as it was said.
    ways: RefCell<BTreeSet<String>>,
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
        let (done, pings, ways) = (Shared::new(0), Shared::new(1), RefCell::default());
        Self { introduction, bar, done, pings, ways }
    }

    pub(super) fn begin(&self, cell: &Cell) {
        let Cell { protocol, wait, size, load, .. } = cell;
        self.pings.set(load.samples.max(1));
        self.bar.set_message(format!("{}, {wait}, {size} bytes", protocol.name()));
    }

    /// Something is heard of the current round.
    pub(super) fn hear(&self, news: News<'_>) {
        match news {
            News::Sent(pings) => self.at(pings),
            News::Way(side, way) => self.tell_way(format!("{side}: {way}")),
        }
    }

    /// What stands at one side, once.
    fn tell_way(&self, way: String) {
        if !self.ways.borrow().contains(&way) {
            self.introduce();
            self.say(&way);
            self.ways.borrow_mut().insert(way);
        }
    }

    fn introduce(&self) {
        if let Some(introduction) = self.introduction.take() {
            self.say(&introduction);
        }
    }

    fn say(&self, words: &str) {
        self.bar.suspend(|| {
            let _ = writeln!(std::io::stderr(), "{words}");
        });
    }

    /// So many pings of the current round have left.
    fn at(&self, pings: u64) {
        self.introduce();
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
