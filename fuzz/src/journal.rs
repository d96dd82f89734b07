//! The journal: written, harmed and opened again; and any file opened as one.
//!
//! Proves that a journal holds what was committed and nothing else, across claims dropped, segments
//! that follow each other and reopening; that garbage behind the last record changes nothing; that
//! whatever else is harmed, what is opened is what was committed up to some record, or the journal
//! is refused and left unchanged; that the same is true after a restart of the machine; that no
//! file makes it or its reader panic; and that a reader shows what the journal holds.
//!
//! An input is steps of four bytes, 0xFF, and the harm: its kind, its place, a byte; or 0xFF and
//! the bytes of a file; or 0xFE and the bytes behind the header of a segment.

use std::fs;
use std::path::{Path, PathBuf};

use hairpin_mapped::{
    Checksum, Direction, Journal, JournalError, JournalSettings, Reader, SyncPolicy, Tag,
};
use tempfile::TempDir;

use crate::Seed;
use crate::scratch;
use crate::script::Script;

/// Of a segment, and the part of it that is written once.
const SEGMENT_HEADER: usize = 128;
const FIXED: usize = 64;
/// More than the files of any input can show.
const ENDLESS: usize = 1_000_000;

fn settings() -> JournalSettings {
    JournalSettings { segment_bytes: 4096, sync: SyncPolicy::None, ..JournalSettings::default() }
}

/// One input.
pub fn run(bytes: &[u8]) {
    let parent = scratch::folder();
    let folder = parent.path().join("journal");
    match bytes {
        [0xFF, file @ ..] => {
            fs::create_dir(&folder).expect("there is room");
            fs::write(folder.join("0000000001.segment"), file).expect("there is room");
            let _ = open(&folder);
        }
        [0xFE, records @ ..] => {
            drop(Journal::create_with(&folder, settings()).expect("there is room"));
            let file = newest(&folder);
            let mut whole = fs::read(&file).expect("it is there");
            let length = records.len().min(whole.len() - SEGMENT_HEADER);
            whole[SEGMENT_HEADER..SEGMENT_HEADER + length].copy_from_slice(&records[..length]);
            fs::write(&file, whole).expect("there is room");
            let _ = open(&folder);
        }
        _ => steps(parent, bytes),
    }
}

fn steps(parent: TempDir, bytes: &[u8]) {
    let mut script = Script(bytes);
    let mut written = Written::new(parent);
    while !script.is_over() {
        let [kind, a, b, c] = [(); 4].map(|()| script.byte());
        match kind % 16 {
            0 => written.mark(a),
            1 => written.reopen(),
            2 | 3 => written.drop_claim(a, b),
            _ if kind == 0xFF => return written.harm(a, usize::from(b) * 16 + usize::from(c)),
            _ => written.append(a, b, c),
        }
    }
    written.reopen();
}

/// A record as it was committed, and whether it was marked.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Kept {
    tag: Tag,
    payload: Vec<u8>,
    marked: bool,
}

struct Written {
    parent: TempDir,
    journal: Option<Journal>,
    records: Vec<Kept>,
}

impl Written {
    fn new(parent: TempDir) -> Self {
        let journal = Journal::create_with(parent.path().join("journal"), settings());
        let mut journal = journal.expect("there is room");
        assert!(!journal.begin_again() && journal.used() == 0);
        Self { parent, journal: Some(journal), records: Vec::new() }
    }

    fn folder(&self) -> PathBuf {
        self.parent.path().join("journal")
    }

    fn journal(&mut self) -> &mut Journal {
        self.journal.as_mut().expect("it is open")
    }

    fn append(&mut self, max: u8, length: u8, kind: u8) {
        let (max, length) = (usize::from(max), usize::from(length.min(max)));
        let payload = vec![(kind ^ length as u8) | 1; length];
        let direction = Direction::ALL[usize::from(kind) % 3];
        let seq_num = self.records.len() as u32;
        let tag = Tag { direction, kind: kind.into(), seq_num, uuid: 7, ..Tag::default() };
        let journal = self.journal();
        let mut claim = journal.claim(max).expect("there is room");
        // All of it, though only the beginning is committed.
        claim.payload().fill(0xEE);
        claim.payload()[..length].copy_from_slice(&payload);
        let record = claim.commit_as(&tag, length);
        assert_eq!((journal.bytes(record), journal.tag(record)), (&payload[..], tag));
        assert_eq!(journal.find(direction, tag.kind, 7, seq_num), Some(record));
        self.records.push(Kept { tag, payload, marked: false });
    }

    fn drop_claim(&mut self, max: u8, byte: u8) {
        self.journal().claim(max.into()).expect("there is room").payload().fill(byte);
    }

    fn mark(&mut self, index: u8) {
        let journal = self.journal.as_mut().expect("it is open");
        if let Some((record, _)) = journal.records().nth(index.into()) {
            journal.mark(record);
            self.records[usize::from(index)].marked = true;
        }
    }

    fn reopen(&mut self) {
        self.check();
        self.journal = None;
        let journal = Journal::open_with(self.folder(), settings());
        self.journal = Some(journal.expect("it is whole"));
        self.check();
    }

    fn check(&self) {
        let journal = self.journal.as_ref().expect("it is open");
        assert_eq!(records(journal), self.records);
        let shown = Reader::open(self.folder()).expect("it is there").map(|entry| {
            let entry = entry.expect("it is whole");
            assert_ne!(entry.checksum, Checksum::Mismatch);
            Kept { tag: entry.tag, payload: entry.payload, marked: entry.marked }
        });
        assert_eq!(shown.collect::<Vec<_>>(), self.records);
    }

    /// Ends the process, harms the newest file, and opens it.
    fn harm(mut self, kind: u8, place: usize) {
        let used = self.journal().used();
        self.journal = None;
        let file = newest(&self.folder());
        let mut bytes = fs::read(&file).expect("it is there");
        let (place, end) = (place % bytes.len(), SEGMENT_HEADER + used);
        if kind & 4 != 0 {
            restart(&mut bytes);
        }
        match kind % 4 {
            // A message that was being encoded: behind the word of the next record.
            0 => {
                let begun = bytes.get_mut(end + 8..).unwrap_or_default();
                begun.iter_mut().enumerate().for_each(|(at, byte)| *byte = (at * 7) as u8 | 1);
            }
            // A word is on the disk or is not.
            1 => bytes[place & !7..].fill(0),
            2 => bytes.truncate(place),
            _ => bytes[place] ^= kind | 1,
        }
        fs::write(&file, &bytes).expect("there is room");
        match (kind % 4, open(&self.folder())) {
            (0, opened) => assert_eq!(opened.expect("nothing committed was harmed"), self.records),
            (2, Ok(_)) => assert!(bytes.is_empty(), "it was cut"),
            (_, Ok(opened)) => {
                let parts = |kept: &Kept| (kept.tag, kept.payload.clone());
                let opened: Vec<_> = opened.iter().map(parts).collect();
                let records: Vec<_> = self.records.iter().map(parts).collect();
                assert!(records.starts_with(&opened), "{opened:?}");
            }
            (_, Err(offset)) => assert!(offset <= bytes.len() as u64),
        }
    }
}

/// The newest segment: numbers have leading zeros.
fn newest(folder: &Path) -> PathBuf {
    let entries = fs::read_dir(folder).expect("it is there");
    let paths = entries.map(|entry| entry.expect("it is there").path());
    let is_segment = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "segment");
    paths.filter(is_segment).max().expect("a journal has a segment")
}

/// Makes a segment one of an earlier run of the machine.
fn restart(bytes: &mut [u8]) {
    bytes[32] ^= 1;
    let sum = crc32(&bytes[..48]);
    bytes[48..52].copy_from_slice(&sum.to_le_bytes());
}

/// CRC-32 as IEEE 802.3 has it, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| {
            (sum >> 1) ^ (0xEDB8_8320 & !(sum & 1).wrapping_sub(1))
        })
    })
}

fn records(journal: &Journal) -> Vec<Kept> {
    let kept = journal.records().map(|(record, payload)| Kept {
        tag: journal.tag(record),
        payload: payload.to_vec(),
        marked: journal.is_marked(record),
    });
    kept.collect()
}

/// The records of the journal in a folder, or where its newest file is corrupt; whichever it is, it
/// stays so.
fn open(folder: &Path) -> Result<Vec<Kept>, u64> {
    let file = newest(folder);
    let before = fs::read(&file).expect("it is there");
    // What can be read is shown; it comes to an end, whatever it reads.
    let shown = Reader::open(folder).expect("it is there").take(ENDLESS).count();
    assert!(shown < ENDLESS);
    match Journal::open_with(folder, settings()) {
        // The next segment would have to repeat a record that no journal takes.
        Err(refused @ (JournalError::Corrupt { .. } | JournalError::TooLarge)) => {
            assert_eq!(fs::read(&file).expect("it is there"), before, "it was changed");
            Err(if let JournalError::Corrupt { offset, .. } = refused { offset } else { 0 })
        }
        Err(error) => panic!("{error}"),
        Ok(mut journal) => {
            let found = records(&journal);
            for direction in Direction::ALL {
                if let Some(last) = journal.last(direction) {
                    let tag = journal.tag(last);
                    let _ = journal.find(direction, tag.kind, tag.uuid, tag.seq_num);
                    let _ = journal.replay(direction, 0, tag.uuid, 0..=u32::MAX).count();
                }
            }
            assert!(journal.unmarked().count() <= found.len());
            let mut claim = journal.claim(3).expect("there is room");
            claim.payload().copy_from_slice(b"new");
            claim.commit(3);
            let mut more = found.clone();
            more.push(Kept { tag: Tag::default(), payload: b"new".to_vec(), marked: false });
            drop(journal);
            let journal = Journal::open_with(folder, settings()).expect("it was open");
            assert_eq!(records(&journal), more);
            Ok(found)
        }
    }
}

/// Records, many segments; each harm; and files.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let seed = |name: &str, parts: &[&[u8]]| (name.to_owned(), parts.concat());
    let some: &[u8] = &[4, 20, 13, 7, 4, 8, 8, 1, 2, 99, 0xFF, 0, 5, 0, 0, 9, 4, 40, 3, 2];
    let again: &[u8] = &[1, 0, 0, 0, 0, 1, 0, 0, 4, 9, 9, 3, 3, 200, 1, 0, 4, 30, 30, 5];
    let full = [4, 255, 250, 1, 4, 255, 240, 2, 4, 255, 230, 3].repeat(7);
    let mut header = [0; SEGMENT_HEADER];
    header[..13].copy_from_slice(b"HPJOURNL\x02\0\0\0\x01");
    header[17] = 1;
    let sum = crc32(&header[..48]);
    header[48..52].copy_from_slice(&sum.to_le_bytes());
    let mut record = [0; 56];
    (record[0], record[46], record[48]) = (52, 1, 9);
    let (mut inbound, mut repeated) = (record, record);
    inbound[46] = 2;
    (repeated[46], repeated[47]) = (3, 1);
    let mut too_large = repeated;
    too_large[..2].copy_from_slice(&(48 + 3_076_u16).to_le_bytes());
    let space = [0; 56];
    vec![
        seed("some", &[some]),
        seed("again", &[some, again]),
        seed("full", &[&full]),
        seed("begun", &[some, &[0xFF, 0, 0, 0]]),
        seed("zeroed", &[some, &[0xFF, 1, 12, 2]]),
        seed("cut", &[some, &[0xFF, 2, 12, 0]]),
        seed("altered", &[some, &[0xFF, 3, 11, 0]]),
        seed("full-altered", &[&full, &[0xFF, 3, 20, 0]]),
        seed("restarted", &[&full, &[0xFF, 4, 0, 0]]),
        seed("restarted-zeroed", &[some, &[0xFF, 5, 12, 2]]),
        seed("restarted-altered", &[some, &[0xFF, 7, 11, 0]]),
        seed("file", &[&[0xFF], &header, &record, &inbound, &space]),
        seed("file-cut", &[&[0xFF], &header[..FIXED]]),
        seed("records", &[&[0xFE], &repeated, &record, &inbound]),
        seed("records-corrupt", &[&[0xFE], &record, &[255; 16]]),
        seed("records-too-large", &[&[0xFE], &too_large, &[0; 3_072]]),
    ]
}
