//! Restarts of numbering, and the boundary between snapshot and stream.

use crate::support::*;
use hairpin_mdp3::{ChannelState, FeedLine};

/// Builds a packet with a bid of instrument 7 at a distinct price.
fn first(sequence: u32, rpt_seq: u32, price: i64, millis: u64) -> PacketBuilder {
    sent_at(sequence, millis).book(END, &[bid(7, rpt_seq).add(1, price, 1)])
}

/// Returns a trace in sync, with both lines received up to 101 and a bid of 7 at 50.
fn running() -> Trace {
    let mut trace = Trace::in_sync();
    for side in FeedLine::ALL {
        trace.on(hairpin_mdp3::Feed::Incremental, side, &first(101, 1, 50, 101));
    }
    trace.recorder.take();
    trace
}

#[test]
fn line_a_resets_before_line_b() {
    let mut trace = running();
    trace.a(&sent_at(102, 1_000).channel_reset());
    trace.a(&first(1, 1, 60, 1_001));
    // B continues the old epoch, with numbers that the new one has used or will use.
    for sequence in 102..110 {
        trace.b(&first(sequence, sequence - 100, 90, 1_000 + u64::from(sequence)));
    }
    trace.a(&first(2, 2, 61, 1_900));
    trace.b(&sent_at(110, 2_000).channel_reset());
    trace.b(&first(1, 1, 60, 2_001));
    trace.b(&first(2, 2, 61, 2_002));
    // B now fills what A loses.
    trace.b(&first(3, 3, 62, 2_003));
    trace.a(&first(4, 4, 63, 2_004));
    assert_eq!(trace.book(7), "1@63 1@62 1@61 1@60 |");
    assert_eq!((trace.counter("resets"), trace.counter("restarts")), (1, 1));
    assert_eq!((trace.counter("older_epoch_packets"), trace.counter("gaps")), (9, 0));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
}

/// Found by `sim feed`: with one line cut, packets of the other were reordered as its numbering
/// restarted.
#[test]
fn suspect_packet_follows_start_of_epoch() {
    let mut trace = running();
    trace.a(&first(2, 2, 61, 1_002));
    trace.a(&first(1, 1, 60, 1_001));
    trace.a(&first(3, 3, 62, 1_003));
    assert_eq!((trace.counter("restarts"), trace.counter("doubtful_packets")), (1, 1));
    trace.wait(hairpin_time::Duration::from_secs(1));
    assert_eq!((trace.counter("gaps"), trace.counter("first_a")), (0, 5));
}

/// Found by `sim feed`: the packets counted as ahead.
#[test]
fn drops_packets_sent_before_restart() {
    let mut trace = running();
    trace.a(&first(1, 1, 60, 1_001));
    for sequence in [103, 102, 104] {
        trace.a(&first(sequence, sequence - 100, 90, 800 + u64::from(sequence)));
    }
    trace.a(&first(2, 2, 61, 1_002));
    trace.wait(hairpin_time::Duration::from_secs(1));
    assert_eq!((trace.counter("restarts"), trace.counter("gaps")), (1, 0));
    assert_eq!((trace.counter("doubtful_packets"), trace.counter("held_packets")), (0, 0));
}

/// Found by `sim feed`, seed 9. The exchange's clock may be coarse.
#[test]
fn suspects_packets_sent_with_restart() {
    let mut trace = running();
    trace.a(&first(1, 1, 60, 1_001));
    trace.a(&first(103, 3, 90, 1_001));
    trace.a(&first(2, 2, 61, 1_001));
    trace.wait(hairpin_time::Duration::from_secs(1));
    assert_eq!((trace.counter("restarts"), trace.counter("gaps")), (1, 0));
    assert_eq!((trace.counter("doubtful_packets"), trace.counter("held_packets")), (1, 0));
}

#[test]
fn both_lines_restart_on_sunday_without_reset() {
    let mut trace = running();
    let sunday = 2 * 24 * 3_600_000;
    trace.utc = YEAR_2026 + hairpin_time::Duration::from_secs(3 * 24 * 3_600);
    trace.a(&first(1, 1, 60, sunday));
    trace.assert_callbacks(["7 out of sync", "8 out of sync", "channel Recovering", "end 1"]);
    trace.b(&first(1, 1, 60, sunday + 400));
    trace.a(&first(2, 2, 61, sunday + 500));
    trace.b(&first(2, 2, 61, sunday + 900));
    assert_eq!((trace.counter("restarts"), trace.counter("duplicates")), (1, 3));
    // The loop names 7 only.
    trace.snapshot(&sent_at(1, sunday + 1_000).snapshot(7, 1, 1, 1, &[(b'0', 1, 60, 1)]));
    assert_eq!((trace.book(7).as_str(), trace.book(8).as_str()), ("1@61 1@60 |", "|"));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
}

#[test]
fn channel_reset_without_renumbering() {
    let mut trace = running();
    trace.a(&sent_at(102, 1_000).channel_reset());
    trace.a(&first(103, 1, 60, 1_001));
    trace.b(&sent_at(102, 2_000).channel_reset());
    trace.b(&first(103, 1, 60, 2_001));
    trace.b(&first(104, 2, 61, 2_002));
    assert_eq!(trace.book(7), "1@61 1@60 |");
    assert_eq!((trace.counter("resets"), trace.counter("restarts")), (1, 0));
    assert_eq!((trace.counter("gaps"), trace.counter("older_epoch_packets")), (0, 0));
}

#[test]
fn drops_late_packet_of_older_epoch() {
    let mut trace = running();
    trace.a(&sent_at(102, 1_000).channel_reset());
    trace.a(&first(1, 1, 60, 1_001));
    // From before the reset, on either line, with the next number of the new epoch and with one
    // ahead of it.
    for sequence in [2, 3, 101, 102] {
        trace.a(&first(sequence, 2, 99, u64::from(sequence)));
        trace.b(&first(sequence, 2, 99, u64::from(sequence)));
    }
    trace.wait(hairpin_time::Duration::from_secs(1));
    assert_eq!(trace.book(7), "1@60 |");
    assert_eq!((trace.counter("gaps"), trace.counter("restarts")), (0, 1));
}

#[test]
fn later_low_sequence_starts_new_epoch() {
    let mut trace = Trace::new(SETTINGS);
    trace.a(&sent_at(50_000, 1).heartbeat());
    // Packets 1 to 4 of the new epoch are lost; the second packet received confirms the first.
    trace.a(&sent_at(5, 9_000).heartbeat());
    assert_eq!((trace.counter("restarts"), trace.counter("doubtful_packets")), (0, 1));
    trace.a(&sent_at(6, 9_001).heartbeat());
    assert_eq!(trace.counter("restarts"), 1);
    trace.wait(hairpin_time::Duration::from_millis(10));
    assert_eq!((trace.counter("gaps"), trace.counter("missed_packets")), (1, 4));
    // A much lower number with an earlier time is an old packet.
    trace.a(&sent_at(3, 8_000).heartbeat());
    assert_eq!(trace.counter("restarts"), 1);
}

#[test]
fn line_restarts_while_other_is_silent() {
    for side in FeedLine::ALL {
        let mut trace = running();
        let feed = hairpin_mdp3::Feed::Incremental;
        let other = if side == FeedLine::A { FeedLine::B } else { FeedLine::A };
        trace.on(feed, side, &sent_at(102, 1_000).channel_reset());
        trace.on(feed, side, &first(1, 1, 60, 1_001));
        trace.on(feed, side, &first(2, 2, 61, 1_002));
        // The line returns a minute later in the new epoch, whose start it has not delivered. The
        // second packet shows that the first was no stray.
        trace.on(feed, other, &first(2, 2, 61, 60_999));
        trace.on(feed, other, &first(3, 3, 62, 61_000));
        assert_eq!(trace.book(7), "1@62 1@61 1@60 |", "{side}");
        assert_eq!((trace.counter("restarts"), trace.counter("gaps")), (1, 0));
    }
}

#[test]
fn ignores_line_until_it_restarts() {
    let mut trace = running();
    // Only the publisher of A restarts.
    trace.a(&first(1, 1, 60, 1_000));
    for sequence in 102..106 {
        trace.b(&first(sequence, sequence - 100, 90, 1_000 + u64::from(sequence)));
    }
    trace.a(&first(2, 2, 61, 2_000));
    assert_eq!((trace.counter("restarts"), trace.counter("older_epoch_packets")), (1, 4));
    trace.b(&first(1, 1, 60, 3_000));
    trace.b(&first(3, 3, 62, 3_001));
    assert_eq!((trace.counter("restarts"), trace.counter("gaps")), (1, 0));
    trace.snapshot(&sent_at(1, 3_002).snapshot(7, 3, 1, 3, &[(b'0', 1, 62, 1)]));
    assert_eq!(trace.book(7), "1@62 |");
}

#[test]
fn book_reset_in_message_empties_instrument() {
    let mut trace = running();
    trace.a(&packet(102).book(END, &[bid(8, 1).add(1, 20, 1)]));
    let entries = [bid(7, 2).add(1, 0, 0).with_entry_type(b'J'), ask(7, 3).add(1, 70, 1)];
    trace.a(&packet(103).book(END, &entries));
    assert_eq!((trace.book(7).as_str(), trace.book(8).as_str()), ("| 1@70", "1@20 |"));
    assert_eq!((trace.counter("book_resets"), trace.counter("resets")), (1, 0));
}

/// Joins late at packet `at` with `rpt_seq`. The entries in `at + 1` and `at + 2` are queued when a
/// snapshot as of `last` with `last_rpt_seq` arrives. Returns the resulting book.
fn joined_at(at: u32, rpt_seq: u32, last: u32, last_rpt_seq: u32) -> (Trace, String) {
    let mut trace = Trace::new(SETTINGS);
    trace.a(&sent_at(at, 1_000).heartbeat());
    trace.a(&first(at + 1, rpt_seq + 1, 61, 1_001));
    trace.a(&first(at + 2, rpt_seq + 2, 62, 1_002));
    trace.instrument(&sent_at(1, 1_003).definition(7, 1, 10));
    trace.snapshot(&sent_at(1, 1_004).snapshot(7, last, 1, last_rpt_seq, &[(b'0', 1, 50, 1)]));
    let book = trace.book(7);
    (trace, book)
}

#[test]
fn snapshot_drops_packets_up_to_its_sequence() {
    // In the middle, at the lowest numbers and at the highest.
    for at in [1_000, 1, u32::MAX - 2] {
        let (trace, book) = joined_at(at, 10, at, 10);
        assert_eq!(book, "1@62 1@61 1@50 |", "both come after {at}");
        assert_eq!(trace.channel.state(), ChannelState::InSync);
        let (_, book) = joined_at(at, 10, at + 1, 11);
        assert_eq!(book, "1@62 1@50 |", "the first is in the snapshot");
        let (mut trace, book) = joined_at(at, 10, at + 2, 12);
        assert_eq!(book, "1@50 |", "both are in the snapshot");
        assert_eq!(trace.channel.state(), ChannelState::InSync);
        if at < u32::MAX - 2 {
            trace.a(&first(at + 3, 13, 63, 1_005));
            assert_eq!(trace.book(7), "1@63 1@50 |");
        }
    }
}

#[test]
fn snapshot_boundary_is_exact_without_rpt_seq() {
    // Without RptSeq only the packet number shows what the snapshot contains.
    for at in [1_000, 1, u32::MAX - 2] {
        for (last, expected) in [(0, "1@62 1@61 1@50 |"), (1, "1@62 1@50 |"), (2, "1@50 |")] {
            let mut trace = Trace::new(SETTINGS);
            trace.a(&sent_at(at, 1_000).heartbeat());
            trace.a(&first(at + 1, 0, 61, 1_001));
            trace.a(&first(at + 2, 0, 62, 1_002));
            trace.instrument(&sent_at(1, 1_003).definition(7, 1, 10));
            trace.snapshot(&sent_at(1, 1_004).snapshot(7, at + last, 1, 0, &[(b'0', 1, 50, 1)]));
            assert_eq!(trace.book(7), expected, "{at} + {last}");
        }
    }
}

#[test]
fn snapshot_must_reach_first_packet() {
    for at in [1_000, 2] {
        let (trace, book) = joined_at(at, 10, at - 1, 10);
        assert_eq!(book, "1@62 1@61 1@50 |");
        assert_eq!(trace.counter("snapshots_too_old"), 0);
        let (trace, book) = joined_at(at, 10, at - 2, 10);
        assert_eq!((book.as_str(), trace.counter("snapshots_too_old")), ("|", 1));
    }
}

#[test]
fn accepts_highest_rpt_seq() {
    let (trace, book) = joined_at(1_000, u32::MAX - 2, 1_000, u32::MAX - 2);
    assert_eq!(book, "1@62 1@61 1@50 |");
    assert_eq!(trace.channel.state(), ChannelState::InSync);
    let (trace, book) = joined_at(1_000, u32::MAX - 2, 1_000, u32::MAX - 3);
    assert_eq!(trace.counter("snapshots_not_continued"), 1, "{book}");
}

#[test]
fn packet_1_follows_highest_sequence() {
    let (mut trace, _) = joined_at(u32::MAX - 2, 10, u32::MAX, 12);
    assert_eq!(trace.channel.state(), ChannelState::InSync);
    trace.a(&first(1, 1, 60, 2_000));
    assert_eq!(trace.counter("restarts"), 1);
    assert!(!trace.channel.book_of(7).unwrap().is_in_sync());
    trace.snapshot(&sent_at(1, 2_001).snapshot(7, 1, 1, 1, &[(b'0', 1, 60, 1)]));
    assert_eq!(trace.book(7), "1@60 |");
}

/// Returns a trace whose lines have received everything up to packet `u32::MAX - 2`.
fn near_the_highest_number() -> Trace {
    let mut trace = Trace::new(SETTINGS);
    let last = u32::MAX - 2;
    for side in FeedLine::ALL {
        trace.on(hairpin_mdp3::Feed::Incremental, side, &sent_at(last, 100).heartbeat());
    }
    trace.instrument(&packet(1).definition(7, 1, 10));
    trace.snapshot(&packet(1).snapshot(7, last, 1, 0, &[]));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
    trace.recorder.take();
    trace
}

/// CME's packet numbers are from 1 to 4294967295; a counter of 32 bits continues at 0.
#[test]
fn numbers_continue_at_1_or_0_after_the_highest() {
    let (before, highest) = (u32::MAX - 1, u32::MAX);
    let traces: [&[(&str, u32)]; 6] = [
        &[("AB", before), ("AB", highest), ("AB", 1), ("AB", 2)],
        &[("AB", before), ("AB", highest), ("AB", 0), ("AB", 1)],
        // Line B is late, early, reordered, or absent for a while.
        &[
            ("A", before),
            ("A", highest),
            ("A", 1),
            ("B", before),
            ("B", highest),
            ("A", 2),
            ("B", 1),
        ],
        &[("A", before), ("B", highest), ("AB", before), ("B", 1), ("A", highest), ("A", 2)],
        &[
            ("B", before),
            ("A", highest),
            ("A", before),
            ("B", highest),
            ("B", 1),
            ("A", 1),
            ("B", 2),
        ],
        &[("AB", before), ("A", highest), ("A", 1), ("A", 2), ("B", 2)],
    ];
    for steps in traces {
        let mut trace = near_the_highest_number();
        for (lines, sequence) in steps {
            let position = sequence.wrapping_sub(u32::MAX - 1);
            let has_zero = steps.contains(&("AB", 0));
            let place = if position > 1 && !has_zero { position - 1 } else { position };
            let built = first(*sequence, place + 1, 50 + i64::from(place), 200 + u64::from(place));
            for side in FeedLine::ALL.into_iter().filter(|side| lines.contains(&format!("{side}")))
            {
                trace.on(hairpin_mdp3::Feed::Incremental, side, &built);
            }
        }
        trace.wait(hairpin_time::Duration::from_secs(1));
        assert_eq!(trace.book(7), "1@53 1@52 1@51 1@50 |", "{steps:?}");
        assert_eq!(trace.channel.state(), ChannelState::InSync, "{steps:?}");
        assert_eq!((trace.counter("gaps"), trace.counter("missed_packets")), (0, 0), "{steps:?}");
        assert_eq!(trace.counter("rpt_seq_gaps"), 0, "{steps:?}");
    }
}

#[test]
fn packets_lost_after_the_highest_number_are_a_gap() {
    let mut trace = near_the_highest_number();
    for (sequence, place) in [(u32::MAX - 1, 0), (u32::MAX, 1), (3, 4), (4, 5)] {
        trace.a(&first(sequence, place + 1, 50 + i64::from(place), 200 + u64::from(place)));
    }
    trace.wait(hairpin_time::Duration::from_secs(1));
    assert_eq!((trace.counter("gaps"), trace.counter("missed_packets")), (1, 2));
    assert_eq!(trace.channel.state(), ChannelState::Recovering);
    trace.snapshot(&sent_at(1, 300).snapshot(7, 4, 1, 6, &[(b'0', 1, 55, 1)]));
    assert_eq!(trace.book(7), "1@55 |");
}
