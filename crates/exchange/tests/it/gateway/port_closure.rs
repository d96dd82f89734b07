//! Automated port closure: the fifth bad logon within a minute.

use hairpin_cme_codecs::ilink3::Terminate507;
use hairpin_exchange::{Action, ConnectionId, Designation, SessionState};
use hairpin_time::Duration;

use super::harness::{Harness, UUID};
use crate::client::{establish, negotiate, negotiate_by};
use crate::decode;

fn harness() -> Harness {
    Harness::with(4, |settings| settings.closes_ports = true)
}

/// Encodes a Negotiate with a wrong signature.
fn forged(harness: &mut Harness) -> Vec<u8> {
    let timestamp = harness.timestamp();
    let mut bytes = negotiate(UUID, timestamp);
    bytes[12] ^= 1;
    bytes
}

fn reject_four(harness: &mut Harness) -> ConnectionId {
    let id = harness.connect();
    for _ in 0..4 {
        let bytes = forged(harness);
        assert_eq!(harness.send_one(id, &bytes).template(), 502);
    }
    id
}

#[test]
fn fifth_bad_logon_closes_the_ports() {
    let mut harness = harness();
    let id = reject_four(&mut harness);
    let bytes = forged(&mut harness);
    let replies = harness.send(id, &bytes);
    assert_eq!(replies.len(), 1);
    harness.expect_terminate(id, &replies, 8);
    // A valid logon is refused too, both Negotiate and Establish.
    for message in [negotiate(UUID, harness.timestamp()), establish(UUID, harness.timestamp(), 1)] {
        let id = harness.connect();
        let replies = harness.send(id, &message);
        harness.expect_terminate(id, &replies, 8);
    }
    // Other accounts are not affected.
    let id = harness.connect();
    harness.log_on_by(id, ("OTHERKEY", "XYZ"));
    harness.gateway.open_ports(0);
    let id = reject_four(&mut harness);
    harness.log_on(id);
}

#[test]
fn bad_logons_expire_after_a_minute() {
    let mut harness = harness();
    let id = reject_four(&mut harness);
    harness.gateway.handle_closed(id, &mut harness.listener);
    harness.pass(Duration::from_secs(60));
    let id = reject_four(&mut harness);
    harness.log_on(id);
}

#[test]
fn counts_all_bad_logons_over_all_connections() {
    let mut harness = harness();
    let id = harness.connect();
    harness.log_on(id);
    // An old UUID, no UUID, an old NextSeqNo, and an Establish while established: each ends its
    // connection with its own code, until the fifth.
    let low = negotiate(UUID, harness.timestamp());
    let none = negotiate(u64::MAX, harness.timestamp());
    let next = establish(UUID, harness.timestamp(), 0);
    for (message, code) in [(low, 13), (none, 15), (next, 10)] {
        let other = harness.connect();
        let replies = harness.send(other, &message);
        harness.expect_terminate(other, &replies, code);
    }
    let other = harness.connect();
    harness.log_on_by(other, ("OTHERKEY", "XYZ"));
    let third = harness.connect();
    let timestamp = harness.timestamp();
    let stale = timestamp - Duration::from_secs(6).as_nanos();
    assert_eq!(harness.send_one(third, &negotiate(UUID + 1, stale)).template(), 502);
    let timestamp = harness.timestamp();
    let replies = harness.send(id, &establish(UUID, timestamp, 1));
    harness.expect_terminate(id, &replies, 8);
    assert_eq!(harness.gateway.state(other), SessionState::Established);
}

#[test]
fn established_session_ends_with_its_ports() {
    let mut harness = harness();
    let established = harness.connect();
    harness.log_on(established);
    let id = reject_four(&mut harness);
    let bytes = forged(&mut harness);
    let replies = harness.send(id, &bytes);
    harness.expect_terminate(id, &replies, 8);
    let replies = harness.read(established);
    harness.expect_terminate(established, &replies, 8);
    assert_eq!(harness.counters().port_closures, 1);
}

#[test]
fn anonymous_bad_logons_end_their_connection_only() {
    let mut harness = harness();
    let id = harness.connect();
    let nobody =
        |harness: &mut Harness| negotiate_by(UUID, harness.timestamp(), "UNKNOWNKEY", "ABC");
    for _ in 0..4 {
        let bytes = nobody(&mut harness);
        assert_eq!(harness.send_one(id, &bytes).template(), 502);
    }
    let bytes = nobody(&mut harness);
    let replies = harness.send(id, &bytes);
    harness.expect_terminate(id, &replies, 8);
    assert_eq!(harness.gateway.poll_action(&mut harness.listener), None::<Action>);
    let id = harness.connect();
    harness.log_on(id);
}

#[test]
fn ports_stay_closed() {
    let mut harness = harness();
    let id = reject_four(&mut harness);
    let bytes = forged(&mut harness);
    let replies = harness.send(id, &bytes);
    harness.expect_terminate(id, &replies, 8);
    harness.pass(Duration::from_secs(600));
    let id = harness.connect();
    let bytes = forged(&mut harness);
    let replies = harness.send(id, &bytes);
    harness.expect_terminate(id, &replies, 8);
    let id = harness.connect();
    let timestamp = harness.timestamp();
    let replies = harness.send(id, &negotiate(UUID, timestamp));
    harness.expect_terminate(id, &replies, 8);
}

#[test]
fn new_week_opens_ports() {
    let mut harness = harness();
    let id = reject_four(&mut harness);
    let bytes = forged(&mut harness);
    let replies = harness.send(id, &bytes);
    harness.expect_terminate(id, &replies, 8);
    harness.gateway.begin_week(harness.now, &mut harness.listener);
    let id = reject_four(&mut harness);
    harness.log_on(id);
}

#[test]
fn lenient_gateway_closes_no_ports() {
    let mut harness = Harness::with_connections(4);
    let id = reject_four(&mut harness);
    let bytes = forged(&mut harness);
    assert_eq!(harness.send_one(id, &bytes).template(), 502);
    harness.log_on(id);
}

#[test]
fn closed_ports_end_the_backup_session() {
    let mut harness = harness();
    let primary = harness.connect();
    harness.log_on(primary);
    let backup = harness.connect_at(Designation::Backup).unwrap();
    let timestamp = harness.timestamp();
    assert_eq!(harness.send_one(backup, &establish(UUID, timestamp, 0)).template(), 504);
    let id = reject_four(&mut harness);
    let bytes = forged(&mut harness);
    harness.send(id, &bytes);
    for place in [primary, backup] {
        let replies = harness.read(place);
        let last = replies.last().unwrap();
        assert_eq!((replies.len(), last.template()), (1, 507));
        assert_eq!(decode!(Terminate507, last).error_codes(), 8);
    }
    // Each connection has ended once.
    assert_eq!(harness.counters().terminates, 3);
    harness.gateway.handle_timeout(harness.now, &mut harness.listener);
    assert_eq!(harness.counters().terminates, 3);
}

#[test]
fn opens_ports_of_one_account_only() {
    let mut harness = harness();
    let id = reject_four(&mut harness);
    let bytes = forged(&mut harness);
    let replies = harness.send(id, &bytes);
    harness.expect_terminate(id, &replies, 8);
    // The ports of the second account, and of one that does not exist.
    harness.gateway.open_ports(1);
    harness.gateway.open_ports(99);
    let id = harness.connect();
    let timestamp = harness.timestamp();
    let replies = harness.send(id, &negotiate(UUID, timestamp));
    harness.expect_terminate(id, &replies, 8);
    harness.gateway.open_ports(0);
    let id = harness.connect();
    harness.log_on(id);
}

#[test]
fn anonymous_bad_logons_are_counted_per_connection() {
    let mut harness = harness();
    for _ in 0..2 {
        let id = harness.connect();
        for _ in 0..4 {
            let timestamp = harness.timestamp();
            let bytes = negotiate_by(UUID, timestamp, "UNKNOWNKEY", "ABC");
            assert_eq!(harness.send_one(id, &bytes).template(), 502);
        }
        harness.gateway.handle_closed(id, &mut harness.listener);
    }
}
