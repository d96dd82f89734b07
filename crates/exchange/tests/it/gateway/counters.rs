//! Each error counter separately: its cause increments no other error counter.

use hairpin_cme_codecs::ilink3::MassActionScope;
use hairpin_exchange::{ConnectionId, Designation, GatewaySettings, RateLimit, RateLimits, Side};
use hairpin_time::Duration;

use super::harness::{Harness, UUID};
use crate::client::{
    QuoteEntry, cancel, cancel_with, establish, frame, mass_action_with, mass_quote, negotiate,
    negotiate_by, order, order_with, replace_with, retransmit_request,
};

/// The counters of `GatewayCounters` whose documentation starts with `Errors:` or `Warnings:`.
const ERRORS: [&str; 29] = [
    "refused_connections",
    "failed_connections",
    "displaced_connections",
    "idle_connections_closed",
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
    "unsolicited_quote_cancels",
    "unreported",
];

#[track_caller]
fn assert_only(harness: &Harness, name: &str) {
    assert!(ERRORS.contains(&name));
    for (other, count) in harness.counters().iter().filter(|(name, _)| ERRORS.contains(name)) {
        assert_eq!(count, u64::from(other == name), "{other}");
    }
}

/// Creates an established session without counted errors.
fn established() -> (Harness, ConnectionId, i64) {
    established_with(|_| {})
}

/// Creates an established session at a gateway with other settings.
fn established_with(change: impl FnOnce(&mut GatewaySettings)) -> (Harness, ConnectionId, i64) {
    let mut harness = Harness::with(2, change);
    let id = harness.connect();
    harness.log_on(id);
    assert!(harness.counters().iter().all(|(name, count)| !ERRORS.contains(&name) || count == 0));
    let price = harness.far_price();
    (harness, id, price)
}

/// Checks that this list equals the documented errors and warnings.
#[test]
fn errors_list_is_complete() {
    let source = include_str!("../../../src/gateway/counters.rs");
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
    let mut harness = Harness::new();
    harness.connect();
    harness.connect();
    assert!(harness.gateway.handle_connected(harness.now, &mut harness.listener).is_none());
    assert_only(&harness, "refused_connections");
}

#[test]
fn counts_displaced_connections_only() {
    let (mut harness, _, _) = established();
    let id = harness.connect();
    let timestamp = harness.timestamp();
    harness.send(id, &establish(UUID, timestamp, 1));
    assert_only(&harness, "displaced_connections");
}

#[test]
fn counts_idle_connections_closed_only() {
    let mut harness = Harness::new();
    harness.connect();
    harness.gateway.close_idle(&mut harness.listener);
    assert_only(&harness, "idle_connections_closed");
}

#[test]
fn counts_overflows_only() {
    let (mut harness, id, _) = established_with(|settings| settings.kept_messages = 64);
    let price = harness.market.matching().best(0, Side::Bid).unwrap().price.0 + 250_000_000;
    // One order that trades with a thousand others, and a client that does not read.
    let mut number = 0;
    let mut next = || {
        number += 1;
        number
    };
    let first = order_with(next(), price, |order| {
        order.set_order_qty(1_500);
    });
    harness.send(id, &first);
    let other = harness.connect();
    harness.log_on_by(other, ("OTHERKEY", "XYZ"));
    for number in 1..=1_500 {
        let sell = order_with(number, price, |order| {
            order.set_side(hairpin_cme_codecs::ilink3::SideReq::SELL);
        });
        harness.send(other, &sell);
        harness.drain_feed();
        if harness.counters().overflows > 0 {
            break;
        }
    }
    assert_only(&harness, "overflows");
    // The connection is closed; unsent reports are stored.
    assert_eq!(
        harness.gateway.poll_action(&mut harness.listener),
        Some(hairpin_exchange::Action::Close(id))
    );
}

#[test]
fn counts_bad_frames_only() {
    let (mut harness, id, _) = established();
    harness.send(id, &[3, 0, 0xFE, 0xCA]);
    assert_only(&harness, "bad_frames");
}

#[test]
fn counts_undecodable_only() {
    let (mut harness, id, _) = established();
    harness.send(id, &frame(&[0, 0, 1, 0, 8, 0, 9, 0]));
    assert_only(&harness, "undecodable");
    // A business message is rejected, but not counted a second time.
    let (mut harness, id, price) = established();
    harness.send(id, &frame(&order(1, price)[4..60]));
    assert_only(&harness, "undecodable");
}

#[test]
fn counts_violations_only() {
    let (mut harness, id, price) = established();
    harness.send(id, &order(0, price));
    assert_only(&harness, "violations");
}

#[test]
fn counts_logon_timeouts_only() {
    let mut harness = Harness::new();
    let id = harness.connect();
    harness.pass(Duration::from_secs(60));
    harness.timeout(id);
    assert_only(&harness, "logon_timeouts");
}

#[test]
fn counts_logon_rejects_only() {
    let mut harness = Harness::new();
    let id = harness.connect();
    let timestamp = harness.timestamp();
    harness.send(id, &negotiate_by(UUID, timestamp, "NOBODYSKEY", "ABC"));
    assert_only(&harness, "logon_rejects");
}

#[test]
fn counts_lapses_only() {
    let (mut harness, id, _) = established();
    harness.pass(Duration::from_secs(10));
    harness.timeout(id);
    assert_only(&harness, "lapses");
}

#[test]
fn counts_not_applied_only() {
    let (mut harness, id, price) = established();
    harness.send(id, &order(5, price));
    assert_only(&harness, "not_applied");
}

#[test]
fn counts_retransmit_rejects_only() {
    let (mut harness, id, _) = established();
    harness.send(id, &retransmit_request(UUID, 1));
    assert_only(&harness, "retransmit_rejects");
}

#[test]
fn counts_order_rejects_only() {
    let (mut harness, id, _) = established();
    harness.send(id, &order(1, 1));
    assert_only(&harness, "order_rejects");
}

#[test]
fn counts_replace_rejects_only() {
    let (mut harness, id, price) = established();
    harness.send(id, &replace_with(1, 99, price, |_| {}));
    assert_only(&harness, "replace_rejects");
}

#[test]
fn counts_cancel_rejects_only() {
    let (mut harness, id, _) = established();
    harness.send(id, &cancel(1, 99));
    assert_only(&harness, "cancel_rejects");
}

#[test]
fn counts_mass_action_rejects_only() {
    let (mut harness, id, _) = established();
    harness.send(
        id,
        &mass_action_with(1, |request| {
            request.set_mass_action_scope(MassActionScope::QUOTE_SET_ID);
        }),
    );
    assert_only(&harness, "mass_action_rejects");
}

#[test]
fn counts_quote_rejects_only() {
    let (mut harness, id, _) = established();
    harness.send(id, &mass_quote(1, &[QuoteEntry { security: 7, ..QuoteEntry::default() }]));
    assert_only(&harness, "quote_rejects");
}

#[test]
fn counts_business_rejects_only() {
    let (mut harness, id, _) = established();
    let nameless = cancel_with(1, 1, |cancel| {
        cancel.set_cl_ord_id("");
    });
    harness.send(id, &nameless);
    assert_only(&harness, "business_rejects");
}

#[test]
fn counts_unsolicited_quote_cancels_only() {
    let (mut harness, id, price) = established();
    let quote = QuoteEntry { bid: (price, 1), ..QuoteEntry::default() };
    harness.send(id, &mass_quote(1, &[quote]));
    harness.drain_feed();
    harness.market.end_session(harness.now);
    harness.report();
    assert_only(&harness, "unsolicited_quote_cancels");
}

#[test]
fn counts_unreported_only() {
    let (mut harness, id, price) = established();
    harness.send(id, &order(1, price));
    harness.gateway.handle_closed(id, &mut harness.listener);
    harness.drain_feed();
    harness.market.end_session(harness.now);
    harness.report();
    assert_only(&harness, "unreported");
}

#[test]
fn counts_failed_connections_only() {
    let mut harness = Harness::new();
    harness.gateway.fail_primary(harness.now, &mut harness.listener);
    assert_eq!(harness.connect_at(Designation::Primary), None);
    assert_only(&harness, "failed_connections");
}

/// Makes five bad logons at once.
fn close_ports(harness: &mut Harness) {
    let id = harness.connect();
    for _ in 0..5 {
        let timestamp = harness.timestamp();
        let mut bytes = negotiate(UUID + 1, timestamp);
        bytes[12] ^= 1;
        harness.send(id, &bytes);
    }
    harness.gateway.poll_action(&mut harness.listener);
}

#[test]
fn counts_port_closures_only() {
    let mut harness = Harness::with(2, |settings| settings.closes_ports = true);
    close_ports(&mut harness);
    // The four before it are ordinary rejects.
    let counters = harness.counters();
    assert_eq!((counters.port_closures, counters.logon_rejects), (1, 4));
    let errors = counters.iter().filter(|(name, _)| ERRORS.contains(name));
    assert_eq!(errors.map(|(_, count)| count).sum::<u64>(), 5);
}

#[test]
fn counts_turned_away_only() {
    let mut harness = Harness::with(2, |settings| settings.closes_ports = true);
    close_ports(&mut harness);
    let before = harness.counters();
    let id = harness.connect();
    let timestamp = harness.timestamp();
    harness.send(id, &negotiate(UUID, timestamp));
    let errors =
        harness.counters().iter().zip(before.iter()).filter(|(now, _)| ERRORS.contains(&now.0));
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
    let (mut harness, id, price) = established_with(limits(0, 1));
    harness.send(id, &order(1, price));
    assert_only(&harness, "throttled");
}

#[test]
fn counts_volume_logouts_only() {
    let (mut harness, id, price) = established_with(limits(0, 0));
    harness.send(id, &order(1, price));
    assert_only(&harness, "volume_logouts");
}

#[test]
fn counts_split_overflows_only() {
    let (mut harness, id, price) = established_with(|settings| settings.split_queue_max = Some(0));
    let bytes = [order(1, price), order(2, price)].concat();
    harness.send(id, &bytes[..50]);
    harness.send(id, &bytes[50..]);
    assert_only(&harness, "split_overflows");
}

/// Creates a session that is also established on the backup.
fn with_backup() -> (Harness, ConnectionId, ConnectionId) {
    let (mut harness, id, _) = established();
    let backup = harness.connect_at(Designation::Backup).unwrap();
    let timestamp = harness.timestamp();
    harness.send(backup, &establish(UUID, timestamp, 0));
    (harness, id, backup)
}

#[test]
fn counts_backup_rejects_only() {
    let (mut harness, _, backup) = with_backup();
    harness.send(backup, &order(0, 1));
    assert_only(&harness, "backup_rejects");
}

#[test]
fn counts_disconnect_cancels_only() {
    let (mut harness, id, _) = established_with(|settings| settings.cancels_on_disconnect = true);
    harness.gateway.handle_closed(id, &mut harness.listener);
    harness.report();
    assert_only(&harness, "disconnect_cancels");
}

#[test]
fn counts_orphaned_backups_only() {
    let (mut harness, id, backup) = with_backup();
    harness.gateway.handle_closed(id, &mut harness.listener);
    harness.timeout(backup);
    assert_only(&harness, "orphaned_backups");
}
