//! The framing of iLink 3: bytes in pieces to whole frames, and frames to bytes.
//!
//! ```text
//! 0             2              4                        12
//! +-------------+--------------+------------------------+------
//! | MessageSize | EncodingType | SBE message header     | body
//! +-------------+--------------+------------------------+------
//! ```
//! Little-endian throughout; MessageSize counts the whole frame, EncodingType is 0xCAFE.

use core::ops::Range;

use hairpin_sbe::EncodeError;

/// Bytes of MessageSize and EncodingType.
pub(super) const SOFH: usize = 4;

/// The shortest frame: the framing header and the SBE header.
const SHORTEST: usize = SOFH + 8;

/// The longest frame taken from a client: a MassQuote of 255 entries has about 8,000 bytes.
pub(super) const LONGEST: usize = 16 << 10;

/// CME SBE version 1.0, little-endian.
const ENCODING: u16 = 0xCAFE;

/// The framing header is none: nothing behind it can be found any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadFrame;

/// Received bytes until they are whole frames.
#[derive(Debug)]
pub(super) struct Inbound {
    buffer: Box<[u8]>,
    filled: Range<usize>,
    /// The first frame began in a chunk before the last.
    is_split: bool,
}

impl Inbound {
    /// The most bytes that [`Inbound::append`] takes when less than a frame is waiting.
    pub(super) const CHUNK_MAX: usize = 64 << 10;

    pub(super) fn new() -> Self {
        Self { buffer: vec![0; Self::CHUNK_MAX + LONGEST].into(), filled: 0..0, is_split: false }
    }

    pub(super) fn clear(&mut self) {
        self.filled = 0..0;
        self.is_split = false;
    }

    /// Whether the next frame has arrived in more chunks than one.
    pub(super) fn is_split(&self) -> bool {
        self.is_split
    }

    /// Takes as many of `bytes` as there is room for; returns how many.
    pub(super) fn append(&mut self, bytes: &[u8]) -> usize {
        if self.filled.start > 0 {
            self.buffer.copy_within(self.filled.clone(), 0);
            self.filled = 0..self.filled.len();
        }
        self.is_split |= !bytes.is_empty() && self.is_partial();
        let free = &mut self.buffer[self.filled.end..];
        let count = bytes.len().min(free.len());
        free[..count].copy_from_slice(&bytes[..count]);
        self.filled.end += count;
        count
    }

    /// Whether there is something, and less than the first frame.
    fn is_partial(&self) -> bool {
        match &self.buffer[self.filled.clone()] {
            [] => false,
            bytes @ [low, high, ..] => bytes.len() < u16::from_le_bytes([*low, *high]).into(),
            _ => true,
        }
    }

    /// Whether there is less than a frame's worth, so that another chunk is sure to fit.
    pub(super) fn has_room(&self) -> bool {
        self.filled.len() < LONGEST
    }

    /// The next whole frame from its SBE header on, or `None` if it has yet to arrive.
    pub(super) fn next_frame(&mut self) -> Option<Result<&[u8], BadFrame>> {
        let bytes = &self.buffer[self.filled.clone()];
        let &[size_low, size_high, encoding_low, encoding_high, ..] = bytes else { return None };
        let size = usize::from(u16::from_le_bytes([size_low, size_high]));
        let encoding = u16::from_le_bytes([encoding_low, encoding_high]);
        if !(SHORTEST..=LONGEST).contains(&size) || encoding != ENCODING {
            return Some(Err(BadFrame));
        }
        if bytes.len() < size {
            return None;
        }
        let start = self.filled.start;
        self.filled.start += size;
        self.is_split = false;
        Some(Ok(&self.buffer[start + SOFH..start + size]))
    }
}

/// Frames that have yet to leave. A partial write is an offset into it.
#[derive(Debug)]
pub(super) struct Outbound {
    buffer: Box<[u8]>,
    filled: Range<usize>,
}

impl Outbound {
    /// Bytes that may wait for a client that reads slowly.
    const CAPACITY: usize = 256 << 10;

    /// More than any one request is answered with.
    const RESERVE: usize = 8 << 10;

    pub(super) fn new() -> Self {
        Self { buffer: vec![0; Self::CAPACITY].into(), filled: 0..0 }
    }

    pub(super) fn clear(&mut self) {
        self.filled = 0..0;
    }

    /// Whether the answer to one more request is sure to fit.
    pub(super) fn has_room(&self) -> bool {
        self.filled.len() + Self::RESERVE <= Self::CAPACITY
    }

    /// Whether less than half of it waits.
    pub(super) fn is_half_empty(&self) -> bool {
        self.filled.len() < Self::CAPACITY / 2
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[self.filled.clone()]
    }

    /// The first `count` bytes have left.
    pub(super) fn consume(&mut self, count: usize) {
        self.filled.start = (self.filled.start + count).min(self.filled.end);
        if self.filled.is_empty() {
            self.clear();
        }
    }

    /// Appends the message that `encode` writes, from the SBE header on; it returns the length.
    pub(super) fn append(
        &mut self,
        encode: impl FnOnce(&mut [u8]) -> Result<usize, EncodeError>,
    ) -> Result<(), EncodeError> {
        if self.buffer.len() - self.filled.end < Self::RESERVE && self.filled.start > 0 {
            self.buffer.copy_within(self.filled.clone(), 0);
            self.filled = 0..self.filled.len();
        }
        let free = &mut self.buffer[self.filled.end..];
        let (head, body) = free.split_first_chunk_mut::<SOFH>().ok_or(EncodeError::Buffer)?;
        let size = encode(body)? + SOFH;
        // No message of the schema is longer than 16 bits can say.
        head[..2].copy_from_slice(&(size as u16).to_le_bytes());
        head[2..].copy_from_slice(&ENCODING.to_le_bytes());
        self.filled.end += size;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(body: &[u8]) -> Vec<u8> {
        let size = (SHORTEST + body.len()) as u16;
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
    fn refuses_impossible_headers() {
        let long = LONGEST as u16 + 1;
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
    fn takes_no_more_than_it_has_room_for() {
        let mut inbound = Inbound::new();
        let bytes = vec![0; Inbound::CHUNK_MAX + LONGEST + 5];
        assert_eq!(inbound.append(&bytes), bytes.len() - 5);
        assert_eq!(inbound.append(&bytes), 0);
        assert!(!inbound.has_room());
    }

    #[test]
    fn keeps_what_a_partial_write_left() {
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
