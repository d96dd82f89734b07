//! Recovery after a loss: which books are still correct, and how the others are restored.

use crate::support::*;
use hairpin_mdp3::{Action, ChannelState, Feed, Settings};
use hairpin_time::Duration;

/// Returns a trace in sync, with 7 at RptSeq 1,001 and a bid at 50; then packet 102 is lost.
fn after_a_gap() -> Trace {
    let mut trace = Trace::in_sync_late();
    trace.a(&packet(101).book(END, &[bid(7, 1_001).add(1, 50, 1)]));
    trace.a(&packet(103).heartbeat());
    trace.wait(Duration::from_millis(10));
    trace.recorder.take();
    let wanted = [Action::Join(Feed::Instrument), Action::Join(Feed::Snapshot)];
    assert_eq!(trace.actions(), wanted);
    trace
}

#[test]
fn next_rpt_seq_proves_no_loss() {
    let mut trace = after_a_gap();
    trace.a(&packet(104).book(END, &[bid(7, 1002).add(1, 51, 1)]));
    trace.assert_callbacks(["7 in sync", "book 7 B: 1@51 1@50 |", "end 104 7B"]);
    // No packet of 8 has arrived.
    assert_eq!(trace.channel.state(), ChannelState::Recovering);
}

#[test]
fn low_rpt_seq_proves_nothing() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).book(END, &[bid(7, 1).add(1, 50, 1)]));
    // Packets 102, a channel reset, and 103, the first entry after it, are lost.
    trace.a(&packet(104).book(END, &[bid(7, 2).add(1, 40, 1)]));
    trace.wait(Duration::from_millis(10));
    assert!(!trace.channel.book_of(7).unwrap().is_in_sync());
    let levels = [(b'0', 1, 40, 1), (b'0', 2, 39, 1)];
    trace.snapshot(&sent_at(1, 90).snapshot(7, 104, 1, 2, &levels));
    assert_eq!(trace.book(7), "1@40 1@39 |");
    assert_eq!(trace.channel.state(), ChannelState::InSync);
}

#[test]
fn wrong_rpt_seq_requires_snapshot() {
    let mut trace = after_a_gap();
    trace.a(&packet(104).book(END, &[bid(7, 1003).add(1, 52, 1)]));
    trace.assert_callbacks(["end 104"]);
    trace.a(&packet(105).book(END, &[bid(7, 1004).add(1, 53, 1), bid(8, 1001).add(1, 20, 1)]));
    trace.assert_callbacks(["8 in sync", "book 8 B: 1@20 |", "end 105 8B"]);
    // As of 104: the snapshot contains its entry but not that of 105.
    let levels = [(b'0', 1, 52, 1), (b'0', 2, 51, 1), (b'0', 3, 50, 1)];
    trace.snapshot(&packet(1).snapshot(7, 104, 2, 1003, &levels).snapshot(8, 104, 2, 1000, &[]));
    trace.assert_callbacks(["7 in sync", "restored 7 B: 1@53 1@52 1@51 1@50 |", "channel InSync"]);
    assert_eq!(trace.actions(), [Action::Leave(Feed::Snapshot)]);
    trace.a(&packet(106).book(END, &[bid(7, 1005).add(1, 54, 1)]));
    trace.assert_callbacks(["book 7 B: 1@54 1@53 1@52 1@51 1@50 |", "end 106 7B"]);
}

#[test]
fn rejects_snapshot_before_gap() {
    let mut trace = after_a_gap();
    trace.snapshot(&packet(1).snapshot(7, 101, 2, 1001, &[(b'0', 1, 50, 1)]));
    trace.assert_callbacks([]);
    assert_eq!(trace.counter("snapshots_too_old"), 1);
    // As of the last missing packet, which is sufficient.
    trace.snapshot(&packet(2).snapshot(8, 102, 2, 1000, &[]));
    trace.assert_callbacks(["8 in sync", "restored 8 -: |"]);
}

#[test]
fn accepts_snapshot_ahead_of_stream() {
    let mut trace = after_a_gap();
    trace.snapshot(&packet(1).snapshot(7, 105, 2, 1003, &[(b'0', 1, 52, 1)]));
    trace.assert_callbacks(["7 in sync", "restored 7 B: 1@52 |"]);
    trace.a(&packet(104).book(END, &[bid(7, 1002).add(1, 51, 1)]));
    trace.a(&packet(105).book(END, &[bid(7, 1003).add(1, 52, 1)]));
    trace.assert_callbacks(["end 104", "end 105"]);
    trace.a(&packet(106).book(END, &[bid(7, 1004).add(1, 53, 1)]));
    trace.assert_callbacks(["book 7 B: 1@53 1@52 |", "end 106 7B"]);
    assert_eq!(trace.counter("entries_in_snapshot"), 2);
    trace.snapshot(&packet(2).snapshot(8, 107 + 101, 2, 1003, &[]));
    assert_eq!(trace.counter("snapshots_too_far_ahead"), 1);
}

/// Found by `sim feed`, seed 27: the snapshot was from after a reset that had not arrived yet, and
/// an entry from before the reset had the RptSeq after the snapshot's.
#[test]
fn drops_entry_contained_in_snapshot_ahead() {
    let mut trace = after_a_gap();
    trace.snapshot(&packet(1).snapshot(7, 105, 2, 1, &[(b'0', 1, 52, 1)]));
    trace.recorder.take();
    trace.a(&packet(104).book(END, &[bid(7, 2).add(1, 51, 1)]));
    trace.assert_callbacks(["end 104"]);
    assert_eq!(trace.book(7), "1@52 |");
    trace.a(&packet(105).channel_reset());
    trace.a(&packet(106).book(END, &[bid(7, 1).add(1, 53, 1)]));
    assert_eq!(trace.book(7), "1@53 |");
    assert_eq!(trace.counter("entries_in_snapshot"), 1);
}

/// Tests the state `Ahead`.
#[test]
fn book_ahead_loses_sync_at_wrong_rpt_seq() {
    for (rpt_seq, gaps) in [(1004, 0), (1005, 1)] {
        let mut trace = after_a_gap();
        trace.snapshot(&packet(1).snapshot(7, 104, 2, 1003, &[(b'0', 1, 52, 1)]));
        trace.a(&packet(104).heartbeat());
        let before = trace.counter("rpt_seq_gaps");
        trace.a(&packet(105).book(END, &[bid(7, rpt_seq).add(1, 53, 1)]));
        assert_eq!(trace.counter("rpt_seq_gaps") - before, gaps);
    }
}

#[test]
fn absence_before_gap_proves_nothing() {
    let mut trace = after_a_gap();
    trace.snapshot(&sent_at(1, 90).snapshot(7, 101, 1, 1_001, &[(b'0', 1, 50, 1)]));
    trace.assert_callbacks([]);
    trace.snapshot(&sent_at(1, 91).snapshot(7, 102, 1, 1_001, &[(b'0', 1, 50, 1)]));
    trace.assert_callbacks([
        "7 in sync",
        "restored 7 -: 1@50 |",
        "8 in sync",
        "restored 8 -: |",
        "channel InSync",
    ]);
}

#[test]
fn recovery_clears_rpt_seq_floor() {
    let mut trace = Trace::in_sync_late();
    // Eleven packets, after which numbers up to 1,100 prove nothing.
    trace.a(&packet(112).heartbeat());
    trace.wait(Duration::from_millis(10));
    let books = sent_at(1, 90).snapshot(7, 112, 2, 1_002, &[]);
    trace.snapshot(&books.snapshot(8, 112, 2, 1_000, &[]));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
    // One more packet, after which numbers above 100 are proof.
    trace.a(&packet(114).book(END, &[bid(7, 1_003).add(1, 51, 1)]));
    trace.wait(Duration::from_millis(10));
    assert!(trace.channel.book_of(7).unwrap().is_in_sync());
}

#[test]
fn drops_later_entry_counted_by_snapshot() {
    let mut trace = after_a_gap();
    trace.snapshot(&packet(1).snapshot(7, 103, 2, 1_002, &[(b'0', 1, 51, 1)]));
    trace.recorder.take();
    trace.a(&packet(104).book(END, &[bid(7, 1_002).add(1, 51, 1)]));
    trace.a(&packet(105).book(END, &[bid(7, 1_003).add(1, 52, 1)]));
    trace.assert_callbacks(["end 104", "book 7 B: 1@52 1@51 |", "end 105 7B"]);
}

#[test]
fn rejects_snapshot_that_queue_does_not_continue() {
    let mut trace = after_a_gap();
    trace.a(&packet(104).book(END, &[bid(7, 1004).add(1, 52, 1)]));
    trace.snapshot(&packet(1).snapshot(7, 103, 2, 1002, &[(b'0', 1, 51, 1)]));
    trace.assert_callbacks(["end 104"]);
    assert_eq!(trace.counter("snapshots_not_continued"), 1);
    trace.snapshot(&sent_at(1, 90).snapshot(7, 104, 2, 1004, &[(b'0', 1, 52, 1)]));
    trace.assert_callbacks(["7 in sync", "restored 7 B: 1@52 |"]);
}

#[test]
fn inapplicable_queued_entry_requires_later_snapshot() {
    let mut trace = after_a_gap();
    trace.a(&packet(104).book(END, &[bid(7, 1_003).delete(2)]));
    trace.snapshot(&packet(1).snapshot(7, 103, 2, 1_002, &[(b'0', 1, 51, 1)]));
    assert_eq!(trace.counter("snapshots_not_continued"), 1);
    trace.snapshot(&packet(2).snapshot(7, 103, 2, 1_002, &[(b'0', 1, 51, 1)]));
    assert_eq!(trace.counter("snapshots_too_old"), 1);
    trace.snapshot(&packet(3).snapshot(7, 104, 2, 1_003, &[(b'0', 1, 51, 1)]));
    assert!(trace.channel.book_of(7).unwrap().is_in_sync());
}

#[test]
fn deleted_instrument_ends_waiting() {
    use hairpin_cme_codecs::mdp3::SecurityUpdateAction;
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).book(END, &[bid(7, 2).add(1, 50, 1)]));
    assert_eq!(trace.channel.state(), ChannelState::Recovering);
    trace.a(&packet(102).definition_with(7, None, 10, SecurityUpdateAction::DELETE));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
}

#[test]
fn rpt_seq_jump_affects_its_instrument_only() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).book(END, &[bid(7, 2).add(1, 50, 1), bid(8, 1).add(1, 20, 1)]));
    trace.assert_callbacks([
        "7 out of sync",
        "book 8 B: 1@20 |",
        "end 101 8B",
        "channel Recovering",
    ]);
    assert_eq!(trace.counter("rpt_seq_gaps"), 1);
    // A snapshot from before the applied entries is rejected, because they are not queued.
    trace.snapshot(&sent_at(1, 90).snapshot(7, 99, 2, 1, &[(b'0', 1, 49, 1)]));
    assert_eq!(trace.counter("snapshots_too_old"), 1);
    // The packet with the gap is queued, so a snapshot from directly before it is accepted.
    trace.snapshot(&sent_at(1, 91).snapshot(7, 100, 2, 1, &[(b'0', 1, 49, 1)]));
    trace.assert_callbacks(["7 in sync", "restored 7 B: 1@50 1@49 |", "channel InSync"]);
}

#[test]
fn queued_trades_and_statistics_count_in_rpt_seq() {
    let mut trace = after_a_gap();
    trace.a(&packet(104)
        .trade(MORE, 7, 1009, 50, 1)
        .volume(MORE, 7, 1010, 1)
        .statistics(MORE, 7, 1011));
    trace.a(&packet(105).book(END, &[bid(7, 1012).add(1, 51, 1)]));
    trace.assert_callbacks(["trade 7 1@50", "volume 7 1", "end 105"]);
    trace.snapshot(&packet(1).snapshot(7, 103, 2, 1008, &[(b'0', 1, 50, 1)]));
    trace.assert_callbacks(["7 in sync", "restored 7 B: 1@51 1@50 |"]);
    trace.a(&packet(106)
        .trade(MORE, 7, 1013, 50, 1)
        .volume(MORE, 7, 1014, 1)
        .statistics(END, 7, 1015));
    trace.a(&packet(107).book(END, &[bid(7, 1016).delete(1)]));
    trace.assert_callbacks([
        "trade 7 1@50",
        "volume 7 1",
        "end 106",
        "book 7 B: 1@50 |",
        "end 107 7B",
    ]);
}

#[test]
fn second_gap_clears_queue() {
    let mut trace = after_a_gap();
    trace.a(&packet(104).book(END, &[bid(7, 1003).add(1, 52, 1)]));
    trace.a(&packet(106).book(END, &[bid(7, 1005).add(1, 53, 1)]));
    trace.wait(Duration::from_millis(10));
    trace.recorder.take();
    trace.snapshot(&packet(1).snapshot(7, 104, 2, 1003, &[(b'0', 1, 52, 1)]));
    trace.assert_callbacks([]);
    trace.snapshot(&packet(2).snapshot(7, 105, 2, 1004, &[(b'0', 1, 52, 1)]));
    trace.assert_callbacks(["7 in sync", "restored 7 B: 1@53 1@52 |"]);
}

#[test]
fn full_queue_requires_later_snapshot() {
    let settings = Settings { queue_bytes: 4 * 56, ..SETTINGS };
    let mut trace = Trace::in_sync_with(settings, 10);
    trace.a(&packet(102).book(END, &[bid(7, 2).add(1, 50, 1)]));
    trace.wait(Duration::from_millis(10));
    for sequence in 103..=109 {
        let rpt_seq = sequence - 100;
        trace.a(&packet(sequence).book(END, &[bid(7, rpt_seq).add(1, i64::from(sequence), 1)]));
    }
    let lines = trace.recorder.take();
    let warning = "warning recovery queue is full: dropped the oldest entries";
    assert_eq!(lines.iter().filter(|line| *line == warning).count(), 1);
    // The queue has room for four entries: 106 to 109.
    assert_eq!(trace.counter("queue_overflows"), 4);
    trace.snapshot(&packet(1).snapshot(7, 104, 2, 4, &[]));
    assert_eq!(trace.counter("snapshots_too_old"), 1);
    trace.snapshot(&packet(2).snapshot(7, 105, 2, 5, &[]));
    assert_eq!(trace.book(7), "1@109 1@108 1@107 1@106 |");
    assert!(trace.channel.book_of(7).unwrap().is_in_sync());
}

#[test]
fn new_pass_frees_obsolete_entries() {
    let mut trace = after_a_gap();
    trace.a(&packet(104).book(END, &[bid(7, 1005).add(1, 52, 1)]));
    trace.a(&packet(105).book(END, &[bid(7, 1006).add(1, 53, 1)]));
    trace.recorder.take();
    // A pass as of 104 that does not reach 7, then one that does.
    trace.snapshot(&packet(1).snapshot(8, 104, 2, 1000, &[]));
    trace.snapshot(&sent_at(1, 90).snapshot(8, 104, 2, 1000, &[]));
    trace.snapshot(&sent_at(2, 91).snapshot(7, 103, 2, 1004, &[]));
    assert_eq!(trace.counter("snapshots_too_old"), 1);
    trace.snapshot(&sent_at(3, 92).snapshot(7, 104, 2, 1005, &[(b'0', 1, 52, 1)]));
    assert_eq!(trace.book(7), "1@53 1@52 |");
}

#[test]
fn ignores_snapshot_of_book_in_sync() {
    let mut trace = after_a_gap();
    trace.a(&packet(104).book(END, &[bid(7, 1002).add(1, 51, 1)]));
    trace.recorder.take();
    trace.snapshot(&packet(1).snapshot(7, 104, 2, 1002, &[(b'0', 1, 99, 9)]));
    trace.assert_callbacks([]);
    assert_eq!(trace.book(7), "1@51 1@50 |");
}

#[test]
fn ignores_snapshots_in_sync() {
    let mut trace = Trace::in_sync();
    trace.snapshot(&sent_at(1, 90).snapshot(7, 104, 2, 2, &[(b'0', 1, 99, 9)]));
    assert_eq!(trace.counter("unwanted_packets"), 1);
    assert_eq!(trace.book(7), "|");
}

#[test]
fn accepts_snapshot_levels_in_any_order_without_gaps() {
    let mut trace = after_a_gap();
    let levels = [(b'0', 2, 49, 2), (b'1', 1, 51, 3), (b'0', 1, 50, 1)];
    trace.snapshot(&packet(1).snapshot(7, 103, 2, 1001, &levels));
    trace.assert_callbacks(["7 in sync", "restored 7 A: 1@50 2@49 | 3@51"]);
    trace.snapshot(&packet(2).snapshot(8, 103, 2, 1001, &[(b'0', 2, 49, 2)]));
    trace.assert_callbacks(["error cannot load snapshot of instrument 8: gaps between its levels"]);
    assert_eq!(trace.counter("invalid_snapshots"), 1);
}

#[test]
fn channel_reset_ends_recovery() {
    let mut trace = after_a_gap();
    trace.a(&packet(104).channel_reset().book(END, &[bid(7, 1001).add(1, 60, 1)]));
    trace.assert_callbacks([
        "7 in sync",
        "8 in sync",
        "reset",
        "end 104",
        "book 7 B: 1@60 |",
        "end 104 7B",
        "channel InSync",
    ]);
    // Numbering continues, and a spot instrument's first RptSeq need not be 1.
    trace.a(&packet(105).book(END, &[bid(7, 1002).add(1, 61, 1), bid(8, 1003).add(1, 20, 1)]));
    trace.assert_callbacks(["book 7 B: 1@61 1@60 |", "book 8 B: 1@20 |", "end 105 7B 8B"]);
    assert_eq!((trace.counter("resets"), trace.counter("restarts")), (1, 0));
}

#[test]
fn applies_reset_contained_in_snapshot() {
    let mut trace = after_a_gap();
    // As of 105, though only 103 has arrived: 104 is a reset, 105 an entry.
    trace.snapshot(&packet(1).snapshot(7, 105, 2, 1, &[(b'0', 1, 60, 1)]));
    trace.a(&packet(104).channel_reset());
    assert_eq!(trace.book(7), "|");
    trace.a(&packet(105).book(END, &[bid(7, 1).add(1, 60, 1)]));
    assert_eq!(trace.book(7), "1@60 |");
}

#[test]
fn restart_clears_awaited_packets() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).book(END, &[bid(7, 2).add(1, 50, 1)]));
    trace.a(&sent_at(1, 9_000).heartbeat());
    trace.recorder.take();
    trace.snapshot(&sent_at(1, 9_001).snapshot(7, 1, 1, 0, &[]));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
}

#[test]
fn without_rpt_seq_drops_packet_of_snapshot() {
    // Entries still to come:
    let mut trace = Trace::in_sync();
    trace.a(&packet(102).heartbeat());
    trace.wait(Duration::from_millis(10));
    trace.snapshot(&packet(1).snapshot(7, 103, 2, 0, &[(b'0', 1, 50, 1)]));
    trace.a(&packet(103).book(END, &[bid(7, 0).add(1, 50, 1)]));
    assert_eq!(trace.book(7), "1@50 |");
    trace.a(&packet(104).book(END, &[bid(7, 0).add(1, 51, 1)]));
    assert_eq!(trace.book(7), "1@51 1@50 |");
    // Entries in the queue, which another instrument's snapshot does not contain:
    let mut trace = Trace::in_sync();
    trace.a(&packet(102).heartbeat());
    trace.wait(Duration::from_millis(10));
    trace.a(&packet(103).book(END, &[bid(7, 0).add(1, 50, 1), bid(8, 0).add(1, 20, 1)]));
    let books = packet(1).snapshot(7, 103, 2, 0, &[(b'0', 1, 50, 1)]);
    trace.snapshot(&books.snapshot(8, 102, 2, 0, &[]));
    assert_eq!((trace.book(7).as_str(), trace.book(8).as_str()), ("1@50 |", "1@20 |"));
}

#[test]
fn channel_without_rpt_seq_uses_packets() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(101).book(END, &[bid(7, 0).add(1, 50, 1)]));
    trace.a(&packet(102).book(END, &[bid(7, 0).add(1, 51, 1)]));
    trace.assert_callbacks([
        "book 7 B: 1@50 |",
        "end 101 7B",
        "book 7 B: 1@51 1@50 |",
        "end 102 7B",
    ]);
    trace.a(&packet(104).book(END, &[bid(7, 0).add(1, 53, 1)]));
    trace.wait(Duration::from_millis(10));
    trace.recorder.take();
    trace.a(&packet(105).book(END, &[bid(7, 0).add(1, 54, 1)]));
    let levels = [(b'0', 1, 53, 1), (b'0', 2, 52, 1)];
    trace.snapshot(&packet(1).snapshot(7, 104, 2, 0, &levels));
    trace.assert_callbacks(["end 105", "7 in sync", "restored 7 B: 1@54 1@53 1@52 |"]);
    trace.a(&packet(106).book(END, &[bid(7, 0).delete(1)]));
    trace.assert_callbacks(["book 7 B: 1@53 1@52 |", "end 106 7B"]);
}
