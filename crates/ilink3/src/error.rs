//! Session errors, which end the connection, and warnings, which do not.

use hairpin_sbe::DecodeError;
use thiserror::Error;

use crate::{FramingError, Gap, State, TerminateCode};

/// A fault that ends the connection, as [`OnFault`](crate::OnFault) selects. Each variant is
/// counted in [`InboundCounters`](crate::InboundCounters).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// An invalid framing header.
    #[error("invalid frame: {0}")]
    Framing(FramingError),
    /// A message of another schema.
    #[error("SchemaID {0} is not 8")]
    Schema(u16),
    /// A message that does not match its template.
    #[error("template {template_id}: {error}")]
    Decode {
        /// The message's template; 0 if the SBE header is incomplete.
        template_id: u16,
        /// The decoding error.
        error: DecodeError,
    },
    /// A template that the exchange never sends: of a client, or an unknown one below 519.
    #[error("the exchange never sends template {0}")]
    UnknownTemplate(u16),
    /// A message that is not allowed in this state.
    #[error("template {template_id} is not allowed while {state}")]
    Unexpected {
        /// The message's template.
        template_id: u16,
        /// The state in which the message arrived.
        state: State,
    },
    /// A UUID that is not the session's.
    #[error("UUID is {received}, expected {expected}")]
    Uuid {
        /// The session's UUID.
        expected: u64,
        /// The message's UUID.
        received: u64,
    },
    /// A response to an unknown or older request.
    #[error("RequestTimestamp is {received}, expected {expected}")]
    RequestTimestamp {
        /// The RequestTimestamp of the last request.
        expected: u64,
        /// The RequestTimestamp in the response.
        received: u64,
    },
    /// A SeqNum that was used before (without PossRetransFlag) or exceeds 999,999,999.
    #[error("SeqNum is {received}, expected {expected}")]
    SeqNum {
        /// The next expected SeqNum.
        expected: u32,
        /// The message's SeqNum.
        received: u32,
    },
    /// A NextSeqNo below the expected number, or above the maximum.
    #[error("NextSeqNo is {received}, expected {expected}")]
    NextSeqNo {
        /// The next expected SeqNum.
        expected: u32,
        /// The message's NextSeqNo.
        received: u32,
    },
    /// Missing messages did not arrive after the number of requests that
    /// [`SessionPolicy`](crate::SessionPolicy) allows. The session requests them again when it is
    /// resumed: without limit under the current UUID, on three consecutive connections under a
    /// previous one.
    #[error("messages {} to {} of {} did not arrive after retries", .0.from, .0.to, .0.uuid)]
    Retransmission(Gap),
    /// No connection or response within two keep-alive intervals.
    #[error("no response while {0}")]
    ResponseTimeout(State),
    /// No message within 1.1 keep-alive intervals, and none within a further interval after our
    /// request for a Sequence.
    #[error("nothing received for two keep-alive intervals")]
    KeepAliveLapsed,
    /// No response to our Terminate within one keep-alive interval.
    #[error("no response to Terminate")]
    TerminateTimeout,
    /// The connection ended without a Terminate, or could not be opened.
    #[error("connection lost while {0}")]
    ConnectionLost(State),
}

impl Error {
    /// Returns the code under which CME lists the same fault in its own Terminates, or `None` if
    /// the fault is not one of the protocol. The session never sends the code.
    pub(crate) const fn code(&self) -> Option<TerminateCode> {
        match self {
            Self::Framing(_) => Some(TerminateCode::INVALID_SOFH),
            Self::Schema(_) | Self::Decode { .. } | Self::UnknownTemplate(_) => {
                Some(TerminateCode::DECODING_ERROR)
            }
            Self::Unexpected { state: State::Negotiating | State::Establishing, .. } => {
                Some(TerminateCode::NOT_ESTABLISHED)
            }
            Self::Unexpected { .. } | Self::Retransmission(_) => Some(TerminateCode::OTHER),
            Self::Uuid { .. } => Some(TerminateCode::INVALID_UUID),
            Self::RequestTimestamp { .. } => Some(TerminateCode::INVALID_TIMESTAMP),
            Self::SeqNum { .. } => Some(TerminateCode::INVALID_MSG_SEQ_NO),
            Self::NextSeqNo { .. } => Some(TerminateCode::INVALID_NEXT_SEQ_NO),
            Self::KeepAliveLapsed => Some(TerminateCode::KEEP_ALIVE_INTERVAL_LAPSED),
            Self::ResponseTimeout(_) | Self::TerminateTimeout | Self::ConnectionLost(_) => None,
        }
    }
}

/// An irregularity that does not end the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Warning {
    /// No message within 1.1 keep-alive intervals. The session requests a Sequence from the
    /// exchange.
    #[error("nothing received for a keep-alive interval")]
    Silence,
    /// The exchange received nothing from the client within a keep-alive interval and requests a
    /// Sequence. The session sends one.
    #[error("the exchange received nothing from us for a keep-alive interval")]
    SequenceRequested,
    /// No response to Negotiate or Establish within two keep-alive intervals. The session repeats
    /// the request.
    #[error("no response while {0}: request repeated")]
    LogonRepeated(State),
    /// The KeepAliveInterval in EstablishmentAck differs from the requested one. The session keeps
    /// its own.
    #[error("the exchange acknowledges KeepAliveInterval {0} ms instead of ours")]
    KeepAliveInterval(u16),
    /// A frame is longer than its message. The session ignores the rest.
    #[error("template {template_id} is followed by {bytes} unknown bytes in its frame")]
    TrailingBytes {
        /// The message's template.
        template_id: u16,
        /// The number of ignored bytes.
        bytes: usize,
    },
    /// A possible retransmission of a delivered message, or of another UUID. The session drops it.
    #[error("possible retransmission of {seq_num} of {uuid} dropped")]
    Retransmitted {
        /// The message's UUID.
        uuid: u64,
        /// The message's SeqNum.
        seq_num: u32,
    },
    /// Messages of `uuid` from number `from` may be missing. The exchange names a later UUID,
    /// negotiated but never established, as the last one it published under. It therefore does not
    /// report the end of `uuid`.
    #[error("messages of {uuid} from {from} on may be missing")]
    UnknownEnd {
        /// The last established UUID before the current one.
        uuid: u64,
        /// The SeqNum of its first message that has not arrived.
        from: u32,
    },
    /// The hold queue has no room for message `seq_num`, which arrived after a gap. The session
    /// requests this message and later ones without room again. Reported once until the gap is
    /// closed.
    #[error("no room to hold {seq_num} after a gap")]
    HeldOverflow {
        /// The message's SeqNum.
        seq_num: u32,
    },
    /// A retransmitted message arrived before others of the same retransmission. The session
    /// requests all of them again.
    #[error("retransmitted {seq_num} of {uuid} arrived out of order")]
    RetransmissionGap {
        /// The message's UUID.
        uuid: u64,
        /// The message's SeqNum.
        seq_num: u32,
    },
    /// A message from a previous process's journal cannot be decoded: see
    /// [`Session::redeliver`](crate::Session::redeliver).
    #[error("cannot decode a kept message: template {template_id}")]
    NotRedelivered {
        /// The message's template; 0 if unknown.
        template_id: u16,
    },
    /// Messages that were not applied cannot be replayed as configured: see
    /// [`NotAppliedAnswer::Replay`](crate::NotAppliedAnswer). The session filled the gap.
    #[error("cannot replay messages from {from} on: gap filled")]
    NotReplayed {
        /// The SeqNum of the first message.
        from: u32,
    },
    /// No message of a retransmission arrived within the timeout of
    /// [`SessionPolicy`](crate::SessionPolicy). The session requests the rest again.
    #[error("retransmission of {} to {} of {} stalled", .0.from, .0.to, .0.uuid)]
    RetransmissionStalled(Gap),
    /// Messages from `from` on were sent to a failed primary, which may not have applied them, and
    /// no message was sent to the new primary. A Sequence would make the exchange skip the missing
    /// ones without a NotApplied. The session terminates instead, and the next logon resolves them
    /// by NotApplied.
    #[error("messages from {from} on may not have reached the failed primary: logging on again")]
    InDoubt {
        /// The SeqNum of the first message.
        from: u32,
    },
    /// The secret key expires soon or has expired. Reported at each logon and then once a day. See
    /// [`KeyExpiry`](crate::KeyExpiry).
    #[error(
        "the secret key expires in {days_left} {}: request a new one",
        if *days_left == 1 { "day" } else { "days" }
    )]
    KeyExpires {
        /// The whole days left; 0 also after the expiry.
        days_left: u32,
    },
    /// A business message of a template that this version does not know. The session numbers it,
    /// keeps it and delivers it to [`Listener::on_message`](crate::Listener::on_message). Reported
    /// once per template.
    #[error("template {template_id} of schema version {version} is unknown")]
    UnknownTemplate {
        /// The message's template.
        template_id: u16,
        /// The message's schema version.
        version: u16,
    },
    /// The journal cannot be written to disk: after a power loss, messages may be missing in it.
    #[error("cannot write the journal to disk: os error {errno}")]
    JournalFailed {
        /// The error number of the operating system.
        errno: i32,
    },
    /// A response that matches no pending request. The session ignores it.
    #[error("template {0} matches no pending request")]
    Unrequested(u16),
}
