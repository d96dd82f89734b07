//! The whole system on a simulated network: an exchange, three traders, and network faults drawn
//! from a seed.
//!
//! The exchange, channel, session and strategy are the real ones. Only the sockets and clocks are
//! simulated. At the end of each event and of each run, books are compared with the published books
//! and orders with the messages that the gateway accepted. `docs/design/testing.md` describes how
//! to repeat a seed.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod expected_state;
mod feed_checker;
mod message_log;
mod plan;
mod process;
mod session_checker;
mod trader;
mod venue;
mod world;

#[path = "../support/client_stream.rs"]
mod client_stream;
#[path = "../support/crash_point.rs"]
mod crash_point;
#[path = "../support/frames.rs"]
mod frames;

use hairpin_netsim::{Simulation, setting};
use plan::Scenario;

/// The number of ticks per run unless `HAIRPIN_SIM_TICKS` is set.
const TICKS: u64 = 150;
/// The number of runs unless `HAIRPIN_SIM_SEEDS` is set.
const SEEDS: u64 = 100;

/// The classes that a hundred runs must cover.
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
    "books equal to the published book",
    "books ahead by a snapshot",
    "books from snapshots",
    "books unaffected by a gap",
    "packets held for a gap",
    "traders without a gap though packets were held",
    "entries withheld",
    "snapshots too old",
    "corrupt datagrams detected",
    "logons",
    "logons that found no connection",
    "sessions resumed",
    "sessions negotiated again",
    "connections lost",
    "connections reset",
    "connections refused",
    "partial writes",
    "orders refused: too many wait",
    "orders and cancels lost with a connection",
    "reports delivered again",
    "reports missing within a stream",
    "reports missing under the previous UUID",
    "logons resumed with nothing missing",
    "logons resumed with reports missing",
    "logons resumed with orders missing",
    "reports dropped",
    "messages reported as not applied",
    "NotApplied followed by a Sequence",
    "orders left resting by a lost connection",
    "terminates by the exchange",
    "terminates answered",
    "traders killed",
    "traders killed in a callback",
    "traders restarted",
    "silences of the exchange",
    "silences of the trader",
    "keep-alives lapsed",
    "corrupt order streams detected",
    "books changed by traders' orders",
];

fn simulation(ticks: u64) -> Simulation {
    Simulation { name: "t2t", rest: format!("--ticks {ticks}") }
}

#[test]
fn messages_are_lost_only_through_faults() {
    let ticks = setting("HAIRPIN_SIM_TICKS").unwrap_or(TICKS);
    let scenarios = Scenario::ALL.map(Scenario::class);
    let classes: Vec<_> = CLASSES.iter().copied().chain(scenarios).collect();
    simulation(ticks).run_all(SEEDS, &classes, |seed| world::run(seed, ticks));
}

#[test]
fn seed_determines_run() {
    let run = || simulation(60).run(17, |seed| world::run(seed, 60));
    assert_eq!(run(), run());
}
