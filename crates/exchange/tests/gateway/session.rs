//! Whole sessions: from logon to Terminate, in pieces, again, twice.

use hairpin_cme_codecs::ilink3::{
    EstablishmentAck504, EstablishmentReject505, ExecutionReportCancel534, ExecutionReportNew522,
    KeepAliveLapsed, NegotiationResponse501, SideReq, Terminate507,
};
use hairpin_exchange::{Action, Designation, GatewayCounters, SessionState};
use hairpin_sbe::Decimal;
use hairpin_time::Duration;

use crate::bench::{Bench, UUID};
use crate::client::{cancel, establish, negotiate, negotiate_by, order, sequence, terminate};
use crate::decode;

#[test]
fn a_session_from_negotiate_to_terminate() {
    let mut bench = Bench::new();
    let id = bench.connect();
    let timestamp = bench.timestamp();
    let reply = bench.send_one(id, &negotiate(UUID, timestamp));
    let response = decode!(NegotiationResponse501, reply);
    assert_eq!((response.uuid(), response.request_timestamp()), (UUID, timestamp));
    assert_eq!((response.previous_seq_no(), response.previous_uuid()), (0, 0));

    let timestamp = bench.timestamp();
    let reply = bench.send_one(id, &establish(UUID, timestamp, 1));
    let ack = decode!(EstablishmentAck504, reply);
    assert_eq!((ack.uuid(), ack.request_timestamp()), (UUID, timestamp));
    assert_eq!((ack.next_seq_no(), ack.keep_alive_interval()), (1, 10_000));

    let price = bench.far();
    let reply = bench.send_one(id, &order(1, price));
    let report = decode!(ExecutionReportNew522, reply);
    assert_eq!((report.seq_num(), report.uuid()), (1, UUID));
    assert_eq!(report.cl_ord_id(), "1");
    assert_eq!(report.sender_id(), "TRADER");
    assert_eq!((report.price(), report.order_qty()), (Decimal(price), 1));
    assert_eq!((report.security_id(), report.side()), (1_001, SideReq::BUY));
    assert_eq!((report.order_request_id(), report.party_details_list_req_id()), (7_001, 1));
    assert_eq!(report.transact_time(), bench.now.utc.as_nanos());
    let order_id = report.order_id();

    let reply = bench.send_one(id, &cancel(2, order_id));
    let report = decode!(ExecutionReportCancel534, reply);
    assert_eq!((report.seq_num(), report.uuid()), (2, UUID));
    assert_eq!(report.order_id(), order_id);
    assert_eq!(report.cl_ord_id(), "2");
    assert_eq!((report.order_qty(), report.cum_qty()), (1, 0));
    assert_eq!((report.price(), report.side()), (Decimal(price), SideReq::BUY));

    let reply = bench.send_one(id, &terminate(UUID, 77, 0));
    let answer = decode!(Terminate507, reply);
    assert_eq!((answer.request_timestamp(), answer.uuid()), (77, UUID));
    bench.expect_terminate(id, &[reply], 0);
    assert_eq!(
        bench.notes.0,
        [
            "0:Connected",
            "0:Negotiated",
            "0:Established",
            "order 1",
            "acknowledged 1",
            "cancel 2",
            "cancelled 2",
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
    assert_eq!(bench.counters(), expected);
}

#[test]
fn frames_split_and_joined_anywhere_are_the_same() {
    let mut whole = Bench::new();
    let price = whole.far();
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
        let mut bench = Bench::new();
        bench.pass(Duration::from_micros(2));
        let id = bench.connect();
        let mut received = bench.send(id, &bytes[..cut]);
        received.extend(bench.send(id, &bytes[cut..]));
        assert_eq!(received, expected, "cut at {cut}");
    }
}

#[test]
fn nothing_is_handled_behind_a_terminate() {
    let (mut bench, id) = Bench::established();
    let price = bench.far();
    let bytes = [terminate(UUID, 1, 0), order(1, price)].concat();
    let replies = bench.send(id, &bytes);
    bench.expect_terminate(id, &replies, 0);
    assert_eq!(bench.counters().orders, 0);
}

#[test]
fn ends_a_session_from_this_side() {
    let (mut bench, id) = Bench::established();
    bench.gateway.terminate(bench.now, id, &mut bench.notes);
    let replies = bench.read(id);
    assert_eq!(decode!(Terminate507, replies[0]).error_codes(), 0);
    assert_eq!(bench.gateway.poll_action(&mut bench.notes), None);
    // What was under way is not answered any more.
    let price = bench.far();
    assert_eq!(bench.send(id, &order(1, price)), []);
    assert_eq!(bench.send(id, &terminate(UUID, 1, 0)), []);
    assert_eq!(bench.gateway.poll_action(&mut bench.notes), Some(Action::Close(id)));

    let (mut bench, id) = Bench::established();
    bench.gateway.terminate(bench.now, id, &mut bench.notes);
    bench.read(id);
    bench.pass(Duration::from_secs(10));
    assert_eq!(bench.timeout(id), []);
    assert_eq!(bench.gateway.poll_action(&mut bench.notes), Some(Action::Close(id)));
}

#[test]
fn continues_after_a_lost_connection_and_restarts_under_a_new_uuid() {
    let (mut bench, id) = Bench::established();
    let price = bench.far();
    let reply = bench.send_one(id, &order(1, price));
    let order_id = decode!(ExecutionReportNew522, reply).order_id();
    bench.gateway.handle_closed(id, &mut bench.notes);

    // The same UUID: Establish alone, and the numbers go on.
    let id = bench.connect();
    let timestamp = bench.timestamp();
    let reply = bench.send_one(id, &establish(UUID, timestamp, 2));
    let ack = decode!(EstablishmentAck504, reply);
    assert_eq!((ack.next_seq_no(), ack.previous_seq_no(), ack.previous_uuid()), (2, 1, UUID));
    let reply = bench.send_one(id, &cancel(2, order_id));
    assert_eq!(decode!(ExecutionReportCancel534, reply).seq_num(), 2);
    bench.send(id, &terminate(UUID, 1, 0));
    bench.gateway.poll_action(&mut bench.notes);

    // A number that was used before.
    let id = bench.connect();
    let timestamp = bench.timestamp();
    let replies = bench.send(id, &establish(UUID, timestamp, 2));
    bench.expect_terminate(id, &replies, 10);

    // A UUID that is not greater, then one that is.
    let id = bench.connect();
    let timestamp = bench.timestamp();
    let replies = bench.send(id, &negotiate(UUID, timestamp));
    bench.expect_terminate(id, &replies, 13);
    let id = bench.connect();
    let timestamp = bench.timestamp();
    let reply = bench.send_one(id, &negotiate(UUID + 1, timestamp));
    let response = decode!(NegotiationResponse501, reply);
    assert_eq!((response.previous_seq_no(), response.previous_uuid()), (2, UUID));
    let timestamp = bench.timestamp();
    let reply = bench.send_one(id, &establish(UUID + 1, timestamp, 1));
    let ack = decode!(EstablishmentAck504, reply);
    assert_eq!((ack.next_seq_no(), ack.previous_seq_no(), ack.previous_uuid()), (1, 2, UUID));
    let reply = bench.send_one(id, &order(1, price));
    let report = decode!(ExecutionReportNew522, reply);
    assert_eq!((report.seq_num(), report.uuid()), (1, UUID + 1));
}

#[test]
fn a_session_that_logs_on_again_displaces_its_old_connection() {
    let (mut bench, old) = Bench::established();
    let new = bench.connect();
    assert!(bench.gateway.handle_connected(bench.now, &mut bench.notes).is_none());
    assert_eq!(bench.counters().refused_connections, 1);
    let timestamp = bench.timestamp();
    assert_eq!(bench.send_one(new, &establish(UUID, timestamp, 1)).template(), 504);
    let replies = bench.read(old);
    bench.expect_terminate(old, &replies, 23);
    let price = bench.far();
    assert_eq!(bench.send_one(new, &order(1, price)).template(), 522);
}

#[test]
fn two_sessions_have_their_own_numbers_and_orders() {
    let (mut bench, one) = Bench::established();
    let two = bench.connect();
    // The other account has the same key bytes here, and another session name.
    let timestamp = bench.timestamp();
    let reply = bench.send_one(two, &negotiate_by(UUID + 9, timestamp, "OTHERKEY", "XYZ"));
    assert_eq!(reply.template(), 501);
    assert_eq!(bench.gateway.state(one), SessionState::Established);
    assert_eq!(bench.gateway.state(two), SessionState::Negotiated);
}

#[test]
fn a_client_that_does_not_read_is_made_to_wait_and_loses_nothing() {
    let (mut bench, id) = Bench::established();
    let price = bench.far();
    let mut sent = 0_u32;
    let mut turns = 0;
    let mut pairs = Vec::new();
    while bench.gateway.can_receive(id) {
        pairs.clear();
        for _ in 0..50 {
            sent += 1;
            pairs.extend(order(sent, price));
        }
        let (now, floor) = (bench.now, &mut bench.floor);
        bench.gateway.handle_bytes(now, id, &pairs, floor, &mut bench.notes);
        turns += 1;
        assert!(turns < 1_000, "it takes everything");
    }
    let mut received = 0;
    while received < sent {
        let replies = bench.send(id, &[]);
        assert!(!replies.is_empty());
        for reply in replies {
            received += 1;
            assert_eq!(decode!(ExecutionReportNew522, reply).seq_num(), received);
        }
    }
    assert!(bench.gateway.can_receive(id));
    assert_eq!(bench.counters().acknowledgements, u64::from(sent));
}

#[test]
fn a_connection_that_is_displaced_before_its_successor_is_established_leaves_nothing_behind() {
    let (mut bench, old) = Bench::established();
    let new = bench.connect();
    let timestamp = bench.timestamp();
    bench.send_one(new, &negotiate(UUID + 1, timestamp));
    bench.read(old);
    while bench.gateway.poll_action(&mut bench.notes).is_some() {}
    // Negotiated is not established: the backup may not come yet.
    let backup = bench.connect_at(Designation::Backup).unwrap();
    let timestamp = bench.timestamp();
    let reply = bench.send_one(backup, &establish(UUID + 1, timestamp, 0));
    assert_eq!(decode!(EstablishmentReject505, reply).error_codes(), 27);
}
