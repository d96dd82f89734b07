//! The market data publisher: MDP 3.0 (schema 1 version 13), sans-IO.
//!
//! ```text
//! Premium:    matching → Accumulator → publish: diff against what was published → queue
//! Conflated:  matching → Accumulator → publish: what is latest; at the end of the interval the
//!             diff of that against what was published → queue
//! both:       queue → poll_transmit
//! ```
//!
//! Up to four feeds, each with its own packet sequence, every packet on both sides A and B:
//!
//! - **incremental**: per event trades (48), volume (37), orders (47, and in 46; or the best of
//!   them, 59), book (46), statistics of the session (51) and implied book (46) with the bits of
//!   MatchEventIndicator, a packet never holding two events; statuses (30, 60), definitions (54 to
//!   58, 63), statistics of the day (49), limits (50), quote requests (39), values of collateral
//!   (62) and resets of the channel (4), events of their own; heartbeats (12) after silence;
//! - **instruments**: a loop of definitions;
//! - **snapshots**: a loop of snapshots (52, in a conflated group with 53), made from what was
//!   published and nothing else; while no instrument was ever active, a heartbeat (12) a pass, so
//!   that nobody takes it for lost;
//! - **snapshots of orders** (53, in chunks), where a Premium group has orders.
//!
//! With [`PublisherSettings::long_quantities`] 64, 65, 66, 67 and 69 stand for 46, 48, 37, 51 and
//! 52. Each call of [`Publisher::poll_transmit`] makes one packet, incremental before loops.
//!
//! Not here: the templates of conflated TCP (61 and 68). Replay over TCP is
//! [`crate::ReplayServer`]'s.

mod announcements;
mod carousel;
mod channel;
mod conflation;
mod definitions;
mod diff;
mod encode;
mod fingerprint;
mod incremental;
mod ladder;
mod orders;
mod packet;
mod queue;
mod settings;
mod snapshots;
mod statistics;
mod status;
mod top_orders;
mod transmit;
mod verbs;

pub use announcements::{Collateral, QuoteRequest, Workup, WorkupOrder};
pub use carousel::Pace;
pub use definitions::DefinitionChange;
pub use fingerprint::{Digest, Fingerprint};
pub use ladder::{DEPTH, IMPLIED_DEPTH, Ladder};
pub use orders::PublishedOrder;
pub use packet::MAX_PAYLOAD;
pub(crate) use packet::Packet;
pub use settings::{
    BROKERTEC_INTERVAL, EBS_INTERVAL, FullOrders, Group, OrderPath, PublisherSettings,
};
pub use snapshots::Published;
pub use statistics::{Daily, DailyStatistic, Limits, Session, Settlement, Statistics};
pub use status::TradingStatus;
pub use top_orders::{TOP_ORDERS, TopOrders};

use hairpin_time::{Duration, Instant, Now};

use crate::Instrument;
use crate::matching::{Accumulator, Matching, Side};
use carousel::Carousel;
use channel::Channel;
use conflation::Conflation;
use definitions::Listings;
use fingerprint::Fingerprints;
use orders::OrderBooks;
use queue::Queue;
use snapshots::{Books, Heading};
use verbs::Implied;

/// The security group (tag 1151) of all instruments.
pub(crate) const SECURITY_GROUP: &[u8] = b"HP";
/// Silence after which a heartbeat is sent while loops go flat out: whoever is being waited for
/// can be sure of a book only from its first incremental packet on.
const HURRIED_HEARTBEAT: Duration = Duration::from_millis(10);

/// Which feed a packet belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Feed {
    /// Events and heartbeats.
    Incremental,
    /// The loop of definitions.
    Instruments,
    /// The loop of snapshots.
    Snapshots,
    /// The loop of snapshots of orders, where that is a feed of its own.
    SnapshotOrders,
}

/// A packet that has been written and is to leave at once, on side A and on side B.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit {
    /// Where it goes.
    pub feed: Feed,
    /// Bytes of it, from the start of the buffer.
    pub length: usize,
    /// Its MsgSeqNum, in the numbering of its feed.
    pub sequence: u32,
    /// The event it carries all or part of; `None` for heartbeats and loops.
    pub event: Option<EventPart>,
    /// Whether its first message shows which feed it is of, where all of them share a connection:
    /// a heartbeat there is the incremental feed's, so that of an empty loop of snapshots does not;
    /// and snapshots are of one feed there, so those of the orders' own do not.
    pub shows_feed: bool,
}

/// The part of an event that a packet carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventPart {
    /// The event's number, from 1.
    pub number: u64,
    /// Whether the packet is the event's first.
    pub begins: bool,
    /// Whether the packet carries the event's end (0x80).
    pub ends: bool,
}

/// What became of what matching had collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Publication {
    /// It will be sent as the event of this number.
    Event(u64),
    /// Nothing of it is to be seen in the published books.
    Unchanged,
    /// It waits for the end of its segment's interval, with whatever else happens until then.
    Conflated,
    /// The queue is full: it stays in the accumulator. Send, then try again.
    Deferred,
}

/// Publishes the books of one matching engine.
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
    /// The best orders, if they are published.
    tops: Option<Books<TopOrders>>,
    conflation: Option<Conflation>,
    /// Session statistics as they are now, by instrument, if they are published.
    sessions: Box<[Session]>,
    /// By instrument: the last event that had entries of its book, and where in the queue these
    /// begin and end.
    entries: Box<[(u64, usize, usize)]>,
    fingerprints: Option<Fingerprints>,
    queue: Queue,
    events: u64,
    sequence: u32,
    epoch: u32,
    has_begun: bool,
    last_sent: Instant,
    pace: Pace,
    definitions: Carousel,
    snapshots: Carousel,
    heading: Heading,
    order_snapshots: Carousel,
    order_heading: Heading,
}

impl Publisher {
    /// A publisher of empty books. `instruments` and the engine's books have the same indices;
    /// `accumulator` is the one that will be published, for its size.
    ///
    /// # Panics
    /// If instruments are not as [`Instrument`] says, settings not as [`PublisherSettings`], or
    /// the group has orders in full and the accumulator was not made
    /// [`Accumulator::with_orders`].
    #[must_use]
    pub fn new(
        settings: PublisherSettings,
        instruments: &[Instrument],
        accumulator: &Accumulator,
        now: Now,
    ) -> Self {
        assert!(instruments.iter().all(definitions::is_sound), "instruments");
        assert!(settings.is_sound(), "settings");
        let count = instruments.len();
        let total = u32::try_from(count).unwrap_or(u32::MAX);
        let carousel = || Carousel::new(total, settings.loop_period, now.monotonic);
        let (has_orders, has_tops) = (settings.orders().is_some(), settings.has_top_orders());
        let slots = accumulator.order_capacity();
        assert!(!has_orders || slots > 0, "an accumulator without orders");
        Self {
            settings,
            channel: Channel::new(&settings, now.utc),
            instruments: instruments.into(),
            listings: Listings::new(count, settings.unlisted as usize, now.utc),
            books: Books::new(count),
            implied: Implied::new(count),
            orders: has_orders.then(|| OrderBooks::new(count, slots)),
            tops: has_tops.then(|| Books::new(count)),
            conflation: Conflation::new(&settings, count, accumulator, now.monotonic),
            sessions: vec![Session::default(); if settings.statistics { count } else { 0 }].into(),
            entries: vec![(0, 0, 0); if has_orders { count } else { 0 }].into(),
            fingerprints: settings.fingerprints.then(Fingerprints::default),
            queue: Queue::new(&settings, count, accumulator),
            events: 0,
            sequence: 0,
            epoch: 0,
            has_begun: false,
            last_sent: now.monotonic,
            pace: Pace::FlatOut,
            definitions: carousel(),
            snapshots: carousel(),
            heading: Heading::default(),
            order_snapshots: carousel(),
            order_heading: Heading::default(),
        }
    }

    /// Publishes what has happened, and clears `events`: how `events` and the books of `matching`
    /// differ from what was published, and the implied levels that were set since. A Premium group
    /// queues that at once, as one event. In a conflated group it waits for the end of its
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
        let before = self.queue.ends();
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
        let after = self.queue.ends();
        if after == before {
            self.end_changed_implied(None);
            events.clear();
            return Publication::Unchanged;
        }
        for &instrument in events.touched() {
            self.changing(instrument).transact_time = now.utc;
        }
        let number = self.queue_market(now.utc, after, false);
        self.take_fingerprints(number, events.touched());
        self.end_changed_implied(Some(number));
        events.clear();
        Publication::Event(number)
    }

    /// When [`Publisher::poll_transmit`] has something to send next.
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

    /// When the silence of the incremental feed has lasted long enough.
    fn heartbeat_due(&self) -> Instant {
        let silence = match self.pace {
            Pace::FlatOut => self.settings.heartbeat.min(HURRIED_HEARTBEAT),
            Pace::Paced => self.settings.heartbeat,
        };
        self.last_sent + silence
    }

    /// Whether an event waits to be sent; what waits for the end of an interval is none yet.
    #[must_use]
    pub fn has_event(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Sets how fast the loops go.
    pub fn set_pace(&mut self, pace: Pace, now: Instant) {
        self.pace = pace;
        if pace == Pace::FlatOut {
            self.definitions.hurry(now);
            self.snapshots.hurry(now);
            self.order_snapshots.hurry(now);
        }
    }

    /// Whether an instrument has a definition that was not deleted.
    ///
    /// # Panics
    /// If there is no such instrument.
    #[must_use]
    pub fn is_listed(&self, instrument: u32) -> bool {
        self.listings.is_listed(instrument)
    }

    /// What the world has been told of an instrument, or will be by what is queued.
    #[must_use]
    pub fn published(&self, instrument: u32) -> &Published {
        self.books.at(instrument)
    }

    /// The orders of a side that the world has been told of, best first; none unless the group has
    /// orders in full.
    pub fn published_orders(
        &self,
        instrument: u32,
        side: Side,
    ) -> impl Iterator<Item = &PublishedOrder> + '_ {
        self.orders.iter().flat_map(move |orders| orders.side(instrument, side))
    }

    /// The top orders that the world has been told of, if the group has them.
    #[must_use]
    pub fn published_top_orders(&self, instrument: u32) -> Option<&TopOrders> {
        self.tops.as_ref().map(|tops| tops.at(instrument))
    }

    /// MsgSeqNum of the last incremental packet, 0 before the first.
    #[must_use]
    pub fn sequence(&self) -> u32 {
        self.sequence
    }

    /// Events published so far.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Resets of the channel that have left.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }
}
