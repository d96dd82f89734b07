//! Records of what went out and came in, in memory or in a folder.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use crate::memory;

mod attendant;
mod claim;
mod folder;
mod format;
mod reader;
mod record;
mod recovery;
mod rolling;
mod search;
mod segment;
mod settings;
mod shared;
#[cfg(test)]
mod tests;

pub use claim::Claim;
pub use reader::{Checksum, Entry, Reader};
pub use record::{Direction, Record, Tag};
pub use recovery::Recovery;
pub use search::{Records, Replay};
pub use settings::{JournalSettings, Retention, SyncPolicy};

use format::{Header, RECORD_HEADER, SEGMENT_HEADER, SEGMENT_MAX, SegmentHeader, TAIL};
use rolling::Rolling;
use segment::Segment;

/// What a journal refuses, and why.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The journal is in memory and has no room left for a record of that size.
    #[error("the journal is full")]
    Full,
    /// No segment of this size could ever hold a record of that size.
    #[error("a record larger than the journal has room for")]
    TooLarge,
    /// Somebody has the journal open, in this process or another.
    #[error("the journal in {} is open already: give each session its own", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// A segment is missing, is none, was cut, or holds what no journal has written.
    #[error("the journal is corrupt at byte {offset} of {}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Where in the file, in bytes from its start.
        offset: u64,
    },
    /// The kernel refused: no such folder, no permission, disk full.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Records both ways in one order, written by one thread.
///
/// A message is encoded in place: [`claim`](Self::claim) room, fill [`Claim::payload`], and
/// [`Claim::commit_as`] with its [`Tag`] and the length it came to. Nothing is allocated, no system
/// call is made, and a process that dies at any point leaves a journal that holds exactly what it
/// had committed, in order.
///
/// A journal in a folder consists of segments. A thread of the journal's own (`hairpin-journal`)
/// makes them ahead of need, every block allocated and every page present, so that going on to the
/// next costs no system call; writes the records' checksums; forces them to the disk
/// ([`SyncPolicy`]); and removes old segments ([`Retention`]). A full disk is an error of `claim`.
///
/// # Layout
///
/// The folder holds `lock`, which is locked (`flock`) while the journal is open, and
/// `0000000001.segment` and so on, without a gap. A file ending in `.unfinished` is a segment whose
/// maker died. All integers are little-endian.
///
/// ```text
/// segment
///    0  magic u64 "HPJOURNL" | version u32 = 2 | number u32 | bytes u64 of the file
///   24  created u64, ns since 1970 | boot [16], the kernel's boot_id when it was last opened
///   48  checksum u32 of bytes 0 to 47 | zeros
///   64  durable u64: in front of this byte everything has a checksum and is on the disk;
///       written by the sync thread | zeros
///  128  record, record, …, and then a word 0, or 0xFFFFFFFF if the next segment goes on
///
/// record, at a multiple of 8
///    0  word u32       48 + bytes of payload; the commit mark, stored last
///    4  checksum u32   of bytes 0 to 3, 12 to 47 and the payload, never 0 (1 instead); 0: not yet;
///                      written by the sync thread
///    8  mark u32       1: the callback of this inbound record has returned
///   12  seq_num u32
///   16  uuid u64
///   24  utc u64        ns since 1970 when it was committed
///   32  monotonic u64  ns of the clock of deadlines, then
///   40  back u32       offset in this segment of the record before it of its direction; 0: none
///   44  kind u16       the caller's own
///   46  direction u8   1 outbound, 2 inbound, 3 control
///   47  flags u8       1: repeated from the segment before, where it is at `back`; an outbound or
///                      inbound one without its payload
///   48  payload, then anything up to a multiple of 8
/// ```
///
/// Checksums are CRC-32 (IEEE 802.3). A segment begins with the newest record of each direction
/// repeated, so that identity and numbers outlive the segments that are dropped.
///
/// # What survives what
///
/// The death of the process: every record whose commit returned. The loss of power: what was
/// [durable](Self::is_durable), and of the rest a prefix. The lock is advisory: whoever ignores it
/// and cuts a file may kill the process (SIGBUS). So may a filesystem that copies on write
/// (btrfs, ZFS) and is full, since allocated blocks are none of the file's there.
#[derive(Debug)]
pub struct Journal {
    segment: Segment,
    /// Where the next record goes. The word here is zero.
    end: usize,
    /// Where the payload of a record may end at most, less its header.
    limit: usize,
    /// The longest payload there may be; less than 2 GiB.
    payload_max: usize,
    /// The offset of the newest record of each direction; 0 if the journal has none.
    last: [u32; 3],
    /// The segments before, without a gap, oldest first.
    old: VecDeque<Segment>,
    /// Of a journal in a folder.
    rolling: Option<Rolling>,
}

impl Journal {
    /// The room that a payload of so many bytes takes: its header, itself and its padding.
    #[must_use]
    pub const fn room(payload: usize) -> usize {
        (payload + RECORD_HEADER).next_multiple_of(8)
    }

    /// A journal in memory only, with `capacity` bytes of room for records (rounded up to 8).
    ///
    /// # Errors
    /// [`JournalError::Io`] if there is no memory or no descriptor left;
    /// [`JournalError::TooLarge`] beyond 2 GiB.
    pub fn anonymous(capacity: usize) -> Result<Self, JournalError> {
        let bytes = capacity
            .checked_next_multiple_of(8)
            .and_then(|capacity| capacity.checked_add(SEGMENT_HEADER + TAIL))
            .filter(|&bytes| bytes as u64 <= SEGMENT_MAX)
            .ok_or(JournalError::TooLarge)?;
        let file = memory::create(c"hairpin-journal")?;
        let header = SegmentHeader { number: 1, bytes: bytes as u64, created: 0, boot: [0; 16] };
        Segment::format(&file, &header)?;
        Ok(Self::at_start(Segment::map(&file, 1)?, None))
    }

    /// A journal in a new folder, with `room` bytes for records in each segment, and the defaults
    /// of [`JournalSettings`] otherwise. See [`create_with`](Self::create_with).
    ///
    /// # Errors
    /// As `create_with`.
    pub fn create(folder: impl AsRef<Path>, room: usize) -> Result<Self, JournalError> {
        Self::create_with(folder, JournalSettings::with_room(room))
    }

    /// A journal in a new folder, which only its owner can read, or in one that is empty: what a
    /// maker has left that died before there was a segment does not count.
    ///
    /// # Errors
    /// [`JournalError::Io`] if there is such a file already, or a folder with anything in it, or
    /// it cannot be made, or the disk is full; a folder that was made is removed again.
    /// [`JournalError::Busy`] if somebody is making one there. [`JournalError::TooLarge`] if no
    /// segment can have that size.
    pub fn create_with(
        folder: impl AsRef<Path>,
        settings: JournalSettings,
    ) -> Result<Self, JournalError> {
        let folder = folder.as_ref();
        let bytes = settings.rounded().ok_or(JournalError::TooLarge)?;
        let is_new = folder::make_folder(folder)?;
        Rolling::create(folder, settings, bytes).inspect_err(|_| {
            if is_new {
                // The first error is the one worth telling.
                let _ = fs::remove_dir_all(folder);
            }
        })
    }

    /// Opens the journal in a folder with the defaults of [`JournalSettings`] and segments as large
    /// as the newest that is there. See [`open_with`](Self::open_with).
    ///
    /// # Errors
    /// As `open_with`.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, JournalError> {
        let newest = folder::newest_bytes(folder.as_ref())?;
        Self::open_with(folder, JournalSettings { segment_bytes: newest, ..Default::default() })
    }

    /// Opens the journal in a folder and goes on after its last committed record. What was being
    /// encoded or made when the process died is removed; what that was is in
    /// [`recovery`](Self::recovery).
    ///
    /// # Errors
    /// [`JournalError::Corrupt`] if a segment is missing, is none, is not as long as it says, or
    /// holds what no journal has written; the files are unchanged then, and a [`Reader`] still
    /// shows what can be read. [`JournalError::Busy`] if somebody has it open;
    /// [`JournalError::Io`] if it cannot be opened or mapped, `NotFound` if there is no journal;
    /// [`JournalError::TooLarge`] if the settings allow no segment, or not for what is there.
    pub fn open_with(
        folder: impl AsRef<Path>,
        settings: JournalSettings,
    ) -> Result<Self, JournalError> {
        let bytes = settings.rounded().ok_or(JournalError::TooLarge)?;
        Rolling::open(folder.as_ref(), settings, bytes)
    }

    /// A journal that begins with an empty segment.
    fn at_start(segment: Segment, rolling: Option<Rolling>) -> Self {
        let limit = limit_of(&segment);
        Self {
            limit,
            payload_max: rolling.as_ref().map_or(limit, Rolling::payload_max),
            end: SEGMENT_HEADER,
            last: [0; 3],
            old: VecDeque::new(),
            segment,
            rolling,
        }
    }

    /// Claims room for a payload of at most `max` bytes, in the next segment if this one has not
    /// that much left.
    ///
    /// # Errors
    /// [`JournalError::Full`] if a journal in memory has not that much left;
    /// [`JournalError::TooLarge`] if it never had, or more than an eighth of a segment is asked
    /// for; [`JournalError::Io`] if no next segment can be made, `StorageFull` if the disk has no
    /// room for it. A later claim may succeed.
    #[inline]
    pub fn claim(&mut self, max: usize) -> Result<Claim<'_>, JournalError> {
        if !self.has_room(max) {
            self.roll(max)?;
        }
        Ok(Claim { journal: self, max })
    }

    /// Whether a payload of so many bytes has room in the segment that is being written.
    #[inline]
    #[must_use]
    pub fn has_room(&self, payload: usize) -> bool {
        // The sum is of two numbers below 2 GiB.
        payload <= self.payload_max && self.end + payload <= self.limit
    }

    /// Commits what was encoded in the room of a claim that is no more.
    // Always: of a tag most is known where the record is committed.
    #[inline(always)]
    pub(crate) fn commit_claimed(&mut self, tag: &Tag, length: usize) -> Record {
        // What was claimed had room in this segment: no more is asked for now.
        assert!(self.has_room(length), "longer than what was claimed before");
        Claim { journal: self, max: length }.commit_as(tag, length)
    }

    /// Forgets every record and begins again at the first byte, for one store; handles of the
    /// records forgotten no longer name what they did. Only a journal in memory does: in a
    /// folder nothing is forgotten, and the answer is `false`.
    pub fn begin_again(&mut self) -> bool {
        if self.rolling.is_some() {
            return false;
        }
        self.end = SEGMENT_HEADER;
        self.last = [0; 3];
        // Whoever sees later records in this place sees the forgetting first.
        self.segment.forget(SEGMENT_HEADER);
        true
    }

    /// Notes that the callback of an inbound record has returned: it will not be among the
    /// [`unmarked`](Self::unmarked). One store.
    ///
    /// # Panics
    /// If the record is none of this journal.
    #[inline]
    pub fn mark(&mut self, record: Record) {
        if record.segment != self.segment.number() {
            return self.mark_old(record);
        }
        // SAFETY: no record ends behind its segment.
        unsafe { self.segment.mark_before(record, self.end) }
    }

    #[cold]
    fn mark_old(&self, record: Record) {
        let segment = self.old_segment(record.segment).expect("a record of another journal");
        // SAFETY: so far the segment goes.
        unsafe { segment.mark_before(record, segment.bytes()) }
    }

    /// The payload of a committed record.
    ///
    /// # Panics
    /// If the record is none of this journal, or was dropped with its segment.
    #[inline]
    #[must_use]
    pub fn bytes(&self, record: Record) -> &[u8] {
        let (segment, end) = self.place(record).expect("a record of another journal");
        // SAFETY: records end before their segment does.
        unsafe { segment.payload_before(record, end) }
    }

    /// What stands in the header of a committed record.
    ///
    /// # Panics
    /// As [`bytes`](Self::bytes).
    #[must_use]
    pub fn tag(&self, record: Record) -> Tag {
        self.header(record).tag().expect("it was committed with one")
    }

    /// Whether an inbound record is marked.
    ///
    /// # Panics
    /// As [`bytes`](Self::bytes).
    #[must_use]
    pub fn is_marked(&self, record: Record) -> bool {
        self.header(record).is_marked()
    }

    fn header(&self, record: Record) -> Header {
        let (segment, end) = self.place(record).expect("a record of another journal");
        assert!(record.lies_before(end), "a record of another journal");
        segment.header(record.offset())
    }

    /// The segment of a record, and where its records end.
    #[inline]
    fn place(&self, record: Record) -> Option<(&Segment, usize)> {
        if record.segment == self.segment.number() {
            return Some((&self.segment, self.end));
        }
        self.old_segment(record.segment).map(|segment| (segment, segment.bytes()))
    }

    #[cold]
    fn old_segment(&self, number: u32) -> Option<&Segment> {
        let index = number.checked_sub(self.old.front()?.number())?;
        self.old.get(index as usize)
    }

    /// The lowest outbound message that is still needed: the newest of them that the exchange
    /// has not acknowledged, say. Segments with it or a later one are not dropped, whatever the
    /// [`Retention`]. Until it was named none with outbound messages is. UUIDs rise.
    pub fn needed_from(&mut self, uuid: u64, seq_num: u32) {
        if let Some(rolling) = &self.rolling {
            rolling.shared().set_needed(uuid, seq_num);
        }
    }

    /// Whether a record is on the disk. Never true in memory.
    #[must_use]
    pub fn is_durable(&self, record: Record) -> bool {
        let durable = self.rolling.as_ref().map_or(0, |rolling| rolling.shared().durable());
        record.end() <= durable
    }

    /// Waits until a record is on the disk, whatever the [`SyncPolicy`]: a system call or two, and
    /// as long as the disk takes. In memory there is nothing to wait for.
    ///
    /// # Errors
    /// [`JournalError::Io`] if forcing it there has failed, now or before.
    pub fn wait_durable(&self, record: Record) -> Result<(), JournalError> {
        match &self.rolling {
            Some(rolling) => Ok(rolling.shared().wait_durable(record.end())?),
            None => Ok(()),
        }
    }

    /// When records are forced to the disk.
    #[must_use]
    pub fn sync_policy(&self) -> SyncPolicy {
        self.rolling.as_ref().map_or(SyncPolicy::None, Rolling::sync_policy)
    }

    /// What went wrong away from the writer: a sync that failed, after which nothing is
    /// durable any more, or else a segment that could not be made, which is tried again.
    #[must_use]
    pub fn failure(&self) -> Option<io::Error> {
        let shared = self.rolling.as_ref()?.shared();
        shared.sync_error().or_else(|| shared.prepare_error())
    }

    /// What was found when the journal was opened; nothing if it is new.
    #[must_use]
    pub fn recovery(&self) -> &Recovery {
        static NOTHING: Recovery = Recovery { records: 0, torn: None };
        self.rolling.as_ref().map_or(&NOTHING, Rolling::recovery)
    }

    /// Bytes of room for records in the segment that is being written.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.segment.bytes() - SEGMENT_HEADER - TAIL
    }

    /// Bytes of it taken by committed records.
    #[must_use]
    pub fn used(&self) -> usize {
        self.end - SEGMENT_HEADER
    }

    /// Segments that are kept, the one being written included.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.old.len() + 1
    }

    /// Whether the next segment is made already, so that going on to it costs no waiting.
    #[must_use]
    pub fn is_next_ready(&self) -> bool {
        self.rolling.as_ref().is_some_and(Rolling::is_ready)
    }

    /// Sleeps until the next segment is made or cannot be: for a program that is about to start.
    pub fn wait_ready(&self) {
        let has_to_wait = |rolling: &&Rolling| !rolling.is_ready() && self.failure().is_none();
        while self.rolling.as_ref().filter(has_to_wait).is_some() {
            sleep(Duration::from_millis(1));
        }
    }

    /// Finishes: the thread writes what checksums are missing, syncs unless it never does, and
    /// ends. Dropping the journal does the same and says nothing of errors.
    ///
    /// # Errors
    /// [`JournalError::Io`] if a sync has failed.
    pub fn close(mut self) -> Result<(), JournalError> {
        match self.rolling.as_mut().and_then(Rolling::finish) {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }
}

/// Where the payload of a record of this segment may end at most, less its header.
fn limit_of(segment: &Segment) -> usize {
    segment.bytes() - TAIL - RECORD_HEADER
}
