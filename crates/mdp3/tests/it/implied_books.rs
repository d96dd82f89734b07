//! Implied books: stored next to the direct ones, with the same rules and the same RptSeq.

use crate::support::*;
use hairpin_mdp3::{BookSide, ConsolidatedLevel, Settings};
use hairpin_time::Duration;

/// Returns an implied bid.
fn ebid(id: i32, rpt_seq: u32) -> Entry {
    bid(id, rpt_seq).with_entry_type(b'E')
}

/// Returns an implied ask.
fn eask(id: i32, rpt_seq: u32) -> Entry {
    bid(id, rpt_seq).with_entry_type(b'F')
}

#[test]
fn stores_implied_and_direct_prices() {
    let mut trace = Trace::in_sync();
    let packet = packet(101).book(MORE, &[bid(7, 1).add(1, 49, 1)]);
    trace.a(&packet.book(0x90, &[ebid(7, 2).add(1, 50, 2), eask(7, 3).add(1, 52, 3)]));
    trace.assert_callbacks([
        "book 7 B: 1@49 |",
        "book 7 ief: 1@49 | ~ 2@50 | 3@52",
        "end 101 7Bief",
    ]);
    assert_eq!((trace.book(7).as_str(), trace.implied(7).as_str()), ("1@49 |", "2@50 | 3@52"));
    assert_eq!((trace.counter("book_entries"), trace.counter("implied_entries")), (1, 2));
}

#[test]
fn update_reports_changed_implied_levels() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).book(END, &[ebid(7, 1).add(1, 50, 2)]));
    trace.a(&packet(102).book(END, &[ebid(7, 2).add(2, 49, 2)]));
    trace.a(&packet(103).book(END, &[ebid(7, 3).change(2, 49, 1)]));
    trace.a(&packet(104).book(END, &[ebid(7, 4).delete(1)]));
    trace.assert_callbacks([
        "book 7 ie: | ~ 2@50 |",
        "end 101 7ie",
        "book 7 i: | ~ 2@50 2@49 |",
        "end 102 7i",
        "book 7 i: | ~ 2@50 1@49 |",
        "end 103 7i",
        "book 7 ie: | ~ 1@49 |",
        "end 104 7ie",
    ]);
}

#[test]
fn implied_depth_follows_definition() {
    let mut trace = Trace::in_sync();
    let entries = [eask(7, 1).add(1, 50, 1), eask(7, 2).add(2, 51, 1), eask(7, 3).add(1, 49, 1)];
    trace.a(&packet(101).book(END, &entries));
    assert_eq!(trace.implied(7), "| 1@49 1@50", "two levels");
    trace.a(&packet(102).book(END, &[eask(7, 4).add(3, 51, 1)]));
    assert_eq!(trace.counter("beyond_depth"), 1);
    trace.a(&packet(103).spread(9, 3, &[7, 8]));
    let entries = [1, 2, 3].map(|level| eask(9, u32::from(level)).add(level, 50, 1));
    trace.a(&packet(104).book(END, &entries));
    assert_eq!(trace.implied(9), "| 1@50 1@50 1@50", "three levels");
}

#[test]
fn inapplicable_implied_entry_loses_sync_of_both_books() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).book(END, &[ebid(7, 1).delete(1)]));
    trace.assert_callbacks([
        "error cannot apply action 2 to instrument 7: the book has no level 1",
        "7 out of sync",
        "end 101",
        "channel Recovering",
    ]);
}

#[test]
fn missing_implied_entry_is_rpt_seq_gap() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).book(END, &[bid(7, 2).add(1, 50, 1)]));
    assert_eq!(trace.counter("rpt_seq_gaps"), 1);
    assert!(!trace.channel.book_of(7).unwrap().is_in_sync());
}

#[test]
fn snapshot_and_queue_restore_implied_levels() {
    let mut trace = Trace::in_sync_late();
    trace.a(&packet(102).book(END, &[ebid(7, 1_003).add(1, 50, 1)]));
    trace.wait(Duration::from_millis(10));
    trace.recorder.take();
    let levels = [(b'0', 1, 48, 4), (b'E', 1, 49, 5), (b'F', 2, 53, 6), (b'F', 1, 52, 7)];
    trace.snapshot(&packet(1).snapshot(7, 101, 2, 1_002, &levels));
    trace.assert_callbacks(["7 in sync", "restored 7 Bief: 4@48 | ~ 1@50 5@49 | 7@52 6@53"]);
    trace.a(&packet(103).book(END, &[eask(7, 1_004).delete(1)]));
    trace.assert_callbacks(["book 7 if: 4@48 | ~ 1@50 5@49 | 6@53", "end 103 7if"]);
}

#[test]
fn rejects_snapshot_with_implied_gap() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(102).heartbeat());
    trace.wait(Duration::from_millis(10));
    trace.snapshot(&packet(1).snapshot(7, 102, 2, 0, &[(b'E', 2, 49, 5)]));
    assert_eq!(trace.counter("invalid_snapshots"), 1);
}

#[test]
fn absent_instrument_has_no_implied_prices() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).book(END, &[ebid(8, 1).add(1, 50, 1)]));
    trace.a(&packet(103).heartbeat());
    trace.wait(Duration::from_millis(10));
    trace.snapshot(&sent_at(1, 90).snapshot(7, 103, 1, 0, &[]));
    assert_eq!((trace.implied(8).as_str(), trace.counter("empty_by_absence")), ("|", 1));
}

#[test]
fn smaller_implied_depth_drops_levels() {
    let mut trace = Trace::new(Settings { max_instruments: 1, ..SETTINGS });
    trace.a(&packet(100).heartbeat());
    trace.instrument(&packet(1).fx(7, 1));
    let levels = [(b'E', 1, 49, 5)];
    trace.snapshot(&packet(1).snapshot(7, 100, 1, 0, &levels));
    let instruments = trace.channel.instruments();
    assert_eq!(instruments.implied_book(trace.channel.find(7).unwrap()).depth(), 0);
    assert_eq!(trace.implied(7), "|");
}

#[test]
fn consolidated_book_is_ordered_by_price() {
    let mut trace = Trace::in_sync();
    let entries = [
        bid(7, 1).add(1, 50, 4),
        bid(7, 2).add(2, 48, 6),
        ebid(7, 3).add(1, 50, 1),
        ebid(7, 4).add(2, 49, 2),
        ask(7, 5).add(1, 53, 9),
        eask(7, 6).add(1, 52, 8),
    ];
    trace.a(&packet(101).book(END, &entries));
    let instrument = trace.channel.find(7).unwrap();
    let book = trace.channel.instruments().consolidated_book(instrument);
    let show = |level: ConsolidatedLevel| {
        let ConsolidatedLevel { price, quantity, implied_quantity, orders, .. } = level;
        format!("{quantity}({implied_quantity}, {orders})@{price}")
    };
    let bids: Vec<_> = book.bids().map(show).collect();
    assert_eq!(bids, ["5(1, 1)@50", "2(2, 0)@49", "6(0, 1)@48"]);
    let asks: Vec<_> = book.asks().map(show).collect();
    assert_eq!(asks, ["8(8, 0)@52", "9(0, 1)@53"]);
    assert!(book.direct().is_in_sync());
    assert_eq!(book.implied().level(BookSide::Bid, 2).unwrap().quantity, 2);
    assert_eq!(book.implied().level(BookSide::Bid, 0), None);
}

#[test]
fn long_quantities_build_same_implied_books() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).long_book(END, &[ebid(7, 1).add(1, 50, 4), eask(7, 2).add(1, 51, 5)]));
    trace.assert_callbacks(["book 7 ief: | ~ 4@50 | 5@51", "end 101 7ief"]);
}

#[test]
fn market_best_entry_is_no_level() {
    let mut trace = Trace::in_sync();
    let best = bid(7, 1).add(1, 50, 4).with_entry_type(b'x');
    trace.a(&packet(101).book(END, &[best, bid(7, 2).add(1, 49, 1)]));
    trace.assert_callbacks(["book 7 B: 1@49 |", "end 101 7B"]);
}

/// Returns the best market prices of instrument 7: `quantity@price` of bid and ask.
fn market_best(trace: &Trace) -> [Option<(i64, Option<u64>)>; 2] {
    let best = trace.channel.instruments().market_best(trace.channel.find(7).expect("known"));
    [best.bid, best.ask].map(|side| side.map(|side| (side.price.0 / 1_000_000_000, side.quantity)))
}

#[test]
fn market_best_is_stored_per_side() {
    let market_bid = |rpt_seq| bid(7, rpt_seq).with_entry_type(b'x');
    let market_ask = |rpt_seq| bid(7, rpt_seq).with_entry_type(b'w');
    let mut trace = Trace::in_sync();
    let unsized_ask = Entry { quantity: None, ..market_ask(2).add(0, 52, 0) };
    trace.a(&packet(101).long_book(END, &[market_bid(1).add(1, 50, 4), unsized_ask]));
    assert_eq!(market_best(&trace), [Some((50, Some(4))), Some((52, None))]);
    trace.a(&packet(102)
        .long_book(END, &[market_bid(3).change(1, 51, 5), market_ask(4).overlay(1, 53, 6)]));
    assert_eq!(market_best(&trace), [Some((51, Some(5))), Some((53, Some(6)))]);
    trace.a(&packet(103).long_book(END, &[market_bid(5).delete(1)]));
    assert_eq!(market_best(&trace), [None, Some((53, Some(6)))]);
    assert_eq!((trace.counter("market_best_entries"), trace.counter("rpt_seq_gaps")), (5, 0));
    // A BookReset and a ChannelReset clear both sides.
    trace.a(&packet(104)
        .long_book(END, &[bid(7, 6).with_entry_type(b'J'), market_bid(7).add(1, 50, 4)]));
    assert_eq!(market_best(&trace), [Some((50, Some(4))), None]);
    trace.a(&packet(105).channel_reset());
    assert_eq!(market_best(&trace), [None, None]);
}

#[test]
fn snapshot_restores_market_best() {
    let mut trace = Trace::in_sync_late();
    let before = bid(7, 1_001).add(1, 50, 4).with_entry_type(b'w');
    trace.a(&packet(101).long_book(END, &[before]));
    trace.a(&packet(103).long_book(END, &[bid(7, 1_004).add(1, 48, 2).with_entry_type(b'x')]));
    trace.wait(hairpin_time::Duration::from_millis(10));
    let levels = [(b'x', 1, 47, 9), (b'w', 1, 51, 5), (b'0', 1, 46, 3)];
    trace.snapshot(&sent_at(1, 200).snapshot(7, 102, 2, 1_003, &levels));
    let best = [Some((48, Some(2))), Some((51, Some(5)))];
    assert_eq!(market_best(&trace), best, "from the queued entry and the snapshot");
    assert_eq!(trace.book(7), "3@46 |");
}
