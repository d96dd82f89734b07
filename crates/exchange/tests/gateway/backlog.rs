//! More answers than the buffer holds: they wait, in their order, and nothing is lost.

use hairpin_cme_codecs::ilink3::{
    EstablishmentAck504, ExecutionReportTradeOutright525, KeepAliveLapsed,
    OrderMassActionReport562, Sequence506, SideReq,
};
use hairpin_exchange::{Action, ConnectionId, SessionState, Side};
use hairpin_time::Duration;

use crate::bench::{Bench, UUID};
use crate::client::{Reply, mass_action_with, order, order_with, retransmit_request_of, sequence};
use crate::decode;

/// Numbers of business messages: SeqNum is the first of every one.
fn numbers(replies: &[Reply]) -> Vec<u32> {
    let business = replies.iter().filter(|reply| reply.template() > 513);
    business.map(|reply| u32::from_le_bytes(*reply.body.first_chunk().unwrap())).collect()
}

/// A client that has not read that a thousand and more of its contracts traded.
fn behind(kept_messages: u32) -> (Bench, ConnectionId, ConnectionId) {
    let mut bench = Bench::with(3, |settings| settings.kept_messages = kept_messages);
    let id = bench.connect();
    bench.log_on(id);
    let other = bench.connect();
    bench.log_on_by(other, ("OTHERKEY", "XYZ"));
    let price = bench.floor.matching().best(0, Side::Bid).unwrap().price.0 + 250_000_000;
    let many = order_with(1, price, |order| {
        order.set_order_qty(1_500);
    });
    bench.send_one(id, &many);
    for number in 1..=1_200 {
        let sell = order_with(number, price, |order| {
            order.set_side(SideReq::SELL);
        });
        bench.send(other, &sell);
        bench.drain_feed();
    }
    (bench, id, other)
}

fn read_all(bench: &mut Bench, id: ConnectionId) -> Vec<Reply> {
    let mut replies = bench.read(id);
    while bench.gateway.is_stalled(id) {
        replies.extend(bench.send(id, &[]));
    }
    replies
}

#[test]
fn a_mass_action_on_more_orders_than_the_buffer_holds_reports_of_cancels_and_tells_all() {
    let mut bench = Bench::with(2, |settings| settings.orders = 16_384);
    bench.resize(16_384);
    let id = bench.connect();
    bench.log_on(id);
    let price = bench.far();
    let count = 9_000;
    for number in 1..=count {
        bench.send_one(id, &order(number, price));
        bench.drain_feed();
    }
    bench.gateway.handle_bytes(
        bench.now,
        id,
        &mass_action_with(count + 1, |_| {}),
        &mut bench.floor,
        &mut bench.notes,
    );
    assert!(bench.gateway.is_stalled(id));
    let waiting = order(count + 2, price);
    let mut replies = bench.send(id, &waiting);
    replies.extend(read_all(&mut bench, id));
    let reports = count.div_ceil(25);
    assert_eq!(numbers(&replies), (count + 1..=count + reports + 1).collect::<Vec<u32>>());
    let last = decode!(OrderMassActionReport562, replies[reports as usize - 1]);
    assert_eq!((last.last_fragment().0, last.total_affected_orders()), (1, count));
    // What was sent meanwhile is answered behind it.
    assert_eq!(replies.last().unwrap().template(), 522);
    assert_eq!(bench.counters().overflows, 0);
}

#[test]
fn reports_that_wait_leave_in_their_order_when_the_client_reads() {
    let (mut bench, id, _) = behind(4_096);
    assert!(bench.gateway.is_stalled(id));
    assert_eq!(bench.gateway.state(id), SessionState::Established);
    let replies = read_all(&mut bench, id);
    assert_eq!(numbers(&replies), (2..=1_201).collect::<Vec<u32>>());
    let again = replies
        .iter()
        .map(|reply| decode!(ExecutionReportTradeOutright525, reply).poss_retrans_flag().0);
    assert_eq!(again.sum::<u8>(), 0);
    assert_eq!(bench.counters().overflows, 0);
}

#[test]
fn a_sequence_ahead_of_reports_that_wait_says_where_they_go_on() {
    let (mut bench, id, _) = behind(4_096);
    bench.pass(Duration::from_secs(10));
    bench.gateway.handle_timeout(bench.now, &mut bench.notes);
    let mut next = 2;
    let mut told = 0;
    let replies = read_all(&mut bench, id);
    for reply in &replies {
        if reply.template() == 506 {
            assert_eq!(decode!(Sequence506, reply).next_seq_no(), next);
            told += 1;
        } else {
            next += 1;
        }
    }
    assert!(told > 0 && next == 1_202, "{told} {next}");
    let replies = bench.send(id, &sequence(UUID, 2, KeepAliveLapsed::LAPSED));
    assert_eq!(decode!(Sequence506, replies[0]).next_seq_no(), 1_202);
}

#[test]
fn a_client_further_behind_than_is_kept_loses_its_connection() {
    let (mut bench, id, _) = behind(64);
    assert_eq!(bench.counters().overflows, 1);
    assert_eq!(bench.gateway.poll_transmit(id), None);
    assert_eq!(bench.gateway.poll_action(&mut bench.notes), Some(Action::Close(id)));
}

#[test]
fn what_waits_when_the_session_ends_is_kept() {
    let (mut bench, id, _) = behind(4_096);
    bench.gateway.terminate(bench.now, id, &mut bench.notes);
    let replies = bench.read(id);
    assert_eq!(replies.last().unwrap().template(), 507);
    let told = numbers(&replies);
    assert!(told.len() < 1_200 && !bench.gateway.is_stalled(id));
    bench.gateway.handle_closed(id, &mut bench.notes);
    let id = bench.connect();
    let timestamp = bench.timestamp();
    bench.send_one(id, &crate::client::establish(UUID, timestamp, 2));
    let timestamp = bench.timestamp();
    let from = told.last().unwrap() + 1;
    let mut again = bench.send(id, &retransmit_request_of(UUID, timestamp, None, from, 0));
    again.extend(read_all(&mut bench, id));
    assert_eq!(numbers(&again), (from..=1_201).collect::<Vec<u32>>());
}

#[test]
fn another_connection_has_to_ask_for_what_the_one_before_did_not_read() {
    let (mut bench, id, _) = behind(4_096);
    bench.gateway.handle_closed(id, &mut bench.notes);
    let id = bench.connect();
    assert!(!bench.gateway.is_stalled(id));
    let timestamp = bench.timestamp();
    let reply = bench.send_one(id, &crate::client::establish(UUID, timestamp, 2));
    assert_eq!(decode!(EstablishmentAck504, reply).next_seq_no(), 1_202);
    assert!(bench.send(id, &[]).is_empty());
}
