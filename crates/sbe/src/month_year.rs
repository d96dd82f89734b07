//! A year and month, with an optional day or week.

use crate::Scalar;
use core::fmt;

/// CME's `MaturityMonthYear`: five bytes, with a separate null for each part.
///
/// ```text
/// 0       2       3     4      5
/// +-------+-------+-----+------+
/// | year  | month | day | week |   null: 65535, 255, 255, 255
/// +-------+-------+-----+------+
/// ```
///
/// `Display` follows FIX's MonthYear type: `203012`, `20301205`, `203012w2`. A null part before a
/// non-null one prints as `?`; an entirely null value prints as `-`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MonthYear {
    /// The year, for example 2030.
    pub year: Option<u16>,
    /// The month, 1 to 12.
    pub month: Option<u8>,
    /// The day of the month, 1 to 31.
    pub day: Option<u8>,
    /// The week of the month, 1 to 5.
    pub week: Option<u8>,
}

impl MonthYear {
    /// The size in bytes.
    pub const SIZE: usize = 5;
    /// A value with every part absent.
    pub const NULL: Self = Self { year: None, month: None, day: None, week: None };

    #[inline]
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let part = |index: usize| (bytes[index] != u8::MAX).then_some(bytes[index]);
        let year = u16::read(&bytes[..2]);
        Self {
            year: (year != u16::MAX).then_some(year),
            month: part(2),
            day: part(3),
            week: part(4),
        }
    }

    #[inline]
    pub(crate) fn write(self, bytes: &mut [u8]) {
        self.year.unwrap_or(u16::MAX).write(&mut bytes[..2]);
        for (byte, part) in bytes[2..].iter_mut().zip([self.month, self.day, self.week]) {
            *byte = part.unwrap_or(u8::MAX);
        }
    }
}

impl fmt::Display for MonthYear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NULL {
            return f.write_str("-");
        }
        match self.year {
            Some(year) => write!(f, "{year:04}")?,
            None => f.write_str("?")?,
        }
        match self.month {
            Some(month) => write!(f, "{month:02}")?,
            None => f.write_str("?")?,
        }
        if let Some(day) = self.day {
            write!(f, "{day:02}")?;
        }
        match self.week {
            Some(week) => write!(f, "w{week}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn reads_and_writes_five_bytes() {
        let december = MonthYear { year: Some(2030), month: Some(12), day: None, week: Some(2) };
        let mut bytes = [0; 5];
        december.write(&mut bytes);
        assert_eq!(bytes, [0xee, 0x07, 12, 255, 2]);
        assert_eq!(MonthYear::read(&bytes), december);
        assert_eq!(december.to_string(), "203012w2");
        assert_eq!(MonthYear::read(&[255; 5]), MonthYear::NULL);
        assert_eq!(MonthYear::NULL.to_string(), "-");
    }
}
