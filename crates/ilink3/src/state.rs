//! Where a session stands.

use core::fmt;

/// The states of a session, in the order of a logon.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// No connection, and none asked for.
    #[default]
    Disconnected,
    /// A connection was asked for and is not there yet.
    Connecting,
    /// Negotiate is on its way; NegotiationResponse is awaited.
    Negotiating,
    /// Establish is on its way; EstablishmentAck is awaited.
    Establishing,
    /// Business messages flow both ways.
    Established,
    /// One side has sent Terminate, or will now: nothing more may be sent.
    Terminating,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Disconnected => "disconnected",
            Self::Connecting => "connecting",
            Self::Negotiating => "negotiating",
            Self::Establishing => "establishing",
            Self::Established => "established",
            Self::Terminating => "terminating",
        })
    }
}

/// What outlives a connection, and is to outlive the process: the identity of the FIXP session
/// and the numbers of its two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// UUID of the last Negotiate; 0 if there was none.
    pub uuid: u64,
    /// RequestTimestamp last used in any message, nanoseconds since the epoch.
    pub request_timestamp: u64,
    /// SeqNum of the next business message we send.
    pub next_outgoing: u32,
    /// SeqNum of the next business message the exchange sends.
    pub next_incoming: u32,
}

/// Nothing negotiated yet: both streams begin at 1.
impl Default for Progress {
    fn default() -> Self {
        Self { uuid: 0, request_timestamp: 0, next_outgoing: 1, next_incoming: 1 }
    }
}

impl Progress {
    /// The UUID for a new session: microseconds of `utc_nanos`, but above the last one even if
    /// the clock has stepped back.
    pub(crate) fn new_uuid(&self, utc_nanos: u64) -> u64 {
        (utc_nanos / 1_000).max(self.uuid.saturating_add(1))
    }

    /// The RequestTimestamp for a message of `utc_nanos`, above the last one.
    pub(crate) fn new_request_timestamp(&self, utc_nanos: u64) -> u64 {
        utc_nanos.max(self.request_timestamp.saturating_add(1))
    }
}

/// How a connection is bound to a FIXP session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// Negotiate a new UUID, then establish; both streams begin at 1. At the beginning of the
    /// week, and mid-week for a fresh start.
    New,
    /// Establish the UUID negotiated before; both streams go on.
    Resume,
}

/// What only the owner of the connection can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Open a connection, then call `handle_connected`, or `handle_disconnected` if it fails.
    Connect,
    /// Close the connection, then call `handle_disconnected`.
    Close,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuid_and_timestamp_rise_even_when_utc_steps_back_an_hour() {
        let hour = 3_600_000_000_000;
        let noon = 1_700_000_000_000_000_000;
        let first = Progress::default();
        assert_eq!(first.new_uuid(noon), noon / 1_000);
        let later = Progress { uuid: noon / 1_000, request_timestamp: noon, ..first };
        assert_eq!(later.new_uuid(noon - hour), noon / 1_000 + 1);
        assert_eq!(later.new_request_timestamp(noon - hour), noon + 1);
        assert_eq!(later.new_request_timestamp(noon + hour), noon + hour);
    }
}
