//! `hairpin ping`: measures round trips between two processes.

mod args;
pub mod child;
mod flood;
mod flood_rates;
mod kernel_stamps;
mod latency_breakdown;
pub(crate) mod message;
mod message_splitter;
mod ping_case;
mod ping_loop;
pub(crate) mod ping_transport;
mod pinger;
mod progress;
mod protocol_detection;
mod raw_args;
pub(crate) mod raw_frame;
mod raw_transport;
pub(crate) mod rds_transport;
mod round;
mod setup;
pub mod sockperf_check;
mod stall_check;
pub(crate) mod table;
#[cfg(test)]
mod virtual_time;

use std::process::ExitCode;

use anyhow::{Result, bail};
use hairpin_host::Clock;
use hairpin_measure::{
    Clock as MeasuredBy, Conclusion, Results, Row, Style, Timestamping, interleaved,
};
use hairpin_reactor::Wait;

pub use args::PingArgs;
pub(crate) use args::{Cores, SIZE_MAX};
use flood_rates::Rates;
pub(crate) use ping_case::PingCase;
pub(crate) use ping_loop::Load;
pub(crate) use ping_transport::{GREETING, GREETING_LENGTH, Multicast, datagrams};
use progress::PingProgress;
use round::NotReady;
pub(crate) use round::{Outcome, PingContext, RoundEvent};
pub(crate) use setup::{
    PongAddress, PongOutcome, PongReady, PongSetup, Protocol, Stamping, answers_to,
};

use hairpin_cli_harness::host_checks::HostChecks;
use hairpin_cli_harness::host_pair::{HostPair, Role};
use hairpin_cli_harness::output;
use hairpin_cli_harness::signals::Signals;

/// Runs the rounds, prints the tables and saves the results.
///
/// # Errors
/// Causes that fail the first round: no such interface, core or folder; no pong. An error in a
/// later round fails its row.
pub fn run(arguments: &PingArgs) -> Result<ExitCode> {
    arguments.check()?;
    // This must be first: an ordinary user's namespaces require a single-threaded process.
    let hosts = hosts(arguments)?;
    let arguments = &arguments.with_protocol_of_pong(hosts.address(Role::Ping))?;
    if arguments.place().is_none() {
        hosts.check(&arguments.transport)?;
    }
    let cores = arguments.cores()?;
    arguments.output.check()?;
    let signals = Signals::take()?;

    let (plan, left_out) = leave_out(arguments.plan(), arguments);
    if plan.is_empty() {
        bail!("no wait is available{left_out}");
    }
    let mut clock = Clock::new();
    let checks = HostChecks::start(&clock, &cores.chosen())?;
    clock.recalibrate();
    let mut results = output::results(&clock, hosts.nic());
    let introduction = introduction(&hosts, cores, &plan) + &left_out;
    let progress = PingProgress::new(&plan, arguments.rounds(), introduction);
    let context = PingContext {
        hosts: &hosts,
        cores,
        remote: arguments.place(),
        slowness: arguments.slowness(),
        stamping: arguments.timestamps,
        signals: &signals,
    };
    let mut session = Session { context, plan: &plan, rounds: arguments.rounds(), progress };
    let Measured { rows, counts, rates } = session.measure()?;
    session.progress.finish();
    results.host.timestamping = stamped_by(&rows, arguments.timestamps);
    results.rows = rows;
    results.truth = Some(checks.after());

    let saved = arguments.output.save(&results);
    let (environment, style) = (results.truth.as_ref(), Style::for_stdout());
    let mut text = style.wrap(&output::busy(environment));
    let mut rest = String::new();
    if arguments.is_flood() {
        text += &rates.render(style);
    } else {
        text += &table::render(&results.rows, style);
        rest += &stall_check::lines(arguments.slowness().stall, &results.rows);
    }
    rest += &counts;
    rest += &truth(&results, &checks);
    if !arguments.is_flood() {
        let next = "a page with charts: hairpin ping --rounds 7 --json ping.json --report";
        let conclusion = Conclusion::new(&results.rows, environment, next);
        rest += &conclusion.of_all_samples().to_string();
    }
    output::print(&(text + &style.wrap(&rest)))?;
    saved?;
    let failed = results.rows.iter().any(|row| row.failed.is_some());
    let status = if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    Ok(signals.exit_status().unwrap_or(status))
}

/// Returns the hosts of the rounds.
fn hosts(arguments: &PingArgs) -> Result<HostPair> {
    let interface = arguments.interface.as_deref();
    match (arguments.remote, interface) {
        (Some(remote), interface) => HostPair::with_remote(remote, interface),
        (None, Some(interface)) if arguments.is_raw() => HostPair::with_interface(interface),
        (None, interface) => HostPair::new(interface),
    }
}

/// Returns the origin of the packets' timestamps: the card only if a row has its timestamps.
fn stamped_by(rows: &[Row], stamping: Stamping) -> Timestamping {
    let is_by_card = |row: &Row| row.setting.clock == MeasuredBy::HardwareTimestamp;
    match stamping {
        Stamping::None => Timestamping::None,
        _ if rows.iter().any(is_by_card) => Timestamping::Hardware,
        _ => Timestamping::Software,
    }
}

/// The rounds of all cases, interleaved.
struct Session<'a> {
    context: PingContext<'a>,
    plan: &'a [PingCase],
    rounds: usize,
    progress: PingProgress,
}

/// The results of the rounds.
struct Measured {
    rows: Vec<Row>,
    /// Counts worth printing besides the rows, one line each.
    counts: String,
    rates: Rates,
}

impl Session<'_> {
    fn measure(&mut self) -> Result<Measured> {
        let mut sets: Vec<Vec<Vec<Row>>> = vec![Vec::new(); self.plan.len()];
        let mut tallies = vec![table::Tally::default(); self.plan.len()];
        let mut rates = Rates::new(self.plan);
        for (round, side) in interleaved(self.plan.len(), self.rounds) {
            if self.context.signals.stop_requested() {
                break;
            }
            let case = self.plan[side].share(round, self.rounds);
            self.progress.begin(&case);
            let outcome = self.context.round(&case, |event| self.progress.on_event(event));
            self.progress.end();
            let is_first = sets.iter().all(Vec::is_empty);
            let rows = match outcome {
                Ok(outcome) => {
                    tallies[side].add(&outcome);
                    rates.add(side, &outcome);
                    self.context.rows(&case, &outcome)
                }
                // An unsuitable host, or a missing pong, fails every row: report it once.
                Err(error) if is_first && self.context.remote.is_some() => return Err(error),
                Err(error) if is_first && error.is::<NotReady>() => bail!("{error:#}"),
                Err(error) => self.context.failed(&case, &format!("{error:#}")),
            };
            sets[side].push(rows.into_iter().map(|row| self.describe(&case, row)).collect());
        }
        let rows = sets.into_iter().flat_map(|rounds| joined(rounds, self.rounds)).collect();
        let counts = self.plan.iter().zip(tallies).map(|(case, tally)| tally.describe(case));
        Ok(Measured { rows, counts: counts.collect(), rates })
    }

    /// Adds the environment of the round to its row.
    fn describe(&self, case: &PingCase, row: Row) -> Row {
        let tick = hairpin_host::kernel_tick();
        let cores = self.context.cores;
        Row {
            cores: cores.pong.zip(cores.ping).map(|(pong, ping)| [pong, ping]),
            ground: Some(self.context.hosts.describe().to_owned()),
            block_deadline_ns: (case.wait == Wait::Block).then(|| tick.as_nanos()),
            ..row
        }
    }
}

/// Merges the rounds of one case into a row for each of its measurements. A failed round fails the
/// row.
pub(crate) fn joined(rounds: Vec<Vec<Row>>, planned: usize) -> Vec<Row> {
    let is_cut_short = rounds.len() < planned;
    let cases = rounds.iter().map(Vec::len).min().unwrap_or(0);
    let case = |index: usize| {
        let rows: Vec<Row> = rounds.iter().map(|round| round[index].clone()).collect();
        let row = Row::from_rounds(&rows).unwrap_or_else(|error| {
            let reason = format!("the rounds differ: {error}");
            Row::failed(rows[0].setting.clone(), reason)
        });
        Row { interrupted: is_cut_short || row.interrupted, ..row }
    };
    (0..cases).map(case).collect()
}

/// Drops cases with waits that the host does not support, unless selected by name, and returns a
/// warning for each.
fn leave_out(mut plan: Vec<PingCase>, arguments: &PingArgs) -> (Vec<PingCase>, String) {
    let mut said = String::new();
    if arguments.wait.is_empty() {
        for wait in Wait::ALL {
            if let Err(error) = arguments.transport.probe(wait) {
                plan.retain(|case| case.wait != wait);
                said += &format!("\nwait {wait} is not available: {error}");
            }
        }
    }
    (plan, said)
}

fn introduction(hosts: &HostPair, cores: Cores, plan: &[PingCase]) -> String {
    let mut text = format!("{}; {}", hosts.describe(), cores.describe());
    if plan.iter().any(|case| case.wait == Wait::Block) {
        let tick = hairpin_host::kernel_tick();
        text += &format!("; wait block rounds deadlines up to the kernel's tick ({tick})");
    }
    text
}

/// Describes the environment of the results.
fn truth(results: &Results, checks: &HostChecks) -> String {
    let described = results.truth.as_ref().map(|truth| truth.describe()).unwrap_or_default();
    format!("\n{described}{}", checks.describe_drops())
}
