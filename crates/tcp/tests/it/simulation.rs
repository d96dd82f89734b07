//! Two connections on a simulated network with faults drawn from a seed.
//!
//! Both ends send and receive streams whose bytes follow from their positions. Every byte must
//! arrive once and in order, whatever is lost, repeated, reordered or corrupted. At random moments,
//! and whenever a connection asks to be handed back, it is moved through its snapshot.

mod world;

use crate::seeds::{Simulation, setting};
use crate::trace;

/// The number of runs unless `HAIRPIN_SIM_SEEDS` is set.
const SEEDS: u64 = 200;

/// The classes that two hundred runs must cover.
const CLASSES: &[&str] = &[
    "lost",
    "duplicated",
    "corrupted",
    "reordered",
    "delayed",
    "bytes received",
    "segments predicted",
    "segments out of order",
    "segments received again",
    "segments sent again",
    "tail loss probes",
    "retransmission timeouts",
    "reductions of the congestion window",
    "windows closed",
    "handbacks: two retransmission timeouts in a row",
    "handbacks: window closed for 5 ms",
    "handbacks: 64 KiB in flight for 100 ms",
    "snapshots",
    "snapshots with bytes in flight",
    "snapshots with unread bytes",
    "sequence numbers wrapped",
    "segments sent in place",
    "without timestamps",
    "without selective acknowledgments",
    "segments below 200 bytes",
    "with Nagle's algorithm",
];

fn simulation() -> Simulation {
    trace::set(setting("HAIRPIN_SIM_TRACE") == Some(1));
    Simulation { name: "tcp", rest: "--trace".into() }
}

#[test]
fn bytes_arrive_once_and_in_order() {
    simulation().run_all(SEEDS, CLASSES, world::run);
}

#[test]
fn seed_determines_run() {
    let run = || simulation().run(17, world::run);
    assert_eq!(run(), run());
}
