//! The cost of a record for its writer: claim and commit, without encoding the message.
//!
//! ```text
//! cargo bench -p hairpin-mapped --bench journal --no-run
//! valgrind --tool=callgrind --toggle-collect='*measured_*' target/release/deps/journal-…
//! ```
//!
//! counts the instructions of 100,000 records, including the loop. With the argument `reports` the
//! records are inbound and marked.
#![allow(clippy::expect_used, reason = "a benchmark may fail by panicking")]

use std::hint::black_box;

use hairpin_mapped::{Direction, Journal, Tag};

const RECORDS: u32 = 100_000;
const LENGTH: usize = 140;

#[inline(never)]
fn measured_commits(journal: &mut Journal, tag: &mut Tag) {
    for number in 0..RECORDS {
        tag.seq_num = number;
        let mut claim = journal.claim(black_box(LENGTH)).expect("the journal has room");
        black_box(claim.payload().as_mut_ptr());
        black_box(claim.commit_as(tag, black_box(LENGTH)).offset());
    }
}

#[inline(never)]
fn measured_reports(journal: &mut Journal, tag: &mut Tag) {
    for number in 0..RECORDS {
        tag.seq_num = number;
        let mut claim = journal.claim(black_box(LENGTH)).expect("the journal has room");
        black_box(claim.payload().as_mut_ptr());
        let record = claim.commit_as(tag, black_box(LENGTH));
        journal.mark(record);
    }
}

fn main() {
    let mut journal = Journal::anonymous(RECORDS as usize * 2 * Journal::room(LENGTH))
        .expect("memory is available");
    let mut tag = Tag::default();
    if std::env::args().any(|argument| argument == "reports") {
        tag.direction = Direction::Inbound;
        measured_reports(&mut journal, &mut tag);
    } else {
        measured_commits(&mut journal, &mut tag);
    }
    println!("{} records, {} bytes", journal.records().count(), journal.used());
}
