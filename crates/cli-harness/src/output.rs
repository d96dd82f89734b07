//! The output of results: terminal, results file, report.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};
use hairpin_host::{Clock, HostFacts};
use hairpin_measure::{EnvironmentReport, Host, Report, Results, Timestamping};

use crate::stdout;

/// The commit of this build, for results files.
static COMMIT: OnceLock<&str> = OnceLock::new();

/// The arguments for results that measuring commands share.
#[derive(clap::Args, Debug, Clone)]
#[group(skip)]
pub struct OutputArgs {
    /// Write the results to FILE as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write a page with charts, report.html, and the charts as SVG files to DIR [default: report]
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = "report")]
    report: Option<PathBuf>,
}

impl OutputArgs {
    /// Returns `true` if a results file or a report is requested.
    pub fn is_requested(&self) -> bool {
        self.json.is_some() || self.report.is_some()
    }

    /// Checks before a long run that its results can be written.
    ///
    /// # Errors
    /// A folder that is missing or not writable.
    pub fn check(&self) -> Result<()> {
        self.json.as_deref().map_or(Ok(()), check_writable)?;
        self.report.as_deref().map_or(Ok(()), check_folder)
    }

    /// Writes the results file and the report. Call it before printing, because the reader of a
    /// table may close the pipe.
    ///
    /// # Errors
    /// Those of the file system, with the path.
    pub fn save(&self, results: &Results) -> Result<()> {
        if let Some(path) = &self.json {
            results.write(path)?;
        }
        if let Some(folder) = &self.report {
            Report::new(std::slice::from_ref(results)).write(folder)?;
        }
        Ok(())
    }
}

/// Sets the commit of this build, for results files. Only the first call counts.
pub fn set_commit(commit: &'static str) {
    let _ = COMMIT.set(commit);
}

/// Returns an empty results file of this command on this host.
pub fn results(clock: &Clock, nic: &str) -> Results {
    let host = Host::new(HostFacts::read(clock), nic, Timestamping::Software);
    let commit = COMMIT.get().map(|&commit| commit.to_owned());
    Results { commit, ..Results::new(clock.now().utc, command_line(), host) }
}

/// Returns the line at the top of a screen if other programs took a part of the cores, else an
/// empty text.
pub fn busy(environment: Option<&EnvironmentReport>) -> String {
    environment.and_then(EnvironmentReport::busy).map(|busy| busy + "\n").unwrap_or_default()
}

/// Prints to standard output. A reader that closes the pipe early is not an error.
///
/// # Errors
/// Any other error of standard output.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = stdout::lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome,
    }
}

fn check_writable(path: &Path) -> Result<()> {
    if path.is_dir() {
        bail!("cannot write results to {}: it is a folder", path.display());
    }
    if path.exists() && !path.is_file() {
        return Ok(());
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let probe = folder.join(format!(".hairpin-{}.tmp", std::process::id()));
    hairpin_measure::create_temporary(&probe)
        .and_then(|_| std::fs::remove_file(&probe))
        .with_context(|| format!("cannot write results to {}", path.display()))
}

/// Creates the folder of a report, and checks that it can be written.
///
/// # Errors
/// A folder that cannot be created or written.
pub fn check_folder(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot write a report to {}", folder.display()))?;
    check_writable(&folder.join("report.html"))
}

fn command_line() -> String {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let line = std::iter::once("hairpin".to_owned()).chain(words).collect::<Vec<_>>().join(" ");
    hairpin_order_entry::redact_keys(&line).into_owned()
}
