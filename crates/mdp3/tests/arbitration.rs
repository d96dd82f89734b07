//! Two sides, one stream: what is lost on one of them is not missed.

mod support;

use hairpin_time::Duration;
use support::*;

#[test]
fn both_sides_alike_give_each_packet_once() {
    let mut trace = Trace::in_sync();
    trace.a(&tick(101));
    trace.b(&tick(101));
    trace.b(&tick(102));
    trace.a(&tick(102));
    trace.told(["book 7 B: 1@101 |", "end 101 7B", "book 7 B: 1@102 |", "end 102 7B"]);
    assert_eq!((trace.counter("duplicates"), trace.counter("first_b")), (2, 1));
}

#[test]
fn a_mute_side_is_not_missed() {
    for mute_a in [false, true] {
        let mut trace = Trace::in_sync();
        for sequence in 101..200 {
            if mute_a {
                trace.b(&tick(sequence))
            } else {
                trace.a(&tick(sequence))
            }
            trace.wait(Duration::from_millis(100));
        }
        assert_eq!((trace.counter("gaps"), trace.counter("events")), (0, 99));
        assert_eq!(trace.book(7), "1@199 |");
    }
}

#[test]
fn the_other_side_fills_a_hole() {
    let mut trace = Trace::in_sync();
    trace.a(&tick(101));
    trace.a(&tick(103));
    trace.a(&tick(104));
    trace.told(["book 7 B: 1@101 |", "end 101 7B"]);
    trace.b(&tick(101));
    trace.b(&tick(102));
    trace.told([
        "book 7 B: 1@102 |",
        "end 102 7B",
        "book 7 B: 1@103 |",
        "end 103 7B",
        "book 7 B: 1@104 |",
        "end 104 7B",
    ]);
    trace.b(&tick(103));
    trace.b(&tick(104));
    trace.wait(Duration::from_secs(1));
    trace.told([]);
    assert_eq!(trace.channel.poll_timeout(), None);
    assert_eq!((trace.counter("held_packets"), trace.counter("gaps")), (2, 0));
}

#[test]
fn a_hole_that_nobody_fills_is_a_gap_when_the_wait_is_over() {
    let mut trace = Trace::in_sync();
    trace.a(&tick(101));
    trace.recorder.take();
    trace.a(&tick(103));
    assert_eq!(trace.channel.poll_timeout(), Some(trace.now + Duration::from_millis(10)));
    trace.wait(Duration::from_millis(9));
    trace.b(&tick(103));
    trace.told([]);
    trace.wait(Duration::from_millis(1));
    trace.told(["gap 102+1", "7 out of sync", "8 out of sync", "channel Recovering", "end 103"]);
    assert_eq!((trace.counter("gaps"), trace.counter("missed_packets")), (1, 1));
    assert_eq!(trace.channel.poll_timeout(), None);
    // The packet given up is too late.
    trace.b(&tick(102));
    trace.told([]);
    assert_eq!(trace.counter("gaps"), 1);
}

#[test]
fn two_holes_are_two_gaps() {
    let mut trace = Trace::in_sync();
    trace.a(&tick(102));
    trace.wait(Duration::from_millis(4));
    trace.a(&tick(104));
    trace.wait(Duration::from_millis(6));
    assert_eq!((trace.counter("gaps"), trace.counter("missed_packets")), (1, 1));
    trace.wait(Duration::from_millis(4));
    assert_eq!((trace.counter("gaps"), trace.counter("missed_packets")), (2, 2));
}

#[test]
fn a_full_window_is_a_gap_at_once() {
    let mut trace = Trace::in_sync();
    for sequence in 102..=108 {
        trace.a(&tick(sequence));
    }
    assert_eq!(trace.counter("gaps"), 0);
    trace.a(&tick(109));
    assert_eq!((trace.counter("gaps"), trace.counter("missed_packets")), (1, 1));
    assert_eq!(trace.counter("first_a"), 9, "heartbeat 100 and all of 102 to 109");
}

#[test]
fn a_jump_beyond_the_window_is_a_gap_at_once() {
    let mut trace = Trace::in_sync();
    trace.a(&tick(103));
    trace.a(&tick(203));
    assert_eq!((trace.counter("gaps"), trace.counter("missed_packets")), (2, 2 + 99));
}

#[test]
fn without_a_window_every_hole_is_a_gap() {
    let settings = hairpin_mdp3::Settings { reorder_packets: 0, ..SETTINGS };
    let mut trace = Trace::in_sync_with(settings, 10);
    trace.a(&tick(102));
    trace.b(&tick(101));
    assert_eq!((trace.counter("gaps"), trace.counter("duplicates")), (1, 1));
}

#[test]
fn a_packet_too_long_to_hold_is_processed_out_of_turn() {
    let settings = hairpin_mdp3::Settings { max_packet: 32, ..SETTINGS };
    let mut trace = Trace::in_sync_with(settings, 10);
    trace.a(&tick(102));
    assert_eq!((trace.counter("oversized_packets"), trace.counter("gaps")), (1, 1));
    assert_eq!(trace.counter("first_a"), 2);
}

#[test]
fn side_b_still_in_the_old_numbering_is_not_listened_to() {
    let mut trace = Trace::in_sync();
    trace.b(&packet(100).heartbeat());
    trace.a(&sent_at(101, 1_000).channel_reset());
    trace.recorder.take();
    // A restarts at once, B a second later.
    trace.a(&sent_at(1, 1_001).book(END, &[bid(7, 1).add(1, 50, 1)]));
    trace.told(["book 7 B: 1@50 |", "end 1 7B"]);
    trace.b(&sent_at(101, 1_000).channel_reset());
    trace.b(&sent_at(102, 1_500).book(END, &[bid(7, 9).add(1, 60, 1)]));
    trace.told([]);
    trace.a(&sent_at(2, 1_002).book(END, &[bid(7, 2).change(1, 50, 2)]));
    trace.b(&sent_at(1, 2_001).book(END, &[bid(7, 1).add(1, 50, 1)]));
    trace.b(&sent_at(3, 2_003).book(END, &[bid(7, 3).change(1, 50, 3)]));
    trace.told(["book 7 b: 2@50 |", "end 2 7b", "book 7 b: 3@50 |", "end 3 7b"]);
    assert_eq!((trace.counter("gaps"), trace.counter("older_epoch_packets")), (0, 2));
}

#[test]
fn a_restart_without_a_reset_puts_every_book_out_of_sync() {
    let mut trace = Trace::in_sync();
    trace.a(&tick(101));
    trace.a(&tick(103));
    trace.recorder.take();
    trace.a(&sent_at(1, 9_000).book(END, &[bid(7, 1).add(1, 50, 1)]));
    trace.told(["7 out of sync", "8 out of sync", "channel Recovering", "end 1"]);
    trace.b(&sent_at(1, 9_000).book(END, &[bid(7, 1).add(1, 50, 1)]));
    trace.b(&sent_at(2, 9_001).heartbeat());
    assert_eq!((trace.counter("restarts"), trace.counter("abandoned_packets")), (1, 1));
    // A snapshot of the old numbering is of no use, however plausible.
    // The restart's own time may be that of the old numbering too.
    for sent in [8_000, 9_000] {
        trace.snapshot(&sent_at(1, sent).snapshot(7, 1, 1, 1, &[(b'0', 1, 50, 1)]));
        trace.told([]);
    }
    trace.snapshot(&sent_at(1, 9_002).snapshot(7, 1, 1, 1, &[(b'0', 1, 50, 1)]));
    trace.told([
        "7 in sync",
        "restored 7 B: 1@50 |",
        "8 in sync",
        "restored 8 -: |",
        "channel InSync",
    ]);
}
