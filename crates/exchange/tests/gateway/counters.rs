//! Each error counter by itself: what makes it 1 makes no other 1.

use hairpin_exchange::{ConnectionId, Side};
use hairpin_time::Duration;

use crate::bench::{Bench, UUID};
use crate::client::{
    cancel, establish, frame, negotiate_by, order, order_with, replace_with, retransmit_request,
};

/// The counters of `GatewayCounters` that begin with `Errors:` or `Warnings:`.
const ERRORS: [&str; 16] = [
    "refused_connections",
    "displaced_connections",
    "overflows",
    "bad_frames",
    "undecodable",
    "violations",
    "logon_timeouts",
    "logon_rejects",
    "lapses",
    "not_applied",
    "retransmit_rejects",
    "order_rejects",
    "replace_rejects",
    "cancel_rejects",
    "business_rejects",
    "unreported",
];

#[track_caller]
fn assert_only(bench: &Bench, name: &str) {
    assert!(ERRORS.contains(&name));
    for (other, count) in bench.counters().iter().filter(|(name, _)| ERRORS.contains(name)) {
        assert_eq!(count, u64::from(other == name), "{other}");
    }
}

/// An established session, and nothing counted yet.
fn established() -> (Bench, ConnectionId, i64) {
    let (bench, id) = Bench::established();
    assert!(bench.counters().iter().all(|(name, count)| !ERRORS.contains(&name) || count == 0));
    let price = bench.far();
    (bench, id, price)
}

/// Every line of the counters' documentation that says so names an error here, and no other does.
#[test]
fn every_error_is_named_here() {
    let source = include_str!("../../src/gateway/counters.rs");
    let mut names = Vec::new();
    let mut is_error = false;
    for line in source.lines().map(str::trim) {
        match line.strip_prefix("/// ") {
            Some(text) => {
                is_error |= text.starts_with("Errors: ") || text.starts_with("Warnings: ")
            }
            None => {
                let name = line.trim_end_matches(',');
                if is_error && line.ends_with(',') {
                    names.push(name.to_owned());
                }
                is_error = false;
            }
        }
    }
    assert_eq!(names, ERRORS);
}

#[test]
fn counts_refused_connections_only() {
    let mut bench = Bench::new();
    bench.connect();
    bench.connect();
    assert!(bench.gateway.handle_connected(bench.now, &mut bench.notes).is_none());
    assert_only(&bench, "refused_connections");
}

#[test]
fn counts_displaced_connections_only() {
    let (mut bench, _, _) = established();
    let id = bench.connect();
    let timestamp = bench.timestamp();
    bench.send(id, &establish(UUID, timestamp, 1));
    assert_only(&bench, "displaced_connections");
}

#[test]
fn counts_overflows_only() {
    let (mut bench, id, _) = established();
    let price = bench.floor.matching().best(0, Side::Bid).unwrap().price.0 + 250_000_000;
    // One order that trades with a thousand others, and a client that reads nothing.
    let mut number = 0;
    let mut next = || {
        number += 1;
        number
    };
    let first = order_with(next(), price, |order| {
        order.set_order_qty(1_500);
    });
    bench.send(id, &first);
    let other = bench.connect();
    bench.log_on_by(other, ("OTHERKEY", "XYZ"));
    for number in 1..=1_500 {
        let sell = order_with(number, price, |order| {
            order.set_side(hairpin_cme_codecs::ilink3::SideReq::SELL);
        });
        bench.send(other, &sell);
        bench.drain_feed();
        if bench.counters().overflows > 0 {
            break;
        }
    }
    assert_only(&bench, "overflows");
    // The connection is given up; what it missed is kept.
    assert_eq!(
        bench.gateway.poll_action(&mut bench.notes),
        Some(hairpin_exchange::Action::Close(id))
    );
}

#[test]
fn counts_bad_frames_only() {
    let (mut bench, id, _) = established();
    bench.send(id, &[3, 0, 0xFE, 0xCA]);
    assert_only(&bench, "bad_frames");
}

#[test]
fn counts_undecodable_only() {
    let (mut bench, id, _) = established();
    bench.send(id, &frame(&[0, 0, 1, 0, 8, 0, 9, 0]));
    assert_only(&bench, "undecodable");
    // A business message is refused, but that is not counted a second time.
    let (mut bench, id, price) = established();
    bench.send(id, &frame(&order(1, price)[4..60]));
    assert_only(&bench, "undecodable");
}

#[test]
fn counts_violations_only() {
    let (mut bench, id, price) = established();
    bench.send(id, &order(0, price));
    assert_only(&bench, "violations");
}

#[test]
fn counts_logon_timeouts_only() {
    let mut bench = Bench::new();
    let id = bench.connect();
    bench.pass(Duration::from_secs(60));
    bench.timeout(id);
    assert_only(&bench, "logon_timeouts");
}

#[test]
fn counts_logon_rejects_only() {
    let mut bench = Bench::new();
    let id = bench.connect();
    let timestamp = bench.timestamp();
    bench.send(id, &negotiate_by(UUID, timestamp, "NOBODYSKEY", "ABC"));
    assert_only(&bench, "logon_rejects");
}

#[test]
fn counts_lapses_only() {
    let (mut bench, id, _) = established();
    bench.pass(Duration::from_secs(10));
    bench.timeout(id);
    assert_only(&bench, "lapses");
}

#[test]
fn counts_not_applied_only() {
    let (mut bench, id, price) = established();
    bench.send(id, &order(5, price));
    assert_only(&bench, "not_applied");
}

#[test]
fn counts_retransmit_rejects_only() {
    let (mut bench, id, _) = established();
    bench.send(id, &retransmit_request(UUID, 1));
    assert_only(&bench, "retransmit_rejects");
}

#[test]
fn counts_order_rejects_only() {
    let (mut bench, id, _) = established();
    bench.send(id, &order(1, 1));
    assert_only(&bench, "order_rejects");
}

#[test]
fn counts_replace_rejects_only() {
    let (mut bench, id, price) = established();
    bench.send(id, &replace_with(1, 99, price, |_| {}));
    assert_only(&bench, "replace_rejects");
}

#[test]
fn counts_cancel_rejects_only() {
    let (mut bench, id, _) = established();
    bench.send(id, &cancel(1, 99));
    assert_only(&bench, "cancel_rejects");
}

#[test]
fn counts_business_rejects_only() {
    let (mut bench, id, _) = established();
    bench.send(id, &cancel(1, None));
    assert_only(&bench, "business_rejects");
}

#[test]
fn counts_unreported_only() {
    let (mut bench, id, price) = established();
    bench.send(id, &order(1, price));
    bench.gateway.handle_closed(id, &mut bench.notes);
    bench.drain_feed();
    bench.floor.end_session(bench.now);
    bench.report();
    assert_only(&bench, "unreported");
}
