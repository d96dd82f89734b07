//! Which feeds and sides of a channel there are.

use crate::{Feed, FeedLine};

/// The sides on which a feed comes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FeedLines {
    /// The feed does not come at all.
    None,
    /// On the primary line alone.
    A,
    /// On the backup line alone.
    B,
    /// On both lines.
    #[default]
    Both,
}

impl FeedLines {
    /// The sides that there are.
    #[must_use]
    pub const fn new(a: bool, b: bool) -> Self {
        match (a, b) {
            (false, false) => Self::None,
            (true, false) => Self::A,
            (false, true) => Self::B,
            (true, true) => Self::Both,
        }
    }

    /// The sides that are among both.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self::new(
            self.contains(FeedLine::A) && other.contains(FeedLine::A),
            self.contains(FeedLine::B) && other.contains(FeedLine::B),
        )
    }

    /// Whether a side is among them.
    #[must_use]
    pub const fn contains(self, line: FeedLine) -> bool {
        match self {
            Self::None => false,
            Self::A => matches!(line, FeedLine::A),
            Self::B => matches!(line, FeedLine::B),
            Self::Both => true,
        }
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_none(self) -> bool {
        matches!(self, Self::None)
    }
}

/// The feeds of a channel and their sides. By default all feeds come on both sides.
///
/// A feed that is not there is never asked for, and what only it could tell is not waited for:
///
/// - without the instrument feed, definitions come on the incremental feed alone; until one comes
///   an instrument is what [`crate::LateJoin::Books`] makes of it;
/// - without the snapshot feed, a book that has lost an entry comes in sync by a reset, by TCP
///   replay of the gap or by natural refresh, and a late join does not end before a ChannelReset.
/// - without the loop of orders where they have one, an order book that has lost an entry comes in
///   sync by a reset of it alone.
///
/// The first time that such a feed is needed [`crate::Warning::MissingFeed`] says so.
///
/// ```
/// use hairpin_mdp3::{Feeds, Settings, Sides};
///
/// let feeds = Feeds { instrument: Sides::None, snapshot: Sides::A, ..Feeds::default() };
/// let settings = Settings { feeds, ..Settings::default() };
/// # let _ = settings;
/// ```
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Feeds {
    /// Everything as it happens.
    pub incremental: FeedLines,
    /// All definitions in a loop.
    pub instrument: FeedLines,
    /// All books in a loop.
    pub snapshot: FeedLines,
    /// All orders in a loop of their own.
    pub snapshot_orders: FeedLines,
}

impl Feeds {
    /// Every feed on both sides.
    pub const ALL: Self = Self {
        incremental: FeedLines::Both,
        instrument: FeedLines::Both,
        snapshot: FeedLines::Both,
        snapshot_orders: FeedLines::Both,
    };

    /// The sides of a feed. TCP replay has none: it comes when it is asked for.
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

    /// The feeds and sides that are among both.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self {
            incremental: self.incremental.intersection(other.incremental),
            instrument: self.instrument.intersection(other.instrument),
            snapshot: self.snapshot.intersection(other.snapshot),
            snapshot_orders: self.snapshot_orders.intersection(other.snapshot_orders),
        }
    }

    /// Whether a feed comes on any side.
    #[must_use]
    pub const fn has(self, feed: Feed) -> bool {
        !self.lines(feed).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_those_that_are_named() {
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
    fn every_feed_is_there_by_default_but_replay() {
        assert_eq!(Feeds::default(), Feeds::ALL);
        assert!(Feed::ALL.into_iter().all(|feed| Feeds::ALL.has(feed)));
        assert!(!Feeds::ALL.has(Feed::Replay));
    }

    #[test]
    fn what_is_among_both_is_told_feed_by_feed() {
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
