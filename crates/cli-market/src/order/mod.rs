//! `hairpin order`: a session at the command line, and its audit trail.
//!
//! With a settings file it logs on, runs the commands of a script or of standard input, prints sent
//! and received messages, and logs off. With `--show` it prints the journal of a session. Both
//! print the same lines. With `--audit-trail` it writes the journal as CME requires.

mod active_session;
mod args;
mod audit_record;
mod audit_trail;
mod cme_audit_trail;
mod columns;
mod console;
mod display_prices;
mod history;
mod input;
mod order_run;
mod orders;
mod prompt;
pub(crate) mod script;
mod settings;
mod short_line;

use std::process::ExitCode;

use anyhow::Result;

use args::Format;
pub use args::OrderArgs;

use hairpin_cli_harness::usage::usage_error;

/// Runs the command. Exit status 0 if all was done and understood, 1 after any error, 2 for
/// conflicting arguments.
///
/// # Errors
/// Those of the session, or of the audit trail.
pub fn run(arguments: &OrderArgs) -> Result<ExitCode> {
    if let (true, Some(journal)) = (arguments.show, &arguments.journal) {
        return audit_trail::show(arguments, journal);
    }
    if let (true, Some(journal)) = (arguments.audit_trail, &arguments.journal) {
        return cme_audit_trail::write(journal, &arguments.output);
    }
    let Some(settings) = &arguments.settings else {
        usage_error!(
            "no settings file and no --journal DIR with --show or --audit-trail; try --help"
        );
    };
    if arguments.format == Some(Format::Csv) {
        usage_error!("--format csv is for --show: a session prints text or json; try --help");
    }
    order_run::run(arguments, settings)
}
