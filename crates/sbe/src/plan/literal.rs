//! Number literals in schema files, and default nulls.

use crate::number::NumberKind;
use crate::schema::SchemaError;
use crate::schema::element::Element;
use alloc::format;

impl NumberKind {
    /// Returns the SBE primitive type with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "char" => Self::Character,
            "int8" => Self::Signed(1),
            "int16" => Self::Signed(2),
            "int32" => Self::Signed(4),
            "int64" => Self::Signed(8),
            "uint8" => Self::Unsigned(1),
            "uint16" => Self::Unsigned(2),
            "uint32" => Self::Unsigned(4),
            "uint64" => Self::Unsigned(8),
            "float" => Self::Single,
            "double" => Self::Double,
            _ => return None,
        })
    }

    /// Parses the number in `text` and returns its bits, zero-extended.
    pub(super) fn literal(self, element: Element<'_, '_>, text: &str) -> Result<u64, SchemaError> {
        let invalid = || element.invalid(format!("value \"{text}\""));
        match (self, text.as_bytes()) {
            (Self::Character, [byte]) => Ok((*byte).into()),
            (Self::Single, _) => {
                text.parse().map(|n: f32| n.to_bits().into()).map_err(|_| invalid())
            }
            (Self::Double, _) => text.parse().map(f64::to_bits).map_err(|_| invalid()),
            _ => {
                let number: i128 = text.parse().map_err(|_| invalid())?;
                let range = self.least()..=self.greatest();
                let bits = number as u64 & self.mask();
                if range.contains(&number) { Ok(bits) } else { Err(invalid()) }
            }
        }
    }

    /// Returns SBE's null of an optional number without `nullValue`.
    pub(super) fn default_null(self) -> u64 {
        match self {
            Self::Character => 0,
            Self::Signed(_) => self.least() as u64 & self.mask(),
            Self::Unsigned(_) => self.mask(),
            Self::Single => f32::NAN.to_bits().into(),
            Self::Double => f64::NAN.to_bits(),
        }
    }

    /// Returns the null of a required number that is newer than its message.
    pub(super) fn implied_null(self) -> Option<u64> {
        match self {
            Self::Character => Some(0),
            Self::Signed(_) | Self::Unsigned(_) => Some(self.greatest() as u64),
            Self::Single | Self::Double => None,
        }
    }

    /// Returns a mask of all bits.
    const fn mask(self) -> u64 {
        u64::MAX >> (64 - 8 * self.size() as u32)
    }

    const fn greatest(self) -> i128 {
        match self {
            Self::Signed(_) => (self.mask() >> 1) as i128,
            _ => self.mask() as i128,
        }
    }

    const fn least(self) -> i128 {
        match self {
            Self::Signed(_) => -self.greatest() - 1,
            _ => 0,
        }
    }
}
