//! `hairpin t2t`: tick to trade, an exchange and a trader on this machine.

mod arguments;
mod ground;
mod progress;
mod round;
mod verdict;

use std::io::{self, Write};
use std::net::SocketAddrV4;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use hairpin_host::{Clock, HostFacts, allowed_cores};
use hairpin_measure::{Host, Results, Row, Style, Table, Timestamping};
use hairpin_reactor::Wait;

pub(crate) use arguments::Arguments;
use ground::{Ground, Role};
use progress::Progress;

use crate::secret;
use crate::setup::{self, ExchangeSetup, Load, TraderSetup};
use crate::signals::Signals;

/// Runs the rows one after the other, prints the table and saves the results.
///
/// # Errors
/// What stands in the way before the first row: no such interface, core or folder, a bad key.
/// What goes wrong in a row fails that row.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    // First of all: an ordinary user's namespaces are only for a process of one thread.
    let ground = Ground::make(arguments.interface.as_deref())?;
    let cores = choose_cores(arguments.cpus)?;
    let key = secret::read(arguments.secret_key_file.as_deref())?;
    check_writable(arguments)?;
    let signals = Signals::take()?;

    let clock = Clock::new();
    let mut results = Results::new(clock.now().utc, command_line(), host_object(&clock, &ground));
    let plan = arguments.plan();
    let progress = Progress::new(&plan, introduction(&ground, cores, key.is_test_key));
    for (wait, load) in &plan {
        if signals.asked_to_stop() {
            break;
        }
        let is_first = results.rows.is_empty();
        let row = Planned { arguments, ground: &ground, cores, wait: *wait, load: *load, is_first };
        results.rows.extend(row.run(&signals, &progress)?);
    }
    progress.finish();

    // Saved before it is printed: whoever reads the table may close the pipe.
    if let Some(path) = &arguments.json {
        results.write(path)?;
    }
    print(&Table::new(&results.rows).render(Style::of_stdout()))?;
    let failed = results.rows.iter().any(|row| row.failed.is_some());
    let status = if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    Ok(signals.exit_status().unwrap_or(status))
}

/// Prints the table; that nobody reads it to its end is no error.
fn print(table: &str) -> io::Result<()> {
    match io::stdout().write_all(table.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome,
    }
}

/// One row of the plan with all it needs to run.
struct Planned<'a> {
    arguments: &'a Arguments,
    ground: &'a Ground,
    cores: Option<(usize, usize)>,
    wait: Wait,
    load: Load,
    /// Nothing is measured yet that could be lost.
    is_first: bool,
}

impl Planned<'_> {
    /// The row's two cases. A set whose generator was late is run once more and both are reported.
    fn run(&self, signals: &Signals, progress: &Progress) -> Result<Vec<Row>> {
        let mut rows = self.run_once(signals, progress)?;
        if rows.iter().any(|row| row.late) && !signals.asked_to_stop() {
            progress.add(&self.load);
            rows.extend(self.run_once(signals, progress)?);
        }
        Ok(rows)
    }

    fn run_once(&self, signals: &Signals, progress: &Progress) -> Result<Vec<Row>> {
        progress.begin(self.wait, &self.load);
        let trader = |gateway| self.trader_setup(gateway);
        let told = |ticks| progress.at(ticks);
        let outcome = round::run(self.ground, &self.exchange_setup(), trader, signals, told);
        progress.end();
        match outcome {
            Ok(outcome) => {
                let failed =
                    verdict::reason_to_fail(&self.load, &outcome.exchange, &outcome.trader);
                let mut rows = outcome.exchange.rows;
                rows.iter_mut().for_each(|row| row.failed.clone_from(&failed));
                Ok(rows)
            }
            // Wrong surroundings (a busy port, a bad key) are wrong for every row: say so once.
            Err(error) if self.is_first && error.is::<round::NotReady>() => bail!("{error:#}"),
            Err(error) => {
                let source = Clock::new().source();
                let settings = setup::settings(&self.wait.to_string(), &self.load, source);
                Ok(settings.map(|setting| Row::failed(setting, format!("{error:#}"))).into())
            }
        }
    }

    fn exchange_setup(&self) -> ExchangeSetup {
        let interface = self.ground.address(Role::Exchange);
        ExchangeSetup {
            groups: self.ground.groups,
            interface,
            gateway: self.arguments.gateway.unwrap_or(SocketAddrV4::new(interface, 0)),
            core: self.cores.map(|(exchange, _)| exchange),
            wait: self.wait.to_string(),
            load: self.load,
            secret_key_file: self.arguments.secret_key_file.clone(),
        }
    }

    fn trader_setup(&self, gateway: SocketAddrV4) -> TraderSetup {
        let source = self.ground.address(Role::Exchange);
        TraderSetup {
            groups: self.ground.groups,
            interface: self.ground.address(Role::Trader),
            sources: if self.arguments.any_source { Vec::new() } else { vec![source] },
            gateway,
            wait: self.wait.to_string(),
            core: self.cores.map(|(_, trader)| trader),
            secret_key_file: self.arguments.secret_key_file.clone(),
            journal_bytes: journal_bytes(&self.load),
        }
    }
}

/// Room for an order and its cancel a tick (152 and 116 bytes with their record headers), and for
/// what logs on and off.
fn journal_bytes(load: &Load) -> usize {
    let ticks = usize::try_from(load.warm_up + load.samples).unwrap_or(usize::MAX);
    ticks.saturating_mul(320).saturating_add(1 << 16)
}

/// The cores asked for, if this process may use them; else the first two it may use; none where
/// there is only one.
fn choose_cores(asked: Option<(usize, usize)>) -> Result<Option<(usize, usize)>> {
    let allowed = allowed_cores().context("the cores of this process are not known")?;
    let Some((exchange, trader)) = asked else {
        return Ok(match allowed[..] {
            [exchange, trader, ..] => Some((exchange, trader)),
            _ => None,
        });
    };
    for core in [exchange, trader] {
        if !allowed.contains(&core) {
            bail!("core {core} is not there or not allowed; this process may use {allowed:?}");
        }
    }
    Ok(Some((exchange, trader)))
}

/// Says before a run of minutes that its results could not be kept.
fn check_writable(arguments: &Arguments) -> Result<()> {
    let Some(path) = &arguments.json else { return Ok(()) };
    if path.is_dir() {
        bail!("results cannot be written to {}: it is a folder", path.display());
    }
    if path.exists() && !path.is_file() {
        return Ok(());
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => std::path::Path::new("."),
    };
    let probe = folder.join(format!(".hairpin-{}.tmp", std::process::id()));
    std::fs::File::create(&probe)
        .and_then(|_| std::fs::remove_file(&probe))
        .with_context(|| format!("results cannot be written to {}", path.display()))
}

fn introduction(ground: &Ground, cores: Option<(usize, usize)>, is_test_key: bool) -> String {
    let cores = match cores {
        Some((exchange, trader)) => {
            format!("exchange (spinning) on core {exchange}, trader on core {trader}")
        }
        None => "one core only, so nothing is pinned and figures mean little".to_owned(),
    };
    let key = if is_test_key { "\niLink key: the published test key" } else { "" };
    let tick = hairpin_host::kernel_tick();
    format!(
        "{}; {cores}\ngateway without rate limits; \
         wait block rounds deadlines up to the kernel's tick ({tick}){key}",
        ground.describe(),
    )
}

fn command_line() -> String {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    std::iter::once("hairpin".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

fn host_object(clock: &Clock, ground: &Ground) -> Host {
    Host::new(HostFacts::read(clock), ground.nic(), Timestamping::Software)
}
