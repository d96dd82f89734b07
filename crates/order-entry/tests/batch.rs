//! Several messages with one write: what was committed one by one leaves together.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod exchange;
mod wire;

use std::io;

use exchange::{now, seq_num};
use hairpin_mapped::{Direction, Journal, MemoryStorage, Storage};
use hairpin_order_entry::*;
use hairpin_time::Duration;
use wire::{Bench, ORDER};

/// A bench whose batches have no limit but that of what may wait.
fn bench(waiting_max: usize) -> Bench {
    let settings = Settings { waiting_max, batch_bytes: 1 << 20, ..exchange::settings(1) };
    Bench::on(settings, Journal::anonymous(1 << 16).unwrap()).establish()
}

fn order(id: u64) -> NewOrder {
    NewOrder::limit(42, SideReq::BUY, Decimal(1), 1, ClOrdId::from(id))
}

/// Sends so many orders in a batch; what each send has said, and what the batch.
fn batch<J: Storage>(
    bench: &mut Bench<J>,
    orders: u64,
) -> (Vec<Result<Sent, SendError>>, Delivery) {
    let mut sender = bench.session.sender(now(bench.time));
    let batched =
        sender.batch(|sender| (1..=orders).map(|id| sender.send(&order(id))).collect::<Vec<_>>());
    (batched.value, batched.delivery)
}

fn numbers<J: Storage>(bench: &Bench<J>) -> Vec<u32> {
    bench.shared.taken().iter().map(|(_, number)| *number).collect()
}

/// How many writes the connection has taken.
fn writes<J: Storage>(bench: &Bench<J>) -> usize {
    bench.shared.wire().writes
}

#[test]
fn a_batch_is_one_write_of_the_bytes_that_many_would_have_been() {
    let mut singly = bench(64);
    singly.shared.wire().room = usize::MAX;
    for id in 1..=20 {
        singly.session.sender(now(singly.time)).send(&order(id)).unwrap();
    }
    assert_eq!(writes(&singly), 20);
    let mut together = bench(64);
    together.shared.wire().room = usize::MAX;
    let (sent, delivery) = batch(&mut together, 20);
    assert_eq!((writes(&together), delivery), (1, Delivery::Written));
    let (taken, expected) =
        (together.shared.wire().taken.clone(), singly.shared.wire().taken.clone());
    assert_eq!(taken, expected);
    let numbers: Vec<_> = sent.iter().map(|sent| sent.unwrap().seq_num).collect();
    assert_eq!(numbers, (1..=20).collect::<Vec<_>>());
    let waiting = 3 * ORDER;
    assert_eq!(sent[2].unwrap().delivery, Delivery::Waiting { waiting });
    let records = |bench: &Bench| {
        let all = bench.session.journal().records();
        let ours = all.filter(|(record, _)| record.direction() == Direction::Outbound);
        ours.map(|(_, frame)| frame.to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(records(&together), records(&singly));
    assert_eq!(together.session.outbound_counters().queued, 0, "none had to wait");
    assert_eq!(together.session.outbound_counters().business_messages, 20);
}

#[test]
fn nothing_leaves_before_the_batch_ends_and_an_empty_one_does_nothing() {
    let mut bench = bench(64);
    bench.shared.wire().room = usize::MAX;
    let shared = bench.shared.clone();
    let mut sender = bench.session.sender(now(bench.time));
    let batched = sender.batch(|sender| {
        let sent = sender.send(&order(1));
        assert!(shared.wire().taken.is_empty());
        sent
    });
    assert_eq!((batched.value.unwrap().seq_num, batched.delivery), (1, Delivery::Written));
    assert_eq!(sender.batch(|_| 7), Batched { value: 7, delivery: Delivery::Written });
    let count = shared.wire().writes;
    assert_eq!(count, 1);
    assert_eq!(sender.send(&order(2)).unwrap().delivery, Delivery::Written);
    assert_eq!(numbers(&bench), [1, 2]);
}

#[test]
fn a_batch_within_a_batch_is_part_of_it() {
    let mut bench = bench(64);
    bench.shared.wire().room = usize::MAX;
    let mut sender = bench.session.sender(now(bench.time));
    let batched = sender.batch(|sender| {
        sender.send(&order(1)).unwrap();
        let inner = sender.batch(|sender| sender.send(&order(2)).map(drop));
        assert_eq!(inner.delivery, Delivery::Waiting { waiting: 2 * ORDER });
        sender.send(&order(3)).unwrap();
    });
    assert_eq!(batched.delivery, Delivery::Written);
    assert_eq!((writes(&bench), numbers(&bench)), (1, vec![1, 2, 3]));
}

#[test]
fn a_batch_cut_anywhere_continues_where_it_was_cut() {
    for cut in 0..=3 * ORDER {
        let mut bench = bench(4);
        bench.shared.wire().room = cut;
        let (sent, delivery) = batch(&mut bench, 3);
        assert!(sent.iter().all(Result::is_ok));
        let expected = match 3 * ORDER - cut {
            0 => Delivery::Written,
            waiting => Delivery::Waiting { waiting },
        };
        assert_eq!((delivery, bench.session.waiting()), (expected, 3 * ORDER - cut), "{cut}");
        let queued = bench.session.outbound_counters().queued as usize;
        assert_eq!(queued, 3 - cut / ORDER, "cut at {cut}");
        bench.give(3 * ORDER - cut);
        assert_eq!(bench.shared.taken(), [(514, 1), (514, 2), (514, 3)], "cut at {cut}");
        assert_eq!(bench.session.waiting(), 0);
    }
}

#[test]
fn a_write_has_whole_messages_and_no_more_bytes_than_it_may() {
    for (bytes, expected) in
        [(1, 7), (ORDER, 7), (2 * ORDER - 1, 7), (2 * ORDER, 4), (3 * ORDER + 9, 3)]
    {
        let settings = Settings { batch_bytes: bytes, ..exchange::settings(1) };
        let mut bench = Bench::with(settings).establish();
        bench.shared.wire().room = usize::MAX;
        assert_eq!(batch(&mut bench, 7).1, Delivery::Written);
        assert_eq!(writes(&bench), expected, "{bytes} bytes");
        assert_eq!(numbers(&bench), [1, 2, 3, 4, 5, 6, 7]);
    }
    let default = exchange::settings(1).batch_bytes;
    assert_eq!(default / ORDER, 10, "orders that one segment has room for");
}

#[test]
fn a_batch_behind_what_waits_waits_too() {
    let mut bench = bench(8);
    bench.shared.wire().room = 9;
    bench.send().unwrap();
    bench.shared.wire().room = usize::MAX >> 1;
    let waiting = 3 * ORDER - 9;
    assert_eq!(batch(&mut bench, 2).1, Delivery::Waiting { waiting });
    assert_eq!(bench.session.outbound_counters().queued, 3);
    bench.give(0);
    assert_eq!(numbers(&bench), [1, 2, 3]);
}

#[test]
fn a_message_that_is_refused_is_refused_alone() {
    let mut bench = bench(64);
    bench.shared.wire().room = usize::MAX;
    let nothing = NewOrder { quantity: 0, ..order(2) };
    let mut sender = bench.session.sender(now(bench.time));
    let batched = sender.batch(|sender| {
        [order(1), nothing, order(3)].map(|order| sender.send(&order).map(|sent| sent.seq_num))
    });
    let refused = Err(SendError::Request(RequestError::Quantity));
    assert_eq!((batched.value, batched.delivery), ([Ok(1), refused, Ok(2)], Delivery::Written));
    assert_eq!((writes(&bench), numbers(&bench)), (1, vec![1, 2]));
}

#[test]
fn a_full_journal_in_the_middle_refuses_the_rest() {
    let settings = Settings { batch_bytes: 1 << 20, ..exchange::settings(1) };
    let mut bench = Bench::with(settings).establish();
    bench.shared.wire().room = usize::MAX;
    let (sent, delivery) = batch(&mut bench, 40);
    let taken = sent.iter().take_while(|sent| sent.is_ok()).count();
    assert!((1..40).contains(&taken));
    let full = Err(SendError::OutboundSink(OutboundError::Full));
    assert!(sent[taken..].iter().all(|sent| *sent == full));
    assert_eq!((delivery, writes(&bench)), (Delivery::Written, 1));
    assert_eq!(numbers(&bench), (1..=taken as u32).collect::<Vec<_>>());
    assert_eq!(bench.session.progress().next_outgoing, taken as u32 + 1);
}

#[test]
fn no_more_messages_wait_in_a_batch_than_may_wait() {
    let mut bench = bench(3);
    bench.shared.wire().room = usize::MAX;
    let (sent, delivery) = batch(&mut bench, 5);
    let waiting = 3 * ORDER;
    let refused = Err(SendError::OutboundSink(OutboundError::WouldBlock { waiting }));
    assert_eq!(sent.iter().filter(|sent| sent.is_ok()).count(), 3);
    assert_eq!((sent[3], sent[4], delivery), (refused, refused, Delivery::Written));
    assert_eq!(numbers(&bench), [1, 2, 3]);
}

/// Two messages in 500 ms.
fn limited(beyond: WhenThrottled) -> Bench {
    let rate = Some(Rate { messages: 2, interval: Duration::from_millis(500) });
    let rates = Rates { cancels: None, quotes: None, others: rate };
    let throttle = Some(ThrottleSettings { rates, beyond });
    Bench::with(Settings { throttle, ..exchange::settings(1) }).establish()
}

#[test]
fn a_limit_that_refuses_holds_in_a_batch() {
    let mut bench = limited(WhenThrottled::Refuse);
    bench.shared.wire().room = usize::MAX;
    let (sent, delivery) = batch(&mut bench, 3);
    assert!(matches!(sent[2], Err(SendError::Throttled { .. })), "{sent:?}");
    assert_eq!((delivery, writes(&bench)), (Delivery::Written, 1));
    assert_eq!(numbers(&bench), [1, 2]);
}

#[test]
fn what_is_beyond_a_limit_waits_when_its_batch_has_ended() {
    let mut bench = limited(WhenThrottled::Queue);
    bench.shared.wire().room = usize::MAX >> 1;
    bench.at_millis(100);
    let (sent, delivery) = batch(&mut bench, 5);
    assert!(sent.iter().all(Result::is_ok));
    assert_eq!(delivery, Delivery::Waiting { waiting: 3 * ORDER });
    assert_eq!((writes(&bench), numbers(&bench)), (1, vec![1, 2]));
    assert_eq!(bench.session.outbound_counters().queued, 3);
    bench.at_millis(599);
    assert_eq!(numbers(&bench), [1, 2]);
    bench.at_millis(600);
    assert_eq!(numbers(&bench), [1, 2, 3, 4]);
    bench.at_millis(1_100);
    assert_eq!((numbers(&bench), bench.session.waiting()), (vec![1, 2, 3, 4, 5], 0));
}

#[test]
fn messages_of_a_batch_that_the_connection_cuts_count_once() {
    let mut bench = limited(WhenThrottled::Queue);
    bench.at_millis(100);
    bench.shared.wire().room = 10;
    batch(&mut bench, 4);
    bench.give(usize::MAX >> 1);
    assert_eq!(numbers(&bench), [1, 2], "they were let through when the batch ended");
    bench.at_millis(599);
    assert_eq!(numbers(&bench), [1, 2]);
    bench.at_millis(600);
    assert_eq!(numbers(&bench), [1, 2, 3, 4]);
}

#[test]
fn a_batch_is_durable_before_it_leaves_and_is_waited_for_once() {
    let bench = Bench::on(exchange::settings(1), MemoryStorage::new(true));
    let mut bench = bench.establish();
    bench.shared.wire().room = usize::MAX;
    let mut sender = bench.session.sender(now(bench.time));
    let batched = sender.batch(|sender| (1..=5).all(|id| sender.send(&order(id)).is_ok()));
    assert_eq!(batched, Batched { value: true, delivery: Delivery::Written });
    assert_eq!(bench.session.journal().unsynced(), 0);
    assert_eq!((writes(&bench), numbers(&bench)), (1, vec![1, 2, 3, 4, 5]));
}

#[test]
fn a_batch_whose_write_fails_keeps_its_records_and_ends_the_connection() {
    let mut bench = bench(8);
    bench.shared.wire().failure = Some(io::ErrorKind::ConnectionReset);
    let (sent, delivery) = batch(&mut bench, 3);
    assert!(sent.iter().all(Result::is_ok));
    assert_eq!(delivery, Delivery::Broken);
    assert_eq!(bench.session.outbound_counters().broken, 3);
    bench.turn();
    assert_eq!(bench.session.state(), State::Disconnected);
    assert_eq!(bench.session.counters().unsent_records, 3);
    let (_, frame) = bench.session.journal().records().last().unwrap();
    assert_eq!((seq_num(frame), bench.session.progress().next_outgoing), (3, 4));
}

#[test]
fn a_batch_is_ended_when_what_sends_it_panics() {
    let mut bench = bench(8);
    bench.shared.wire().room = usize::MAX;
    let mut sender = bench.session.sender(now(bench.time));
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        sender.batch(|sender| {
            sender.send(&order(1)).unwrap();
            panic!("in a batch");
        })
    }));
    assert!(outcome.is_err());
    assert_eq!(bench.send().unwrap().delivery, Delivery::Written);
    assert_eq!(numbers(&bench), [1, 2]);
}

#[test]
fn a_batch_waits_for_the_rest_of_a_control_message() {
    let mut bench = bench(4);
    bench.shared.wire().room = 11;
    bench.at_millis(9_500);
    let waiting = 26 - 11 + 2 * ORDER;
    bench.shared.wire().room = ORDER;
    let (_, delivery) = batch(&mut bench, 2);
    assert_eq!(delivery, Delivery::Waiting { waiting });
    bench.give(usize::MAX >> 1);
    assert_eq!(bench.shared.taken(), [(506, 0), (514, 1), (514, 2)]);
}
