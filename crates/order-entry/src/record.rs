//! What the records of a session's journal hold, and what an earlier process left in them.
//!
//! Each record is one frame as it left, framing header included.

use hairpin_ilink3::{FRAMING_HEADER_LENGTH, Progress};
use hairpin_mapped::Journal;
use hairpin_sbe::MessageHeader;

use hairpin_cme_codecs::ilink3::{Establish503, Negotiate500, Terminate507};

/// Kind of a record that holds a business message, or the Sequence that fills a gap between them.
pub const MESSAGE_RECORD: u32 = 0;
/// Kind of a record that holds a request of ours, Negotiate, Establish or Terminate: the identity
/// of the session and the RequestTimestamp last used.
pub const CONTROL_RECORD: u32 = 1;

/// The first template that is a business message.
const BUSINESS: u16 = 514;
/// Where SeqNum stands in the body of a client's business message; one less in template 537.
const SEQ_NUM: usize = 17;
const PARTY_DETAILS_LIST_REQUEST: u16 = 537;

/// Where the session that wrote this journal stood.
///
/// The number of the exchange's next message is not in it: it is 1.
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
        BUSINESS.. => {
            let offset = SEQ_NUM - usize::from(header.template_id == PARTY_DETAILS_LIST_REQUEST);
            if let Some(number) = body.get(offset..).and_then(|rest| rest.first_chunk()) {
                progress.next_outgoing = u32::from_le_bytes(*number).saturating_add(1);
            }
        }
        _ => {}
    }
    progress
}

fn header_and_body(frame: &[u8]) -> Option<(MessageHeader, &[u8])> {
    MessageHeader::decode(frame.get(FRAMING_HEADER_LENGTH..)?).ok()
}
