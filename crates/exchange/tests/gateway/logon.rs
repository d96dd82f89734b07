//! Negotiate and Establish: what is refused, and with which code.

use hairpin_cme_codecs::ilink3::{EstablishmentReject505, KeepAliveLapsed, NegotiationReject502};
use hairpin_exchange::SessionState;
use hairpin_time::Duration;

use crate::bench::{Bench, START, UUID};
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
        ("an unknown key", negotiate_by(UUID, START, "NOBODY", "ABC"), 0),
        ("no signature", unsigned, 4),
        ("no key", negotiate_by(UUID, START, "", "ABC"), 5),
        ("no session", negotiate_by(UUID, START, ACCESS_KEY, ""), 6),
        ("another's session", negotiate_by(UUID, START, ACCESS_KEY, "XYZ"), 10),
        ("another's key", negotiate_by(UUID, START, "OTHERKEY", "ABC"), 10),
        ("a key that is no text", negotiate_by(UUID, START, "K\u{7}", "ABC"), 12),
        ("a session that is no text", negotiate_by(UUID, START, ACCESS_KEY, "A\u{7}"), 13),
        ("a stale timestamp", negotiate(UUID, START - stale), 3),
        ("a timestamp to come", negotiate(UUID, START + stale), 3),
        ("no timestamp", negotiate(UUID, u64::MAX), 9),
    ] {
        let mut bench = Bench::new();
        let id = bench.connect();
        let reply = bench.send_one(id, &request);
        let reject = decode!(NegotiationReject502, reply);
        assert_eq!((reject.error_codes(), reject.uuid()), (code, UUID), "{what}");
        assert_eq!(bench.gateway.state(id), SessionState::Connected, "{what}");
        assert_eq!(bench.counters().logon_rejects, 1, "{what}");
        // The session is none the worse for it.
        bench.log_on(id);
    }
}

#[test]
fn rejects_establish_with_cmes_codes() {
    let names = ("A", "B", "C");
    for (what, keep_alive, names, code) in [
        ("too short an interval", 4_999, names, 11),
        ("too long an interval", 60_001, names, 11),
        ("no interval", u16::MAX, names, 21),
        ("a name that is no text", 10_000, ("\u{1}", "B", "C"), 23),
        ("a version that is no text", 10_000, ("A", "\u{1}", "C"), 24),
        ("a vendor that is no text", 10_000, ("A", "B", "\u{1}"), 25),
        ("no name", 10_000, ("", "B", "C"), 18),
        ("no version", 10_000, ("A", "", "C"), 19),
        ("no vendor", 10_000, ("A", "B", ""), 20),
    ] {
        let mut bench = Bench::new();
        let id = bench.connect();
        let timestamp = bench.timestamp();
        bench.send_one(id, &negotiate(UUID, timestamp));
        let timestamp = bench.timestamp();
        let request = establish_with(UUID, timestamp, 1, keep_alive, names);
        let reply = bench.send_one(id, &request);
        let reject = decode!(EstablishmentReject505, reply);
        assert_eq!((reject.error_codes(), reject.next_seq_no()), (code, 1), "{what}");
        assert_eq!(bench.gateway.state(id), SessionState::Negotiated, "{what}");
    }
    for keep_alive in [5_000, 60_000] {
        let mut bench = Bench::new();
        let id = bench.connect();
        let timestamp = bench.timestamp();
        bench.send_one(id, &negotiate(UUID, timestamp));
        let timestamp = bench.timestamp();
        let request = establish_with(UUID, timestamp, 1, keep_alive, names);
        assert_eq!(bench.send_one(id, &request).template(), 504);
    }
}

#[test]
fn a_timestamp_is_good_once() {
    let mut bench = Bench::new();
    let id = bench.connect();
    let timestamp = bench.timestamp();
    assert_eq!(bench.send_one(id, &negotiate(UUID, timestamp)).template(), 501);
    let reply = bench.send_one(id, &establish(UUID, timestamp, 1));
    assert_eq!(decode!(EstablishmentReject505, reply).error_codes(), 3);
}

#[test]
fn a_logon_must_come_within_a_minute() {
    let mut bench = Bench::new();
    let id = bench.connect();
    bench.pass(Duration::from_secs(59));
    let timestamp = bench.timestamp();
    assert_eq!(bench.timeout(id), []);
    bench.send_one(id, &negotiate(UUID, timestamp));
    bench.pass(Duration::from_secs(59));
    assert_eq!(bench.timeout(id), []);
    bench.pass(Duration::from_secs(1));
    let replies = bench.timeout(id);
    bench.expect_terminate(id, &replies, 1);
}

#[test]
fn a_timestamp_may_be_five_seconds_old_and_no_more() {
    for (age, template) in [(5_000_000_000, 501), (5_000_000_001, 502)] {
        let mut bench = Bench::new();
        let id = bench.connect();
        assert_eq!(bench.send_one(id, &negotiate(UUID, START - age)).template(), template);
    }
}

#[test]
fn a_timestamp_of_establish_is_good_once_too() {
    let mut bench = Bench::new();
    let id = bench.connect();
    bench.log_on(id);
    let last = bench.now.utc.as_nanos();
    bench.gateway.handle_closed(id, &mut bench.notes);
    let id = bench.connect();
    let reply = bench.send_one(id, &establish(UUID, last, 1));
    assert_eq!(decode!(EstablishmentReject505, reply).error_codes(), 3);
}

#[test]
fn the_firm_is_looked_at_like_the_session() {
    for (firm, code) in [("OTHER", 10), ("", 7), ("A\u{7}", 14), ("A\u{7f}", 14)] {
        let mut bench = Bench::new();
        let id = bench.connect();
        let request = negotiate_of(UUID, START, (ACCESS_KEY, "ABC", firm));
        let reply = bench.send_one(id, &request);
        assert_eq!(decode!(NegotiationReject502, reply).error_codes(), code, "{firm:?}");
    }
}

#[test]
fn establish_is_by_the_account_that_negotiated() {
    let mut bench = Bench::new();
    let id = bench.connect();
    bench.log_on_by(id, ("OTHERKEY", "XYZ"));
    bench.gateway.handle_closed(id, &mut bench.notes);
    let id = bench.connect();
    let timestamp = bench.timestamp();
    bench.send_one(id, &negotiate(UUID, timestamp));
    let timestamp = bench.timestamp();
    let by = ("OTHERKEY", "XYZ");
    let replies = bench.send(id, &establish_by(UUID, timestamp, (1, 10_000), SYSTEM, by));
    bench.expect_terminate(id, &replies, 13);
}

#[test]
fn next_seq_no_is_there_and_at_most_one_beyond_the_last_number() {
    for (next, code) in [(1_000_000_000, None), (1_000_000_001, Some(10)), (u32::MAX, Some(21))] {
        let (mut bench, id) = Bench::established();
        bench.gateway.handle_closed(id, &mut bench.notes);
        let id = bench.connect();
        let timestamp = bench.timestamp();
        let replies = bench.send(id, &establish(UUID, timestamp, next));
        match code {
            Some(code) => bench.expect_terminate(id, &replies, code),
            None => assert_eq!(replies[0].template(), 504),
        }
    }
}

#[test]
fn the_interval_is_the_one_that_was_asked_for() {
    for seconds in [5_u16, 60] {
        let mut bench = Bench::new();
        let id = bench.connect();
        let timestamp = bench.timestamp();
        bench.send_one(id, &negotiate(UUID, timestamp));
        let timestamp = bench.timestamp();
        let names = ("A", "B", "C");
        bench.send_one(id, &establish_with(UUID, timestamp, 1, seconds * 1_000, names));
        let due = bench.now.monotonic + Duration::from_secs(seconds.into());
        assert_eq!(bench.gateway.poll_timeout(), Some(due));
    }
}

#[test]
fn a_refused_establish_says_which_number_is_expected() {
    let (mut bench, id) = Bench::established();
    let price = bench.far();
    bench.send_one(id, &order(1, price));
    let timestamp = bench.timestamp();
    bench.send(id, &sequence(UUID, 5, KeepAliveLapsed::NOT_LAPSED));
    bench.gateway.handle_closed(id, &mut bench.notes);
    let id = bench.connect();
    bench.send_one(id, &negotiate(UUID + 1, timestamp));
    let timestamp = bench.timestamp();
    let reply = bench.send_one(id, &establish_with(UUID + 1, timestamp, 1, 1, SYSTEM));
    assert_eq!(decode!(EstablishmentReject505, reply).next_seq_no(), 1);
}
