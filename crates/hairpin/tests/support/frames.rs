//! Splits a byte stream into frames.
#![allow(dead_code, reason = "each simulation uses a part")]

/// The lengths in bytes of the framing header, and of the framing and SBE headers.
const FRAMING: usize = 4;
const HEADERS: usize = 12;
/// The first template id of a business message.
pub(crate) const BUSINESS: u16 = 514;

/// A buffer of received bytes, from which whole frames are taken.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    bytes: Vec<u8>,
}

impl Frames {
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Removes and returns the next complete frame.
    pub(crate) fn take(&mut self) -> Option<Vec<u8>> {
        let length = usize::from(u16::from_le_bytes(*self.bytes.first_chunk()?));
        assert!(length >= HEADERS, "invalid frame");
        (self.bytes.len() >= length).then(|| self.bytes.drain(..length).collect())
    }

    /// Returns the template id of the incomplete frame, or 0 if its headers are incomplete.
    pub(crate) fn partial_template(&self) -> Option<u16> {
        (!self.bytes.is_empty()).then(|| self.bytes.get(..HEADERS).map_or(0, template))
    }
}

pub(crate) fn template(frame: &[u8]) -> u16 {
    u16::from_le_bytes([frame[FRAMING + 2], frame[FRAMING + 3]])
}

/// Returns the message in a frame, from its SBE header on.
pub(crate) fn message(frame: &[u8]) -> &[u8] {
    &frame[FRAMING..]
}

/// Returns the SeqNum of a client's business message.
pub(crate) fn client_number(frame: &[u8]) -> u32 {
    u32::from_le_bytes(*frame[HEADERS + 17..].first_chunk().expect("the message has a SeqNum"))
}

/// Returns the UUID and SeqNum of a business message of the exchange.
pub(crate) fn exchange_number(frame: &[u8]) -> (u64, u32) {
    let body = &frame[HEADERS..];
    let number = u32::from_le_bytes(*body.first_chunk().expect("the message has a SeqNum"));
    (u64::from_le_bytes(*body[4..].first_chunk().expect("the message has a UUID")), number)
}

/// Returns the census class of a connection that was cut within a message.
pub(crate) fn cut_in(template: Option<u16>) -> &'static str {
    match template {
        None => "cut between frames",
        Some(0) => "cut in the headers of a frame",
        Some(500) => "cut in a Negotiate",
        Some(501) => "cut in a NegotiationResponse",
        Some(503) => "cut in an Establish",
        Some(504) => "cut in an EstablishmentAck",
        Some(506) => "cut in a Sequence",
        Some(507) => "cut in a Terminate",
        Some(508) => "cut in a RetransmitRequest",
        Some(509) => "cut in a Retransmission",
        Some(513) => "cut in a NotApplied",
        Some(514) => "cut in a NewOrderSingle",
        Some(515) => "cut in an OrderCancelReplaceRequest",
        Some(516) => "cut in an OrderCancelRequest",
        Some(529) => "cut in an OrderMassActionRequest",
        Some(533) => "cut in an OrderStatusRequest",
        Some(521) => "cut in a BusinessReject",
        Some(522) => "cut in an ExecutionReportNew",
        Some(523) => "cut in an ExecutionReportReject",
        Some(524) => "cut in an ExecutionReportElimination",
        Some(525) => "cut in an ExecutionReportTrade",
        Some(531) => "cut in an ExecutionReportModify",
        Some(532) => "cut in an ExecutionReportStatus",
        Some(534) => "cut in an ExecutionReportCancel",
        Some(535 | 536) => "cut in a refused cancel or replacement",
        Some(562) => "cut in an OrderMassActionReport",
        Some(_) => "cut in another message",
    }
}
