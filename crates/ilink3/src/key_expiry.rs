//! When the secret key expires.

use hairpin_time::{Duration, Utc};

/// Days before the end from which on there are warnings, unless set.
pub const KEY_WARNING_DAYS_DEFAULT: u32 = 30;

pub(crate) const DAY: Duration = Duration::from_secs(86_400);

/// When the secret key expires, and from when on to [warn](crate::Warning::KeyExpires) of it. CME
/// wants keys renewed every twelve months; when one of its keys expires it says only to whoever
/// has asked for it, so that it has to be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyExpiry {
    /// From then on it is of no use.
    pub at: Utc,
    /// With fewer days left than this there are warnings. See [`KEY_WARNING_DAYS_DEFAULT`].
    pub warning_days: u32,
}

impl KeyExpiry {
    /// A key that expires then, with warnings from the default number of days before.
    #[must_use]
    pub const fn new(at: Utc) -> Self {
        Self { at, warning_days: KEY_WARNING_DAYS_DEFAULT }
    }

    /// Whole days left, if there is to be a warning; else how long there will be none.
    pub(crate) fn look(&self, now: Utc) -> Result<u32, Duration> {
        let left = self.at.saturating_since(now).as_nanos();
        let margin = u64::from(self.warning_days).saturating_mul(DAY.as_nanos());
        match left.checked_sub(margin) {
            // With exactly so many left there is none yet.
            Some(rest) if left > 0 => Err(Duration::from_nanos(rest.saturating_add(1))),
            _ => Ok((left / DAY.as_nanos()) as u32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_begin_with_fewer_days_than_set() {
        let at = |nanos| Utc::from_nanos(100 * DAY.as_nanos() + nanos);
        let expiry = KeyExpiry { at: at(0), warning_days: 2 };
        let days = |days: u64| Utc::from_nanos((100 - days) * DAY.as_nanos());
        assert_eq!(expiry.look(days(3)), Err(DAY + Duration::from_nanos(1)));
        assert_eq!(expiry.look(days(2)), Err(Duration::from_nanos(1)));
        assert_eq!(expiry.look(days(2) + Duration::from_nanos(1)), Ok(1));
        assert_eq!(expiry.look(days(1)), Ok(1));
        assert_eq!(expiry.look(days(1) + Duration::from_nanos(1)), Ok(0));
        assert_eq!((expiry.look(at(0)), expiry.look(at(5))), (Ok(0), Ok(0)));
        let never = KeyExpiry { warning_days: 0, ..expiry };
        assert_eq!(
            (never.look(days(1)), never.look(at(1))),
            (Err(DAY + Duration::from_nanos(1)), Ok(0))
        );
    }
}
