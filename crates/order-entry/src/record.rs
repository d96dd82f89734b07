//! What the records of a session's journal hold, and what an earlier process left in them.
//!
//! Each record is one frame as it left or came, framing header included; behind a request stands
//! where the session stood.

use std::ops::Range;

use hairpin_ilink3::{FRAMING_HEADER_LENGTH, Progress};
use hairpin_mapped::{Direction, Storage};

use crate::standing::{self, STANDING_LENGTH};

/// Kind of a record that holds a business message, ours or the exchange's. Two of ours have the
/// same number where the exchange refused the first without using it.
pub const MESSAGE_RECORD: u16 = 0;
/// Kind of a record that holds a request of ours: Negotiate, Establish, RetransmitRequest or
/// Terminate.
pub const CONTROL_RECORD: u16 = 1;
/// Kind of a record that holds the Sequence that fills a gap between business messages; it has the
/// number of the message before it.
pub const FILL_RECORD: u16 = 2;

/// The first template that is a business message.
const BUSINESS: u16 = 514;
/// Where the template stands in a frame.
const TEMPLATE_ID: usize = FRAMING_HEADER_LENGTH + 2;
/// The templates that show who logs on: Negotiate and Establish.
const LOGONS: [u16; 2] = [500, 503];
/// Where in their frames: HMACSignature (32 bytes) and AccessKeyID (20) begin the body.
const CREDENTIALS: Range<usize> = FRAMING_HEADER_LENGTH + 8..FRAMING_HEADER_LENGTH + 8 + 32 + 20;

/// Bytes of a control record whose frame is of `frame` bytes.
pub(crate) const fn control_length(frame: usize) -> usize {
    frame + STANDING_LENGTH
}

/// Writes a control record: the request as it leaves, and behind it where the session stands.
pub(crate) fn write_control(record: &mut [u8], frame: &[u8], progress: &Progress) {
    let (request, rest) = record.split_at_mut(frame.len());
    request.copy_from_slice(frame);
    let standing = rest.first_chunk_mut().expect("a control record has room for both");
    standing::encode(progress, standing);
}

/// Where the session stood when a request left: what stands behind the frame in the payload of a
/// record of kind [`CONTROL_RECORD`]. `None` if the payload is no such record's.
#[must_use]
pub fn standing_of(record: &[u8]) -> Option<Progress> {
    let [size_0, size_1, ..] = *record else { return None };
    standing::decode(record.get(usize::from(u16::from_le_bytes([size_0, size_1]))..)?)
}

/// Where the session that wrote this journal stood: as it was with its last request, and with what
/// went out and came in since.
///
/// That the last message was refused and its number taken back is not in it: its number then counts
/// as used, and NotApplied settles it.
pub(crate) fn progress(journal: &impl Storage) -> Progress {
    let request = journal.last(Direction::Control);
    let standing = request.and_then(|request| standing_of(journal.bytes(request)));
    let mut progress = standing.unwrap_or_default();
    if let Some(message) = journal.last(Direction::Outbound) {
        let tag = journal.tag(message);
        if tag.uuid == progress.uuid {
            progress.next_outgoing = progress.next_outgoing.max(tag.seq_num.saturating_add(1));
        }
    }
    if let Some(message) = journal.last(Direction::Inbound) {
        let tag = journal.tag(message);
        progress.received(tag.uuid, tag.seq_num);
    }
    progress
}

/// The template of a business message of ours, from a frame as it leaves.
pub(crate) fn business_template(frame: &[u8]) -> Option<u16> {
    let template_id = u16::from_le_bytes(*frame.get(TEMPLATE_ID..)?.first_chunk()?);
    (template_id >= BUSINESS).then_some(template_id)
}

/// Overwrites HMACSignature and AccessKeyID in the frame of a Negotiate or an Establish with
/// asterisks; every other frame stays as it is.
pub(crate) fn mask_credentials(frame: &mut [u8]) {
    let template_id = frame.get(TEMPLATE_ID..).and_then(|rest| rest.first_chunk());
    let is_logon = template_id.is_some_and(|&id| LOGONS.contains(&u16::from_le_bytes(id)));
    if let Some(credentials) = frame.get_mut(CREDENTIALS).filter(|_| is_logon) {
        credentials.fill(b'*');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairpin_cme_codecs::ilink3::{NewOrderSingle514, PartyDetailsListRequest537, Sequence506};
    use hairpin_ilink3::{Gap, write_framing_header};
    use hairpin_mapped::{Journal, Tag};

    fn append(journal: &mut Journal, tag: Tag, encode: impl FnOnce(&mut [u8]) -> usize) {
        let mut claim = journal.claim(300).unwrap();
        let length = 4 + encode(&mut claim.payload()[4..]);
        claim.commit_as(&tag, length);
    }

    /// A request of 40 bytes, whatever it is, left when the session stood there.
    fn request(journal: &mut Journal, progress: &Progress) {
        let mut frame = [0xEE; 40];
        write_framing_header(frame.first_chunk_mut().unwrap(), 40);
        let length = control_length(frame.len());
        let mut claim = journal.claim(length).unwrap();
        write_control(claim.payload(), &frame, progress);
        let (direction, uuid) = (Direction::Control, progress.uuid);
        claim.commit_as(&Tag { direction, uuid, kind: CONTROL_RECORD, ..Tag::default() }, length);
    }

    fn order(journal: &mut Journal, uuid: u64, seq_num: u32) {
        append(journal, Tag { uuid, seq_num, ..Tag::default() }, |buffer| {
            NewOrderSingle514::encode(buffer).unwrap().set_seq_num(seq_num);
            NewOrderSingle514::ENCODED_LENGTH
        });
    }

    fn report(journal: &mut Journal, uuid: u64, seq_num: u32) {
        let tag = Tag { direction: Direction::Inbound, uuid, seq_num, ..Tag::default() };
        journal.claim(9).unwrap().commit_as(&tag, 9);
    }

    #[test]
    fn an_empty_journal_is_a_fresh_start() {
        let journal = Journal::anonymous(4_096).unwrap();
        assert_eq!(progress(&journal), Progress::default());
    }

    #[test]
    fn the_last_request_and_what_came_after_it_count() {
        let mut journal = Journal::anonymous(1 << 14).unwrap();
        let first = Progress { uuid: 7, request_timestamp: 70, ..Progress::default() };
        request(&mut journal, &first);
        assert_eq!(progress(&journal), first);
        (1..3).for_each(|number| order(&mut journal, 7, number));
        (1..6).for_each(|number| report(&mut journal, 7, number));
        assert_eq!(progress(&journal), Progress { next_outgoing: 3, next_incoming: 6, ..first });
        let mut second = Progress { uuid: 8, request_timestamp: 80, ..Progress::default() };
        second.earlier.missing[0] = Some(Gap { uuid: 7, from: 6, to: 7 });
        request(&mut journal, &second);
        assert_eq!(progress(&journal), second, "what came before it was of another session");
        append(&mut journal, Tag { uuid: 8, seq_num: 1, ..Tag::default() }, |buffer| {
            let (mut root, groups) = PartyDetailsListRequest537::encode(buffer).unwrap();
            root.set_seq_num(1);
            groups.finish().unwrap()
        });
        assert_eq!(progress(&journal), Progress { next_outgoing: 2, ..second });
        append(&mut journal, Tag { uuid: 8, seq_num: 1, ..Tag::default() }, |buffer| {
            Sequence506::encode(buffer).unwrap().set_uuid(8).set_next_seq_no(99);
            Sequence506::ENCODED_LENGTH
        });
        assert_eq!(progress(&journal), Progress { next_outgoing: 2, ..second });
        report(&mut journal, 7, 6);
        assert_eq!(progress(&journal).earlier.missing[0], Some(Gap { uuid: 7, from: 7, to: 7 }));
        report(&mut journal, 8, 1);
        let all = Progress { next_outgoing: 2, next_incoming: 2, uuid: 8, ..first };
        assert_eq!(progress(&journal), Progress { request_timestamp: 80, ..all });
    }

    #[test]
    fn a_request_that_is_no_frame_says_nothing() {
        let mut journal = Journal::anonymous(1 << 16).unwrap();
        for length in 0..300 {
            let mut claim = journal.claim(length).unwrap();
            claim.payload().fill(0xEE);
            let tag = Tag { direction: Direction::Control, ..Tag::default() };
            claim.commit_as(&tag, length);
            assert_eq!(progress(&journal), Progress::default());
        }
    }
}
