//! A forward-only read buffer over a file.

use std::io::{self, Read};

use super::CaptureError;
use super::compression::{Contents, Decompressor};

/// The initial capacity in bytes: about a hundred packets per read(2), and half of a typical L2
/// cache, from which they are then parsed.
const CAPACITY: usize = 1 << 18;
/// The maximum length of a packet or block. The longest written by any known program is a quarter
/// of it; a datagram is 1/256 of it.
pub(super) const LONGEST: usize = 16 << 20;

/// A forward-only window on a file.
#[derive(Debug)]
pub(super) struct Buffer<R> {
    reader: Contents<R>,
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// The offset of `start` in the file.
    consumed: u64,
}

impl<R: Read> Buffer<R> {
    pub(super) fn new(reader: R) -> Self {
        Self::with_contents(Contents::Plain(reader))
    }

    fn with_contents(reader: Contents<R>) -> Self {
        Self { reader, bytes: vec![0; CAPACITY], start: 0, end: 0, consumed: 0 }
    }

    /// Returns a window on the decompressed contents of a file of which nothing was consumed.
    pub(super) fn decompressed(self) -> Self {
        let first = self.unused().to_vec();
        match self.reader {
            Contents::Plain(reader) => {
                let decompressor = Decompressor::new(first, reader);
                Self::with_contents(Contents::Compressed(Box::new(decompressor)))
            }
            Contents::Compressed(_) => self,
        }
    }

    /// Returns the bytes read but not yet consumed.
    #[inline]
    pub(super) fn unused(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Returns the file offset of the first unconsumed byte.
    pub(super) fn offset(&self) -> u64 {
        self.consumed
    }

    /// Consumes the first `count` bytes. They stay in place until the next read.
    #[inline]
    pub(super) fn consume(&mut self, count: usize) {
        debug_assert!(count <= self.unused().len());
        self.start += count;
        self.consumed += count as u64;
    }

    /// Returns consumed bytes, addressed by their distance before the first unconsumed byte.
    #[inline]
    pub(super) fn used(&self, from_end: usize, length: usize) -> &[u8] {
        let from = self.start - from_end;
        &self.bytes[from..from + length]
    }

    /// Reads more bytes. Returns `false` at the end of the file.
    ///
    /// # Errors
    /// [`CaptureError::TooLong`] if the buffer has its maximum length, or the file's errors.
    #[cold]
    pub(super) fn fill(&mut self) -> Result<bool, CaptureError> {
        self.bytes.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end == self.bytes.len() {
            if self.end >= LONGEST {
                return Err(CaptureError::TooLong { at: self.consumed, max: LONGEST });
            }
            self.bytes.resize((2 * self.end).min(LONGEST), 0);
        }
        loop {
            match self.reader.read(&mut self.bytes[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
