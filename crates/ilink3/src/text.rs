//! Text in a field of fixed length.

use core::fmt;

use hairpin_sbe::CharArray;

use crate::ascii::is_printable;

/// Printable ASCII in a field of `LENGTH` bytes, NUL-padded. The default is empty: the field's
/// null.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Text<const LENGTH: usize>([u8; LENGTH]);

impl<const LENGTH: usize> Text<LENGTH> {
    /// The empty text: the field's null.
    pub const EMPTY: Self = Self([0; LENGTH]);

    /// Creates a text. Returns `None` if `text` is longer than the field or not printable ASCII.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let mut field = [0; LENGTH];
        let fits = is_printable(text.as_bytes());
        field.get_mut(..text.len()).filter(|_| fits)?.copy_from_slice(text.as_bytes());
        Some(Self(field))
    }
}

impl<const LENGTH: usize> Default for Text<LENGTH> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<const LENGTH: usize> AsRef<[u8]> for Text<LENGTH> {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl<const LENGTH: usize> fmt::Display for Text<LENGTH> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&CharArray::new(&self.0), f)
    }
}

impl<const LENGTH: usize> fmt::Debug for Text<LENGTH> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Text({self})")
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    #[test]
    fn text_is_refused_rather_than_cut() {
        assert_eq!(Text::<3>::new("ABC").map(|it| it.to_string()).as_deref(), Some("ABC"));
        assert_eq!(Text::<3>::new(""), Some(Text::EMPTY));
        assert_eq!((Text::<3>::new("ABCD"), Text::<3>::new("A\n")), (None, None));
        assert_eq!(Text::<3>::new("A").unwrap().as_ref(), b"A\0\0");
    }
}
