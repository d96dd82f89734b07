//! Tokens that are values: prices, times and dates.

use hairpin_order_entry::{Decimal, Price9};
use hairpin_time::Duration;
use jiff::civil::{Date, date};

/// The most digits after the decimal point of a price.
const PRICE_DIGITS: usize = 9;

/// Parses a decimal number with up to nine digits after the point.
pub(crate) fn price(text: &str) -> Option<Price9> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || fraction.len() > PRICE_DIGITS {
        return None;
    }
    let fraction: i64 = format!("{fraction:0<PRICE_DIGITS$}").parse().ok()?;
    let whole: i64 = whole.parse().ok()?;
    let mantissa = whole.checked_mul(1_000_000_000)?.checked_add(fraction)?;
    Some(Decimal(sign * mantissa))
}

/// Parses a number and its unit.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let digits = text.find(|character: char| !character.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let nanos = match unit {
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(nanos).map(Duration::from_nanos)
}

/// Returns the days from the epoch to a date; the last number means no date.
pub(super) fn days(text: &str) -> Option<u16> {
    let until: Date = text.parse().ok()?;
    let days = date(1970, 1, 1).until(until).ok()?.get_days();
    u16::try_from(days).ok().filter(|&days| days < u16::MAX)
}
