//! What the connection of a session counts.

macro_rules! counters {
    ($($(#[$doc:meta])* $counter:ident,)*) => {
        /// Bytes and calls of the connection; what the messages were is counted by the protocol.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Counters {
            $($(#[$doc])* pub $counter: u64,)*
        }

        impl Counters {
            /// Every counter with its name, in the order of declaration.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($counter), self.$counter)),*].into_iter()
            }
        }
    };
}

counters! {
    /// Connections asked for.
    connects,
    /// Connections that were made.
    connected,
    /// Errors: connections that ended with an error, or could not be made; see
    /// [`Session::last_failure`](crate::Session::last_failure).
    failures,
    /// Chunks received.
    chunks,
    /// Bytes the connection has taken.
    bytes_written,
    /// Writes that took only part of their bytes, or none: the connection had no more room.
    partial_writes,
    /// Times the journal was full, forgot all it held and began again.
    journals_begun_again,
    /// Errors: committed messages that had not left, or not wholly, when their connection ended.
    unsent_records,
    /// Errors: requests (Negotiate, Establish, RetransmitRequest, Terminate) that left though the
    /// journal had no room.
    unjournaled_requests,
    /// Errors: messages of the exchange that were delivered though the journal had no room: should
    /// the process die, the exchange is asked for them again.
    unjournaled_messages,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_with_their_values() {
        let counters = Counters { chunks: 3, ..Counters::default() };
        assert_eq!(counters.iter().find(|(name, _)| *name == "chunks"), Some(("chunks", 3)));
        assert_eq!(counters.iter().map(|(_, value)| value).sum::<u64>(), 3);
    }
}
