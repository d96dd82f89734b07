//! How a session conducts itself where CME leaves it a choice.

use hairpin_time::Duration;

use crate::{KeyExpiry, Version};

/// Bytes of messages that may be held unless set: about 4,000 reports of an order.
pub const HELD_BYTES_DEFAULT: usize = 1 << 20;

/// What a session does where CME's rules leave a choice, and how much it may hold meanwhile.
///
/// ```
/// use hairpin_ilink3::SessionPolicy;
///
/// let conduct = SessionPolicy { held_bytes: 64 << 10, ..SessionPolicy::default() };
/// assert_eq!(conduct.logon_attempts, 2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionPolicy {
    /// The version of the schema that messages are sent in: 9, or an older one.
    pub version: Version,
    /// PartyDetailsListReqID (1505) of party details on demand and of the message they are for.
    /// CME's schema says "FFFFFFFF", and not whether that is 0xFFFF_FFFF, the default, or the
    /// field's null, `u64::MAX`.
    pub on_demand_party_id: u64,
    /// Bytes for messages that arrive while earlier ones are asked for again, taken when the
    /// session is made. What does not fit is asked for again too. See [`HELD_BYTES_DEFAULT`].
    pub held_bytes: usize,
    /// How long a retransmission may stand still before it is asked for again. At least a
    /// millisecond counts. Ten seconds, the default, is a keep-alive interval: CME puts its
    /// Sequences between the messages of a retransmission.
    pub retransmission_timeout: Duration,
    /// How often the same messages are asked for without any of them coming, before the connection
    /// is given up, to ask again on the next one. Three by default; at least one counts.
    ///
    /// Nothing is lost by that, however long a line stands still and however short the timeout:
    /// only of an earlier UUID what does not come on three connections in a row.
    pub retransmission_attempts: u32,
    /// How often Negotiate, and then Establish, is sent on one connection when no answer comes
    /// within two keep-alive intervals. Two by default; at least one counts.
    pub logon_attempts: u32,
    /// What is done about messages of ours that were not applied, unless the listener
    /// [says otherwise](crate::Listener::answer_not_applied).
    pub not_applied: NotAppliedAnswer,
    /// When the secret key expires, to be warned before. Not known by default.
    pub key_expires: Option<KeyExpiry>,
}

/// What is done about messages of ours that the exchange has not applied.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum NotAppliedAnswer {
    /// A Sequence moves the exchange past them: whoever still wants them sends them anew.
    #[default]
    FillGap,
    /// They are sent again as they were, under their numbers, and with them all that was sent
    /// after them: until the first of them has come the exchange takes none.
    ///
    /// Not done, and the gap filled, if a Sequence of ours has told the exchange of later numbers
    /// already, if the [`OutboundSink`](crate::OutboundSink) has not kept them, or if one of them
    /// is known to
    /// have been refused without using its number: it would be refused for ever.
    Replay,
}

impl Default for SessionPolicy {
    fn default() -> Self {
        Self {
            version: Version::NEWEST,
            on_demand_party_id: 0xFFFF_FFFF,
            held_bytes: HELD_BYTES_DEFAULT,
            retransmission_timeout: Duration::from_secs(10),
            retransmission_attempts: 3,
            logon_attempts: 2,
            not_applied: NotAppliedAnswer::default(),
            key_expires: None,
        }
    }
}
