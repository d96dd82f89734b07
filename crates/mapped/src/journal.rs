//! One pre-sized segment of records, in memory or in a file.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::MmapRaw;

use crate::memory;

mod claim;
mod record;

pub use claim::Claim;
pub use record::{Record, Records};

/// "HPJOURNL", read as a little-endian number.
const MAGIC: u64 = u64::from_le_bytes(*b"HPJOURNL");
const VERSION: u32 = 1;
/// Bytes before the first record: one cache line, so that the records begin on one.
const SEGMENT_HEADER: usize = 64;
/// The length word and the kind.
const RECORD_HEADER: usize = 8;
/// The longest payload whose record header still counts in 32 bits.
const PAYLOAD_MAX: usize = u32::MAX as usize - RECORD_HEADER;

/// What a journal refuses, and why.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The segment has no room left for a record of that size.
    #[error("the journal is full")]
    Full,
    /// No segment of this capacity could ever hold a record of that size.
    #[error("a record larger than the journal")]
    TooLarge,
    /// Another process has the file open as its journal.
    #[error("the journal is in use by another process")]
    Busy,
    /// The file is not a journal, was cut, or has a record header that cannot be true.
    #[error("the journal is corrupt at byte {offset}")]
    Corrupt {
        /// Where in the file, in bytes from its start.
        offset: u64,
    },
    /// The kernel refused: no such file, no permission, disk full.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// One segment of records, pre-sized and pre-faulted, written by one thread.
///
/// A message is encoded in place: [`claim`](Self::claim) room, fill [`Claim::payload`], and
/// [`Claim::commit`] with the length it came to. Nothing is allocated, no system call is made, and
/// a process that dies at any point leaves a journal that holds exactly what it had committed.
///
/// Layout, all integers little-endian:
///
/// ```text
/// 0     magic u64 "HPJOURNL" | version u32 = 1 | zero u32 | capacity u64 | zeros up to 64
/// 64    record, record, …, zeros
///
/// record, at a multiple of 8
///   0   word u32     8 + bytes of payload; the commit mark, stored last; 0: no record from here on
///   4   kind u32     the caller's own
///   8   payload, then zeros up to a multiple of 8
/// ```
///
/// A file is locked (`flock`) for as long as it is open. The lock is advisory: whoever ignores it
/// and writes to the file, or cuts it, breaks the journal and may kill the process (SIGBUS).
///
/// It survives the death of its process, not the loss of power: nothing is forced to the disk, and
/// records carry no checksum.
#[derive(Debug)]
pub struct Journal {
    memory: MmapRaw,
    /// Where the next record goes. From here to the end of the segment lies no commit mark that a
    /// scan could reach: the word here is zero.
    end: usize,
    /// Keeps the lock.
    _file: File,
}

impl Journal {
    /// The room that a payload of so many bytes takes: its header, itself and its padding.
    ///
    /// A capacity is the sum of these.
    #[must_use]
    pub const fn room(payload: usize) -> usize {
        (payload + RECORD_HEADER).next_multiple_of(8)
    }

    /// A journal in memory only, with `capacity` bytes of room for records (rounded up to 8).
    ///
    /// # Errors
    /// [`JournalError::Io`] if there is no memory or no descriptor left.
    pub fn anonymous(capacity: usize) -> Result<Self, JournalError> {
        let file = memory::create(c"hairpin-journal")?;
        Self::format(file, capacity)
    }

    /// A journal in a new file, with `capacity` bytes of room for records (rounded up to 8).
    ///
    /// Every block of it is allocated here, so that a full disk shows now and not while trading.
    /// The file can be read and written by its owner only.
    ///
    /// # Errors
    /// [`JournalError::Io`] if the file exists or cannot be made, or the disk is full; a file that
    /// was made is removed again.
    pub fn create(path: impl AsRef<Path>, capacity: usize) -> Result<Self, JournalError> {
        let path = path.as_ref();
        let file =
            OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
        lock(&file)?;
        Self::format(file, capacity).inspect_err(|_| {
            // The first error is the one worth telling.
            let _ = std::fs::remove_file(path);
        })
    }

    /// Opens the journal in an existing file and goes on after its last committed record.
    ///
    /// What lies behind that record (a message that was being encoded when the process died) is
    /// zeroed.
    ///
    /// # Errors
    /// [`JournalError::Corrupt`] if the file is not a journal, is not as long as its header says,
    /// or has a record header that cannot be true; [`JournalError::Busy`] if another process has
    /// it open; [`JournalError::Io`] if it cannot be opened or mapped. The file is unchanged then.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, JournalError> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        lock(&file)?;
        check_header(&file)?;
        // A copy may have left holes where the zeros were.
        memory::allocate(&file, file.metadata()?.len())?;
        let memory = memory::map(&file)?;
        let mut journal = Self { end: memory.len(), memory, _file: file };
        journal.end = journal.scan()?;
        journal.clear_from(journal.end);
        Ok(journal)
    }

    fn format(file: File, capacity: usize) -> Result<Self, JournalError> {
        let length = capacity
            .checked_next_multiple_of(8)
            .and_then(|capacity| capacity.checked_add(SEGMENT_HEADER))
            .ok_or(JournalError::TooLarge)?;
        memory::allocate(&file, length as u64)?;
        file.write_all_at(&header(length - SEGMENT_HEADER), 0)?;
        Ok(Self { memory: memory::map(&file)?, end: SEGMENT_HEADER, _file: file })
    }

    /// Claims room for a payload of at most `max` bytes.
    ///
    /// # Errors
    /// [`JournalError::Full`] if that much is not left, [`JournalError::TooLarge`] if it never was.
    #[inline]
    pub fn claim(&mut self, max: usize) -> Result<Claim<'_>, JournalError> {
        if !self.has_room(max) {
            return Err(self.refusal(max));
        }
        Ok(Claim { journal: self, max })
    }

    /// Whether a payload of so many bytes can be claimed now.
    #[inline]
    #[must_use]
    pub fn has_room(&self, payload: usize) -> bool {
        // `end` never passes the end of the mapping, so that the subtraction cannot wrap.
        payload <= PAYLOAD_MAX && Self::room(payload) <= self.memory.len() - self.end
    }

    /// Forgets every record and begins again at the first byte, for one store. Handles of
    /// the records forgotten no longer name what they did.
    pub fn begin_again(&mut self) {
        self.end = SEGMENT_HEADER;
        if self.capacity() > 0 {
            // Release: whoever sees later records in this place sees the forgetting first.
            self.record_header(SEGMENT_HEADER).store(0, Ordering::Release);
        }
    }

    /// The payload of a committed record.
    ///
    /// # Panics
    /// If the record is of another journal and does not fit into this one.
    #[inline]
    #[must_use]
    pub fn bytes(&self, record: Record) -> &[u8] {
        let start = record.offset + RECORD_HEADER;
        assert!(start + record.length() <= self.end, "a record of another journal");
        // SAFETY: the range lies inside the mapping, in front of `end`, where nothing is written
        // while the journal is borrowed: a claim borrows it mutably and writes behind `end`. All
        // of the mapping is initialised: its file was zeros before it was records.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().add(start), record.length()) }
    }

    /// Every committed record with its payload, oldest first.
    #[must_use]
    pub fn records(&self) -> Records<'_> {
        Records { journal: self, offset: SEGMENT_HEADER }
    }

    /// Bytes of room for records in all, as given at creation and rounded up to 8.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.memory.len() - SEGMENT_HEADER
    }

    /// Bytes of room taken by committed records.
    #[must_use]
    pub fn used(&self) -> usize {
        self.end - SEGMENT_HEADER
    }

    /// Why a payload of so many bytes cannot be claimed.
    #[cold]
    fn refusal(&self, payload: usize) -> JournalError {
        if payload > PAYLOAD_MAX || Self::room(payload) > self.capacity() {
            JournalError::TooLarge
        } else {
            JournalError::Full
        }
    }

    /// The header of the record at `offset`: its commit mark in the low half, its kind in the high.
    ///
    /// One 8-byte store commits both.
    #[inline]
    fn record_header(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8) && offset + RECORD_HEADER <= self.memory.len());
        // SAFETY: in bounds and aligned, by the assertion and because a mapping begins on a page;
        // the mapping lives as long as `self`. Record headers are only ever reached this way,
        // and never overlap a payload: a claim's payload begins behind its header.
        unsafe { AtomicU64::from_ptr(self.memory.as_mut_ptr().add(offset).cast()) }
    }

    /// The record at `offset`, if one was committed there.
    ///
    /// # Errors
    /// [`JournalError::Corrupt`] if its length cannot be true.
    fn record_at(&self, offset: usize) -> Result<Option<Record>, JournalError> {
        if offset == self.memory.len() {
            return Ok(None);
        }
        let header = u64::from_le(self.record_header(offset).load(Ordering::Acquire));
        let (word, kind) = (header as u32, (header >> 32) as u32);
        if word == 0 {
            return Ok(None);
        }
        let left = self.memory.len() - offset;
        if (word as usize) < RECORD_HEADER || (word as usize).next_multiple_of(8) > left {
            return Err(JournalError::Corrupt { offset: offset as u64 });
        }
        Ok(Some(Record { offset, length: word - RECORD_HEADER as u32, kind }))
    }

    /// The offset behind the last committed record.
    fn scan(&self) -> Result<usize, JournalError> {
        let mut offset = SEGMENT_HEADER;
        while let Some(record) = self.record_at(offset)? {
            offset += Self::room(record.length());
        }
        Ok(offset)
    }

    /// Zeroes the segment from `offset` on.
    fn clear_from(&mut self, offset: usize) {
        let length = self.memory.len() - offset;
        // SAFETY: the range ends with the mapping, and `self` is borrowed mutably, so that no
        // payload of it is.
        unsafe { self.memory.as_mut_ptr().add(offset).write_bytes(0, length) }
    }
}

fn header(capacity: usize) -> [u8; SEGMENT_HEADER] {
    let mut header = [0; SEGMENT_HEADER];
    header[..8].copy_from_slice(&MAGIC.to_le_bytes());
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    header[16..24].copy_from_slice(&(capacity as u64).to_le_bytes());
    header
}

/// Checks that the file begins with the header of a segment exactly as long as the file.
fn check_header(file: &File) -> Result<(), JournalError> {
    let length = file.metadata()?.len();
    let capacity = length.checked_sub(SEGMENT_HEADER as u64);
    let Some(capacity) = capacity.filter(|capacity| capacity.is_multiple_of(8)) else {
        return Err(JournalError::Corrupt { offset: length });
    };
    let mut found = [0; SEGMENT_HEADER];
    file.read_exact_at(&mut found, 0)?;
    let expected = header(capacity as usize);
    match found.iter().zip(&expected).position(|(found, expected)| found != expected) {
        None => Ok(()),
        // The header is right but for its capacity: it is the file that was cut.
        Some(16..24) => Err(JournalError::Corrupt { offset: length }),
        Some(offset) => Err(JournalError::Corrupt { offset: offset as u64 }),
    }
}

fn lock(file: &File) -> Result<(), JournalError> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => JournalError::Busy,
        TryLockError::Error(error) => JournalError::Io(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use tempfile::TempDir;

    fn append(journal: &mut Journal, payload: &[u8]) -> Record {
        let mut claim = journal.claim(payload.len()).unwrap();
        claim.payload().copy_from_slice(payload);
        claim.commit(payload.len())
    }

    fn in_folder() -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        (folder, path)
    }

    fn overwrite(path: &Path, offset: u64, bytes: &[u8]) {
        let file = OpenOptions::new().write(true).open(path).unwrap();
        file.write_all_at(bytes, offset).unwrap();
    }

    fn corrupt_at(path: &Path) -> u64 {
        match Journal::open(path) {
            Err(JournalError::Corrupt { offset }) => offset,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    #[should_panic(expected = "another journal")]
    fn a_record_of_a_longer_journal_is_a_defect() {
        let mut longer = Journal::anonymous(64).unwrap();
        append(&mut longer, b"first");
        let record = append(&mut longer, b"second");
        let mut shorter = Journal::anonymous(64).unwrap();
        append(&mut shorter, b"first");
        let _ = shorter.bytes(record);
    }

    #[test]
    fn a_journal_that_cannot_be_allocated_is_an_error_and_no_file() {
        let (_folder, path) = in_folder();
        assert!(matches!(Journal::create(&path, 1 << 60), Err(JournalError::Io(_))));
        assert!(!path.exists());
        assert!(matches!(Journal::anonymous(usize::MAX), Err(JournalError::TooLarge)));
    }

    #[test]
    fn every_block_is_there_from_the_start() {
        use std::os::unix::fs::MetadataExt;
        let (_folder, path) = in_folder();
        let _journal = Journal::create(&path, 1 << 20).unwrap();
        assert!(path.metadata().unwrap().blocks() * 512 >= 1 << 20);
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_is_made_once_and_held_by_one() {
        let (_folder, path) = in_folder();
        let journal = Journal::create(&path, 64).unwrap();
        assert!(matches!(Journal::create(&path, 64), Err(JournalError::Io(_))));
        assert!(matches!(Journal::open(&path), Err(JournalError::Busy)));
        drop(journal);
        assert!(Journal::open(&path).is_ok());
    }

    #[test]
    fn opening_zeroes_what_was_never_committed() {
        let (_folder, path) = in_folder();
        let mut journal = Journal::create(&path, 128).unwrap();
        let record = append(&mut journal, b"kept");
        drop(journal);
        overwrite(&path, 64 + 16 + 8, &[0xff; 50]);
        let journal = Journal::open(&path).unwrap();
        assert_eq!(journal.records().collect::<Vec<_>>(), [(record, &b"kept"[..])]);
        assert!(std::fs::read(&path).unwrap()[64 + 16..].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn a_record_header_that_cannot_be_true_is_corrupt() {
        for word in [1_u32, 7, 129, 1 << 31, u32::MAX] {
            let (_folder, path) = in_folder();
            append(&mut Journal::create(&path, 128 + 16).unwrap(), b"kept");
            overwrite(&path, 64 + 16, &word.to_le_bytes());
            let before = std::fs::read(&path).unwrap();
            assert_eq!(corrupt_at(&path), 64 + 16, "word {word}");
            assert_eq!(std::fs::read(&path).unwrap(), before);
        }
    }

    #[test]
    fn a_segment_header_that_is_not_ours_is_corrupt() {
        for offset in [0, 7, 8, 12, 24, 63] {
            let (_folder, path) = in_folder();
            drop(Journal::create(&path, 128).unwrap());
            overwrite(&path, offset, &[0x55]);
            assert_eq!(corrupt_at(&path), offset);
        }
    }

    #[test]
    fn a_cut_or_grown_file_is_corrupt_where_it_ends() {
        for length in [0, 1, 63, 64, 72, 130, 191, 193, 200] {
            let (_folder, path) = in_folder();
            drop(Journal::create(&path, 128).unwrap());
            OpenOptions::new().write(true).open(&path).unwrap().set_len(length).unwrap();
            assert_eq!(corrupt_at(&path), length);
        }
    }

    #[test]
    fn what_is_not_there_is_an_io_error() {
        let (folder, path) = in_folder();
        assert!(matches!(Journal::open(path), Err(JournalError::Io(_))));
        assert!(matches!(Journal::open(folder.path()), Err(JournalError::Io(_))));
    }
}
