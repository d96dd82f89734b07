//! The I/O counters of a feed handler.

use crate::{ConnectionError, FrameError};

macro_rules! statistics {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The I/O counters of a feed handler since its creation, summed over all sockets. Counters
        /// only increase. The channel counts packet contents.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Statistics {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Statistics {
            /// Returns every counter with its name, in order of declaration.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }

            /// Returns the sum of both sets of counters.
            #[must_use]
            pub(crate) fn plus(self, other: Self) -> Self {
                Self { $($name: self.$name + other.$name),* }
            }
        }
    };
}

statistics! {
    /// Packets received: datagrams, or packets of a connection.
    packets,
    /// Payload bytes of these packets, without framing.
    bytes,
    /// Packets of a feed that the channel has not joined, received over TCP and not delivered.
    packets_not_joined,
    /// TcpConnections established.
    connections,
    /// TcpConnections established on a side after an earlier one was lost.
    reconnections,
    /// Requests sent, or attempted, to the replay server.
    replay_requests,
    /// Packets received from the replay server and delivered to the channel.
    replayed_packets,
    /// Bytes of these packets.
    replayed_bytes,
    /// Errors: datagrams that the kernel dropped because a receive buffer was full.
    kernel_drops,
    /// Errors: datagrams longer than a receive slot, delivered truncated.
    truncated,
    /// Errors: connection attempts that were refused or timed out.
    failed_connects,
    /// Errors: connections reset by the network or the peer.
    broken_connections,
    /// Errors: connections closed inside a packet.
    packets_cut,
    /// Errors: connections dropped after the silence timeout.
    silent_connections,
    /// Errors: packets of length 0; the connection was dropped.
    empty_frames,
    /// Errors: packets shorter than a packet header; the connection was dropped.
    short_frames,
    /// Errors: packets longer than the channel's limit; the connection was dropped.
    long_frames,
    /// Errors: requests that the replay server did not answer completely.
    failed_replays,
    /// Warnings: requests that the replay server refused.
    refused_replays,
    /// Warnings: requests not sent, in the pause after a refused login or unreachable hosts.
    suppressed_replays,
    /// Warnings: connections that the exchange closed after a complete packet.
    ended_connections,
    /// Warnings: lines whose receive buffer is smaller than requested.
    receive_buffers_short,
}

impl Statistics {
    /// Returns the counter of a failure cause.
    pub(crate) fn counter(&mut self, cause: &ConnectionError) -> &mut u64 {
        match cause {
            ConnectionError::Failed(_) => &mut self.failed_connects,
            ConnectionError::Broken(_) => &mut self.broken_connections,
            ConnectionError::Ended => &mut self.ended_connections,
            ConnectionError::EndedMidPacket { .. } => &mut self.packets_cut,
            ConnectionError::Silent(_) => &mut self.silent_connections,
            ConnectionError::Frame(FrameError::Empty) => &mut self.empty_frames,
            ConnectionError::Frame(FrameError::TooShort { .. }) => &mut self.short_frames,
            ConnectionError::Frame(FrameError::TooLong { .. }) => &mut self.long_frames,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_adds_counters_by_name() {
        let one = Statistics { bytes: 3, ..Statistics::default() };
        let both = one.plus(Statistics { bytes: 4, packets: 1, ..Statistics::default() });
        assert_eq!(both.iter().find(|(name, _)| *name == "bytes"), Some(("bytes", 7)));
        assert_eq!(both.iter().map(|(_, value)| value).sum::<u64>(), 8);
    }
}
