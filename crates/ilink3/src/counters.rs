//! The session's counters: plain integers that only increase.

use crate::Error;

/// Defines a struct of counters that can list its fields.
macro_rules! counters {
    (
        $(#[$attribute:meta])* $name:ident;
        $($(#[$doc:meta])* $counter:ident,)*
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$doc])* pub $counter: u64,)*
        }

        impl $name {
            /// Returns every counter with its name, in order of declaration.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($counter), self.$counter)),*].into_iter()
            }

            /// Adds the counts of `other` and resets `other` to zero.
            pub(crate) fn absorb(&mut self, other: &mut Self) {
                let Self { $($counter,)* } = core::mem::take(other);
                $(self.$counter += $counter;)*
            }
        }
    };
}

counters! {
    /// The counters of received bytes, messages and faults.
    InboundCounters;
    /// Bytes received.
    bytes,
    /// Warnings: bytes discarded after a fault or without an open connection.
    bytes_discarded,
    /// Complete frames received.
    frames,
    /// Business messages delivered to the listener.
    business_messages,
    /// Business messages delivered to the listener from a previous process's journal.
    redelivered,
    /// Warnings: messages of a previous process's journal that cannot be decoded.
    not_redelivered,
    /// Session messages received (templates 500 to 513).
    session_messages,
    /// Business messages received but not delivered: there was no room to hold them after a gap, or
    /// the session was terminating. They can be requested again.
    undelivered,
    /// Business messages held until the messages before them arrived.
    held,
    /// Warnings: times that messages had to be requested because the hold queue was full; see
    /// [`Warning::HeldOverflow`](crate::Warning).
    held_overflows,
    /// Business messages delivered by a retransmission.
    retransmitted,
    /// Warnings: retransmitted messages received out of order and requested again; see
    /// [`Warning::RetransmissionGap`](crate::Warning).
    retransmission_gaps,
    /// Warnings: stalled retransmissions; see [`Warning::RetransmissionStalled`](crate::Warning).
    retransmissions_stalled,
    /// Warnings: RetransmitReject messages.
    retransmit_rejects,
    /// Errors: messages given up as lost; see [`Listener::on_lost`](crate::Listener::on_lost).
    lost,
    /// Warnings: possible retransmissions dropped as duplicates; see
    /// [`Warning::Retransmitted`](crate::Warning).
    retransmissions_dropped,
    /// Warnings: responses that match no pending request.
    unrequested,
    /// Warnings: business messages of unknown templates, delivered to
    /// [`Listener::on_message`](crate::Listener::on_message).
    unknown_messages,
    /// Warnings: frames longer than their message.
    trailing_bytes,
    /// Errors: sequence gaps reported.
    gaps,
    /// Messages missing in those gaps.
    gap_messages,
    /// Warnings: logons after which messages of a previous UUID may be missing without a known gap;
    /// see [`Warning::UnknownEnd`](crate::Warning).
    unknown_ends,
    /// Warnings: NotApplied messages.
    not_applied,
    /// Warnings: promotions of a backup session to primary.
    failovers,
    /// Warnings: logons after a takeover to learn which messages the failed primary did not apply;
    /// see [`Warning::InDoubt`](crate::Warning).
    settled_by_logon,
    /// Warnings: logon requests repeated because no response arrived.
    logons_repeated,
    /// Errors: NegotiationReject and EstablishmentReject messages.
    rejects,
    /// Terminate messages received, including responses to ours.
    terminates,
    /// Warnings: keep-alive intervals without a message, ended by a message after our request. A
    /// silence without an end is counted in `keep_alive_lapses`.
    silences,
    /// Warnings: Sequence messages with KeepAliveIntervalLapsed, which request a Sequence from us.
    asked_for_life,
    /// Errors: [`Error::Framing`].
    framing_errors,
    /// Errors: [`Error::Schema`].
    schema_errors,
    /// Errors: [`Error::Decode`].
    decode_errors,
    /// Errors: [`Error::UnknownTemplate`].
    unknown_templates,
    /// Errors: [`Error::Unexpected`].
    unexpected_messages,
    /// Errors: [`Error::Uuid`].
    uuid_errors,
    /// Errors: [`Error::RequestTimestamp`].
    request_timestamp_errors,
    /// Errors: [`Error::SeqNum`] and [`Error::NextSeqNo`].
    sequence_errors,
    /// Errors: [`Error::Retransmission`].
    retransmission_errors,
    /// Errors: [`Error::ResponseTimeout`] and [`Error::TerminateTimeout`].
    timeouts,
    /// Errors: [`Error::KeepAliveLapsed`].
    keep_alive_lapses,
    /// Errors: [`Error::ConnectionLost`].
    connections_lost,
}

impl InboundCounters {
    /// Returns the number of faults that ended a connection.
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
            + self.retransmission_errors
            + self.timeouts
            + self.keep_alive_lapses
            + self.connections_lost
    }

    /// Increments the counter of `error`.
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
            Error::Retransmission(_) => &mut self.retransmission_errors,
            Error::ResponseTimeout(_) | Error::TerminateTimeout => &mut self.timeouts,
            Error::KeepAliveLapsed => &mut self.keep_alive_lapses,
            Error::ConnectionLost(_) => &mut self.connections_lost,
        };
        *counter += 1;
    }
}

counters! {
    /// The counters of sent messages and rejected sends.
    OutboundCounters;
    /// Business messages committed; each uses one SeqNum.
    business_messages,
    /// Bytes of committed business messages, framing header included.
    business_bytes,
    /// Warnings: business messages with bytes that had to wait for the connection.
    queued,
    /// Errors: committed business messages whose connection broke during the write.
    broken,
    /// Warnings: SeqNums reclaimed because the exchange rejected the newest message without using
    /// its number.
    taken_back,
    /// Business messages replayed after a NotApplied.
    replayed,
    /// Warnings: gaps filled although a replay was configured, because a replay was not possible;
    /// see [`NotAppliedAnswer::Replay`](crate::NotAppliedAnswer).
    not_replayed,
    /// Errors: replays of messages that the sink had not kept; the gap was filled.
    not_kept,
    /// Errors: sends rejected because the session was not established.
    refused_not_established,
    /// Errors: sends rejected on the backup connection.
    refused_on_backup,
    /// Errors: sends rejected by the throttle.
    refused_throttled,
    /// Errors: sends rejected during a replay.
    refused_replaying,
    /// Errors: sends rejected because the last SeqNum was used.
    refused_without_number,
    /// Errors: sends rejected because of invalid values in the message.
    refused_requests,
    /// Errors: sends rejected by the sink: no room, or too many bytes waiting.
    refused_by_outlet,
    /// Errors: messages that could not be encoded.
    encode_errors,
    /// Negotiate messages sent.
    negotiates,
    /// Establish messages sent.
    establishes,
    /// Sequence messages sent.
    sequences,
    /// RetransmitRequest messages sent.
    retransmit_requests,
    /// Terminate messages sent.
    terminates,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iter_lists_names_with_values() {
        let counters = InboundCounters { gaps: 3, ..InboundCounters::default() };
        assert_eq!(counters.iter().find(|(name, _)| *name == "gaps"), Some(("gaps", 3)));
        assert_eq!(counters.iter().map(|(_, value)| value).sum::<u64>(), 3);
        let counters = OutboundCounters { terminates: 2, ..OutboundCounters::default() };
        assert_eq!(counters.iter().last(), Some(("terminates", 2)));
    }
}
