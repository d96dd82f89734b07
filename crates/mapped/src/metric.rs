//! What a value of a page is: its name, its kind and its unit.

use std::fmt;

/// The longest name of a value, in bytes.
pub const NAME_MAX: usize = 56;

/// How a value moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// It only grows: a rate can be told from two readings.
    Counter,
    /// It is what it is now.
    Gauge,
}

impl Kind {
    pub(crate) const ALL: [Self; 2] = [Self::Counter, Self::Gauge];

    /// `counter` or `gauge`.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
        }
    }

    /// The number in a page: 1 for a counter, 2 for a gauge.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Counter => 1,
            Self::Gauge => 2,
        }
    }

    pub(crate) fn of_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

macro_rules! units {
    ($($(#[$doc:meta])* $unit:ident $code:literal $text:literal,)*) => {
        /// What a value counts. The set is closed: a new unit is a new version of the page.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Unit {
            $($(#[$doc])* $unit,)*
        }

        impl Unit {
            /// Every unit, in the order of their numbers.
            pub const ALL: [Self; [$($code),*].len()] = [$(Self::$unit),*];

            /// What stands behind a value: one word.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$unit => $text,)*
                }
            }

            /// The number in a page.
            pub(crate) const fn code(self) -> u8 {
                match self {
                    $(Self::$unit => $code,)*
                }
            }
        }
    };
}

units! {
    /// Times that something has happened, or things that have no unit of their own.
    Count 1 "count",
    /// Bytes.
    Bytes 2 "bytes",
    /// Nanoseconds.
    Nanoseconds 3 "ns",
    /// Packets or datagrams.
    Packets 4 "packets",
    /// Messages within packets or streams.
    Messages 5 "messages",
    /// Orders.
    Orders 6 "orders",
    /// Connections.
    Connections 7 "connections",
    /// 0 for no, 1 for yes.
    Flag 8 "flag",
}

impl Unit {
    pub(crate) fn of_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| unit.code() == code)
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

/// One value of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// 1 to [`NAME_MAX`] lower-case letters, digits, `.`, `_` and `-`: the part first, such as
    /// `feed.gaps`.
    pub name: String,
    /// Counter or gauge.
    pub kind: Kind,
    /// What it counts.
    pub unit: Unit,
}

/// Whether a name is one, of at most `longest` bytes. It can be printed anywhere, and split at
/// spaces.
pub(crate) fn is_name(name: &str, longest: usize) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (1..=longest).contains(&name.len())
        && name.bytes().all(|byte| allowed(byte) || b"._-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_means_one_kind_and_one_unit() {
        for code in 0..=u8::MAX {
            assert!(Kind::of_code(code).is_none_or(|kind| kind.code() == code));
            assert!(Unit::of_code(code).is_none_or(|unit| unit.code() == code));
        }
        assert_eq!((0..=u8::MAX).filter_map(Kind::of_code).count(), Kind::ALL.len());
        assert_eq!((0..=u8::MAX).filter_map(Unit::of_code).count(), Unit::ALL.len());
        assert!(Kind::of_code(0).is_none() && Unit::of_code(0).is_none(), "zeros are no value");
    }

    #[test]
    fn every_unit_is_one_word() {
        assert!(Unit::ALL.iter().all(|unit| is_name(unit.text(), 16)));
        assert_eq!(format!("{:>8}|{:<8}", Unit::Nanoseconds, Kind::Gauge), "      ns|gauge   ");
    }

    #[test]
    fn a_name_has_no_letter_that_does_something_to_a_terminal_or_a_line() {
        assert!(is_name("session.not-applied_2", NAME_MAX));
        for name in ["", "Feed", "a b", "a\n", "a\x1b[2J", "a\0", "ä", "a/b", "\u{202e}"] {
            assert!(!is_name(name, NAME_MAX), "{name:?}");
        }
        assert!(is_name(&"n".repeat(NAME_MAX), NAME_MAX));
        assert!(!is_name(&"n".repeat(NAME_MAX + 1), NAME_MAX));
    }
}
