//! The timed listener of the feed benchmark.

use std::cell::Cell;
use std::rc::Rc;

use hairpin_feed_handler::{EndOfEvent, Error, Gap, Listener, Packet};
use hairpin_host::Clock;
use hairpin_measure::Recorder;
use hairpin_time::{Instant, Utc};

use super::setup::ReceiverCounts;

/// The arrival time of the current packet in the process, and the number of packets.
#[derive(Debug, Default)]
pub(super) struct ArrivalTime {
    at: Cell<Instant>,
    packets: Cell<u64>,
}

impl ArrivalTime {
    /// Records that a packet is about to be handled.
    #[inline]
    pub(super) fn enter(&self, now: Instant) {
        self.at.set(now);
        self.packets.set(self.packets.get() + 1);
    }

    /// Returns the number of packets.
    #[inline]
    pub(super) fn packets(&self) -> u64 {
        self.packets.get()
    }
}

/// A listener that reads the clocks at the end of each event, where a user would decide.
#[derive(Debug)]
pub(super) struct Probe {
    clock: Clock,
    /// The clock of the receive timestamps.
    kernel: Clock,
    arrival: Rc<ArrivalTime>,
    armed: bool,
    /// The events that are not recorded yet.
    skip: u64,
    pub(super) application: Recorder,
    pub(super) network: Recorder,
    pub(super) counts: ReceiverCounts,
}

impl Probe {
    /// Returns a listener that records up to `samples` events after [`Probe::arm`].
    pub(super) fn new(clock: Clock, arrival: &Rc<ArrivalTime>, samples: usize) -> Self {
        Self {
            clock,
            kernel: Clock::from_kernel(),
            arrival: Rc::clone(arrival),
            armed: false,
            skip: u64::MAX,
            application: Recorder::with_capacity(samples),
            network: Recorder::with_capacity(samples),
            counts: ReceiverCounts::default(),
        }
    }

    /// Starts recording after the next `warm_up` events.
    pub(super) fn arm(&mut self, warm_up: u64) {
        self.armed = true;
        self.skip = warm_up;
        self.counts = ReceiverCounts::default();
    }

    /// Clears the samples of a probe that only keeps the path warm.
    #[inline]
    pub(super) fn forget(&mut self) {
        self.application.clear();
        self.network.clear();
    }

    /// Returns `true` after [`Probe::arm`].
    pub(super) fn is_armed(&self) -> bool {
        self.armed
    }

    /// The kernel's clock, which the receive timestamps are read from.
    pub(super) fn kernel_clock(&mut self) -> &mut Clock {
        &mut self.kernel
    }

    #[inline]
    fn record(&mut self, now: Instant, utc: Utc, event: &EndOfEvent<'_>) {
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        if event.changed().next().is_none() {
            self.counts.unsynced += 1;
            return;
        }
        self.application.record(now.saturating_since(self.arrival.at.get()));
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
        self.record(now, utc, event);
    }

    fn on_gap(&mut self, _: &Gap) {
        self.counts.gaps += 1;
    }

    fn on_error(&mut self, _: Option<&Packet>, _: &Error) {
        self.counts.errors += 1;
    }
}
