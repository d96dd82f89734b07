//! Weeks: numbers begin again, and what was published before the first logon has UUID 0.

use hairpin_cme_codecs::ilink3::{
    EstablishmentAck504, ExecutionReportElimination524, ExecutionReportNew522,
    ExecutionReportTradeOutright525, NegotiationResponse501, Retransmission509,
    RetransmitReject510, SideReq, TimeInForce,
};
use hairpin_exchange::{ConnectionId, Side};

use crate::bench::{Bench, UUID};
use crate::client::{
    establish, negotiate, order, order_with, retransmit_request_of as request, terminate,
};
use crate::decode;

/// Ends the week; the client answers the Terminate.
fn end_week(bench: &mut Bench, id: ConnectionId) {
    bench.gateway.begin_week(bench.now, &mut bench.notes);
    let replies = bench.read(id);
    assert_eq!(replies[0].template(), 507);
    bench.send(id, &terminate(UUID, 1, 0));
    assert!(bench.gateway.poll_action(&mut bench.notes).is_some());
}

/// Two orders of one session, good till cancelled, that rest at the best bid, number 1 and 2.
fn with_good_till_cancel() -> (Bench, ConnectionId, i64) {
    let (mut bench, id) = Bench::established();
    let price = bench.floor.matching().best(0, Side::Bid).unwrap().price.0 + 250_000_000;
    for number in [1, 2] {
        let good = order_with(number, price, |order| {
            order.set_time_in_force(TimeInForce::GOOD_TILL_CANCEL);
        });
        assert_eq!(bench.send_one(id, &good).template(), 522);
    }
    (bench, id, price)
}

/// Trades with one of these orders.
fn trade(bench: &mut Bench, other: ConnectionId, number: u32, price: i64) {
    let sell = order_with(number, price, |order| {
        order.set_side(SideReq::SELL);
    });
    let replies = bench.send(other, &sell);
    assert_eq!(replies.len(), 2);
    bench.drain_feed();
}

#[test]
fn a_week_begins_at_one_and_nothing_of_the_last_can_be_asked_for() {
    let (mut bench, id) = Bench::established();
    let price = bench.far();
    for number in 1..=3 {
        bench.send_one(id, &order(number, price));
    }
    end_week(&mut bench, id);
    // The UUID of before is not good any more, nor is Establish alone.
    let id = bench.connect();
    let timestamp = bench.timestamp();
    let replies = bench.send(id, &establish(UUID, timestamp, 4));
    bench.expect_terminate(id, &replies, 2);
    let id = bench.connect();
    let timestamp = bench.timestamp();
    let replies = bench.send(id, &negotiate(UUID, timestamp));
    bench.expect_terminate(id, &replies, 13);
    // A new one is, and numbers that go on are not.
    let id = bench.connect();
    let timestamp = bench.timestamp();
    let reply = bench.send_one(id, &negotiate(UUID + 1, timestamp));
    let response = decode!(NegotiationResponse501, reply);
    assert_eq!((response.previous_seq_no(), response.previous_uuid()), (0, 0));
    let timestamp = bench.timestamp();
    let replies = bench.send(id, &establish(UUID + 1, timestamp, 4));
    bench.expect_terminate(id, &replies, 10);
    let id = bench.connect();
    let timestamp = bench.timestamp();
    let reply = bench.send_one(id, &establish(UUID + 1, timestamp, 1));
    let ack = decode!(EstablishmentAck504, reply);
    assert_eq!((ack.next_seq_no(), ack.previous_seq_no(), ack.previous_uuid()), (1, 0, 0));
    let timestamp = bench.timestamp();
    let reply = bench.send_one(id, &request(UUID + 1, timestamp, Some(UUID), 1, 1));
    assert_eq!(decode!(RetransmitReject510, reply).error_codes(), 1);
    let reply = bench.send_one(id, &order(1, price));
    assert_eq!(decode!(ExecutionReportNew522, reply).seq_num(), 1);
}

#[test]
fn what_happens_before_the_first_logon_has_uuid_0_and_is_sent_when_asked_for() {
    let (mut bench, id, price) = with_good_till_cancel();
    end_week(&mut bench, id);
    let other = bench.connect();
    bench.log_on_by(other, ("OTHERKEY", "XYZ"));
    trade(&mut bench, other, 1, price);
    trade(&mut bench, other, 2, price);

    let id = bench.connect();
    let timestamp = bench.timestamp();
    let reply = bench.send_one(id, &negotiate(UUID + 1, timestamp));
    let response = decode!(NegotiationResponse501, reply);
    assert_eq!((response.previous_seq_no(), response.previous_uuid()), (2, 0));
    let timestamp = bench.timestamp();
    let reply = bench.send_one(id, &establish(UUID + 1, timestamp, 1));
    let ack = decode!(EstablishmentAck504, reply);
    assert_eq!((ack.next_seq_no(), ack.previous_seq_no(), ack.previous_uuid()), (1, 2, 0));
    let timestamp = bench.timestamp();
    let replies = bench.send(id, &request(UUID + 1, timestamp, Some(0), 1, 2));
    let announced = decode!(Retransmission509, replies[0]);
    assert_eq!((announced.last_uuid(), announced.msg_count()), (Some(0), 2));
    let numbers: Vec<(u64, u32, u8)> = replies[1..]
        .iter()
        .map(|reply| {
            let trade = decode!(ExecutionReportTradeOutright525, reply);
            (trade.uuid(), trade.seq_num(), trade.poss_retrans_flag().0)
        })
        .collect();
    assert_eq!(numbers, [(0, 1, 1), (0, 2, 1)]);
}

#[test]
fn what_a_session_left_behind_is_asked_for_across_several_uuids() {
    let (mut bench, mut id) = Bench::established();
    let price = bench.far();
    for uuid in UUID..UUID + 4 {
        if uuid > UUID {
            bench.gateway.handle_closed(id, &mut bench.notes);
            id = bench.connect();
            let timestamp = bench.timestamp();
            bench.send(id, &negotiate(uuid, timestamp));
            let timestamp = bench.timestamp();
            bench.send(id, &establish(uuid, timestamp, 1));
        }
        bench.send_one(id, &order(1, price));
    }
    bench.drain_feed();
    bench.floor.end_session(bench.now);
    bench.report();
    assert_eq!(bench.read(id).len(), 4);
    for uuid in UUID..UUID + 4 {
        let timestamp = bench.timestamp();
        let last = (uuid < UUID + 3).then_some(uuid);
        let replies = bench.send(id, &request(UUID + 3, timestamp, last, 1, 1));
        let report = decode!(ExecutionReportNew522, replies[1]);
        assert_eq!((report.uuid(), report.seq_num(), replies.len()), (uuid, 1, 2));
    }
    let timestamp = bench.timestamp();
    let replies = bench.send(id, &request(UUID + 3, timestamp, None, 2, 0));
    assert_eq!(replies.len(), 5);
    assert_eq!(decode!(ExecutionReportElimination524, replies[4]).seq_num(), 5);
}
