//! What can go wrong in a session, and what is worth a word though it goes on.

use hairpin_sbe::DecodeError;
use thiserror::Error;

use crate::{FramingError, Gap, State, TerminateCode};

/// A fault that ends the connection. Each is counted in
/// [`InboundCounters`](crate::InboundCounters).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A framing header that is none. Terminate 18 is sent.
    #[error("frame: {0}")]
    Framing(FramingError),
    /// A message of another schema. Terminate 19 is sent.
    #[error("SchemaID {0} is not 8")]
    Schema(u16),
    /// A message that does not hold what its template says. Terminate 19 is sent.
    #[error("template {template_id}: {error}")]
    Decode {
        /// Template of the message, 0 if not even its header was whole.
        template_id: u16,
        /// What was wrong.
        error: DecodeError,
    },
    /// A template the exchange never sends. Terminate 19 is sent.
    #[error("template {0} is not one the exchange sends")]
    UnknownTemplate(u16),
    /// A message that has no place in this state. Terminate 3 is sent before the session is
    /// established, 23 after.
    #[error("template {template_id} has no place while {state}")]
    Unexpected {
        /// Template of the message.
        template_id: u16,
        /// State it came in.
        state: State,
    },
    /// A UUID that is not the session's. Terminate 13 is sent.
    #[error("UUID {received} instead of {expected}")]
    Uuid {
        /// The session's.
        expected: u64,
        /// The message's.
        received: u64,
    },
    /// An answer to a request we did not send, or sent earlier. Terminate 14 is sent.
    #[error("RequestTimestamp {received} instead of {expected}")]
    RequestTimestamp {
        /// The request's.
        expected: u64,
        /// The answer's.
        received: u64,
    },
    /// A business message with a number that was used before, not marked as a possible
    /// retransmission, or beyond 999,999,999. Terminate 11 is sent.
    #[error("SeqNum {received} where {expected} was next")]
    SeqNum {
        /// Number of the next message.
        expected: u32,
        /// The message's.
        received: u32,
    },
    /// A NextSeqNo below the next number, or beyond the last. Terminate 10 is sent.
    #[error("NextSeqNo {received} where {expected} was next")]
    NextSeqNo {
        /// Number of the next message.
        expected: u32,
        /// The message's.
        received: u32,
    },
    /// Messages that are missing did not come though they were asked for as often as
    /// [`SessionPolicy`](crate::SessionPolicy) says. Terminate 23 is sent. They are asked for again
    /// when the
    /// session is resumed: without end under the present UUID, on three connections in a row under
    /// an earlier one.
    #[error("messages {} to {} of {} did not come though asked for", .0.from, .0.to, .0.uuid)]
    Retransmission(Gap),
    /// A connection or an answer did not come within two keep-alive intervals.
    #[error("no answer while {0}")]
    ResponseTimeout(State),
    /// Nothing was heard for a keep-alive interval and a tenth, and nothing for an interval more
    /// after we had asked.
    /// Terminate 20 is sent.
    #[error("nothing heard for two keep-alive intervals")]
    KeepAliveLapsed,
    /// Our Terminate was not answered within a keep-alive interval.
    #[error("Terminate was not answered")]
    TerminateTimeout,
    /// The connection ended, or could not be made, without a Terminate.
    #[error("connection lost while {0}")]
    ConnectionLost(State),
}

impl Error {
    /// The code of the Terminate that follows, or `None` if none is sent.
    ///
    /// CME documents these codes for its own Terminates and asks clients for 0 in a graceful one;
    /// the codes here stand only in a Terminate that needs no answer.
    #[must_use]
    pub const fn terminate_code(&self) -> Option<TerminateCode> {
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

/// Something odd that the session lives with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Warning {
    /// Nothing was heard for a keep-alive interval and a tenth: the exchange is asked for a sign of
    /// life.
    #[error("nothing heard for a keep-alive interval")]
    Silence,
    /// The exchange heard nothing from us for a keep-alive interval, and asks; it is answered.
    #[error("the exchange has heard nothing from us for a keep-alive interval")]
    AskedForLife,
    /// Negotiate or Establish was not answered within two keep-alive intervals and is sent again.
    #[error("no answer while {0}: asked again")]
    LogonRepeated(State),
    /// EstablishmentAck carries another KeepAliveInterval than was asked for; ours stays.
    #[error("the exchange acknowledges a KeepAliveInterval of {0} ms, not ours")]
    KeepAliveInterval(u16),
    /// A frame is longer than its message; the rest was not read.
    #[error("template {template_id} is followed by {bytes} unknown bytes in its frame")]
    TrailingBytes {
        /// Template of the message.
        template_id: u16,
        /// Bytes not read.
        bytes: usize,
    },
    /// A possible retransmission of a message that was delivered before, or of another UUID: it
    /// is not delivered again.
    #[error("possible retransmission of {seq_num} of {uuid} dropped")]
    Retransmitted {
        /// UUID of the message.
        uuid: u64,
        /// SeqNum of the message.
        seq_num: u32,
    },
    /// The exchange says that it has last published under a UUID that was negotiated after `uuid`
    /// and never established: what it published under `uuid` from number `from` on, if anything,
    /// is not told by it.
    #[error("messages of {uuid} from {from} on may be missing")]
    UnknownEnd {
        /// The UUID that was established last before.
        uuid: u64,
        /// SeqNum of the first message of it that has not arrived.
        from: u32,
    },
    /// There is no room to hold message `seq_num` until those before it are there: it, and what
    /// follows without room, will be asked for. Told once until all are there.
    #[error("no room to hold {seq_num} until what is missing before it has come")]
    HeldOverflow {
        /// SeqNum of the message.
        seq_num: u32,
    },
    /// A message of a retransmission that comes before others of it: it is asked for again with
    /// them.
    #[error("retransmitted {seq_num} of {uuid} has others missing before it")]
    RetransmissionGap {
        /// UUID of the message.
        uuid: u64,
        /// SeqNum of the message.
        seq_num: u32,
    },
    /// A message that an earlier process has kept and not delivered is none that can be read: see
    /// [`Session::redeliver`](crate::Session::redeliver).
    #[error("a kept message, template {template_id}, cannot be read")]
    NotRedelivered {
        /// Its template; 0 if not even that is known.
        template_id: u16,
    },
    /// Messages that were not applied are not sent again, though that was wanted: see
    /// [`NotAppliedAnswer::Replay`](crate::NotAppliedAnswer). The gap was filled.
    #[error("messages from {from} on cannot be sent again")]
    NotReplayed {
        /// SeqNum of the first.
        from: u32,
    },
    /// Nothing of these messages came for as long as [`SessionPolicy`](crate::SessionPolicy)
    /// allows: they are
    /// asked for again.
    #[error("retransmission of {} to {} of {} stands still", .0.from, .0.to, .0.uuid)]
    RetransmissionStalled(Gap),
    /// Messages from `from` on were sent to a primary that has failed, and it is not known which it
    /// had taken; none was sent to the new one. A sign of life would have the exchange pass over
    /// those that are missing without a word, so the session terminates in its place: the next
    /// logon settles them by NotApplied.
    #[error("messages from {from} on may not have reached the failed primary: logging on again")]
    InDoubt {
        /// SeqNum of the first.
        from: u32,
    },
    /// The secret key expires soon, or has expired: told at each logon and then once a day. See
    /// [`KeyExpiry`](crate::KeyExpiry).
    #[error("the secret key expires in {days_left} days: have it renewed")]
    KeyExpires {
        /// Whole days that are left; 0 also if it has expired.
        days_left: u32,
    },
    /// An answer to no retransmit request of ours, or to one that was given up; it is ignored.
    #[error("template {0} answers no request of ours")]
    Unrequested(u16),
}
