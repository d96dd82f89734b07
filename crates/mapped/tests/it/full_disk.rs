//! A full disk is an error of `claim` and does not end the process. The journal continues once
//! there is room.

use std::ffi::CString;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use hairpin_mapped::{Journal, JournalError, JournalSettings, Tag};

fn check(result: libc::c_int) {
    assert_eq!(result, 0, "{}", io::Error::last_os_error());
}

/// Mounts a memory file system of this size in the thread's own mount namespace.
fn mount(folder: &Path, bytes: usize) {
    let folder = CString::new(folder.to_str().unwrap()).unwrap();
    let options = CString::new(format!("size={bytes}")).unwrap();
    let tmpfs = c"tmpfs".as_ptr();
    // SAFETY: the call changes only this thread's view of the file system.
    check(unsafe { libc::unshare(libc::CLONE_NEWNS) });
    let private = libc::MS_REC | libc::MS_PRIVATE;
    let nothing = std::ptr::null();
    // SAFETY: the strings outlive the call, and null is allowed for the others.
    check(unsafe { libc::mount(nothing, c"/".as_ptr(), nothing, private, nothing.cast()) });
    // SAFETY: the strings outlive the call.
    check(unsafe { libc::mount(tmpfs, folder.as_ptr(), tmpfs, 0, options.as_ptr().cast()) });
}

fn commit(journal: &mut Journal, number: u32) -> Result<(), JournalError> {
    let mut claim = journal.claim(140)?;
    claim.payload().fill(number as u8);
    claim.commit_as(&Tag { seq_num: number, ..Tag::default() }, 140);
    Ok(())
}

fn numbers(journal: &Journal) -> Vec<u32> {
    journal.records().map(|(record, _)| journal.tag(record).seq_num).collect()
}

fn fill_and_recover(folder: &Path) {
    mount(folder, 128 << 10);
    let ballast = folder.join("ballast");
    fs::write(&ballast, vec![1; 64 << 10]).unwrap();
    let folder = folder.join("journal");
    let settings = JournalSettings { segment_bytes: 16 << 10, ..JournalSettings::default() };
    let mut journal = Journal::create_with(&folder, settings).unwrap();
    let mut number = 0;
    let error = loop {
        assert!(number < 1_000, "the disk must become full");
        match commit(&mut journal, number + 1) {
            Ok(()) => number += 1,
            Err(error) => break error,
        }
    };
    assert!(number >= 160, "{number} records fit in fewer than two segments");
    let is_full = |error: &io::Error| error.kind() == io::ErrorKind::StorageFull;
    assert!(matches!(&error, JournalError::Io(error) if is_full(error)), "{error}");
    assert!(journal.failure().is_some_and(|error| is_full(&error)));
    assert_eq!(numbers(&journal), (1..=number).collect::<Vec<_>>());
    fs::remove_file(ballast).unwrap();
    let has_recovered = (0..60_000).any(|_| {
        std::thread::sleep(Duration::from_millis(1));
        commit(&mut journal, number + 1).is_ok()
    });
    assert!(has_recovered, "the claim must succeed once there is room");
    journal.close().unwrap();
    let journal = Journal::open_with(&folder, settings).unwrap();
    assert_eq!(numbers(&journal), (1..=number + 1).collect::<Vec<_>>());
    drop(journal);
    // There is no room for another journal either.
    let large = JournalSettings { segment_bytes: 1 << 20, ..settings };
    let error = Journal::create_with(folder.with_extension("large"), large).unwrap_err();
    assert!(matches!(&error, JournalError::Io(error) if is_full(error)), "{error}");
    assert!(!folder.with_extension("large").exists());
}

#[test]
#[ignore = "needs root"]
fn claim_fails_while_disk_is_full() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().to_owned();
    std::thread::spawn(move || fill_and_recover(&folder)).join().unwrap();
}
