//! Record handles, tags and directions.

use hairpin_time::{Instant, Now, Utc};

use super::format::RECORD_HEADER;

/// The direction of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Direction {
    /// An outbound business message, committed before its first byte is sent.
    Outbound = 1,
    /// An inbound message, committed before its callback and [marked](crate::Journal::mark) after
    /// it.
    Inbound = 2,
    /// A record of our session state. The newest one identifies the session and is copied to the
    /// beginning of every segment, so that it outlives removed segments.
    Control = 3,
}

impl Direction {
    /// The directions, in code order.
    pub const ALL: [Self; 3] = [Self::Outbound, Self::Inbound, Self::Control];

    /// Returns the index in a table of all directions.
    #[inline]
    pub(super) const fn index(self) -> usize {
        self as usize - 1
    }

    pub(super) const fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::Outbound),
            2 => Some(Self::Inbound),
            3 => Some(Self::Control),
            _ => None,
        }
    }
}

/// The metadata in a record's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tag {
    /// The direction of the message.
    pub direction: Direction,
    /// The kind of the record, defined by the caller.
    pub kind: u16,
    /// The sequence number of the message; 0 if it has none.
    pub seq_num: u32,
    /// The session (UUID) of the sequence number; 0 if none.
    pub uuid: u64,
    /// The commit time.
    pub now: Now,
}

impl Tag {
    /// Creates a tag of kind 0.
    #[inline]
    #[must_use]
    pub const fn new(direction: Direction, uuid: u64, seq_num: u32, now: Now) -> Self {
        Self { direction, kind: 0, seq_num, uuid, now }
    }
}

impl Default for Tag {
    /// Returns an outbound tag with all other fields zero.
    fn default() -> Self {
        let now = Now { monotonic: Instant::ZERO, utc: Utc::from_nanos(0) };
        Self::new(Direction::Outbound, 0, 0, now)
    }
}

/// The segment id of a record outside of a mapped segment.
pub(super) const NO_SEGMENT: u32 = 0;

/// A handle of a committed record: its location, length and kind.
///
/// A [`Journal`](crate::Journal) accepts only handles that it has made itself. A handle contains
/// the id of its mapped segment, which is unique in the process and which only the journal can set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// The id of the mapped segment; 0 for a record outside of a mapped segment.
    pub(super) segment_id: u32,
    pub(super) offset: u32,
    pub(super) length: u32,
    pub(super) kind: u16,
    pub(super) direction: Direction,
}

impl Record {
    /// Creates a handle for an implementation of [`Storage`](crate::Storage), which defines the
    /// meaning of `offset`. A [`Journal`](crate::Journal) panics on such a handle.
    #[must_use]
    pub const fn new(offset: u32, length: u32, tag: &Tag) -> Self {
        let (kind, direction) = (tag.kind, tag.direction);
        Self { segment_id: NO_SEGMENT, offset, length, kind, direction }
    }

    /// Returns the offset of the record's header in its segment, a multiple of 8. For another
    /// storage: the value passed to [`Record::new`].
    #[must_use]
    pub const fn offset(self) -> usize {
        self.offset as usize
    }

    /// Returns the payload length in bytes.
    #[must_use]
    pub const fn length(self) -> usize {
        self.length as usize
    }

    /// Returns the caller-defined kind of the record's [`Tag`].
    #[must_use]
    pub const fn kind(self) -> u16 {
        self.kind
    }

    /// Returns the direction of the message.
    #[must_use]
    pub const fn direction(self) -> Direction {
        self.direction
    }

    /// Returns the offset of the next record.
    pub(super) const fn next(self) -> usize {
        end_offset(self.offset(), self.length())
    }

    /// Returns `true` if the record ends at or before `end`. If `end` is a multiple of 8, the
    /// padding does too.
    #[inline]
    pub(super) const fn ends_before(self, end: usize) -> bool {
        self.offset() + self.length() + RECORD_HEADER <= end
    }
}

/// Returns the offset after a record at `offset` with a payload of `length` bytes.
#[inline]
pub(super) const fn end_offset(offset: usize, length: usize) -> usize {
    // Same as `next_multiple_of`, without its branch.
    (offset + RECORD_HEADER + 7 + length) & !7
}

/// Combines a position in the journal into one increasing number.
pub(super) const fn position(segment: u32, offset: usize) -> u64 {
    (segment as u64) << 32 | offset as u64
}
