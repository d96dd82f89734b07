//! IEEE 754 floating-point numbers, which SBE supports and CME does not use.

use core::fmt;

/// A floating-point number as its bits. Two numbers are equal if their bits are equal.
///
/// `Display` prints the shortest decimal that identifies the number, without exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatingPoint {
    /// The bits of an `f32`.
    Single(u32),
    /// The bits of an `f64`.
    Double(u64),
}

impl fmt::Display for FloatingPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Single(bits) => f32::from_bits(*bits).fmt(f),
            Self::Double(bits) => f64::from_bits(*bits).fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn prints_the_shortest_digits_per_size() {
        assert_eq!(FloatingPoint::Single(1.1_f32.to_bits()).to_string(), "1.1");
        assert_eq!(FloatingPoint::Double((-0.1_f64).to_bits()).to_string(), "-0.1");
    }
}
