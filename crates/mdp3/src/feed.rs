//! Where packets come from.

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

/// One of the feeds of a channel. Each multicast feed numbers its packets on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Feed {
    /// Everything as it happens (config.xml: `I`).
    Incremental,
    /// All instrument definitions in a loop (config.xml: `N`).
    Instrument,
    /// Market recovery: all books in a loop, each with the last incremental packet it contains
    /// (config.xml: `S`).
    Snapshot,
    /// Market recovery of orders, where they have a loop of their own (config.xml: `SMBO`).
    SnapshotOrders,
    /// Packets of the incremental feed once more, by TCP, because a gap was asked for
    /// ([`crate::Action::Replay`]; config.xml: `H`). They bear that feed's numbers.
    Replay,
}

impl Feed {
    /// Every multicast feed, in the order in which a late join needs them.
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

/// One of the two lines on which every packet of a feed is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FeedLine {
    /// The primary line.
    A,
    /// The backup line.
    B,
}

impl FeedLine {
    /// Both sides.
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
