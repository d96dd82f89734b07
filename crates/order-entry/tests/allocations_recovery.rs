//! After logon nothing allocates, not either where messages are missing, refused or sent again, the
//! connection is made anew, and orders are tracked.

#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

mod exchange;
mod wire;

use exchange::{frames, now, template_id};
use hairpin_cme_codecs::ilink3::Retransmission509;
use hairpin_mapped::Journal;
use hairpin_order_entry::*;
use hairpin_testbed::CountingAllocator;
use wire::Bench;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Allocations of `work`.
fn allocations<T>(work: impl FnOnce() -> T) -> (u64, T) {
    let before = hairpin_testbed::allocations();
    let value = work();
    (hairpin_testbed::allocations() - before, value)
}

/// Established, with room for all that is written and kept.
fn established() -> Bench {
    let conduct =
        SessionPolicy { not_applied: NotAppliedAnswer::Replay, ..SessionPolicy::default() };
    let settings = Settings { conduct, ..exchange::settings(1) };
    let bench = Bench::on(settings, Journal::anonymous(16 << 20).unwrap()).establish();
    let mut wire = bench.shared.wire();
    wire.room = usize::MAX >> 1;
    wire.taken.reserve(8 << 20);
    wire.dialled.reserve(8);
    drop(wire);
    bench
}

/// The report on the order that has just been sent.
fn report(bench: &Bench) -> Vec<u8> {
    let mut wire = bench.shared.wire();
    let taken = wire.taken.clone();
    wire.taken.clear();
    wire.exchange.answer(frames(&taken).last().unwrap())
}

/// The number in the frame of a report, which may be one that is sent again.
fn numbered(report: &[u8], seq_num: u32, again: bool) -> Vec<u8> {
    let mut report = report.to_vec();
    report[12..16].copy_from_slice(&seq_num.to_le_bytes());
    report[12 + 193] = again.into();
    report
}

fn retransmission(bench: &Bench, count: u16) -> Vec<u8> {
    let mut frame = vec![0; 4 + Retransmission509::ENCODED_LENGTH];
    let Progress { uuid, request_timestamp, .. } = bench.session.progress();
    let mut message = Retransmission509::encode(&mut frame[4..]).unwrap();
    message.set_uuid(uuid).set_last_uuid(None).set_request_timestamp(request_timestamp);
    message.set_from_seq_no(1).set_msg_count(count);
    let length = frame.len() as u16;
    frame[..2].copy_from_slice(&length.to_le_bytes());
    frame[2..4].copy_from_slice(&[0xFE, 0xCA]);
    frame
}

#[test]
fn a_retransmission_of_2500_allocates_nothing() {
    let mut bench = established();
    bench.send().unwrap();
    let report = report(&bench);
    bench.shared.wire().incoming = numbered(&report, 2_501, false);
    let (asking, ()) = allocations(|| {
        bench.turn();
        bench.turn();
    });
    let asked: Vec<_> = bench.shared.taken().iter().map(|(template, _)| *template).collect();
    assert_eq!(asked, [508]);
    let announced = retransmission(&bench, 2_500);
    let all: Vec<_> = (1..=2_500).map(|number| numbered(&report, number, true)).collect();
    // A chunk of TCP's is no larger than this.
    let mut chunks: Vec<_> = all.chunks(200).map(|chunk| chunk.concat()).collect();
    chunks.insert(0, announced);
    let (receiving, ()) = allocations(|| {
        for chunk in chunks.drain(..) {
            bench.shared.wire().incoming = chunk;
            bench.turn();
        }
    });
    assert_eq!((asking, receiving), (0, 0));
    let counters = bench.session.inbound_counters();
    assert_eq!((counters.business_messages, counters.retransmitted), (2_501, 2_500));
    assert!(bench.told.0.is_empty());
}

#[test]
fn a_replay_of_what_was_not_applied_allocates_nothing() {
    let mut bench = established();
    let (sending, ()) = allocations(|| (0..2_500).for_each(|_| assert!(bench.send().is_ok())));
    let not_applied = bench.shared.wire().exchange.not_applied(1, 2_500);
    bench.shared.wire().incoming = not_applied;
    let (replaying, ()) = allocations(|| {
        bench.turn();
        bench.turn();
    });
    assert_eq!((sending, replaying), (0, 0));
    assert_eq!(bench.session.outbound_counters().replayed, 2_500);
}

/// A turn of which nothing is written down.
fn turn(bench: &mut Bench) {
    bench.time += 1;
    let now = now(bench.time);
    let ready = bench.reactor.wait(now.monotonic, None).unwrap();
    bench.session.process(now, ready, &mut bench.reactor, &mut ()).unwrap();
}

#[test]
fn a_new_connection_allocates_nothing_of_its_own() {
    let mut bench = established();
    let mut allocated = 0;
    for _ in 0..3 {
        bench.send().unwrap();
        bench.shared.wire().is_ended = true;
        allocated += allocations(|| turn(&mut bench)).0;
        assert_eq!(bench.session.state(), State::Disconnected);
        let mut wire = bench.shared.wire();
        wire.is_ended = false;
        wire.taken.clear();
        drop(wire);
        allocated += allocations(|| {
            bench.session.connect(now(bench.time), Binding::Resume).unwrap();
            turn(&mut bench);
        })
        .0;
        let taken = bench.shared.wire().taken.clone();
        let answer = bench.shared.wire().exchange.answer(&taken);
        let mut wire = bench.shared.wire();
        wire.taken.clear();
        wire.incoming = answer;
        drop(wire);
        allocated += allocations(|| turn(&mut bench)).0;
        assert_eq!(bench.session.state(), State::Established);
    }
    assert_eq!(allocated, 0);
    assert_eq!(bench.session.counters().connected, 4);
}

/// A strategy of which only its orders matter.
struct Desk(Orders);

impl Listener for Desk {}

impl TrackOrders for Desk {
    fn orders(&mut self) -> &mut Orders {
        &mut self.0
    }
}

/// A report on the request with this number.
fn answer(report: &[u8], number: u32, order_id: u64, id: u64) -> Vec<u8> {
    let mut report = report.to_vec();
    report[12..16].copy_from_slice(&number.to_le_bytes());
    report[12 + 72..12 + 92].copy_from_slice(&ClOrdId::from(id).0);
    report[12 + 100..12 + 108].copy_from_slice(&order_id.to_le_bytes());
    report[12 + 140..12 + 148].copy_from_slice(&u64::from(number).to_le_bytes());
    report
}

#[test]
fn ten_thousand_orders_and_their_cancels_are_tracked_without_allocating() {
    let mut bench = established();
    let mut desk = Desk(Orders::new(64));
    let order = |id: u64| NewOrder::limit(42, SideReq::BUY, Decimal(9), 1, ClOrdId::from(id));
    let cancel =
        |order_id, id: u64| CancelOrder::new(order_id, 42, SideReq::BUY, ClOrdId::from(id));
    // Of another session, for the form of the reports alone.
    let mut other = established();
    other.session.sender(now(2)).send(&order(1)).unwrap();
    let new = report(&other);
    other.session.sender(now(2)).send(&cancel(7, 1)).unwrap();
    let gone = report(&other);
    assert_eq!((template_id(&new), template_id(&gone)), (522, 534));
    let mut answers: Vec<_> = (1..=20_000_u32)
        .map(|number| {
            let (id, order_id) = (u64::from(number), u64::from(number.div_ceil(2)));
            answer(if number % 2 == 1 { &new } else { &gone }, number, order_id, id)
        })
        .collect();
    let (allocated, ()) = allocations(|| {
        for (number, answer) in (1..).zip(answers.drain(..)) {
            let mut sender = bench.session.sender(now(2));
            let sent = match number % 2 {
                1 => desk.0.send(&mut sender, &order(number)),
                _ => desk.0.send(&mut sender, &cancel(number / 2, number)),
            };
            assert_eq!(u64::from(sent.unwrap().seq_num), number);
            bench.shared.wire().taken.clear();
            bench.shared.wire().incoming = answer;
            let ready = bench.reactor.wait(now(2).monotonic, None).unwrap();
            let mut told = OrderTracking::new(&mut desk);
            bench.session.process(now(2), ready, &mut bench.reactor, &mut told).unwrap();
            assert_eq!(desk.0.working().count() as u64, number % 2);
        }
    });
    assert_eq!(allocated, 0);
    let counters = desk.0.counters();
    assert_eq!((counters.requests, counters.applied), (20_000, 20_000));
    assert_eq!((counters.adopted, counters.unknown, desk.0.in_flight().count()), (0, 0, 0));
}
