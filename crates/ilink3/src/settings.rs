//! The session's settings.

use alloc::string::String;
use core::fmt;

use hairpin_time::Duration;
use thiserror::Error;

use crate::ascii::is_printable;
use crate::{Operator, SecretKey};

/// The credentials of a session and the operator of its orders.
///
/// Text fields are printable ASCII; [`Settings::check`] returns the first invalid one. The secret
/// key never appears in `Debug` output.
#[derive(Debug, Clone)]
pub struct Settings {
    /// AccessKeyID (39004): 1 to 20 characters.
    pub access_key_id: String,
    /// The secret key of the AccessKeyID.
    pub secret_key: SecretKey,
    /// Session (39006): three characters.
    pub session: String,
    /// Firm (39007): 1 to 5 characters.
    pub firm: String,
    /// TradingSystemName (1603): 1 to 30 characters.
    pub trading_system_name: String,
    /// TradingSystemVersion (1604): 1 to 10 characters.
    pub trading_system_version: String,
    /// TradingSystemVendor (1605): 1 to 10 characters.
    pub trading_system_vendor: String,
    /// KeepAliveInterval (39014), whole milliseconds from 5,000 to 60,000. See
    /// [`KEEP_ALIVE_DEFAULT`].
    pub keep_alive_interval: Duration,
    /// The sender fields of all requests, unless
    /// [`Sender::send_as`](crate::Sender::send_as) sends them for another operator.
    pub operator: Operator,
}

/// The minimum KeepAliveInterval.
pub const KEEP_ALIVE_MIN: Duration = Duration::from_millis(5_000);
/// The maximum KeepAliveInterval.
pub const KEEP_ALIVE_MAX: Duration = Duration::from_millis(60_000);
/// The default KeepAliveInterval: ten seconds.
pub const KEEP_ALIVE_DEFAULT: Duration = Duration::from_millis(10_000);

/// An invalid setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// A text field is too short, too long or not printable ASCII.
    #[error("{field} must be {} characters of printable ASCII", Lengths(*min, *max))]
    Text {
        /// The field's CME name.
        field: &'static str,
        /// The minimum number of characters.
        min: usize,
        /// The maximum number of characters.
        max: usize,
    },
    /// The keep-alive interval is not a whole number of milliseconds from 5,000 to 60,000.
    #[error("KeepAliveInterval must be 5000 to 60000 whole milliseconds, not {0}")]
    KeepAliveInterval(Duration),
}

impl Settings {
    /// Validates the settings against CME's limits.
    ///
    /// # Errors
    /// [`SettingsError`] with the first invalid setting.
    pub fn check(&self) -> Result<(), SettingsError> {
        text("AccessKeyID", &self.access_key_id, 1, 20)?;
        text("Session", &self.session, 3, 3)?;
        text("Firm", &self.firm, 1, 5)?;
        text("TradingSystemName", &self.trading_system_name, 1, 30)?;
        text("TradingSystemVersion", &self.trading_system_version, 1, 10)?;
        text("TradingSystemVendor", &self.trading_system_vendor, 1, 10)?;
        let interval = self.keep_alive_interval;
        let whole = Duration::from_millis(interval.as_millis()) == interval;
        if !whole || !(KEEP_ALIVE_MIN..=KEEP_ALIVE_MAX).contains(&interval) {
            return Err(SettingsError::KeepAliveInterval(interval));
        }
        Ok(())
    }

    /// Returns KeepAliveInterval in milliseconds, as encoded on the wire.
    pub(crate) fn keep_alive_millis(&self) -> u16 {
        self.keep_alive_interval.as_millis() as u16
    }
}

/// A range of text lengths: minimum and maximum.
struct Lengths(usize, usize);

impl fmt::Display for Lengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self(min, max) if min == max => write!(f, "{max}"),
            Self(min, max) => write!(f, "{min} to {max}"),
        }
    }
}

fn text(field: &'static str, value: &str, min: usize, max: usize) -> Result<(), SettingsError> {
    let fits = (min..=max).contains(&value.len()) && is_printable(value.as_bytes());
    if fits { Ok(()) } else { Err(SettingsError::Text { field, min, max }) }
}

#[cfg(test)]
pub(crate) mod tests {
    extern crate std;
    use super::*;
    use std::format;
    use std::string::ToString;

    /// Returns the settings used by all tests. The key is the bytes 0 to 31.
    pub(crate) fn settings() -> Settings {
        let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
        Settings {
            access_key_id: "ACCESS-KEY-ID-123456".to_string(),
            secret_key: SecretKey::from_base64url(key).unwrap(),
            session: "ABC".to_string(),
            firm: "DEFGH".to_string(),
            trading_system_name: "TestSys".to_string(),
            trading_system_version: "1.0".to_string(),
            trading_system_vendor: "TestVendor".to_string(),
            keep_alive_interval: KEEP_ALIVE_DEFAULT,
            operator: Operator::automated("TRADER", "US,IL").unwrap(),
        }
    }

    #[test]
    fn accepts_keep_alive_of_5_to_60_seconds_only() {
        let with =
            |nanos| Settings { keep_alive_interval: Duration::from_nanos(nanos), ..settings() };
        for good in [5_000_000_000, 5_001_000_000, 60_000_000_000] {
            assert_eq!(with(good).check(), Ok(()));
        }
        for bad in [0, 4_999_000_000, 5_000_500_000, 60_001_000_000, u64::MAX] {
            let error = SettingsError::KeepAliveInterval(Duration::from_nanos(bad));
            assert_eq!(with(bad).check(), Err(error));
        }
    }

    #[test]
    fn reports_the_invalid_text_field() {
        let bad = Settings { session: "AB".to_string(), ..settings() };
        let error = bad.check().unwrap_err().to_string();
        assert_eq!(error, "Session must be 3 characters of printable ASCII");
        let bad = Settings { firm: "D\nE".to_string(), ..settings() };
        assert!(bad.check().is_err());
        let bad = Settings { trading_system_vendor: "12345678901".to_string(), ..settings() };
        assert!(bad.check().is_err());
    }

    #[test]
    fn debug_output_omits_the_secret_key() {
        let text = format!("{:?}", settings());
        assert!(text.contains("SecretKey(..)") && !text.contains("AAECAw"));
    }
}
