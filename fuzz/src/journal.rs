//! The journal: written, harmed and opened again; and any file opened as one.
//!
//! Proves that a journal holds what was committed and nothing else, across claims dropped, fresh
//! starts and reopening; that garbage behind the last record changes nothing; that after the loss
//! of a suffix or of a byte every record before it is still there; that a file that was cut is
//! refused; that no file makes it panic; and that what is refused is left unchanged.
//!
//! An input is the capacity, steps of four bytes, 0xFF, and the harm: its kind, its place, a byte;
//! or 0xFF, and the bytes of a file.

use std::fs;
use std::path::{Path, PathBuf};

use hairpin_mapped::{Journal, JournalError};
use tempfile::TempDir;

use crate::Seed;
use crate::scratch;
use crate::script::Script;

/// Of the segment, and of a record.
const SEGMENT_HEADER: usize = 64;
const RECORD_HEADER: usize = 8;

/// One input.
pub fn run(bytes: &[u8]) {
    let folder = scratch::folder();
    if let [0xFF, file @ ..] = bytes {
        let path = folder.path().join("journal");
        fs::write(&path, file).expect("there is room");
        drop(open(&path));
        return;
    }
    let mut script = Script(bytes);
    let mut written = Written::new(folder, usize::from(script.byte()) * 8);
    while !script.is_over() {
        let [kind, a, b, c] = [(); 4].map(|()| script.byte());
        match kind % 16 {
            0 => written.begin_again(),
            1 => written.reopen(),
            2 | 3 => written.drop_claim(a, b),
            _ if kind == 0xFF => return written.harm(a, usize::from(b) * 8 + usize::from(c)),
            _ => written.append(a, b, c),
        }
    }
    written.reopen();
}

/// A record as it was committed.
type Record = (u32, Vec<u8>);

struct Written {
    folder: TempDir,
    journal: Option<Journal>,
    records: Vec<Record>,
}

impl Written {
    fn new(folder: TempDir, capacity: usize) -> Self {
        let journal = Journal::create(folder.path().join("journal"), capacity);
        let journal = journal.expect("there is room");
        assert_eq!((journal.capacity(), journal.used()), (capacity, 0));
        Self { folder, journal: Some(journal), records: Vec::new() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("journal")
    }

    fn journal(&mut self) -> &mut Journal {
        self.journal.as_mut().expect("it is open")
    }

    fn append(&mut self, max: u8, length: u8, kind: u8) {
        let (max, length) = (usize::from(max), usize::from(length.min(max)));
        let payload = vec![kind ^ length as u8 | 1; length];
        let journal = self.journal();
        let room = Journal::room(max);
        let (is_too_large, left) = (room > journal.capacity(), journal.capacity() - journal.used());
        match journal.claim(max) {
            Ok(mut claim) => {
                assert!(room <= left);
                // All of it, though only the beginning is committed.
                claim.payload().fill(0xEE);
                claim.payload()[..length].copy_from_slice(&payload);
                let record = claim.commit_kind(kind.into(), length);
                assert_eq!(journal.bytes(record), payload);
                self.records.push((kind.into(), payload));
            }
            Err(JournalError::TooLarge) => assert!(is_too_large),
            Err(JournalError::Full) => assert!(!is_too_large && room > left),
            Err(error) => panic!("{error}"),
        }
        self.check();
    }

    fn drop_claim(&mut self, max: u8, byte: u8) {
        if let Ok(mut claim) = self.journal().claim(max.into()) {
            claim.payload().fill(byte);
        }
        self.check();
    }

    fn begin_again(&mut self) {
        self.journal().begin_again();
        self.records.clear();
        self.check();
    }

    fn reopen(&mut self) {
        self.journal = None;
        self.journal = Some(Journal::open(self.path()).expect("it is whole"));
        self.check();
    }

    fn check(&self) {
        let journal = self.journal.as_ref().expect("it is open");
        assert_eq!(records(journal), self.records);
        let used: usize =
            self.records.iter().map(|(_, payload)| Journal::room(payload.len())).sum();
        assert_eq!(journal.used(), used);
    }

    /// Ends the process, harms the file, and opens it.
    fn harm(mut self, kind: u8, place: usize) {
        let used = self.journal().used();
        self.journal = None;
        let path = self.path();
        let mut bytes = fs::read(&path).expect("it is there");
        let (length, end) = (bytes.len(), SEGMENT_HEADER + used);
        // A word is on the disk or is not.
        let place = if kind % 4 == 1 { (place % length) & !7 } else { place % length };
        let header = bytes[..SEGMENT_HEADER].to_vec();
        match kind % 4 {
            // A message that was being encoded: behind the word of the next record.
            0 => {
                let begun = bytes.get_mut(end + RECORD_HEADER..).unwrap_or_default();
                begun.iter_mut().enumerate().for_each(|(at, byte)| *byte = (at * 7) as u8 | 1);
            }
            1 => bytes[place..].fill(0),
            2 => bytes.truncate(place),
            _ => bytes[place] ^= kind | 1,
        }
        fs::write(&path, &bytes).expect("there is room");
        let opened = open(&path);
        match (kind % 4, opened) {
            (0, opened) => assert_eq!(opened.expect("nothing committed was harmed"), self.records),
            (2, opened) => assert!(opened.is_err(), "it was cut"),
            (_, opened) if bytes[..SEGMENT_HEADER] != header => {
                assert!(opened.is_err_and(|offset| offset <= length as u64), "its header is wrong");
            }
            (harm, Ok(opened)) => {
                let kept = self.before(place);
                assert!(opened.len() >= kept.len() && opened[..kept.len()] == *kept);
                // What is lost is zero: of one record the end, or none.
                assert!(harm == 3 || opened.len() <= kept.len() + 1, "{opened:?}");
            }
            (harm, Err(offset)) => {
                assert_eq!(harm, 3, "zeros are the end of a journal");
                let room = |(_, payload): &Record| Journal::room(payload.len());
                let kept: usize = self.before(place).iter().map(room).sum();
                assert!(offset as usize >= SEGMENT_HEADER + kept, "{offset}");
            }
        }
    }

    /// The records that end at or before a byte of the file.
    fn before(&self, place: usize) -> &[Record] {
        let mut end = SEGMENT_HEADER;
        let is_before = |(_, payload): &&Record| {
            end += Journal::room(payload.len());
            end <= place
        };
        let count = self.records.iter().take_while(is_before).count();
        &self.records[..count]
    }
}

fn records(journal: &Journal) -> Vec<Record> {
    journal.records().map(|(record, payload)| (record.kind(), payload.to_vec())).collect()
}

/// The records of the journal in a file, or where it is corrupt; whichever it is, it stays so.
fn open(path: &Path) -> Result<Vec<Record>, u64> {
    let before = fs::read(path).expect("it is there");
    match Journal::open(path) {
        Err(JournalError::Corrupt { offset }) => {
            assert!(offset <= before.len() as u64);
            assert_eq!(fs::read(path).expect("it is there"), before, "it was changed");
            Err(offset)
        }
        Err(error) => panic!("{error}"),
        Ok(mut journal) => {
            let found = records(&journal);
            let rooms = found.iter().map(|(_, payload)| Journal::room(payload.len()));
            assert_eq!(rooms.sum::<usize>(), journal.used());
            let mut more = found.clone();
            if let Ok(mut claim) = journal.claim(3) {
                claim.payload().copy_from_slice(b"new");
                claim.commit_kind(9, 3);
                more.push((9, b"new".to_vec()));
            }
            drop(journal);
            assert_eq!(records(&Journal::open(path).expect("it was open")), more);
            Ok(found)
        }
    }
}

/// Records, a fresh start, a full journal; each harm; and files.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let seed = |name: &str, parts: &[&[u8]]| (name.to_owned(), parts.concat());
    let some: &[u8] = &[60, 4, 20, 13, 7, 4, 8, 8, 1, 2, 99, 0xFF, 0, 5, 0, 0, 9, 4, 40, 3, 2];
    let again: &[u8] = &[1, 0, 0, 0, 0, 0, 0, 0, 4, 9, 9, 3, 3, 200, 1, 0, 4, 30, 30, 5];
    let full: &[u8] = &[6, 4, 16, 16, 1, 4, 16, 16, 2, 4, 16, 16, 3, 4, 255, 1, 1];
    let header = |capacity: u8| {
        let mut header = [0; SEGMENT_HEADER];
        header[..9].copy_from_slice(b"HPJOURNL\x01");
        header[16] = capacity;
        header
    };
    let record = [12, 0, 0, 0, 7, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0];
    vec![
        seed("some", &[some]),
        seed("again", &[some, again]),
        seed("full", &[full]),
        seed("begun", &[some, &[0xFF, 0, 0, 0]]),
        seed("zeroed", &[some, &[0xFF, 1, 11, 2]]),
        seed("cut", &[some, &[0xFF, 2, 12, 0]]),
        seed("altered", &[some, &[0xFF, 3, 8, 0]]),
        seed("file", &[&[0xFF], &header(32), &record, &record]),
        seed("file-corrupt", &[&[0xFF], &header(32), &record, &[255; 16]]),
        seed("file-cut", &[&[0xFF], &header(48), &record, &record]),
    ]
}
