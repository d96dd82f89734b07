//! The listener that is timed: when a packet came into the process, and when its callback did.

use std::cell::Cell;
use std::rc::Rc;

use hairpin_feed_handler::{EndOfEvent, Error, Gap, Listener, Packet};
use hairpin_host::Clock;
use hairpin_measure::Recorder;
use hairpin_time::{Instant, Utc};

use super::setup::Counts;

/// When the packet at hand came into the process, and how many have come.
#[derive(Debug, Default)]
pub(super) struct Entrance {
    at: Cell<Instant>,
    packets: Cell<u64>,
}

impl Entrance {
    /// A packet is about to be handed to the handler.
    #[inline]
    pub(super) fn enter(&self, now: Instant) {
        self.at.set(now);
        self.packets.set(self.packets.get() + 1);
    }

    /// How many have come.
    #[inline]
    pub(super) fn packets(&self) -> u64 {
        self.packets.get()
    }
}

/// Reads the clocks at the end of each event, which is where a user would decide.
#[derive(Debug)]
pub(super) struct Probe {
    clock: Clock,
    /// What timestamps are taken with.
    kernel: Clock,
    entrance: Rc<Entrance>,
    /// Events that are not recorded yet.
    skip: u64,
    pub(super) application: Recorder,
    pub(super) network: Recorder,
    pub(super) counts: Counts,
}

impl Probe {
    /// A listener that records up to `samples` events from [`Probe::arm`] on.
    pub(super) fn new(clock: Clock, entrance: &Rc<Entrance>, samples: usize) -> Self {
        Self {
            clock,
            kernel: Clock::from_kernel(),
            entrance: Rc::clone(entrance),
            skip: u64::MAX,
            application: Recorder::with_capacity(samples),
            network: Recorder::with_capacity(samples),
            counts: Counts::default(),
        }
    }

    /// Records from now on, but for the first `warm_up` events.
    pub(super) fn arm(&mut self, warm_up: u64) {
        self.skip = warm_up;
        self.counts = Counts::default();
    }

    /// Forgets the samples: of one that only keeps the path warm.
    #[inline]
    pub(super) fn forget(&mut self) {
        self.application.clear();
        self.network.clear();
    }

    /// Looks how far the kernel's two clocks are apart, if it is time.
    pub(super) fn recalibrate_if_due(&mut self, now: Instant) {
        self.kernel.recalibrate_if_due(now);
    }

    #[inline]
    fn note(&mut self, now: Instant, utc: Utc, event: &EndOfEvent<'_>) {
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        if event.changed().next().is_none() {
            self.counts.unsynced += 1;
            return;
        }
        self.application.record(now.saturating_since(self.entrance.at.get()));
        match event.packet.received {
            Some(received) => self.network.record(utc.saturating_since(received)),
            None => self.counts.unstamped += 1,
        }
    }
}

impl Listener for Probe {
    #[inline]
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        let now = self.clock.instant();
        let utc = self.kernel.now().utc;
        self.note(now, utc, event);
    }

    fn on_gap(&mut self, _: &Gap) {
        self.counts.gaps += 1;
    }

    fn on_error(&mut self, _: Option<&Packet>, _: &Error) {
        self.counts.errors += 1;
    }
}
