//! Cancel on disconnect: which sessions lose which orders.

use hairpin_cme_codecs::ilink3::{ExecReason, ExecutionReportCancel534, SideReq, TimeInForce};
use hairpin_exchange::{ConnectionId, Designation, Side};
use hairpin_time::Duration;

use crate::bench::{Bench, UUID};
use crate::client::{
    establish, establish_by, negotiate, order, order_with, retransmit_request_of, terminate,
};
use crate::decode;

/// A session with a day order and one good till cancelled, and another session's day order.
fn bench() -> (Bench, ConnectionId, ConnectionId) {
    let mut bench = Bench::with(3, |settings| settings.cancels_on_disconnect = true);
    let id = bench.connect();
    bench.log_on(id);
    let other = bench.connect();
    bench.log_on_by(other, ("OTHERKEY", "XYZ"));
    let price = bench.far();
    bench.send_one(id, &order(1, price));
    let good = order_with(2, price, |order| {
        order.set_time_in_force(TimeInForce::GOOD_TILL_CANCEL);
    });
    bench.send_one(id, &good);
    bench.send_one(other, &order(1, price));
    bench.drain_feed();
    (bench, id, other)
}

/// How many orders rest, the house's not counted.
fn resting(bench: &mut Bench) -> usize {
    bench.report();
    let far = bench.far();
    let matching = bench.floor.matching();
    let orders = matching.orders(0, hairpin_exchange::Side::Bid);
    orders.filter(|order| order.price.0 == far && order.owner.0 > 0).count()
}

#[test]
fn a_lost_session_loses_its_day_orders_and_is_told_when_it_is_back() {
    let (mut bench, id, _) = bench();
    bench.gateway.handle_closed(id, &mut bench.notes);
    assert!(bench.gateway.has_lost());
    assert_eq!(resting(&mut bench), 2);
    assert!(!bench.gateway.has_lost());
    let id = bench.connect();
    let timestamp = bench.timestamp();
    bench.send_one(id, &establish(UUID, timestamp, 3));
    let timestamp = bench.timestamp();
    let replies = bench.send(id, &retransmit_request_of(UUID, timestamp, None, 3, 1));
    let gone = decode!(ExecutionReportCancel534, replies[1]);
    assert_eq!((gone.seq_num(), gone.cl_ord_id().to_string()), (3, "1".into()));
    assert_eq!(gone.exec_restatement_reason(), Some(ExecReason::CANCEL_ON_DISCONNECT));
    assert_eq!(gone.time_in_force(), Some(TimeInForce::DAY));
}

#[test]
fn the_orders_are_gone_before_anybody_is_heard_again() {
    let (mut bench, id, other) = bench();
    bench.gateway.handle_closed(id, &mut bench.notes);
    let price = bench.far();
    bench.send(other, &order(2, price));
    assert_eq!(resting(&mut bench), 3);
}

#[test]
fn a_session_that_says_goodbye_keeps_its_orders() {
    let (mut bench, id, _) = bench();
    bench.send(id, &terminate(UUID, 1, 0));
    assert!(bench.gateway.poll_action(&mut bench.notes).is_some());
    assert_eq!(resting(&mut bench), 3);
    let (mut bench, id, _) = self::bench();
    bench.gateway.terminate(bench.now, id, &mut bench.notes);
    bench.read(id);
    bench.send(id, &terminate(UUID, 1, 0));
    assert!(bench.gateway.poll_action(&mut bench.notes).is_some());
    assert_eq!(resting(&mut bench), 3);
}

#[test]
fn whatever_this_side_ends_for_an_error_is_lost() {
    // A low number, and two intervals of silence.
    let (mut bench, id, _) = bench();
    let price = bench.far();
    let replies = bench.send(id, &order(1, price));
    bench.expect_terminate(id, &replies, 11);
    assert_eq!(resting(&mut bench), 2);
    let (mut bench, id, other) = self::bench();
    for _ in 0..2 {
        bench.pass(Duration::from_secs(10));
        bench.timeout(id);
    }
    bench.read(other);
    while bench.gateway.poll_action(&mut bench.notes).is_some() {}
    assert_eq!(resting(&mut bench), 1);
}

#[test]
fn a_session_that_logs_on_elsewhere_is_not_lost() {
    let (mut bench, id, _) = bench();
    let new = bench.connect();
    let timestamp = bench.timestamp();
    bench.send(new, &establish(UUID, timestamp, 3));
    bench.read(id);
    bench.gateway.poll_action(&mut bench.notes);
    assert_eq!(resting(&mut bench), 3);
}

#[test]
fn a_failure_of_the_primary_loses_only_sessions_without_a_backup() {
    let (mut bench, _, _) = bench();
    let backup = bench.connect_at(Designation::Backup).unwrap();
    let timestamp = bench.timestamp();
    let by = ("OTHERKEY", "XYZ");
    let message = establish_by(UUID, timestamp, (0, 10_000), crate::client::SYSTEM, by);
    assert_eq!(bench.send_one(backup, &message).template(), 504);
    bench.gateway.fail_primary(bench.now, &mut bench.notes);
    assert_eq!(resting(&mut bench), 2);
}

#[test]
fn orders_till_a_date_stay_and_a_session_that_never_was_established_loses_none() {
    let (mut bench, id, _) = bench();
    let price = bench.far();
    let dated = order_with(3, price, |order| {
        order.set_time_in_force(TimeInForce::GOOD_TILL_DATE).set_expire_date(20_000);
    });
    assert_eq!(bench.send_one(id, &dated).template(), 522);
    bench.send(id, &terminate(UUID, 1, 0));
    assert!(bench.gateway.poll_action(&mut bench.notes).is_some());
    // Negotiated and lost: nothing.
    let id = bench.connect();
    let timestamp = bench.timestamp();
    bench.send_one(id, &negotiate(UUID + 1, timestamp));
    bench.gateway.handle_closed(id, &mut bench.notes);
    assert_eq!((bench.gateway.has_lost(), resting(&mut bench)), (false, 4));
    // Established and lost: the day order alone.
    let id = bench.connect();
    let timestamp = bench.timestamp();
    assert_eq!(bench.send_one(id, &establish(UUID + 1, timestamp, 1)).template(), 504);
    bench.gateway.handle_closed(id, &mut bench.notes);
    assert_eq!(resting(&mut bench), 3);
}

#[test]
fn a_session_is_lost_once() {
    let (mut bench, id, other) = bench();
    bench.gateway.handle_closed(id, &mut bench.notes);
    resting(&mut bench);
    let id = bench.connect();
    let timestamp = bench.timestamp();
    bench.send_one(id, &establish(UUID, timestamp, 3));
    let price = bench.far();
    bench.send_one(id, &order(3, price));
    bench.gateway.handle_closed(other, &mut bench.notes);
    // The other's is gone, and this one's new order is not.
    assert_eq!((resting(&mut bench), bench.counters().disconnect_cancels), (2, 2));
}

#[test]
fn nobody_trades_with_the_orders_of_a_session_that_is_lost() {
    let (mut bench, id, other) = bench();
    let price = bench.floor.matching().best(0, Side::Bid).unwrap().price.0 + 250_000_000;
    bench.send_one(id, &order(3, price));
    bench.drain_feed();
    bench.gateway.handle_closed(id, &mut bench.notes);
    let sell = order_with(2, price, |order| {
        order.set_side(SideReq::SELL);
    });
    assert_eq!(bench.send_one(other, &sell).template(), 522);
    assert_eq!(bench.counters().fills, 0);
}
