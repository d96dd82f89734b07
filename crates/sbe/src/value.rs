//! A field's value with its kind, for printing and comparison.

use crate::{
    Array, CharArray, Decimal, Encoding, Field, Float, FloatingPoint, MonthYear, Named, Presence,
    Primitive,
};
use core::fmt;

/// A field's value.
///
/// `Display` is exact:
///
/// - numbers in decimal, decimals in plain notation, null and empty text as `-`;
/// - text unquoted if it is printable and has no blanks, otherwise quoted;
/// - an enumeration as `Name(value)`, or `?(value)` without a name;
/// - a set as names joined by `|`, with unnamed bits in hexadecimal at the end, and `0` without
///   bits;
/// - an array as its numbers, separated by commas; data in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// The field is absent.
    Null,
    /// An integer of a signed type.
    Signed(i64),
    /// An integer of an unsigned type.
    Unsigned(u64),
    /// A character.
    Character(u8),
    /// Text of fixed length.
    Text(CharArray<'a>),
    /// A number with a constant or encoded exponent.
    Number(Float),
    /// A year and month, with an optional day or week.
    MonthYear(MonthYear),
    /// A value of an enumeration.
    Enumeration {
        /// The value's name, if the schema defines one.
        name: Option<&'a str>,
        /// The value: a character or a number.
        value: u64,
        /// The value is a character.
        character: bool,
    },
    /// A set of bits.
    Set {
        /// The bits.
        bits: u64,
        /// The schema's bit names.
        choices: &'a [Named<'a>],
    },
    /// An array of numbers.
    Array(Array<'a>),
    /// A floating-point number.
    FloatingPoint(FloatingPoint),
    /// Variable-length data.
    Data(&'a [u8]),
}

impl<'a> Value<'a> {
    /// Reads the field's value from a block of schema version `version`, in a message introduced in
    /// version `block_since`. The value is null if the field is newer or truncated.
    pub fn read(field: &Field, block_since: u16, wire: &'a [u8], version: u16) -> Self {
        if field.kind.presence == Presence::Constant {
            return Self::constant(field, version);
        }
        let Some(bytes) = field.bytes(wire, version) else { return Self::Null };
        let null = field.null(block_since);
        if !null.is_empty() && bytes == null {
            return Self::Null;
        }
        match field.kind.encoding {
            // Some senders encode CME's character null as 0x00, others as '0'.
            Encoding::Scalar(Primitive::Char) | Encoding::Enumeration(Primitive::Char, _)
                if null == b"\0" && bytes == b"0" =>
            {
                Self::Null
            }
            Encoding::Scalar(primitive) => Self::scalar(primitive, bytes),
            Encoding::Text => Self::Text(CharArray::new(bytes)),
            Encoding::Decimal(primitive, exponent) => {
                Self::Number(Float { mantissa: primitive.read(bytes) as i64, exponent })
            }
            Encoding::Float(primitive) => Self::float(primitive, bytes, null),
            Encoding::MonthYear => Self::MonthYear(MonthYear::read(bytes)),
            Encoding::Enumeration(primitive, names) => {
                let value = primitive.read(bytes) as u64;
                let name = Named::find(names, value);
                Self::Enumeration { name, value, character: primitive == Primitive::Char }
            }
            Encoding::Set(primitive, choices) => {
                Self::Set { bits: primitive.read(bytes) as u64, choices }
            }
        }
    }

    fn constant(field: &Field, version: u16) -> Self {
        match field.kind.encoding {
            _ if field.since > version => Self::Null,
            Encoding::Scalar(primitive) => Self::scalar(primitive, field.kind.value),
            _ => Self::Text(CharArray::new(field.kind.value)),
        }
    }

    fn scalar(primitive: Primitive, bytes: &[u8]) -> Self {
        let value = primitive.read(bytes);
        match primitive {
            Primitive::Char => Self::Character(value as u8),
            Primitive::Int8 | Primitive::Int16 | Primitive::Int32 | Primitive::Int64 => {
                Self::Signed(value as i64)
            }
            _ => Self::Unsigned(value as u64),
        }
    }

    /// Reads a decimal; null if the mantissa or the exponent is.
    fn float(primitive: Primitive, bytes: &[u8], null: &[u8]) -> Self {
        let (mantissa, exponent) = bytes.split_at(usize::from(primitive.size()));
        let (no_mantissa, no_exponent) = null.split_at(mantissa.len().min(null.len()));
        if mantissa == no_mantissa || exponent == no_exponent {
            return Self::Null;
        }
        let mantissa = primitive.read(mantissa) as i64;
        Self::Number(Float { mantissa, exponent: Primitive::Int8.read(exponent) as i8 })
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null | Self::Character(0) => f.write_str("-"),
            Self::Signed(value) => value.fmt(f),
            Self::Unsigned(value) => value.fmt(f),
            Self::Character(byte) => write_text(f, CharArray::new(&[*byte])),
            Self::Text(text) => write_text(f, *text),
            Self::Number(number) => number.fmt(f),
            Self::MonthYear(value) => value.fmt(f),
            Self::Enumeration { name, value, character } => {
                write!(f, "{}(", name.unwrap_or("?"))?;
                match (character, *value as u8) {
                    (true, 0) => f.write_str("\\x00")?,
                    (true, byte) => CharArray::new(&[byte]).fmt(f)?,
                    (false, _) => value.fmt(f)?,
                }
                f.write_str(")")
            }
            Self::Set { bits, choices } => write_set(f, *bits, choices),
            Self::Array(array) => array.fmt(f),
            Self::FloatingPoint(number) => number.fmt(f),
            Self::Data([]) => f.write_str("-"),
            Self::Data(bytes) => bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
        }
    }
}

/// Writes the text unquoted if that is unambiguous, otherwise quoted.
fn write_text(f: &mut fmt::Formatter<'_>, text: CharArray<'_>) -> fmt::Result {
    let bytes = text.as_bytes();
    let is_bare = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'=' | b'\\');
    match bytes {
        b"" => f.write_str("-"),
        b"-" => f.write_str("\"-\""),
        _ if bytes.iter().all(is_bare) => write!(f, "{text}"),
        _ => {
            f.write_str("\"")?;
            for (index, part) in bytes.split(|&byte| byte == b'"').enumerate() {
                if index > 0 {
                    f.write_str("\\\"")?;
                }
                write!(f, "{}", CharArray::new(part))?;
            }
            f.write_str("\"")
        }
    }
}

fn write_set(f: &mut fmt::Formatter<'_>, bits: u64, choices: &[Named<'_>]) -> fmt::Result {
    let mut unnamed = bits;
    let mut separator = "";
    for choice in choices.iter().filter(|choice| bits >> choice.value & 1 == 1) {
        write!(f, "{separator}{}", choice.name)?;
        separator = "|";
        unnamed &= !(1 << choice.value);
    }
    match unnamed {
        0 if bits == 0 => f.write_str("0"),
        0 => Ok(()),
        _ => write!(f, "{separator}{unnamed:#x}"),
    }
}

impl From<u64> for Value<'_> {
    fn from(value: u64) -> Self {
        Self::Unsigned(value)
    }
}

impl<const EXPONENT: i8> From<Decimal<EXPONENT>> for Value<'_> {
    fn from(value: Decimal<EXPONENT>) -> Self {
        Self::Number(Float { mantissa: value.0, exponent: EXPONENT })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    const CHOICES: &[Named] = &[
        Named { name: "LastQuoteMsg", value: 2, since: 0 },
        Named { name: "EndOfEvent", value: 7, since: 0 },
    ];

    fn set(bits: u64) -> alloc::string::String {
        Value::Set { bits, choices: CHOICES }.to_string()
    }

    #[test]
    fn sets_print_names_and_unnamed_bits() {
        assert_eq!(set(0x84), "LastQuoteMsg|EndOfEvent");
        assert_eq!(set(0x85), "LastQuoteMsg|EndOfEvent|0x1");
        assert_eq!(set(0x40), "0x40");
        assert_eq!(set(0), "0");
    }

    #[test]
    fn enumerations_print_name_and_value() {
        let print =
            |name, value, character| Value::Enumeration { name, value, character }.to_string();
        assert_eq!(print(Some("New"), 0, false), "New(0)");
        assert_eq!(print(Some("Bid"), 0x30, true), "Bid(0)");
        assert_eq!(print(None, 77, false), "?(77)");
        assert_eq!(print(None, 7, true), "?(\\x07)");
        assert_eq!(print(None, 0, true), "?(\\x00)");
    }

    #[test]
    fn ambiguous_text_is_quoted() {
        let print = |text: &[u8]| Value::Text(CharArray::new(text)).to_string();
        assert_eq!(print(b"ESZ0\0"), "ESZ0");
        assert_eq!(print(b"a b"), "\"a b\"");
        assert_eq!(print(b"a=\"b"), "\"a=\\\"b\"");
        assert_eq!(print(b"-"), "\"-\"");
        assert_eq!(print(b"\0"), "-");
        assert_eq!(print(b"\x01"), "\"\\x01\"");
    }
}
