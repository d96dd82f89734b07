//! A process that writes a journal and is killed with SIGKILL at random moments, again and again:
//! every record whose commit returned is there, in order and whole, and nothing else is.
//!
//! `HAIRPIN_JOURNAL_DEATHS` says how often; 200 times unless it does.
#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hairpin_mapped::{
    Checksum, Direction, Journal, JournalError, JournalSettings, Reader, Retention, SyncPolicy, Tag,
};
use hairpin_netsim::Random;

const WRITER: &str = "HAIRPIN_JOURNAL_WRITER";
const DEATHS: &str = "HAIRPIN_JOURNAL_DEATHS";

const SETTINGS: JournalSettings = JournalSettings {
    segment_bytes: 16 << 10,
    ahead: 2,
    sync: SyncPolicy::Interval(hairpin_time::Duration::from_millis(5)),
    retention: Retention { segments: 6, age: None },
};

/// Everything about a record follows from its number.
fn expected(number: u64) -> (Tag, Vec<u8>) {
    let direction = if number.is_multiple_of(3) { Direction::Inbound } else { Direction::Outbound };
    let length = 1 + (number * 37 % 400) as usize;
    let payload = (0..length).map(|at| (number as usize * 31 + at * 7) as u8).collect();
    (Tag { direction, seq_num: number as u32, uuid: 7, ..Tag::default() }, payload)
}

/// The number of the newest record.
fn newest(journal: &Journal) -> u64 {
    let numbers = Direction::ALL.into_iter().filter_map(|direction| journal.last(direction));
    numbers.map(|record| u64::from(journal.tag(record).seq_num)).max().unwrap_or(0)
}

/// The process that dies. It notes each number once its commit has returned.
#[test]
fn writes_until_it_is_killed() {
    let Some(folder) = std::env::var_os(WRITER).map(PathBuf::from) else { return };
    let noted = OpenOptions::new().write(true).open(folder.join("noted")).unwrap();
    let journal = folder.join("journal");
    let mut journal = if journal.exists() {
        Journal::open_with(journal, SETTINGS).unwrap()
    } else {
        Journal::create_with(journal, SETTINGS).unwrap()
    };
    // One that was committed and not marked when the process before died is delivered again.
    let again: Vec<_> = journal.unmarked().map(|(record, _)| record).collect();
    again.into_iter().for_each(|record| journal.mark(record));
    for number in newest(&journal) + 1.. {
        let (tag, payload) = expected(number);
        let mut claim = journal.claim(400).unwrap();
        claim.payload().fill(0xee);
        claim.payload()[..payload.len()].copy_from_slice(&payload);
        let record = claim.commit_as(&tag, payload.len());
        noted.write_all_at(&number.to_le_bytes(), 0).unwrap();
        if tag.direction == Direction::Inbound {
            journal.mark(record);
        } else {
            journal.needed_from(7, number as u32);
        }
    }
}

struct Deaths {
    parent: tempfile::TempDir,
    noted: File,
}

impl Deaths {
    fn new() -> Self {
        let parent = tempfile::tempdir().unwrap();
        let mut options = OpenOptions::new();
        let noted = options.read(true).write(true).create_new(true);
        let noted = noted.open(parent.path().join("noted")).unwrap();
        noted.write_all_at(&[0; 8], 0).unwrap();
        Self { parent, noted }
    }

    fn journal(&self) -> PathBuf {
        self.parent.path().join("journal")
    }

    fn noted(&self) -> u64 {
        let mut number = [0; 8];
        self.noted.read_exact_at(&mut number, 0).unwrap();
        u64::from_le_bytes(number)
    }

    fn writer(&self) -> Child {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "writes_until_it_is_killed"])
            .env(WRITER, self.parent.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// Waits until the writer has written something, for long enough for any machine.
    fn wait_for_more_than(&self, number: u64) -> bool {
        (0..60_000).any(|_| {
            std::thread::sleep(Duration::from_millis(1));
            self.noted() > number
        })
    }
}

/// While it is written: nobody else can open it, and a reader finds whole records in order.
fn watch(folder: &Path) {
    let busy = Journal::open_with(folder, SETTINGS);
    assert!(matches!(busy, Err(JournalError::Busy { .. })), "{busy:?}");
    let mut last = 0;
    for entry in Reader::open(folder).unwrap() {
        // A segment may be dropped just before it is read.
        let Ok(entry) = entry else { continue };
        assert_ne!(entry.checksum, Checksum::Wrong);
        let number = u64::from(entry.tag.seq_num);
        assert!(number == last + 1 || last == 0 || number > last + 1, "{last}, {number}");
        assert_eq!((entry.tag, entry.payload), expected(number));
        last = number;
    }
    assert!(last > 0);
}

/// After its death: what was noted is there, with what was kept before it, and at most one more.
fn check(folder: &Path, noted: u64) {
    let journal = match Journal::open_with(folder, SETTINGS) {
        Ok(journal) => journal,
        Err(error) => panic!("after {noted}: {error}"),
    };
    let newest = newest(&journal);
    assert!((noted..=noted + 1).contains(&newest), "{noted} noted, {newest} there");
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
    // Whatever is older than the retention allows may be gone, and no more.
    assert!(numbers.len() >= 60 || numbers.first().is_none_or(|&first| first == 1));
    let unmarked: Vec<_> =
        journal.unmarked().map(|(record, _)| journal.tag(record).seq_num).collect();
    assert!(unmarked.iter().all(|&number| u64::from(number) == newest), "{unmarked:?}, {newest}");
    journal.close().unwrap();
}

#[test]
fn what_was_committed_survives_the_death_of_its_process() {
    let deaths = std::env::var(DEATHS).map_or(200, |text| text.parse().unwrap());
    let bench = Deaths::new();
    let mut random = Random::new(1);
    let mut killed_writing = 0;
    for death in 0..deaths {
        let before = bench.noted();
        let mut writer = bench.writer();
        let is_seen_writing = death % 4 != 0 && bench.wait_for_more_than(before);
        if death % 20 == 1 {
            watch(&bench.journal());
        }
        // Of those not seen writing some die while they open the journal, or make it.
        std::thread::sleep(Duration::from_micros(random.below(8_000)));
        writer.kill().unwrap();
        let status = writer.wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9), "{status}");
        if !bench.journal().join("0000000001.segment").exists() && bench.noted() == 0 {
            // It died before its first segment was whole: there is no journal yet.
            let _ = std::fs::remove_dir_all(bench.journal());
            continue;
        }
        check(&bench.journal(), bench.noted());
        killed_writing += u64::from(is_seen_writing);
    }
    assert!(killed_writing * 2 > deaths, "{killed_writing} of {deaths} died while they wrote");
    println!("{deaths} deaths, {killed_writing} of them while writing, {} records", bench.noted());
}
