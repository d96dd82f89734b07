//! The options of a TCP segment.

use crate::Error;

/// An option of a TCP segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TcpOption<'a> {
    /// Kind 2: the maximum segment size in bytes (RFC 9293 §3.7.1).
    MaximumSegmentSize(u16),
    /// Kind 3: the window scale (RFC 7323 §2.2).
    WindowScale(u8),
    /// Kind 4: selective acknowledgments are permitted (RFC 2018 §2).
    SackPermitted,
    /// Kind 5: a selective acknowledgment, with the blocks received out of order (RFC 2018 §3).
    Sack(SackBlocks<'a>),
    /// Kind 8: timestamps, the sender's and the last one received (RFC 7323 §3.2).
    Timestamps {
        /// The sender's timestamp (TSval).
        value: u32,
        /// The echoed timestamp (TSecr).
        echo: u32,
    },
    /// Another kind, or one of these with an unexpected length.
    Other {
        /// The kind.
        kind: u8,
        /// The data after kind and length.
        data: &'a [u8],
    },
}

/// The blocks of a selective acknowledgment: left edge, right edge (RFC 2018 §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SackBlocks<'a>(&'a [[u8; 8]]);

impl SackBlocks<'_> {
    /// Iterates over the blocks in option order; at most four fit in a segment.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u32, u32)> {
        self.0.iter().map(|&[a, b, c, d, e, f, g, h]| {
            (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]))
        })
    }
}

impl TcpOption<'_> {
    /// Writes the option to the front of `bytes` and returns its length, without padding.
    ///
    /// # Errors
    /// [`Error::TooShort`] if the option does not fit in `bytes`, or in any option.
    pub fn write(&self, bytes: &mut [u8]) -> Result<usize, Error> {
        let mut writer = Writer { bytes, length: 0 };
        match *self {
            Self::MaximumSegmentSize(size) => writer.put(&[2, 4])?.put(&size.to_be_bytes())?,
            Self::WindowScale(shift) => writer.put(&[3, 3, shift])?,
            Self::SackPermitted => writer.put(&[4, 2])?,
            Self::Sack(SackBlocks(blocks)) => writer.put_sized(5, blocks.as_flattened())?,
            Self::Timestamps { value, echo } => {
                writer.put(&[8, 10])?.put(&value.to_be_bytes())?.put(&echo.to_be_bytes())?
            }
            Self::Other { kind, data } => writer.put_sized(kind, data)?,
        };
        Ok(writer.length)
    }
}

struct Writer<'a> {
    bytes: &'a mut [u8],
    length: usize,
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<&mut Self, Error> {
        let end = self.length + bytes.len();
        self.bytes.get_mut(self.length..end).ok_or(Error::TooShort)?.copy_from_slice(bytes);
        self.length = end;
        Ok(self)
    }

    fn put_sized(&mut self, kind: u8, data: &[u8]) -> Result<&mut Self, Error> {
        let length = u8::try_from(data.len() + 2).map_err(|_| Error::TooShort)?;
        self.put(&[kind, length])?.put(data)
    }
}

/// An iterator over the options of a segment. It ends at the first invalid option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpOptions<'a>(&'a [u8]);

impl<'a> TcpOptions<'a> {
    /// Creates an iterator over the options in these bytes.
    #[must_use]
    #[inline]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes that are not yet read.
    #[must_use]
    #[inline]
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.0
    }
}

impl<'a> Iterator for TcpOptions<'a> {
    type Item = Result<TcpOption<'a>, Error>;

    /// Returns the next option. After an error (an invalid length) returns `None`.
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (&kind, rest) = self.0.split_first()?;
            self.0 = rest;
            match kind {
                0 => self.0 = &[],
                1 => {}
                kind => return Some(self.sized(kind)),
            }
        }
    }
}

impl<'a> TcpOptions<'a> {
    fn sized(&mut self, kind: u8) -> Result<TcpOption<'a>, Error> {
        let rest = core::mem::take(&mut self.0);
        let (&length, rest) = rest.split_first().ok_or(Error::HeaderLength)?;
        let length = usize::from(length).checked_sub(2).ok_or(Error::HeaderLength)?;
        let (data, rest) = rest.split_at_checked(length).ok_or(Error::HeaderLength)?;
        self.0 = rest;
        Ok(match (kind, data) {
            (2, &[a, b]) => TcpOption::MaximumSegmentSize(u16::from_be_bytes([a, b])),
            (3, &[shift]) => TcpOption::WindowScale(shift),
            (4, &[]) => TcpOption::SackPermitted,
            (8, &[a, b, c, d, e, f, g, h]) => TcpOption::Timestamps {
                value: u32::from_be_bytes([a, b, c, d]),
                echo: u32::from_be_bytes([e, f, g, h]),
            },
            (5, data) if !data.is_empty() && data.len() % 8 == 0 => {
                TcpOption::Sack(SackBlocks(data.as_chunks().0))
            }
            _ => TcpOption::Other { kind, data },
        })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::*;

    #[test]
    fn reads_and_writes_linux_syn() {
        // mss 1460, sackOK, TS val 0x01020304 ecr 0, nop, wscale 7
        let bytes = [2, 4, 5, 0xB4, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 1, 3, 3, 7];
        let options: Vec<_> = TcpOptions::new(&bytes).map(Result::unwrap).collect();
        let expected = [
            TcpOption::MaximumSegmentSize(1_460),
            TcpOption::SackPermitted,
            TcpOption::Timestamps { value: 0x0102_0304, echo: 0 },
            TcpOption::WindowScale(7),
        ];
        assert_eq!(options, expected);
        let mut written = [1; 20];
        let mut at = 0;
        for option in options {
            at += usize::from(at == 16);
            at += option.write(&mut written[at..]).unwrap();
        }
        assert_eq!((written, at), (bytes, 20));
    }

    #[test]
    fn reads_selective_acknowledgment_blocks() {
        let mut bytes = [0; 20];
        bytes[..18].copy_from_slice(&[5, 18, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 1, 0, 0, 0, 2, 0]);
        let mut options = TcpOptions::new(&bytes);
        let Some(Ok(option @ TcpOption::Sack(blocks))) = options.next() else { panic!() };
        assert_eq!(blocks.iter().collect::<Vec<_>>(), [(1, 2), (0x100, 0x200)]);
        assert_eq!(options.next(), None);
        let mut written = [0; 20];
        assert_eq!(option.write(&mut written), Ok(18));
        assert_eq!(written, bytes);
        assert_eq!(option.write(&mut written[..17]), Err(Error::TooShort));
    }

    #[test]
    fn checks_lengths_against_bytes() {
        for bytes in [&[2][..], &[2, 1], &[2, 0], &[2, 5, 1, 1], &[3, 255, 0]] {
            let mut options = TcpOptions::new(bytes);
            assert_eq!(options.next(), Some(Err(Error::HeaderLength)), "{bytes:?}");
            assert_eq!(options.next(), None);
        }
    }

    #[test]
    fn stops_at_end_of_options() {
        assert_eq!(TcpOptions::new(&[1, 1, 0, 3, 3, 7]).next(), None);
        let odd = TcpOption::Other { kind: 5, data: &[1, 2, 3] };
        assert_eq!(TcpOptions::new(&[5, 5, 1, 2, 3]).next(), Some(Ok(odd)));
        let none = TcpOption::Other { kind: 5, data: &[] };
        assert_eq!(TcpOptions::new(&[5, 2]).next(), Some(Ok(none)));
    }
}
