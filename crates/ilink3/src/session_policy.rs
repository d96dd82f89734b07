//! The session's policy where CME's rules leave a choice.

use hairpin_time::Duration;

use crate::{KeyExpiry, Version};

/// The default of [`SessionPolicy::held_bytes`]: room for about 4,000 execution reports.
pub const HELD_BYTES_DEFAULT: usize = 1 << 20;

/// The session's behavior where CME's rules leave a choice, and its buffer limits.
///
/// ```
/// use hairpin_ilink3::SessionPolicy;
///
/// let policy = SessionPolicy { held_bytes: 64 << 10, ..SessionPolicy::default() };
/// assert_eq!(policy.logon_attempts, 2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionPolicy {
    /// The schema version of the messages sent: 9 or an older one.
    pub version: Version,
    /// The kind of gateway that the session is on.
    pub gateway_kind: GatewayKind,
    /// PartyDetailsListReqID (1505) of on-demand party details and of the message they belong to:
    /// 0, as CME's pages require (46209693, 46210232). Only descriptions in the schema mention
    /// "FFFFFFFF".
    pub on_demand_party_id: u64,
    /// The buffer size in bytes for messages received while a gap before them is open. The buffer
    /// is allocated with the session. Messages that do not fit are requested again. See
    /// [`HELD_BYTES_DEFAULT`].
    pub held_bytes: usize,
    /// The time without progress after which a retransmission is requested again; at least 1 ms.
    /// The default of 10 s is one keep-alive interval, because CME sends Sequence messages between
    /// retransmitted messages.
    pub retransmission_timeout: Duration,
    /// The number of requests for the same messages, without any progress, before the session drops
    /// the connection. The next connection requests them again. The default is 3; the minimum is 1.
    ///
    /// A stalled connection or a short timeout never loses messages of the current UUID. Messages
    /// of a previous UUID are lost after three consecutive connections without progress.
    pub retransmission_attempts: u32,
    /// The number of times Negotiate, and then Establish, is sent on one connection. A retry
    /// follows when no response arrives within two keep-alive intervals. The default is 2; the
    /// minimum is 1.
    pub logon_attempts: u32,
    /// The response to NotApplied, unless the listener [overrides
    /// it](crate::Listener::answer_not_applied).
    pub not_applied: NotAppliedAnswer,
    /// The end of the connection after a fault.
    pub on_fault: OnFault,
    /// The expiry date of the secret key, for warnings in advance. `None` (the default) disables
    /// the warnings.
    pub key_expires: Option<KeyExpiry>,
}

/// The kind of CME's gateway.
///
/// Source: CME Client Systems Wiki 457220437, 46215155, 46469098.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum GatewayKind {
    /// A market segment gateway (MSGW): one session for each segment, each with its own limits. CME
    /// delays a session whose messages span packets.
    #[default]
    MarketSegment,
    /// A convenience gateway (CGW): one session for all segments, with limits over all of them.
    /// Only a CGW accepts a request for the status of all orders. New sessions have
    /// cancel-on-disconnect.
    Convenience,
}

/// The response to a NotApplied: what the session does with messages the exchange did not apply.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum NotAppliedAnswer {
    /// A Sequence moves the exchange past the gap. The application sends the messages again if it
    /// still needs them.
    #[default]
    FillGap,
    /// The session sends the messages again, unchanged and under their original numbers, together
    /// with all later messages. The exchange accepts no message until it receives the first missing
    /// one.
    ///
    /// The session fills the gap instead in three cases: a Sequence has already advertised a later
    /// NextSeqNo; the [`OutboundSink`](crate::OutboundSink) has not kept the messages; or one of
    /// them was rejected without using its number and would be rejected again.
    Replay,
}

/// The end of the connection after a [fault](crate::Error). A client's Terminate with a code other
/// than 0 is itself an error at CME (code 23), so the session never sends one.
///
/// Source: CME Client Systems Wiki 46440124, 714735639, 46203696.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum OnFault {
    /// Closes the connection at once. CME may cancel the day orders, if the session is registered
    /// for cancel-on-disconnect.
    #[default]
    Close,
    /// Sends Terminate 0 and waits for the response for one keep-alive interval. Orders stay.
    /// Without a logon request on the connection, closes at once.
    Terminate,
}

impl Default for SessionPolicy {
    fn default() -> Self {
        Self {
            version: Version::NEWEST,
            gateway_kind: GatewayKind::default(),
            on_demand_party_id: 0,
            held_bytes: HELD_BYTES_DEFAULT,
            retransmission_timeout: Duration::from_secs(10),
            retransmission_attempts: 3,
            logon_attempts: 2,
            not_applied: NotAppliedAnswer::default(),
            on_fault: OnFault::default(),
            key_expires: None,
        }
    }
}
