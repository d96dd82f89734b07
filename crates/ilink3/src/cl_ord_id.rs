//! ClOrdID: the client's order id.

use core::fmt;

use crate::ascii::Decimal;

/// ClOrdID (11): the client's own id of an order, 20 bytes of printable ASCII, NUL-padded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClOrdId(pub [u8; 20]);

impl ClOrdId {
    /// Creates an id from `text`. Returns `None` if `text` is empty, longer than 20 bytes or not
    /// printable ASCII.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let mut id = [0; 20];
        let fits = !text.is_empty() && crate::ascii::is_printable(text.as_bytes());
        id.get_mut(..text.len()).filter(|_| fits)?.copy_from_slice(text.as_bytes());
        Some(Self(id))
    }

    /// Returns the text without padding.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        let end = self.0.iter().position(|&byte| byte == 0).unwrap_or(self.0.len());
        &self.0[..end]
    }

    /// Parses the id as the decimal number that [`From<u64>`] writes. Returns `None` for any other
    /// text.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        let digits = self.as_bytes();
        let first = digits.iter().try_fold(0_u64, |number, byte| {
            let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
            number.checked_mul(10)?.checked_add(u64::from(digit))
        });
        first.filter(|_| !digits.is_empty())
    }
}

/// Formats the number in decimal; any `u64` fits in 20 digits.
impl From<u64> for ClOrdId {
    #[inline]
    fn from(number: u64) -> Self {
        Self(Decimal::new(number).digits)
    }
}

impl fmt::Display for ClOrdId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&hairpin_sbe::CharArray::new(&self.0), f)
    }
}

impl fmt::Debug for ClOrdId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClOrdId({self})")
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    #[test]
    fn formats_numbers_as_decimal_digits() {
        for number in [0, 7, 1_234_567_890, u64::MAX] {
            let id = ClOrdId::from(number);
            assert_eq!(id.to_string(), number.to_string());
            assert_eq!(id.number(), Some(number));
        }
        assert_eq!(ClOrdId(*b"18446744073709551616").number(), None);
        assert_eq!(ClOrdId([0; 20]).number(), None);
        assert_eq!(ClOrdId::new("12a").and_then(|id| id.number()), None);
    }

    #[test]
    fn accepts_1_to_20_printable_bytes() {
        assert_eq!(ClOrdId::new("12345678901234567890").unwrap().as_bytes().len(), 20);
        assert_eq!(ClOrdId::new("123456789012345678901"), None);
        assert_eq!(ClOrdId::new(""), None);
        assert_eq!(ClOrdId::new("a\nb"), None);
    }
}
