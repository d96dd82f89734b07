//! A point on the monotonic clock.

use core::ops::{Add, AddAssign, Sub};

use crate::Duration;

/// A point on a monotonic clock, in nanoseconds from an origin defined by its source.
///
/// Instants of one source are comparable. Instants of different hosts are not.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The origin of the clock.
    pub const ZERO: Self = Self(0);
    /// The latest instant, after every deadline.
    pub const MAX: Self = Self(u64::MAX);

    /// Creates the instant `nanos` nanoseconds after the clock's origin.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns the nanoseconds since the clock's origin.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the span since `earlier`, or zero if `earlier` is later.
    #[must_use]
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.as_nanos()))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

/// Subtracts a span, saturating at the clock's origin.
impl Sub<Duration> for Instant {
    type Output = Self;
    fn sub(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(span.as_nanos()))
    }
}

/// Subtracts instants, saturating at zero.
impl Sub for Instant {
    type Output = Duration;
    fn sub(self, earlier: Self) -> Duration {
        self.saturating_since(earlier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates_at_the_origin() {
        let (mut instant, span) = (Instant::from_nanos(6), Duration::from_nanos(4));
        assert_eq!((instant.as_nanos(), (instant + span).as_nanos()), (6, 10));
        assert_eq!(((instant - span).as_nanos(), (instant - span - span).as_nanos()), (2, 0));
        instant += span;
        assert_eq!(instant - Instant::from_nanos(6), span);
        assert_eq!(Instant::from_nanos(6) - instant, Duration::from_nanos(0));
    }
}
