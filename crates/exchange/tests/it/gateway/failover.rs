//! Primary and backup.

use hairpin_cme_codecs::ilink3::{
    BusinessReject521, EstablishmentAck504, EstablishmentReject505, ExecutionReportNew522, FTI,
    KeepAliveLapsed, NegotiationReject502, RetransmitReject510, Sequence506, SideReq, Terminate507,
};
use hairpin_exchange::{Action, ConnectionId, Designation, SessionState, Side};
use hairpin_time::Duration;

use super::harness::{Harness, UUID};
use crate::client::{
    Reply, establish, establish_by, frame, negotiate, order, order_with, retransmit_request,
    sequence, terminate,
};
use crate::decode;

/// Creates a session established on both gateways.
fn both() -> (Harness, ConnectionId, ConnectionId) {
    let mut harness = Harness::with_connections(4);
    let primary = harness.connect();
    harness.log_on(primary);
    let backup = harness.connect_at(Designation::Backup).unwrap();
    let timestamp = harness.timestamp();
    let reply = harness.send_one(backup, &establish(UUID, timestamp, 0));
    let ack = decode!(EstablishmentAck504, reply);
    assert_eq!((ack.next_seq_no(), ack.uuid()), (0, UUID));
    assert_eq!(ack.fault_tolerance_indicator(), Some(FTI::BACKUP));
    (harness, primary, backup)
}

#[test]
fn backup_requires_an_established_primary_session() {
    let mut harness = Harness::with_connections(4);
    let backup = harness.connect_at(Designation::Backup).unwrap();
    let timestamp = harness.timestamp();
    let reply = harness.send_one(backup, &negotiate(UUID, timestamp));
    let reject = decode!(NegotiationReject502, reply);
    assert_eq!(reject.error_codes(), 27);
    assert_eq!(reject.fault_tolerance_indicator(), Some(FTI::BACKUP));
    let timestamp = harness.timestamp();
    let reply = harness.send_one(backup, &establish(UUID, timestamp, 0));
    let reject = decode!(EstablishmentReject505, reply);
    assert_eq!((reject.error_codes(), reject.next_seq_no()), (27, 0));

    let primary = harness.connect();
    let timestamp = harness.timestamp();
    harness.send_one(primary, &negotiate(UUID, timestamp));
    // A negotiated session is not enough.
    let timestamp = harness.timestamp();
    let reply = harness.send_one(backup, &establish(UUID, timestamp, 0));
    assert_eq!(decode!(EstablishmentReject505, reply).error_codes(), 27);
    let timestamp = harness.timestamp();
    assert_eq!(harness.send_one(primary, &establish(UUID, timestamp, 1)).template(), 504);
    let timestamp = harness.timestamp();
    let reply = harness.send_one(backup, &negotiate(UUID + 1, timestamp));
    assert_eq!(decode!(NegotiationReject502, reply).error_codes(), 28);
    let timestamp = harness.timestamp();
    assert_eq!(harness.send_one(backup, &establish(UUID, timestamp, 0)).template(), 504);
    assert_eq!(harness.gateway.state(primary), SessionState::Established);
}

#[test]
fn sequence_numbers_on_the_backup_are_0() {
    let (mut harness, primary, backup) = both();
    let price = harness.far_price();
    harness.send_one(primary, &order(1, price));
    let lapsed = sequence(UUID, 0, KeepAliveLapsed::LAPSED);
    let reply = harness.send_one(backup, &lapsed);
    let answer = decode!(Sequence506, reply);
    assert_eq!(answer.next_seq_no(), 0);
    assert_eq!(answer.fault_tolerance_indicator(), Some(FTI::BACKUP));
    // The backup's own heartbeats too.
    harness.pass(Duration::from_secs(10));
    let replies = harness.timeout(backup);
    assert!(!replies.is_empty());
    for reply in replies {
        assert_eq!(decode!(Sequence506, reply).next_seq_no(), 0);
    }
    let replies = harness.send(backup, &sequence(UUID, 2, KeepAliveLapsed::NOT_LAPSED));
    harness.expect_terminate(backup, &replies, 10);

    let (mut harness, _, backup) = both();
    let timestamp = harness.timestamp();
    let id = harness.connect_at(Designation::Backup).unwrap();
    let replies = harness.send(id, &establish(UUID, timestamp, 1));
    harness.expect_terminate(id, &replies, 10);
    let replies = harness.send(backup, &order(1, price));
    harness.expect_terminate(backup, &replies, 11);
}

#[test]
fn backup_accepts_session_messages_only() {
    let (mut harness, primary, backup) = both();
    let price = harness.far_price();
    let reply = harness.send_one(backup, &order(0, price));
    let reject = decode!(BusinessReject521, reply);
    assert_eq!((reject.business_reject_reason(), reject.ref_seq_num()), (131, None));
    assert_eq!((reject.seq_num(), reject.ref_msg_type().to_string()), (0, "D".into()));
    let timestamp = harness.timestamp();
    let reply = harness.send_one(backup, &retransmit_request(UUID, timestamp));
    assert_eq!(decode!(RetransmitReject510, reply).error_codes(), 1);
    // The primary session is not affected.
    let reply = harness.send_one(primary, &order(1, price));
    assert_eq!(decode!(ExecutionReportNew522, reply).seq_num(), 1);
}

#[test]
fn backup_session_ends_with_the_primary_session() {
    let end_by: [fn(&mut Harness, ConnectionId); 3] = [
        |harness, primary| harness.gateway.handle_closed(primary, &mut harness.listener),
        |harness, primary| {
            harness.send(primary, &terminate(UUID, 1, 0));
            harness.gateway.poll_action(&mut harness.listener);
        },
        |harness, primary| {
            harness.send(primary, &order(0, 1));
            harness.gateway.poll_action(&mut harness.listener);
        },
    ];
    for end in end_by {
        let (mut harness, primary, backup) = both();
        end(&mut harness, primary);
        assert!(harness.gateway.poll_timeout().is_some_and(|due| due <= harness.now.monotonic));
        let replies = harness.timeout(backup);
        harness.expect_terminate(backup, &replies, 26);
    }
    // The end of the backup session does not end the primary session.
    let (mut harness, primary, backup) = both();
    harness.gateway.handle_closed(backup, &mut harness.listener);
    assert_eq!(harness.timeout(primary), []);
    assert_eq!(harness.gateway.state(primary), SessionState::Established);
}

#[test]
fn promoted_backup_continues_the_sequence_numbers() {
    let (mut harness, primary, backup) = both();
    let price = harness.far_price();
    harness.send_one(primary, &order(1, price));
    harness.send_one(primary, &order(2, price));
    harness.gateway.fail_primary(harness.now, &mut harness.listener);
    // The primary sends nothing.
    assert_eq!(harness.read(primary), []);
    assert!(harness.gateway.poll_action(&mut harness.listener).is_some());
    let replies = harness.read(backup);
    let reported: Vec<u16> = replies.iter().map(Reply::template).collect();
    assert_eq!(reported, [506]);
    let promoted = decode!(Sequence506, replies[0]);
    assert_eq!((promoted.next_seq_no(), promoted.uuid()), (3, UUID));
    assert_eq!(promoted.fault_tolerance_indicator(), Some(FTI::PRIMARY));
    let reply = harness.send_one(backup, &order(3, price));
    assert_eq!(decode!(ExecutionReportNew522, reply).seq_num(), 3);
    assert_eq!(harness.counters().promotions, 1);
    // The failed gateway refuses connections, and returns as the backup.
    assert_eq!(harness.connect_at(Designation::Primary), None);
    harness.gateway.restore();
    assert_eq!(harness.gateway.primary(), Designation::Backup);
    let id = harness.connect_at(Designation::Primary).unwrap();
    let timestamp = harness.timestamp();
    let reply = harness.send_one(id, &establish(UUID, timestamp, 0));
    let ack = decode!(EstablishmentAck504, reply);
    assert_eq!(ack.fault_tolerance_indicator(), Some(FTI::BACKUP));
    // It can then be promoted itself.
    harness.gateway.fail_primary(harness.now, &mut harness.listener);
    let reply = &harness.read(id)[0];
    assert_eq!(decode!(Sequence506, reply).next_seq_no(), 4);
}

#[test]
fn sequence_with_0_may_cross_the_promotion() {
    let (mut harness, _, backup) = both();
    harness.gateway.fail_primary(harness.now, &mut harness.listener);
    assert!(harness.gateway.poll_action(&mut harness.listener).is_some());
    harness.read(backup);
    let zero = sequence(UUID, 0, KeepAliveLapsed::NOT_LAPSED);
    assert_eq!(harness.send(backup, &zero), []);
    assert_eq!(harness.send(backup, &zero), []);
    assert_eq!(harness.send(backup, &sequence(UUID, 1, KeepAliveLapsed::NOT_LAPSED)), []);
    // A client that has sent a number must know of the promotion.
    let replies = harness.send(backup, &zero);
    harness.expect_terminate(backup, &replies, 10);
}

#[test]
fn session_without_a_backup_logs_on_to_the_new_primary() {
    let mut harness = Harness::with_connections(4);
    let primary = harness.connect();
    harness.log_on(primary);
    let price = harness.far_price();
    harness.send_one(primary, &order(1, price));
    harness.gateway.fail_primary(harness.now, &mut harness.listener);
    let id = harness.connect_at(Designation::Backup).unwrap();
    let timestamp = harness.timestamp();
    let reply = harness.send_one(id, &establish(UUID, timestamp, 2));
    let ack = decode!(EstablishmentAck504, reply);
    assert_eq!((ack.next_seq_no(), ack.previous_seq_no()), (2, 1));
    assert_eq!(ack.fault_tolerance_indicator(), Some(FTI::PRIMARY));
    let replies = harness.send(id, &terminate(UUID, 9, 0));
    assert_eq!(decode!(Terminate507, replies[0]).request_timestamp(), 9);
}

#[test]
fn undecodable_message_ends_the_backup_session() {
    let (mut harness, _, backup) = both();
    let price = harness.far_price();
    let cut = frame(&order(0, price)[4..20]);
    let replies = harness.send(backup, &cut);
    harness.expect_terminate(backup, &replies, 19);
}

#[test]
fn promotes_established_backup_sessions_only() {
    let mut harness = Harness::with_connections(4);
    let primary = harness.connect();
    harness.log_on(primary);
    let idle = harness.connect_at(Designation::Backup).unwrap();
    harness.gateway.fail_primary(harness.now, &mut harness.listener);
    assert_eq!((harness.read(idle), harness.counters().promotions), (vec![], 0));
    assert_eq!(harness.gateway.state(idle), SessionState::Connected);
}

#[test]
fn closed_backup_is_not_promoted_and_may_return() {
    let (mut harness, primary, backup) = both();
    harness.gateway.handle_closed(backup, &mut harness.listener);
    // Another connection takes the slot.
    let other = harness.connect_at(Designation::Backup).unwrap();
    assert_eq!(other, backup);
    harness.send(primary, &terminate(UUID, 1, 0));
    while harness.gateway.poll_action(&mut harness.listener).is_some() {}
    harness.gateway.handle_timeout(harness.now, &mut harness.listener);
    assert_eq!((harness.read(other), harness.counters().orphaned_backups), (vec![], 0));
    assert_eq!(harness.gateway.state(other), SessionState::Connected);
}

#[test]
fn backup_session_survives_the_end_of_other_sessions() {
    let (mut harness, primary, backup) = both();
    let other = harness.connect();
    harness.log_on_by(other, ("OTHERKEY", "XYZ"));
    let theirs = harness.connect_at(Designation::Backup).unwrap();
    let timestamp = harness.timestamp();
    let by = ("OTHERKEY", "XYZ");
    let message = establish_by(UUID, timestamp, (0, 10_000), crate::client::SYSTEM, by);
    assert_eq!(harness.send_one(theirs, &message).template(), 504);
    harness.gateway.handle_closed(other, &mut harness.listener);
    let replies = harness.timeout(theirs);
    harness.expect_terminate(theirs, &replies, 26);
    assert_eq!((harness.read(primary), harness.read(backup)), (vec![], vec![]));
    assert_eq!(harness.gateway.state(backup), SessionState::Established);
    assert_eq!(harness.counters().terminates, 1);
}

#[test]
fn primary_session_survives_the_end_of_its_backup() {
    let mut harness = Harness::with(4, |settings| settings.cancels_on_disconnect = true);
    let primary = harness.connect();
    harness.log_on(primary);
    let backup = harness.connect_at(Designation::Backup).unwrap();
    let timestamp = harness.timestamp();
    harness.send_one(backup, &establish(UUID, timestamp, 0));
    harness.gateway.handle_closed(backup, &mut harness.listener);
    assert!(!harness.gateway.has_lost_sessions());
    // The session is still established, so the backup may connect again.
    let backup = harness.connect_at(Designation::Backup).unwrap();
    let timestamp = harness.timestamp();
    assert_eq!(harness.send_one(backup, &establish(UUID, timestamp, 0)).template(), 504);
}

#[test]
fn failed_gateway_sends_nothing() {
    let (mut harness, primary, _) = both();
    let order = order(1, harness.far_price());
    harness.gateway.handle_bytes(
        harness.now,
        primary,
        &order,
        &mut harness.market,
        &mut harness.listener,
    );
    assert!(harness.gateway.poll_transmit(primary).is_some());
    harness.gateway.fail_primary(harness.now, &mut harness.listener);
    assert_eq!(harness.gateway.poll_transmit(primary), None);
    assert_eq!(harness.gateway.poll_action(&mut harness.listener), Some(Action::Close(primary)));
}

#[test]
fn promoted_session_receives_its_trades() {
    let (mut harness, primary, backup) = both();
    let price = harness.market.matching().best(0, Side::Bid).unwrap().price.0 + 250_000_000;
    harness.send_one(primary, &order(1, price));
    harness.gateway.fail_primary(harness.now, &mut harness.listener);
    harness.read(backup);
    let other = harness.connect_at(Designation::Backup).unwrap();
    harness.log_on_by(other, ("OTHERKEY", "XYZ"));
    harness.drain_feed();
    let sell = order_with(1, price, |order| {
        order.set_side(SideReq::SELL);
    });
    harness.send(other, &sell);
    let reported: Vec<u16> = harness.read(backup).iter().map(Reply::template).collect();
    assert_eq!((reported, harness.counters().unreported), (vec![525], 0));
}
