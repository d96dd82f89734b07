//! A disk that is full, fails or becomes read-only, under every sync policy: the journal reports
//! it, the process continues, and nothing that was durable is lost.
//!
//! The tests start processes, which hold this program's locks until they call exec. So they run one
//! at a time, in a program of their own.
#![allow(clippy::unwrap_used, reason = "this is all tests")]

use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hairpin_mapped::{Journal, JournalError, JournalSettings, SyncPolicy, Tag};
use hairpin_testbed::LoopDisk;

const DISK_BYTES: u64 = 24 << 20;
const SEGMENT_BYTES: u64 = 64 << 10;

fn policies() -> [SyncPolicy; 3] {
    let interval = hairpin_time::Duration::from_millis(1);
    [SyncPolicy::None, SyncPolicy::Interval(interval), SyncPolicy::Each]
}

fn settings(sync: SyncPolicy) -> JournalSettings {
    JournalSettings { segment_bytes: SEGMENT_BYTES, sync, ..JournalSettings::default() }
}

/// Commits a record as a session does: under `SyncPolicy::Each` it must be durable.
fn commit(journal: &mut Journal, number: u32) -> Result<(), JournalError> {
    let mut claim = journal.claim(140)?;
    claim.payload().fill(number as u8);
    let record = claim.commit_as(&Tag { seq_num: number, ..Tag::default() }, 140);
    match journal.sync_policy() {
        SyncPolicy::Each => journal.wait_durable(record),
        _ => Ok(()),
    }
}

fn numbers(journal: &Journal) -> Vec<u32> {
    journal.records().map(|(record, _)| journal.tag(record).seq_num).collect()
}

fn has_kind(error: &JournalError, kind: io::ErrorKind) -> bool {
    matches!(error, JournalError::Io(error) if error.kind() == kind)
}

/// Runs `test` on a disk of its own, and no other at the same time.
fn on_disk(test: impl FnOnce(&LoopDisk) + Send) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    LoopDisk::run(folder.path(), DISK_BYTES, test);
}

/// Commits until the journal has failed. Returns the number of commits that were accepted.
fn commit_until_failure(journal: &mut Journal, first: u32) -> u32 {
    let mut number = first;
    // The journal's thread detects the failure at its next sync or check.
    for _ in 0..100_000 {
        if journal.has_failed() || commit(journal, number).is_err() {
            break;
        }
        number += 1;
        std::thread::sleep(Duration::from_millis(1));
    }
    // A failed wait precedes the flag in no case; an error of `claim` may.
    for _ in 0..10_000 {
        if journal.has_failed() {
            return number;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("the failure was not noticed");
}

fn fails(disk: &LoopDisk, sync: SyncPolicy, fault: impl FnOnce() -> io::Result<()>) {
    let folder = disk.folder().join("journal");
    let mut journal = Journal::create_with(&folder, settings(sync)).unwrap();
    for number in 1..=100 {
        commit(&mut journal, number).unwrap();
    }
    let last = journal.records().last().unwrap().0;
    journal.wait_durable(last).unwrap();
    fault().unwrap();
    let next = commit_until_failure(&mut journal, 101);
    let error = journal.failure().unwrap();
    let errno = error.raw_os_error().unwrap();
    assert!([libc::EIO, libc::EROFS].contains(&errno), "{sync:?}: {error}");
    // Every record is still readable, and the process survives further ones.
    let expected: Vec<u32> = (1..next).collect();
    assert!(numbers(&journal).starts_with(&expected[..100]), "{sync:?}");
    assert!(journal.close().is_err(), "{sync:?}");
    disk.restart().unwrap();
    let journal = Journal::open_with(&folder, settings(sync)).unwrap();
    let kept = numbers(&journal);
    let all: Vec<u32> = (1..=kept.len() as u32).collect();
    assert!(kept.len() >= 100 && kept == all, "{sync:?}: {kept:?}");
}

#[test]
#[ignore = "needs root"]
fn failed_disk_is_a_failure_under_every_policy() {
    for sync in policies() {
        on_disk(|disk| fails(disk, sync, || disk.fail()));
    }
}

#[test]
#[ignore = "needs root"]
fn read_only_disk_is_a_failure_under_every_policy() {
    for sync in policies() {
        on_disk(|disk| fails(disk, sync, || disk.make_read_only()));
    }
}

#[test]
#[ignore = "needs root"]
fn full_disk_refuses_records_until_there_is_room() {
    for sync in policies() {
        on_disk(|disk| {
            let folder = disk.folder().join("journal");
            let mut journal = Journal::create_with(&folder, settings(sync)).unwrap();
            fill(&disk.folder().join("ballast"));
            let mut number = 0;
            let error = loop {
                assert!(number < 100_000, "the disk must be full");
                match commit(&mut journal, number + 1) {
                    Ok(()) => number += 1,
                    Err(error) => break error,
                }
            };
            assert!(has_kind(&error, io::ErrorKind::StorageFull), "{sync:?}: {error}");
            assert!(!journal.has_failed(), "{sync:?}: what was accepted is safe");
            assert_eq!(numbers(&journal), (1..=number).collect::<Vec<_>>());
            // Another start on the full disk removes nothing but what it has created.
            let other = disk.folder().join("other");
            let error = Journal::create_with(&other, settings(sync)).unwrap_err();
            assert!(has_kind(&error, io::ErrorKind::StorageFull), "{sync:?}: {error}");
            assert!(!other.exists());
            fs::remove_file(disk.folder().join("ballast")).unwrap();
            let has_recovered = (0..10_000).any(|_| {
                std::thread::sleep(Duration::from_millis(1));
                commit(&mut journal, number + 1).is_ok()
            });
            assert!(has_recovered, "{sync:?}");
            journal.close().unwrap();
            let journal = Journal::open_with(&folder, settings(sync)).unwrap();
            assert_eq!(numbers(&journal), (1..=number + 1).collect::<Vec<_>>());
        });
    }
}

#[test]
#[ignore = "needs root"]
fn removed_lock_file_and_renamed_folder_lose_nothing() {
    for sync in policies() {
        on_disk(|disk| {
            let [folder, renamed] = ["journal", "renamed"].map(|name| disk.folder().join(name));
            let mut journal = Journal::create_with(&folder, settings(sync)).unwrap();
            let _ = fs::remove_file(folder.join("lock"));
            let second = Journal::open_with(&folder, settings(sync)).unwrap_err();
            assert!(matches!(second, JournalError::Busy { .. }), "{sync:?}: {second}");
            fs::rename(&folder, &renamed).unwrap();
            for number in 1..=2_000 {
                commit(&mut journal, number).unwrap();
            }
            let second = Journal::open_with(&renamed, settings(sync)).unwrap_err();
            assert!(matches!(second, JournalError::Busy { .. }), "{sync:?}: {second}");
            journal.close().unwrap();
            assert!(!folder.exists());
            let journal = Journal::open_with(&renamed, settings(sync)).unwrap();
            assert_eq!(numbers(&journal), (1..=2_000).collect::<Vec<_>>());
        });
    }
}

/// Fills the disk with a file.
fn fill(path: &Path) {
    let file = fs::File::create(path).unwrap();
    let mut bytes = 1_u64 << 20;
    let mut length = 0;
    while bytes >= 1 << 10 {
        let block = vec![1; bytes as usize];
        match std::os::unix::fs::FileExt::write_all_at(&file, &block, length) {
            Ok(()) => length += bytes,
            Err(_) => bytes /= 2,
        }
    }
}
