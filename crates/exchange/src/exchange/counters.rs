//! Counters of the sockets.

use super::settings::FeedLine;

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counters of the sockets; [`crate::GatewayCounters`] counts the protocol above them.
        /// Counters never decrease.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct ExchangeCounters {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl ExchangeCounters {
            /// Returns every counter with its name, in the order of declaration.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }
        }
    };
}

counters! {
    /// Matching events of the generator (ticks).
    ticks,
    /// Packets of the incremental feed, each counted once for all its lines.
    incremental_packets,
    /// Packets of the instrument feed.
    instrument_packets,
    /// Packets of the snapshot feed.
    snapshot_packets,
    /// Packets of the order snapshot feed.
    order_snapshot_packets,
    /// Packets withheld because line A was muted.
    muted_a,
    /// Packets withheld because line B was muted.
    muted_b,
    /// Bytes read from sessions.
    bytes_received,
    /// Bytes written to sessions.
    bytes_sent,
    /// Connections accepted by the TCP feed.
    feed_connections,
    /// TCP feed connections closed by their traders.
    feed_connections_ended,
    /// Bytes written to TCP feed connections.
    feed_bytes_sent,
    /// Times a packet did not fit into the kernel's buffer of a TCP feed connection and was queued.
    feed_backlogs,
    /// Loop packets skipped for a TCP feed connection that was behind. The next loop contains them
    /// again.
    feed_packets_left_out,
    /// Errors: line A datagrams that this host had no room for, or no path.
    lost_datagrams_a,
    /// Errors: line B datagrams that this host had no room for, or no path.
    lost_datagrams_b,
    /// Errors: gateway connections that ended with a network error.
    broken_connections,
    /// Errors: connections that could not be accepted: no descriptor, memory or reactor slot was
    /// free.
    failed_accepts,
    /// Errors: TCP feed connections that ended with a network error.
    broken_feed_connections,
    /// Errors: TCP feed connections closed because their backlog was full.
    feed_overflows,
    /// Warnings: TCP feed connections closed on accept because all slots were taken.
    refused_feed_connections,
    /// Warnings: bytes received on TCP feed connections, where traders should send none.
    unexpected_feed_bytes,
}

impl ExchangeCounters {
    /// Returns the counter of withheld packets of a line.
    #[inline]
    pub(super) fn muted(&mut self, line: FeedLine) -> &mut u64 {
        match line {
            FeedLine::A => &mut self.muted_a,
            FeedLine::B => &mut self.muted_b,
        }
    }

    /// Returns the counter of dropped datagrams of a line.
    #[inline]
    pub(super) fn lost_datagrams(&mut self, line: FeedLine) -> &mut u64 {
        match line {
            FeedLine::A => &mut self.lost_datagrams_a,
            FeedLine::B => &mut self.lost_datagrams_b,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iter_lists_names_with_values() {
        let counters = ExchangeCounters { ticks: 3, ..ExchangeCounters::default() };
        assert_eq!(counters.iter().find(|(name, _)| *name == "ticks"), Some(("ticks", 3)));
        assert_eq!(counters.iter().map(|(_, value)| value).sum::<u64>(), 3);
    }
}
