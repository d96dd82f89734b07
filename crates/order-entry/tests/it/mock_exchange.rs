//! A mock exchange, written with the codecs only.

#![allow(dead_code, reason = "each test program uses a part")]
use hairpin_cme_codecs::ilink3::*;
use hairpin_order_entry::{KEEP_ALIVE_DEFAULT, Logon, Operator, SecretKey, Settings};
use hairpin_sbe::MessageHeader;
use hairpin_time::{Instant, Now, Utc};
use std::net::{Ipv4Addr, SocketAddrV4};

pub(crate) const UTC: u64 = 1_700_000_000_000_000_000;

pub(crate) fn now(nanos: u64) -> Now {
    Now { monotonic: Instant::from_nanos(nanos), utc: Utc::from_nanos(UTC + nanos) }
}

pub(crate) fn settings(port: u16) -> Settings {
    let logon = Logon {
        access_key_id: "ACCESS-KEY-ID-123456".into(),
        secret_key: SecretKey::from_base64url("AAECAwQFBgcICQoLDA0ODw").unwrap(),
        session: "ABC".into(),
        firm: "DEFGH".into(),
        trading_system_name: "Test".into(),
        trading_system_version: "1".into(),
        trading_system_vendor: "Test".into(),
        keep_alive_interval: KEEP_ALIVE_DEFAULT,
        operator: Operator::automated("TRADER", "US,IL").unwrap(),
    };
    Settings::new(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port), logon)
}

/// Returns a frame with `length` bytes after the framing header; `write` fills these bytes.
fn framed(length: usize, write: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut frame = vec![0; 4 + length];
    write(&mut frame[4..]);
    let size = frame.len() as u16;
    frame[..2].copy_from_slice(&size.to_le_bytes());
    frame[2..4].copy_from_slice(&[0xFE, 0xCA]);
    frame
}

/// Splits `bytes` into frames. The last frame must be complete.
pub(crate) fn frames(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut frames = Vec::new();
    while !bytes.is_empty() {
        let length = usize::from(u16::from_le_bytes([bytes[0], bytes[1]]));
        let (frame, rest) = bytes.split_at(length);
        frames.push(frame);
        bytes = rest;
    }
    frames
}

pub(crate) fn template_id(frame: &[u8]) -> u16 {
    MessageHeader::decode(&frame[4..]).unwrap().0.template_id
}

/// Returns SeqNum of a client's business message.
pub(crate) fn seq_num(frame: &[u8]) -> u32 {
    u32::from_le_bytes(*frame[12 + 17..].first_chunk().unwrap())
}

/// An exchange that accepts every logon and every order, and cancels on request.
#[derive(Debug, Default)]
pub(crate) struct MockExchange {
    uuid: u64,
    /// The SeqNum of the last report.
    pub(crate) reports: u32,
    /// The templates of received frames.
    pub(crate) received: Vec<u16>,
}

impl MockExchange {
    /// Returns the answer to a client's frame.
    pub(crate) fn answer(&mut self, frame: &[u8]) -> Vec<u8> {
        let (header, body) = MessageHeader::decode(&frame[4..]).unwrap();
        assert_eq!(usize::from(u16::from_le_bytes([frame[0], frame[1]])), frame.len());
        self.received.push(header.template_id);
        match header.template_id {
            Negotiate500::TEMPLATE_ID => {
                let mut scratch = Negotiate500::SCRATCH;
                let negotiate = Negotiate500::decode(&header, body, &mut scratch).unwrap();
                self.uuid = negotiate.uuid();
                negotiation_response(negotiate.uuid(), negotiate.request_timestamp())
            }
            Establish503::TEMPLATE_ID => {
                let mut scratch = Establish503::SCRATCH;
                let establish = Establish503::decode(&header, body, &mut scratch).unwrap();
                assert_eq!(establish.uuid(), self.uuid);
                establishment_ack(establish, self.reports + 1)
            }
            NewOrderSingle514::TEMPLATE_ID => {
                let mut scratch = NewOrderSingle514::SCRATCH;
                let order = NewOrderSingle514::decode(&header, body, &mut scratch).unwrap();
                self.reports += 1;
                report_new(self.uuid, self.reports, order)
            }
            OrderCancelRequest516::TEMPLATE_ID => {
                let mut scratch = OrderCancelRequest516::SCRATCH;
                let cancel = OrderCancelRequest516::decode(&header, body, &mut scratch).unwrap();
                self.reports += 1;
                report_cancel(self.uuid, self.reports, cancel)
            }
            Terminate507::TEMPLATE_ID => {
                let mut scratch = Terminate507::SCRATCH;
                let terminate = Terminate507::decode(&header, body, &mut scratch).unwrap();
                self.terminate(terminate.error_codes(), terminate.request_timestamp())
            }
            _ => Vec::new(),
        }
    }

    /// Returns a NotApplied for `count` messages from `from` on.
    pub(crate) fn not_applied(&self, from: u32, count: u32) -> Vec<u8> {
        framed(NotApplied513::ENCODED_LENGTH, |buffer| {
            let mut message = NotApplied513::encode(buffer).unwrap();
            message.set_uuid(self.uuid).set_from_seq_no(from).set_msg_count(count);
        })
    }

    /// Returns a keep-alive Sequence.
    pub(crate) fn sequence(&self) -> Vec<u8> {
        framed(Sequence506::ENCODED_LENGTH, |buffer| {
            let mut sequence = Sequence506::encode(buffer).unwrap();
            sequence.set_uuid(self.uuid).set_next_seq_no(self.reports + 1);
            sequence.set_keep_alive_interval_lapsed(KeepAliveLapsed::NOT_LAPSED);
        })
    }

    /// Returns the Sequence that promotes the backup to primary.
    pub(crate) fn promotion(uuid: u64, next_seq_no: u32) -> Vec<u8> {
        framed(Sequence506::ENCODED_LENGTH, |buffer| {
            let mut sequence = Sequence506::encode(buffer).unwrap();
            sequence.set_uuid(uuid).set_next_seq_no(next_seq_no);
            sequence.set_fault_tolerance_indicator(FTI::PRIMARY);
            sequence.set_keep_alive_interval_lapsed(KeepAliveLapsed::NOT_LAPSED);
        })
    }

    /// Returns a BusinessReject of the order in `frame`, which did not use its sequence number.
    pub(crate) fn refuse(&mut self, frame: &[u8]) -> Vec<u8> {
        let (header, body) = MessageHeader::decode(&frame[4..]).unwrap();
        let mut scratch = NewOrderSingle514::SCRATCH;
        let order = NewOrderSingle514::decode(&header, body, &mut scratch).unwrap();
        self.reports += 1;
        framed(BusinessReject521::ENCODED_LENGTH, |buffer| {
            let mut message = BusinessReject521::encode(buffer).unwrap();
            message.set_uuid(self.uuid).set_seq_num(self.reports);
            message.set_poss_retrans_flag(BooleanFlag::FALSE).set_ref_seq_num(None);
            message.set_business_reject_ref_id(order.order_request_id());
        })
    }

    /// Returns a Terminate from the exchange.
    pub(crate) fn terminate(&self, code: u16, request_timestamp: u64) -> Vec<u8> {
        framed(Terminate507::ENCODED_LENGTH, |buffer| {
            let mut message = Terminate507::encode(buffer).unwrap();
            message.set_uuid(self.uuid).set_request_timestamp(request_timestamp);
            message.set_error_codes(code);
        })
    }
}

fn negotiation_response(uuid: u64, request_timestamp: u64) -> Vec<u8> {
    framed(NegotiationResponse501::ENCODED_LENGTH, |buffer| {
        let mut message = NegotiationResponse501::encode(buffer).unwrap();
        message.set_uuid(uuid).set_request_timestamp(request_timestamp);
        message.set_previous_uuid(0).set_previous_seq_no(0);
    })
}

fn establishment_ack(establish: Establish503<'_>, next_seq_no: u32) -> Vec<u8> {
    framed(EstablishmentAck504::ENCODED_LENGTH, |buffer| {
        let mut message = EstablishmentAck504::encode(buffer).unwrap();
        message
            .set_uuid(establish.uuid())
            .set_request_timestamp(establish.request_timestamp())
            .set_next_seq_no(next_seq_no)
            .set_previous_uuid(0)
            .set_previous_seq_no(0)
            .set_keep_alive_interval(establish.keep_alive_interval());
    })
}

fn report_new(uuid: u64, seq_num: u32, order: NewOrderSingle514<'_>) -> Vec<u8> {
    framed(ExecutionReportNew522::ENCODED_LENGTH, |buffer| {
        let mut message = ExecutionReportNew522::encode(buffer).unwrap();
        message
            .set_uuid(uuid)
            .set_seq_num(seq_num)
            .set_poss_retrans_flag(BooleanFlag::FALSE)
            .set_order_id(7_000 + u64::from(order.seq_num()))
            .set_order_request_id(order.order_request_id())
            .set_cl_ord_id(order.cl_ord_id())
            .set_security_id(order.security_id())
            .set_side(order.side())
            .set_order_qty(order.order_qty())
            .set_price(order.price().unwrap());
    })
}

fn report_cancel(uuid: u64, seq_num: u32, cancel: OrderCancelRequest516<'_>) -> Vec<u8> {
    framed(ExecutionReportCancel534::ENCODED_LENGTH, |buffer| {
        let mut message = ExecutionReportCancel534::encode(buffer).unwrap();
        message
            .set_uuid(uuid)
            .set_seq_num(seq_num)
            .set_poss_retrans_flag(BooleanFlag::FALSE)
            .set_order_id(cancel.order_id().unwrap())
            .set_cl_ord_id(cancel.cl_ord_id())
            .set_security_id(cancel.security_id());
    })
}
