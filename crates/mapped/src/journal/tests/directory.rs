//! The lock of a directory, two starts at once, and files that other programs change.

use super::*;

#[test]
fn failed_create_leaves_directory_of_another() {
    let (_parent, directory) = in_directory();
    fs::create_dir(&directory).unwrap();
    // The directory exists without a segment while its creator holds the lock.
    let winner = Directory::lock(&directory).unwrap();
    let busy = Journal::create_with(&directory, SMALL).unwrap_err();
    assert!(matches!(busy, JournalError::Busy { .. }), "{busy}");
    let mut journal = SegmentRoller::create(winner, SMALL, SMALL.segment_bytes).unwrap();
    send(&mut journal, 1);
    for _ in 0..3 {
        assert!(Journal::create_with(&directory, SMALL).is_err());
        assert!(Journal::open(&directory).is_err());
    }
    drop(journal);
    assert_eq!(numbers(&Journal::open(&directory).unwrap()), [1]);
}

#[test]
fn lock_survives_removed_lock_file_and_renamed_directory() {
    let (parent, directory) = in_directory();
    let (mut journal, mut worker) = with_manual_worker(&directory, SMALL);
    drop(Directory::lock(&directory).unwrap_err());
    let renamed = parent.path().join("renamed");
    fs::rename(&directory, &renamed).unwrap();
    for path in [&renamed, &fs::canonicalize(&renamed).unwrap()] {
        let busy = Journal::open(path).unwrap_err();
        assert!(matches!(&busy, JournalError::Busy { path: busy } if busy == path), "{busy}");
    }
    send(&mut journal, 1);
    worker.check();
    assert!(journal.failure().is_none());
    drop((journal, worker));
    assert_eq!(numbers(&Journal::open(&renamed).unwrap()), [1]);
}

#[test]
fn renamed_directory_receives_further_segments() {
    let (parent, directory) = in_directory();
    let mut journal = Journal::create_with(&directory, SMALL).unwrap();
    let renamed = parent.path().join("renamed");
    fs::rename(&directory, &renamed).unwrap();
    // Another journal takes the old path.
    let other = Journal::create_with(&directory, SMALL).unwrap();
    for number in 1..=60 {
        send(&mut journal, number);
    }
    journal.close().unwrap();
    assert_eq!(numbers(&Journal::open(&renamed).unwrap()), (1..=60).collect::<Vec<_>>());
    assert!(other.records().next().is_none() && !other.has_failed());
}

#[test]
fn earlier_version_with_lock_file_is_busy() {
    let (_parent, directory) = in_directory();
    drop(Journal::create_with(&directory, SMALL).unwrap());
    let lock = fs::File::create(directory.join("lock")).unwrap();
    lock.lock().unwrap();
    assert!(matches!(Journal::open(&directory), Err(JournalError::Busy { .. })));
    drop(lock);
    assert!(Journal::open(&directory).is_ok());
}

#[test]
fn linked_segment_is_opened_once() {
    let (parent, directory) = in_directory();
    let journal = Journal::create_with(&directory, SMALL).unwrap();
    let other = parent.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::hard_link(segment_files::path_of(&directory, 1), segment_files::path_of(&other, 1))
        .unwrap();
    let busy = Journal::open(&other).unwrap_err();
    assert!(matches!(&busy, JournalError::Busy { path } if *path == other), "{busy}");
    drop(journal);
    let link = parent.path().join("link");
    fs::create_dir(&link).unwrap();
    let target = segment_files::path_of(&directory, 1);
    std::os::unix::fs::symlink(target, segment_files::path_of(&link, 1)).unwrap();
    assert!(Journal::open(&link).is_err(), "a segment is no symbolic link");
    assert!(Journal::open(&other).is_ok());
}

#[test]
fn removed_or_truncated_segment_is_a_failure() {
    type Damage = fn(&Path) -> io::Result<()>;
    let truncate: Damage =
        |path| OpenOptions::new().write(true).open(path).and_then(|file| file.set_len(0));
    let remove: Damage = |path| fs::remove_file(path);
    for (damage, errno) in [(truncate, libc::EIO), (remove, libc::ENOENT)] {
        let (_parent, directory) = in_directory();
        let (mut journal, mut worker) = with_manual_worker(&directory, SMALL);
        send(&mut journal, 1);
        worker.check();
        assert!(!journal.has_failed());
        damage(&segment_files::path_of(&directory, 1)).unwrap();
        worker.check();
        assert!(journal.has_failed());
        assert_eq!(journal.failure().unwrap().raw_os_error(), Some(errno));
    }
}

#[test]
fn write_to_truncated_segment_does_not_end_the_process() {
    let (_parent, directory) = in_directory();
    let (mut journal, mut worker) = with_manual_worker(&directory, SMALL);
    send(&mut journal, 1);
    let path = segment_files::path_of(&directory, 1);
    OpenOptions::new().write(true).open(path).unwrap().set_len(0).unwrap();
    send(&mut journal, 2);
    worker.run_once(false);
    assert!(journal.has_failed());
    assert_eq!(journal.failure().unwrap().raw_os_error(), Some(libc::EIO));
}

/// Runs `starts` with two threads that start at once, each time in a new directory.
#[test]
fn one_of_two_starts_wins_and_loses_nothing() {
    for round in 0..hairpin_testbed::scaled(100) as u32 {
        let (_parent, directory) = in_directory();
        let barrier = std::sync::Barrier::new(2);
        let start = || {
            barrier.wait();
            let mut journal = Journal::create_with(&directory, SMALL).ok()?;
            send(&mut journal, round + 1);
            Some(journal)
        };
        let [first, second] = std::thread::scope(|scope| {
            let second = scope.spawn(start);
            let first = start();
            [first, second.join().unwrap()]
        });
        assert!(first.is_some() != second.is_some(), "round {round}: one start wins");
        assert!(matches!(Journal::open(&directory), Err(JournalError::Busy { .. })));
        drop((first, second));
        assert_eq!(numbers(&Journal::open(&directory).unwrap()), [round + 1], "round {round}");
    }
}
