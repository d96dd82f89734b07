//! Room for one record, between being claimed and being committed.

use super::format::{Header, RECORD_HEADER};
use super::record::behind;
use super::{Journal, Record, Tag};

/// Room for the next record of a [`Journal`]. Dropped without a commit, it leaves nothing.
#[derive(Debug)]
pub struct Claim<'a> {
    pub(super) journal: &'a mut Journal,
    pub(super) max: usize,
}

impl<'a> Claim<'a> {
    /// The room claimed, exactly as many bytes as asked for, to encode into.
    ///
    /// The bytes are not cleared: what an earlier claim wrote and never committed may show.
    #[inline]
    #[must_use]
    pub fn payload(&mut self) -> &mut [u8] {
        let start = self.journal.end + RECORD_HEADER;
        // SAFETY: `claim` has checked that there is room behind `end`, where the journal reads
        // nothing; it is borrowed mutably by this claim, which is borrowed mutably by the slice.
        unsafe { self.journal.segment.room(start, self.max) }
    }

    /// The room claimed, for as long as the journal is borrowed, when claim and commit are two
    /// calls: a second claim has the same room, with what was encoded in it, if it asks for no
    /// more than the first.
    #[inline]
    #[must_use]
    pub fn into_payload(self) -> &'a mut [u8] {
        let start = self.journal.end + RECORD_HEADER;
        // SAFETY: as in `payload`; the journal stays borrowed mutably for as long as the slice
        // lives.
        unsafe { self.journal.segment.room(start, self.max) }
    }

    /// Commits the first `length` bytes of the payload as the journal's next record, with the tag
    /// of default: outbound, without a number.
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
        assert!(length <= self.max, "a record longer than its claim");
        let journal = self.journal;
        let (offset, index) = (journal.end, tag.direction.index());
        let record = Record {
            segment: journal.segment.number(),
            offset: offset as u32,
            length: length as u32,
            kind: tag.kind,
            direction: tag.direction,
        };
        let next = behind(offset, length);
        let header = Header::new(tag, length, journal.last[index]);
        // SAFETY: `claim` has checked that a record of `max` bytes has room behind `end`, and 8
        // bytes behind it.
        unsafe { journal.segment.commit(offset, next, header) };
        journal.last[index] = offset as u32;
        journal.end = next;
        record
    }
}
