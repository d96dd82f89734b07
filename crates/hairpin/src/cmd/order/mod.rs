//! `hairpin order`: a session at the command line, and the audit trail of one.
//!
//! With a settings file it logs on, does what a script or standard input says, prints what is sent
//! and what comes, and logs off. With `--show` it prints the journal that a session has written.
//! Both print the same lines.

mod active_session;
mod args;
mod audit_trail;
mod columns;
mod console;
mod history;
mod input;
mod order_run;
mod orders;
mod prompt;
mod request;
mod row;
mod script;
mod settings;

use std::process::ExitCode;

use anyhow::Result;
use clap::error::ErrorKind;

use args::Format;
pub(crate) use args::OrderArgs;

use crate::harness::usage;

/// Runs the command: exit status 0 if everything was done and understood, 1 if anything was wrong,
/// 2 for tokens that do not go together.
///
/// # Errors
/// Those of the session, or of the trail.
pub(crate) fn run(arguments: &OrderArgs) -> Result<ExitCode> {
    if let (true, Some(journal)) = (arguments.show, &arguments.journal) {
        return audit_trail::show(arguments, journal);
    }
    let Some(settings) = &arguments.settings else {
        let what = "a settings file is missing, or --journal DIR --show\n";
        return Ok(usage::report(&clap::Error::raw(ErrorKind::MissingRequiredArgument, what)));
    };
    if arguments.format == Format::Csv {
        let what = "--format csv is for --show: a session prints text or json\n";
        return Ok(usage::report(&clap::Error::raw(ErrorKind::ArgumentConflict, what)));
    }
    order_run::run(arguments, settings)
}
