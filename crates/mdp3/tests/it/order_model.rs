//! Simulation of order books: a publisher, a lossy feed, a chunked snapshot loop, and a channel. An
//! order book in sync always equals what was published after its packet. Once losses stop, all
//! order books are in sync.
#![allow(clippy::unwrap_used, reason = "a missing instrument fails the test")]

use std::collections::BTreeMap;

use crate::support::*;
use hairpin_mdp3::{
    Action, Channel, EndOfEvent, Feed, FeedLine, Input, Listener, OrderBook, OrderBooks,
    OrderUpdate, Settings, UpdateSource,
};
use hairpin_testbed::scaled;
use hairpin_time::{Duration, Instant, Now};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

const IDS: [i32; 3] = [7, 8, 9];

/// A published order: whether it is a bid, its price, priority and quantity.
type Stated = (bool, i64, u64, i32);
type Books = BTreeMap<i32, BTreeMap<u64, Stated>>;

/// The publisher.
struct Exchange {
    rng: ChaCha8Rng,
    kind: OrderBooks,
    books: Books,
    sequence: u32,
    rpt_seq: u32,
    next_id: u64,
    millis: u64,
}

/// Returns the best ten orders of a side, or all, best first.
fn sorted(book: &BTreeMap<u64, Stated>, is_bid: bool, kind: OrderBooks) -> Vec<(u64, Stated)> {
    let mut orders: Vec<_> =
        book.iter().filter(|(_, stated)| stated.0 == is_bid).map(|(id, s)| (*id, *s)).collect();
    orders.sort_by_key(|(id, (_, price, priority, _))| {
        (if is_bid { -price } else { *price }, *priority, *id)
    });
    orders.truncate(if kind == OrderBooks::Top { 10 } else { usize::MAX });
    orders
}

/// Formats a book of the publisher or of the channel.
fn shown(book: &BTreeMap<u64, Stated>, kind: OrderBooks) -> String {
    let side = |is_bid| {
        let orders = sorted(book, is_bid, kind);
        let shown: Vec<_> = orders
            .iter()
            .map(|(id, (_, price, _, quantity))| format!("{id}:{quantity}@{price}"))
            .collect();
        shown.join(" ")
    };
    format!("{} | {}", side(true), side(false)).trim().to_owned()
}

impl Exchange {
    fn new(seed: u64, kind: OrderBooks) -> Self {
        let books: Books = IDS.iter().map(|id| (*id, BTreeMap::new())).collect();
        Self {
            rng: ChaCha8Rng::seed_from_u64(seed),
            kind,
            books,
            sequence: 100,
            rpt_seq: 0,
            next_id: 1,
            millis: 100,
        }
    }

    fn below(&mut self, count: u32) -> u32 {
        self.rng.next_u32() % count
    }

    fn entry(id: i32, order_id: u64, (is_bid, price, priority, quantity): Stated) -> OrderEntry {
        let entry = if is_bid { buy } else { sell }(id, order_id, price, quantity);
        OrderEntry { priority: Some(priority), ..entry }
    }

    /// Changes a book at random. Returns the entry.
    fn change(&mut self, id: i32) -> OrderEntry {
        let known: Vec<u64> = self.books[&id].keys().copied().collect();
        let is_bid = self.below(2) == 0;
        let price = i64::from(self.below(5)) + if is_bid { 50 } else { 60 };
        let stated = (is_bid, price, u64::from(self.below(6)), self.below(9) as i32);
        let what = self.below(if known.len() > 14 { 10 } else { 4 });
        let book = self.books.get_mut(&id).unwrap();
        if known.is_empty() || what < 2 {
            let order_id = self.next_id;
            self.next_id += 1;
            book.insert(order_id, stated);
            return Self::entry(id, order_id, stated);
        }
        let order_id = known[self.rng.next_u32() as usize % known.len()];
        if what == 2 {
            book.insert(order_id, stated);
            return Self::entry(id, order_id, stated).changed();
        }
        book.remove(&order_id);
        Self::entry(id, order_id, stated).deleted()
    }

    /// Builds the next incremental packet: an event of one or two instruments.
    fn next_packet(&mut self) -> PacketBuilder {
        self.sequence += 1;
        self.millis += 1;
        let id = IDS[self.below(3) as usize];
        let packet = sent_at(self.sequence, self.millis);
        match (self.below(20), self.kind) {
            (0, _) => {
                self.books.get_mut(&id).unwrap().clear();
                self.rpt_seq += 1;
                packet.book(END, &[bid(id, self.rpt_seq).with_entry_type(b'J')])
            }
            (1, _) => packet.heartbeat(),
            (_, OrderBooks::Top) => {
                let other = IDS[self.below(3) as usize];
                let _ = (self.change(id), self.change(other));
                let packet = self.restate(packet, other, MORE);
                self.restate(packet, id, END)
            }
            (2..8, _) => self.combined(packet, id),
            _ => {
                let other = IDS[self.below(3) as usize];
                let entries = [self.change(id), self.change(other), self.change(id)];
                packet.orders(END, &entries)
            }
        }
    }

    /// Adds orders with price levels, and one level without orders.
    fn combined(&mut self, packet: PacketBuilder, id: i32) -> PacketBuilder {
        let order = self.change(id);
        self.rpt_seq += 2;
        let level = Entry {
            kind: order.kind,
            ..bid(id, self.rpt_seq - 1).overlay(1, order.price.unwrap_or(1), 1)
        };
        let other = bid(id, self.rpt_seq).overlay(1, 1, 1);
        packet.combined(END, &[other, level], &[order.at(2)])
    }

    fn restate(&self, packet: PacketBuilder, id: i32, indicator: u8) -> PacketBuilder {
        let side = |is_bid| sorted(&self.books[&id], is_bid, OrderBooks::Top);
        let orders: Vec<_> = [side(true), side(false)]
            .concat()
            .into_iter()
            .map(|(order_id, stated)| Self::entry(id, order_id, stated))
            .collect();
        packet.top_orders(indicator, id, &orders)
    }

    /// Builds a pass of the loop: each book in chunks of three orders, two chunks per packet. Omits
    /// instruments without orders.
    fn snapshots(&mut self) -> Vec<PacketBuilder> {
        self.millis += 1;
        let active: Vec<i32> = IDS.into_iter().filter(|id| !self.books[id].is_empty()).collect();
        let mut chunks = Vec::new();
        for id in &active {
            let sides = [true, false].map(|is_bid| sorted(&self.books[id], is_bid, self.kind));
            let orders: Vec<_> = sides
                .concat()
                .into_iter()
                .map(|(order_id, stated)| Self::entry(*id, order_id, stated))
                .collect();
            let count = orders.chunks(3).count() as u32;
            for (chunk, orders) in (1..).zip(orders.chunks(3)) {
                chunks.push((*id, (chunk, count), orders.to_vec()));
            }
        }
        let (last, total) = (self.sequence, active.len() as u32);
        let mut packets = vec![sent_at(1, self.millis).heartbeat()];
        for (sequence, chunks) in (2..).zip(chunks.chunks(2)) {
            let packet = sent_at(sequence, self.millis);
            packets.push(chunks.iter().fold(packet, |packet, (id, chunk, orders)| {
                packet.order_chunk((*id, last, total), *chunk, orders)
            }));
        }
        packets
    }
}

/// Compares the channel's callbacks with the publisher's books.
struct BookChecker {
    seed: u64,
    kind: OrderBooks,
    history: BTreeMap<u32, Books>,
    /// The last processed packet.
    processed: u32,
    checked: u64,
    restored: u64,
}

impl BookChecker {
    fn check_book(&mut self, sequence: u32, book: OrderBook<'_>) {
        let expected = shown(&self.history[&sequence][&book.security_id()], self.kind);
        let (seed, id) = (self.seed, book.security_id());
        assert_eq!(show_orders(book), expected, "seed {seed}: {id} after packet {sequence}");
        self.checked += 1;
    }
}

impl Listener for BookChecker {
    fn on_packet(&mut self, packet: &hairpin_mdp3::Packet) {
        if packet.feed == Feed::Incremental {
            self.processed = packet.sequence;
        }
    }

    fn on_order_update(&mut self, update: &OrderUpdate<'_>) {
        if update.source == UpdateSource::Snapshot {
            // The loop may be ahead of the stream.
            let id = update.book.security_id();
            let is_right = self
                .history
                .range(self.processed..)
                .any(|(_, books)| shown(&books[&id], self.kind) == show_orders(update.book));
            let (seed, sequence) = (self.seed, self.processed);
            assert!(is_right, "seed {seed}: {id} restored after packet {sequence}");
            self.restored += 1;
        } else {
            for change in update.changes() {
                let found = update.book.find(change.order.id).map(|(_, order)| order);
                let is_gone = change.action == hairpin_mdp3::MDUpdateAction::DELETE;
                assert!(is_gone == found.is_none() || update.changes().count() > 1);
            }
        }
    }

    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        for (_, book) in event.changed_orders() {
            self.check_book(event.packet.sequence, book);
        }
    }
}

struct Simulation {
    exchange: Exchange,
    channel: Channel,
    checker: BookChecker,
    now: Instant,
    joined: [bool; Feed::ALL.len()],
    order_feed: Feed,
}

impl Simulation {
    fn new(seed: u64, settings: Settings) -> Self {
        let kind = settings.order_books;
        let exchange = Exchange::new(seed, kind);
        let history = [(exchange.sequence, exchange.books.clone())].into();
        let checker = BookChecker { seed, kind, history, processed: 0, checked: 0, restored: 0 };
        let order_feed =
            if kind == OrderBooks::Top { Feed::Snapshot } else { settings.order_snapshots };
        let now = Instant::from_nanos(1_000_000_000);
        let channel = Channel::new(settings);
        let joined = [false; Feed::ALL.len()];
        Self { exchange, channel, checker, now, joined, order_feed }
    }

    fn deliver(&mut self, feed: Feed, packet: &PacketBuilder) {
        let utc = YEAR_2026 + Duration::from_secs(3_000);
        let now = Now { monotonic: self.now, utc };
        while let Some(action) = self.channel.poll_action() {
            match action {
                Action::Join(feed) => self.joined[feed as usize] = true,
                Action::Leave(feed) => self.joined[feed as usize] = false,
                _ => unreachable!(),
            }
        }
        if self.joined[feed as usize] {
            let input = Input { feed, line: FeedLine::A, received: None };
            self.channel.handle_packet(now, input, packet.bytes(), &mut self.checker);
        }
        self.channel.handle_timeout(now, &mut self.checker);
    }

    /// Builds the publisher's next packet and informs the checker.
    fn next_packet(&mut self) -> PacketBuilder {
        let packet = self.exchange.next_packet();
        let (sequence, books) = (self.exchange.sequence, self.exchange.books.clone());
        self.checker.history.insert(sequence, books);
        packet
    }

    fn publish(&mut self, loss: u32) {
        let packet = self.next_packet();
        self.now += Duration::from_millis(11);
        if self.exchange.below(1_000) >= loss {
            self.deliver(Feed::Incremental, &packet);
        }
    }

    /// Runs a pass of the loop, up to a few packets ahead of the stream.
    fn run_loop(&mut self, loss: u32) {
        let ahead: Vec<_> = (0..self.exchange.below(4)).map(|_| self.next_packet()).collect();
        for packet in self.exchange.snapshots() {
            if self.exchange.below(1_000) >= loss {
                self.deliver(self.order_feed, &packet);
            }
        }
        for packet in ahead {
            self.now += Duration::from_millis(11);
            self.deliver(Feed::Incremental, &packet);
        }
    }
}

/// Runs a simulation. Returns how many books were checked, and how many came from snapshots.
fn run_simulation(seed: u64, settings: Settings) -> (u64, u64) {
    let mut simulation = Simulation::new(seed, settings);
    let first = packet(100).heartbeat();
    simulation.deliver(Feed::Incremental, &first);
    let definitions = packet(1).definition(7, 3, 10).definition(8, 3, 10).definition(9, 3, 10);
    simulation.deliver(Feed::Instrument, &definitions);
    for round in 0..12 {
        for _ in 0..20 {
            simulation.publish(if round % 3 == 2 { 60 } else { 0 });
        }
        simulation.run_loop(if round % 4 == 1 { 200 } else { 0 });
    }
    // Losses have stopped.
    simulation.publish(0);
    for _ in 0..3 {
        simulation.run_loop(0);
        simulation.publish(0);
    }
    let sequence = simulation.exchange.sequence;
    for id in IDS {
        let instrument = simulation.channel.find(id).unwrap();
        let book = simulation.channel.order_book(instrument);
        assert!(book.is_in_sync(), "seed {seed}: {id} {:?}", simulation.channel.counters());
        simulation.checker.check_book(sequence, book);
    }
    let counters = simulation.channel.counters();
    let wrong = [counters.existing_orders, counters.missing_orders, counters.invalid_orders];
    assert_eq!(wrong, [0; 3], "seed {seed}: a publisher error would appear as a channel error");
    assert_eq!(counters.order_snapshots_not_continued, 0, "seed {seed}");
    (simulation.checker.checked, simulation.checker.restored)
}

/// Runs many simulations. Ten of them must check and restore at least the given numbers of books.
fn run_simulations(settings: Settings, (checked, restored): (u64, u64)) {
    let seeds = scaled(100);
    let runs = (0..seeds).map(|seed| run_simulation(seed, settings));
    let sums = runs.fold((0, 0), |sums, run| (sums.0 + run.0, sums.1 + run.1));
    assert!(10 * sums.0 >= checked * seeds && 10 * sums.1 >= restored * seeds, "{sums:?}");
}

#[test]
fn full_order_books_match_published_state() {
    let settings = Settings {
        order_books: OrderBooks::Full,
        max_orders: 200,
        queue_bytes: 1 << 16,
        ..SETTINGS
    };
    run_simulations(settings, (1_000, 30));
    run_simulations(Settings { order_snapshots: Feed::Snapshot, ..settings }, (1_000, 30));
}

#[test]
fn top_orders_match_published_state() {
    run_simulations(Settings { order_books: OrderBooks::Top, ..SETTINGS }, (1_000, 1));
}

#[test]
fn small_queue_and_slab_only_delay_recovery() {
    let settings = Settings { order_books: OrderBooks::Full, max_orders: 48, ..SETTINGS };
    run_simulations(Settings { queue_bytes: 200, ..settings }, (500, 30));
}
