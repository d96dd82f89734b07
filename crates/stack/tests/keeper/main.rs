//! A seeded model of hostile programs at the keeper, as root: they send it random messages with
//! random descriptors, while an honest program keeps its connections through it.
//!
//! | module | contents |
//! |---|---|
//! | `world` | the hosts, the run and its programs; one seed |
//! | `hostile` | the steps of hostile programs, and which answers are allowed |
//! | `client` | a connection to the keeper that sends any bytes |
//! | `passable` | descriptors of every kind, and what their owner may have |
//! | `packet` | packets that seem to come from another host |
//! | `honest` | a program with the library, and victims on the kernel |
//! | `process` | the keeper's processes, descriptors and filter entries |
//!
//! `cargo xtask sim keeper` runs many seeds, or repeats one.
#![expect(clippy::unwrap_used, reason = "all of this program is tests")]

mod client;
mod honest;
mod hostile;
mod packet;
mod passable;
mod process;
mod world;

use hairpin_netsim::Simulation;

/// The number of runs unless `HAIRPIN_SIM_SEEDS` is set.
const SEEDS: u64 = 8;

/// What must have happened in these runs.
const CLASSES: &[&str] = &[
    "client: ended by an empty message",
    "client: left",
    "client: process ended, socket passed on",
    "client: refused for its descriptor",
    "client: registered",
    "client: socket closed",
    "descriptor: too many",
    "entry: allowed",
    "entry: ended",
    "entry: refused",
    "entry: refused on an interface of another program",
    "honest: handed back",
    "honest: taken over",
    "inject: forged",
    "interface: opened",
    "interface: refused",
    "message: no request",
    "message: not read",
    "message: oversized",
    "message: truncated",
    "repair: ended",
    "request: with a wrong descriptor",
    "takeover: allowed",
    "takeover: refused",
    "takeover: undone",
    "takeover: bound meanwhile",
];

#[test]
#[ignore = "needs root"]
fn hostile_programs_gain_nothing_from_the_keeper() {
    let simulation = Simulation { name: "keeper", rest: String::new() };
    let world = world::World::new();
    simulation.run_all(SEEDS, CLASSES, |seed| world.run(seed));
}
