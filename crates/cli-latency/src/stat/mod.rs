//! `hairpin stat`: prints live counters of running Hairpin processes.
//!
//! It sends them no request and stops none: it finds their pages in `/proc`, maps and reads them.

mod json;
mod lines;
mod listen;
mod open_metrics;
mod pattern;
mod snapshot;
mod sockets;
mod table;
mod watch;

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::ValueEnum;
use hairpin_cli_harness::stdout;
use hairpin_host::Clock;
use hairpin_mapped::CounterPages;
use hairpin_measure::{Style, counted};

use pattern::Pattern;
use snapshot::{CounterFilter, CounterSnapshot};
use table::PreviousValues;

/// Print live counters of running Hairpin processes
///
/// A line for each value: process id, command, name, value, unit. On a terminal it is a table for
/// each process, without counters that are 0. An ordinary user sees only their own processes, root
/// sees all. Exit status: 0 if anything was printed, 1 if nothing was or if a
/// given PID publishes nothing that may be read, 2 for wrong arguments, 130 when interrupted.
#[derive(clap::Args, Debug, Clone)]
pub struct StatArgs {
    /// Only these processes [default: all]
    #[arg(value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    processes: Vec<u32>,

    /// Only values whose names contain PATTERN, or match it if it has * or ?; may be given several
    /// times
    #[arg(long = "name", value_name = "PATTERN")]
    names: Vec<Pattern>,

    /// On a terminal, show counters that are 0 too; other outputs have all of them
    #[arg(long)]
    all: bool,

    /// Repeat every SECONDS seconds: on a terminal as a table with rates, otherwise as lines that
    /// begin with the time; PIDs must precede it [default: 1]
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "1",
          value_parser = watch::parse_interval)]
    watch: Option<std::time::Duration>,

    /// Serve the values to Prometheus at http://ADDR/metrics, in OpenMetrics, until Ctrl-C; who
    /// reaches the address can read them
    #[arg(long, value_name = "ADDR", conflicts_with_all = ["watch", "all", "format"])]
    listen: Option<SocketAddr>,

    /// Print the sockets of the programs that hairpin run started instead, one per line: address,
    /// state, path, queues, messages by path, takeovers and handbacks
    #[arg(long, conflicts_with_all = ["names", "all", "watch", "listen"])]
    sockets: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Lines, or a table
    Text,
    /// One document per line
    Json,
}

/// Prints once, or repeatedly.
///
/// # Errors
/// No `/proc`; standard output cannot be written.
pub fn run(arguments: &StatArgs) -> Result<ExitCode> {
    if arguments.sockets {
        return sockets::run(&arguments.processes, arguments.format);
    }
    let filter =
        CounterFilter { processes: arguments.processes.clone(), names: arguments.names.clone() };
    if let Some(address) = arguments.listen {
        return listen::run(&filter, address);
    }
    let is_table = arguments.format == Format::Text && io::stdout().is_terminal();
    let with_zeros = arguments.all || !arguments.names.is_empty();
    if let Some(interval) = arguments.watch {
        return watch::run(&filter, interval, arguments.format, (is_table, with_zeros));
    }
    let pages = find()?;
    let snapshot = CounterSnapshot::take(&pages, &filter, Clock::from_kernel().now().utc);
    let text = match arguments.format {
        Format::Text if is_table && !snapshot.pages.is_empty() => {
            table::render(&snapshot, &PreviousValues::default(), with_zeros, Style::for_stdout())
        }
        Format::Text => lines::render(&snapshot),
        Format::Json => json::render(&snapshot)?,
    };
    print(&text)?;
    let are_all_shown = print_missing(&snapshot, &pages, &filter);
    let is_shown = !snapshot.pages.is_empty() && are_all_shown;
    Ok(if is_shown { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn find() -> Result<CounterPages> {
    CounterPages::find().context("cannot search /proc for processes")
}

/// Prints to standard output; the caller handles a closed pipe.
fn print(text: &str) -> io::Result<()> {
    let mut out = stdout::lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

/// Prints a line on standard error.
fn print_message(words: impl Display) {
    let _ = writeln!(io::stderr(), "hairpin: {words}");
}

/// Prints what is missing among the values, and why. Returns `true` if no given process is missing.
fn print_missing(
    snapshot: &CounterSnapshot<'_>,
    pages: &CounterPages,
    filter: &CounterFilter,
) -> bool {
    for (process, why) in &snapshot.refused {
        print_message(format_args!("cannot read the counters of process {process}: {why}"));
    }
    if filter.processes.is_empty() && snapshot.unreadable > 0 {
        let count = counted(snapshot.unreadable, "process");
        print_message(format_args!("{count} of other users skipped; root may read them"));
    }
    let mut are_all_shown = true;
    for &process in &filter.processes {
        if let Some(why) = reason_for_nothing(process, snapshot, pages) {
            are_all_shown = false;
            print_message(format_args!("process {process} {why}"));
        }
    }
    if filter.processes.is_empty() && snapshot.pages.is_empty() {
        print_message(match filter.names[..] {
            [] => "no readable process publishes live counters",
            _ => "no readable process publishes live counters with such names",
        });
    }
    are_all_shown
}

/// Returns why nothing was printed of a given process.
fn reason_for_nothing(
    process: u32,
    snapshot: &CounterSnapshot<'_>,
    pages: &CounterPages,
) -> Option<&'static str> {
    if snapshot.pages.iter().any(|page| page.process == process) {
        return None;
    }
    let mut found = pages.found.iter().filter(|found| found.process == process);
    Some(if pages.unreadable.contains(&process) {
        "belongs to another user; root may read it"
    } else if found.any(|found| found.page.is_ok()) {
        "publishes no live counters with such names"
    } else if snapshot.refused.iter().any(|(refused, _)| *refused == process) {
        "has no valid counters"
    } else if Path::new(&format!("/proc/{process}")).exists() {
        "publishes no live counters"
    } else {
        "does not exist"
    })
}
