//! Orders that were not applied are replayed from the journal.

use crate::session_harness::{ORDER, SessionHarness};
use hairpin_mapped::Direction;
use hairpin_order_entry::{CONTROL_RECORD, FILL_RECORD, MESSAGE_RECORD, SendError};

/// Creates a session that has sent three orders and received NotApplied for the last two.
fn not_applied(waiting_max: usize, room: usize) -> SessionHarness {
    let mut harness = SessionHarness::with_replay(waiting_max);
    harness.connector.connection().room = usize::MAX;
    (0..3).for_each(|_| assert!(harness.send().is_ok()));
    let mut connection = harness.connector.connection();
    connection.room = room;
    let message = connection.exchange.not_applied(2, 2);
    connection.incoming.extend(message);
    drop(connection);
    harness.poll();
    harness
}

fn kinds(harness: &SessionHarness) -> Vec<u16> {
    harness.session.journal().records().map(|(record, _)| record.kind()).collect()
}

#[test]
fn replayed_orders_have_the_same_bytes_and_one_record() {
    let harness = not_applied(4, usize::MAX >> 1);
    assert_eq!(harness.connector.written(), [(514, 1), (514, 2), (514, 3), (514, 2), (514, 3)]);
    let connection = harness.connector.connection();
    assert_eq!(connection.written[ORDER..3 * ORDER], connection.written[3 * ORDER..]);
    let orders = [MESSAGE_RECORD; 3];
    assert_eq!(kinds(&harness), [&[CONTROL_RECORD; 2][..], &orders].concat());
}

#[test]
fn replay_without_room_continues_later_in_order() {
    for room in 0..2 * ORDER {
        let mut harness = not_applied(1, room);
        let sent = harness.send();
        if room < ORDER {
            assert_eq!(sent, Err(SendError::Replaying), "room {room}");
        }
        let (mut orders, millis) = (usize::from(sent.is_ok()), harness.time / 1_000_000);
        for step in 1..10 {
            harness.connector.connection().room += ORDER;
            harness.poll_at_millis(millis + 2 * step);
            if orders == 0 && step > 6 {
                orders += usize::from(harness.send().is_ok());
            }
        }
        harness.add_room(usize::MAX >> 1);
        let written = harness.connector.written();
        assert_eq!(written[..5], [(514, 1), (514, 2), (514, 3), (514, 2), (514, 3)], "{room}");
        assert_eq!(written[5..], [(514, 4)], "{room}");
    }
}

#[test]
fn gap_fill_sequence_has_its_own_record_kind() {
    let mut harness = SessionHarness::established(4);
    harness.connector.connection().room = usize::MAX;
    (0..3).for_each(|_| assert!(harness.send().is_ok()));
    let message = harness.connector.connection().exchange.not_applied(2, 2);
    harness.connector.connection().incoming.extend(message);
    harness.poll();
    assert_eq!(harness.connector.written(), [(514, 1), (514, 2), (514, 3), (506, 0)]);
    let journal = harness.session.journal();
    let newest = journal.last(Direction::Outbound).unwrap();
    let tag = journal.tag(newest);
    assert_eq!(
        (newest.kind(), tag.seq_num),
        (FILL_RECORD, 3),
        "the number of the message before it"
    );
}

#[test]
fn replayed_orders_wait_behind_waiting_bytes() {
    for room in 0..2 * ORDER {
        let mut harness = not_applied(4, room);
        harness.add_room(usize::MAX >> 1);
        let written = harness.connector.written();
        assert_eq!(written, [(514, 1), (514, 2), (514, 3), (514, 2), (514, 3)], "{room}");
    }
}

#[test]
fn replayed_orders_never_split_a_waiting_message() {
    let mut harness = SessionHarness::with_replay(4);
    harness.connector.connection().room = ORDER + 9;
    (0..2).for_each(|_| assert!(harness.send().is_ok()));
    // The connection has room again, but the session does not know yet.
    let mut connection = harness.connector.connection();
    connection.room = usize::MAX >> 1;
    let message = connection.exchange.not_applied(1, 1);
    connection.incoming.extend(message);
    drop(connection);
    harness.poll();
    harness.add_room(0);
    assert_eq!(harness.connector.written(), [(514, 1), (514, 2), (514, 1), (514, 2)]);
}
