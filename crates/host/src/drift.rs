//! The time stamp counter against the kernel's clock, over a run.

use hairpin_time::Duration;

use crate::calibration::Sample;
use crate::{Clock, tsc};

/// Watches how far the counter, at the rate a [`Clock`] took it to have, drifts from
/// CLOCK_MONOTONIC until it is asked.
///
/// A clock that is calibrated now and then does not drift; this says by how much it would. Of a
/// clock just made most of it is the error of its first calibration, a few thousand parts in a
/// billion; of one that has been calibrated for seconds it is what the counter and the kernel's
/// corrections (NTP) really do, tens to some hundreds. A hundred thousand and more means that the
/// counter is no clock here, or the host moved.
#[derive(Debug, Clone)]
pub struct Drift {
    /// Ticks a second, as first believed; `None`: the counter is no clock.
    hz: Option<u64>,
    first: Sample,
}

/// Readings per sample, of which the narrowest counts.
const TRIES: u32 = 64;
/// Both ends are known to some 20 ns: below this they would be more than the drift.
const SHORTEST: Duration = Duration::from_millis(10);

impl Drift {
    /// Begins to watch, with the rate that `clock` has now.
    #[must_use]
    pub fn begin(clock: &Clock) -> Self {
        Self { hz: clock.tsc_hz(), first: Sample::take(TRIES) }
    }

    /// By how many parts in 10^9 the counter has gone faster than CLOCK_MONOTONIC since; negative
    /// if slower.
    ///
    /// `None` where the counter is no clock, within 10 ms of the beginning, and where either clock
    /// was set back.
    #[must_use]
    pub fn parts_per_billion(&self) -> Option<f64> {
        between(self.first, Sample::take(TRIES), self.hz.filter(|_| tsc::is_usable())?)
    }
}

fn between(first: Sample, last: Sample, hz: u64) -> Option<f64> {
    let ticks = last.ticks.checked_sub(first.ticks)? as f64;
    let nanos = last.nanos.checked_sub(first.nanos)?;
    if Duration::from_nanos(nanos) < SHORTEST {
        return None;
    }
    let nanos = nanos as f64;
    Some((ticks * (1e9 / hz as f64) - nanos) / nanos * 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HZ: u64 = 2_000_000_000;
    const SECOND: u64 = 1_000_000_000;

    fn at(ticks: u64, nanos: u64) -> Sample {
        Sample { ticks, nanos }
    }

    #[test]
    fn a_counter_that_gains_a_microsecond_a_second_is_a_thousand_parts_fast() {
        let first = at(77, 5);
        let last = |gained: i64| at(77 + (10 * HZ).strict_add_signed(gained), 5 + 10 * SECOND);
        let drift = |gained| between(first, last(gained), HZ).unwrap();
        assert!((drift(20_000) - 1_000.0).abs() < 0.001, "{}", drift(20_000));
        assert!((drift(-20_000) + 1_000.0).abs() < 0.001, "{}", drift(-20_000));
    }

    #[test]
    fn too_short_a_time_says_nothing() {
        assert_eq!(between(at(0, 0), at(HZ / 101, SECOND / 101), HZ), None);
        assert!(between(at(0, 0), at(HZ / 100, SECOND / 100), HZ).is_some());
    }

    #[test]
    fn a_clock_that_was_set_back_says_nothing() {
        assert_eq!(between(at(9, 0), at(8, SECOND), HZ), None);
        assert_eq!(between(at(0, 9), at(HZ, 8), HZ), None);
    }

    #[test]
    fn only_a_clock_of_the_counter_drifts() {
        let by_kernel = Drift::begin(&Clock::of_kernel());
        let clock = Clock::new();
        let drift = Drift::begin(&clock);
        std::thread::sleep(core::time::Duration::from_millis(20));
        assert_eq!(by_kernel.parts_per_billion(), None);
        assert_eq!(drift.parts_per_billion().is_some(), clock.tsc_hz().is_some());
    }
}
