//! Invalid input of any kind is counted and reported, and never stops the channel.

use crate::support::*;
use hairpin_mdp3::{
    Counters, Feed, FeedLine, FeedLines, Feeds, Input, OrderBooks, Replay, Settings,
};
use hairpin_time::{Duration, Instant, Now, Utc};
use proptest::prelude::*;

/// Returns the counters whose documentation starts with `kind`.
fn documented(kind: &str) -> Vec<&'static str> {
    let lines: Vec<_> = include_str!("../../src/counters.rs").lines().map(str::trim).collect();
    let mut names = Vec::new();
    let mut is_of_kind = false;
    for (number, line) in lines.iter().enumerate() {
        let begins = number == 0 || !lines[number - 1].starts_with("///");
        match line.strip_prefix("/// ") {
            Some(text) if begins => is_of_kind = text.starts_with(kind),
            Some(_) => {}
            None if is_of_kind => {
                names.extend(line.strip_suffix(','));
                is_of_kind = false;
            }
            None => {}
        }
    }
    names
}

#[test]
fn error_and_warning_counters_have_tests() {
    let (errors, warnings) = (documented("Errors: "), documented("Warnings: "));
    assert!(errors.len() >= 9 && warnings.len() >= 12, "{errors:?} {warnings:?}");
    for name in errors.iter().chain(&warnings) {
        let test = format!("fn counts_{name}_only()");
        assert!(include_str!("errors.rs").contains(&test), "no {test}");
    }
}

/// Asserts that the counter is 1 and all other error and warning counters are 0.
#[track_caller]
fn assert_counted_only(counters: &Counters, name: &str) {
    let wrong = [documented("Errors: "), documented("Warnings: ")].concat();
    assert!(wrong.contains(&name), "{name}");
    for (counter, value) in counters.iter() {
        if wrong.contains(&counter) {
            assert_eq!(value, u64::from(counter == name), "{counter}");
        }
    }
}

#[track_caller]
fn counts_only(name: &str, packet: &PacketBuilder) -> Trace {
    counts_only_in(Trace::in_sync(), name, packet)
}

#[track_caller]
fn counts_only_in(mut trace: Trace, name: &str, packet: &PacketBuilder) -> Trace {
    trace.a(packet);
    assert_counted_only(trace.channel.counters(), name);
    let is_error = documented("Errors: ").contains(&name);
    let kind = if is_error { "error " } else { "warning " };
    let lines = trace.recorder.take();
    assert_eq!(lines.iter().filter(|line| line.starts_with(kind)).count(), 1, "{lines:?}");
    trace
}

const BOOK: u16 = 46;

#[test]
fn counts_packets_too_short_only() {
    let mut cut = packet(101);
    cut.bytes_mut().truncate(11);
    let trace = counts_only("packets_too_short", &cut);
    assert!(trace.channel.book_of(7).unwrap().is_in_sync(), "the lost contents are unknown");
}

#[test]
fn counts_message_sizes_too_small_only() {
    let mut spoiled = packet(101).heartbeat();
    spoiled.bytes_mut()[12] = 9;
    counts_only("message_sizes_too_small", &spoiled);
}

#[test]
fn counts_truncated_messages_only() {
    let mut spoiled = packet(101).book(END, &[bid(7, 1_001).add(1, 50, 1)]);
    let length = spoiled.bytes().len();
    spoiled.bytes_mut().truncate(length - 1);
    let mut trace = counts_only_in(Trace::in_sync_late(), "truncated_messages", &spoiled);
    // The packet counts as lost; the next entries show that 7 was affected and 8 was not.
    trace.a(&packet(102).book(END, &[bid(7, 1_002).add(1, 51, 1), bid(8, 1_001).add(1, 20, 1)]));
    trace.assert_callbacks(["8 in sync", "book 8 B: 1@20 |", "end 102 8B"]);
}

#[test]
fn counts_trailing_bytes_only() {
    let mut spoiled = packet(101).heartbeat();
    spoiled.bytes_mut().extend_from_slice(&[0; 9]);
    counts_only("trailing_bytes", &spoiled);
}

#[test]
fn counts_foreign_schemas_only() {
    counts_only("foreign_schemas", &packet(101).raw([11, BOOK, 2, 13], &[0; 22]));
}

#[test]
fn counts_malformed_messages_only() {
    // The group states two entries but contains one.
    let mut body = [0; 11 + 3 + 32].to_vec();
    body[11..14].copy_from_slice(&[32, 0, 2]);
    counts_only("malformed_messages", &packet(101).raw([11, BOOK, 1, 13], &body));
    // The definition's block is truncated.
    counts_only("malformed_messages", &packet(101).raw([224, 54, 1, 13], &[0; 223]));
    // The same on the looping feeds.
    for template in [54, 52] {
        let mut trace = Trace::new(SETTINGS);
        if template == 52 {
            trace = Trace::in_sync();
            trace.a(&packet(102).heartbeat());
            trace.wait(Duration::from_millis(10));
            trace.snapshot(&packet(1).raw([59, 52, 1, 13], &[0; 58]));
        } else {
            trace.instrument(&packet(1).raw([224, 54, 1, 13], &[0; 223]));
        }
        assert_counted_only(trace.channel.counters(), "malformed_messages");
    }
}

#[test]
fn counts_invalid_entries_only() {
    let no_price = Entry { price: None, ..bid(7, 1).add(1, 50, 1) };
    counts_only("invalid_entries", &packet(101).book(END, &[no_price]));
    counts_only("invalid_entries", &packet(101).book(END, &[bid(7, 1).add(1, 50, -1)]));
}

#[test]
fn counts_inapplicable_entries_only() {
    counts_only("inapplicable_entries", &packet(101).book(END, &[bid(7, 1).delete(1)]));
}

#[test]
fn counts_invalid_snapshots_only() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(102).heartbeat());
    trace.wait(Duration::from_millis(10));
    trace.snapshot(&packet(1).snapshot(7, 102, 1, 0, &[(b'1', 2, 50, 1)]));
    assert_counted_only(trace.channel.counters(), "invalid_snapshots");
}

#[test]
fn counts_unknown_templates_only() {
    let mut trace = counts_only("unknown_templates", &packet(101).raw([1, 99, 1, 13], &[0]));
    trace.a(&packet(102).raw([1, 99, 1, 13], &[0]).raw([1, 98, 1, 13], &[0]));
    trace.assert_callbacks(["warning skipped message of unknown template 98"]);
    assert_eq!(trace.counter("unknown_templates"), 3);
}

#[test]
fn counts_newer_versions_only() {
    // A block with an additional unknown field, and no entries.
    let mut body = [0; 13 + 3 + 8];
    body[8] = 0x80;
    body[13..15].copy_from_slice(&[32, 0]);
    body[16..18].copy_from_slice(&[24, 0]);
    let mut trace = counts_only("newer_versions", &packet(101).raw([13, BOOK, 1, 14], &body));
    assert_eq!(trace.counter("events"), 1);
    trace.a(&packet(102).raw([13, BOOK, 1, 14], &body));
    trace.assert_callbacks(["end 102"]);
}

#[test]
fn counts_beyond_depth_only() {
    counts_only("beyond_depth", &packet(101).book(END, &[bid(7, 1).add(11, 50, 1)]));
}

#[test]
fn counts_prices_changed_only() {
    let entries = [bid(7, 1).add(1, 50, 1), bid(7, 2).change(1, 51, 1)];
    counts_only("prices_changed", &packet(101).book(END, &entries));
}

#[test]
fn counts_unknown_securities_only() {
    counts_only("unknown_securities", &packet(101).book(END, &[bid(9, 1).add(1, 50, 1)]));
}

#[test]
fn counts_instruments_over_capacity_only() {
    let settings = Settings { max_instruments: 2, ..SETTINGS };
    let mut trace = Trace::in_sync_with(settings, 10);
    trace.a(&packet(101).definition(9, 3, 10));
    assert_counted_only(trace.channel.counters(), "instruments_over_capacity");
}

#[test]
fn full_channel_serves_instruments_that_fit() {
    let settings = Settings { max_instruments: 1, ..SETTINGS };
    let mut trace = Trace::new(settings);
    trace.a(&packet(100).heartbeat());
    trace.instrument(&packet(1).definition(7, 3, 10).definition(8, 3, 10).definition(9, 3, 10));
    trace.snapshot(&packet(1).snapshot(8, 100, 2, 0, &[]).snapshot(9, 100, 2, 0, &[]));
    assert!(trace.channel.book_of(7).unwrap().is_in_sync(), "absent from a complete pass");
}

#[test]
fn counts_depths_cut_only() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).definition(9, 3, 20));
    assert_counted_only(trace.channel.counters(), "depths_cut");
    assert_eq!(trace.channel.book_of(9).unwrap().depth(), 10);
}

#[test]
fn counts_oversized_packets_only() {
    let settings = Settings { max_packet: 32, ..SETTINGS };
    let mut trace = Trace::in_sync_with(settings, 10);
    trace.a(&packet(102).book(END, &[bid(7, 1).add(1, 50, 1)]));
    assert_counted_only(trace.channel.counters(), "oversized_packets");
}

#[test]
fn counts_queue_overflows_only() {
    let settings = Settings { queue_bytes: 100, ..SETTINGS };
    let mut trace = Trace::in_sync_with(settings, 10);
    trace.a(&packet(101).book(END, &[bid(7, 2).add(1, 50, 1)]));
    trace.a(&packet(102).book(END, &[bid(7, 3).add(1, 50, 1)]));
    assert_counted_only(trace.channel.counters(), "queue_overflows");
}

#[test]
fn counts_related_over_capacity_only() {
    let settings = Settings { max_related: 1, ..SETTINGS };
    let mut trace = Trace::in_sync_with(settings, 10);
    trace.a(&packet(101).spread(9, 3, &[7, 8]));
    assert_counted_only(trace.channel.counters(), "related_over_capacity");
    let instrument = trace.channel.find(9).unwrap();
    assert!(trace.channel.definition(instrument).is_some(), "a spread without legs");
    assert_eq!(trace.channel.instruments().legs(instrument).count(), 0);
}

#[test]
fn counts_doubtful_packets_only() {
    counts_only("doubtful_packets", &packet(1_000_000).heartbeat());
    let in_two_hours = sent_at(101, 7_200_000).heartbeat();
    counts_only("doubtful_packets", &in_two_hours);
    counts_only("doubtful_packets", &sent_at(7, 1_000).heartbeat());
}

#[test]
fn counts_replay_holdings_full_only() {
    let replay = Replay { max_held: 10, ..Replay::default() };
    let mut trace = Trace::in_sync_with(Settings { replay: Some(replay), ..SETTINGS }, 10);
    trace.a(&packet(102).heartbeat());
    trace.wait(Duration::from_millis(10));
    for sequence in 103..=111 {
        trace.a(&packet(sequence).heartbeat());
    }
    assert_counted_only(trace.channel.counters(), "replay_holdings_full");
}

#[test]
fn counts_missing_feeds_only() {
    for (feeds, count) in [
        (Feeds { instrument: FeedLines::None, ..Feeds::ALL }, 1),
        (Feeds { snapshot: FeedLines::None, snapshot_orders: FeedLines::None, ..Feeds::ALL }, 0),
    ] {
        let mut trace = Trace::new(Settings { feeds, ..SETTINGS });
        trace.a(&packet(100).heartbeat());
        assert_eq!(trace.counter("missing_feeds"), count);
        // Books now need recovery.
        trace.instrument(&packet(1).definition(7, 1, 10));
        assert_counted_only(trace.channel.counters(), "missing_feeds");
    }
}

#[test]
fn counts_silences_only() {
    let feeds = Feeds { incremental: FeedLines::A, ..Feeds::ALL };
    let settings = Settings { silence: Duration::from_secs(1), feeds, ..SETTINGS };
    let mut trace = Trace::in_sync_with(settings, 10);
    for _ in 0..20 {
        trace.wait(Duration::from_millis(125));
    }
    assert_counted_only(trace.channel.counters(), "silences");
}

#[test]
fn counts_loops_too_long_only() {
    let mut trace = Trace::new(SETTINGS);
    trace.instrument(&packet(1).definition(7, 2, 10));
    trace.instrument(&packet(65).definition(8, 2, 10));
    assert_counted_only(trace.channel.counters(), "loops_too_long");
}

/// Returns a channel for at most two orders, with order books 7 and 8 in sync after packet 100.
/// They are empty except for order 1 of instrument 7.
fn full_orders() -> Trace {
    let settings = Settings { order_books: OrderBooks::Full, max_orders: 2, ..SETTINGS };
    let mut trace = Trace::in_sync_with(Settings { queue_bytes: 0, ..settings }, 10);
    let books = sent_at(1, 50).order_snapshot(7, 100, 2, &[buy(7, 1, 50, 1)]);
    trace.order_snapshots(&books.order_snapshot(8, 100, 2, &[]));
    assert!(trace.orders_in_sync(7) && trace.orders_in_sync(8));
    trace.recorder.take();
    trace
}

#[test]
fn counts_existing_orders_only() {
    let packet = packet(101).orders(END, &[buy(7, 1, 50, 1)]);
    counts_only_in(full_orders(), "existing_orders", &packet);
}

#[test]
fn counts_missing_orders_only() {
    for entry in [buy(7, 9, 50, 1).changed(), buy(7, 9, 50, 1).deleted(), buy(8, 1, 5, 1).changed()]
    {
        counts_only_in(full_orders(), "missing_orders", &packet(101).orders(END, &[entry]));
    }
}

#[test]
fn counts_invalid_orders_only() {
    let non_negative = buy(7, 2, 50, 1);
    for entry in [
        OrderEntry { id: None, ..non_negative },
        OrderEntry { price: None, ..non_negative },
        OrderEntry { quantity: None, ..non_negative },
        OrderEntry { quantity: Some(-1), ..non_negative },
        OrderEntry { kind: b'E', ..non_negative },
        OrderEntry { action: 5, ..non_negative },
        OrderEntry { quantity: Some(-1), ..buy(7, 1, 50, 1).changed() },
    ] {
        counts_only_in(full_orders(), "invalid_orders", &packet(101).orders(END, &[entry]));
    }
}

#[test]
fn counts_dangling_orders_only() {
    for reference in [None, Some(0), Some(2)] {
        let order = OrderEntry { reference, ..buy(7, 2, 50, 1) };
        let packet = packet(101).combined(END, &[bid(7, 1).add(1, 50, 1)], &[order]);
        counts_only_in(full_orders(), "dangling_orders", &packet);
    }
}

#[test]
fn counts_invalid_order_snapshots_only() {
    let twice = [buy(7, 3, 50, 1), buy(7, 3, 50, 1)];
    let implied = [OrderEntry { kind: b'E', ..buy(7, 3, 50, 1) }];
    for (chunk, chunks, orders) in
        [(0, 1, &[][..]), (2, 1, &[]), (1, 0, &[]), (1, 1, &twice), (1, 1, &implied)]
    {
        let mut trace = full_orders();
        trace.a(&packet(102).heartbeat());
        trace.wait(Duration::from_millis(10));
        trace.order_snapshots(&sent_at(1, 110).order_chunk((7, 102, 2), (chunk, chunks), orders));
        assert_counted_only(trace.channel.counters(), "invalid_order_snapshots");
    }
}

#[test]
fn counts_orders_over_capacity_only() {
    let packet = packet(101).orders(END, &[buy(7, 2, 50, 1), buy(8, 3, 50, 1)]);
    counts_only_in(full_orders(), "orders_over_capacity", &packet);
}

#[test]
fn counts_order_queue_overflows_only() {
    let mut trace = full_orders();
    trace.a(&packet(102).heartbeat());
    trace.wait(Duration::from_millis(10));
    trace.a(&packet(103).orders(END, &[buy(7, 2, 50, 1), buy(8, 3, 50, 1)]));
    assert_counted_only(trace.channel.counters(), "order_queue_overflows");
}

/// Delivers bytes unchanged on any feed and line, and runs all timeouts.
fn deliver_all(channel: &mut hairpin_mdp3::Channel, packets: &[(u8, bool, Vec<u8>)]) {
    for (step, (feed, is_b, bytes)) in packets.iter().enumerate() {
        let feed = Feed::ALL[usize::from(*feed) % Feed::ALL.len()];
        let side = if *is_b { FeedLine::B } else { FeedLine::A };
        let monotonic = Instant::from_nanos(step as u64 * 4_000_000);
        let now = Now { monotonic, utc: Utc::EPOCH };
        let before = channel.counters().iter().map(|(_, count)| count).sum::<u64>();
        channel.handle_packet(now, Input { feed, line: side, received: None }, bytes, &mut ());
        let after = channel.counters().iter().map(|(_, count)| count).sum::<u64>();
        assert!(after > before, "a packet without any counter");
        channel.handle_timeout(now, &mut ());
        while channel.poll_action().is_some() {}
    }
}

/// Builds a packet with one message of each kind that the channel decodes.
fn sample(sequence: u32, last: u32, id: i32) -> PacketBuilder {
    packet(sequence)
        .definition(id, 2, 10)
        .snapshot(id, last, 2, 3, &[(b'0', 1, 50, 1), (b'1', 1, 51, 1)])
        .option(id + 1, 2, id)
        .spread(id + 2, 2, &[id, id + 1])
        .fx(id + 3, 2)
        .status(id, 2, 1, 0)
        .group_status("ES", "", 17)
        .book(MORE, &[bid(id, 4).add(1, 50, 1), ask(id, 5).delete_thru(1)])
        .book(
            MORE,
            &[bid(id + 1, 4).add(1, 50, 1).with_entry_type(b'E'), bid(id, 6).with_entry_type(b'J')],
        )
        .trade(MORE, id, 6, 50, 1)
        .volume(MORE, id, 7, 1)
        .statistics(MORE, id, 8)
        .long_book(END, &[bid(id, 9).overlay(1, 50, 1)])
        .orders(MORE, &[buy(id, 1, 50, 1), sell(id, 2, 51, 1), buy(id, 1, 49, 1).changed()])
        .combined(MORE, &[bid(id, 10).overlay(1, 50, 1)], &[buy(id, 3, 0, 1), buy(id, 2, 0, 1)])
        .top_orders(END, id, &[buy(id, 1, 50, 1), sell(id, 2, 51, 1)])
        .order_chunk((id, last, 2), (1, 2), &[buy(id, 1, 50, 1)])
        .order_chunk((id, last, 2), (2, 2), &[sell(id, 2, 51, 1)])
        .order_snapshot(id + 1, last, 2, &[buy(id, 1, 50, 1)])
        .channel_reset()
        .heartbeat()
}

/// Small channels without orders, with top orders, and with all orders.
const ORDER_SETTINGS: [Settings; 4] = {
    let full = Settings { order_books: OrderBooks::Full, max_orders: 5, ..SETTINGS };
    let top = Settings { order_books: OrderBooks::Top, ..SETTINGS };
    [SETTINGS, top, full, Settings { order_snapshots: Feed::Snapshot, queue_bytes: 200, ..full }]
};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_do_not_panic(
        packets in prop::collection::vec(
            (any::<u8>(), any::<bool>(), prop::collection::vec(any::<u8>(), 0..200)), 1..40),
    ) {
        for settings in ORDER_SETTINGS {
            deliver_all(&mut hairpin_mdp3::Channel::new(settings), &packets);
        }
    }

    /// Valid packets with bytes altered, removed or appended, in any order, on any feed.
    #[test]
    fn corrupted_packets_do_not_panic(
        packets in prop::collection::vec(
            (any::<u8>(), any::<bool>(), 95u32..120, 95u32..120, 5i32..10,
             prop::collection::vec((any::<u16>(), any::<u8>()), 0..6), any::<u16>(), 0usize..12),
            1..60),
    ) {
        let packets: Vec<_> = packets
            .into_iter()
            .map(|(feed, side, sequence, last, id, spoils, cut, appended)| {
                let mut bytes = sample(sequence, last, id).bytes().to_vec();
                for (at, value) in spoils {
                    let at = usize::from(at) % bytes.len();
                    bytes[at] = value;
                }
                if cut % 3 == 0 {
                    bytes.truncate(usize::from(cut) % bytes.len());
                }
                bytes.extend((0..appended).map(|n| n as u8));
                (feed, side, bytes)
            })
            .collect();
        for settings in ORDER_SETTINGS {
            deliver_all(&mut Trace::in_sync_with(settings, 10).channel, &packets);
        }
    }
}
