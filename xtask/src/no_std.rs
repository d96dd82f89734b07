//! `cargo xtask no-std`: proof that L0 and L1 need neither std nor an operating system.
//!
//! `xtask/no-std` is a package outside the workspace that links those crates into a program with
//! its own panic handler, allocator and entry point. Should one of them bring std in, the two
//! panic handlers collide and the build fails. It links on the host target, so that no other
//! target has to be installed, and is never run.

use anyhow::{Context, Result};

use crate::shell::{cargo, run as shell};
use crate::workspace::Workspace;

/// Where the proof lies, relative to the root.
pub(crate) const FOLDER: &str = "xtask/no-std";

/// Builds the proof.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    // The proof holds for the versions we ship, so it starts from our own lock file.
    let lock = workspace.root.join(FOLDER).join("Cargo.lock");
    std::fs::copy(workspace.root.join("Cargo.lock"), lock).context("copying Cargo.lock")?;
    let manifest = format!("{FOLDER}/Cargo.toml");
    let arguments = ["build", "--release", "--manifest-path", &manifest];
    shell(&mut cargo(
        &workspace.root,
        arguments.into_iter().chain(["--target-dir", "target/no-std"]),
    ))
}
