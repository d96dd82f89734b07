//! Settings for common kinds of channels.

use hairpin_time::Duration;

use crate::{Feed, LateJoin, OrderBooks, Settings};

/// Presets, used as they are or as the base of a struct update.
///
/// | preset | instruments | reorder window | recovery queue | for |
/// |---|---|---|---|---|
/// | [`Settings::default`] | 4,096 | 256 packets, 10 ms | 4 MiB | a channel of either kind |
/// | [`Settings::conflated`] | 1,024 | 64 packets, 20 ms | 1 MiB | conflated: EBS, BrokerTec |
/// | [`Settings::premium`] | 16,384 | 512 packets, 5 ms | 16 MiB | a large Premium channel |
/// | [`Settings::premium_orders`] | 16,384 | 512 packets, 5 ms | 2 × 16 MiB | with all orders |
/// | [`Settings::books_only`] | 4,096 | 256 packets, 10 ms | 4 MiB | joining without definitions |
/// | [`Settings::incremental_only`] | 4,096 | 256 packets, 10 ms | 0 | one feed without recovery |
/// | [`Settings::single_line`] | 4,096 | 0 | 4 MiB | one line: a gap is declared at once |
impl Settings {
    /// Settings for a conflated channel: few instruments, a burst of packets every 5 or 50 ms and
    /// none between. The other line's burst follows within milliseconds, hence the longer wait.
    /// Stores the ten best orders per side, whose snapshots follow those of the price books. EBS
    /// publishes none, so its order books stay empty.
    #[must_use]
    pub fn conflated() -> Self {
        Self {
            max_instruments: 1_024,
            reorder_packets: 64,
            reorder_wait: Duration::from_millis(20),
            queue_bytes: 1 << 20,
            max_related: 1_024,
            order_books: OrderBooks::Top,
            order_snapshots: Feed::Snapshot,
            ..Self::default()
        }
    }

    /// Settings for a CME MDP Premium channel: many instruments, unconflated events, and bursts of
    /// thousands of packets. A loop pass takes seconds, so the recovery queue is large.
    #[must_use]
    pub fn premium() -> Self {
        Self {
            max_instruments: 16_384,
            reorder_packets: 512,
            reorder_wait: Duration::from_millis(5),
            queue_bytes: 16 << 20,
            max_related: 65_536,
            ..Self::default()
        }
    }

    /// [`Settings::premium`] with every order of every book, up to a million. Order snapshots have
    /// a loop of their own. Takes about 85 MB more.
    #[must_use]
    pub fn premium_orders() -> Self {
        Self {
            order_books: OrderBooks::Full,
            order_snapshots: Feed::SnapshotOrders,
            max_orders: 1 << 20,
            ..Self::premium()
        }
    }

    /// Settings for books without definitions: in sync after one pass of the snapshot loop, with
    /// [`Settings::undefined_depth`] levels until a definition arrives.
    #[must_use]
    pub fn books_only() -> Self {
        Self { late_join: LateJoin::Books, ..Self::default() }
    }

    /// Settings for the incremental feed alone, as in a capture of it; see [`LateJoin::Nothing`].
    #[must_use]
    pub fn incremental_only() -> Self {
        Self { late_join: LateJoin::Nothing, queue_bytes: 0, ..Self::default() }
    }

    /// Settings for one line. No other line can fill a gap, so waiting for it only costs time. Not
    /// suitable for a network that reorders packets.
    #[must_use]
    pub fn single_line() -> Self {
        Self { reorder_packets: 0, reorder_wait: Duration::ZERO, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Action, Channel};

    use super::*;

    /// Returns the feeds that a new channel joins.
    fn joins(settings: Settings) -> alloc::vec::Vec<Feed> {
        let mut channel = Channel::new(settings);
        core::iter::from_fn(|| channel.poll_action())
            .filter_map(|action| if let Action::Join(feed) = action { Some(feed) } else { None })
            .collect()
    }

    #[test]
    fn presets_join_their_feeds() {
        let all = [Feed::Incremental, Feed::Instrument];
        for settings in [
            Settings::conflated(),
            Settings::premium(),
            Settings::premium_orders(),
            Settings::single_line(),
        ] {
            assert_eq!(joins(settings), all);
        }
        assert_eq!(joins(Settings::books_only()), [Feed::Incremental, Feed::Snapshot]);
        assert_eq!(joins(Settings::incremental_only()), [Feed::Incremental]);
    }

    #[test]
    fn presets_select_order_snapshot_feed() {
        let feed = |settings: Settings| settings.order_feed();
        assert_eq!(feed(Settings::conflated()), Some(Feed::Snapshot));
        assert_eq!(feed(Settings::premium_orders()), Some(Feed::SnapshotOrders));
        assert_eq!(feed(Settings::premium()), None);
    }
}
