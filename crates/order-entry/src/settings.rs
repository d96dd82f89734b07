//! What a session on an endpoint is told before it starts.

use std::net::SocketAddrV4;

use hairpin_ilink3::{self as ilink3, Rates};

/// Messages that may wait for a blocked connection unless set: more than a burst of orders, and
/// few enough that none of them is old when the connection takes it.
pub const WAITING_DEFAULT: usize = 64;

/// Bytes of a batch that leave with one write unless set: what a TCP segment holds on Ethernet,
/// less the 12 bytes of its timestamp. CME delays a session whose message is not complete in one
/// packet, and bears with only so many of them.
pub const BATCH_BYTES_DEFAULT: usize = 1_448;

/// Where to connect, who logs on, and how much may wait.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Address and port of the exchange's gateway.
    pub gateway: SocketAddrV4,
    /// Who logs on, with what key; see [`Logon`](crate::Logon).
    pub logon: ilink3::Settings,
    /// What the session does where CME leaves it a choice; see
    /// [`SessionPolicy`](crate::SessionPolicy).
    pub conduct: ilink3::SessionPolicy,
    /// Committed messages that may wait for a connection that takes no more; beyond them a send
    /// is refused. At least 1 is kept. See [`WAITING_DEFAULT`].
    pub waiting_max: usize,
    /// The most bytes of a [batch](crate::Sender::batch) that leave with one write, whole messages
    /// only, and at least one. A batch that is larger takes several. See [`BATCH_BYTES_DEFAULT`].
    pub batch_bytes: usize,
    /// What becomes of a message for which the journal has no room.
    pub when_full: WhenFull,
    /// Whether the journal keeps the exchange's messages too, each before its callback, so that
    /// another process goes on behind them and is given again those whose callback has not
    /// returned. Of no use with a journal no other process will read.
    pub keep_inbound: bool,
    /// How many messages may leave in an interval; without one there is no limit.
    pub throttle: Option<ThrottleSettings>,
}

/// A limit of our own, below the exchange's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThrottleSettings {
    /// The limits.
    pub rates: Rates,
    /// What becomes of a message beyond them.
    pub beyond: WhenThrottled,
}

/// What becomes of a message beyond the limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WhenThrottled {
    /// It is refused: [`SendError::Throttled`](crate::SendError) says until when.
    #[default]
    Refuse,
    /// It is journaled, has its number, and waits with all behind it until it may leave; then the
    /// session has to be [processed](crate::Session::process). It is of those that
    /// [may wait](Settings::waiting_max).
    Queue,
}

/// What becomes of a message for which the journal has no room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// It is refused: [`SendError`](crate::SendError) says that the journal is full.
    #[default]
    Refuse,
    /// Once nothing waits for the connection, the journal forgets all it holds and begins again.
    /// For a journal in memory, which no restart reads, of a session that runs for long.
    BeginAgain,
}

impl Settings {
    /// Settings with the defaults of all the rest.
    #[must_use]
    pub fn new(gateway: SocketAddrV4, logon: ilink3::Settings) -> Self {
        Self {
            gateway,
            logon,
            conduct: ilink3::SessionPolicy::default(),
            waiting_max: WAITING_DEFAULT,
            batch_bytes: BATCH_BYTES_DEFAULT,
            when_full: WhenFull::default(),
            keep_inbound: true,
            throttle: None,
        }
    }
}
