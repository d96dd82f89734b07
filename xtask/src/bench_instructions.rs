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

/// A case of a benchmark, and the most instructions an event of it may take.
struct Case {
    name: &'static str,
    most: Option<u64>,
    /// Which benchmark's.
    bench: Bench,
}

/// A benchmark: a program of its own, so that what is inlined into one does not depend on the
/// other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bench {
    /// The exchange's packets, up to the order.
    HotPath,
    /// Made-up packets for many instruments.
    Markets,
    /// An order sent and a report received.
    Handler,
}

impl Bench {
    const ALL: [Self; 3] = [Self::HotPath, Self::Markets, Self::Handler];

    const fn name(self) -> &'static str {
        match self {
            Self::HotPath => "hot_path",
            Self::Markets => "markets",
            Self::Handler => "handler",
        }
    }

    /// Whose it is.
    const fn package(self) -> &'static str {
        match self {
            Self::HotPath | Self::Markets => "hairpin",
            Self::Handler => "hairpin-order-entry",
        }
    }

    /// Whether it is told where the instructions are.
    const fn has_shares(self) -> bool {
        !matches!(self, Self::Markets)
    }
}

const fn case(name: &'static str, most: Option<u64>) -> Case {
    Case { name, most, bench: Bench::HotPath }
}

/// A market of made-up packets, each of them an event.
const fn market(name: &'static str) -> Case {
    Case { name, most: None, bench: Bench::Markets }
}

/// An operation of order entry, which is an event here.
const fn handler(name: &'static str, most: u64) -> Case {
    Case { name, most: Some(most), bench: Bench::Handler }
}

const CASES: [Case; 16] = [
    case("one-entry", Some(600)),
    case("average-mix", None),
    case("duplicate", None),
    case("best", Some(10)),
    case("tick-to-order", Some(1_200)),
    market(FEWEST),
    market("of-100"),
    market("of-1000"),
    market("of-10000"),
    market(MOST),
    market("twelve-one-book"),
    market("twelve-books"),
    handler("order-send", 250),
    handler("order-receive", 350),
    handler("order-burst", 220),
    handler("order-both", 585),
];

/// The smallest and the largest of the markets that differ in nothing but their instruments.
const FEWEST: &str = "of-10";
const MOST: &str = "of-100000";
/// By how much an event of the largest may take more instructions than one of the smallest.
const GROWTH_PERCENT: u64 = 5;

/// By how much a count may rise: libraries and compilers differ a little from machine to machine.
const RISE_PERCENT: u64 = 3;

/// What callgrind counted of a case.
struct Count {
    name: &'static str,
    /// Per event, rounded.
    instructions: u64,
    /// The same in tenths.
    tenths: u64,
    /// What an event consists of, as the benchmark says it: `events=… packets=…`.
    census: String,
    shares: Vec<Share>,
}

/// Counts every case, then compares with the committed counts or replaces them.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    ensure_valgrind()?;
    let programs = build(&workspace.root)?;
    let folder = programs[0].ancestors().nth(3).context("the target folder")?.join("callgrind");
    std::fs::create_dir_all(&folder).context("the folder for callgrind's files")?;
    let count = |case: &Case| count(&programs[case.bench as usize], &folder, case);
    let counts = CASES.iter().map(count).collect::<Result<Vec<_>>>()?;
    let path = workspace.root.join("docs/results/instructions.md");
    let document = Document::read(&path)?;
    let mut objections = compare(&document, &counts);
    objections.extend(growth(&counts));
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
    for (Case { name, most, .. }, count) in CASES.iter().zip(counts) {
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

/// Prints how an event grows with the number of instruments; returns what is wrong with it.
fn growth(counts: &[Count]) -> Option<String> {
    let of = |name| counts.iter().find(|count| count.name == name).map(|it| it.tenths);
    let (fewest, most) = of(FEWEST).zip(of(MOST))?;
    let per_cent = (most as f64 / fewest as f64 - 1.0) * 100.0;
    println!("{MOST} takes {per_cent:+.1} % of {FEWEST}, at most +{GROWTH_PERCENT} %");
    let has_grown = most * 100 > fewest * (100 + GROWTH_PERCENT);
    has_grown.then(|| format!("{MOST} takes {per_cent:.1} % more than {FEWEST}"))
}

/// Runs a case under callgrind, which counts in the functions named `measured_…` alone.
fn count(program: &Path, folder: &Path, case: &Case) -> Result<Count> {
    let name = case.name;
    let file = folder.join(format!("{name}.out"));
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--toggle-collect={}::*::measured_*", case.bench.name()))
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
    let shares = if case.bench.has_shares() { shares } else { Vec::new() };
    let tenths = (total * 10 + events / 2) / events;
    Ok(Count { name, instructions: (total + events / 2) / events, tenths, census, shares })
}

/// A number of the benchmark's own words.
fn field(census: &str, name: &str) -> Result<u64> {
    let words = census.split_whitespace().filter_map(|word| word.split_once('='));
    let value = words.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value);
    value.context("what did the benchmark do?")?.parse().context("a count")
}

/// Builds the benchmarks as `cargo bench` does; returns their programs.
fn build(root: &Path) -> Result<[PathBuf; 3]> {
    let arguments = ["bench", "--locked"];
    let benches =
        Bench::ALL.iter().flat_map(|bench| ["--package", bench.package(), "--bench", bench.name()]);
    let format = ["--no-run", "--message-format=json-render-diagnostics"];
    let mut command = cargo(root, arguments.into_iter().chain(benches).chain(format));
    let said = read(command.stderr(Stdio::inherit()))?;
    let mut programs = [const { None }; 3];
    for message in Message::parse_stream(said.as_bytes()) {
        // The command itself is built beside them.
        if let Message::CompilerArtifact(artifact) = message?
            && let Some(bench) = Bench::ALL.iter().find(|it| it.name() == artifact.target.name)
        {
            programs[*bench as usize] = artifact.executable.map(PathBuf::from);
        }
    }
    let [Some(hot_path), Some(markets), Some(handler)] = programs else {
        bail!("cargo built no benchmark");
    };
    Ok([hot_path, markets, handler])
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

#[cfg(test)]
mod tests {
    use super::*;

    fn count(name: &'static str, tenths: u64) -> Count {
        let (census, shares) = ("events=1".to_owned(), Vec::new());
        Count { name, instructions: tenths / 10, tenths, census, shares }
    }

    #[test]
    fn an_event_may_grow_by_a_twentieth_with_the_number_of_instruments() {
        let of = |most| growth(&[count(FEWEST, 4_000), count("other", 1), count(MOST, most)]);
        assert_eq!(of(4_200), None);
        assert!(of(4_201).is_some_and(|what| what.contains("of-100000 takes 5.0 % more")));
        assert_eq!(growth(&[count(FEWEST, 4_000)]), None, "nothing to compare it with");
    }
}
