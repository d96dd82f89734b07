//! Decimal numbers as ASCII, without the formatting machinery.

/// The decimal digits of a number, left-aligned in a buffer that holds any u64.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decimal {
    digits: [u8; 20],
    start: usize,
}

impl Decimal {
    /// The digits of `number`, without leading zeros; `0` for zero.
    #[inline]
    pub(crate) fn new(mut number: u64) -> Self {
        let mut digits = [0; 20];
        let mut start = digits.len();
        loop {
            start -= 1;
            digits[start] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return Self { digits, start };
            }
        }
    }

    /// The digits.
    #[inline]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.digits[self.start..]
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
