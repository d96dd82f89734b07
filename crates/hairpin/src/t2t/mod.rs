//! `hairpin t2t`: tick to trade, an exchange and a trader on this machine.

mod arguments;
mod plan;
mod progress;
mod round;
mod rounds;
mod runner;
mod stand;
mod standing;
mod start;
mod verdict;

use std::process::ExitCode;

use anyhow::Result;
use hairpin_measure::{Style, Table};

pub(crate) use arguments::Arguments;
pub(crate) use plan::{Cell, INTERVALS_US, Plan, ROUNDS_MAX, ROUNDS_PUBLISHED};
pub(crate) use stand::{Measured, Stand, StandArguments};

use crate::output;

/// Runs the plan, prints the table and saves the results.
///
/// # Errors
/// What stands in the way before the first row: no such interface, core or folder, a bad key.
/// What goes wrong in a row fails that row.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    arguments.stand.check(&arguments.feed)?;
    // Before all else: an ordinary user's namespaces are only for a process of one thread.
    let stand = Stand::make("t2t", &arguments.stand)?;
    let mut plan = arguments.plan();
    // Waits that were asked for by name are run, and fail their rows where there is none.
    let left_out = if arguments.wait.is_empty() { plan.leave_out() } else { String::new() };
    let Measured { results, said } = stand.measure(&plan, &left_out)?;
    let table = Table::new(&results.rows).with_environment(results.truth.as_ref());
    output::print(&(table.render(Style::for_stdout()) + &said))?;
    Ok(stand.exit_status(&results))
}
