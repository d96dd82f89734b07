//! A/B arbitration: a loss on one line is no gap.

use crate::support::*;
use hairpin_time::Duration;

#[test]
fn processes_each_packet_once() {
    let mut trace = Trace::in_sync();
    trace.a(&tick(101));
    trace.b(&tick(101));
    trace.b(&tick(102));
    trace.a(&tick(102));
    trace.assert_callbacks(["book 7 B: 1@101 |", "end 101 7B", "book 7 B: 1@102 |", "end 102 7B"]);
    assert_eq!((trace.counter("duplicates"), trace.counter("first_b")), (2, 1));
}

#[test]
fn silent_line_causes_no_gap() {
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
fn other_line_fills_gap() {
    let mut trace = Trace::in_sync();
    trace.a(&tick(101));
    trace.a(&tick(103));
    trace.a(&tick(104));
    trace.assert_callbacks(["book 7 B: 1@101 |", "end 101 7B"]);
    trace.b(&tick(101));
    trace.b(&tick(102));
    trace.assert_callbacks([
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
    trace.assert_callbacks([]);
    assert_eq!(trace.channel.poll_timeout(), None);
    assert_eq!((trace.counter("held_packets"), trace.counter("gaps")), (2, 0));
}

#[test]
fn declares_gap_after_reorder_wait() {
    let mut trace = Trace::in_sync();
    trace.a(&tick(101));
    trace.recorder.take();
    trace.a(&tick(103));
    assert_eq!(trace.channel.poll_timeout(), Some(trace.now + Duration::from_millis(10)));
    trace.wait(Duration::from_millis(9));
    trace.b(&tick(103));
    trace.assert_callbacks([]);
    trace.wait(Duration::from_millis(1));
    trace.assert_callbacks([
        "gap 102+1",
        "7 out of sync",
        "8 out of sync",
        "channel Recovering",
        "end 103",
    ]);
    assert_eq!((trace.counter("gaps"), trace.counter("missed_packets")), (1, 1));
    assert_eq!(trace.channel.poll_timeout(), None);
    // The packet declared lost is too late.
    trace.b(&tick(102));
    trace.assert_callbacks([]);
    assert_eq!(trace.counter("gaps"), 1);
}

#[test]
fn reports_two_gaps_separately() {
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
fn full_window_declares_gap_at_once() {
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
fn jump_beyond_window_declares_gap_at_once() {
    let mut trace = Trace::in_sync();
    trace.a(&tick(103));
    trace.a(&tick(203));
    assert_eq!((trace.counter("gaps"), trace.counter("missed_packets")), (2, 2 + 99));
}

#[test]
fn without_window_every_gap_is_declared_at_once() {
    let settings = hairpin_mdp3::Settings { reorder_packets: 0, ..SETTINGS };
    let mut trace = Trace::in_sync_with(settings, 10);
    trace.a(&tick(102));
    trace.b(&tick(101));
    assert_eq!((trace.counter("gaps"), trace.counter("duplicates")), (1, 1));
}

#[test]
fn oversized_packet_is_processed_out_of_order() {
    let settings = hairpin_mdp3::Settings { max_packet: 32, ..SETTINGS };
    let mut trace = Trace::in_sync_with(settings, 10);
    trace.a(&tick(102));
    assert_eq!((trace.counter("oversized_packets"), trace.counter("gaps")), (1, 1));
    assert_eq!(trace.counter("first_a"), 2);
}

#[test]
fn ignores_line_b_in_old_epoch() {
    let mut trace = Trace::in_sync();
    trace.b(&packet(100).heartbeat());
    trace.a(&sent_at(101, 1_000).channel_reset());
    trace.recorder.take();
    // A restarts at once, B a second later.
    trace.a(&sent_at(1, 1_001).book(END, &[bid(7, 1).add(1, 50, 1)]));
    trace.assert_callbacks(["book 7 B: 1@50 |", "end 1 7B"]);
    trace.b(&sent_at(101, 1_000).channel_reset());
    trace.b(&sent_at(102, 1_500).book(END, &[bid(7, 9).add(1, 60, 1)]));
    trace.assert_callbacks([]);
    trace.a(&sent_at(2, 1_002).book(END, &[bid(7, 2).change(1, 50, 2)]));
    trace.b(&sent_at(1, 2_001).book(END, &[bid(7, 1).add(1, 50, 1)]));
    trace.b(&sent_at(3, 2_003).book(END, &[bid(7, 3).change(1, 50, 3)]));
    trace.assert_callbacks(["book 7 b: 2@50 |", "end 2 7b", "book 7 b: 3@50 |", "end 3 7b"]);
    assert_eq!((trace.counter("gaps"), trace.counter("older_epoch_packets")), (0, 2));
}

#[test]
fn restart_without_reset_loses_sync() {
    let mut trace = Trace::in_sync();
    trace.a(&tick(101));
    trace.a(&tick(103));
    trace.recorder.take();
    trace.a(&sent_at(1, 9_000).book(END, &[bid(7, 1).add(1, 50, 1)]));
    trace.assert_callbacks(["7 out of sync", "8 out of sync", "channel Recovering", "end 1"]);
    trace.b(&sent_at(1, 9_000).book(END, &[bid(7, 1).add(1, 50, 1)]));
    trace.b(&sent_at(2, 9_001).heartbeat());
    assert_eq!((trace.counter("restarts"), trace.counter("abandoned_packets")), (1, 1));
    // A snapshot of the old epoch is rejected, even with plausible numbers. The restart's own time
    // may also belong to the old epoch.
    for sent in [8_000, 9_000] {
        trace.snapshot(&sent_at(1, sent).snapshot(7, 1, 1, 1, &[(b'0', 1, 50, 1)]));
        trace.assert_callbacks([]);
    }
    trace.snapshot(&sent_at(1, 9_002).snapshot(7, 1, 1, 1, &[(b'0', 1, 50, 1)]));
    trace.assert_callbacks([
        "7 in sync",
        "restored 7 B: 1@50 |",
        "8 in sync",
        "restored 8 -: |",
        "channel InSync",
    ]);
}
