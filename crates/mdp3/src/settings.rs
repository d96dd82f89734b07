//! How large a channel is and how patient.

mod presets;

use hairpin_time::Duration;

use crate::{Feed, Feeds, OrderBooks, Replay, TemplateIds};

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
    /// The most instruments, about 2,000 bytes each.
    pub max_instruments: usize,
    /// How the channel comes to know what was there before it.
    pub late_join: LateJoin,
    /// Which feeds and sides there are.
    pub feeds: Feeds,
    /// How small gaps are filled by TCP replay before snapshots are needed; `None`: not at all.
    pub replay: Option<Replay>,
    /// Whether a book that waits for a snapshot begins anew by natural refresh meanwhile: it is
    /// then told by `Listener::on_book_update` as [`crate::SyncState::NaturallyRefreshed`], with
    /// the levels that are known from the best on. For direct books; those of more than one level
    /// only where there is a snapshot feed to make them whole. Costs about 700 bytes an
    /// instrument.
    pub natural_refresh: bool,
    /// The depth of books of instruments without a definition, 1 to [`crate::MAX_DEPTH`].
    pub undefined_depth: u8,
    /// How many packets a side may run ahead of a hole before the hole is called a gap.
    /// 0: every hole is a gap at once.
    pub reorder_packets: usize,
    /// How long a hole may stay open before it is called a gap.
    pub reorder_wait: Duration,
    /// How long a side of a feed may bring nothing before that is told by
    /// `Listener::on_silence`, give or take an eighth. Zero: it is not told.
    pub silence: Duration,
    /// The longest packet that can be held, in bytes.
    pub max_packet: usize,
    /// The recovery queue, in bytes: 56 for each entry.
    pub queue_bytes: usize,
    /// The most legs and underlyings of all definitions together.
    pub max_related: usize,
    /// The most packets in one pass of the instrument or snapshot loop.
    pub max_loop_packets: usize,
    /// Which templates the ids on the wire stand for.
    pub templates: TemplateIds,
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

/// For a channel of up to 4,096 instruments; about 14 MB.
impl Default for Settings {
    fn default() -> Self {
        Self {
            max_instruments: 4_096,
            late_join: LateJoin::InstrumentsAndBooks,
            feeds: Feeds::ALL,
            replay: None,
            natural_refresh: false,
            undefined_depth: 10,
            // A side that was read later than the other by one full batch of both.
            reorder_packets: 256,
            // Longer than one batch takes, shorter than a pass of the snapshot loop.
            reorder_wait: Duration::from_millis(10),
            // What common handlers expect of CME's heartbeats.
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
    /// How the channel can come to know what was there before it, given the feeds there are.
    pub(crate) fn possible_late_join(&self) -> LateJoin {
        match self.late_join {
            LateJoin::InstrumentsAndBooks if !self.feeds.has(Feed::Instrument) => LateJoin::Books,
            late_join => late_join,
        }
    }

    /// The depth of books without a definition, as far as books go.
    pub(crate) fn depth_unless_defined(&self) -> u8 {
        self.undefined_depth.clamp(1, crate::MAX_DEPTH as u8)
    }
}
