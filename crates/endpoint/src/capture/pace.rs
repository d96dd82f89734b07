//! How fast a capture passes.

use std::str::FromStr;

use hairpin_time::{Duration, Instant};

/// How fast a capture is replayed.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub enum Speed {
    /// As fast as it can be read: time is the capture's, and nothing is waited for.
    #[default]
    FlatOut,
    /// So many times as fast as it was recorded: 1 as it was.
    Times(f64),
}

/// The least and the most times as fast.
const TIMES: std::ops::RangeInclusive<f64> = 0.001..=1_000_000.0;

/// A word that is no speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is `max`, or a number from 0.001 to 1000000: 1 as recorded, 10 ten times as fast")]
pub struct SpeedError;

impl FromStr for Speed {
    type Err = SpeedError;

    fn from_str(word: &str) -> Result<Self, SpeedError> {
        if word == "max" {
            return Ok(Self::FlatOut);
        }
        let times: f64 = word.parse().map_err(|_| SpeedError)?;
        if TIMES.contains(&times) { Ok(Self::Times(times)) } else { Err(SpeedError) }
    }
}

/// Between the time of a capture and the time of whoever watches it.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    speed: Speed,
    /// A moment of the capture's time, and of ours.
    begun: Option<(Instant, Instant)>,
}

impl Pace {
    /// A pace that begins with the first moment it is asked about.
    #[must_use]
    pub const fn new(speed: Speed) -> Self {
        Self { speed, begun: None }
    }

    /// When it is our turn to do what the capture has at `at`: now, or later.
    #[inline]
    pub fn due(&mut self, at: Instant, now: Instant) -> Instant {
        let Speed::Times(times) = self.speed else { return now };
        let (from, begun) = *self.begun.get_or_insert((at, now));
        let passed = at.saturating_since(from).as_nanos() as f64 / times;
        begun + Duration::from_nanos(passed as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    #[test]
    fn a_speed_is_a_number_of_times_or_max() {
        assert_eq!("max".parse(), Ok(Speed::FlatOut));
        assert_eq!("1".parse(), Ok(Speed::Times(1.0)));
        assert_eq!("0.5".parse(), Ok(Speed::Times(0.5)));
        for word in ["", "0", "-1", "nan", "inf", "fast", "10x", "1e9"] {
            assert_eq!(word.parse::<Speed>(), Err(SpeedError), "{word}");
        }
    }

    #[test]
    fn time_passes_so_many_times_as_fast() {
        for (times, after) in [(1.0, 600), (10.0, 60), (0.5, 1_200)] {
            let mut pace = Pace::new(Speed::Times(times));
            assert_eq!(pace.due(at(5_000), at(100)), at(100), "the first is due at once");
            assert_eq!(pace.due(at(5_600), at(300)), at(100 + after), "{times}");
            assert_eq!(pace.due(at(4_000), at(300)), at(100), "time never goes back");
        }
        let mut pace = Pace::new(Speed::FlatOut);
        assert_eq!(pace.due(at(5_000), at(100)), at(100));
        assert_eq!(pace.due(at(9_000), at(101)), at(101));
    }

    #[test]
    fn a_week_is_exact_to_a_microsecond() {
        const WEEK: u64 = 7 * 86_400 * 1_000_000_000;
        let mut pace = Pace::new(Speed::Times(1.0));
        pace.due(at(1 << 60), at(0));
        let due = pace.due(at((1 << 60) + WEEK), at(0));
        assert!(due.as_nanos().abs_diff(WEEK) < 1_000);
    }
}
