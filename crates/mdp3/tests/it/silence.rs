//! Silent lines, feeds and channels, on a virtual clock.

use crate::support::*;
use hairpin_mdp3::{Feed, FeedLine, FeedLines, Feeds, Settings};
use hairpin_time::Duration;

const SILENCE: Duration = Duration::from_secs(8);
const WATCHED: Settings = Settings { silence: SILENCE, ..SETTINGS };
/// The interval between checks.
const SECOND: Duration = Duration::from_secs(1);

/// Returns a trace in sync that just received packets on both lines, sent at `millis`; the first
/// check is done.
fn just_received(settings: Settings) -> Trace {
    let mut trace = Trace::in_sync_with(settings, 10);
    trace.wait(Duration::ZERO);
    trace.a(&packet(101).heartbeat());
    trace.b(&packet(101).heartbeat());
    trace.wait(SECOND);
    trace.recorder.take();
    trace
}

/// Runs `checks` checks, each after a packet on A, with matching sending times.
fn run_on_a(trace: &mut Trace, checks: u32) {
    let from = 102 + trace.counter("packets_a") as u32 - 2;
    for sequence in from..from + checks {
        trace.a(&sent_at(sequence, u64::from(sequence) * 1_000).heartbeat());
        trace.wait(SECOND);
    }
}

#[test]
fn reports_silent_line_while_other_runs() {
    let mut trace = just_received(WATCHED);
    run_on_a(&mut trace, 7);
    trace.assert_callbacks([]);
    assert!(!trace.channel.is_silent(Feed::Incremental, FeedLine::B));
    run_on_a(&mut trace, 1);
    trace.assert_callbacks(["incremental B silent"]);
    assert!(trace.channel.is_silent(Feed::Incremental, FeedLine::B));
    assert!(!trace.channel.is_silent(Feed::Incremental, FeedLine::A));
    run_on_a(&mut trace, 20);
    trace.assert_callbacks([]);
    assert_eq!(trace.counter("silences"), 1);
}

#[test]
fn packet_after_pause_ends_silence_at_once() {
    let mut trace = just_received(WATCHED);
    run_on_a(&mut trace, 8);
    trace.recorder.take();
    trace.b(&sent_at(110, 120_000).heartbeat());
    trace.assert_callbacks(["incremental B active again"]);
    trace.wait(SECOND);
    trace.assert_callbacks([]);
}

#[test]
fn packet_without_pause_ends_silence_at_next_check() {
    let mut trace = just_received(WATCHED);
    run_on_a(&mut trace, 8);
    trace.recorder.take();
    // A packet sent directly after the last one arrives now.
    trace.b(&packet(102).heartbeat());
    trace.assert_callbacks([]);
    trace.wait(SECOND);
    trace.assert_callbacks(["incremental B active again"]);
}

#[test]
fn silence_of_all_lines_is_silence_of_channel() {
    let mut trace = just_received(WATCHED);
    for _ in 0..8 {
        trace.wait(SECOND);
    }
    trace.assert_callbacks([
        "incremental A silent",
        "incremental B silent",
        "incremental silent",
        "channel silent",
    ]);
    trace.a(&sent_at(102, 60_000).heartbeat());
    trace.assert_callbacks([
        "incremental A active again",
        "incremental active again",
        "channel active again",
    ]);
    trace.b(&sent_at(102, 60_000).heartbeat());
    trace.assert_callbacks(["incremental B active again"]);
}

#[test]
fn deadline_is_none_when_all_lines_are_silent() {
    let mut trace = just_received(WATCHED);
    let mut checks = 0;
    while let Some(due) = trace.channel.poll_timeout() {
        trace.now = due;
        trace.wait(Duration::ZERO);
        checks += 1;
    }
    assert_eq!(checks, 8);
    trace.recorder.take();
    trace.a(&sent_at(102, 60_000).heartbeat());
    assert!(trace.channel.poll_timeout().is_some());
    trace.assert_callbacks([
        "incremental A active again",
        "incremental active again",
        "channel active again",
    ]);
}

#[test]
fn channel_without_packets_is_silent() {
    let mut trace = Trace::new(WATCHED);
    trace.actions();
    for _ in 0..8 {
        trace.wait(SECOND);
    }
    trace.assert_callbacks([]);
    trace.wait(SECOND);
    trace.assert_callbacks([
        "incremental A silent",
        "incremental B silent",
        "instrument A silent",
        "instrument B silent",
        "incremental silent",
        "instrument silent",
        "channel silent",
    ]);
}

#[test]
fn watches_loop_only_while_joined() {
    let mut trace = just_received(WATCHED);
    // The loops are not joined, so no packets are expected.
    run_on_a(&mut trace, 8);
    trace.assert_callbacks(["incremental B silent"]);
    // A gap: snapshots are needed, but none arrive.
    let sequence = 120;
    trace.a(&sent_at(sequence, 120_000).heartbeat());
    trace.wait(Duration::from_millis(10));
    assert_eq!(trace.actions().len(), 2);
    trace.recorder.take();
    for step in 1..=9 {
        trace.a(&sent_at(sequence + step, 120_000 + 1_000 * u64::from(step)).heartbeat());
        trace.instrument(&sent_at(step, 120_000 + u64::from(step)).heartbeat());
        trace.wait(SECOND);
    }
    trace.assert_callbacks([
        "instrument B silent",
        "snapshot A silent",
        "snapshot B silent",
        "snapshot silent",
    ]);
    // The first snapshot ends the silence, and so does leaving the feed.
    let books = sent_at(1, 140_000).snapshot(7, 129, 2, 0, &[]);
    trace.snapshot(&books.snapshot(8, 129, 2, 0, &[]));
    let lines = trace.recorder.take();
    assert_eq!(lines[..2], ["snapshot A active again", "snapshot active again"]);
    trace.actions();
    trace.wait(SECOND);
    trace.assert_callbacks(["snapshot B active again"]);
}

#[test]
fn absent_line_is_not_silent() {
    let feeds = Feeds { incremental: FeedLines::A, instrument: FeedLines::None, ..Feeds::ALL };
    let mut trace = Trace::new(Settings { feeds, ..WATCHED });
    trace.actions();
    trace.wait(Duration::ZERO);
    trace.a(&packet(100).heartbeat());
    trace.recorder.take();
    for _ in 0..20 {
        trace.wait(SECOND);
    }
    trace.assert_callbacks([
        "snapshot A silent",
        "snapshot B silent",
        "snapshot silent",
        // Packets arrived before the first check.
        "incremental A silent",
        "incremental silent",
        "channel silent",
    ]);
}

#[test]
fn late_caller_does_not_age_lines() {
    let mut trace = just_received(WATCHED);
    trace.wait(Duration::from_secs(3_600));
    trace.assert_callbacks([]);
}

#[test]
fn silence_is_reported_within_an_eighth() {
    let mut trace = just_received(WATCHED);
    assert_eq!(trace.channel.poll_timeout(), Some(trace.now + SECOND));
    // Directly after a check, and directly before one.
    for wait in [Duration::from_nanos(1), Duration::from_nanos(999_999_998)] {
        trace.wait(wait);
        trace.a(&sent_at(trace.counter("packets_a") as u32 + 100, 90_000).heartbeat());
        let last = trace.now;
        let mut lines = Vec::new();
        while !lines.contains(&"incremental A silent".to_owned()) {
            trace.now = trace.channel.poll_timeout().unwrap();
            trace.wait(Duration::ZERO);
            trace.b(&sent_at(trace.counter("packets_b") as u32 + 100, 90_000).heartbeat());
            lines.extend(trace.recorder.take());
        }
        let elapsed = trace.now - last;
        assert!(elapsed >= SILENCE && elapsed <= SILENCE + SECOND, "{elapsed:?}");
    }
}

#[test]
fn disabled_by_zero_timeout() {
    let mut trace = just_received(SETTINGS);
    assert_eq!(trace.channel.poll_timeout(), None);
    for _ in 0..100 {
        trace.wait(Duration::from_secs(60));
    }
    trace.assert_callbacks([]);
}

#[test]
fn always_late_caller_reports_no_silence() {
    let mut trace = just_received(WATCHED);
    for _ in 0..20 {
        trace.wait(SECOND * 2);
    }
    trace.assert_callbacks([]);
}

#[test]
fn timeout_starts_when_feed_is_joined() {
    let mut trace = just_received(WATCHED);
    trace.a(&packet(103).heartbeat());
    trace.wait(Duration::from_millis(10));
    assert_eq!(trace.actions().len(), 2, "both loops are joined after the gap");
    // The eighth check is 7.99 s after that.
    trace.wait(Duration::from_millis(990));
    (0..7).for_each(|_| trace.wait(SECOND));
    let silent = "snapshot A silent".to_owned();
    assert!(!trace.recorder.take().contains(&silent));
    trace.wait(SECOND);
    assert!(trace.recorder.take().contains(&silent));
}
