//! Room for one record, between being claimed and being committed.

use std::sync::atomic::Ordering;

use super::{Journal, RECORD_HEADER, Record};

/// Room for the next record of a [`Journal`]. Dropped without a commit, it leaves nothing.
#[derive(Debug)]
pub struct Claim<'a> {
    pub(super) journal: &'a mut Journal,
    pub(super) max: usize,
}

impl<'a> Claim<'a> {
    /// The room claimed, exactly as many bytes as asked for, to encode into.
    ///
    /// The bytes are not cleared: what an earlier claim wrote and never committed may show.
    #[inline]
    #[must_use]
    pub fn payload(&mut self) -> &mut [u8] {
        let max = self.max;
        &mut self.padded()[..max]
    }

    /// The room claimed, for as long as the journal is borrowed, when claim and commit are two
    /// calls: a second claim has the same room, with what was encoded in it.
    #[inline]
    #[must_use]
    pub fn into_payload(self) -> &'a mut [u8] {
        let (start, length) = (self.journal.end + RECORD_HEADER, self.max);
        // SAFETY: as in `padded`; the journal stays borrowed mutably for as long as the slice
        // lives.
        unsafe {
            std::slice::from_raw_parts_mut(self.journal.memory.as_mut_ptr().add(start), length)
        }
    }

    /// The room claimed and its padding.
    #[inline]
    fn padded(&mut self) -> &mut [u8] {
        let start = self.journal.end + RECORD_HEADER;
        let length = Journal::room(self.max) - RECORD_HEADER;
        // SAFETY: `claim` has checked that the range lies inside the mapping. It lies behind
        // `end`, where `bytes` never reads, and the journal is borrowed mutably by this claim,
        // which is borrowed mutably by the slice. The memory is initialised, see `bytes`.
        unsafe {
            std::slice::from_raw_parts_mut(self.journal.memory.as_mut_ptr().add(start), length)
        }
    }

    /// Commits the first `length` bytes of the payload as the journal's next record, of kind 0.
    ///
    /// # Panics
    /// If `length` is more than was claimed.
    #[inline]
    pub fn commit(self, length: usize) -> Record {
        self.commit_kind(0, length)
    }

    /// Commits like [`commit`](Self::commit), with a number that tells kinds of records apart.
    ///
    /// # Panics
    /// If `length` is more than was claimed.
    #[inline]
    pub fn commit_kind(mut self, kind: u32, length: usize) -> Record {
        assert!(length <= self.max, "a record longer than its claim");
        let room = Journal::room(length);
        // What this claim or an earlier one wrote past `length` is no part of the record: zero the
        // padding, and the next header, which a scan reads next.
        self.padded()[length..room - RECORD_HEADER].fill(0);
        let journal = self.journal;
        let (offset, next) = (journal.end, journal.end + room);
        if next < journal.memory.len() {
            journal.record_header(next).store(0, Ordering::Relaxed);
        }
        let word = (RECORD_HEADER + length) as u64;
        let header = (word | u64::from(kind) << 32).to_le();
        // Release: whoever sees the mark sees the payload, its padding and the zero behind it.
        journal.record_header(offset).store(header, Ordering::Release);
        journal.end = next;
        Record { offset, length: length as u32, kind }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JournalError;

    fn append(journal: &mut Journal, payload: &[u8]) -> Record {
        let mut claim = journal.claim(payload.len()).unwrap();
        claim.payload().copy_from_slice(payload);
        claim.commit(payload.len())
    }

    fn payloads(journal: &Journal) -> Vec<&[u8]> {
        journal.records().map(|(_, payload)| payload).collect()
    }

    #[test]
    fn a_committed_record_is_where_it_was_encoded() {
        let mut journal = Journal::anonymous(256).unwrap();
        let mut claim = journal.claim(20).unwrap();
        assert_eq!(claim.payload().len(), 20);
        claim.payload()[..3].copy_from_slice(b"buy");
        let encoded = claim.payload().as_ptr();
        let record = claim.commit_kind(7, 3);
        assert_eq!((record.offset(), record.length(), record.kind()), (64, 3, 7));
        assert_eq!(journal.bytes(record), b"buy");
        assert_eq!(journal.bytes(record).as_ptr(), encoded);
        assert_eq!(encoded as usize % 8, 0);
        assert_eq!(journal.used(), Journal::room(3));
        assert_eq!(journal.records().collect::<Vec<_>>(), [(record, &b"buy"[..])]);
    }

    #[test]
    fn a_dropped_claim_leaves_nothing() {
        let mut journal = Journal::anonymous(256).unwrap();
        append(&mut journal, b"first");
        journal.claim(100).unwrap().payload().fill(0xff);
        assert_eq!(payloads(&journal), [b"first"]);
        assert_eq!(journal.scan().unwrap(), journal.end);
        append(&mut journal, b"second");
        assert_eq!(journal.scan().unwrap(), journal.end);
        assert_eq!(payloads(&journal), [&b"first"[..], b"second"]);
    }

    #[test]
    fn a_second_claim_commits_what_was_encoded_in_the_first() {
        let mut journal = Journal::anonymous(256).unwrap();
        append(&mut journal, b"first");
        let payload = journal.claim(20).unwrap().into_payload();
        assert_eq!(payload.len(), 20);
        payload[..6].copy_from_slice(b"second");
        assert_eq!(payloads(&journal), [b"first"]);
        journal.claim(6).unwrap().commit(6);
        assert_eq!(payloads(&journal), [&b"first"[..], b"second"]);
    }

    #[test]
    fn padding_is_zero_whatever_was_there() {
        let mut journal = Journal::anonymous(256).unwrap();
        journal.claim(100).unwrap().payload().fill(0xff);
        let record = append(&mut journal, b"short");
        let padded = Record { length: 8, ..record };
        assert_eq!(journal.bytes(padded), b"short\0\0\0");
    }

    #[test]
    fn an_empty_payload_is_a_record() {
        let mut journal = Journal::anonymous(64).unwrap();
        let record = append(&mut journal, b"");
        assert_eq!((record.length(), journal.used()), (0, 8));
        assert_eq!(payloads(&journal), [b""]);
    }

    #[test]
    fn a_segment_fills_to_its_last_byte() {
        let mut journal = Journal::anonymous(2 * Journal::room(13)).unwrap();
        append(&mut journal, &[1; 13]);
        append(&mut journal, &[2; 16]);
        assert_eq!(journal.used(), journal.capacity());
        assert!(matches!(journal.claim(0), Err(JournalError::Full)));
        assert!(matches!(journal.claim(40), Err(JournalError::Full)));
        assert!(matches!(journal.claim(41), Err(JournalError::TooLarge)));
        assert!(matches!(journal.claim(usize::MAX), Err(JournalError::TooLarge)));
        assert_eq!(payloads(&journal), [vec![1; 13], vec![2; 16]]);
    }

    #[test]
    fn a_journal_that_begins_again_holds_only_what_comes_after() {
        let mut journal = Journal::anonymous(3 * Journal::room(16)).unwrap();
        for byte in 1..=3 {
            append(&mut journal, &[byte; 16]);
        }
        journal.begin_again();
        assert_eq!((journal.used(), journal.records().count()), (0, 0));
        assert_eq!(journal.scan().unwrap(), journal.end);
        append(&mut journal, &[4; 16]);
        assert_eq!(journal.scan().unwrap(), journal.end);
        assert_eq!(payloads(&journal), [[4; 16]]);
        append(&mut journal, &[5; 8]);
        assert_eq!(payloads(&journal), [&[4; 16][..], &[5; 8]]);
        Journal::anonymous(0).unwrap().begin_again();
    }

    #[test]
    fn a_segment_without_room_is_legal_and_full() {
        let mut journal = Journal::anonymous(0).unwrap();
        assert!(matches!(journal.claim(0), Err(JournalError::TooLarge)));
        assert_eq!(journal.records().count(), 0);
    }

    #[test]
    #[should_panic(expected = "longer than its claim")]
    fn committing_more_than_was_claimed_is_a_defect() {
        Journal::anonymous(64).unwrap().claim(8).unwrap().commit(9);
    }

    #[test]
    fn the_last_header_of_a_segment_is_cleared_too() {
        let mut journal = Journal::anonymous(32).unwrap();
        journal.claim(24).unwrap().payload().fill(0xff);
        append(&mut journal, &[1; 16]);
        assert_eq!(journal.scan().unwrap(), journal.end);
    }
}
