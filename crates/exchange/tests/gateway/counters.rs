//! Each error counter by itself: what makes it 1 makes no other 1.

use hairpin_cme_codecs::ilink3::MassActionScope;
use hairpin_exchange::{ConnectionId, Designation, GatewaySettings, RateLimit, RateLimits, Side};
use hairpin_time::Duration;

use crate::bench::{Bench, UUID};
use crate::client::{
    QuoteEntry, cancel, establish, frame, mass_action_with, mass_quote, negotiate, negotiate_by,
    order, order_with, replace_with, retransmit_request,
};

/// The counters of `GatewayCounters` that begin with `Errors:` or `Warnings:`.
const ERRORS: [&str; 27] = [
    "refused_connections",
    "failed_connections",
    "displaced_connections",
    "overflows",
    "bad_frames",
    "undecodable",
    "violations",
    "logon_timeouts",
    "logon_rejects",
    "port_closures",
    "turned_away",
    "lapses",
    "not_applied",
    "retransmit_rejects",
    "throttled",
    "volume_logouts",
    "split_overflows",
    "backup_rejects",
    "disconnect_cancels",
    "orphaned_backups",
    "order_rejects",
    "replace_rejects",
    "cancel_rejects",
    "mass_action_rejects",
    "quote_rejects",
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
    established_with(|_| {})
}

/// The same at a gateway with other settings.
fn established_with(change: impl FnOnce(&mut GatewaySettings)) -> (Bench, ConnectionId, i64) {
    let mut bench = Bench::with(2, change);
    let id = bench.connect();
    bench.log_on(id);
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
    let (mut bench, id, _) = established_with(|settings| settings.kept_messages = 64);
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
fn counts_mass_action_rejects_only() {
    let (mut bench, id, _) = established();
    bench.send(
        id,
        &mass_action_with(1, |request| {
            request.set_mass_action_scope(MassActionScope(99));
        }),
    );
    assert_only(&bench, "mass_action_rejects");
}

#[test]
fn counts_quote_rejects_only() {
    let (mut bench, id, _) = established();
    bench.send(id, &mass_quote(1, &[QuoteEntry { security: 7, ..QuoteEntry::default() }]));
    assert_only(&bench, "quote_rejects");
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

#[test]
fn counts_failed_connections_only() {
    let mut bench = Bench::new();
    bench.gateway.fail_primary(bench.now, &mut bench.notes);
    assert_eq!(bench.connect_at(Designation::Primary), None);
    assert_only(&bench, "failed_connections");
}

/// Five bad logons at once.
fn close_ports(bench: &mut Bench) {
    let id = bench.connect();
    for _ in 0..5 {
        let timestamp = bench.timestamp();
        let mut bytes = negotiate(UUID + 1, timestamp);
        bytes[12] ^= 1;
        bench.send(id, &bytes);
    }
    bench.gateway.poll_action(&mut bench.notes);
}

#[test]
fn counts_port_closures_only() {
    let mut bench = Bench::with(2, |settings| settings.closes_ports = true);
    close_ports(&mut bench);
    // The four before it are rejects of their own.
    let counters = bench.counters();
    assert_eq!((counters.port_closures, counters.logon_rejects), (1, 4));
    let errors = counters.iter().filter(|(name, _)| ERRORS.contains(name));
    assert_eq!(errors.map(|(_, count)| count).sum::<u64>(), 5);
}

#[test]
fn counts_turned_away_only() {
    let mut bench = Bench::with(2, |settings| settings.closes_ports = true);
    close_ports(&mut bench);
    let before = bench.counters();
    let id = bench.connect();
    let timestamp = bench.timestamp();
    bench.send(id, &negotiate(UUID, timestamp));
    let errors =
        bench.counters().iter().zip(before.iter()).filter(|(now, _)| ERRORS.contains(&now.0));
    let changed: Vec<&str> =
        errors.filter(|(now, then)| now != then).map(|(now, _)| now.0).collect();
    assert_eq!(changed, ["turned_away"]);
}

fn limits(reject: u32, logout: u32) -> impl FnOnce(&mut GatewaySettings) {
    let limit = RateLimit { reject, logout };
    move |settings| {
        let limits = RateLimits { cancels: limit, quotes: limit, orders: limit, pre_open: limit };
        settings.limits = Some(limits);
    }
}

#[test]
fn counts_throttled_only() {
    let (mut bench, id, price) = established_with(limits(0, 1));
    bench.send(id, &order(1, price));
    assert_only(&bench, "throttled");
}

#[test]
fn counts_volume_logouts_only() {
    let (mut bench, id, price) = established_with(limits(0, 0));
    bench.send(id, &order(1, price));
    assert_only(&bench, "volume_logouts");
}

#[test]
fn counts_split_overflows_only() {
    let (mut bench, id, price) = established_with(|settings| settings.split_queue_max = Some(0));
    let bytes = [order(1, price), order(2, price)].concat();
    bench.send(id, &bytes[..50]);
    bench.send(id, &bytes[50..]);
    assert_only(&bench, "split_overflows");
}

/// A session that is established on the backup too.
fn with_backup() -> (Bench, ConnectionId, ConnectionId) {
    let (mut bench, id, _) = established();
    let backup = bench.connect_at(Designation::Backup).unwrap();
    let timestamp = bench.timestamp();
    bench.send(backup, &establish(UUID, timestamp, 0));
    (bench, id, backup)
}

#[test]
fn counts_backup_rejects_only() {
    let (mut bench, _, backup) = with_backup();
    bench.send(backup, &order(0, 1));
    assert_only(&bench, "backup_rejects");
}

#[test]
fn counts_disconnect_cancels_only() {
    let (mut bench, id, _) = established_with(|settings| settings.cancels_on_disconnect = true);
    bench.gateway.handle_closed(id, &mut bench.notes);
    bench.report();
    assert_only(&bench, "disconnect_cancels");
}

#[test]
fn counts_orphaned_backups_only() {
    let (mut bench, id, backup) = with_backup();
    bench.gateway.handle_closed(id, &mut bench.notes);
    bench.timeout(backup);
    assert_only(&bench, "orphaned_backups");
}
