//! A span of time.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub};

/// A non-negative span of time in nanoseconds, up to about 584 years.
///
/// The type has eight bytes. `core::time::Duration` has sixteen, and needs a division to convert
/// nanoseconds.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Duration {
    /// The zero span.
    pub const ZERO: Self = Self(0);
    /// The longest span.
    pub const MAX: Self = Self(u64::MAX);

    /// Creates a span of `nanos` nanoseconds.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Creates a span of `micros` microseconds, saturating at [`MAX`](Self::MAX).
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// Creates a span of `millis` milliseconds, saturating at [`MAX`](Self::MAX).
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// Creates a span of `secs` seconds, saturating at [`MAX`](Self::MAX).
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000_000))
    }

    /// Returns the span in nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the span in whole microseconds, rounded down.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }

    /// Returns the span in whole milliseconds, rounded down.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Returns `self - other`, or zero if `other` is longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl From<Duration> for core::time::Duration {
    fn from(span: Duration) -> Self {
        Self::from_nanos(span.0)
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Subtracts spans, saturating at zero.
impl Sub for Duration {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Div<u64> for Duration {
    type Output = Self;
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

/// Prints the span in the largest unit that keeps the value whole: `250ns`, `10ms`, `2s`.
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => write!(f, "0s"),
            n if n.is_multiple_of(1_000_000_000) => write!(f, "{}s", n / 1_000_000_000),
            n if n.is_multiple_of(1_000_000) => write!(f, "{}ms", n / 1_000_000),
            n if n.is_multiple_of(1_000) => write!(f, "{}us", n / 1_000),
            n => write!(f, "{n}ns"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_to_smaller_and_larger_units() {
        let span = Duration::from_nanos(7_654_321);
        assert_eq!((span.as_nanos(), span.as_micros(), span.as_millis()), (7_654_321, 7_654, 7));
        let span = core::time::Duration::from(Duration::from_millis(7));
        assert_eq!(span, core::time::Duration::from_millis(7));
    }

    #[test]
    fn arithmetic_saturates() {
        let [six, four] = [6, 4].map(Duration::from_nanos);
        let mut sum = six;
        sum += four;
        assert_eq!((sum, six + four), (Duration::from_nanos(10), Duration::from_nanos(10)));
        assert_eq!((six - four, four - six), (Duration::from_nanos(2), Duration::from_nanos(0)));
        assert_eq!((six * 4, six / 4), (Duration::from_nanos(24), Duration::from_nanos(1)));
        let longest = Duration::from_nanos(u64::MAX);
        assert_eq!((longest + four, longest * 2), (longest, longest));
    }
}
