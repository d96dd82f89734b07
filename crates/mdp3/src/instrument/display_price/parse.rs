//! The parser of display prices.

use core::fmt;

use super::{DisplayPrice, ONE, PLACES, Style, TextBuffer, digit_count};
use crate::{Definition, Price9};

/// An error in a display price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParsePriceError {
    /// The text is empty.
    Empty,
    /// The text is not a price in the instrument's display format.
    Format,
    /// The text has more digits than the format.
    TooManyDigits,
    /// The price is out of range.
    OutOfRange,
    /// The instrument has no definition, or no known tick.
    NoTick,
    /// The price is between two ticks.
    OffTick {
        /// The nearest price below.
        below: DisplayPrice,
        /// The nearest price above.
        above: DisplayPrice,
    },
}

impl fmt::Display for ParsePriceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot parse the price: ")?;
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::Format => f.write_str("not in the instrument's display format"),
            Self::TooManyDigits => f.write_str("too many digits"),
            Self::OutOfRange => f.write_str("out of range"),
            Self::NoTick => f.write_str("the instrument has no known tick"),
            Self::OffTick { below, above } => write!(f, "off tick, between {below} and {above}"),
        }
    }
}

impl core::error::Error for ParsePriceError {}

impl Definition {
    /// Parses a price in the instrument's display format, such as `4500.25` or `108'185`, and
    /// returns its wire price. The inverse of [`Definition::display_price`] for every price on a
    /// tick. An instrument that is displayed with an apostrophe also accepts a decimal number.
    ///
    /// ```
    /// # use hairpin_mdp3::{Definition, Price9};
    /// # fn parse(ten_year_note: &Definition) {
    /// // MainFraction 32, SubFraction 2, PriceDisplayFormat 3
    /// assert_eq!(ten_year_note.parse_price("108'185"), Ok(Price9(108_578_125_000)));
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ParsePriceError`]. An off-tick price names both neighbors.
    pub fn parse_price(&self, text: &str) -> Result<Price9, ParsePriceError> {
        let (is_negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if digits.is_empty() {
            return Err(ParsePriceError::Empty);
        }
        let style = match self.display_style() {
            Style::Tick { .. } if !digits.contains('\'') => Style::Decimal { decimal_places: 0 },
            style => style,
        };
        let value = style.parse(digits)?;
        let factor = self.effective_factor().unsigned_abs();
        // Truncated digits leave a range of prices; the smallest on a tick is the displayed one.
        let magnitude = value.div_ceil(u128::from(factor));
        let magnitude = i64::try_from(magnitude).map_err(|_| ParsePriceError::OutOfRange)?;
        if magnitude == i64::MAX {
            return Err(ParsePriceError::OutOfRange);
        }
        let is_exact = matches!(style, Style::Decimal { .. });
        let (below, above) =
            self.tick_neighbors(Price9(magnitude)).ok_or(ParsePriceError::NoTick)?;
        let signed = |price: Price9| if is_negative { Price9(-price.0) } else { price };
        let is_meant = match is_exact {
            true => u128::from(above.0.unsigned_abs()) * u128::from(factor) == value,
            false => self.display_price(signed(above)).is(text),
        };
        if is_meant {
            return Ok(signed(above));
        }
        // The range may begin just above a tick: the wire price was rounded up.
        let below = match below == above {
            true => self.add_ticks(below, -1).unwrap_or(below),
            false => below,
        };
        let [low, high] = if is_negative { [signed(above), signed(below)] } else { [below, above] };
        let [below, above] = [low, high].map(|price| self.display_price(price));
        Err(ParsePriceError::OffTick { below, above })
    }
}

impl DisplayPrice {
    /// Returns `true` if the price is displayed as `text`.
    fn is(&self, text: &str) -> bool {
        let mut buffer = TextBuffer { text: [0; 64], length: 0 };
        self.write(&mut buffer);
        &buffer.text[..buffer.length] == text.as_bytes()
    }
}

impl Style {
    /// Returns the smallest value in units of 10^-18 that is displayed as `digits`, rounded up.
    fn parse(self, digits: &str) -> Result<u128, ParsePriceError> {
        let (mark, main) = match self {
            Self::Decimal { .. } => ('.', 0),
            Self::Tick { main, .. } => ('\'', main),
            Self::Point { main, .. } => ('.', main),
        };
        let (whole, fraction) = match digits.split_once(mark) {
            Some((_, "")) => return Err(ParsePriceError::Format),
            Some(parts) => parts,
            None if main > 0 => return Err(ParsePriceError::Format),
            None => (digits, ""),
        };
        let whole = number(whole)?.checked_mul(ONE).ok_or(ParsePriceError::OutOfRange)?;
        let fraction = match self {
            Self::Decimal { .. } => scaled(fraction)?,
            Self::Tick { main, .. } => {
                let (numerator, rest) = split(fraction, digit_count(main))?;
                let value = number(numerator)? * ONE + scaled(rest)?;
                below_one(value.div_ceil(u128::from(main)))?
            }
            Self::Point { main, sub, .. } => {
                let (numerator, rest) = split(fraction, digit_count(main))?;
                let rest = if rest.is_empty() { 0 } else { number(rest)? };
                let value = number(numerator)? * ONE + (rest * ONE).div_ceil(u128::from(sub));
                below_one(value.div_ceil(u128::from(main)))?
            }
        };
        whole.checked_add(fraction).ok_or(ParsePriceError::OutOfRange)
    }
}

fn below_one(value: u128) -> Result<u128, ParsePriceError> {
    if value < ONE { Ok(value) } else { Err(ParsePriceError::Format) }
}

fn split(text: &str, at: usize) -> Result<(&str, &str), ParsePriceError> {
    text.split_at_checked(at).ok_or(ParsePriceError::Format)
}

/// Parses up to 18 digits.
fn number(text: &str) -> Result<u128, ParsePriceError> {
    if text.is_empty() || !text.bytes().all(|it| it.is_ascii_digit()) {
        return Err(ParsePriceError::Format);
    }
    if text.len() > PLACES as usize {
        return Err(ParsePriceError::TooManyDigits);
    }
    text.parse().map_err(|_| ParsePriceError::OutOfRange)
}

/// Parses decimal places in units of 10^-18; nothing is zero.
fn scaled(text: &str) -> Result<u128, ParsePriceError> {
    if text.is_empty() {
        return Ok(0);
    }
    let digits = number(text)?;
    Ok(digits * 10u128.pow(PLACES - text.len() as u32))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::{Details, FixedIncomeDetails};
    use std::format;
    use std::string::ToString;

    fn definition(tick: i64, factor: i64) -> Definition {
        Definition {
            min_price_increment: Some(Price9(tick)),
            display_factor: Price9(factor),
            ..Definition::undefined(7)
        }
    }

    fn fraction(tick: i64, main: u8, sub: u8, digits: u8) -> Definition {
        Definition {
            main_fraction: Some(main),
            sub_fraction: Some(sub),
            price_display_format: Some(digits),
            ..definition(tick, 1_000_000_000)
        }
    }

    /// Definitions of each display format, with their names.
    fn formats() -> [(&'static str, Definition); 8] {
        let bond = |definition: Definition| Definition {
            details: Details::FixedIncome(FixedIncomeDetails {
                issue_date: None,
                maturity_date: None,
                coupon_rate: None,
                par_value: None,
                full_name: crate::Text::EMPTY,
                dated_date: None,
                coupon_frequency_unit: crate::Text::EMPTY,
                coupon_frequency_period: None,
                coupon_day_count: crate::Text::EMPTY,
                country_of_issue: crate::Text::EMPTY,
                issuer: crate::Text::EMPTY,
                security_alt_id: crate::Text::EMPTY,
                security_alt_id_source: None,
            }),
            ..definition
        };
        [
            ("ES", definition(25_000_000_000, 10_000_000)),
            ("6E", definition(50_000_000_000, 10_000)),
            ("whole", definition(1_000_000_000, 1_000_000_000)),
            ("ZN", fraction(15_625_000, 32, 2, 3)),
            ("ZB", fraction(31_250_000, 32, 0, 2)),
            ("ZF", fraction(7_812_500, 32, 4, 3)),
            ("ZC", fraction(250_000_000, 8, 0, 1)),
            ("10Y cash", bond(fraction(3_906_250, 32, 8, 3))),
        ]
    }

    #[test]
    fn ten_thousand_prices_per_format_survive_the_round_trip() {
        for (name, definition) in formats() {
            let tick = definition.min_price_increment.unwrap().0;
            for step in -5_000..5_000_i64 {
                let price = Price9(step * step.signum().max(1) * 7 * tick);
                let text = definition.display_price(price).to_string();
                assert_eq!(definition.parse_price(&text), Ok(price), "{name}: {text}");
            }
        }
    }

    #[test]
    fn off_tick_prices_name_both_neighbors() {
        let [(_, es), .., (_, zn), _, _, _, _] = formats();
        for (definition, text, neighbors) in [
            (&es, "4500.30", "4500.25 and 4500.50"),
            (&es, "-4500.30", "-4500.50 and -4500.25"),
            (&zn, "108'186", "108'185 and 108'190"),
        ] {
            let error = definition.parse_price(text).unwrap_err().to_string();
            assert_eq!(error, format!("cannot parse the price: off tick, between {neighbors}"));
        }
    }

    #[test]
    fn rejects_what_is_not_a_price() {
        let [(_, es), .., (_, zn), _, _, _, _] = formats();
        for (text, error) in [
            ("", ParsePriceError::Empty),
            ("-", ParsePriceError::Empty),
            ("NaN", ParsePriceError::Format),
            ("1e3", ParsePriceError::Format),
            ("+1", ParsePriceError::Format),
            ("1.", ParsePriceError::Format),
            (".5", ParsePriceError::Format),
            ("108'185", ParsePriceError::Format),
            ("0.0000000000000000001", ParsePriceError::TooManyDigits),
            ("9999999999999", ParsePriceError::OutOfRange),
        ] {
            assert_eq!(es.parse_price(text), Err(error), "{text}");
        }
        assert_eq!(zn.parse_price("108'320"), Err(ParsePriceError::Format));
        assert_eq!(zn.parse_price("108.578125"), Ok(Price9(108_578_125_000)));
        assert_eq!(Definition::undefined(7).parse_price("1"), Err(ParsePriceError::NoTick));
    }
}
