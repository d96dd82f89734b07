//! Expiry of the secret key.

use hairpin_time::{Duration, Utc};

/// The default of [`KeyExpiry::warning_days`].
pub const KEY_WARNING_DAYS_DEFAULT: u32 = 30;

pub(crate) const DAY: Duration = Duration::from_secs(86_400);

/// The expiry date of the secret key and the start of its [warnings](crate::Warning::KeyExpires).
/// CME requires a new key every twelve months. CME reports the expiry of a key only on request, so
/// the date must be configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyExpiry {
    /// The time from which the key is invalid.
    pub at: Utc,
    /// Warnings start when fewer than this number of days are left. See
    /// [`KEY_WARNING_DAYS_DEFAULT`].
    pub warning_days: u32,
}

impl KeyExpiry {
    /// Creates an expiry with the default warning period.
    #[must_use]
    pub const fn new(at: Utc) -> Self {
        Self { at, warning_days: KEY_WARNING_DAYS_DEFAULT }
    }

    /// Returns the whole days left if a warning is due, or else the time until the next check.
    pub(crate) fn check(&self, now: Utc) -> Result<u32, Duration> {
        let left = self.at.saturating_since(now).as_nanos();
        let margin = u64::from(self.warning_days).saturating_mul(DAY.as_nanos());
        match left.checked_sub(margin) {
            // A warning requires fewer days than `warning_days`; at exactly that number none is
            // due.
            Some(rest) if left > 0 => Err(Duration::from_nanos(rest.saturating_add(1))),
            _ => Ok((left / DAY.as_nanos()) as u32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_start_below_the_configured_days() {
        let at = |nanos| Utc::from_nanos(100 * DAY.as_nanos() + nanos);
        let expiry = KeyExpiry { at: at(0), warning_days: 2 };
        let days = |days: u64| Utc::from_nanos((100 - days) * DAY.as_nanos());
        assert_eq!(expiry.check(days(3)), Err(DAY + Duration::from_nanos(1)));
        assert_eq!(expiry.check(days(2)), Err(Duration::from_nanos(1)));
        assert_eq!(expiry.check(days(2) + Duration::from_nanos(1)), Ok(1));
        assert_eq!(expiry.check(days(1)), Ok(1));
        assert_eq!(expiry.check(days(1) + Duration::from_nanos(1)), Ok(0));
        assert_eq!((expiry.check(at(0)), expiry.check(at(5))), (Ok(0), Ok(0)));
        let never = KeyExpiry { warning_days: 0, ..expiry };
        assert_eq!(
            (never.check(days(1)), never.check(at(1))),
            (Err(DAY + Duration::from_nanos(1)), Ok(0))
        );
    }
}
