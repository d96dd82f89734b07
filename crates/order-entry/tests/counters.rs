//! Each counter of a fault is raised by its fault, and by no other.

mod exchange;
mod wire;

use std::io;

use hairpin_order_entry::*;
use wire::{Bench, ORDER};

/// Counters of what is ordinary: they have no mark, and no test of their own.
const ORDINARY: [&str; 6] =
    ["connects", "connected", "chunks", "bytes_written", "partial_writes", "journals_begun_again"];

/// Asserts that of all faults only `name` was counted, and once.
#[track_caller]
fn assert_only(bench: &Bench, name: &'static str) {
    let counters = bench.session.counters().iter();
    let faults = counters.filter(|(name, count)| *count > 0 && !ORDINARY.contains(name));
    assert_eq!(faults.collect::<Vec<_>>(), [(name, 1)]);
}

#[test]
fn every_counter_of_a_fault_is_named_in_this_file() {
    let this = include_str!("counters.rs");
    for (name, _) in Counters::default().iter() {
        let is_tested = this.contains(&format!("fn counts_{name}_only()"));
        assert!(is_tested != ORDINARY.contains(&name), "{name}");
    }
}

#[test]
fn counts_failures_only() {
    let mut bench = Bench::established(4);
    bench.shared.wire().refusal = Some(io::ErrorKind::ConnectionRefused);
    bench.shared.wire().is_ended = true;
    bench.turn();
    bench.session.connect(exchange::now(bench.time), Binding::Resume).unwrap();
    bench.turn();
    assert_eq!(bench.session.state(), State::Disconnected);
    assert_only(&bench, "failures");
}

#[test]
fn counts_unsent_records_only() {
    let mut bench = Bench::established(4);
    bench.send().unwrap();
    bench.shared.wire().is_ended = true;
    bench.turn();
    assert_only(&bench, "unsent_records");
}

#[test]
fn counts_unjournaled_requests_only() {
    let mut bench = Bench::established(64);
    bench.shared.wire().room = usize::MAX;
    while bench.send().is_ok() {}
    bench.session.terminate(exchange::now(bench.time));
    bench.turn();
    assert_only(&bench, "unjournaled_requests");
}

#[test]
fn counts_unjournaled_messages_only() {
    let mut bench = Bench::established(64);
    while bench.send().is_ok() {}
    bench.give(ORDER);
    bench.answer();
    bench.turn();
    assert_eq!(bench.session.inbound_counters().business_messages, 1, "delivered all the same");
    assert_only(&bench, "unjournaled_messages");
}

#[test]
fn a_write_that_breaks_is_a_failure_and_no_partial_write() {
    let mut bench = Bench::established(4);
    bench.shared.wire().failure = Some(io::ErrorKind::ConnectionReset);
    let partial = bench.session.counters().partial_writes;
    bench.send().unwrap();
    bench.turn();
    let counters = *bench.session.counters();
    assert_eq!((counters.partial_writes, counters.failures), (partial, 1));
    assert_eq!(bench.session.outbound_counters().broken, 1);
}
