//! The factor by which the long tests of the workspace are scaled.

use std::env;

/// The variable that contains the factor.
const VARIABLE: &str = "HAIRPIN_TEST_SCALE";

/// Returns how often a long test repeats its loop: `count` times the factor in
/// `HAIRPIN_TEST_SCALE`.
///
/// `count` is the number of seeds, kills or repetitions that CI runs: large enough for the test to
/// find what it exists for, and for every class of its census to occur. The factor is a whole
/// number from 1 (the default) upwards, so no run has fewer repetitions than CI.
///
/// # Panics
/// If the variable is set to anything but a whole number of at least 1.
///
/// ```
/// for seed in 0..hairpin_testbed::scaled(20) {
///     println!("seed {seed}");
/// }
/// ```
#[must_use]
pub fn scaled(count: u64) -> u64 {
    let factor = env::var(VARIABLE).unwrap_or_else(|_| "1".to_owned());
    count.saturating_mul(parse_factor(&factor))
}

fn parse_factor(text: &str) -> u64 {
    match text.parse() {
        Ok(factor) if factor > 0 => factor,
        _ => panic!("cannot scale the tests: {VARIABLE} is '{text}', not a whole number above 0"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_whole_factors() {
        assert_eq!(parse_factor("1"), 1);
        assert_eq!(parse_factor("100"), 100);
    }

    #[test]
    #[should_panic(expected = "HAIRPIN_TEST_SCALE is '0'")]
    fn rejects_zero() {
        parse_factor("0");
    }

    #[test]
    #[should_panic(expected = "HAIRPIN_TEST_SCALE is '1.5'")]
    fn rejects_fractions() {
        parse_factor("1.5");
    }
}
