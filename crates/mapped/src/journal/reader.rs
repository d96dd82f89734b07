//! A journal read for showing, while it is written or after it was harmed.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::folder;
use super::format::{
    END, FIXED, Header, RECORD_HEADER, SEGMENT_HEADER, SEGMENT_MAX, SegmentHeader, TAIL,
};
use super::recovery::corrupt;
use super::segment::SMALLEST;
use super::{JournalError, Record, Tag};

/// What a record's checksum says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checksum {
    /// It is right.
    Right,
    /// There is none yet.
    Missing,
    /// The record is not what was committed.
    Wrong,
}

/// A record as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// Where it is.
    pub record: Record,
    /// What stands in its header.
    pub tag: Tag,
    /// Whether the callback of an inbound record has returned.
    pub marked: bool,
    /// What its checksum says.
    pub checksum: Checksum,
    /// Its payload.
    pub payload: Vec<u8>,
}

/// Reads the journal in a folder from its oldest record on, without a lock and without changing
/// anything.
///
/// An iterator of what can be read and what cannot: a segment that is harmed gives one
/// [`JournalError::Corrupt`] and is left for the next. At the end it gives `None`, and goes on when
/// the writer has committed more. Files are read, not mapped, so that one that is cut meanwhile is
/// an error and no death.
#[derive(Debug)]
pub struct Reader {
    folder: PathBuf,
    number: u32,
    open: Option<Open>,
    offset: u64,
}

#[derive(Debug)]
struct Open {
    file: File,
    path: PathBuf,
    bytes: u64,
}

/// What is at a place in a segment.
enum Found {
    Entry(Box<Entry>, u64),
    Repeated(u64),
    Nothing,
    End,
}

impl Reader {
    /// A reader of the journal in a folder.
    ///
    /// # Errors
    /// [`JournalError::Io`], `NotFound` if there is no segment.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, JournalError> {
        let folder = folder.as_ref().to_owned();
        let Some(&number) = folder::segments(&folder)?.first() else {
            return Err(io::Error::from(io::ErrorKind::NotFound).into());
        };
        Ok(Self { folder, number, open: None, offset: SEGMENT_HEADER as u64 })
    }

    /// The next entry, or `None` at the end for now.
    fn read(&mut self) -> Result<Option<Entry>, JournalError> {
        loop {
            if self.open.is_none() {
                let path = folder::path_of(&self.folder, self.number);
                self.open = Some(match Open::at(path, self.number) {
                    Err(JournalError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                        return self.catch_up();
                    }
                    opened => opened?,
                });
            }
            let Some(open) = &self.open else { return Ok(None) };
            match open.find(self.number, self.offset)? {
                Found::Entry(entry, next) => {
                    self.offset = next;
                    return Ok(Some(*entry));
                }
                Found::Repeated(next) => self.offset = next,
                // Only the word that ends a segment leads on, but for one that is harmed.
                Found::Nothing => return Ok(None),
                Found::End => self.go_on(),
            }
        }
    }

    /// A segment is not there: it will be made, or it was dropped while earlier ones were read.
    fn catch_up(&mut self) -> Result<Option<Entry>, JournalError> {
        let numbers = folder::segments(&self.folder)?;
        match numbers.iter().find(|&&number| number > self.number) {
            Some(&number) => {
                let missing = corrupt(folder::path_of(&self.folder, self.number), 0);
                self.number = number;
                Err(missing)
            }
            None => Ok(None),
        }
    }

    fn go_on(&mut self) {
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
            // Of a segment that was dropped the reader has gone on already.
            Err(JournalError::Corrupt { path, .. }) => {
                let is_of_this = *path == folder::path_of(&self.folder, self.number);
                if is_of_this || !is_missing {
                    self.go_on();
                }
            }
            Err(_) => self.go_on(),
            Ok(_) => {}
        }
        found.transpose()
    }
}

impl Open {
    fn at(path: PathBuf, number: u32) -> Result<Self, JournalError> {
        let file = File::open(&path)?;
        let bytes = file.metadata()?.len();
        if bytes < SMALLEST as u64 {
            return Err(corrupt(path, bytes));
        }
        let mut image = [0; FIXED];
        file.read_exact_at(&mut image, 0)?;
        match SegmentHeader::decode(&image) {
            Ok(header) if header.number != number => Err(corrupt(path, 12)),
            // What is left of a file that was cut can still be read.
            Ok(_) if bytes <= SEGMENT_MAX => Ok(Self { file, path, bytes }),
            Ok(_) => Err(corrupt(path, bytes)),
            Err(offset) => Err(corrupt(path, offset)),
        }
    }

    /// Two reads: what is seen behind the word was there before it.
    fn find(&self, number: u32, offset: u64) -> Result<Found, JournalError> {
        let wrong = || corrupt(self.path.clone(), offset);
        let mut word = [0; 8];
        if offset + TAIL as u64 > self.bytes {
            return Err(wrong());
        }
        self.file.read_exact_at(&mut word, offset)?;
        match u64::from_le_bytes(word) as u32 {
            0 => return Ok(Found::Nothing),
            END => return Ok(Found::End),
            _ if offset + (RECORD_HEADER + TAIL) as u64 > self.bytes => return Err(wrong()),
            _ => {}
        }
        let mut image = [0; RECORD_HEADER];
        self.file.read_exact_at(&mut image, offset)?;
        let (words, _) = image.as_chunks::<8>();
        let header = Header(std::array::from_fn(|index| u64::from_le_bytes(words[index])));
        let record = header.record(number, offset as usize, self.bytes as usize);
        let record = record.ok_or_else(wrong)?;
        let next = record.next() as u64;
        if header.is_carried() {
            return Ok(Found::Repeated(next));
        }
        let mut payload = vec![0; record.length()];
        self.file.read_exact_at(&mut payload, offset + RECORD_HEADER as u64)?;
        let checksum = match header.checksum() {
            0 => Checksum::Missing,
            sum if sum == header.sum(&payload) => Checksum::Right,
            _ => Checksum::Wrong,
        };
        let tag = header.tag().ok_or_else(wrong)?;
        let entry = Entry { record, tag, marked: header.is_marked(), checksum, payload };
        Ok(Found::Entry(Box::new(entry), next))
    }
}
