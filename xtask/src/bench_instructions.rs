//! `cargo xtask bench-instructions`: counts instructions on the hot path with callgrind.
//!
//! Unlike times, counts do not depend on the load of the machine. They are compared with the counts
//! in `docs/results/instructions.md`; an increase is an error.

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

/// The arguments of `bench-instructions`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write the counts to docs/results/instructions.md instead of comparing
    #[arg(long)]
    write: bool,
}

/// A case of a benchmark.
struct Case {
    name: &'static str,
    /// The limit of instructions per event.
    limit: Option<u64>,
    bench: Bench,
}

/// A benchmark. Each is a program of its own, so that inlining in one does not depend on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bench {
    /// The exchange's packets, from the packet to the order.
    HotPath,
    /// Synthetic packets for many instruments.
    Markets,
    /// An order sent and a report received.
    Handler,
    /// A wakeup of a trader, from a tick to its order.
    Turn,
    /// The same wakeup through the C ABI.
    CTurn,
    /// Messages between two TCP connections in memory.
    Echo,
}

impl Bench {
    const ALL: [Self; 6] =
        [Self::HotPath, Self::Markets, Self::Handler, Self::Turn, Self::CTurn, Self::Echo];

    const fn name(self) -> &'static str {
        match self {
            Self::HotPath => "hot_path",
            Self::Markets => "markets",
            Self::Handler => "handler",
            Self::Turn => "turn",
            Self::CTurn => "c_turn",
            Self::Echo => "echo",
        }
    }

    /// Returns the package of the benchmark.
    const fn package(self) -> &'static str {
        match self {
            Self::HotPath | Self::Markets => "hairpin-cli",
            Self::Handler => "hairpin-order-entry",
            Self::Turn => "hairpin",
            Self::CTurn => "hairpin-capi",
            Self::Echo => "hairpin-tcp",
        }
    }

    /// Returns `true` if the report divides the instructions among functions.
    const fn has_shares(self) -> bool {
        matches!(self, Self::HotPath | Self::Handler)
    }
}

const fn case(name: &'static str, limit: Option<u64>) -> Case {
    Case { name, limit, bench: Bench::HotPath }
}

/// A case of `markets`, in which each packet is an event.
const fn market(name: &'static str) -> Case {
    Case { name, limit: None, bench: Bench::Markets }
}

/// A case of `handler`, in which each order-entry operation is an event.
const fn handler(name: &'static str, limit: u64) -> Case {
    Case { name, limit: Some(limit), bench: Bench::Handler }
}

/// A case of `turn`, in which each tick is an event.
const fn turn(name: &'static str) -> Case {
    Case { name, limit: None, bench: Bench::Turn }
}

/// A case of `c_turn`, in which each tick is an event.
const fn c_turn(name: &'static str) -> Case {
    Case { name, limit: None, bench: Bench::CTurn }
}

/// A case of `echo`, in which each round trip is an event.
const fn echo(name: &'static str) -> Case {
    Case { name, limit: None, bench: Bench::Echo }
}

const CASES: [Case; 26] = [
    case("one-entry", Some(600)),
    case("average-mix", None),
    case("duplicate", None),
    case("best", Some(10)),
    case("tick-to-order", Some(1_200)),
    market(SMALLEST),
    market("of-100"),
    market("of-1000"),
    market("of-10000"),
    market(LARGEST),
    market("twelve-one-book"),
    market("twelve-books"),
    handler("order-send", 250),
    handler("order-receive", 350),
    handler("order-burst", 220),
    handler("order-both", 585),
    turn("turn-untracked"),
    turn(ADVANCED),
    turn(FACADE),
    c_turn(C),
    turn(BOOK_FACADE),
    c_turn(BOOK_C),
    turn(RUN_FACADE),
    c_turn(RUN_C),
    echo(TCP_ECHO),
    echo(SMOLTCP_ECHO),
];

/// A wakeup of a loop on the low-level crates, and one of `Trader::turn`.
const ADVANCED: &str = "turn-advanced";
const FACADE: &str = "turn-facade";
/// A wakeup of `hairpin_trader_turn` with one callback, which calls three functions.
const C: &str = "turn-c";
/// The most instructions by which it may exceed a wakeup of `Trader::turn`.
const C_INSTRUCTIONS: u64 = BOOK_INSTRUCTIONS + 3 * FUNCTION_INSTRUCTIONS;
/// A wakeup with one callback that reads its event: of `Trader::turn`, and of
/// `hairpin_trader_turn`, which also reads the handle and the table.
const BOOK_FACADE: &str = "book-facade";
const BOOK_C: &str = "book-c";
/// The most instructions by which the second may exceed the first.
const BOOK_INSTRUCTIONS: u64 = CALLBACK_INSTRUCTIONS + HANDLE_INSTRUCTIONS;
/// A wakeup with one callback that reads its event: of `Feed::run`, and of `hairpin_trader_run`.
const RUN_FACADE: &str = "run-facade";
const RUN_C: &str = "run-c";
/// The most instructions by which the second may exceed the first: the cost of a callback.
const CALLBACK_INSTRUCTIONS: u64 = 150;
/// The most instructions to read the handle and the table, and of a function in a callback.
const HANDLE_INSTRUCTIONS: u64 = 50;
const FUNCTION_INSTRUCTIONS: u64 = 40;
/// The most by which a wakeup of `Trader::turn` may exceed one of the other loop, in percent.
const FACADE_PERCENT: u64 = 1;

/// A round trip between two of our TCP connections, and one between two of smoltcp. The second must
/// take at least so many times the instructions of the first.
const TCP_ECHO: &str = "tcp-echo";
const SMOLTCP_ECHO: &str = "tcp-echo-smoltcp";
const SMOLTCP_FACTOR: u64 = 3;

/// The smallest and the largest of the markets that differ only in the number of instruments.
const SMALLEST: &str = "of-10";
const LARGEST: &str = "of-100000";
/// The most by which an event of the largest market may exceed an event of the smallest, in
/// percent.
const GROWTH_PERCENT: u64 = 5;

/// The most by which a count may increase, in percent: libraries and compilers differ slightly
/// between machines.
const INCREASE_PERCENT: u64 = 3;

/// The counts of a case.
struct Count {
    name: &'static str,
    /// Instructions per event, rounded.
    instructions: u64,
    /// Tenths of instructions per event, rounded.
    tenths: u64,
    /// The contents of the case, as the benchmark prints them: `events=… packets=…`.
    census: String,
    shares: Vec<Share>,
}

/// Counts every case, then compares with the committed counts or replaces them.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    ensure_valgrind()?;
    let programs = build(&workspace.root)?;
    let folder =
        programs[0].ancestors().nth(3).context("cannot find the target folder")?.join("callgrind");
    std::fs::create_dir_all(&folder).context("cannot create the folder of callgrind's files")?;
    let count = |case: &Case| count(&programs[case.bench as usize], &folder, case);
    let counts = CASES.iter().map(count).collect::<Result<Vec<_>>>()?;
    let path = workspace.root.join("docs/results/instructions.md");
    let document = Document::read(&path)?;
    let mut violations = compare(&document, &counts);
    violations.extend(growth(&counts));
    violations.extend(facade_cost(&counts));
    violations.extend(c_cost(&counts, (RUN_FACADE, RUN_C), CALLBACK_INSTRUCTIONS));
    violations.extend(c_cost(&counts, (BOOK_FACADE, BOOK_C), BOOK_INSTRUCTIONS));
    violations.extend(c_cost(&counts, (FACADE, C), C_INSTRUCTIONS));
    violations.extend(smoltcp_factor(&counts));
    if arguments.write {
        return document.write(&path, &counts);
    }
    ensure!(violations.is_empty(), "{}", violations.join("; "));
    Ok(())
}

/// Prints the committed and the new counts. Returns the violations.
fn compare(document: &Document, counts: &[Count]) -> Vec<String> {
    let mut violations = Vec::new();
    println!("{:<16}{:>12}{:>12}{:>12}", "per event", "committed", "now", "limit");
    for (Case { name, limit, .. }, count) in CASES.iter().zip(counts) {
        let (committed, now) = (document.committed(name), count.instructions);
        let shown = |count: Option<u64>| count.map_or("-".to_owned(), |count| count.to_string());
        println!("{name:<16}{:>12}{now:>12}{:>12}", shown(committed), shown(*limit));
        match committed {
            Some(committed) if now * 100 > committed * (100 + INCREASE_PERCENT) => {
                violations.push(format!("{name} increased from {committed} to {now} instructions"));
            }
            Some(_) => {}
            None => violations.push(format!("{name} has no committed count: run with --write")),
        }
        if limit.is_some_and(|limit| now > limit) {
            violations.push(format!("{name} takes {now} instructions, above its limit"));
        }
    }
    violations
}

/// Prints how much an event grows with the number of instruments. Returns the violation.
fn growth(counts: &[Count]) -> Option<String> {
    let tenths = |name| counts.iter().find(|count| count.name == name).map(|it| it.tenths);
    let (smallest, largest) = tenths(SMALLEST).zip(tenths(LARGEST))?;
    let percent = (largest as f64 / smallest as f64 - 1.0) * 100.0;
    println!("{LARGEST} against {SMALLEST}: {percent:+.1} %, limit +{GROWTH_PERCENT} %");
    let has_grown = largest * 100 > smallest * (100 + GROWTH_PERCENT);
    has_grown.then(|| format!("{LARGEST} takes {percent:.1} % more than {SMALLEST}"))
}

/// Prints the cost of the facade. Returns the violation.
fn facade_cost(counts: &[Count]) -> Option<String> {
    let tenths = |name| counts.iter().find(|count| count.name == name).map(|it| it.tenths);
    let (advanced, facade) = tenths(ADVANCED).zip(tenths(FACADE))?;
    let percent = (facade as f64 / advanced as f64 - 1.0) * 100.0;
    println!("{FACADE} against {ADVANCED}: {percent:+.1} %, limit +{FACADE_PERCENT} %");
    let is_costly = facade * 100 > advanced * (100 + FACADE_PERCENT);
    is_costly.then(|| format!("{FACADE} takes {percent:.1} % more than {ADVANCED}"))
}

/// Prints the cost of the C ABI in a pair of cases. Returns the violation.
fn c_cost(counts: &[Count], (rust, c): (&str, &str), limit: u64) -> Option<String> {
    let tenths = |name| counts.iter().find(|count| count.name == name).map(|it| it.tenths);
    let more = tenths(c)?.saturating_sub(tenths(rust)?) / 10;
    println!("{c} against {rust}: +{more} instructions, limit +{limit}");
    (more > limit).then(|| format!("{c} takes {more} instructions more than {rust}"))
}

/// Prints the instructions of smoltcp's round trip relative to ours. Returns the violation.
fn smoltcp_factor(counts: &[Count]) -> Option<String> {
    let tenths = |name| counts.iter().find(|count| count.name == name).map(|it| it.tenths);
    let (ours, theirs) = tenths(TCP_ECHO).zip(tenths(SMOLTCP_ECHO))?;
    let factor = theirs as f64 / ours as f64;
    println!("{SMOLTCP_ECHO} against {TCP_ECHO}: {factor:.2} times, at least {SMOLTCP_FACTOR}");
    let is_close = theirs < ours * SMOLTCP_FACTOR;
    is_close.then(|| format!("{SMOLTCP_ECHO} takes only {factor:.2} times as much as {TCP_ECHO}"))
}

/// Runs a case under callgrind, which counts only in the functions named `measured_…`.
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
    ensure!(total > events, "callgrind counted no instructions of {name}");
    let shares = if case.bench.has_shares() { shares } else { Vec::new() };
    let tenths = (total * 10 + events / 2) / events;
    Ok(Count { name, instructions: (total + events / 2) / events, tenths, census, shares })
}

/// Returns a number of the benchmark's census line.
fn field(census: &str, name: &str) -> Result<u64> {
    let pairs = census.split_whitespace().filter_map(|pair| pair.split_once('='));
    let value = pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value);
    let value = value.with_context(|| format!("no field {name} in the census '{census}'"))?;
    value.parse().with_context(|| format!("cannot parse {name} in the census '{census}'"))
}

/// Builds the benchmarks as `cargo bench` does. Returns their programs.
fn build(root: &Path) -> Result<[PathBuf; 6]> {
    let arguments = ["bench", "--locked"];
    let benches =
        Bench::ALL.iter().flat_map(|bench| ["--package", bench.package(), "--bench", bench.name()]);
    let format = ["--no-run", "--message-format=json-render-diagnostics"];
    let mut command = cargo(root, arguments.into_iter().chain(benches).chain(format));
    let messages = read(command.stderr(Stdio::inherit()))?;
    let mut programs = [const { None }; 6];
    for message in Message::parse_stream(messages.as_bytes()) {
        // Cargo also builds the command itself.
        if let Message::CompilerArtifact(artifact) = message?
            && let Some(bench) = Bench::ALL.iter().find(|it| it.name() == artifact.target.name)
        {
            programs[*bench as usize] = artifact.executable.map(PathBuf::from);
        }
    }
    let [Some(hot_path), Some(markets), Some(handler), Some(turn), Some(c_turn), Some(echo)] =
        programs
    else {
        bail!("cannot count: cargo did not build every benchmark");
    };
    Ok([hot_path, markets, handler, turn, c_turn, echo])
}

/// Installs valgrind, a package of the system. Only root can install it.
fn ensure_valgrind() -> Result<()> {
    if read(Command::new("valgrind").arg("--version")).is_ok() {
        return Ok(());
    }
    let mut install = Command::new("apt-get");
    install.args(["install", "--yes", "--no-install-recommends", "valgrind"]);
    shell(&mut install)
        .context("cannot count without valgrind: install it, or run this once as root")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(name: &'static str, tenths: u64) -> Count {
        let (census, shares) = ("events=1".to_owned(), Vec::new());
        Count { name, instructions: tenths / 10, tenths, census, shares }
    }

    #[test]
    fn events_may_grow_by_five_percent_with_instruments() {
        let growth_to =
            |tenths| growth(&[count(SMALLEST, 4_000), count("other", 1), count(LARGEST, tenths)]);
        assert_eq!(growth_to(4_200), None);
        assert!(growth_to(4_201).is_some_and(|what| what.contains("of-100000 takes 5.0 % more")));
        assert_eq!(growth(&[count(SMALLEST, 4_000)]), None, "no largest market");
    }
}
