//! The progress of the rounds of a ping.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use hairpin_cli_harness::progress::Progress;

use super::ping_case::PingCase;
use super::round::RoundEvent;

/// The parts of a round that the bar shows; each round has the same length.
const PARTS: u64 = 100;

/// A bar over all rounds.
pub(super) struct PingProgress {
    bar: Progress,
    /// The pings of the current round.
    pings: Cell<u64>,
    /// The datapath descriptions that were printed.
    datapaths: RefCell<BTreeSet<String>>,
}

impl PingProgress {
    pub(super) fn new(plan: &[PingCase], rounds: usize, introduction: String) -> Self {
        let bar = Progress::new(plan.len() as u64 * rounds as u64 * PARTS, introduction);
        Self { bar, pings: Cell::new(1), datapaths: RefCell::default() }
    }

    pub(super) fn begin(&self, case: &PingCase) {
        let PingCase { protocol, wait, size, load, .. } = case;
        self.pings.set(load.samples.max(1));
        self.bar.begin(PARTS, format!("{}, {wait}, {size} bytes", protocol.name()));
    }

    /// Shows an event of the current round. Each datapath description is printed once.
    pub(super) fn on_event(&self, event: RoundEvent<'_>) {
        match event {
            RoundEvent::Sent(pings) => self.bar.advance(pings * PARTS / self.pings.get()),
            RoundEvent::Datapath(side, datapath) => {
                let line = format!("{side}: {datapath}");
                if self.datapaths.borrow_mut().insert(line.clone()) {
                    self.bar.print(&line);
                }
            }
        }
    }

    pub(super) fn end(&self) {
        self.bar.end();
    }

    pub(super) fn finish(&self) {
        self.bar.finish();
    }
}
