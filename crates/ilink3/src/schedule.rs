//! Weekly connection schedule in local time.

use alloc::vec::Vec;

use hairpin_time::{Duration, Utc};
use thiserror::Error;

/// The number of seconds in a day.
const DAY: u32 = 86_400;
const WEEK: u32 = 7 * DAY;
/// The offset of the epoch, a Thursday, from the Sunday before it, in seconds.
const EPOCH: i64 = 4 * DAY as i64;

/// A time zone: the offset of its local time from UTC.
///
/// This layer has no time zone database; a caller with one implements the trait.
pub trait Zone {
    /// Returns the offset of local time from UTC at `utc`, in seconds; negative west of Greenwich.
    fn offset_seconds(&self, utc: Utc) -> i32;
}

/// A time zone with a fixed offset from UTC, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedZone(pub i32);

impl Zone for FixedZone {
    fn offset_seconds(&self, _: Utc) -> i32 {
        self.0
    }
}

/// A time of the week in local time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WeekTime(u32);

impl WeekTime {
    /// Creates a time from `day` (0 is Sunday, 6 is Saturday), `hour` (0 to 24) and `minute` (0 to
    /// 59). Returns `None` if a value is out of range.
    #[must_use]
    pub const fn new(day: u32, hour: u32, minute: u32) -> Option<Self> {
        let seconds = hour * 3_600 + minute * 60;
        if day > 6 || hour > 24 || minute > 59 || seconds > DAY {
            return None;
        }
        Some(Self((day * DAY + seconds) % WEEK))
    }
}

/// An invalid schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The schedule has no window.
    #[error("the schedule has no window")]
    Empty,
    /// A window ends at its start.
    #[error("a window of the schedule is empty")]
    EmptyWindow,
}

/// A session's connection windows within a week, and the start of CME's week.
///
/// If a clock change skips the start of a window, the window starts an hour later on the local
/// clock. If the start occurs twice, the first one counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// The start and length of each window in seconds, in the order given.
    windows: Vec<(u32, u32)>,
    week_start: u32,
}

impl Schedule {
    /// Creates a schedule that is open in each of `windows`, from the first time up to the second,
    /// possibly across the end of the week. `week_start` is the start of CME's week: a session of
    /// an earlier week is not resumed after it.
    ///
    /// # Errors
    /// [`ScheduleError`] if there is no window, or if one is empty.
    pub fn weekly(
        week_start: WeekTime,
        windows: &[(WeekTime, WeekTime)],
    ) -> Result<Self, ScheduleError> {
        if windows.is_empty() {
            return Err(ScheduleError::Empty);
        }
        let length = |from: WeekTime, to: WeekTime| (to.0 + WEEK - from.0) % WEEK;
        if windows.iter().any(|&(from, to)| length(from, to) == 0) {
            return Err(ScheduleError::EmptyWindow);
        }
        let windows = windows.iter().map(|&(from, to)| (from.0, length(from, to))).collect();
        Ok(Self { windows, week_start: week_start.0 })
    }

    /// Creates a schedule that is open on each of `days` (0 is Sunday) between two times of day,
    /// each as hour and minute. A window whose end is not later than its start continues into the
    /// next day. CME's week starts with the first of the days.
    ///
    /// # Errors
    /// [`ScheduleError`] if there is no day, or if a time is invalid.
    pub fn daily(days: &[u32], from: (u32, u32), to: (u32, u32)) -> Result<Self, ScheduleError> {
        let mut windows = Vec::with_capacity(days.len());
        for &day in days {
            let day_after = if to > from { day } else { (day + 1) % 7 };
            let from = WeekTime::new(day, from.0, from.1).ok_or(ScheduleError::EmptyWindow)?;
            let to = WeekTime::new(day_after, to.0, to.1).ok_or(ScheduleError::EmptyWindow)?;
            windows.push((from, to));
        }
        let first = windows.first().ok_or(ScheduleError::Empty)?.0;
        Self::weekly(first, &windows)
    }

    /// Returns `true` if the session should be connected at `utc`.
    #[must_use]
    pub fn is_open(&self, utc: Utc, zone: &impl Zone) -> bool {
        self.is_open_at(second_of_week(local(utc, zone)))
    }

    fn is_open_at(&self, second: u32) -> bool {
        let is_within = |&(from, length): &(u32, u32)| (second + WEEK - from) % WEEK < length;
        self.windows.iter().any(is_within)
    }

    /// Returns the time from `utc` until the schedule opens or closes, or `None` if it never
    /// changes.
    #[must_use]
    pub fn next_change(&self, utc: Utc, zone: &impl Zone) -> Option<Duration> {
        let now = local(utc, zone);
        let second = second_of_week(now);
        let is_open = self.is_open_at(second);
        let after = |edge: u32| match (edge % WEEK + WEEK - second) % WEEK {
            0 => WEEK,
            seconds => seconds,
        };
        let edges = self.windows.iter().flat_map(|&(from, length)| [from, from + length]);
        let changes = edges.filter(|&edge| self.is_open_at(edge % WEEK) != is_open);
        let seconds = changes.map(after).min()?;
        Some(until(utc, now + i64::from(seconds), zone))
    }

    /// Returns the number of CME's week at `utc`: equal within one week and increasing.
    #[must_use]
    pub fn week(&self, utc: Utc, zone: &impl Zone) -> i64 {
        (local(utc, zone) + EPOCH - i64::from(self.week_start)).div_euclid(i64::from(WEEK))
    }
}

/// Returns the seconds since the epoch on the local clock.
fn local(utc: Utc, zone: &impl Zone) -> i64 {
    // A `u64` of nanoseconds, in seconds, fits an `i64`.
    (utc.as_nanos() / 1_000_000_000) as i64 + i64::from(zone.offset_seconds(utc))
}

fn second_of_week(local: i64) -> u32 {
    (local + EPOCH).rem_euclid(i64::from(WEEK)) as u32
}

/// Returns the time from `utc` until the local clock reaches `target`.
fn until(utc: Utc, wanted: i64, zone: &impl Zone) -> Duration {
    let fraction = utc.as_nanos() % 1_000_000_000;
    let mut seconds = (wanted - local(utc, zone)).max(0);
    // A clock change may occur before then.
    let there = utc + Duration::from_secs(seconds as u64);
    seconds = (seconds + wanted - local(there, zone)).max(1);
    let there = utc + Duration::from_secs(seconds as u64);
    if local(there, zone) < wanted {
        seconds += wanted - local(there, zone);
    }
    let nanos = Duration::from_secs(seconds as u64).as_nanos() - fraction;
    Duration::from_nanos(nanos)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    /// Sunday, 12 November 2023, 00:00 UTC.
    const SUNDAY: u64 = 1_699_747_200;

    fn at(day: u64, hour: u64, minute: u64) -> Utc {
        Utc::from_nanos((SUNDAY + day * 86_400 + hour * 3_600 + minute * 60) * 1_000_000_000)
    }

    fn time(day: u32, hour: u32, minute: u32) -> WeekTime {
        WeekTime::new(day, hour, minute).unwrap()
    }

    fn hours(hours: u64) -> Option<Duration> {
        Some(Duration::from_secs(hours * 3_600))
    }

    #[test]
    fn window_includes_its_start_and_excludes_its_end() {
        let week = Schedule::weekly(time(0, 15, 0), &[(time(0, 15, 0), time(5, 16, 0))]).unwrap();
        let utc = FixedZone(0);
        for (now, open, change) in [
            (at(0, 14, 0), false, 1),
            (at(0, 15, 0), true, 5 * 24 + 1),
            (at(5, 15, 0), true, 1),
            (at(5, 16, 0), false, 47),
            (at(6, 12, 0), false, 27),
        ] {
            assert_eq!(week.is_open(now, &utc), open, "{now:?}");
            assert_eq!(week.next_change(now, &utc), hours(change), "{now:?}");
        }
    }

    #[test]
    fn windows_follow_the_local_clock() {
        let week = Schedule::weekly(time(0, 15, 0), &[(time(0, 15, 0), time(5, 16, 0))]).unwrap();
        let chicago = FixedZone(-6 * 3_600);
        assert!(!week.is_open(at(0, 20, 0), &chicago));
        assert_eq!(week.next_change(at(0, 20, 0), &chicago), hours(1));
        assert!(week.is_open(at(0, 21, 0), &chicago));
    }

    #[test]
    fn daily_windows_may_cross_midnight() {
        let days = Schedule::daily(&[1, 2], (17, 0), (16, 0)).unwrap();
        let utc = FixedZone(0);
        assert!(!days.is_open(at(1, 16, 0), &utc));
        assert!(days.is_open(at(1, 17, 0), &utc) && days.is_open(at(2, 15, 59), &utc));
        assert!(!days.is_open(at(2, 16, 30), &utc) && days.is_open(at(3, 15, 0), &utc));
        assert_eq!(days.next_change(at(2, 16, 0), &utc), hours(1));
        let day = Schedule::daily(&[3], (8, 0), (9, 0)).unwrap();
        assert_eq!(day.next_change(at(3, 8, 0), &utc), hours(1));
        assert_eq!(day.next_change(at(3, 9, 0), &utc), hours(7 * 24 - 1));
    }

    #[test]
    fn adjacent_windows_merge() {
        let windows = [(time(1, 0, 0), time(2, 0, 0)), (time(2, 0, 0), time(3, 0, 0))];
        let days = Schedule::weekly(time(0, 0, 0), &windows).unwrap();
        assert_eq!(days.next_change(at(1, 0, 0), &FixedZone(0)), hours(48));
    }

    #[test]
    fn next_change_is_exact_below_a_second() {
        let day = Schedule::daily(&[3], (8, 0), (9, 0)).unwrap();
        let early = Utc::from_nanos(at(3, 8, 0).as_nanos() - 1);
        let change = day.next_change(early, &FixedZone(0));
        assert_eq!(change, Some(Duration::from_nanos(1)));
    }

    /// A zone one hour ahead of UTC until Sunday 07:00 UTC, then at UTC: clocks go back.
    struct PutBack;

    impl Zone for PutBack {
        fn offset_seconds(&self, utc: Utc) -> i32 {
            if utc < at(0, 7, 0) { 3_600 } else { 0 }
        }
    }

    /// A zone at UTC until Sunday 07:00 UTC, then one hour ahead: clocks go forward.
    struct PutForward;

    impl Zone for PutForward {
        fn offset_seconds(&self, utc: Utc) -> i32 {
            if utc < at(0, 7, 0) { 0 } else { 3_600 }
        }
    }

    #[test]
    fn next_change_follows_clock_changes() {
        let day = Schedule::daily(&[0], (15, 0), (16, 0)).unwrap();
        assert_eq!(day.next_change(at(0, 5, 0), &PutBack), hours(10));
        assert!(day.is_open(at(0, 15, 0), &PutBack) && !day.is_open(at(0, 14, 0), &PutBack));
        assert_eq!(day.next_change(at(0, 5, 0), &PutForward), hours(9));
        assert!(day.is_open(at(0, 14, 0), &PutForward) && !day.is_open(at(0, 15, 0), &PutForward));
    }

    #[test]
    fn week_ends_at_the_next_week_start() {
        let week = Schedule::weekly(time(0, 15, 0), &[(time(0, 15, 0), time(5, 16, 0))]).unwrap();
        let utc = FixedZone(0);
        let this = week.week(at(0, 15, 0), &utc);
        assert_eq!(week.week(at(5, 16, 0), &utc), this);
        assert_eq!(week.week(at(7, 14, 59), &utc), this);
        assert_eq!(week.week(at(7, 15, 0), &utc), this + 1);
        assert_eq!(week.week(at(0, 14, 59), &utc), this - 1);
    }

    #[test]
    fn rejects_invalid_schedules() {
        let noon = time(3, 12, 0);
        assert_eq!(Schedule::weekly(noon, &[]), Err(ScheduleError::Empty));
        assert_eq!(Schedule::weekly(noon, &[(noon, noon)]), Err(ScheduleError::EmptyWindow));
        assert_eq!(Schedule::daily(&[7], (1, 0), (2, 0)), Err(ScheduleError::EmptyWindow));
        assert_eq!(WeekTime::new(0, 24, 1), None);
        assert_eq!(WeekTime::new(6, 24, 0), WeekTime::new(0, 0, 0));
    }
}
