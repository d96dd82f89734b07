//! `cargo xtask no-std`: proves that L0 and L1 need neither std nor an operating system.
//!
//! `xtask/no-std` is a package outside the workspace that links those crates into a program with
//! its own panic handler, allocator and entry point. If one of them links std, the two panic
//! handlers collide and the build fails. It links on the host target, so that no other
//! target has to be installed, and is never run.

use anyhow::{Context, Result};

use crate::shell::{cargo, run as shell};
use crate::workspace::Workspace;

/// The folder of the proof, relative to the root.
pub(crate) const FOLDER: &str = "xtask/no-std";

/// Builds the proof.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    // The proof must hold for the dependency versions of the workspace's lock file.
    let lock = workspace.root.join(FOLDER).join("Cargo.lock");
    std::fs::copy(workspace.root.join("Cargo.lock"), lock).context("cannot copy Cargo.lock")?;
    let manifest = format!("{FOLDER}/Cargo.toml");
    let arguments = ["build", "--release", "--manifest-path", &manifest];
    shell(&mut cargo(
        &workspace.root,
        arguments.into_iter().chain(["--target-dir", "target/no-std"]),
    ))
}
