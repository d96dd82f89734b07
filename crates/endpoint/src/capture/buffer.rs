//! What has been read of a file and not yet been used.

use std::io::{self, Read};

use super::CaptureError;

/// Bytes held at first: some hundred packets of a usual size with one read(2), and half of a usual
/// second cache, from which they are then parsed.
const CAPACITY: usize = 1 << 18;
/// The longest packet or block. The largest that is written by anybody is a quarter of it, a
/// datagram 1/256.
pub(super) const LONGEST: usize = 16 << 20;

/// A window on a file that only goes forward.
#[derive(Debug)]
pub(super) struct Buffer<R> {
    reader: R,
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes of the file before `start`.
    consumed: u64,
}

impl<R: Read> Buffer<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, bytes: vec![0; CAPACITY], start: 0, end: 0, consumed: 0 }
    }

    /// What has been read and not been used.
    #[inline]
    pub(super) fn unused(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Where that begins, in bytes from the file's start.
    pub(super) fn offset(&self) -> u64 {
        self.consumed
    }

    /// Uses the first `count` bytes, which stay where they are until more is read.
    #[inline]
    pub(super) fn consume(&mut self, count: usize) {
        debug_assert!(count <= self.unused().len());
        self.start += count;
        self.consumed += count as u64;
    }

    /// Bytes by how far they lie before the unused ones.
    #[inline]
    pub(super) fn used(&self, from_end: usize, length: usize) -> &[u8] {
        let from = self.start - from_end;
        &self.bytes[from..from + length]
    }

    /// Reads on behind what is there; false if that was the end of the file.
    ///
    /// # Errors
    /// [`CaptureError::TooLong`] if there is as much as there may be, or the file's.
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
