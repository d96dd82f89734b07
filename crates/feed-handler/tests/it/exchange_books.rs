//! The channel against the exchange's publisher, an independent implementation of CME's documents.
//! The channel's books in sync must equal the published books.

use std::collections::HashMap;

use hairpin_exchange::{
    Feed as Published, Ladder, MAX_PAYLOAD, Pace, SimulatedMarket, SimulatedMarketSettings,
};
use hairpin_feed_handler::{
    Book, Channel, ChannelState, Feed, FeedLine, Levels, Listener, Settings,
};
use hairpin_mdp3::{Action, EndOfEvent, Input};
use hairpin_testbed::scaled;
use hairpin_testkit::Random;
use hairpin_time::{Duration, Instant, Now, Utc};

const SIDES: [FeedLine; 2] = FeedLine::ALL;

#[derive(Default)]
struct Events {
    ends: u64,
    best_price_changes: u64,
}

impl Listener for Events {
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        self.ends += 1;
        let changes = event.changed().filter(|(.., changes)| changes.best_price()).count();
        self.best_price_changes += u64::from(changes > 0);
    }
}

/// An exchange, a channel, and two sides between them that lose packets.
struct Market {
    floor: SimulatedMarket,
    security_ids: Vec<i32>,
    channel: Channel,
    events: Events,
    joined: [bool; Feed::ALL.len()],
    now: Now,
    /// Each book's contents by instrument and RptSeq.
    history: HashMap<(u32, u32), [Ladder; 2]>,
    random: Random,
    loss_permille: u64,
}

impl Market {
    fn new(seed: u64) -> Self {
        let now = Now {
            monotonic: Instant::from_nanos(1_000_000_000),
            utc: Utc::from_nanos(1_767_225_600_000_000_000),
        };
        let settings = SimulatedMarketSettings { seed, ..SimulatedMarketSettings::default() };
        let security_ids =
            settings.instruments.iter().map(|instrument| instrument.security_id).collect();
        let channel = Channel::new(Settings { max_instruments: 100, ..Settings::default() });
        let mut market = Self {
            floor: SimulatedMarket::new(&settings, now),
            security_ids,
            channel,
            events: Events::default(),
            joined: [false; Feed::ALL.len()],
            now,
            history: HashMap::new(),
            random: Random::new(seed),
            loss_permille: 0,
        };
        market.handle_actions();
        market
    }

    fn handle_actions(&mut self) {
        while let Some(action) = self.channel.poll_action() {
            match action {
                Action::Join(feed) => self.joined[feed as usize] = true,
                Action::Leave(feed) => self.joined[feed as usize] = false,
                _ => {}
            }
        }
    }

    /// Delivers the exchange's next packet on both sides. Returns `false` if there was none.
    fn transmit(&mut self) -> bool {
        let mut packet = [0; MAX_PAYLOAD];
        let publisher = self.floor.publisher_mut();
        let Some(transmit) = publisher.poll_transmit(self.now, &mut packet) else { return false };
        let feed = match transmit.feed {
            Published::Incremental => Feed::Incremental,
            Published::Instruments => Feed::Instrument,
            Published::Snapshots => Feed::Snapshot,
            Published::SnapshotOrders => Feed::SnapshotOrders,
        };
        for side in SIDES {
            if self.joined[feed as usize] && self.random.below(1_000) >= self.loss_permille {
                let input = Input { feed, line: side, received: None };
                let bytes = &packet[..transmit.length];
                self.channel.handle_packet(self.now, input, bytes, &mut self.events);
                self.handle_actions();
            }
        }
        true
    }

    /// Runs one step of the order flow, all of its packets, and some of the loops' packets.
    fn step(&mut self) {
        self.now.monotonic += Duration::from_micros(100);
        self.now.utc = self.now.utc + Duration::from_micros(100);
        let step = self.floor.step(self.now);
        if let Some((step, _)) = step {
            let published = self.floor.publisher().published(step.instrument);
            self.history.insert((step.instrument, published.rpt_seq), published.sides);
        }
        while self.floor.publisher().has_event() {
            self.transmit();
        }
        for _ in 0..3 {
            self.transmit();
        }
        self.channel.handle_timeout(self.now, &mut self.events);
        self.handle_actions();
        match step {
            Some((step, _)) if !self.random.one_in(50) => self.check_book(step.instrument),
            _ => (0..100).for_each(|instrument| self.check_book(instrument)),
        }
    }

    /// Checks that a book in sync equals the published book at its RptSeq.
    fn check_book(&self, instrument: u32) {
        let security_id = self.security_ids[instrument as usize];
        let Some(book) = self.channel.book_of(security_id).filter(|book| book.is_in_sync()) else {
            return;
        };
        let rpt_seq = book.rpt_seq().unwrap_or(0);
        let published = self.floor.publisher().published(instrument);
        let sides = if published.rpt_seq == rpt_seq {
            &published.sides
        } else if let Some(sides) = self.history.get(&(instrument, rpt_seq)) {
            sides
        } else {
            // The RptSeq is from before the first step, or inside an event.
            return;
        };
        assert!(is_equal(book, sides), "{security_id} at {rpt_seq}: {book:?}");
    }

    /// Checks that every book is in sync and equals the published book.
    fn check_all_books(&self) {
        assert_eq!(self.channel.state(), ChannelState::InSync);
        for (instrument, security_id) in (0..).zip(&self.security_ids) {
            let book = self.channel.book_of(*security_id).expect("it is defined");
            let published = self.floor.publisher().published(instrument);
            assert!(book.is_in_sync() && is_equal(book, &published.sides), "{book:?}");
            assert_eq!(book.rpt_seq(), Some(published.rpt_seq), "{security_id}");
        }
    }
}

fn is_equal(book: Book<'_>, sides: &[Ladder; 2]) -> bool {
    let same = |levels: Levels<'_>, ladder: &Ladder| {
        levels.len() == ladder.levels().len()
            && levels.iter().zip(ladder.levels()).all(|(level, published)| {
                level.price == published.price
                    && level.quantity == u64::from(published.quantity)
                    && level.orders == published.orders
            })
    };
    same(book.bids(), &sides[0]) && same(book.asks(), &sides[1])
}

#[test]
fn ticks_change_a_best_price() {
    let mut market = Market::new(1);
    while market.channel.state() != ChannelState::InSync {
        market.step();
    }
    market.floor.publisher_mut().set_pace(Pace::Paced, market.now.monotonic);
    let (ends, changes) = (market.events.ends, market.events.best_price_changes);
    for _ in 0..5_000 {
        market.step();
    }
    market.check_all_books();
    assert_eq!(market.events.ends - ends, 5_000);
    assert_eq!(market.events.best_price_changes - changes, 5_000);
    let counters = market.channel.counters();
    let faults = [
        counters.gaps,
        counters.rpt_seq_gaps,
        counters.beyond_depth,
        counters.prices_changed,
        counters.inapplicable_entries,
        counters.malformed_messages,
        counters.unknown_templates,
    ];
    assert_eq!(faults, [0; 7]);
}

#[test]
fn books_in_sync_are_correct_under_loss_and_all_recover() {
    let mut recoveries = 0;
    for seed in 0..scaled(5) {
        let mut market = Market::new(seed);
        market.loss_permille = 100;
        for _ in 0..3_000 {
            market.step();
        }
        market.loss_permille = 0;
        for _ in 0..200 {
            market.step();
        }
        market.check_all_books();
        recoveries += market.channel.counters().recoveries;
    }
    assert!(recoveries > 5, "{recoveries} recoveries");
}
