//! The run of a benchmark, from its arguments to its table.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use hairpin_cli_harness::cores::{self, Cores};
use hairpin_cli_harness::host_checks::HostChecks;
use hairpin_cli_harness::host_pair::HostPair;
use hairpin_cli_harness::output;
use hairpin_cli_harness::signals::Signals;
use hairpin_host::Clock;
use hairpin_measure::{Results, Style};
use hairpin_reactor::Wait;

use super::bench_case::BenchCase;
use super::bench_context::BenchContext;
use super::progress::BenchProgress;
use super::rounds::{Bench, Measured, measure};

/// The calibrations of a clock before a measurement during which it is not calibrated.
const CALIBRATIONS: u32 = 4;

/// The arguments that benchmarks share.
pub(super) struct BenchOptions<'a> {
    /// A results file to print instead of measuring.
    pub(super) from: Option<&'a Path>,
    pub(super) interface: Option<&'a str>,
    pub(super) cores: &'a cores::CoreArgs,
    pub(super) output: &'a output::OutputArgs,
    pub(super) rounds: usize,
}

/// Measures the tables or reads them from a file, and prints them.
///
/// # Errors
/// Causes that fail the first round: no such interface, core or folder; a file that cannot be read
/// or has no rows for these tables. An error in a later round fails its row.
pub(super) fn run<B: Bench>(words: &BenchOptions<'_>, plan: &[B::Case]) -> Result<ExitCode> {
    if let Some(path) = words.from {
        return print_again::<B>(path, words.output);
    }
    // This must be first: an ordinary user's namespaces require a single-threaded process.
    let hosts = HostPair::new(words.interface)?;
    let cores = words.cores.choose()?;
    words.output.check()?;
    let signals = Signals::take()?;
    let mut clock = Clock::new();
    let checks = HostChecks::start(&clock, &cores.chosen())?;
    clock.recalibrate();
    let mut results = output::results(&clock, hosts.nic());
    let progress = BenchProgress::new(plan, words.rounds, introduction::<B>(&hosts, cores, plan));
    let context = BenchContext { hosts: &hosts, cores, signals: &signals };
    let measured = measure::<B>(&context, plan, words.rounds, &progress)?;
    let Measured { rows, said, has_failed } = measured;
    progress.finish();
    results.rows = rows;
    results.truth = Some(checks.after());
    let saved = words.output.save(&results);
    let style = Style::for_stdout();
    let text = output::busy(results.truth.as_ref()) + &B::render(&results, style) + &said;
    output::print(&style.wrap(&(text + &checks.describe_drops())))?;
    saved?;
    let status = if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    Ok(signals.exit_status().unwrap_or(status))
}

fn print_again<B: Bench>(path: &Path, output: &output::OutputArgs) -> Result<ExitCode> {
    let results = Results::read(path)?;
    if results.rows.iter().all(|row| row.setting.bench != B::NAME) {
        bail!("{} has no rows of {}", path.display(), B::NAME);
    }
    output.check()?;
    output.save(&results)?;
    let style = Style::for_stdout();
    let text = output::busy(results.truth.as_ref()) + &B::render(&results, style);
    output::print(&style.wrap(&text))?;
    Ok(ExitCode::SUCCESS)
}

fn introduction<B: Bench>(hosts: &HostPair, cores: Cores, plan: &[B::Case]) -> String {
    let core =
        |core: Option<usize>| core.map_or("no core".to_owned(), |core| format!("core {core}"));
    let [first, second] = B::SIDES;
    let bound = format!(
        "{first} (spinning) on {}, {second} on {}",
        core(cores.exchange),
        core(cores.trader)
    );
    let tick = match plan.iter().any(|case| case.wait() == Wait::Block) {
        true => format!(
            "; wait block rounds deadlines up to the kernel's tick ({})",
            hairpin_host::kernel_tick()
        ),
        false => String::new(),
    };
    format!("{}; {bound}{tick}", hosts.describe())
}

/// Returns a clock that was calibrated several times.
pub(super) fn calibrated() -> Clock {
    let mut clock = Clock::new();
    for _ in 0..CALIBRATIONS {
        std::thread::sleep(core::time::Duration::from_millis(5));
        clock.recalibrate();
    }
    clock
}
