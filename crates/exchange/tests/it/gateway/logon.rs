//! Negotiate and Establish: rejected logons and their codes.

use hairpin_cme_codecs::ilink3::{EstablishmentReject505, KeepAliveLapsed, NegotiationReject502};
use hairpin_exchange::SessionState;
use hairpin_time::Duration;

use super::harness::{Harness, START, UUID};
use crate::client::{
    ACCESS_KEY, SYSTEM, establish, establish_by, establish_with, negotiate, negotiate_by,
    negotiate_of, order, sequence,
};
use crate::decode;

#[test]
fn rejects_logons_with_cmes_codes() {
    let stale = Duration::from_secs(5).as_nanos() + 1;
    let mut forged = negotiate(UUID, START);
    forged[12 + 5] ^= 1;
    let mut unsigned = negotiate(UUID, START);
    unsigned[12..12 + 32].fill(0);
    for (what, request, code) in [
        ("a forged signature", forged, 0),
        ("an unknown key", negotiate_by(UUID, START, "UNKNOWNKEY", "ABC"), 0),
        ("no signature", unsigned, 4),
        ("no key", negotiate_by(UUID, START, "", "ABC"), 5),
        ("no session", negotiate_by(UUID, START, ACCESS_KEY, ""), 6),
        ("another session", negotiate_by(UUID, START, ACCESS_KEY, "XYZ"), 10),
        ("another key", negotiate_by(UUID, START, "OTHERKEY", "ABC"), 10),
        ("an unprintable key", negotiate_by(UUID, START, "K\u{7}", "ABC"), 12),
        ("an unprintable session", negotiate_by(UUID, START, ACCESS_KEY, "A\u{7}"), 13),
        ("a stale timestamp", negotiate(UUID, START - stale), 3),
        ("a future timestamp", negotiate(UUID, START + stale), 3),
        ("no timestamp", negotiate(UUID, u64::MAX), 9),
    ] {
        let mut harness = Harness::new();
        let id = harness.connect();
        let reply = harness.send_one(id, &request);
        let reject = decode!(NegotiationReject502, reply);
        assert_eq!((reject.error_codes(), reject.uuid()), (code, UUID), "{what}");
        assert_eq!(harness.gateway.state(id), SessionState::Connected, "{what}");
        assert_eq!(harness.counters().logon_rejects, 1, "{what}");
        // The connection can still log on.
        harness.log_on(id);
    }
}

#[test]
fn rejects_establish_with_cmes_codes() {
    let names = ("A", "B", "C");
    for (what, keep_alive, names, code) in [
        ("too short an interval", 4_999, names, 11),
        ("too long an interval", 60_001, names, 11),
        ("no interval", u16::MAX, names, 21),
        ("an unprintable name", 10_000, ("\u{1}", "B", "C"), 23),
        ("an unprintable version", 10_000, ("A", "\u{1}", "C"), 24),
        ("an unprintable vendor", 10_000, ("A", "B", "\u{1}"), 25),
        ("no name", 10_000, ("", "B", "C"), 18),
        ("no version", 10_000, ("A", "", "C"), 19),
        ("no vendor", 10_000, ("A", "B", ""), 20),
    ] {
        let mut harness = Harness::new();
        let id = harness.connect();
        let timestamp = harness.timestamp();
        harness.send_one(id, &negotiate(UUID, timestamp));
        let timestamp = harness.timestamp();
        let request = establish_with(UUID, timestamp, 1, keep_alive, names);
        let reply = harness.send_one(id, &request);
        let reject = decode!(EstablishmentReject505, reply);
        assert_eq!((reject.error_codes(), reject.next_seq_no()), (code, 1), "{what}");
        assert_eq!(harness.gateway.state(id), SessionState::Negotiated, "{what}");
    }
    for keep_alive in [5_000, 60_000] {
        let mut harness = Harness::new();
        let id = harness.connect();
        let timestamp = harness.timestamp();
        harness.send_one(id, &negotiate(UUID, timestamp));
        let timestamp = harness.timestamp();
        let request = establish_with(UUID, timestamp, 1, keep_alive, names);
        assert_eq!(harness.send_one(id, &request).template(), 504);
    }
}

#[test]
fn negotiate_timestamp_must_increase() {
    let mut harness = Harness::new();
    let id = harness.connect();
    let timestamp = harness.timestamp();
    assert_eq!(harness.send_one(id, &negotiate(UUID, timestamp)).template(), 501);
    let reply = harness.send_one(id, &establish(UUID, timestamp, 1));
    assert_eq!(decode!(EstablishmentReject505, reply).error_codes(), 3);
}

#[test]
fn logon_must_arrive_within_a_minute() {
    let mut harness = Harness::new();
    let id = harness.connect();
    harness.pass(Duration::from_secs(59));
    let timestamp = harness.timestamp();
    assert_eq!(harness.timeout(id), []);
    harness.send_one(id, &negotiate(UUID, timestamp));
    harness.pass(Duration::from_secs(59));
    assert_eq!(harness.timeout(id), []);
    harness.pass(Duration::from_secs(1));
    let replies = harness.timeout(id);
    harness.expect_terminate(id, &replies, 1);
}

#[test]
fn timestamp_may_be_five_seconds_old() {
    for (age, template) in [(5_000_000_000, 501), (5_000_000_001, 502)] {
        let mut harness = Harness::new();
        let id = harness.connect();
        assert_eq!(harness.send_one(id, &negotiate(UUID, START - age)).template(), template);
    }
}

#[test]
fn establish_timestamp_must_increase() {
    let mut harness = Harness::new();
    let id = harness.connect();
    harness.log_on(id);
    let last = harness.now.utc.as_nanos();
    harness.gateway.handle_closed(id, &mut harness.listener);
    let id = harness.connect();
    let reply = harness.send_one(id, &establish(UUID, last, 1));
    assert_eq!(decode!(EstablishmentReject505, reply).error_codes(), 3);
}

#[test]
fn firm_must_match_the_access_key() {
    for (firm, code) in [("OTHER", 10), ("", 7), ("A\u{7}", 14), ("A\u{7f}", 14)] {
        let mut harness = Harness::new();
        let id = harness.connect();
        let request = negotiate_of(UUID, START, (ACCESS_KEY, "ABC", firm));
        let reply = harness.send_one(id, &request);
        assert_eq!(decode!(NegotiationReject502, reply).error_codes(), code, "{firm:?}");
    }
}

#[test]
fn establish_must_name_the_negotiated_account() {
    let mut harness = Harness::new();
    let id = harness.connect();
    harness.log_on_by(id, ("OTHERKEY", "XYZ"));
    harness.gateway.handle_closed(id, &mut harness.listener);
    let id = harness.connect();
    let timestamp = harness.timestamp();
    harness.send_one(id, &negotiate(UUID, timestamp));
    let timestamp = harness.timestamp();
    let by = ("OTHERKEY", "XYZ");
    let replies = harness.send(id, &establish_by(UUID, timestamp, (1, 10_000), SYSTEM, by));
    harness.expect_terminate(id, &replies, 13);
}

#[test]
fn next_seq_no_is_required_and_limited() {
    for (next, code) in [(1_000_000_000, None), (1_000_000_001, Some(10)), (u32::MAX, Some(21))] {
        let (mut harness, id) = Harness::established();
        harness.gateway.handle_closed(id, &mut harness.listener);
        let id = harness.connect();
        let timestamp = harness.timestamp();
        let replies = harness.send(id, &establish(UUID, timestamp, next));
        match code {
            Some(code) => harness.expect_terminate(id, &replies, code),
            None => assert_eq!(replies[0].template(), 504),
        }
    }
}

#[test]
fn ack_repeats_the_requested_keep_alive_interval() {
    for seconds in [5_u16, 60] {
        let mut harness = Harness::new();
        let id = harness.connect();
        let timestamp = harness.timestamp();
        harness.send_one(id, &negotiate(UUID, timestamp));
        let timestamp = harness.timestamp();
        let names = ("A", "B", "C");
        harness.send_one(id, &establish_with(UUID, timestamp, 1, seconds * 1_000, names));
        let due = harness.now.monotonic + Duration::from_secs(seconds.into());
        assert_eq!(harness.gateway.poll_timeout(), Some(due));
    }
}

#[test]
fn establishment_reject_has_the_expected_number() {
    let (mut harness, id) = Harness::established();
    let price = harness.far_price();
    harness.send_one(id, &order(1, price));
    let timestamp = harness.timestamp();
    harness.send(id, &sequence(UUID, 5, KeepAliveLapsed::NOT_LAPSED));
    harness.gateway.handle_closed(id, &mut harness.listener);
    let id = harness.connect();
    harness.send_one(id, &negotiate(UUID + 1, timestamp));
    let timestamp = harness.timestamp();
    let reply = harness.send_one(id, &establish_with(UUID + 1, timestamp, 1, 1, SYSTEM));
    assert_eq!(decode!(EstablishmentReject505, reply).next_seq_no(), 1);
}
