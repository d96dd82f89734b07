//! `hairpin ping`: round trips between two processes.

pub(crate) mod agreement;
mod arguments;
pub(crate) mod child;
mod flood;
mod framing;
mod kernel_stamps;
mod line;
pub(crate) mod message;
mod pinger;
mod plan;
mod progress;
mod rally;
mod rates;
pub(crate) mod raw_frame;
mod raw_line;
mod raw_words;
mod round;
mod setup;
mod stages;
mod stall_check;
mod table;
#[cfg(test)]
mod virtual_time;

use std::process::ExitCode;

use anyhow::{Result, bail};
use hairpin_host::Clock;
use hairpin_measure::{Clock as MeasuredBy, Results, Row, Style, Timestamping, interleaved};
use hairpin_reactor::Wait;

pub(crate) use arguments::{Arguments, SIZE_MAX};
pub(crate) use line::{GREETING, GREETING_LENGTH, Multicast, datagrams};
use plan::Cell;
use progress::Progress;
use rates::Rates;
use round::{NotReady, Outcome, Stand};
use setup::Stamping;
pub(crate) use setup::{Place, PongOutcome, PongReady, PongSetup, Protocol, answers_to};

use crate::ground::Ground;
use crate::output;
use crate::signals::Signals;
use crate::truth::Checks;

/// Runs the rounds, prints the tables and saves the results.
///
/// # Errors
/// What stands in the way before the first round: no such interface, core or folder, nobody who
/// answers. What goes wrong in a later one fails its row.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    arguments.check()?;
    // First of all: an ordinary user's namespaces are only for a process of one thread.
    let ground = ground(arguments)?;
    if arguments.place().is_none() {
        ground.check(&arguments.transport)?;
    }
    let cores = arguments.cores()?;
    arguments.output.check()?;
    let signals = Signals::take()?;

    let (plan, left_out) = leave_out(arguments.plan(), arguments);
    if plan.is_empty() {
        bail!("no wait is left{left_out}");
    }
    let mut clock = Clock::new();
    let checks = Checks::before(&clock, &cores.chosen())?;
    clock.recalibrate();
    let mut results = output::results(&clock, ground.nic());
    let introduction = introduction(&ground, cores, &plan) + &left_out;
    let progress = Progress::new(&plan, arguments.rounds(), introduction);
    let stand = Stand {
        ground: &ground,
        cores,
        remote: arguments.place(),
        transport: arguments.transport,
        slowness: arguments.slowness(),
        stamping: arguments.timestamps,
        signals: &signals,
    };
    let mut session = Session { stand, plan: &plan, rounds: arguments.rounds(), progress };
    let Measured { rows, counts, rates } = session.measure()?;
    session.progress.finish();
    results.host.timestamping = stamped_by(&rows, arguments.timestamps);
    results.rows = rows;
    results.truth = Some(checks.after());

    arguments.output.save(&results)?;
    let mut text = if arguments.is_flood() {
        rates.render(Style::for_stdout())
    } else {
        table::render(&results.rows, Style::for_stdout())
            + &stall_check::lines(arguments.slowness().stall, &results.rows)
    };
    text += &counts;
    text += &truth(&results, &checks);
    output::print(&text)?;
    let failed = results.rows.iter().any(|row| row.failed.is_some());
    let status = if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    Ok(signals.exit_status().unwrap_or(status))
}

/// Where the rounds are run.
fn ground(arguments: &Arguments) -> Result<Ground> {
    let interface = arguments.interface.as_deref();
    match (arguments.remote, interface) {
        (Some(remote), interface) => Ground::here(remote, interface),
        (None, Some(interface)) if arguments.is_raw() => Ground::by(interface),
        (None, interface) => Ground::make(interface),
    }
}

/// Who stamped packets: a card only if one did.
fn stamped_by(rows: &[Row], stamping: Stamping) -> Timestamping {
    let is_by_card = |row: &Row| row.setting.clock == MeasuredBy::HardwareTimestamp;
    match stamping {
        Stamping::None => Timestamping::None,
        _ if rows.iter().any(is_by_card) => Timestamping::Hardware,
        _ => Timestamping::Software,
    }
}

/// Rounds of all settings, one after the other.
struct Session<'a> {
    stand: Stand<'a>,
    plan: &'a [Cell],
    rounds: usize,
    progress: Progress,
}

/// What came of them.
struct Measured {
    rows: Vec<Row>,
    /// What is worth a word beside the rows, a line each.
    counts: String,
    rates: Rates,
}

impl Session<'_> {
    fn measure(&mut self) -> Result<Measured> {
        let mut sets: Vec<Vec<Vec<Row>>> = vec![Vec::new(); self.plan.len()];
        let mut tallies = vec![table::Tally::default(); self.plan.len()];
        let mut rates = Rates::new(self.plan);
        for (round, side) in interleaved(self.plan.len(), self.rounds) {
            if self.stand.signals.asked_to_stop() {
                break;
            }
            let cell = self.plan[side].share(round, self.rounds);
            self.progress.begin(&cell);
            let outcome = self.stand.round(&cell, |news| self.progress.hear(news));
            self.progress.end();
            let is_first = sets.iter().all(Vec::is_empty);
            let rows = match outcome {
                Ok(outcome) => {
                    tallies[side].add(&outcome);
                    rates.add(side, &outcome);
                    self.rows(&cell, outcome)
                }
                // Wrong surroundings are wrong for every row: say so once. So is a pong that is
                // not there.
                Err(error) if is_first && self.stand.remote.is_some() => return Err(error),
                Err(error) if is_first && error.is::<NotReady>() => bail!("{error:#}"),
                Err(error) => self.stand.failed(&cell, &format!("{error:#}")),
            };
            sets[side].push(rows.into_iter().map(|row| self.describe(&cell, row)).collect());
        }
        let rows = sets.into_iter().flat_map(|rounds| joined(rounds, self.rounds)).collect();
        let counts = self.plan.iter().zip(tallies).map(|(cell, tally)| tally.describe(cell));
        Ok(Measured { rows, counts: counts.collect(), rates })
    }

    fn rows(&self, cell: &Cell, Outcome { ping, pong }: Outcome) -> Vec<Row> {
        let interrupted = ping.interrupted;
        let flooded = ping.flood.zip(pong.and_then(|pong| pong.flood));
        let rows = match flooded {
            Some((sent, received)) => {
                let setup = self.stand.ping_setup(cell, Place::NOWHERE);
                vec![received.row(setup.flood_setting(Clock::new().source()), sent.messages)]
            }
            None => ping.rows,
        };
        rows.into_iter().map(|row| Row { interrupted, ..row }).collect()
    }

    /// What the row stood on.
    fn describe(&self, cell: &Cell, row: Row) -> Row {
        let tick = hairpin_host::kernel_tick();
        let cores = self.stand.cores;
        Row {
            cores: cores.pong.zip(cores.ping).map(|(pong, ping)| [pong, ping]),
            ground: Some(self.stand.ground.describe().to_owned()),
            block_deadline_ns: (cell.wait == Wait::Block).then(|| tick.as_nanos()),
            ..row
        }
    }
}

/// The rows of one setting over its rounds, case by case. A round that failed fails it.
pub(crate) fn joined(rounds: Vec<Vec<Row>>, planned: usize) -> Vec<Row> {
    let is_cut_short = rounds.len() < planned;
    let cases = rounds.iter().map(Vec::len).min().unwrap_or(0);
    let case = |index: usize| {
        let rows: Vec<Row> = rounds.iter().map(|round| round[index].clone()).collect();
        let reasons: Vec<String> = rows
            .iter()
            .zip(1..)
            .filter_map(|(row, round)| Some(format!("round {round}: {}", row.failed.as_ref()?)))
            .collect();
        let row = Row::from_rounds(&rows).unwrap_or_else(|error| {
            let reason = format!("the rounds do not agree: {error}");
            Row::failed(rows[0].setting.clone(), reason)
        });
        let failed = (!reasons.is_empty()).then(|| reasons.join("; "));
        let interrupted = is_cut_short || rows.iter().any(|row| row.interrupted);
        Row { failed: failed.or(row.failed.clone()), interrupted, ..row }
    };
    (0..cases).map(case).collect()
}

/// Drops settings of waits that this host does not have, unless they were asked for; says which.
fn leave_out(mut plan: Vec<Cell>, arguments: &Arguments) -> (Vec<Cell>, String) {
    let mut said = String::new();
    if arguments.wait.is_empty() {
        for wait in Wait::ALL {
            if let Err(error) = wait.probe() {
                plan.retain(|cell| cell.wait != wait);
                said += &format!("\nwait {wait} is left out: {error}");
            }
        }
    }
    (plan, said)
}

fn introduction(ground: &Ground, cores: arguments::Cores, plan: &[Cell]) -> String {
    let mut text = format!("{}; {}", ground.describe(), cores.describe());
    if plan.iter().any(|cell| cell.wait == Wait::Block) {
        let tick = hairpin_host::kernel_tick();
        text += &format!("; wait block rounds deadlines up to the kernel's tick ({tick})");
    }
    text
}

/// What the figures above are good for.
fn truth(results: &Results, checks: &Checks) -> String {
    let described = results.truth.as_ref().map(|truth| truth.describe()).unwrap_or_default();
    format!("\n{described}{}", checks.describe_drops())
}
