//! The drift of the time stamp counter against the kernel's clock during a run.

use hairpin_time::Duration;

use crate::calibration::Sample;
use crate::{Clock, tsc};

/// A measurement of the counter's drift from CLOCK_MONOTONIC, at the rate that a [`Clock`] has
/// calibrated.
///
/// A regularly calibrated clock does not drift; this measures how much it would. For a new clock
/// most of the drift is the error of its first calibration: a few thousand parts per billion. For a
/// clock calibrated for seconds it is the real difference of the counter and the kernel's NTP
/// corrections: tens to some hundreds. A hundred thousand or more means that the counter is
/// unusable on this host, or that the virtual machine was migrated.
#[derive(Debug, Clone)]
pub struct Drift {
    /// The initially calibrated ticks per second. `None`: the counter is not used.
    hz: Option<u64>,
    first: Sample,
}

/// The readings per sample, of which the narrowest counts.
const TRIES: u32 = 64;
/// The minimum duration: both ends are accurate to about 20 ns, which would exceed the drift in a
/// shorter time.
const SHORTEST: Duration = Duration::from_millis(10);

impl Drift {
    /// Starts a measurement with the current rate of `clock`.
    #[must_use]
    pub fn new(clock: &Clock) -> Self {
        Self { hz: clock.tsc_hz(), first: Sample::take(TRIES) }
    }

    /// Returns by how many parts in 10^9 the counter was faster than CLOCK_MONOTONIC since the
    /// start. Negative if slower.
    ///
    /// Returns `None` if the counter is unusable, within 10 ms of the start, and if either clock
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
    fn microsecond_per_second_is_1000_parts_per_billion() {
        let first = at(77, 5);
        let last = |gained: i64| at(77 + (10 * HZ).strict_add_signed(gained), 5 + 10 * SECOND);
        let drift = |gained| between(first, last(gained), HZ).unwrap();
        assert!((drift(20_000) - 1_000.0).abs() < 0.001, "{}", drift(20_000));
        assert!((drift(-20_000) + 1_000.0).abs() < 0.001, "{}", drift(-20_000));
    }

    #[test]
    fn returns_none_for_short_duration() {
        assert_eq!(between(at(0, 0), at(HZ / 101, SECOND / 101), HZ), None);
        assert!(between(at(0, 0), at(HZ / 100, SECOND / 100), HZ).is_some());
    }

    #[test]
    fn returns_none_after_clock_step() {
        assert_eq!(between(at(9, 0), at(8, SECOND), HZ), None);
        assert_eq!(between(at(0, 9), at(HZ, 8), HZ), None);
    }

    #[test]
    fn kernel_clock_has_no_drift() {
        let by_kernel = Drift::new(&Clock::from_kernel());
        let clock = Clock::new();
        let drift = Drift::new(&clock);
        std::thread::sleep(core::time::Duration::from_millis(20));
        assert_eq!(by_kernel.parts_per_billion(), None);
        assert_eq!(drift.parts_per_billion().is_some(), clock.tsc_hz().is_some());
    }
}
