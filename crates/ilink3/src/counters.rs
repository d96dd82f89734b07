//! What a session counts. Plain integers, read whenever wanted; they never go back.

use crate::Error;

/// What came in, and what was wrong with it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct InboundCounters {
    /// Bytes given to the session.
    pub bytes: u64,
    /// Bytes not looked at: after a fault, or when no connection was open.
    pub bytes_discarded: u64,
    /// Whole frames.
    pub frames: u64,
    /// Business messages given to the listener.
    pub business_messages: u64,
    /// Session messages (templates 500 to 513).
    pub session_messages: u64,
    /// Business messages that came after a gap and were not delivered.
    pub undelivered: u64,
    /// Possible retransmissions dropped: see [`Warning::Retransmitted`](crate::Warning).
    pub retransmissions_dropped: u64,
    /// Answers to retransmit requests nobody sent.
    pub unrequested: u64,
    /// Frames longer than their message.
    pub trailing_bytes: u64,
    /// Gaps reported.
    pub gaps: u64,
    /// Messages missing in them.
    pub gap_messages: u64,
    /// NotApplied messages.
    pub not_applied: u64,
    /// NegotiationReject and EstablishmentReject messages.
    pub rejects: u64,
    /// Terminate messages of the exchange.
    pub terminates: u64,
    /// Keep-alive intervals in which nothing was heard.
    pub silences: u64,
    /// Times the exchange asked for a sign of life.
    pub asked_for_life: u64,
    /// [`Error::Framing`].
    pub framing_errors: u64,
    /// [`Error::Schema`].
    pub schema_errors: u64,
    /// [`Error::Decode`].
    pub decode_errors: u64,
    /// [`Error::UnknownTemplate`].
    pub unknown_templates: u64,
    /// [`Error::Unexpected`].
    pub unexpected_messages: u64,
    /// [`Error::Uuid`].
    pub uuid_errors: u64,
    /// [`Error::RequestTimestamp`].
    pub request_timestamp_errors: u64,
    /// [`Error::SeqNum`] and [`Error::NextSeqNo`].
    pub sequence_errors: u64,
    /// [`Error::ResponseTimeout`] and [`Error::TerminateTimeout`].
    pub timeouts: u64,
    /// [`Error::KeepAliveLapsed`].
    pub keep_alive_lapses: u64,
    /// [`Error::ConnectionLost`].
    pub connections_lost: u64,
}

impl InboundCounters {
    /// The sum of all faults that ended a connection.
    #[must_use]
    pub const fn errors(&self) -> u64 {
        self.framing_errors
            + self.schema_errors
            + self.decode_errors
            + self.unknown_templates
            + self.unexpected_messages
            + self.uuid_errors
            + self.request_timestamp_errors
            + self.sequence_errors
            + self.timeouts
            + self.keep_alive_lapses
            + self.connections_lost
    }

    /// Counts `error` where it belongs.
    #[cold]
    pub(crate) fn count(&mut self, error: &Error) {
        let counter = match error {
            Error::Framing(_) => &mut self.framing_errors,
            Error::Schema(_) => &mut self.schema_errors,
            Error::Decode { .. } => &mut self.decode_errors,
            Error::UnknownTemplate(_) => &mut self.unknown_templates,
            Error::Unexpected { .. } => &mut self.unexpected_messages,
            Error::Uuid { .. } => &mut self.uuid_errors,
            Error::RequestTimestamp { .. } => &mut self.request_timestamp_errors,
            Error::SeqNum { .. } | Error::NextSeqNo { .. } => &mut self.sequence_errors,
            Error::ResponseTimeout(_) | Error::TerminateTimeout => &mut self.timeouts,
            Error::KeepAliveLapsed => &mut self.keep_alive_lapses,
            Error::ConnectionLost(_) => &mut self.connections_lost,
        };
        *counter += 1;
    }
}

/// What went out, and what was refused.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct OutboundCounters {
    /// Business messages committed: each has a number of its own.
    pub business_messages: u64,
    /// Bytes of them, framing header included.
    pub business_bytes: u64,
    /// Business messages of which some bytes had to wait for the connection.
    pub queued: u64,
    /// Sends refused because the session was not established.
    pub refused_not_established: u64,
    /// Sends refused by the outlet: no room, or too much waiting already.
    pub refused_by_outlet: u64,
    /// Messages that could not be encoded.
    pub encode_errors: u64,
    /// Negotiate messages.
    pub negotiates: u64,
    /// Establish messages.
    pub establishes: u64,
    /// Sequence messages.
    pub sequences: u64,
    /// Terminate messages.
    pub terminates: u64,
}
