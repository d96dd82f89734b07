//! Natural refresh of books that wait for a snapshot.

use crate::support::*;
use hairpin_mdp3::{ChannelState, FeedLines, Feeds, Settings, SyncState};
use hairpin_time::Duration;

const REFRESHING: Settings = Settings { natural_refresh: true, ..SETTINGS };

/// Returns a trace in sync with 7 at RptSeq 1,001 and a bid at 50; then packet 102 is lost and 103
/// is a heartbeat.
fn after_a_gap(settings: Settings, depth: i8) -> Trace {
    let mut trace = Trace::in_sync_at(settings, depth, 1_000);
    trace.a(&packet(101).book(END, &[bid(7, 1_001).add(1, 50, 1)]));
    trace.a(&packet(103).heartbeat());
    trace.wait(Duration::from_millis(10));
    trace.recorder.take();
    trace
}

/// Returns a trace in sync with 7 at RptSeq 1,000, with one level and no implied book; then packet
/// 102 is lost and 103 is a heartbeat.
fn of_one_level_after_a_gap() -> Trace {
    let mut trace = Trace::in_sync_at(REFRESHING, 10, 1_000);
    trace.a(&packet(101).future(7, 2, [1, 0], 1));
    trace.a(&packet(103).heartbeat());
    trace.wait(Duration::from_millis(10));
    trace
}

#[test]
fn refresh_starts_empty_and_applies_entries() {
    let mut trace = after_a_gap(REFRESHING, 10);
    trace.a(&packet(104).book(END, &[bid(7, 1_005).overlay(1, 60, 2)]));
    trace.assert_callbacks(["7 naturally refreshed", "refreshed 7 Bi: 2@60 |", "end 104"]);
    trace.a(&packet(105).book(END, &[ask(7, 1_006).change(2, 63, 1), ask(7, 1_007).add(1, 61, 1)]));
    // The changed level moved from 2 to 3; level 2 is unknown.
    trace.assert_callbacks(["refreshed 7 A: 2@60 | 1@61", "end 105"]);
    trace.a(&packet(106).book(END, &[ask(7, 1_008).change(2, 62, 1)]));
    trace.assert_callbacks(["refreshed 7 -: 2@60 | 1@61 1@62 1@63", "end 106"]);
    assert_eq!(trace.channel.book_of(7).unwrap().sync_state(), SyncState::NaturallyRefreshed);
    assert_eq!(trace.channel.state(), ChannelState::Recovering);
    assert_eq!(trace.counter("refreshes"), 1);
}

#[test]
fn snapshot_completes_refreshed_book() {
    let mut trace = after_a_gap(REFRESHING, 10);
    trace.a(&packet(104).book(END, &[bid(7, 1_005).overlay(1, 60, 2)]));
    trace.a(&packet(105).book(END, &[bid(7, 1_006).add(1, 61, 1)]));
    trace.recorder.take();
    trace.snapshot(&packet(1).snapshot(7, 104, 2, 1_005, &[(b'0', 1, 60, 2), (b'0', 2, 50, 1)]));
    trace.assert_callbacks(["7 in sync", "restored 7 -: 1@61 2@60 1@50 |"]);
}

#[test]
fn discontinuous_snapshot_ends_refresh() {
    let mut trace = after_a_gap(REFRESHING, 10);
    trace.a(&packet(104).book(END, &[bid(7, 1_005).overlay(1, 60, 2)]));
    trace.recorder.take();
    trace.snapshot(&packet(1).snapshot(7, 103, 2, 1_003, &[(b'0', 1, 70, 2)]));
    trace.assert_callbacks(["7 out of sync"]);
    assert_eq!(trace.book(7), "|");
    trace.a(&packet(105).book(END, &[bid(7, 1_006).overlay(1, 62, 1)]));
    trace.assert_callbacks(["7 naturally refreshed", "refreshed 7 Bi: 1@62 |", "end 105"]);
}

#[test]
fn next_loss_restarts_refresh() {
    let mut trace = after_a_gap(REFRESHING, 10);
    trace.a(&packet(104).book(END, &[bid(7, 1_005).overlay(1, 60, 2)]));
    trace.a(&packet(106).heartbeat());
    trace.recorder.take();
    trace.wait(Duration::from_millis(10));
    trace.assert_callbacks(["gap 105+1", "7 out of sync"]);
    assert_eq!(trace.book(7), "|");
    trace.a(&packet(107).book(END, &[bid(7, 1_008).overlay(2, 58, 2)]));
    trace.assert_callbacks(["7 naturally refreshed", "refreshed 7 -i: |", "end 107"]);
    // A loss that affects this instrument only.
    trace.a(&packet(108).book(END, &[bid(7, 1_009).overlay(1, 59, 2)]));
    trace.assert_callbacks(["refreshed 7 B: 2@59 2@58 |", "end 108"]);
    trace.a(&packet(109).book(END, &[bid(7, 1_011).overlay(1, 57, 2)]));
    trace.assert_callbacks(["refreshed 7 B: 2@57 |", "end 109"]);
}

#[test]
fn depth_1_completes_when_both_sides_are_restated() {
    let mut trace = of_one_level_after_a_gap();
    trace.a(&packet(104).book(END, &[bid(7, 1_005).overlay(1, 60, 2)]));
    assert_eq!(trace.channel.book_of(7).unwrap().sync_state(), SyncState::NaturallyRefreshed);
    trace.recorder.take();
    trace.a(&packet(105).book(END, &[ask(7, 1_006).add(1, 61, 1)]));
    trace.assert_callbacks(["7 in sync", "book 7 A: 2@60 | 1@61", "end 105 7A"]);
    assert_eq!(trace.counter("refreshes_completed"), 1);
    trace.a(&packet(106).book(END, &[ask(7, 1_007).delete(1)]));
    trace.assert_callbacks(["book 7 A: 2@60 |", "end 106 7A"]);
    // The next loss needs a refresh again.
    trace.a(&packet(107).book(END, &[ask(7, 1_009).add(1, 62, 1)]));
    trace.assert_callbacks([
        "7 out of sync",
        "7 naturally refreshed",
        "refreshed 7 BAi: | 1@62",
        "end 107",
    ]);
}

#[test]
fn deletion_restates_side_of_depth_1() {
    let mut trace = of_one_level_after_a_gap();
    trace.a(&packet(104).book(END, &[bid(7, 1_005).delete(1), ask(7, 1_006).delete_thru(1)]));
    assert!(trace.channel.book_of(7).unwrap().is_in_sync());
    assert_eq!(trace.book(7), "|");
}

#[test]
fn depth_1_with_implied_book_waits_for_snapshot() {
    let mut trace = after_a_gap(REFRESHING, 1);
    trace
        .a(&packet(104).book(END, &[bid(7, 1_005).overlay(1, 60, 2), ask(7, 1_006).add(1, 61, 1)]));
    assert_eq!(trace.channel.book_of(7).unwrap().sync_state(), SyncState::NaturallyRefreshed);
}

#[test]
fn does_not_refresh_deep_books_without_snapshots() {
    let feeds = Feeds { snapshot: FeedLines::None, snapshot_orders: FeedLines::None, ..Feeds::ALL };
    let mut trace = Trace::new(Settings { feeds, ..REFRESHING });
    trace.a(&packet(100).heartbeat());
    trace.instrument(&packet(1).definition(7, 2, 10).future(8, 2, [1, 0], 1));
    trace.a(&packet(101).book(END, &[bid(7, 5).overlay(1, 60, 2), bid(8, 5).overlay(1, 60, 2)]));
    assert_eq!(trace.channel.book_of(7).unwrap().sync_state(), SyncState::OutOfSync);
    assert_eq!(trace.channel.book_of(8).unwrap().sync_state(), SyncState::NaturallyRefreshed);
    trace.a(&packet(102).book(END, &[ask(8, 6).overlay(1, 61, 2)]));
    assert_eq!(trace.book(8), "2@60 | 2@61");
    assert!(trace.channel.book_of(8).unwrap().is_in_sync());
}

#[test]
fn refresh_is_disabled_by_default() {
    let mut trace = after_a_gap(SETTINGS, 10);
    trace.a(&packet(104).book(END, &[bid(7, 1_005).overlay(1, 60, 2)]));
    trace.assert_callbacks(["end 104"]);
    assert_eq!(trace.channel.book_of(7).unwrap().sync_state(), SyncState::OutOfSync);
    assert_eq!(trace.counter("refreshes"), 0);
}

#[test]
fn unaffected_book_is_not_refreshed() {
    let mut trace = after_a_gap(REFRESHING, 10);
    trace.a(&packet(104).book(END, &[bid(7, 1_002).add(1, 51, 1)]));
    trace.assert_callbacks(["7 in sync", "book 7 B: 1@51 1@50 |", "end 104 7B"]);
}

#[test]
fn reset_ends_refresh() {
    let mut trace = after_a_gap(REFRESHING, 10);
    trace.a(&packet(104).book(END, &[bid(7, 1_005).overlay(1, 60, 2)]));
    trace.recorder.take();
    // A reset of the book only.
    trace.a(&packet(105).book(END, &[bid(7, 1_006).add(1, 0, 0).with_entry_type(b'J')]));
    trace.assert_callbacks(["7 in sync", "book 7 Bi: |", "end 105 7Bi"]);
    let mut trace = after_a_gap(REFRESHING, 10);
    trace.a(&packet(104).book(END, &[bid(7, 1_005).overlay(1, 60, 2)]));
    trace.recorder.take();
    trace.a(&packet(105).channel_reset());
    trace.assert_callbacks(["7 in sync", "8 in sync", "reset", "end 105", "channel InSync"]);
    assert_eq!(trace.book(7), "|");
}

#[test]
fn restart_ends_refresh() {
    let mut trace = after_a_gap(REFRESHING, 10);
    trace.a(&packet(104).book(END, &[bid(7, 1_005).overlay(1, 60, 2)]));
    trace.recorder.take();
    trace.a(&sent_at(1, 9_000).heartbeat());
    trace.assert_callbacks(["7 out of sync"]);
    assert_eq!(trace.book(7), "|");
}

#[test]
fn refresh_forgets_snapshot_sequence() {
    let mut trace = of_one_level_after_a_gap();
    // Ahead of the stream, which then loses 104.
    trace.snapshot(&packet(1).snapshot(7, 108, 2, 1_005, &[(b'0', 1, 40, 1)]));
    trace.a(&packet(105).book(END, &[bid(7, 1_010).overlay(1, 60, 1)]));
    trace.wait(Duration::from_millis(10));
    trace.a(&packet(106).book(END, &[ask(7, 1_011).overlay(1, 61, 1)]));
    trace.a(&packet(107).book(END, &[ask(7, 1_012).overlay(1, 62, 1)]));
    assert_eq!(trace.book(7), "1@60 | 1@62");
}

#[test]
fn deeper_book_waits_for_snapshot() {
    let mut trace = Trace::in_sync_at(REFRESHING, 10, 1_000);
    // Ten levels and no implied book.
    trace.a(&packet(101).future(7, 2, [10, 0], 1));
    trace.a(&packet(103).heartbeat());
    trace.wait(Duration::from_millis(10));
    trace
        .a(&packet(104).book(END, &[bid(7, 1_005).overlay(1, 60, 2), ask(7, 1_006).add(1, 61, 1)]));
    assert_eq!(trace.channel.book_of(7).unwrap().sync_state(), SyncState::NaturallyRefreshed);
    assert_eq!(trace.book(7), "2@60 | 1@61");
}

#[test]
fn invalid_entry_restarts_refresh() {
    let mut trace = after_a_gap(REFRESHING, 10);
    trace.a(&packet(104).book(END, &[bid(7, 1_005).overlay(1, 60, 2)]));
    trace.recorder.take();
    trace.a(&packet(105).book(END, &[bid(7, 1_006).overlay(0, 61, 1)]));
    trace.assert_callbacks(["refreshed 7 B: |", "end 105"]);
    trace.a(&packet(106).book(END, &[bid(7, 1_007).overlay(1, 62, 1)]));
    trace.assert_callbacks(["refreshed 7 B: 1@62 |", "end 106"]);
}

#[test]
fn old_snapshot_sequence_does_not_hide_loss() {
    let mut trace = of_one_level_after_a_gap();
    trace.snapshot(&packet(1).snapshot(7, 108, 2, 1_005, &[(b'0', 1, 40, 1)]));
    trace.a(&packet(105).book(END, &[bid(7, 1_010).overlay(1, 60, 1)]));
    trace.wait(Duration::from_millis(10));
    trace.a(&packet(106).book(END, &[ask(7, 1_011).overlay(1, 61, 1)]));
    assert!(trace.channel.book_of(7).unwrap().is_in_sync());
    // RptSeq 1,012 is missing, although the snapshot was of a later packet.
    trace.a(&packet(107).book(END, &[ask(7, 1_013).overlay(1, 62, 1)]));
    assert!(!trace.channel.book_of(7).unwrap().is_in_sync());
}
