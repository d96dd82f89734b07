//! `hairpin bench feed`: the feed handler's published tables, and what this machine makes of them.

mod arguments;
mod bare;
mod batch;
mod flow;
mod plan;
mod probe;
mod progress;
mod published;
pub(crate) mod receiver;
mod round;
pub(crate) mod sender;
mod setup;
mod table;

use std::process::ExitCode;

use anyhow::{Result, bail};
use hairpin_host::Clock;
use hairpin_measure::{Results, Row, interleaved};
use hairpin_reactor::Wait;

pub(crate) use arguments::Arguments;
use plan::Cell;
use progress::Progress;
use round::{Outcome, Stand};
use setup::Counts;

use crate::ground::Ground;
use crate::output;
use crate::ping::joined;
use crate::signals::Signals;
use crate::truth::Checks;

/// Measures the tables or reads them from a file, and prints them.
///
/// # Errors
/// What stands in the way before the first round: no such interface, core or folder; a file that
/// cannot be read or has nothing for these tables. What goes wrong in a round fails its row.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    if let Some(path) = &arguments.from {
        let results = Results::read(path)?;
        if results.rows.iter().all(|row| row.setting.bench != "feed") {
            bail!("{} has no rows of feed", path.display());
        }
        arguments.output.check()?;
        arguments.output.save(&results)?;
        output::print(&table::render(&results))?;
        return Ok(ExitCode::SUCCESS);
    }
    // First of all: an ordinary user's namespaces are only for a process of one thread.
    let ground = Ground::make(arguments.interface.as_deref())?;
    let cores = arguments.cores.choose()?;
    arguments.output.check()?;
    let signals = Signals::take()?;
    let mut clock = Clock::new();
    let checks = Checks::before(&clock, &cores.chosen())?;
    clock.recalibrate();
    let mut results = output::results(&clock, ground.nic());
    let plan = arguments.plan();
    let introduction = introduction(&ground, cores, &plan);
    let progress = Progress::new(&plan, arguments.rounds(), introduction);
    let stand = Stand { ground: &ground, cores, signals: &signals };
    let mut session = Session { stand, plan: &plan, rounds: arguments.rounds(), progress };
    let (rows, said) = session.measure()?;
    session.progress.finish();
    results.rows = rows;
    results.truth = Some(checks.after());
    arguments.output.save(&results)?;
    output::print(&(table::render(&results) + &said + &checks.describe_drops()))?;
    let failed = results.rows.iter().any(|row| row.failed.is_some());
    let status = if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    Ok(signals.exit_status().unwrap_or(status))
}

fn introduction(ground: &Ground, cores: crate::cores::Cores, plan: &[Cell]) -> String {
    let core =
        |core: Option<usize>| core.map_or("no core".to_owned(), |core| format!("core {core}"));
    let bound = format!(
        "publisher (spinning) on {}, receiver on {}",
        core(cores.exchange),
        core(cores.trader)
    );
    let tick = match plan.iter().any(|cell| cell.wait == Wait::Block) {
        true => format!(
            "; wait block rounds deadlines up to the kernel's tick ({})",
            hairpin_host::kernel_tick()
        ),
        false => String::new(),
    };
    format!("{}; {bound}{tick}", ground.describe())
}

/// Rounds of all columns, taking turns.
struct Session<'a> {
    stand: Stand<'a>,
    plan: &'a [Cell],
    rounds: usize,
    progress: Progress,
}

impl Session<'_> {
    /// The rows of all columns, and what is worth a word beside them.
    fn measure(&mut self) -> Result<(Vec<Row>, String)> {
        let mut sets: Vec<Vec<Vec<Row>>> = vec![Vec::new(); self.plan.len()];
        let mut tallies = vec![Tally::default(); self.plan.len()];
        for (round, side) in interleaved(self.plan.len(), self.rounds) {
            if self.stand.signals.asked_to_stop() {
                break;
            }
            let cell = self.plan[side].share(round, self.rounds);
            self.progress.begin(&cell);
            let outcome = self.stand.round(&cell, |packets| self.progress.at(packets));
            self.progress.end();
            let is_first = sets.iter().all(Vec::is_empty);
            let rows = match outcome {
                Ok(outcome) => {
                    tallies[side].add(&outcome);
                    rows_of(outcome)
                }
                Err(_) if self.stand.signals.asked_to_stop() => break,
                // Wrong surroundings are wrong for every row: say so once.
                Err(error) if is_first => return Err(error),
                Err(error) => self.stand.failed(&cell, &format!("{error:#}")),
            };
            sets[side].push(rows.into_iter().map(|row| self.describe(&cell, row)).collect());
        }
        let rows = sets.into_iter().flat_map(|rounds| joined(rounds, self.rounds)).collect();
        let said = self.plan.iter().zip(tallies).map(|(cell, tally)| tally.describe(cell));
        Ok((rows, said.collect()))
    }

    /// What the row stood on.
    fn describe(&self, cell: &Cell, row: Row) -> Row {
        let cores = self.stand.cores;
        let tick = hairpin_host::kernel_tick();
        let is_blocked = row.setting.wait == Wait::Block.name();
        Row {
            cores: cores.exchange.zip(cores.trader).map(|(sender, receiver)| [sender, receiver]),
            ground: Some(self.stand.ground.describe().to_owned()),
            block_deadline_ns: is_blocked.then(|| tick.as_nanos()),
            seed: Some(cell.load.seed),
            ..row
        }
    }
}

/// The rows of a round; what was not understood fails them.
fn rows_of(outcome: Outcome) -> Vec<Row> {
    let received = outcome.received;
    let Counts { errors, refused, .. } = received.counts;
    let reason = match (errors, refused) {
        (0, 0) => None,
        (0, refused) => Some(format!("{refused} samples found no room")),
        (errors, _) => Some(format!("{errors} packets were not understood")),
    };
    let interrupted = received.interrupted;
    let row = |row: Row| Row { interrupted, failed: reason.clone(), ..row };
    received.rows.into_iter().map(row).collect()
}

/// What beside the samples was counted of one column.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    counts: Counts,
    unsent: u64,
}

impl Tally {
    fn add(&mut self, outcome: &Outcome) {
        self.counts = self.counts.plus(outcome.received.counts);
        self.unsent += outcome.unsent;
    }

    /// A line if anything was not as it should be, and one of a path that was kept warm.
    fn describe(&self, cell: &Cell) -> String {
        let Counts { unsynced, unstamped, gaps, drops, dry, buffer, .. } = self.counts;
        let pause = match cell.load.interval_us {
            0 => "no delay".to_owned(),
            interval => format!("{} ms", interval as f64 / 1e3),
        };
        let mut text = String::new();
        let name = cell.name();
        if [unsynced, unstamped, gaps, drops, self.unsent] != [0; 5] {
            text += &format!(
                "{name}, {pause}: {drops} packets dropped at a receive buffer of {buffer} bytes, \
                 {} not sent for want of room, {gaps} gaps; {unsynced} events of books out of \
                 sync, {unstamped} packets without a timestamp\n",
                self.unsent
            );
        }
        if dry > 0 {
            text += &format!("{name}, {pause}: {dry} dry packets\n");
        }
        text
    }
}
