//! Trading weeks: numbers restart, and messages before the first logon have UUID 0.

use hairpin_cme_codecs::ilink3::{
    EstablishmentAck504, ExecutionReportElimination524, ExecutionReportNew522,
    ExecutionReportTradeOutright525, NegotiationResponse501, Retransmission509,
    RetransmitReject510, SideReq, TimeInForce,
};
use hairpin_exchange::{ConnectionId, Side};

use super::harness::{Harness, UUID};
use crate::client::{
    establish, negotiate, order, order_with, retransmit_request_of as request, terminate,
};
use crate::decode;

/// Ends the week; the client answers the Terminate.
fn end_week(harness: &mut Harness, id: ConnectionId) {
    harness.gateway.begin_week(harness.now, &mut harness.listener);
    let replies = harness.read(id);
    assert_eq!(replies[0].template(), 507);
    harness.send(id, &terminate(UUID, 1, 0));
    assert!(harness.gateway.poll_action(&mut harness.listener).is_some());
}

/// Creates two GTC orders of one session at the best bid, numbers 1 and 2.
fn with_good_till_cancel() -> (Harness, ConnectionId, i64) {
    let (mut harness, id) = Harness::established();
    let price = harness.market.matching().best(0, Side::Bid).unwrap().price.0 + 250_000_000;
    for number in [1, 2] {
        let good = order_with(number, price, |order| {
            order.set_time_in_force(TimeInForce::GOOD_TILL_CANCEL);
        });
        assert_eq!(harness.send_one(id, &good).template(), 522);
    }
    (harness, id, price)
}

/// Trades with one of these orders.
fn trade(harness: &mut Harness, other: ConnectionId, number: u32, price: i64) {
    let sell = order_with(number, price, |order| {
        order.set_side(SideReq::SELL);
    });
    let replies = harness.send(other, &sell);
    assert_eq!(replies.len(), 2);
    harness.drain_feed();
}

#[test]
fn new_week_restarts_numbers_and_drops_old_messages() {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    for number in 1..=3 {
        harness.send_one(id, &order(number, price));
    }
    end_week(&mut harness, id);
    // The old UUID is invalid, and so is Establish alone.
    let id = harness.connect();
    let timestamp = harness.timestamp();
    let replies = harness.send(id, &establish(UUID, timestamp, 4));
    harness.expect_terminate(id, &replies, 2);
    let id = harness.connect();
    let timestamp = harness.timestamp();
    let replies = harness.send(id, &negotiate(UUID, timestamp));
    harness.expect_terminate(id, &replies, 13);
    // A new UUID is valid, but not with the old numbers.
    let id = harness.connect();
    let timestamp = harness.timestamp();
    let reply = harness.send_one(id, &negotiate(UUID + 1, timestamp));
    let response = decode!(NegotiationResponse501, reply);
    assert_eq!((response.previous_seq_no(), response.previous_uuid()), (0, 0));
    let timestamp = harness.timestamp();
    let replies = harness.send(id, &establish(UUID + 1, timestamp, 4));
    harness.expect_terminate(id, &replies, 10);
    let id = harness.connect();
    let timestamp = harness.timestamp();
    let reply = harness.send_one(id, &establish(UUID + 1, timestamp, 1));
    let ack = decode!(EstablishmentAck504, reply);
    assert_eq!((ack.next_seq_no(), ack.previous_seq_no(), ack.previous_uuid()), (1, 0, 0));
    let timestamp = harness.timestamp();
    let reply = harness.send_one(id, &request(UUID + 1, timestamp, Some(UUID), 1, 1));
    assert_eq!(decode!(RetransmitReject510, reply).error_codes(), 1);
    let reply = harness.send_one(id, &order(1, price));
    assert_eq!(decode!(ExecutionReportNew522, reply).seq_num(), 1);
}

#[test]
fn messages_before_the_first_logon_have_uuid_0() {
    let (mut harness, id, price) = with_good_till_cancel();
    end_week(&mut harness, id);
    let other = harness.connect();
    harness.log_on_by(other, ("OTHERKEY", "XYZ"));
    trade(&mut harness, other, 1, price);
    trade(&mut harness, other, 2, price);

    let id = harness.connect();
    let timestamp = harness.timestamp();
    let reply = harness.send_one(id, &negotiate(UUID + 1, timestamp));
    let response = decode!(NegotiationResponse501, reply);
    assert_eq!((response.previous_seq_no(), response.previous_uuid()), (4, 0));
    let timestamp = harness.timestamp();
    let reply = harness.send_one(id, &establish(UUID + 1, timestamp, 1));
    let ack = decode!(EstablishmentAck504, reply);
    assert_eq!((ack.next_seq_no(), ack.previous_seq_no(), ack.previous_uuid()), (1, 4, 0));
    let timestamp = harness.timestamp();
    let replies = harness.send(id, &request(UUID + 1, timestamp, Some(0), 1, 4));
    let announced = decode!(Retransmission509, replies[0]);
    assert_eq!((announced.last_uuid(), announced.msg_count()), (Some(0), 4));
    // Party details precede the report of each order of the previous week.
    let is_trade = |reply: &&crate::client::Reply| reply.template() == 525;
    let numbers: Vec<(u64, u32, u8)> = replies[1..]
        .iter()
        .filter(is_trade)
        .map(|reply| {
            let trade = decode!(ExecutionReportTradeOutright525, reply);
            (trade.uuid(), trade.seq_num(), trade.poss_retrans_flag().0)
        })
        .collect();
    assert_eq!(numbers, [(0, 2, 1), (0, 4, 1)]);
}

#[test]
fn retransmits_across_several_uuids() {
    let (mut harness, mut id) = Harness::established();
    let price = harness.far_price();
    for uuid in UUID..UUID + 4 {
        if uuid > UUID {
            harness.gateway.handle_closed(id, &mut harness.listener);
            id = harness.connect();
            let timestamp = harness.timestamp();
            harness.send(id, &negotiate(uuid, timestamp));
            let timestamp = harness.timestamp();
            harness.send(id, &establish(uuid, timestamp, 1));
        }
        harness.send_one(id, &order(1, price));
    }
    harness.drain_feed();
    harness.market.end_session(harness.now);
    harness.report();
    assert_eq!(harness.read(id).len(), 4);
    for uuid in UUID..UUID + 4 {
        let timestamp = harness.timestamp();
        let last = (uuid < UUID + 3).then_some(uuid);
        let replies = harness.send(id, &request(UUID + 3, timestamp, last, 1, 1));
        let report = decode!(ExecutionReportNew522, replies[1]);
        assert_eq!((report.uuid(), report.seq_num(), replies.len()), (uuid, 1, 2));
    }
    let timestamp = harness.timestamp();
    let replies = harness.send(id, &request(UUID + 3, timestamp, None, 2, 0));
    assert_eq!(replies.len(), 5);
    assert_eq!(decode!(ExecutionReportElimination524, replies[4]).seq_num(), 5);
}
