//! Resets of single books or of a whole channel.

use crate::support::*;
use hairpin_mdp3::ChannelState;
use hairpin_time::Duration;

/// Returns a BookReset.
fn reset(id: i32, rpt_seq: u32) -> Entry {
    bid(id, rpt_seq).add(1, 0, 0).with_entry_type(b'J')
}

/// Adds a level to each book of 7 and 8.
fn with_books(mut trace: Trace, rpt_seq: u32) -> Trace {
    let entries = [7, 8].map(|id| {
        [
            bid(id, rpt_seq + 1).add(1, 50, 1),
            bid(id, rpt_seq + 2).add(1, 51, 1).with_entry_type(b'E'),
        ]
    });
    trace.a(&packet(101).book(END, entries.as_flattened()));
    trace.recorder.take();
    trace
}

#[test]
fn book_reset_empties_its_instrument_only() {
    let mut trace = with_books(Trace::in_sync(), 0);
    trace.a(&packet(102).book(END, &[reset(7, 3)]));
    trace.assert_callbacks(["book 7 Bie: |", "end 102 7Bie"]);
    assert_eq!((trace.book(8).as_str(), trace.implied(8).as_str()), ("1@50 |", "1@51 |"));
    assert_eq!(trace.counter("book_resets"), 1);
}

#[test]
fn rpt_seq_continues_or_restarts_after_book_reset() {
    for next in [4, 1] {
        let mut trace = with_books(Trace::in_sync(), 0);
        trace.a(&packet(102).book(END, &[reset(7, 3)]));
        trace.a(&packet(103).book(END, &[bid(7, next).add(1, 60, 1)]));
        trace.a(&packet(104).book(END, &[bid(7, next + 1).add(1, 61, 1)]));
        assert_eq!((trace.book(7).as_str(), trace.counter("rpt_seq_gaps")), ("1@61 1@60 |", 0));
        trace.a(&packet(105).book(END, &[bid(7, next + 3).add(1, 62, 1)]));
        assert_eq!(trace.counter("rpt_seq_gaps"), 1);
    }
}

#[test]
fn applies_entries_after_reset_in_message() {
    let mut trace = with_books(Trace::in_sync(), 0);
    trace.a(&packet(102).book(END, &[reset(7, 3), bid(7, 4).add(1, 40, 2)]));
    trace.assert_callbacks(["book 7 Bie: 2@40 |", "end 102 7Bie"]);
}

#[test]
fn book_reset_restores_sync() {
    let mut trace = with_books(Trace::in_sync_late(), 1_000);
    trace.a(&packet(103).book(END, &[bid(7, 1_005).add(1, 60, 1)]));
    trace.wait(Duration::from_millis(10));
    trace.recorder.take();
    // Instrument 7 waits for a snapshot, 8 for its next entry; both have been emptied meanwhile.
    trace.a(&packet(104).book(MORE, &[reset(7, 1_009)]).book(END, &[reset(8, 1_008)]));
    trace.assert_callbacks([
        "7 in sync",
        "book 7 Bie: |",
        "8 in sync",
        "book 8 Bie: |",
        "end 104 7Bie 8Bie",
        "channel InSync",
    ]);
}

#[test]
fn drops_book_reset_contained_in_snapshot() {
    let mut trace = with_books(Trace::in_sync(), 0);
    trace.a(&packet(103).heartbeat());
    trace.wait(Duration::from_millis(10));
    // As of 105, though only 103 has arrived: 104 is a reset, 105 an entry after it.
    trace.snapshot(&packet(1).snapshot(7, 105, 2, 4, &[(b'0', 1, 40, 1)]));
    trace.a(&packet(104).book(END, &[reset(7, 3)]));
    trace.a(&packet(105).book(END, &[bid(7, 4).add(1, 40, 1)]));
    assert_eq!(trace.book(7), "1@40 |");
    assert_eq!((trace.counter("book_resets"), trace.counter("entries_in_snapshot")), (0, 2));
}

#[test]
fn book_reset_forgets_older_snapshot() {
    let mut trace = with_books(Trace::in_sync_late(), 1_000);
    trace.a(&packet(103).heartbeat());
    trace.wait(Duration::from_millis(10));
    // Ahead of the stream; then 104 is lost, and the book is suspect again.
    trace.snapshot(&packet(1).snapshot(7, 106, 2, 1_005, &[(b'0', 1, 40, 1)]));
    trace.a(&packet(105).book(END, &[reset(7, 1_004)]));
    trace.wait(Duration::from_millis(10));
    trace.a(&packet(106).book(END, &[bid(7, 1_005).add(1, 40, 1)]));
    trace.a(&packet(107).book(END, &[bid(7, 1_006).add(1, 41, 1)]));
    assert_eq!(trace.book(7), "1@41 1@40 |");
}

#[test]
fn queued_book_reset_empties_snapshot() {
    let mut trace = Trace::new(SETTINGS);
    // Their instruments are not known yet.
    trace.a(&packet(100).heartbeat());
    trace.a(&packet(101).book(END, &[reset(7, 42), bid(7, 43).add(1, 60, 1)]));
    trace.instrument(&packet(1).definition(7, 1, 10));
    let levels = [(b'0', 1, 51, 1), (b'E', 1, 52, 1)];
    trace.snapshot(&packet(1).snapshot(7, 100, 1, 41, &levels));
    assert_eq!((trace.book(7).as_str(), trace.implied(7).as_str()), ("1@60 |", "|"));
    trace.a(&packet(102).book(END, &[bid(7, 44).add(1, 61, 1)]));
    assert_eq!(trace.book(7), "1@61 1@60 |");
}

#[test]
fn channel_reset_with_continued_numbering() {
    let mut trace = with_books(Trace::in_sync(), 0);
    trace.b(&packet(101).heartbeat());
    trace.a(&packet(102).channel_reset());
    trace.assert_callbacks(["reset", "end 102"]);
    assert_eq!(["|", "|"], [trace.book(7), trace.implied(7)].each_ref().map(String::as_str));
    // RptSeq restarts but packet numbers continue; B sends the same a second later.
    trace.a(&sent_at(103, 103).book(END, &[bid(7, 1).add(1, 60, 1)]));
    trace.a(&sent_at(104, 104).book(END, &[bid(7, 2).add(1, 61, 1)]));
    trace.b(&sent_at(102, 102).channel_reset());
    trace.b(&sent_at(103, 103).book(END, &[bid(7, 1).add(1, 60, 1)]));
    assert_eq!(trace.book(7), "1@61 1@60 |");
    assert_eq!((trace.counter("resets"), trace.counter("restarts")), (1, 0));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
}

#[test]
fn channel_reset_restarts_a_before_b() {
    let mut trace = with_books(Trace::in_sync(), 0);
    trace.b(&packet(101).heartbeat());
    trace.a(&sent_at(102, 1_000).channel_reset());
    trace.a(&sent_at(1, 1_001).book(END, &[bid(7, 1).add(1, 60, 1)]));
    trace.a(&sent_at(2, 1_002).book(END, &[bid(7, 2).add(1, 61, 1)]));
    // B is still before its reset, and its packets have numbers that A uses too.
    trace.b(&sent_at(102, 1_100).book(END, &[bid(7, 3).add(1, 90, 1)]));
    trace.b(&sent_at(103, 1_999).channel_reset());
    assert_eq!(trace.book(7), "1@61 1@60 |");
    trace.b(&sent_at(1, 2_001).book(END, &[bid(7, 1).add(1, 60, 1)]));
    trace.b(&sent_at(3, 2_003).book(END, &[bid(7, 3).add(1, 62, 1)]));
    assert_eq!(trace.book(7), "1@62 1@61 1@60 |");
    assert_eq!((trace.counter("resets"), trace.counter("restarts")), (1, 1));
    assert_eq!((trace.counter("gaps"), trace.counter("older_epoch_packets")), (0, 2));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
}

#[test]
fn channel_reset_empties_books_out_of_sync() {
    let mut trace = with_books(Trace::in_sync_late(), 1_000);
    trace.a(&packet(103).heartbeat());
    trace.wait(Duration::from_millis(10));
    assert_eq!(trace.channel.state(), ChannelState::Recovering);
    trace.a(&packet(104).channel_reset());
    assert_eq!(trace.channel.state(), ChannelState::InSync);
    assert_eq!((trace.book(7).as_str(), trace.implied(7).as_str()), ("|", "|"));
}

/// Builds bids with RptSeq 1 to 3 in packets 1 to 3, all sent at `millis`.
fn renumbered_at(millis: u64) -> [PacketBuilder; 3] {
    [1, 2, 3].map(|n| sent_at(n, millis).book(END, &[bid(7, n).add(1, 60 + i64::from(n), 1)]))
}

#[test]
fn packets_at_reset_time_may_be_in_new_epoch() {
    let mut trace = with_books(Trace::in_sync(), 0);
    trace.b(&packet(101).heartbeat());
    trace.a(&sent_at(102, 1_000).channel_reset());
    for packet in &renumbered_at(1_000) {
        trace.a(packet);
    }
    assert_eq!(trace.book(7), "1@63 1@62 1@61 |");
    // B does the same a second later, and continues alone.
    trace.b(&sent_at(102, 2_000).channel_reset());
    for packet in &renumbered_at(2_000) {
        trace.b(packet);
    }
    trace.b(&sent_at(4, 2_000).book(END, &[bid(7, 4).add(1, 64, 1)]));
    assert_eq!(trace.book(7), "1@64 1@63 1@62 1@61 |");
    assert_eq!((trace.counter("restarts"), trace.counter("gaps")), (1, 0));
    assert_eq!((trace.counter("duplicates"), trace.counter("older_epoch_packets")), (4, 1));
    assert_eq!(trace.channel.state(), ChannelState::InSync);
}

#[test]
fn drops_late_packet_from_before_reset() {
    let mut trace = with_books(Trace::in_sync(), 0);
    // 102 and 103 are sent with the reset; the network delivers them again after it.
    let old = [102, 103].map(|n| sent_at(n, 1_000).book(END, &[bid(7, n - 99).overlay(1, 50, 2)]));
    trace.a(&old[0]);
    trace.a(&old[1]);
    trace.a(&sent_at(104, 1_000).channel_reset());
    trace.a(&old[1]);
    for packet in &renumbered_at(1_000) {
        trace.a(packet);
        trace.a(&old[0]);
        trace.a(&old[1]);
    }
    trace.a(&packet(101).heartbeat());
    assert_eq!(trace.book(7), "1@63 1@62 1@61 |");
    trace.wait(Duration::from_secs(1));
    assert_eq!((trace.counter("held_packets"), trace.counter("gaps")), (0, 0));
    // Packets with the reset's own time may belong to either epoch.
    assert_eq!((trace.counter("duplicates"), trace.counter("doubtful_packets")), (2, 6));
    assert_eq!(trace.counter("restarts"), 1);
}
