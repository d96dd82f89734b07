//! A claim: room for one record until it is committed.

use super::format::{Header, RECORD_HEADER};
use super::record::end_offset;
use super::{Journal, Record, Tag};

/// Room for the next record of a [`Journal`]. A claim dropped without a commit leaves nothing.
#[derive(Debug)]
pub struct Claim<'a> {
    pub(super) journal: &'a mut Journal,
    pub(super) max: usize,
}

impl<'a> Claim<'a> {
    /// Returns the claimed room, exactly as many bytes as requested.
    ///
    /// The bytes are not cleared: they may contain data of an earlier, uncommitted claim.
    #[inline]
    #[must_use]
    pub fn payload(&mut self) -> &mut [u8] {
        let start = self.journal.end + RECORD_HEADER;
        // SAFETY: `claim` has checked that there is room after `end`, where the journal reads
        // nothing. This claim borrows the journal mutably, and the slice borrows this claim
        // mutably.
        unsafe { self.journal.segment.room(start, self.max) }
    }

    /// Returns the claimed room for as long as the journal is borrowed, for use with a separate
    /// commit call. A second claim of no more bytes returns the same room with its content.
    #[inline]
    #[must_use]
    pub fn into_payload(self) -> &'a mut [u8] {
        let start = self.journal.end + RECORD_HEADER;
        // SAFETY: same as in `payload`. The journal stays borrowed mutably for as long as the slice
        // lives.
        unsafe { self.journal.segment.room(start, self.max) }
    }

    /// Commits the first `length` bytes of the payload as the journal's next record, with the
    /// default tag: outbound, without a sequence number.
    ///
    /// # Panics
    /// If `length` is more than was claimed.
    #[inline]
    pub fn commit(self, length: usize) -> Record {
        self.commit_as(&Tag::default(), length)
    }

    /// Commits the first `length` bytes of the payload as the journal's next record.
    ///
    /// # Panics
    /// If `length` is more than was claimed.
    #[inline]
    pub fn commit_as(self, tag: &Tag, length: usize) -> Record {
        assert!(length <= self.max, "the record is longer than its claim");
        let journal = self.journal;
        let (offset, index) = (journal.end, tag.direction.index());
        let record = Record {
            segment_id: journal.segment.id(),
            offset: offset as u32,
            length: length as u32,
            kind: tag.kind,
            direction: tag.direction,
        };
        let next = end_offset(offset, length);
        let header = Header::new(tag, length, journal.last[index]);
        // SAFETY: `claim` has checked that a record of `max` bytes and 8 more bytes fit after
        // `end`.
        unsafe { journal.segment.commit(offset, next, header) };
        journal.last[index] = offset as u32;
        journal.end = next;
        record
    }
}
