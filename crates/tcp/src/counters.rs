//! The counters of a connection.

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The counters of a connection. All of them only rise.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Counters {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Counters {
            /// Iterates over the counters with their names, in declaration order.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }
        }
    };
}

counters! {
    /// Segments received, valid or not.
    segments_received,
    /// Segments that took the short path.
    predicted,
    /// Bytes received in order.
    bytes_received,
    /// Segments sent.
    segments_sent,
    /// Bytes sent for the first time.
    bytes_sent,
    /// Segments sent without data.
    acks_sent,
    /// Segments sent again.
    retransmitted,
    /// Tail loss probes.
    probes_sent,
    /// Retransmission timeouts.
    timeouts,
    /// Reductions of the congestion window because of loss.
    losses,
    /// Segments received before an earlier one.
    out_of_order,
    /// Segments of which every byte had been received.
    duplicates,
    /// Segments dropped: not TCP, or without the negotiated timestamps.
    malformed,
    /// Segments dropped: an old timestamp (PAWS, RFC 7323 §5).
    old_timestamps,
    /// Segments dropped: outside the window, or acknowledging what was never sent.
    unacceptable,
    /// Challenge acknowledgments sent (RFC 5961).
    challenges,
    /// Segments dropped: no room to record another gap, or none in the ring.
    no_room,
}
