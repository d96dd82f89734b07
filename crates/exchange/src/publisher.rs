//! The market data publisher: MDP 3.0 (schema 1 version 13), sans-IO.
//!
//! ```text
//! Premium:    matching → Accumulator → publish: diff against the published state → queue
//! Conflated:  matching → Accumulator → publish: latest state; at the end of the interval the diff
//!             of the latest against the published state → queue
//! both:       queue → poll_transmit
//! ```
//!
//! Up to four feeds, each with its own packet sequence. Every packet is sent on both lines A and B:
//!
//! - **incremental**: the messages of each event with the bits of MatchEventIndicator. These are
//!   trades (48), volume (37), orders (47 and in 46, or the top orders, 59), book (46), session
//!   statistics (51) and implied book (46). A packet never contains two events. Separate events are
//!   statuses (30, 60), definitions (54 to 58, 63), daily statistics (49), limits (50), quote
//!   requests (39), collateral values (62) and channel resets (4). Heartbeats (12) are sent after
//!   silence;
//! - **instruments**: a loop of definitions;
//! - **snapshots**: a loop of snapshots (52, and 53 in a conflated group) of the published state.
//!   While no instrument was ever active, a heartbeat (12) per loop shows that the feed is alive;
//! - **order snapshots** (52, then 53 in chunks), if a Premium group publishes orders.
//!
//! With [`PublisherSettings::long_quantities`], templates 64, 65, 66, 67 and 69 replace 46, 48, 37,
//! 51 and 52. Each call of [`Publisher::poll_transmit`] writes one packet; incremental packets
//! precede loops.
//!
//! Not supported: the templates of conflated TCP (61 and 68). [`crate::ReplayServer`] does TCP
//! replay.

mod admin_events;
mod channel;
mod conflation;
mod definitions;
mod diff;
mod encode;
mod fingerprint;
mod incremental;
mod instrument_events;
mod ladder;
mod loop_pacer;
mod orders;
mod packet;
mod queue;
mod settings;
mod snapshots;
mod statistics;
mod status;
mod top_orders;
mod transmit;

pub use definitions::DefinitionChange;
pub use fingerprint::{Digest, Fingerprint};
pub use instrument_events::{Collateral, QuoteRequest, Workup, WorkupOrder};
pub use ladder::{DEPTH, IMPLIED_DEPTH, Ladder};
pub use loop_pacer::Pace;
pub use orders::PublishedOrder;
pub use packet::MAX_PAYLOAD;
pub(crate) use packet::Packet;
pub use settings::{
    BROKERTEC_INTERVAL, DefinitionCount, EBS_INTERVAL, FullOrders, Group, OrderPath,
    PublisherSettings,
};
pub use snapshots::Published;
pub use statistics::{
    Daily, DailyStatistic, Limits, SETTLEMENTS_MAX, Session, Settlement, Statistics,
};
pub use status::TradingStatus;
pub use top_orders::{TOP_ORDERS, TopOrders};

use hairpin_time::{Instant, Now};

use crate::Instrument;
use crate::matching::{Accumulator, Matching, Side};
use admin_events::Implied;
use channel::Channel;
use conflation::Conflation;
use definitions::Listings;
use fingerprint::Fingerprints;
use loop_pacer::LoopPacer;
use orders::OrderBooks;
use queue::Queue;
use snapshots::{Books, LoopHeader};

/// SecurityGroup (tag 1151) of all instruments.
pub(crate) const SECURITY_GROUP: &[u8] = b"HP";

/// The feed of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Feed {
    /// Events and heartbeats.
    Incremental,
    /// The loop of definitions.
    Instruments,
    /// The loop of snapshots.
    Snapshots,
    /// The loop of order snapshots, if it is a separate feed.
    SnapshotOrders,
}

/// An encoded packet to send at once, on line A and on line B.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit {
    /// The feed of the packet.
    pub feed: Feed,
    /// The length of the packet in bytes, from the start of the buffer.
    pub length: usize,
    /// MsgSeqNum of the packet, in the sequence of its feed.
    pub sequence: u32,
    /// The event that the packet contains all or part of; `None` for heartbeats and loops.
    pub event: Option<EventPart>,
    /// The first message identifies the feed where all feeds share a connection. A heartbeat there
    /// belongs to the incremental feed, so a heartbeat for an empty snapshot loop has `false`.
    /// Snapshots there belong to one feed, so packets of the order snapshot feed have `false`.
    pub shows_feed: bool,
}

/// The part of an event in a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventPart {
    /// The number of the event, starting at 1.
    pub number: u64,
    /// The packet is the first one of the event.
    pub begins: bool,
    /// The packet contains the end of the event (0x80).
    pub ends: bool,
}

/// The result of publishing the collected changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Publication {
    /// The changes are queued as the event of this number.
    Event(u64),
    /// The changes are not visible in the published books.
    Unchanged,
    /// The changes are stored until the end of their segment's interval.
    Conflated,
    /// The queue is full; the changes stay in the accumulator. Send packets, then try again.
    Deferred,
}

/// A publisher of the books of one matching engine.
#[derive(Debug)]
pub struct Publisher {
    settings: PublisherSettings,
    channel: Channel,
    instruments: Box<[Instrument]>,
    listings: Listings,
    books: Books,
    implied: Implied,
    /// All orders, if they are published.
    orders: Option<OrderBooks>,
    /// The top orders, if they are published.
    tops: Option<Books<TopOrders>>,
    conflation: Option<Conflation>,
    /// The current session statistics by instrument, if they are published.
    sessions: Box<[Session]>,
    /// The volume of each instrument before the last reset of its session statistics.
    earlier_volumes: Box<[u64]>,
    /// The last event of each instrument with entries of its book, and their range in the queue.
    entries: Box<[(u64, usize, usize)]>,
    fingerprints: Option<Fingerprints>,
    queue: Queue,
    events: u64,
    sequence: u32,
    epoch: u32,
    started: bool,
    last_sent: Instant,
    pace: Pace,
    definitions: LoopPacer,
    snapshots: LoopPacer,
    snapshot_header: LoopHeader,
    order_snapshots: LoopPacer,
    order_snapshot_header: LoopHeader,
}

impl Publisher {
    /// Creates a publisher of empty books. `instruments` and the engine's books have the same
    /// indices. `accumulator` is the one to be published; its sizes are used.
    ///
    /// # Panics
    /// If an instrument violates the rules of [`Instrument`], the settings those of
    /// [`PublisherSettings`], or if the group publishes all orders and the accumulator was not
    /// created by [`Accumulator::with_orders`].
    #[must_use]
    pub fn new(
        settings: PublisherSettings,
        instruments: &[Instrument],
        accumulator: &Accumulator,
        now: Now,
    ) -> Self {
        assert!(instruments.iter().all(definitions::is_valid), "invalid instrument");
        assert!(settings.is_valid(), "invalid settings");
        let count = instruments.len();
        let total = u32::try_from(count).unwrap_or(u32::MAX);
        let pacer_of = |total| {
            LoopPacer::new(total, settings.loop_period, now.monotonic).with_rate(settings.loop_rate)
        };
        let pacer = || pacer_of(total);
        let definitions = total.saturating_add(definitions::repeats(&settings, total));
        let (has_orders, has_tops) = (settings.orders().is_some(), settings.has_top_orders());
        let slots = accumulator.order_capacity();
        assert!(!has_orders || slots > 0, "accumulator was created without orders");
        Self {
            settings,
            channel: Channel::new(&settings, now.utc),
            instruments: instruments.into(),
            listings: Listings::new(count, settings.unlisted as usize, now.utc),
            books: Books::new(count, has_orders),
            implied: Implied::new(count),
            orders: has_orders.then(|| OrderBooks::new(count, slots)),
            tops: has_tops.then(|| Books::new(count, false)),
            conflation: Conflation::new(&settings, count, accumulator, now.monotonic),
            sessions: vec![Session::default(); if settings.statistics { count } else { 0 }].into(),
            earlier_volumes: vec![0; count].into(),
            entries: vec![(0, 0, 0); if has_orders { count } else { 0 }].into(),
            fingerprints: settings.fingerprints.then(Fingerprints::default),
            queue: Queue::new(&settings, count, accumulator),
            events: 0,
            sequence: 0,
            epoch: 0,
            started: false,
            last_sent: now.monotonic,
            pace: Pace::FlatOut,
            definitions: pacer_of(definitions),
            snapshots: pacer(),
            snapshot_header: LoopHeader::default(),
            order_snapshots: pacer(),
            order_snapshot_header: LoopHeader::default(),
        }
    }

    /// Publishes the changes and clears `events`. The changes are the differences of `events` and
    /// the books of `matching` from the published state, and new implied levels. A Premium group
    /// queues them at once, as one event. A conflated group stores them until the end of their
    /// segment's interval.
    pub fn publish(
        &mut self,
        now: Now,
        matching: &Matching,
        events: &mut Accumulator,
    ) -> Publication {
        if self.conflation.is_some() {
            return self.conflate(now, matching, events);
        }
        if !self.queue.has_room(events, self.implied.changed().len()) {
            return Publication::Deferred;
        }
        let before = self.queue.lengths();
        self.queue_trades(now.utc, events);
        for &instrument in events.touched() {
            self.queue_volume(instrument, matching.volume(instrument));
        }
        for &instrument in events.touched() {
            let levels = |side| matching.levels(instrument, side);
            self.queue_book(instrument, levels);
        }
        self.queue_orders(events.orders(), matching);
        for &instrument in events.touched() {
            self.queue_statistics(instrument);
        }
        self.queue_changed_implied(now.utc);
        let after = self.queue.lengths();
        if after == before {
            self.finish_changed_implied(None);
            events.clear();
            return Publication::Unchanged;
        }
        for &instrument in events.touched() {
            self.published_mut(instrument).transact_time = now.utc;
        }
        let number = self.queue_market(now.utc, after, false);
        self.record_fingerprints(number, events.touched());
        self.finish_changed_implied(Some(number));
        events.clear();
        Publication::Event(number)
    }

    /// Returns the time at which [`Publisher::poll_transmit`] has a packet to send next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        if !self.queue.is_empty() {
            return Some(Instant::ZERO);
        }
        let (_, loops) = self.next_loop();
        let conflated = self.conflation.as_ref().and_then(Conflation::poll_timeout);
        let due = self.heartbeat_due().min(loops);
        Some(conflated.map_or(due, |conflated| due.min(conflated)))
    }

    /// Returns the time of the next heartbeat of the incremental feed.
    fn heartbeat_due(&self) -> Instant {
        self.last_sent + self.settings.heartbeat
    }

    /// Returns `true` if an event is queued. Conflated changes are not queued before their interval
    /// ends.
    #[must_use]
    pub fn has_event(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Sets the pace of the feed loops.
    pub fn set_pace(&mut self, pace: Pace, now: Instant) {
        self.pace = pace;
        if pace == Pace::FlatOut {
            self.definitions.schedule_now(now);
            self.snapshots.schedule_now(now);
            self.order_snapshots.schedule_now(now);
        }
    }

    /// Returns `true` if an instrument has a definition that was not deleted.
    ///
    /// # Panics
    /// If the instrument does not exist.
    #[must_use]
    pub fn is_listed(&self, instrument: u32) -> bool {
        self.listings.is_listed(instrument)
    }

    /// Returns the published state of an instrument, including queued events.
    #[must_use]
    pub fn published(&self, instrument: u32) -> &Published {
        self.books.at(instrument)
    }

    /// Returns the published orders of a side, best first. Empty unless the group publishes all
    /// orders.
    pub fn published_orders(
        &self,
        instrument: u32,
        side: Side,
    ) -> impl Iterator<Item = &PublishedOrder> + '_ {
        self.orders.iter().flat_map(move |orders| orders.side(instrument, side))
    }

    /// Returns the published top orders of an instrument, if the group publishes them.
    #[must_use]
    pub fn published_top_orders(&self, instrument: u32) -> Option<&TopOrders> {
        self.tops.as_ref().map(|tops| tops.at(instrument))
    }

    /// Returns MsgSeqNum of the last incremental packet, 0 before the first.
    #[must_use]
    pub fn sequence(&self) -> u32 {
        self.sequence
    }

    /// Returns the number of events published so far.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Returns the number of channel resets sent.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }
}
