//! Wire prices.

use core::fmt;
use core::ops::{Add, Mul, Sub};
use core::str::FromStr;

use hairpin_feed_handler::Price9;

/// The decimal places of a price.
const PLACES: usize = 9;

/// A wire price: an exact decimal with nine places, as CME sends it and iLink expects it.
///
/// The display price is the wire price times the instrument's DisplayFactor (9787): ES at 4500.25
/// has the wire price 450025. [`Instrument`](crate::Instrument) converts between them.
///
/// Operators saturate. A result out of range is [saturated](Price::is_saturated), stays so in
/// later operations, and is refused by every send.
///
/// ```
/// use hairpin::Price;
///
/// let price: Price = "450025".parse()?;
/// let tick: Price = "25".parse()?;
/// assert_eq!((price - tick * 2).to_string(), "449975");
/// assert!((price * i64::MAX).is_saturated());
/// # Ok::<(), hairpin::ParsePriceError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Price(i64);

/// An error in the text of a wire price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParsePriceError {
    /// The text is empty.
    #[error("cannot parse the price: it is empty")]
    Empty,
    /// The text is not a decimal number, such as `-1.5`.
    #[error("cannot parse the price: not a decimal number")]
    Format,
    /// The text has more than nine decimal places.
    #[error("cannot parse the price: more than nine decimal places")]
    TooManyPlaces,
    /// The price is beyond about 9.2 billion.
    #[error("cannot parse the price: out of range")]
    OutOfRange,
}

impl Price {
    /// The price zero.
    pub const ZERO: Self = Self(0);
    /// The result of an operation above the range.
    const ABOVE: Self = Self(i64::MAX);
    /// The result of an operation below the range.
    const BELOW: Self = Self(i64::MIN);

    /// Creates a price from its mantissa, in units of 10^-9.
    #[inline]
    #[must_use]
    pub const fn from_mantissa(mantissa: i64) -> Self {
        Self(mantissa)
    }

    /// Returns the mantissa, in units of 10^-9.
    #[inline]
    #[must_use]
    pub const fn mantissa(self) -> i64 {
        self.0
    }

    /// Returns `true` if an operation's result was out of range. The largest mantissa is CME's
    /// null value.
    #[inline]
    #[must_use]
    pub const fn is_saturated(self) -> bool {
        self.0 == i64::MAX || self.0 == i64::MIN
    }

    fn from_wide(mantissa: i128) -> Self {
        match i64::try_from(mantissa) {
            Ok(mantissa) => Self(mantissa),
            Err(_) if mantissa > 0 => Self::ABOVE,
            Err(_) => Self::BELOW,
        }
    }
}

impl Add for Price {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        match (self.is_saturated(), other.is_saturated()) {
            (true, _) => self,
            (_, true) => other,
            _ => Self(self.0.saturating_add(other.0)),
        }
    }
}

impl Sub for Price {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        match (self.is_saturated(), other.is_saturated()) {
            (true, _) => self,
            (_, true) if other.0 > 0 => Self::BELOW,
            (_, true) => Self::ABOVE,
            _ => Self(self.0.saturating_sub(other.0)),
        }
    }
}

impl Mul<i64> for Price {
    type Output = Self;

    /// Multiplies by a count, such as a number of ticks.
    fn mul(self, count: i64) -> Self {
        match (self.is_saturated(), self.0 < 0, count < 0) {
            (false, ..) => Self::from_wide(i128::from(self.0) * i128::from(count)),
            (true, is_negative, is_count_negative) if is_negative == is_count_negative => {
                Self::ABOVE
            }
            _ => Self::BELOW,
        }
    }
}

impl FromStr for Price {
    type Err = ParsePriceError;

    /// Parses a wire price such as `450025`, `-0.25` or `1200.000000001`.
    ///
    /// # Errors
    /// [`ParsePriceError`].
    fn from_str(text: &str) -> Result<Self, ParsePriceError> {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text),
        };
        if digits.is_empty() {
            return Err(ParsePriceError::Empty);
        }
        let (whole, places) = match digits.split_once('.') {
            Some((_, "")) => return Err(ParsePriceError::Format),
            Some(parts) => parts,
            None => (digits, ""),
        };
        let is_number = |text: &str| text.bytes().all(|it| it.is_ascii_digit());
        if whole.is_empty() || !is_number(whole) || !is_number(places) {
            return Err(ParsePriceError::Format);
        }
        if places.len() > PLACES {
            return Err(ParsePriceError::TooManyPlaces);
        }
        let mantissa = whole.bytes().chain(places.bytes()).try_fold(0_i128, |mantissa, digit| {
            mantissa.checked_mul(10)?.checked_add(i128::from(digit - b'0'))
        });
        let scale = 10_i128.pow((PLACES - places.len()) as u32);
        let mantissa = mantissa.and_then(|it| it.checked_mul(scale * sign));
        let price = mantissa.map(Self::from_wide).ok_or(ParsePriceError::OutOfRange)?;
        if price.is_saturated() { Err(ParsePriceError::OutOfRange) } else { Ok(price) }
    }
}

impl From<Price9> for Price {
    #[inline]
    fn from(price: Price9) -> Self {
        Self(price.0)
    }
}

impl From<Price> for Price9 {
    #[inline]
    fn from(price: Price) -> Self {
        Self(price.0)
    }
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Price9::from(*self), f)
    }
}

impl fmt::Debug for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Price({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn price(text: &str) -> Result<Price, ParsePriceError> {
        text.parse()
    }

    #[test]
    fn parses_exactly_nine_places() {
        for (text, mantissa) in [
            ("0", 0),
            ("-0.25", -250_000_000),
            ("450025", 450_025_000_000_000),
            ("1200.000000001", 1_200_000_000_001),
            ("9223372036.854775806", i64::MAX - 1),
            ("-9223372036.854775807", i64::MIN + 1),
        ] {
            assert_eq!(price(text), Ok(Price(mantissa)), "{text}");
        }
    }

    #[test]
    fn rejects_what_is_not_a_price() {
        for (text, error) in [
            ("", ParsePriceError::Empty),
            ("-", ParsePriceError::Empty),
            ("NaN", ParsePriceError::Format),
            ("inf", ParsePriceError::Format),
            ("1e9", ParsePriceError::Format),
            ("+1", ParsePriceError::Format),
            ("1.", ParsePriceError::Format),
            (".1", ParsePriceError::Format),
            ("1.2.3", ParsePriceError::Format),
            ("--1", ParsePriceError::Format),
            ("1.0000000001", ParsePriceError::TooManyPlaces),
            ("9223372036.854775807", ParsePriceError::OutOfRange),
            ("-9223372036.854775808", ParsePriceError::OutOfRange),
            ("99999999999999999999999999999999999999999", ParsePriceError::OutOfRange),
        ] {
            assert_eq!(price(text), Err(error), "{text}");
        }
    }

    #[test]
    fn operators_saturate_and_stay_saturated() {
        let (max, one, none) = (Price(i64::MAX - 1), Price(1), 0);
        assert!((max + one).is_saturated() && (max + one - one).is_saturated());
        assert!((Price(i64::MIN + 1) - one).is_saturated());
        assert!((max * 2).is_saturated() && (max * 2 * none).is_saturated());
        assert_eq!(max * 2 * -1, Price(i64::MIN));
        assert_eq!(one - max * 2, Price(i64::MIN));
        assert!(!max.is_saturated());
    }

    proptest! {
        #[test]
        fn printed_prices_parse_back(mantissa in i64::MIN + 1..i64::MAX) {
            prop_assert_eq!(price(&Price(mantissa).to_string()), Ok(Price(mantissa)));
        }

        #[test]
        fn operators_are_exact_in_range(a in -1_i64 << 40..1 << 40, b in -1_i64 << 20..1 << 20) {
            prop_assert_eq!((Price(a) + Price(b)).mantissa(), a + b);
            prop_assert_eq!((Price(a) - Price(b)).mantissa(), a - b);
            prop_assert_eq!((Price(a) * b).mantissa(), a * b);
        }
    }
}
