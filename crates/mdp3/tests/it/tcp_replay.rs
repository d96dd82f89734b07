//! TCP replay of gaps, before snapshots are needed.

use crate::support::*;
use hairpin_mdp3::{Action, ChannelState, Feed, Replay, ReplayOutcome, Settings};
use hairpin_time::Duration;

const REPLAY: Replay = Replay {
    max_packets: 10,
    attempts: 2,
    timeout: Duration::from_secs(4),
    pause: Duration::ZERO,
    max_held: 32,
};
const WITH_REPLAY: Settings = Settings { replay: Some(REPLAY), ..SETTINGS };

/// Returns a trace in sync with 101 processed; 102 and 103 are missing, 104 is buffered and the
/// reorder wait is over.
fn requested() -> Trace {
    let mut trace = Trace::in_sync_with(WITH_REPLAY, 10);
    trace.a(&tick(101));
    trace.a(&tick(104));
    trace.recorder.take();
    trace.wait(Duration::from_millis(10));
    trace.assert_callbacks(["replay 102-103 attempt 1"]);
    assert_eq!(trace.actions(), [Action::Replay { first: 102, last: 103 }]);
    trace
}

#[test]
fn small_gap_is_requested_without_losing_sync() {
    let mut trace = requested();
    assert_eq!(trace.channel.state(), ChannelState::InSync);
    trace.replay(&tick(102));
    trace.replay(&tick(103));
    trace.assert_callbacks([
        "book 7 B: 1@102 |",
        "end 102 7B",
        "book 7 B: 1@103 |",
        "end 103 7B",
        "book 7 B: 1@104 |",
        "end 104 7B",
        "replay 102-103 filled",
    ]);
    assert_eq!(trace.actions(), [Action::EndReplay]);
    assert_eq!(trace.channel.poll_timeout(), None);
    assert_eq!((trace.counter("gaps"), trace.counter("replays_filled")), (0, 1));
    assert_eq!((trace.counter("replayed_packets"), trace.counter("first_a")), (2, 3));
    trace.a(&tick(105));
    trace.assert_callbacks(["book 7 B: 1@105 |", "end 105 7B"]);
}

#[test]
fn buffers_live_packets_during_replay() {
    let mut trace = requested();
    // Far beyond the reorder window of 8, with further gaps.
    for sequence in (105..125).filter(|sequence| *sequence != 110) {
        trace.a(&tick(sequence));
        trace.wait(Duration::from_millis(20));
    }
    trace.assert_callbacks([]);
    trace.replay(&tick(102));
    trace.replay(&tick(103));
    assert_eq!(trace.book(7), "1@109 |");
    // The other gap is requested at once, because its wait is over.
    trace.recorder.take();
    trace.wait(Duration::from_millis(1));
    trace.assert_callbacks(["replay 110-110 attempt 1"]);
    assert_eq!(trace.actions(), [Action::Replay { first: 110, last: 110 }]);
    trace.replay(&tick(110));
    assert_eq!(trace.book(7), "1@124 |");
    assert_eq!((trace.counter("gaps"), trace.counter("replays_filled")), (0, 2));
}

#[test]
fn late_packet_of_line_fills_gap() {
    let mut trace = requested();
    trace.b(&tick(101));
    trace.b(&tick(102));
    trace.replay(&tick(102));
    trace.b(&tick(103));
    assert_eq!(trace.book(7), "1@104 |");
    assert_eq!(trace.actions(), [Action::EndReplay]);
    assert_eq!((trace.counter("replay_duplicates"), trace.counter("replays_filled")), (1, 1));
    // Further packets of the connection, and its end, are ignored.
    trace.replay(&tick(103));
    trace.replay_end(ReplayOutcome::Complete);
    assert_eq!((trace.counter("unwanted_packets"), trace.counter("gaps")), (1, 0));
}

#[test]
fn accepts_replay_in_any_order() {
    let mut trace = requested();
    trace.replay(&tick(103));
    trace.replay(&tick(103));
    assert_eq!(trace.counter("replay_duplicates"), 1);
    trace.b(&tick(101));
    trace.b(&tick(103));
    assert_eq!(trace.counter("duplicates"), 2);
    trace.replay(&tick(102));
    assert_eq!((trace.book(7).as_str(), trace.counter("replayed_packets")), ("1@104 |", 2));
}

#[test]
fn declares_packets_missing_from_replay() {
    let mut trace = requested();
    trace.replay(&tick(103));
    trace.replay_end(ReplayOutcome::Complete);
    trace.assert_callbacks([
        "replay 102-103 given up: Incomplete",
        "gap 102+1",
        "7 out of sync",
        "8 out of sync",
        "channel Recovering",
        "end 103",
        "end 104",
    ]);
    assert_eq!(
        trace.actions(),
        [Action::EndReplay, Action::Join(Feed::Instrument), Action::Join(Feed::Snapshot)]
    );
    // Snapshots restore the books as usual.
    let books = packet(1).snapshot(7, 104, 2, 4, &[(b'0', 1, 104, 1)]);
    trace.snapshot(&books.snapshot(8, 104, 2, 0, &[]));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
    assert_eq!(trace.book(7), "1@104 |");
}

#[test]
fn does_not_request_gaps_of_failed_replay_again() {
    let mut trace = Trace::in_sync_with(WITH_REPLAY, 10);
    trace.a(&tick(101));
    trace.a(&tick(106));
    trace.wait(Duration::from_millis(10));
    assert_eq!(trace.actions(), [Action::Replay { first: 102, last: 105 }]);
    trace.replay(&tick(103));
    trace.replay(&tick(105));
    trace.wait(Duration::from_millis(10));
    trace.replay_end(ReplayOutcome::Complete);
    assert_eq!((trace.counter("gaps"), trace.counter("missed_packets")), (2, 2));
    assert_eq!(trace.counter("replays"), 1);
    assert_eq!(trace.channel.poll_timeout(), None);
}

#[test]
fn retries_failed_attempt_for_missing_packets() {
    let mut trace = requested();
    trace.replay(&tick(102));
    trace.recorder.take();
    trace.replay_end(ReplayOutcome::Failed);
    trace.assert_callbacks(["replay 103-103 attempt 2"]);
    assert_eq!(trace.actions(), [Action::Replay { first: 103, last: 103 }]);
    trace.replay_end(ReplayOutcome::Failed);
    let lines = trace.recorder.take();
    assert_eq!(lines[..2], ["replay 103-103 given up: Failed", "gap 103+1"]);
    assert_eq!((trace.counter("replay_failures"), trace.counter("replays_given_up")), (2, 1));
}

#[test]
fn attempt_times_out() {
    let mut trace = requested();
    let timeout = trace.now + Duration::from_secs(4);
    assert_eq!(trace.channel.poll_timeout(), Some(timeout));
    trace.wait(Duration::from_millis(3_999));
    trace.assert_callbacks([]);
    trace.wait(Duration::from_millis(1));
    trace.assert_callbacks(["replay 102-103 attempt 2"]);
    assert_eq!(trace.actions(), [Action::Replay { first: 102, last: 103 }]);
    trace.wait(Duration::from_secs(4));
    let lines = trace.recorder.take();
    assert_eq!(lines[..2], ["replay 102-103 given up: TimedOut", "gap 102+2"]);
    assert_eq!(trace.actions()[0], Action::EndReplay);
    assert_eq!(trace.channel.poll_timeout(), None);
}

#[test]
fn does_not_request_gap_above_maximum() {
    let mut trace = Trace::in_sync_with(WITH_REPLAY, 10);
    trace.a(&packet(112).heartbeat());
    trace.wait(Duration::from_millis(10));
    assert_eq!((trace.counter("replays"), trace.counter("gaps")), (0, 1));
    let mut trace = Trace::in_sync_with(WITH_REPLAY, 10);
    trace.a(&packet(111).heartbeat());
    trace.wait(Duration::from_millis(10));
    assert_eq!((trace.counter("replays"), trace.counter("gaps")), (1, 0));
    assert_eq!(trace.actions(), [Action::Replay { first: 101, last: 110 }]);
}

#[test]
fn full_reorder_window_requests_at_once() {
    let mut trace = Trace::in_sync_with(WITH_REPLAY, 10);
    for sequence in 102..110 {
        trace.a(&tick(sequence));
    }
    assert_eq!(trace.actions(), [Action::Replay { first: 101, last: 101 }]);
    trace.replay(&tick(101));
    assert_eq!((trace.book(7).as_str(), trace.counter("gaps")), ("1@109 |", 0));
}

#[test]
fn full_replay_buffer_falls_back_to_snapshots() {
    let mut trace = requested();
    for sequence in 105..134 {
        trace.a(&tick(sequence));
    }
    trace.assert_callbacks([]);
    // 102 to 133 are 32 packets.
    trace.a(&tick(134));
    let lines = trace.recorder.take();
    assert_eq!(
        lines[..3],
        [
            "warning gave up TCP replay: max_held reached",
            "replay 102-103 given up: BufferFull",
            "gap 102+2",
        ]
    );
    assert_eq!(trace.counter("replay_holdings_full"), 1);
    let books = packet(1).snapshot(7, 134, 2, 34, &[(b'0', 1, 134, 1)]);
    trace.snapshot(&books.snapshot(8, 134, 2, 0, &[]));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
    trace.a(&tick(135));
    assert_eq!(trace.book(7), "1@135 |");
}

#[test]
fn oversized_packet_ends_replay() {
    let settings = Settings { max_packet: 64, ..WITH_REPLAY };
    let mut trace = Trace::in_sync_with(settings, 10);
    let entries = [bid(7, 5).add(1, 50, 1), bid(7, 6).add(1, 51, 1)];
    trace.a(&packet(102).book(END, &entries));
    assert_eq!((trace.counter("replays"), trace.counter("gaps")), (0, 1));
    trace.a(&packet(104).heartbeat());
    trace.wait(Duration::from_millis(10));
    assert_eq!(trace.actions()[0], Action::Replay { first: 103, last: 103 });
    trace.a(&packet(105).book(END, &entries));
    assert_eq!((trace.counter("replays_given_up"), trace.counter("gaps")), (1, 2));
}

#[test]
fn restart_ends_replay_and_drops_old_packets() {
    let mut trace = requested();
    trace.a(&sent_at(1, 9_000).heartbeat());
    assert_eq!(trace.actions()[0], Action::EndReplay);
    assert_eq!((trace.counter("abandoned_packets"), trace.counter("gaps")), (1, 0));
    // A gap in the new epoch, and packets of the old one with its numbers.
    trace.a(&sent_at(104, 9_104).heartbeat());
    trace.wait(Duration::from_millis(10));
    trace.recorder.take();
    trace.replay(&tick(102));
    assert_eq!(trace.counter("replayed_packets"), 0);
}

#[test]
fn ignores_session_packets_of_replay() {
    let settings = WITH_REPLAY;
    let mut trace = Trace::new(settings);
    trace.a(&sent_at(1_000, 1).heartbeat());
    trace.a(&sent_at(1, 9_000).heartbeat());
    trace.a(&sent_at(5, 9_005).heartbeat());
    trace.wait(Duration::from_millis(10));
    assert!(trace.actions().contains(&Action::Replay { first: 2, last: 4 }));
    // The login has number 1; a login with number 2 is not packet 2.
    trace.replay(&sent_at(2, 9_100).raw([1, 15, 1, 13], &[30]));
    trace.replay(&sent_at(2, 9_100).raw([180, 16, 1, 13], &[0; 180]));
    assert_eq!((trace.counter("unwanted_packets"), trace.counter("replayed_packets")), (2, 0));
}

#[test]
fn ignores_end_of_unrequested_replay() {
    let mut trace = Trace::in_sync_with(WITH_REPLAY, 10);
    trace.replay_end(ReplayOutcome::Failed);
    trace.replay(&tick(101));
    trace.assert_callbacks([]);
    assert_eq!(trace.counter("unwanted_packets"), 1);
    assert_eq!(trace.book(7), "|");
}

#[test]
fn applies_replayed_reset_and_definition() {
    let mut trace = requested();
    trace.replay(&packet(102).channel_reset());
    trace.replay(&packet(103).definition(9, 3, 5));
    let lines = trace.recorder.take();
    assert!(lines.contains(&"reset".to_owned()), "{lines:?}");
    assert_eq!(trace.channel.book_of(9).unwrap().depth(), 5);
    // The RptSeq of 104 is accepted as it is, because the reset left it open.
    assert_eq!(trace.counter("resets"), 1);
}

#[test]
fn jump_during_replay_is_relative_to_lines() {
    let replay = Replay { max_held: 4_000, ..REPLAY };
    let mut trace = Trace::in_sync_with(Settings { replay: Some(replay), ..WITH_REPLAY }, 10);
    trace.a(&packet(102).heartbeat());
    trace.wait(Duration::from_millis(10));
    for sequence in 103..1_500 {
        trace.a(&packet(sequence).heartbeat());
    }
    // Packet 1,500 is lost on A. What follows is 1,400 ahead of the gap, but not of the line.
    trace.a(&packet(1_501).heartbeat());
    trace.b(&packet(1_500).heartbeat());
    assert_eq!(trace.counter("doubtful_packets"), 0);
    trace.replay(&tick(101));
    assert_eq!((trace.counter("gaps"), trace.counter("replays_filled")), (0, 1));
}

#[test]
fn without_replay_gap_is_declared() {
    let mut trace = Trace::in_sync();
    trace.a(&tick(102));
    trace.wait(Duration::from_millis(10));
    assert_eq!((trace.counter("replays"), trace.counter("gaps")), (0, 1));
}

#[test]
fn does_not_request_gap_without_buffer() {
    let replay = Replay { max_held: 8, ..REPLAY };
    let mut trace = Trace::in_sync_with(Settings { replay: Some(replay), ..WITH_REPLAY }, 10);
    trace.a(&packet(109).heartbeat());
    assert_eq!((trace.counter("replays"), trace.counter("gaps")), (0, 1));
    assert_eq!(trace.counter("replay_holdings_full"), 0);
}

#[test]
fn drops_replayed_packet_of_older_epoch() {
    let mut trace = Trace::in_sync_with(WITH_REPLAY, 10);
    trace.a(&sent_at(1, 9_000).heartbeat());
    trace.a(&sent_at(3, 9_003).heartbeat());
    trace.wait(Duration::from_millis(10));
    assert!(trace.actions().contains(&Action::Replay { first: 2, last: 2 }));
    trace.replay(&sent_at(2, 8_999).heartbeat());
    assert_eq!((trace.counter("unwanted_packets"), trace.counter("replayed_packets")), (1, 0));
    trace.replay(&sent_at(2, 9_002).heartbeat());
    assert_eq!((trace.counter("replayed_packets"), trace.counter("replays_filled")), (1, 1));
}

#[test]
fn new_epoch_may_request_same_sequences() {
    let mut trace = requested();
    trace.replay_end(ReplayOutcome::Complete);
    trace.a(&sent_at(1, 9_000).heartbeat());
    trace.a(&sent_at(3, 9_003).heartbeat());
    trace.wait(Duration::from_millis(10));
    assert!(trace.actions().contains(&Action::Replay { first: 2, last: 2 }));
}

#[test]
fn discarded_replay_packets_are_not_counted_for_lines() {
    let mut trace = requested();
    trace.replay(&tick(103));
    trace.a(&sent_at(1, 9_000).heartbeat());
    assert_eq!(trace.counter("abandoned_packets"), 1, "104 alone came on a side");
}

#[test]
fn jump_after_replay_is_relative_to_expected() {
    let mut trace = requested();
    trace.replay(&tick(102));
    trace.replay(&tick(103));
    // 105 is missing; A is 5 ahead of it.
    trace.a(&packet(110).heartbeat());
    trace.b(&packet(1_106).heartbeat());
    assert_eq!((trace.counter("doubtful_packets"), trace.counter("gaps")), (1, 0));
}
