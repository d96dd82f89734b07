//! Batches: messages are committed one by one and written together.

use std::io;

use crate::mock_exchange::{self, now, seq_num};
use crate::session_harness::{ORDER, SessionHarness};
use hairpin_mapped::{Direction, Journal, MemoryStorage, Storage};
use hairpin_order_entry::messages::PartyDetailRole;
use hairpin_order_entry::*;
use hairpin_time::Duration;

/// Creates a session whose batches are limited only by the number of waiting messages.
fn harness(waiting_max: usize) -> SessionHarness {
    let settings = Settings { waiting_max, batch_bytes: 1 << 20, ..mock_exchange::settings(1) };
    SessionHarness::with_storage(settings, Journal::anonymous(1 << 16).unwrap()).establish()
}

fn order(id: u64) -> NewOrder {
    NewOrder::limit(42, SideReq::BUY, Decimal(1), 1, ClOrdId::from(id))
}

/// Sends orders in a batch. Returns the result of each send, and the batch's delivery.
fn batch<J: Storage>(
    harness: &mut SessionHarness<J>,
    orders: u64,
) -> (Vec<Result<Sent, SendError>>, Delivery) {
    let mut sender = harness.session.sender(now(harness.time));
    let batched =
        sender.batch(|sender| (1..=orders).map(|id| sender.send(&order(id))).collect::<Vec<_>>());
    (batched.value, batched.delivery)
}

fn numbers<J: Storage>(harness: &SessionHarness<J>) -> Vec<u32> {
    harness.connector.written().iter().map(|(_, number)| *number).collect()
}

/// Returns the number of writes of the connection.
fn writes<J: Storage>(harness: &SessionHarness<J>) -> usize {
    harness.connector.connection().writes
}

#[test]
fn batch_is_one_write_with_the_same_bytes() {
    let mut singly = harness(64);
    singly.connector.connection().room = usize::MAX;
    for id in 1..=20 {
        singly.session.sender(now(singly.time)).send(&order(id)).unwrap();
    }
    assert_eq!(writes(&singly), 20);
    let mut together = harness(64);
    together.connector.connection().room = usize::MAX;
    let (sent, delivery) = batch(&mut together, 20);
    assert_eq!((writes(&together), delivery), (1, Delivery::Written));
    let (written, expected) = (
        together.connector.connection().written.clone(),
        singly.connector.connection().written.clone(),
    );
    assert_eq!(written, expected);
    let numbers: Vec<_> = sent.iter().map(|sent| sent.unwrap().seq_num).collect();
    assert_eq!(numbers, (1..=20).collect::<Vec<_>>());
    let waiting = 3 * ORDER;
    assert_eq!(sent[2].unwrap().delivery, Delivery::Waiting { waiting });
    let records = |harness: &SessionHarness| {
        let all = harness.session.journal().records();
        let ours = all.filter(|(record, _)| record.direction() == Direction::Outbound);
        ours.map(|(_, frame)| frame.to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(records(&together), records(&singly));
    assert_eq!(together.session.outbound_counters().queued, 0, "none had to wait");
    assert_eq!(together.session.outbound_counters().business_messages, 20);
}

#[test]
fn writes_nothing_before_the_batch_ends() {
    let mut harness = harness(64);
    harness.connector.connection().room = usize::MAX;
    let connector = harness.connector.clone();
    let mut sender = harness.session.sender(now(harness.time));
    let batched = sender.batch(|sender| {
        let sent = sender.send(&order(1));
        assert!(connector.connection().written.is_empty());
        sent
    });
    assert_eq!((batched.value.unwrap().seq_num, batched.delivery), (1, Delivery::Written));
    assert_eq!(sender.batch(|_| 7), Batched { value: 7, delivery: Delivery::Written });
    let count = connector.connection().writes;
    assert_eq!(count, 1);
    assert_eq!(sender.send(&order(2)).unwrap().delivery, Delivery::Written);
    assert_eq!(numbers(&harness), [1, 2]);
}

#[test]
fn nested_batch_is_part_of_the_outer_one() {
    let mut harness = harness(64);
    harness.connector.connection().room = usize::MAX;
    let mut sender = harness.session.sender(now(harness.time));
    let batched = sender.batch(|sender| {
        sender.send(&order(1)).unwrap();
        let inner = sender.batch(|sender| sender.send(&order(2)).map(drop));
        assert_eq!(inner.delivery, Delivery::Waiting { waiting: 2 * ORDER });
        sender.send(&order(3)).unwrap();
    });
    assert_eq!(batched.delivery, Delivery::Written);
    assert_eq!((writes(&harness), numbers(&harness)), (1, vec![1, 2, 3]));
}

#[test]
fn partly_written_batch_continues_at_the_same_byte() {
    for cut in 0..=3 * ORDER {
        let mut harness = harness(4);
        harness.connector.connection().room = cut;
        let (sent, delivery) = batch(&mut harness, 3);
        assert!(sent.iter().all(Result::is_ok));
        let expected = match 3 * ORDER - cut {
            0 => Delivery::Written,
            waiting => Delivery::Waiting { waiting },
        };
        assert_eq!((delivery, harness.session.waiting()), (expected, 3 * ORDER - cut), "{cut}");
        let queued = harness.session.outbound_counters().queued as usize;
        assert_eq!(queued, 3 - cut / ORDER, "cut at {cut}");
        harness.add_room(3 * ORDER - cut);
        assert_eq!(harness.connector.written(), [(514, 1), (514, 2), (514, 3)], "cut at {cut}");
        assert_eq!(harness.session.waiting(), 0);
    }
}

#[test]
fn write_has_whole_messages_within_the_byte_limit() {
    for (bytes, expected) in
        [(1, 7), (ORDER, 7), (2 * ORDER - 1, 7), (2 * ORDER, 4), (3 * ORDER + 9, 3)]
    {
        let settings = Settings { batch_bytes: bytes, ..mock_exchange::settings(1) };
        let mut harness = SessionHarness::with_settings(settings).establish();
        harness.connector.connection().room = usize::MAX;
        assert_eq!(batch(&mut harness, 7).1, Delivery::Written);
        assert_eq!(writes(&harness), expected, "{bytes} bytes");
        assert_eq!(numbers(&harness), [1, 2, 3, 4, 5, 6, 7]);
    }
    let default = mock_exchange::settings(1).batch_bytes;
    assert_eq!((default, default / ORDER), (1_368, 9), "orders per segment");
}

/// Creates a session on a connection with segments of this size.
fn with_segments(size: Option<usize>, batch_bytes: usize) -> SessionHarness {
    let settings = Settings { batch_bytes, ..mock_exchange::settings(1) };
    let harness = SessionHarness::with_settings(settings);
    harness.connector.connection().segment_size = size;
    let harness = harness.establish();
    harness.connector.connection().room = usize::MAX;
    harness.connector.connection().write_sizes = Some(Vec::new());
    harness
}

/// Returns the bytes of each write.
fn write_sizes(harness: &SessionHarness) -> Vec<usize> {
    harness.connector.connection().write_sizes.clone().unwrap()
}

#[test]
fn no_write_of_a_batch_exceeds_the_segment_size() {
    // An MTU of 1,420 bytes leaves 1,368 for payload with TCP timestamps.
    for (segment, batch_bytes, orders) in [
        (Some(1_368), 1 << 20, &[9, 1][..]),
        (Some(1_368), 2 * ORDER, &[2, 2, 2, 2, 2]),
        (Some(536), BATCH_BYTES_DEFAULT, &[3, 3, 3, 1]),
        (Some(100), BATCH_BYTES_DEFAULT, &[1; 10]),
        (None, BATCH_BYTES_DEFAULT, &[9, 1]),
    ] {
        let mut harness = with_segments(segment, batch_bytes);
        assert_eq!(batch(&mut harness, 10).1, Delivery::Written);
        let expected: Vec<_> = orders.iter().map(|count| count * ORDER).collect();
        assert_eq!(write_sizes(&harness), expected, "{segment:?}");
    }
}

/// Sends `count` orders with party details on demand in one batch. Returns the batch's delivery.
fn batch_with_party<J: Storage>(harness: &mut SessionHarness<J>, count: u64) -> Delivery {
    let parties = [Party::new(PartyDetailRole::OPERATOR, "TRADER").unwrap()];
    let details = PartyDetails::new(1, &parties);
    let mut sender = harness.session.sender(now(harness.time));
    let batched = sender.batch(|sender| {
        (1..=count).for_each(|id| {
            sender.send_with_party(&details, &order(id)).unwrap();
        });
    });
    batched.delivery
}

#[test]
fn details_on_demand_and_their_message_are_one_write() {
    const DETAILS: usize = 12 + 147 + 3 + 22 + 3;
    let mut harness = with_segments(Some(1_368), BATCH_BYTES_DEFAULT);
    let parties = [Party::new(PartyDetailRole::OPERATOR, "TRADER").unwrap()];
    let details = PartyDetails::new(1, &parties);
    let mut sender = harness.session.sender(now(harness.time));
    let sent = sender.send_with_party(&details, &order(1)).unwrap();
    assert_eq!((sent.seq_num, sent.delivery), (2, Delivery::Written));
    assert_eq!(write_sizes(&harness), [DETAILS + ORDER]);
    // Room for two pairs and the third one's details, which wait for their order.
    let mut harness = with_segments(Some(2 * (DETAILS + ORDER) + DETAILS), BATCH_BYTES_DEFAULT);
    assert_eq!(batch_with_party(&mut harness, 3), Delivery::Written);
    assert_eq!(write_sizes(&harness), [2 * (DETAILS + ORDER), DETAILS + ORDER]);
}

#[test]
fn details_on_demand_are_not_sent_without_room_for_their_message() {
    let mut harness = harness(2);
    harness.connector.connection().room = 0;
    harness.send().unwrap();
    let parties = [Party::new(PartyDetailRole::OPERATOR, "TRADER").unwrap()];
    let details = PartyDetails::new(1, &parties);
    let mut sender = harness.session.sender(now(harness.time));
    let sent = sender.send_with_party(&details, &order(1));
    let blocked = OutboundError::WouldBlock { waiting: ORDER };
    assert_eq!(sent, Err(SendError::Sink(blocked)));
    // The journal has room for the details only.
    let settings = Settings { when_full: WhenFull::Refuse, ..mock_exchange::settings(1) };
    let mut harness =
        SessionHarness::with_storage(settings, Journal::anonymous(4_096).unwrap()).establish();
    harness.connector.connection().room = usize::MAX;
    let sent: Vec<_> = std::iter::repeat_with(|| {
        let mut sender = harness.session.sender(now(harness.time));
        sender.send_with_party(&details, &order(1)).map(|sent| sent.seq_num)
    })
    .take_while(Result::is_ok)
    .collect();
    let last = sent.last().unwrap().unwrap();
    assert_eq!(harness.session.progress().next_outgoing, last + 1);
    assert_eq!(numbers(&harness).len() as u32, last, "details and orders in pairs");
}

#[test]
fn batch_behind_waiting_messages_waits() {
    let mut harness = harness(8);
    harness.connector.connection().room = 9;
    harness.send().unwrap();
    harness.connector.connection().room = usize::MAX >> 1;
    let waiting = 3 * ORDER - 9;
    assert_eq!(batch(&mut harness, 2).1, Delivery::Waiting { waiting });
    assert_eq!(harness.session.outbound_counters().queued, 3);
    harness.add_room(0);
    assert_eq!(numbers(&harness), [1, 2, 3]);
}

#[test]
fn refused_message_does_not_affect_the_batch() {
    let mut harness = harness(64);
    harness.connector.connection().room = usize::MAX;
    let nothing = NewOrder { quantity: 0, ..order(2) };
    let mut sender = harness.session.sender(now(harness.time));
    let batched = sender.batch(|sender| {
        [order(1), nothing, order(3)].map(|order| sender.send(&order).map(|sent| sent.seq_num))
    });
    let refused = Err(SendError::Request(RequestError::Quantity));
    assert_eq!((batched.value, batched.delivery), ([Ok(1), refused, Ok(2)], Delivery::Written));
    assert_eq!((writes(&harness), numbers(&harness)), (1, vec![1, 2]));
}

#[test]
fn full_journal_refuses_the_rest_of_a_batch() {
    let settings = Settings { batch_bytes: 1 << 20, ..mock_exchange::settings(1) };
    let mut harness = SessionHarness::with_settings(settings).establish();
    harness.connector.connection().room = usize::MAX;
    let (sent, delivery) = batch(&mut harness, 40);
    let written = sent.iter().take_while(|sent| sent.is_ok()).count();
    assert!((1..40).contains(&written));
    let full = Err(SendError::Sink(OutboundError::Full));
    assert!(sent[written..].iter().all(|sent| *sent == full));
    assert_eq!((delivery, writes(&harness)), (Delivery::Written, 1));
    assert_eq!(numbers(&harness), (1..=written as u32).collect::<Vec<_>>());
    assert_eq!(harness.session.progress().next_outgoing, written as u32 + 1);
}

#[test]
fn batch_respects_the_limit_of_waiting_messages() {
    let mut harness = harness(3);
    harness.connector.connection().room = usize::MAX;
    let (sent, delivery) = batch(&mut harness, 5);
    let waiting = 3 * ORDER;
    let refused = Err(SendError::Sink(OutboundError::WouldBlock { waiting }));
    assert_eq!(sent.iter().filter(|sent| sent.is_ok()).count(), 3);
    assert_eq!((sent[3], sent[4], delivery), (refused, refused, Delivery::Written));
    assert_eq!(numbers(&harness), [1, 2, 3]);
}

/// Creates a session with a limit of two messages per 500 ms.
fn limited(beyond: WhenThrottled) -> SessionHarness {
    let rate = Some(Rate { messages: 2, interval: Duration::from_millis(500) });
    let rates = Rates { cancels: None, quotes: None, others: rate };
    let throttle = Some(ThrottleSettings { rates, beyond });
    SessionHarness::with_settings(Settings { throttle, ..mock_exchange::settings(1) }).establish()
}

#[test]
fn refusing_throttle_applies_within_a_batch() {
    let mut harness = limited(WhenThrottled::Refuse);
    harness.connector.connection().room = usize::MAX;
    let (sent, delivery) = batch(&mut harness, 3);
    assert!(matches!(sent[2], Err(SendError::Throttled { .. })), "{sent:?}");
    assert_eq!((delivery, writes(&harness)), (Delivery::Written, 1));
    assert_eq!(numbers(&harness), [1, 2]);
}

#[test]
fn messages_beyond_a_queueing_throttle_wait_after_the_batch() {
    let mut harness = limited(WhenThrottled::Queue);
    harness.connector.connection().room = usize::MAX >> 1;
    harness.poll_at_millis(100);
    let (sent, delivery) = batch(&mut harness, 5);
    assert!(sent.iter().all(Result::is_ok));
    assert_eq!(delivery, Delivery::Waiting { waiting: 3 * ORDER });
    assert_eq!((writes(&harness), numbers(&harness)), (1, vec![1, 2]));
    assert_eq!(harness.session.outbound_counters().queued, 3);
    harness.poll_at_millis(599);
    assert_eq!(numbers(&harness), [1, 2]);
    harness.poll_at_millis(600);
    assert_eq!(numbers(&harness), [1, 2, 3, 4]);
    harness.poll_at_millis(1_100);
    assert_eq!((numbers(&harness), harness.session.waiting()), (vec![1, 2, 3, 4, 5], 0));
}

/// Party details sent without their message would not be directly before it.
#[test]
fn queueing_throttle_releases_details_with_their_message() {
    const DETAILS: usize = 12 + 147 + 3 + 22 + 3;
    let mut harness = limited(WhenThrottled::Queue);
    harness.connector.connection().room = usize::MAX >> 1;
    harness.poll_at_millis(100);
    harness.connector.connection().write_sizes = Some(Vec::new());
    harness.send().unwrap();
    // One more message may be sent now: the details, but not their order.
    let waiting = DETAILS + ORDER;
    assert_eq!(batch_with_party(&mut harness, 1), Delivery::Waiting { waiting });
    harness.poll_at_millis(599);
    assert_eq!(numbers(&harness), [1]);
    harness.poll_at_millis(600);
    assert_eq!(numbers(&harness), [1, 2, 3]);
    assert_eq!(write_sizes(&harness), [ORDER, DETAILS + ORDER]);
}

#[test]
fn partly_written_batch_counts_once_for_the_throttle() {
    let mut harness = limited(WhenThrottled::Queue);
    harness.poll_at_millis(100);
    harness.connector.connection().room = 10;
    batch(&mut harness, 4);
    harness.add_room(usize::MAX >> 1);
    assert_eq!(numbers(&harness), [1, 2], "admitted when the batch ended");
    harness.poll_at_millis(599);
    assert_eq!(numbers(&harness), [1, 2]);
    harness.poll_at_millis(600);
    assert_eq!(numbers(&harness), [1, 2, 3, 4]);
}

#[test]
fn batch_is_durable_before_the_write_with_one_wait() {
    let harness =
        SessionHarness::with_storage(mock_exchange::settings(1), MemoryStorage::new(true));
    let mut harness = harness.establish();
    harness.connector.connection().room = usize::MAX;
    let mut sender = harness.session.sender(now(harness.time));
    let batched = sender.batch(|sender| (1..=5).all(|id| sender.send(&order(id)).is_ok()));
    assert_eq!(batched, Batched { value: true, delivery: Delivery::Written });
    assert_eq!(harness.session.journal().unsynced(), 0);
    assert_eq!((writes(&harness), numbers(&harness)), (1, vec![1, 2, 3, 4, 5]));
}

#[test]
fn failed_write_keeps_the_records_and_ends_the_connection() {
    let mut harness = harness(8);
    harness.connector.connection().failure = Some(io::ErrorKind::ConnectionReset);
    let (sent, delivery) = batch(&mut harness, 3);
    assert!(sent.iter().all(Result::is_ok));
    assert_eq!(delivery, Delivery::Broken);
    assert_eq!(harness.session.outbound_counters().broken, 3);
    harness.poll();
    assert_eq!(harness.session.state(), State::Disconnected);
    assert_eq!(harness.session.counters().unsent_records, 3);
    let (_, frame) = harness.session.journal().records().last().unwrap();
    assert_eq!((seq_num(frame), harness.session.progress().next_outgoing), (3, 4));
}

#[test]
fn batch_ends_when_its_closure_panics() {
    let mut harness = harness(8);
    harness.connector.connection().room = usize::MAX;
    let mut sender = harness.session.sender(now(harness.time));
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        sender.batch(|sender| {
            sender.send(&order(1)).unwrap();
            panic!("in a batch");
        })
    }));
    assert!(outcome.is_err());
    assert_eq!(harness.send().unwrap().delivery, Delivery::Written);
    assert_eq!(numbers(&harness), [1, 2]);
}

#[test]
fn batch_waits_for_the_rest_of_a_control_message() {
    let mut harness = harness(4);
    harness.connector.connection().room = 11;
    harness.poll_at_millis(9_500);
    let waiting = 26 - 11 + 2 * ORDER;
    harness.connector.connection().room = ORDER;
    let (_, delivery) = batch(&mut harness, 2);
    assert_eq!(delivery, Delivery::Waiting { waiting });
    harness.add_room(usize::MAX >> 1);
    assert_eq!(harness.connector.written(), [(506, 0), (514, 1), (514, 2)]);
}
