//! Each fault raises its counter, and no other.

use crate::mock_exchange;
use std::io;

use crate::session_harness::{ORDER, SessionHarness};
use hairpin_order_entry::*;

/// The counters of normal operation.
const ORDINARY: [&str; 6] =
    ["connects", "connected", "chunks", "bytes_written", "partial_writes", "journals_begun_again"];

/// Checks that exactly one fault was counted, as `name`.
#[track_caller]
fn assert_only(harness: &SessionHarness, name: &'static str) {
    let counters = harness.session.counters().iter();
    let faults = counters.filter(|(name, count)| *count > 0 && !ORDINARY.contains(name));
    assert_eq!(faults.collect::<Vec<_>>(), [(name, 1)]);
}

#[test]
fn fault_counters_have_their_tests() {
    let this = include_str!("counters.rs");
    for (name, _) in Counters::default().iter() {
        let is_tested = this.contains(&format!("fn counts_{name}_only()"));
        assert!(is_tested != ORDINARY.contains(&name), "{name}");
    }
}

#[test]
fn counts_failures_only() {
    let mut harness = SessionHarness::established(4);
    harness.connector.connection().refusal = Some(io::ErrorKind::ConnectionRefused);
    harness.connector.connection().ended = true;
    harness.poll();
    harness.session.connect(mock_exchange::now(harness.time), Binding::Resume).unwrap();
    harness.poll();
    assert_eq!(harness.session.state(), State::Disconnected);
    assert_only(&harness, "failures");
}

#[test]
fn counts_unsent_records_only() {
    let mut harness = SessionHarness::established(4);
    harness.send().unwrap();
    harness.connector.connection().ended = true;
    harness.poll();
    assert_only(&harness, "unsent_records");
}

#[test]
fn counts_unjournaled_requests_only() {
    let mut harness = SessionHarness::established(64);
    harness.connector.connection().room = usize::MAX;
    while harness.send().is_ok() {}
    harness.session.terminate(mock_exchange::now(harness.time));
    harness.poll();
    assert_only(&harness, "unjournaled_requests");
}

#[test]
fn counts_unjournaled_messages_only() {
    let mut harness = SessionHarness::established(64);
    while harness.send().is_ok() {}
    harness.add_room(ORDER);
    harness.deliver_answers();
    harness.poll();
    assert_eq!(harness.session.inbound_counters().business_messages, 1, "delivered anyway");
    assert_only(&harness, "unjournaled_messages");
}

#[test]
fn counts_journal_failures_only() {
    let (mut harness, folder) = SessionHarness::with_failed_journal(mock_exchange::settings(1));
    harness.poll();
    harness.poll();
    assert_only(&harness, "journal_failures");
    drop(folder);
}

#[test]
fn failed_write_is_a_failure_and_not_a_partial_write() {
    let mut harness = SessionHarness::established(4);
    harness.connector.connection().failure = Some(io::ErrorKind::ConnectionReset);
    let partial = harness.session.counters().partial_writes;
    harness.send().unwrap();
    harness.poll();
    let counters = *harness.session.counters();
    assert_eq!((counters.partial_writes, counters.failures), (partial, 1));
    assert_eq!(harness.session.outbound_counters().broken, 1);
}
