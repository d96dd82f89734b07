//! How large a channel is and how patient.

use hairpin_time::Duration;

use crate::{Feed, OrderBooks};

/// How a channel comes to know instruments and books that were there before it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LateJoin {
    /// Definitions from the instrument feed, then books from the snapshot feed.
    #[default]
    InstrumentsAndBooks,
    /// Books from the snapshot feed. An instrument exists from its first entry on, with
    /// [`Settings::undefined_depth`], until a definition on the incremental feed says more.
    Books,
    /// Neither: an instrument exists from its first entry on and its book starts empty, as if it
    /// were in sync. For captures of the incremental feed alone; such a book is right only once
    /// every level has been stated, and nothing repairs it after a gap but a ChannelReset.
    Nothing,
}

/// How large a channel is and how patient. All memory is taken when the channel is made.
///
/// ```
/// use hairpin_mdp3::Settings;
///
/// let settings = Settings { max_instruments: 100, ..Settings::default() };
/// assert!(settings.reorder_packets > 0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The most instruments, about 1,400 bytes each.
    pub max_instruments: usize,
    /// How the channel comes to know what was there before it.
    pub late_join: LateJoin,
    /// The depth of books of instruments without a definition, 1 to [`crate::MAX_DEPTH`].
    pub undefined_depth: u8,
    /// How many packets a side may run ahead of a hole before the hole is called a gap.
    /// 0: every hole is a gap at once.
    pub reorder_packets: usize,
    /// How long a hole may stay open before it is called a gap.
    pub reorder_wait: Duration,
    /// The longest packet that can be held, in bytes.
    pub max_packet: usize,
    /// The recovery queue, in bytes: 56 for each entry.
    pub queue_bytes: usize,
    /// The most legs and underlyings of all definitions together.
    pub max_related: usize,
    /// The most packets in one pass of the instrument or snapshot loop.
    pub max_loop_packets: usize,
    /// How far a snapshot may be ahead of the incremental feed, in packets: the feeds come by
    /// different ways. Beyond that it is taken to be of another numbering.
    pub max_snapshot_lead: u32,
    /// Which orders are kept. [`OrderBooks::Top`] takes 708 bytes more for each instrument,
    /// [`OrderBooks::Full`] 88 and a second recovery queue of `queue_bytes`, 48 for each entry.
    pub order_books: OrderBooks,
    /// The most orders of all instruments together, for [`OrderBooks::Full`]: 56 to 64 bytes each.
    pub max_orders: usize,
    /// The feed that has snapshots of full order books: [`Feed::SnapshotOrders`], a loop of their
    /// own, or [`Feed::Snapshot`], behind those of price books. Top orders are of conflated groups,
    /// which have the latter.
    pub order_snapshots: Feed,
}

/// For a channel of up to 4,096 instruments; about 11 MB.
impl Default for Settings {
    fn default() -> Self {
        Self {
            max_instruments: 4_096,
            late_join: LateJoin::InstrumentsAndBooks,
            undefined_depth: 10,
            // A side that was read later than the other by one full batch of both.
            reorder_packets: 256,
            // Longer than one batch takes, shorter than a pass of the snapshot loop.
            reorder_wait: Duration::from_millis(10),
            // An Ethernet frame without jumbo frames, rounded up.
            max_packet: 2_048,
            queue_bytes: 4 << 20,
            max_related: 8_192,
            max_loop_packets: 1 << 16,
            max_snapshot_lead: 10_000,
            order_books: OrderBooks::None,
            max_orders: 1 << 18,
            order_snapshots: Feed::SnapshotOrders,
        }
    }
}

impl Settings {
    /// The depth of books without a definition, as far as books go.
    pub(crate) fn depth_unless_defined(&self) -> u8 {
        self.undefined_depth.clamp(1, crate::MAX_DEPTH as u8)
    }
}
