//! Inspects the journal between any two stores of the writer, as another thread or the next process
//! would see it.

use super::format::Slot;
use super::*;
use crate::single_step::each_instruction;

#[test]
fn commit_is_atomic_at_each_store() {
    let mut journal = Journal::anonymous(4096).unwrap();
    // The data left by an abandoned claim look like records.
    journal.claim(1000).unwrap().payload().fill(0x31);
    let tag = Tag { uuid: 3, ..tag(Direction::Inbound, 2) };
    let (segment, end) = (journal.segment.clone(), journal.end);
    let mut claim = journal.claim(21).unwrap();
    claim.payload().fill(0x77);
    let (mut empty, mut whole, mut other) = (0, 0, 0);
    let record = each_instruction(
        || claim.commit_as(&tag, 21),
        || match segment.slot(end) {
            Some(Slot::Empty) if whole == 0 => empty += 1,
            Some(Slot::Record(record, header))
                if header.tag() == Some(tag)
                    && segment.payload(record, record.next()) == [0x77; 21]
                    && segment.slot(record.next()) == Some(Slot::Empty) =>
            {
                whole += 1;
            }
            _ => other += 1,
        },
    );
    assert_eq!((journal.bytes(record), other), (&[0x77; 21][..], 0));
    assert!(empty > 10 && whole > 0, "{empty}, {whole}");
}

#[test]
fn session_change_is_atomic_at_each_store() {
    let shared = sync_state::SyncState::default();
    shared.set_needed(7, 1000);
    let (mut steps, mut unexpected) = (0, None);
    each_instruction(
        || shared.set_needed(8, 1),
        || {
            steps += 1;
            let needed = shared.needed();
            if ![(7, 1000), (7, 0), (8, 0), (8, 1)].contains(&needed) {
                unexpected = Some(needed);
            }
        },
    );
    assert_eq!((unexpected, shared.needed()), (None, (8, 1)));
    assert!(steps > 3, "{steps}");
}

/// Writes a mark, the next segment with all its copies, and a record.
#[test]
fn crash_at_each_store_keeps_committed_records() {
    let (_parent, directory) = in_directory();
    let (mut journal, mut worker) = with_manual_worker(&directory, SMALL);
    append(&mut journal, tag(Direction::Control, 0), b"session");
    let report = append(&mut journal, tag(Direction::Inbound, 3), b"report");
    let mut number = 3;
    while journal.has_room(140) {
        number += 1;
        send(&mut journal, number);
    }
    worker.run_once(false);
    let views = [1, 2].map(|number| {
        let path = segment_files::path_of(&directory, number);
        let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
        memmap2::MmapRaw::map_raw(&file).unwrap()
    });
    let mut deaths: Vec<[[u8; 4096]; 2]> = Vec::with_capacity(1000);
    let work = || {
        journal.mark(report);
        send(&mut journal, number + 1);
    };
    each_instruction(work, || {
        // SAFETY: the range is a whole mapping, and its writer is stopped at this time.
        let now = views.each_ref().map(|view| unsafe { *view.as_ptr().cast::<[u8; 4096]>() });
        if deaths.last() != Some(&now) && deaths.len() < deaths.capacity() {
            deaths.push(now);
        }
    });
    assert_eq!(journal.segments(), 2);
    assert!((20..1000).contains(&deaths.len()), "{}", deaths.len());
    let (mut newest, mut unmarked) = (number, 1);
    for files in &deaths {
        (newest, unmarked) = recover_from(files, newest, unmarked);
    }
    assert_eq!((newest, unmarked), (number + 1, 0));
}

/// Opens the journal after a crash, which must have no less than at the previous step. Returns the
/// number of the newest order and of the unmarked reports.
fn recover_from(files: &[[u8; 4096]; 2], newest: u32, unmarked: usize) -> (u32, usize) {
    let (_parent, directory) = in_directory();
    fs::create_dir(&directory).unwrap();
    for (number, bytes) in (1..).zip(files) {
        fs::write(segment_files::path_of(&directory, number), bytes).unwrap();
    }
    let mut journal = Journal::open_with(&directory, SMALL).unwrap();
    let last = |direction| journal.last(direction).unwrap();
    let number = journal.tag(last(Direction::Outbound)).seq_num;
    assert!(number == newest || number == newest + 1, "{number} after {newest}");
    assert_eq!(journal.bytes(last(Direction::Control)), b"session");
    assert_eq!(journal.tag(last(Direction::Inbound)).seq_num, 3);
    let count = journal.unmarked().count();
    assert!(count <= unmarked, "a mark must not disappear");
    send(&mut journal, number + 1);
    let sent: Vec<_> = [0].into_iter().chain(3..=number + 1).collect();
    assert_eq!((numbers(&journal), &journal.recovery().torn), (sent, &None));
    (number, count)
}
