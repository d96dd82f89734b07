//! `hairpin stat`: live counters of running Hairpin processes.
//!
//! Nobody is asked and nobody is stopped: the pages are found in `/proc`, mapped and read.

mod json;
mod lines;
mod pattern;
mod reading;
mod table;
mod watch;

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::ValueEnum;
use hairpin_host::Clock;
use hairpin_mapped::CounterPages;

use pattern::Pattern;
use reading::{Reading, Wanted};

/// Live counters of running Hairpin processes.
///
/// A line for each value: process id, command, name, value, unit. An ordinary user sees his own
/// processes, root sees all. Exit status: 0 if something was shown, 1 if nothing was or a PID that
/// was asked for publishes nothing that may be read, 2 for bad arguments, 130 when interrupted.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct Arguments {
    /// Of these processes only
    #[arg(value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    processes: Vec<u32>,

    /// Only values with PATTERN in their names; with * or ? in it, that are named like it. May be
    /// given several times
    #[arg(long = "name", value_name = "PATTERN")]
    names: Vec<Pattern>,

    /// Again and again, every second unless told otherwise: on a terminal a table with rates, else
    /// lines that begin with the time. PIDs stand before it
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "1",
          value_parser = watch::parse_interval)]
    watch: Option<std::time::Duration>,

    /// How values are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Lines, or a table
    Text,
    /// A document a line
    Json,
}

/// Prints once, or again and again.
///
/// # Errors
/// No `/proc`; standard output cannot be written.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let wanted = Wanted { processes: arguments.processes.clone(), names: arguments.names.clone() };
    if let Some(interval) = arguments.watch {
        let is_table = arguments.format == Format::Text && io::stdout().is_terminal();
        return watch::run(&wanted, interval, arguments.format, is_table);
    }
    let pages = find()?;
    let reading = Reading::take(&pages, &wanted, Clock::from_kernel().now().utc);
    let text = match arguments.format {
        Format::Text => lines::render(&reading),
        Format::Json => json::render(&reading)?,
    };
    print(&text)?;
    let are_all_shown = tell_the_rest(&reading, &pages, &wanted);
    let is_shown = !reading.pages.is_empty() && are_all_shown;
    Ok(if is_shown { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn find() -> Result<CounterPages> {
    CounterPages::find().context("processes cannot be looked for in /proc")
}

/// Prints to standard output; that nobody reads it is for the caller to know.
fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

/// Says a line on standard error.
fn say(words: impl Display) {
    let _ = writeln!(io::stderr(), "hairpin: {words}");
}

/// Says what is not among the values, and why. Whether each process that was asked for is.
fn tell_the_rest(reading: &Reading<'_>, pages: &CounterPages, wanted: &Wanted) -> bool {
    for (process, why) in &reading.refused {
        say(format_args!("the counters of process {process} cannot be shown: {why}"));
    }
    if wanted.processes.is_empty() && reading.unreadable > 0 {
        let count = reading.unreadable;
        say(format_args!("{count} processes of other users were not looked into; root may"));
    }
    let mut are_all_shown = true;
    for &process in &wanted.processes {
        if let Some(why) = reason_for_nothing(process, reading, pages) {
            are_all_shown = false;
            say(format_args!("process {process} {why}"));
        }
    }
    if wanted.processes.is_empty() && reading.pages.is_empty() {
        say(match wanted.names[..] {
            [] => "no process publishes live counters that may be read",
            _ => "no process publishes live counters of such names that may be read",
        });
    }
    are_all_shown
}

/// Why nothing was shown of a process that was asked for.
fn reason_for_nothing(
    process: u32,
    reading: &Reading<'_>,
    pages: &CounterPages,
) -> Option<&'static str> {
    if reading.pages.iter().any(|page| page.process == process) {
        return None;
    }
    let mut found = pages.found.iter().filter(|found| found.process == process);
    Some(if pages.unreadable.contains(&process) {
        "is another user's; root may look into it"
    } else if found.any(|found| found.page.is_ok()) {
        "publishes no live counters of such names"
    } else if reading.refused.iter().any(|(refused, _)| *refused == process) {
        "has shown nothing"
    } else if Path::new(&format!("/proc/{process}")).exists() {
        "publishes no live counters"
    } else {
        "does not exist"
    })
}
