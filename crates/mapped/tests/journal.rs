//! A journal against a `Vec` of records, read by a second reading of the documented layout.
#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use hairpin_mapped::{Journal, JournalError};
use proptest::prelude::*;

const SEGMENT_HEADER: usize = 64;
const CAPACITY: usize = 1024;

type Model = Vec<(u32, Vec<u8>)>;

/// What happens to a journal in its file.
#[derive(Debug, Clone)]
enum Step {
    Commit {
        kind: u32,
        payload: Vec<u8>,
        spare: usize,
    },
    Abandon {
        length: usize,
    },
    Reopen,
    /// The process dies while it encodes: anything may lie behind the end but for its first word.
    Garbage {
        pattern: Vec<u8>,
    },
    /// The file is cut, which shows, and then restored.
    Cut {
        length: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let bytes = |length| prop::collection::vec(any::<u8>(), length);
    prop_oneof![
        8 => (any::<u32>(), bytes(0..70), 0_usize..40)
            .prop_map(|(kind, payload, spare)| Step::Commit { kind, payload, spare }),
        4 => (0_usize..300).prop_map(|length| Step::Abandon { length }),
        2 => Just(Step::Reopen),
        1 => bytes(1..64).prop_map(|pattern| Step::Garbage { pattern }),
        1 => (0..(SEGMENT_HEADER + CAPACITY) as u64).prop_map(|length| Step::Cut { length }),
    ]
}

fn in_folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    (folder, path)
}

fn overwrite(path: &Path, offset: usize, bytes: &[u8]) {
    OpenOptions::new().write(true).open(path).unwrap().write_all_at(bytes, offset as u64).unwrap();
}

/// Every record that the file holds, by the layout alone.
fn read(path: &Path) -> Model {
    let bytes = fs::read(path).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let (mut found, mut at) = (Vec::new(), SEGMENT_HEADER);
    while at < bytes.len() && word(at) != 0 {
        let end = at + word(at) as usize;
        found.push((word(at + 4), bytes[at + 8..end].to_vec()));
        at = end.next_multiple_of(8);
        assert!(bytes[end..at].iter().all(|&byte| byte == 0), "padding");
    }
    found
}

fn commit(journal: &mut Journal, model: &mut Model, kind: u32, payload: Vec<u8>, spare: usize) {
    let left = journal.capacity() - journal.used();
    match journal.claim(payload.len() + spare) {
        Ok(mut claim) => {
            claim.payload().fill(0xee);
            claim.payload()[..payload.len()].copy_from_slice(&payload);
            let record = claim.commit_kind(kind, payload.len());
            assert_eq!(journal.bytes(record), payload);
            model.push((kind, payload));
        }
        Err(JournalError::Full) => assert!(Journal::room(payload.len() + spare) > left),
        Err(error) => panic!("{error}"),
    }
}

fn scribble(path: &Path, start: usize, pattern: &[u8]) {
    let end = SEGMENT_HEADER + CAPACITY;
    let garbage: Vec<u8> =
        pattern.iter().copied().cycle().take(end.saturating_sub(start)).collect();
    overwrite(path, start, &garbage);
}

fn cut_and_restore(path: &Path, length: u64) {
    let whole = fs::read(path).unwrap();
    OpenOptions::new().write(true).open(path).unwrap().set_len(length).unwrap();
    let error = Journal::open(path).unwrap_err();
    assert!(matches!(error, JournalError::Corrupt { offset } if offset == length), "{error}");
    fs::write(path, whole).unwrap();
}

fn take(mut journal: Journal, model: &mut Model, path: &Path, step: Step) -> Journal {
    match step {
        Step::Commit { kind, payload, spare } => {
            commit(&mut journal, model, kind, payload, spare);
            return journal;
        }
        Step::Abandon { length } => {
            if let Ok(mut claim) = journal.claim(length) {
                claim.payload().fill(0xdd);
            }
            return journal;
        }
        Step::Reopen => drop(journal),
        Step::Garbage { pattern } => {
            let behind_the_end = SEGMENT_HEADER + journal.used() + 8;
            drop(journal);
            scribble(path, behind_the_end, &pattern);
        }
        Step::Cut { length } => {
            drop(journal);
            cut_and_restore(path, length);
        }
    }
    Journal::open(path).unwrap()
}

proptest! {
    #[test]
    fn a_journal_is_a_vec_of_records(steps in prop::collection::vec(step(), 1..40)) {
        let (_folder, path) = in_folder();
        let mut journal = Journal::create(&path, CAPACITY).unwrap();
        let mut model = Vec::new();
        for step in steps {
            journal = take(journal, &mut model, &path, step);
            let records = journal.records().map(|(record, bytes)| (record.kind(), bytes.to_vec()));
            prop_assert_eq!(&records.collect::<Model>(), &model);
            prop_assert_eq!(&read(&path), &model);
        }
    }

    #[test]
    fn any_bytes_behind_the_header_open_or_are_corrupt(
        garbage in prop::collection::vec(any::<u8>(), 0..200),
        words in prop::collection::vec(0_u32..60, 0..6),
    ) {
        let (_folder, path) = in_folder();
        drop(Journal::create(&path, 512).unwrap());
        let mut at = SEGMENT_HEADER;
        for word in words {
            overwrite(&path, at, &word.to_le_bytes());
            at += (word as usize).next_multiple_of(8);
        }
        overwrite(&path, at, &garbage);
        OpenOptions::new().write(true).open(&path).unwrap().set_len(64 + 512).unwrap();
        match Journal::open(&path) {
            Ok(journal) => {
                let records = journal.records().map(|(_, bytes)| Journal::room(bytes.len()));
                prop_assert_eq!(records.sum::<usize>(), journal.used());
            }
            Err(JournalError::Corrupt { offset }) => prop_assert!((64..576).contains(&offset)),
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    #[test]
    fn a_short_file_of_any_bytes_is_corrupt(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let (_folder, path) = in_folder();
        fs::write(&path, bytes).unwrap();
        let is_corrupt = matches!(Journal::open(&path), Err(JournalError::Corrupt { .. }));
        prop_assert!(is_corrupt);
    }
}
