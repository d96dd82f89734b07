//! A session does not allocate after its logon during recovery: retransmission, replay,
//! reconnection and order tracking.

use crate::mock_exchange::{self, frames, now, template_id};
use crate::session_harness::SessionHarness;
use hairpin_cme_codecs::ilink3::Retransmission509;
use hairpin_mapped::Journal;
use hairpin_order_entry::*;

/// Returns the number of allocations of `work`, and its value.
fn allocations<T>(work: impl FnOnce() -> T) -> (u64, T) {
    let before = hairpin_testbed::allocations();
    let value = work();
    (hairpin_testbed::allocations() - before, value)
}

/// Returns an established session whose test buffers do not need to grow.
fn established() -> SessionHarness {
    let conduct =
        SessionPolicy { not_applied: NotAppliedAnswer::Replay, ..SessionPolicy::default() };
    let settings = Settings { conduct, ..mock_exchange::settings(1) };
    let harness =
        SessionHarness::with_storage(settings, Journal::anonymous(16 << 20).unwrap()).establish();
    let mut connection = harness.connector.connection();
    connection.room = usize::MAX >> 1;
    connection.written.reserve(8 << 20);
    connection.connect_calls.reserve(8);
    drop(connection);
    harness
}

/// Returns the exchange's report on the last order.
fn report(harness: &SessionHarness) -> Vec<u8> {
    let mut connection = harness.connector.connection();
    let written = connection.written.clone();
    connection.written.clear();
    connection.exchange.answer(frames(&written).last().unwrap())
}

/// Returns a report with this sequence number, marked as retransmitted if `again`.
fn numbered(report: &[u8], seq_num: u32, again: bool) -> Vec<u8> {
    let mut report = report.to_vec();
    report[12..16].copy_from_slice(&seq_num.to_le_bytes());
    report[12 + 193] = again.into();
    report
}

fn retransmission(harness: &SessionHarness, count: u16) -> Vec<u8> {
    let mut frame = vec![0; 4 + Retransmission509::ENCODED_LENGTH];
    let Progress { uuid, request_timestamp, .. } = harness.session.progress();
    let mut message = Retransmission509::encode(&mut frame[4..]).unwrap();
    message.set_uuid(uuid).set_last_uuid(None).set_request_timestamp(request_timestamp);
    message.set_from_seq_no(1).set_msg_count(count);
    let length = frame.len() as u16;
    frame[..2].copy_from_slice(&length.to_le_bytes());
    frame[2..4].copy_from_slice(&[0xFE, 0xCA]);
    frame
}

#[test]
fn retransmission_of_2500_messages_allocates_nothing() {
    let mut harness = established();
    harness.send().unwrap();
    let report = report(&harness);
    harness.connector.connection().incoming = numbered(&report, 2_501, false);
    let (asking, ()) = allocations(|| {
        harness.poll();
        harness.poll();
    });
    let requested: Vec<_> =
        harness.connector.written().iter().map(|(template, _)| *template).collect();
    assert_eq!(requested, [508]);
    let announced = retransmission(&harness, 2_500);
    let all: Vec<_> = (1..=2_500).map(|number| numbered(&report, number, true)).collect();
    // No larger than a chunk that TCP delivers.
    let mut chunks: Vec<_> = all.chunks(200).map(|chunk| chunk.concat()).collect();
    chunks.insert(0, announced);
    let (receiving, ()) = allocations(|| {
        for chunk in chunks.drain(..) {
            harness.connector.connection().incoming = chunk;
            harness.poll();
        }
    });
    assert_eq!((asking, receiving), (0, 0));
    let counters = harness.session.inbound_counters();
    assert_eq!((counters.business_messages, counters.retransmitted), (2_501, 2_500));
    assert!(harness.events.0.is_empty());
}

#[test]
fn replay_of_unapplied_orders_allocates_nothing() {
    let mut harness = established();
    let (sending, ()) = allocations(|| (0..2_500).for_each(|_| assert!(harness.send().is_ok())));
    let not_applied = harness.connector.connection().exchange.not_applied(1, 2_500);
    harness.connector.connection().incoming = not_applied;
    let (replaying, ()) = allocations(|| {
        harness.poll();
        harness.poll();
    });
    assert_eq!((sending, replaying), (0, 0));
    assert_eq!(harness.session.outbound_counters().replayed, 2_500);
}

/// Processes one wakeup without recording events.
fn poll(harness: &mut SessionHarness) {
    harness.time += 1;
    let now = now(harness.time);
    let ready = harness.reactor.wait(now.monotonic, None).unwrap();
    harness.session.process(now, ready, &mut harness.reactor, &mut ()).unwrap();
}

#[test]
fn new_connection_allocates_nothing_itself() {
    let mut harness = established();
    let mut allocated = 0;
    for _ in 0..3 {
        harness.send().unwrap();
        harness.connector.connection().ended = true;
        allocated += allocations(|| poll(&mut harness)).0;
        assert_eq!(harness.session.state(), State::Disconnected);
        let mut connection = harness.connector.connection();
        connection.ended = false;
        connection.written.clear();
        drop(connection);
        allocated += allocations(|| {
            harness.session.connect(now(harness.time), Binding::Resume).unwrap();
            poll(&mut harness);
        })
        .0;
        let written = harness.connector.connection().written.clone();
        let answer = harness.connector.connection().exchange.answer(&written);
        let mut connection = harness.connector.connection();
        connection.written.clear();
        connection.incoming = answer;
        drop(connection);
        allocated += allocations(|| poll(&mut harness)).0;
        assert_eq!(harness.session.state(), State::Established);
    }
    assert_eq!(allocated, 0);
    assert_eq!(harness.session.counters().connected, 4);
}

/// A listener with tracked orders only.
struct TrackingListener(Orders);

impl Listener for TrackingListener {}

impl TrackOrders for TrackingListener {
    fn orders(&mut self) -> &mut Orders {
        &mut self.0
    }
}

/// Returns a report on the request with this sequence number.
fn answer(report: &[u8], number: u32, order_id: u64, id: u64) -> Vec<u8> {
    let mut report = report.to_vec();
    report[12..16].copy_from_slice(&number.to_le_bytes());
    report[12 + 72..12 + 92].copy_from_slice(&ClOrdId::from(id).0);
    report[12 + 100..12 + 108].copy_from_slice(&order_id.to_le_bytes());
    report[12 + 140..12 + 148].copy_from_slice(&u64::from(number).to_le_bytes());
    report
}

#[test]
fn tracking_ten_thousand_orders_allocates_nothing() {
    let mut harness = established();
    let mut listener = TrackingListener(Orders::new(64));
    let order = |id: u64| NewOrder::limit(42, SideReq::BUY, Decimal(9), 1, ClOrdId::from(id));
    let cancel =
        |order_id, id: u64| CancelOrder::new(order_id, 42, SideReq::BUY, ClOrdId::from(id));
    // From another session, as templates for the reports.
    let mut other = established();
    other.session.sender(now(2)).send(&order(1)).unwrap();
    let new = report(&other);
    other.session.sender(now(2)).send(&cancel(7, 1)).unwrap();
    let canceled = report(&other);
    assert_eq!((template_id(&new), template_id(&canceled)), (522, 534));
    let mut answers: Vec<_> = (1..=20_000_u32)
        .map(|number| {
            let (id, order_id) = (u64::from(number), u64::from(number.div_ceil(2)));
            answer(if number % 2 == 1 { &new } else { &canceled }, number, order_id, id)
        })
        .collect();
    let (allocated, ()) = allocations(|| {
        for (number, answer) in (1..).zip(answers.drain(..)) {
            let mut sender = harness.session.sender(now(2));
            let sent = match number % 2 {
                1 => listener.0.send(&mut sender, &order(number)),
                _ => listener.0.send(&mut sender, &cancel(number / 2, number)),
            };
            assert_eq!(u64::from(sent.unwrap().seq_num), number);
            harness.connector.connection().written.clear();
            harness.connector.connection().incoming = answer;
            let ready = harness.reactor.wait(now(2).monotonic, None).unwrap();
            let mut events = OrderTracking::new(&mut listener);
            harness.session.process(now(2), ready, &mut harness.reactor, &mut events).unwrap();
            assert_eq!(listener.0.working().count() as u64, number % 2);
        }
    });
    assert_eq!(allocated, 0);
    let counters = listener.0.counters();
    assert_eq!((counters.requests, counters.applied), (20_000, 20_000));
    assert_eq!((counters.adopted, counters.unknown, listener.0.in_flight().count()), (0, 0, 0));
}
