//! Market data on a simulated network: the exchange's publisher, receivers with the real channel,
//! and network faults drawn from a seed.
//!
//! At the end of each event, every synchronized book of a channel is compared with the published
//! book. `docs/design/feed-simulation.md` lists the rules and describes how to repeat a seed.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod checker;
mod exchange;
mod expected_state;
mod orders;
mod plan;
mod receiver;
mod receiver_log;
mod replay_connection;
mod without_rpt_seq;
mod world;

use hairpin_netsim::{Simulation, setting, trace};
use plan::{GroupKind, ReceiverKind};

/// The number of runs unless `HAIRPIN_SIM_SEEDS` is set.
const SEEDS: u64 = 200;

/// The classes that two hundred runs must cover.
const CLASSES: &[&str] = &[
    "steps of the market",
    "books published",
    "implied levels set",
    "resets of a book",
    "statuses",
    "statuses of the group",
    "statistics of the day, limits, quote requests, collateral",
    "definitions added",
    "definitions modified",
    "definitions deleted",
    "resets of the channel, numbering continues",
    "resets of the channel, numbering restarts",
    "restarts of the numbering without a reset",
    "lost",
    "cut",
    "duplicated",
    "delayed",
    "reordered",
    "periods of loss on A only",
    "periods of loss on B only",
    "periods of loss on both lines",
    "periods of silence on one line",
    "periods of silence on both lines",
    "periods of duplicates",
    "periods of reordering",
    "periods of packets later than the reorder wait",
    "joins at the start",
    "late joins",
    "joins with instruments from a cache",
    "books checked",
    "books checked ahead",
    "order books checked",
    "order books checked ahead",
    "naturally refreshed levels checked",
    "changes named by an event",
    "gaps",
    "recoveries",
    "channel resets",
    "restarts detected",
    "feed silences reported",
    "packets held for a gap",
    "packets of an older epoch",
    "books from snapshots",
    "order books from snapshots",
    "order snapshots with missing chunks",
    "books empty because the pass omits them",
    "books unaffected by a gap",
    "entries withheld",
    "entries dropped that a snapshot contained",
    "orders dropped that a snapshot contained",
    "snapshots too old",
    "natural refreshes",
    "queue overflows",
    "replays requested",
    "replays filled",
    "replays given up",
    "packets received by replay",
    "top orders sent again",
    "order entries applied",
];

fn simulation() -> Simulation {
    trace::set(setting("HAIRPIN_SIM_TRACE") == Some(1));
    Simulation { name: "feed", rest: "--trace".into() }
}

#[test]
fn synchronized_books_equal_published_books() {
    let kinds = GroupKind::ALL.map(GroupKind::class);
    let receiver_kinds = ReceiverKind::ALL.map(ReceiverKind::class);
    let classes: Vec<_> = CLASSES.iter().copied().chain(kinds).chain(receiver_kinds).collect();
    simulation().run_all(SEEDS, &classes, world::run);
}

#[test]
fn seed_determines_run() {
    let run = || simulation().run(17, world::run);
    assert_eq!(run(), run());
}
