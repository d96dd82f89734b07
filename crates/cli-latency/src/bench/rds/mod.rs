//! `hairpin bench rds`: the published table of reliable datagrams, measured on this machine.

mod args;
mod published_results;
mod rds_case;
mod table;

use std::process::ExitCode;

use anyhow::Result;
use hairpin_measure::{Results, Row, Style};

pub(crate) use args::BenchRdsArgs;
use rds_case::RdsCase;
pub(super) use table::render;

use super::bench_context::BenchContext;
use super::rounds::Bench;
use super::run::{self, BenchOptions};
use crate::ping::table::Tally;
use crate::ping::{Cores, Outcome, PingContext, RoundEvent, Stamping};
use crate::pong::Slowness;

/// Measures the tables or reads them from a file, and prints them.
///
/// # Errors
/// Those of [`run::run`].
pub(crate) fn run(arguments: &BenchRdsArgs) -> Result<ExitCode> {
    let options = BenchOptions {
        from: arguments.from.as_deref(),
        interface: arguments.interface.as_deref(),
        cores: &arguments.cores,
        output: &arguments.output,
        rounds: arguments.rounds(),
    };
    run::run::<Rds>(&options, &arguments.plan())
}

/// The tables of reliable datagrams.
struct Rds;

/// The outcome of a round of pings, and its rows.
struct Round {
    outcome: Outcome,
    rows: Vec<Row>,
}

impl Bench for Rds {
    const NAME: &'static str = "rds";
    const SIDES: [&'static str; 2] = ["pong", "ping"];
    type Case = RdsCase;
    type Outcome = Round;
    type Tally = Tally;

    fn round(
        context: &BenchContext<'_>,
        case: &RdsCase,
        told: &mut dyn FnMut(u64),
    ) -> Result<Round> {
        let ping = ping_context(context);
        let outcome = ping.round(&case.ping_case(), |event| {
            if let RoundEvent::Sent(messages) = event {
                told(messages);
            }
        })?;
        let rows = ping.rows(&case.ping_case(), &outcome).into_iter().map(renamed).collect();
        Ok(Round { outcome, rows })
    }

    fn count(tally: &mut Tally, round: &Round) {
        tally.add(&round.outcome);
    }

    fn rows(round: Round) -> Vec<Row> {
        round.rows
    }

    /// Returns the reason if AF_XDP is not available: it requires two hosts and capabilities.
    fn refusal(context: &BenchContext<'_>, case: &RdsCase) -> Option<String> {
        let transport = &case.transport;
        let checked = transport.check_between_hosts(None);
        let checked = checked.and_then(|()| context.hosts.check(transport));
        checked.err().map(|error| format!("xdp is not available: {error}"))
    }

    fn failed(case: &RdsCase, reason: &str) -> Vec<Row> {
        vec![Row::failed(case.setting(), reason)]
    }

    fn describe(case: &RdsCase, tally: &Tally) -> String {
        match tally.describe(&case.ping_case()) {
            text if text.is_empty() => text,
            text => format!("{}: {text}", case.transport.transport.name()),
        }
    }

    fn render(results: &Results, style: Style) -> String {
        table::render(results, style)
    }
}

/// Returns the context of the rounds of pings: the pong is on the first core.
fn ping_context<'a>(context: &BenchContext<'a>) -> PingContext<'a> {
    PingContext {
        hosts: context.hosts,
        cores: Cores { pong: context.cores.exchange, ping: context.cores.trader },
        remote: None,
        slowness: Slowness::default(),
        stamping: Stamping::None,
        signals: context.signals,
    }
}

/// Returns the row with this benchmark's name.
fn renamed(mut row: Row) -> Row {
    Rds::NAME.clone_into(&mut row.setting.bench);
    row
}
