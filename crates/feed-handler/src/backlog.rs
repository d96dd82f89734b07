//! What was left unread.

/// What sockets may still hold after each had its turns.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Backlog {
    /// Some socket was not read to its end.
    pub(crate) is_any: bool,
    /// It may bring the incremental feed, and fill a hole.
    pub(crate) may_fill_hole: bool,
    /// Nothing has come at all.
    pub(crate) is_idle: bool,
}
