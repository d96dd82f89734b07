//! `cargo xtask data`: tests the workspace `data/`.
//!
//! The tests in Rust need no other program. Those in Python read the exported files with the
//! packages of others, and compare them with `hairpin feed`; they need the command, which the tests
//! of the core build. Packages are installed in `target/data`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::shell::{cargo, run as shell};
use crate::workspace::Workspace;

/// The folder of the workspace.
const FOLDER: &str = "data";
/// The packages that read the files.
const PACKAGES: [&str; 4] =
    ["databento-dbn==0.72.0", "duckdb==2.0.1", "pyarrow==26.0.1", "pytest==9.2.0"];

/// Checks the format and runs all tests.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let folder = workspace.root.join(FOLDER);
    shell(&mut cargo(&folder, ["fmt", "--check"]))?;
    let target = folder.join("target");
    let mut test = cargo(&folder, ["test", "--locked", "--quiet"]);
    shell(test.env("CARGO_INCREMENTAL", "0").env("CARGO_TARGET_DIR", &target))?;
    let environment = workspace.target.join("data");
    let python = environment.join("bin/python");
    if !environment.join("bin/pip").exists() {
        shell(command("python3").args(["-m", "venv"]).arg(&environment))?;
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    let mut pip = command(&python);
    shell(pip.args(install).args(["--only-binary", ":all:"]).args(PACKAGES))?;
    shell(&mut python_tests(workspace, &folder, &python)?)
}

fn python_tests(workspace: &Workspace, folder: &Path, python: &Path) -> Result<Command> {
    let built = ["release", "debug"].map(|profile| workspace.target.join(profile));
    let modified = |path: &PathBuf| path.metadata().and_then(|it| it.modified()).ok();
    let programs = built.into_iter().map(|folder| folder.join("hairpin"));
    let newest = programs.filter_map(|path| Some((modified(&path)?, path))).max();
    let (_, hairpin) = newest.context("build the command first: cargo build")?;
    let mut tests = command(python);
    tests.args(["-m", "pytest", "--quiet", "tests"]).current_dir(folder);
    tests.env("HAIRPIN_COMMAND", hairpin);
    tests.env("HAIRPIN_DATA_COMMAND", folder.join("target/debug/hairpin-data"));
    Ok(tests)
}

fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    command
}
