//! Messaging controls: what is refused, and what ends the session.

use hairpin_cme_codecs::ilink3::{
    BusinessReject521, CrossTypeEnum, ExecutionReportNew522, KeepAliveLapsed,
};
use hairpin_exchange::{ConnectionId, RateLimit, RateLimits, TerminateCode};
use hairpin_time::Duration;

use crate::bench::{Bench, UUID};
use crate::client::{
    Named, QuoteEntry, cancel, mass_action_with, mass_quote, mass_quote_request_with, order,
    quote_cancel, quote_cancel_by, request_for_cross, sequence,
};
use crate::decode;

/// A gateway that takes two messages a second of each class and ends a session at three, so six
/// and nine in a window; one and two before the open.
fn bench() -> (Bench, ConnectionId, i64) {
    let limit = RateLimit { reject: 2, logout: 3 };
    let pre_open = RateLimit { reject: 1, logout: 2 };
    let limits = RateLimits { cancels: limit, quotes: limit, orders: limit, pre_open };
    let mut bench = Bench::with(2, |settings| settings.limits = Some(limits));
    let id = bench.connect();
    bench.log_on(id);
    let price = bench.far();
    (bench, id, price)
}

#[test]
fn what_is_above_the_limit_is_refused_by_number_until_the_window_is_over() {
    let (mut bench, id, price) = bench();
    for number in 1..=6 {
        assert_eq!(bench.send_one(id, &order(number, price)).template(), 522);
    }
    let reply = bench.send_one(id, &order(7, price));
    let reject = decode!(BusinessReject521, reply);
    assert_eq!((reject.business_reject_reason(), reject.ref_seq_num()), (8, Some(7)));
    assert_eq!((reject.ref_msg_type().to_string(), reject.seq_num()), ("D".into(), 7));
    // Cancels have a window of their own.
    assert_eq!(bench.send_one(id, &cancel(8, 99)).template(), 535);
    bench.pass(Duration::from_secs(3));
    let reply = bench.send_one(id, &order(9, price));
    assert_eq!(decode!(ExecutionReportNew522, reply).seq_num(), 9);
    assert_eq!((bench.counters().throttled, bench.counters().orders), (1, 7));
}

#[test]
fn above_the_limit_for_logging_out_the_session_ends() {
    let (mut bench, id, price) = bench();
    let bytes: Vec<u8> = (1..=10).flat_map(|number| order(number, price)).collect();
    let replies = bench.send(id, &bytes);
    let templates: Vec<u16> = replies.iter().map(|reply| reply.template()).collect();
    assert_eq!(templates, [522, 522, 522, 522, 522, 522, 521, 521, 521, 507]);
    bench.expect_terminate(id, &replies, TerminateCode::VolumeControls.code());
}

#[test]
fn before_the_open_the_limit_of_orders_is_lower() {
    let (mut bench, id, price) = bench();
    bench.gateway.set_pre_open(true);
    for number in 1..=3 {
        assert_eq!(bench.send_one(id, &order(number, price)).template(), 522);
    }
    assert_eq!(bench.send_one(id, &order(4, price)).template(), 521);
    bench.gateway.set_pre_open(false);
    assert_eq!(bench.send_one(id, &order(5, price)).template(), 522);
}

#[test]
fn mass_actions_count_as_cancels_and_quote_cancels_as_quotes() {
    let (mut bench, id, price) = bench();
    for number in 1..=5 {
        assert_eq!(bench.send_one(id, &mass_action_with(number, |_| {})).template(), 562);
    }
    for number in 6..=10 {
        assert_eq!(bench.send_one(id, &quote_cancel(number, Named::All)).template(), 563);
    }
    // One more of each kind.
    assert_eq!(bench.send_one(id, &cancel(11, 99)).template(), 535);
    let entry = [QuoteEntry::default()];
    assert_eq!(bench.send_one(id, &mass_quote(12, &entry)).template(), 545);
    for message in [cancel(13, 99), mass_action_with(14, |_| {}), mass_quote(15, &entry)] {
        assert_eq!(bench.send_one(id, &message).template(), 521);
    }
    for message in [quote_cancel(16, Named::All), quote_cancel_by(17, Named::Sets(&[1]))] {
        assert_eq!(bench.send_one(id, &message).template(), 521);
    }
    // Orders have not been counted.
    for number in 18..=23 {
        assert_eq!(bench.send_one(id, &order(number, price)).template(), 522);
    }
}

#[test]
fn a_request_for_cross_counts_as_an_order_before_the_open_and_a_mass_quote_request_as_quotes() {
    let (mut bench, id, price) = bench();
    bench.gateway.set_pre_open(true);
    let cross =
        |number: u32| request_for_cross((number, number.into()), CrossTypeEnum::CROSS, price, &[]);
    for number in 1..=3 {
        let reply = bench.send_one(id, &cross(number));
        assert_eq!(decode!(BusinessReject521, reply).business_reject_reason(), 132);
    }
    let reply = bench.send_one(id, &cross(4));
    assert_eq!(decode!(BusinessReject521, reply).business_reject_reason(), 8);
    // Quotes have their own limit, before the open too.
    let quotes = |number| mass_quote_request_with(number, &[], |_| {});
    for number in 5..=10 {
        assert_eq!(bench.send_one(id, &quotes(number)).template(), 571);
    }
    assert_eq!(bench.send_one(id, &quotes(11)).template(), 521);
}

#[test]
fn session_messages_do_not_count() {
    let (mut bench, id, price) = bench();
    for _ in 0..20 {
        assert!(bench.send(id, &sequence(UUID, 1, KeepAliveLapsed::NOT_LAPSED)).is_empty());
    }
    assert_eq!(bench.send_one(id, &order(1, price)).template(), 522);
    assert_eq!(bench.counters().throttled, 0);
}
