//! `hairpin bench all`: every table, one after the other, and one page of them.

use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result};
use hairpin_cli_harness::cores::{CoreArgs, Cores};
use hairpin_cli_harness::output;
use hairpin_cli_harness::signals::Signals;
use hairpin_measure::{Report, Results, Style, counted};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::t2t::Case;

/// The interval at which a signal is looked for. It is long because each look takes time from the
/// two processes that are measured.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Measure every table, and write one page of them
///
/// The tables are t2t, t2t over AF_XDP against kernel sockets, feed, order, rds and sockets, each
/// with all columns that this host allows. Each is measured by a command of its own, whose lines
/// name what is left out and why. An error of one table does not end the others. Interrupted, the
/// table at hand prints and saves what it has, and the page is written.
///
/// A run takes about an hour, --quick less than 3 minutes on an idle machine. The exit status is 1
/// if a table could not be measured.
#[derive(clap::Args, Debug, Clone)]
pub(super) struct BenchAllArgs {
    /// Measure each table with --quick: less than 3 minutes
    #[arg(long)]
    quick: bool,

    /// Folder for the page, report.html, its charts, and a results file of each table
    #[arg(long, value_name = "DIR", default_value = "bench")]
    report: PathBuf,

    #[command(flatten)]
    cores: CoreArgs,
}

/// A table.
struct Table {
    name: &'static str,
    title: &'static str,
    arguments: &'static [&'static str],
    /// The usual duration with --quick and without it.
    seconds: [u64; 2],
    render: fn(&Results, Style) -> String,
}

const TABLES: [Table; 6] = [
    Table {
        name: "t2t",
        title: "Exchange and trader, poll() against epoll()",
        arguments: &["bench", "t2t"],
        seconds: [25, 25 * 60],
        render: |results, style| super::t2t::render(results, Case::Intended, style),
    },
    Table {
        name: "t2t-xdp",
        title: "Exchange and trader over AF_XDP",
        arguments: &["t2t", "--transport", "xdp", "--against-kernel", "--wait", "spin"],
        seconds: [20, 2 * 60],
        render: |results, style| {
            hairpin_measure::Table::new(&results.rows)
                .with_environment(results.truth.as_ref())
                .render(style)
        },
    },
    Table {
        name: "feed",
        title: "Feed handler",
        arguments: &["bench", "feed"],
        seconds: [20, 7 * 60],
        render: super::feed::render,
    },
    Table {
        name: "order",
        title: "Order entry",
        arguments: &["bench", "order"],
        seconds: [60, 6 * 60],
        render: super::order::render,
    },
    Table {
        name: "rds",
        title: "Reliable datagrams",
        arguments: &["bench", "rds"],
        seconds: [20, 3 * 60],
        render: super::rds::render,
    },
    Table {
        name: "sockets",
        title: "Unmodified programs",
        arguments: &["bench", "sockets"],
        seconds: [30, 22 * 60],
        render: super::sockets::render,
    },
];

/// The outcome of a table.
struct Outcome {
    table: &'static Table,
    status: ExitStatus,
    /// `None` if nothing was saved.
    results: Option<Results>,
}

/// Measures all tables, prints them, and writes the page.
///
/// # Errors
/// A core that this process may not use; a command that cannot be started. An error of a table is
/// printed, and fails the exit status.
pub(super) fn run(arguments: &BenchAllArgs) -> Result<ExitCode> {
    let cores = arguments.cores.choose()?;
    let signals = Signals::take()?;
    let folder = match output::check_folder(&arguments.report) {
        Ok(()) => Some(&*arguments.report),
        Err(error) => {
            note(&format!("{error:#}: the tables are printed and not kept"));
            None
        }
    };
    let mut outcomes = Vec::new();
    for (at, table) in TABLES.iter().enumerate() {
        if signals.stop_requested() {
            break;
        }
        note(&progress(at, arguments.quick));
        outcomes.push(measure(table, command(table, arguments.quick, cores)?, folder, &signals)?);
    }
    let text = summary(&outcomes, signals.stop_requested());
    output::print(&Style::for_stdout().wrap(&text))?;
    let has_failed = outcomes.iter().any(|outcome| !outcome.status.success());
    let is_written = folder.is_none_or(|folder| match write_page(&outcomes, folder) {
        Ok(()) => true,
        Err(error) => {
            note(&format!("{error:#}"));
            false
        }
    });
    let status = match has_failed || !is_written {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    };
    Ok(signals.exit_status().unwrap_or(status))
}

/// Prints a line beside the tables.
fn note(line: &str) {
    eprintln!("hairpin: {line}");
}

/// Returns the line before a table: its number, and the time that is left.
fn progress(at: usize, is_quick: bool) -> String {
    let seconds = |table: &Table| table.seconds[usize::from(!is_quick)];
    let left = TABLES[at..].iter().map(seconds).sum();
    let Table { name, title, .. } = &TABLES[at];
    let (number, count) = (at + 1, TABLES.len());
    format!("table {number} of {count}: {name} ({title}); about {} left in all", time(left))
}

/// Formats a duration in minutes and seconds.
fn time(seconds: u64) -> String {
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, 0) => format!("{minutes} min"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

/// Returns the command of a table: a process of its own, because its hosts need one that has one
/// thread.
fn command(table: &Table, is_quick: bool, cores: Cores) -> Result<Command> {
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let mut command = Command::new(program);
    command.args(table.arguments).args(is_quick.then_some("--quick"));
    if let Some((exchange, trader)) = cores.exchange.zip(cores.trader) {
        command.arg("--cpus").arg(format!("{exchange},{trader}"));
    }
    Ok(command)
}

/// Measures a table.
fn measure(
    table: &'static Table,
    mut command: Command,
    folder: Option<&Path>,
    signals: &Signals,
) -> Result<Outcome> {
    let file = folder.map(|folder| folder.join(format!("{}.json", table.name)));
    if let Some(file) = &file {
        command.arg("--json").arg(file);
    }
    let begin = SystemTime::now();
    let status = wait(command, signals).with_context(|| format!("cannot run {}", table.name))?;
    // A file of an earlier run stays when this one measures nothing.
    let is_new = |file: &&PathBuf| {
        let changed = file.metadata().and_then(|file| file.modified());
        changed.is_ok_and(|changed| changed + Duration::from_secs(1) >= begin)
    };
    let results = file.as_ref().filter(is_new).and_then(|file| Results::read(file).ok());
    Ok(Outcome { table, status, results })
}

/// Runs a command to its end, and passes a request to stop on.
fn wait(mut command: Command, signals: &Signals) -> io::Result<ExitStatus> {
    let mut child = command.spawn()?;
    let process = Pid::from_raw(child.id().cast_signed());
    let mut is_asked = false;
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if signals.stop_requested() && !is_asked {
            // A terminal has sent it to both: two within 200 ms are one request.
            let _ = kill(process, Signal::SIGINT);
            is_asked = true;
        }
        // A command that cannot run ends at once.
        let is_young = begin.elapsed() < POLL_INTERVAL;
        std::thread::sleep(if is_young { POLL_INTERVAL / 20 } else { POLL_INTERVAL });
    }
}

/// Returns a line per table, and one per reason for which columns were left out.
fn summary(outcomes: &[Outcome], is_interrupted: bool) -> String {
    let mut text = "\n".to_owned();
    for Outcome { table, status, results } in outcomes {
        let rows = results.as_ref().map_or(&[][..], |results| &results.rows);
        let reasons: Vec<&str> = rows.iter().filter_map(|row| row.failed.as_deref()).collect();
        let measured = match (results, status.success()) {
            (Some(_), _) => counted(rows.len() - reasons.len(), "row") + " measured",
            (None, true) => "measured, not kept".to_owned(),
            (None, false) => "no result kept, see its lines above".to_owned(),
        };
        let end = match status.code() {
            Some(0) => String::new(),
            Some(code @ (130 | 143)) => format!(", interrupted (exit status {code})"),
            Some(code) => format!(", exit status {code}"),
            None => format!(", {status}"),
        };
        let _ = writeln!(text, "{}: {measured}{end}", table.name);
        let mut different = reasons.clone();
        different.sort_unstable();
        different.dedup();
        for reason in different {
            let count = reasons.iter().filter(|other| **other == reason).count();
            let _ = writeln!(text, "  {} left out: {reason}", counted(count, "row"));
        }
    }
    for table in &TABLES[outcomes.len()..] {
        let stopped = if is_interrupted { "interrupted" } else { "not reached" };
        let _ = writeln!(text, "{}: left out: {stopped}", table.name);
    }
    text
}

/// Writes the page of the tables that were measured, and prints its path.
fn write_page(outcomes: &[Outcome], folder: &Path) -> Result<()> {
    let mut all = Vec::new();
    let (mut names, mut tables) = (Vec::new(), Vec::new());
    for Outcome { table, results, .. } in outcomes {
        if let Some(results) = results {
            names.push(table.name.to_owned());
            let text = (table.render)(results, Style::Plain);
            tables.push((table.title.to_owned(), text));
            all.push(results.clone());
        }
    }
    if all.is_empty() {
        return Ok(());
    }
    let written = Report::new(&all).with_names(&names).with_tables(&tables).write(folder)?;
    let page = written.last().map(|page| page.display().to_string()).unwrap_or_default();
    Ok(output::print(&format!("{page}\n"))?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use hairpin_cli_harness::args::parse_line;

    use super::*;
    use crate::bench::BenchArgs;

    #[test]
    fn time_that_is_left_shrinks_to_the_last_table() {
        let line = |at, is_quick| progress(at, is_quick);
        assert!(line(0, true).starts_with("table 1 of 6: t2t ("));
        assert!(line(0, true).ends_with("about 2 min 55 s left in all"));
        assert!(line(0, false).ends_with("about 65 min left in all"));
        assert!(line(5, true).ends_with("about 30 s left in all"));
    }

    #[test]
    fn tables_have_arguments_that_their_commands_accept() {
        for table in &TABLES {
            let words = [table.arguments, &["--quick", "--cpus", "0,1", "--json", "x"]].concat();
            let (name, words) = words.split_first().unwrap();
            let outcome = match *name {
                "bench" => parse_line::<BenchArgs>(words.iter().copied()).map(drop),
                _ => parse_line::<crate::t2t::T2tArgs>(words.iter().copied()).map(drop),
            };
            assert!(outcome.is_ok(), "{}: {outcome:?}", table.name);
        }
    }

    #[test]
    fn summary_names_each_reason_once() {
        let status = ExitStatus::from_raw(0);
        let outcome = Outcome { table: &TABLES[2], status, results: None };
        let text = summary(&[outcome], false);
        assert!(text.contains("\nfeed: measured, not kept\n"), "{text}");
        assert!(text.ends_with("sockets: left out: not reached\n"), "{text}");
        assert!(summary(&[], true).contains("t2t: left out: interrupted\n"));
    }
}
