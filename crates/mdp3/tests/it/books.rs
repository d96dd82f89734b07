//! Effects of messages on books, and the resulting callbacks.
#![allow(clippy::unwrap_used, reason = "the model is given valid entries only")]

use std::collections::BTreeMap;

use crate::support::*;
use proptest::prelude::*;

#[test]
fn reports_each_book_once_per_message() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101)
        .book(MORE, &[bid(7, 1).add(1, 50, 1), ask(8, 1).add(1, 21, 1), ask(7, 2).add(1, 52, 3)]));
    trace.assert_callbacks(["book 7 BA: 1@50 | 3@52", "book 8 A: | 1@21"]);
}

#[test]
fn event_spans_messages_and_packets() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).trade(0x01, 7, 1, 50, 2).volume(0x02, 7, 2, 2));
    trace.a(&packet(102).book(MORE, &[bid(7, 3).add(1, 50, 1)]).book(MORE, &[]));
    trace
        .a(&packet(103).in_event_of(102).book(MORE, &[bid(7, 4).change(1, 50, 2)]).book(0x80, &[]));
    trace.assert_callbacks([
        "trade 7 2@50",
        "volume 7 2",
        "book 7 B: 1@50 |",
        "book 7 b: 2@50 |",
        "end 103 7B",
    ]);
    // The next event does not report changes of the previous one.
    trace.a(&packet(104).book(END, &[ask(8, 1).add(1, 9, 1)]));
    trace.assert_callbacks(["book 8 A: | 1@9", "end 104 8A"]);
    assert_eq!(trace.counter("events"), 2);
}

#[test]
fn packet_contains_several_events() {
    let mut trace = Trace::in_sync();
    let first = [bid(7, 1).add(1, 50, 1)];
    let second = [bid(7, 2).add(2, 49, 1)];
    trace.a(&packet(101).book(END, &first).book(END, &second));
    trace.assert_callbacks([
        "book 7 B: 1@50 |",
        "end 101 7B",
        "book 7 -: 1@50 1@49 |",
        "end 101 7-",
    ]);
}

#[test]
fn event_cut_by_gap_does_not_end_with_next() {
    let mut trace = Trace::in_sync_late();
    trace.a(&packet(101).book(MORE, &[bid(7, 1_001).add(1, 50, 1)]));
    trace.a(&packet(103).book(END, &[bid(8, 1_001).add(1, 20, 1)]));
    trace.recorder.take();
    trace.wait(hairpin_time::Duration::from_millis(10));
    trace.assert_callbacks([
        "gap 102+1",
        "7 out of sync",
        "8 out of sync",
        "end 101",
        "channel Recovering",
        "8 in sync",
        "book 8 B: 1@20 |",
        "end 103 8B",
    ]);
}

#[test]
fn next_event_excludes_changes_of_cut_event() {
    let mut trace = Trace::in_sync_late();
    trace.a(&packet(101).book(MORE, &[bid(7, 1_001).add(1, 50, 1)]));
    trace.a(&packet(103).book(END, &[bid(7, 1_002).add(2, 49, 1)]));
    trace.recorder.take();
    trace.wait(hairpin_time::Duration::from_millis(10));
    let lines = trace.recorder.take();
    assert_eq!(lines[5..], ["7 in sync", "book 7 -: 1@50 1@49 |", "end 103 7-"]);
}

#[test]
fn does_not_report_book_that_loses_sync_in_message() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).book(END, &[bid(7, 1).add(1, 50, 1), bid(7, 3).add(1, 51, 1)]));
    trace.assert_callbacks(["7 out of sync", "end 101", "channel Recovering"]);
}

#[test]
fn drops_levels_beyond_depth() {
    let mut trace = Trace::in_sync_with(SETTINGS, 2);
    let entries = [bid(7, 1).add(1, 50, 1), bid(7, 2).add(2, 49, 1), bid(7, 3).add(1, 51, 1)];
    trace.a(&packet(101).book(END, &entries));
    trace.assert_callbacks(["book 7 B: 1@51 1@50 |", "end 101 7B"]);
    trace.a(&packet(102).book(END, &[bid(7, 4).add(3, 48, 1), bid(7, 5).change(3, 48, 2)]));
    trace.assert_callbacks(["warning instrument 7: dropped level 3 below its depth", "end 102"]);
    assert_eq!(trace.counter("beyond_depth"), 2);
    // CME sends the last level after a deletion in a full book.
    trace.a(&packet(103).book(END, &[bid(7, 6).delete(1), bid(7, 7).add(2, 49, 1)]));
    trace.assert_callbacks(["book 7 B: 1@50 1@49 |", "end 103 7B"]);
}

#[test]
fn inapplicable_entry_loses_sync() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).book(END, &[bid(8, 1).add(1, 20, 1), bid(7, 1).change(1, 50, 1)]));
    trace.assert_callbacks([
        "error cannot apply action 1 to instrument 7: the book has no level 1",
        "7 out of sync",
        "book 8 B: 1@20 |",
        "end 101 8B",
        "channel Recovering",
    ]);
    // Only a snapshot that contains the packet restores the book.
    trace.snapshot(&packet(1).snapshot(7, 100, 2, 0, &[]));
    trace.assert_callbacks([]);
    trace.snapshot(&packet(2).snapshot(7, 101, 2, 1, &[(b'0', 1, 50, 1)]));
    trace.assert_callbacks(["7 in sync", "restored 7 B: 1@50 |", "channel InSync"]);
}

#[test]
fn long_quantities_build_same_books() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).long_book(END, &[bid(7, 1).add(1, 50, 4), ask(7, 2).add(1, 51, 5)]));
    trace.assert_callbacks(["book 7 BA: 4@50 | 5@51", "end 101 7BA"]);
}

#[test]
fn book_prints_one_line_per_level() {
    let mut trace = Trace::in_sync();
    let entries = [bid(7, 1).add(1, 50, 4), bid(7, 2).add(2, 49, 6), ask(7, 3).add(1, 51, 5)];
    trace.a(&packet(101).book(END, &entries));
    let printed = trace.channel.book_of(7).unwrap().to_string();
    let lines: Vec<_> = printed.lines().map(str::trim).collect();
    assert_eq!(
        lines[0].split_whitespace().collect::<Vec<_>>(),
        ["1", "4", "50", "|", "51", "5", "1"]
    );
    assert_eq!(lines[1].split_whitespace().collect::<Vec<_>>(), ["1", "6", "49", "|"]);
}

/// An independent model: prices in a list, with each rule as in CME's text.
#[derive(Default, Clone)]
struct Model {
    sides: [Vec<(i64, i32)>; 2],
}

impl Model {
    fn apply(&mut self, depth: usize, entry: &Entry) {
        let side = &mut self.sides[usize::from(entry.kind - b'0')];
        let level = usize::from(entry.level);
        let stated = entry.price.zip(entry.quantity);
        match entry.action {
            0 => side.insert(level - 1, stated.unwrap()),
            1 | 5 => side[level - 1] = stated.unwrap(),
            2 => drop(side.remove(level - 1)),
            3 => drop(side.drain(..level.min(side.len()))),
            4 => side.truncate(level - 1),
            _ => unreachable!(),
        }
        side.truncate(depth);
    }

    fn show(&self) -> String {
        let [bids, asks] = &self.sides;
        let side = |levels: &[(i64, i32)]| {
            let shown: Vec<_> =
                levels.iter().map(|(price, quantity)| format!("{quantity}@{price}")).collect();
            shown.join(" ")
        };
        format!("{} | {}", side(bids), side(asks)).trim().to_owned()
    }
}

/// Raw choices, made valid against the model when applied.
type Choice = (bool, bool, u8, u8, i32);

fn choices() -> impl Strategy<Value = Vec<Vec<Choice>>> {
    let choice = (any::<bool>(), any::<bool>(), 0u8..6, any::<u8>(), 1..1000);
    prop::collection::vec(prop::collection::vec(choice, 1..6), 1..60)
}

/// Returns a valid entry for the model's book.
fn valid(model: &Model, depth: usize, id: i32, rpt_seq: u32, choice: Choice) -> Entry {
    let (_, is_bid, action, level, quantity) = choice;
    let entry = if is_bid { bid(id, rpt_seq) } else { ask(id, rpt_seq) };
    let count = model.sides[usize::from(!is_bid)].len();
    let pick = |levels: usize| 1 + level % levels as u8;
    let price = i64::from(quantity) + 1_000;
    match action {
        _ if count == 0 => entry.add(1, price, quantity),
        0 => entry.add(pick((count + 1).min(depth)), price, quantity),
        1 => {
            let level = pick(count);
            let kept = model.sides[usize::from(!is_bid)][usize::from(level) - 1].0;
            entry.change(level, kept, quantity)
        }
        2 => entry.delete(pick(count)),
        3 => entry.delete_thru(pick(count)),
        4 => entry.delete_from(pick(count)),
        _ => entry.overlay(pick(count), price, quantity),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The books equal the model for all valid entries in any messages. Delaying line B or sending
    /// some packets on one line only makes no difference.
    #[test]
    fn matches_list_of_prices(
        messages in choices(),
        depth in 1usize..=10,
        sides in prop::collection::vec(0u8..5, 60),
    ) {
        let mut trace = Trace::in_sync_with(SETTINGS, depth as i8);
        let mut models: BTreeMap<i32, (Model, u32)> = BTreeMap::new();
        let mut late = None;
        for ((sequence, choices), side) in (101..).zip(messages).zip(sides) {
            let mut entries = Vec::new();
            for choice in choices {
                let id = if choice.0 { 7 } else { 8 };
                let (model, rpt_seq) = models.entry(id).or_default();
                *rpt_seq += 1;
                let entry = valid(model, depth, id, *rpt_seq, choice);
                model.apply(depth, &entry);
                entries.push(entry);
            }
            let packet = packet(sequence).book(END, &entries);
            match side {
                0 => trace.a(&packet),
                1 => trace.b(&packet),
                2 => { trace.a(&packet); trace.b(&packet) }
                3 => { trace.b(&packet); trace.a(&packet) }
                // The next packet on its line, if any, overtakes this one.
                _ if late.is_none() => { late = Some(packet); continue }
                _ => trace.a(&packet),
            }
            if let Some(late) = late.take() {
                trace.b(&late);
            }
        }
        if let Some(late) = late {
            trace.b(&late);
        }
        prop_assert_eq!(trace.counter("gaps"), 0);
        for id in [7, 8] {
            let (model, rpt_seq) = models.remove(&id).unwrap_or_default();
            prop_assert_eq!(trace.book(id), model.show());
            let book = trace.channel.book_of(id).unwrap();
            prop_assert!(book.is_in_sync());
            prop_assert_eq!(book.rpt_seq().unwrap_or(0), rpt_seq);
            prop_assert_eq!(book.best_bid(), book.bids().first());
            prop_assert_eq!(book.best_ask(), book.asks().first());
        }
    }
}
