//! Order entry on a simulated network: the gateway, a trader with the real session, journal and
//! order tracker, and faults drawn from a seed.
//!
//! Each received message is compared with the message that the other end sent. After each phase of
//! faults, the journal, sequence numbers and working orders of both ends are compared.
//! `docs/design/order-simulation.md` lists the rules and describes how to repeat a seed.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod disk;
mod journal;
mod message_log;
mod plan;
mod process;
mod trader;
mod venue;
mod world;

#[path = "../support/client_stream.rs"]
mod client_stream;
#[path = "../support/crash_point.rs"]
mod crash_point;
#[path = "../support/frames.rs"]
mod frames;
#[path = "../support/request.rs"]
mod request;

use hairpin_netsim::{Simulation, setting, trace};

/// The number of runs unless `HAIRPIN_SIM_SEEDS` is set.
const SEEDS: u64 = 200;

/// The classes that two hundred runs must cover.
const CLASSES: &[&str] = &[
    "NotApplied not replayed",
    "NotApplied delivered",
    "first logon attempts of a week",
    "attempts to negotiate again",
    "attempts to resume",
    "backup: connections lost",
    "backup: ended with the primary",
    "backup: logons refused because of no primary",
    "connections lost",
    "connections to the backup reset",
    "connections refused",
    "connections reset",
    "connections reset within a frame",
    "failed connection attempts",
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
    "doubled messages detected",
    "unknown messages settled by a logon",
    "failovers",
    "failovers from a closed connection",
    "failovers from a hanging connection",
    "failovers with messages of unknown state",
    "failovers with lost messages of the exchange",
    "failovers with lost messages of the trader",
    "failovers with requests in flight",
    "failures of the primary",
    "floods",
    "gaps",
    "gaps filled",
    "gaps of several batches",
    "gaps under UUID 0",
    "gaps under a previous UUID",
    "gateway: connections cut",
    "gateway: connections refused",
    "gateway: messages doubled",
    "gateway: messages dropped",
    "gateway: numbers skipped",
    "gateway: silences",
    "gateway: writes coalesced",
    "gateway: writes delayed",
    "gateway: writes split",
    "hold buffers overflowed",
    "keep-alives lapsed at the exchange",
    "keep-alives lapsed at the trader",
    "killed during a failover",
    "killed at the end of a callback",
    "killed before a commit",
    "killed before recording a message",
    "killed before a read",
    "killed before a write",
    "killed after a mark",
    "killed after a write",
    "killed between callback and mark",
    "killed between commit and sync",
    "killed between commit and write",
    "killed between recording and callback",
    "killed between sync and write",
    "killed between two wake-ups",
    "killed in a callback",
    "killed when active on the backup",
    "logons",
    "logons on the backup",
    "logons without missing messages",
    "logons with messages missing",
    "messages accepted",
    "messages accepted after retransmission by the trader",
    "messages refused without using their number",
    "messages delivered again",
    "messages delivered by retransmission",
    "messages delivered by the next process",
    "not applied, and the NotApplied lost with its connection",
    "numbers lost with power",
    "numbers reported as never used",
    "partial writes",
    "phases settled and checked",
    "power cuts",
    "power cuts during a failover",
    "processes killed",
    "processes started",
    "records lost with power",
    "records of ours lost with power",
    "retransmissions dropped",
    "retransmissions delayed for long",
    "sends refused",
    "silences of the exchange",
    "silences of the trader",
    "steps back of the trader's clock",
    "steps of the market",
    "terminates answered",
    "terminates by the exchange",
    "periods of a narrow connection",
    "periods with a connected backup",
    "trades before the first logon of a week",
    "trades while the trader was disconnected",
    "trading days ended",
    "weeks begun",
    "working orders compared",
];

fn simulation() -> Simulation {
    trace::set(setting("HAIRPIN_SIM_TRACE") == Some(1));
    Simulation { name: "order", rest: "--trace".into() }
}

#[test]
fn messages_are_delivered_once_and_orders_accounted_for() {
    simulation().run_all(SEEDS, CLASSES, world::run);
}

/// Tests seed 3898: the connector, which polls the state, missed the established state.
#[test]
fn session_lost_in_the_turn_it_was_established_is_resumed() {
    simulation().run(3_898, world::run);
}

/// Tests seed 5278: the NegotiationResponse that named the messages under UUID 0 was lost, and the
/// EstablishmentAck named a later message.
#[test]
fn messages_that_the_trader_cannot_know_of_are_not_expected() {
    simulation().run(5_278, world::run);
}

#[test]
fn seed_determines_run() {
    let run = || simulation().run(17, world::run);
    assert_eq!(run(), run());
}
