//! Tests of the journal, rule by rule; the thread's turns are taken by hand where it matters when
//! they are taken.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;

use hairpin_time::{Instant, Now, Utc};
use tempfile::TempDir;

use super::attendant::Attendant;
use super::folder::Mapped;
use super::recovery::{Kept, Walk};
use super::*;

mod defects;
#[cfg(target_arch = "x86_64")]
mod stepped;

/// The smallest segments there are.
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

fn in_folder() -> (TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("journal");
    (parent, folder)
}

/// A journal whose thread is the test.
fn unattended(folder: &Path, settings: JournalSettings) -> (Journal, Attendant) {
    unattended_with(folder, settings, |_| {})
}

/// The same, after a change of its first file.
fn unattended_with(
    folder: &Path,
    settings: JournalSettings,
    change: impl FnOnce(&mut Mapped),
) -> (Journal, Attendant) {
    fs::create_dir(folder).unwrap();
    let lock = folder::lock(folder).unwrap();
    let mut mapped = folder::create(folder, 1, settings.segment_bytes, false).unwrap();
    change(&mut mapped);
    let kept = vec![Kept { mapped, walk: Walk::new() }];
    let settings = (settings, settings.segment_bytes);
    Rolling::assemble(folder, settings, lock, kept, Recovery::default())
}

/// A journal that is opened again, whose thread is the test.
fn reopened(folder: &Path) -> (Journal, Attendant) {
    let lock = folder::lock(folder).unwrap();
    let (kept, recovery) = recovery::recover(folder).unwrap();
    Rolling::assemble(folder, (SMALL, SMALL.segment_bytes), lock, kept, recovery)
}

fn write_at(path: &Path, offset: u64, bytes: &[u8]) {
    OpenOptions::new().write(true).open(path).unwrap().write_all_at(bytes, offset).unwrap();
}

/// What the machine's restart does to a segment: it was opened in another run.
fn restart(path: &Path) {
    let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut header = SegmentHeader::decode(&Segment::fixed(&file).unwrap()).unwrap();
    header.boot[0] ^= 1;
    file.write_all_at(&header.encode(), 0).unwrap();
}

fn corrupt_at(folder: &Path) -> (PathBuf, u64) {
    match Journal::open(folder).unwrap_err() {
        JournalError::Corrupt { path, offset } => (path, offset),
        error => panic!("{error}"),
    }
}

#[test]
fn a_committed_record_is_where_it_was_encoded() {
    let mut journal = Journal::anonymous(256).unwrap();
    let mut claim = journal.claim(20).unwrap();
    assert_eq!(claim.payload().len(), 20);
    claim.payload()[..3].copy_from_slice(b"buy");
    let encoded = claim.payload().as_ptr();
    let tag = Tag { kind: 9, ..tag(Direction::Inbound, 4) };
    let record = claim.commit_as(&tag, 3);
    assert_eq!((record.segment(), record.offset(), record.length()), (1, 128, 3));
    assert_eq!((record.kind(), record.direction()), (9, Direction::Inbound));
    assert_eq!((journal.bytes(record), journal.tag(record)), (&b"buy"[..], tag));
    assert_eq!(journal.bytes(record).as_ptr(), encoded);
    assert_eq!(journal.used(), Journal::room(3));
    assert_eq!(journal.records().collect::<Vec<_>>(), [(record, &b"buy"[..])]);
}

#[test]
fn a_dropped_claim_leaves_nothing() {
    let mut journal = Journal::anonymous(1024).unwrap();
    append(&mut journal, Tag::default(), b"first");
    journal.claim(400).unwrap().payload().fill(0xff);
    assert_eq!(payloads(&journal), [b"first"]);
    append(&mut journal, Tag::default(), b"second");
    assert_eq!(journal.segment.slot(journal.end), Some(format::Slot::Empty));
    assert_eq!(payloads(&journal), [&b"first"[..], b"second"]);
}

#[test]
fn a_second_claim_commits_what_was_encoded_in_the_first() {
    let mut journal = Journal::anonymous(256).unwrap();
    let payload = journal.claim(20).unwrap().into_payload();
    payload[..6].copy_from_slice(b"second");
    assert_eq!(payloads(&journal), [b""; 0]);
    journal.claim(6).unwrap().commit(6);
    assert_eq!(payloads(&journal), [b"second"]);
}

#[test]
fn a_journal_in_memory_fills_to_its_last_byte() {
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
fn a_journal_in_memory_begins_again_and_one_in_a_folder_does_not() {
    let mut journal = Journal::anonymous(3 * Journal::room(16)).unwrap();
    for byte in 1..=3 {
        append(&mut journal, Tag::default(), &[byte; 16]);
    }
    assert!(journal.begin_again());
    assert_eq!((journal.used(), journal.records().count()), (0, 0));
    assert_eq!(journal.last(Direction::Outbound), None);
    append(&mut journal, Tag::default(), &[4; 16]);
    assert_eq!(payloads(&journal), [[4; 16]]);
    let (_parent, folder) = in_folder();
    let mut journal = Journal::create(&folder, 4096).unwrap();
    send(&mut journal, 1);
    assert!(!journal.begin_again());
    assert_eq!(numbers(&journal), [1]);
}

#[test]
fn what_is_marked_is_not_delivered_again() {
    let mut journal = Journal::anonymous(4096).unwrap();
    send(&mut journal, 1);
    let [first, second, third] =
        [1, 2, 3].map(|number| append(&mut journal, tag(Direction::Inbound, number), b"report"));
    journal.mark(second);
    assert!(journal.is_marked(second) && !journal.is_marked(first));
    let unmarked: Vec<_> = journal.unmarked().map(|(record, _)| record).collect();
    assert_eq!(unmarked, [first, third]);
    assert_eq!(journal.tag(second), tag(Direction::Inbound, 2), "a mark changes nothing else");
}

#[test]
fn a_number_used_twice_is_replayed_as_it_was_used_last() {
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
fn a_full_segment_is_followed_by_the_next() {
    let (_parent, folder) = in_folder();
    let (mut journal, mut attendant) = unattended(&folder, SMALL);
    append(&mut journal, tag(Direction::Control, 0), b"who we are");
    let report = append(&mut journal, tag(Direction::Inbound, 1), b"report");
    for number in 1..=100 {
        attendant.turn(false);
        assert!(journal.is_next_ready());
        let record = send(&mut journal, number);
        assert_eq!(journal.bytes(record), [number as u8; 140]);
    }
    assert!(journal.segments() >= 4, "{}", journal.segments());
    let sent: Vec<_> = (1..=100).collect();
    let all = numbers(&journal);
    assert_eq!((all[0], all[1], &all[2..]), (0, 1, &sent[..]));
    // What is repeated at the beginning of a segment is found, and is not there twice.
    let control = journal.last(Direction::Control).unwrap();
    assert_eq!(
        (control.segment() as usize, journal.bytes(control)),
        (journal.segments(), &b"who we are"[..])
    );
    let last = journal.last(Direction::Inbound).unwrap();
    assert_eq!((last.length(), journal.tag(last)), (0, tag(Direction::Inbound, 1)));
    let unmarked: Vec<_> = journal.unmarked().map(|(record, _)| record).collect();
    assert_eq!(unmarked, [report]);
    // Backwards through all of them.
    let replayed = journal.replay(Direction::Outbound, 0, 7, 5..=95);
    let replayed: Vec<_> = replayed.map(|(record, _)| journal.tag(record).seq_num).collect();
    assert_eq!(replayed, (5..=95).collect::<Vec<_>>());
    assert_eq!(journal.find(Direction::Inbound, 0, 7, 1), Some(report));
    journal.mark(report);
    assert_eq!(journal.unmarked().count(), 0, "a mark in an old segment");
    assert!(matches!(journal.claim(513), Err(JournalError::TooLarge)));
    let before = payloads(&journal).concat();
    attendant.turn(false);
    drop((journal, attendant));
    let journal = Journal::open_with(&folder, SMALL).unwrap();
    assert_eq!(payloads(&journal).concat(), before);
    assert_eq!(journal.recovery(), &Recovery { records: 102, torn: None });
    assert_eq!(journal.bytes(journal.last(Direction::Control).unwrap()), b"who we are");
}

#[test]
fn a_process_that_dies_between_two_segments_goes_on_in_the_second() {
    for carried in 0..3 {
        let (_parent, folder) = in_folder();
        let (mut journal, mut attendant) = unattended(&folder, SMALL);
        append(&mut journal, tag(Direction::Control, 0), b"who we are");
        append(&mut journal, tag(Direction::Inbound, 3), b"report");
        send(&mut journal, 8);
        attendant.turn(false);
        // It closed the first, and began to repeat.
        journal.segment.close(journal.end);
        if carried > 0 {
            let mut last = journal.last;
            last[carried..].fill(0);
            let previous = journal.segment.clone();
            journal.segment = journal.rolling.as_mut().unwrap().next().unwrap();
            (journal.end, journal.last) = (SEGMENT_HEADER, [0; 3]);
            journal.carry(&previous, last);
        }
        drop((journal, attendant));
        let mut journal = Journal::open_with(&folder, SMALL).unwrap();
        assert_eq!(journal.segments(), 2);
        assert_eq!(journal.bytes(journal.last(Direction::Control).unwrap()), b"who we are");
        let seq_num = |direction| journal.tag(journal.last(direction).unwrap()).seq_num;
        assert_eq!((seq_num(Direction::Outbound), seq_num(Direction::Inbound)), (8, 3));
        send(&mut journal, 9);
        assert_eq!(numbers(&journal), [0, 3, 8, 9]);
        drop(journal);
        assert_eq!(numbers(&Journal::open_with(&folder, SMALL).unwrap()), [0, 3, 8, 9]);
    }
}

#[test]
fn the_thread_gives_each_record_its_checksum_and_a_sync_makes_it_durable() {
    let (_parent, folder) = in_folder();
    let (mut journal, mut attendant) = unattended(&folder, SMALL);
    let record = send(&mut journal, 1);
    assert_eq!(journal.header(record).checksum(), 0);
    attendant.turn(false);
    assert_eq!(journal.header(record).checksum(), journal.header(record).sum(&[1; 140]));
    assert!(!journal.is_durable(record));
    attendant.turn(true);
    let later = send(&mut journal, 2);
    assert!(journal.is_durable(record) && !journal.is_durable(later));
    assert_eq!(journal.segment.durable(), record.next() as u64);
    journal.wait_durable(record).unwrap();
    attendant.turn(true);
    assert!(journal.is_durable(later));
    while journal.segments() < 3 {
        attendant.turn(false);
        send(&mut journal, 3);
    }
    let newest = send(&mut journal, 4);
    assert!(!journal.is_durable(newest));
    attendant.turn(true);
    assert!(journal.is_durable(newest), "every segment before it too");
}

#[test]
fn each_record_can_be_waited_for() {
    for sync in [SyncPolicy::Each, SyncPolicy::Interval(hairpin_time::Duration::from_millis(1))] {
        let (_parent, folder) = in_folder();
        let settings = JournalSettings { sync, ..SMALL };
        let mut journal = Journal::create_with(&folder, settings).unwrap();
        assert_eq!(journal.sync_policy(), sync);
        for number in 1..=60 {
            let record = send(&mut journal, number);
            journal.wait_durable(record).unwrap();
            assert!(journal.is_durable(record));
        }
        journal.close().unwrap();
        assert_eq!(numbers(&Journal::open(&folder).unwrap()), (1..=60).collect::<Vec<_>>());
    }
}

#[test]
fn what_was_synced_no_more_is_never_called_durable() {
    let (_parent, folder) = in_folder();
    let (mut journal, mut attendant) = unattended(&folder, SMALL);
    let record = send(&mut journal, 1);
    let shared = journal.rolling.as_ref().unwrap().shared();
    shared.set_sync_error(libc::EIO);
    attendant.turn(true);
    assert!(!journal.is_durable(record));
    let error = journal.wait_durable(record).unwrap_err();
    assert!(matches!(error, JournalError::Io(error) if error.raw_os_error() == Some(libc::EIO)));
    assert_eq!(journal.failure().unwrap().raw_os_error(), Some(libc::EIO));
}

#[test]
fn what_cannot_be_forced_to_the_disk_is_never_called_durable() {
    let (_parent, folder) = in_folder();
    // That is nothing the kernel could bring to a disk, and it says so.
    let change = |mapped: &mut Mapped| mapped.file = fs::File::open("/dev/null").unwrap();
    let (mut journal, mut attendant) = unattended_with(&folder, SMALL, change);
    let record = send(&mut journal, 1);
    attendant.turn(true);
    assert_ne!(journal.header(record).checksum(), 0);
    assert!(!journal.is_durable(record));
    assert_eq!(journal.segment.durable(), 0);
    assert_eq!(journal.failure().unwrap().raw_os_error(), Some(libc::EINVAL));
}

#[test]
fn an_orderly_end_leaves_checksums_and_no_spare_segments() {
    let (_parent, folder) = in_folder();
    let mut journal = Journal::create_with(&folder, SMALL).unwrap();
    journal.wait_ready();
    assert_eq!(folder::segments(&folder).unwrap(), [1, 2]);
    send(&mut journal, 1);
    journal.close().unwrap();
    assert_eq!(folder::segments(&folder).unwrap(), [1]);
    let read: Vec<_> = Reader::open(&folder).unwrap().map(Result::unwrap).collect();
    assert_eq!(read.iter().map(|entry| entry.checksum).collect::<Vec<_>>(), [Checksum::Right]);
}

#[test]
fn a_restart_of_the_machine_ends_the_journal_at_the_first_record_without_checksum() {
    let (_parent, folder) = in_folder();
    let (mut journal, mut attendant) = unattended(&folder, SMALL);
    send(&mut journal, 1);
    attendant.turn(true);
    send(&mut journal, 2);
    attendant.turn(false);
    let third = send(&mut journal, 3);
    drop((journal, attendant));
    let path = folder::path_of(&folder, 1);
    let whole = fs::read(&path).unwrap();
    // The death of the process alone takes nothing.
    let journal = Journal::open_with(&folder, SMALL).unwrap();
    assert_eq!((numbers(&journal), journal.recovery().torn.clone()), (vec![1, 2, 3], None));
    drop(journal);
    fs::write(&path, whole).unwrap();
    restart(&path);
    let mut journal = Journal::open_with(&folder, SMALL).unwrap();
    let torn = Some((path.clone(), third.offset() as u64));
    assert_eq!(journal.recovery(), &Recovery { records: 2, torn });
    assert_eq!(numbers(&journal), [1, 2]);
    // A record that was given up must not come back behind one that takes its place.
    assert!(fs::read(&path).unwrap()[third.offset()..].iter().all(|&byte| byte == 0));
    send(&mut journal, 4);
    drop(journal);
    assert_eq!(numbers(&Journal::open_with(&folder, SMALL).unwrap()), [1, 2, 4]);
}

#[test]
fn what_was_durable_and_is_harmed_is_corrupt_after_a_restart_too() {
    let (_parent, folder) = in_folder();
    let (mut journal, mut attendant) = unattended(&folder, SMALL);
    let first = send(&mut journal, 1);
    attendant.turn(true);
    let second = send(&mut journal, 2);
    attendant.turn(false);
    drop((journal, attendant));
    let path = folder::path_of(&folder, 1);
    restart(&path);
    let whole = fs::read(&path).unwrap();
    write_at(&path, second.offset() as u64 + 60, b"x");
    let journal = Journal::open_with(&folder, SMALL).unwrap();
    assert_eq!(numbers(&journal), [1], "it was not known to be there");
    drop(journal);
    fs::write(&path, &whole).unwrap();
    write_at(&path, first.offset() as u64 + 60, b"x");
    assert_eq!(corrupt_at(&folder), (path, first.offset() as u64));
}

#[test]
fn what_was_durable_and_has_no_checksum_is_corrupt() {
    for restarted in [false, true] {
        let (_parent, folder) = in_folder();
        let (mut journal, mut attendant) = unattended(&folder, SMALL);
        let record = send(&mut journal, 1);
        attendant.turn(true);
        drop((journal, attendant));
        let path = folder::path_of(&folder, 1);
        write_at(&path, record.offset() as u64 + 4, &[0; 4]);
        if restarted {
            restart(&path);
        }
        assert_eq!(corrupt_at(&folder), (path, record.offset() as u64));
    }
}

#[test]
fn a_record_that_does_not_name_the_one_before_it_is_corrupt() {
    let (_parent, folder) = in_folder();
    let (mut journal, attendant) = unattended(&folder, SMALL);
    send(&mut journal, 1);
    append(&mut journal, tag(Direction::Inbound, 1), b"report");
    let third = send(&mut journal, 2);
    drop((journal, attendant));
    let path = folder::path_of(&folder, 1);
    // None of them has a checksum yet: nothing else tells.
    write_at(&path, third.offset() as u64 + 40, &[0; 4]);
    assert_eq!(corrupt_at(&folder), (path, third.offset() as u64));
}

#[test]
fn what_was_written_after_a_restart_of_the_machine_survives_the_process_without_checksum() {
    let (_parent, folder) = in_folder();
    let (mut journal, mut attendant) = unattended(&folder, SMALL);
    send(&mut journal, 1);
    attendant.turn(false);
    drop((journal, attendant));
    restart(&folder::path_of(&folder, 1));
    let (mut journal, attendant) = reopened(&folder);
    send(&mut journal, 2);
    drop((journal, attendant));
    let journal = Journal::open_with(&folder, SMALL).unwrap();
    assert_eq!((numbers(&journal), journal.recovery().torn.clone()), (vec![1, 2], None));
}

#[test]
fn records_behind_a_page_that_the_machine_lost_do_not_come_back_when_it_stops_again() {
    let (_parent, folder) = in_folder();
    let (mut journal, mut attendant) = unattended(&folder, SMALL);
    send(&mut journal, 1);
    let [second, third] = [2, 3].map(|number| send(&mut journal, number));
    attendant.turn(false);
    drop((journal, attendant));
    let path = folder::path_of(&folder, 1);
    let before = fs::read(&path).unwrap();
    // Of the second record nothing has reached the disk: the journal seems to end in front of it.
    write_at(&path, second.offset() as u64, &[0; 188]);
    restart(&path);
    let (mut journal, mut attendant) = reopened(&folder);
    assert_eq!((numbers(&journal), journal.recovery().torn.clone()), (vec![1], None));
    // One of the same length takes its place, and of what is behind that the disk has what it had.
    assert_eq!(send(&mut journal, 4), second);
    attendant.turn(false);
    drop((journal, attendant));
    let after = fs::read(&path).unwrap();
    assert!(after[third.offset()..].iter().all(|&byte| byte == 0));
    assert!(before[third.offset()..].iter().any(|&byte| byte != 0));
    restart(&path);
    assert_eq!(numbers(&Journal::open_with(&folder, SMALL).unwrap()), [1, 4]);
}

#[test]
fn a_wrong_checksum_names_its_file_and_place_and_the_rest_is_still_shown() {
    let (_parent, folder) = in_folder();
    let (mut journal, mut attendant) = unattended(&folder, SMALL);
    let records: Vec<_> = (1..=60)
        .map(|number| {
            attendant.turn(false);
            send(&mut journal, number)
        })
        .collect();
    attendant.turn(false);
    drop((journal, attendant));
    let harmed = records[24];
    let path = folder::path_of(&folder, harmed.segment());
    assert_eq!(harmed.segment(), 2);
    write_at(&path, harmed.offset() as u64 + 50, b"x");
    let before = fs::read(&path).unwrap();
    assert_eq!(corrupt_at(&folder), (path.clone(), harmed.offset() as u64));
    assert_eq!(fs::read(&path).unwrap(), before);
    let read: Vec<_> = Reader::open(&folder).unwrap().map(Result::unwrap).collect();
    let wrong: Vec<_> =
        read.iter().filter(|entry| entry.checksum == Checksum::Wrong).map(|e| e.record).collect();
    assert_eq!((read.len(), wrong), (60, vec![harmed]));
    // A length that cannot be true hides what is behind it, in its own segment only.
    write_at(&path, harmed.offset() as u64, &[0xee; 4]);
    assert_eq!(corrupt_at(&folder), (path, harmed.offset() as u64));
    let (read, errors): (Vec<_>, Vec<_>) = Reader::open(&folder).unwrap().partition(Result::is_ok);
    let error = errors[0].as_ref().unwrap_err().to_string();
    assert!(error.contains("0000000002.segment") && errors.len() == 1, "{error}");
    let read: Vec<_> = read.into_iter().map(|entry| entry.unwrap().tag.seq_num).collect();
    let in_second = records.iter().filter(|record| record.segment() == 2).count();
    assert!(read.starts_with(&(1..=24).collect::<Vec<_>>()) && read.ends_with(&[60]));
    assert!(read.len() < 60 && read.len() >= 60 - in_second);
}

#[test]
fn a_segment_that_is_missing_is_corrupt_and_the_others_are_shown() {
    let (_parent, folder) = in_folder();
    let (mut journal, mut attendant) = unattended(&folder, SMALL);
    while journal.segments() < 3 {
        attendant.turn(false);
        send(&mut journal, 1);
    }
    drop((journal, attendant));
    fs::remove_file(folder::path_of(&folder, 2)).unwrap();
    assert_eq!(corrupt_at(&folder), (folder::path_of(&folder, 2), 0));
    let (read, errors): (Vec<_>, Vec<_>) = Reader::open(&folder).unwrap().partition(Result::is_ok);
    assert!(errors.len() == 1 && read.len() > 19, "{} and {errors:?}", read.len());
}

#[test]
fn a_cut_or_grown_file_is_corrupt_where_it_ends() {
    for length in [0, 1, 64, 183, 184, 4095, 4104] {
        let (_parent, folder) = in_folder();
        Journal::create_with(&folder, SMALL).unwrap().close().unwrap();
        let path = folder::path_of(&folder, 1);
        OpenOptions::new().write(true).open(&path).unwrap().set_len(length).unwrap();
        assert_eq!(corrupt_at(&folder), (path, length));
    }
}

#[test]
fn a_header_that_is_not_ours_is_corrupt() {
    for offset in [0, 8, 12, 16, 32, 48, 63] {
        let (_parent, folder) = in_folder();
        Journal::create_with(&folder, SMALL).unwrap().close().unwrap();
        let path = folder::path_of(&folder, 1);
        let byte = fs::read(&path).unwrap()[offset as usize];
        write_at(&path, offset, &[byte ^ 0x55]);
        let (found, place) = corrupt_at(&folder);
        let is_summed = (12..48).contains(&offset) && (48..52).contains(&place);
        assert!(found == path && (place == offset || is_summed), "{offset}: {place}");
    }
    let (_parent, folder) = in_folder();
    Journal::create_with(&folder, SMALL).unwrap().close().unwrap();
    fs::rename(folder::path_of(&folder, 1), folder::path_of(&folder, 2)).unwrap();
    assert_eq!(corrupt_at(&folder), (folder::path_of(&folder, 2), 12));
}

#[test]
fn a_segment_that_was_being_made_is_made_again() {
    let (_parent, folder) = in_folder();
    let (mut journal, mut attendant) = unattended(&folder, SMALL);
    send(&mut journal, 1);
    attendant.turn(false);
    drop((journal, attendant));
    fs::write(folder.join("0000000003.unfinished"), [1; 100]).unwrap();
    // The machine lost all of the newest segment but its name and size.
    fs::write(folder::path_of(&folder, 2), [0; 4096]).unwrap();
    fs::write(folder.join("notes.txt"), "none of ours").unwrap();
    let mut journal = Journal::open_with(&folder, SMALL).unwrap();
    assert!(!folder.join("0000000003.unfinished").exists());
    assert!(folder.join("notes.txt").exists());
    for number in 2..=30 {
        send(&mut journal, number);
    }
    drop(journal);
    assert_eq!(numbers(&Journal::open(&folder).unwrap()), (1..=30).collect::<Vec<_>>());
}

#[test]
fn records_behind_an_open_end_are_corrupt_unless_the_machine_restarted() {
    let (_parent, folder) = in_folder();
    let (mut journal, mut attendant) = unattended(&folder, SMALL);
    while journal.segments() < 2 {
        attendant.turn(false);
        send(&mut journal, 1);
    }
    let end =
        journal.records().filter(|(record, _)| record.segment() == 1).last().unwrap().0.next();
    attendant.turn(false);
    drop((journal, attendant));
    let path = folder::path_of(&folder, 1);
    write_at(&path, end as u64, &[0; 8]);
    let second = folder::path_of(&folder, 2);
    assert_eq!(corrupt_at(&folder), (second.clone(), 128));
    restart(&path);
    restart(&second);
    let journal = Journal::open_with(&folder, SMALL).unwrap();
    assert_eq!(journal.segments(), 1);
    assert!(numbers(&journal).len() >= 15);
}

#[test]
fn a_journal_is_open_once() {
    let (_parent, folder) = in_folder();
    let journal = Journal::create_with(&folder, SMALL).unwrap();
    assert!(matches!(Journal::create_with(&folder, SMALL), Err(JournalError::Io(_))));
    let error = Journal::open(&folder).unwrap_err();
    assert!(matches!(&error, JournalError::Busy { path } if *path == folder), "{error}");
    assert!(error.to_string().contains(folder.to_str().unwrap()), "{error}");
    drop(journal);
    assert!(Journal::open(&folder).is_ok());
}

#[test]
fn what_cannot_be_is_refused_and_nothing_is_left() {
    let (parent, folder) = in_folder();
    let error = |bytes| {
        let settings = JournalSettings { segment_bytes: bytes, ..SMALL };
        Journal::create_with(&folder, settings).unwrap_err()
    };
    assert!(matches!(error(u64::MAX), JournalError::TooLarge));
    assert!(matches!(error((1 << 31) + 1), JournalError::TooLarge));
    assert!(!folder.exists());
    assert!(matches!(Journal::open(&folder), Err(JournalError::Io(_))));
    let empty = Journal::open(parent.path()).unwrap_err();
    assert!(matches!(empty, JournalError::Io(error) if error.kind() == io::ErrorKind::NotFound));
    assert!(matches!(Reader::open(parent.path()), Err(JournalError::Io(_))));
}

#[test]
fn an_empty_folder_takes_a_journal_and_one_with_anything_in_it_does_not() {
    let (_parent, folder) = in_folder();
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("notes"), "mine").unwrap();
    for _ in 0..2 {
        let error = Journal::create_with(&folder, SMALL).unwrap_err();
        assert_eq!(error.to_string(), "the folder is not empty, and holds no journal");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "it is as it was");
    fs::remove_file(folder.join("notes")).unwrap();
    // What a process leaves that dies while it makes the first segment.
    fs::write(folder.join("lock"), "").unwrap();
    fs::write(folder.join("0000000001.unfinished"), [1; 100]).unwrap();
    let mut journal = Journal::create_with(&folder, SMALL).unwrap();
    journal.claim(9).unwrap().commit(9);
    assert!(!folder.join("0000000001.unfinished").exists());
    drop(journal);
    assert!(matches!(Journal::create_with(&folder, SMALL), Err(JournalError::Io(_))));
    assert_eq!(Journal::open(&folder).unwrap().recovery().records, 1);
}

#[test]
fn a_folder_that_was_there_stays_when_no_journal_can_be_made_in_it() {
    let (_parent, folder) = in_folder();
    fs::create_dir(&folder).unwrap();
    let lock = folder::lock(&folder).unwrap();
    let busy = Journal::create_with(&folder, SMALL).unwrap_err();
    assert!(matches!(busy, JournalError::Busy { .. }), "{busy}");
    assert!(folder.join("lock").exists());
    drop(lock);
    assert!(Journal::create_with(&folder, SMALL).is_ok());
}

#[test]
fn a_journal_that_somebody_else_has_made_meanwhile_is_not_written_over() {
    let (_parent, folder) = in_folder();
    let mut journal = Journal::create_with(&folder, SMALL).unwrap();
    send(&mut journal, 1);
    journal.close().unwrap();
    // The folder was empty when it was looked at.
    let error = Rolling::create(&folder, SMALL, SMALL.segment_bytes).unwrap_err();
    let kind = io::ErrorKind::AlreadyExists;
    assert!(matches!(&error, JournalError::Io(error) if error.kind() == kind), "{error}");
    assert_eq!(numbers(&Journal::open(&folder).unwrap()), [1]);
}

#[test]
fn every_block_is_there_from_the_start_and_its_owners_alone() {
    use std::os::unix::fs::MetadataExt;
    let (_parent, folder) = in_folder();
    let journal = Journal::create(&folder, 1 << 20).unwrap();
    journal.wait_ready();
    assert!(journal.capacity() >= 1 << 20);
    for number in [1, 2] {
        let file = folder::path_of(&folder, number).metadata().unwrap();
        assert!(file.blocks() * 512 >= 1 << 20);
        assert_eq!(file.mode() & 0o777, 0o600);
    }
    assert_eq!(folder.metadata().unwrap().mode() & 0o777, 0o700);
}

/// Writes until so many more segments were begun, with a turn of the thread before each record.
fn fill(journal: &mut Journal, attendant: &mut Attendant, direction: Direction, segments: u32) {
    let until = journal.segment.number() + segments;
    let mut number = journal.last(direction).map_or(0, |last| journal.tag(last).seq_num);
    while journal.segment.number() < until {
        attendant.turn(false);
        number += 1;
        let record = append(journal, tag(direction, number), &[1; 140]);
        if direction == Direction::Inbound {
            journal.mark(record);
        }
    }
    attendant.turn(false);
}

const TWO: Retention = Retention { segments: 2, age: None };

#[test]
fn old_segments_are_dropped_beyond_the_number_kept() {
    let (_parent, folder) = in_folder();
    let settings = JournalSettings { retention: TWO, ..SMALL };
    let (mut journal, mut attendant) = unattended(&folder, settings);
    append(&mut journal, tag(Direction::Control, 0), b"who we are");
    fill(&mut journal, &mut attendant, Direction::Inbound, 10);
    // One that may go is given up when the next segment begins; the twelfth is made ahead.
    assert_eq!(journal.segments(), 3);
    assert_eq!(folder::segments(&folder).unwrap(), [9, 10, 11, 12]);
    assert_eq!(journal.bytes(journal.last(Direction::Control).unwrap()), b"who we are");
    drop((journal, attendant));
    let journal = Journal::open_with(&folder, settings).unwrap();
    assert_eq!(journal.bytes(journal.last(Direction::Control).unwrap()), b"who we are");
    assert_eq!(journal.find(Direction::Inbound, 0, 7, 1), None);
    assert_eq!(journal.replay(Direction::Inbound, 0, 7, 1..=3).count(), 0);
}

#[test]
fn what_is_not_marked_keeps_its_segment() {
    let (_parent, folder) = in_folder();
    let (mut journal, mut attendant) =
        unattended(&folder, JournalSettings { retention: TWO, ..SMALL });
    fill(&mut journal, &mut attendant, Direction::Inbound, 1);
    let open = append(&mut journal, tag(Direction::Inbound, 99), b"not delivered");
    fill(&mut journal, &mut attendant, Direction::Inbound, 8);
    assert_eq!(journal.unmarked().map(|(record, _)| record).collect::<Vec<_>>(), [open]);
    assert_eq!(journal.segments(), 9, "the first could go");
    journal.mark(open);
    fill(&mut journal, &mut attendant, Direction::Inbound, 2);
    assert!(journal.segments() <= 4, "{}", journal.segments());
}

#[test]
fn of_many_segments_that_may_go_at_once_none_is_left_behind() {
    let (_parent, folder) = in_folder();
    let (mut journal, mut attendant) =
        unattended(&folder, JournalSettings { retention: TWO, ..SMALL });
    let open = append(&mut journal, tag(Direction::Inbound, 99), b"not delivered");
    fill(&mut journal, &mut attendant, Direction::Inbound, 70);
    assert_eq!(journal.segments(), 71, "more than can be given up at once");
    journal.mark(open);
    fill(&mut journal, &mut attendant, Direction::Inbound, 2);
    assert_eq!(journal.segments(), 3);
    assert_eq!(folder::segments(&folder).unwrap(), [71, 72, 73, 74]);
}

#[test]
fn an_outbound_message_that_is_needed_keeps_its_segment() {
    let (_parent, folder) = in_folder();
    let (mut journal, mut attendant) =
        unattended(&folder, JournalSettings { retention: TWO, ..SMALL });
    fill(&mut journal, &mut attendant, Direction::Outbound, 6);
    assert_eq!(journal.segments(), 7, "nobody has said that they are not needed");
    let third = journal.records().find(|(record, _)| record.segment() == 3).unwrap().0;
    let needed = journal.tag(third).seq_num;
    journal.needed_from(7, needed);
    fill(&mut journal, &mut attendant, Direction::Outbound, 2);
    assert_eq!(journal.records().next().unwrap().0, third);
    // A session with a higher UUID needs none of them.
    journal.needed_from(8, 1);
    fill(&mut journal, &mut attendant, Direction::Outbound, 2);
    assert!(journal.segments() <= 4, "{}", journal.segments());
    let last = journal.last(Direction::Outbound).unwrap();
    assert!(journal.tag(last).seq_num > needed);
}

#[test]
fn segments_are_dropped_when_they_are_old_enough() {
    let (_parent, folder) = in_folder();
    let age = Some(hairpin_time::Duration::from_nanos(60));
    let retention = Retention { segments: 1000, age };
    let (mut journal, mut attendant) = unattended(&folder, JournalSettings { retention, ..SMALL });
    // Each record is a nanosecond younger than the one before; some twenty are in a segment.
    fill(&mut journal, &mut attendant, Direction::Inbound, 12);
    assert!((4..=7).contains(&journal.segments()), "{}", journal.segments());
}

#[test]
fn a_new_session_is_needed_from_its_first_number_at_once() {
    let shared = shared::Shared::default();
    shared.set_needed(7, 1000);
    assert_eq!(shared.needed(), (7, 1000));
    shared.set_needed(8, 1);
    assert_eq!(shared.needed(), (8, 1));
}

#[test]
fn a_reader_follows_the_writer() {
    let (_parent, folder) = in_folder();
    let (mut journal, mut attendant) = unattended(&folder, SMALL);
    let mut reader = Reader::open(&folder).unwrap();
    assert!(reader.next().is_none());
    let report = append(&mut journal, tag(Direction::Inbound, 5), b"report");
    journal.claim(100).unwrap().payload().fill(0xff);
    let read = reader.next().unwrap().unwrap();
    assert_eq!((read.record, read.tag), (report, tag(Direction::Inbound, 5)));
    assert_eq!((read.marked, read.checksum), (false, Checksum::Missing));
    assert_eq!(read.payload, b"report");
    for number in 1..=60 {
        attendant.turn(false);
        assert!(reader.next().is_none());
        let record = send(&mut journal, number);
        assert_eq!(reader.next().unwrap().unwrap().record, record);
    }
    journal.mark(report);
    attendant.turn(false);
    let first = Reader::open(&folder).unwrap().next().unwrap().unwrap();
    assert_eq!((first.marked, first.checksum), (true, Checksum::Right));
}

#[test]
fn in_memory_nothing_is_durable_and_nothing_waits() {
    let mut journal = Journal::anonymous(4096).unwrap();
    let record = send(&mut journal, 1);
    journal.wait_durable(record).unwrap();
    journal.needed_from(7, 1);
    journal.wait_ready();
    assert!(!journal.is_durable(record) && !journal.is_next_ready());
    assert!(journal.failure().is_none() && journal.recovery() == &Recovery::default());
    journal.close().unwrap();
}
