//! Short strings stored inline.

use core::fmt;

/// A string of at most `N` bytes stored inline: a symbol, a group, a currency.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Text<const N: usize>([u8; N]);

impl<const N: usize> Text<N> {
    /// The empty string.
    pub const EMPTY: Self = Self([0; N]);

    /// Returns the bytes up to the first NUL.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        let length = self.0.iter().position(|byte| *byte == 0).unwrap_or(N);
        &self.0[..length]
    }

    /// Returns the string, or an empty one if it is not UTF-8. CME sends ASCII only.
    #[must_use]
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(self.as_bytes()).unwrap_or("")
    }

    /// Creates a string, or `None` if it is longer than `N` bytes.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        (text.len() <= N).then(|| Self::from_bytes(text.as_bytes()))
    }

    /// Creates a string from the first `N` bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let mut text = [0; N];
        let length = bytes.len().min(N);
        text[..length].copy_from_slice(&bytes[..length]);
        Self(text)
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl<const N: usize> PartialEq<str> for Text<N> {
    fn eq(&self, other: &str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl<const N: usize> PartialEq<&str> for Text<N> {
    fn eq(&self, other: &&str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_ends_at_nul_or_capacity() {
        assert_eq!(Text::<4>::from_bytes(b"ES\0X"), "ES");
        assert_eq!(Text::<4>::from_bytes(b"EURUSD").as_str(), "EURU");
        assert_eq!(Text::<4>::from_bytes(b"\xFF").as_str(), "");
        assert!(Text::<4>::EMPTY.as_bytes().is_empty());
        assert_eq!(Text::<4>::new("EURU"), Some(Text::from_bytes(b"EURUSD")));
        assert_eq!(Text::<4>::new("EURUS"), None);
    }
}
