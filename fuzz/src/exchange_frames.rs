//! Frames from an exchange to a client's session.

use hairpin_cme_codecs::ilink3::{
    BooleanFlag, BusinessReject521, EstablishmentAck504, EstablishmentReject505,
    ExecutionReportNew522, KeepAliveLapsed, NegotiationReject502, NegotiationResponse501,
    NotApplied513, Sequence506, Terminate507,
};
use hairpin_ilink3::{ENCODING_TYPE, Progress};

/// A message of the exchange: its kind and the values that a session checks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExchangeMessage {
    pub(crate) kind: u8,
    pub(crate) uuid: u64,
    pub(crate) request_timestamp: u64,
    pub(crate) seq_num: u32,
    pub(crate) code: u8,
}

impl ExchangeMessage {
    pub(crate) const NEGOTIATION_RESPONSE: u8 = 0;
    pub(crate) const ESTABLISHMENT_ACK: u8 = 1;
    pub(crate) const REPORT: u8 = 2;
    pub(crate) const SEQUENCE: u8 = 3;
    pub(crate) const TERMINATE: u8 = 4;
    pub(crate) const KINDS: u8 = 10;

    /// Creates the message that a session with this progress expects.
    pub(crate) fn expected(kind: u8, progress: &Progress) -> Self {
        Self {
            kind,
            uuid: progress.uuid,
            request_timestamp: progress.request_timestamp,
            seq_num: progress.next_incoming,
            code: 0,
        }
    }

    /// Encodes the frame.
    pub(crate) fn frame(&self) -> Vec<u8> {
        let mut frame = vec![0; 2_048];
        let length = 4 + self.encode(&mut frame[4..]);
        frame.truncate(length);
        frame[..2].copy_from_slice(&(length as u16).to_le_bytes());
        frame[2..4].copy_from_slice(&ENCODING_TYPE.to_le_bytes());
        frame
    }

    fn encode(&self, to: &mut [u8]) -> usize {
        const ROOM: &str = "the buffer has room";
        let Self { uuid, request_timestamp, seq_num, code, .. } = *self;
        let flag = code & 1;
        match self.kind % Self::KINDS {
            Self::NEGOTIATION_RESPONSE => {
                let mut message = NegotiationResponse501::encode(to).expect(ROOM);
                message.set_uuid(uuid).set_request_timestamp(request_timestamp);
                message.set_previous_seq_no(u32::from(code)).set_previous_uuid(u64::from(flag));
                NegotiationResponse501::ENCODED_LENGTH
            }
            Self::ESTABLISHMENT_ACK => {
                let mut message = EstablishmentAck504::encode(to).expect(ROOM);
                message.set_uuid(uuid).set_request_timestamp(request_timestamp);
                message.set_next_seq_no(seq_num).set_keep_alive_interval(10_000);
                message.set_previous_seq_no(u32::from(code)).set_previous_uuid(u64::from(flag));
                EstablishmentAck504::ENCODED_LENGTH
            }
            Self::REPORT => {
                let mut message = ExecutionReportNew522::encode(to).expect(ROOM);
                message.set_uuid(uuid).set_seq_num(seq_num);
                message.set_poss_retrans_flag(BooleanFlag(flag));
                ExecutionReportNew522::ENCODED_LENGTH
            }
            Self::SEQUENCE => {
                let mut message = Sequence506::encode(to).expect(ROOM);
                message.set_uuid(uuid).set_next_seq_no(seq_num);
                message.set_keep_alive_interval_lapsed(KeepAliveLapsed(flag));
                Sequence506::ENCODED_LENGTH
            }
            Self::TERMINATE => {
                let mut message = Terminate507::encode(to).expect(ROOM);
                message.set_uuid(uuid).set_request_timestamp(request_timestamp);
                message.set_error_codes(code.into());
                Terminate507::ENCODED_LENGTH
            }
            5 => {
                let mut message = NegotiationReject502::encode(to).expect(ROOM);
                message.set_uuid(uuid).set_request_timestamp(request_timestamp);
                message.set_error_codes(code.into());
                NegotiationReject502::ENCODED_LENGTH
            }
            6 => {
                let mut message = EstablishmentReject505::encode(to).expect(ROOM);
                message.set_uuid(uuid).set_request_timestamp(request_timestamp);
                message.set_error_codes(code.into()).set_next_seq_no(seq_num);
                EstablishmentReject505::ENCODED_LENGTH
            }
            7 => {
                let mut message = NotApplied513::encode(to).expect(ROOM);
                message.set_uuid(uuid).set_from_seq_no(seq_num).set_msg_count(code.into());
                NotApplied513::ENCODED_LENGTH
            }
            8 => {
                let mut message = BusinessReject521::encode(to).expect(ROOM);
                message.set_uuid(uuid).set_seq_num(seq_num);
                message.set_business_reject_ref_id(u64::from(code));
                message.set_poss_retrans_flag(BooleanFlag(flag));
                BusinessReject521::ENCODED_LENGTH
            }
            _ => any_report(code, seq_num, uuid, to),
        }
    }
}

/// Encodes any report; all of them start with SeqNum and UUID.
fn any_report(which: u8, seq_num: u32, uuid: u64, to: &mut [u8]) -> usize {
    const REPORTS: [u16; 18] =
        [523, 524, 525, 526, 527, 531, 532, 534, 535, 536, 538, 545, 548, 549, 550, 561, 564, 565];
    let template_id = REPORTS[usize::from(which) % REPORTS.len()];
    let length = hairpin_cme_copy::ilink3::empty(template_id, to).expect("the buffer has room");
    to[8..12].copy_from_slice(&seq_num.to_le_bytes());
    to[12..20].copy_from_slice(&uuid.to_le_bytes());
    length
}
