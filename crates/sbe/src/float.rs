//! Decimals with the exponent on the wire.

use crate::decimal::write_decimal;
use core::fmt;

/// A decimal `mantissa × 10^exponent`, exact: CME's `Decimal32NULL` and `Decimal64NULL`. Equality
/// compares the representation, not the value: 1 × 10^1 differs from 10 × 10^0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Float {
    /// The mantissa.
    pub mantissa: i64,
    /// The exponent: a power of ten.
    pub exponent: i8,
}

impl Float {
    pub(crate) const NULL32: Self = Self { mantissa: i32::MAX as i64, exponent: i8::MAX };
    pub(crate) const NULL64: Self = Self { mantissa: i64::MAX, exponent: i8::MAX };
}

impl fmt::Display for Float {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_decimal(f, self.mantissa, self.exponent)
    }
}
