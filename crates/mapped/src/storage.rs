//! What an order entry session needs of a journal, whoever keeps it.

use std::ops::RangeInclusive;

use crate::journal::{Direction, Journal, JournalError, Record, SyncPolicy, Tag};

/// Keeps what went out and came in: a [`Journal`] in memory or in a folder, a
/// [`MemoryStorage`](crate::MemoryStorage) that can lose what was not synced, or a user's own.
///
/// A message is encoded in the room of [`claim`](Self::claim) and then committed; from then on it
/// is there, and what its [`Record`] names does not change. One's own makes its handles with
/// [`Record::new`].
pub trait Storage {
    /// Room for a payload of at most `max` bytes. A claim that is not committed leaves nothing.
    ///
    /// # Errors
    /// [`JournalError`], and there is nothing to commit.
    fn claim(&mut self, max: usize) -> Result<&mut [u8], JournalError>;

    /// Whether so much can be claimed without giving anything up or going on elsewhere.
    fn has_room(&self, payload: usize) -> bool;

    /// Keeps the first `length` bytes of what was claimed last.
    ///
    /// # Panics
    /// It may, if `length` is more than was claimed.
    fn commit(&mut self, tag: &Tag, length: usize) -> Record;

    /// The payload of a record.
    ///
    /// # Panics
    /// It may, if the record is of another storage.
    fn bytes(&self, record: Record) -> &[u8];

    /// What a record was committed with.
    ///
    /// # Panics
    /// As [`bytes`](Self::bytes).
    fn tag(&self, record: Record) -> Tag;

    /// Notes that the callback of an inbound record has returned.
    ///
    /// # Panics
    /// As [`bytes`](Self::bytes).
    fn mark(&mut self, record: Record);

    /// Whether that was noted.
    ///
    /// # Panics
    /// As [`bytes`](Self::bytes).
    fn is_marked(&self, record: Record) -> bool;

    /// The record behind another, or the first: `None` at the end.
    fn next(&self, behind: Option<Record>) -> Option<Record>;

    /// The newest record of a direction; its tag stays though it itself may be given up, and of a
    /// control record its payload too.
    fn last(&self, direction: Direction) -> Option<Record>;

    /// The messages of a range of numbers of a session, in order; of a number that was used twice
    /// the later one.
    fn replay(
        &self,
        direction: Direction,
        kind: u16,
        uuid: u64,
        numbers: RangeInclusive<u32>,
    ) -> impl Iterator<Item = Record>;

    /// Inbound records whose callback has not returned, oldest first.
    fn unmarked(&self) -> impl Iterator<Item = Record> {
        std::iter::successors(self.next(None), |&record| self.next(Some(record)))
            .filter(|&record| record.direction() == Direction::Inbound && !self.is_marked(record))
    }

    /// The lowest outbound message that is still needed; what is before it may be given up.
    fn needed_from(&mut self, uuid: u64, seq_num: u32);

    /// Whether whoever commits is to wait until it is durable before it goes on.
    fn waits(&self) -> bool;

    /// Waits until a record survives the loss of power.
    ///
    /// # Errors
    /// [`JournalError::Io`] if it never will.
    fn wait_durable(&mut self, record: Record) -> Result<(), JournalError>;

    /// Forgets every record, if this is a storage that may: whether it did.
    fn begin_again(&mut self) -> bool;
}

impl Storage for Journal {
    #[inline]
    fn claim(&mut self, max: usize) -> Result<&mut [u8], JournalError> {
        Self::claim(self, max).map(crate::Claim::into_payload)
    }

    #[inline]
    fn has_room(&self, payload: usize) -> bool {
        Self::has_room(self, payload)
    }

    // Always: of a tag most is known where the record is committed.
    #[inline(always)]
    fn commit(&mut self, tag: &Tag, length: usize) -> Record {
        self.commit_claimed(tag, length)
    }

    #[inline]
    fn bytes(&self, record: Record) -> &[u8] {
        Self::bytes(self, record)
    }

    fn tag(&self, record: Record) -> Tag {
        Self::tag(self, record)
    }

    #[inline]
    fn mark(&mut self, record: Record) {
        Self::mark(self, record);
    }

    fn is_marked(&self, record: Record) -> bool {
        Self::is_marked(self, record)
    }

    fn next(&self, behind: Option<Record>) -> Option<Record> {
        Self::next(self, behind)
    }

    fn last(&self, direction: Direction) -> Option<Record> {
        Self::last(self, direction)
    }

    fn replay(
        &self,
        direction: Direction,
        kind: u16,
        uuid: u64,
        numbers: RangeInclusive<u32>,
    ) -> impl Iterator<Item = Record> {
        Self::replay(self, direction, kind, uuid, numbers).map(|(record, _)| record)
    }

    fn needed_from(&mut self, uuid: u64, seq_num: u32) {
        Self::needed_from(self, uuid, seq_num);
    }

    fn waits(&self) -> bool {
        self.sync_policy() == SyncPolicy::Each
    }

    fn wait_durable(&mut self, record: Record) -> Result<(), JournalError> {
        Self::wait_durable(self, record)
    }

    fn begin_again(&mut self) -> bool {
        Self::begin_again(self)
    }
}
