//! Order entry on a simulated network: the gateway, a trader with the real session, journal and
//! order tracker, and faults drawn from a seed.
//!
//! Each received message is compared with the message that the other end sent. After each phase of
//! faults, the journal, sequence numbers and working orders of both ends are compared.
//! `docs/design/order-simulation.md` lists the rules and describes how to repeat a seed.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod disk;
mod journal;
mod ledger;
mod life;
mod plan;
mod trader;
mod venue;
mod world;

#[path = "../support/frames.rs"]
mod frames;
#[path = "../support/fuse.rs"]
mod fuse;
#[path = "../support/request.rs"]
mod request;
#[path = "../support/seeds.rs"]
mod seeds;
#[path = "../support/trace.rs"]
mod trace;
#[path = "../support/wire.rs"]
mod wire;

use seeds::{Simulation, setting};

/// The number of runs unless `HAIRPIN_SIM_SEEDS` is set.
const SEEDS: u64 = 200;

/// The classes that two hundred runs must cover.
const CLASSES: &[&str] = &[
    "NotApplied not replayed",
    "NotApplied told",
    "attempts to begin a week",
    "attempts to begin anew",
    "attempts to resume",
    "backup: connections lost",
    "backup: ended with the primary",
    "backup: logons refused without a primary",
    "connections lost",
    "connections to the backup reset",
    "connections refused",
    "connections reset",
    "connections reset amid",
    "connections that could not be made",
    "cut in a NewOrderSingle",
    "cut in a refused cancel or replacement",
    "cut in an ExecutionReportCancel",
    "cut in an ExecutionReportModify",
    "cut in an ExecutionReportNew",
    "cut in an ExecutionReportReject",
    "cut in an ExecutionReportStatus",
    "cut in an ExecutionReportTrade",
    "cut in an OrderCancelReplaceRequest",
    "cut in an OrderCancelRequest",
    "cut in the headers of a frame",
    "cuts while the exchange sends",
    "cuts while the trader sends",
    "doubled messages found out",
    "doubts settled by a logon",
    "failovers",
    "failovers from a connection that ends",
    "failovers from a connection that hangs",
    "failovers that leave messages in doubt",
    "failovers that lose messages of the exchange",
    "failovers that lose messages of the trader",
    "failovers with requests in flight",
    "failures of the primary",
    "floods",
    "gaps",
    "gaps filled",
    "gaps of several batches",
    "gaps under UUID 0",
    "gaps under an earlier UUID",
    "gateway: connections cut",
    "gateway: connections refused",
    "gateway: messages doubled",
    "gateway: messages dropped",
    "gateway: numbers skipped",
    "gateway: silences",
    "gateway: writes coalesced",
    "gateway: writes delayed",
    "gateway: writes split",
    "holds overflowed",
    "keep-alives lapsed at the exchange",
    "keep-alives lapsed at the trader",
    "killed amid a failover",
    "killed at the end of a callback",
    "killed before a commit",
    "killed before a keep",
    "killed before a read",
    "killed before a write",
    "killed behind a mark",
    "killed behind a write",
    "killed between callback and mark",
    "killed between commit and sync",
    "killed between commit and write",
    "killed between keep and callback",
    "killed between sync and write",
    "killed between two wakes",
    "killed in a callback",
    "killed when active on the backup",
    "logons",
    "logons on the backup",
    "logons with all there",
    "logons with messages missing",
    "messages accepted",
    "messages accepted that were sent again",
    "messages refused without their number",
    "messages told again",
    "messages told by retransmission",
    "messages told by the next process",
    "not applied, and the word lost with its connection",
    "numbers forgotten",
    "numbers found never to be used",
    "partial writes",
    "phases settled and checked",
    "power cuts",
    "power cuts amid a failover",
    "processes killed",
    "processes started",
    "records lost with power",
    "records of ours lost with power",
    "retransmissions dropped",
    "retransmissions under way for long",
    "sends refused",
    "silences of the exchange",
    "silences of the trader",
    "steps back of the trader's clock",
    "steps of the market",
    "terminates answered",
    "terminates of the exchange",
    "times of a narrow line",
    "times the backup stood by",
    "trades before the first logon of a week",
    "trades while the trader was away",
    "trading days ended",
    "weeks begun",
    "working orders compared",
];

fn simulation() -> Simulation {
    trace::set(setting("HAIRPIN_SIM_TRACE") == Some(1));
    Simulation { name: "order", rest: "--trace".into() }
}

#[test]
fn every_message_is_told_once_and_every_order_is_accounted_for() {
    simulation().run_all(SEEDS, CLASSES, world::run);
}

/// Tests seed 3898: the connector, which polls the state, missed the established state.
#[test]
fn a_session_that_is_established_and_lost_within_one_turn_is_resumed() {
    simulation().run(3_898, world::run);
}

#[test]
fn one_seed_is_one_run() {
    let run = || simulation().run(17, world::run);
    assert_eq!(run(), run());
}
