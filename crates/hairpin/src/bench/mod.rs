//! `hairpin bench NAME`: a published table, measured on this machine.

mod arguments;
mod contrast;
mod t2t;
mod table;

use std::process::ExitCode;

use anyhow::Result;

pub(crate) use arguments::Arguments;
use arguments::Name;

/// Measures the table that is named and prints it.
///
/// # Errors
/// Those of that table.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    match arguments.name {
        Name::T2t => t2t::run(arguments),
    }
}
