//! A connection that takes no more: what was committed waits, in order, and leaves when it can.

mod exchange;
mod wire;

use std::io;

use exchange::{now, seq_num, template_id};
use hairpin_mapped::Direction;
use hairpin_order_entry::*;
use hairpin_reactor::Ready;
use hairpin_time::Instant;
use wire::{Bench, ORDER};

#[test]
fn an_order_cut_anywhere_continues_where_it_was_cut() {
    for cut in 0..=ORDER {
        let mut bench = Bench::established(4);
        bench.shared.wire().room = cut;
        let sent = bench.send().unwrap();
        let expected = match ORDER - cut {
            0 => Delivery::Written,
            waiting => Delivery::Waiting { waiting },
        };
        assert_eq!(sent, Sent { seq_num: 1, delivery: expected });
        assert_eq!(bench.session.waiting(), ORDER - cut);
        bench.give(ORDER - cut);
        assert_eq!(bench.shared.taken(), [(514, 1)], "cut at {cut}");
        let wire = bench.shared.wire();
        let (_, kept) = bench.session.journal().records().last().unwrap();
        assert_eq!(wire.taken, kept);
    }
}

#[test]
fn what_waits_leaves_in_order_and_no_more_than_the_limit_waits() {
    let mut bench = Bench::established(3);
    bench.shared.wire().room = 10;
    for number in 1..=3 {
        let waiting = number as usize * ORDER - 10;
        let expected = Sent { seq_num: number, delivery: Delivery::Waiting { waiting } };
        assert_eq!(bench.send(), Ok(expected));
    }
    let waiting = 3 * ORDER - 10;
    assert_eq!(bench.send(), Err(SendError::OutboundSink(OutboundError::WouldBlock { waiting })));
    assert_eq!(bench.session.progress().next_outgoing, 4, "the refused order has no number");
    // Byte by byte; the second order makes room for one more while it leaves.
    for _ in 0..ORDER {
        bench.give(1);
    }
    assert_eq!(bench.session.waiting(), 2 * ORDER - 10);
    assert_eq!(bench.send().unwrap().seq_num, 4);
    bench.give(usize::MAX >> 1);
    assert_eq!(bench.shared.taken(), [(514, 1), (514, 2), (514, 3), (514, 4)]);
    assert_eq!(bench.session.waiting(), 0);
    assert_eq!(bench.send().unwrap().delivery, Delivery::Written);
}

#[test]
fn control_traffic_never_cuts_into_an_order() {
    let mut bench = Bench::established(4);
    bench.shared.wire().room = 50;
    bench.send().unwrap();
    bench.at_millis(9_500);
    assert_eq!(bench.session.waiting(), ORDER - 50);
    assert_eq!(bench.shared.wire().taken.len(), 50);
    bench.give(usize::MAX >> 1);
    assert_eq!(bench.shared.taken(), [(514, 1), (506, 0)]);
}

#[test]
fn an_order_waits_for_the_rest_of_a_control_message() {
    let mut bench = Bench::established(4);
    bench.shared.wire().room = 11;
    bench.at_millis(9_500);
    assert_eq!(bench.session.waiting(), 26 - 11);
    let waiting = 26 - 11 + ORDER;
    assert_eq!(bench.send().unwrap().delivery, Delivery::Waiting { waiting });
    for _ in 0..waiting {
        bench.give(1);
    }
    assert_eq!(bench.shared.taken(), [(506, 0), (514, 1)]);
}

#[test]
fn waiting_bytes_make_the_next_turn_due_until_the_reactor_knows() {
    let mut bench = Bench::established(4);
    assert!(bench.session.next_deadline().unwrap() > Instant::ZERO);
    bench.send().unwrap();
    assert_eq!(bench.session.next_deadline(), Some(Instant::ZERO));
    bench.turn();
    assert!(bench.session.next_deadline().unwrap() > Instant::ZERO);
    bench.session.terminate(now(bench.time));
    assert!(bench.session.next_deadline().unwrap() > Instant::ZERO, "it has to wait");
    bench.give(usize::MAX >> 1);
    assert_eq!(bench.shared.taken(), [(514, 1), (507, 0)]);
}

#[test]
fn terminate_from_outside_makes_the_next_turn_due() {
    let mut bench = Bench::established(4);
    bench.shared.wire().room = usize::MAX;
    bench.session.terminate(now(bench.time));
    assert_eq!(bench.session.next_deadline(), Some(Instant::ZERO));
    bench.turn();
    assert_eq!(bench.shared.taken(), [(507, 0)]);
    bench.answer();
    bench.turn();
    assert_eq!(bench.told.0, ["terminated 0"]);
    assert_eq!(bench.session.state(), State::Disconnected);
}

#[test]
fn a_broken_write_keeps_the_record_and_ends_the_connection() {
    let mut bench = Bench::established(4);
    bench.shared.wire().failure = Some(io::ErrorKind::ConnectionReset);
    let sent = bench.send().unwrap();
    assert_eq!(sent, Sent { seq_num: 1, delivery: Delivery::Broken });
    assert_eq!(bench.send(), Err(SendError::OutboundSink(OutboundError::Closed)));
    assert_eq!(bench.session.next_deadline(), Some(Instant::ZERO));
    bench.turn();
    assert_eq!(bench.told.0, ["connection lost while established"]);
    assert_eq!(bench.session.state(), State::Disconnected);
    let failure = bench.session.last_failure().unwrap();
    assert_eq!(failure.kind(), io::ErrorKind::ConnectionReset);
    assert_eq!(bench.session.counters().unsent_records, 1);
    let (record, frame) = bench.session.journal().records().last().unwrap();
    assert_eq!((record.kind(), seq_num(frame)), (MESSAGE_RECORD, 1));
    assert_eq!(bench.session.progress().next_outgoing, 2);
}

#[test]
fn a_full_journal_refuses_and_still_terminates() {
    let mut bench = Bench::established(64);
    bench.shared.wire().room = usize::MAX;
    let mut sent = 0;
    let refusal = loop {
        match bench.send() {
            Ok(_) => sent += 1,
            Err(refusal) => break refusal,
        }
    };
    assert_eq!(refusal, SendError::OutboundSink(OutboundError::Full));
    assert_eq!(bench.session.progress().next_outgoing, sent + 1);
    bench.session.terminate(now(bench.time));
    bench.turn();
    assert_eq!(bench.shared.taken().last(), Some(&(507, 0)));
}

#[test]
fn a_journal_may_begin_again_once_nothing_waits() {
    let mut bench = Bench::forgetful(64);
    bench.shared.wire().room = usize::MAX;
    for number in 1..=100 {
        assert_eq!(bench.send().unwrap().seq_num, number);
    }
    let begun_again = bench.session.counters().journals_begun_again;
    assert!(begun_again > 0, "4 KiB hold fewer than 100 orders");
    let numbers = bench.session.journal().records().map(|(_, frame)| seq_num(frame));
    let numbers: Vec<u32> = numbers.collect();
    assert_eq!(numbers.last(), Some(&100));
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "{numbers:?}");
    // What has still to leave is never forgotten.
    bench.shared.wire().room = 0;
    let refusal = loop {
        match bench.send() {
            Ok(_) => {}
            Err(refusal) => break refusal,
        }
    };
    assert_eq!(refusal, SendError::OutboundSink(OutboundError::Full));
    let waiting = bench.session.waiting();
    bench.give(waiting);
    assert_eq!(bench.session.waiting(), 0);
    let numbers: Vec<u32> = bench.shared.taken().iter().map(|(_, number)| *number).collect();
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "{numbers:?}");
}

#[test]
fn a_logon_that_is_blocked_goes_on_byte_by_byte() {
    let mut bench = Bench::connecting(4);
    while bench.session.state() != State::Established {
        bench.give(1);
        let whole = bench.session.waiting() == 0 && !bench.shared.wire().taken.is_empty();
        if whole {
            bench.answer();
        }
    }
    assert_eq!(bench.shared.wire().exchange.received, [500, 503]);
}

#[test]
fn messages_before_the_end_of_the_stream_are_delivered() {
    let mut bench = Bench::established(4);
    let terminate = bench.shared.wire().exchange.terminate(8, 5);
    let mut wire = bench.shared.wire();
    wire.incoming = terminate;
    wire.is_ended = true;
    drop(wire);
    bench.turn();
    assert_eq!(bench.told.0, ["terminated 8"]);
    assert_eq!(bench.session.state(), State::Disconnected);
    assert_eq!(bench.session.inbound_counters().connections_lost, 0);
}

#[test]
fn a_gateway_that_never_stops_leaves_the_loop_its_turns() {
    let mut bench = Bench::established(4);
    let before = bench.session.counters().chunks;
    let mut wire = bench.shared.wire();
    let sign_of_life = wire.exchange.sequence();
    (wire.incoming, wire.repeats) = (sign_of_life, 100);
    drop(wire);
    bench.turn();
    assert_eq!(bench.session.counters().chunks - before, 16);
    assert_eq!(bench.shared.wire().repeats, 84, "what is left is readable again at once");
    (0..7).for_each(|_| bench.turn());
    assert_eq!(bench.session.counters().chunks - before, 101);
}

#[test]
fn resumes_on_a_new_connection_with_the_next_number() {
    let mut bench = Bench::established(4);
    bench.shared.wire().room = usize::MAX;
    bench.send().unwrap();
    bench.shared.wire().is_ended = true;
    bench.turn();
    assert_eq!(bench.session.state(), State::Disconnected);
    bench.shared.wire().is_ended = false;
    bench.shared.wire().taken.clear();
    bench.session.connect(now(bench.time), Binding::Resume).unwrap();
    while bench.session.state() != State::Established {
        bench.turn();
        bench.answer();
    }
    assert_eq!(bench.shared.wire().exchange.received, [500, 503, 503]);
    assert_eq!(bench.send().unwrap().seq_num, 2);
}

#[test]
fn abandoning_leaves_at_once() {
    let mut bench = Bench::established(4);
    bench.session.abandon(now(bench.time), &mut bench.reactor, &mut bench.told).unwrap();
    assert_eq!(bench.session.state(), State::Disconnected);
    assert_eq!(bench.told.0, ["connection lost while established"]);
    let ready = Ready::NOTHING;
    bench.session.process(now(9), ready, &mut bench.reactor, &mut bench.told).unwrap();
    assert!(bench.shared.wire().taken.is_empty());
}

#[test]
fn an_order_never_overtakes_one_that_waits() {
    let mut bench = Bench::established(4);
    bench.shared.wire().room = 9;
    bench.send().unwrap();
    // There is room again, but the session has not been told.
    bench.shared.wire().room = usize::MAX >> 1;
    let waiting = 2 * ORDER - 9;
    assert_eq!(bench.send().unwrap().delivery, Delivery::Waiting { waiting });
    bench.give(0);
    assert_eq!(bench.shared.taken(), [(514, 1), (514, 2)]);
}

#[test]
fn what_waited_on_a_lost_connection_is_not_written_to_the_next() {
    for time in [1, 9_500] {
        let mut bench = Bench::established(4);
        bench.shared.wire().room = 9;
        bench.at_millis(time);
        bench.send().unwrap();
        assert!(bench.session.waiting() > 100);
        bench.shared.wire().is_ended = true;
        bench.turn();
        assert_eq!(bench.session.waiting(), 0);
        let mut wire = bench.shared.wire();
        wire.is_ended = false;
        wire.taken.clear();
        wire.room = usize::MAX;
        drop(wire);
        bench.session.connect(now(bench.time), Binding::Resume).unwrap();
        bench.turn();
        bench.turn();
        assert_eq!(bench.shared.taken(), [(503, 0)]);
    }
}

#[test]
fn signs_of_life_and_answers_are_not_journaled() {
    let mut bench = Bench::established(4);
    bench.shared.wire().room = usize::MAX;
    bench.at_millis(9_500);
    let terminate = bench.shared.wire().exchange.terminate(8, 5);
    bench.shared.wire().incoming = terminate;
    bench.turn();
    assert_eq!(bench.shared.taken(), [(506, 0), (507, 0)]);
    let kept: Vec<_> =
        bench.session.journal().records().map(|(_, frame)| template_id(frame)).collect();
    assert_eq!(kept, [500, 503]);
}

#[test]
fn a_connection_that_ends_leaves_the_reactor() {
    let mut bench = Bench::connecting(4);
    for _ in 0..=hairpin_reactor::CAPACITY {
        bench.turn();
        assert_eq!(bench.session.state(), State::Negotiating);
        bench.session.abandon(now(bench.time), &mut bench.reactor, &mut bench.told).unwrap();
        bench.session.connect(now(bench.time), Binding::New).unwrap();
    }
}

#[test]
fn a_number_that_was_taken_back_is_used_again_and_both_records_are_kept() {
    let mut bench = Bench::established(4);
    bench.shared.wire().room = usize::MAX;
    for refusals in 1..=2 {
        assert_eq!(bench.send().unwrap().seq_num, 1);
        let mut wire = bench.shared.wire();
        let refused = std::mem::take(&mut wire.taken);
        wire.incoming = wire.exchange.refuse(&refused);
        drop(wire);
        bench.turn();
        assert_eq!(bench.session.outbound_counters().taken_back, refusals);
    }
    assert_eq!(bench.send().unwrap().seq_num, 1);
    let records = bench.session.journal().records();
    let ours = records.filter(|(record, _)| record.direction() == Direction::Outbound);
    let kept: Vec<_> = ours.map(|(_, frame)| seq_num(frame)).collect();
    assert_eq!(kept, [1, 1, 1]);
    assert_eq!(bench.session.progress().next_outgoing, 2);
}

#[test]
fn an_interrupted_write_is_tried_again() {
    let mut bench = Bench::established(4);
    let before = *bench.session.counters();
    bench.shared.wire().failure = Some(io::ErrorKind::Interrupted);
    assert_eq!(bench.send().unwrap().delivery, Delivery::Waiting { waiting: ORDER });
    bench.shared.wire().failure = None;
    assert_eq!(bench.session.counters().partial_writes - before.partial_writes, 1);
    assert_eq!(bench.send().unwrap().delivery, Delivery::Waiting { waiting: 2 * ORDER });
    bench.give(2 * ORDER);
    assert_eq!(bench.shared.taken(), [(514, 1), (514, 2)]);
    assert_eq!(bench.session.counters().failures, before.failures);
}
