//! The programs that the commands run: from the workspace root, without input.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// Returns a command that runs `cargo` with `arguments`.
pub(crate) fn cargo<'a>(root: &Path, arguments: impl IntoIterator<Item = &'a str>) -> Command {
    // Cargo sets `CARGO` for the programs that it runs, so all of them use the same toolchain.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).args(arguments).stdin(Stdio::null());
    command
}

/// Runs a command whose output the user sees.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run `{}`", line(command)))?;
    ensure!(status.success(), "`{}` failed", line(command));
    Ok(())
}

/// Runs a command and returns its standard output.
pub(crate) fn read(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run `{}`", line(command)))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{}` failed: {}", line(command), errors.trim());
    String::from_utf8(output.stdout)
        .with_context(|| format!("cannot read the output of `{}`", line(command)))
}

/// The command line, with the name of the program instead of its path.
fn line(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let mut parts = vec![program.to_string_lossy()];
    parts.extend(command.get_args().map(|argument| argument.to_string_lossy()));
    parts.join(" ")
}
