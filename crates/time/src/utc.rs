//! A point on the wall clock.

use core::fmt;
use core::ops::{Add, Sub};

use crate::Duration;

/// A point on the wall clock in nanoseconds since 1970-01-01T00:00:00Z, without leap seconds: CME's
/// UTCTimestamp.
///
/// The range ends in the year 2554. The wall clock may step back, so use [`crate::Instant`] for
/// deadlines.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Utc(u64);

impl Utc {
    /// The epoch.
    pub const EPOCH: Self = Self(0);

    /// Creates the point `nanos` nanoseconds after the epoch.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns the nanoseconds since the epoch.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the whole days since the epoch, the unit of SBE's LocalMktDate.
    #[must_use]
    pub const fn days(self) -> u64 {
        self.0 / NANOS_PER_DAY
    }

    /// Returns the span since `earlier`, or zero if the clock has stepped back.
    #[must_use]
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

const NANOS_PER_DAY: u64 = 86_400 * 1_000_000_000;

impl Add<Duration> for Utc {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.as_nanos()))
    }
}

/// Subtracts a span, saturating at the epoch.
impl Sub<Duration> for Utc {
    type Output = Self;
    fn sub(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(span.as_nanos()))
    }
}

/// Prints ISO 8601 with nine fractional digits: `2026-11-21T18:00:00.000000000Z`.
impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil_from_days(self.days());
        let in_day = self.0 % NANOS_PER_DAY;
        let (seconds, nanos) = (in_day / 1_000_000_000, in_day % 1_000_000_000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanos:09}Z")
    }
}

/// Returns the proleptic Gregorian date of a day count since the epoch: (year, month, day).
///
/// Counts in 400-year eras that begin on 1 March, so that the leap day is the last day of a year.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    const DAYS_PER_ERA: u64 = 146_097;
    const DAYS_FROM_ERA_START_TO_EPOCH: u64 = 719_468;
    let days = days + DAYS_FROM_ERA_START_TO_EPOCH;
    let (era, day_of_era) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    #[test]
    fn arithmetic_saturates_at_the_epoch() {
        let (utc, span) = (Utc::from_nanos(6), Duration::from_nanos(4));
        assert_eq!((utc.as_nanos(), (utc + span).as_nanos()), (6, 10));
        assert_eq!(((utc - span).as_nanos(), (utc - span - span).as_nanos()), (2, 0));
    }

    #[test]
    fn prints_leap_days_and_year_ends() {
        let at = |seconds: u64| Utc::from_nanos(seconds * 1_000_000_000).to_string();
        assert_eq!(at(0), "1970-01-01T00:00:00.000000000Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00.000000000Z");
        assert_eq!(at(1_709_164_800), "2024-02-29T00:00:00.000000000Z");
        assert_eq!(at(4_107_542_399), "2100-02-28T23:59:59.000000000Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00.000000000Z");
    }

    #[test]
    fn prints_every_digit_of_the_latest_time() {
        assert_eq!(Utc::from_nanos(u64::MAX).to_string(), "2554-07-21T23:34:33.709551615Z");
    }
}
