//! The sizes, timeouts and feeds of a channel.

mod presets;

use hairpin_time::Duration;

use crate::{Feed, Feeds, OrderBooks, Replay, TemplateIds};

/// The source of instruments and books that existed before it started.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LateJoin {
    /// Definitions from the instrument feed, then books from the snapshot feed.
    #[default]
    InstrumentsAndBooks,
    /// Books from the snapshot feed. An instrument exists from its first entry on, with
    /// [`Settings::undefined_depth`] until a definition arrives on the incremental feed.
    Books,
    /// Neither. An instrument exists from its first entry on, and its book starts empty as if it
    /// were in sync. For captures of the incremental feed alone. Such a book is right only after
    /// each level was stated once, and only a ChannelReset restores it after a gap.
    Nothing,
}

/// The sizes, timeouts and feeds of a channel. The channel allocates all memory at creation.
///
/// ```
/// use hairpin_mdp3::Settings;
///
/// let settings = Settings { max_instruments: 100, ..Settings::default() };
/// assert!(settings.reorder_packets > 0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The maximum number of instruments, about 2,300 bytes each.
    pub max_instruments: usize,
    /// The source of instruments and books that existed before it.
    pub late_join: LateJoin,
    /// The available feeds and lines.
    pub feeds: Feeds,
    /// The limits for filling small gaps by TCP replay before snapshots are needed; `None`: no
    /// replay.
    pub replay: Option<Replay>,
    /// Enables natural refresh of books that wait for a snapshot. `Listener::on_book_update` then
    /// reports them as [`crate::SyncState::NaturallyRefreshed`], with the known levels from the
    /// best on. Applies to direct books; to those of more than one level only if there is a
    /// snapshot feed to complete them. Costs about 700 bytes per instrument.
    pub natural_refresh: bool,
    /// The book depth of instruments without a definition, 1 to [`crate::MAX_DEPTH`].
    pub undefined_depth: u8,
    /// The number of packets a line may run ahead of a gap before the gap is declared lost. 0: at
    /// once.
    pub reorder_packets: usize,
    /// The longest time a gap may stay open before it is declared lost.
    pub reorder_wait: Duration,
    /// The time without packets after which `Listener::on_silence` reports a line, up to an eighth
    /// longer. Zero: never.
    pub silence: Duration,
    /// The longest packet that can be buffered, in bytes.
    pub max_packet: usize,
    /// The size of the recovery queue in bytes; an entry takes 56.
    pub queue_bytes: usize,
    /// The maximum number of legs and underlyings of all definitions together.
    pub max_related: usize,
    /// The maximum number of packets in one pass of the instrument or snapshot loop.
    pub max_loop_packets: usize,
    /// The mapping from template ids on the wire to templates.
    pub templates: TemplateIds,
    /// The largest distance of a snapshot ahead of the incremental feed, in packets. The feeds take
    /// different paths, so some lead is normal. A snapshot farther ahead counts as from another
    /// epoch.
    pub max_snapshot_lead: u32,
    /// The orders that the channel stores. [`OrderBooks::Top`] takes 708 bytes more per instrument;
    /// [`OrderBooks::Full`] takes 88, and a second recovery queue of `queue_bytes` at 48 bytes per
    /// entry.
    pub order_books: OrderBooks,
    /// The maximum number of orders of all instruments together for [`OrderBooks::Full`], 56 to 64
    /// bytes each.
    pub max_orders: usize,
    /// The feed with snapshots of full order books: [`Feed::SnapshotOrders`], a loop of their own,
    /// or [`Feed::Snapshot`], after those of the price books. Top orders belong to conflated
    /// groups, which use the latter.
    pub order_snapshots: Feed,
}

/// Settings for a channel of up to 4,096 instruments; about 19 MB.
impl Default for Settings {
    fn default() -> Self {
        Self {
            max_instruments: 4_096,
            late_join: LateJoin::InstrumentsAndBooks,
            feeds: Feeds::ALL,
            replay: None,
            natural_refresh: false,
            undefined_depth: 10,
            // One full read batch of both lines, the most by which a line read second is behind.
            reorder_packets: 256,
            // Longer than one batch takes, shorter than a pass of the snapshot loop.
            reorder_wait: Duration::from_millis(10),
            // The timeout that common handlers use for CME's heartbeats.
            silence: Duration::from_secs(30),
            // An Ethernet frame without jumbo frames, rounded up.
            max_packet: 2_048,
            queue_bytes: 4 << 20,
            max_related: 8_192,
            max_loop_packets: 1 << 16,
            templates: TemplateIds::AS_PUBLISHED,
            max_snapshot_lead: 10_000,
            order_books: OrderBooks::None,
            max_orders: 1 << 18,
            order_snapshots: Feed::SnapshotOrders,
        }
    }
}

impl Settings {
    /// Returns the late join that the available feeds allow.
    pub(crate) fn possible_late_join(&self) -> LateJoin {
        match self.late_join {
            LateJoin::InstrumentsAndBooks if !self.feeds.has(Feed::Instrument) => LateJoin::Books,
            late_join => late_join,
        }
    }

    /// Returns the feed that provides snapshots of price books. Without a loop of their own, they
    /// come from the loop of order books, which CME documents to carry both.
    pub(crate) fn price_feed(&self) -> Option<Feed> {
        [Feed::Snapshot, Feed::SnapshotOrders].into_iter().find(|feed| self.feeds.has(*feed))
    }

    /// Returns the depth of books without a definition, within the limits of a book.
    pub(crate) fn depth_unless_defined(&self) -> u8 {
        self.undefined_depth.clamp(1, crate::MAX_DEPTH as u8)
    }
}
