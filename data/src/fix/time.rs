//! FIX times of UTC, from nanoseconds since 1970.

use hairpin_time::Utc;

const DAY_SECS: u64 = 86_400;

/// Returns a UTCTimestamp with milliseconds, as in FIX 4.4.
pub(crate) fn timestamp_millis(utc: Utc) -> String {
    let nanos = utc.as_nanos();
    format!("{}.{:03}", seconds(nanos), nanos % 1_000_000_000 / 1_000_000)
}

/// Returns a UTCTimestamp with nanoseconds.
pub(crate) fn timestamp_nanos(utc: Utc) -> String {
    let nanos = utc.as_nanos();
    format!("{}.{:09}", seconds(nanos), nanos % 1_000_000_000)
}

fn seconds(nanos: u64) -> String {
    let secs = nanos / 1_000_000_000;
    let (day, secs) = (secs / DAY_SECS, secs % DAY_SECS);
    format!("{}-{:02}:{:02}:{:02}", date(day), secs / 3_600, secs / 60 % 60, secs % 60)
}

/// Returns a LocalMktDate from days since 1970.
pub(crate) fn date(days: u64) -> String {
    // Howard Hinnant, "chrono-compatible low-level date algorithms", civil_from_days.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * day + 2) / 153;
    let day = day - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    format!("{year:04}{month:02}{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_known_times() {
        // date -u -d @1764021600
        let utc = Utc::from_nanos(1_764_021_600_012_345_678);
        assert_eq!(timestamp_millis(utc), "20251124-22:00:00.012");
        assert_eq!(timestamp_nanos(utc), "20251124-22:00:00.012345678");
        assert_eq!(timestamp_millis(Utc::EPOCH), "19700101-00:00:00.000");
        let dates = [(59, "19700301"), (11_016, "20000229"), (11_017, "20000301")];
        for (days, text) in dates.into_iter().chain([(19_782, "20240229"), (20_453, "20251231")]) {
            assert_eq!(date(days), text);
        }
        assert_eq!(timestamp_nanos(Utc::from_nanos(u64::MAX)), "25540721-23:34:33.709551615");
    }
}
