//! Commands under `hairpin run`, which accelerates their kernel sockets.

use std::env;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{Context, Result};

use crate::secret_key;

/// The variable that `hairpin run` sets to the interfaces.
pub const INTERFACES: &str = "HAIRPIN_INTERFACES";

/// Returns `command` under `hairpin run`, which fails if it cannot accelerate it.
///
/// # Errors
/// The file of this program cannot be found.
pub fn accelerated(command: &Command, interface: &str, flags: &[&str]) -> Result<Command> {
    let program = env::current_exe().context("cannot find this program's own file")?;
    let mut run = Command::new(program);
    // The published tables are those of busy-polling.
    run.args(["run", "--strict", "--summary=never", "--profile=latency"]);
    run.args(["--interface", interface]).args(flags).arg("--");
    run.arg(command.get_program()).args(command.get_args());
    secret_key::pass_to(&mut run);
    Ok(run)
}

/// Returns `command` under `hairpin run`, which runs it over the kernel if it cannot accelerate it.
///
/// # Errors
/// The file of this program cannot be found.
pub fn accelerated_if_possible(command: &Command, interface: &str) -> Result<Command> {
    let program = env::current_exe().context("cannot find this program's own file")?;
    let mut run = Command::new(program);
    run.args(["run", "--interface", interface, "--"]);
    run.arg(command.get_program()).args(command.get_args());
    Ok(run)
}

/// Ensures that this process runs under `hairpin run`: otherwise starts it again, in place. Call it
/// before anything is opened or read.
///
/// # Errors
/// The program cannot be started again.
pub(crate) fn ensure(interface: &str) -> Result<()> {
    if env::var_os(INTERFACES).is_some() {
        return Ok(());
    }
    let program = env::current_exe().context("cannot find this program's own file")?;
    let mut again = Command::new(program);
    again.args(env::args_os().skip(1));
    let error = accelerated(&again, interface, &[TIMESTAMPS])?.exec();
    Err(error).context("cannot start this program again")
}

/// The flag for receive timestamps.
pub(crate) const TIMESTAMPS: &str = "--timestamps";
