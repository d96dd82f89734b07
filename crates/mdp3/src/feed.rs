//! The feeds and lines that packets arrive on.

pub(crate) mod arbiter;
pub(crate) mod feed_skew;
pub(crate) mod feeds;
pub(crate) mod gaps;
pub(crate) mod incremental_feed;
pub(crate) mod loop_tracker;
pub(crate) mod pending_packet;
pub(crate) mod reorder_buffer;
pub(crate) mod silence;

use core::fmt;

/// A feed of a channel. Each multicast feed numbers its packets independently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Feed {
    /// Real-time updates (config.xml: `I`).
    Incremental,
    /// All instrument definitions, repeated in a loop (config.xml: `N`).
    Instrument,
    /// Market recovery: snapshots of all books, repeated in a loop. Each states the last
    /// incremental packet it contains (config.xml: `S`).
    Snapshot,
    /// Market recovery of order books, where they have a loop of their own (config.xml: `SMBO`).
    SnapshotOrders,
    /// Packets of the incremental feed, requested again over TCP after a gap
    /// ([`crate::Action::Replay`]; config.xml: `H`). They carry the incremental feed's sequence
    /// numbers.
    Replay,
}

impl Feed {
    /// All multicast feeds, in the order in which a late join needs them.
    pub const ALL: [Self; 4] =
        [Self::Incremental, Self::Instrument, Self::Snapshot, Self::SnapshotOrders];
}

impl fmt::Display for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Incremental => "incremental",
            Self::Instrument => "instrument",
            Self::Snapshot => "snapshot",
            Self::SnapshotOrders => "order snapshot",
            Self::Replay => "replay",
        })
    }
}

/// A line: one of the two redundant streams that carry every packet of a feed (CME: Feed A and
/// Feed B).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FeedLine {
    /// The primary line.
    A,
    /// The backup line.
    B,
}

impl FeedLine {
    /// Both lines.
    pub const ALL: [Self; 2] = [Self::A, Self::B];
}

impl fmt::Display for FeedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::A => "A",
            Self::B => "B",
        })
    }
}
