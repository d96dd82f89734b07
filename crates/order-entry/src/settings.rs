//! The settings of a session.

use std::net::SocketAddrV4;

use hairpin_ilink3::{self as ilink3, Rates};

/// The default number of messages that can wait for a blocked connection: more than a burst of
/// orders, and few enough that no message is stale when it is sent.
pub const WAITING_DEFAULT: usize = 64;

/// The default number of bytes per write of a batch: nine orders of 144 bytes. CME's MTU is 1,420
/// bytes; 40 are for the IPv4 and TCP headers and 12 for the TCP timestamp option. CME delays a
/// session whose message spans packets, and tolerates a limited number of them.
///
/// Source: CME Client Systems Wiki 46175517.
pub const BATCH_BYTES_DEFAULT: usize = 1_368;

/// The gateway, the logon, and limits of the send queue.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address and port of the exchange's gateway.
    pub gateway: SocketAddrV4,
    /// The logon and its credentials; see [`Logon`](crate::Logon).
    pub logon: ilink3::Settings,
    /// The choices that CME leaves to the client; see [`SessionPolicy`](crate::SessionPolicy).
    pub conduct: ilink3::SessionPolicy,
    /// The number of committed messages that can wait for a blocked connection, at least 1. A send
    /// beyond it is refused. Party details on demand with their message need 2. See
    /// [`WAITING_DEFAULT`].
    pub waiting_max: usize,
    /// The bytes per write of a [batch](crate::Sender::batch): whole messages, at least one. A
    /// larger batch takes several writes. A write is also never larger than the connection's
    /// segment size, as far as the endpoint reports the size. See [`BATCH_BYTES_DEFAULT`].
    pub batch_bytes: usize,
    /// The action when the journal is full.
    pub when_full: WhenFull,
    /// The action when the journal cannot be written to disk.
    pub when_journal_fails: WhenJournalFails,
    /// `true` if the journal also keeps inbound messages, each before its callback. Another process
    /// can then continue after them, and receives again those whose callback had not returned.
    /// Useless for a journal that no other process reads.
    pub keep_inbound: bool,
    /// The rate limit, or `None` for no limit.
    pub throttle: Option<ThrottleSettings>,
}

/// A rate limit of the client, below the exchange's limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThrottleSettings {
    /// The limits per message class.
    pub rates: Rates,
    /// The action for a message beyond the limit.
    pub beyond: WhenThrottled,
}

/// The action for a message beyond the rate limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WhenThrottled {
    /// Refuse the message: [`SendError::Throttled`](crate::SendError) has the time of the next
    /// slot.
    #[default]
    Refuse,
    /// Number, journal and queue the message with all later ones until it may be sent. The session
    /// must be [processed](crate::Session::process) at that time. The message counts towards
    /// [`waiting_max`](Settings::waiting_max).
    Queue,
}

/// The action for a message for which the journal has no room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// Refuse the message: [`SendError`](crate::SendError) reports a full journal.
    #[default]
    Refuse,
    /// Clear the journal and restart it, once no message waits for the connection. For a journal in
    /// memory, which no restart reads, of a long-running session.
    Restart,
}

/// The action when the journal cannot be written to disk: a sync has failed, the file system has
/// become read-only, or a segment was removed or truncated. Under every
/// [`SyncPolicy`](hairpin_mapped::SyncPolicy), the listener receives
/// [`Warning::JournalFailed`](crate::Warning) once, and `journal_failures` counts it. The failure
/// lasts as long as the journal is open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WhenJournalFails {
    /// Refuse every further business message with
    /// [`OutboundError::JournalFailed`](crate::OutboundError). The session stays connected, and
    /// messages that were accepted before are still sent.
    #[default]
    Refuse,
    /// Continue to send. After a power loss the journal may lack the messages. With
    /// [`SyncPolicy::Each`](hairpin_mapped::SyncPolicy) nothing is sent all the same.
    Continue,
}

impl Settings {
    /// Creates settings with defaults for all other fields.
    #[must_use]
    pub fn new(gateway: SocketAddrV4, logon: ilink3::Settings) -> Self {
        Self {
            gateway,
            logon,
            conduct: ilink3::SessionPolicy::default(),
            waiting_max: WAITING_DEFAULT,
            batch_bytes: BATCH_BYTES_DEFAULT,
            when_full: WhenFull::default(),
            when_journal_fails: WhenJournalFails::default(),
            keep_inbound: true,
            throttle: None,
        }
    }
}
