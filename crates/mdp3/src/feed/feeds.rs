//! The feeds and lines that a channel receives.

use crate::{Feed, FeedLine};

/// The lines on which a feed is received.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FeedLines {
    /// The feed is not received.
    None,
    /// Line A only.
    A,
    /// Line B only.
    B,
    /// Both lines.
    #[default]
    Both,
}

impl FeedLines {
    /// Returns the set of the given lines.
    #[must_use]
    pub const fn new(a: bool, b: bool) -> Self {
        match (a, b) {
            (false, false) => Self::None,
            (true, false) => Self::A,
            (false, true) => Self::B,
            (true, true) => Self::Both,
        }
    }

    /// Returns the lines in both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self::new(
            self.contains(FeedLine::A) && other.contains(FeedLine::A),
            self.contains(FeedLine::B) && other.contains(FeedLine::B),
        )
    }

    /// Returns `true` if the set contains `line`.
    #[must_use]
    pub const fn contains(self, line: FeedLine) -> bool {
        match self {
            Self::None => false,
            Self::A => matches!(line, FeedLine::A),
            Self::B => matches!(line, FeedLine::B),
            Self::Both => true,
        }
    }

    /// Returns `true` if the set is empty.
    #[must_use]
    pub const fn is_none(self) -> bool {
        matches!(self, Self::None)
    }
}

/// The feeds of a channel and their lines. By default, all feeds are received on both lines.
///
/// The channel never joins an absent feed, and does not wait for data that only that feed carries:
///
/// - without the instrument feed, definitions arrive on the incremental feed only; until then an
///   instrument is treated as under [`crate::LateJoin::Books`];
/// - without the snapshot feed, price books come from the order snapshot feed, if that carries
///   them;
/// - without either, a book that lost an entry is restored by a reset, by TCP replay of
///   the gap or by natural refresh, and a late join ends only at a ChannelReset;
/// - without the order snapshot feed, where orders have one, an order book that lost an entry is
///   restored only by a reset.
///
/// The first time that such a feed is needed, the channel reports [`crate::Warning::MissingFeed`].
///
/// ```
/// use hairpin_mdp3::{FeedLines, Feeds, Settings};
///
/// let feeds = Feeds { instrument: FeedLines::None, snapshot: FeedLines::A, ..Feeds::default() };
/// let settings = Settings { feeds, ..Settings::default() };
/// # let _ = settings;
/// ```
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Feeds {
    /// Real-time updates.
    pub incremental: FeedLines,
    /// All definitions in a loop.
    pub instrument: FeedLines,
    /// Snapshots of all books in a loop.
    pub snapshot: FeedLines,
    /// Snapshots of all order books in a loop of their own.
    pub snapshot_orders: FeedLines,
}

impl Feeds {
    /// All feeds on both lines.
    pub const ALL: Self = Self {
        incremental: FeedLines::Both,
        instrument: FeedLines::Both,
        snapshot: FeedLines::Both,
        snapshot_orders: FeedLines::Both,
    };

    /// Returns the lines of a feed. TCP replay has none, because it is sent only on request.
    #[must_use]
    pub const fn lines(self, feed: Feed) -> FeedLines {
        match feed {
            Feed::Incremental => self.incremental,
            Feed::Instrument => self.instrument,
            Feed::Snapshot => self.snapshot,
            Feed::SnapshotOrders => self.snapshot_orders,
            Feed::Replay => FeedLines::None,
        }
    }

    /// Returns the feeds and lines in both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self {
            incremental: self.incremental.intersection(other.incremental),
            instrument: self.instrument.intersection(other.instrument),
            snapshot: self.snapshot.intersection(other.snapshot),
            snapshot_orders: self.snapshot_orders.intersection(other.snapshot_orders),
        }
    }

    /// Returns `true` if a feed is received on at least one line.
    #[must_use]
    pub const fn has(self, feed: Feed) -> bool {
        !self.lines(feed).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_sets_contain_named_lines() {
        let has = |lines: FeedLines| FeedLine::ALL.map(|line| lines.contains(line));
        assert_eq!(has(FeedLines::None), [false, false]);
        assert_eq!(has(FeedLines::A), [true, false]);
        assert_eq!(has(FeedLines::B), [false, true]);
        assert_eq!(has(FeedLines::Both), [true, true]);
        for (a, b) in [(false, false), (true, false), (false, true), (true, true)] {
            assert_eq!(has(FeedLines::new(a, b)), [a, b]);
            assert_eq!(has(FeedLines::new(a, b).intersection(FeedLines::B)), [false, b]);
            assert_eq!(has(FeedLines::Both.intersection(FeedLines::new(a, b))), [a, b]);
        }
    }

    #[test]
    fn defaults_to_all_feeds_except_replay() {
        assert_eq!(Feeds::default(), Feeds::ALL);
        assert!(Feed::ALL.into_iter().all(|feed| Feeds::ALL.has(feed)));
        assert!(!Feeds::ALL.has(Feed::Replay));
    }

    #[test]
    fn intersects_feed_by_feed() {
        let one = Feeds { instrument: FeedLines::None, snapshot: FeedLines::A, ..Feeds::ALL };
        let other =
            Feeds { incremental: FeedLines::B, snapshot_orders: FeedLines::A, ..Feeds::ALL };
        let both = Feeds {
            incremental: FeedLines::B,
            instrument: FeedLines::None,
            snapshot: FeedLines::A,
            snapshot_orders: FeedLines::A,
        };
        assert_eq!((one.intersection(other), other.intersection(one)), (both, both));
    }
}
