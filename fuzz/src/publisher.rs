//! A market that trades, halts and resets, its publisher, and two channels: one receives everything
//! from the start, the other joins late and loses packets.
//!
//! Checks:
//!
//! - No sequence of calls makes the publisher panic.
//! - A receiver counts no error.
//! - The channel that receives everything has the published books after every event.
//! - The other channel never reports a book in sync, from snapshots or otherwise, that differs from
//!   the published one.
//!
//! Input: steps of four bytes.

use hairpin_exchange::{
    BackgroundFlow, Capacity, Feed as Loop, Instrument, MAX_PAYLOAD, Market, NewOrder, OrderId,
    OrderKind, Owner, Pace, PriceLevel, Publication, Replacement, Side, SimulatedMarket,
    SimulatedMarketSettings, TimeInForce, TradingStatus,
};
use hairpin_mdp3::{
    Book, Channel, ChannelState, Feed, FeedLine as Line, ImpliedBook, Input, Levels, Settings,
};
use hairpin_sbe::Decimal;
use hairpin_time::{Duration, Instant, Now, Utc};

use crate::Seed;
use crate::script::Script;

const INSTRUMENTS: u32 = 3;
const TICK: i64 = 250_000_000;

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    let mut world = World::new();
    while !script.is_over() {
        let [kind, instrument, a, b] = [(); 4].map(|()| script.byte());
        let instrument = u32::from(instrument) % INSTRUMENTS;
        world.act(kind % 14, instrument, a, b);
    }
    while world.floor.publisher().has_event() {
        world.pump(0);
    }
}

struct World {
    now: Now,
    floor: SimulatedMarket,
    orders: Vec<OrderId>,
    whole: Channel,
    late: Channel,
    /// The late channel has received and accepted the newest incremental packet.
    is_late_current: bool,
    has_been_in_sync: bool,
}

impl World {
    fn new() -> Self {
        let now = Now {
            monotonic: Instant::from_nanos(1_000_000_000),
            utc: Utc::from_nanos(1_700_000_000_000_000_000),
        };
        let mut instruments = Instrument::numbered(INSTRUMENTS);
        instruments[0].implied_book = true;
        let settings = SimulatedMarketSettings {
            instruments,
            flow: BackgroundFlow::default(),
            capacity: Capacity { orders: 512, levels: 256 },
            ..SimulatedMarketSettings::default()
        };
        Self {
            now,
            floor: SimulatedMarket::new(&settings, now),
            orders: Vec::new(),
            whole: channel(),
            late: channel(),
            is_late_current: false,
            has_been_in_sync: false,
        }
    }

    fn act(&mut self, kind: u8, instrument: u32, a: u8, b: u8) {
        if kind == 6 && a & 1 == 1 {
            self.end_wake();
        }
        let (now, floor) = (self.now, &mut self.floor);
        match kind {
            0 => drop(floor.step(now)),
            1 => self.submit(instrument, a, b),
            2 => self.replace(a, b),
            3 => {
                let order = self.orders.get(usize::from(a)).copied().unwrap_or(OrderId::NONE);
                floor.cancel(now, order, Owner(1));
            }
            4 => {
                let instrument = (a & 1 == 0).then_some(instrument);
                let _ = floor.set_status(now, instrument, status(b));
            }
            5 => drop(floor.reset_book(now, instrument)),
            6 => drop(floor.reset_channel(now, a & 1 == 1)),
            7 => {
                let levels = implied(a, b);
                let _ = floor.set_implied(now, 0, Side::BOTH[usize::from(b & 1)], &levels);
            }
            8 => drop(floor.end_session(now)),
            9 => {
                let pace = if a & 1 == 0 { Pace::FlatOut } else { Pace::Paced };
                floor.publisher_mut().set_pace(pace, now.monotonic);
            }
            10 => self.pass(Duration::from_millis(u64::from(a) * 8)),
            11 => self.late = channel(),
            // Packets of one wakeup have the same SendingTime.
            _ => {
                self.pass(Duration::from_nanos(1));
                (0..1 + b % 32).for_each(|_| self.pump(a));
            }
        }
        while self.floor.next_order_event().is_some() {}
        if self.floor.is_deferred() {
            let _: Publication = self.floor.publish(self.now);
        }
    }

    /// Sends everything and advances the time. A receiver that loses packets cannot distinguish two
    /// numberings that start at the same SendingTime.
    fn end_wake(&mut self) {
        while self.floor.publisher().has_event() {
            self.pump(0);
        }
        self.pass(Duration::from_nanos(1));
    }

    fn submit(&mut self, instrument: u32, a: u8, b: u8) {
        let reference = 1_000_000_000_000 + i64::from(instrument) * 10_000_000_000;
        let quantity = 1 + u32::from(b >> 2);
        let new = NewOrder {
            instrument,
            side: Side::BOTH[usize::from(b & 1)],
            kind: if b & 2 == 0 { OrderKind::Limit } else { OrderKind::Market },
            price: Decimal(reference + (i64::from(a) - 128) * TICK),
            quantity,
            minimum: 0,
            display: if b & 4 == 0 { 0 } else { quantity.div_ceil(2) },
            time_in_force: TimeInForce::Day,
            owner: Owner(1),
            self_match: None,
            quote: false,
        };
        self.orders.extend(self.floor.submit(self.now, &new).map(|submitted| submitted.order));
    }

    fn replace(&mut self, a: u8, b: u8) {
        let order = self.orders.get(usize::from(a % 16)).copied().unwrap_or(OrderId::NONE);
        let Some(&resting) = self.floor.order(order) else { return };
        let quantity = 1 + u32::from(b);
        let replacement = Replacement {
            kind: OrderKind::Limit,
            price: Decimal(resting.price.0 + (i64::from(a >> 4) - 8) * TICK),
            quantity,
            minimum: 0,
            display: if resting.display == 0 { 0 } else { quantity.div_ceil(2) },
            time_in_force: TimeInForce::Day,
            mitigates: false,
            self_match: None,
        };
        // Whether rejected or not, the result must be published.
        let _ = self.floor.replace(self.now, order, Owner(1), &replacement);
    }

    fn pass(&mut self, span: Duration) {
        self.now = Now { monotonic: self.now.monotonic + span, utc: self.now.utc + span };
        self.whole.handle_timeout(self.now, &mut ());
        self.late.handle_timeout(self.now, &mut ());
    }

    /// Sends the next packet. Bits of `lost` select the lines on which the late channel loses it.
    fn pump(&mut self, lost: u8) {
        let mut buffer = [0; MAX_PAYLOAD];
        let Some(packet) = self.floor.publisher_mut().poll_transmit(self.now, &mut buffer) else {
            return self.pass(Duration::from_millis(1));
        };
        let bytes = &buffer[..packet.length];
        let feed = match packet.feed {
            Loop::Incremental => Feed::Incremental,
            Loop::Instruments => Feed::Instrument,
            Loop::Snapshots => Feed::Snapshot,
            Loop::SnapshotOrders => Feed::SnapshotOrders,
        };
        let input = Input { feed, line: Line::A, received: None };
        self.whole.handle_packet(self.now, input, bytes, &mut ());
        // A reset that restarts the numbering is not lost, and neither is packet 1. A receiver that
        // misses both, or receives only the reset, may mistake the new numbers for the old ones.
        let begins = bytes.get(16..18) == Some(&[4, 0]) || packet.sequence == 1;
        let is_lost = lost >> (packet.sequence % 8) & 1 == 1 && !begins;
        let doubtful = self.late.counters().doubtful_packets;
        if !is_lost {
            self.late.handle_packet(self.now, input, bytes, &mut ());
        }
        if feed == Feed::Incremental {
            self.is_late_current = !is_lost && self.late.counters().doubtful_packets == doubtful;
        }
        while self.whole.poll_action().is_some() || self.late.poll_action().is_some() {}
        self.check();
    }

    fn check(&mut self) {
        let counters = self.whole.counters();
        let faults = [
            counters.gaps,
            counters.rpt_seq_gaps,
            counters.packets_too_short,
            counters.message_sizes_too_small,
            counters.truncated_messages,
            counters.trailing_bytes,
            counters.foreign_schemas,
            counters.malformed_messages,
            counters.invalid_entries,
            counters.inapplicable_entries,
            counters.invalid_snapshots,
            counters.unknown_templates,
            counters.beyond_depth,
            counters.prices_changed,
        ];
        assert_eq!(faults, [0; 14], "{counters:?}");
        self.has_been_in_sync |= self.whole.state() == ChannelState::InSync;
        if !self.has_been_in_sync {
            return;
        }
        assert_eq!(self.whole.state(), ChannelState::InSync);
        let is_between_events = !self.floor.publisher().has_event();
        for index in 0..INSTRUMENTS {
            let security_id = 1_001 + index.cast_signed();
            let received = self.whole.book_of(security_id).expect("the instrument is defined");
            if is_between_events {
                self.compare_published(index, received);
            }
            let late = self.late.book_of(security_id).filter(|book| book.is_in_sync());
            if let Some(late) = late
                && self.is_late_current
                && self.late.poll_timeout().is_none()
            {
                let both = |book: Book<'_>| (book.bids().to_vec(), book.asks().to_vec());
                assert_eq!(both(late), both(received), "{security_id}: late, and whole");
            }
        }
    }

    fn compare_published(&self, index: u32, received: Book<'_>) {
        let published = self.floor.publisher().published(index);
        let is_sorted = received.bids().iter().is_sorted_by(|a, b| a.price.0 > b.price.0)
            && received.asks().iter().is_sorted_by(|a, b| a.price.0 < b.price.0);
        assert!(is_sorted, "{received:?}");
        for (ladder, levels) in published.sides.iter().zip([received.bids(), received.asks()]) {
            assert!(is_same(ladder.levels(), levels), "{ladder:?} {levels:?}");
        }
        let instrument =
            self.whole.find(received.security_id()).expect("the instrument is defined");
        let implied: ImpliedBook<'_> = self.whole.instruments().implied_book(instrument);
        for (ladder, levels) in published.implied.iter().zip([implied.bids(), implied.asks()]) {
            assert!(is_same(ladder.levels(), levels), "{ladder:?} {levels:?}");
        }
    }
}

fn is_same(published: &[PriceLevel], received: Levels<'_>) -> bool {
    let published = published.iter().map(|l| (l.price.0, u64::from(l.quantity), l.orders));
    let received = received.iter().map(|l| (l.price.0, l.quantity, l.orders));
    published.eq(received)
}

fn channel() -> Channel {
    Channel::new(Settings {
        max_instruments: INSTRUMENTS as usize,
        reorder_packets: 8,
        queue_bytes: 1 << 14,
        max_loop_packets: 64,
        ..Settings::default()
    })
}

fn status(byte: u8) -> TradingStatus {
    match byte % 4 {
        0 => TradingStatus::ReadyToTrade,
        1 => TradingStatus::TradingHalt,
        2 => TradingStatus::PreOpen,
        _ => TradingStatus::Close,
    }
}

/// Returns zero, one or two implied levels.
fn implied(a: u8, b: u8) -> Vec<PriceLevel> {
    let sign = if b & 1 == 0 { -1 } else { 1 };
    let level = |n: u8| PriceLevel {
        price: Decimal(1_000_000_000_000 + sign * i64::from(a % 16 + n) * TICK),
        quantity: 1 + u32::from(a >> 4),
        orders: 0,
    };
    (0..b >> 1 & 3).take(2).map(level).collect()
}

/// Returns a market that both channels have joined, trades, resets, and a lossy line.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let join = [[12, 0, 0, 31]; 3];
    let trade = [[0, 0, 0, 0], [1, 0, 128, 21], [1, 1, 128, 20], [2, 0, 0x70, 3], [3, 0, 1, 0]];
    let verbs = [[4, 1, 0, 1], [4, 0, 1, 0], [5, 2, 0, 0], [7, 0, 0x33, 5], [8, 0, 0, 0]];
    let reset = [[6, 0, 0, 0], [12, 0, 0, 9], [0, 0, 0, 0], [6, 0, 1, 0], [12, 0, 0, 9]];
    let lossy = [[11, 0, 0, 0], [12, 0, 0x11, 31], [0, 0, 0, 0], [12, 0, 0x24, 31], [10, 0, 9, 0]];
    let paced = [[9, 0, 1, 0], [10, 0, 200, 0], [12, 0, 0, 3], [9, 0, 0, 0]];
    let seed = |name: &str, parts: &[&[[u8; 4]]]| (name.to_owned(), parts.concat().concat());
    vec![
        seed("trade", &[&join, &trade, &trade, &paced]),
        seed("verbs", &[&join, &verbs, &trade, &verbs]),
        seed("reset", &[&join, &trade, &reset, &trade]),
        seed("lossy", &[&join, &trade, &lossy, &trade, &reset, &lossy, &join]),
    ]
}
