//! `cargo xtask data`: tests the workspace `data/`.
//!
//! The tests in Rust need Java and Maven for QuickFIX/J, the client of `hairpin drop-copy`, and
//! skip that client without them. Those in Python read the exported files with the packages of
//! others, and compare them with `hairpin feed`; they need the command, which the tests of the core
//! build. Packages are installed in `target/data`, libraries in `target/quickfix`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

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
    test.env("CARGO_INCREMENTAL", "0").env("CARGO_TARGET_DIR", &target);
    if let Some(libraries) = quickfix(workspace, &folder)? {
        test.env("HAIRPIN_QUICKFIX", libraries);
    }
    shell(&mut test)?;
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

/// Fetches QuickFIX/J with Maven, and returns the folder of its libraries. Without Java or Maven,
/// or a repository, prints that its tests are skipped; with the variable
/// `HAIRPIN_COMPILERS_REQUIRED` missing programs are an error.
fn quickfix(workspace: &Workspace, folder: &Path) -> Result<Option<PathBuf>> {
    let libraries = workspace.target.join("quickfix");
    let missing: Vec<_> = ["javac", "mvn"].into_iter().filter(|it| !is_program(it)).collect();
    if !missing.is_empty() {
        let required = std::env::var_os("HAIRPIN_COMPILERS_REQUIRED").is_some();
        ensure!(!required, "cannot test with QuickFIX/J: {} is missing", missing.join(" and "));
        println!("skipped: the tests with QuickFIX/J: {} is missing", missing.join(" and "));
        return Ok(None);
    }
    let has_libraries = libraries.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    if !has_libraries {
        let part = libraries.with_extension("part");
        let output = format!("-DoutputDirectory={}", part.display());
        let mut mvn = command("mvn");
        mvn.args(["--quiet", "--batch-mode", "dependency:copy-dependencies", &output]);
        if let Err(error) = shell(mvn.arg("--file").arg(folder.join("tests/quickfix/pom.xml"))) {
            println!("skipped: the tests with QuickFIX/J: cannot fetch it: {error:#}");
            return Ok(None);
        }
        std::fs::rename(part, &libraries)?;
    }
    Ok(Some(libraries))
}

/// Returns `true` if a program is in PATH.
fn is_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
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
