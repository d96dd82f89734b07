//! Cancel on disconnect: the sessions and orders that it affects.

use hairpin_cme_codecs::ilink3::{ExecReason, ExecutionReportCancel534, SideReq, TimeInForce};
use hairpin_exchange::{ConnectionId, Designation, Side};
use hairpin_time::Duration;

use super::harness::{Harness, UUID};
use crate::client::{
    establish, establish_by, negotiate, order, order_with, retransmit_request_of, terminate,
};
use crate::decode;

/// Creates a session with a day order and a GTC order, and another with a day order.
fn harness() -> (Harness, ConnectionId, ConnectionId) {
    let mut harness = Harness::with(3, |settings| settings.cancels_on_disconnect = true);
    let id = harness.connect();
    harness.log_on(id);
    let other = harness.connect();
    harness.log_on_by(other, ("OTHERKEY", "XYZ"));
    let price = harness.far_price();
    harness.send_one(id, &order(1, price));
    let good = order_with(2, price, |order| {
        order.set_time_in_force(TimeInForce::GOOD_TILL_CANCEL);
    });
    harness.send_one(id, &good);
    harness.send_one(other, &order(1, price));
    harness.drain_feed();
    (harness, id, other)
}

/// Returns the number of resting session orders.
fn resting(harness: &mut Harness) -> usize {
    harness.report();
    let far = harness.far_price();
    let matching = harness.market.matching();
    let orders = matching.orders(0, hairpin_exchange::Side::Bid);
    orders.filter(|order| order.price.0 == far && order.owner.0 > 0).count()
}

#[test]
fn lost_session_has_its_day_orders_canceled_and_reported() {
    let (mut harness, id, _) = harness();
    harness.gateway.handle_closed(id, &mut harness.listener);
    assert!(harness.gateway.has_lost_sessions());
    assert_eq!(resting(&mut harness), 2);
    assert!(!harness.gateway.has_lost_sessions());
    let id = harness.connect();
    let timestamp = harness.timestamp();
    harness.send_one(id, &establish(UUID, timestamp, 3));
    let timestamp = harness.timestamp();
    let replies = harness.send(id, &retransmit_request_of(UUID, timestamp, None, 3, 1));
    let gone = decode!(ExecutionReportCancel534, replies[1]);
    assert_eq!((gone.seq_num(), gone.cl_ord_id().to_string()), (3, "1".into()));
    assert_eq!(gone.exec_restatement_reason(), Some(ExecReason::CANCEL_ON_DISCONNECT));
    assert_eq!(gone.time_in_force(), Some(TimeInForce::DAY));
}

#[test]
fn cancels_orders_before_handling_further_input() {
    let (mut harness, id, other) = harness();
    harness.gateway.handle_closed(id, &mut harness.listener);
    let price = harness.far_price();
    harness.send(other, &order(2, price));
    assert_eq!(resting(&mut harness), 3);
}

#[test]
fn terminated_session_keeps_its_orders() {
    let (mut harness, id, _) = harness();
    harness.send(id, &terminate(UUID, 1, 0));
    assert!(harness.gateway.poll_action(&mut harness.listener).is_some());
    assert_eq!(resting(&mut harness), 3);
    let (mut harness, id, _) = self::harness();
    harness.gateway.terminate(harness.now, id, &mut harness.listener);
    harness.read(id);
    harness.send(id, &terminate(UUID, 1, 0));
    assert!(harness.gateway.poll_action(&mut harness.listener).is_some());
    assert_eq!(resting(&mut harness), 3);
}

#[test]
fn session_ended_for_an_error_is_lost() {
    // A low sequence number, and two intervals of silence.
    let (mut harness, id, _) = harness();
    let price = harness.far_price();
    let replies = harness.send(id, &order(1, price));
    harness.expect_terminate(id, &replies, 11);
    assert_eq!(resting(&mut harness), 2);
    let (mut harness, id, other) = self::harness();
    for _ in 0..2 {
        harness.pass(Duration::from_secs(10));
        harness.timeout(id);
    }
    harness.read(other);
    while harness.gateway.poll_action(&mut harness.listener).is_some() {}
    assert_eq!(resting(&mut harness), 1);
}

#[test]
fn displaced_session_is_not_lost() {
    let (mut harness, id, _) = harness();
    let new = harness.connect();
    let timestamp = harness.timestamp();
    harness.send(new, &establish(UUID, timestamp, 3));
    harness.read(id);
    harness.gateway.poll_action(&mut harness.listener);
    assert_eq!(resting(&mut harness), 3);
}

#[test]
fn primary_failure_loses_sessions_without_a_backup() {
    let (mut harness, _, _) = harness();
    let backup = harness.connect_at(Designation::Backup).unwrap();
    let timestamp = harness.timestamp();
    let by = ("OTHERKEY", "XYZ");
    let message = establish_by(UUID, timestamp, (0, 10_000), crate::client::SYSTEM, by);
    assert_eq!(harness.send_one(backup, &message).template(), 504);
    harness.gateway.fail_primary(harness.now, &mut harness.listener);
    assert_eq!(resting(&mut harness), 2);
}

#[test]
fn good_till_date_orders_and_unestablished_sessions_keep_orders() {
    let (mut harness, id, _) = harness();
    let price = harness.far_price();
    let dated = order_with(3, price, |order| {
        order.set_time_in_force(TimeInForce::GOOD_TILL_DATE).set_expire_date(20_000);
    });
    assert_eq!(harness.send_one(id, &dated).template(), 522);
    harness.send(id, &terminate(UUID, 1, 0));
    assert!(harness.gateway.poll_action(&mut harness.listener).is_some());
    // A negotiated session that is lost: no effect.
    let id = harness.connect();
    let timestamp = harness.timestamp();
    harness.send_one(id, &negotiate(UUID + 1, timestamp));
    harness.gateway.handle_closed(id, &mut harness.listener);
    assert_eq!((harness.gateway.has_lost_sessions(), resting(&mut harness)), (false, 4));
    // An established session that is lost: the day order is canceled.
    let id = harness.connect();
    let timestamp = harness.timestamp();
    assert_eq!(harness.send_one(id, &establish(UUID + 1, timestamp, 1)).template(), 504);
    harness.gateway.handle_closed(id, &mut harness.listener);
    assert_eq!(resting(&mut harness), 3);
}

#[test]
fn lost_session_is_canceled_once() {
    let (mut harness, id, other) = harness();
    harness.gateway.handle_closed(id, &mut harness.listener);
    resting(&mut harness);
    let id = harness.connect();
    let timestamp = harness.timestamp();
    harness.send_one(id, &establish(UUID, timestamp, 3));
    let price = harness.far_price();
    harness.send_one(id, &order(3, price));
    harness.gateway.handle_closed(other, &mut harness.listener);
    // The lost session's order is canceled, the new session's is not.
    assert_eq!((resting(&mut harness), harness.counters().disconnect_cancels), (2, 2));
}

#[test]
fn orders_of_a_lost_session_do_not_trade() {
    let (mut harness, id, other) = harness();
    let price = harness.market.matching().best(0, Side::Bid).unwrap().price.0 + 250_000_000;
    harness.send_one(id, &order(3, price));
    harness.drain_feed();
    harness.gateway.handle_closed(id, &mut harness.listener);
    let sell = order_with(2, price, |order| {
        order.set_side(SideReq::SELL);
    });
    assert_eq!(harness.send_one(other, &sell).template(), 522);
    assert_eq!(harness.counters().fills, 0);
}
