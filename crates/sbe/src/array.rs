//! Arrays of numbers, which SBE supports and CME does not use.

use crate::Value;
use crate::number::Number;
use core::fmt;

/// An array of numbers in wire format.
///
/// `Display` separates the numbers by commas and prints nulls as `-`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) number: Number,
    pub(crate) null: Option<u64>,
}

impl<'a> Array<'a> {
    /// Returns the numbers; a null is [`Value::Null`].
    pub fn iter(&self) -> impl Iterator<Item = Value<'static>> + use<'a> {
        let Self { bytes, number, null } = *self;
        bytes.chunks_exact(number.kind.size()).map(move |bytes| {
            let bits = number.bits(bytes);
            let is_null = null.is_some_and(|null| number.kind.is_null(bits, null));
            if is_null { Value::Null } else { number.kind.value(bits) }
        })
    }
}

impl fmt::Display for Array<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, value) in self.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { "," })?;
            value.fmt(f)?;
        }
        if self.bytes.is_empty() { f.write_str("-") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::NumberKind;
    use alloc::string::ToString;

    fn number(kind: NumberKind, is_big_endian: bool) -> Number {
        Number { kind, is_big_endian }
    }

    #[test]
    fn prints_commas_and_nulls() {
        let array = |bytes| Array {
            bytes,
            number: number(NumberKind::Unsigned(2), true),
            null: Some(0xffff),
        };
        assert_eq!(array(&[1, 2, 0xff, 0xff, 0, 3]).to_string(), "258,-,3");
        assert_eq!(array(&[]).to_string(), "-");
    }
}
