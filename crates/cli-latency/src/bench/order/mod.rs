//! `hairpin bench order`: the published table of order entry, measured on this machine.

mod args;
mod bare_gateway;
mod bare_server;
mod bare_sockets;
mod batch;
pub mod client;
mod closed_loop_session;
pub mod gateway;
mod memory_connection;
mod order_case;
mod published_results;
mod round;
mod samples;
mod setup;
mod stamped_stream;
mod table;
mod timed_listener;

use std::process::ExitCode;

use anyhow::Result;
use hairpin_measure::{Results, Row, Style, counted};

pub(crate) use args::BenchOrderArgs;
use order_case::OrderCase;
use setup::{ClientCounts, ClientOutcome};
pub(super) use table::render;

use super::bench_case::BenchCase as _;
use super::bench_context::BenchContext;
use super::rounds::Bench;
use super::run::{self, BenchOptions};

/// Measures the table or reads it from a file, and prints it.
///
/// # Errors
/// Those of [`run::run`].
pub(crate) fn run(arguments: &BenchOrderArgs) -> Result<ExitCode> {
    let words = BenchOptions {
        from: arguments.from.as_deref(),
        interface: arguments.interface.as_deref(),
        cores: &arguments.cores,
        output: &arguments.output,
        rounds: arguments.rounds(),
    };
    run::run::<Order>(&words, &arguments.plan())
}

/// The table of order entry.
struct Order;

impl Bench for Order {
    const NAME: &'static str = "order";
    const SIDES: [&'static str; 2] = ["gateway", "session"];
    type Case = OrderCase;
    type Outcome = ClientOutcome;
    type Tally = ClientCounts;

    fn round(
        context: &BenchContext<'_>,
        case: &OrderCase,
        told: &mut dyn FnMut(u64),
    ) -> Result<ClientOutcome> {
        round::run(context, case, told)
    }

    fn count(tally: &mut ClientCounts, outcome: &ClientOutcome) {
        *tally = tally.plus(outcome.counts);
    }

    fn rows(outcome: ClientOutcome) -> Vec<Row> {
        let ClientCounts { errors, refused, .. } = outcome.counts;
        let reason = match (errors, refused) {
            (0, 0) => None,
            (0, refused) => {
                Some(format!("{} exceeded the reserved room", counted(refused, "sample")))
            }
            (errors, _) => Some(counted(errors, "unexpected message")),
        };
        let interrupted = outcome.interrupted;
        let row = |row: Row| Row { interrupted, failed: reason.clone(), ..row };
        outcome.rows.into_iter().map(row).collect()
    }

    /// Returns the reason if the kernel cannot be bypassed: it requires two hosts and capabilities.
    fn refusal(context: &BenchContext<'_>, case: &OrderCase) -> Option<String> {
        let transport = &case.transport;
        let may = transport.check_between_hosts(None);
        let may = may.and_then(|()| context.hosts.check(transport));
        may.err().map(|error| format!("{} is not available: {error}", transport.transport.name()))
    }

    fn failed(case: &OrderCase, reason: &str) -> Vec<Row> {
        round::failed(case, reason)
    }

    fn describe(case: &OrderCase, counts: &ClientCounts) -> String {
        match counts.waited {
            0 => String::new(),
            waited => format!(
                "{}, {}: {} that the connection did not accept at once\n",
                case.name(),
                case.pause(),
                counted(waited, "order")
            ),
        }
    }

    fn render(results: &Results, style: Style) -> String {
        table::render(results, style)
    }
}
