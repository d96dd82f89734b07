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

/// Asserts that each function of the journal rejects a record.
fn assert_rejected(journal: &mut Journal, record: Record) {
    type Access = fn(&mut Journal, Record);
    let accesses: [(&str, Access); 7] = [
        ("bytes", |journal, record| _ = journal.bytes(record).to_vec()),
        ("tag", |journal, record| _ = journal.tag(record)),
        ("mark", |journal, record| journal.mark(record)),
        ("is_marked", |journal, record| _ = journal.is_marked(record)),
        ("segment_of", |journal, record| _ = journal.segment_of(record)),
        ("is_durable", |journal, record| _ = journal.is_durable(record)),
        ("wait_durable", |journal, record| _ = journal.wait_durable(record)),
    ];
    for (name, access) in accesses {
        let access = std::panic::AssertUnwindSafe(|| access(journal, record));
        let panic = std::panic::catch_unwind(access).expect_err(name);
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap();
        assert!(text.starts_with("the record does not belong to this journal"), "{name}: {text}");
    }
    assert_eq!(journal.next(Some(record)), None);
}

/// Otherwise safe code could get a plain slice over data that the sync worker stores atomically.
#[test]
fn rejects_records_made_outside_of_a_journal() {
    let (_parent, directory) = in_directory();
    let mut journal = Journal::create_with(&directory, SMALL).unwrap();
    let inbound = tag(Direction::Inbound, 1);
    let genuine = append(&mut journal, inbound, &[0; 64]);
    for (offset, length) in [(128, 64), (0, 200), (128, 0), (176, 8), (132, 8)] {
        assert_rejected(&mut journal, Record::new(offset, length, &inbound));
    }
    assert_eq!(journal.bytes(genuine), [0; 64]);
}

#[test]
fn rejects_records_of_another_journal() {
    let (_parent, directory) = in_directory();
    let (mut ours, mut theirs) =
        (Journal::anonymous(4096).unwrap(), Journal::anonymous(4096).unwrap());
    let inbound = tag(Direction::Inbound, 1);
    let own = append(&mut ours, inbound, b"report");
    let foreign = append(&mut theirs, inbound, b"report");
    assert_eq!((own.offset(), own.length()), (foreign.offset(), foreign.length()));
    assert_rejected(&mut ours, foreign);
    assert_eq!(ours.bytes(own), b"report");
    // The same journal opened again maps its segments again.
    let mut journal = Journal::create_with(&directory, SMALL).unwrap();
    let record = append(&mut journal, inbound, b"report");
    drop(journal);
    let mut journal = Journal::open_with(&directory, SMALL).unwrap();
    assert_rejected(&mut journal, record);
    assert_eq!(journal.bytes(journal.next(None).unwrap()), b"report");
}

#[test]
#[should_panic(expected = "longer than its claim")]
fn panics_on_commit_longer_than_room() {
    let mut journal = Journal::anonymous(Journal::room(16)).unwrap();
    crate::Storage::claim(&mut journal, 16).unwrap().fill(1);
    crate::Storage::commit(&mut journal, &Tag::default(), 17);
}
