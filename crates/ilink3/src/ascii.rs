//! Decimal numbers as ASCII, without the formatting machinery.

/// The digits of every number below 100, two each: halves the divisions of [`Decimal::new`].
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
};

/// The decimal digits of a number, left-aligned and NUL-padded: any u64 fits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decimal {
    pub(crate) digits: [u8; 20],
    length: usize,
}

impl Decimal {
    /// The digits of `number`, without leading zeros; `0` for zero.
    #[inline]
    pub(crate) fn new(mut number: u64) -> Self {
        let length = number.checked_ilog10().map_or(1, |log| log as usize + 1);
        let mut digits = [0; 20];
        let mut end = length;
        while end > 2 {
            end -= 2;
            digits[end..end + 2].copy_from_slice(&PAIRS[(number % 100) as usize]);
            number /= 100;
        }
        match end {
            2 => digits[..2].copy_from_slice(&PAIRS[number as usize % 100]),
            _ => digits[0] = b'0' + number as u8,
        }
        Self { digits, length }
    }

    /// The digits.
    #[inline]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.digits[..self.length]
    }
}

/// Whether every byte is printable ASCII, 32 to 126: all that CME's text fields may carry.
pub(crate) fn is_printable(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, 32..=126))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    #[test]
    fn prints_every_length_of_number_like_the_standard_library() {
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
}
