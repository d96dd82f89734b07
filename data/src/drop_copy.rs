//! `hairpin drop-copy`: the reports in a journal for FIX 4.4 clients, or as a file.
//!
//! The journal is read outside of the trading process, without a lock. It is also the store of
//! messages: for each number, a session's own store has only the place of the report.
//!
//! ```text
//!   journal ─▶ reports ─▶ converter ─▶ session ─▶ store (number → place, synced) ─▶ socket
//!      ▲                  (FIX body)      │ ResendRequest
//!      └───────── lookup by place ────────┘
//! ```

mod acceptor;
mod args;
mod converter;
mod definitions;
mod fix_file;
pub(crate) mod journal_reports;
mod link;
mod report;
mod session;
mod store;

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use hairpin_host::handle_stop_signal;
use hairpin_order_entry::{Config, ReadOptions};

pub(crate) use args::DropCopyArgs;

use acceptor::Acceptor;
use converter::Converter;
use definitions::Definitions;
use session::Session;

/// SIGINT and SIGTERM.
const STOP_SIGNALS: [i32; 2] = [2, 15];

/// Runs the command.
///
/// # Errors
/// No journal, wrong definitions, a store that is open or damaged, or an error of the system.
pub(crate) fn run(arguments: &DropCopyArgs) -> Result<ExitCode> {
    let journal = journal(arguments)?;
    let definitions = match &arguments.display_prices {
        Some(capture) => Definitions::read(capture)?,
        None => Definitions::default(),
    };
    let mut converter = Converter::new(definitions, arguments.all_tags);
    let Some((address, store)) = arguments.fix_listen.zip(arguments.fix_store.as_ref()) else {
        fix_file::write(arguments, &journal, &mut converter)?;
        return Ok(ExitCode::SUCCESS);
    };
    let clients: BTreeSet<&String> = arguments.fix_client.iter().collect();
    let session = |client: &String| {
        Session::open(&journal, store, [arguments.fix_sender.clone(), client.clone()])
    };
    let sessions = clients.into_iter().map(session).collect::<Result<Vec<_>>>()?;
    for signal in STOP_SIGNALS {
        handle_stop_signal(signal)?;
    }
    let acceptor = Acceptor::bind(address, sessions, converter)?;
    writeln!(io::stdout(), "drop-copy: listening on {}", acceptor.address()?)?;
    acceptor.run()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the folder of the journal.
fn journal(arguments: &DropCopyArgs) -> Result<PathBuf> {
    let Some(path) = &arguments.config else {
        return arguments.journal.clone().context("no journal");
    };
    // The secret key is not used here: its file may have any mode.
    let options = ReadOptions { insecure_key_file: true };
    let config = Config::read_with(path, options).with_context(|| path.display().to_string())?;
    let path = path.display();
    if !config.session.keep_inbound {
        bail!("{path}: the journal has no reports: remove `keep_inbound = false`");
    }
    let Some(location) = config.journal else {
        bail!("{path}: the session's journal is in memory: set `folder` in [journal]");
    };
    Ok(location.folder)
}

/// Writes a log line.
fn log(what: impl Display) {
    let _ = writeln!(io::stderr(), "drop-copy: {what}");
}
