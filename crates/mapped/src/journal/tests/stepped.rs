//! Looked at between any two stores of the writer: what another thread could see there, or the next
//! process.

use super::format::Slot;
use super::*;
use crate::single_step::each_instruction;

#[test]
fn amid_a_commit_a_record_is_there_as_a_whole_or_not_at_all() {
    let mut journal = Journal::anonymous(4096).unwrap();
    // What an abandoned claim has left looks like records.
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
fn amid_a_change_of_session_no_number_of_the_last_is_needed_of_the_next() {
    let shared = shared::Shared::default();
    shared.set_needed(7, 1000);
    let (mut looks, mut wrong) = (0, None);
    each_instruction(
        || shared.set_needed(8, 1),
        || {
            looks += 1;
            let needed = shared.needed();
            if ![(7, 1000), (7, 0), (8, 0), (8, 1)].contains(&needed) {
                wrong = Some(needed);
            }
        },
    );
    assert_eq!((wrong, shared.needed()), (None, (8, 1)));
    assert!(looks > 3, "{looks}");
}

/// A mark, the next segment with all that is repeated there, and a record.
#[test]
fn a_death_between_any_two_stores_leaves_what_was_committed() {
    let (_parent, folder) = in_folder();
    let (mut journal, mut attendant) = unattended(&folder, SMALL);
    append(&mut journal, tag(Direction::Control, 0), b"who we are");
    let report = append(&mut journal, tag(Direction::Inbound, 3), b"report");
    let mut number = 3;
    while journal.has_room(140) {
        number += 1;
        send(&mut journal, number);
    }
    attendant.turn(false);
    let views = [1, 2].map(|number| {
        let path = folder::path_of(&folder, number);
        let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
        memmap2::MmapRaw::map_raw(&file).unwrap()
    });
    let mut deaths: Vec<[[u8; 4096]; 2]> = Vec::with_capacity(1000);
    let work = || {
        journal.mark(report);
        send(&mut journal, number + 1);
    };
    each_instruction(work, || {
        // SAFETY: all of a mapping; who writes there is stopped meanwhile.
        let now = views.each_ref().map(|view| unsafe { *view.as_ptr().cast::<[u8; 4096]>() });
        if deaths.last() != Some(&now) && deaths.len() < deaths.capacity() {
            deaths.push(now);
        }
    });
    assert_eq!(journal.segments(), 2);
    assert!((20..1000).contains(&deaths.len()), "{}", deaths.len());
    let (mut newest, mut unmarked) = (number, 1);
    for files in &deaths {
        (newest, unmarked) = outlive(files, newest, unmarked);
    }
    assert_eq!((newest, unmarked), (number + 1, 0));
}

/// Opens what a death has left, which has got no less than the one before it: the number of the
/// newest order, and how many reports are not marked.
fn outlive(files: &[[u8; 4096]; 2], newest: u32, unmarked: usize) -> (u32, usize) {
    let (_parent, folder) = in_folder();
    fs::create_dir(&folder).unwrap();
    for (number, bytes) in (1..).zip(files) {
        fs::write(folder::path_of(&folder, number), bytes).unwrap();
    }
    let mut journal = Journal::open_with(&folder, SMALL).unwrap();
    let last = |direction| journal.last(direction).unwrap();
    let number = journal.tag(last(Direction::Outbound)).seq_num;
    assert!(number == newest || number == newest + 1, "{number} behind {newest}");
    assert_eq!(journal.bytes(last(Direction::Control)), b"who we are");
    assert_eq!(journal.tag(last(Direction::Inbound)).seq_num, 3);
    let count = journal.unmarked().count();
    assert!(count <= unmarked, "the mark is gone again");
    send(&mut journal, number + 1);
    let sent: Vec<_> = [0].into_iter().chain(3..=number + 1).collect();
    assert_eq!((numbers(&journal), &journal.recovery().torn), (sent, &None));
    (number, count)
}
