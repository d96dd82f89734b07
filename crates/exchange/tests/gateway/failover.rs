//! Primary and backup.

use hairpin_cme_codecs::ilink3::{
    BusinessReject521, EstablishmentAck504, EstablishmentReject505, ExecutionReportNew522, FTI,
    KeepAliveLapsed, NegotiationReject502, RetransmitReject510, Sequence506, SideReq, Terminate507,
};
use hairpin_exchange::{Action, ConnectionId, Designation, SessionState, Side};
use hairpin_time::Duration;

use crate::bench::{Bench, UUID};
use crate::client::{
    Reply, establish, establish_by, frame, negotiate, order, order_with, retransmit_request,
    sequence, terminate,
};
use crate::decode;

/// A session established on both.
fn both() -> (Bench, ConnectionId, ConnectionId) {
    let mut bench = Bench::with_places(4);
    let primary = bench.connect();
    bench.log_on(primary);
    let backup = bench.connect_at(Designation::Backup).unwrap();
    let timestamp = bench.timestamp();
    let reply = bench.send_one(backup, &establish(UUID, timestamp, 0));
    let ack = decode!(EstablishmentAck504, reply);
    assert_eq!((ack.next_seq_no(), ack.uuid()), (0, UUID));
    assert_eq!(ack.fault_tolerance_indicator(), Some(FTI::BACKUP));
    (bench, primary, backup)
}

#[test]
fn the_backup_comes_second_and_does_not_negotiate() {
    let mut bench = Bench::with_places(4);
    let backup = bench.connect_at(Designation::Backup).unwrap();
    let timestamp = bench.timestamp();
    let reply = bench.send_one(backup, &negotiate(UUID, timestamp));
    let reject = decode!(NegotiationReject502, reply);
    assert_eq!(reject.error_codes(), 27);
    assert_eq!(reject.fault_tolerance_indicator(), Some(FTI::BACKUP));
    let timestamp = bench.timestamp();
    let reply = bench.send_one(backup, &establish(UUID, timestamp, 0));
    let reject = decode!(EstablishmentReject505, reply);
    assert_eq!((reject.error_codes(), reject.next_seq_no()), (27, 0));

    let primary = bench.connect();
    let timestamp = bench.timestamp();
    bench.send_one(primary, &negotiate(UUID, timestamp));
    // Negotiated is not enough.
    let timestamp = bench.timestamp();
    let reply = bench.send_one(backup, &establish(UUID, timestamp, 0));
    assert_eq!(decode!(EstablishmentReject505, reply).error_codes(), 27);
    let timestamp = bench.timestamp();
    assert_eq!(bench.send_one(primary, &establish(UUID, timestamp, 1)).template(), 504);
    let timestamp = bench.timestamp();
    let reply = bench.send_one(backup, &negotiate(UUID + 1, timestamp));
    assert_eq!(decode!(NegotiationReject502, reply).error_codes(), 28);
    let timestamp = bench.timestamp();
    assert_eq!(bench.send_one(backup, &establish(UUID, timestamp, 0)).template(), 504);
    assert_eq!(bench.gateway.state(primary), SessionState::Established);
}

#[test]
fn on_the_backup_every_number_is_0() {
    let (mut bench, primary, backup) = both();
    let price = bench.far();
    bench.send_one(primary, &order(1, price));
    let lapsed = sequence(UUID, 0, KeepAliveLapsed::LAPSED);
    let reply = bench.send_one(backup, &lapsed);
    let answer = decode!(Sequence506, reply);
    assert_eq!(answer.next_seq_no(), 0);
    assert_eq!(answer.fault_tolerance_indicator(), Some(FTI::BACKUP));
    // Its own heartbeats too.
    bench.pass(Duration::from_secs(10));
    let replies = bench.timeout(backup);
    assert!(!replies.is_empty());
    for reply in replies {
        assert_eq!(decode!(Sequence506, reply).next_seq_no(), 0);
    }
    let replies = bench.send(backup, &sequence(UUID, 2, KeepAliveLapsed::NOT_LAPSED));
    bench.expect_terminate(backup, &replies, 10);

    let (mut bench, _, backup) = both();
    let timestamp = bench.timestamp();
    let id = bench.connect_at(Designation::Backup).unwrap();
    let replies = bench.send(id, &establish(UUID, timestamp, 1));
    bench.expect_terminate(id, &replies, 10);
    let replies = bench.send(backup, &order(1, price));
    bench.expect_terminate(backup, &replies, 11);
}

#[test]
fn the_backup_takes_session_messages_only() {
    let (mut bench, primary, backup) = both();
    let price = bench.far();
    let reply = bench.send_one(backup, &order(0, price));
    let reject = decode!(BusinessReject521, reply);
    assert_eq!((reject.business_reject_reason(), reject.ref_seq_num()), (131, None));
    assert_eq!((reject.seq_num(), reject.ref_msg_type().to_string()), (0, "D".into()));
    let timestamp = bench.timestamp();
    let reply = bench.send_one(backup, &retransmit_request(UUID, timestamp));
    assert_eq!(decode!(RetransmitReject510, reply).error_codes(), 1);
    // The primary has not noticed.
    let reply = bench.send_one(primary, &order(1, price));
    assert_eq!(decode!(ExecutionReportNew522, reply).seq_num(), 1);
}

#[test]
fn the_backup_ends_with_the_primary() {
    let end_by: [fn(&mut Bench, ConnectionId); 3] = [
        |bench, primary| bench.gateway.handle_closed(primary, &mut bench.notes),
        |bench, primary| {
            bench.send(primary, &terminate(UUID, 1, 0));
            bench.gateway.poll_action(&mut bench.notes);
        },
        |bench, primary| {
            bench.send(primary, &order(0, 1));
            bench.gateway.poll_action(&mut bench.notes);
        },
    ];
    for end in end_by {
        let (mut bench, primary, backup) = both();
        end(&mut bench, primary);
        assert!(bench.gateway.poll_timeout().is_some_and(|due| due <= bench.now.monotonic));
        let replies = bench.timeout(backup);
        bench.expect_terminate(backup, &replies, 26);
    }
    // But not the other way round.
    let (mut bench, primary, backup) = both();
    bench.gateway.handle_closed(backup, &mut bench.notes);
    assert_eq!(bench.timeout(primary), []);
    assert_eq!(bench.gateway.state(primary), SessionState::Established);
}

#[test]
fn when_the_primary_fails_the_backup_goes_on_with_its_numbers() {
    let (mut bench, primary, backup) = both();
    let price = bench.far();
    bench.send_one(primary, &order(1, price));
    bench.send_one(primary, &order(2, price));
    bench.gateway.fail_primary(bench.now, &mut bench.notes);
    // Not a word on the primary.
    assert_eq!(bench.read(primary), []);
    assert!(bench.gateway.poll_action(&mut bench.notes).is_some());
    let replies = bench.read(backup);
    let told: Vec<u16> = replies.iter().map(Reply::template).collect();
    assert_eq!(told, [506]);
    let promoted = decode!(Sequence506, replies[0]);
    assert_eq!((promoted.next_seq_no(), promoted.uuid()), (3, UUID));
    assert_eq!(promoted.fault_tolerance_indicator(), Some(FTI::PRIMARY));
    let reply = bench.send_one(backup, &order(3, price));
    assert_eq!(decode!(ExecutionReportNew522, reply).seq_num(), 3);
    assert_eq!(bench.counters().promotions, 1);
    // The one that failed takes nobody, and is the backup when it is back.
    assert_eq!(bench.connect_at(Designation::Primary), None);
    bench.gateway.restore();
    assert_eq!(bench.gateway.primary(), Designation::Backup);
    let id = bench.connect_at(Designation::Primary).unwrap();
    let timestamp = bench.timestamp();
    let reply = bench.send_one(id, &establish(UUID, timestamp, 0));
    let ack = decode!(EstablishmentAck504, reply);
    assert_eq!(ack.fault_tolerance_indicator(), Some(FTI::BACKUP));
    // It can be promoted in its turn.
    bench.gateway.fail_primary(bench.now, &mut bench.notes);
    let reply = &bench.read(id)[0];
    assert_eq!(decode!(Sequence506, reply).next_seq_no(), 4);
}

#[test]
fn a_sequence_of_the_backup_may_meet_its_promotion_on_the_way() {
    let (mut bench, _, backup) = both();
    bench.gateway.fail_primary(bench.now, &mut bench.notes);
    assert!(bench.gateway.poll_action(&mut bench.notes).is_some());
    bench.read(backup);
    let zero = sequence(UUID, 0, KeepAliveLapsed::NOT_LAPSED);
    assert_eq!(bench.send(backup, &zero), []);
    assert_eq!(bench.send(backup, &zero), []);
    assert_eq!(bench.send(backup, &sequence(UUID, 1, KeepAliveLapsed::NOT_LAPSED)), []);
    // Who has said a number knows of it.
    let replies = bench.send(backup, &zero);
    bench.expect_terminate(backup, &replies, 10);
}

#[test]
fn a_session_without_a_backup_logs_on_at_the_new_primary() {
    let mut bench = Bench::with_places(4);
    let primary = bench.connect();
    bench.log_on(primary);
    let price = bench.far();
    bench.send_one(primary, &order(1, price));
    bench.gateway.fail_primary(bench.now, &mut bench.notes);
    let id = bench.connect_at(Designation::Backup).unwrap();
    let timestamp = bench.timestamp();
    let reply = bench.send_one(id, &establish(UUID, timestamp, 2));
    let ack = decode!(EstablishmentAck504, reply);
    assert_eq!((ack.next_seq_no(), ack.previous_seq_no()), (2, 1));
    assert_eq!(ack.fault_tolerance_indicator(), Some(FTI::PRIMARY));
    let replies = bench.send(id, &terminate(UUID, 9, 0));
    assert_eq!(decode!(Terminate507, replies[0]).request_timestamp(), 9);
}

#[test]
fn what_the_backup_cannot_read_ends_it() {
    let (mut bench, _, backup) = both();
    let price = bench.far();
    let cut = frame(&order(0, price)[4..20]);
    let replies = bench.send(backup, &cut);
    bench.expect_terminate(backup, &replies, 19);
}

#[test]
fn only_sessions_established_on_the_backup_are_promoted() {
    let mut bench = Bench::with_places(4);
    let primary = bench.connect();
    bench.log_on(primary);
    let idle = bench.connect_at(Designation::Backup).unwrap();
    bench.gateway.fail_primary(bench.now, &mut bench.notes);
    assert_eq!((bench.read(idle), bench.counters().promotions), (vec![], 0));
    assert_eq!(bench.gateway.state(idle), SessionState::Connected);
}

#[test]
fn a_backup_that_is_gone_is_not_promoted_and_can_come_again() {
    let (mut bench, primary, backup) = both();
    bench.gateway.handle_closed(backup, &mut bench.notes);
    // Somebody else takes its place there.
    let other = bench.connect_at(Designation::Backup).unwrap();
    assert_eq!(other, backup);
    bench.send(primary, &terminate(UUID, 1, 0));
    while bench.gateway.poll_action(&mut bench.notes).is_some() {}
    bench.gateway.handle_timeout(bench.now, &mut bench.notes);
    assert_eq!((bench.read(other), bench.counters().orphaned_backups), (vec![], 0));
    assert_eq!(bench.gateway.state(other), SessionState::Connected);
}

#[test]
fn a_session_on_the_backup_does_not_end_with_the_primary_of_another() {
    let (mut bench, primary, backup) = both();
    let other = bench.connect();
    bench.log_on_by(other, ("OTHERKEY", "XYZ"));
    let theirs = bench.connect_at(Designation::Backup).unwrap();
    let timestamp = bench.timestamp();
    let by = ("OTHERKEY", "XYZ");
    let message = establish_by(UUID, timestamp, (0, 10_000), crate::client::SYSTEM, by);
    assert_eq!(bench.send_one(theirs, &message).template(), 504);
    bench.gateway.handle_closed(other, &mut bench.notes);
    let replies = bench.timeout(theirs);
    bench.expect_terminate(theirs, &replies, 26);
    assert_eq!((bench.read(primary), bench.read(backup)), (vec![], vec![]));
    assert_eq!(bench.gateway.state(backup), SessionState::Established);
    assert_eq!(bench.counters().terminates, 1);
}

#[test]
fn a_connection_to_the_backup_that_ends_leaves_the_primary_its_session() {
    let mut bench = Bench::with(4, |settings| settings.cancels_on_disconnect = true);
    let primary = bench.connect();
    bench.log_on(primary);
    let backup = bench.connect_at(Designation::Backup).unwrap();
    let timestamp = bench.timestamp();
    bench.send_one(backup, &establish(UUID, timestamp, 0));
    bench.gateway.handle_closed(backup, &mut bench.notes);
    assert!(!bench.gateway.has_lost());
    // Its session is still established: the backup may come again.
    let backup = bench.connect_at(Designation::Backup).unwrap();
    let timestamp = bench.timestamp();
    assert_eq!(bench.send_one(backup, &establish(UUID, timestamp, 0)).template(), 504);
}

#[test]
fn a_gateway_that_fails_says_nothing_more() {
    let (mut bench, primary, _) = both();
    let order = order(1, bench.far());
    bench.gateway.handle_bytes(bench.now, primary, &order, &mut bench.floor, &mut bench.notes);
    assert!(bench.gateway.poll_transmit(primary).is_some());
    bench.gateway.fail_primary(bench.now, &mut bench.notes);
    assert_eq!(bench.gateway.poll_transmit(primary), None);
    assert_eq!(bench.gateway.poll_action(&mut bench.notes), Some(Action::Close(primary)));
}

#[test]
fn a_session_that_was_promoted_is_told_of_its_trades() {
    let (mut bench, primary, backup) = both();
    let price = bench.floor.matching().best(0, Side::Bid).unwrap().price.0 + 250_000_000;
    bench.send_one(primary, &order(1, price));
    bench.gateway.fail_primary(bench.now, &mut bench.notes);
    bench.read(backup);
    let other = bench.connect_at(Designation::Backup).unwrap();
    bench.log_on_by(other, ("OTHERKEY", "XYZ"));
    bench.drain_feed();
    let sell = order_with(1, price, |order| {
        order.set_side(SideReq::SELL);
    });
    bench.send(other, &sell);
    let told: Vec<u16> = bench.read(backup).iter().map(Reply::template).collect();
    assert_eq!((told, bench.counters().unreported), (vec![525], 0));
}
