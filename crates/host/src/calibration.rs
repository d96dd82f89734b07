//! Calibration of the time stamp counter against CLOCK_MONOTONIC.

use crate::{kernel_clock, tsc};

/// The time stamp counter with its calibrated rate.
#[derive(Debug, Clone)]
pub(crate) struct Counter {
    line: Line,
    /// The time at the last calibration by the previous line: no reading is earlier.
    floor: u64,
    /// The sample from which the slope is measured.
    reference: Sample,
    last: Sample,
}

/// The duration of the first calibration. Both ends are accurate to about 20 ns, which gives a rate
/// accurate to a few parts per million.
const FIRST_BASELINE: core::time::Duration = core::time::Duration::from_millis(5);
/// The minimum baseline for rates, once the clock has run that long. 20 ns in 2 s are one part in
/// 10^8, and the corrections of an NTP daemon are followed within seconds.
const BASELINE_NANOS: u64 = 2_000_000_000;
/// The readings per sample at start ...
const TRIES_AT_START: u32 = 64;
/// ... and while a loop is waiting: less than a microsecond in total.
const TRIES: u32 = 8;

impl Counter {
    /// Calibrates the counter for 5 ms. Returns `None` if it cannot be used as a clock.
    pub(crate) fn start() -> Option<Self> {
        let first = Sample::take(TRIES_AT_START);
        std::thread::sleep(FIRST_BASELINE);
        let last = Sample::take(TRIES_AT_START);
        let line = Line::through(first, last)?;
        Some(Self { line, floor: 0, reference: first, last })
    }

    /// Returns the time at `ticks`.
    #[inline]
    pub(crate) fn nanos_at(&self, ticks: u64) -> u64 {
        self.line.nanos_at(ticks).max(self.floor)
    }

    /// Returns the ticks per second.
    pub(crate) fn hz(&self) -> u64 {
        self.line.hz()
    }

    /// Recalibrates with a sample taken now.
    pub(crate) fn recalibrate(&mut self) {
        self.add_sample(Sample::take(TRIES));
    }

    fn add_sample(&mut self, sample: Sample) {
        if self.last.nanos.saturating_sub(self.reference.nanos) >= BASELINE_NANOS {
            self.reference = self.last;
        }
        // A sample may make no line with the reference, as when the counter was reset during
        // suspend. It then starts a new baseline with the old slope.
        let line = Line::through(self.reference, sample).unwrap_or_else(|| {
            self.reference = sample;
            self.line.moved_to(sample)
        });
        self.floor = self.nanos_at(sample.ticks);
        self.line = line;
        self.last = sample;
    }
}

/// A simultaneous reading of both clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// The time stamp counter.
    pub(crate) ticks: u64,
    /// CLOCK_MONOTONIC in nanoseconds.
    pub(crate) nanos: u64,
}

impl Sample {
    /// Reads both clocks as simultaneously as possible: `tries` times it reads the kernel's clock
    /// between two readings of the counter, and returns the narrowest bracket.
    ///
    /// An interrupt or a preemption widens a bracket, but only affects the result if it hits every
    /// try.
    pub(crate) fn take(tries: u32) -> Self {
        let mut best = Self { ticks: 0, nanos: 0 };
        let mut narrowest = u64::MAX;
        for _ in 0..tries {
            let before = tsc::read_fenced();
            let nanos = kernel_clock::monotonic_nanos();
            let width = tsc::read_fenced().saturating_sub(before);
            if width < narrowest {
                narrowest = width;
                best = Self { ticks: before + width / 2, nanos };
            }
        }
        best
    }
}

/// A linear conversion: an origin on both clocks and a rate.
#[derive(Debug, Clone, Copy)]
struct Line {
    origin: Sample,
    /// The nanoseconds per tick in units of 2^-48: a resolution of one part in 10^14, and a maximum
    /// of 65,536 ns per tick (15 kHz).
    rate: u64,
}

const RATE_SHIFT: u32 = 48;

impl Line {
    /// Creates the line through `last` with the slope from `first` to `last`. Returns `None` if the
    /// counter or the clock did not advance between them.
    fn through(first: Sample, last: Sample) -> Option<Self> {
        let ticks = last.ticks.checked_sub(first.ticks)?;
        let nanos = last.nanos.checked_sub(first.nanos)?;
        let rate = (u128::from(nanos) << RATE_SHIFT).checked_div(u128::from(ticks))?;
        let rate = u64::try_from(rate).ok().filter(|&rate| rate > 0)?;
        Some(Self { origin: last, rate })
    }

    /// Creates the line through `origin` with the same slope.
    fn moved_to(self, origin: Sample) -> Self {
        Self { origin, ..self }
    }

    /// Returns the time in nanoseconds at `ticks`. Before the origin, returns the origin's time.
    #[inline]
    fn nanos_at(&self, ticks: u64) -> u64 {
        let elapsed = ticks.saturating_sub(self.origin.ticks);
        let nanos = (u128::from(elapsed) * u128::from(self.rate)) >> RATE_SHIFT;
        self.origin.nanos + nanos as u64
    }

    fn hz(&self) -> u64 {
        ((1_000_000_000_u128 << RATE_SHIFT) / u128::from(self.rate)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HZ: u64 = 2_445_000_000;
    const SECOND: u64 = 1_000_000_000;

    fn at(ticks: u64, nanos: u64) -> Sample {
        Sample { ticks, nanos }
    }

    fn counter(first: Sample, last: Sample) -> Counter {
        let line = Line::through(first, last).unwrap();
        Counter { line, floor: 0, reference: first, last }
    }

    #[test]
    fn extrapolates_one_second_to_one_nanosecond() {
        let line = Line::through(at(1_000, 0), at(1_000 + HZ, SECOND)).unwrap();
        assert_eq!(line.hz(), HZ);
        let ahead = line.nanos_at(1_000 + 2 * HZ);
        assert!(ahead.abs_diff(2 * SECOND) <= 1, "{ahead}");
    }

    #[test]
    fn does_not_overflow_over_a_year_without_calibration() {
        const YEAR: u64 = 365 * 86_400;
        let line = Line::through(at(0, 0), at(HZ, SECOND)).unwrap();
        let ahead = line.nanos_at(YEAR * HZ);
        assert!(ahead.abs_diff(YEAR * SECOND) < 1_000_000, "{ahead}");
    }

    #[test]
    fn returns_origin_time_before_origin() {
        let line = Line::through(at(0, 0), at(1_000, 400)).unwrap();
        assert_eq!(line.nanos_at(999), 400);
    }

    #[test]
    fn rejects_counter_that_does_not_advance() {
        assert!(Line::through(at(5, 0), at(5, 1_000)).is_none());
        assert!(Line::through(at(5, 0), at(4, 1_000)).is_none());
        assert!(Line::through(at(5, 1_000), at(9, 1_000)).is_none());
    }

    #[test]
    fn holds_when_ahead_of_kernel_clock() {
        let mut counter = counter(at(0, 0), at(HZ, SECOND));
        // One second later, the kernel's clock is 100 ns behind the counter's extrapolation.
        let ahead = counter.nanos_at(2 * HZ);
        assert!(ahead.abs_diff(2 * SECOND) <= 1, "{ahead}");
        counter.add_sample(at(2 * HZ, 2 * SECOND - 100));
        assert_eq!(counter.nanos_at(2 * HZ), ahead);
        assert_eq!(counter.nanos_at(2 * HZ + 200), ahead, "100 ns are 244 ticks");
        let caught_up = counter.nanos_at(2 * HZ + HZ / 1_000);
        assert!(caught_up.abs_diff(2 * SECOND - 100 + 1_000_000) <= 1, "{caught_up}");
    }

    #[test]
    fn jumps_forward_when_behind_kernel_clock() {
        let mut counter = counter(at(0, 0), at(HZ, SECOND));
        counter.add_sample(at(2 * HZ, 2 * SECOND + 100));
        assert_eq!(counter.nanos_at(2 * HZ), 2 * SECOND + 100);
    }

    #[test]
    fn follows_changing_rate() {
        let mut counter = counter(at(0, 0), at(HZ, SECOND));
        // From here on, a second of the kernel's clock takes 100 ppm more ticks.
        let slow = HZ + HZ / 10_000;
        for second in 1..=8 {
            counter.add_sample(at(HZ + second * slow, SECOND + second * SECOND));
        }
        let ahead = counter.nanos_at(HZ + 9 * slow);
        assert!(ahead.abs_diff(10 * SECOND) <= 2, "{ahead}");
    }

    #[test]
    fn survives_counter_reset() {
        let mut counter = counter(at(5 * HZ, 0), at(6 * HZ, SECOND));
        let before = counter.nanos_at(7 * HZ);
        counter.add_sample(at(HZ, 9 * SECOND));
        assert!(counter.nanos_at(HZ) >= before);
        assert!(counter.nanos_at(2 * HZ).abs_diff(10 * SECOND) <= 1);
    }
}
