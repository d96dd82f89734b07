//! A connection that accepts no bytes: committed messages wait in order, and are sent later.

use std::io;

use crate::mock_exchange::{now, seq_num, template_id};
use crate::session_harness::{ORDER, SessionHarness};
use hairpin_mapped::Direction;
use hairpin_order_entry::*;
use hairpin_reactor::Ready;
use hairpin_time::Instant;

#[test]
fn partly_written_order_continues_at_the_same_byte() {
    for cut in 0..=ORDER {
        let mut harness = SessionHarness::established(4);
        harness.connector.connection().room = cut;
        let sent = harness.send().unwrap();
        let expected = match ORDER - cut {
            0 => Delivery::Written,
            waiting => Delivery::Waiting { waiting },
        };
        assert_eq!(sent, Sent { seq_num: 1, delivery: expected });
        assert_eq!(harness.session.waiting(), ORDER - cut);
        harness.add_room(ORDER - cut);
        assert_eq!(harness.connector.written(), [(514, 1)], "cut at {cut}");
        let connection = harness.connector.connection();
        let (_, journaled) = harness.session.journal().records().last().unwrap();
        assert_eq!(connection.written, journaled);
    }
}

#[test]
fn messages_wait_in_order_up_to_the_limit() {
    let mut harness = SessionHarness::established(3);
    harness.connector.connection().room = 10;
    for number in 1..=3 {
        let waiting = number as usize * ORDER - 10;
        let expected = Sent { seq_num: number, delivery: Delivery::Waiting { waiting } };
        assert_eq!(harness.send(), Ok(expected));
    }
    let waiting = 3 * ORDER - 10;
    assert_eq!(harness.send(), Err(SendError::OutboundSink(OutboundError::WouldBlock { waiting })));
    assert_eq!(harness.session.progress().next_outgoing, 4, "the refused order uses no number");
    // Byte by byte: the second order makes room for another one when it is written.
    for _ in 0..ORDER {
        harness.add_room(1);
    }
    assert_eq!(harness.session.waiting(), 2 * ORDER - 10);
    assert_eq!(harness.send().unwrap().seq_num, 4);
    harness.add_room(usize::MAX >> 1);
    assert_eq!(harness.connector.written(), [(514, 1), (514, 2), (514, 3), (514, 4)]);
    assert_eq!(harness.session.waiting(), 0);
    assert_eq!(harness.send().unwrap().delivery, Delivery::Written);
}

#[test]
fn control_message_never_splits_an_order() {
    let mut harness = SessionHarness::established(4);
    harness.connector.connection().room = 50;
    harness.send().unwrap();
    harness.poll_at_millis(9_500);
    assert_eq!(harness.session.waiting(), ORDER - 50);
    assert_eq!(harness.connector.connection().written.len(), 50);
    harness.add_room(usize::MAX >> 1);
    assert_eq!(harness.connector.written(), [(514, 1), (506, 0)]);
}

#[test]
fn order_waits_for_the_rest_of_a_control_message() {
    let mut harness = SessionHarness::established(4);
    harness.connector.connection().room = 11;
    harness.poll_at_millis(9_500);
    assert_eq!(harness.session.waiting(), 26 - 11);
    let waiting = 26 - 11 + ORDER;
    assert_eq!(harness.send().unwrap().delivery, Delivery::Waiting { waiting });
    for _ in 0..waiting {
        harness.add_room(1);
    }
    assert_eq!(harness.connector.written(), [(506, 0), (514, 1)]);
}

#[test]
fn waiting_bytes_are_due_until_the_reactor_polls_for_room() {
    let mut harness = SessionHarness::established(4);
    assert!(harness.session.next_deadline().unwrap() > Instant::ZERO);
    harness.send().unwrap();
    assert_eq!(harness.session.next_deadline(), Some(Instant::ZERO));
    harness.poll();
    assert!(harness.session.next_deadline().unwrap() > Instant::ZERO);
    harness.session.terminate(now(harness.time));
    assert!(harness.session.next_deadline().unwrap() > Instant::ZERO, "Terminate has to wait");
    harness.add_room(usize::MAX >> 1);
    assert_eq!(harness.connector.written(), [(514, 1), (507, 0)]);
}

#[test]
fn terminate_is_due_at_once() {
    let mut harness = SessionHarness::established(4);
    harness.connector.connection().room = usize::MAX;
    harness.session.terminate(now(harness.time));
    assert_eq!(harness.session.next_deadline(), Some(Instant::ZERO));
    harness.poll();
    assert_eq!(harness.connector.written(), [(507, 0)]);
    harness.deliver_answers();
    harness.poll();
    assert_eq!(harness.events.0, ["terminated 0"]);
    assert_eq!(harness.session.state(), State::Disconnected);
}

#[test]
fn failed_write_keeps_the_record_and_ends_the_connection() {
    let mut harness = SessionHarness::established(4);
    harness.connector.connection().failure = Some(io::ErrorKind::ConnectionReset);
    let sent = harness.send().unwrap();
    assert_eq!(sent, Sent { seq_num: 1, delivery: Delivery::Broken });
    assert_eq!(harness.send(), Err(SendError::OutboundSink(OutboundError::Closed)));
    assert_eq!(harness.session.next_deadline(), Some(Instant::ZERO));
    harness.poll();
    assert_eq!(harness.events.0, ["connection lost while established"]);
    assert_eq!(harness.session.state(), State::Disconnected);
    let failure = harness.session.last_failure().unwrap();
    assert_eq!(failure.kind(), io::ErrorKind::ConnectionReset);
    assert_eq!(harness.session.counters().unsent_records, 1);
    let (record, frame) = harness.session.journal().records().last().unwrap();
    assert_eq!((record.kind(), seq_num(frame)), (MESSAGE_RECORD, 1));
    assert_eq!(harness.session.progress().next_outgoing, 2);
}

#[test]
fn full_journal_refuses_but_permits_terminate() {
    let mut harness = SessionHarness::established(64);
    harness.connector.connection().room = usize::MAX;
    let mut sent = 0;
    let refusal = loop {
        match harness.send() {
            Ok(_) => sent += 1,
            Err(refusal) => break refusal,
        }
    };
    assert_eq!(refusal, SendError::OutboundSink(OutboundError::Full));
    assert_eq!(harness.session.progress().next_outgoing, sent + 1);
    harness.session.terminate(now(harness.time));
    harness.poll();
    assert_eq!(harness.connector.written().last(), Some(&(507, 0)));
}

#[test]
fn full_journal_restarts_once_nothing_waits() {
    let mut harness = SessionHarness::with_restarting_journal(64);
    harness.connector.connection().room = usize::MAX;
    for number in 1..=100 {
        assert_eq!(harness.send().unwrap().seq_num, number);
    }
    let begun_again = harness.session.counters().journals_begun_again;
    assert!(begun_again > 0, "4 KiB fit fewer than 100 orders");
    let numbers = harness.session.journal().records().map(|(_, frame)| seq_num(frame));
    let numbers: Vec<u32> = numbers.collect();
    assert_eq!(numbers.last(), Some(&100));
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "{numbers:?}");
    // Unsent records are never dropped.
    harness.connector.connection().room = 0;
    let refusal = loop {
        match harness.send() {
            Ok(_) => {}
            Err(refusal) => break refusal,
        }
    };
    assert_eq!(refusal, SendError::OutboundSink(OutboundError::Full));
    let waiting = harness.session.waiting();
    harness.add_room(waiting);
    assert_eq!(harness.session.waiting(), 0);
    let numbers: Vec<u32> = harness.connector.written().iter().map(|(_, number)| *number).collect();
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "{numbers:?}");
}

#[test]
fn blocked_logon_continues_byte_by_byte() {
    let mut harness = SessionHarness::connecting(4);
    while harness.session.state() != State::Established {
        harness.add_room(1);
        let whole =
            harness.session.waiting() == 0 && !harness.connector.connection().written.is_empty();
        if whole {
            harness.deliver_answers();
        }
    }
    assert_eq!(harness.connector.connection().exchange.received, [500, 503]);
}

#[test]
fn messages_before_the_end_of_the_stream_are_delivered() {
    let mut harness = SessionHarness::established(4);
    let terminate = harness.connector.connection().exchange.terminate(8, 5);
    let mut connection = harness.connector.connection();
    connection.incoming = terminate;
    connection.ended = true;
    drop(connection);
    harness.poll();
    assert_eq!(harness.events.0, ["terminated 8"]);
    assert_eq!(harness.session.state(), State::Disconnected);
    assert_eq!(harness.session.inbound_counters().connections_lost, 0);
}

#[test]
fn busy_gateway_does_not_block_the_loop() {
    let mut harness = SessionHarness::established(4);
    let before = harness.session.counters().chunks;
    let mut connection = harness.connector.connection();
    let keep_alive = connection.exchange.sequence();
    (connection.incoming, connection.repeats) = (keep_alive, 100);
    drop(connection);
    harness.poll();
    assert_eq!(harness.session.counters().chunks - before, 16);
    assert_eq!(harness.connector.connection().repeats, 84, "unread data is readable again at once");
    (0..7).for_each(|_| harness.poll());
    assert_eq!(harness.session.counters().chunks - before, 101);
}

#[test]
fn resumes_on_a_new_connection_with_the_next_number() {
    let mut harness = SessionHarness::established(4);
    harness.connector.connection().room = usize::MAX;
    harness.send().unwrap();
    harness.connector.connection().ended = true;
    harness.poll();
    assert_eq!(harness.session.state(), State::Disconnected);
    harness.connector.connection().ended = false;
    harness.connector.connection().written.clear();
    harness.session.connect(now(harness.time), Binding::Resume).unwrap();
    while harness.session.state() != State::Established {
        harness.poll();
        harness.deliver_answers();
    }
    assert_eq!(harness.connector.connection().exchange.received, [500, 503, 503]);
    assert_eq!(harness.send().unwrap().seq_num, 2);
}

#[test]
fn abandon_disconnects_at_once() {
    let mut harness = SessionHarness::established(4);
    harness.session.abandon(now(harness.time), &mut harness.reactor, &mut harness.events).unwrap();
    assert_eq!(harness.session.state(), State::Disconnected);
    assert_eq!(harness.events.0, ["connection lost while established"]);
    let ready = Ready::EMPTY;
    harness.session.process(now(9), ready, &mut harness.reactor, &mut harness.events).unwrap();
    assert!(harness.connector.connection().written.is_empty());
}

#[test]
fn order_never_overtakes_a_waiting_one() {
    let mut harness = SessionHarness::established(4);
    harness.connector.connection().room = 9;
    harness.send().unwrap();
    // The connection has room again, but the session does not know yet.
    harness.connector.connection().room = usize::MAX >> 1;
    let waiting = 2 * ORDER - 9;
    assert_eq!(harness.send().unwrap().delivery, Delivery::Waiting { waiting });
    harness.add_room(0);
    assert_eq!(harness.connector.written(), [(514, 1), (514, 2)]);
}

#[test]
fn waiting_bytes_of_a_lost_connection_are_not_sent_on_the_next() {
    for time in [1, 9_500] {
        let mut harness = SessionHarness::established(4);
        harness.connector.connection().room = 9;
        harness.poll_at_millis(time);
        harness.send().unwrap();
        assert!(harness.session.waiting() > 100);
        harness.connector.connection().ended = true;
        harness.poll();
        assert_eq!(harness.session.waiting(), 0);
        let mut connection = harness.connector.connection();
        connection.ended = false;
        connection.written.clear();
        connection.room = usize::MAX;
        drop(connection);
        harness.session.connect(now(harness.time), Binding::Resume).unwrap();
        harness.poll();
        harness.poll();
        assert_eq!(harness.connector.written(), [(503, 0)]);
    }
}

#[test]
fn keep_alives_and_answers_are_not_journaled() {
    let mut harness = SessionHarness::established(4);
    harness.connector.connection().room = usize::MAX;
    harness.poll_at_millis(9_500);
    let terminate = harness.connector.connection().exchange.terminate(8, 5);
    harness.connector.connection().incoming = terminate;
    harness.poll();
    assert_eq!(harness.connector.written(), [(506, 0), (507, 0)]);
    let journaled: Vec<_> =
        harness.session.journal().records().map(|(_, frame)| template_id(frame)).collect();
    assert_eq!(journaled, [500, 503]);
}

#[test]
fn ended_connection_leaves_the_reactor() {
    let mut harness = SessionHarness::connecting(4);
    for _ in 0..=hairpin_reactor::CAPACITY {
        harness.poll();
        assert_eq!(harness.session.state(), State::Negotiating);
        harness
            .session
            .abandon(now(harness.time), &mut harness.reactor, &mut harness.events)
            .unwrap();
        harness.session.connect(now(harness.time), Binding::New).unwrap();
    }
}

#[test]
fn released_number_is_reused_and_both_records_are_kept() {
    let mut harness = SessionHarness::established(4);
    harness.connector.connection().room = usize::MAX;
    for refusals in 1..=2 {
        assert_eq!(harness.send().unwrap().seq_num, 1);
        let mut connection = harness.connector.connection();
        let refused = std::mem::take(&mut connection.written);
        connection.incoming = connection.exchange.refuse(&refused);
        drop(connection);
        harness.poll();
        assert_eq!(harness.session.outbound_counters().taken_back, refusals);
    }
    assert_eq!(harness.send().unwrap().seq_num, 1);
    let records = harness.session.journal().records();
    let ours = records.filter(|(record, _)| record.direction() == Direction::Outbound);
    let journaled: Vec<_> = ours.map(|(_, frame)| seq_num(frame)).collect();
    assert_eq!(journaled, [1, 1, 1]);
    assert_eq!(harness.session.progress().next_outgoing, 2);
}

#[test]
fn interrupted_write_is_retried() {
    let mut harness = SessionHarness::established(4);
    let before = *harness.session.counters();
    harness.connector.connection().failure = Some(io::ErrorKind::Interrupted);
    assert_eq!(harness.send().unwrap().delivery, Delivery::Waiting { waiting: ORDER });
    harness.connector.connection().failure = None;
    assert_eq!(harness.session.counters().partial_writes - before.partial_writes, 1);
    assert_eq!(harness.send().unwrap().delivery, Delivery::Waiting { waiting: 2 * ORDER });
    harness.add_room(2 * ORDER);
    assert_eq!(harness.connector.written(), [(514, 1), (514, 2)]);
    assert_eq!(harness.session.counters().failures, before.failures);
}
