//! `hairpin bench order`: order entry's published table, and what this machine makes of it.

mod bare_gateway;
mod args;
mod bare_server;
mod batch;
pub(crate) mod client;
pub(crate) mod gateway;
mod memory_connection;
mod order_case;
mod published;
mod round;
mod samples;
mod setup;
mod bare_sockets;
mod stamped_stream;
mod table;
mod timed_listener;
mod trading;

use std::process::ExitCode;

use anyhow::Result;
use hairpin_measure::{Results, Row};

pub(crate) use args::Arguments;
use order_case::Cell;
use setup::{ClientOutcome, Counts};

use super::bench_case::Cell as _;
use super::rounds::Bench;
use super::run::{self, Words};
use super::bench_context::Stand;

/// Measures the table or reads it from a file, and prints it.
///
/// # Errors
/// Those of [`run::run`].
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let words = Words {
        from: arguments.from.as_deref(),
        interface: arguments.interface.as_deref(),
        cores: &arguments.cores,
        output: &arguments.output,
        rounds: arguments.rounds(),
    };
    run::run::<Order>(&words, &arguments.plan())
}

/// Order entry's table.
struct Order;

impl Bench for Order {
    const NAME: &'static str = "order";
    const SIDES: [&'static str; 2] = ["gateway", "session"];
    type Cell = Cell;
    type Outcome = ClientOutcome;
    type Tally = Counts;

    fn round(stand: &Stand<'_>, cell: &Cell, told: &mut dyn FnMut(u64)) -> Result<ClientOutcome> {
        round::run(stand, cell, told)
    }

    fn count(tally: &mut Counts, outcome: &ClientOutcome) {
        *tally = tally.plus(outcome.counts);
    }

    fn rows(outcome: ClientOutcome) -> Vec<Row> {
        let Counts { errors, refused, .. } = outcome.counts;
        let reason = match (errors, refused) {
            (0, 0) => None,
            (0, refused) => Some(format!("{refused} samples found no room")),
            (errors, _) => Some(format!("{errors} messages were not expected")),
        };
        let interrupted = outcome.interrupted;
        let row = |row: Row| Row { interrupted, failed: reason.clone(), ..row };
        outcome.rows.into_iter().map(row).collect()
    }

    fn failed(cell: &Cell, reason: &str) -> Vec<Row> {
        round::failed(cell, reason)
    }

    fn describe(cell: &Cell, counts: &Counts) -> String {
        match counts.waited {
            0 => String::new(),
            waited => format!(
                "{}, {}: {waited} orders that the connection did not take at once\n",
                cell.name(),
                cell.pause()
            ),
        }
    }

    fn render(results: &Results) -> String {
        table::render(results)
    }
}
