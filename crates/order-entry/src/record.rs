//! What the records of a session's journal hold, and what an earlier process left in them.
//!
//! Each record is one frame as it left, framing header included.

use hairpin_ilink3::{FRAMING_HEADER_LENGTH, Progress};
use hairpin_mapped::{Journal, Record};
use hairpin_sbe::MessageHeader;

use hairpin_cme_codecs::ilink3::{
    Establish503, Negotiate500, RetransmitRequest508, SCHEMA_ID, Terminate507,
};

/// Kind of a record that holds a business message, or the Sequence that fills a gap between them.
/// Two messages have the same number where the exchange refused the first without using it.
pub const MESSAGE_RECORD: u32 = 0;
/// Kind of a record that holds a request of ours, Negotiate, Establish, RetransmitRequest or
/// Terminate: the identity of the session and the RequestTimestamp last used.
pub const CONTROL_RECORD: u32 = 1;

/// The first template that is a business message.
const BUSINESS: u16 = 514;
/// Where SeqNum stands in the body of a client's business message; one less in template 537.
const SEQ_NUM: usize = 17;
const PARTY_DETAILS_LIST_REQUEST: u16 = 537;

/// Where the session that wrote this journal stood.
///
/// The number of the exchange's next message is not in it: it is 1. That the last message was
/// refused and its number taken back is not in it either: its number then counts as used, and
/// NotApplied settles it.
pub(crate) fn progress(journal: &Journal) -> Progress {
    journal.records().fold(Progress::default(), |progress, (_, frame)| after(progress, frame))
}

fn after(mut progress: Progress, frame: &[u8]) -> Progress {
    let Some((header, body)) = header_and_body(frame) else { return progress };
    match header.template_id {
        Negotiate500::TEMPLATE_ID => {
            let mut scratch = Negotiate500::SCRATCH;
            if let Ok(negotiate) = Negotiate500::decode(&header, body, &mut scratch) {
                progress = Progress {
                    uuid: negotiate.uuid(),
                    request_timestamp: negotiate.request_timestamp(),
                    ..Progress::default()
                };
            }
        }
        Establish503::TEMPLATE_ID => {
            let mut scratch = Establish503::SCRATCH;
            if let Ok(establish) = Establish503::decode(&header, body, &mut scratch) {
                progress.request_timestamp = establish.request_timestamp();
            }
        }
        Terminate507::TEMPLATE_ID => {
            let mut scratch = Terminate507::SCRATCH;
            if let Ok(terminate) = Terminate507::decode(&header, body, &mut scratch) {
                progress.request_timestamp = terminate.request_timestamp();
            }
        }
        RetransmitRequest508::TEMPLATE_ID => {
            let mut scratch = RetransmitRequest508::SCRATCH;
            if let Ok(request) = RetransmitRequest508::decode(&header, body, &mut scratch) {
                progress.request_timestamp = request.request_timestamp();
            }
        }
        _ => {
            if let Some(number) = number(&header, body) {
                progress.next_outgoing = number.saturating_add(1);
            }
        }
    }
    progress
}

/// SeqNum of a business message of ours.
fn number(header: &MessageHeader, body: &[u8]) -> Option<u32> {
    if header.template_id < BUSINESS {
        return None;
    }
    let offset = SEQ_NUM - usize::from(header.template_id == PARTY_DETAILS_LIST_REQUEST);
    Some(u32::from_le_bytes(*body.get(offset..)?.first_chunk()?))
}

/// The last message that was sent under `seq_num`.
pub(crate) fn find(journal: &Journal, seq_num: u32) -> Option<Record> {
    let found = journal.records().filter(|(_, frame)| {
        header_and_body(frame).and_then(|(header, body)| number(&header, body)) == Some(seq_num)
    });
    found.last().map(|(record, _)| record)
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

    fn append(journal: &mut Journal, encode: impl FnOnce(&mut [u8]) -> usize) {
        let mut claim = journal.claim(300).unwrap();
        let length = encode(&mut claim.payload()[4..]);
        claim.commit(4 + length);
    }

    fn negotiate(journal: &mut Journal, uuid: u64, request_timestamp: u64) {
        append(journal, |buffer| {
            let mut message = Negotiate500::encode(buffer).unwrap();
            message.set_uuid(uuid).set_request_timestamp(request_timestamp);
            Negotiate500::ENCODED_LENGTH
        });
    }

    fn order(journal: &mut Journal, seq_num: u32) {
        append(journal, |buffer| {
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
    fn the_last_negotiate_and_the_last_message_count() {
        let mut journal = Journal::anonymous(4_096).unwrap();
        negotiate(&mut journal, 7, 70);
        order(&mut journal, 1);
        order(&mut journal, 2);
        let first = Progress { uuid: 7, request_timestamp: 70, ..Progress::default() };
        assert_eq!(progress(&journal), Progress { next_outgoing: 3, ..first });
        negotiate(&mut journal, 8, 80);
        let second = Progress { uuid: 8, request_timestamp: 80, ..Progress::default() };
        assert_eq!(progress(&journal), second);
        append(&mut journal, |buffer| {
            let (mut root, groups) = PartyDetailsListRequest537::encode(buffer).unwrap();
            root.set_seq_num(1);
            groups.finish().unwrap()
        });
        assert_eq!(progress(&journal), Progress { next_outgoing: 2, ..second });
        append(&mut journal, |buffer| {
            Sequence506::encode(buffer).unwrap().set_uuid(8).set_next_seq_no(99);
            Sequence506::ENCODED_LENGTH
        });
        assert_eq!(progress(&journal), Progress { next_outgoing: 2, ..second });
    }

    #[test]
    fn a_retransmit_request_moves_the_timestamp() {
        let mut journal = Journal::anonymous(4_096).unwrap();
        negotiate(&mut journal, 7, 70);
        order(&mut journal, 1);
        append(&mut journal, |buffer| {
            RetransmitRequest508::encode(buffer).unwrap().set_uuid(7).set_request_timestamp(75);
            RetransmitRequest508::ENCODED_LENGTH
        });
        let expected = Progress { uuid: 7, request_timestamp: 75, ..Progress::default() };
        assert_eq!(progress(&journal), Progress { next_outgoing: 2, ..expected });
    }

    #[test]
    fn the_last_message_of_a_number_is_found() {
        let mut journal = Journal::anonymous(4_096).unwrap();
        order(&mut journal, 1);
        negotiate(&mut journal, 7, 70);
        order(&mut journal, 1);
        order(&mut journal, 2);
        let records: Vec<_> = journal.records().map(|(record, _)| record).collect();
        assert_eq!(find(&journal, 1), Some(records[2]));
        assert_eq!(find(&journal, 2), Some(records[3]));
        assert_eq!(find(&journal, 3), None);
    }

    #[test]
    fn a_record_that_is_no_frame_is_passed_over() {
        let mut journal = Journal::anonymous(1 << 13).unwrap();
        negotiate(&mut journal, 7, 70);
        let before = progress(&journal);
        for length in 0..60 {
            let mut claim = journal.claim(length).unwrap();
            claim.payload().fill(0xEE);
            claim.commit(length);
        }
        assert_eq!(progress(&journal), before);
    }
}
