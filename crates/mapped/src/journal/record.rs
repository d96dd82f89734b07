//! What a record says of itself, and where it is.

use hairpin_time::{Instant, Now, Utc};

use super::format::RECORD_HEADER;

/// Which way a message went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Direction {
    /// Ours, a business message: committed before its first byte is on the wire.
    Outbound = 1,
    /// Theirs: committed before its callback, [marked](crate::Journal::mark) after it.
    Inbound = 2,
    /// Ours, what keeps the session: the newest says who we are, and is repeated at the beginning
    /// of every segment, so that it outlives the segments that are dropped.
    Control = 3,
}

impl Direction {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Outbound, Self::Inbound, Self::Control];

    /// Its place in a table of all.
    #[inline]
    pub(super) const fn index(self) -> usize {
        self as usize - 1
    }

    pub(super) const fn of_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::Outbound),
            2 => Some(Self::Inbound),
            3 => Some(Self::Control),
            _ => None,
        }
    }
}

/// What stands in a record's header beside its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tag {
    /// Which way it went.
    pub direction: Direction,
    /// The caller's own: tells kinds of records apart.
    pub kind: u16,
    /// The number of the message in its stream; 0 if it has none.
    pub seq_num: u32,
    /// The session (UUID) that number belongs to; 0 if none.
    pub uuid: u64,
    /// When it was committed.
    pub now: Now,
}

impl Tag {
    /// A tag of kind 0.
    #[inline]
    #[must_use]
    pub const fn new(direction: Direction, uuid: u64, seq_num: u32, now: Now) -> Self {
        Self { direction, kind: 0, seq_num, uuid, now }
    }
}

impl Default for Tag {
    /// Outbound, and zero in all the rest.
    fn default() -> Self {
        let now = Now { monotonic: Instant::ZERO, utc: Utc::from_nanos(0) };
        Self::new(Direction::Outbound, 0, 0, now)
    }
}

/// A committed record: where it is in its journal, how long, and of what kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    pub(super) segment: u32,
    pub(super) offset: u32,
    pub(super) length: u32,
    pub(super) kind: u16,
    pub(super) direction: Direction,
}

impl Record {
    /// A handle of a storage of one's own: the place is its business, as long as `offset` says it
    /// all or `segment` is used too.
    #[must_use]
    pub const fn new(segment: u32, offset: u32, length: u32, tag: &Tag) -> Self {
        Self { segment, offset, length, kind: tag.kind, direction: tag.direction }
    }

    /// The number of the segment it is in, the first being 1.
    #[must_use]
    pub const fn segment(self) -> u32 {
        self.segment
    }

    /// Bytes from the start of the segment to the record's header; always a multiple of 8.
    #[must_use]
    pub const fn offset(self) -> usize {
        self.offset as usize
    }

    /// Bytes of payload.
    #[must_use]
    pub const fn length(self) -> usize {
        self.length as usize
    }

    /// The caller's own number, from its [`Tag`]; else 0.
    #[must_use]
    pub const fn kind(self) -> u16 {
        self.kind
    }

    /// Which way it went.
    #[must_use]
    pub const fn direction(self) -> Direction {
        self.direction
    }

    /// Where it ends, in the order of the journal.
    pub(super) const fn end(self) -> u64 {
        position(self.segment, self.next())
    }

    /// The offset of the record behind it.
    pub(super) const fn next(self) -> usize {
        behind(self.offset(), self.length())
    }

    /// Whether it ends at `end` or before. Where `end` is a multiple of 8, so does its padding.
    #[inline]
    pub(super) const fn lies_before(self, end: usize) -> bool {
        self.offset() + self.length() + RECORD_HEADER <= end
    }
}

/// The offset of what is behind a record of so many bytes.
#[inline]
pub(super) const fn behind(offset: usize, length: usize) -> usize {
    // As `next_multiple_of`, without its branch.
    (offset + RECORD_HEADER + 7 + length) & !7
}

/// A place in the journal, as one number that rises.
pub(super) const fn position(segment: u32, offset: usize) -> u64 {
    (segment as u64) << 32 | offset as u64
}
