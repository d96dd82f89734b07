//! Unread input after a receive pass.

/// The sockets that may hold unread packets after a receive pass.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct UnreadSockets {
    /// A socket was not drained.
    pub(crate) any: bool,
    /// An undrained socket may carry the incremental feed, so it may fill a sequence gap.
    pub(crate) may_fill_gap: bool,
    /// No packet was received.
    pub(crate) idle: bool,
}
