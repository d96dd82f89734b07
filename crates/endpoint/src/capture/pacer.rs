//! The pace of a replay.

use std::str::FromStr;

use hairpin_time::{Duration, Instant};

/// The replay speed of a capture.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub enum Speed {
    /// The maximum speed, without waiting. Time is the capture's.
    #[default]
    FlatOut,
    /// A multiple of the original speed: 1 = original timing.
    Times(f64),
}

/// The supported speed factors.
const TIMES: std::ops::RangeInclusive<f64> = 0.001..=1_000_000.0;

/// The error of an invalid replay speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a replay speed is `max` or a factor from 0.001 to 1000000 (1 = original timing)")]
pub struct SpeedError;

impl FromStr for Speed {
    type Err = SpeedError;

    fn from_str(text: &str) -> Result<Self, SpeedError> {
        if text == "max" {
            return Ok(Self::FlatOut);
        }
        let times: f64 = text.parse().map_err(|_| SpeedError)?;
        if TIMES.contains(&times) { Ok(Self::Times(times)) } else { Err(SpeedError) }
    }
}

/// A converter from capture time to the caller's time.
#[derive(Debug, Clone, Copy)]
pub struct Pacer {
    speed: Speed,
    /// The first instant on both clocks: the capture's and the caller's.
    start: Option<(Instant, Instant)>,
}

impl Pacer {
    /// Creates a pacer that starts at the first call of [`due`](Self::due).
    #[must_use]
    pub const fn new(speed: Speed) -> Self {
        Self { speed, start: None }
    }

    /// Returns the caller's time at which an event with capture time `at` is due: now or later.
    #[inline]
    pub fn due(&mut self, at: Instant, now: Instant) -> Instant {
        let Speed::Times(times) = self.speed else { return now };
        let (from, start) = *self.start.get_or_insert((at, now));
        let passed = at.saturating_since(from).as_nanos() as f64 / times;
        start + Duration::from_nanos(passed as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    #[test]
    fn parses_factor_or_max() {
        assert_eq!("max".parse(), Ok(Speed::FlatOut));
        assert_eq!("1".parse(), Ok(Speed::Times(1.0)));
        assert_eq!("0.5".parse(), Ok(Speed::Times(0.5)));
        for text in ["", "0", "-1", "nan", "inf", "fast", "10x", "1e9"] {
            assert_eq!(text.parse::<Speed>(), Err(SpeedError), "{text}");
        }
    }

    #[test]
    fn due_time_scales_with_speed() {
        for (times, after) in [(1.0, 600), (10.0, 60), (0.5, 1_200)] {
            let mut pace = Pacer::new(Speed::Times(times));
            assert_eq!(pace.due(at(5_000), at(100)), at(100), "the first event is due immediately");
            assert_eq!(pace.due(at(5_600), at(300)), at(100 + after), "{times}");
            assert_eq!(pace.due(at(4_000), at(300)), at(100), "time is monotonic");
        }
        let mut pace = Pacer::new(Speed::FlatOut);
        assert_eq!(pace.due(at(5_000), at(100)), at(100));
        assert_eq!(pace.due(at(9_000), at(101)), at(101));
    }

    #[test]
    fn week_is_exact_to_one_microsecond() {
        const WEEK: u64 = 7 * 86_400 * 1_000_000_000;
        let mut pace = Pacer::new(Speed::Times(1.0));
        pace.due(at(1 << 60), at(0));
        let due = pace.due(at((1 << 60) + WEEK), at(0));
        assert!(due.as_nanos().abs_diff(WEEK) < 1_000);
    }
}
