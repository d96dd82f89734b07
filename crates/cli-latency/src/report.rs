//! `hairpin report FILE…`: renders results files as one page with charts.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use hairpin_cli_harness::stdout;
use hairpin_measure::{Report, Results};

/// Render results files as a page with charts: latency over time, histograms, percentile curves,
/// tables and the machine
///
/// DIR receives report.html, which is self-contained (no network, no other file, no scripts), and
/// the same charts as files: percentiles-, histogram- and latency-FEED-INTERVAL.svg, with the
/// interval in microseconds. Rows of several files that agree in feed and interval share a chart,
/// with a panel for each file on common axes. The same results give the same bytes.
#[derive(clap::Args, Debug, Clone)]
pub struct ReportArgs {
    /// Results files written by --json; the first is A, the second B, and so on
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Folder for the page and its charts; created if it does not exist
    #[arg(long, value_name = "DIR", default_value = "report")]
    report: PathBuf,
}

/// Reads all files before it writes the report, and prints its path.
///
/// # Errors
/// A file that cannot be read or is not valid; a folder that cannot be created or written.
pub fn run(arguments: &ReportArgs) -> Result<ExitCode> {
    let results: Vec<Results> =
        arguments.files.iter().map(|path| Results::read(path)).collect::<Result<_, _>>()?;
    let names: Vec<String> =
        arguments.files.iter().map(|path| path.display().to_string()).collect();
    let written = Report::new(&results).with_names(&names).write(&arguments.report)?;
    if let [pictures @ .., page] = &written[..] {
        writeln!(stdout::lock(), "{} and {} pictures", page.display(), pictures.len())?;
    }
    Ok(ExitCode::SUCCESS)
}
