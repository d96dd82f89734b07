//! Market data on a simulated network: the exchange's publisher, receivers that are the real
//! channel, and everything that can go wrong between them, by a seed.
//!
//! At the end of every event every book that a channel calls in sync is held against what the
//! exchange had published by then. `docs/feed-simulation.md` says what is demanded, and how to
//! repeat a seed.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod hearing;
mod judge;
mod orders;
mod plan;
mod receiver;
mod replay_call;
mod stage;
mod trace;
mod truth;
mod unnumbered;
mod world;

use hairpin_netsim::Census;

use plan::{Kind, Way};

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

/// Tells the seed if its run panics.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self(seed) = self;
            eprintln!("seed {seed} failed; to repeat it:");
            eprintln!("  cargo xtask sim feed --first-seed {seed} --seeds 1 --trace");
        }
    }
}

fn run(seed: u64) -> Census {
    let guard = Seed(seed);
    let census = world::run(guard.0);
    drop(guard);
    census
}

fn setting(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} is no number: {value}")))
}

#[test]
fn a_book_called_in_sync_is_what_was_published() {
    let first = setting("HAIRPIN_SIM_FROM").unwrap_or(0);
    let count = setting("HAIRPIN_SIM_SEEDS").unwrap_or(SEEDS);
    trace::set(setting("HAIRPIN_SIM_TRACE") == Some(1));
    let mut census = Census::new();
    for seed in first..first + count {
        census.merge(&run(seed));
    }
    println!("{census}");
    // A few runs need not have everything.
    if count >= SEEDS {
        let kinds = Kind::ALL.map(Kind::class);
        let ways = Way::ALL.map(Way::class);
        let classes: Vec<_> = CLASSES.iter().copied().chain(kinds).chain(ways).collect();
        census.require(&classes).unwrap();
    }
}

#[test]
fn one_seed_is_one_run() {
    assert_eq!(run(17), run(17));
}
