//! A process that writes a journal is killed with SIGKILL at random times, again and again. Every
//! record whose commit has returned must be present, in order and complete, and no other record.
//!
//! `HAIRPIN_JOURNAL_DEATHS` sets the number of kills. The default is 60, scaled by
//! `HAIRPIN_TEST_SCALE`.
//!
//! The program both opens journals and starts processes, so it contains no other test.
#![expect(clippy::unwrap_used, reason = "all of this program is tests")]

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hairpin_mapped::{
    Checksum, Direction, Journal, JournalError, JournalSettings, Reader, Retention, SyncPolicy, Tag,
};
use hairpin_netsim::Random;
use hairpin_testbed::scaled;

const WRITER: &str = "HAIRPIN_JOURNAL_WRITER";
const DEATHS: &str = "HAIRPIN_JOURNAL_DEATHS";

const SETTINGS: JournalSettings = JournalSettings {
    segment_bytes: 16 << 10,
    ahead: 2,
    sync: SyncPolicy::Interval(hairpin_time::Duration::from_millis(5)),
    retention: Retention { segments: 6, age: None },
};

/// Returns the tag and the payload of a record, which follow from its number.
fn expected(number: u64) -> (Tag, Vec<u8>) {
    let direction = if number.is_multiple_of(3) { Direction::Inbound } else { Direction::Outbound };
    let length = 1 + (number * 37 % 400) as usize;
    let payload = (0..length).map(|at| (number as usize * 31 + at * 7) as u8).collect();
    (Tag { direction, seq_num: number as u32, uuid: 7, ..Tag::default() }, payload)
}

/// Returns the number of the newest record, or 0.
fn newest(journal: &Journal) -> u64 {
    let numbers = Direction::ALL.into_iter().filter_map(|direction| journal.last(direction));
    numbers.map(|record| u64::from(journal.tag(record).seq_num)).max().unwrap_or(0)
}

/// The process that is killed. It stores each number in a file once the commit has returned.
#[test]
fn writes_until_killed() {
    let Some(directory) = std::env::var_os(WRITER).map(PathBuf::from) else { return };
    let acknowledged = OpenOptions::new().write(true).open(directory.join("acknowledged")).unwrap();
    let journal = directory.join("journal");
    let mut journal = if journal.exists() {
        Journal::open_with(journal, SETTINGS).unwrap()
    } else {
        Journal::create_with(journal, SETTINGS).unwrap()
    };
    // A record that was committed but not marked when the previous process died is delivered again.
    let again: Vec<_> = journal.unmarked().map(|(record, _)| record).collect();
    again.into_iter().for_each(|record| journal.mark(record));
    for number in newest(&journal) + 1.. {
        let (tag, payload) = expected(number);
        let mut claim = journal.claim(400).unwrap();
        claim.payload().fill(0xee);
        claim.payload()[..payload.len()].copy_from_slice(&payload);
        let record = claim.commit_as(&tag, payload.len());
        acknowledged.write_all_at(&number.to_le_bytes(), 0).unwrap();
        if tag.direction == Direction::Inbound {
            journal.mark(record);
        } else {
            journal.needed_from(7, number as u32);
        }
    }
}

struct KilledWriters {
    parent: tempfile::TempDir,
    acknowledged: File,
}

impl KilledWriters {
    fn new() -> Self {
        let parent = tempfile::tempdir().unwrap();
        let mut options = OpenOptions::new();
        let acknowledged = options.read(true).write(true).create_new(true);
        let acknowledged = acknowledged.open(parent.path().join("acknowledged")).unwrap();
        acknowledged.write_all_at(&[0; 8], 0).unwrap();
        Self { parent, acknowledged }
    }

    fn journal(&self) -> PathBuf {
        self.parent.path().join("journal")
    }

    fn acknowledged(&self) -> u64 {
        let mut number = [0; 8];
        self.acknowledged.read_exact_at(&mut number, 0).unwrap();
        u64::from_le_bytes(number)
    }

    fn writer(&self) -> Child {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "writes_until_killed"])
            .env(WRITER, self.parent.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// Waits until the writer has committed a record, for up to a minute.
    fn wait_for_more_than(&self, number: u64) -> bool {
        (0..60_000).any(|_| {
            std::thread::sleep(Duration::from_millis(1));
            self.acknowledged() > number
        })
    }
}

/// Checks the journal while it is written: no other process can open it, and a reader finds
/// complete records in order.
fn check_while_written(directory: &Path) {
    let busy = Journal::open_with(directory, SETTINGS);
    assert!(matches!(busy, Err(JournalError::Busy { .. })), "{busy:?}");
    let mut last = 0;
    for entry in Reader::open(directory).unwrap() {
        // A segment may be removed just before it is read.
        let Ok(entry) = entry else { continue };
        assert_ne!(entry.checksum, Checksum::Mismatch);
        let number = u64::from(entry.tag.seq_num);
        assert!(number == last + 1 || last == 0 || number > last + 1, "{last}, {number}");
        assert_eq!((entry.tag, entry.payload), expected(number));
        last = number;
    }
    assert!(last > 0);
}

/// Checks the journal after the writer's death and returns the number of its newest record.
///
/// `least` is the newest number that is known to be committed. At most one more record may be
/// there: a writer commits a record only after it has acknowledged the previous one.
fn check(directory: &Path, least: u64) -> u64 {
    let journal = match Journal::open_with(directory, SETTINGS) {
        Ok(journal) => journal,
        Err(error) => panic!("after {least}: {error}"),
    };
    let newest = newest(&journal);
    assert!((least..=least + 1).contains(&newest), "committed up to {least}, found {newest}");
    assert_eq!(journal.recovery().torn, None);
    let numbers: Vec<u64> = journal
        .records()
        .map(|(record, payload)| {
            let tag = journal.tag(record);
            let number = u64::from(tag.seq_num);
            assert_eq!((tag, payload), (expected(number).0, &expected(number).1[..]));
            number
        })
        .collect();
    assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{numbers:?}");
    assert_eq!(numbers.last().copied().unwrap_or(0), newest);
    // Only records older than the retention may be missing.
    assert!(numbers.len() >= 60 || numbers.first().is_none_or(|&first| first == 1));
    let unmarked: Vec<_> =
        journal.unmarked().map(|(record, _)| journal.tag(record).seq_num).collect();
    assert!(unmarked.iter().all(|&number| u64::from(number) == newest), "{unmarked:?}, {newest}");
    journal.close().unwrap();
    newest
}

#[test]
fn committed_records_survive_process_death() {
    let deaths = std::env::var(DEATHS).map_or_else(|_| scaled(60), |text| text.parse().unwrap());
    let writers = KilledWriters::new();
    let mut random = Random::new(1);
    let mut killed_writing = 0;
    // A writer that is killed between commit and acknowledgment leaves a record that is found here,
    // but never acknowledged: the next writer continues after it. If that one is killed in the same
    // place, its record is two after the newest acknowledged number.
    let mut found = 0;
    for death in 0..deaths {
        let before = writers.acknowledged();
        let mut writer = writers.writer();
        let is_seen_writing = death % 4 != 0 && writers.wait_for_more_than(before);
        if death % 20 == 1 {
            check_while_written(&writers.journal());
        }
        // Some of the other writers die while they open or create the journal.
        std::thread::sleep(Duration::from_micros(random.below(8_000)));
        writer.kill().unwrap();
        let status = writer.wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9), "{status}");
        if !writers.journal().join("0000000001.segment").exists() && writers.acknowledged() == 0 {
            // The writer died before its first segment was complete: there is no journal yet.
            let _ = std::fs::remove_dir_all(writers.journal());
            continue;
        }
        found = check(&writers.journal(), found.max(writers.acknowledged()));
        killed_writing += u64::from(is_seen_writing);
    }
    assert!(killed_writing * 2 > deaths, "{killed_writing} of {deaths} died while they wrote");
    println!(
        "{deaths} deaths, {killed_writing} of them while writing, {} records",
        writers.acknowledged()
    );
}
