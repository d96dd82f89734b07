//! Columns measured in rounds, taking turns: what every table does alike.

use anyhow::Result;
use hairpin_measure::{Results, Row, interleaved};
use hairpin_reactor::Wait;

use super::bench_case::BenchCase;
use super::bench_context::BenchContext;
use super::progress::BenchProgress;
use crate::cmd::ping::joined;

/// A table that can be measured.
pub(super) trait Bench {
    /// The benchmark in a results file.
    const NAME: &'static str;
    /// Who runs on the first core, and who on the second.
    const SIDES: [&'static str; 2];
    /// A column.
    type Case: BenchCase;
    /// What one round of a column gave.
    type Outcome;
    /// What beside samples is counted of a column.
    type Tally: Default + Clone;

    /// Runs one round. `told` hears how many messages have left.
    ///
    /// # Errors
    /// A side that cannot be started, that fails (with its own words), or that does not end.
    fn round(
        context: &BenchContext<'_>,
        case: &Self::Case,
        told: &mut dyn FnMut(u64),
    ) -> Result<Self::Outcome>;

    /// Counts what a round gave.
    fn count(tally: &mut Self::Tally, outcome: &Self::Outcome);

    /// The rows of a round; what was not understood fails them.
    fn rows(outcome: Self::Outcome) -> Vec<Row>;

    /// Why a column cannot be measured in these surroundings, though others can.
    fn refusal(_stand: &BenchContext<'_>, _cell: &Self::Case) -> Option<String> {
        None
    }

    /// Rows that say why there is nothing in them.
    fn failed(case: &Self::Case, reason: &str) -> Vec<Row>;

    /// What of a column is worth a word beside the tables.
    fn describe(case: &Self::Case, tally: &Self::Tally) -> String;

    /// The tables of a results file.
    fn render(results: &Results) -> String;
}

/// What came of all columns.
pub(super) struct Measured {
    pub(super) rows: Vec<Row>,
    /// What is worth a word beside them.
    pub(super) said: String,
    /// Whether a column that could be measured was not, or not well.
    pub(super) has_failed: bool,
}

/// Measures all columns. One that cannot be had here says so in its rows, and the others are
/// measured.
///
/// # Errors
/// What fails the first round of all: it would fail every other.
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
            // Wrong surroundings are wrong for every row: say so once.
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

/// What the row stood on.
fn describe(context: &BenchContext<'_>, case: &impl BenchCase, row: Row) -> Row {
    let tick = hairpin_host::kernel_tick();
    let is_blocked = row.setting.wait == Wait::Block.name();
    Row {
        cores: context.cores.exchange.zip(context.cores.trader).map(|(one, other)| [one, other]),
        ground: Some(context.ground.describe().to_owned()),
        block_deadline_ns: is_blocked.then(|| tick.as_nanos()),
        seed: Some(case.load().seed),
        ..row
    }
}
