//! `hairpin t2t`: tick-to-trade latency of an exchange and a trader on this machine.

mod args;
mod progress;
mod round;
mod rounds;
mod row_checks;
mod run_context;
mod run_counters;
mod run_plan;
mod runner;
mod start_times;

use std::process::ExitCode;

use anyhow::Result;
use hairpin_measure::{Conclusion, Style, Table};

pub use args::T2tArgs;
pub(crate) use run_context::{Measured, RunArgs, RunContext};
pub(crate) use run_plan::{INTERVALS_US, ROUNDS_MAX, ROUNDS_PUBLISHED, RunPlan, T2tCase};

use hairpin_cli_harness::output;

/// Runs the plan, prints the table and saves the results.
///
/// # Errors
/// A condition that prevents the first row: no such interface, core or folder, or a bad key. A
/// failure within a row fails that row.
pub fn run(arguments: &T2tArgs) -> Result<ExitCode> {
    arguments.check()?;
    // First of all: an ordinary user's namespaces need a process of one thread.
    let context = RunContext::new("t2t", &arguments.context)?;
    let mut plan = arguments.plan();
    // Waits given as arguments run, and fail their rows where they are not available.
    let left_out = if arguments.wait.is_empty() { plan.leave_out() } else { String::new() };
    let Measured { results, said, saved } = context.measure(&plan, &left_out)?;
    let (environment, style) = (results.truth.as_ref(), Style::for_stdout());
    let busy = style.wrap(&output::busy(environment));
    let table = Table::new(&results.rows).with_environment(environment).render(style);
    let conclusion = Conclusion::new(&results.rows, environment, arguments.next_command());
    let rest = style.wrap(&(said + &conclusion.to_string()));
    output::print(&(busy + "Latencies and lateness, µs\n" + &table + &rest))?;
    saved?;
    Ok(context.exit_status(&results))
}
