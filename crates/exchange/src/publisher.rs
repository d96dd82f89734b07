//! The market data publisher: MDP 3.0 (schema 1 version 13), sans-IO.
//!
//! ```text
//! matching → Accumulator → publish: diff against what was published → queue → poll_transmit
//! ```
//!
//! Three feeds, each with its own packet sequence, every packet on both sides A and B:
//!
//! - **incremental**: per event trades (48), volume (37), book (46) and implied book (46) with the
//!   bits of MatchEventIndicator, a packet never holding two events; statuses (30) and resets of
//!   the channel (4), events of their own; heartbeats (12) after silence;
//! - **instruments**: a loop of definitions (54, 55, 56 or 63);
//! - **snapshots**: a loop of snapshots (52), made from what was published and nothing else; while
//!   no instrument was ever active, a heartbeat (12) a pass, so that nobody takes it for lost.
//!
//! Each call of [`Publisher::poll_transmit`] makes one packet, incremental before loops.
//!
//! Not here: conflation, orders (47, 53, 59), statistics (49, 50, 51), the templates for long
//! quantities (64 to 69), replay over TCP.

mod carousel;
mod channel;
mod definitions;
mod incremental;
mod ladder;
mod packet;
mod queue;
mod snapshots;
mod status;
mod verbs;

pub use carousel::Pace;
pub use ladder::{DEPTH, IMPLIED_DEPTH, Ladder};
pub use packet::MAX_PAYLOAD;
pub use snapshots::Published;
pub use status::TradingStatus;

use hairpin_cme_codecs::mdp3::AdminHeartbeat12;
use hairpin_time::{Duration, Instant, Now, Utc};

use crate::Instrument;
use crate::matching::{Accumulator, Matching, Side};
use carousel::Carousel;
use channel::Channel;
use packet::Packet;
use queue::{
    BookEntry, BookKind, Change, Content, Ending, Ends, Event, Queue, TradeEntry, TradeOrder,
    VolumeEntry,
};
use snapshots::{Books, Heading};
use verbs::Implied;

/// The security group (tag 1151) of all instruments.
const SECURITY_GROUP: &[u8] = b"HP";
/// Silence after which a heartbeat is sent while loops go flat out: whoever is being waited for
/// can be sure of a book only from its first incremental packet on.
const HURRIED_HEARTBEAT: Duration = Duration::from_millis(10);

/// What a publisher needs to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublisherSettings {
    /// The channel's number (tag 1180).
    pub channel: i16,
    /// The market segment of all instruments (tag 1300).
    pub market_segment: u8,
    /// Silence after which a heartbeat is sent, once loops are paced; 10 ms at most before. CME's
    /// own figure is not public.
    pub heartbeat: Duration,
    /// Time from one loop to the next, once loops are paced.
    pub loop_period: Duration,
}

impl Default for PublisherSettings {
    /// Channel 310, segment 64, heartbeat 1 s, loops every 100 ms.
    fn default() -> Self {
        Self {
            channel: 310,
            market_segment: 64,
            heartbeat: Duration::from_secs(1),
            loop_period: Duration::from_millis(100),
        }
    }
}

/// Which feed a packet belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Feed {
    /// Events and heartbeats.
    Incremental,
    /// The loop of definitions.
    Instruments,
    /// The loop of snapshots.
    Snapshots,
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
    /// a heartbeat there is the incremental feed's, so that of an empty loop of snapshots does not.
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
    /// The queue is full: it stays in the accumulator. Send, then try again.
    Deferred,
}

/// Publishes the books of one matching engine.
#[derive(Debug)]
pub struct Publisher {
    settings: PublisherSettings,
    channel: Channel,
    instruments: Box<[Instrument]>,
    books: Books,
    implied: Implied,
    queue: Queue,
    events: u64,
    sequence: u32,
    has_begun: bool,
    last_sent: Instant,
    pace: Pace,
    definitions: Carousel,
    snapshots: Carousel,
    heading: Heading,
}

impl Publisher {
    /// A publisher of empty books. `instruments` and the engine's books have the same indices;
    /// `accumulator` is the one that will be published, for its size.
    ///
    /// # Panics
    /// If instruments are not as [`Instrument`] says.
    #[must_use]
    pub fn new(
        settings: PublisherSettings,
        instruments: &[Instrument],
        accumulator: &Accumulator,
        now: Now,
    ) -> Self {
        assert!(instruments.iter().all(definitions::is_sound), "instruments");
        let total = u32::try_from(instruments.len()).unwrap_or(u32::MAX);
        let carousel = || Carousel::new(total, settings.loop_period, now.monotonic);
        Self {
            settings,
            channel: Channel::new(settings.channel, settings.market_segment, now.utc),
            instruments: instruments.into(),
            books: Books::new(instruments.len()),
            implied: Implied::new(instruments.len()),
            queue: Queue::new(instruments.len(), accumulator),
            events: 0,
            sequence: 0,
            has_begun: false,
            last_sent: now.monotonic,
            pace: Pace::FlatOut,
            definitions: carousel(),
            snapshots: carousel(),
            heading: Heading { last_processed: 0, total: 0 },
        }
    }

    /// Queues, as one event, how `events` and the books of `matching` differ from what was
    /// published, and the implied levels that were set since, and clears `events`.
    pub fn publish(
        &mut self,
        transact_time: Utc,
        matching: &Matching,
        events: &mut Accumulator,
    ) -> Publication {
        if !self.queue.has_room(events, self.implied.changed().len()) {
            return Publication::Deferred;
        }
        let before = self.queue.ends();
        self.queue_trades(events);
        for &instrument in events.touched() {
            self.queue_volume(instrument, matching.volume(instrument));
        }
        for &instrument in events.touched() {
            self.queue_book(instrument, matching);
        }
        self.queue_changed_implied(transact_time);
        let after = self.queue.ends();
        if after == before {
            events.clear();
            return Publication::Unchanged;
        }
        for &instrument in events.touched() {
            self.changing(instrument).transact_time = transact_time;
        }
        events.clear();
        Publication::Event(self.queue_market(transact_time, after, false))
    }

    /// Writes the next packet that is due into `buffer`, which has at least [`MAX_PAYLOAD`]
    /// bytes; `None` if none is due.
    pub fn poll_transmit(&mut self, now: Now, buffer: &mut [u8]) -> Option<Transmit> {
        if !self.queue.is_empty() {
            return Some(self.transmit_event(now, buffer));
        }
        if now.monotonic >= self.heartbeat_due() {
            return Some(self.transmit_heartbeat(now, buffer));
        }
        if now.monotonic < self.definitions.due().min(self.snapshots.due()) {
            return None;
        }
        // The one that has waited longer; of two that wait as long, the one behind in its loop.
        let key = |carousel: &Carousel| (carousel.due(), carousel.number(), carousel.next());
        if key(&self.definitions) <= key(&self.snapshots) {
            Some(self.transmit_definitions(now, buffer))
        } else {
            Some(self.transmit_snapshots(now, buffer))
        }
    }

    /// When [`Publisher::poll_transmit`] has something to send next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        if !self.queue.is_empty() {
            return Some(Instant::ZERO);
        }
        Some(self.heartbeat_due().min(self.definitions.due()).min(self.snapshots.due()))
    }

    /// When the silence of the incremental feed has lasted long enough.
    fn heartbeat_due(&self) -> Instant {
        let silence = match self.pace {
            Pace::FlatOut => self.settings.heartbeat.min(HURRIED_HEARTBEAT),
            Pace::Paced => self.settings.heartbeat,
        };
        self.last_sent + silence
    }

    /// Whether an event waits to be sent.
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
        }
    }

    /// What the world has been told of an instrument, or will be by what is queued.
    #[must_use]
    pub fn published(&self, instrument: u32) -> &Published {
        self.books.at(instrument)
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

    fn transmit_event(&mut self, now: Now, buffer: &mut [u8]) -> Transmit {
        let mut packet = Packet::new(buffer);
        let current = self.queue.current();
        let number = current.map_or(0, |event| event.number);
        let restarts =
            matches!(current, Some(Event { content: Content::Reset { restarts: true }, .. }));
        let ends = incremental::fill(&mut self.queue, &mut packet, &self.channel);
        assert!(!packet.is_empty(), "event {number} does not fit in a packet");
        let begins = !core::mem::replace(&mut self.has_begun, !ends);
        if ends {
            self.queue.advance();
        }
        let event = Some(EventPart { number, begins, ends });
        let transmit = self.transmit_incremental(now, packet, event);
        if restarts {
            self.sequence = 0;
        }
        transmit
    }

    fn transmit_heartbeat(&mut self, now: Now, buffer: &mut [u8]) -> Transmit {
        self.transmit_incremental(now, heartbeat(buffer), None)
    }

    fn transmit_incremental(
        &mut self,
        now: Now,
        packet: Packet<'_>,
        event: Option<EventPart>,
    ) -> Transmit {
        self.sequence = self.sequence.wrapping_add(1);
        self.last_sent = now.monotonic;
        let (sequence, feed) = (self.sequence, Feed::Incremental);
        let length = packet.finish(sequence, now.utc);
        Transmit { feed, length, sequence, event, shows_feed: true }
    }

    fn transmit_definitions(&mut self, now: Now, buffer: &mut [u8]) -> Transmit {
        let mut packet = Packet::new(buffer);
        let first = self.definitions.next();
        let (books, instruments) = (&self.books, &self.instruments);
        let next = definitions::fill(&mut packet, books, instruments, first, &self.channel);
        let sequence = self.definitions.advance(next, self.pace, now.monotonic);
        let length = packet.finish(sequence, now.utc);
        let feed = Feed::Instruments;
        Transmit { feed, length, sequence, event: None, shows_feed: true }
    }

    fn transmit_snapshots(&mut self, now: Now, buffer: &mut [u8]) -> Transmit {
        if self.snapshots.is_at_start() {
            // Nothing is queued, so the books are as of the last packet that left.
            self.heading = Heading { last_processed: self.sequence, total: self.books.active() };
        }
        let shows_feed = self.heading.total > 0;
        let (packet, sequence) = if shows_feed {
            self.fill_snapshots(now, buffer)
        } else {
            (heartbeat(buffer), self.snapshots.pass_empty(now.monotonic))
        };
        let length = packet.finish(sequence, now.utc);
        Transmit { feed: Feed::Snapshots, length, sequence, event: None, shows_feed }
    }

    /// The next packet of a loop that has snapshots, and its sequence number.
    fn fill_snapshots<'a>(&mut self, now: Now, buffer: &'a mut [u8]) -> (Packet<'a>, u32) {
        let mut packet = Packet::new(buffer);
        let place = (self.snapshots.number(), self.snapshots.next());
        let (books, instruments) = (&self.books, &self.instruments);
        let next =
            snapshots::fill(&mut packet, books, instruments, place, &self.heading, &self.channel);
        (packet, self.snapshots.advance(next, self.pace, now.monotonic))
    }

    fn queue_trades(&mut self, events: &Accumulator) {
        for trade in events.trades() {
            let fills = events.fills_of(trade);
            let first_order = self.queue.orders.len();
            let orders =
                fills.iter().map(|fill| TradeOrder { order: fill.order, quantity: fill.quantity });
            self.queue.orders.extend(orders);
            let published = self.changing(trade.instrument);
            published.last_trade = Some((trade.price, trade.quantity));
            published.rpt_seq = published.rpt_seq.wrapping_add(1);
            let rpt_seq = published.rpt_seq;
            self.queue.trades.push(TradeEntry {
                security_id: self.security_id(trade.instrument),
                price: trade.price,
                quantity: trade.quantity,
                aggressor: trade.aggressor,
                id: trade.id,
                rpt_seq,
                first_order,
                orders: fills.len(),
            });
        }
    }

    fn queue_volume(&mut self, instrument: u32, volume: u64) {
        if self.books.at(instrument).volume == volume {
            return;
        }
        let security_id = self.security_id(instrument);
        let published = self.changing(instrument);
        published.volume = volume;
        published.rpt_seq = published.rpt_seq.wrapping_add(1);
        let rpt_seq = published.rpt_seq;
        self.queue.volumes.push(VolumeEntry { security_id, volume, rpt_seq });
    }

    fn queue_book(&mut self, instrument: u32, matching: &Matching) {
        let security_id = self.security_id(instrument);
        let is_ahead = self.is_ahead(instrument);
        let published = self.books.change(instrument, self.snapshots.number(), is_ahead);
        let entries = &mut self.queue.books[BookKind::Real as usize];
        for side in Side::BOTH {
            let target = matching.levels(instrument, side);
            let rpt_seq = &mut published.rpt_seq;
            let on_step = |action, number, level| {
                *rpt_seq = rpt_seq.wrapping_add(1);
                let rpt_seq = *rpt_seq;
                let change = Change::Level { side, action, number, level };
                entries.push(BookEntry { security_id, change, rpt_seq });
            };
            published.sides[side.index()].become_equal(side, target, on_step);
        }
    }

    /// Queues the event whose entries end at `end`; returns its number.
    fn queue_market(&mut self, transact_time: Utc, end: Ends, is_resent: bool) -> u64 {
        let ending = Ending::of(self.events + 1);
        self.queue_event(transact_time, Content::Market { is_resent }, ending, end)
    }

    fn queue_event(
        &mut self,
        transact_time: Utc,
        content: Content,
        ending: Ending,
        end: Ends,
    ) -> u64 {
        self.events += 1;
        let number = self.events;
        self.queue.events.push(Event { number, transact_time, content, ending, end });
        number
    }

    /// The published state of an instrument, to be changed.
    fn changing(&mut self, instrument: u32) -> &mut Published {
        let is_ahead = self.is_ahead(instrument);
        self.books.change(instrument, self.snapshots.number(), is_ahead)
    }

    /// Whether the snapshot loop has begun and has yet to state this instrument.
    fn is_ahead(&self, instrument: u32) -> bool {
        !self.snapshots.is_at_start() && instrument >= self.snapshots.next()
    }

    fn security_id(&self, instrument: u32) -> i32 {
        self.instruments[instrument as usize].security_id
    }
}

/// A packet of one heartbeat.
fn heartbeat(buffer: &mut [u8]) -> Packet<'_> {
    let mut packet = Packet::new(buffer);
    packet
        .append(|buffer| AdminHeartbeat12::encode(buffer).map(|_| AdminHeartbeat12::ENCODED_LENGTH))
        .expect("a buffer has room for the longest packet");
    packet
}
