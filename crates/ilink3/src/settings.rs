//! What a session is told before it starts.

use alloc::string::String;
use core::fmt;

use hairpin_cme_codecs::ilink3::ManualOrdIndReq;
use hairpin_time::Duration;
use thiserror::Error;

use crate::SecretKey;
use crate::ascii::is_printable;

/// Who logs on, with what key, and what every order of the session says of its sender.
///
/// Text fields are printable ASCII; [`Settings::check`] names the first that is not or that does
/// not fit. The secret key appears in no `Debug` output.
#[derive(Debug, Clone)]
pub struct Settings {
    /// AccessKeyID (39004): 1 to 20 characters.
    pub access_key_id: String,
    /// The secret key that belongs to it.
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
    /// What [`NewOrder`](crate::NewOrder) and [`CancelOrder`](crate::CancelOrder) say of their
    /// sender.
    pub operator: Operator,
}

/// The least KeepAliveInterval CME takes.
pub const KEEP_ALIVE_MIN: Duration = Duration::from_millis(5_000);
/// The greatest KeepAliveInterval CME takes.
pub const KEEP_ALIVE_MAX: Duration = Duration::from_millis(60_000);
/// Ten seconds, the default.
pub const KEEP_ALIVE_DEFAULT: Duration = Duration::from_millis(10_000);

/// Who enters the orders: the same in every order of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operator {
    /// SenderID (5392): the operator's id, NUL-padded.
    pub sender_id: [u8; 20],
    /// Location (9537): country and, in the US and Canada, state, NUL-padded.
    pub location: [u8; 5],
    /// PartyDetailsListReqID (1505): the registered party details the orders refer to.
    pub party_details_list_req_id: u64,
    /// ManualOrderIndicator (1028): automated for a program.
    pub manual_order_indicator: ManualOrdIndReq,
}

impl Operator {
    /// An automated operator with party details 1. Longer text is cut.
    #[must_use]
    pub fn automated(sender_id: &str, location: &str) -> Self {
        Self {
            sender_id: padded(sender_id),
            location: padded(location),
            party_details_list_req_id: 1,
            manual_order_indicator: ManualOrdIndReq::AUTOMATED,
        }
    }
}

/// `text` as a field of fixed length, NUL-padded; longer text is cut.
fn padded<const LENGTH: usize>(text: &str) -> [u8; LENGTH] {
    let mut field = [0; LENGTH];
    let length = text.len().min(LENGTH);
    field[..length].copy_from_slice(&text.as_bytes()[..length]);
    field
}

/// A setting CME would refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// A text field is too short, too long or not printable ASCII.
    #[error("{field} must be {} characters of printable ASCII", Lengths(*min, *max))]
    Text {
        /// CME's name of the field.
        field: &'static str,
        /// The fewest characters it takes.
        min: usize,
        /// The most characters it takes.
        max: usize,
    },
    /// The keep-alive interval is not a whole number of milliseconds from 5,000 to 60,000.
    #[error("KeepAliveInterval must be 5000 to 60000 whole milliseconds, not {0}")]
    KeepAliveInterval(Duration),
}

impl Settings {
    /// Whether CME would take these settings.
    ///
    /// # Errors
    /// [`SettingsError`] with the first setting it would not.
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

    /// KeepAliveInterval as it stands on the wire, milliseconds.
    pub(crate) fn keep_alive_millis(&self) -> u16 {
        self.keep_alive_interval.as_millis() as u16
    }
}

/// How many there may be: from, to.
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

    /// Settings every test starts from; the key is bytes 0 to 31.
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
            operator: Operator::automated("TRADER", "US,IL"),
        }
    }

    #[test]
    fn takes_keep_alive_from_5_to_60_seconds_only() {
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
    fn names_the_text_that_does_not_fit() {
        let bad = Settings { session: "AB".to_string(), ..settings() };
        let error = bad.check().unwrap_err().to_string();
        assert_eq!(error, "Session must be 3 characters of printable ASCII");
        let bad = Settings { firm: "D\nE".to_string(), ..settings() };
        assert!(bad.check().is_err());
        let bad = Settings { trading_system_vendor: "12345678901".to_string(), ..settings() };
        assert!(bad.check().is_err());
    }

    #[test]
    fn the_secret_key_is_not_in_debug_output() {
        let text = format!("{:?}", settings());
        assert!(text.contains("SecretKey(..)") && !text.contains("AAECAw"));
    }
}
