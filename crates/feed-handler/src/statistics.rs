//! What the sockets of a feed handler have counted.

use crate::{ConnectionError, FrameError};

macro_rules! statistics {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What the sockets of a feed handler have counted since it was made, all together; every
        /// counter only grows. What the packets said is counted by the channel.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Statistics {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Statistics {
            /// Every counter with its name, in the order of declaration.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }

            /// Both together.
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
    /// Their bytes, without what stands around them.
    bytes,
    /// Packets that a connection brought though the channel had not joined their feed: they were
    /// not handed over.
    packets_not_joined,
    /// Connections made.
    connections,
    /// Connections made on a side that had lost one.
    reconnections,
    /// Requests for packets that were sent to the replay server, or tried to be.
    replay_requests,
    /// Packets that it has sent and that were handed to the channel.
    replayed_packets,
    /// Their bytes.
    replayed_bytes,
    /// Errors: datagrams that the kernel dropped because a receive buffer was full.
    kernel_drops,
    /// Errors: datagrams longer than a receive slot, which were cut.
    truncated,
    /// Errors: attempts to connect that were refused or had no answer in time.
    failed_connects,
    /// Errors: connections that the network or the peer has broken.
    broken_connections,
    /// Errors: connections that ended amid a packet.
    packets_cut,
    /// Errors: connections given up because nothing came any more.
    silent_connections,
    /// Errors: packets whose length was stated as 0; the connection was given up.
    empty_frames,
    /// Errors: packets whose length was stated as less than a header's; the same.
    short_frames,
    /// Errors: packets whose length was stated as more than the channel takes; the same.
    long_frames,
    /// Errors: requests that the replay server did not answer, or not to the end.
    failed_replays,
    /// Warnings: requests that the replay server has refused.
    refused_replays,
    /// Warnings: connections that the exchange has ended behind a whole packet.
    ended_connections,
    /// Warnings: lines whose receive buffer is smaller than was asked for.
    receive_buffers_short,
}

impl Statistics {
    /// The counter of a cause.
    pub(crate) fn counter(&mut self, cause: &ConnectionError) -> &mut u64 {
        match cause {
            ConnectionError::Failed(_) => &mut self.failed_connects,
            ConnectionError::Broken(_) => &mut self.broken_connections,
            ConnectionError::Ended => &mut self.ended_connections,
            ConnectionError::EndedAmidPacket { .. } => &mut self.packets_cut,
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
    fn names_are_listed_with_their_values_and_added() {
        let one = Statistics { bytes: 3, ..Statistics::default() };
        let both = one.plus(Statistics { bytes: 4, packets: 1, ..Statistics::default() });
        assert_eq!(both.iter().find(|(name, _)| *name == "bytes"), Some(("bytes", 7)));
        assert_eq!(both.iter().map(|(_, value)| value).sum::<u64>(), 8);
    }
}
