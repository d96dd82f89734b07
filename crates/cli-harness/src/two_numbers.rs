//! Two numbers in one argument.

use std::str::FromStr;

/// Parses two whole numbers separated by a comma; an error names the wrong one, and `expected`.
pub fn parse_two<T: FromStr>(text: &str, expected: &str) -> Result<(T, T), String> {
    let number = |text: &str| {
        let text = text.trim();
        text.parse().map_err(|_| format!("'{text}' is not a whole number; expected {expected}"))
    };
    let (first, second) = text.split_once(',').ok_or_else(|| format!("expected {expected}"))?;
    Ok((number(first)?, number(second)?))
}
