//! A channel allocates nothing after its creation.

use crate::support::*;
use hairpin_cme_codecs::mdp3::SecurityUpdateAction;
use hairpin_mdp3::{
    BookUpdate, Channel, EndOfEvent, Feed, FeedLine, Gap, Input, Listener, OrderBooks, OrderUpdate,
    Settings,
};
use hairpin_testbed::allocations;
use hairpin_time::{Instant, Now, Utc};

/// Counts callbacks without allocating.
#[derive(Default)]
struct Tally {
    updates: u64,
    ends: u64,
    gaps: u64,
    orders: u64,
}

impl Listener for Tally {
    fn on_book_update(&mut self, _: &BookUpdate<'_>) {
        self.updates += 1;
    }
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        self.ends += event.changed().count() as u64;
        self.orders +=
            event.changed_orders().map(|(_, book)| 1 + book.bids().count() as u64).sum::<u64>();
    }
    fn on_order_update(&mut self, update: &OrderUpdate<'_>) {
        self.orders += update.changes().count() as u64;
    }
    fn on_gap(&mut self, _: &Gap) {
        self.gaps += 1;
    }
}

/// Passes packets to a channel. Incremental packets are renumbered, so that few need to be built.
struct Driver {
    channel: Channel,
    tally: Tally,
    now: Instant,
    sequence: u32,
}

impl Driver {
    fn deliver(&mut self, feed: Feed, side: FeedLine, bytes: &[u8]) {
        let now = Now { monotonic: self.now, utc: Utc::EPOCH };
        let input = Input { feed, line: side, received: None };
        self.channel.handle_packet(now, input, bytes, &mut self.tally);
        while self.channel.poll_action().is_some() {}
    }

    /// Delivers the next incremental packet.
    fn stream(&mut self, packet: &PacketBuilder) {
        self.deliver(Feed::Incremental, FeedLine::A, packet.bytes());
    }

    /// Delivers a packet to both book loops.
    fn loops(&mut self, packet: &PacketBuilder) {
        self.deliver(Feed::Snapshot, FeedLine::A, packet.bytes());
        self.deliver(Feed::SnapshotOrders, FeedLine::A, packet.bytes());
    }

    /// Returns whether the price book and the order book of an instrument are in sync.
    fn in_sync(&self, security_id: i32) -> (bool, bool) {
        let instrument = self.channel.find(security_id).expect("the instrument is known");
        let (book, orders) = (self.channel.book(instrument), self.channel.order_book(instrument));
        (book.is_in_sync(), orders.is_in_sync())
    }

    /// Renumbers and delivers a packet whose first message is a 46 with one entry.
    fn tick(&mut self, bytes: &mut [u8], rpt_seq: u32, side: FeedLine) {
        bytes[..4].copy_from_slice(&self.sequence.to_le_bytes());
        const RPT_SEQ: usize = 12 + 10 + 11 + 3 + 16;
        bytes[RPT_SEQ..][..4].copy_from_slice(&rpt_seq.to_le_bytes());
        self.deliver(Feed::Incremental, side, bytes);
        self.sequence += 1;
    }

    fn run_timeouts(&mut self) {
        self.now += SETTINGS.reorder_wait;
        let now = Now { monotonic: self.now, utc: Utc::EPOCH };
        self.channel.handle_timeout(now, &mut self.tally);
    }
}

/// Covers all kinds of orders, gaps, chunks, overflows of queue and slab, and a reset.
#[test]
fn order_books_do_not_allocate_after_creation() {
    let full = Settings { order_books: OrderBooks::Full, max_orders: 300, ..SETTINGS };
    for settings in [full, Settings { order_books: OrderBooks::Top, ..SETTINGS }] {
        let new: Vec<_> = (1..=250).map(|id| buy(7, id, (id % 9) as i64, 1)).collect();
        let changed: Vec<_> = new.iter().map(|order| order.changed()).collect();
        let deleted: Vec<_> = new.iter().map(|order| order.deleted()).collect();
        let too_many: Vec<_> = (1..=250).map(|id| buy(8, 1_000 + id, 5, 1)).collect();
        let reset = bid(7, 1).with_entry_type(b'J');
        let messages = |packet: PacketBuilder| {
            packet
                .orders(MORE, &new)
                .orders(MORE, &changed)
                .orders(MORE, &deleted)
                .combined(MORE, &[bid(7, 1).overlay(1, 5, 1)], &new)
                .top_orders(MORE, 7, &new)
                .orders(MORE, &too_many)
                .combined(END, &[reset], &[])
        };
        let mut stream: Vec<_> = (101..400)
            // Every tenth packet is lost.
            .filter(|sequence| sequence % 10 != 0)
            .map(|sequence| messages(packet(sequence)))
            .collect();
        stream.push(messages(packet(400).channel_reset()));
        let snapshots: Vec<_> = (0..50)
            .flat_map(|pass| {
                let at = |sequence| sent_at(sequence, 100 + u64::from(pass) * 8);
                let key = (7, 100 + pass * 8, 2);
                [
                    at(1).order_chunk(key, (1, 2), &new[..50]),
                    at(2).order_chunk(key, (2, 2), &new[50..99]).heartbeat(),
                ]
            })
            .collect();
        let definitions = packet(1).definition(7, 2, 10).definition(8, 2, 10);
        let heartbeat = packet(100).heartbeat();

        let channel = Channel::new(settings);
        let now = Instant::ZERO;
        let mut driver = Driver { channel, tally: Tally::default(), now, sequence: 0 };
        let before = allocations();
        driver.deliver(Feed::Incremental, FeedLine::A, heartbeat.bytes());
        driver.deliver(Feed::Instrument, FeedLine::A, definitions.bytes());
        let mut snapshots = snapshots.iter();
        for (n, packet) in stream.iter().enumerate() {
            driver.deliver(Feed::Incremental, FeedLine::A, packet.bytes());
            driver.run_timeouts();
            if let Some(snapshot) = snapshots.next().filter(|_| n % 3 == 0) {
                driver.deliver(Feed::Snapshot, FeedLine::A, snapshot.bytes());
                driver.deliver(Feed::SnapshotOrders, FeedLine::A, snapshot.bytes());
            }
        }
        assert_eq!(allocations() - before, 0);
        let counters = driver.channel.counters();
        assert!(driver.tally.orders > 0 && counters.resets == 1);
        if settings.order_books == OrderBooks::Full {
            assert!(counters.orders_over_capacity > 0 && counters.order_queue_overflows > 0);
        }
    }
}

/// A thousand user-defined instruments come and go in four slots.
#[test]
fn reused_slots_do_not_allocate() {
    let stream: Vec<_> = (0..1_000)
        .map(|n| {
            let (sequence, id) = (101 + n, 1_000 + n as i32);
            packet(sequence)
                .definition_with(id, None, 10, SecurityUpdateAction::ADD)
                .book(END, &[bid(id, 1).add(1, 50, 1)])
                .definition_with(id, None, 10, SecurityUpdateAction::DELETE)
        })
        .collect();
    let definitions = packet(1).definition(7, 1, 10);
    let heartbeat = packet(100).heartbeat();
    let channel = Channel::new(Settings { max_instruments: 4, ..SETTINGS });
    let now = Instant::ZERO;
    let mut driver = Driver { channel, tally: Tally::default(), now, sequence: 0 };
    let before = allocations();
    driver.stream(&heartbeat);
    driver.deliver(Feed::Instrument, FeedLine::A, definitions.bytes());
    stream.iter().for_each(|packet| driver.stream(packet));
    assert_eq!(allocations() - before, 0);
    let counters = driver.channel.counters();
    assert_eq!((driver.tally.updates, counters.slots_reused), (1_000, 997));
    assert_eq!(counters.instruments_over_capacity, 0);
}

/// Builds an event in packet `sequence`: a price level of an instrument, one order by each kind of
/// message, and its top orders.
fn event(sequence: u32, id: i32, rpt_seq: u32) -> PacketBuilder {
    let order = buy(id, u64::from(sequence) << 8, 50, 1);
    let (with_level, next) = (order.at(1), OrderEntry { id: order.id.map(|id| id + 1), ..order });
    packet(sequence)
        .combined(MORE, &[bid(id, rpt_seq).add(1, 50, 1)], &[with_level])
        .orders(MORE, &[next, next.changed(), next.deleted()])
        .top_orders(END, id, &[order, next])
}

/// Builds a packet for both book loops as of packet `last`, with instrument 7 at `rpt_seq` and
/// instrument 8.
fn books(pass: u64, last: u32, rpt_seq: u32) -> PacketBuilder {
    let levels = [(b'0', 1, 49, 1)];
    let packet = sent_at(1, pass).snapshot(7, last, 2, rpt_seq, &levels);
    let packet = packet.snapshot(8, last, 2, 0, &levels);
    packet.order_snapshot(7, last, 2, &[buy(7, 1, 49, 1)]).order_snapshot(8, last, 2, &[])
}

/// Covers every situation for every kind of book, and checks that each occurred.
#[test]
fn books_of_every_kind_do_not_allocate() {
    let full = Settings { order_books: OrderBooks::Full, max_orders: 1_000, ..SETTINGS };
    let top = Settings { order_books: OrderBooks::Top, ..SETTINGS };
    for settings in [SETTINGS, full, top] {
        run_all_situations(settings);
    }
}

/// Runs a late join followed by all other situations.
fn run_all_situations(settings: Settings) {
    let kind = settings.order_books;
    let has_orders = kind != OrderBooks::None;
    let ticks: Vec<_> = (101..=300).map(|sequence| event(sequence, 7, sequence - 100)).collect();
    let reordered = [event(302, 7, 202), event(301, 7, 201)];
    // Packet 303 is lost.
    let after_loss = [event(304, 7, 204), event(305, 7, 205)];
    let intraday = packet(306).definition(9, 3, 10);
    let of_new = event(307, 9, 1);
    let deleted = packet(308).definition_with(8, None, 10, SecurityUpdateAction::DELETE);
    let (reset, renumbered) = (packet(309).channel_reset(), sent_at(1, 310).heartbeat());
    let after_reset = sent_at(2, 311).book(END, &[bid(7, 1).add(1, 52, 1)]);
    let definitions = packet(1).definition(7, 2, 10).definition(8, 2, 10);
    let (joined, recovered) = (books(10, 100, 0), books(305, 304, 204));
    let heartbeat = packet(100).heartbeat();

    let channel = Channel::new(settings);
    let now = Instant::ZERO;
    let mut driver = Driver { channel, tally: Tally::default(), now, sequence: 0 };
    let before = allocations();
    let counted_after = |what: &str, driver: &Driver| {
        assert_eq!(allocations() - before, 0, "{kind:?}: {what}");
        *driver.channel.counters()
    };
    driver.stream(&heartbeat);
    driver.deliver(Feed::Instrument, FeedLine::A, definitions.bytes());
    driver.loops(&joined);
    assert_eq!(driver.in_sync(7), (true, has_orders));
    counted_after("a late join", &driver);
    ticks.iter().for_each(|tick| driver.stream(tick));
    let counters = counted_after("ticks", &driver);
    assert_eq!(counters.book_entries, 200);
    assert_eq!(counters.order_entries, if kind == OrderBooks::Full { 200 * 4 } else { 0 });
    assert_eq!(counters.order_overlays, if kind == OrderBooks::Top { 200 } else { 0 });
    reordered.iter().for_each(|tick| driver.stream(tick));
    let counters = counted_after("reordering", &driver);
    assert_eq!((counters.held_packets, counters.gaps, counters.book_entries), (1, 0, 202));
    driver.stream(&after_loss[0]);
    driver.run_timeouts();
    driver.stream(&after_loss[1]);
    let counters = counted_after("loss", &driver);
    assert_eq!((counters.gaps, counters.withheld_entries), (1, 2));
    assert_eq!(counters.withheld_orders, if kind == OrderBooks::Full { 2 * 4 } else { 0 });
    assert_eq!(driver.in_sync(8), (false, false));
    driver.loops(&recovered);
    let recovered = counted_after("recovery", &driver);
    assert_eq!(recovered.snapshots_applied - counters.snapshots_applied, 2);
    assert!(recovered.order_snapshots_applied > counters.order_snapshots_applied || !has_orders);
    assert_eq!([7, 8].map(|id| driver.in_sync(id)), [(true, has_orders); 2]);
    [intraday, of_new, deleted].iter().for_each(|packet| driver.stream(packet));
    counted_after("an intraday definition", &driver);
    assert_eq!([9, 8].map(|id| driver.in_sync(id)), [(true, has_orders), (false, false)]);
    [reset, renumbered, after_reset].iter().for_each(|packet| driver.stream(packet));
    let counters = counted_after("a reset", &driver);
    assert_eq!((counters.resets, counters.restarts), (1, 1));
    assert_eq!([7, 9].map(|id| driver.in_sync(id)), [(true, has_orders); 2]);
}

#[test]
fn channel_does_not_allocate_after_creation() {
    let settings = Settings { max_instruments: 100, ..SETTINGS };
    let definitions = packet(1).definition(7, 2, 10).definition(8, 2, 10);
    let mut first = packet(0).book(END, &[bid(7, 1).add(1, 50, 1)]).bytes().to_vec();
    let mut tick = packet(0).book(END, &[bid(7, 1).overlay(1, 51, 1)]).bytes().to_vec();
    let heartbeat = packet(100).heartbeat();
    let snapshots: Vec<_> = (0..3)
        .map(|pass| sent_at(1, 10 + pass).snapshot(7, 100 + pass as u32, 1, 0, &[]))
        .collect();
    let recovered = sent_at(1, 90).snapshot(7, 100_104, 1, 100_003, &[(b'0', 1, 51, 1)]);
    let new_instrument = sent_at(0, 100).definition(9, 3, 10);
    let mut new_instrument = new_instrument.bytes().to_vec();
    let reset = sent_at(0, 101).channel_reset();
    let mut reset = reset.bytes().to_vec();
    let restarted = sent_at(1, 102).book(END, &[bid(7, 1).add(1, 50, 1)]);
    let garbage = [0xFF; 100];

    let channel = Channel::new(settings);
    let mut driver = Driver { channel, tally: Tally::default(), now: Instant::ZERO, sequence: 101 };
    let before = allocations();

    // Late join.
    driver.deliver(Feed::Incremental, FeedLine::A, heartbeat.bytes());
    driver.deliver(Feed::Instrument, FeedLine::A, definitions.bytes());
    driver.deliver(Feed::Snapshot, FeedLine::A, snapshots[0].bytes());
    assert!(driver.channel.book_of(8).is_some_and(hairpin_mdp3::Book::is_in_sync));
    // Ticks.
    driver.tick(&mut first, 1, FeedLine::A);
    for rpt_seq in 2..=100_000 {
        let side = if rpt_seq % 3 == 0 { FeedLine::B } else { FeedLine::A };
        driver.tick(&mut tick, rpt_seq, side);
        driver.deliver(Feed::Incremental, FeedLine::B, &tick);
    }
    assert_eq!((driver.tally.updates, driver.tally.ends), (100_002, 100_000));
    // Reordering: 100,102 before 100,101.
    driver.sequence = 100_102;
    driver.tick(&mut tick, 100_002, FeedLine::A);
    driver.sequence = 100_101;
    driver.tick(&mut tick, 100_001, FeedLine::B);
    assert_eq!(driver.tally.ends, 100_002);
    // Loss and recovery: 100,103 is missing, 100,105 is queued.
    driver.sequence = 100_104;
    driver.tick(&mut tick, 100_004, FeedLine::A);
    driver.run_timeouts();
    driver.tick(&mut tick, 100_005, FeedLine::A);
    driver.deliver(Feed::Snapshot, FeedLine::A, recovered.bytes());
    assert_eq!(driver.tally.gaps, 1);
    assert_eq!(driver.channel.counters().snapshots_not_continued, 1);
    driver.sequence = 100_106;
    // Intraday definition, reset, restart of numbering, invalid bytes.
    new_instrument[..4].copy_from_slice(&100_106u32.to_le_bytes());
    driver.deliver(Feed::Incremental, FeedLine::A, &new_instrument);
    reset[..4].copy_from_slice(&100_107u32.to_le_bytes());
    driver.deliver(Feed::Incremental, FeedLine::A, &reset);
    driver.deliver(Feed::Incremental, FeedLine::A, restarted.bytes());
    assert!(driver.channel.book_of(9).is_some_and(hairpin_mdp3::Book::is_in_sync));
    assert_eq!((driver.channel.counters().resets, driver.channel.counters().restarts), (1, 1));
    for feed in Feed::ALL {
        driver.deliver(feed, FeedLine::B, &garbage);
        driver.run_timeouts();
    }

    assert_eq!(allocations() - before, 0);
    // The allocator counts.
    drop(std::hint::black_box(vec![1]));
    assert_eq!(allocations() - before, 1);
}
