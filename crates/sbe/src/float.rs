//! Decimals that carry their exponent on the wire.

use crate::decimal::write_decimal;
use core::fmt;

/// `mantissa × 10^exponent`, exactly: CME's `Decimal32NULL` and `Decimal64NULL`. Not compared by
/// value: 1 × 10^1 and 10 × 10^0 are different to `==`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Float {
    /// The digits.
    pub mantissa: i64,
    /// The power of ten they are multiplied with.
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
