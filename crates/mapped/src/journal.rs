//! The journal: outbound and inbound records, in memory or in a directory.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::Duration;

use crate::mapping;

mod claim;
mod format;
mod lookup;
mod reader;
mod record;
mod recovery;
mod segment;
mod segment_files;
mod segment_roller;
mod settings;
mod sync_state;
mod sync_worker;
#[cfg(test)]
mod tests;

pub use claim::Claim;
pub use lookup::{Records, Replay};
pub use reader::{Checksum, Entry, Reader};
pub use record::{Direction, Record, Tag};
pub use recovery::Recovery;
pub use settings::{JournalSettings, Retention, SyncPolicy};

use format::{Header, RECORD_HEADER, SEGMENT_HEADER, SEGMENT_MAX, SegmentHeader, TAIL};
use record::position;
use segment::Segment;
use segment_files::Directory;
use segment_roller::SegmentRoller;

/// The error of a journal operation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The journal is in memory and has no room for a record of that size.
    #[error("the journal is full")]
    Full,
    /// A record of that size does not fit in any segment of this size.
    #[error("record too large for the journal")]
    TooLarge,
    /// The journal is open already, in this process or another.
    #[error(
        "cannot open the journal in {}: already open, give each session its own journal",
        path.display()
    )]
    Busy {
        /// The directory.
        path: PathBuf,
    },
    /// A segment is missing, invalid or truncated, or contains data that no journal has written.
    #[error("cannot read the journal: corrupt at byte {offset} of {}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The offset in the file in bytes.
        offset: u64,
    },
    /// The kernel returned an error: no such directory, no permission, disk full.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A log of outbound and inbound records in one order, written by one thread.
///
/// A message is encoded in place: [`claim`](Self::claim) room, fill [`Claim::payload`], and call
/// [`Claim::commit_as`] with the [`Tag`] and the message's length. This needs no allocation and no
/// system call. If the process dies at any point, the journal contains exactly the committed
/// records, in order.
///
/// A journal in a directory consists of segments. The journal's own thread (`hairpin-journal`)
/// creates them ahead of need, with every block allocated and every page present, so that advancing
/// to the next segment needs no system call. The thread also writes the records' checksums, syncs
/// them to disk ([`SyncPolicy`]), and removes old segments ([`Retention`]). A full disk is an error
/// of `claim`.
///
/// # Layout
///
/// The directory contains `0000000001.segment` and so on, without a gap. The directory and the
/// segments are locked (`flock`) while the journal is open, and reached through the directory's
/// descriptor: a renamed directory stays the journal's. A file with the extension `.unfinished` is
/// a segment whose creator died. All integers are little-endian.
///
/// ```text
/// segment
///    0  magic u64 "HPJOURNL" | version u32 = 2 | number u32 | bytes u64 of the file
///   24  created u64, ns since 1970 | boot [16], the kernel's boot_id when it was last opened
///   48  checksum u32 of bytes 0 to 47 | zeros
///   64  durable u64: everything before this byte has a checksum and is on disk;
///       written by the sync thread | zeros
///  128  record, record, …, then a word: 0, or 0xFFFFFFFF if the next segment continues
///
/// record, at a multiple of 8
///    0  word u32       48 + bytes of payload; the commit mark, stored last
///    4  checksum u32   of bytes 0 to 3, 12 to 47 and the payload; 1 instead of 0; 0: missing;
///                      written by the sync thread
///    8  mark u32       1: the callback of this inbound record has returned
///   12  seq_num u32
///   16  uuid u64
///   24  utc u64        ns since 1970 when it was committed
///   32  monotonic u64  ns of the clock of deadlines, then
///   40  back u32       offset in this segment of its direction's previous record; 0: none
///   44  kind u16       defined by the caller
///   46  direction u8   1 outbound, 2 inbound, 3 control
///   47  flags u8       1: copied from the previous segment, where it is at `back`; an outbound or
///                      inbound record without its payload
///   48  payload, padded with any bytes to a multiple of 8
/// ```
///
/// Checksums are CRC-32 (IEEE 802.3). A segment begins with a copy of the newest record of each
/// direction, so that session identity and sequence numbers outlive removed segments.
///
/// # Durability
///
/// Process death loses no record whose commit has returned. Power loss keeps every
/// [durable](Self::is_durable) record and a prefix of the others.
///
/// # Failure
/// The thread detects a failed sync, an error of the kernel's writeback, a file system that has
/// become read-only, and a segment that another program has removed or truncated: at each sync, and
/// once a second under every policy. From then on [`has_failed`](Self::has_failed) returns `true`
/// and [`failure`](Self::failure) the error, for the journal's lifetime: what the kernel could not
/// write it may have discarded. A mapped page that cannot be read or written (SIGBUS) is such a
/// failure too. A page of zeros takes its place, so that the process continues; the handler of
/// SIGBUS is installed with the first journal in a directory, and passes on all other faults.
#[derive(Debug)]
pub struct Journal {
    segment: Segment,
    /// The offset of the next record. The word at this offset is zero.
    end: usize,
    /// The maximum end of a payload, less the record header.
    limit: usize,
    /// The maximum payload, less than 2 GiB.
    payload_max: usize,
    /// The offset of the newest record of each direction, or 0.
    last: [u32; 3],
    /// The earlier segments without a gap, oldest first.
    old: VecDeque<Segment>,
    /// The segment roller of a journal in a directory. `None` in memory.
    roller: Option<SegmentRoller>,
}

impl Journal {
    /// Returns the size of a record with this payload in bytes: header, payload and padding.
    #[must_use]
    pub const fn room(payload: usize) -> usize {
        (payload + RECORD_HEADER).next_multiple_of(8)
    }

    /// Creates a journal in memory with `capacity` bytes for records (rounded up to a multiple of
    /// 8).
    ///
    /// # Errors
    /// [`JournalError::Io`] if memory or descriptors are exhausted. [`JournalError::TooLarge`]
    /// above 2 GiB.
    pub fn anonymous(capacity: usize) -> Result<Self, JournalError> {
        let bytes = capacity
            .checked_next_multiple_of(8)
            .and_then(|capacity| capacity.checked_add(SEGMENT_HEADER + TAIL))
            .filter(|&bytes| bytes as u64 <= SEGMENT_MAX)
            .ok_or(JournalError::TooLarge)?;
        let file = mapping::create(c"hairpin-journal")?;
        let header = SegmentHeader { number: 1, bytes: bytes as u64, created: 0, boot: [0; 16] };
        Segment::format(&file, &header)?;
        Ok(Self::at_start(Segment::map(&file, 1)?, None))
    }

    /// Creates a journal in a new directory, with `room` bytes for records in each segment and
    /// otherwise the defaults of [`JournalSettings`]. See [`create_with`](Self::create_with).
    ///
    /// # Errors
    /// Same as `create_with`.
    pub fn create(directory: impl AsRef<Path>, room: usize) -> Result<Self, JournalError> {
        Self::create_with(directory, JournalSettings::with_room(room))
    }

    /// Creates a journal in a new directory, readable only by its owner, or in an empty directory.
    /// Leftovers of a creator that died before its first segment do not count.
    ///
    /// # Errors
    /// [`JournalError::Io`] if the path is a file or a non-empty directory, if it cannot be
    /// created, or if the disk is full. A directory created by this call is removed again, unless
    /// another process has it. [`JournalError::Busy`] if another process has a journal there.
    /// [`JournalError::TooLarge`] if no segment can have this size.
    pub fn create_with(
        directory: impl AsRef<Path>,
        settings: JournalSettings,
    ) -> Result<Self, JournalError> {
        let directory = directory.as_ref();
        let bytes = settings.rounded().ok_or(JournalError::TooLarge)?;
        SegmentRoller::create(Directory::create(directory)?, settings, bytes)
    }

    /// Opens the journal in a directory with the defaults of [`JournalSettings`] and the segment
    /// size of the newest segment. See [`open_with`](Self::open_with).
    ///
    /// # Errors
    /// Same as `open_with`.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self, JournalError> {
        let newest = segment_files::newest_bytes(directory.as_ref())?;
        Self::open_with(directory, JournalSettings { segment_bytes: newest, ..Default::default() })
    }

    /// Opens the journal in a directory and continues after its last committed record. Uncommitted
    /// data and unfinished segments of a dead process are removed. [`recovery`](Self::recovery)
    /// reports what was found.
    ///
    /// # Errors
    /// [`JournalError::Corrupt`] if a segment is missing or invalid, has the wrong length, or
    /// contains data that no journal has written. The files are then unchanged, and a [`Reader`]
    /// still reads the valid records. [`JournalError::Busy`] if the journal is already open.
    /// [`JournalError::Io`] if it cannot be opened or mapped, `NotFound` if there is no journal.
    /// [`JournalError::TooLarge`] if the settings allow no segment, or none for the existing
    /// records.
    pub fn open_with(
        directory: impl AsRef<Path>,
        settings: JournalSettings,
    ) -> Result<Self, JournalError> {
        let bytes = settings.rounded().ok_or(JournalError::TooLarge)?;
        let directory = directory.as_ref();
        if segment_files::segments(directory)?.is_empty() {
            return Err(io::Error::from(io::ErrorKind::NotFound).into());
        }
        SegmentRoller::open(Directory::lock(directory)?, settings, bytes)
    }

    /// Creates a journal whose current segment is empty.
    fn at_start(segment: Segment, roller: Option<SegmentRoller>) -> Self {
        let limit = limit_of(&segment);
        Self {
            limit,
            payload_max: roller.as_ref().map_or(limit, SegmentRoller::payload_max),
            end: SEGMENT_HEADER,
            last: [0; 3],
            old: VecDeque::new(),
            segment,
            roller,
        }
    }

    /// Claims room for a payload of up to `max` bytes. Advances to the next segment if the current
    /// one has not enough room.
    ///
    /// # Errors
    /// [`JournalError::Full`] if a journal in memory has not enough room left.
    /// [`JournalError::TooLarge`] if it never had, or if `max` is more than an eighth of a segment.
    /// [`JournalError::Io`] if the next segment cannot be created, `StorageFull` if the disk is
    /// full. A later claim may succeed.
    #[inline]
    pub fn claim(&mut self, max: usize) -> Result<Claim<'_>, JournalError> {
        if !self.has_room(max) {
            self.roll(max)?;
        }
        Ok(Claim { journal: self, max })
    }

    /// Returns `true` if a payload of this length fits in the current segment.
    #[inline]
    #[must_use]
    pub fn has_room(&self, payload: usize) -> bool {
        // Both summands are below 2 GiB.
        payload <= self.payload_max && self.end + payload <= self.limit
    }

    /// Commits what was encoded in the room of an earlier claim.
    // Inlined always, since most of a tag is constant at the call.
    #[inline(always)]
    pub(crate) fn commit_claimed(&mut self, tag: &Tag, length: usize) -> Record {
        // The claim had room in this segment; no more is allowed now.
        assert!(self.has_room(length), "the record is longer than its claim");
        Claim { journal: self, max: length }.commit_as(tag, length)
    }

    /// Removes every record and restarts at the first byte, with one store. Handles of removed
    /// records become invalid. Works only for a journal in memory; otherwise returns `false`
    /// without effect.
    pub fn clear(&mut self) -> bool {
        if self.roller.is_some() {
            return false;
        }
        self.end = SEGMENT_HEADER;
        self.last = [0; 3];
        // A thread that sees later records at this offset also sees this store.
        self.segment.truncate(SEGMENT_HEADER);
        true
    }

    /// Marks an inbound record: its callback has returned, so it is no longer
    /// [`unmarked`](Self::unmarked). Costs one store.
    ///
    /// # Panics
    /// If the record does not belong to this journal.
    #[inline]
    pub fn mark(&mut self, record: Record) {
        if record.segment_id != self.segment.id() {
            return self.mark_old(record);
        }
        // SAFETY: no record extends beyond its segment.
        unsafe { self.segment.mark_before(record, self.end) }
    }

    #[cold]
    fn mark_old(&self, record: Record) {
        let segment = self
            .old_segment(record.segment_id)
            .expect("the record does not belong to this journal");
        // SAFETY: this is the length of the segment.
        unsafe { segment.mark_before(record, segment.bytes()) }
    }

    /// Returns the payload of a committed record.
    ///
    /// # Panics
    /// If the record does not belong to this journal, or was removed with its segment.
    #[inline]
    #[must_use]
    pub fn bytes(&self, record: Record) -> &[u8] {
        let (segment, end) =
            self.place(record).expect("the record does not belong to this journal");
        // SAFETY: no record extends beyond its segment.
        unsafe { segment.payload_before(record, end) }
    }

    /// Returns the tag of a committed record.
    ///
    /// # Panics
    /// Same as [`bytes`](Self::bytes).
    #[must_use]
    pub fn tag(&self, record: Record) -> Tag {
        self.header(record).tag().expect("committed records have a tag")
    }

    /// Returns `true` if an inbound record is marked.
    ///
    /// # Panics
    /// Same as [`bytes`](Self::bytes).
    #[must_use]
    pub fn is_marked(&self, record: Record) -> bool {
        self.header(record).is_marked()
    }

    /// Returns the number of a record's segment; the first is 1.
    ///
    /// # Panics
    /// Same as [`bytes`](Self::bytes).
    #[must_use]
    pub fn segment_of(&self, record: Record) -> u32 {
        let (segment, _) = self.place(record).expect("the record does not belong to this journal");
        segment.number()
    }

    fn header(&self, record: Record) -> Header {
        let (segment, end) =
            self.place(record).expect("the record does not belong to this journal");
        assert!(record.ends_before(end), "the record does not belong to this journal");
        segment.header(record.offset())
    }

    /// Returns the segment of a record, and the end of the segment's records.
    #[inline]
    fn place(&self, record: Record) -> Option<(&Segment, usize)> {
        if record.segment_id == self.segment.id() {
            return Some((&self.segment, self.end));
        }
        self.old_segment(record.segment_id).map(|segment| (segment, segment.bytes()))
    }

    #[cold]
    fn old_segment(&self, id: u32) -> Option<&Segment> {
        // Segments are mapped in the order of the journal, so their ids increase.
        let index = self.old.binary_search_by_key(&id, Segment::id).ok()?;
        self.old.get(index)
    }

    /// Returns the end of a record as a position in the journal.
    fn end_of(&self, record: Record) -> u64 {
        position(self.segment_of(record), record.next())
    }

    /// Sets the lowest outbound message that is still needed, such as the newest one that the
    /// exchange has not acknowledged. Segments with this or a later message are kept, whatever the
    /// [`Retention`]. Before the first call, no segment with outbound messages is removed. UUIDs
    /// increase.
    pub fn needed_from(&mut self, uuid: u64, seq_num: u32) {
        if let Some(roller) = &self.roller {
            roller.shared().set_needed(uuid, seq_num);
        }
    }

    /// Returns `true` if a record is on disk. Always `false` for a journal in memory.
    ///
    /// # Panics
    /// Same as [`bytes`](Self::bytes).
    #[must_use]
    pub fn is_durable(&self, record: Record) -> bool {
        let durable = self.roller.as_ref().map_or(0, |roller| roller.shared().durable());
        self.end_of(record) <= durable
    }

    /// Waits until a record is on disk, whatever the [`SyncPolicy`]. Takes one or two system calls
    /// and the disk's time. Returns immediately for a journal in memory.
    ///
    /// # Errors
    /// [`JournalError::Io`] if a sync has failed, now or earlier.
    ///
    /// # Panics
    /// Same as [`bytes`](Self::bytes).
    pub fn wait_durable(&self, record: Record) -> Result<(), JournalError> {
        let end = self.end_of(record);
        match &self.roller {
            Some(roller) => Ok(roller.shared().wait_durable(end)?),
            None => Ok(()),
        }
    }

    /// Returns when records are synced to disk.
    #[must_use]
    pub fn sync_policy(&self) -> SyncPolicy {
        self.roller.as_ref().map_or(SyncPolicy::None, SegmentRoller::sync_policy)
    }

    /// Returns `true` if a sync has failed, or a segment was lost. Costs one load.
    #[inline]
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.roller.as_ref().is_some_and(|roller| roller.shared().has_failed())
    }

    /// Returns a flag that is set when the journal fails.
    pub(crate) fn attention(&self) -> Arc<AtomicBool> {
        self.roller.as_ref().map_or_else(Arc::default, |roller| roller.shared().attention())
    }

    /// Returns the first failed sync or lost segment, or otherwise the last failed creation of a
    /// segment, of the sync worker.
    #[must_use]
    pub fn failure(&self) -> Option<io::Error> {
        let shared = self.roller.as_ref()?.shared();
        shared.sync_error().or_else(|| shared.prepare_error())
    }

    /// Returns what was found when the journal was opened. Empty for a new journal.
    #[must_use]
    pub fn recovery(&self) -> &Recovery {
        static NOTHING: Recovery = Recovery { records: 0, torn: None };
        self.roller.as_ref().map_or(&NOTHING, SegmentRoller::recovery)
    }

    /// Returns the record capacity of the current segment in bytes.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.segment.bytes() - SEGMENT_HEADER - TAIL
    }

    /// Returns the bytes used by committed records in the current segment.
    #[must_use]
    pub fn used(&self) -> usize {
        self.end - SEGMENT_HEADER
    }

    /// Returns the number of segments, including the current one.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.old.len() + 1
    }

    /// Returns `true` if the next segment is ready, so that advancing to it does not wait.
    #[must_use]
    pub fn is_next_ready(&self) -> bool {
        self.roller.as_ref().is_some_and(SegmentRoller::is_ready)
    }

    /// Waits until the next segment is ready or cannot be created. For use before a program starts
    /// trading.
    pub fn wait_ready(&self) {
        let has_to_wait = |roller: &&SegmentRoller| !roller.is_ready() && self.failure().is_none();
        while self.roller.as_ref().filter(has_to_wait).is_some() {
            sleep(Duration::from_millis(1));
        }
    }

    /// Closes the journal: the thread writes the missing checksums, syncs unless the policy is
    /// never, checks the files, and ends. Dropping the journal does the same and ignores errors.
    ///
    /// # Errors
    /// [`JournalError::Io`] if a sync has failed.
    pub fn close(mut self) -> Result<(), JournalError> {
        self.finish()
    }

    /// Does what [`close`](Self::close) does. Nothing can be committed afterwards.
    pub(crate) fn finish(&mut self) -> Result<(), JournalError> {
        match self.roller.as_mut().and_then(SegmentRoller::finish) {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }
}

/// Returns the maximum end of a payload in this segment, less the record header.
fn limit_of(segment: &Segment) -> usize {
    segment.bytes() - TAIL - RECORD_HEADER
}
