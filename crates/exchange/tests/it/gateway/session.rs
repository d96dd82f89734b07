//! Whole sessions: from logon to Terminate, in chunks, resumed, repeated.

use hairpin_cme_codecs::ilink3::{
    EstablishmentAck504, EstablishmentReject505, ExecutionReportCancel534, ExecutionReportNew522,
    KeepAliveLapsed, NegotiationResponse501, SideReq, Terminate507,
};
use hairpin_exchange::{Action, Designation, GatewayCounters, SessionState};
use hairpin_sbe::Decimal;
use hairpin_time::Duration;

use super::harness::{Harness, UUID};
use crate::client::{cancel, establish, negotiate, negotiate_by, order, sequence, terminate};
use crate::decode;

#[test]
fn runs_a_session_from_negotiate_to_terminate() {
    let mut harness = Harness::new();
    let id = harness.connect();
    let timestamp = harness.timestamp();
    let reply = harness.send_one(id, &negotiate(UUID, timestamp));
    let response = decode!(NegotiationResponse501, reply);
    assert_eq!((response.uuid(), response.request_timestamp()), (UUID, timestamp));
    assert_eq!((response.previous_seq_no(), response.previous_uuid()), (0, 0));

    let timestamp = harness.timestamp();
    let reply = harness.send_one(id, &establish(UUID, timestamp, 1));
    let ack = decode!(EstablishmentAck504, reply);
    assert_eq!((ack.uuid(), ack.request_timestamp()), (UUID, timestamp));
    assert_eq!((ack.next_seq_no(), ack.keep_alive_interval()), (1, 10_000));

    let price = harness.far_price();
    let reply = harness.send_one(id, &order(1, price));
    let report = decode!(ExecutionReportNew522, reply);
    assert_eq!((report.seq_num(), report.uuid()), (1, UUID));
    assert_eq!(report.cl_ord_id(), "1");
    assert_eq!(report.sender_id(), "TRADER");
    assert_eq!((report.price(), report.order_qty()), (Decimal(price), 1));
    assert_eq!((report.security_id(), report.side()), (1_001, SideReq::BUY));
    assert_eq!((report.order_request_id(), report.party_details_list_req_id()), (7_001, 1));
    assert_eq!(report.transact_time(), harness.now.utc.as_nanos());
    let order_id = report.order_id();

    let reply = harness.send_one(id, &cancel(2, order_id));
    let report = decode!(ExecutionReportCancel534, reply);
    assert_eq!((report.seq_num(), report.uuid()), (2, UUID));
    assert_eq!(report.order_id(), order_id);
    assert_eq!(report.cl_ord_id(), "2");
    assert_eq!((report.order_qty(), report.cum_qty()), (1, 0));
    assert_eq!((report.price(), report.side()), (Decimal(price), SideReq::BUY));

    let reply = harness.send_one(id, &terminate(UUID, 77, 0));
    let answer = decode!(Terminate507, reply);
    assert_eq!((answer.request_timestamp(), answer.uuid()), (77, UUID));
    harness.expect_terminate(id, &[reply], 0);
    assert_eq!(
        harness.listener.0,
        [
            "0:Connected",
            "0:Negotiated",
            "0:Established",
            "order 1",
            "acknowledged 1",
            "cancel 2",
            "canceled 2",
            "0:Terminating",
            "0:Closed",
        ]
    );
    let expected = GatewayCounters {
        connections: 1,
        frames: 5,
        negotiated: 1,
        established: 1,
        orders: 1,
        acknowledgements: 1,
        cancels: 1,
        cancelled: 1,
        ..GatewayCounters::default()
    };
    assert_eq!(harness.counters(), expected);
}

#[test]
fn handles_frames_split_at_any_byte() {
    let mut whole = Harness::new();
    let price = whole.far_price();
    let stamps = [whole.timestamp(), whole.timestamp()];
    let bytes = [
        negotiate(UUID, stamps[0]),
        establish(UUID, stamps[1], 1),
        order(1, price),
        cancel(2, 1),
        sequence(UUID, 3, KeepAliveLapsed::LAPSED),
    ]
    .concat();
    let id = whole.connect();
    let expected = whole.send(id, &bytes);
    assert_eq!(expected.len(), 5);
    for cut in 0..bytes.len() {
        let mut harness = Harness::new();
        harness.pass(Duration::from_micros(2));
        let id = harness.connect();
        let mut received = harness.send(id, &bytes[..cut]);
        received.extend(harness.send(id, &bytes[cut..]));
        assert_eq!(received, expected, "cut at {cut}");
    }
}

#[test]
fn ignores_messages_after_a_terminate() {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    let bytes = [terminate(UUID, 1, 0), order(1, price)].concat();
    let replies = harness.send(id, &bytes);
    harness.expect_terminate(id, &replies, 0);
    assert_eq!(harness.counters().orders, 0);
}

#[test]
fn terminates_a_session_from_the_gateway() {
    let (mut harness, id) = Harness::established();
    harness.gateway.terminate(harness.now, id, &mut harness.listener);
    let replies = harness.read(id);
    assert_eq!(decode!(Terminate507, replies[0]).error_codes(), 0);
    assert_eq!(harness.gateway.poll_action(&mut harness.listener), None);
    // A message sent before the Terminate is not answered.
    let price = harness.far_price();
    assert_eq!(harness.send(id, &order(1, price)), []);
    assert_eq!(harness.send(id, &terminate(UUID, 1, 0)), []);
    assert_eq!(harness.gateway.poll_action(&mut harness.listener), Some(Action::Close(id)));

    let (mut harness, id) = Harness::established();
    harness.gateway.terminate(harness.now, id, &mut harness.listener);
    harness.read(id);
    harness.pass(Duration::from_secs(10));
    assert_eq!(harness.timeout(id), []);
    assert_eq!(harness.gateway.poll_action(&mut harness.listener), Some(Action::Close(id)));
}

#[test]
fn resumes_by_uuid_and_restarts_with_a_new_uuid() {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    let reply = harness.send_one(id, &order(1, price));
    let order_id = decode!(ExecutionReportNew522, reply).order_id();
    harness.gateway.handle_closed(id, &mut harness.listener);

    // The same UUID: Establish is enough, and the sequence numbers continue.
    let id = harness.connect();
    let timestamp = harness.timestamp();
    let reply = harness.send_one(id, &establish(UUID, timestamp, 2));
    let ack = decode!(EstablishmentAck504, reply);
    assert_eq!((ack.next_seq_no(), ack.previous_seq_no(), ack.previous_uuid()), (2, 1, UUID));
    let reply = harness.send_one(id, &cancel(2, order_id));
    assert_eq!(decode!(ExecutionReportCancel534, reply).seq_num(), 2);
    harness.send(id, &terminate(UUID, 1, 0));
    harness.gateway.poll_action(&mut harness.listener);

    // A sequence number that was used before.
    let id = harness.connect();
    let timestamp = harness.timestamp();
    let replies = harness.send(id, &establish(UUID, timestamp, 2));
    harness.expect_terminate(id, &replies, 10);

    // A UUID that is not greater, then one that is.
    let id = harness.connect();
    let timestamp = harness.timestamp();
    let replies = harness.send(id, &negotiate(UUID, timestamp));
    harness.expect_terminate(id, &replies, 13);
    let id = harness.connect();
    let timestamp = harness.timestamp();
    let reply = harness.send_one(id, &negotiate(UUID + 1, timestamp));
    let response = decode!(NegotiationResponse501, reply);
    assert_eq!((response.previous_seq_no(), response.previous_uuid()), (2, UUID));
    let timestamp = harness.timestamp();
    let reply = harness.send_one(id, &establish(UUID + 1, timestamp, 1));
    let ack = decode!(EstablishmentAck504, reply);
    assert_eq!((ack.next_seq_no(), ack.previous_seq_no(), ack.previous_uuid()), (1, 2, UUID));
    let reply = harness.send_one(id, &order(1, price));
    let report = decode!(ExecutionReportNew522, reply);
    assert_eq!((report.seq_num(), report.uuid()), (1, UUID + 1));
}

#[test]
fn second_logon_displaces_the_old_connection() {
    let (mut harness, old) = Harness::established();
    let new = harness.connect();
    assert!(harness.gateway.handle_connected(harness.now, &mut harness.listener).is_none());
    assert_eq!(harness.counters().refused_connections, 1);
    let timestamp = harness.timestamp();
    assert_eq!(harness.send_one(new, &establish(UUID, timestamp, 1)).template(), 504);
    let replies = harness.read(old);
    harness.expect_terminate(old, &replies, 23);
    let price = harness.far_price();
    assert_eq!(harness.send_one(new, &order(1, price)).template(), 522);
}

#[test]
fn sessions_have_separate_numbers_and_orders() {
    let (mut harness, one) = Harness::established();
    let two = harness.connect();
    // The other account has the same key here, and another session name.
    let timestamp = harness.timestamp();
    let reply = harness.send_one(two, &negotiate_by(UUID + 9, timestamp, "OTHERKEY", "XYZ"));
    assert_eq!(reply.template(), 501);
    assert_eq!(harness.gateway.state(one), SessionState::Established);
    assert_eq!(harness.gateway.state(two), SessionState::Negotiated);
}

#[test]
fn stalls_a_client_that_does_not_read() {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    let mut sent = 0_u32;
    let mut turns = 0;
    let mut pairs = Vec::new();
    while harness.gateway.can_receive(id) {
        pairs.clear();
        for _ in 0..50 {
            sent += 1;
            pairs.extend(order(sent, price));
        }
        let (now, market) = (harness.now, &mut harness.market);
        harness.gateway.handle_bytes(now, id, &pairs, market, &mut harness.listener);
        turns += 1;
        assert!(turns < 1_000, "the gateway never stalls");
    }
    let mut received = 0;
    while received < sent {
        let replies = harness.send(id, &[]);
        assert!(!replies.is_empty());
        for reply in replies {
            received += 1;
            assert_eq!(decode!(ExecutionReportNew522, reply).seq_num(), received);
        }
    }
    assert!(harness.gateway.can_receive(id));
    assert_eq!(harness.counters().acknowledgements, u64::from(sent));
}

#[test]
fn displaced_connection_leaves_no_established_state() {
    let (mut harness, old) = Harness::established();
    let new = harness.connect();
    let timestamp = harness.timestamp();
    harness.send_one(new, &negotiate(UUID + 1, timestamp));
    harness.read(old);
    while harness.gateway.poll_action(&mut harness.listener).is_some() {}
    // The session is negotiated, not established: the backup may not connect yet.
    let backup = harness.connect_at(Designation::Backup).unwrap();
    let timestamp = harness.timestamp();
    let reply = harness.send_one(backup, &establish(UUID + 1, timestamp, 0));
    assert_eq!(decode!(EstablishmentReject505, reply).error_codes(), 27);
}

/// The oldest connection without a Negotiate gives way to a new one; a session never does.
#[test]
fn oldest_connection_without_a_logon_gives_way() {
    let mut harness = Harness::with_connections(3);
    let session = harness.connect();
    harness.log_on(session);
    let [first, second] = [(); 2].map(|()| {
        harness.pass(Duration::from_secs(1));
        harness.connect()
    });
    assert!(!harness.gateway.has_room(Designation::Primary));
    assert_eq!(harness.gateway.close_idle(&mut harness.listener), Some(first));
    assert_eq!(harness.gateway.state(first), SessionState::Closed);
    harness.pass(Duration::from_secs(1));
    assert_eq!(harness.connect(), first);
    // The slot's new connection is younger.
    assert_eq!(harness.gateway.close_idle(&mut harness.listener), Some(second));
    assert_eq!(harness.gateway.close_idle(&mut harness.listener), Some(first));
    let negotiated = harness.connect();
    let timestamp = harness.timestamp();
    harness.send(negotiated, &negotiate_by(UUID, timestamp, "OTHERKEY", "XYZ"));
    assert_eq!(harness.gateway.state(negotiated), SessionState::Negotiated);
    assert_eq!(harness.gateway.close_idle(&mut harness.listener), None);
    assert_eq!(harness.gateway.state(session), SessionState::Established);
}
