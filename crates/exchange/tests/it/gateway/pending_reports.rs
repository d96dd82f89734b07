//! Reports beyond the send buffer: they stay pending in order, and none is lost.

use hairpin_cme_codecs::ilink3::{
    EstablishmentAck504, ExecutionReportTradeOutright525, KeepAliveLapsed,
    OrderMassActionReport562, Sequence506, SideReq,
};
use hairpin_exchange::{Action, ConnectionId, SessionState, Side};
use hairpin_time::Duration;

use super::harness::{Harness, UUID};
use crate::client::{Reply, mass_action_with, order, order_with, retransmit_request_of, sequence};
use crate::decode;

/// Returns the sequence numbers of business messages: SeqNum is the first field of each.
fn seq_nums(replies: &[Reply]) -> Vec<u32> {
    let business = replies.iter().filter(|reply| reply.template() > 513);
    business.map(|reply| u32::from_le_bytes(*reply.body.first_chunk().unwrap())).collect()
}

/// Creates a client that has not read the reports of more than a thousand trades.
fn with_pending_reports(kept_messages: u32) -> (Harness, ConnectionId, ConnectionId) {
    let mut harness = Harness::with(3, |settings| settings.kept_messages = kept_messages);
    let id = harness.connect();
    harness.log_on(id);
    let other = harness.connect();
    harness.log_on_by(other, ("OTHERKEY", "XYZ"));
    let price = harness.market.matching().best(0, Side::Bid).unwrap().price.0 + 250_000_000;
    let many = order_with(1, price, |order| {
        order.set_order_qty(1_500);
    });
    harness.send_one(id, &many);
    for number in 1..=1_200 {
        let sell = order_with(number, price, |order| {
            order.set_side(SideReq::SELL);
        });
        harness.send(other, &sell);
        harness.drain_feed();
    }
    (harness, id, other)
}

fn read_all(harness: &mut Harness, id: ConnectionId) -> Vec<Reply> {
    let mut replies = harness.read(id);
    while harness.gateway.is_stalled(id) {
        replies.extend(harness.send(id, &[]));
    }
    replies
}

#[test]
fn mass_action_beyond_the_send_buffer_reports_all_orders() {
    let mut harness = Harness::with(2, |settings| settings.orders = 16_384);
    harness.resize(16_384);
    let id = harness.connect();
    harness.log_on(id);
    let price = harness.far_price();
    let count = 9_000;
    for number in 1..=count {
        harness.send_one(id, &order(number, price));
        harness.drain_feed();
    }
    harness.gateway.handle_bytes(
        harness.now,
        id,
        &mass_action_with(count + 1, |_| {}),
        &mut harness.market,
        &mut harness.listener,
    );
    assert!(harness.gateway.is_stalled(id));
    let waiting = order(count + 2, price);
    let mut replies = harness.send(id, &waiting);
    replies.extend(read_all(&mut harness, id));
    let reports = count.div_ceil(25);
    assert_eq!(seq_nums(&replies), (count + 1..=count + reports + 1).collect::<Vec<u32>>());
    let last = decode!(OrderMassActionReport562, replies[reports as usize - 1]);
    assert_eq!((last.last_fragment().0, last.total_affected_orders()), (1, count));
    // A message sent meanwhile is answered after the reports.
    assert_eq!(replies.last().unwrap().template(), 522);
    assert_eq!(harness.counters().overflows, 0);
}

#[test]
fn pending_reports_are_sent_in_order() {
    let (mut harness, id, _) = with_pending_reports(4_096);
    assert!(harness.gateway.is_stalled(id));
    assert_eq!(harness.gateway.state(id), SessionState::Established);
    let replies = read_all(&mut harness, id);
    assert_eq!(seq_nums(&replies), (2..=1_201).collect::<Vec<u32>>());
    let again = replies
        .iter()
        .map(|reply| decode!(ExecutionReportTradeOutright525, reply).poss_retrans_flag().0);
    assert_eq!(again.sum::<u8>(), 0);
    assert_eq!(harness.counters().overflows, 0);
}

#[test]
fn sequence_before_pending_reports_has_their_first_number() {
    let (mut harness, id, _) = with_pending_reports(4_096);
    harness.pass(Duration::from_secs(10));
    harness.gateway.handle_timeout(harness.now, &mut harness.listener);
    let mut next = 2;
    let mut reported = 0;
    let replies = read_all(&mut harness, id);
    for reply in &replies {
        if reply.template() == 506 {
            assert_eq!(decode!(Sequence506, reply).next_seq_no(), next);
            reported += 1;
        } else {
            next += 1;
        }
    }
    assert!(reported > 0 && next == 1_202, "{reported} {next}");
    let replies = harness.send(id, &sequence(UUID, 2, KeepAliveLapsed::LAPSED));
    assert_eq!(decode!(Sequence506, replies[0]).next_seq_no(), 1_202);
}

#[test]
fn client_beyond_the_retransmit_buffer_is_disconnected() {
    let (mut harness, id, _) = with_pending_reports(64);
    assert_eq!(harness.counters().overflows, 1);
    assert_eq!(harness.gateway.poll_transmit(id), None);
    assert_eq!(harness.gateway.poll_action(&mut harness.listener), Some(Action::Close(id)));
}

#[test]
fn pending_reports_survive_the_end_of_the_session() {
    let (mut harness, id, _) = with_pending_reports(4_096);
    harness.gateway.terminate(harness.now, id, &mut harness.listener);
    let replies = harness.read(id);
    assert_eq!(replies.last().unwrap().template(), 507);
    let reported = seq_nums(&replies);
    assert!(reported.len() < 1_200 && !harness.gateway.is_stalled(id));
    harness.gateway.handle_closed(id, &mut harness.listener);
    let id = harness.connect();
    let timestamp = harness.timestamp();
    harness.send_one(id, &crate::client::establish(UUID, timestamp, 2));
    let timestamp = harness.timestamp();
    let from = reported.last().unwrap() + 1;
    let mut again = harness.send(id, &retransmit_request_of(UUID, timestamp, None, from, 0));
    again.extend(read_all(&mut harness, id));
    assert_eq!(seq_nums(&again), (from..=1_201).collect::<Vec<u32>>());
}

#[test]
fn next_connection_must_request_unread_reports() {
    let (mut harness, id, _) = with_pending_reports(4_096);
    harness.gateway.handle_closed(id, &mut harness.listener);
    let id = harness.connect();
    assert!(!harness.gateway.is_stalled(id));
    let timestamp = harness.timestamp();
    let reply = harness.send_one(id, &crate::client::establish(UUID, timestamp, 2));
    assert_eq!(decode!(EstablishmentAck504, reply).next_seq_no(), 1_202);
    assert!(harness.send(id, &[]).is_empty());
}
