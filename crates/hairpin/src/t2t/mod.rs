//! `hairpin t2t`: tick to trade, an exchange and a trader on this machine.

mod arguments;
mod progress;
mod round;
mod verdict;

use std::net::SocketAddrV4;
use std::process::ExitCode;

use anyhow::{Result, bail};
use hairpin_host::Clock;
use hairpin_measure::{Row, Style, Table};
use hairpin_reactor::Wait;

pub(crate) use arguments::Arguments;
use arguments::Cell;
use progress::Progress;

use crate::cores::Cores;
use crate::ground::{Ground, Role};
use crate::setup::{self, ExchangeSetup, Load, MarketData, Ready, TraderChildSetup, TraderSetup};
use crate::signals::Signals;
use crate::words::FeedTransport;
use crate::{output, secret};

/// Runs the rows one after the other, prints the table and saves the results.
///
/// # Errors
/// What stands in the way before the first row: no such interface, core or folder, a bad key.
/// What goes wrong in a row fails that row.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    // First of all: an ordinary user's namespaces are only for a process of one thread.
    let ground = Ground::make(arguments.interface.as_deref())?;
    let cores = arguments.cores.choose()?;
    let key = secret::read(arguments.secret_key_file.as_deref())?;
    arguments.output.check()?;
    let signals = Signals::take()?;

    let mut results = output::results(&Clock::new(), ground.nic());
    let mut plan = arguments.plan();
    let left_out = leave_out(&mut plan, arguments);
    let introduction = introduction(&ground, cores, key.is_test_key) + &left_out;
    let progress = Progress::new(&plan, introduction);
    for &cell in &plan {
        if signals.asked_to_stop() {
            break;
        }
        let is_first = results.rows.is_empty();
        let row = Planned { arguments, ground: &ground, cores, cell, is_first };
        results.rows.extend(row.run(&signals, &progress)?);
    }
    progress.finish();

    arguments.output.save(&results)?;
    output::print(&Table::new(&results.rows).render(Style::of_stdout()))?;
    let failed = results.rows.iter().any(|row| row.failed.is_some());
    let status = if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    Ok(signals.exit_status().unwrap_or(status))
}

/// One row of the plan with all it needs to run.
struct Planned<'a> {
    arguments: &'a Arguments,
    ground: &'a Ground,
    cores: Cores,
    cell: Cell,
    /// Nothing is measured yet that could be lost.
    is_first: bool,
}

impl Planned<'_> {
    /// The row's two cases. A set whose generator was late is run once more and both are reported.
    fn run(&self, signals: &Signals, progress: &Progress) -> Result<Vec<Row>> {
        let mut rows = self.run_once(signals, progress)?;
        if rows.iter().any(|row| row.late) && !signals.asked_to_stop() {
            progress.add(&self.cell.load);
            rows.extend(self.run_once(signals, progress)?);
        }
        Ok(rows)
    }

    fn run_once(&self, signals: &Signals, progress: &Progress) -> Result<Vec<Row>> {
        let Cell { feed, wait, load } = self.cell;
        progress.begin(&self.cell);
        let trader = |ready| self.trader_setup(ready);
        let told = |ticks| progress.at(ticks);
        let outcome = round::run(self.ground, &self.exchange_setup(), trader, signals, told);
        progress.end();
        match outcome {
            Ok(outcome) => {
                let failed = verdict::reason_to_fail(&load, &outcome.exchange, &outcome.trader);
                let interrupted = outcome.exchange.interrupted;
                let described =
                    |row| Row { failed: failed.clone(), interrupted, ..self.describe(row) };
                Ok(outcome.exchange.rows.into_iter().map(described).collect())
            }
            // Wrong surroundings (a busy port, a bad key) are wrong for every row: say so once.
            Err(error) if self.is_first && error.is::<round::NotReady>() => bail!("{error:#}"),
            Err(error) => {
                let source = Clock::new().source();
                let settings = setup::settings(feed.name(), &wait.to_string(), &load, source);
                let failed = |setting| self.describe(Row::failed(setting, format!("{error:#}")));
                Ok(settings.map(failed).into())
            }
        }
    }

    /// What the row stood on.
    fn describe(&self, row: Row) -> Row {
        let tick = hairpin_host::kernel_tick();
        Row {
            cores: self.cores.exchange.zip(self.cores.trader).map(|(a, b)| [a, b]),
            seed: Some(self.cell.load.seed),
            ground: Some(self.ground.describe().to_owned()),
            block_deadline_ns: (self.cell.wait == Wait::Block).then(|| tick.as_nanos()),
            ..row
        }
    }

    fn exchange_setup(&self) -> ExchangeSetup {
        let interface = self.ground.address(Role::Exchange);
        ExchangeSetup {
            market_data: match self.cell.feed {
                FeedTransport::Multicast => MarketData::Multicast(self.ground.groups),
                FeedTransport::Tcp => MarketData::Tcp([SocketAddrV4::new(interface, 0); 2]),
            },
            interface,
            gateway: self.arguments.gateway.unwrap_or(SocketAddrV4::new(interface, 0)),
            core: self.cores.exchange,
            wait: self.cell.wait.to_string(),
            load: self.cell.load,
            secret_key_file: self.arguments.secret_key_file.clone(),
        }
    }

    fn trader_setup(&self, ready: Ready) -> TraderChildSetup {
        let source = self.ground.address(Role::Exchange);
        TraderChildSetup {
            trader: TraderSetup {
                id: 1,
                gateway: ready.gateway,
                wait: self.cell.wait.to_string(),
                core: self.cores.trader,
                secret_key_file: self.arguments.secret_key_file.clone(),
                journal_bytes: journal_bytes(&self.cell.load),
            },
            market_data: ready.market_data,
            interface: self.ground.address(Role::Trader),
            sources: if self.arguments.any_source { Vec::new() } else { vec![source] },
        }
    }
}

/// Drops rows of waits that this host does not have, unless they were asked for; says which.
fn leave_out(plan: &mut Vec<Cell>, arguments: &Arguments) -> String {
    let mut said = String::new();
    if arguments.wait.is_empty() {
        for wait in Wait::ALL {
            if let Err(error) = wait.probe() {
                plan.retain(|cell| cell.wait != wait);
                said += &format!("\nwait {wait} is left out: {error}");
            }
        }
    }
    said
}

/// Room for an order and its cancel a tick (152 and 116 bytes with their record headers), and for
/// what logs on and off.
fn journal_bytes(load: &Load) -> usize {
    let ticks = usize::try_from(load.warm_up + load.samples).unwrap_or(usize::MAX);
    ticks.saturating_mul(320).saturating_add(1 << 16)
}

fn introduction(ground: &Ground, cores: Cores, is_test_key: bool) -> String {
    let key = if is_test_key { "\niLink key: the published test key" } else { "" };
    let tick = hairpin_host::kernel_tick();
    format!(
        "{}; {}\ngateway without rate limits; \
         wait block rounds deadlines up to the kernel's tick ({tick}){key}",
        ground.describe(),
        cores.describe(),
    )
}
