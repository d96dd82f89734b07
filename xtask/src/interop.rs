//! `cargo xtask interop`: runs programs of others with and without `hairpin run`.

use anyhow::Result;

use crate::shell::{cargo, run as shell};
use crate::workspace::Workspace;

/// Runs the tests that CI skips, as root. Programs that are not installed are skipped with a line.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let arguments =
        ["test", "--release", "--package", "hairpin-preload", "--test", "it", "interop"];
    let mut command = cargo(&workspace.root, arguments);
    shell(command.args(["--", "--include-ignored", "--nocapture"]).env("HAIRPIN_INTEROP", "1"))
}
