//! A committed record, and the walk over all of them.

use super::Journal;

/// A committed record: where it is in its journal, how long, and of what kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    pub(super) offset: usize,
    pub(super) length: u32,
    pub(super) kind: u32,
}

impl Record {
    /// Bytes from the start of the segment to the record's header; always a multiple of 8.
    #[must_use]
    pub const fn offset(self) -> usize {
        self.offset
    }

    /// Bytes of payload.
    #[must_use]
    pub const fn length(self) -> usize {
        self.length as usize
    }

    /// The caller's own number, from [`commit_kind`](crate::Claim::commit_kind); else 0.
    #[must_use]
    pub const fn kind(self) -> u32 {
        self.kind
    }
}

/// Iterates over the committed records of a [`Journal`]; see [`Journal::records`].
#[derive(Debug, Clone)]
pub struct Records<'a> {
    pub(super) journal: &'a Journal,
    pub(super) offset: usize,
}

impl<'a> Iterator for Records<'a> {
    type Item = (Record, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.offset == self.journal.end {
            return None;
        }
        // In front of `end` every header was written by a commit or checked by `open`.
        let record = self.journal.record_at(self.offset).ok()??;
        self.offset += Journal::room(record.length());
        Some((record, self.journal.bytes(record)))
    }
}
