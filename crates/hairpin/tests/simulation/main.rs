//! The whole system on a simulated network: an exchange, three traders, and everything that can
//! go wrong between them, by a seed.
//!
//! Exchange, channel, session and strategy are the real ones; only sockets and clocks are not.
//! Each end of an event and the end of each run is held against what the exchange published, each
//! order against what the gateway took. `docs/design/testing.md` says how to repeat a seed.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod desk;
mod feed_judge;
mod ledger;
mod life;
mod plan;
mod session_judge;
mod truth;
mod venue;
mod world;

#[path = "../support/frames.rs"]
mod frames;
#[path = "../support/fuse.rs"]
mod fuse;
#[path = "../support/seeds.rs"]
mod seeds;
#[path = "../support/wire.rs"]
mod wire;

use plan::Ordeal;
use seeds::{Simulation, setting};

/// Ticks of a run unless `HAIRPIN_SIM_TICKS` says another number.
const TICKS: u64 = 150;
/// Runs unless `HAIRPIN_SIM_SEEDS` says another number.
const SEEDS: u64 = 100;

/// What must happen in a hundred runs, or they prove less than they seem to.
const CLASSES: &[&str] = &[
    "ticks",
    "heartbeats",
    "events in one packet",
    "events in several packets",
    "lost",
    "cut",
    "overflowed",
    "duplicated",
    "corrupted",
    "delayed",
    "reordered",
    "gaps",
    "recoveries",
    "late joins in sync",
    "books found equal",
    "books ahead by a snapshot",
    "books from snapshots",
    "books found unaffected by a gap",
    "packets held for a hole",
    "traders without a gap though packets were held",
    "entries withheld",
    "snapshots too old",
    "corrupt datagrams found out",
    "logons",
    "logons that found no connection",
    "sessions resumed",
    "sessions begun anew",
    "connections lost",
    "connections reset",
    "connections refused",
    "partial writes",
    "orders refused: too many wait",
    "orders and cancels lost by a break",
    "reports delivered again",
    "reports missing amid",
    "reports missing under the UUID before",
    "logons resumed with nothing missing",
    "logons resumed with reports missing",
    "logons resumed with orders missing",
    "reports swallowed",
    "messages not applied and told so",
    "NotApplied answered",
    "orders left resting by a break",
    "terminates of the exchange",
    "terminates answered",
    "traders killed",
    "traders killed amid a callback",
    "traders restarted",
    "silences of the exchange",
    "silences of the trader",
    "keep-alives lapsed",
    "corrupt order streams found out",
    "books changed by traders' orders",
];

fn simulation(ticks: u64) -> Simulation {
    Simulation { name: "t2t", rest: format!("--ticks {ticks}") }
}

#[test]
fn nothing_is_lost_that_its_faults_do_not_explain() {
    let ticks = setting("HAIRPIN_SIM_TICKS").unwrap_or(TICKS);
    let ordeals = Ordeal::ALL.map(Ordeal::class);
    let classes: Vec<_> = CLASSES.iter().copied().chain(ordeals).collect();
    simulation(ticks).run_all(SEEDS, &classes, |seed| world::run(seed, ticks));
}

#[test]
fn one_seed_is_one_run() {
    let run = || simulation(60).run(17, |seed| world::run(seed, 60));
    assert_eq!(run(), run());
}
