//! What was not applied is sent again from the journal.

mod exchange;
mod wire;

use hairpin_mapped::Direction;
use hairpin_order_entry::{CONTROL_RECORD, FILL_RECORD, MESSAGE_RECORD, SendError};
use wire::{Bench, ORDER};

/// Three orders have left, and the exchange says that it has not applied the last two.
fn not_applied(waiting_max: usize, room: usize) -> Bench {
    let mut bench = Bench::replaying(waiting_max);
    bench.shared.wire().room = usize::MAX;
    (0..3).for_each(|_| assert!(bench.send().is_ok()));
    let mut wire = bench.shared.wire();
    wire.room = room;
    let message = wire.exchange.not_applied(2, 2);
    wire.incoming.extend(message);
    drop(wire);
    bench.turn();
    bench
}

fn kinds(bench: &Bench) -> Vec<u16> {
    bench.session.journal().records().map(|(record, _)| record.kind()).collect()
}

#[test]
fn orders_leave_again_byte_for_byte_and_are_kept_once() {
    let bench = not_applied(4, usize::MAX >> 1);
    assert_eq!(bench.shared.taken(), [(514, 1), (514, 2), (514, 3), (514, 2), (514, 3)]);
    let wire = bench.shared.wire();
    assert_eq!(wire.taken[ORDER..3 * ORDER], wire.taken[3 * ORDER..]);
    let orders = [MESSAGE_RECORD; 3];
    assert_eq!(kinds(&bench), [&[CONTROL_RECORD; 2][..], &orders].concat());
}

#[test]
fn what_finds_no_room_leaves_later_and_nothing_before_it() {
    for room in 0..2 * ORDER {
        let mut bench = not_applied(1, room);
        let sent = bench.send();
        if room < ORDER {
            assert_eq!(sent, Err(SendError::Replaying), "room {room}");
        }
        let (mut orders, millis) = (usize::from(sent.is_ok()), bench.time / 1_000_000);
        for step in 1..10 {
            bench.shared.wire().room += ORDER;
            bench.at_millis(millis + 2 * step);
            if orders == 0 && step > 6 {
                orders += usize::from(bench.send().is_ok());
            }
        }
        bench.give(usize::MAX >> 1);
        let taken = bench.shared.taken();
        assert_eq!(taken[..5], [(514, 1), (514, 2), (514, 3), (514, 2), (514, 3)], "{room}");
        assert_eq!(taken[5..], [(514, 4)], "{room}");
    }
}

#[test]
fn the_sequence_that_fills_a_gap_is_kept_as_what_it_is() {
    let mut bench = Bench::established(4);
    bench.shared.wire().room = usize::MAX;
    (0..3).for_each(|_| assert!(bench.send().is_ok()));
    let message = bench.shared.wire().exchange.not_applied(2, 2);
    bench.shared.wire().incoming.extend(message);
    bench.turn();
    assert_eq!(bench.shared.taken(), [(514, 1), (514, 2), (514, 3), (506, 0)]);
    let journal = bench.session.journal();
    let newest = journal.last(Direction::Outbound).unwrap();
    let tag = journal.tag(newest);
    assert_eq!((newest.kind(), tag.seq_num), (FILL_RECORD, 3), "the number of what is before it");
}

#[test]
fn what_is_sent_again_waits_behind_what_waits() {
    for room in 0..2 * ORDER {
        let mut bench = not_applied(4, room);
        bench.give(usize::MAX >> 1);
        let taken = bench.shared.taken();
        assert_eq!(taken, [(514, 1), (514, 2), (514, 3), (514, 2), (514, 3)], "{room}");
    }
}

#[test]
fn what_is_sent_again_never_cuts_into_what_waits() {
    let mut bench = Bench::replaying(4);
    bench.shared.wire().room = ORDER + 9;
    (0..2).for_each(|_| assert!(bench.send().is_ok()));
    // There is room again, but the session has not been told.
    let mut wire = bench.shared.wire();
    wire.room = usize::MAX >> 1;
    let message = wire.exchange.not_applied(1, 1);
    wire.incoming.extend(message);
    drop(wire);
    bench.turn();
    bench.give(0);
    assert_eq!(bench.shared.taken(), [(514, 1), (514, 2), (514, 1), (514, 2)]);
}
