//! The clock that a loop reads once per wake.

use hairpin_time::{Duration, Instant, Now, Utc};

use crate::calibration::Counter;
use crate::{kernel_clock, tsc};

/// What a [`Clock`] reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockSource {
    /// The time stamp counter, calibrated against CLOCK_MONOTONIC.
    Tsc,
    /// `clock_gettime`, because the counter is not to be trusted here.
    Kernel,
}

/// The monotonic clock and UTC, from one reading of the time stamp counter.
///
/// Agrees with CLOCK_MONOTONIC and CLOCK_REALTIME to well within a microsecond as long as
/// [`Clock::recalibrate_if_due`] is called now and then. A reading is the counter, one
/// multiplication and a comparison. It never steps back: where calibration finds it ahead of the
/// kernel's clock, it stands still until that has caught up.
///
/// A clone agrees with its original until either is calibrated again. Usually each thread has one
/// of its own; two of them differ by tens of nanoseconds.
#[derive(Debug, Clone)]
pub struct Clock {
    /// `None`: the kernel's clock is read instead.
    counter: Option<Counter>,
    /// CLOCK_REALTIME minus CLOCK_MONOTONIC in nanoseconds.
    utc_offset: u64,
    interval: Duration,
    due: Instant,
}

/// The first calibration is due after this, each next one after twice as long ...
const FIRST_INTERVAL: Duration = Duration::from_millis(10);
/// ... up to this, within which a rate good to 10^-8 drifts by 10 ns.
const LONGEST_INTERVAL: Duration = Duration::from_secs(1);

impl Clock {
    /// The counter if it is invariant and the kernel trusts it, which takes 5 ms to calibrate;
    /// else the kernel's clock.
    #[must_use]
    pub fn new() -> Self {
        Self::with(if tsc::is_usable() { Counter::start() } else { None })
    }

    /// A clock that reads `clock_gettime` whatever the counter is like: to compare with, and to
    /// test what runs where there is none.
    #[must_use]
    pub fn of_kernel() -> Self {
        Self::with(None)
    }

    fn with(counter: Option<Counter>) -> Self {
        let due = Instant::from_nanos(kernel_clock::monotonic_nanos()) + FIRST_INTERVAL;
        Self { counter, utc_offset: utc_offset(), interval: FIRST_INTERVAL, due }
    }

    /// Both clocks, from one reading.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Now {
        let nanos = self.nanos();
        Now { monotonic: Instant::from_nanos(nanos), utc: Utc::from_nanos(nanos + self.utc_offset) }
    }

    /// The monotonic clock alone.
    #[inline]
    #[must_use]
    pub fn instant(&self) -> Instant {
        Instant::from_nanos(self.nanos())
    }

    /// The time at a reading of [`tsc::read`] or [`tsc::read_fenced`] made since the last
    /// calibration; `None` if this clock does not read the counter.
    #[inline]
    #[must_use]
    pub fn instant_at(&self, ticks: u64) -> Option<Instant> {
        self.counter.as_ref().map(|counter| Instant::from_nanos(counter.nanos_at(ticks)))
    }

    /// Calibrates if that is due, and says whether it was: after 10 ms, 20 ms, 40 ms and so on,
    /// then every second.
    ///
    /// For the quiet end of a loop's turn. When it is not due it costs a comparison; when it is,
    /// about a microsecond and, where the kernel's clocks are in the vDSO, no system call. Without
    /// it, the first 5 ms of calibration let the clock drift by some microseconds per second.
    #[inline]
    pub fn recalibrate_if_due(&mut self, now: Instant) -> bool {
        let due = now >= self.due;
        if due {
            self.recalibrate();
        }
        due
    }

    /// Calibrates now, whether due or not.
    #[cold]
    pub fn recalibrate(&mut self) {
        if let Some(counter) = &mut self.counter {
            counter.recalibrate();
        }
        self.utc_offset = utc_offset();
        self.due = self.instant() + self.interval;
        self.interval = (self.interval * 2).min(LONGEST_INTERVAL);
    }

    /// What this clock reads.
    #[must_use]
    pub fn source(&self) -> ClockSource {
        if self.counter.is_some() { ClockSource::Tsc } else { ClockSource::Kernel }
    }

    /// Ticks of the counter per second, as calibrated; `None` if this clock does not read it.
    #[must_use]
    pub fn tsc_hz(&self) -> Option<u64> {
        self.counter.as_ref().map(Counter::hz)
    }

    #[inline]
    fn nanos(&self) -> u64 {
        match &self.counter {
            Some(counter) => counter.nanos_at(tsc::read()),
            None => kernel_clock::monotonic_nanos(),
        }
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

/// CLOCK_REALTIME minus CLOCK_MONOTONIC: constant but for steps of the former, since both follow
/// the same corrections. Of four tries the one with the least time around it.
fn utc_offset() -> u64 {
    let mut narrowest = u64::MAX;
    let mut offset = 0;
    for _ in 0..4 {
        let before = kernel_clock::monotonic_nanos();
        let utc = kernel_clock::realtime_nanos();
        let width = kernel_clock::monotonic_nanos() - before;
        if width < narrowest {
            narrowest = width;
            offset = utc.saturating_sub(before + width / 2);
        }
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether `reading` was taken between two of the kernel's clock, give or take `tolerance`.
    ///
    /// Preemption only widens the bracket, so this holds on any machine however busy.
    fn lies_between(before: u64, reading: u64, after: u64, tolerance: u64) -> bool {
        before <= reading + tolerance && reading <= after + tolerance
    }

    fn assert_agrees(clock: &Clock, tolerance: u64) {
        let monotonic = kernel_clock::monotonic_nanos();
        let utc = kernel_clock::realtime_nanos();
        let now = clock.now();
        let utc_after = kernel_clock::realtime_nanos();
        let monotonic_after = kernel_clock::monotonic_nanos();
        let reading = now.monotonic.as_nanos();
        assert!(
            lies_between(monotonic, reading, monotonic_after, tolerance),
            "{monotonic} {reading} {monotonic_after}"
        );
        let reading = now.utc.as_nanos();
        assert!(lies_between(utc, reading, utc_after, tolerance), "{utc} {reading} {utc_after}");
    }

    #[test]
    fn agrees_with_the_kernels_clocks_after_calibration() {
        let mut clock = Clock::new();
        for _ in 0..8 {
            std::thread::sleep(core::time::Duration::from_millis(20));
            clock.recalibrate();
            assert_agrees(&clock, 1_000);
        }
    }

    #[test]
    fn the_kernels_clock_agrees_with_itself() {
        let clock = Clock::of_kernel();
        assert_eq!(clock.source(), ClockSource::Kernel);
        assert_eq!(clock.tsc_hz(), None);
        assert_agrees(&clock, 1_000);
    }

    #[test]
    fn never_steps_back_across_calibrations() {
        let mut clock = Clock::new();
        let mut last = clock.instant();
        for turn in 0..200_000 {
            if turn % 1_000 == 0 {
                clock.recalibrate();
            }
            let now = clock.instant();
            assert!(now >= last, "{now:?} after {last:?}");
            last = now;
        }
    }

    #[test]
    fn is_due_after_ten_milliseconds_and_then_ever_less_often() {
        let mut clock = Clock::of_kernel();
        let start = clock.instant();
        assert!(!clock.recalibrate_if_due(start));
        assert!(clock.recalibrate_if_due(start + FIRST_INTERVAL));
        let mut last = clock.due;
        for _ in 0..10 {
            clock.recalibrate();
            assert!(clock.due >= last);
            last = clock.due;
        }
        assert_eq!(clock.interval, LONGEST_INTERVAL);
    }

    #[test]
    fn a_reading_of_the_counter_converts_to_the_time_it_was_taken() {
        let clock = Clock::new();
        let before = clock.instant();
        let taken = clock.instant_at(tsc::read_fenced());
        let after = clock.instant();
        assert_eq!(taken.is_some(), clock.source() == ClockSource::Tsc);
        assert!(taken.is_none_or(|taken| before <= taken && taken <= after));
    }
}
