//! The exchange's packets, recorded before the measurement.

use std::fmt;
use std::ops::Range;

use hairpin_exchange::{
    MAX_PAYLOAD, Market, NewOrder, OrderId, Owner, Pace, Side as BookSide, SimulatedMarket,
    SimulatedMarketSettings, Submitted,
};
use hairpin_feed_handler::{
    Channel, ChannelState, Counters, EndOfEvent, Feed, FeedLine, Input, Listener, Settings,
};
use hairpin_time::{Duration, Instant, Now, Utc};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The number of measured events of a recording.
pub(crate) const EVENTS: usize = 10_000;
/// The events of a section: few enough that best prices can still improve, and that line B does
/// not lag line A too far.
const RUN: usize = 500;
/// The time between two events.
const PAUSE: Duration = Duration::from_micros(500);
/// The steps of the order flow that fill the books after the initial ones.
const WARM_UP: usize = 2_000;
const INSTRUMENTS: u32 = 100;
/// The owner of the single entries' orders.
const OWNER: Owner = Owner(1);

/// A packet as the feed handler passes it to the channel.
pub(crate) struct Sent {
    pub(crate) now: Now,
    pub(crate) input: Input,
    bytes: Range<usize>,
}

/// Measured packets, and packets after them that are only processed.
pub(crate) struct Section {
    pub(crate) measured: Range<usize>,
    pub(crate) events: usize,
    pub(crate) rest: Range<usize>,
}

/// Packets of all three feeds, in order, without duplicates.
pub(crate) struct Recording {
    bytes: Vec<u8>,
    packets: Vec<Sent>,
    /// The packets that synchronize a channel.
    start: Range<usize>,
    pub(crate) sections: Vec<Section>,
    pub(crate) census: Census,
}

/// The contents of the measured packets.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Census {
    pub(crate) events: u64,
    pub(crate) packets: u64,
    /// Books changed, once for each event that changed them.
    pub(crate) books: u64,
    pub(crate) book_entries: u64,
    pub(crate) trades: u64,
    pub(crate) volumes: u64,
}

impl Census {
    /// Adds the difference of a channel's counters between `before` and `after`.
    fn add(&mut self, before: &Counters, after: &Counters) {
        self.events += after.events - before.events;
        self.packets += after.first_a - before.first_a;
        self.book_entries += after.book_entries - before.book_entries;
        self.trades += after.trades - before.trades;
        self.volumes += after.volumes - before.volumes;
    }
}

/// `name=count …`, for programs.
impl fmt::Display for Census {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { events, packets, books, book_entries, trades, volumes } = self;
        write!(
            f,
            "events={events} packets={packets} books={books} book_entries={book_entries} \
             trades={trades} volumes={volumes}"
        )
    }
}

/// Counts the books of each event.
impl Listener for Census {
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        self.books += event.changed().count() as u64;
    }
}

impl Recording {
    /// Records the exchange's own order flow, as in `t2t`: every event changes a best price.
    pub(crate) fn of_ticks() -> Self {
        let mut recorder = Recorder::new();
        let sections = (0..EVENTS / RUN).map(|_| recorder.ticks()).collect();
        recorder.finish(sections)
    }

    /// Records events of one book entry each: an order that joins a level, or, where there is room,
    /// one that improves on the best. After each section all these orders are canceled.
    pub(crate) fn of_single_entries() -> Self {
        let mut recorder = Recorder::new();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let sections = (0..EVENTS / RUN).map(|_| recorder.single_entries(&mut random)).collect();
        recorder.finish(sections)
    }

    pub(crate) fn bytes(&self, sent: &Sent) -> &[u8] {
        &self.bytes[sent.bytes.clone()]
    }

    pub(crate) fn packets(&self, range: Range<usize>) -> &[Sent] {
        &self.packets[range]
    }

    /// Returns when the first measured packet was sent.
    pub(crate) fn begin(&self) -> Now {
        self.packets[self.start.end].now
    }

    /// Returns a channel in sync, right before the first section.
    pub(crate) fn channel(&self) -> Channel {
        let mut channel = Channel::new(settings());
        for sent in self.packets(self.start.clone()) {
            channel.handle_packet(sent.now, sent.input, self.bytes(sent), &mut ());
            while channel.poll_action().is_some() {}
        }
        assert_eq!(channel.state(), ChannelState::InSync);
        assert_eq!(channel.instruments().len(), INSTRUMENTS as usize);
        channel
    }
}

/// Returns the settings of Hairpin's trader.
fn settings() -> Settings {
    Settings { max_instruments: 1_024, ..Settings::default() }
}

/// An exchange without sockets, and a channel that determines when it is in sync.
struct Recorder {
    market: SimulatedMarket,
    now: Now,
    channel: Channel,
    bytes: Vec<u8>,
    packets: Vec<Sent>,
    started: usize,
}

impl Recorder {
    /// Creates an exchange that has traded for a while, and a channel in sync with it.
    fn new() -> Self {
        let utc = Utc::from_nanos(1_800_000_000_000_000_000);
        let now = Now { monotonic: Instant::from_nanos(1_000_000_000), utc };
        let mut recorder = Self {
            market: SimulatedMarket::new(&SimulatedMarketSettings::default(), now),
            now,
            channel: Channel::new(settings()),
            bytes: Vec::new(),
            packets: Vec::new(),
            started: 0,
        };
        recorder.come_in_sync();
        (0..WARM_UP).for_each(|_| recorder.tick());
        recorder.started = recorder.packets.len();
        recorder
    }

    /// Records the loops at full speed until the channel is in sync.
    fn come_in_sync(&mut self) {
        while self.channel.state() != ChannelState::InSync {
            self.pass();
            assert!(self.record_packet(), "a loop at full speed always has another packet");
        }
        self.market.publisher_mut().set_pace(Pace::Paced, self.now.monotonic);
    }

    fn pass(&mut self) {
        self.now.monotonic += PAUSE;
        self.now.utc = self.now.utc + PAUSE;
    }

    /// Records every packet of the last event.
    fn record(&mut self) {
        while self.market.publisher().has_event() && self.record_packet() {}
    }

    fn record_packet(&mut self) -> bool {
        let mut buffer = [0; MAX_PAYLOAD];
        let Some(sent) = self.market.publisher_mut().poll_transmit(self.now, &mut buffer) else {
            return false;
        };
        let feed = match sent.feed {
            hairpin_exchange::Feed::Incremental => Feed::Incremental,
            hairpin_exchange::Feed::Instruments => Feed::Instrument,
            hairpin_exchange::Feed::Snapshots | hairpin_exchange::Feed::SnapshotOrders => {
                Feed::Snapshot
            }
        };
        let input = Input { feed, line: FeedLine::A, received: Some(self.now.utc) };
        let packet = &buffer[..sent.length];
        self.channel.handle_packet(self.now, input, packet, &mut ());
        while self.channel.poll_action().is_some() {}
        let start = self.bytes.len();
        self.bytes.extend_from_slice(packet);
        self.packets.push(Sent { now: self.now, input, bytes: start..self.bytes.len() });
        true
    }

    fn tick(&mut self) {
        self.pass();
        self.market.step(self.now).expect("the order flow always has a step");
        self.record();
    }

    fn ticks(&mut self) -> Section {
        let first = self.packets.len();
        (0..RUN).for_each(|_| self.tick());
        let end = self.packets.len();
        Section { measured: first..end, events: RUN, rest: end..end }
    }

    fn single_entries(&mut self, random: &mut ChaCha8Rng) -> Section {
        let first = self.packets.len();
        let orders: Vec<_> = (0..RUN)
            .map(|_| {
                self.pass();
                let order = self.single_entry(random);
                self.record();
                order
            })
            .collect();
        let end = self.packets.len();
        for order in orders {
            self.pass();
            self.market.cancel(self.now, order, OWNER).expect("the order is still open");
            self.record();
        }
        Section { measured: first..end, events: RUN, rest: end..self.packets.len() }
    }

    /// Submits an order that changes one published level and does not trade.
    fn single_entry(&mut self, random: &mut ChaCha8Rng) -> OrderId {
        let mut below = |bound: u32| random.next_u32() % bound;
        let instrument = below(INSTRUMENTS);
        let side = BookSide::BOTH[below(2) as usize];
        let tick = SimulatedMarketSettings::default().instruments[0].tick.0;
        let matching = self.market.matching();
        let best = |side| matching.levels(instrument, side).next().expect("a seeded book").price;
        let spread = (best(BookSide::Offer).0 - best(BookSide::Bid).0) / tick;
        let price = if spread > 1 {
            side.improved(best(side), tick)
        } else {
            let place = below(10) as usize;
            matching.levels(instrument, side).nth(place).expect("ten levels").price
        };
        let quantity = 1 + below(20);
        let order =
            NewOrder { instrument, side, price, quantity, owner: OWNER, ..NewOrder::default() };
        let Submitted { order, remaining, .. } =
            self.market.submit(self.now, &order).expect("a valid order");
        assert_eq!(remaining, quantity);
        order
    }

    /// Processes everything again, to count what the measured packets contain.
    fn finish(self, sections: Vec<Section>) -> Recording {
        let Self { bytes, packets, started, .. } = self;
        let (start, mut census) = (0..started, Census::default());
        let mut recording = Recording { bytes, packets, start, sections, census };
        let mut channel = recording.channel();
        for section in &recording.sections {
            let before = *channel.counters();
            for sent in recording.packets(section.measured.clone()) {
                channel.handle_packet(sent.now, sent.input, recording.bytes(sent), &mut census);
            }
            census.add(&before, channel.counters());
            replay(&recording, section.rest.clone(), &mut channel);
        }
        assert_eq!(channel.state(), ChannelState::InSync);
        recording.census = census;
        recording
    }
}

/// Processes packets that are not measured.
pub(crate) fn replay(recording: &Recording, range: Range<usize>, channel: &mut Channel) {
    for sent in recording.packets(range) {
        channel.handle_packet(sent.now, sent.input, recording.bytes(sent), &mut ());
    }
}
