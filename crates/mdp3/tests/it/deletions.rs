//! Removal of levels: Delete, DeleteThru, DeleteFrom, Overlay, and levels below the depth.

use crate::support::*;

/// Returns a full book of depth 3: bids 9, 8, 7 and asks 11, 12, 13.
fn full() -> Trace {
    let mut trace = Trace::in_sync_with(SETTINGS, 3);
    let bids = [9, 8, 7].iter().zip(1..).map(|(price, n)| bid(7, n).add(n as u8, *price, 1));
    let asks = [11, 12, 13].iter().zip(1..).map(|(price, n)| ask(7, n + 3).add(n as u8, *price, 1));
    trace.a(&packet(101).book(END, &bids.chain(asks).collect::<Vec<_>>()));
    assert_eq!(trace.book(7), "1@9 1@8 1@7 | 1@11 1@12 1@13");
    trace.recorder.take();
    trace
}

/// Returns the full book after some entries with RptSeq from 7 on.
#[track_caller]
fn after(entries: &[Entry], expected: &str) -> Trace {
    let mut trace = full();
    let entries: Vec<_> =
        entries.iter().zip(7..).map(|(entry, rpt_seq)| Entry { rpt_seq, ..*entry }).collect();
    trace.a(&packet(102).book(END, &entries));
    assert_eq!(trace.book(7), expected);
    assert_eq!(trace.counter("invalid_entries") + trace.counter("inapplicable_entries"), 0);
    trace
}

#[test]
fn delete_in_full_book_leaves_last_level_empty() {
    let delete = bid(7, 0).delete(2);
    after(&[delete], "1@9 1@7 | 1@11 1@12 1@13");
    after(&[delete, bid(7, 0).add(3, 6, 4)], "1@9 1@7 4@6 | 1@11 1@12 1@13");
    after(&[bid(7, 0).delete(1), bid(7, 0).add(3, 6, 4)], "1@8 1@7 4@6 | 1@11 1@12 1@13");
    after(&[bid(7, 0).delete(3), bid(7, 0).add(3, 6, 4)], "1@9 1@8 4@6 | 1@11 1@12 1@13");
}

#[test]
fn delete_of_best_reports_new_best() {
    let mut trace = after(&[bid(7, 0).delete(1)], "1@8 1@7 | 1@11 1@12 1@13");
    trace.assert_callbacks(["book 7 B: 1@8 1@7 | 1@11 1@12 1@13", "end 102 7B"]);
}

#[test]
fn new_level_in_full_book_drops_last() {
    after(&[ask(7, 0).add(1, 10, 2)], "1@9 1@8 1@7 | 2@10 1@11 1@12");
    after(&[ask(7, 0).add(3, 12, 2)], "1@9 1@8 1@7 | 1@11 1@12 2@12");
}

#[test]
fn delete_thru_removes_best_through_level() {
    let rest = ["1@8 1@7", "1@7", "", ""];
    for (level, rest) in (1..).zip(rest) {
        after(&[bid(7, 0).delete_thru(level)], format!("{rest} | 1@11 1@12 1@13").trim());
    }
}

#[test]
fn delete_from_removes_level_and_worse() {
    let rest = ["", "1@11", "1@11 1@12", "1@11 1@12 1@13"];
    for (level, rest) in (1..).zip(rest) {
        after(&[ask(7, 0).delete_from(level)], format!("1@9 1@8 1@7 | {rest}").trim());
    }
}

#[test]
fn counts_deletions_of_level_ranges() {
    let entries = [bid(7, 0).delete_thru(1), ask(7, 0).delete_from(3), bid(7, 0).delete(1)];
    let trace = after(&entries, "1@7 | 1@11 1@12");
    assert_eq!(trace.counter("level_range_deletes"), 2);
}

#[test]
fn deletion_leaves_other_side_unchanged() {
    for entry in [bid(7, 0).delete_thru(9), bid(7, 0).delete_from(1)] {
        after(&[entry], "| 1@11 1@12 1@13");
    }
}

#[test]
fn overlay_replaces_level_at_any_price() {
    let mut trace = after(&[bid(7, 0).overlay(2, 5, 3)], "1@9 3@5 1@7 | 1@11 1@12 1@13");
    assert_eq!(trace.counter("prices_changed"), 0, "a Change may not, an Overlay may");
    trace.a(&packet(103).book(END, &[bid(7, 8).delete(3), bid(7, 9).overlay(3, 5, 3)]));
    assert_eq!(trace.counter("inapplicable_entries"), 1, "the book has no level 3");
}

#[test]
fn warns_about_level_beyond_depth() {
    for entry in [bid(7, 7).add(4, 6, 1), bid(7, 7).change(4, 6, 1), bid(7, 7).delete(4)] {
        let mut trace = full();
        trace.a(&packet(102).book(END, &[entry]));
        assert_eq!(trace.counter("beyond_depth"), 1);
        assert_eq!(trace.book(7), "1@9 1@8 1@7 | 1@11 1@12 1@13");
        assert!(trace.channel.book_of(7).unwrap().is_in_sync());
    }
}

#[test]
fn recovers_from_delete_of_missing_level() {
    let mut trace = full();
    trace.a(&packet(102).book(END, &[bid(7, 7).delete(3), bid(7, 8).delete(3)]));
    assert_eq!(trace.counter("inapplicable_entries"), 1);
    assert!(!trace.channel.book_of(7).unwrap().is_in_sync());
    trace.snapshot(&packet(1).snapshot(7, 102, 2, 8, &[(b'0', 1, 9, 1)]));
    assert_eq!(trace.book(7), "1@9 |");
    assert!(trace.channel.book_of(7).unwrap().is_in_sync());
}
