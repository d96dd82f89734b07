//! How a session conducts itself where CME leaves it a choice.

use hairpin_time::Duration;

/// Bytes of messages that may be held unless set: about 4,000 reports of an order.
pub const HELD_BYTES_DEFAULT: usize = 1 << 20;

/// What a session does where CME's rules leave a choice, and how much it may hold meanwhile.
///
/// ```
/// use hairpin_ilink3::Conduct;
///
/// let conduct = Conduct { held_bytes: 64 << 10, ..Conduct::default() };
/// assert_eq!(conduct.logon_attempts, 2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conduct {
    /// Bytes for messages that arrive while earlier ones are asked for again, taken when the
    /// session is made. What does not fit is asked for again too. See [`HELD_BYTES_DEFAULT`].
    pub held_bytes: usize,
    /// How long a retransmission may stand still before it is asked for again. At least a
    /// millisecond counts. Ten seconds, the default, is a keep-alive interval: CME puts its
    /// Sequences between the messages of a retransmission.
    pub retransmission_timeout: Duration,
    /// How often the same messages are asked for without any of them coming, before the session is
    /// given up. Three by default; at least one counts.
    pub retransmission_attempts: u32,
    /// How often Negotiate, and then Establish, is sent on one connection when no answer comes
    /// within two keep-alive intervals. Two by default; at least one counts.
    pub logon_attempts: u32,
}

impl Default for Conduct {
    fn default() -> Self {
        Self {
            held_bytes: HELD_BYTES_DEFAULT,
            retransmission_timeout: Duration::from_secs(10),
            retransmission_attempts: 3,
            logon_attempts: 2,
        }
    }
}
