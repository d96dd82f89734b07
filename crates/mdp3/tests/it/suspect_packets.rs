//! Packets that do not belong to the stream, and empty passes: neither blocks a feed.

use crate::support::*;
use hairpin_mdp3::{Action, ChannelState, Feed, LateJoin, Settings};
use hairpin_time::Duration;

/// Slightly more than the hour by which the host's clock is ahead of the packets, in milliseconds.
const FAR_FUTURE: u64 = 3_600_000 + 10_001;

fn tick(sequence: u32, rpt_seq: u32) -> PacketBuilder {
    packet(sequence).book(END, &[bid(7, rpt_seq).add(1, i64::from(sequence), 1)])
}

#[test]
fn suspects_single_packet_far_ahead() {
    let mut trace = Trace::in_sync();
    trace.a(&tick(101, 1));
    trace.a(&packet(1_000_000).heartbeat());
    trace.a(&tick(102, 2));
    trace.b(&packet(u32::MAX).heartbeat());
    trace.b(&tick(103, 3));
    assert_eq!(trace.book(7), "1@103 1@102 1@101 |");
    assert_eq!((trace.counter("gaps"), trace.counter("doubtful_packets")), (0, 2));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
}

#[test]
fn confirmed_jump_processes_both_packets() {
    let mut trace = Trace::in_sync();
    trace.a(&tick(101, 1));
    trace.recorder.take();
    trace.a(&tick(1_000_000, 900_000));
    trace.assert_callbacks([
        "warning packet 1000000 of the incremental feed does not continue the stream",
    ]);
    trace.a(&tick(1_000_001, 900_001));
    trace.assert_callbacks([
        "gap 102+999898",
        "7 out of sync",
        "8 out of sync",
        "channel Recovering",
        "end 1000000",
        "end 1000001",
    ]);
    // Both are in the queue.
    let levels = [(b'0', 1, 7, 7)];
    trace.snapshot(&sent_at(1, 1_000_002).snapshot(7, 999_999, 2, 899_999, &levels));
    assert_eq!(trace.book(7), "1@1000001 1@1000000 7@7 |");
}

#[test]
fn other_line_confirms_jump() {
    let mut trace = Trace::in_sync();
    trace.a(&tick(5_000, 900));
    trace.b(&tick(5_000, 900));
    assert_eq!((trace.counter("gaps"), trace.counter("duplicates")), (1, 1));
    assert_eq!(trace.counter("missed_packets"), 4_899);
}

#[test]
fn packet_from_future_does_not_hide_restart() {
    let mut trace = Trace::in_sync();
    trace.a(&sent_at(101, FAR_FUTURE).heartbeat());
    trace.a(&tick(101, 1));
    trace.assert_callbacks([
        "warning packet 101 of the incremental feed does not continue the stream",
        "book 7 B: 1@101 |",
        "end 101 7B",
    ]);
    trace.a(&sent_at(1, 9_000).heartbeat());
    assert_eq!(trace.counter("restarts"), 1);
}

#[test]
fn detects_restart_without_first_packets() {
    let mut trace = Trace::new(SETTINGS);
    // Early in the life of a publisher: its numbers are still low.
    trace.a(&packet(30).heartbeat());
    trace.instrument(&packet(1).definition(7, 1, 10));
    trace.snapshot(&packet(1).snapshot(7, 30, 1, 9, &[(b'0', 1, 50, 1)]));
    trace.recorder.take();
    trace.a(&sent_at(3, 9_000).book(END, &[bid(7, 3).add(1, 70, 1)]));
    trace.recorder.take();
    trace.a(&sent_at(4, 9_001).book(END, &[bid(7, 4).add(1, 71, 1)]));
    trace.assert_callbacks(["7 out of sync", "channel Recovering"]);
    trace.wait(Duration::from_millis(10));
    trace.assert_callbacks(["gap 1+2", "end 3", "end 4"]);
    trace.snapshot(&sent_at(1, 9_002).snapshot(7, 2, 1, 2, &[(b'0', 1, 69, 1)]));
    assert_eq!(trace.book(7), "1@71 1@70 1@69 |");
}

#[test]
fn stray_packet_does_not_restart_numbering() {
    let mut trace = Trace::in_sync();
    trace.a(&tick(101, 1));
    trace.a(&sent_at(3, 102).heartbeat());
    trace.a(&tick(102, 2));
    trace.a(&sent_at(50, 103).heartbeat());
    trace.a(&tick(103, 3));
    assert_eq!((trace.counter("restarts"), trace.counter("doubtful_packets")), (0, 2));
    assert_eq!(trace.book(7), "1@103 1@102 1@101 |");
}

#[test]
fn oversized_suspect_packet_counts_as_lost() {
    let mut trace = Trace::in_sync_with(Settings { max_packet: 32, ..SETTINGS }, 10);
    trace.a(&tick(5_000, 1));
    trace.a(&packet(5_001).heartbeat());
    assert_eq!((trace.counter("gaps"), trace.counter("missed_packets")), (1, 4_900));
}

#[test]
fn works_with_host_clock_one_hour_slow() {
    let mut trace = Trace::new(SETTINGS);
    trace.utc = YEAR_2026 - Duration::from_secs(3_600);
    trace.a(&packet(100).heartbeat());
    trace.a(&packet(101).heartbeat());
    trace.instrument(&packet(1).definition(7, 1, 10));
    trace.snapshot(&packet(1).snapshot(7, 101, 1, 0, &[]));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
    trace.a(&tick(102, 1));
    assert_eq!((trace.book(7).as_str(), trace.counter("doubtful_packets")), ("1@102 |", 1));
}

#[test]
fn pass_from_future_does_not_stop_loops() {
    let mut trace = Trace::new(SETTINGS);
    trace.a(&packet(100).heartbeat());
    trace.instrument(&sent_at(1, FAR_FUTURE).definition(9, 5, 10));
    trace.instrument(&packet(1).definition(7, 1, 10));
    assert_eq!(trace.channel.state(), ChannelState::Recovering);
    trace.snapshot(&sent_at(1, FAR_FUTURE).snapshot(7, 100, 5, 0, &[(b'0', 1, 99, 9)]));
    trace.snapshot(&packet(1).snapshot(7, 100, 1, 0, &[]));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
    assert_eq!((trace.book(7).as_str(), trace.counter("doubtful_packets")), ("|", 2));
}

#[test]
fn far_loop_packet_invalidates_its_pass_only() {
    let mut trace = Trace::new(SETTINGS);
    trace.a(&packet(100).heartbeat());
    trace.instrument(&packet(1).definition(7, 2, 10).definition(8, 2, 10));
    trace.snapshot(&packet(1).snapshot(7, 100, 1, 0, &[]).heartbeat());
    trace.snapshot(&sent_at(u32::MAX, 2).heartbeat());
    trace.snapshot(&sent_at(1, 20).snapshot(7, 100, 1, 0, &[]));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
}

#[test]
fn loop_of_heartbeats_means_empty_books() {
    let mut trace = Trace::new(SETTINGS);
    trace.a(&packet(100).heartbeat());
    trace.instrument(&packet(1).definition(7, 2, 10).definition(8, 2, 10));
    trace.recorder.take();
    trace.snapshot(&sent_at(1, 110).heartbeat());
    trace.snapshot_b(&sent_at(1, 110).heartbeat());
    trace.assert_callbacks([]);
    // The next pass begins, so the previous one was complete.
    trace.a(&sent_at(101, 115).book(END, &[bid(7, 9).add(1, 50, 1)]));
    trace.recorder.take();
    trace.snapshot(&sent_at(1, 120).heartbeat());
    trace.assert_callbacks([
        "7 in sync",
        "restored 7 B: 1@50 |",
        "8 in sync",
        "restored 8 -: |",
        "channel InSync",
    ]);
    assert_eq!(trace.counter("empty_by_absence"), 2);
}

#[test]
fn reset_clears_activity_before_heartbeat_loop() {
    let mut trace = Trace::new(SETTINGS);
    // The instrument is not known yet, so the entry is queued.
    trace.a(&packet(100).book(END, &[bid(7, 9).add(1, 50, 1)]));
    trace.a(&packet(101).channel_reset());
    trace.instrument(&packet(1).definition(7, 2, 10).definition(8, 2, 10));
    trace.snapshot(&sent_at(1, 110).heartbeat());
    trace.snapshot(&sent_at(1, 120).heartbeat());
    assert_eq!(trace.channel.state(), ChannelState::InSync);
    assert_eq!(["|", "|"], [trace.book(7), trace.book(8)].each_ref().map(String::as_str));
}

#[test]
fn loop_of_heartbeats_ignores_active_instruments() {
    let mut trace = Trace::new(SETTINGS);
    trace.a(&packet(100).book(END, &[bid(7, 9).add(1, 50, 1)]));
    trace.instrument(&packet(1).definition(7, 2, 10).definition(8, 2, 10));
    for pass in 0..3 {
        trace.snapshot(&sent_at(1, 110 + pass).heartbeat());
    }
    assert_eq!(trace.channel.state(), ChannelState::Recovering);
    trace.snapshot(&sent_at(1, 120).snapshot(7, 100, 1, 9, &[(b'0', 1, 50, 1)]));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
}

#[test]
fn overtaken_pass_proves_nothing() {
    let mut trace = Trace::new(SETTINGS);
    trace.a(&sent_at(100, 200).heartbeat());
    trace.instrument(&packet(1).definition(7, 1, 10));
    trace.snapshot(&sent_at(1, 110).heartbeat());
    trace.snapshot(&sent_at(1, 120).heartbeat());
    assert_eq!(trace.channel.state(), ChannelState::Recovering);
    trace.snapshot(&sent_at(1, 210).heartbeat());
    trace.snapshot(&sent_at(1, 220).heartbeat());
    assert_eq!(trace.channel.state(), ChannelState::InSync);
}

#[test]
fn pass_with_gap_or_contents_is_not_empty() {
    for spoil in 0..3 {
        let mut trace = Trace::new(SETTINGS);
        trace.a(&packet(100).heartbeat());
        trace.instrument(&packet(1).definition(7, 1, 10));
        trace.snapshot(&sent_at(1, 110).heartbeat());
        match spoil {
            0 => trace.snapshot(&sent_at(3, 112).heartbeat()),
            1 => trace.snapshot(&sent_at(2, 111).raw([59, 52, 1, 13], &[0; 58])),
            _ => trace.snapshot(&sent_at(2, 111).raw([28, 53, 1, 13], &[0; 31])),
        }
        trace.snapshot(&sent_at(1, 120).heartbeat());
        assert_eq!(trace.channel.state(), ChannelState::Recovering, "{spoil}");
    }
}

#[test]
fn join_without_definitions_ends_with_empty_pass() {
    let mut trace = Trace::new(Settings { late_join: LateJoin::Books, ..SETTINGS });
    trace.a(&packet(100).heartbeat());
    trace.snapshot(&sent_at(1, 110).heartbeat());
    trace.actions();
    trace.snapshot(&sent_at(1, 120).heartbeat());
    assert_eq!(trace.channel.state(), ChannelState::InSync);
    assert_eq!(trace.actions(), [Action::Leave(Feed::Snapshot)]);
}

#[test]
fn rpt_seq_within_one_lost_packet_proves_nothing() {
    let mut trace = Trace::in_sync_at_rpt_seq(119);
    // Packet 101, which is lost: a reset and then 119 volumes of 7, in 2,000 bytes.
    let mut lost = packet(101).channel_reset();
    let volumes: Vec<_> = (1..=119).collect();
    lost = lost.volumes(MORE, 7, &volumes);
    assert!(lost.bytes().len() <= SETTINGS.max_packet, "{}", lost.bytes().len());
    trace.a(&packet(102).book(END, &[bid(7, 120).add(1, 50, 1)]));
    trace.wait(Duration::from_millis(10));
    assert!(!trace.channel.book_of(7).unwrap().is_in_sync(), "RptSeq 120 has come round again");
}

/// The queued entries of thousands of instruments are read once, not once per packet of the loop.
/// Otherwise this test would take minutes.
#[test]
fn recovers_thousands_of_instruments_from_one_queue() {
    const INSTRUMENTS: u32 = 4_000;
    const ROUNDS: u32 = 10;
    let settings = Settings {
        max_instruments: INSTRUMENTS as usize,
        max_loop_packets: 1 << 13,
        queue_bytes: 4 << 20,
        max_snapshot_lead: 100_000,
        ..SETTINGS
    };
    let mut trace = Trace::new(settings);
    trace.a(&packet(1).heartbeat());
    for round in 1..=ROUNDS {
        for id in 0..INSTRUMENTS {
            let sequence = 1 + (round - 1) * INSTRUMENTS + id + 1;
            let entry = bid(id as i32, round).add(1, i64::from(round), 1);
            trace.a(&packet(sequence).book(END, &[entry]));
        }
    }
    for id in 0..INSTRUMENTS {
        trace.instrument(&packet(id + 1).definition(id as i32, INSTRUMENTS, 10));
    }
    for id in 0..INSTRUMENTS {
        trace.snapshot(&packet(id + 1).snapshot(id as i32, 1, INSTRUMENTS, 0, &[]));
    }
    assert_eq!(trace.channel.state(), ChannelState::InSync);
    assert_eq!(trace.book(3_999), "1@10 1@9 1@8 1@7 1@6 1@5 1@4 1@3 1@2 1@1 |");
}
