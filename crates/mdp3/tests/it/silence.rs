//! Sides, feeds and channels that bring nothing any more, on a virtual clock.

use crate::support::*;
use hairpin_mdp3::{Feed, FeedLine, FeedLines, Feeds, Settings};
use hairpin_time::Duration;

const SILENCE: Duration = Duration::from_secs(8);
const WATCHED: Settings = Settings { silence: SILENCE, ..SETTINGS };
/// A look.
const SECOND: Duration = Duration::from_secs(1);

/// In sync, heard on both sides just now, sent at `millis`; the first look is behind.
fn heard(settings: Settings) -> Trace {
    let mut trace = Trace::in_sync_with(settings, 10);
    trace.wait(Duration::ZERO);
    trace.a(&packet(101).heartbeat());
    trace.b(&packet(101).heartbeat());
    trace.wait(SECOND);
    trace.recorder.take();
    trace
}

/// So many looks, a packet on A before each, sent as time passes.
fn run_on_a(trace: &mut Trace, looks: u32) {
    let from = 102 + trace.counter("packets_a") as u32 - 2;
    for sequence in from..from + looks {
        trace.a(&sent_at(sequence, u64::from(sequence) * 1_000).heartbeat());
        trace.wait(SECOND);
    }
}

#[test]
fn reports_silent_line_while_other_runs() {
    let mut trace = heard(WATCHED);
    run_on_a(&mut trace, 7);
    trace.told([]);
    assert!(!trace.channel.is_silent(Feed::Incremental, FeedLine::B));
    run_on_a(&mut trace, 1);
    trace.told(["incremental B silent"]);
    assert!(trace.channel.is_silent(Feed::Incremental, FeedLine::B));
    assert!(!trace.channel.is_silent(Feed::Incremental, FeedLine::A));
    run_on_a(&mut trace, 20);
    trace.told([]);
    assert_eq!(trace.counter("silences"), 1);
}

#[test]
fn packet_after_pause_ends_silence_at_once() {
    let mut trace = heard(WATCHED);
    run_on_a(&mut trace, 8);
    trace.recorder.take();
    trace.b(&sent_at(110, 120_000).heartbeat());
    trace.told(["incremental B heard again"]);
    trace.wait(SECOND);
    trace.told([]);
}

#[test]
fn packet_without_pause_ends_silence_at_next_check() {
    let mut trace = heard(WATCHED);
    run_on_a(&mut trace, 8);
    trace.recorder.take();
    // What was sent right behind the last comes now.
    trace.b(&packet(102).heartbeat());
    trace.told([]);
    trace.wait(SECOND);
    trace.told(["incremental B heard again"]);
}

#[test]
fn silence_of_all_lines_is_silence_of_channel() {
    let mut trace = heard(WATCHED);
    for _ in 0..8 {
        trace.wait(SECOND);
    }
    trace.told([
        "incremental A silent",
        "incremental B silent",
        "incremental silent",
        "channel silent",
    ]);
    trace.a(&sent_at(102, 60_000).heartbeat());
    trace.told(["incremental A heard again", "incremental heard again", "channel heard again"]);
    trace.b(&sent_at(102, 60_000).heartbeat());
    trace.told(["incremental B heard again"]);
}

#[test]
fn no_deadline_when_all_lines_are_silent() {
    let mut trace = heard(WATCHED);
    let mut looks = 0;
    while let Some(due) = trace.channel.poll_timeout() {
        trace.now = due;
        trace.wait(Duration::ZERO);
        looks += 1;
    }
    assert_eq!(looks, 8);
    trace.recorder.take();
    trace.a(&sent_at(102, 60_000).heartbeat());
    assert!(trace.channel.poll_timeout().is_some());
    trace.told(["incremental A heard again", "incremental heard again", "channel heard again"]);
}

#[test]
fn channel_without_packets_is_silent() {
    let mut trace = Trace::new(WATCHED);
    trace.actions();
    for _ in 0..8 {
        trace.wait(SECOND);
    }
    trace.told([]);
    trace.wait(SECOND);
    trace.told([
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
    let mut trace = heard(WATCHED);
    // Not joined: nothing is expected of the loops.
    run_on_a(&mut trace, 8);
    trace.told(["incremental B silent"]);
    // A gap: snapshots are wanted, and none come.
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
    trace.told([
        "instrument B silent",
        "snapshot A silent",
        "snapshot B silent",
        "snapshot silent",
    ]);
    // The first snapshot ends it, and so does leaving the feed.
    let books = sent_at(1, 140_000).snapshot(7, 129, 2, 0, &[]);
    trace.snapshot(&books.snapshot(8, 129, 2, 0, &[]));
    let told = trace.recorder.take();
    assert_eq!(told[..2], ["snapshot A heard again", "snapshot heard again"]);
    trace.actions();
    trace.wait(SECOND);
    trace.told(["snapshot B heard again"]);
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
    trace.told([
        "snapshot A silent",
        "snapshot B silent",
        "snapshot silent",
        // It was heard before the first look.
        "incremental A silent",
        "incremental silent",
        "channel silent",
    ]);
}

#[test]
fn late_caller_does_not_age_lines() {
    let mut trace = heard(WATCHED);
    trace.wait(Duration::from_secs(3_600));
    trace.told([]);
}

#[test]
fn silence_is_reported_within_an_eighth() {
    let mut trace = heard(WATCHED);
    assert_eq!(trace.channel.poll_timeout(), Some(trace.now + SECOND));
    // Right behind a look, right before one.
    for wait in [Duration::from_nanos(1), Duration::from_nanos(999_999_998)] {
        trace.wait(wait);
        trace.a(&sent_at(trace.counter("packets_a") as u32 + 100, 90_000).heartbeat());
        let last = trace.now;
        let mut told = Vec::new();
        while !told.contains(&"incremental A silent".to_owned()) {
            trace.now = trace.channel.poll_timeout().unwrap();
            trace.wait(Duration::ZERO);
            trace.b(&sent_at(trace.counter("packets_b") as u32 + 100, 90_000).heartbeat());
            told.extend(trace.recorder.take());
        }
        let elapsed = trace.now - last;
        assert!(elapsed >= SILENCE && elapsed <= SILENCE + SECOND, "{elapsed:?}");
    }
}

#[test]
fn disabled_by_zero_timeout() {
    let mut trace = heard(SETTINGS);
    assert_eq!(trace.channel.poll_timeout(), None);
    for _ in 0..100 {
        trace.wait(Duration::from_secs(60));
    }
    trace.told([]);
}

#[test]
fn always_late_caller_reports_no_silence() {
    let mut trace = heard(WATCHED);
    for _ in 0..20 {
        trace.wait(SECOND * 2);
    }
    trace.told([]);
}

#[test]
fn timeout_starts_when_feed_is_joined() {
    let mut trace = heard(WATCHED);
    trace.a(&packet(103).heartbeat());
    trace.wait(Duration::from_millis(10));
    assert_eq!(trace.actions().len(), 2, "both loops are joined behind the gap");
    // The eighth look comes 7.99 s after that.
    trace.wait(Duration::from_millis(990));
    (0..7).for_each(|_| trace.wait(SECOND));
    let silent = "snapshot A silent".to_owned();
    assert!(!trace.recorder.take().contains(&silent));
    trace.wait(SECOND);
    assert!(trace.recorder.take().contains(&silent));
}
