//! A journal in a directory is compared with a `Vec` of records: any operations, reopened at any
//! point, read by the journal itself and by a reader.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use hairpin_mapped::{
    Checksum, Direction, Journal, JournalError, JournalSettings, Reader, Record, Retention, Tag,
};
use hairpin_time::{Instant, Now, Utc};
use proptest::prelude::*;

const SEGMENT_HEADER: usize = 128;
const SMALL: JournalSettings = JournalSettings {
    segment_bytes: 4096,
    ahead: 1,
    sync: hairpin_mapped::SyncPolicy::None,
    retention: Retention { segments: 1000, age: None },
};

/// A committed record, and `true` if it was marked.
type Model = Vec<(Tag, Vec<u8>, bool)>;

/// An operation on a journal in a directory.
#[derive(Debug, Clone)]
enum Step {
    Commit {
        tag: Tag,
        payload: Vec<u8>,
        spare: usize,
    },
    Abandon {
        length: usize,
    },
    Mark {
        index: prop::sample::Index,
    },
    Reopen,
    /// The process dies while it encodes. Any bytes may follow the end, except in the first word.
    Garbage {
        pattern: Vec<u8>,
    },
    /// The newest file is truncated, which is detected, and then restored.
    Cut {
        length: u64,
    },
}

fn tag() -> impl Strategy<Value = Tag> {
    let numbers = (any::<u16>(), any::<u32>(), any::<u64>(), any::<u64>(), any::<u64>());
    (prop::sample::select(&Direction::ALL), numbers).prop_map(
        |(direction, (kind, seq_num, uuid, utc, monotonic))| {
            let monotonic = Instant::from_nanos(monotonic);
            let now = Now { monotonic, utc: Utc::from_nanos(utc) };
            Tag { direction, kind, seq_num, uuid, now }
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let bytes = |length| prop::collection::vec(any::<u8>(), length);
    prop_oneof![
        12 => (tag(), bytes(0..400), 0_usize..100)
            .prop_map(|(tag, payload, spare)| Step::Commit { tag, payload, spare }),
        3 => (0_usize..600).prop_map(|length| Step::Abandon { length }),
        4 => any::<prop::sample::Index>().prop_map(|index| Step::Mark { index }),
        2 => Just(Step::Reopen),
        1 => bytes(1..64).prop_map(|pattern| Step::Garbage { pattern }),
        1 => (0_u64..4096).prop_map(|length| Step::Cut { length }),
    ]
}

fn in_directory() -> (tempfile::TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("journal");
    (parent, directory)
}

fn newest(directory: &Path) -> PathBuf {
    let mut files: Vec<_> = fs::read_dir(directory).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "segment"));
    files.into_iter().max().unwrap()
}

fn commit(journal: &mut Journal, model: &mut Model, tag: Tag, payload: Vec<u8>, spare: usize) {
    match journal.claim(payload.len() + spare) {
        Ok(mut claim) => {
            claim.payload().fill(0xee);
            claim.payload()[..payload.len()].copy_from_slice(&payload);
            let record = claim.commit_as(&tag, payload.len());
            assert_eq!((journal.bytes(record), journal.tag(record)), (&payload[..], tag));
            model.push((tag, payload, false));
        }
        Err(error) => panic!("{error}"),
    }
}

fn abandon(journal: &mut Journal, length: usize) {
    match journal.claim(length) {
        Ok(mut claim) => claim.payload().fill(0xdd),
        Err(JournalError::TooLarge) => assert!(length > 4096 / 8),
        Err(error) => panic!("{error}"),
    }
}

fn mark(journal: &mut Journal, model: &mut Model, index: prop::sample::Index) {
    let records: Vec<Record> = journal.records().map(|(record, _)| record).collect();
    if !records.is_empty() {
        let index = index.index(records.len());
        journal.mark(records[index]);
        model[index].2 = true;
    }
}

fn scribble(file: &Path, start: usize, pattern: &[u8]) {
    let garbage: Vec<u8> =
        pattern.iter().copied().cycle().take(4096_usize.saturating_sub(start)).collect();
    OpenOptions::new()
        .write(true)
        .open(file)
        .unwrap()
        .write_all_at(&garbage, start as u64)
        .unwrap();
}

fn cut_and_restore(directory: &Path, length: u64) {
    let file = newest(directory);
    let whole = fs::read(&file).unwrap();
    OpenOptions::new().write(true).open(&file).unwrap().set_len(length).unwrap();
    match Journal::open_with(directory, SMALL) {
        Err(JournalError::Corrupt { path, offset }) => {
            assert_eq!((path, offset), (file.clone(), length))
        }
        // After a machine crash, an unused segment may be empty.
        other => assert!(length == 0, "{other:?}"),
    }
    fs::write(&file, whole).unwrap();
}

fn take(mut journal: Journal, model: &mut Model, directory: &Path, step: Step) -> Journal {
    match step {
        Step::Commit { tag, payload, spare } => {
            commit(&mut journal, model, tag, payload, spare);
            return journal;
        }
        Step::Abandon { length } => {
            abandon(&mut journal, length);
            return journal;
        }
        Step::Mark { index } => {
            mark(&mut journal, model, index);
            return journal;
        }
        Step::Reopen => drop(journal),
        Step::Garbage { pattern } => {
            let behind_the_end = SEGMENT_HEADER + journal.used() + 8;
            drop(journal);
            scribble(&newest(directory), behind_the_end, &pattern);
        }
        Step::Cut { length } => {
            drop(journal);
            cut_and_restore(directory, length);
        }
    }
    Journal::open_with(directory, SMALL).unwrap()
}

fn check(journal: &Journal, model: &Model, directory: &Path) {
    let found = journal.records().map(|(record, payload)| {
        (journal.tag(record), payload.to_vec(), journal.is_marked(record))
    });
    assert_eq!(&found.collect::<Model>(), model);
    let unmarked =
        model.iter().filter(|(tag, _, marked)| tag.direction == Direction::Inbound && !marked);
    assert_eq!(journal.unmarked().count(), unmarked.count());
    for direction in Direction::ALL {
        let last = model.iter().rfind(|(tag, ..)| tag.direction == direction).map(|(tag, ..)| *tag);
        assert_eq!(journal.last(direction).map(|record| journal.tag(record)), last);
    }
    let read = Reader::open(directory).unwrap().map(|entry| {
        let entry = entry.unwrap();
        assert_ne!(entry.checksum, Checksum::Mismatch);
        (entry.tag, entry.payload, entry.marked)
    });
    assert_eq!(&read.collect::<Model>(), model);
    if let Some((tag, payload, _)) =
        model.iter().rfind(|(tag, ..)| tag.direction != Direction::Control)
    {
        let found = journal.find(tag.direction, tag.kind, tag.uuid, tag.seq_num).unwrap();
        assert_eq!(journal.bytes(found), payload);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn journal_equals_vec_of_records(steps in prop::collection::vec(step(), 1..80)) {
        let (_parent, directory) = in_directory();
        let mut journal = Journal::create_with(&directory, SMALL).unwrap();
        let mut model = Vec::new();
        for step in steps {
            journal = take(journal, &mut model, &directory, step);
            check(&journal, &model, &directory);
        }
    }

    #[test]
    fn any_bytes_after_header_open_or_are_corrupt(
        garbage in prop::collection::vec(any::<u8>(), 0..200),
        words in prop::collection::vec(0_u32..100, 0..6),
    ) {
        let (_parent, directory) = in_directory();
        Journal::create_with(&directory, SMALL).unwrap().close().unwrap();
        let file = newest(&directory);
        let mut at = SEGMENT_HEADER;
        for word in words {
            scribble(&file, at, &[0]);
            let header = [u64::from(word), 0, 0, 0, 0, 1 << 48];
            let bytes: Vec<u8> = header.iter().flat_map(|word| word.to_le_bytes()).collect();
            let writable = OpenOptions::new().write(true).open(&file).unwrap();
            writable.write_all_at(&bytes, at as u64).unwrap();
            at += (word as usize).next_multiple_of(8).max(8);
        }
        let writable = OpenOptions::new().write(true).open(&file).unwrap();
        writable.write_all_at(&garbage, at as u64).unwrap();
        match Journal::open_with(&directory, SMALL) {
            Ok(journal) => {
                let records = journal.records().map(|(_, bytes)| Journal::room(bytes.len()));
                prop_assert!(records.sum::<usize>() <= journal.used());
            }
            Err(JournalError::Corrupt { offset, .. }) => {
                prop_assert!((128..4096).contains(&offset));
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    #[test]
    fn file_of_any_bytes_is_corrupt(bytes in prop::collection::vec(any::<u8>(), 1..300)) {
        let (_parent, directory) = in_directory();
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join("0000000001.segment"), bytes).unwrap();
        let is_corrupt = matches!(Journal::open(&directory), Err(JournalError::Corrupt { .. }));
        prop_assert!(is_corrupt);
        prop_assert!(Reader::open(&directory).unwrap().all(|entry| entry.is_err()));
    }
}
