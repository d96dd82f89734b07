//! `cargo xtask header`: generates the C header of `crates/capi` with cbindgen.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::shell::{cargo, read, run as shell};
use crate::workspace::Workspace;

/// The committed header.
const HEADER: &str = "crates/capi/include/hairpin.h";
/// The version of cbindgen. Another one may write the header differently.
const VERSION: &str = "0.29.4";

/// The arguments of `header`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Compare the committed header instead of writing it
    #[arg(long)]
    check: bool,
}

/// Writes the header, or compares it.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let header = generate(workspace)?;
    let path = workspace.root.join(HEADER);
    if arguments.check {
        let committed = std::fs::read_to_string(&path).context(HEADER)?;
        ensure!(committed == header, "{HEADER} differs: run `cargo xtask header`");
        return Ok(());
    }
    std::fs::write(&path, header).context(HEADER)
}

/// Compares the committed header, as a step of CI.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    run(workspace, &Arguments { check: true })
}

fn generate(workspace: &Workspace) -> Result<String> {
    let root = &workspace.root;
    let crate_folder = root.join("crates/capi");
    let mut command = Command::new(cbindgen(workspace)?);
    command.arg("--quiet").arg("--config").arg(crate_folder.join("cbindgen.toml"));
    read(command.arg(&crate_folder).current_dir(root))
}

/// Returns the program, which is installed below `target` unless it was before.
fn cbindgen(workspace: &Workspace) -> Result<PathBuf> {
    let is_version = |program: &Path| {
        let version = read(Command::new(program).arg("--version"));
        version.is_ok_and(|it| it.trim() == format!("cbindgen {VERSION}"))
    };
    let on_path = PathBuf::from("cbindgen");
    if is_version(&on_path) {
        return Ok(on_path);
    }
    let folder = workspace.target.join("tools");
    let program = folder.join("bin/cbindgen");
    if !is_version(&program) {
        // Without optimization: it is built for a second's work.
        let arguments = ["install", "--quiet", "--locked", "--profile", "dev"];
        let mut install = cargo(&workspace.root, arguments);
        install.args(["--version", VERSION, "cbindgen", "--root"]).arg(&folder);
        install.env_remove("CARGO_TARGET_DIR");
        shell(&mut install).context("cannot install cbindgen")?;
    }
    Ok(program)
}
