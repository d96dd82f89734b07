//! Channels without some of the feeds, or with one line only.

use crate::support::*;
use hairpin_mdp3::{
    Action, ChannelState, Feed, FeedLine, FeedLines, Feeds, LateJoin, OrderBooks, Settings,
};
use hairpin_time::Duration;

fn settings_of(feeds: Feeds) -> Settings {
    Settings { feeds, ..SETTINGS }
}

const NO_INSTRUMENT_FEED: Feeds = Feeds { instrument: FeedLines::None, ..Feeds::ALL };
const NO_SNAPSHOT_FEED: Feeds =
    Feeds { snapshot: FeedLines::None, snapshot_orders: FeedLines::None, ..Feeds::ALL };
const INCREMENTAL_ALONE: Feeds = Feeds { instrument: FeedLines::None, ..NO_SNAPSHOT_FEED };

const NO_DEFINITIONS: &str =
    "warning no instrument feed: definitions arrive on the incremental feed only";
const NO_SNAPSHOTS: &str = "warning no snapshot feed: only a reset, replay or natural \
                            refresh restores a book";

#[test]
fn never_joins_absent_feed() {
    for feed in [Feed::Instrument, Feed::Snapshot] {
        let feeds = if feed == Feed::Instrument { NO_INSTRUMENT_FEED } else { NO_SNAPSHOT_FEED };
        let mut trace = Trace::new(settings_of(feeds));
        let mut actions = trace.actions();
        trace.a(&packet(100).heartbeat());
        trace.instrument(&packet(1).definition(7, 2, 10).definition(8, 2, 10));
        trace.a(&packet(101).book(END, &[bid(7, 5).add(1, 50, 1), bid(9, 5).add(1, 50, 1)]));
        // A gap, after which all feeds would be needed.
        trace.a(&packet(103).heartbeat());
        trace.wait(Duration::from_millis(10));
        actions.extend(trace.actions());
        assert!(actions.contains(&Action::Join(Feed::Incremental)), "{actions:?}");
        assert!(!actions.contains(&Action::Join(feed)), "{actions:?}");
    }
}

#[test]
fn without_instrument_feed_uses_incremental_definitions() {
    let mut trace = Trace::new(settings_of(NO_INSTRUMENT_FEED));
    assert_eq!(trace.actions(), [Action::Join(Feed::Incremental), Action::Join(Feed::Snapshot)]);
    assert_eq!(trace.channel.state(), ChannelState::Recovering);
    trace.a(&packet(100).heartbeat());
    trace.assert_callbacks([NO_DEFINITIONS]);
    trace.snapshot(&packet(1).snapshot(7, 100, 1, 3, &[(b'0', 1, 50, 1)]));
    trace.assert_callbacks(["7 in sync", "restored 7 B: 1@50 |", "channel InSync"]);
    assert_eq!(trace.channel.book_of(7).unwrap().depth(), 10, "the depth of the settings");
    trace.a(&packet(101).definition(7, 2, 5));
    trace.assert_callbacks(["definition 7 ES7 Add", "end 101"]);
    assert_eq!(trace.channel.book_of(7).unwrap().depth(), 5);
    // Packets of an absent feed are dropped.
    trace.instrument(&packet(1).definition(8, 2, 10));
    assert_eq!(trace.counter("unwanted_packets"), 1);
    assert_eq!(trace.channel.find(8), None);
}

#[test]
fn books_without_snapshot_feed_warn_once() {
    let mut trace = Trace::new(settings_of(NO_SNAPSHOT_FEED));
    trace.a(&packet(100).heartbeat());
    trace.assert_callbacks([]);
    trace.instrument(&packet(1).definition(7, 1, 10));
    trace.assert_callbacks(["definition 7 ES7 Add", NO_SNAPSHOTS, "channel Recovering"]);
    trace.a(&packet(101).book(END, &[bid(7, 5).add(1, 50, 1)]));
    trace.snapshot(&packet(1).snapshot(7, 101, 1, 5, &[(b'0', 1, 50, 1)]));
    assert!(!trace.channel.book_of(7).unwrap().is_in_sync());
    assert_eq!(trace.counter("unwanted_packets"), 1);
    // A reset restores the book. The next loss does not warn again.
    trace.a(&packet(102).channel_reset());
    trace.assert_callbacks(["end 101", "7 in sync", "reset", "end 102", "channel InSync"]);
    trace.a(&packet(104).heartbeat());
    trace.wait(Duration::from_millis(10));
    trace.assert_callbacks(["gap 103+1", "7 out of sync", "channel Recovering"]);
    assert_eq!(trace.counter("missing_feeds"), 2);
}

#[test]
fn incremental_feed_alone_waits_for_reset() {
    let mut trace = Trace::new(settings_of(INCREMENTAL_ALONE));
    assert_eq!(trace.actions(), [Action::Join(Feed::Incremental)]);
    trace.a(&packet(100).book(END, &[bid(7, 5).add(1, 50, 1)]));
    trace.assert_callbacks([NO_DEFINITIONS, NO_SNAPSHOTS, "end 100"]);
    assert_eq!(trace.channel.state(), ChannelState::Recovering);
    trace.a(&packet(101).channel_reset());
    trace.a(&packet(102).book(END, &[bid(7, 1).add(1, 51, 1)]));
    trace.assert_callbacks([
        "7 in sync",
        "reset",
        "end 101",
        "channel InSync",
        "book 7 B: 1@51 |",
        "end 102 7B",
    ]);
    assert_eq!(trace.actions(), []);
}

#[test]
fn does_not_warn_about_unneeded_feeds() {
    let settings = Settings { late_join: LateJoin::Nothing, ..settings_of(INCREMENTAL_ALONE) };
    let mut trace = Trace::new(settings);
    trace.a(&packet(1).book(END, &[bid(7, 1).add(1, 50, 1)]));
    trace.a(&packet(3).heartbeat());
    trace.wait(Duration::from_millis(10));
    assert_eq!(trace.counter("missing_feeds"), 0);
}

/// Runs a late join, a loss and a recovery on one line.
fn joins_and_recovers_on(side: FeedLine) {
    let sides = if side == FeedLine::A { FeedLines::A } else { FeedLines::B };
    let feeds =
        Feeds { incremental: sides, instrument: sides, snapshot: sides, snapshot_orders: sides };
    let mut trace = Trace::new(settings_of(feeds));
    let incremental = if side == FeedLine::A { Trace::a } else { Trace::b };
    trace.actions();
    incremental(&mut trace, &packet(100).heartbeat());
    trace.on(Feed::Instrument, side, &packet(1).definition(7, 1, 10));
    trace.on(Feed::Snapshot, side, &packet(1).snapshot(7, 100, 1, 3, &[(b'0', 1, 50, 1)]));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
    incremental(&mut trace, &packet(102).book(END, &[bid(7, 5).add(1, 51, 1)]));
    trace.wait(Duration::from_millis(10));
    assert_eq!((trace.channel.state(), trace.counter("gaps")), (ChannelState::Recovering, 1));
    let levels = [(b'0', 1, 51, 1), (b'0', 2, 50, 1)];
    trace.on(Feed::Snapshot, side, &sent_at(1, 103).snapshot(7, 102, 1, 5, &levels));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
    // A reset that restarts numbering.
    incremental(&mut trace, &sent_at(103, 1_000).channel_reset());
    incremental(&mut trace, &sent_at(1, 1_001).book(END, &[bid(7, 1).add(1, 60, 1)]));
    assert_eq!((trace.book(7).as_str(), trace.counter("restarts")), ("1@60 |", 1));
    assert_eq!(trace.counter("older_epoch_packets"), 0);
}

#[test]
fn works_with_line_a_only() {
    joins_and_recovers_on(FeedLine::A);
}

#[test]
fn works_with_line_b_only() {
    joins_and_recovers_on(FeedLine::B);
}

#[test]
fn snapshots_of_books_and_orders_share_feed() {
    // Conflated: 53 follows 52 of the same instrument; only 52 concerns the price book.
    let mut trace = Trace::new(SETTINGS);
    trace.a(&packet(100).heartbeat());
    trace.instrument(&packet(1).definition(7, 1, 10));
    let orders = [0; 28 + 3];
    let books = packet(1).snapshot(7, 100, 1, 3, &[(b'0', 1, 50, 1)]);
    trace.snapshot(&books.raw([28, 53, 1, 13], &orders));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
    assert_eq!((trace.book(7).as_str(), trace.counter("unknown_templates")), ("1@50 |", 0));
}

#[test]
fn order_books_without_loop_warn_once() {
    let feeds = Feeds { snapshot_orders: FeedLines::None, ..Feeds::ALL };
    let settings = Settings { order_books: OrderBooks::Full, max_orders: 4, ..settings_of(feeds) };
    let mut trace = Trace::new(settings);
    trace.a(&packet(100).heartbeat());
    trace.assert_callbacks([]);
    trace.instrument(&packet(1).definition(7, 1, 10));
    trace.assert_callbacks([
        "definition 7 ES7 Add",
        "warning no order snapshot feed: only a reset restores an order book",
        "channel Recovering",
    ]);
    trace.snapshot(&packet(1).snapshot(7, 100, 1, 0, &[]));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
    assert!(!trace.orders_in_sync(7));
    assert!(!trace.actions().contains(&Action::Join(Feed::SnapshotOrders)));
    // A reset restores the order book. The next loss does not warn again.
    trace.a(&packet(101).channel_reset());
    assert!(trace.orders_in_sync(7));
    trace.recorder.take();
    trace.a(&packet(103).heartbeat());
    trace.wait(Duration::from_millis(10));
    trace.assert_callbacks([
        "gap 102+1",
        "orders of 7 out of sync",
        "7 out of sync",
        "channel Recovering",
    ]);
    assert_eq!(trace.counter("missing_feeds"), 2);
}

#[test]
fn loads_price_books_from_order_snapshot_feed() {
    for order_books in [OrderBooks::None, OrderBooks::Full] {
        let feeds = Feeds { snapshot: FeedLines::None, ..Feeds::ALL };
        let settings = Settings { order_books, max_orders: 4, ..settings_of(feeds) };
        let mut trace = Trace::new(settings);
        trace.a(&packet(100).heartbeat());
        trace.instrument(&packet(1).definition(7, 1, 10));
        assert!(trace.actions().contains(&Action::Join(Feed::SnapshotOrders)));
        let books = packet(1).snapshot(7, 100, 1, 3, &[(b'0', 1, 50, 1)]);
        // Bids and asks alternate.
        let orders = [buy(7, 1, 50, 1), sell(7, 2, 60, 2), buy(7, 3, 49, 3), sell(7, 4, 61, 4)];
        trace.order_snapshots(&books.order_snapshot(7, 100, 1, &orders));
        assert_eq!(trace.channel.state(), ChannelState::InSync);
        assert_eq!(trace.book(7), "1@50 |");
        assert_eq!(trace.counter("snapshot_packets"), 1);
        assert_eq!(trace.counter("missing_feeds") + trace.counter("unknown_templates"), 0);
        if order_books == OrderBooks::Full {
            assert_eq!(trace.orders(7), "1:1@50 3:3@49 | 2:2@60 4:4@61");
        }
        assert_eq!(trace.actions(), [Action::Leave(Feed::SnapshotOrders)]);
    }
}

#[test]
fn without_price_snapshots_books_stay_out_of_sync() {
    let feeds = Feeds { snapshot: FeedLines::None, ..Feeds::ALL };
    let settings = Settings { order_books: OrderBooks::Full, max_orders: 4, ..settings_of(feeds) };
    let mut trace = Trace::new(settings);
    trace.a(&packet(100).heartbeat());
    trace.instrument(&packet(1).definition(7, 1, 10));
    // The loop has only order books.
    for pass in 1..4 {
        let packet = sent_at(1, 1_000 * pass).order_snapshot(7, 100, 1, &[buy(7, 1, 50, 1)]);
        trace.order_snapshots(&packet);
    }
    assert!(!trace.channel.book_of(7).unwrap().is_in_sync());
    trace.a(&packet(101).book(END, &[bid(7, 5).change(1, 50, 1)]));
    assert!(trace.orders_in_sync(7));
    assert!(!trace.channel.book_of(7).unwrap().is_in_sync());
    assert_eq!(trace.channel.state(), ChannelState::Recovering);
}

#[test]
fn price_snapshots_in_order_loop_are_no_error() {
    let settings =
        Settings { order_books: OrderBooks::Full, max_orders: 4, ..settings_of(Feeds::ALL) };
    let mut trace = Trace::new(settings);
    trace.a(&packet(100).heartbeat());
    trace.instrument(&packet(1).definition(7, 1, 10));
    let books = packet(1).snapshot(7, 100, 1, 3, &[(b'0', 1, 50, 1)]);
    trace.order_snapshots(&books.order_snapshot(7, 100, 1, &[buy(7, 1, 50, 1)]));
    assert!(trace.orders_in_sync(7));
    assert!(
        !trace.channel.book_of(7).unwrap().is_in_sync(),
        "price books have a loop of their own"
    );
    trace.snapshot(&packet(1).snapshot(7, 100, 1, 3, &[(b'0', 1, 50, 1)]));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
    assert_eq!(trace.counter("unknown_templates"), 0);
}
