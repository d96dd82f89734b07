//! `cargo xtask public-api`: checks that the API of the crate `hairpin` names no third-party type.
//!
//! cargo-check-external-types reads the documentation in JSON, which only a nightly compiler
//! writes. So CI does not run it.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::shell::{cargo, run as shell};
use crate::workspace::Workspace;

/// The crate, and those whose types it exports.
const CRATES: [&str; 11] = [
    "sdk",
    "feed-handler",
    "order-entry",
    "time",
    "reactor",
    "mdp3",
    "ilink3",
    "cme-codecs",
    "sbe",
    "endpoint",
    "mapped",
];
/// The names that are not third-party.
const ALLOWED: &str = "xtask/external-types.toml";
const TOOL: &str = "cargo-check-external-types";
/// The version of the tool. It reads one format of the documentation.
const VERSION: &str = "0.5.0";

/// Checks each crate.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let tool = tool(workspace)?;
    for name in CRATES {
        println!("{name}");
        let manifest = workspace.root.join("crates").join(name).join("Cargo.toml");
        let mut check = Command::new("rustup");
        check.args(["run", "nightly"]).arg(&tool).arg("check-external-types");
        check.arg("--manifest-path").arg(manifest);
        check.arg("--config").arg(workspace.root.join(ALLOWED));
        check.env_remove("CARGO").env("CARGO_TARGET_DIR", workspace.target.join("tools/doc"));
        shell(check.current_dir(&workspace.root))?;
    }
    Ok(())
}

/// Returns the program, which is installed below `target` unless it was before.
fn tool(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.target.join("tools");
    // Does nothing if this version is installed.
    let mut install =
        cargo(&workspace.root, ["install", "--quiet", "--locked", "--profile", "dev"]);
    install.args(["--version", VERSION, TOOL, "--root"]).arg(&folder);
    shell(install.env_remove("CARGO_TARGET_DIR")).context("cannot install the tool")?;
    Ok(folder.join("bin").join(TOOL))
}
