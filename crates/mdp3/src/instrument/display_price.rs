//! Display prices.
//!
//! A wire price times DisplayFactor (9787) is a decimal price. Some products are displayed in
//! fractions, by three fields of the definition (CME Client Systems Wiki, "Fractional Pricing",
//! page 46170766, "Fractional Pricing - Display Examples", page 46203087, and "Fractional Price
//! Processing for BrokerTec Products", page 457573180):
//!
//! ```text
//! MainFraction (37702)        denominator, 32 for 32nds
//! SubFraction (37703)         denominator of the remainder, 8 for eighths of a 32nd
//! PriceDisplayFormat (9800)   digits after the mark
//!
//!    104.8828125   =   104 + 28/32 + 1/4 of 1/32
//!    104'282           28.25 in three digits, truncated
//! ```
//! Futures and options use an apostrophe as the mark; digits after the main fraction are its
//! decimals. BrokerTec fixed income uses a point; those digits are the numerator of the
//! sub-fraction: `104.282` is 28 32nds and two eighths of one.

mod parse;

use core::fmt;

pub use parse::ParsePriceError;

use crate::{Definition, Details, Price9};

/// The decimal places of `DisplayPrice::value`: those of a price plus those of a factor.
const PLACES: u32 = 18;
const ONE: u128 = 10u128.pow(PLACES);

/// A price in its product's display format, with all its digits. Supports width and alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DisplayPrice {
    /// The price in units of 10^-18.
    value: i128,
    style: Style,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// A decimal number with at least this many decimal places.
    Decimal { decimal_places: u8 },
    /// A fraction; further digits are decimals of its numerator.
    Tick { main: u8, digits: u8 },
    /// A fraction; further digits are the numerator of the sub-fraction.
    Point { main: u8, sub: u8, digits: u8 },
}

/// A buffer for any price: a sign, 39 digits and a mark fit.
struct TextBuffer {
    text: [u8; 64],
    length: usize,
}

impl TextBuffer {
    fn push(&mut self, byte: u8) {
        if let Some(slot) = self.text.get_mut(self.length) {
            *slot = byte;
            self.length += 1;
        }
    }

    /// Writes a number padded with zeros to a width.
    fn push_number(&mut self, number: u128, width: usize) {
        let mut digits = [b'0'; 40];
        let (mut rest, mut start) = (number, digits.len());
        while start > 0 && (rest > 0 || digits.len() - start < width.max(1)) {
            start -= 1;
            digits[start] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        digits[start..].iter().for_each(|digit| self.push(*digit));
    }

    /// Writes the first digits of a fraction of [`ONE`], truncated.
    fn push_fraction(&mut self, fraction: u128, digits: usize) {
        let mut rest = fraction;
        for _ in 0..digits {
            rest *= 10;
            self.push(b'0' + (rest / ONE) as u8);
            rest %= ONE;
        }
    }
}

/// Returns the number of digits of a fraction's numerator.
fn digit_count(denominator: u8) -> usize {
    match denominator {
        0..=10 => 1,
        11..=100 => 2,
        _ => 3,
    }
}

/// Returns the number of decimal places of a fraction of [`ONE`].
fn decimal_places_of(fraction: u128) -> u32 {
    (0..PLACES)
        .find(|decimal_places| fraction.is_multiple_of(10u128.pow(PLACES - decimal_places)))
        .unwrap_or(PLACES)
}

impl DisplayPrice {
    fn write(&self, text: &mut TextBuffer) {
        if self.value < 0 {
            text.push(b'-');
        }
        let value = self.value.unsigned_abs();
        let (whole, fraction) = (value / ONE, value % ONE);
        text.push_number(whole, 1);
        match self.style {
            Style::Decimal { decimal_places } => {
                let decimal_places =
                    decimal_places_of(fraction).max(decimal_places.into()).min(PLACES);
                if decimal_places > 0 {
                    text.push(b'.');
                }
                text.push_fraction(fraction, decimal_places as usize);
            }
            Style::Tick { main, digits } => {
                let numerator = fraction * u128::from(main);
                let width = digit_count(main);
                text.push(b'\'');
                text.push_number(numerator / ONE, width);
                text.push_fraction(numerator % ONE, usize::from(digits).saturating_sub(width));
            }
            Style::Point { main, sub, digits } => {
                let numerator = fraction * u128::from(main);
                let width = digit_count(main);
                text.push(b'.');
                text.push_number(numerator / ONE, width);
                let rest = usize::from(digits).saturating_sub(width);
                if rest > 0 {
                    text.push_number(numerator % ONE * u128::from(sub) / ONE, rest);
                }
            }
        }
    }
}

impl fmt::Display for DisplayPrice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = TextBuffer { text: [0; 64], length: 0 };
        self.write(&mut text);
        f.pad(core::str::from_utf8(&text.text[..text.length]).unwrap_or_default())
    }
}

impl Definition {
    /// Returns a price of this instrument in its display format.
    ///
    /// ```
    /// # use hairpin_mdp3::{Definition, Price9};
    /// # fn show(ten_year_note: &Definition) {
    /// // MainFraction 32, SubFraction 2, PriceDisplayFormat 3
    /// let price = ten_year_note.display_price(Price9(108_578_125_000));
    /// assert_eq!(price.to_string(), "108'185");
    /// # }
    /// ```
    #[must_use]
    pub fn display_price(&self, price: Price9) -> DisplayPrice {
        let value = i128::from(price.0) * i128::from(self.effective_factor());
        DisplayPrice { value, style: self.display_style() }
    }

    /// Returns the display factor in units of 10^-9, or 1 for an instrument without a definition.
    fn effective_factor(&self) -> i64 {
        if self.display_factor.0 > 0 { self.display_factor.0 } else { 1_000_000_000 }
    }

    fn display_style(&self) -> Style {
        let digits = self.price_display_format.unwrap_or(0);
        match (self.main_fraction, &self.details) {
            (Some(main @ 2..), Details::FixedIncome(_)) => {
                Style::Point { main, sub: self.sub_fraction.unwrap_or(1).max(1), digits }
            }
            (Some(main @ 2..), _) => Style::Tick { main, digits },
            (_, Details::Fx(fx)) => Style::Decimal { decimal_places: fx.price_precision },
            _ => Style::Decimal { decimal_places: self.decimal_places() },
        }
    }

    /// Returns the decimal places of a tick or, if ticks vary, of the factor.
    fn decimal_places(&self) -> u8 {
        let factor = i128::from(self.effective_factor());
        let tick = self.min_price_increment.map_or(1_000_000_000, |tick| tick.0);
        let shown = (i128::from(tick) * factor).unsigned_abs();
        decimal_places_of(shown % ONE) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn decimal(text: &str) -> Price9 {
        let (sign, text) = text.strip_prefix('-').map_or((1, text), |text| (-1, text));
        let (whole, decimal_places) = text.split_once('.').unwrap_or((text, ""));
        let decimal_places = alloc::format!("{decimal_places:0<9}");
        Price9(
            sign * (whole.parse::<i64>().unwrap() * 1_000_000_000
                + decimal_places.parse::<i64>().unwrap()),
        )
    }

    fn fraction(main: u8, sub: Option<u8>, digits: u8) -> Definition {
        Definition {
            main_fraction: Some(main),
            sub_fraction: sub,
            price_display_format: Some(digits),
            display_factor: decimal("1"),
            ..Definition::undefined(7)
        }
    }

    #[track_caller]
    fn shows(definition: &Definition, price: &str, shown: &str) {
        assert_eq!(definition.display_price(decimal(price)).to_string(), shown);
    }

    #[test]
    fn shows_treasury_futures_in_32nds() {
        // CME's examples: bond, bond with a finer tick, ten-, five- and two-year note.
        shows(&fraction(32, None, 2), "115.28125", "115'09");
        shows(&fraction(32, Some(2), 3), "115.28125", "115'090");
        shows(&fraction(32, Some(2), 3), "112.625", "112'200");
        shows(&fraction(32, Some(4), 3), "108.109375", "108'035");
        shows(&fraction(32, Some(4), 3), "104.8828125", "104'282");
        shows(&fraction(32, Some(2), 3), "108.578125", "108'185");
        shows(&fraction(32, Some(8), 3), "102.9453125", "102'302");
    }

    #[test]
    fn truncates_excess_digits() {
        shows(&fraction(32, Some(4), 3), "118.5234375", "118'167");
        shows(&fraction(32, Some(8), 3), "109.03515625", "109'011");
        shows(&fraction(32, Some(8), 3), "109.05859375", "109'018");
        shows(&fraction(32, None, 2), "117.9921875", "117'31");
    }

    #[test]
    fn shows_grains_in_eighths() {
        let corn = Definition { display_factor: decimal("0.01"), ..fraction(8, None, 1) };
        shows(&corn, "49825", "498'2");
        shows(&corn, "50000", "500'0");
        shows(&corn, "-25", "-0'2");
    }

    #[test]
    fn shows_brokertec_bonds_with_sub_fraction() {
        let mut bond = fraction(32, Some(8), 3);
        bond.details = Details::FixedIncome(crate::FixedIncomeDetails {
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
        });
        shows(&bond, "100.65625", "100.210");
        shows(&bond, "104.8828125", "104.282");
        shows(&bond, "99.99609375", "99.317");
        bond.sub_fraction = Some(16);
        bond.price_display_format = Some(4);
        shows(&bond, "99.998046875", "99.3115");
        bond.sub_fraction = None;
        bond.price_display_format = Some(2);
        shows(&bond, "99.5", "99.16");
    }

    #[test]
    fn shows_decimals_with_digits_of_tick() {
        let future = |tick: &str, factor: &str| Definition {
            min_price_increment: Some(decimal(tick)),
            display_factor: decimal(factor),
            ..Definition::undefined(7)
        };
        // CME's examples.
        shows(&future("25", "0.01"), "113700", "1137.00");
        shows(&future("0.5", "0.01"), "9886.5", "98.865");
        shows(&future("1", "1"), "41000", "41000");
        shows(&future("25", "0.01"), "113700.5", "1137.005");
        shows(&future("25", "0.01"), "-12.5", "-0.125");
    }

    #[test]
    fn uses_digits_of_factor_for_variable_ticks() {
        let option = Definition { display_factor: decimal("0.01"), ..Definition::undefined(7) };
        shows(&option, "475", "4.75");
        shows(&option, "500", "5.00");
    }

    #[test]
    fn shows_currencies_with_their_precision() {
        let details = Details::Fx(crate::FxDetails {
            currency_symbol: crate::Text::EMPTY,
            price_quote_currency: crate::Text::EMPTY,
            settl_type: crate::Text::EMPTY,
            intervening_days: 2,
            price_precision: 5,
            alt_min_price_increment: None,
            full_name: crate::Text::EMPTY,
            benchmark_rate_fix: crate::Text::EMPTY,
            rate_source: crate::Text::EMPTY,
            fix_rate_local_time: crate::Text::EMPTY,
            fix_rate_local_time_zone: crate::Text::EMPTY,
            min_quote_life: 0,
            max_price_discretion_offset: Price9(0),
            settlement_locale: crate::Text::EMPTY,
            alt_min_quote_life: None,
            alt_price_increment_constraint: None,
            max_bid_ask_constraint: None,
        });
        let definition = Definition { display_factor: decimal("1"), ..Definition::undefined(7) };
        shows(&Definition { details, ..definition }, "1.085", "1.08500");
    }

    #[test]
    fn shows_wire_price_without_definition() {
        shows(&Definition::undefined(7), "1137.25", "1137.25");
    }

    #[test]
    fn extreme_wire_prices_fit_buffer() {
        for main in [0, 1, 2, 255] {
            let mut definition = fraction(main, Some(255), 255);
            definition.display_factor = Price9(i64::MAX);
            for price in [i64::MIN, -1, 0, 1, i64::MAX] {
                let shown = definition.display_price(Price9(price)).to_string();
                assert!(shown.len() <= 64, "{shown}");
            }
        }
    }

    #[test]
    fn prints_into_any_width() {
        let price = fraction(32, None, 2).display_price(decimal("115.28125"));
        assert_eq!(alloc::format!("[{price:>8}|{price:<8}]"), "[  115'09|115'09  ]");
    }
}
