//! Ticks of the time stamp counter to nanoseconds of CLOCK_MONOTONIC.

use crate::{kernel_clock, tsc};

/// The time stamp counter with what is known of its rate.
#[derive(Debug, Clone)]
pub(crate) struct Counter {
    line: Line,
    /// The time at the last calibration, by the line before it: no reading is earlier.
    floor: u64,
    /// Where the slope is measured from.
    reference: Sample,
    last: Sample,
}

/// How long `start` watches the counter. Both ends are known to some 20 ns, which makes a rate
/// good to a few parts in a million.
const FIRST_BASELINE: core::time::Duration = core::time::Duration::from_millis(5);
/// Rates are measured over at least this long once the clock has run for it: 20 ns in 2 s are one
/// part in 10^8, and the corrections of an NTP daemon are followed within seconds.
const BASELINE_NANOS: u64 = 2_000_000_000;
/// Readings per sample at start ...
const TRIES_AT_START: u32 = 64;
/// ... and while a loop is waiting: under a microsecond in all.
const TRIES: u32 = 8;

impl Counter {
    /// Watches the counter for 5 ms; `None` if it is no clock.
    pub(crate) fn start() -> Option<Self> {
        let first = Sample::take(TRIES_AT_START);
        std::thread::sleep(FIRST_BASELINE);
        let last = Sample::take(TRIES_AT_START);
        let line = Line::through(first, last)?;
        Some(Self { line, floor: 0, reference: first, last })
    }

    /// The time at `ticks`.
    #[inline]
    pub(crate) fn nanos_at(&self, ticks: u64) -> u64 {
        self.line.nanos_at(ticks).max(self.floor)
    }

    /// Ticks per second.
    pub(crate) fn hz(&self) -> u64 {
        self.line.hz()
    }

    /// Lays the line anew through the present moment.
    pub(crate) fn recalibrate(&mut self) {
        self.learn(Sample::take(TRIES));
    }

    fn learn(&mut self, sample: Sample) {
        if self.last.nanos.saturating_sub(self.reference.nanos) >= BASELINE_NANOS {
            self.reference = self.last;
        }
        // A sample that makes no line with the reference (a counter set back while the machine
        // slept) starts a new baseline; the old slope stands meanwhile.
        let line = Line::through(self.reference, sample).unwrap_or_else(|| {
            self.reference = sample;
            self.line.moved_to(sample)
        });
        self.floor = self.nanos_at(sample.ticks);
        self.line = line;
        self.last = sample;
    }
}

/// One moment on both clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// The time stamp counter.
    pub(crate) ticks: u64,
    /// CLOCK_MONOTONIC.
    pub(crate) nanos: u64,
}

impl Sample {
    /// Reads both clocks as nearly at once as can be: of `tries` readings of the kernel's clock
    /// between two of the counter, the one with the least between them.
    ///
    /// An interrupt or a preemption widens a bracket; it would have to hit every try to matter.
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

/// A straight line through a moment: where the counter stood, what time it was, and how fast time
/// passes by the counter.
#[derive(Debug, Clone, Copy)]
struct Line {
    origin: Sample,
    /// Nanoseconds per tick, in units of 2^-48: one part in 10^14, and a rate of up to 65,536 ns
    /// per tick (15 kHz) fits.
    rate: u64,
}

const RATE_SHIFT: u32 = 48;

impl Line {
    /// The line through `last` with the slope from `first` to it; `None` if the counter or the
    /// clock stood still or ran backwards between them.
    fn through(first: Sample, last: Sample) -> Option<Self> {
        let ticks = last.ticks.checked_sub(first.ticks)?;
        let nanos = last.nanos.checked_sub(first.nanos)?;
        let rate = (u128::from(nanos) << RATE_SHIFT).checked_div(u128::from(ticks))?;
        let rate = u64::try_from(rate).ok().filter(|&rate| rate > 0)?;
        Some(Self { origin: last, rate })
    }

    /// The line through `origin` with this slope.
    fn moved_to(self, origin: Sample) -> Self {
        Self { origin, ..self }
    }

    /// The time in nanoseconds at `ticks`; before the origin, the origin's.
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
    fn keeps_a_nanosecond_over_a_second_of_extrapolation() {
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
    fn stands_at_its_origin_before_it() {
        let line = Line::through(at(0, 0), at(1_000, 400)).unwrap();
        assert_eq!(line.nanos_at(999), 400);
    }

    #[test]
    fn refuses_a_counter_that_stands_still_or_runs_backwards() {
        assert!(Line::through(at(5, 0), at(5, 1_000)).is_none());
        assert!(Line::through(at(5, 0), at(4, 1_000)).is_none());
        assert!(Line::through(at(5, 1_000), at(9, 1_000)).is_none());
    }

    #[test]
    fn stands_still_rather_than_step_back_when_it_was_ahead() {
        let mut counter = counter(at(0, 0), at(HZ, SECOND));
        // One second on, the kernel's clock says 100 ns less than the counter made of it.
        let ahead = counter.nanos_at(2 * HZ);
        assert!(ahead.abs_diff(2 * SECOND) <= 1, "{ahead}");
        counter.learn(at(2 * HZ, 2 * SECOND - 100));
        assert_eq!(counter.nanos_at(2 * HZ), ahead);
        assert_eq!(counter.nanos_at(2 * HZ + 200), ahead, "100 ns are 244 ticks");
        let caught_up = counter.nanos_at(2 * HZ + HZ / 1_000);
        assert!(caught_up.abs_diff(2 * SECOND - 100 + 1_000_000) <= 1, "{caught_up}");
    }

    #[test]
    fn goes_to_the_kernels_time_at_once_when_it_was_behind() {
        let mut counter = counter(at(0, 0), at(HZ, SECOND));
        counter.learn(at(2 * HZ, 2 * SECOND + 100));
        assert_eq!(counter.nanos_at(2 * HZ), 2 * SECOND + 100);
    }

    #[test]
    fn follows_a_rate_that_changes() {
        let mut counter = counter(at(0, 0), at(HZ, SECOND));
        // From here a second of the kernel's takes 100 ppm more ticks.
        let slow = HZ + HZ / 10_000;
        for second in 1..=8 {
            counter.learn(at(HZ + second * slow, SECOND + second * SECOND));
        }
        let ahead = counter.nanos_at(HZ + 9 * slow);
        assert!(ahead.abs_diff(10 * SECOND) <= 2, "{ahead}");
    }

    #[test]
    fn survives_a_counter_that_is_set_back() {
        let mut counter = counter(at(5 * HZ, 0), at(6 * HZ, SECOND));
        let before = counter.nanos_at(7 * HZ);
        counter.learn(at(HZ, 9 * SECOND));
        assert!(counter.nanos_at(HZ) >= before);
        assert!(counter.nanos_at(2 * HZ).abs_diff(10 * SECOND) <= 1);
    }
}
