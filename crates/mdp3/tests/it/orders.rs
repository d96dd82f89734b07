//! Effects of entries on order books, and their sync states.

use crate::support::*;
use hairpin_mdp3::{
    Action, BookSide, ChannelState, Feed, LateJoin, OrderBooks, Settings, SyncState,
};
use hairpin_time::Duration;

const FULL: Settings = Settings { order_books: OrderBooks::Full, max_orders: 16, ..SETTINGS };
const TOP: Settings = Settings { order_books: OrderBooks::Top, ..SETTINGS };

/// Returns a trace with instruments 7 and 8 defined and their price books in sync after packet 100;
/// their orders are unknown.
fn joined(settings: Settings) -> Trace {
    let mut trace = Trace::new(settings);
    trace.a(&packet(100).heartbeat());
    trace.instrument(&packet(1).definition(7, 2, 10).definition(8, 2, 10));
    trace.snapshot(&packet(1).snapshot(7, 100, 2, 0, &[]).snapshot(8, 100, 2, 0, &[]));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
    trace.actions();
    trace.recorder.take();
    trace
}

/// Returns the same with empty order books in sync.
fn in_sync(settings: Settings) -> Trace {
    let mut trace = joined(settings);
    let books = sent_at(1, 50).order_snapshot(7, 100, 2, &[]).order_snapshot(8, 100, 2, &[]);
    if settings.order_books == OrderBooks::Top {
        trace.snapshot(&books);
    } else {
        trace.order_snapshots(&books);
    }
    assert!(trace.orders_in_sync(7) && trace.orders_in_sync(8));
    trace.actions();
    trace.recorder.take();
    trace
}

/// Loses packet 101.
fn lose_a_packet(trace: &mut Trace) {
    trace.a(&packet(102).heartbeat());
    trace.wait(Duration::from_millis(10));
    assert!(!trace.orders_in_sync(7) && !trace.orders_in_sync(8));
    trace.actions();
    trace.recorder.take();
}

#[test]
fn sorts_orders_by_price_then_priority() {
    let mut trace = in_sync(FULL);
    let late = OrderEntry { priority: Some(1), ..buy(7, 9, 50, 1) };
    trace.a(&packet(101).orders(
        END,
        &[buy(7, 2, 50, 2), buy(7, 3, 51, 3), late, sell(7, 5, 60, 5), sell(7, 4, 60, 4)],
    ));
    assert_eq!(trace.orders(7), "3:3@51 9:1@50 2:2@50 | 4:4@60 5:5@60");
    trace.assert_callbacks([
        "orders 7: 3:3@51 9:1@50 2:2@50 | 4:4@60 5:5@60[+2][+3][+9][+5][+4]",
        "end 101 7o",
    ]);
}

#[test]
fn message_adds_changes_and_removes_orders() {
    let mut trace = in_sync(FULL);
    trace.a(&packet(101).orders(END, &[buy(7, 1, 50, 1), buy(7, 2, 50, 2), sell(8, 3, 60, 3)]));
    trace.recorder.take();
    trace.a(&packet(102)
        .orders(END, &[buy(7, 1, 49, 4).changed(), buy(7, 2, 0, 0).deleted(), sell(8, 4, 59, 4)]));
    trace.assert_callbacks([
        "orders 7: 1:4@49 |[~1][-2]",
        "orders 8: | 4:4@59 3:3@60[+4]",
        "end 102 7o 8o",
    ]);
    assert_eq!(trace.counter("order_entries"), 6);
}

#[test]
fn end_of_event_lists_all_changed_order_books() {
    let mut trace = in_sync(FULL);
    trace.a(&packet(101).orders(MORE, &[buy(7, 1, 50, 1)]));
    let second = packet(102).in_event_of(101);
    trace.a(&second.orders(MORE, &[buy(8, 2, 50, 1)]).orders(MORE, &[buy(7, 3, 50, 1)]));
    trace.recorder.take();
    trace.a(&packet(103).in_event_of(101).book(END, &[]));
    trace.assert_callbacks(["end 103 7o 8o"]);
    trace.a(&packet(104).book(END, &[]));
    trace.assert_callbacks(["end 104"]);
}

#[test]
fn book_message_orders_use_fields_of_level() {
    for is_long in [false, true] {
        let mut trace = in_sync(FULL);
        let levels = [bid(7, 1).add(1, 50, 5), ask(8, 1).add(1, 60, 2), ask(8, 2).add(2, 61, 1)];
        let orders = [
            buy(0, 1, 0, 2).at(1),
            buy(0, 2, 0, 3).at(1),
            buy(0, 3, 0, 2).at(2),
            buy(0, 4, 0, 1).at(3),
        ];
        let message = if is_long {
            packet(101).long_combined(END, &levels, &orders)
        } else {
            packet(101).combined(END, &levels, &orders)
        };
        trace.a(&message);
        trace.assert_callbacks([
            "orders 7: 1:2@50 2:3@50 |[+1][+2]",
            "orders 8: | 3:2@60 4:1@61[+3][+4]",
            "book 7 B: 5@50 |",
            "book 8 A: | 2@60 1@61",
            "end 101 7B 8A 7o 8o",
        ]);
    }
}

#[test]
fn order_books_match_price_books() {
    let mut trace = in_sync(FULL);
    let levels = [bid(7, 1).add(1, 50, 5), bid(7, 2).add(2, 49, 1)];
    let orders = [buy(0, 1, 0, 2).at(1), buy(0, 2, 0, 3).at(1), buy(0, 3, 0, 1).at(2)];
    trace.a(&packet(101).combined(END, &levels, &orders));
    let instrument = trace.channel.find(7).unwrap();
    let by_order: Vec<_> = trace
        .channel
        .order_book(instrument)
        .levels(BookSide::Bid)
        .map(|level| (level.price, level.quantity))
        .collect();
    let by_price: Vec<_> = trace.channel.book(instrument).bids().iter().collect();
    let by_price: Vec<_> = by_price.iter().map(|level| (level.price, level.quantity)).collect();
    assert_eq!(by_order, by_price);
    let orders = trace.channel.order_book(instrument).levels(BookSide::Bid).map(|l| l.orders);
    assert_eq!(orders.collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn accepts_level_without_orders_and_order_without_level() {
    let mut trace = in_sync(FULL);
    trace.a(&packet(101).combined(END, &[bid(7, 1).add(1, 50, 5)], &[]));
    trace.a(&packet(102).orders(END, &[buy(7, 1, 40, 1)]));
    trace.assert_callbacks([
        "book 7 B: 5@50 |",
        "end 101 7B",
        "orders 7: 1:1@40 |[+1]",
        "end 102 7o",
    ]);
}

#[test]
fn unknown_order_requires_snapshot() {
    for entry in [buy(7, 9, 50, 1).changed(), buy(7, 9, 50, 1).deleted(), buy(7, 1, 50, 1)] {
        let mut trace = in_sync(FULL);
        trace.a(&packet(101).orders(END, &[buy(7, 1, 50, 1)]));
        trace.a(&packet(102).orders(END, &[entry, sell(7, 2, 60, 1), buy(8, 3, 50, 1)]));
        assert!(!trace.orders_in_sync(7) && trace.orders_in_sync(8), "{entry:?}");
        assert!(trace.channel.book_of(7).unwrap().is_in_sync(), "the price book is independent");
        assert_eq!(trace.actions(), [Action::Join(Feed::SnapshotOrders)]);
        // A snapshot as of before the error is rejected; one as of its packet is accepted.
        trace.order_snapshots(&sent_at(1, 110).order_snapshot(7, 101, 2, &[buy(7, 1, 50, 1)]));
        assert!(!trace.orders_in_sync(7));
        trace.a(&packet(103).orders(END, &[sell(7, 5, 60, 1)]));
        trace.recorder.take();
        trace.order_snapshots(&sent_at(1, 120).order_snapshot(7, 102, 2, &[sell(7, 2, 60, 1)]));
        trace.assert_callbacks(["orders of 7 in sync", "orders restored 7: | 2:1@60 5:1@60"]);
        assert_eq!(trace.actions(), [Action::Leave(Feed::SnapshotOrders)]);
    }
}

#[test]
fn without_snapshots_unknown_order_is_only_counted() {
    let mut trace = Trace::new(Settings { late_join: LateJoin::Nothing, ..FULL });
    trace.a(&packet(101).orders(END, &[buy(7, 1, 50, 1), buy(7, 9, 50, 1).deleted()]));
    assert_eq!(trace.orders(7), "1:1@50 |");
    assert!(trace.orders_in_sync(7));
    assert_eq!(trace.counter("missing_orders"), 1);
    assert_eq!(trace.actions(), [Action::Join(Feed::Incremental)]);
}

#[test]
fn gap_loses_sync_of_all_order_books() {
    let mut trace = in_sync(FULL);
    trace.a(&packet(102).orders(END, &[buy(7, 1, 50, 1)]));
    trace.wait(Duration::from_millis(10));
    trace.assert_callbacks([
        "gap 101+1",
        "orders of 7 out of sync",
        "orders of 8 out of sync",
        "7 out of sync",
        "8 out of sync",
        "channel Recovering",
        "end 102",
    ]);
    assert_eq!(
        trace.actions(),
        [Feed::Instrument, Feed::Snapshot, Feed::SnapshotOrders].map(Action::Join)
    );
}

#[test]
fn unaffected_price_book_does_not_restore_orders() {
    let mut trace = in_sync(FULL);
    lose_a_packet(&mut trace);
    // Proof needs more entries than the lost packet can contain.
    assert!(!trace.channel.book_of(7).unwrap().is_in_sync());
    trace.snapshot(&sent_at(1, 110).snapshot(7, 102, 2, 0, &[]).snapshot(8, 102, 2, 0, &[]));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
    assert!(!trace.orders_in_sync(7) && !trace.orders_in_sync(8));
    assert_eq!(
        trace.actions(),
        [Action::Leave(Feed::Snapshot)],
        "the order snapshots are still wanted"
    );
}

#[test]
fn applies_queued_orders_after_369_only() {
    let mut trace = in_sync(FULL);
    lose_a_packet(&mut trace);
    for sequence in 103..=105 {
        let id = u64::from(sequence);
        trace.a(&packet(sequence).orders(END, &[buy(7, id, 50, 1)]));
    }
    trace.recorder.take();
    let at_104 = [buy(7, 103, 50, 1), buy(7, 104, 50, 1)];
    trace.order_snapshots(&sent_at(1, 120).order_snapshot(7, 104, 2, &at_104));
    trace.assert_callbacks([
        "orders of 7 in sync",
        "orders restored 7: 103:1@50 104:1@50 105:1@50 |",
    ]);
}

#[test]
fn drops_orders_contained_in_snapshot_ahead() {
    let mut trace = in_sync(FULL);
    lose_a_packet(&mut trace);
    let at_104 = [buy(7, 103, 50, 1), buy(7, 104, 50, 1)];
    trace.order_snapshots(&sent_at(1, 120).order_snapshot(7, 104, 2, &at_104));
    for sequence in 103..=105 {
        let id = u64::from(sequence);
        trace.a(&packet(sequence).orders(END, &[buy(7, id, 50, 1)]));
    }
    assert_eq!(trace.orders(7), "103:1@50 104:1@50 105:1@50 |");
    assert_eq!((trace.counter("orders_in_snapshot"), trace.counter("existing_orders")), (2, 0));
}

#[test]
fn rejects_snapshot_before_gap() {
    let mut trace = in_sync(FULL);
    lose_a_packet(&mut trace);
    trace.order_snapshots(&sent_at(1, 110).order_snapshot(7, 100, 2, &[]));
    assert_eq!((trace.orders_in_sync(7), trace.counter("order_snapshots_too_old")), (false, 1));
    trace.order_snapshots(&sent_at(1, 120).order_snapshot(7, 101, 2, &[]));
    assert!(trace.orders_in_sync(7));
}

#[test]
fn rejects_snapshot_of_other_epoch() {
    let mut trace = in_sync(FULL);
    lose_a_packet(&mut trace);
    trace.order_snapshots(&sent_at(1, 110).order_snapshot(7, 204, 2, &[]));
    assert!(!trace.orders_in_sync(7));
    assert_eq!(trace.counter("order_snapshots_too_far_ahead"), 1);
}

#[test]
fn loads_snapshot_with_all_chunks() {
    let mut trace = in_sync(FULL);
    lose_a_packet(&mut trace);
    trace.order_snapshots(&sent_at(1, 110).order_chunk((7, 102, 2), (1, 3), &[buy(7, 1, 50, 1)]));
    trace.order_snapshots(&sent_at(2, 111).order_chunk((7, 102, 2), (2, 3), &[buy(7, 2, 50, 1)]));
    assert!(!trace.orders_in_sync(7));
    trace.assert_callbacks([]);
    trace.order_snapshots(&sent_at(3, 112).order_chunk((7, 102, 2), (3, 3), &[sell(7, 3, 60, 1)]));
    trace.assert_callbacks(["orders of 7 in sync", "orders restored 7: 1:1@50 2:1@50 | 3:1@60"]);
    assert_eq!(trace.counter("order_snapshots_applied"), 3);
}

#[test]
fn does_not_combine_chunks_of_different_369() {
    let mut trace = in_sync(FULL);
    lose_a_packet(&mut trace);
    trace.order_snapshots(&sent_at(1, 110).order_chunk((7, 102, 2), (1, 2), &[buy(7, 1, 50, 1)]));
    trace.order_snapshots(&sent_at(2, 111).order_chunk((7, 103, 2), (2, 2), &[buy(7, 2, 50, 1)]));
    assert!(!trace.orders_in_sync(7));
    assert_eq!(trace.counter("order_snapshots_torn"), 1);
    // The next pass contains both.
    trace.order_snapshots(&sent_at(1, 120).order_chunk((7, 104, 2), (1, 2), &[buy(7, 1, 50, 1)]));
    trace.order_snapshots(&sent_at(2, 121).order_chunk((7, 104, 2), (2, 2), &[buy(7, 2, 50, 1)]));
    assert_eq!(trace.orders(7), "1:1@50 2:1@50 |");
    assert!(trace.orders_in_sync(7));
}

#[test]
fn ignores_snapshot_with_missing_chunk() {
    let mut trace = in_sync(FULL);
    lose_a_packet(&mut trace);
    trace.order_snapshots(&sent_at(1, 110).order_chunk((7, 102, 2), (1, 3), &[buy(7, 1, 50, 1)]));
    trace.order_snapshots(&sent_at(3, 112).order_chunk((7, 102, 2), (3, 3), &[buy(7, 3, 50, 1)]));
    assert!(!trace.orders_in_sync(7));
    // The other line delivers the missing packet.
    let missing = sent_at(2, 111).order_chunk((7, 102, 2), (2, 3), &[buy(7, 2, 50, 1)]);
    trace.on(Feed::SnapshotOrders, hairpin_mdp3::FeedLine::B, &missing);
    assert_eq!(trace.orders(7), "1:1@50 2:1@50 3:1@50 |");
    assert!(trace.orders_in_sync(7));
}

#[test]
fn gap_between_chunks_invalidates_snapshot() {
    let mut trace = in_sync(FULL);
    lose_a_packet(&mut trace);
    trace.order_snapshots(&sent_at(1, 110).order_chunk((7, 102, 2), (1, 2), &[buy(7, 1, 50, 1)]));
    trace.a(&packet(104).heartbeat());
    trace.wait(Duration::from_millis(10));
    trace.order_snapshots(&sent_at(2, 111).order_chunk((7, 102, 2), (2, 2), &[buy(7, 2, 50, 1)]));
    assert!(!trace.orders_in_sync(7));
}

#[test]
fn absent_instrument_has_no_orders_as_of_lowest_369() {
    let mut trace = in_sync(FULL);
    trace.a(&packet(101).orders(END, &[buy(8, 1, 50, 1)]));
    trace.a(&packet(103).orders(END, &[buy(8, 2, 50, 1)]));
    trace.wait(Duration::from_millis(10));
    trace.a(&packet(104).orders(END, &[buy(8, 3, 50, 1)]));
    trace.actions();
    trace.recorder.take();
    // The pass names one instrument, as of 103, but not 8.
    trace.order_snapshots(&sent_at(1, 110).order_chunk((7, 103, 1), (1, 2), &[buy(7, 9, 50, 1)]));
    trace.order_snapshots(&sent_at(2, 111).order_chunk((7, 103, 1), (2, 2), &[]));
    trace.assert_callbacks([
        "orders of 8 in sync",
        "orders restored 8: 3:1@50 |",
        "orders of 7 in sync",
        "orders restored 7: 9:1@50 |",
    ]);
    assert_eq!(trace.counter("order_books_empty_by_absence"), 1);
}

/// Returns whether the order books of 7, 8 and 9 are in sync.
fn all_three(trace: &Trace) -> [bool; 3] {
    [7, 8, 9].map(|id| trace.orders_in_sync(id))
}

/// Loses packet 101 on a channel with a third instrument, 9.
fn lose_a_packet_of_three() -> Trace {
    let mut trace = in_sync(FULL);
    trace.a(&packet(101).definition(9, 3, 10));
    trace.a(&packet(103).heartbeat());
    trace.wait(Duration::from_millis(10));
    assert_eq!(all_three(&trace), [false; 3]);
    trace
}

#[test]
fn absence_from_outdated_pass_proves_nothing() {
    for sequence in [101, 205] {
        let mut trace = lose_a_packet_of_three();
        trace.order_snapshots(&sent_at(1, 110).order_snapshot(7, sequence, 1, &[]));
        assert_eq!(all_three(&trace), [false; 3], "{sequence}");
    }
}

#[test]
fn lowest_369_counts_anywhere_in_pass() {
    let mut trace = lose_a_packet_of_three();
    let pass = sent_at(1, 110).order_snapshot(7, 101, 2, &[]);
    trace.order_snapshots(&pass.order_snapshot(8, 103, 2, &[]));
    assert_eq!(all_three(&trace), [false, true, false]);
}

#[test]
fn changed_total_proves_no_absence() {
    let mut trace = lose_a_packet_of_three();
    trace.order_snapshots(&sent_at(1, 110).order_snapshot(7, 103, 3, &[]));
    trace.order_snapshots(&sent_at(2, 111).order_snapshot(8, 103, 2, &[]));
    assert_eq!(all_three(&trace), [true, true, false]);
}

#[test]
fn later_pass_does_not_continue_older_one() {
    let mut trace = lose_a_packet_of_three();
    trace.a(&packet(104).book(END, &[8, 9].map(|id| bid(id, 1).with_entry_type(b'J'))));
    // The last waiting instrument; the channel leaves the loop during a pass of two packets.
    trace.order_snapshots(&sent_at(1, 110).order_snapshot(7, 110, 2, &[]));
    assert_eq!(all_three(&trace), [true; 3]);
    trace.a(&packet(105).orders(END, &[buy(8, 1, 50, 1)]));
    trace.a(&packet(107).heartbeat());
    trace.wait(Duration::from_millis(10));
    // The later pass names 8 in its first packet, which is lost.
    trace.order_snapshots(&sent_at(2, 500).order_snapshot(9, 111, 2, &[]));
    assert_eq!(all_three(&trace), [false, false, true]);
}

#[test]
fn pass_with_lost_packet_proves_no_absence() {
    let mut trace = in_sync(FULL);
    lose_a_packet(&mut trace);
    trace.order_snapshots(&sent_at(1, 110).heartbeat());
    trace.order_snapshots(&sent_at(3, 112).order_snapshot(7, 102, 1, &[]));
    assert!(trace.orders_in_sync(7) && !trace.orders_in_sync(8));
}

#[test]
fn pass_of_heartbeats_means_no_orders() {
    let mut trace = in_sync(FULL);
    lose_a_packet(&mut trace);
    trace.order_snapshots(&sent_at(1, 110).heartbeat());
    assert!(!trace.orders_in_sync(7));
    trace.order_snapshots(&sent_at(1, 120).heartbeat());
    trace.assert_callbacks([
        "orders of 7 in sync",
        "orders restored 7: |",
        "orders of 8 in sync",
        "orders restored 8: |",
    ]);
    assert_eq!(trace.actions(), [Action::Leave(Feed::SnapshotOrders)]);
}

#[test]
fn pass_of_heartbeats_ignores_active_instruments() {
    let mut trace = in_sync(FULL);
    lose_a_packet(&mut trace);
    trace.a(&packet(103).orders(END, &[buy(7, 1, 50, 1)]));
    trace.order_snapshots(&sent_at(1, 120).heartbeat());
    trace.order_snapshots(&sent_at(1, 130).heartbeat());
    assert!(!trace.orders_in_sync(7), "the loop will still name it");
}

#[test]
fn overtaken_pass_of_heartbeats_proves_nothing() {
    let mut trace = in_sync(FULL);
    lose_a_packet(&mut trace);
    // The pass began before packet 102 was sent.
    trace.order_snapshots(&sent_at(1, 101).heartbeat());
    trace.order_snapshots(&sent_at(1, 130).heartbeat());
    assert!(!trace.orders_in_sync(7));
    trace.order_snapshots(&sent_at(1, 140).heartbeat());
    assert!(trace.orders_in_sync(7));
}

#[test]
fn late_join_loads_orders_and_queue() {
    let mut trace = Trace::new(FULL);
    trace.a(&packet(100).heartbeat());
    // Instrument 7 is not known yet.
    trace.a(&packet(101).orders(END, &[buy(7, 1, 50, 1)]));
    assert_eq!(trace.actions(), [Action::Join(Feed::Incremental), Action::Join(Feed::Instrument)]);
    trace.instrument(&packet(1).definition(7, 2, 10).definition(8, 2, 10));
    assert_eq!(
        trace.actions(),
        [
            Action::Leave(Feed::Instrument),
            Action::Join(Feed::Snapshot),
            Action::Join(Feed::SnapshotOrders)
        ]
    );
    trace.recorder.take();
    trace.order_snapshots(&packet(1).order_snapshot(7, 100, 1, &[buy(7, 5, 49, 1)]));
    trace.assert_callbacks([
        "orders of 7 in sync",
        "orders restored 7: 1:1@50 5:1@49 |",
        "orders of 8 in sync",
        "orders restored 8: |",
    ]);
    assert!(!trace.channel.book_of(7).unwrap().is_in_sync(), "the price book still waits");
}

#[test]
fn join_without_definitions_adds_instruments_by_orders() {
    let mut trace = Trace::new(Settings { late_join: LateJoin::Books, ..FULL });
    trace.a(&packet(100).heartbeat());
    trace.a(&packet(101).orders(END, &[buy(7, 1, 50, 1)]));
    trace.actions();
    trace.order_snapshots(&packet(1).order_snapshot(8, 100, 1, &[sell(8, 2, 60, 1)]));
    assert_eq!((trace.orders(7), trace.orders(8)), ("1:1@50 |".into(), "| 2:1@60".into()));
    assert!(trace.orders_in_sync(7) && trace.orders_in_sync(8));
    assert_eq!(trace.actions(), [Action::Leave(Feed::SnapshotOrders)]);
    // From now on the first order of an instrument is queued until a snapshot contains it.
    trace.a(&packet(102).orders(END, &[buy(9, 3, 50, 1)]));
    assert!(!trace.orders_in_sync(9));
    trace.order_snapshots(&sent_at(1, 110).order_snapshot(8, 101, 1, &[sell(8, 2, 60, 1)]));
    assert_eq!((trace.orders(9).as_str(), trace.orders_in_sync(9)), ("3:1@50 |", true));
}

#[test]
fn join_without_definitions_waits_for_loop() {
    let mut trace = Trace::new(Settings { late_join: LateJoin::Books, ..FULL });
    trace.a(&packet(100).heartbeat());
    assert!(trace.actions().contains(&Action::Join(Feed::SnapshotOrders)));
    // No instrument has orders now.
    trace.a(&packet(101).channel_reset());
    assert!(trace.actions().contains(&Action::Leave(Feed::SnapshotOrders)));
}

#[test]
fn intraday_instrument_starts_without_orders() {
    let mut trace = in_sync(FULL);
    trace.a(&packet(101).definition(9, 3, 10).orders(END, &[buy(9, 1, 50, 1)]));
    assert_eq!((trace.orders(9).as_str(), trace.orders_in_sync(9)), ("1:1@50 |", true));
}

#[test]
fn deleted_instrument_loses_its_orders() {
    use hairpin_cme_codecs::mdp3::SecurityUpdateAction;
    let mut trace = in_sync(Settings { max_orders: 1, ..FULL });
    trace.a(&packet(101).orders(END, &[buy(7, 1, 50, 1)]));
    trace.a(&packet(102).definition_with(7, None, 10, SecurityUpdateAction::DELETE));
    let instrument = trace.channel.find(7).unwrap();
    assert_eq!(trace.channel.order_book(instrument).sync_state(), SyncState::Unknown);
    assert_eq!(trace.orders(7), "|");
    // The memory is free for other instruments.
    trace.a(&packet(103).orders(END, &[buy(8, 2, 50, 1)]));
    assert_eq!(trace.orders(8), "2:1@50 |");
}

#[test]
fn channel_reset_empties_order_books() {
    let mut trace = in_sync(FULL);
    trace.a(&packet(101).orders(END, &[buy(7, 1, 50, 1)]));
    trace.a(&packet(103).orders(END, &[buy(8, 2, 50, 1)]));
    trace.wait(Duration::from_millis(10));
    trace.actions();
    trace.recorder.take();
    trace.a(&packet(104).channel_reset().orders(END, &[buy(7, 1, 51, 1)]));
    trace.assert_callbacks([
        "orders of 7 in sync",
        "orders of 8 in sync",
        "7 in sync",
        "8 in sync",
        "reset",
        "end 104",
        "orders 7: 1:1@51 |[+1]",
        "end 104 7o",
        "channel InSync",
    ]);
    assert_eq!(trace.orders(8), "|");
}

#[test]
fn reset_clears_activity_before_heartbeat_loop() {
    let mut trace = Trace::new(FULL);
    trace.a(&packet(100).heartbeat());
    trace.a(&packet(101).orders(END, &[buy(7, 1, 50, 1)]));
    trace.a(&packet(102).channel_reset());
    trace.instrument(&packet(1).definition(7, 2, 10).definition(8, 2, 10));
    trace.order_snapshots(&sent_at(1, 110).heartbeat());
    assert!(!trace.orders_in_sync(7));
    trace.order_snapshots(&sent_at(1, 120).heartbeat());
    assert_eq!((trace.orders(7).as_str(), trace.orders_in_sync(7)), ("|", true));
}

#[test]
fn book_reset_forgets_snapshot_ahead() {
    let mut trace = in_sync(FULL);
    lose_a_packet(&mut trace);
    trace.order_snapshots(&sent_at(1, 110).order_snapshot(7, 107, 2, &[buy(7, 7, 50, 1)]));
    // Packet 103 is lost.
    trace.a(&packet(104).book(END, &[bid(7, 9).with_entry_type(b'J')]));
    trace.wait(Duration::from_millis(10));
    assert_eq!((trace.orders(7).as_str(), trace.orders_in_sync(7)), ("|", true));
    trace.a(&packet(105).orders(END, &[buy(7, 5, 50, 1)]));
    assert_eq!(trace.orders(7), "5:1@50 |");
}

#[test]
fn book_reset_empties_order_book() {
    for settings in [FULL, TOP] {
        let mut trace = in_sync(settings);
        lose_a_packet(&mut trace);
        trace.a(&packet(103).book(END, &[bid(7, 9).with_entry_type(b'J')]));
        assert!(trace.orders_in_sync(7) && !trace.orders_in_sync(8));
        assert_eq!(trace.orders(7), "|");
        let lines = trace.recorder.take();
        assert!(lines.contains(&"orders restated 7: |".to_owned()), "{lines:?}");
    }
}

#[test]
fn unannounced_restart_loses_order_sync() {
    for is_announced in [false, true] {
        let mut trace = in_sync(FULL);
        trace.a(&packet(101).orders(END, &[buy(7, 1, 50, 1)]));
        if is_announced {
            trace.a(&packet(102).channel_reset());
        }
        trace.a(&sent_at(1, 9_000).orders(END, &[buy(7, 2, 50, 1)]));
        assert_eq!(trace.counter("restarts"), 1);
        assert_eq!(trace.orders_in_sync(7), is_announced);
        if is_announced {
            assert_eq!(trace.orders(7), "2:1@50 |");
        } else {
            trace.order_snapshots(&sent_at(1, 9_001).order_snapshot(7, 0, 2, &[buy(7, 1, 50, 1)]));
            assert_eq!(trace.orders(7), "1:1@50 2:1@50 |");
            assert!(trace.orders_in_sync(7));
        }
    }
}

#[test]
fn restart_clears_awaited_order_packets() {
    // An order book loses sync by an unknown order, or all of them by an order without its level.
    let level = [bid(7, 1).add(1, 50, 1)];
    let unknown = packet(101).orders(END, &[buy(7, 9, 50, 1).deleted()]);
    for packet in [unknown, packet(101).combined(END, &level, &[buy(0, 1, 0, 1).at(2)])] {
        let mut trace = in_sync(FULL);
        trace.a(&packet);
        assert!(!trace.orders_in_sync(7));
        trace.a(&sent_at(1, 9_000).heartbeat());
        trace.order_snapshots(&sent_at(1, 9_001).order_snapshot(7, 1, 2, &[]));
        assert!(trace.orders_in_sync(7));
    }
}

#[test]
fn ignores_order_snapshots_of_older_epoch() {
    let mut trace = in_sync(FULL);
    trace.a(&sent_at(1, 9_000).heartbeat());
    trace.order_snapshots(&sent_at(1, 8_999).order_snapshot(7, 1, 2, &[]));
    assert!(!trace.orders_in_sync(7));
    trace.order_snapshots(&sent_at(1, 9_001).order_snapshot(7, 1, 2, &[]));
    assert!(trace.orders_in_sync(7));
}

#[test]
fn order_beyond_capacity_empties_its_book_only() {
    let mut trace = in_sync(Settings { max_orders: 2, ..FULL });
    trace.a(&packet(101).orders(END, &[buy(7, 1, 50, 1), buy(8, 2, 50, 1)]));
    trace.recorder.take();
    trace.a(&packet(102).orders(END, &[buy(7, 3, 50, 1), buy(8, 4, 50, 1)]));
    trace.assert_callbacks([
        "warning dropped orders of instrument 7: max_orders reached",
        "orders of 7 out of sync",
        "orders 8: 2:1@50 4:1@50 |[+4]",
        "end 102 8o",
    ]);
    assert_eq!(trace.orders(7), "|");
    // A snapshot that does not fit changes nothing; one that fits restores the book.
    let two = [buy(7, 1, 50, 1), buy(7, 3, 50, 1)];
    trace.order_snapshots(&sent_at(1, 110).order_snapshot(7, 102, 2, &two));
    assert_eq!((trace.orders(7).as_str(), trace.orders_in_sync(7)), ("|", false));
    trace.a(&packet(103).orders(END, &[buy(8, 2, 0, 0).deleted(), buy(8, 4, 0, 0).deleted()]));
    trace.order_snapshots(&sent_at(1, 120).order_snapshot(7, 103, 2, &two));
    assert_eq!((trace.orders(7).as_str(), trace.orders_in_sync(7)), ("1:1@50 3:1@50 |", true));
}

#[test]
fn full_order_queue_requires_later_snapshot() {
    let mut trace = in_sync(Settings { queue_bytes: 96, ..FULL });
    lose_a_packet(&mut trace);
    for sequence in 103..=105 {
        let id = u64::from(sequence);
        trace.a(&packet(sequence).orders(END, &[buy(7, id, 50, 1)]));
    }
    assert_eq!(trace.counter("order_queue_overflows"), 1);
    trace.order_snapshots(&sent_at(1, 110).order_snapshot(7, 102, 2, &[]));
    assert!(!trace.orders_in_sync(7), "103 is not at hand");
    trace.order_snapshots(&sent_at(1, 120).order_snapshot(7, 103, 2, &[buy(7, 103, 50, 1)]));
    assert_eq!(trace.orders(7), "103:1@50 104:1@50 105:1@50 |");
}

#[test]
fn second_gap_clears_order_queue() {
    let mut trace = in_sync(Settings { queue_bytes: 96, ..FULL });
    lose_a_packet(&mut trace);
    let order = |sequence: u32| packet(sequence).orders(END, &[buy(7, u64::from(sequence), 50, 1)]);
    trace.a(&order(103));
    trace.a(&order(104));
    trace.a(&packet(106).heartbeat());
    trace.wait(Duration::from_millis(10));
    trace.a(&order(107));
    trace.a(&order(108));
    assert_eq!(trace.counter("order_queue_overflows"), 0);
    trace.order_snapshots(&sent_at(1, 120).order_snapshot(7, 106, 2, &[]));
    assert_eq!(trace.orders(7), "107:1@50 108:1@50 |");
}

#[test]
fn does_not_report_book_that_loses_sync_in_message() {
    let mut trace = in_sync(FULL);
    let unknown = buy(7, 9, 50, 1).deleted();
    trace.a(&packet(101).orders(END, &[buy(7, 1, 50, 1), unknown, buy(8, 3, 50, 1)]));
    let lines = trace.recorder.take();
    assert!(lines.contains(&"orders of 7 out of sync".to_owned()), "{lines:?}");
    assert!(lines.contains(&"orders 8: 3:1@50 |[+3]".to_owned()), "{lines:?}");
}

#[test]
fn inapplicable_queued_order_keeps_book_out_of_sync() {
    let mut trace = in_sync(FULL);
    lose_a_packet(&mut trace);
    trace.a(&packet(103).orders(END, &[buy(7, 1, 50, 1).deleted()]));
    trace.order_snapshots(&sent_at(1, 110).order_snapshot(7, 102, 2, &[]));
    assert!(!trace.orders_in_sync(7));
    assert_eq!(trace.counter("order_snapshots_not_continued"), 1);
    // The repeated snapshot is now too old.
    trace.order_snapshots(&sent_at(1, 115).order_snapshot(7, 102, 2, &[]));
    assert_eq!(trace.counter("order_snapshots_not_continued"), 1);
    assert_eq!(trace.counter("order_snapshots_too_old"), 1);
    trace.order_snapshots(&sent_at(1, 120).order_snapshot(7, 103, 2, &[]));
    assert!(trace.orders_in_sync(7));
}

#[test]
fn dangling_order_loses_sync_of_all_order_books() {
    let mut trace = in_sync(FULL);
    trace.a(&packet(101).combined(END, &[bid(7, 1).add(1, 50, 1)], &[buy(0, 1, 0, 1).at(2)]));
    trace.assert_callbacks([
        "error cannot apply order 1: its message has no entry 2",
        "orders of 7 out of sync",
        "orders of 8 out of sync",
        "book 7 B: 1@50 |",
        "end 101 7B",
    ]);
    trace.order_snapshots(&sent_at(1, 110).order_snapshot(7, 100, 2, &[]));
    assert!(!trace.orders_in_sync(7));
    trace.order_snapshots(&sent_at(1, 120).order_snapshot(7, 101, 2, &[]));
    assert!(trace.orders_in_sync(7));
}

#[test]
fn top_orders_replace_book() {
    let mut trace = in_sync(TOP);
    let interleaved = [buy(7, 1, 50, 1), sell(7, 2, 60, 2), buy(7, 3, 49, 3), sell(7, 4, 61, 4)];
    trace.a(&packet(101).top_orders(MORE, 7, &interleaved).book(END, &[bid(7, 1).add(1, 50, 1)]));
    trace.assert_callbacks([
        "orders restated 7: 1:1@50 3:3@49 | 2:2@60 4:4@61",
        "book 7 B: 1@50 |",
        "end 101 7B 7o",
    ]);
    trace.a(&packet(102).top_orders(END, 7, &[sell(7, 9, 58, 1)]));
    assert_eq!(trace.orders(7), "| 9:1@58");
    assert_eq!(trace.counter("order_overlays"), 2);
}

#[test]
fn top_orders_restore_sync() {
    let mut trace = in_sync(TOP);
    lose_a_packet(&mut trace);
    trace.a(&packet(103).top_orders(END, 7, &[buy(7, 1, 50, 1)]));
    trace.assert_callbacks(["orders of 7 in sync", "orders restated 7: 1:1@50 |", "end 103 7o"]);
    assert!(!trace.orders_in_sync(8));
}

#[test]
fn snapshot_restores_top_orders() {
    let mut trace = in_sync(TOP);
    lose_a_packet(&mut trace);
    let seven = sent_at(1, 110).snapshot(7, 102, 2, 0, &[]);
    trace.snapshot(&seven.order_snapshot(7, 102, 1, &[buy(7, 1, 50, 1)]));
    assert_eq!((trace.orders(7).as_str(), trace.orders_in_sync(7)), ("1:1@50 |", true));
    assert_eq!(
        (trace.counter("snapshot_packets"), trace.counter("order_snapshot_packets")),
        (3, 0)
    );
}

#[test]
fn drops_top_orders_contained_in_snapshot() {
    let mut trace = in_sync(TOP);
    lose_a_packet(&mut trace);
    trace.snapshot(&sent_at(1, 110).order_snapshot(7, 104, 2, &[buy(7, 4, 50, 1)]));
    trace.a(&packet(103).top_orders(END, 7, &[buy(7, 3, 50, 1)]));
    assert_eq!(trace.orders(7), "4:1@50 |");
    trace.a(&packet(104).top_orders(END, 7, &[buy(7, 4, 50, 1)]));
    trace.a(&packet(105).top_orders(END, 7, &[buy(7, 5, 50, 1)]));
    assert_eq!(trace.orders(7), "5:1@50 |");
    assert_eq!(trace.counter("orders_in_snapshot"), 2);
}

/// Found by `sim feed`, seed 54: the snapshot's sequence was still compared.
#[test]
fn top_orders_override_snapshot_before_loss() {
    let mut trace = in_sync(TOP);
    lose_a_packet(&mut trace);
    trace.snapshot(&sent_at(1, 110).order_snapshot(7, 107, 2, &[buy(7, 7, 50, 1)]));
    // Packet 103 is lost.
    trace.a(&packet(104).top_orders(END, 7, &[buy(7, 4, 50, 1)]));
    trace.wait(Duration::from_millis(10));
    assert_eq!(trace.orders(7), "4:1@50 |");
    trace.a(&packet(105).top_orders(END, 7, &[buy(7, 5, 50, 1)]));
    assert_eq!(trace.orders(7), "5:1@50 |");
}

#[test]
fn rejects_snapshot_before_missed_top_orders() {
    let mut trace = Trace::new(TOP);
    trace.a(&packet(100).heartbeat());
    trace.a(&packet(101).top_orders(END, 7, &[buy(7, 1, 50, 1)]));
    trace.instrument(&packet(1).definition(7, 1, 10));
    trace.snapshot(&packet(1).order_snapshot(7, 100, 1, &[]));
    assert!(!trace.orders_in_sync(7));
    trace.snapshot(&sent_at(1, 110).order_snapshot(7, 101, 1, &[buy(7, 1, 50, 1)]));
    assert!(trace.orders_in_sync(7));
}

#[test]
fn shared_loop_proves_absence_of_orders() {
    for settings in [TOP, Settings { order_snapshots: Feed::Snapshot, ..FULL }] {
        let mut trace = Trace::new(settings);
        trace.a(&packet(100).heartbeat());
        let definitions = packet(1).definition(7, 3, 10).definition(8, 3, 10);
        trace.instrument(&definitions.definition(9, 3, 10));
        // Instrument 8 has a price book and may have orders later; 9 has neither.
        let books = packet(1).snapshot(7, 100, 2, 0, &[]).order_snapshot(7, 100, 2, &[]);
        trace.snapshot(&books.snapshot(8, 100, 2, 0, &[]));
        let states = [7, 8, 9].map(|id| trace.orders_in_sync(id));
        assert_eq!(states, [true, false, true]);
    }
}

#[test]
fn shared_loop_without_orders_means_no_orders() {
    for settings in [TOP, Settings { order_snapshots: Feed::Snapshot, ..FULL }] {
        let mut trace = Trace::new(settings);
        trace.a(&packet(100).heartbeat());
        trace.instrument(&packet(1).definition(7, 2, 10).definition(8, 2, 10));
        let pass = packet(1).snapshot(7, 100, 2, 0, &[]).snapshot(8, 100, 2, 0, &[]);
        trace.snapshot(&pass);
        let states = [7, 8].map(|id| trace.orders_in_sync(id));
        assert_eq!(states, [false; 2], "orders may stand behind it yet");
        trace.snapshot(&sent_at(1, 90).snapshot(7, 100, 2, 0, &[]));
        assert_eq!([7, 8].map(|id| trace.orders_in_sync(id)), [true; 2]);
        assert_eq!(trace.counter("order_books_empty_by_absence"), 2);
    }
}

#[test]
fn channel_without_order_books_ignores_orders() {
    let mut trace = joined(SETTINGS);
    trace.a(&packet(101).orders(END, &[buy(7, 1, 50, 1)]).top_orders(END, 7, &[buy(7, 1, 50, 1)]));
    trace.assert_callbacks(["end 101", "end 101"]);
    let instrument = trace.channel.find(7).unwrap();
    assert_eq!(trace.channel.order_book(instrument).sync_state(), SyncState::Unknown);
    trace.order_snapshots(&packet(1).order_snapshot(7, 100, 1, &[]));
    assert_eq!(trace.counter("unwanted_packets"), 1);
}
