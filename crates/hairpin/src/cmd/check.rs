//! `hairpin check`: checks configuration files, and connects to nothing.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use hairpin_doctor::{CheckHost, Judgment};
use hairpin_measure::Style;

use hairpin_cli_harness::cores::{self, Cores};
use hairpin_cli_harness::stdout;

/// Check configuration files, and connect to nothing
///
/// Each file is recognized by its content: order.toml, CME's config.xml and MSGW_Config.xml, a
/// threads file, or channels in TOML. They are read as the commands read them, with the mode of the
/// key file, and compared with this host: its cores, addresses and clock, and the schedule with the
/// time. One line per finding. Exit status: 0, 1 if something is wrong, 2 for wrong arguments.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct CheckArgs {
    /// The files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

/// Checks the files and prints the findings.
///
/// # Errors
/// Standard output cannot be written.
pub(crate) fn run(arguments: &CheckArgs) -> Result<ExitCode> {
    let host = CheckHost::read();
    let style = Style::for_stdout();
    let mut out = stdout::lock();
    let mut status = ExitCode::SUCCESS;
    for path in &arguments.files {
        for line in host.check(path, |text| cores::parse(text).map(Cores::chosen)) {
            if line.judgment == Judgment::Wrong {
                status = ExitCode::FAILURE;
            }
            writeln!(out, "{}", style.wrap(&line.to_string()))?;
        }
    }
    out.flush()?;
    Ok(status)
}
