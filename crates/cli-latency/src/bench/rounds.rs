//! The interleaved rounds of a benchmark's columns.

use anyhow::Result;
use hairpin_measure::{Results, Row, Style, interleaved};
use hairpin_reactor::Wait;

use super::bench_case::BenchCase;
use super::bench_context::BenchContext;
use super::progress::BenchProgress;
use crate::ping::joined;

/// A benchmark.
pub(super) trait Bench {
    /// The name of the benchmark in a results file.
    const NAME: &'static str;
    /// The names of the processes on the first and the second core.
    const SIDES: [&'static str; 2];
    /// A column of the table.
    type Case: BenchCase;
    /// The outcome of one round.
    type Outcome;
    /// The counts of a column besides its samples.
    type Tally: Default + Clone;

    /// Runs one round. `told` receives the number of messages sent.
    ///
    /// # Errors
    /// A process that cannot be started, fails (with its error message) or does not exit.
    fn round(
        context: &BenchContext<'_>,
        case: &Self::Case,
        told: &mut dyn FnMut(u64),
    ) -> Result<Self::Outcome>;

    /// Adds the counts of a round.
    fn count(tally: &mut Self::Tally, outcome: &Self::Outcome);

    /// Returns the rows of a round; decoding errors fail them.
    fn rows(outcome: Self::Outcome) -> Vec<Row>;

    /// Returns the reason if a column cannot be measured on this host, though others can.
    fn refusal(_stand: &BenchContext<'_>, _cell: &Self::Case) -> Option<String> {
        None
    }

    /// Returns rows that contain the reason of a failure.
    fn failed(case: &Self::Case, reason: &str) -> Vec<Row>;

    /// Describes unexpected counts of a column.
    fn describe(case: &Self::Case, tally: &Self::Tally) -> String;

    /// Renders the tables of a results file.
    fn render(results: &Results, style: Style) -> String;
}

/// The results of all columns.
pub(super) struct Measured {
    pub(super) rows: Vec<Row>,
    /// The text printed below the tables.
    pub(super) said: String,
    /// `true` if a column that can be measured on this host has failed.
    pub(super) has_failed: bool,
}

/// Measures all columns. A column that this host does not support contains the reason in its rows.
///
/// # Errors
/// The error of the first round, which would fail every other.
pub(super) fn measure<B: Bench>(
    context: &BenchContext<'_>,
    plan: &[B::Case],
    rounds: usize,
    progress: &BenchProgress,
) -> Result<Measured> {
    let refusals: Vec<Option<String>> = plan.iter().map(|case| B::refusal(context, case)).collect();
    let mut sets: Vec<Vec<Vec<Row>>> = vec![Vec::new(); plan.len()];
    let mut tallies = vec![B::Tally::default(); plan.len()];
    for (round, side) in interleaved(plan.len(), rounds) {
        if context.signals.stop_requested() {
            break;
        }
        if refusals[side].is_some() {
            continue;
        }
        let case = plan[side].share(round, rounds);
        progress.begin(&case);
        let outcome = B::round(context, &case, &mut |messages| progress.advance(messages));
        progress.end();
        let is_first = sets.iter().all(Vec::is_empty);
        let rows = match outcome {
            Ok(outcome) => {
                B::count(&mut tallies[side], &outcome);
                B::rows(outcome)
            }
            Err(_) if context.signals.stop_requested() => break,
            // An unsuitable host fails every row: report it once.
            Err(error) if is_first => return Err(error),
            Err(error) => B::failed(&case, &format!("{error:#}")),
        };
        sets[side].push(rows.into_iter().map(|row| describe(context, &case, row)).collect());
    }
    let mut measured = Measured { rows: Vec::new(), said: String::new(), has_failed: false };
    for (((case, refusal), of), tally) in plan.iter().zip(refusals).zip(sets).zip(&tallies) {
        let rows = match &refusal {
            Some(reason) => B::failed(case, reason),
            None => joined(of, rounds),
        };
        let has_failed = rows.iter().any(|row| row.failed.is_some());
        measured.has_failed |= has_failed && refusal.is_none();
        measured.rows.extend(rows);
        measured.said += &B::describe(case, tally);
    }
    Ok(measured)
}

/// Adds the environment of the round to its row.
fn describe(context: &BenchContext<'_>, case: &impl BenchCase, row: Row) -> Row {
    let tick = hairpin_host::kernel_tick();
    let is_blocked = row.setting.wait == Wait::Block.name();
    Row {
        cores: context.cores.exchange.zip(context.cores.trader).map(|(one, other)| [one, other]),
        ground: Some(context.hosts.describe().to_owned()),
        block_deadline_ns: is_blocked.then(|| tick.as_nanos()),
        seed: Some(case.load().seed),
        ..row
    }
}
