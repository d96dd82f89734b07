//! Floating-point numbers of IEEE 754: what SBE has and CME does not use.

use core::fmt;

/// A floating-point number, as its bits: two are equal if these are.
///
/// `Display` prints as many digits as tell it from its neighbours, without exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Real {
    /// The bits of an `f32`.
    Single(u32),
    /// The bits of an `f64`.
    Double(u64),
}

impl fmt::Display for Real {
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
    fn prints_the_shortest_digits_of_its_own_size() {
        assert_eq!(Real::Single(1.1_f32.to_bits()).to_string(), "1.1");
        assert_eq!(Real::Double((-0.1_f64).to_bits()).to_string(), "-0.1");
    }
}
