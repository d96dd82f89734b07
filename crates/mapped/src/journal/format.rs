//! Encoding and decoding of segment and record headers. [`Journal`](super::Journal) documents the
//! layout.

use super::record::{Direction, Record, Tag};
use hairpin_time::{Instant, Now, Utc};

/// "HPJOURNL" as a little-endian number.
const MAGIC: u64 = u64::from_le_bytes(*b"HPJOURNL");
/// The format version. Version 1 was a single segment without directions, sequence numbers and
/// checksums.
const VERSION: u32 = 2;
/// The bytes before the first record: two cache lines, of which the sync thread writes the second.
pub(super) const SEGMENT_HEADER: usize = 128;
/// The bytes of the header that are written once.
pub(super) const FIXED: usize = 64;
/// The offset of the durable mark in a segment.
pub(super) const DURABLE: usize = 64;
/// The bytes before a payload.
pub(super) const RECORD_HEADER: usize = 48;
/// The bytes reserved at the end of a segment for the end-of-segment word.
pub(super) const TAIL: usize = 8;
/// The maximum segment size: offsets have 32 bits.
pub(super) const SEGMENT_MAX: u64 = 1 << 31;
/// The end-of-segment word: the next record is in the next segment.
pub(super) const END: u32 = u32::MAX;
/// The flag of a record copied from the previous segment.
const COPY: u64 = 1 << 56;
/// The mark of an inbound record whose callback has returned.
pub(super) const MARKED: u64 = 1;

/// The header of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SegmentHeader {
    pub(super) number: u32,
    /// The size of the whole segment in bytes.
    pub(super) bytes: u64,
    /// The creation time in nanoseconds since 1970.
    pub(super) created: u64,
    /// The kernel's boot id.
    pub(super) boot: [u8; 16],
}

impl SegmentHeader {
    pub(super) fn encode(&self) -> [u8; FIXED] {
        let mut image = [0; FIXED];
        image[..8].copy_from_slice(&MAGIC.to_le_bytes());
        image[8..12].copy_from_slice(&VERSION.to_le_bytes());
        image[12..16].copy_from_slice(&self.number.to_le_bytes());
        image[16..24].copy_from_slice(&self.bytes.to_le_bytes());
        image[24..32].copy_from_slice(&self.created.to_le_bytes());
        image[32..48].copy_from_slice(&self.boot);
        let checksum = crc32fast::hash(&image[..48]);
        image[48..52].copy_from_slice(&checksum.to_le_bytes());
        image
    }

    /// Decodes a header, or returns the offset of the first invalid byte.
    pub(super) fn decode(image: &[u8; FIXED]) -> Result<Self, u64> {
        let header = Self {
            number: u32::from_le_bytes(part(image, 12)),
            bytes: u64::from_le_bytes(part(image, 16)),
            created: u64::from_le_bytes(part(image, 24)),
            boot: part(image, 32),
        };
        let is_other = |(found, expected)| found != expected;
        match image.iter().zip(&header.encode()).position(is_other) {
            Some(at) => Err(at as u64),
            None => Ok(header),
        }
    }
}

fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|byte| bytes[at + byte])
}

/// A record header as six 64-bit words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header(pub(super) [u64; RECORD_HEADER / 8]);

/// The content at an offset where a record may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// A record.
    Record(Record, Header),
    /// No committed record.
    Empty,
    /// The end of the segment.
    End,
}

impl Header {
    /// Creates the header of a record of `length` bytes, unmarked and without a checksum. `back` is
    /// the offset of the previous record of the same direction, or 0.
    #[inline]
    pub(super) fn new(tag: &Tag, length: usize, back: u32) -> Self {
        let kind = u64::from(tag.kind) << 32 | (tag.direction as u64) << 48;
        Self([
            (RECORD_HEADER + length) as u64,
            u64::from(tag.seq_num) << 32,
            tag.uuid,
            tag.now.utc.as_nanos(),
            tag.now.monotonic.as_nanos(),
            u64::from(back) | kind,
        ])
    }

    /// Creates the header of a copy, with `length` bytes of payload, in the segment after the one
    /// that contains the record at offset `origin`.
    pub(super) fn copy(self, length: usize, origin: u32) -> Self {
        let [_, number, uuid, utc, monotonic, rest] = self.0;
        let word = (RECORD_HEADER + length) as u64;
        let number = number & !0xFFFF_FFFF;
        Self([word, number, uuid, utc, monotonic, rest >> 32 << 32 | COPY | u64::from(origin)])
    }

    pub(super) fn word(self) -> u32 {
        self.0[0] as u32
    }

    pub(super) fn checksum(self) -> u32 {
        (self.0[0] >> 32) as u32
    }

    pub(super) fn is_marked(self) -> bool {
        self.0[1] & MARKED != 0
    }

    pub(super) fn is_copy(self) -> bool {
        self.0[5] & COPY != 0
    }

    pub(super) fn back(self) -> u32 {
        self.0[5] as u32
    }

    pub(super) fn seq_num(self) -> u32 {
        (self.0[1] >> 32) as u32
    }

    pub(super) fn uuid(self) -> u64 {
        self.0[2]
    }

    pub(super) fn utc(self) -> u64 {
        self.0[3]
    }

    /// Returns the tag. `None` if the direction, a flag or the mark is invalid.
    pub(super) fn tag(self) -> Option<Tag> {
        let [_, number, uuid, utc, monotonic, rest] = self.0;
        let is_valid = rest >> 57 == 0 && number as u32 <= MARKED as u32;
        let direction = Direction::from_code((rest >> 48) as u8).filter(|_| is_valid)?;
        let now = Now { monotonic: Instant::from_nanos(monotonic), utc: Utc::from_nanos(utc) };
        Some(Tag { direction, kind: (rest >> 32) as u16, seq_num: self.seq_num(), uuid, now })
    }

    /// Computes the checksum of this record with this payload. The result is never 0, which means
    /// that there is no checksum yet.
    pub(super) fn sum(self, payload: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.word().to_le_bytes());
        hasher.update(&self.seq_num().to_le_bytes());
        self.0[2..].iter().for_each(|word| hasher.update(&word.to_le_bytes()));
        hasher.update(payload);
        hasher.finalize().max(1)
    }

    /// Returns the record that begins with this header at `offset` of a segment of `bytes`, if it
    /// is valid.
    pub(super) fn record(self, segment_id: u32, offset: usize, bytes: usize) -> Option<Record> {
        let tag = self.tag()?;
        let length = self.word().checked_sub(RECORD_HEADER as u32)?;
        let offset = u32::try_from(offset).ok()?;
        let record =
            Record { segment_id, offset, length, kind: tag.kind, direction: tag.direction };
        (record.next() <= bytes - TAIL).then_some(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> SegmentHeader {
        SegmentHeader { number: 7, bytes: 4096, created: 9, boot: [3; 16] }
    }

    #[test]
    fn encodes_documented_segment_header() {
        let image = header().encode();
        assert_eq!(image[..24], *b"HPJOURNL\x02\0\0\0\x07\0\0\0\0\x10\0\0\0\0\0\0");
        assert_eq!(image[24..48], [&[9, 0, 0, 0, 0, 0, 0, 0][..], &[3; 16]].concat());
        assert_eq!(image[48..52], crc32fast::hash(&image[..48]).to_le_bytes());
        assert_eq!(image[52..], [0; 12]);
        assert_eq!(SegmentHeader::decode(&image), Ok(header()));
    }

    #[test]
    fn decode_checks_every_byte_of_segment_header() {
        for at in 0..FIXED {
            let mut image = header().encode();
            image[at] ^= 0x40;
            let offset = SegmentHeader::decode(&image).unwrap_err();
            let is_summed = (12..48).contains(&at) && (48..52).contains(&offset);
            assert!(offset == at as u64 || is_summed, "byte {at}");
        }
    }

    #[test]
    fn encodes_documented_record_header() {
        let now = Now { monotonic: Instant::from_nanos(5), utc: Utc::from_nanos(4) };
        let tag = Tag { direction: Direction::Inbound, kind: 6, seq_num: 2, uuid: 3, now };
        let header = Header::new(&tag, 10, 0x80);
        let inbound = 6 << 32 | 2 << 48 | 0x80;
        assert_eq!(header.0, [58, 2 << 32, 3, 4, 5, inbound]);
        assert_eq!(header.tag(), Some(tag));
        let copy = header.copy(1, 0x90);
        assert_eq!(copy.0, [49, 2 << 32, 3, 4, 5, (inbound ^ 0x80) | 0x90 | 1 << 56]);
        assert!(copy.is_copy() && !header.is_copy());
        assert_eq!(copy.tag(), Some(tag));
    }

    #[test]
    fn rejects_invalid_record_header() {
        let header = Header::new(&Tag::default(), 10, 0);
        assert!(header.record(1, 128, 256).is_some());
        let with = |at: usize, word| {
            let mut changed = header;
            changed.0[at] = word;
            changed.record(1, 128, 256)
        };
        for word in [1, 47, 121, u64::from(u32::MAX) - 1] {
            assert_eq!(with(0, word), None, "{word}");
        }
        assert!(
            with(0, 120).is_some(),
            "the longest record that leaves room for the end-of-segment word"
        );
        assert_eq!(with(1, 2), None, "an invalid mark");
        for rest in [0, 4 << 48, 1 << 48 | 1 << 57] {
            assert_eq!(with(5, rest), None, "{rest:x}");
        }
    }

    #[test]
    fn checksum_0_becomes_1() {
        let header = Header::new(&Tag::default(), 4, 0);
        // The CRC-32 state from which four zero bytes lead to a checksum of 0.
        let payload = (0x9226_F562 ^ !header.sum(b"")).to_le_bytes();
        assert_eq!(header.sum(&payload), 1);
        assert_ne!(header.sum(&[payload[0], payload[1], payload[2], payload[3] ^ 1]), 1);
    }

    #[test]
    fn checksum_covers_all_but_mark() {
        let header = Header::new(&Tag::default(), 3, 0);
        let sum = header.sum(b"abc");
        assert_ne!(sum, header.sum(b"abd"));
        for (at, bits) in [(0, 0..32), (1, 32..64), (2, 0..64), (3, 0..64), (4, 0..64), (5, 0..64)]
        {
            for bit in bits {
                let mut changed = header;
                changed.0[at] ^= 1 << bit;
                assert_ne!(changed.sum(b"abc"), sum, "word {at}, bit {bit}");
            }
        }
        let marked = Header([header.0[0], header.0[1] | MARKED, 0, 0, 0, header.0[5]]);
        assert_eq!(marked.sum(b"abc"), sum);
    }
}
