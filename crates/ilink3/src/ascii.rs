//! ASCII decimal digits of integers, without `core::fmt`.

/// The smallest number with nine digits.
const NINE_DIGITS: u64 = 100_000_000;
/// Eight ASCII `0` characters.
const ZEROS: u64 = u64::from_le_bytes(*b"00000000");

/// The decimal digits of a `u64`, left-aligned and NUL-padded. Twenty digits hold any `u64`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decimal {
    pub(crate) digits: [u8; 20],
    length: usize,
}

impl Decimal {
    /// Formats `number` without leading zeros; zero becomes `0`.
    #[inline]
    pub(crate) fn new(number: u64) -> Self {
        if number >= NINE_DIGITS {
            return Self::long(number);
        }
        let places = eight_places(number);
        // Bit 56 marks the last place, so that zero still yields one digit.
        let leading_zeros = (places | 1 << 56).trailing_zeros() / 8;
        let mut digits = [0; 20];
        digits[..8].copy_from_slice(&((places | ZEROS) >> (8 * leading_zeros)).to_le_bytes());
        Self { digits, length: 8 - leading_zeros as usize }
    }

    /// Formats a number with more than eight digits.
    fn long(number: u64) -> Self {
        let Self { mut digits, length } = Self::new(number / NINE_DIGITS);
        let last = eight_places(number % NINE_DIGITS) | ZEROS;
        digits[length..length + 8].copy_from_slice(&last.to_le_bytes());
        Self { digits, length: length + 8 }
    }

    /// Returns the digits without padding.
    #[inline]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.digits[..self.length]
    }
}

/// Splits a number below 10⁸ into eight decimal places, one per byte, most significant first in
/// memory order (little-endian).
///
/// Splits all parts in half at once, three times (SWAR). Each quotient is a multiplication by the
/// reciprocal and a shift. The mask clears the bits shifted in from the next part.
#[inline]
const fn eight_places(number: u64) -> u64 {
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((fours * 5_243) >> 19) & 0x0000_007F_0000_007F;
    let twos = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((twos * 103) >> 10) & 0x000F_000F_000F_000F;
    tens | ((twos - 10 * tens) << 8)
}

/// Returns `true` if every byte is printable ASCII, 32 to 126, as CME's text fields require.
pub(crate) fn is_printable(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, 32..=126))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    #[test]
    fn formats_numbers_of_every_length_like_std() {
        let mut number = 0_u64;
        loop {
            for near in [number.saturating_sub(1), number, number.saturating_add(1)] {
                assert_eq!(Decimal::new(near).as_bytes(), near.to_string().as_bytes());
            }
            match number.checked_mul(10) {
                Some(next) => number = next.max(1),
                None => break,
            }
        }
        assert_eq!(Decimal::new(u64::MAX).as_bytes(), b"18446744073709551615");
    }

    #[test]
    fn formats_every_digit_position() {
        for number in (0..20_000).chain((20_000..NINE_DIGITS).step_by(4_999)) {
            assert_eq!(Decimal::new(number).as_bytes(), number.to_string().as_bytes());
        }
    }
}
