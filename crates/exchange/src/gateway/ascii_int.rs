//! Decimal integers as ASCII text, without allocation.

/// The decimal digits of an integer.
#[derive(Debug, Clone, Copy)]
pub(super) struct AsciiInt {
    text: [u8; Self::MAX],
    start: usize,
}

impl AsciiInt {
    /// The number of digits of `u64::MAX`.
    const MAX: usize = 20;

    pub(super) fn new(number: u64) -> Self {
        let mut digits = Self { text: [b'0'; Self::MAX], start: Self::MAX };
        let mut rest = number;
        loop {
            digits.start -= 1;
            // A digit fits in a byte.
            digits.text[digits.start] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                return digits;
            }
        }
    }
}

impl AsRef<[u8]> for AsciiInt {
    fn as_ref(&self) -> &[u8] {
        &self.text[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_all_digits() {
        for number in [0, 7, 10, 1_700_000_000, u64::MAX] {
            assert_eq!(AsciiInt::new(number).as_ref(), number.to_string().as_bytes());
        }
    }
}
