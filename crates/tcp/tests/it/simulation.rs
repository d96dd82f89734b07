//! Two connections, or one and smoltcp, on a simulated network with faults drawn from a seed.
//!
//! Both ends send and receive streams whose bytes follow from their positions. Every byte must
//! arrive once and in order, whatever is lost, repeated, reordered or corrupted. At random moments,
//! and whenever a connection asks to be handed back, it is moved through its snapshot.

mod end;
mod world;

use hairpin_netsim::{Simulation, setting, trace};
use world::Peer;

/// The numbers of runs unless `HAIRPIN_SIM_SEEDS` is set. smoltcp sends everything again after
/// three duplicate acknowledgments, and its runs take longer.
const SEEDS: u64 = 200;
const SMOLTCP_SEEDS: u64 = 25;

/// The classes that these runs must cover with either peer.
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
    "snapshots",
    "snapshots with bytes in flight",
    "snapshots with unread bytes",
    "sequence numbers wrapped",
    "segments sent in place",
    "answers before an acknowledgment is processed",
    "without timestamps",
    "without selective acknowledgments",
    "segments below 200 bytes",
    "with Nagle's algorithm",
];
/// The classes of runs with two engines alone: smoltcp rarely leaves so much in flight.
const ENGINE_CLASSES: &[&str] = &["handbacks: 64 KiB in flight for 100 ms"];
/// The classes of runs with smoltcp alone.
const SMOLTCP_CLASSES: &[&str] = &["bytes received by smoltcp", "windows of smoltcp closed"];

fn simulation() -> Simulation {
    trace::set(setting("HAIRPIN_SIM_TRACE") == Some(1));
    Simulation { name: "tcp", rest: "--trace".into() }
}

#[test]
fn bytes_arrive_once_and_in_order() {
    let classes = [CLASSES, ENGINE_CLASSES].concat();
    simulation().run_all(SEEDS, &classes, |seed| world::run(seed, Peer::Engine));
}

#[test]
fn bytes_arrive_once_and_in_order_with_smoltcp() {
    let classes = [CLASSES, SMOLTCP_CLASSES].concat();
    simulation().run_all(SMOLTCP_SEEDS, &classes, |seed| world::run(seed, Peer::Smoltcp));
}

#[test]
fn smoltcp_continues_after_an_old_segment_closes_its_window() {
    simulation().run(6_087, |seed| world::run(seed, Peer::Smoltcp));
}

#[test]
fn seed_determines_run() {
    for peer in [Peer::Engine, Peer::Smoltcp] {
        let run = || simulation().run(17, |seed| world::run(seed, peer));
        assert_eq!(run(), run());
    }
}
