//! Journal tests. Where timing matters, the tests run the sync worker by hand.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;

use hairpin_time::{Instant, Now, Utc};
use tempfile::TempDir;

use super::recovery::{RecoveredSegment, SegmentScan};
use super::segment_files::MappedSegment;
use super::sync_worker::SyncWorker;
use super::*;

mod defects;
mod directory;
#[cfg(target_arch = "x86_64")]
mod stepped;

/// Settings with the minimum segment size.
const SMALL: JournalSettings = JournalSettings {
    segment_bytes: 4096,
    ahead: 1,
    sync: SyncPolicy::None,
    retention: Retention { segments: 1000, age: None },
};

fn tag(direction: Direction, seq_num: u32) -> Tag {
    let utc = Utc::from_nanos(1_000 + u64::from(seq_num));
    let now = Now { monotonic: Instant::from_nanos(5), utc };
    Tag::new(direction, 7, seq_num, now)
}

fn append(journal: &mut Journal, tag: Tag, payload: &[u8]) -> Record {
    let mut claim = journal.claim(payload.len()).unwrap();
    claim.payload().copy_from_slice(payload);
    claim.commit_as(&tag, payload.len())
}

fn send(journal: &mut Journal, seq_num: u32) -> Record {
    append(journal, tag(Direction::Outbound, seq_num), &[seq_num as u8; 140])
}

fn payloads(journal: &Journal) -> Vec<&[u8]> {
    journal.records().map(|(_, payload)| payload).collect()
}

fn numbers(journal: &Journal) -> Vec<u32> {
    journal.records().map(|(record, _)| journal.tag(record).seq_num).collect()
}

fn in_directory() -> (TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("journal");
    (parent, directory)
}

/// Creates a journal whose sync worker is run by the test.
fn with_manual_worker(directory: &Path, settings: JournalSettings) -> (Journal, SyncWorker) {
    with_changed_first_file(directory, settings, |_| {})
}

/// Creates such a journal after a change of its first file.
fn with_changed_first_file(
    directory: &Path,
    settings: JournalSettings,
    change: impl FnOnce(&mut MappedSegment),
) -> (Journal, SyncWorker) {
    fs::create_dir(directory).unwrap();
    let lock = segment_files::Directory::lock(directory).unwrap();
    let mut mapped = segment_files::create(directory, 1, settings.segment_bytes, false).unwrap();
    change(&mut mapped);
    let kept = vec![RecoveredSegment { mapped, scan: SegmentScan::new() }];
    let settings = (settings, settings.segment_bytes);
    SegmentRoller::assemble(directory, settings, lock, kept, Recovery::default())
}

/// Opens a journal again, with its sync worker run by the test.
fn reopen_with_manual_worker(directory: &Path) -> (Journal, SyncWorker) {
    let lock = segment_files::Directory::lock(directory).unwrap();
    let (kept, recovery) = recovery::recover(directory).unwrap();
    SegmentRoller::assemble(directory, (SMALL, SMALL.segment_bytes), lock, kept, recovery)
}

fn write_at(path: &Path, offset: u64, bytes: &[u8]) {
    OpenOptions::new().write(true).open(path).unwrap().write_all_at(bytes, offset).unwrap();
}

/// Simulates a restart of the machine: changes the segment's boot id.
fn simulate_reboot(path: &Path) {
    let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut header = SegmentHeader::decode(&Segment::fixed(&file).unwrap()).unwrap();
    header.boot[0] ^= 1;
    file.write_all_at(&header.encode(), 0).unwrap();
}

fn corrupt_at(directory: &Path) -> (PathBuf, u64) {
    match Journal::open(directory).unwrap_err() {
        JournalError::Corrupt { path, offset } => (path, offset),
        error => panic!("{error}"),
    }
}

#[test]
fn record_is_committed_in_place() {
    let mut journal = Journal::anonymous(256).unwrap();
    let mut claim = journal.claim(20).unwrap();
    assert_eq!(claim.payload().len(), 20);
    claim.payload()[..3].copy_from_slice(b"buy");
    let encoded = claim.payload().as_ptr();
    let tag = Tag { kind: 9, ..tag(Direction::Inbound, 4) };
    let record = claim.commit_as(&tag, 3);
    assert_eq!((journal.segment_of(record), record.offset(), record.length()), (1, 128, 3));
    assert_eq!((record.kind(), record.direction()), (9, Direction::Inbound));
    assert_eq!((journal.bytes(record), journal.tag(record)), (&b"buy"[..], tag));
    assert_eq!(journal.bytes(record).as_ptr(), encoded);
    assert_eq!(journal.used(), Journal::room(3));
    assert_eq!(journal.records().collect::<Vec<_>>(), [(record, &b"buy"[..])]);
}

#[test]
fn dropped_claim_leaves_nothing() {
    let mut journal = Journal::anonymous(1024).unwrap();
    append(&mut journal, Tag::default(), b"first");
    journal.claim(400).unwrap().payload().fill(0xff);
    assert_eq!(payloads(&journal), [b"first"]);
    append(&mut journal, Tag::default(), b"second");
    assert_eq!(journal.segment.slot(journal.end), Some(format::Slot::Empty));
    assert_eq!(payloads(&journal), [&b"first"[..], b"second"]);
}

#[test]
fn second_claim_keeps_encoded_bytes() {
    let mut journal = Journal::anonymous(256).unwrap();
    let payload = journal.claim(20).unwrap().into_payload();
    payload[..6].copy_from_slice(b"second");
    assert_eq!(payloads(&journal), [b""; 0]);
    journal.claim(6).unwrap().commit(6);
    assert_eq!(payloads(&journal), [b"second"]);
}

#[test]
fn memory_journal_fills_to_last_byte() {
    let mut journal = Journal::anonymous(2 * Journal::room(16)).unwrap();
    append(&mut journal, Tag::default(), &[1; 13]);
    assert!(matches!(journal.claim(17), Err(JournalError::Full)));
    append(&mut journal, Tag::default(), &[2; 16]);
    assert_eq!(journal.used(), journal.capacity());
    assert!(matches!(journal.claim(0), Err(JournalError::Full)));
    assert!(matches!(journal.claim(80), Err(JournalError::Full)));
    for length in [81, usize::MAX] {
        assert!(matches!(journal.claim(length), Err(JournalError::TooLarge)), "{length}");
    }
    assert_eq!(payloads(&journal), [vec![1; 13], vec![2; 16]]);
    assert!(matches!(Journal::anonymous(usize::MAX), Err(JournalError::TooLarge)));
    assert!(matches!(Journal::anonymous(0).unwrap().claim(0), Err(JournalError::TooLarge)));
}

#[test]
fn clears_memory_journal_only() {
    let mut journal = Journal::anonymous(3 * Journal::room(16)).unwrap();
    for byte in 1..=3 {
        append(&mut journal, Tag::default(), &[byte; 16]);
    }
    assert!(journal.clear());
    assert_eq!((journal.used(), journal.records().count()), (0, 0));
    assert_eq!(journal.last(Direction::Outbound), None);
    append(&mut journal, Tag::default(), &[4; 16]);
    assert_eq!(payloads(&journal), [[4; 16]]);
    let (_parent, directory) = in_directory();
    let mut journal = Journal::create(&directory, 4096).unwrap();
    send(&mut journal, 1);
    assert!(!journal.clear());
    assert_eq!(numbers(&journal), [1]);
}

#[test]
fn marked_record_is_not_delivered_again() {
    let mut journal = Journal::anonymous(4096).unwrap();
    send(&mut journal, 1);
    let [first, second, third] =
        [1, 2, 3].map(|number| append(&mut journal, tag(Direction::Inbound, number), b"report"));
    journal.mark(second);
    assert!(journal.is_marked(second) && !journal.is_marked(first));
    let unmarked: Vec<_> = journal.unmarked().map(|(record, _)| record).collect();
    assert_eq!(unmarked, [first, third]);
    assert_eq!(
        journal.tag(second),
        tag(Direction::Inbound, 2),
        "a mark changes nothing else in the tag"
    );
}

#[test]
fn replays_last_use_of_duplicate_number() {
    let mut journal = Journal::anonymous(1 << 16).unwrap();
    for (number, payload) in [(1, b"a"), (2, b"b"), (2, b"c"), (3, b"d"), (4, b"e"), (4, b"f")] {
        append(&mut journal, tag(Direction::Outbound, number), payload);
        append(&mut journal, tag(Direction::Inbound, number), b"answer");
        let fill = Tag { kind: 2, ..tag(Direction::Outbound, number) };
        append(&mut journal, fill, b"fill");
    }
    let replay = |numbers| -> Vec<&[u8]> {
        let replay = journal.replay(Direction::Outbound, 0, 7, numbers);
        replay.map(|(_, payload)| payload).collect()
    };
    assert_eq!(replay(1..=4), [b"a", b"c", b"d", b"f"]);
    assert_eq!(replay(2..=3), [b"c", b"d"]);
    assert_eq!(replay(2..=2), [b"c"]);
    assert_eq!(replay(4..=9), [b"f"]);
    assert_eq!(replay(5..=9), [b""; 0]);
    assert_eq!(journal.replay(Direction::Outbound, 0, 8, 1..=4).count(), 0);
    let found = journal.find(Direction::Outbound, 0, 7, 2).unwrap();
    assert_eq!(journal.bytes(found), b"c");
    assert_eq!(journal.find(Direction::Outbound, 0, 7, 5), None);
    assert_eq!(journal.find(Direction::Outbound, 0, 6, 2), None);
}

#[test]
fn advances_to_next_segment_when_full() {
    let (_parent, directory) = in_directory();
    let (mut journal, mut worker) = with_manual_worker(&directory, SMALL);
    append(&mut journal, tag(Direction::Control, 0), b"session");
    let report = append(&mut journal, tag(Direction::Inbound, 1), b"report");
    for number in 1..=100 {
        worker.run_once(false);
        assert!(journal.is_next_ready());
        let record = send(&mut journal, number);
        assert_eq!(journal.bytes(record), [number as u8; 140]);
    }
    assert!(journal.segments() >= 4, "{}", journal.segments());
    let sent: Vec<_> = (1..=100).collect();
    let all = numbers(&journal);
    assert_eq!((all[0], all[1], &all[2..]), (0, 1, &sent[..]));
    // Copies at the beginning of a segment are found, and are not returned twice.
    let control = journal.last(Direction::Control).unwrap();
    assert_eq!(
        (journal.segment_of(control) as usize, journal.bytes(control)),
        (journal.segments(), &b"session"[..])
    );
    let last = journal.last(Direction::Inbound).unwrap();
    assert_eq!((last.length(), journal.tag(last)), (0, tag(Direction::Inbound, 1)));
    let unmarked: Vec<_> = journal.unmarked().map(|(record, _)| record).collect();
    assert_eq!(unmarked, [report]);
    // Search backwards through all segments.
    let replayed = journal.replay(Direction::Outbound, 0, 7, 5..=95);
    let replayed: Vec<_> = replayed.map(|(record, _)| journal.tag(record).seq_num).collect();
    assert_eq!(replayed, (5..=95).collect::<Vec<_>>());
    assert_eq!(journal.find(Direction::Inbound, 0, 7, 1), Some(report));
    journal.mark(report);
    assert_eq!(journal.unmarked().count(), 0, "a mark in an old segment");
    assert!(matches!(journal.claim(513), Err(JournalError::TooLarge)));
    let before = payloads(&journal).concat();
    worker.run_once(false);
    drop((journal, worker));
    let journal = Journal::open_with(&directory, SMALL).unwrap();
    assert_eq!(payloads(&journal).concat(), before);
    assert_eq!(journal.recovery(), &Recovery { records: 102, torn: None });
    assert_eq!(journal.bytes(journal.last(Direction::Control).unwrap()), b"session");
}

#[test]
fn recovers_crash_between_two_segments() {
    for carried in 0..3 {
        let (_parent, directory) = in_directory();
        let (mut journal, mut worker) = with_manual_worker(&directory, SMALL);
        append(&mut journal, tag(Direction::Control, 0), b"session");
        append(&mut journal, tag(Direction::Inbound, 3), b"report");
        send(&mut journal, 8);
        worker.run_once(false);
        // The process closed the first segment and began to copy.
        journal.segment.close(journal.end);
        if carried > 0 {
            let mut last = journal.last;
            last[carried..].fill(0);
            let previous = journal.segment.clone();
            journal.segment = journal.roller.as_mut().unwrap().next().unwrap();
            (journal.end, journal.last) = (SEGMENT_HEADER, [0; 3]);
            journal.copy_newest(&previous, last);
        }
        drop((journal, worker));
        let mut journal = Journal::open_with(&directory, SMALL).unwrap();
        assert_eq!(journal.segments(), 2);
        assert_eq!(journal.bytes(journal.last(Direction::Control).unwrap()), b"session");
        let seq_num = |direction| journal.tag(journal.last(direction).unwrap()).seq_num;
        assert_eq!((seq_num(Direction::Outbound), seq_num(Direction::Inbound)), (8, 3));
        send(&mut journal, 9);
        assert_eq!(numbers(&journal), [0, 3, 8, 9]);
        drop(journal);
        assert_eq!(numbers(&Journal::open_with(&directory, SMALL).unwrap()), [0, 3, 8, 9]);
    }
}

#[test]
fn worker_writes_checksums_and_sync_makes_durable() {
    let (_parent, directory) = in_directory();
    let (mut journal, mut worker) = with_manual_worker(&directory, SMALL);
    let record = send(&mut journal, 1);
    assert_eq!(journal.header(record).checksum(), 0);
    worker.run_once(false);
    assert_eq!(journal.header(record).checksum(), journal.header(record).sum(&[1; 140]));
    assert!(!journal.is_durable(record));
    worker.run_once(true);
    let later = send(&mut journal, 2);
    assert!(journal.is_durable(record) && !journal.is_durable(later));
    assert_eq!(journal.segment.durable(), record.next() as u64);
    journal.wait_durable(record).unwrap();
    worker.run_once(true);
    assert!(journal.is_durable(later));
    while journal.segments() < 3 {
        worker.run_once(false);
        send(&mut journal, 3);
    }
    let newest = send(&mut journal, 4);
    assert!(!journal.is_durable(newest));
    worker.run_once(true);
    assert!(journal.is_durable(newest), "every earlier segment too");
}

#[test]
fn waits_for_durability_of_each_record() {
    for sync in [SyncPolicy::Each, SyncPolicy::Interval(hairpin_time::Duration::from_millis(1))] {
        let (_parent, directory) = in_directory();
        let settings = JournalSettings { sync, ..SMALL };
        let mut journal = Journal::create_with(&directory, settings).unwrap();
        assert_eq!(journal.sync_policy(), sync);
        for number in 1..=60 {
            let record = send(&mut journal, number);
            journal.wait_durable(record).unwrap();
            assert!(journal.is_durable(record));
        }
        journal.close().unwrap();
        assert_eq!(numbers(&Journal::open(&directory).unwrap()), (1..=60).collect::<Vec<_>>());
    }
}

#[test]
fn records_after_failed_sync_are_not_durable() {
    let (_parent, directory) = in_directory();
    let (mut journal, mut worker) = with_manual_worker(&directory, SMALL);
    let record = send(&mut journal, 1);
    let shared = journal.roller.as_ref().unwrap().shared();
    shared.set_sync_error(libc::EIO);
    worker.run_once(true);
    assert!(!journal.is_durable(record));
    let error = journal.wait_durable(record).unwrap_err();
    assert!(matches!(error, JournalError::Io(error) if error.raw_os_error() == Some(libc::EIO)));
    assert_eq!(journal.failure().unwrap().raw_os_error(), Some(libc::EIO));
}

#[test]
fn unsyncable_records_are_not_durable() {
    let (_parent, directory) = in_directory();
    // The kernel cannot sync this file and returns an error.
    let null = || segment_files::LockedFile::new(fs::File::open("/dev/null").unwrap(), &directory);
    let change = |mapped: &mut MappedSegment| mapped.file = null().unwrap();
    let (mut journal, mut worker) = with_changed_first_file(&directory, SMALL, change);
    let record = send(&mut journal, 1);
    worker.run_once(true);
    assert_ne!(journal.header(record).checksum(), 0);
    assert!(!journal.is_durable(record));
    assert_eq!(journal.segment.durable(), 0);
    assert_eq!(journal.failure().unwrap().raw_os_error(), Some(libc::EINVAL));
}

#[test]
fn close_writes_checksums_and_removes_spare_segments() {
    let (_parent, directory) = in_directory();
    let mut journal = Journal::create_with(&directory, SMALL).unwrap();
    journal.wait_ready();
    assert_eq!(segment_files::segments(&directory).unwrap(), [1, 2]);
    send(&mut journal, 1);
    journal.close().unwrap();
    assert_eq!(segment_files::segments(&directory).unwrap(), [1]);
    let read: Vec<_> = Reader::open(&directory).unwrap().map(Result::unwrap).collect();
    assert_eq!(read.iter().map(|entry| entry.checksum).collect::<Vec<_>>(), [Checksum::Valid]);
}

#[test]
fn reboot_ends_journal_at_first_missing_checksum() {
    let (_parent, directory) = in_directory();
    let (mut journal, mut worker) = with_manual_worker(&directory, SMALL);
    send(&mut journal, 1);
    worker.run_once(true);
    send(&mut journal, 2);
    worker.run_once(false);
    let third = send(&mut journal, 3);
    drop((journal, worker));
    let path = segment_files::path_of(&directory, 1);
    let whole = fs::read(&path).unwrap();
    // A process crash alone loses nothing.
    let journal = Journal::open_with(&directory, SMALL).unwrap();
    assert_eq!((numbers(&journal), journal.recovery().torn.clone()), (vec![1, 2, 3], None));
    drop(journal);
    fs::write(&path, whole).unwrap();
    simulate_reboot(&path);
    let mut journal = Journal::open_with(&directory, SMALL).unwrap();
    let torn = Some((path.clone(), third.offset() as u64));
    assert_eq!(journal.recovery(), &Recovery { records: 2, torn });
    assert_eq!(numbers(&journal), [1, 2]);
    // A discarded record must not reappear after a record that replaces an earlier one.
    assert!(fs::read(&path).unwrap()[third.offset()..].iter().all(|&byte| byte == 0));
    send(&mut journal, 4);
    drop(journal);
    assert_eq!(numbers(&Journal::open_with(&directory, SMALL).unwrap()), [1, 2, 4]);
}

#[test]
fn damaged_durable_record_is_corrupt_after_reboot() {
    let (_parent, directory) = in_directory();
    let (mut journal, mut worker) = with_manual_worker(&directory, SMALL);
    let first = send(&mut journal, 1);
    worker.run_once(true);
    let second = send(&mut journal, 2);
    worker.run_once(false);
    drop((journal, worker));
    let path = segment_files::path_of(&directory, 1);
    simulate_reboot(&path);
    let whole = fs::read(&path).unwrap();
    write_at(&path, second.offset() as u64 + 60, b"x");
    let journal = Journal::open_with(&directory, SMALL).unwrap();
    assert_eq!(numbers(&journal), [1], "the record was not known to be durable");
    drop(journal);
    fs::write(&path, &whole).unwrap();
    write_at(&path, first.offset() as u64 + 60, b"x");
    assert_eq!(corrupt_at(&directory), (path, first.offset() as u64));
}

#[test]
fn durable_record_without_checksum_is_corrupt() {
    for restarted in [false, true] {
        let (_parent, directory) = in_directory();
        let (mut journal, mut worker) = with_manual_worker(&directory, SMALL);
        let record = send(&mut journal, 1);
        worker.run_once(true);
        drop((journal, worker));
        let path = segment_files::path_of(&directory, 1);
        write_at(&path, record.offset() as u64 + 4, &[0; 4]);
        if restarted {
            simulate_reboot(&path);
        }
        assert_eq!(corrupt_at(&directory), (path, record.offset() as u64));
    }
}

#[test]
fn record_with_wrong_link_is_corrupt() {
    let (_parent, directory) = in_directory();
    let (mut journal, worker) = with_manual_worker(&directory, SMALL);
    send(&mut journal, 1);
    append(&mut journal, tag(Direction::Inbound, 1), b"report");
    let third = send(&mut journal, 2);
    drop((journal, worker));
    let path = segment_files::path_of(&directory, 1);
    // No record has a checksum yet, so only the link shows the error.
    write_at(&path, third.offset() as u64 + 40, &[0; 4]);
    assert_eq!(corrupt_at(&directory), (path, third.offset() as u64));
}

#[test]
fn records_after_reboot_survive_process_crash() {
    let (_parent, directory) = in_directory();
    let (mut journal, mut worker) = with_manual_worker(&directory, SMALL);
    send(&mut journal, 1);
    worker.run_once(false);
    drop((journal, worker));
    simulate_reboot(&segment_files::path_of(&directory, 1));
    let (mut journal, worker) = reopen_with_manual_worker(&directory);
    send(&mut journal, 2);
    drop((journal, worker));
    let journal = Journal::open_with(&directory, SMALL).unwrap();
    assert_eq!((numbers(&journal), journal.recovery().torn.clone()), (vec![1, 2], None));
}

#[test]
fn records_after_lost_page_do_not_reappear() {
    let (_parent, directory) = in_directory();
    let (mut journal, mut worker) = with_manual_worker(&directory, SMALL);
    send(&mut journal, 1);
    let [second, third] = [2, 3].map(|number| send(&mut journal, number));
    worker.run_once(false);
    drop((journal, worker));
    let path = segment_files::path_of(&directory, 1);
    let before = fs::read(&path).unwrap();
    // Nothing of the second record has reached the disk: the journal seems to end before it.
    write_at(&path, second.offset() as u64, &[0; 188]);
    simulate_reboot(&path);
    let (mut journal, mut worker) = reopen_with_manual_worker(&directory);
    assert_eq!((numbers(&journal), journal.recovery().torn.clone()), (vec![1], None));
    // A record of the same length replaces it; the data after it on disk are the old ones.
    assert_eq!(send(&mut journal, 4).offset(), second.offset());
    worker.run_once(false);
    drop((journal, worker));
    let after = fs::read(&path).unwrap();
    assert!(after[third.offset()..].iter().all(|&byte| byte == 0));
    assert!(before[third.offset()..].iter().any(|&byte| byte != 0));
    simulate_reboot(&path);
    assert_eq!(numbers(&Journal::open_with(&directory, SMALL).unwrap()), [1, 4]);
}

#[test]
fn checksum_error_reports_file_and_offset() {
    let (_parent, directory) = in_directory();
    let (mut journal, mut worker) = with_manual_worker(&directory, SMALL);
    let records: Vec<_> = (1..=60)
        .map(|number| {
            worker.run_once(false);
            send(&mut journal, number)
        })
        .collect();
    worker.run_once(false);
    let damaged = records[24];
    let in_second = records.iter().filter(|record| journal.segment_of(**record) == 2).count();
    assert_eq!(journal.segment_of(damaged), 2);
    drop((journal, worker));
    let path = segment_files::path_of(&directory, 2);
    write_at(&path, damaged.offset() as u64 + 50, b"x");
    let before = fs::read(&path).unwrap();
    assert_eq!(corrupt_at(&directory), (path.clone(), damaged.offset() as u64));
    assert_eq!(fs::read(&path).unwrap(), before);
    let read: Vec<_> = Reader::open(&directory).unwrap().map(Result::unwrap).collect();
    let mismatches: Vec<_> =
        read.iter().filter(|entry| entry.checksum == Checksum::Mismatch).collect();
    assert_eq!((read.len(), mismatches.len()), (60, 1));
    assert_eq!((mismatches[0].segment, mismatches[0].offset), (2, damaged.offset() as u64));
    // An invalid length hides the following records, in its own segment only.
    write_at(&path, damaged.offset() as u64, &[0xee; 4]);
    assert_eq!(corrupt_at(&directory), (path, damaged.offset() as u64));
    let (read, errors): (Vec<_>, Vec<_>) =
        Reader::open(&directory).unwrap().partition(Result::is_ok);
    let error = errors[0].as_ref().unwrap_err().to_string();
    assert!(error.contains("0000000002.segment") && errors.len() == 1, "{error}");
    let read: Vec<_> = read.into_iter().map(|entry| entry.unwrap().tag.seq_num).collect();
    assert!(read.starts_with(&(1..=24).collect::<Vec<_>>()) && read.ends_with(&[60]));
    assert!(read.len() < 60 && read.len() >= 60 - in_second);
}

#[test]
fn missing_segment_is_corrupt_and_others_are_readable() {
    let (_parent, directory) = in_directory();
    let (mut journal, mut worker) = with_manual_worker(&directory, SMALL);
    while journal.segments() < 3 {
        worker.run_once(false);
        send(&mut journal, 1);
    }
    drop((journal, worker));
    fs::remove_file(segment_files::path_of(&directory, 2)).unwrap();
    assert_eq!(corrupt_at(&directory), (segment_files::path_of(&directory, 2), 0));
    let (read, errors): (Vec<_>, Vec<_>) =
        Reader::open(&directory).unwrap().partition(Result::is_ok);
    assert!(errors.len() == 1 && read.len() > 19, "{} and {errors:?}", read.len());
}

#[test]
fn truncated_or_extended_file_is_corrupt() {
    for length in [0, 1, 64, 183, 184, 4095, 4104] {
        let (_parent, directory) = in_directory();
        Journal::create_with(&directory, SMALL).unwrap().close().unwrap();
        let path = segment_files::path_of(&directory, 1);
        OpenOptions::new().write(true).open(&path).unwrap().set_len(length).unwrap();
        assert_eq!(corrupt_at(&directory), (path, length));
    }
}

#[test]
fn foreign_header_is_corrupt() {
    for offset in [0, 8, 12, 16, 32, 48, 63] {
        let (_parent, directory) = in_directory();
        Journal::create_with(&directory, SMALL).unwrap().close().unwrap();
        let path = segment_files::path_of(&directory, 1);
        let byte = fs::read(&path).unwrap()[offset as usize];
        write_at(&path, offset, &[byte ^ 0x55]);
        let (found, place) = corrupt_at(&directory);
        let is_summed = (12..48).contains(&offset) && (48..52).contains(&place);
        assert!(found == path && (place == offset || is_summed), "{offset}: {place}");
    }
    let (_parent, directory) = in_directory();
    Journal::create_with(&directory, SMALL).unwrap().close().unwrap();
    fs::rename(segment_files::path_of(&directory, 1), segment_files::path_of(&directory, 2))
        .unwrap();
    assert_eq!(corrupt_at(&directory), (segment_files::path_of(&directory, 2), 12));
}

#[test]
fn unfinished_segment_is_created_again() {
    let (_parent, directory) = in_directory();
    let (mut journal, mut worker) = with_manual_worker(&directory, SMALL);
    send(&mut journal, 1);
    worker.run_once(false);
    drop((journal, worker));
    fs::write(directory.join("0000000003.unfinished"), [1; 100]).unwrap();
    // The machine crash lost everything of the newest segment except its name and size.
    fs::write(segment_files::path_of(&directory, 2), [0; 4096]).unwrap();
    fs::write(directory.join("notes.txt"), "unrelated").unwrap();
    let mut journal = Journal::open_with(&directory, SMALL).unwrap();
    assert!(!directory.join("0000000003.unfinished").exists());
    assert!(directory.join("notes.txt").exists());
    for number in 2..=30 {
        send(&mut journal, number);
    }
    drop(journal);
    assert_eq!(numbers(&Journal::open(&directory).unwrap()), (1..=30).collect::<Vec<_>>());
}

#[test]
fn records_after_open_end_are_corrupt_without_reboot() {
    let (_parent, directory) = in_directory();
    let (mut journal, mut worker) = with_manual_worker(&directory, SMALL);
    while journal.segments() < 2 {
        worker.run_once(false);
        send(&mut journal, 1);
    }
    let end = journal
        .records()
        .filter(|(record, _)| journal.segment_of(*record) == 1)
        .last()
        .unwrap()
        .0
        .next();
    worker.run_once(false);
    drop((journal, worker));
    let path = segment_files::path_of(&directory, 1);
    write_at(&path, end as u64, &[0; 8]);
    let second = segment_files::path_of(&directory, 2);
    assert_eq!(corrupt_at(&directory), (second.clone(), 128));
    simulate_reboot(&path);
    simulate_reboot(&second);
    let journal = Journal::open_with(&directory, SMALL).unwrap();
    assert_eq!(journal.segments(), 1);
    assert!(numbers(&journal).len() >= 15);
}

#[test]
fn journal_is_opened_once() {
    let (_parent, directory) = in_directory();
    let journal = Journal::create_with(&directory, SMALL).unwrap();
    assert!(matches!(Journal::create_with(&directory, SMALL), Err(JournalError::Io(_))));
    let error = Journal::open(&directory).unwrap_err();
    assert!(matches!(&error, JournalError::Busy { path } if *path == directory), "{error}");
    assert!(error.to_string().contains(directory.to_str().unwrap()), "{error}");
    drop(journal);
    assert!(Journal::open(&directory).is_ok());
}

#[test]
fn create_rejects_invalid_settings_and_leaves_nothing() {
    let (parent, directory) = in_directory();
    let error = |bytes| {
        let settings = JournalSettings { segment_bytes: bytes, ..SMALL };
        Journal::create_with(&directory, settings).unwrap_err()
    };
    assert!(matches!(error(u64::MAX), JournalError::TooLarge));
    assert!(matches!(error((1 << 31) + 1), JournalError::TooLarge));
    assert!(!directory.exists());
    assert!(matches!(Journal::open(&directory), Err(JournalError::Io(_))));
    let empty = Journal::open(parent.path()).unwrap_err();
    assert!(matches!(empty, JournalError::Io(error) if error.kind() == io::ErrorKind::NotFound));
    assert!(matches!(Reader::open(parent.path()), Err(JournalError::Io(_))));
}

#[test]
fn create_requires_empty_directory() {
    let (_parent, directory) = in_directory();
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("notes"), "mine").unwrap();
    for _ in 0..2 {
        let error = Journal::create_with(&directory, SMALL).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot create the journal: the directory is not empty and contains no journal"
        );
    }
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 1, "the directory is unchanged");
    fs::remove_file(directory.join("notes")).unwrap();
    // The leftovers of a process that died while it created the first segment.
    fs::write(directory.join("lock"), "").unwrap();
    fs::write(directory.join("0000000001.unfinished"), [1; 100]).unwrap();
    let mut journal = Journal::create_with(&directory, SMALL).unwrap();
    journal.claim(9).unwrap().commit(9);
    assert!(!directory.join("0000000001.unfinished").exists());
    drop(journal);
    assert!(matches!(Journal::create_with(&directory, SMALL), Err(JournalError::Io(_))));
    assert_eq!(Journal::open(&directory).unwrap().recovery().records, 1);
}

#[test]
fn failed_create_keeps_existing_directory() {
    let (_parent, directory) = in_directory();
    fs::create_dir(&directory).unwrap();
    let lock = segment_files::Directory::lock(&directory).unwrap();
    let busy = Journal::create_with(&directory, SMALL).unwrap_err();
    assert!(matches!(busy, JournalError::Busy { .. }), "{busy}");
    assert!(directory.exists());
    drop(lock);
    assert!(Journal::create_with(&directory, SMALL).is_ok());
}

#[test]
fn create_does_not_overwrite_concurrent_journal() {
    let (_parent, directory) = in_directory();
    let mut journal = Journal::create_with(&directory, SMALL).unwrap();
    send(&mut journal, 1);
    journal.close().unwrap();
    // The directory was empty when it was checked.
    let locked = Directory::lock(&directory).unwrap();
    let error = SegmentRoller::create(locked, SMALL, SMALL.segment_bytes).unwrap_err();
    let kind = io::ErrorKind::AlreadyExists;
    assert!(matches!(&error, JournalError::Io(error) if error.kind() == kind), "{error}");
    assert_eq!(numbers(&Journal::open(&directory).unwrap()), [1]);
}

#[test]
fn segment_is_allocated_and_private() {
    use std::os::unix::fs::MetadataExt;
    let (_parent, directory) = in_directory();
    let journal = Journal::create(&directory, 1 << 20).unwrap();
    journal.wait_ready();
    assert!(journal.capacity() >= 1 << 20);
    for number in [1, 2] {
        let file = segment_files::path_of(&directory, number).metadata().unwrap();
        assert!(file.blocks() * 512 >= 1 << 20);
        assert_eq!(file.mode() & 0o777, 0o600);
    }
    assert_eq!(directory.metadata().unwrap().mode() & 0o777, 0o700);
}

/// Writes until this many more segments were started, and runs the worker before each record.
fn fill(journal: &mut Journal, worker: &mut SyncWorker, direction: Direction, segments: u32) {
    let until = journal.segment.number() + segments;
    let mut number = journal.last(direction).map_or(0, |last| journal.tag(last).seq_num);
    while journal.segment.number() < until {
        worker.run_once(false);
        number += 1;
        let record = append(journal, tag(direction, number), &[1; 140]);
        if direction == Direction::Inbound {
            journal.mark(record);
        }
    }
    worker.run_once(false);
}

const TWO: Retention = Retention { segments: 2, age: None };

#[test]
fn removes_segments_beyond_retention() {
    let (_parent, directory) = in_directory();
    let settings = JournalSettings { retention: TWO, ..SMALL };
    let (mut journal, mut worker) = with_manual_worker(&directory, settings);
    append(&mut journal, tag(Direction::Control, 0), b"session");
    fill(&mut journal, &mut worker, Direction::Inbound, 10);
    // A disposable segment is retired when the next segment starts; the twelfth is created ahead.
    assert_eq!(journal.segments(), 3);
    assert_eq!(segment_files::segments(&directory).unwrap(), [9, 10, 11, 12]);
    assert_eq!(journal.bytes(journal.last(Direction::Control).unwrap()), b"session");
    drop((journal, worker));
    let journal = Journal::open_with(&directory, settings).unwrap();
    assert_eq!(journal.bytes(journal.last(Direction::Control).unwrap()), b"session");
    assert_eq!(journal.find(Direction::Inbound, 0, 7, 1), None);
    assert_eq!(journal.replay(Direction::Inbound, 0, 7, 1..=3).count(), 0);
}

#[test]
fn unmarked_record_keeps_its_segment() {
    let (_parent, directory) = in_directory();
    let (mut journal, mut worker) =
        with_manual_worker(&directory, JournalSettings { retention: TWO, ..SMALL });
    fill(&mut journal, &mut worker, Direction::Inbound, 1);
    let open = append(&mut journal, tag(Direction::Inbound, 99), b"not delivered");
    fill(&mut journal, &mut worker, Direction::Inbound, 8);
    assert_eq!(journal.unmarked().map(|(record, _)| record).collect::<Vec<_>>(), [open]);
    assert_eq!(journal.segments(), 9, "the first segment is disposable");
    journal.mark(open);
    fill(&mut journal, &mut worker, Direction::Inbound, 2);
    assert!(journal.segments() <= 4, "{}", journal.segments());
}

#[test]
fn removes_many_disposable_segments() {
    let (_parent, directory) = in_directory();
    let (mut journal, mut worker) =
        with_manual_worker(&directory, JournalSettings { retention: TWO, ..SMALL });
    let open = append(&mut journal, tag(Direction::Inbound, 99), b"not delivered");
    fill(&mut journal, &mut worker, Direction::Inbound, 70);
    assert_eq!(journal.segments(), 71, "more segments than can be retired at once");
    journal.mark(open);
    fill(&mut journal, &mut worker, Direction::Inbound, 2);
    assert_eq!(journal.segments(), 3);
    assert_eq!(segment_files::segments(&directory).unwrap(), [71, 72, 73, 74]);
}

#[test]
fn needed_outbound_message_keeps_its_segment() {
    let (_parent, directory) = in_directory();
    let (mut journal, mut worker) =
        with_manual_worker(&directory, JournalSettings { retention: TWO, ..SMALL });
    fill(&mut journal, &mut worker, Direction::Outbound, 6);
    assert_eq!(journal.segments(), 7, "needed_from was not called yet");
    let third = journal.records().find(|(record, _)| journal.segment_of(*record) == 3).unwrap().0;
    let needed = journal.tag(third).seq_num;
    journal.needed_from(7, needed);
    fill(&mut journal, &mut worker, Direction::Outbound, 2);
    assert_eq!(journal.records().next().unwrap().0, third);
    // A session with a higher UUID needs none of these messages.
    journal.needed_from(8, 1);
    fill(&mut journal, &mut worker, Direction::Outbound, 2);
    assert!(journal.segments() <= 4, "{}", journal.segments());
    let last = journal.last(Direction::Outbound).unwrap();
    assert!(journal.tag(last).seq_num > needed);
}

#[test]
fn removes_segments_by_age() {
    let (_parent, directory) = in_directory();
    let age = Some(hairpin_time::Duration::from_nanos(60));
    let retention = Retention { segments: 1000, age };
    let (mut journal, mut worker) =
        with_manual_worker(&directory, JournalSettings { retention, ..SMALL });
    // Each record is a nanosecond younger than the previous one; about twenty fit in a segment.
    fill(&mut journal, &mut worker, Direction::Inbound, 12);
    assert!((4..=7).contains(&journal.segments()), "{}", journal.segments());
}

#[test]
fn new_session_is_needed_from_first_number() {
    let shared = sync_state::SyncState::default();
    shared.set_needed(7, 1000);
    assert_eq!(shared.needed(), (7, 1000));
    shared.set_needed(8, 1);
    assert_eq!(shared.needed(), (8, 1));
}

#[test]
fn reader_continues_at_the_position_of_an_earlier_entry() {
    let (_parent, directory) = in_directory();
    let (mut journal, mut worker) = with_manual_worker(&directory, SMALL);
    for number in 1..=60 {
        worker.run_once(false);
        send(&mut journal, number);
    }
    let all: Vec<_> = Reader::open(&directory).unwrap().map(Result::unwrap).collect();
    assert!(all.last().unwrap().segment > 1);
    let mut reader = Reader::open(&directory).unwrap();
    for (index, entry) in all.iter().enumerate().rev() {
        reader.seek(entry.segment, entry.offset);
        let rest: Vec<_> = reader.by_ref().map(Result::unwrap).collect();
        assert_eq!(rest, all[index..]);
    }
    for offset in [0, 1, 7, u64::MAX] {
        reader.seek(1, offset);
        let _ = reader.next();
    }
}

#[test]
fn reader_follows_writer() {
    let (_parent, directory) = in_directory();
    let (mut journal, mut worker) = with_manual_worker(&directory, SMALL);
    let mut reader = Reader::open(&directory).unwrap();
    assert!(reader.next().is_none());
    let report = append(&mut journal, tag(Direction::Inbound, 5), b"report");
    journal.claim(100).unwrap().payload().fill(0xff);
    let read = reader.next().unwrap().unwrap();
    assert_eq!((read.segment, read.offset), (1, report.offset() as u64));
    assert_eq!(read.tag, tag(Direction::Inbound, 5));
    assert_eq!((read.marked, read.checksum), (false, Checksum::Missing));
    assert_eq!(read.payload, b"report");
    for number in 1..=60 {
        worker.run_once(false);
        assert!(reader.next().is_none());
        let record = send(&mut journal, number);
        let read = reader.next().unwrap().unwrap();
        assert_eq!(
            (read.segment, read.offset),
            (journal.segment_of(record), record.offset() as u64)
        );
    }
    journal.mark(report);
    worker.run_once(false);
    let first = Reader::open(&directory).unwrap().next().unwrap().unwrap();
    assert_eq!((first.marked, first.checksum), (true, Checksum::Valid));
}

#[test]
fn memory_journal_is_never_durable() {
    let mut journal = Journal::anonymous(4096).unwrap();
    let record = send(&mut journal, 1);
    journal.wait_durable(record).unwrap();
    journal.needed_from(7, 1);
    journal.wait_ready();
    assert!(!journal.is_durable(record) && !journal.is_next_ready());
    assert!(journal.failure().is_none() && journal.recovery() == &Recovery::default());
    journal.close().unwrap();
}
