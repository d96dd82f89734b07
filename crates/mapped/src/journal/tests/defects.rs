//! Caller errors: each panics, in release builds too, before memory is accessed.

use super::*;

#[test]
#[should_panic(expected = "longer than its claim")]
fn panics_on_commit_longer_than_claim() {
    Journal::anonymous(64).unwrap().claim(8).unwrap().commit(9);
}

#[test]
#[should_panic(expected = "does not belong to this journal")]
fn panics_on_record_of_longer_journal() {
    let mut longer = Journal::anonymous(4096).unwrap();
    send(&mut longer, 1);
    let record = send(&mut longer, 2);
    let _ = Journal::anonymous(4096).unwrap().bytes(record);
}

#[test]
#[should_panic(expected = "does not belong to this journal")]
fn panics_on_record_beyond_end() {
    let mut journal = Journal::anonymous(4096).unwrap();
    let record = send(&mut Journal::anonymous(4096).unwrap(), 1);
    append(&mut journal, Tag::default(), b"shorter");
    let _ = journal.bytes(record);
}

#[test]
#[should_panic(expected = "does not belong to this journal")]
fn panics_on_mark_beyond_end() {
    let mut longer = Journal::anonymous(4096).unwrap();
    send(&mut longer, 1);
    let record = append(&mut longer, tag(Direction::Inbound, 1), b"report");
    let mut shorter = Journal::anonymous(4096).unwrap();
    append(&mut shorter, Tag::default(), &[1; 145]);
    shorter.mark(record);
}

#[test]
#[should_panic(expected = "does not belong to this journal")]
fn panics_on_mark_at_unaligned_offset() {
    let mut journal = Journal::anonymous(4096).unwrap();
    send(&mut journal, 1);
    journal.mark(Record::new(1, 132, 8, &tag(Direction::Inbound, 1)));
}

#[test]
#[should_panic(expected = "does not belong to this journal")]
fn panics_on_mark_in_unknown_segment() {
    let mut journal = Journal::anonymous(4096).unwrap();
    send(&mut journal, 1);
    journal.mark(Record::new(2, 128, 8, &tag(Direction::Inbound, 1)));
}

#[test]
#[should_panic(expected = "longer than its claim")]
fn panics_on_commit_longer_than_room() {
    let mut journal = Journal::anonymous(Journal::room(16)).unwrap();
    crate::Storage::claim(&mut journal, 16).unwrap().fill(1);
    crate::Storage::commit(&mut journal, &Tag::default(), 17);
}
