//! Market data on a simulated network: the exchange's publisher, receivers that are the real
//! channel, and everything that can go wrong between them, by a seed.
//!
//! At the end of every event every book that a channel calls in sync is held against what the
//! exchange had published by then. `docs/design/feed-simulation.md` says what is demanded, and how
//! to
//! repeat a seed.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod hearing;
mod judge;
mod orders;
mod plan;
mod receiver;
mod replay_call;
mod stage;
mod truth;
mod unnumbered;
mod world;

#[path = "../support/seeds.rs"]
mod seeds;
#[path = "../support/trace.rs"]
mod trace;

use plan::{Kind, Way};
use seeds::{Simulation, setting};

/// Runs unless `HAIRPIN_SIM_SEEDS` says another number.
const SEEDS: u64 = 200;

/// What must happen in two hundred runs, or they prove less than they seem to.
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
    "resets of the channel, numbers go on",
    "resets of the channel, numbers begin again",
    "numbers begin again without a reset",
    "lost",
    "cut",
    "duplicated",
    "delayed",
    "reordered",
    "times of loss on A only",
    "times of loss on B only",
    "times of loss on both sides",
    "times of silence on one side",
    "times of silence on both sides",
    "times of duplicates",
    "times of reordering",
    "times of packets beyond the reorder wait",
    "joins at the start",
    "late joins",
    "joins with instruments from a cache",
    "books checked",
    "books checked ahead",
    "order books checked",
    "order books checked ahead",
    "naturally refreshed levels checked",
    "changes named",
    "gaps",
    "recoveries",
    "resets told",
    "restarts seen",
    "silences told",
    "packets held for a hole",
    "packets of an older epoch",
    "books from snapshots",
    "order books from snapshots",
    "order snapshots torn",
    "books empty by absence",
    "books found unaffected by a gap",
    "entries withheld",
    "entries dropped that a snapshot had stated",
    "orders dropped that a snapshot had stated",
    "snapshots too old",
    "natural refreshes",
    "queue overflows",
    "replays asked for",
    "replays filled",
    "replays given up",
    "packets by replay",
    "top orders restated",
    "order entries applied",
];

fn simulation() -> Simulation {
    trace::set(setting("HAIRPIN_SIM_TRACE") == Some(1));
    Simulation { name: "feed", rest: "--trace".into() }
}

#[test]
fn a_book_called_in_sync_is_what_was_published() {
    let kinds = Kind::ALL.map(Kind::class);
    let ways = Way::ALL.map(Way::class);
    let classes: Vec<_> = CLASSES.iter().copied().chain(kinds).chain(ways).collect();
    simulation().run_all(SEEDS, &classes, world::run);
}

#[test]
fn one_seed_is_one_run() {
    let run = || simulation().run(17, world::run);
    assert_eq!(run(), run());
}
