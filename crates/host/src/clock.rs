//! The clock that a loop reads once per wakeup.

use hairpin_time::{Duration, Instant, Now, Utc};

use crate::calibration::Counter;
use crate::{kernel_clock, tsc};

/// The source of a [`Clock`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockSource {
    /// The time stamp counter, calibrated against CLOCK_MONOTONIC.
    Tsc,
    /// `clock_gettime`, because the counter is unreliable on this host.
    Kernel,
}

/// A clock that returns monotonic time and UTC from one reading of the time stamp counter.
///
/// The clock agrees with CLOCK_MONOTONIC and CLOCK_REALTIME to well within a microsecond if
/// [`Clock::recalibrate_if_due`] is called regularly. A reading costs reading the counter, one
/// multiplication and one comparison. The clock never steps back: if calibration finds it ahead of
/// the kernel's clock, it holds until the kernel's clock has caught up.
///
/// A clone agrees with its original until either is recalibrated. Usually each thread has its own
/// clock; two clocks differ by tens of nanoseconds.
#[derive(Debug, Clone)]
pub struct Clock {
    /// `None`: the kernel's clock is read instead.
    counter: Option<Counter>,
    /// The difference CLOCK_REALTIME - CLOCK_MONOTONIC in nanoseconds.
    utc_offset: u64,
    interval: Duration,
    due: Instant,
}

/// The time until the first recalibration; each further interval is twice as long ...
const FIRST_INTERVAL: Duration = Duration::from_millis(10);
/// ... up to this, in which a rate accurate to 10^-8 drifts by 10 ns.
const LONGEST_INTERVAL: Duration = Duration::from_secs(1);

impl Clock {
    /// Creates a clock. Uses the counter if it is invariant and the kernel trusts it, which takes 5
    /// ms to calibrate. Otherwise uses the kernel's clock.
    #[must_use]
    pub fn new() -> Self {
        Self::with(if tsc::is_usable() { Counter::start() } else { None })
    }

    /// Creates a clock that reads `clock_gettime`, for comparison and for tests.
    #[must_use]
    pub fn from_kernel() -> Self {
        Self::with(None)
    }

    fn with(counter: Option<Counter>) -> Self {
        let due = Instant::from_nanos(kernel_clock::monotonic_nanos()) + FIRST_INTERVAL;
        Self { counter, utc_offset: utc_offset(), interval: FIRST_INTERVAL, due }
    }

    /// Returns both times from one reading.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Now {
        let nanos = self.nanos();
        Now { monotonic: Instant::from_nanos(nanos), utc: Utc::from_nanos(nanos + self.utc_offset) }
    }

    /// Returns the monotonic time.
    #[inline]
    #[must_use]
    pub fn instant(&self) -> Instant {
        Instant::from_nanos(self.nanos())
    }

    /// Converts a reading of [`tsc::read`] or [`tsc::read_fenced`] made since the last calibration.
    /// Returns `None` if this clock does not read the counter.
    #[inline]
    #[must_use]
    pub fn instant_at(&self, ticks: u64) -> Option<Instant> {
        self.counter.as_ref().map(|counter| Instant::from_nanos(counter.nanos_at(ticks)))
    }

    /// Recalibrates if that is due, and returns `true` if it did: after 10 ms, 20 ms, 40 ms and so
    /// on, then every second.
    ///
    /// Call this when the loop is idle. When it is not due it costs a comparison. When it is due it
    /// costs about a microsecond, and no system call if the kernel's clocks are in the vDSO.
    /// Without recalibration, the clock drifts by some microseconds per second after its first
    /// calibration of 5 ms.
    #[inline]
    pub fn recalibrate_if_due(&mut self, now: Instant) -> bool {
        let due = now >= self.due;
        if due {
            self.recalibrate();
        }
        due
    }

    /// Recalibrates now.
    #[cold]
    pub fn recalibrate(&mut self) {
        if let Some(counter) = &mut self.counter {
            counter.recalibrate();
        }
        self.utc_offset = utc_offset();
        self.due = self.instant() + self.interval;
        self.interval = (self.interval * 2).min(LONGEST_INTERVAL);
    }

    /// Returns the source of this clock.
    #[must_use]
    pub fn source(&self) -> ClockSource {
        if self.counter.is_some() { ClockSource::Tsc } else { ClockSource::Kernel }
    }

    /// Returns the calibrated ticks per second, or `None` if this clock does not read the counter.
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

/// Returns CLOCK_REALTIME - CLOCK_MONOTONIC. The difference changes only when CLOCK_REALTIME steps,
/// since both follow the same corrections. Uses the narrowest of four tries.
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

    /// Returns `true` if `reading` is between two readings of the kernel's clock, within
    /// `tolerance`.
    ///
    /// Preemption only widens the bracket, so this holds on a busy machine.
    fn is_between(before: u64, reading: u64, after: u64, tolerance: u64) -> bool {
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
            is_between(monotonic, reading, monotonic_after, tolerance),
            "{monotonic} {reading} {monotonic_after}"
        );
        let reading = now.utc.as_nanos();
        assert!(is_between(utc, reading, utc_after, tolerance), "{utc} {reading} {utc_after}");
    }

    #[test]
    fn agrees_with_kernel_clocks_after_calibration() {
        let mut clock = Clock::new();
        for _ in 0..8 {
            std::thread::sleep(core::time::Duration::from_millis(20));
            clock.recalibrate();
            assert_agrees(&clock, 1_000);
        }
    }

    #[test]
    fn kernel_clock_agrees_with_itself() {
        let clock = Clock::from_kernel();
        assert_eq!(clock.source(), ClockSource::Kernel);
        assert_eq!(clock.tsc_hz(), None);
        assert_agrees(&clock, 1_000);
    }

    #[test]
    fn never_steps_back_across_calibrations() {
        let mut clock = Clock::new();
        let mut last = clock.instant();
        for iteration in 0..200_000 {
            if iteration % 1_000 == 0 {
                clock.recalibrate();
            }
            let now = clock.instant();
            assert!(now >= last, "{now:?} after {last:?}");
            last = now;
        }
    }

    #[test]
    fn recalibration_interval_doubles_up_to_limit() {
        let mut clock = Clock::from_kernel();
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
    fn counter_reading_converts_to_its_time() {
        let clock = Clock::new();
        let before = clock.instant();
        let taken = clock.instant_at(tsc::read_fenced());
        let after = clock.instant();
        assert_eq!(taken.is_some(), clock.source() == ClockSource::Tsc);
        assert!(taken.is_none_or(|taken| before <= taken && taken <= after));
    }
}
