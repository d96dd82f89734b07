//! Time zones by name.

use hairpin_ilink3::Zone;
use hairpin_time::Utc;
use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use thiserror::Error;

/// A time zone from the built-in copy of the IANA database. CME's week starts by `America/Chicago`.
#[derive(Debug, Clone)]
pub struct NamedZone(TimeZone);

/// An unknown time zone name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("cannot use time zone `{name}`: unknown name; use one like `America/Chicago`")]
pub struct ZoneError {
    /// The name.
    pub name: String,
}

impl NamedZone {
    /// Returns the time zone with this name.
    ///
    /// # Errors
    /// [`ZoneError`] if the database does not have the name.
    pub fn new(name: &str) -> Result<Self, ZoneError> {
        let zone = TimeZoneDatabase::bundled().get(name);
        zone.map(Self).map_err(|_| ZoneError { name: name.to_owned() })
    }
}

impl Zone for NamedZone {
    fn offset_seconds(&self, utc: Utc) -> i32 {
        // After the last supported year the offset stays constant.
        let time = Timestamp::from_nanosecond(i128::from(utc.as_nanos()));
        self.0.to_offset(time.unwrap_or(Timestamp::MAX)).seconds()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairpin_ilink3::{Schedule, WeekTime};
    use hairpin_time::Duration;

    fn at(seconds: u64) -> Utc {
        Utc::from_nanos(seconds * 1_000_000_000)
    }

    #[test]
    fn chicago_offset_is_six_hours_in_winter_and_five_in_summer() {
        let chicago = NamedZone::new("America/Chicago").unwrap();
        // 15 January and 15 July 2024, noon UTC.
        assert_eq!(chicago.offset_seconds(at(1_705_320_000)), -6 * 3_600);
        assert_eq!(chicago.offset_seconds(at(1_721_044_800)), -5 * 3_600);
        assert_eq!(chicago.offset_seconds(Utc::from_nanos(u64::MAX)), -5 * 3_600);
    }

    #[test]
    fn week_keeps_local_time_across_clock_changes() {
        let chicago = NamedZone::new("America/Chicago").unwrap();
        let time = |day, hour| WeekTime::new(day, hour, 0).unwrap();
        let week = Schedule::weekly(time(0, 15), &[(time(0, 15), time(5, 16))]).unwrap();
        // Friday, 8 March 2024, 17:00 in Chicago; clocks go forward on Sunday at 2:00.
        let friday = at(1_709_938_800);
        assert!(!week.is_open(friday, &chicago));
        assert_eq!(week.next_change(friday, &chicago), Some(Duration::from_secs(45 * 3_600)));
        // Friday, 1 November 2024, 17:00 in Chicago; clocks go back on Sunday at 2:00.
        let friday = at(1_730_498_400);
        assert_eq!(week.next_change(friday, &chicago), Some(Duration::from_secs(47 * 3_600)));
    }

    #[test]
    fn error_names_an_unknown_zone() {
        let error = NamedZone::new("Europe/Atlantis").unwrap_err();
        let text =
            "cannot use time zone `Europe/Atlantis`: unknown name; use one like `America/Chicago`";
        assert_eq!(error.to_string(), text);
    }
}
