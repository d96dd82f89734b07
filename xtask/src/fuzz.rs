//! `cargo xtask fuzz NAME|all`: searches for inputs that break an invariant.
//!
//! cargo-fuzz is not needed: this command passes the same flags to rustc. The targets run on copies
//! of their corpora below `target/fuzz`, so that a run changes no file of the checkout.

mod outcome;
mod toolchain;

use std::fmt;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::shell::{cargo, run as shell};
use crate::workspace::Workspace;
use outcome::Outcome;
use toolchain::Toolchain;

/// The arguments of `fuzz`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The target, `all` targets, or `seeds` to write the seed corpora again
    name: String,
    /// Total time in seconds, divided among the targets
    #[arg(long, default_value_t = DEFAULT_SECONDS)]
    seconds: u64,
    /// Inputs to try on each target in addition to its seeds, the same inputs in every run
    #[arg(long, conflicts_with = "seconds")]
    runs: Option<u64>,
    /// Build with the stable compiler and without a sanitizer even if a nightly is installed
    #[arg(long)]
    stable: bool,
}

/// Enough for all targets before a change to a decoder is committed.
const DEFAULT_SECONDS: u64 = 60;
/// The folder of the targets, relative to the root.
const FOLDER: &str = "fuzz";
/// The folder of programs, working corpora, logs and findings, relative to the root.
const OUTPUT: &str = "target/fuzz";

/// The limits for libFuzzer: an input that needs more memory, allocates more at once or takes
/// longer is a finding. Leak detection is off: safe code may leak, and detection fails in some
/// containers.
const LIMITS: [&str; 5] = [
    "-rss_limit_mb=1024",
    "-malloc_limit_mb=256",
    "-timeout=10",
    "-detect_leaks=0",
    "-len_control=20",
];

/// The sanitizer's quarantine of freed memory, which counts as memory of the target. The default,
/// 256 MB, brings a target that frees rings of many sizes over the limit within a minute.
const SANITIZER: (&str, &str) = ("ASAN_OPTIONS", "quarantine_size_mb=16");

/// The extent of the run of one target.
#[derive(Debug, Clone, Copy)]
enum Extent {
    Seconds(u64),
    /// Inputs in addition to the seeds, generated from the same random seed in every run.
    Runs(u64),
}

impl Extent {
    /// Returns libFuzzer's arguments for a target with this number of seeds.
    fn arguments(self, seeds: u64) -> Vec<String> {
        match self {
            Self::Seconds(seconds) => vec![format!("-max_total_time={seconds}")],
            Self::Runs(runs) => vec![format!("-runs={}", seeds + runs), "-seed=1".to_owned()],
        }
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seconds(seconds) => write!(f, "{seconds} s each"),
            Self::Runs(runs) => write!(f, "{runs} inputs each in addition to the seeds"),
        }
    }
}

/// Runs every target for CI, on its seeds and on a few inputs generated from them. The inputs are
/// the same in every run, so the result does not depend on the speed of the machine.
pub(crate) fn run_ci(workspace: &Workspace) -> Result<()> {
    let runs = Some(outcome::FEWEST);
    let arguments = Arguments { name: "all".to_owned(), seconds: 0, runs, stable: true };
    search(&workspace.root, &arguments, "ci")
}

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    match arguments.name.as_str() {
        "seeds" => write_seeds(&workspace.root),
        _ => search(&workspace.root, arguments, "release"),
    }
}

/// Builds the targets with a profile and runs them.
fn search(root: &Path, arguments: &Arguments, profile: &str) -> Result<()> {
    let all = targets(root)?;
    let is_chosen = |name: &&String| arguments.name == "all" || arguments.name == **name;
    let chosen: Vec<&String> = all.iter().filter(is_chosen).collect();
    ensure!(
        !chosen.is_empty(),
        "cannot fuzz {}: no such target; the targets are {}",
        arguments.name,
        all.join(" ")
    );
    let toolchain = if arguments.stable { Toolchain::Stable } else { Toolchain::find() };
    let seconds = (arguments.seconds / chosen.len() as u64).max(1);
    let extent = arguments.runs.map_or(Extent::Seconds(seconds), Extent::Runs);
    println!("fuzz: {} targets, {extent}, {toolchain}", chosen.len());
    shell(&mut toolchain.build(root, &chosen, profile))?;
    let programs = toolchain.programs(root, profile);
    let mut outcomes = Vec::new();
    for name in chosen {
        let outcome = fuzz(root, &programs, name, extent).with_context(|| name.clone())?;
        println!("{outcome}");
        outcomes.push(outcome);
    }
    outcome::print(&outcomes)
}

/// Returns the names of all targets, which are the names of their files.
fn targets(root: &Path) -> Result<Vec<String>> {
    let folder = root.join(FOLDER).join("fuzz_targets");
    let mut names = Vec::new();
    for entry in folder.read_dir().context("cannot list the fuzz targets")? {
        let path = entry?.path();
        names.extend(path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// Runs a target on a copy of its corpus and writes its output to its log.
fn fuzz(root: &Path, programs: &Path, name: &str, extent: Extent) -> Result<Outcome> {
    let output = root.join(OUTPUT);
    let [corpus, findings] = ["corpus", "findings"].map(|part| output.join(part).join(name));
    empty(&findings)?;
    empty(&corpus)?;
    copy(&root.join(FOLDER).join("corpus").join(name), &corpus)?;
    let seeds = count(&corpus)?;
    ensure!(seeds > 0, "cannot fuzz {name}: no seeds: run `cargo xtask fuzz seeds`");
    fs::create_dir_all(output.join("logs"))?;
    let log = output.join("logs").join(format!("{name}.log"));
    let mut command = Command::new(programs.join(name));
    command.args(LIMITS).args(extent.arguments(seeds)).arg("-print_final_stats=1");
    command.env(SANITIZER.0, SANITIZER.1);
    command.arg(format!("-artifact_prefix={}/", findings.display()));
    let dictionary = root.join(FOLDER).join("dictionaries").join(name);
    if dictionary.exists() {
        command.arg(format!("-dict={}", dictionary.display()));
    }
    command.arg(&corpus).current_dir(&output).stdin(Stdio::null()).stdout(Stdio::null());
    let status = command.stderr(File::create(&log)?).status()?;
    let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    let outcome = Outcome::new(name, status.success(), &text, seeds, count(&findings)?);
    if !outcome.is_good() {
        let end: Vec<&str> = text.lines().rev().take(30).collect();
        end.iter().rev().for_each(|line| println!("{name}: {line}"));
        println!("{name}: repeat with {} FILE", command.get_program().display());
    }
    Ok(outcome)
}

/// Creates an empty folder, or removes the contents of an existing one.
fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())
}

/// Copies the files of a folder, if the folder exists.
fn copy(from: &Path, to: &Path) -> Result<()> {
    for entry in from.read_dir().into_iter().flatten() {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Returns the number of files in a folder.
fn count(folder: &Path) -> Result<u64> {
    Ok(folder.read_dir()?.count() as u64)
}

/// Writes the seed corpora, which the modules of the targets generate.
fn write_seeds(root: &Path) -> Result<()> {
    let manifest = format!("{FOLDER}/Cargo.toml");
    let build = ["run", "--locked", "--quiet", "--manifest-path", &manifest];
    let plain = ["--no-default-features", "--target-dir", "target/fuzz/plain", "--bin", "seeds"];
    let into = format!("{FOLDER}/corpus");
    shell(&mut cargo(root, build.into_iter().chain(plain).chain(["--", &into])))
}
