//! Decimals with a constant exponent from the schema.

use core::fmt;

/// A decimal `mantissa × 10^EXPONENT`, exact. CME's prices are `Decimal<-9>`.
///
/// Ordered by value. `Display` prints all significant digits and no others: `59.5`, `-0.000000001`,
/// `1200` for `Decimal::<2>(12)`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Decimal<const EXPONENT: i8>(
    /// The mantissa: the value in units of `10^EXPONENT`.
    pub i64,
);

impl<const EXPONENT: i8> Decimal<EXPONENT> {
    /// The constant exponent.
    pub const EXPONENT: i8 = EXPONENT;
}

impl<const EXPONENT: i8> fmt::Display for Decimal<EXPONENT> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_decimal(f, self.0, EXPONENT)
    }
}

impl<const EXPONENT: i8> fmt::Debug for Decimal<EXPONENT> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_decimal(f, self.0, EXPONENT)
    }
}

/// Prints `mantissa × 10^exponent` in plain notation: no exponent, no trailing zeros after the
/// point, at most 147 characters.
pub(crate) fn write_decimal(
    f: &mut fmt::Formatter<'_>,
    mantissa: i64,
    exponent: i8,
) -> fmt::Result {
    // A sign, up to 128 places and 19 digits fit for every exponent.
    let mut text = [b'0'; 160];
    let mut digits = mantissa.unsigned_abs();
    let mut places = usize::from(exponent.min(0).unsigned_abs());
    while places > 0 && digits.is_multiple_of(10) {
        digits /= 10;
        places -= 1;
        if digits == 0 {
            places = 0;
        }
    }
    let mut start = text.len();
    let zeros = if digits == 0 { 0 } else { usize::from(exponent.max(0).unsigned_abs()) };
    start -= zeros;
    let mut written = 0;
    while digits > 0 || written <= places {
        if written == places && places > 0 {
            start -= 1;
            text[start] = b'.';
        }
        start -= 1;
        text[start] = b'0' + (digits % 10) as u8;
        digits /= 10;
        written += 1;
    }
    if mantissa < 0 {
        start -= 1;
        text[start] = b'-';
    }
    f.write_str(core::str::from_utf8(&text[start..]).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    #[test]
    fn prints_exactly_without_trailing_zeros() {
        assert_eq!(Decimal::<-9>(0).to_string(), "0");
        assert_eq!(Decimal::<-9>(1).to_string(), "0.000000001");
        assert_eq!(Decimal::<-9>(-1).to_string(), "-0.000000001");
        assert_eq!(Decimal::<-9>(15_230_250_000_000).to_string(), "15230.25");
        assert_eq!(Decimal::<-9>(-100_000_000_000).to_string(), "-100");
        assert_eq!(Decimal::<-9>(10_000_000_000).to_string(), "10");
        assert_eq!(Decimal::<0>(10).to_string(), "10");
        assert_eq!(Decimal::<3>(-12).to_string(), "-12000");
        assert_eq!(Decimal::<3>(0).to_string(), "0");
        assert_eq!(Decimal::<-9>(i64::MIN).to_string(), "-9223372036.854775808");
        assert_eq!(Decimal::<-128>(1).to_string().len(), 130);
        assert_eq!(Decimal::<127>(i64::MIN).to_string().len(), 147);
    }

    proptest! {
        #[test]
        fn printed_digits_parse_back_to_the_mantissa(mantissa: i64) {
            let text = Decimal::<-9>(mantissa).to_string();
            let (whole, places) = text.split_once('.').unwrap_or((&text, ""));
            prop_assert!(!places.ends_with('0') && !places.is_empty() || !text.contains('.'));
            let digits = alloc::format!("{whole}{places:0<9}");
            prop_assert_eq!(digits.parse::<i128>().unwrap(), i128::from(mantissa));
        }
    }
}
