//! Sockets on a simulated network with faults drawn from a seed.
//!
//! `docs/design/rds-simulation.md` lists the rules and describes how to repeat a seed.

mod judge;
mod plan;
mod world;

use hairpin_netsim::{Simulation, setting, trace};
use plan::Kind;

/// The number of runs unless `HAIRPIN_SIM_SEEDS` is set.
const SEEDS: u64 = 500;

/// The classes that five hundred runs must cover.
const CLASSES: &[&str] = &[
    "lost",
    "duplicated",
    "corrupted",
    "reordered",
    "cut",
    "delayed",
    "one-way partitions",
    "stalls of 4 ms or more",
    "restarts of the sender",
    "restarts of the receiver",
    "ports unbound",
    "answered without a socket",
    "answered with an ICMP error",
    "receivers that stop reading",
    "carriers without room",
    "messages delivered",
    "messages delivered in place",
    "empty messages delivered",
    "messages of several packets delivered",
    "messages of more than 64 packets delivered",
    "outcomes: delivered",
    "outcomes: not delivered",
    "outcomes: unknown",
    "cancels of messages in flight",
    "writable after congestion",
    "gaps seen",
    "gaps reported",
    "gap reports received",
    "gaps skipped",
    "retransmissions",
    "probes",
    "acknowledgments without data",
    "windows halved",
    "duplicates dropped",
    "corrupted packets dropped",
    "packets of another incarnation dropped",
    "stale packets dropped",
    "packets without a buffer dropped",
    "challenges",
    "peers restarted",
    "peers evicted",
    "peers without a socket",
    "peers unreachable",
    "ICMP errors accepted",
    "ICMP errors ignored",
    "forged packets",
    "forged ICMP errors",
    "sends refused: congested",
    "sends refused: no room",
    "receivers congested",
];

fn simulation() -> Simulation {
    trace::set(setting("HAIRPIN_SIM_TRACE") == Some(1));
    Simulation { name: "rds", rest: "--trace".into() }
}

#[test]
fn messages_are_delivered_once_and_in_order() {
    let classes: Vec<_> = CLASSES.iter().copied().chain(Kind::ALL.map(Kind::class)).collect();
    simulation().run_all(SEEDS, &classes, world::run);
}

/// An evicted peer that was known by an acknowledgment only repeated what had been received.
#[test]
fn evicted_peer_sends_no_copies() {
    for seed in [1593, 2139, 3959] {
        simulation().run(seed, world::run);
    }
}

/// A packet from a state that the sender had evicted was taken for a sign that it knows the socket
/// (4127). A message received before an eviction was repeated to a peer that was never known
/// (8355).
#[test]
fn evicted_peer_that_was_never_known_gets_no_copies() {
    for seed in [4127, 8355] {
        simulation().run(seed, world::run);
    }
}

#[test]
fn seed_determines_run() {
    let run = || simulation().run(17, world::run);
    assert_eq!(run(), run());
}
