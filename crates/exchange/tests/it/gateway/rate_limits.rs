//! Messaging controls: rejected messages, and the end of the session.

use hairpin_cme_codecs::ilink3::{
    BusinessReject521, CrossTypeEnum, ExecutionReportNew522, KeepAliveLapsed,
};
use hairpin_exchange::{ConnectionId, RateLimit, RateLimits, TerminateCode};
use hairpin_time::Duration;

use super::harness::{Harness, UUID};
use crate::client::{
    CancelNames, Definition, QuoteEntry, cancel, definition, mass_action_with, mass_quote,
    mass_quote_request_with, order, party_list_request, quote_cancel, quote_cancel_by,
    request_for_cross, sequence,
};
use crate::decode;

/// Creates a gateway with limits of two and three messages per second for each class, so six and
/// nine in a window. In the pre-open state the limits are one and two.
fn harness() -> (Harness, ConnectionId, i64) {
    let limit = RateLimit { reject: 2, logout: 3 };
    let pre_open = RateLimit { reject: 1, logout: 2 };
    let limits = RateLimits { cancels: limit, quotes: limit, orders: limit, pre_open };
    let mut harness = Harness::with(2, |settings| settings.limits = Some(limits));
    let id = harness.connect();
    harness.log_on(id);
    let price = harness.far_price();
    (harness, id, price)
}

#[test]
fn rejects_messages_above_the_limit_within_a_window() {
    let (mut harness, id, price) = harness();
    for number in 1..=6 {
        assert_eq!(harness.send_one(id, &order(number, price)).template(), 522);
    }
    let reply = harness.send_one(id, &order(7, price));
    let reject = decode!(BusinessReject521, reply);
    assert_eq!((reject.business_reject_reason(), reject.ref_seq_num()), (8, Some(7)));
    assert_eq!((reject.ref_msg_type().to_string(), reject.seq_num()), ("D".into(), 7));
    // Cancels have a separate window.
    assert_eq!(harness.send_one(id, &cancel(8, 99)).template(), 535);
    harness.pass(Duration::from_secs(3));
    let reply = harness.send_one(id, &order(9, price));
    assert_eq!(decode!(ExecutionReportNew522, reply).seq_num(), 9);
    assert_eq!((harness.counters().throttled, harness.counters().orders), (1, 7));
}

#[test]
fn exceeding_the_logout_limit_ends_the_session() {
    let (mut harness, id, price) = harness();
    let bytes: Vec<u8> = (1..=10).flat_map(|number| order(number, price)).collect();
    let replies = harness.send(id, &bytes);
    let templates: Vec<u16> = replies.iter().map(|reply| reply.template()).collect();
    assert_eq!(templates, [522, 522, 522, 522, 522, 522, 521, 521, 521, 507]);
    harness.expect_terminate(id, &replies, TerminateCode::VolumeControls.code());
}

#[test]
fn pre_open_lowers_the_order_limit() {
    let (mut harness, id, price) = harness();
    harness.gateway.set_pre_open(true);
    for number in 1..=3 {
        assert_eq!(harness.send_one(id, &order(number, price)).template(), 522);
    }
    assert_eq!(harness.send_one(id, &order(4, price)).template(), 521);
    harness.gateway.set_pre_open(false);
    assert_eq!(harness.send_one(id, &order(5, price)).template(), 522);
}

#[test]
fn mass_actions_count_as_cancels_and_quote_cancels_as_quotes() {
    let (mut harness, id, price) = harness();
    for number in 1..=5 {
        assert_eq!(harness.send_one(id, &mass_action_with(number, |_| {})).template(), 562);
    }
    for number in 6..=10 {
        assert_eq!(harness.send_one(id, &quote_cancel(number, CancelNames::All)).template(), 563);
    }
    // One more of each kind.
    assert_eq!(harness.send_one(id, &cancel(11, 99)).template(), 535);
    let entry = [QuoteEntry::default()];
    assert_eq!(harness.send_one(id, &mass_quote(12, &entry)).template(), 545);
    for message in [cancel(13, 99), mass_action_with(14, |_| {}), mass_quote(15, &entry)] {
        assert_eq!(harness.send_one(id, &message).template(), 521);
    }
    for message in
        [quote_cancel(16, CancelNames::All), quote_cancel_by(17, CancelNames::Sets(&[1]))]
    {
        assert_eq!(harness.send_one(id, &message).template(), 521);
    }
    // Orders have not been counted.
    for number in 18..=23 {
        assert_eq!(harness.send_one(id, &order(number, price)).template(), 522);
    }
}

#[test]
fn pre_open_limits_crosses_but_not_mass_quote_requests() {
    let (mut harness, id, price) = harness();
    harness.gateway.set_pre_open(true);
    let cross =
        |number: u32| request_for_cross((number, number.into()), CrossTypeEnum::CROSS, price, &[]);
    for number in 1..=3 {
        let reply = harness.send_one(id, &cross(number));
        assert_eq!(decode!(BusinessReject521, reply).business_reject_reason(), 132);
    }
    let reply = harness.send_one(id, &cross(4));
    assert_eq!(decode!(BusinessReject521, reply).business_reject_reason(), 8);
    // Quotes have a separate limit, in the pre-open state too.
    let quotes = |number| mass_quote_request_with(number, &[], |_| {});
    for number in 5..=10 {
        assert_eq!(harness.send_one(id, &quotes(number)).template(), 571);
    }
    assert_eq!(harness.send_one(id, &quotes(11)).template(), 521);
}

#[test]
fn session_messages_are_not_limited() {
    let (mut harness, id, price) = harness();
    for _ in 0..20 {
        assert!(harness.send(id, &sequence(UUID, 1, KeepAliveLapsed::NOT_LAPSED)).is_empty());
    }
    assert_eq!(harness.send_one(id, &order(1, price)).template(), 522);
    assert_eq!(harness.counters().throttled, 0);
}

#[test]
fn party_details_count_as_other_messages() {
    let (mut harness, id, price) = harness();
    for number in 1..=3 {
        let list = u64::from(number) + 10;
        let message = definition(&Definition { number, ..Definition::new(list) });
        assert_eq!(harness.send_one(id, &message).template(), 519);
    }
    harness.send(id, &party_list_request(4, &[], &[11]));
    for number in 5..=6 {
        assert_eq!(harness.send_one(id, &order(number, price)).template(), 522);
    }
    assert_eq!(harness.send_one(id, &order(7, price)).template(), 521);
}
