//! The `Storage` trait: the journal operations that an order entry session needs.

use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::journal::{Direction, Journal, JournalError, Record, SyncPolicy, Tag};

/// A store of outbound and inbound records: a [`Journal`] in memory or in a directory, a
/// [`MemoryStorage`](crate::MemoryStorage) that can lose unsynced records, or a user's
/// implementation.
///
/// A message is encoded in the room of [`claim`](Self::claim) and then committed. From then on it
/// is stored, and what its [`Record`] refers to does not change. An implementation creates its
/// handles with [`Record::new`].
pub trait Storage {
    /// Claims room for a payload of at most `max` bytes. A claim that is not committed leaves
    /// nothing.
    ///
    /// # Errors
    /// Any [`JournalError`]; then there is nothing to commit.
    fn claim(&mut self, max: usize) -> Result<&mut [u8], JournalError>;

    /// Returns `true` if this much can be claimed without removing records or advancing to a new
    /// segment.
    fn has_room(&self, payload: usize) -> bool;

    /// Commits the first `length` bytes of the last claim.
    ///
    /// # Panics
    /// If `length` is more than was claimed (optional).
    fn commit(&mut self, tag: &Tag, length: usize) -> Record;

    /// Returns the payload of a record.
    ///
    /// # Panics
    /// If the record belongs to another storage (optional).
    fn bytes(&self, record: Record) -> &[u8];

    /// Returns the tag of a record.
    ///
    /// # Panics
    /// Same as [`bytes`](Self::bytes).
    fn tag(&self, record: Record) -> Tag;

    /// Marks an inbound record: its callback has returned.
    ///
    /// # Panics
    /// Same as [`bytes`](Self::bytes).
    fn mark(&mut self, record: Record);

    /// Returns `true` if an inbound record is marked.
    ///
    /// # Panics
    /// Same as [`bytes`](Self::bytes).
    fn is_marked(&self, record: Record) -> bool;

    /// Returns the record after another, or the first. `None` at the end.
    fn next(&self, after: Option<Record>) -> Option<Record>;

    /// Returns the newest record of a direction. Its tag stays available although the record itself
    /// may be removed; for a control record the payload stays too.
    fn last(&self, direction: Direction) -> Option<Record>;

    /// Returns the messages of a range of sequence numbers of a session, in order. If a number was
    /// used twice, the later message counts.
    fn replay(
        &self,
        direction: Direction,
        kind: u16,
        uuid: u64,
        numbers: RangeInclusive<u32>,
    ) -> impl Iterator<Item = Record>;

    /// Iterates over the inbound records whose callback has not returned, oldest first.
    fn unmarked(&self) -> impl Iterator<Item = Record> {
        std::iter::successors(self.next(None), |&record| self.next(Some(record)))
            .filter(|&record| record.direction() == Direction::Inbound && !self.is_marked(record))
    }

    /// Sets the lowest outbound message that is still needed. Earlier messages may be removed.
    fn needed_from(&mut self, uuid: u64, seq_num: u32);

    /// Returns `true` if the session must wait until each commit is durable.
    fn waits(&self) -> bool;

    /// Waits until a record is durable.
    ///
    /// # Errors
    /// [`JournalError::Io`] if it cannot become durable.
    fn wait_durable(&mut self, record: Record) -> Result<(), JournalError>;

    /// Removes every record if this storage permits that. Returns `true` if the records were
    /// removed.
    fn clear(&mut self) -> bool;

    /// Returns the error by which committed records may be lost after a power loss: a failed sync,
    /// or a lost segment. It does not change anymore.
    fn sync_failure(&self) -> Option<io::Error> {
        None
    }

    /// Returns a flag that the storage sets, from any thread, once [`sync_failure`] returns an
    /// error. The caller may set and clear the flag too, for purposes of its own.
    ///
    /// [`sync_failure`]: Self::sync_failure
    fn attention(&self) -> Arc<AtomicBool> {
        Arc::default()
    }

    /// Makes all records durable, as far as the storage's policy requires it. Nothing can be
    /// committed afterwards.
    ///
    /// # Errors
    /// [`JournalError::Io`] if that failed, now or earlier.
    fn finish(&mut self) -> Result<(), JournalError> {
        Ok(())
    }
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

    // Inlined always, since most of a tag is constant at the call.
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

    fn next(&self, after: Option<Record>) -> Option<Record> {
        Self::next(self, after)
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

    fn clear(&mut self) -> bool {
        Self::clear(self)
    }

    fn sync_failure(&self) -> Option<io::Error> {
        if self.has_failed() { self.failure() } else { None }
    }

    fn attention(&self) -> Arc<AtomicBool> {
        Self::attention(self)
    }

    fn finish(&mut self) -> Result<(), JournalError> {
        Self::finish(self)
    }
}
