//! What a session on an endpoint is told before it starts.

use std::net::SocketAddrV4;

use hairpin_ilink3 as ilink3;

/// Messages that may wait for a blocked connection unless set: more than a burst of orders, and
/// few enough that none of them is old when the connection takes it.
pub const WAITING_DEFAULT: usize = 64;

/// Where to connect, who logs on, and how much may wait.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Address and port of the exchange's gateway.
    pub gateway: SocketAddrV4,
    /// Who logs on, with what key; see [`Logon`](crate::Logon).
    pub logon: ilink3::Settings,
    /// What the session does where CME leaves it a choice; see [`Conduct`](crate::Conduct).
    pub conduct: ilink3::Conduct,
    /// Committed messages that may wait for a connection that takes no more; beyond them a send
    /// is refused. At least 1 is kept. See [`WAITING_DEFAULT`].
    pub waiting_max: usize,
    /// What becomes of a message for which the journal has no room.
    pub when_full: WhenFull,
    /// Whether the journal keeps the exchange's messages too, each before its callback, so that
    /// another process goes on behind them and is given again those whose callback has not
    /// returned. Of no use with a journal no other process will read.
    pub keep_inbound: bool,
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
            conduct: ilink3::Conduct::default(),
            waiting_max: WAITING_DEFAULT,
            when_full: WhenFull::default(),
            keep_inbound: true,
        }
    }
}
