//! The I/O counters of a session.

macro_rules! counters {
    ($($(#[$doc:meta])* $counter:ident,)*) => {
        /// The I/O counters of a session. The protocol has its own counters of messages.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Counters {
            $($(#[$doc])* pub $counter: u64,)*
        }

        impl Counters {
            /// Returns every counter with its name, in order of declaration.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($counter), self.$counter)),*].into_iter()
            }
        }
    };
}

counters! {
    /// Connection attempts.
    connects,
    /// Connections established.
    connected,
    /// Errors: connections that failed or could not be established; see
    /// [`Session::last_failure`](crate::Session::last_failure).
    failures,
    /// Chunks received.
    chunks,
    /// Bytes that the connection accepted.
    bytes_written,
    /// Writes that accepted only a part of their bytes, or none, because the send buffer was full.
    partial_writes,
    /// Times that a full journal was cleared and restarted.
    journals_begun_again,
    /// Errors: committed messages that were not completely written when their connection ended.
    unsent_records,
    /// Errors: requests (Negotiate, Establish, RetransmitRequest, Terminate) sent although the
    /// journal was full.
    unjournaled_requests,
    /// Errors: exchange messages delivered although the journal was full. After a crash the session
    /// requests them from the exchange again.
    unjournaled_messages,
    /// Errors: 1 if the journal could not be written to disk; see
    /// [`Settings::when_journal_fails`](crate::Settings::when_journal_fails).
    journal_failures,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_counters_by_name() {
        let counters = Counters { chunks: 3, ..Counters::default() };
        assert_eq!(counters.iter().find(|(name, _)| *name == "chunks"), Some(("chunks", 3)));
        assert_eq!(counters.iter().map(|(_, value)| value).sum::<u64>(), 3);
    }
}
