//! `cargo xtask python`: builds the wheel of `bindings/python` and runs its tests.
//!
//! The tests run on the installed wheel in a fresh virtual environment without a compiler.
//! Everything is in `target/python`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use anyhow::{Context, Result, ensure};

use crate::shell::run as shell;
use crate::workspace::Workspace;

/// The builder of wheels.
const BUILDER: &str = "maturin==1.16.0";
/// The packages that the tests use.
const TEST_PACKAGES: [&str; 6] = [
    "mypy==2.4.1",
    "numpy==2.4.6",
    "pandas==3.1.1",
    "polars==2.1.0",
    "pyarrow==26.0.1",
    "pytest==9.2.0",
];

/// Builds the wheel and runs its tests.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    build(workspace)?;
    shell(&mut tests(workspace)?)
}

/// Builds the wheel, and installs it in a fresh environment.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    check_lock_file(&workspace.root)?;
    let folder = folder(&workspace.root);
    let environment = folder.join("environment");
    let wheels = folder.join("wheels");
    // Downloads wait for the network while the compiler runs.
    std::thread::scope(|scope| {
        let packages = scope.spawn(|| install_packages(&environment));
        build_wheel(workspace, &folder, &wheels)?;
        packages.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    let built = fs::read_dir(&wheels)?.map(|entry| Ok(entry?.path()));
    let built = built.collect::<io::Result<Vec<_>>>()?;
    shell(pip(&environment).arg("--no-index").args(built))
}

/// Creates a fresh environment with the packages that the tests use.
fn install_packages(environment: &Path) -> Result<()> {
    remove(environment)?;
    create_environment(environment)?;
    shell(pip(environment).args(TEST_PACKAGES))
}

fn build_wheel(workspace: &Workspace, folder: &Path, wheels: &Path) -> Result<()> {
    remove(wheels)?;
    let tools = folder.join("tools");
    if !tools.join("bin/maturin").exists() {
        create_environment(&tools)?;
        shell(pip(&tools).arg(BUILDER))?;
    }
    let mut maturin = command(tools.join("bin/maturin"));
    maturin.args(["build", "--locked", "--profile", "ci", "--out"]).arg(wheels);
    shell(maturin.current_dir(bindings(&workspace.root)))
}

/// Returns the command that runs the tests on the installed wheel.
pub(crate) fn tests(workspace: &Workspace) -> Result<Command> {
    let programs = folder(&workspace.root).join("environment/bin");
    let target = workspace.root.join("target");
    let built = ["release", "debug"].map(|profile| target.join(profile).join("hairpin"));
    let modified = |path: &PathBuf| path.metadata().and_then(|it| it.modified()).ok();
    let tested = built.iter().filter_map(|path| Some((modified(path)?, path))).max();
    let (_, tested) = tested.context("build the command first: cargo build --release")?;
    let mut tests = command(programs.join("python"));
    tests.args(["-m", "pytest", "--quiet"]).current_dir(bindings(&workspace.root));
    // Without a compiler.
    tests.env("PATH", &programs).env("HAIRPIN_COMMAND", tested);
    Ok(tests)
}

/// Checks that the lock file of the workspace has nothing of the bindings.
fn check_lock_file(root: &Path) -> Result<()> {
    let lock = fs::read_to_string(root.join("Cargo.lock"))?;
    let foreign = lock.lines().find(|line| line.starts_with("name = \"pyo3"));
    ensure!(foreign.is_none(), "Cargo.lock has a package of the bindings");
    Ok(())
}

fn bindings(root: &Path) -> PathBuf {
    root.join("bindings/python")
}

fn folder(root: &Path) -> PathBuf {
    root.join("target/python")
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

fn create_environment(folder: &Path) -> Result<()> {
    shell(command("python3").args(["-m", "venv"]).arg(folder))
}

/// Returns a command that installs packages, without building any.
fn pip(environment: &Path) -> Command {
    let mut pip = command(environment.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    pip.args(["--only-binary", ":all:"]);
    pip
}

fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    command
}
