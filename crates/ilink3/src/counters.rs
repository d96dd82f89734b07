//! What a session counts. Plain integers, read whenever wanted; they never go back.

use crate::Error;

/// Defines a struct of counters that can list itself.
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
            /// Every counter with its name, in the order of declaration.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($counter), self.$counter)),*].into_iter()
            }

            /// Takes what `other` has counted, which begins again at nothing.
            pub(crate) fn absorb(&mut self, other: &mut Self) {
                let Self { $($counter,)* } = core::mem::take(other);
                $(self.$counter += $counter;)*
            }
        }
    };
}

counters! {
    /// What came in, and what was wrong with it.
    InboundCounters;
    /// Bytes given to the session.
    bytes,
    /// Warnings: bytes not looked at: after a fault, or when no connection was open.
    bytes_discarded,
    /// Whole frames.
    frames,
    /// Business messages given to the listener.
    business_messages,
    /// Business messages given to the listener that an earlier process had kept.
    redelivered,
    /// Warnings: messages an earlier process had kept that cannot be read.
    not_redelivered,
    /// Session messages (templates 500 to 513).
    session_messages,
    /// Business messages that were not delivered: after a gap there was no room to hold them, or
    /// the session was leaving, maybe before its logon was answered. They can be asked for.
    undelivered,
    /// Business messages held until those before them were there.
    held,
    /// Warnings: times messages had to be asked for because there was no room to hold them; see
    /// [`Warning::HeldOverflow`](crate::Warning).
    held_overflows,
    /// Business messages delivered that had been missing.
    retransmitted,
    /// Warnings: messages of a retransmission that came before others of it, and were asked for
    /// again; see [`Warning::RetransmissionGap`](crate::Warning).
    retransmission_gaps,
    /// Warnings: retransmissions that stood still; see
    /// [`Warning::RetransmissionStalled`](crate::Warning).
    retransmissions_stalled,
    /// Warnings: RetransmitReject messages.
    retransmit_rejects,
    /// Errors: messages given up as lost; see [`Listener::on_lost`](crate::Listener::on_lost).
    lost,
    /// Warnings: possible retransmissions dropped; see
    /// [`Warning::Retransmitted`](crate::Warning).
    retransmissions_dropped,
    /// Warnings: answers to retransmit requests nobody sent.
    unrequested,
    /// Warnings: frames longer than their message.
    trailing_bytes,
    /// Errors: gaps reported.
    gaps,
    /// Messages missing in those gaps.
    gap_messages,
    /// Warnings: logons at which messages of an earlier UUID may be missing without being a gap
    /// that is known; see [`Warning::UnknownEnd`](crate::Warning).
    unknown_ends,
    /// Warnings: NotApplied messages.
    not_applied,
    /// Warnings: times a backup session was made the primary.
    failovers,
    /// Warnings: times a session that had taken over logged on again to learn what the failed
    /// primary had not taken; see [`Warning::InDoubt`](crate::Warning).
    settled_by_logon,
    /// Warnings: logon requests sent again because no answer came.
    logons_repeated,
    /// Errors: NegotiationReject and EstablishmentReject messages.
    rejects,
    /// Terminate messages of the exchange, answers to ours included.
    terminates,
    /// Warnings: times nothing was heard for a keep-alive interval and something was when asked
    /// for; a silence that lasted is in `keep_alive_lapses`.
    silences,
    /// Warnings: times the exchange asked for a sign of life.
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
            + self.retransmission_errors
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
            Error::Retransmission(_) => &mut self.retransmission_errors,
            Error::ResponseTimeout(_) | Error::TerminateTimeout => &mut self.timeouts,
            Error::KeepAliveLapsed => &mut self.keep_alive_lapses,
            Error::ConnectionLost(_) => &mut self.connections_lost,
        };
        *counter += 1;
    }
}

counters! {
    /// What went out, and what was refused.
    OutboundCounters;
    /// Business messages committed: each has a number of its own.
    business_messages,
    /// Bytes of them, framing header included.
    business_bytes,
    /// Warnings: business messages of which some bytes had to wait for the connection.
    queued,
    /// Errors: business messages committed whose connection broke while they were written.
    broken,
    /// Warnings: numbers taken back because the exchange refused the newest message without using
    /// its number.
    taken_back,
    /// Business messages sent again because they were not applied.
    replayed,
    /// Warnings: times the gap was filled though messages were to be sent again: they could not
    /// be, see [`NotAppliedAnswer::Replay`](crate::NotAppliedAnswer).
    not_replayed,
    /// Errors: messages that were to be sent again and that the outlet had not kept; the gap was
    /// filled.
    not_kept,
    /// Errors: sends refused because the session was not established.
    refused_not_established,
    /// Errors: sends refused because the connection was the backup's.
    refused_on_backup,
    /// Errors: sends refused because as many messages had left as the limit allows.
    refused_throttled,
    /// Errors: sends refused because earlier messages were still to be sent again.
    refused_replaying,
    /// Errors: sends refused because the last number was used.
    refused_without_number,
    /// Errors: sends refused because the message contradicts itself.
    refused_requests,
    /// Errors: sends refused by the outlet: no room, or too much waiting already.
    refused_by_outlet,
    /// Errors: messages that could not be encoded.
    encode_errors,
    /// Negotiate messages.
    negotiates,
    /// Establish messages.
    establishes,
    /// Sequence messages.
    sequences,
    /// RetransmitRequest messages.
    retransmit_requests,
    /// Terminate messages.
    terminates,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_with_their_values() {
        let counters = InboundCounters { gaps: 3, ..InboundCounters::default() };
        assert_eq!(counters.iter().find(|(name, _)| *name == "gaps"), Some(("gaps", 3)));
        assert_eq!(counters.iter().map(|(_, value)| value).sum::<u64>(), 3);
        let counters = OutboundCounters { terminates: 2, ..OutboundCounters::default() };
        assert_eq!(counters.iter().last(), Some(("terminates", 2)));
    }
}
