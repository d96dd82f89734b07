//! `hairpin order`: what an order entry session has written down, as an audit trail.

mod arguments;
mod columns;
mod row;
mod trail;

use std::process::ExitCode;

use anyhow::Result;

pub(crate) use arguments::Arguments;

/// Runs the command: exit status 0 if the whole journal could be read, 1 if anything in it was
/// wrong.
///
/// # Errors
/// No journal, or one that this user may not read.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    trail::show(arguments, &arguments.journal)
}
