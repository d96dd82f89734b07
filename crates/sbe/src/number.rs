//! Numbers of either byte order, whose type is known only at run time.
#![cfg_attr(not(feature = "schema"), allow(dead_code, reason = "only plans create these numbers"))]

use crate::{FloatingPoint, Value};

/// The wire format of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    pub(crate) kind: NumberKind,
    pub(crate) is_big_endian: bool,
}

/// The interpretation of a number's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberKind {
    Character,
    /// A signed integer of this number of bytes.
    Signed(u8),
    /// An unsigned integer of this number of bytes.
    Unsigned(u8),
    /// An IEEE 754 number of four bytes.
    Single,
    /// An IEEE 754 number of eight bytes.
    Double,
}

impl NumberKind {
    /// Returns the size in bytes.
    pub(crate) const fn size(self) -> usize {
        match self {
            Self::Character => 1,
            Self::Signed(size) | Self::Unsigned(size) => size as usize,
            Self::Single => 4,
            Self::Double => 8,
        }
    }

    /// Returns `true` for an unsigned integer.
    pub(crate) const fn is_unsigned(self) -> bool {
        matches!(self, Self::Unsigned(_))
    }

    /// Returns the value of these zero-extended bits.
    pub(crate) fn value(self, bits: u64) -> Value<'static> {
        match self {
            Self::Character => Value::Character(bits as u8),
            Self::Signed(_) => Value::Signed(self.signed(bits)),
            Self::Unsigned(_) => Value::Unsigned(bits),
            Self::Single => Value::FloatingPoint(FloatingPoint::Single(bits as u32)),
            Self::Double => Value::FloatingPoint(FloatingPoint::Double(bits)),
        }
    }

    /// Returns the bits, sign-extended if the type is signed.
    pub(crate) const fn signed(self, bits: u64) -> i64 {
        match self {
            Self::Signed(size @ 1..8) => {
                let unused = 64 - 8 * size as u32;
                (bits << unused).cast_signed() >> unused
            }
            _ => bits.cast_signed(),
        }
    }

    /// Returns `true` if the bits equal `null`. If `null` is a NaN, every NaN is null.
    pub(crate) fn is_null(self, bits: u64, null: u64) -> bool {
        bits == null
            || match self {
                Self::Single => {
                    f32::from_bits(null as u32).is_nan() && f32::from_bits(bits as u32).is_nan()
                }
                Self::Double => f64::from_bits(null).is_nan() && f64::from_bits(bits).is_nan(),
                _ => false,
            }
    }
}

impl Number {
    /// Reads the bits from the start of `bytes`, zero-extended. Missing bytes are zero.
    pub(crate) fn bits(self, bytes: &[u8]) -> u64 {
        let bytes = &bytes[..self.kind.size().min(bytes.len())];
        let append = |bits: u64, byte: &u8| bits << 8 | u64::from(*byte);
        if self.is_big_endian {
            bytes.iter().fold(0, append)
        } else {
            bytes.iter().rev().fold(0, append)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(kind: NumberKind, is_big_endian: bool) -> Number {
        Number { kind, is_big_endian }
    }

    #[test]
    fn signs_are_extended_in_either_order() {
        for (kind, bytes, value) in [
            (NumberKind::Signed(1), &[0x80][..], -128),
            (NumberKind::Signed(2), &[0xfe, 0xff], -2),
            (NumberKind::Signed(4), &[0, 0, 0, 0x80], -2_147_483_648),
            (NumberKind::Signed(8), &[255; 8], -1),
            (NumberKind::Signed(8), &[1, 0, 0, 0, 0, 0, 0, 0], 1),
        ] {
            let mut reversed = bytes.to_vec();
            reversed.reverse();
            assert_eq!(kind.signed(number(kind, false).bits(bytes)), value);
            assert_eq!(kind.signed(number(kind, true).bits(&reversed)), value);
        }
        assert_eq!(NumberKind::Unsigned(1).value(0xff), Value::Unsigned(255));
    }

    #[test]
    fn nan_null_matches_every_nan() {
        let nan = u64::from(f32::NAN.to_bits());
        assert!(NumberKind::Single.is_null(nan | 1, nan));
        assert!(!NumberKind::Single.is_null(0, nan));
        let nan = f64::NAN.to_bits();
        assert!(NumberKind::Double.is_null(nan | 1, nan));
        assert!(!NumberKind::Unsigned(8).is_null(nan | 1, nan));
    }
}
