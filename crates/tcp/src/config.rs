//! The options of a connection.

/// The options of a [`Connection`](crate::Connection).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// Holds back a short segment while a short one is unacknowledged (Nagle, RFC 9293 §3.7.4).
    /// Default `false`: `TCP_NODELAY`.
    pub nagle: bool,
    /// Acknowledges every segment at once (`TCP_QUICKACK`). Default `false`.
    pub quick_ack: bool,
    /// Asks to be handed back on bulk transfer. Default `true`.
    pub hands_back_bulk: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self { nagle: false, quick_ack: false, hands_back_bulk: true }
    }
}
