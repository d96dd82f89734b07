//! Automated port closure: the fifth bad logon in a minute.

use hairpin_cme_codecs::ilink3::Terminate507;
use hairpin_exchange::{Action, ConnectionId, Designation, SessionState};
use hairpin_time::Duration;

use crate::bench::{Bench, UUID};
use crate::client::{establish, negotiate, negotiate_by};
use crate::decode;

fn bench() -> Bench {
    Bench::with(4, |settings| settings.closes_ports = true)
}

/// A Negotiate with a signature that is not the key's.
fn forged(bench: &mut Bench) -> Vec<u8> {
    let timestamp = bench.timestamp();
    let mut bytes = negotiate(UUID, timestamp);
    bytes[12] ^= 1;
    bytes
}

fn reject_four(bench: &mut Bench) -> ConnectionId {
    let id = bench.connect();
    for _ in 0..4 {
        let bytes = forged(bench);
        assert_eq!(bench.send_one(id, &bytes).template(), 502);
    }
    id
}

#[test]
fn the_fifth_bad_logon_closes_the_ports_until_they_are_opened() {
    let mut bench = bench();
    let id = reject_four(&mut bench);
    let bytes = forged(&mut bench);
    let replies = bench.send(id, &bytes);
    assert_eq!(replies.len(), 1);
    bench.expect_terminate(id, &replies, 8);
    // A good one is turned away too, and Establish like Negotiate.
    for message in [negotiate(UUID, bench.timestamp()), establish(UUID, bench.timestamp(), 1)] {
        let id = bench.connect();
        let replies = bench.send(id, &message);
        bench.expect_terminate(id, &replies, 8);
    }
    // Others are not concerned.
    let id = bench.connect();
    bench.log_on_by(id, ("OTHERKEY", "XYZ"));
    bench.gateway.open_ports(0);
    let id = reject_four(&mut bench);
    bench.log_on(id);
}

#[test]
fn bad_logons_that_are_a_minute_old_are_forgotten() {
    let mut bench = bench();
    let id = reject_four(&mut bench);
    bench.gateway.handle_closed(id, &mut bench.notes);
    bench.pass(Duration::from_secs(60));
    let id = reject_four(&mut bench);
    bench.log_on(id);
}

#[test]
fn every_kind_of_bad_logon_counts_on_whichever_connection() {
    let mut bench = bench();
    let id = bench.connect();
    bench.log_on(id);
    // A UUID of before, no UUID, a NextSeqNo of before, an Establish when established: each ends
    // its connection for its own reason, until the fifth.
    let low = negotiate(UUID, bench.timestamp());
    let none = negotiate(u64::MAX, bench.timestamp());
    let next = establish(UUID, bench.timestamp(), 0);
    for (message, code) in [(low, 13), (none, 15), (next, 10)] {
        let other = bench.connect();
        let replies = bench.send(other, &message);
        bench.expect_terminate(other, &replies, code);
    }
    let other = bench.connect();
    bench.log_on_by(other, ("OTHERKEY", "XYZ"));
    let third = bench.connect();
    let timestamp = bench.timestamp();
    let stale = timestamp - Duration::from_secs(6).as_nanos();
    assert_eq!(bench.send_one(third, &negotiate(UUID + 1, stale)).template(), 502);
    let timestamp = bench.timestamp();
    let replies = bench.send(id, &establish(UUID, timestamp, 1));
    bench.expect_terminate(id, &replies, 8);
    assert_eq!(bench.gateway.state(other), SessionState::Established);
}

#[test]
fn an_established_session_ends_with_its_ports() {
    let mut bench = bench();
    let established = bench.connect();
    bench.log_on(established);
    let id = reject_four(&mut bench);
    let bytes = forged(&mut bench);
    let replies = bench.send(id, &bytes);
    bench.expect_terminate(id, &replies, 8);
    let replies = bench.read(established);
    bench.expect_terminate(established, &replies, 8);
    assert_eq!(bench.counters().port_closures, 1);
}

#[test]
fn bad_logons_that_name_nobody_end_their_connection_only() {
    let mut bench = bench();
    let id = bench.connect();
    let nobody = |bench: &mut Bench| negotiate_by(UUID, bench.timestamp(), "NOBODY", "ABC");
    for _ in 0..4 {
        let bytes = nobody(&mut bench);
        assert_eq!(bench.send_one(id, &bytes).template(), 502);
    }
    let bytes = nobody(&mut bench);
    let replies = bench.send(id, &bytes);
    bench.expect_terminate(id, &replies, 8);
    assert_eq!(bench.gateway.poll_action(&mut bench.notes), None::<Action>);
    let id = bench.connect();
    bench.log_on(id);
}

#[test]
fn ports_stay_closed_however_much_later() {
    let mut bench = bench();
    let id = reject_four(&mut bench);
    let bytes = forged(&mut bench);
    let replies = bench.send(id, &bytes);
    bench.expect_terminate(id, &replies, 8);
    bench.pass(Duration::from_secs(600));
    let id = bench.connect();
    let bytes = forged(&mut bench);
    let replies = bench.send(id, &bytes);
    bench.expect_terminate(id, &replies, 8);
    let id = bench.connect();
    let timestamp = bench.timestamp();
    let replies = bench.send(id, &negotiate(UUID, timestamp));
    bench.expect_terminate(id, &replies, 8);
}

#[test]
fn a_new_week_opens_ports() {
    let mut bench = bench();
    let id = reject_four(&mut bench);
    let bytes = forged(&mut bench);
    let replies = bench.send(id, &bytes);
    bench.expect_terminate(id, &replies, 8);
    bench.gateway.begin_week(bench.now, &mut bench.notes);
    let id = reject_four(&mut bench);
    bench.log_on(id);
}

#[test]
fn a_lenient_gateway_closes_no_ports() {
    let mut bench = Bench::with_places(4);
    let id = reject_four(&mut bench);
    let bytes = forged(&mut bench);
    assert_eq!(bench.send_one(id, &bytes).template(), 502);
    bench.log_on(id);
}

#[test]
fn closed_ports_end_the_session_on_the_backup_with_their_code() {
    let mut bench = bench();
    let primary = bench.connect();
    bench.log_on(primary);
    let backup = bench.connect_at(Designation::Backup).unwrap();
    let timestamp = bench.timestamp();
    assert_eq!(bench.send_one(backup, &establish(UUID, timestamp, 0)).template(), 504);
    let id = reject_four(&mut bench);
    let bytes = forged(&mut bench);
    bench.send(id, &bytes);
    for place in [primary, backup] {
        let replies = bench.read(place);
        let last = replies.last().unwrap();
        assert_eq!((replies.len(), last.template()), (1, 507));
        assert_eq!(decode!(Terminate507, last).error_codes(), 8);
    }
    // Each has ended once.
    assert_eq!(bench.counters().terminates, 3);
    bench.gateway.handle_timeout(bench.now, &mut bench.notes);
    assert_eq!(bench.counters().terminates, 3);
}

#[test]
fn ports_are_opened_for_the_account_that_is_named_and_for_no_other() {
    let mut bench = bench();
    let id = reject_four(&mut bench);
    let bytes = forged(&mut bench);
    let replies = bench.send(id, &bytes);
    bench.expect_terminate(id, &replies, 8);
    // The second account's, and those of one that there is not.
    bench.gateway.open_ports(1);
    bench.gateway.open_ports(99);
    let id = bench.connect();
    let timestamp = bench.timestamp();
    let replies = bench.send(id, &negotiate(UUID, timestamp));
    bench.expect_terminate(id, &replies, 8);
    bench.gateway.open_ports(0);
    let id = bench.connect();
    bench.log_on(id);
}

#[test]
fn bad_logons_of_nobody_end_with_their_connection() {
    let mut bench = bench();
    for _ in 0..2 {
        let id = bench.connect();
        for _ in 0..4 {
            let timestamp = bench.timestamp();
            let bytes = negotiate_by(UUID, timestamp, "NOBODY", "ABC");
            assert_eq!(bench.send_one(id, &bytes).template(), 502);
        }
        bench.gateway.handle_closed(id, &mut bench.notes);
    }
}
