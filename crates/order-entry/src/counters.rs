//! What the connection of a session counts.

/// Bytes and calls of the connection; what the messages were is counted by the protocol.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counters {
    /// Connections asked for.
    pub connects: u64,
    /// Connections that were made.
    pub connected: u64,
    /// Connections that ended with an error, or could not be made; see
    /// [`Session::last_failure`](crate::Session::last_failure).
    pub failures: u64,
    /// Chunks received.
    pub chunks: u64,
    /// Bytes the connection has taken.
    pub bytes_written: u64,
    /// Writes that took only part of their bytes, or none.
    pub partial_writes: u64,
    /// Committed messages that had not left, or not wholly, when their connection ended.
    pub unsent_records: u64,
    /// Requests (Negotiate, Establish, Terminate) that left though the journal had no room.
    pub unjournaled_requests: u64,
}
