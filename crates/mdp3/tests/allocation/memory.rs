//! The memory of a channel by a counting allocator, as stated in
//! `docs/reference/channel-memory.md`.

use hairpin_mdp3::{Channel, OrderBooks, Settings};
use hairpin_testbed::allocated_bytes;

/// Bytes per instrument of a channel of price books, independent of depth.
const EACH: u64 = 2_287;
/// Additional bytes per instrument for natural refresh.
const NATURAL_REFRESH: u64 = 664;
/// Additional bytes per instrument for top orders.
const TOP_ORDERS: u64 = 708;
/// Additional bytes per instrument for full order books, without the orders.
const FULL_ORDERS: u64 = 88;
/// Bytes per order.
const ORDER: u64 = 56;

/// Returns the bytes that a channel allocates at creation.
fn bytes(settings: Settings) -> u64 {
    let before = allocated_bytes();
    let channel = Channel::new(settings);
    let bytes = allocated_bytes() - before;
    drop(channel);
    bytes
}

/// Returns the bytes per additional instrument. The id table has a power of two of slots, at least
/// two per instrument, so the size is linear from one power of two to the next.
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
fn instrument_size_matches_documentation() {
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
fn depth_does_not_affect_size() {
    for undefined_depth in [1, 5, 10] {
        assert_eq!(each(Settings { undefined_depth, ..settings() }), EACH, "{undefined_depth}");
    }
}

#[test]
fn order_size_matches_documentation() {
    let of =
        |max_orders| bytes(Settings { order_books: OrderBooks::Full, max_orders, ..settings() });
    let (few, many) = (1 << 14, 1 << 15);
    assert_eq!((of(many) - of(few)) / (many - few) as u64, ORDER);
    let without = |max_orders| bytes(Settings { max_orders, ..settings() });
    assert_eq!(without(few), without(many), "no memory for disabled order books");
}

/// The total is the sum per instrument plus a channel without instruments.
#[test]
fn channel_size_is_sum_of_parts() {
    let settings = settings();
    let whole = bytes(settings);
    let instruments = settings.max_instruments as u64 * EACH;
    let queue = settings.queue_bytes as u64 / 56 * 56;
    let held = settings.reorder_packets as u64 * settings.max_packet as u64;
    let rest = whole - instruments - queue - held;
    println!("{whole} bytes: {instruments} of instruments, {queue} of the queue, {held} held");
    assert!(rest < 3 << 20, "legs, loops and others: {rest}");
}
