//! A reader of a journal for display, also while the journal is written or if it is damaged.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::format::{
    END, FIXED, Header, RECORD_HEADER, SEGMENT_HEADER, SEGMENT_MAX, SegmentHeader, TAIL,
};
use super::record::NO_SEGMENT;
use super::recovery::corrupt;
use super::segment::SMALLEST;
use super::segment_files;
use super::{JournalError, Tag};

/// The state of a record's checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checksum {
    /// The checksum matches.
    Valid,
    /// The checksum is not yet written.
    Missing,
    /// The checksum does not match: the record was changed after its commit.
    Mismatch,
}

/// A record that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The number of the segment; the first is 1.
    pub segment: u32,
    /// The offset of the record's header in the segment in bytes.
    pub offset: u64,
    /// The record's tag.
    pub tag: Tag,
    /// `true` if the callback of an inbound record has returned.
    pub marked: bool,
    /// The state of the checksum.
    pub checksum: Checksum,
    /// The payload.
    pub payload: Vec<u8>,
}

/// A reader of the journal in a directory from its oldest record, without a lock and without
/// changes.
///
/// The iterator returns records and errors. A damaged segment gives one [`JournalError::Corrupt`],
/// and the reader continues with the next segment. At the end the iterator returns `None`, and
/// returns further records after the writer has committed them. Files are read, not mapped, so a
/// file that is truncated in the meantime is an error and not fatal.
#[derive(Debug)]
pub struct Reader {
    directory: PathBuf,
    number: u32,
    open: Option<OpenSegment>,
    offset: u64,
}

#[derive(Debug)]
struct OpenSegment {
    file: File,
    path: PathBuf,
    bytes: u64,
}

/// The content at an offset of a segment.
enum Content {
    Entry(Box<Entry>, u64),
    Copy(u64),
    Empty,
    End,
}

impl Reader {
    /// Opens a reader of the journal in a directory.
    ///
    /// # Errors
    /// [`JournalError::Io`]; `NotFound` if there is no segment.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self, JournalError> {
        let directory = directory.as_ref().to_owned();
        let Some(&number) = segment_files::segments(&directory)?.first() else {
            return Err(io::Error::from(io::ErrorKind::NotFound).into());
        };
        Ok(Self { directory, number, open: None, offset: SEGMENT_HEADER as u64 })
    }

    /// Continues at the record at an offset of a segment, from an earlier [`Entry`].
    ///
    /// The position is not checked: at another offset the next item is an error or not a record of
    /// the journal.
    pub fn seek(&mut self, segment: u32, offset: u64) {
        if self.number != segment {
            self.number = segment;
            self.open = None;
        }
        self.offset = offset.clamp(SEGMENT_HEADER as u64, SEGMENT_MAX) & !7;
    }

    /// Returns the next entry, or `None` at the current end.
    fn read(&mut self) -> Result<Option<Entry>, JournalError> {
        loop {
            if self.open.is_none() {
                let path = segment_files::path_of(&self.directory, self.number);
                self.open = Some(match OpenSegment::open(path, self.number) {
                    Err(JournalError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                        return self.catch_up();
                    }
                    opened => opened?,
                });
            }
            let Some(open) = &self.open else { return Ok(None) };
            match open.find(self.number, self.offset)? {
                Content::Entry(entry, next) => {
                    self.offset = next;
                    return Ok(Some(*entry));
                }
                Content::Copy(next) => self.offset = next,
                // Only the end-of-segment word leads to the next segment, except in a damaged
                // segment.
                Content::Empty => return Ok(None),
                Content::End => self.advance(),
            }
        }
    }

    /// Handles a missing segment: it does not exist yet, or it was removed while earlier ones were
    /// read.
    fn catch_up(&mut self) -> Result<Option<Entry>, JournalError> {
        let numbers = segment_files::segments(&self.directory)?;
        match numbers.iter().find(|&&number| number > self.number) {
            Some(&number) => {
                let missing = corrupt(segment_files::path_of(&self.directory, self.number), 0);
                self.number = number;
                Err(missing)
            }
            None => Ok(None),
        }
    }

    fn advance(&mut self) {
        self.number += 1;
        self.open = None;
        self.offset = SEGMENT_HEADER as u64;
    }
}

impl Iterator for Reader {
    type Item = Result<Entry, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.read();
        let is_missing = self.open.is_none();
        match &found {
            // The reader has already skipped a removed segment.
            Err(JournalError::Corrupt { path, .. }) => {
                let is_of_this = *path == segment_files::path_of(&self.directory, self.number);
                if is_of_this || !is_missing {
                    self.advance();
                }
            }
            Err(_) => self.advance(),
            Ok(_) => {}
        }
        found.transpose()
    }
}

impl OpenSegment {
    fn open(path: PathBuf, number: u32) -> Result<Self, JournalError> {
        let file = File::open(&path)?;
        let bytes = file.metadata()?.len();
        if bytes < SMALLEST as u64 {
            return Err(corrupt(path, bytes));
        }
        let mut image = [0; FIXED];
        file.read_exact_at(&mut image, 0)?;
        match SegmentHeader::decode(&image) {
            Ok(header) if header.number != number => Err(corrupt(path, 12)),
            // The rest of a truncated file can still be read.
            Ok(_) if bytes <= SEGMENT_MAX => Ok(Self { file, path, bytes }),
            Ok(_) => Err(corrupt(path, bytes)),
            Err(offset) => Err(corrupt(path, offset)),
        }
    }

    /// Reads twice: the data after the word were written before the word.
    fn find(&self, number: u32, offset: u64) -> Result<Content, JournalError> {
        let corrupt_here = || corrupt(self.path.clone(), offset);
        let mut word = [0; 8];
        if offset + TAIL as u64 > self.bytes {
            return Err(corrupt_here());
        }
        self.file.read_exact_at(&mut word, offset)?;
        match u64::from_le_bytes(word) as u32 {
            0 => return Ok(Content::Empty),
            END => return Ok(Content::End),
            _ if offset + (RECORD_HEADER + TAIL) as u64 > self.bytes => return Err(corrupt_here()),
            _ => {}
        }
        let mut image = [0; RECORD_HEADER];
        self.file.read_exact_at(&mut image, offset)?;
        let (words, _) = image.as_chunks::<8>();
        let header = Header(std::array::from_fn(|index| u64::from_le_bytes(words[index])));
        let record = header.record(NO_SEGMENT, offset as usize, self.bytes as usize);
        let record = record.ok_or_else(corrupt_here)?;
        let next = record.next() as u64;
        if header.is_copy() {
            return Ok(Content::Copy(next));
        }
        let mut payload = vec![0; record.length()];
        self.file.read_exact_at(&mut payload, offset + RECORD_HEADER as u64)?;
        let checksum = match header.checksum() {
            0 => Checksum::Missing,
            sum if sum == header.sum(&payload) => Checksum::Valid,
            _ => Checksum::Mismatch,
        };
        let tag = header.tag().ok_or_else(corrupt_here)?;
        let segment = number;
        let entry = Entry { segment, offset, tag, marked: header.is_marked(), checksum, payload };
        Ok(Content::Entry(Box::new(entry), next))
    }
}
