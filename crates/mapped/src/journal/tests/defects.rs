//! What no caller may do: it panics, in release builds too, before memory is touched.

use super::*;

#[test]
#[should_panic(expected = "longer than its claim")]
fn committing_more_than_was_claimed_is_a_defect() {
    Journal::anonymous(64).unwrap().claim(8).unwrap().commit(9);
}

#[test]
#[should_panic(expected = "another journal")]
fn a_record_of_a_longer_journal_is_a_defect() {
    let mut longer = Journal::anonymous(4096).unwrap();
    send(&mut longer, 1);
    let record = send(&mut longer, 2);
    let _ = Journal::anonymous(4096).unwrap().bytes(record);
}

#[test]
#[should_panic(expected = "another journal")]
fn a_record_longer_than_what_is_there_is_a_defect() {
    let mut journal = Journal::anonymous(4096).unwrap();
    let record = send(&mut Journal::anonymous(4096).unwrap(), 1);
    append(&mut journal, Tag::default(), b"shorter");
    let _ = journal.bytes(record);
}

#[test]
#[should_panic(expected = "another journal")]
fn marking_a_record_behind_the_last_is_a_defect() {
    let mut longer = Journal::anonymous(4096).unwrap();
    send(&mut longer, 1);
    let record = append(&mut longer, tag(Direction::Inbound, 1), b"report");
    let mut shorter = Journal::anonymous(4096).unwrap();
    append(&mut shorter, Tag::default(), &[1; 145]);
    shorter.mark(record);
}

#[test]
#[should_panic(expected = "another journal")]
fn marking_where_no_record_can_begin_is_a_defect() {
    let mut journal = Journal::anonymous(4096).unwrap();
    send(&mut journal, 1);
    journal.mark(Record::new(1, 132, 8, &tag(Direction::Inbound, 1)));
}

#[test]
#[should_panic(expected = "another journal")]
fn marking_in_a_segment_that_is_not_there_is_a_defect() {
    let mut journal = Journal::anonymous(4096).unwrap();
    send(&mut journal, 1);
    journal.mark(Record::new(2, 128, 8, &tag(Direction::Inbound, 1)));
}

#[test]
#[should_panic(expected = "longer than what was claimed before")]
fn committing_more_than_there_is_room_for_is_a_defect() {
    let mut journal = Journal::anonymous(Journal::room(16)).unwrap();
    crate::Storage::claim(&mut journal, 16).unwrap().fill(1);
    crate::Storage::commit(&mut journal, &Tag::default(), 17);
}
