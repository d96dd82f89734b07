//! Full buffers overflow with a warning or a gap, and recover. Memory never grows.

use crate::support::*;
use hairpin_mdp3::{ChannelState, Settings};
use hairpin_time::Duration;

fn tick(sequence: u32) -> PacketBuilder {
    packet(sequence).book(END, &[bid(7, sequence - 100).add(1, i64::from(sequence), 1)])
}

#[test]
fn recovers_from_full_reorder_window() {
    let mut trace = Trace::in_sync();
    for sequence in 102..=109 {
        trace.a(&tick(sequence));
    }
    assert_eq!((trace.counter("gaps"), trace.counter("held_packets")), (1, 7));
    let books = packet(1).snapshot(7, 109, 2, 9, &[(b'0', 1, 109, 1)]);
    trace.snapshot(&books.snapshot(8, 109, 2, 0, &[]));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
    trace.a(&tick(110));
    assert_eq!(trace.book(7), "1@110 1@109 |");
}

#[test]
fn recovers_from_oversized_packet() {
    let settings = Settings { max_packet: 32, ..SETTINGS };
    let mut trace = Trace::in_sync_with(settings, 10);
    trace.a(&tick(102));
    assert_eq!((trace.counter("gaps"), trace.counter("oversized_packets")), (1, 1));
    let books = packet(1).snapshot(7, 102, 2, 2, &[(b'0', 1, 102, 1)]);
    trace.snapshot(&books.snapshot(8, 102, 2, 0, &[]));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
}

#[test]
fn recovers_from_full_entry_queue() {
    let settings = Settings { queue_bytes: 4 * 56, ..SETTINGS };
    let mut trace = Trace::in_sync_with(settings, 10);
    trace.a(&packet(102).heartbeat());
    trace.wait(Duration::from_millis(10));
    for sequence in 103..=120 {
        trace.a(&tick(sequence));
    }
    assert_eq!(trace.counter("queue_overflows"), 14);
    // This snapshot does not contain what the queue has lost.
    let books = packet(1).snapshot(7, 110, 2, 10, &[]).snapshot(8, 110, 2, 0, &[]);
    trace.snapshot(&books);
    assert_eq!((trace.counter("snapshots_too_old"), trace.book(7).as_str()), (2, "|"));
    let levels = [(b'0', 1, 116, 1)];
    let books = sent_at(1, 120).snapshot(7, 116, 2, 16, &levels).snapshot(8, 116, 2, 0, &[]);
    trace.snapshot(&books);
    assert_eq!(trace.book(7), "1@120 1@119 1@118 1@117 1@116 |");
    assert_eq!(trace.channel.state(), ChannelState::InSync);
}

#[test]
fn long_loop_warns_and_proves_absence() {
    let mut trace = Trace::in_sync();
    trace.a(&packet(102).heartbeat());
    trace.wait(Duration::from_millis(10));
    // The bitmap has room for 64 packets; the 70th names 8, and none names 7.
    let loop_of = |at: u64| {
        let mut packets: Vec<_> =
            (1..70).map(|n| sent_at(n, at + u64::from(n)).heartbeat()).collect();
        packets.push(sent_at(70, at + 70).snapshot(8, 102, 1, 0, &[]));
        packets
    };
    for (at, packet) in loop_of(1_000).iter().enumerate() {
        if at != 66 {
            trace.snapshot(packet);
        }
    }
    assert_eq!(trace.counter("loops_too_long"), 5);
    assert_eq!(trace.channel.state(), ChannelState::Recovering, "a packet is missing");
    for packet in &loop_of(2_000) {
        trace.snapshot(packet);
    }
    assert_eq!(trace.channel.state(), ChannelState::InSync);
    assert_eq!(trace.counter("empty_by_absence"), 1);
}

#[test]
fn recovers_with_too_many_instruments() {
    let settings = Settings { max_instruments: 1, ..SETTINGS };
    let mut trace = Trace::new(settings);
    trace.a(&packet(100).heartbeat());
    trace.instrument(&packet(1).definition(7, 2, 10).definition(8, 2, 10));
    trace.snapshot(&packet(1).snapshot(7, 100, 2, 0, &[]).snapshot(8, 100, 2, 0, &[]));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
    trace.a(&packet(101).book(END, &[bid(7, 2).add(1, 50, 1), bid(8, 1).add(1, 20, 1)]));
    assert!(!trace.channel.book_of(7).unwrap().is_in_sync());
    trace.snapshot(&sent_at(1, 200).snapshot(7, 101, 2, 2, &[(b'0', 1, 50, 1)]));
    assert_eq!((trace.book(7).as_str(), trace.channel.find(8)), ("1@50 |", None));
    assert_eq!(trace.channel.instruments().len(), 1);
    assert!(trace.counter("instruments_over_capacity") > 0);
}

#[test]
fn recovers_after_repeated_queue_overflow() {
    let settings = Settings { queue_bytes: 2 * 56, ..SETTINGS };
    let mut trace = Trace::in_sync_with(settings, 10);
    trace.a(&packet(102).heartbeat());
    trace.wait(Duration::from_millis(10));
    let mut sequence = 103;
    // Each pass is five packets behind the stream; the queue holds two.
    for pass in 0..50 {
        for _ in 0..5 {
            trace.a(&tick(sequence));
            sequence += 1;
        }
        let last = sequence - 6;
        trace.snapshot(&sent_at(1, 1_000 + pass).snapshot(7, last, 1, last - 100, &[]));
        assert!(!trace.channel.book_of(7).unwrap().is_in_sync());
    }
    let last = sequence - 1;
    let levels = [(b'0', 1, i64::from(last), 1)];
    trace.snapshot(&sent_at(1, 2_000).snapshot(7, last, 1, last - 100, &levels));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
    trace.a(&tick(sequence));
    assert_eq!(trace.book(7), format!("1@{sequence} 1@{last} |"));
}
