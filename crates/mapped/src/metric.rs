//! The name, kind and unit of a value in a page.

use std::fmt;

/// The maximum length of a value's name in bytes.
pub const NAME_MAX: usize = 56;

/// The kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A value that only grows: two readings give a rate.
    Counter,
    /// A current value, which may rise and fall.
    Gauge,
}

impl Kind {
    pub(crate) const ALL: [Self; 2] = [Self::Counter, Self::Gauge];

    /// Returns `counter` or `gauge`.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
        }
    }

    /// Returns the code in a page: 1 for a counter, 2 for a gauge.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Counter => 1,
            Self::Gauge => 2,
        }
    }

    pub(crate) fn from_code(code: u8) -> Option<Self> {
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
        /// The unit of a value. The set is closed: a new unit requires a new page version.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Unit {
            $($(#[$doc])* $unit,)*
        }

        impl Unit {
            /// The units, in the order of their codes.
            pub const ALL: [Self; [$($code),*].len()] = [$(Self::$unit),*];

            /// Returns the unit's text after a value: one word.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$unit => $text,)*
                }
            }

            /// Returns the code in a page.
            pub(crate) const fn code(self) -> u8 {
                match self {
                    $(Self::$unit => $code,)*
                }
            }
        }
    };
}

units! {
    /// Events, or items without a unit of their own.
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
    /// A boolean: 0 for no, 1 for yes.
    Flag 8 "flag",
}

impl Unit {
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| unit.code() == code)
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

/// The description of a value in a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// The name: 1 to [`NAME_MAX`] lower-case letters, digits, `.`, `_` and `-`. The component
    /// comes first, as in `feed.gaps`.
    pub name: String,
    /// The kind: counter or gauge.
    pub kind: Kind,
    /// The unit.
    pub unit: Unit,
}

/// Returns `true` for a valid name of at most `longest` bytes. Valid names are safe to print and
/// contain no spaces.
pub(crate) fn is_name(name: &str, longest: usize) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (1..=longest).contains(&name.len())
        && name.bytes().all(|byte| allowed(byte) || b"._-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique() {
        for code in 0..=u8::MAX {
            assert!(Kind::from_code(code).is_none_or(|kind| kind.code() == code));
            assert!(Unit::from_code(code).is_none_or(|unit| unit.code() == code));
        }
        assert_eq!((0..=u8::MAX).filter_map(Kind::from_code).count(), Kind::ALL.len());
        assert_eq!((0..=u8::MAX).filter_map(Unit::from_code).count(), Unit::ALL.len());
        assert!(
            Kind::from_code(0).is_none() && Unit::from_code(0).is_none(),
            "code 0 is not valid"
        );
    }

    #[test]
    fn units_are_single_words() {
        assert!(Unit::ALL.iter().all(|unit| is_name(unit.text(), 16)));
        assert_eq!(format!("{:>8}|{:<8}", Unit::Nanoseconds, Kind::Gauge), "      ns|gauge   ");
    }

    #[test]
    fn names_have_no_control_characters() {
        assert!(is_name("session.not-applied_2", NAME_MAX));
        for name in ["", "Feed", "a b", "a\n", "a\x1b[2J", "a\0", "ä", "a/b", "\u{202e}"] {
            assert!(!is_name(name, NAME_MAX), "{name:?}");
        }
        assert!(is_name(&"n".repeat(NAME_MAX), NAME_MAX));
        assert!(!is_name(&"n".repeat(NAME_MAX + 1), NAME_MAX));
    }
}
