//! What the records of a session's journal hold, and what an earlier process left in them.
//!
//! Each record is one frame as it left, framing header included.

use hairpin_ilink3::{FRAMING_HEADER_LENGTH, Progress};
use hairpin_mapped::{Direction, Storage};
use hairpin_sbe::MessageHeader;

use hairpin_cme_codecs::ilink3::{
    Establish503, Negotiate500, RetransmitRequest508, SCHEMA_ID, Terminate507,
};

/// Kind of a record that holds a business message. Two have the same number where the exchange
/// refused the first without using it.
pub const MESSAGE_RECORD: u16 = 0;
/// Kind of a record that holds a request of ours, Negotiate, Establish, RetransmitRequest or
/// Terminate: the identity of the session and the RequestTimestamp last used.
pub const CONTROL_RECORD: u16 = 1;
/// Kind of a record that holds the Sequence that fills a gap between business messages; it has the
/// number of the message before it.
pub const FILL_RECORD: u16 = 2;

/// The first template that is a business message.
const BUSINESS: u16 = 514;
/// Where SeqNum stands in the body of a client's business message; one less in template 537.
const SEQ_NUM: usize = 17;
const PARTY_DETAILS_LIST_REQUEST: u16 = 537;
/// Where the template stands in a frame, and where the body begins.
const TEMPLATE_ID: usize = FRAMING_HEADER_LENGTH + 2;
const BODY: usize = FRAMING_HEADER_LENGTH + 8;

/// Where the session that wrote this journal stood.
///
/// The number of the exchange's next message is not in it: it is 1. That the last message was
/// refused and its number taken back is not in it either: its number then counts as used, and
/// NotApplied settles it.
pub(crate) fn progress(journal: &impl Storage) -> Progress {
    let mut progress = Progress::default();
    if let Some(request) = journal.last(Direction::Control)
        && let Some((uuid, request_timestamp)) = identity(journal.bytes(request))
    {
        progress = Progress { uuid, request_timestamp, ..progress };
    }
    if let Some(message) = journal.last(Direction::Outbound) {
        let tag = journal.tag(message);
        if tag.uuid == progress.uuid {
            progress.next_outgoing = tag.seq_num.saturating_add(1);
        }
    }
    progress
}

/// The UUID and the RequestTimestamp of a request.
fn identity(frame: &[u8]) -> Option<(u64, u64)> {
    let (header, body) = header_and_body(frame)?;
    match header.template_id {
        Negotiate500::TEMPLATE_ID => {
            let mut scratch = Negotiate500::SCRATCH;
            let negotiate = Negotiate500::decode(&header, body, &mut scratch).ok()?;
            Some((negotiate.uuid(), negotiate.request_timestamp()))
        }
        Establish503::TEMPLATE_ID => {
            let mut scratch = Establish503::SCRATCH;
            let establish = Establish503::decode(&header, body, &mut scratch).ok()?;
            Some((establish.uuid(), establish.request_timestamp()))
        }
        Terminate507::TEMPLATE_ID => {
            let mut scratch = Terminate507::SCRATCH;
            let terminate = Terminate507::decode(&header, body, &mut scratch).ok()?;
            Some((terminate.uuid(), terminate.request_timestamp()))
        }
        RetransmitRequest508::TEMPLATE_ID => {
            let mut scratch = RetransmitRequest508::SCRATCH;
            let request = RetransmitRequest508::decode(&header, body, &mut scratch).ok()?;
            Some((request.uuid(), request.request_timestamp()))
        }
        _ => None,
    }
}

/// The number of a business message of ours, from a frame as it leaves.
#[inline]
pub(crate) fn number(frame: &[u8]) -> Option<u32> {
    let template_id = u16::from_le_bytes(*frame.get(TEMPLATE_ID..)?.first_chunk()?);
    if template_id < BUSINESS {
        return None;
    }
    let offset = BODY + SEQ_NUM - usize::from(template_id == PARTY_DETAILS_LIST_REQUEST);
    frame.get(offset..)?.first_chunk().map(|number| u32::from_le_bytes(*number))
}

/// The parts of a frame of this schema.
fn header_and_body(frame: &[u8]) -> Option<(MessageHeader, &[u8])> {
    let (_, message) = frame.split_first_chunk::<FRAMING_HEADER_LENGTH>()?;
    MessageHeader::decode(message).ok().filter(|(header, _)| header.schema_id == SCHEMA_ID)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairpin_cme_codecs::ilink3::{NewOrderSingle514, PartyDetailsListRequest537, Sequence506};
    use hairpin_mapped::{Journal, Tag};

    fn append(journal: &mut Journal, tag: Tag, encode: impl FnOnce(&mut [u8]) -> usize) {
        let mut claim = journal.claim(300).unwrap();
        let length = 4 + encode(&mut claim.payload()[4..]);
        let seq_num = number(&claim.payload()[..length]).unwrap_or(tag.seq_num);
        claim.commit_as(&Tag { seq_num, ..tag }, length);
    }

    fn negotiate(journal: &mut Journal, uuid: u64, request_timestamp: u64) {
        let tag = Tag { direction: Direction::Control, uuid, ..Tag::default() };
        append(journal, tag, |buffer| {
            let mut message = Negotiate500::encode(buffer).unwrap();
            message.set_uuid(uuid).set_request_timestamp(request_timestamp);
            Negotiate500::ENCODED_LENGTH
        });
    }

    fn order(journal: &mut Journal, uuid: u64, seq_num: u32) {
        append(journal, Tag { uuid, ..Tag::default() }, |buffer| {
            NewOrderSingle514::encode(buffer).unwrap().set_seq_num(seq_num);
            NewOrderSingle514::ENCODED_LENGTH
        });
    }

    #[test]
    fn an_empty_journal_is_a_fresh_start() {
        let journal = Journal::anonymous(4_096).unwrap();
        assert_eq!(progress(&journal), Progress::default());
    }

    #[test]
    fn the_last_request_and_the_last_message_count() {
        let mut journal = Journal::anonymous(8_192).unwrap();
        negotiate(&mut journal, 7, 70);
        order(&mut journal, 7, 1);
        order(&mut journal, 7, 2);
        let first = Progress { uuid: 7, request_timestamp: 70, ..Progress::default() };
        assert_eq!(progress(&journal), Progress { next_outgoing: 3, ..first });
        negotiate(&mut journal, 8, 80);
        let second = Progress { uuid: 8, request_timestamp: 80, ..Progress::default() };
        assert_eq!(progress(&journal), second);
        append(&mut journal, Tag { uuid: 8, ..Tag::default() }, |buffer| {
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
    }

    #[test]
    fn every_request_says_who_we_are() {
        let mut journal = Journal::anonymous(8_192).unwrap();
        let tag = Tag { direction: Direction::Control, uuid: 9, ..Tag::default() };
        append(&mut journal, tag, |buffer| {
            let mut message = Establish503::encode(buffer).unwrap();
            message.set_uuid(9).set_request_timestamp(90);
            Establish503::ENCODED_LENGTH
        });
        let expected = Progress { uuid: 9, request_timestamp: 90, ..Progress::default() };
        assert_eq!(progress(&journal), expected);
        append(&mut journal, tag, |buffer| {
            Terminate507::encode(buffer).unwrap().set_uuid(9).set_request_timestamp(91);
            Terminate507::ENCODED_LENGTH
        });
        assert_eq!(progress(&journal), Progress { request_timestamp: 91, ..expected });
        append(&mut journal, tag, |buffer| {
            let mut request = RetransmitRequest508::encode(buffer).unwrap();
            request.set_uuid(9).set_request_timestamp(95).set_last_uuid(8);
            RetransmitRequest508::ENCODED_LENGTH
        });
        assert_eq!(progress(&journal), Progress { request_timestamp: 95, ..expected });
    }

    #[test]
    fn a_request_that_is_no_frame_says_nothing() {
        let mut journal = Journal::anonymous(1 << 14).unwrap();
        for length in 0..60 {
            let mut claim = journal.claim(length).unwrap();
            claim.payload().fill(0xEE);
            let tag = Tag { direction: Direction::Control, ..Tag::default() };
            claim.commit_as(&tag, length);
            assert_eq!(progress(&journal), Progress::default());
        }
        assert_eq!(number(&[0xEE; 32]), None, "cut short of its number");
    }
}
