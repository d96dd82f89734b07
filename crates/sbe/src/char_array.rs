//! Text of fixed length.

use core::fmt;

/// A character array in wire format: the text up to the first NUL byte, or all bytes.
///
/// The bytes may have any value. `Display` prints printable ASCII unchanged, other bytes as `\xNN`,
/// and a backslash as `\\`, so the output is unambiguous.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CharArray<'a>(&'a [u8]);

impl<'a> CharArray<'a> {
    /// Creates an array from all bytes of a field.
    #[inline]
    pub const fn new(raw: &'a [u8]) -> Self {
        Self(raw)
    }

    /// Returns the text: the bytes up to the first NUL.
    #[inline]
    pub fn as_bytes(&self) -> &'a [u8] {
        let length = self.0.iter().position(|&byte| byte == 0).unwrap_or(self.0.len());
        &self.0[..length]
    }

    /// Returns all bytes of the field, padding included. Required for binary values such as
    /// signatures.
    #[inline]
    pub const fn raw(&self) -> &'a [u8] {
        self.0
    }

    /// Returns `true` if there is no text, which marks an optional text as absent.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.first().is_none_or(|&byte| byte == 0)
    }
}

impl AsRef<[u8]> for CharArray<'_> {
    /// Returns all bytes, like [`raw`](CharArray::raw), so that a setter accepts another message's
    /// field.
    fn as_ref(&self) -> &[u8] {
        self.0
    }
}

impl PartialEq<&str> for CharArray<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl PartialEq<str> for CharArray<'_> {
    fn eq(&self, other: &str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl PartialEq<[u8]> for CharArray<'_> {
    fn eq(&self, other: &[u8]) -> bool {
        self.as_bytes() == other
    }
}

impl PartialEq<&[u8]> for CharArray<'_> {
    fn eq(&self, other: &&[u8]) -> bool {
        self.as_bytes() == *other
    }
}

impl fmt::Display for CharArray<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in self.as_bytes().chunk_by(|a, b| is_plain(*a) && is_plain(*b)) {
            match core::str::from_utf8(part) {
                Ok(text) if part.iter().all(|&byte| is_plain(byte)) => f.write_str(text)?,
                _ => part.iter().try_for_each(|byte| match byte {
                    b'\\' => f.write_str("\\\\"),
                    _ => write!(f, "\\x{byte:02x}"),
                })?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for CharArray<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

/// Returns `true` if the byte prints as itself.
fn is_plain(byte: u8) -> bool {
    (byte.is_ascii_graphic() || byte == b' ') && byte != b'\\'
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn text_ends_at_the_first_nul() {
        let array = CharArray::new(b"ES\0Z");
        assert_eq!(array, "ES");
        assert_eq!(array, b"ES"[..]);
        assert_eq!(array.raw(), b"ES\0Z");
        assert!(CharArray::new(b"\0\0").is_empty() && CharArray::new(b"").is_empty());
        assert_eq!(CharArray::new(b"FULL"), "FULL");
    }

    #[test]
    fn prints_unprintable_bytes_escaped() {
        assert_eq!(CharArray::new(b"a b\xff\x07\\x").to_string(), "a b\\xff\\x07\\\\x");
    }
}
