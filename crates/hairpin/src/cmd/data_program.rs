//! `hairpin export` and `hairpin drop-copy`: execute the program `hairpin-data`.
//!
//! That program is in the workspace `data/`, with a lock file of its own: its formats need crates
//! that the core does not.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use hairpin_cli_harness::stdout;

/// The name of the program.
const PROGRAM: &str = "hairpin-data";
/// The command that builds it, in a clone.
const BUILD: &str = "cargo install --locked --path data";

/// The arguments of a subcommand that the program executes.
#[derive(clap::Args, Debug, Clone)]
#[command(disable_help_flag = true)]
pub(crate) struct DataProgramArgs {
    /// Arguments of the program
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Executes the program with the name of a subcommand, and returns only if it cannot. `help` is
/// the subcommand here, whose help is printed if the program is missing.
///
/// # Errors
/// The program is missing, or the system's error.
pub(crate) fn run(
    name: &str,
    arguments: &DataProgramArgs,
    mut help: clap::Command,
) -> Result<ExitCode> {
    let beside = std::env::current_exe().ok().map(|path| path.with_file_name(PROGRAM));
    let beside = beside.filter(|path| path.is_file());
    let program = beside.map_or_else(|| PROGRAM.into(), OsString::from);
    let error = Command::new(program).arg(name).args(&arguments.arguments).exec();
    if error.kind() != io::ErrorKind::NotFound {
        return Err(error).with_context(|| format!("cannot execute {PROGRAM}"));
    }
    if arguments.arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        let help = help.find_subcommand_mut(name).context("no such subcommand")?;
        let help = help.clone().bin_name(format!("hairpin {name}"));
        print(&help.clone().render_long_help().to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    bail!("cannot find {PROGRAM} beside hairpin or in PATH: build it in a clone by `{BUILD}`");
}

fn print(text: &str) -> Result<()> {
    use std::io::Write;
    let mut out = stdout::lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}
