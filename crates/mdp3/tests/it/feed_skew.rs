//! The time by which one line is ahead of the other.

use crate::support::*;
use hairpin_mdp3::FeedSkew;
use hairpin_time::Duration;

/// Delivers `count` packets, on B `b_behind` microseconds after A, or before if negative.
fn run(trace: &mut Trace, first: u32, count: u32, b_behind: i64) {
    for sequence in first..first + count {
        let packet = packet(sequence).heartbeat();
        let lag = Duration::from_micros(b_behind.unsigned_abs());
        if b_behind >= 0 {
            trace.a(&packet);
            trace.now += lag;
            trace.b(&packet);
        } else {
            trace.b(&packet);
            trace.now += lag;
            trace.a(&packet);
        }
        trace.now += Duration::from_micros(100);
    }
}

#[test]
fn samples_packets_on_both_lines() {
    let mut trace = Trace::in_sync();
    run(&mut trace, 101, 1_000, 7);
    let lead = trace.channel.feed_skew();
    assert!((20..=40).contains(&lead.samples), "{lead:?}");
    assert_eq!((lead.a_first, lead.b_first), (lead.samples, 0));
    assert_eq!((lead.min_ns, lead.max_ns, lead.mean_ns()), (7_000, 7_000, Some(7_000)));
    assert_eq!((trace.counter("first_a"), trace.counter("first_b")), (1_001, 0));
}

#[test]
fn skew_is_negative_when_b_leads() {
    let mut trace = Trace::in_sync();
    run(&mut trace, 101, 500, 5);
    run(&mut trace, 601, 500, -3);
    let lead = trace.channel.feed_skew();
    assert!(lead.a_first > 10 && lead.b_first > 10, "{lead:?}");
    assert_eq!((lead.min_ns, lead.max_ns), (-3_000, 5_000));
    assert_eq!((trace.counter("first_a"), trace.counter("first_b")), (501, 500));
}

#[test]
fn measures_line_far_behind() {
    let mut trace = Trace::in_sync();
    let lag = 300;
    for sequence in 101..3_000 {
        trace.a(&packet(sequence).heartbeat());
        if sequence > 101 + lag {
            trace.b(&packet(sequence - lag).heartbeat());
        }
        trace.now += Duration::from_micros(10);
    }
    let lead = trace.channel.feed_skew();
    assert!(lead.samples > 5, "{lead:?}");
    assert_eq!((lead.min_ns, lead.max_ns), (3_000_000, 3_000_000));
}

#[test]
fn sampling_survives_losses_and_restart() {
    let mut trace = Trace::in_sync();
    for sequence in 101..1_000 {
        let packet = packet(sequence).heartbeat();
        if sequence % 7 != 0 {
            trace.a(&packet);
        }
        trace.now += Duration::from_micros(9);
        if sequence % 5 != 0 {
            trace.b(&packet);
        }
        trace.now += Duration::from_micros(91);
    }
    let before = trace.channel.feed_skew().samples;
    assert!(before > 10);
    // B delivers what A has lost. Buffered packets are not sampled, because their skew would be too
    // large.
    assert_eq!(trace.channel.feed_skew().max_ns, 9_000);
    for sequence in 1..200 {
        let packet = sent_at(sequence, 10_000 + u64::from(sequence)).heartbeat();
        trace.a(&packet);
        trace.b(&packet);
    }
    assert!(trace.channel.feed_skew().samples > before);
}

#[test]
fn single_line_has_no_samples() {
    let mut trace = Trace::in_sync();
    for sequence in 101..1_000 {
        trace.a(&packet(sequence).heartbeat());
        trace.a(&packet(sequence).heartbeat());
    }
    assert_eq!(trace.channel.feed_skew(), FeedSkew::default());
}
