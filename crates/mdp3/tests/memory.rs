//! How much memory a channel takes: the figures of `docs/reference/channel-memory.md`, by an
//! allocator that counts.

use hairpin_mdp3::{Channel, OrderBooks, Settings};
use hairpin_testbed::{CountingAllocator, allocated_bytes};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Bytes for each instrument of a channel of price books, whatever their depth.
const EACH: u64 = 1_782;
/// What natural refresh adds.
const NATURAL_REFRESH: u64 = 664;
/// What top orders add.
const TOP_ORDERS: u64 = 708;
/// What orders in full add, beside the orders themselves.
const FULL_ORDERS: u64 = 88;
/// Bytes for each order of all instruments together.
const ORDER: u64 = 56;

/// Bytes that a channel asks for when it is made.
fn bytes(settings: Settings) -> u64 {
    let before = allocated_bytes();
    let channel = Channel::new(settings);
    let bytes = allocated_bytes() - before;
    drop(channel);
    bytes
}

/// What each of so many more instruments costs. Their table of ids has a power of two of places, at
/// least two for each: from one power of two to the next it is even.
fn each(settings: Settings) -> u64 {
    let of = |max_instruments| bytes(Settings { max_instruments, ..settings });
    let (few, many) = (1 << 12, 1 << 13);
    let more = of(many) - of(few);
    assert_eq!(more % (many - few) as u64, 0, "{settings:?}");
    more / (many - few) as u64
}

fn settings() -> Settings {
    Settings::default()
}

#[test]
fn an_instrument_takes_what_is_said() {
    let natural_refresh = Settings { natural_refresh: true, ..settings() };
    let with = |order_books| Settings { order_books, ..settings() };
    let expected = [
        ("price books", settings(), EACH),
        ("natural refresh", natural_refresh, EACH + NATURAL_REFRESH),
        ("top orders", with(OrderBooks::Top), EACH + TOP_ORDERS),
        ("full orders", with(OrderBooks::Full), EACH + FULL_ORDERS),
    ];
    let measured = expected.map(|(name, settings, _)| (name, each(settings)));
    assert_eq!(measured, expected.map(|(name, _, bytes)| (name, bytes)));
}

#[test]
fn depth_costs_nothing() {
    for undefined_depth in [1, 5, 10] {
        assert_eq!(each(Settings { undefined_depth, ..settings() }), EACH, "{undefined_depth}");
    }
}

#[test]
fn an_order_takes_what_is_said() {
    let of =
        |max_orders| bytes(Settings { order_books: OrderBooks::Full, max_orders, ..settings() });
    let (few, many) = (1 << 14, 1 << 15);
    assert_eq!((of(many) - of(few)) / (many - few) as u64, ORDER);
    let without = |max_orders| bytes(Settings { max_orders, ..settings() });
    assert_eq!(without(few), without(many), "no room for orders that are not kept");
}

/// The whole is its parts: what each instrument takes, and what a channel takes without any.
#[test]
fn a_channel_takes_as_much_as_its_instruments_and_its_queues() {
    let settings = settings();
    let whole = bytes(settings);
    let instruments = settings.max_instruments as u64 * EACH;
    let queue = settings.queue_bytes as u64 / 56 * 56;
    let held = settings.reorder_packets as u64 * settings.max_packet as u64;
    let rest = whole - instruments - queue - held;
    println!("{whole} bytes: {instruments} of instruments, {queue} of the queue, {held} held");
    assert!(rest < 1 << 20, "legs, loops and the like: {rest}");
}
