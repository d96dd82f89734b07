//! `cargo xtask bench-instructions`: instructions on the hot path, counted by callgrind.
//!
//! Unlike times, counts are the same on a busy machine as on an idle one. They are compared with
//! those of `docs/results/instructions.md`, and a rise fails.

mod annotation;
mod document;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use cargo_metadata::Message;

use crate::shell::{cargo, read, run as shell};
use crate::workspace::Workspace;
use annotation::Share;
use document::Document;

/// Whether to write down what was counted.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write the counts to docs/results/instructions.md instead of comparing
    #[arg(long)]
    write: bool,
}

/// A case of `crates/hairpin/benches/hot_path`, and the most instructions an event of it may take.
struct Case {
    name: &'static str,
    most: Option<u64>,
}

const CASES: [Case; 5] = [
    Case { name: "one-entry", most: Some(600) },
    Case { name: "average-mix", most: None },
    Case { name: "duplicate", most: None },
    Case { name: "best", most: Some(10) },
    Case { name: "tick-to-order", most: Some(1_200) },
];

/// By how much a count may rise: libraries and compilers differ a little from machine to machine.
const RISE_PERCENT: u64 = 3;

/// What callgrind counted of a case.
struct Count {
    name: &'static str,
    /// Per event, rounded.
    instructions: u64,
    /// What an event consists of, as the benchmark says it: `events=… packets=…`.
    census: String,
    shares: Vec<Share>,
}

/// Counts every case, then compares with the committed counts or replaces them.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    ensure_valgrind()?;
    let program = build(&workspace.root)?;
    let folder = program.ancestors().nth(3).context("the target folder")?.join("callgrind");
    std::fs::create_dir_all(&folder).context("the folder for callgrind's files")?;
    let counts =
        CASES.iter().map(|case| count(&program, &folder, case)).collect::<Result<Vec<_>>>()?;
    let path = workspace.root.join("docs/results/instructions.md");
    let document = Document::read(&path)?;
    let objections = compare(&document, &counts);
    if arguments.write {
        return document.write(&path, &counts);
    }
    ensure!(objections.is_empty(), "{}", objections.join("; "));
    Ok(())
}

/// Prints what was and what is; returns what is wrong with it.
fn compare(document: &Document, counts: &[Count]) -> Vec<String> {
    let mut objections = Vec::new();
    println!("{:<16}{:>12}{:>12}{:>12}", "per event", "committed", "now", "at most");
    for (Case { name, most }, count) in CASES.iter().zip(counts) {
        let (committed, now) = (document.committed(name), count.instructions);
        let shown = |count: Option<u64>| count.map_or("-".to_owned(), |count| count.to_string());
        println!("{name:<16}{:>12}{now:>12}{:>12}", shown(committed), shown(*most));
        match committed {
            Some(committed) if now * 100 > committed * (100 + RISE_PERCENT) => {
                objections.push(format!("{name} has risen from {committed} to {now}"));
            }
            Some(_) => {}
            None => objections.push(format!("{name} has no committed count (--write)")),
        }
        if most.is_some_and(|most| now > most) {
            objections.push(format!("{name} takes {now}, above its target"));
        }
    }
    objections
}

/// Runs a case under callgrind, which counts in the functions named `measured_…` alone.
fn count(program: &Path, folder: &Path, case: &Case) -> Result<Count> {
    let name = case.name;
    let file = folder.join(format!("{name}.out"));
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=callgrind", "--quiet", "--toggle-collect=hot_path::case::measured_*"])
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(program)
        .args(["--count", name])
        .stdin(Stdio::null());
    let census = read(&mut command)?.trim().to_owned();
    let events = field(&census, "events")?;
    let annotated = read(
        Command::new("callgrind_annotate")
            .args(["--auto=no", "--threshold=100", "--show-percs=no"])
            .arg(&file),
    )?;
    let (total, shares) = annotation::read(&annotated, events)?;
    ensure!(total > events, "callgrind counted nothing of {name}");
    Ok(Count { name, instructions: (total + events / 2) / events, census, shares })
}

/// A number of the benchmark's own words.
fn field(census: &str, name: &str) -> Result<u64> {
    let words = census.split_whitespace().filter_map(|word| word.split_once('='));
    let value = words.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value);
    value.context("what did the benchmark do?")?.parse().context("a count")
}

/// Builds the benchmark as `cargo bench` does; returns its program.
fn build(root: &Path) -> Result<PathBuf> {
    let arguments = ["bench", "--locked", "--package", "hairpin", "--bench", "hot_path"];
    let format = ["--no-run", "--message-format=json-render-diagnostics"];
    let mut command = cargo(root, arguments.into_iter().chain(format));
    let said = read(command.stderr(Stdio::inherit()))?;
    for message in Message::parse_stream(said.as_bytes()) {
        // The command itself is built beside it.
        if let Message::CompilerArtifact(artifact) = message?
            && artifact.target.name == "hot_path"
            && let Some(program) = artifact.executable
        {
            return Ok(program.into());
        }
    }
    bail!("cargo built no benchmark")
}

/// Valgrind is a package of the system: as root it is installed, as another user it is asked for.
fn ensure_valgrind() -> Result<()> {
    if read(Command::new("valgrind").arg("--version")).is_ok() {
        return Ok(());
    }
    let mut install = Command::new("apt-get");
    install.args(["install", "--yes", "--no-install-recommends", "valgrind"]);
    shell(&mut install).context("valgrind is needed: install it, or run this once as root")
}
