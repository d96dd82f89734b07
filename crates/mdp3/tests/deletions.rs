//! Levels that go: Delete, DeleteThru, DeleteFrom, Overlay, and what lies beyond the depth.

mod support;

use support::*;

/// A book of depth 3, full: bids 9, 8, 7 and asks 11, 12, 13.
fn full() -> Trace {
    let mut trace = Trace::in_sync_with(SETTINGS, 3);
    let bids = [9, 8, 7].iter().zip(1..).map(|(price, n)| bid(7, n).add(n as u8, *price, 1));
    let asks = [11, 12, 13].iter().zip(1..).map(|(price, n)| ask(7, n + 3).add(n as u8, *price, 1));
    trace.a(&packet(101).book(END, &bids.chain(asks).collect::<Vec<_>>()));
    assert_eq!(trace.book(7), "1@9 1@8 1@7 | 1@11 1@12 1@13");
    trace.recorder.take();
    trace
}

/// The full book after some entries, of RptSeq 7 and so on.
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
fn a_delete_in_a_full_book_leaves_the_last_level_to_an_entry_of_its_own() {
    let delete = bid(7, 0).delete(2);
    after(&[delete], "1@9 1@7 | 1@11 1@12 1@13");
    after(&[delete, bid(7, 0).add(3, 6, 4)], "1@9 1@7 4@6 | 1@11 1@12 1@13");
    after(&[bid(7, 0).delete(1), bid(7, 0).add(3, 6, 4)], "1@8 1@7 4@6 | 1@11 1@12 1@13");
    after(&[bid(7, 0).delete(3), bid(7, 0).add(3, 6, 4)], "1@9 1@8 4@6 | 1@11 1@12 1@13");
}

#[test]
fn a_delete_of_the_best_tells_the_new_best() {
    let mut trace = after(&[bid(7, 0).delete(1)], "1@8 1@7 | 1@11 1@12 1@13");
    trace.told(["book 7 B: 1@8 1@7 | 1@11 1@12 1@13", "end 102 7B"]);
}

#[test]
fn a_new_level_in_a_full_book_drops_the_last_without_a_word() {
    after(&[ask(7, 0).add(1, 10, 2)], "1@9 1@8 1@7 | 2@10 1@11 1@12");
    after(&[ask(7, 0).add(3, 12, 2)], "1@9 1@8 1@7 | 1@11 1@12 2@12");
}

#[test]
fn delete_thru_takes_everything_from_the_best_through_the_level() {
    let rest = ["1@8 1@7", "1@7", "", ""];
    for (level, rest) in (1..).zip(rest) {
        after(&[bid(7, 0).delete_thru(level)], format!("{rest} | 1@11 1@12 1@13").trim());
    }
}

#[test]
fn delete_from_takes_the_level_and_everything_worse() {
    let rest = ["", "1@11", "1@11 1@12", "1@11 1@12 1@13"];
    for (level, rest) in (1..).zip(rest) {
        after(&[ask(7, 0).delete_from(level)], format!("1@9 1@8 1@7 | {rest}").trim());
    }
}

#[test]
fn deletions_of_one_side_leave_the_other_alone() {
    for entry in [bid(7, 0).delete_thru(9), bid(7, 0).delete_from(1)] {
        after(&[entry], "| 1@11 1@12 1@13");
    }
}

#[test]
fn an_overlay_replaces_a_level_whatever_its_price() {
    let mut trace = after(&[bid(7, 0).overlay(2, 5, 3)], "1@9 3@5 1@7 | 1@11 1@12 1@13");
    assert_eq!(trace.counter("prices_changed"), 0, "a Change may not, an Overlay may");
    trace.a(&packet(103).book(END, &[bid(7, 8).delete(3), bid(7, 9).overlay(3, 5, 3)]));
    assert_eq!(trace.counter("inapplicable_entries"), 1, "there is no level 3 to replace");
}

#[test]
fn what_is_beyond_the_depth_is_a_warning_and_changes_nothing() {
    for entry in [bid(7, 7).add(4, 6, 1), bid(7, 7).change(4, 6, 1), bid(7, 7).delete(4)] {
        let mut trace = full();
        trace.a(&packet(102).book(END, &[entry]));
        assert_eq!(trace.counter("beyond_depth"), 1);
        assert_eq!(trace.book(7), "1@9 1@8 1@7 | 1@11 1@12 1@13");
        assert!(trace.channel.book_of(7).unwrap().is_in_sync());
    }
}

#[test]
fn a_delete_of_a_level_that_is_not_there_is_an_error_and_a_recovery() {
    let mut trace = full();
    trace.a(&packet(102).book(END, &[bid(7, 7).delete(3), bid(7, 8).delete(3)]));
    assert_eq!(trace.counter("inapplicable_entries"), 1);
    assert!(!trace.channel.book_of(7).unwrap().is_in_sync());
    trace.snapshot(&packet(1).snapshot(7, 102, 2, 8, &[(b'0', 1, 9, 1)]));
    assert_eq!(trace.book(7), "1@9 |");
    assert!(trace.channel.book_of(7).unwrap().is_in_sync());
}
