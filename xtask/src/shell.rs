//! Programs that a command runs, always from the workspace root and with no input.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// `cargo` with `arguments`, ready to be given an environment and run.
pub(crate) fn cargo<'a>(root: &Path, arguments: impl IntoIterator<Item = &'a str>) -> Command {
    // Cargo names itself to what it runs, so that the same toolchain serves all the way down.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).args(arguments).stdin(Stdio::null());
    command
}

/// Runs a command whose output the user sees.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| words(command))?;
    ensure!(status.success(), "`{}` failed", words(command));
    Ok(())
}

/// Runs a command and returns what it prints.
pub(crate) fn read(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| words(command))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{}` failed: {}", words(command), complaint.trim());
    String::from_utf8(output.stdout).with_context(|| words(command))
}

fn words(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let mut words = vec![program.to_string_lossy()];
    words.extend(command.get_args().map(|argument| argument.to_string_lossy()));
    words.join(" ")
}
