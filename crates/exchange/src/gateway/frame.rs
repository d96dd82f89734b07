//! The framing of iLink 3: assembles received bytes into frames, and writes frames to send.
//!
//! ```text
//! 0             2              4                        12
//! +-------------+--------------+------------------------+------
//! | MessageSize | EncodingType | SBE message header     | body
//! +-------------+--------------+------------------------+------
//! ```
//! All integers are little-endian. MessageSize counts the whole frame. EncodingType is 0xCAFE.

use core::ops::Range;

use hairpin_sbe::EncodeError;

/// Bytes of MessageSize and EncodingType.
pub(super) const SOFH_LENGTH: usize = 4;

/// The length of the shortest frame: the framing header and the SBE header.
const FRAME_MIN: usize = SOFH_LENGTH + 8;

/// The length of the longest frame accepted from a client. A MassQuote of 255 entries has about
/// 8,000 bytes.
pub(super) const FRAME_MAX: usize = 16 << 10;

/// EncodingType of CME SBE version 1.0, little-endian.
const ENCODING_TYPE: u16 = 0xCAFE;

/// An invalid framing header. The start of the next frame is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadFrame;

/// A receive buffer that assembles frames.
#[derive(Debug)]
pub(super) struct Inbound {
    buffer: Box<[u8]>,
    filled: Range<usize>,
    /// The first frame began in an earlier chunk.
    split: bool,
}

impl Inbound {
    /// The most bytes that [`Inbound::append`] takes while less than a frame is buffered.
    pub(super) const CHUNK_MAX: usize = 64 << 10;

    pub(super) fn new() -> Self {
        Self { buffer: vec![0; Self::CHUNK_MAX + FRAME_MAX].into(), filled: 0..0, split: false }
    }

    pub(super) fn clear(&mut self) {
        self.filled = 0..0;
        self.split = false;
    }

    /// Returns `true` if the next frame arrived in more than one chunk.
    pub(super) fn is_split(&self) -> bool {
        self.split
    }

    /// Appends as many of `bytes` as there is room for, and returns their number.
    pub(super) fn append(&mut self, bytes: &[u8]) -> usize {
        if self.filled.start > 0 {
            self.buffer.copy_within(self.filled.clone(), 0);
            self.filled = 0..self.filled.len();
        }
        self.split |= !bytes.is_empty() && self.is_partial();
        let free = &mut self.buffer[self.filled.end..];
        let count = bytes.len().min(free.len());
        free[..count].copy_from_slice(&bytes[..count]);
        self.filled.end += count;
        count
    }

    /// Returns `true` if the buffer contains a part of a frame, and no whole one.
    fn is_partial(&self) -> bool {
        match &self.buffer[self.filled.clone()] {
            [] => false,
            bytes @ [low, high, ..] => bytes.len() < u16::from_le_bytes([*low, *high]).into(),
            _ => true,
        }
    }

    /// Returns `true` if less than a frame is buffered, so that another chunk fits.
    pub(super) fn has_room(&self) -> bool {
        self.filled.len() < FRAME_MAX
    }

    /// Returns the next whole frame without its framing header, or `None` if it is incomplete.
    pub(super) fn next_frame(&mut self) -> Option<Result<&[u8], BadFrame>> {
        let bytes = &self.buffer[self.filled.clone()];
        let &[size_low, size_high, encoding_low, encoding_high, ..] = bytes else { return None };
        let size = usize::from(u16::from_le_bytes([size_low, size_high]));
        let encoding = u16::from_le_bytes([encoding_low, encoding_high]);
        if !(FRAME_MIN..=FRAME_MAX).contains(&size) || encoding != ENCODING_TYPE {
            return Some(Err(BadFrame));
        }
        if bytes.len() < size {
            return None;
        }
        let start = self.filled.start;
        self.filled.start += size;
        self.split = false;
        Some(Ok(&self.buffer[start + SOFH_LENGTH..start + size]))
    }
}

/// A send buffer of frames. After a partial write it starts in the middle of a frame.
#[derive(Debug)]
pub(super) struct Outbound {
    buffer: Box<[u8]>,
    filled: Range<usize>,
}

impl Outbound {
    /// The size of the buffer for a client that reads slowly.
    const CAPACITY: usize = 256 << 10;

    /// Room for the answer to any single request.
    const RESERVE: usize = 8 << 10;

    pub(super) fn new() -> Self {
        Self { buffer: vec![0; Self::CAPACITY].into(), filled: 0..0 }
    }

    pub(super) fn clear(&mut self) {
        self.filled = 0..0;
    }

    /// Returns `true` if the answer to one more request fits.
    pub(super) fn has_room(&self) -> bool {
        self.filled.len() + Self::RESERVE <= Self::CAPACITY
    }

    /// Returns `true` if less than half of the buffer is used.
    pub(super) fn is_half_empty(&self) -> bool {
        self.filled.len() < Self::CAPACITY / 2
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[self.filled.clone()]
    }

    /// Removes the first `count` bytes, which have been sent.
    pub(super) fn consume(&mut self, count: usize) {
        self.filled.start = (self.filled.start + count).min(self.filled.end);
        if self.filled.is_empty() {
            self.clear();
        }
    }

    /// Appends the message that `encode` writes, starting at the SBE header. `encode` returns the
    /// length.
    pub(super) fn append(
        &mut self,
        encode: impl FnOnce(&mut [u8]) -> Result<usize, EncodeError>,
    ) -> Result<(), EncodeError> {
        if self.buffer.len() - self.filled.end < Self::RESERVE && self.filled.start > 0 {
            self.buffer.copy_within(self.filled.clone(), 0);
            self.filled = 0..self.filled.len();
        }
        let free = &mut self.buffer[self.filled.end..];
        let (head, body) =
            free.split_first_chunk_mut::<SOFH_LENGTH>().ok_or(EncodeError::Buffer)?;
        let size = encode(body)? + SOFH_LENGTH;
        // The longest message of the schema fits in 16 bits.
        head[..2].copy_from_slice(&(size as u16).to_le_bytes());
        head[2..].copy_from_slice(&ENCODING_TYPE.to_le_bytes());
        self.filled.end += size;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(body: &[u8]) -> Vec<u8> {
        let size = (FRAME_MIN + body.len()) as u16;
        [&size.to_le_bytes(), &[0xFE, 0xCA][..], &[7; 8], body].concat()
    }

    #[test]
    fn joins_frames_split_anywhere() {
        let bytes = [frame(b"one"), frame(b""), frame(b"three")].concat();
        for cut in 0..=bytes.len() {
            let mut inbound = Inbound::new();
            let mut bodies = Vec::new();
            for piece in [&bytes[..cut], &bytes[cut..]] {
                assert_eq!(inbound.append(piece), piece.len());
                while let Some(frame) = inbound.next_frame() {
                    bodies.push(frame.unwrap()[8..].to_vec());
                }
            }
            assert_eq!(bodies, [&b"one"[..], b"", b"three"], "cut at {cut}");
        }
    }

    #[test]
    fn rejects_invalid_framing_headers() {
        let long = FRAME_MAX as u16 + 1;
        for head in [[11, 0, 0xFE, 0xCA], [0, 0, 0xFE, 0xCA], [12, 0, 0xCA, 0xFE]] {
            let mut inbound = Inbound::new();
            inbound.append(&head);
            assert_eq!(inbound.next_frame(), Some(Err(BadFrame)), "{head:?}");
        }
        let mut inbound = Inbound::new();
        inbound.append(&[&long.to_le_bytes()[..], &[0xFE, 0xCA]].concat());
        assert_eq!(inbound.next_frame(), Some(Err(BadFrame)));
    }

    #[test]
    fn append_is_limited_by_the_buffer() {
        let mut inbound = Inbound::new();
        let bytes = vec![0; Inbound::CHUNK_MAX + FRAME_MAX + 5];
        assert_eq!(inbound.append(&bytes), bytes.len() - 5);
        assert_eq!(inbound.append(&bytes), 0);
        assert!(!inbound.has_room());
    }

    #[test]
    fn keeps_unsent_bytes_after_a_partial_write() {
        let mut outbound = Outbound::new();
        let write = |text: &'static [u8]| {
            move |buffer: &mut [u8]| {
                buffer[..text.len()].copy_from_slice(text);
                Ok(text.len())
            }
        };
        outbound.append(write(b"abc")).unwrap();
        outbound.append(write(b"de")).unwrap();
        assert_eq!(
            outbound.bytes(),
            [7, 0, 0xFE, 0xCA, b'a', b'b', b'c', 6, 0, 0xFE, 0xCA, b'd', b'e']
        );
        outbound.consume(5);
        assert_eq!(outbound.bytes()[0], b'b');
        outbound.consume(100);
        assert!(outbound.bytes().is_empty());
    }
}
