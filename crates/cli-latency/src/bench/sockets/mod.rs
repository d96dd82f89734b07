//! `hairpin bench sockets`: sockperf with and without acceleration, next to the published figures.

mod args;
mod minimal_echo;
mod published_results;
mod sockets_case;
mod sockperf_round;
mod table;

use std::process::ExitCode;

use anyhow::{Result, bail};
use hairpin_measure::{Recorder, Results, Row, Style};

pub(crate) use args::BenchSocketsArgs;
use hairpin_cli_harness::sockperf;
pub(super) use table::render;

use minimal_echo::Payload;
use sockets_case::{Program, SocketsCase};

use super::bench_context::BenchContext;
use super::rounds::Bench;
use super::run::{self, BenchOptions};

/// Measures the tables or reads them from a file, and prints them.
///
/// # Errors
/// Those of [`run::run`]; sockperf is not installed and cannot be.
pub(crate) fn run(arguments: &BenchSocketsArgs) -> Result<ExitCode> {
    if arguments.from.is_none() && !sockperf::is_installed() {
        bail!("cannot run sockperf: it is not installed; install the package sockperf");
    }
    let options = BenchOptions {
        from: arguments.from.as_deref(),
        interface: None,
        cores: &arguments.cores,
        output: &arguments.output,
        rounds: arguments.rounds(),
    };
    run::run::<Sockets>(&options, &arguments.plan())
}

/// The tables of accelerated sockets.
struct Sockets;

/// The round trips of one round.
struct Round {
    case: SocketsCase,
    round_trips: Recorder,
    counts: Counts,
}

/// The messages without an answer, and those that arrived twice or out of order.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Counts {
    dropped: u64,
    duplicated: u64,
    out_of_order: u64,
}

impl Bench for Sockets {
    const NAME: &'static str = "sockets";
    const SIDES: [&'static str; 2] = ["server", "client"];
    type Case = SocketsCase;
    type Outcome = Round;
    type Tally = Counts;

    fn round(
        context: &BenchContext<'_>,
        case: &SocketsCase,
        told: &mut dyn FnMut(u64),
    ) -> Result<Round> {
        let (round_trips, counts) = match case.program {
            Program::MinimalEcho => minimal_echo::round(context, case, Payload::Ignored)?,
            Program::CopyingEcho => minimal_echo::round(context, case, Payload::Copied)?,
            Program::Sockperf(accelerated) => sockperf_round::round(context, case, accelerated)?,
        };
        told(case.load.samples);
        Ok(Round { case: *case, round_trips, counts })
    }

    fn count(tally: &mut Counts, round: &Round) {
        tally.dropped += round.counts.dropped;
        tally.duplicated += round.counts.duplicated;
        tally.out_of_order += round.counts.out_of_order;
    }

    fn rows(round: Round) -> Vec<Row> {
        let setting = round.case.setting();
        let row = Row::new(setting, &round.round_trips, &Recorder::with_capacity(0));
        vec![Row { lost: round.counts.dropped, ..row }]
    }

    /// Returns the reason if AF_XDP is not available: it requires two hosts and capabilities.
    fn refusal(context: &BenchContext<'_>, case: &SocketsCase) -> Option<String> {
        if case.program == Program::KERNEL {
            return None;
        }
        let transport = hairpin_cli_harness::transport::TransportArgs::xdp(None);
        let checked = transport.check_between_hosts(None);
        let checked = checked.and_then(|()| context.hosts.check(&transport));
        checked.err().map(|error| format!("AF_XDP is not available: {error}"))
    }

    fn failed(case: &SocketsCase, reason: &str) -> Vec<Row> {
        vec![Row::failed(case.setting(), reason)]
    }

    fn describe(case: &SocketsCase, tally: &Counts) -> String {
        use super::bench_case::BenchCase as _;
        if *tally == Counts::default() {
            return String::new();
        }
        let Counts { dropped, duplicated, out_of_order } = tally;
        format!(
            "{}: {dropped} dropped, {duplicated} duplicated, {out_of_order} out of order\n",
            case.name()
        )
    }

    fn render(results: &Results, style: Style) -> String {
        table::render(results, style)
    }
}
