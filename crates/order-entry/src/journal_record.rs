//! The contents of a session's journal records, and recovery from them.
//!
//! Each record is one frame as sent or received, with its framing header. A control record has a
//! snapshot of the session after its frame.

use std::ops::Range;

use hairpin_ilink3::{FRAMING_HEADER_LENGTH, Progress};
use hairpin_mapped::{Direction, Storage};

use crate::session_snapshot::{self, SNAPSHOT_LENGTH};

/// The kind of a record with a business message, inbound or outbound. Two outbound records have the
/// same sequence number if the exchange refused the first one without using its number.
pub const MESSAGE_RECORD: u16 = 0;
/// The kind of a record with an outbound request: Negotiate, Establish, RetransmitRequest or
/// Terminate.
pub const CONTROL_RECORD: u16 = 1;
/// The kind of a record with a Sequence that fills a gap between business messages. It has the
/// sequence number of the message before it.
pub const FILL_RECORD: u16 = 2;

/// The lowest template id of a business message.
const BUSINESS: u16 = 514;
/// The offset of the template id in a frame.
const TEMPLATE_ID: usize = FRAMING_HEADER_LENGTH + 2;
/// The templates with credentials: Negotiate and Establish.
const LOGONS: [u16; 2] = [500, 503];
/// The credentials in these frames: HMACSignature (32 bytes) and AccessKeyID (20) start the body.
const CREDENTIALS: Range<usize> = FRAMING_HEADER_LENGTH + 8..FRAMING_HEADER_LENGTH + 8 + 32 + 20;

/// Returns the length of a control record for a frame of `frame` bytes.
pub(crate) const fn control_length(frame: usize) -> usize {
    frame + SNAPSHOT_LENGTH
}

/// Writes a control record: the frame, then the session snapshot.
pub(crate) fn write_control(record: &mut [u8], frame: &[u8], progress: &Progress) {
    let (request, rest) = record.split_at_mut(frame.len());
    request.copy_from_slice(frame);
    let snapshot = rest.first_chunk_mut().expect("a control record fits frame and snapshot");
    session_snapshot::encode(progress, snapshot);
}

/// Returns the session snapshot in the payload of a [`CONTROL_RECORD`], or `None` if the payload is
/// not such a record.
#[must_use]
pub fn snapshot_from_record(record: &[u8]) -> Option<Progress> {
    let [size_0, size_1, ..] = *record else { return None };
    session_snapshot::decode(record.get(usize::from(u16::from_le_bytes([size_0, size_1]))..)?)
}

/// Recovers the progress of the session that wrote this journal: the snapshot of its last request,
/// updated with the messages sent and received since.
///
/// A refusal of the last message is not journaled, so its number counts as used. A NotApplied from
/// the exchange corrects that.
pub(crate) fn progress(journal: &impl Storage) -> Progress {
    let request = journal.last(Direction::Control);
    let snapshot = request.and_then(|request| snapshot_from_record(journal.bytes(request)));
    let mut progress = snapshot.unwrap_or_default();
    if let Some(message) = journal.last(Direction::Outbound) {
        let tag = journal.tag(message);
        if tag.uuid == progress.uuid {
            progress.next_outgoing = progress.next_outgoing.max(tag.seq_num.saturating_add(1));
        }
    }
    if let Some(message) = journal.last(Direction::Inbound) {
        let tag = journal.tag(message);
        progress.record_received(tag.uuid, tag.seq_num);
    }
    progress
}

/// Returns the template id of an outbound business message, from its frame.
pub(crate) fn business_template(frame: &[u8]) -> Option<u16> {
    let template_id = u16::from_le_bytes(*frame.get(TEMPLATE_ID..)?.first_chunk()?);
    (template_id >= BUSINESS).then_some(template_id)
}

/// Overwrites HMACSignature and AccessKeyID in the frame of a Negotiate or an Establish with
/// asterisks. Other frames are not changed.
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

    /// Appends a 40-byte request with a snapshot of `progress`.
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
    fn empty_journal_gives_default_progress() {
        let journal = Journal::anonymous(4_096).unwrap();
        assert_eq!(progress(&journal), Progress::default());
    }

    #[test]
    fn progress_combines_last_request_and_later_messages() {
        let mut journal = Journal::anonymous(1 << 14).unwrap();
        let first = Progress { uuid: 7, request_timestamp: 70, ..Progress::default() };
        request(&mut journal, &first);
        assert_eq!(progress(&journal), first);
        (1..3).for_each(|number| order(&mut journal, 7, number));
        (1..6).for_each(|number| report(&mut journal, 7, number));
        assert_eq!(progress(&journal), Progress { next_outgoing: 3, next_incoming: 6, ..first });
        let mut second = Progress { uuid: 8, request_timestamp: 80, ..Progress::default() };
        second.previous_uuids.missing[0] = Some(Gap { uuid: 7, from: 6, to: 7 });
        request(&mut journal, &second);
        assert_eq!(progress(&journal), second, "earlier messages belong to another session");
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
        assert_eq!(
            progress(&journal).previous_uuids.missing[0],
            Some(Gap { uuid: 7, from: 7, to: 7 })
        );
        report(&mut journal, 8, 1);
        let all = Progress { next_outgoing: 2, next_incoming: 2, uuid: 8, ..first };
        assert_eq!(progress(&journal), Progress { request_timestamp: 80, ..all });
    }

    #[test]
    fn invalid_control_record_gives_default_progress() {
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
