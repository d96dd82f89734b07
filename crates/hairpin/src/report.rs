//! `hairpin report FILE…`: results files to one page with pictures.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use hairpin_measure::{Report, Results};

/// Make a page with pictures of results files: latency over time, histograms, percentile curves,
/// tables and the machine.
///
/// DIR gets report.html, which needs nothing beside it (no network, no other file, no scripts), and
/// the same pictures as files: percentiles-, histogram- and latency-FEED-INTERVAL.svg, the
/// interval in microseconds. Rows of several files that agree in feed and interval share a
/// picture, a panel for each file on common axes. The same results give the same bytes.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct Arguments {
    /// Results files, as --json writes them; the order is kept, the first is A
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// The folder for the page and its pictures; made if it is not there
    #[arg(long, value_name = "DIR", default_value = "report")]
    report: PathBuf,
}

/// Reads all files before anything is written, writes the report and says where it is.
///
/// # Errors
/// A file that cannot be read or believed; a folder that cannot be made or written to.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let results: Vec<Results> =
        arguments.files.iter().map(|path| Results::read(path)).collect::<Result<_, _>>()?;
    let names: Vec<String> =
        arguments.files.iter().map(|path| path.display().to_string()).collect();
    let written = Report::new(&results).with_names(&names).write(&arguments.report)?;
    if let [pictures @ .., page] = &written[..] {
        writeln!(io::stdout(), "{} and {} pictures", page.display(), pictures.len())?;
    }
    Ok(ExitCode::SUCCESS)
}
