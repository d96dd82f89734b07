//! The cost and the resolution of the clock.

use crate::{Clock, tsc};

/// The step of a [`Clock`] and the cost of reading it. Intervals shorter than these cannot be
/// measured with single readings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClockCost {
    /// The smallest non-zero difference between two readings in nanoseconds: the larger of the
    /// counter's step and the cost of a reading.
    pub step_ns: f64,
    /// The cost of one reading in a batch, in nanoseconds: the median over batches.
    pub read_ns: f64,
    /// The difference of two consecutive fenced readings, in nanoseconds: the median.
    pub pair_ns: f64,
}

/// The number of batches and of pairs. Their median is accurate to a hundredth of a nanosecond or
/// to the counter's step, and all take about a millisecond.
const BATCHES: usize = 256;
/// The number of readings in a batch.
const BATCH: u32 = 64;
/// The number of consecutive readings compared for the step.
const STEP_READINGS: u32 = 20_000;

impl ClockCost {
    /// Reads `clock` about forty thousand times in about a millisecond.
    ///
    /// Interruptions do not affect the result, unless they hit half of the batches.
    #[must_use]
    pub fn measure(clock: &Clock) -> Self {
        let raw = Raw::new(clock);
        Self {
            step_ns: raw.nanos(least_step(STEP_READINGS, || raw.read())),
            read_ns: median((0..BATCHES).map(|_| batch(clock, raw)).collect()),
            pair_ns: median((0..BATCHES).map(|_| pair(raw)).collect()),
        }
    }
}

/// The counter of a clock, or the clock itself if it has no counter.
#[derive(Clone, Copy)]
struct Raw<'a> {
    clock: &'a Clock,
    /// The nanoseconds per tick. `None`: readings are nanoseconds of the kernel's clock.
    per_tick: Option<f64>,
}

impl<'a> Raw<'a> {
    fn new(clock: &'a Clock) -> Self {
        Self { clock, per_tick: clock.tsc_hz().map(|hz| 1e9 / hz as f64) }
    }

    #[inline]
    fn read(self) -> u64 {
        if self.per_tick.is_some() { tsc::read() } else { self.clock.instant().as_nanos() }
    }

    #[inline]
    fn read_fenced(self) -> u64 {
        if self.per_tick.is_some() { tsc::read_fenced() } else { self.clock.instant().as_nanos() }
    }

    fn nanos(self, ticks: u64) -> f64 {
        ticks as f64 * self.per_tick.unwrap_or(1.0)
    }
}

/// Measures a batch of readings of the clock, in nanoseconds per reading.
fn batch(clock: &Clock, raw: Raw<'_>) -> f64 {
    let before = raw.read_fenced();
    for _ in 0..BATCH {
        std::hint::black_box(clock.instant());
    }
    raw.nanos(raw.read_fenced().saturating_sub(before)) / f64::from(BATCH)
}

fn pair(raw: Raw<'_>) -> f64 {
    let before = raw.read_fenced();
    raw.nanos(raw.read_fenced().saturating_sub(before))
}

/// Returns the smallest non-zero difference between consecutive readings among `count` readings, or
/// zero if all are equal.
fn least_step(count: u32, mut read: impl FnMut() -> u64) -> u64 {
    let mut last = read();
    let mut least = u64::MAX;
    for _ in 0..count {
        let next = read();
        let step = next.saturating_sub(last);
        if step > 0 {
            least = least.min(step);
        }
        last = next;
    }
    if least == u64::MAX { 0 } else { least }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_is_smallest_non_zero_difference() {
        let mut readings = [5, 5, 30, 30, 41, 40, 60].into_iter();
        assert_eq!(least_step(6, || readings.next().unwrap()), 11);
        assert_eq!(least_step(9, || 7), 0, "a stopped clock has no step");
    }

    #[test]
    fn median_ignores_one_interruption() {
        assert_eq!(median(vec![11.0, 9.0, 1e9]), 11.0);
    }

    #[test]
    fn step_and_costs_are_positive() {
        for clock in [Clock::new(), Clock::from_kernel()] {
            let ClockCost { step_ns, read_ns, pair_ns } = ClockCost::measure(&clock);
            let source = clock.source();
            assert!(step_ns > 0.0 && read_ns > 0.0 && pair_ns > 0.0, "{source:?}");
            assert!(step_ns <= pair_ns * 2.0, "{source:?}: {step_ns} {pair_ns}");
        }
    }
}
