//! What has happened at the sockets.

use super::settings::FeedSide;

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What has happened at the sockets, counted; see [`crate::GatewayCounters`] for what lies
        /// above. Every counter only grows.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct ExchangeCounters {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl ExchangeCounters {
            /// Every counter with its name, in the order of declaration.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }
        }
    };
}

counters! {
    /// Matching events of the generator: ticks.
    ticks,
    /// Packets of the incremental feed, each counted once, however many it went to.
    incremental_packets,
    /// Packets of the instrument feed.
    instrument_packets,
    /// Packets of the snapshot feed.
    snapshot_packets,
    /// Packets of the feed of orders' snapshots.
    order_snapshot_packets,
    /// Packets withheld because side A was muted.
    muted_a,
    /// Packets withheld because side B was muted.
    muted_b,
    /// Bytes read from sessions.
    bytes_received,
    /// Bytes written to sessions.
    bytes_sent,
    /// Connections taken for the feed by TCP.
    feed_connections,
    /// Connections of the feed by TCP that their traders have ended.
    feed_connections_ended,
    /// Bytes written to connections of the feed by TCP.
    feed_bytes_sent,
    /// Times a packet did not fit in a connection of the feed by TCP at once, and was kept.
    feed_backlogs,
    /// Packets of the loops left out for a connection that was behind: the next loop has them.
    feed_packets_left_out,
    /// Errors: datagrams of side A that the kernel had no room for.
    lost_datagrams_a,
    /// Errors: datagrams of side B that the kernel had no room for.
    lost_datagrams_b,
    /// Errors: connections of the gateway that ended by an error of the network.
    broken_connections,
    /// Errors: connections that could not be accepted, for want of descriptors, memory, or room in
    /// the reactor.
    failed_accepts,
    /// Errors: connections of the feed by TCP that ended by an error of the network.
    broken_feed_connections,
    /// Errors: connections of the feed by TCP closed since their backlog was full.
    feed_overflows,
    /// Warnings: connections of the feed by TCP closed at once since all places were taken.
    refused_feed_connections,
    /// Warnings: bytes that traders have sent on the feed by TCP, where nothing is expected.
    unexpected_feed_bytes,
}

impl ExchangeCounters {
    /// The counter of a side's packets that were withheld.
    #[inline]
    pub(super) fn muted(&mut self, side: FeedSide) -> &mut u64 {
        match side {
            FeedSide::A => &mut self.muted_a,
            FeedSide::B => &mut self.muted_b,
        }
    }

    /// The counter of a side's datagrams that had no room.
    #[inline]
    pub(super) fn lost_datagrams(&mut self, side: FeedSide) -> &mut u64 {
        match side {
            FeedSide::A => &mut self.lost_datagrams_a,
            FeedSide::B => &mut self.lost_datagrams_b,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_with_their_values() {
        let counters = ExchangeCounters { ticks: 3, ..ExchangeCounters::default() };
        assert_eq!(counters.iter().find(|(name, _)| *name == "ticks"), Some(("ticks", 3)));
        assert_eq!(counters.iter().map(|(_, value)| value).sum::<u64>(), 3);
    }
}
