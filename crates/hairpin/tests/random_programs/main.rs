//! Random programs: seeded sequences of calls on sockets print the same under `hairpin run` as on
//! the kernel.
//!
//! `random.c` draws the calls from a seed, and `random_peer.c` is the other end, always on the
//! kernel. `cargo xtask sim programs` runs many seeds, or repeats one.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

#[path = "../support/processes.rs"]
mod support;

use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hairpin_netsim::{Census, setting};
use hairpin_testbed::Testbed;

use support::turn;

/// The number of seeds unless `HAIRPIN_SIM_SEEDS` is set.
const SEEDS: u64 = 30;
/// The seeds of a process: the start of a program takes longer than a seed.
const BATCH: u64 = 10;
/// The settings of `hairpin run`, by turns. A connection is taken over at most ten times per
/// second, so a low number of messages is what makes takeovers frequent.
const SETTINGS: [[&str; 2]; 3] = [["safe", "1"], ["auto", "2"], ["latency", "4"]];
/// The parts of log lines that must occur at least once per seed on average.
const CLASSES: [&str; 3] = ["is taken over", "is accelerated", "returns to the kernel"];

/// What a program has printed.
struct Printed {
    lines: Vec<String>,
    log: String,
}

struct RandomPrograms {
    testbed: Testbed,
    folder: tempfile::TempDir,
}

impl RandomPrograms {
    fn new() -> Self {
        let testbed = Testbed::builder().ipv6().build().unwrap();
        for host in testbed.hosts() {
            // A refused datagram is always answered.
            let free = || std::fs::write("/proc/sys/net/ipv4/icmp_ratelimit", "0");
            host.run(free).unwrap().unwrap();
        }
        let this = Self { testbed, folder: tempfile::tempdir().unwrap() };
        for name in ["random", "random_peer"] {
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/random_programs");
            let mut compiler = Command::new("cc");
            compiler.args(["-O1", "-Wall", "-Werror", "-o"]).arg(this.program(name));
            compiler.arg(source.join(format!("{name}.c"))).arg("-lpthread");
            assert!(compiler.status().unwrap().success());
        }
        this
    }

    fn program(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the seeds from `first` on with one program and a peer.
    fn run(&self, first: u64, count: u64, accelerated: bool) -> Printed {
        let [host, other] = self.testbed.hosts();
        let addresses = [host, other]
            .map(|it| [it.address().to_string(), it.address_v6().unwrap().to_string()]);
        let (end, peer_end) = UnixStream::pair().unwrap();
        let mut peer = Command::new(self.program("random_peer"));
        peer.args(&addresses[1]).args(&addresses[0]).arg(peer_end.as_raw_fd().to_string());
        peer.stdin(Stdio::null());
        let mut peer = other.spawn(peer, &[peer_end.as_fd()]).unwrap();
        let mut program = Command::new(self.program("random"));
        if accelerated {
            let [profile, messages] = SETTINGS[(first / BATCH % SETTINGS.len() as u64) as usize];
            // The profile auto takes no connection over while other programs use the machine.
            let load = self.folder.path().join("loadavg");
            std::fs::write(&load, "0.00 0.00 0.00 1/99 4711\n").unwrap();
            program = Command::new("unshare");
            let mount = "mount --bind \"$0\" /proc/loadavg && exec \"$@\"";
            program.args(["--mount", "sh", "-c", mount]).arg(load);
            program.arg(env!("CARGO_BIN_EXE_hairpin"));
            program.args(["run", "--interface", host.interface(), "--profile", profile]);
            program.args(["--take-after", messages, "--"]).arg(self.program("random"));
            program.env("HAIRPIN_LOG", "all");
        }
        program.args(&addresses[0]).args(&addresses[1]).arg(end.as_raw_fd().to_string());
        program.args([first.to_string(), count.to_string()]);
        program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = host.spawn(program, &[end.as_fd()]).unwrap();
        // The peer ends with the program.
        drop((end, peer_end));
        let output = program.wait_with_output().unwrap();
        let _ = peer.wait();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut lines: Vec<_> = text(&output.stdout).lines().map(str::to_owned).collect();
        lines.push(output.status.to_string());
        Printed { lines, log: text(&output.stderr) }
    }

    /// Compares two runs of each seed. Prints all seeds that differ, and panics at the end.
    fn compare(&self, accelerated: [bool; 2]) -> Census {
        let first = setting("HAIRPIN_SIM_FROM").unwrap_or(0);
        let end = first + setting("HAIRPIN_SIM_SEEDS").unwrap_or(SEEDS);
        let (mut census, mut at, mut different) = (Census::new(), first, Vec::new());
        while at < end {
            let count = (BATCH - at % BATCH).min(end - at);
            let [one, other] = accelerated.map(|it| self.run(at, count, it));
            if setting("HAIRPIN_SIM_TRACE") == Some(1) {
                println!("{}\n{}", other.lines.join("\n"), other.log);
            }
            for class in CLASSES {
                census.add(class, other.log.matches(class).count() as u64);
            }
            if one.lines == other.lines {
                at += count;
                continue;
            }
            let seed = report(&one, &other);
            different.push(seed);
            at = seed + 1;
        }
        println!("{census}");
        assert!(different.is_empty(), "different: {different:?}");
        census
    }
}

/// Prints the first difference. Returns its seed.
fn report(one: &Printed, other: &Printed) -> u64 {
    let common = one.lines.iter().zip(&other.lines).take_while(|(a, b)| a == b).count();
    let line = |printed: &Printed| printed.lines.get(common).cloned().unwrap_or_default();
    let number = |line: &str| line.split(['.', ' ']).next().and_then(|it| it.parse::<u64>().ok());
    let seed = number(&line(one)).or_else(|| number(&line(other))).unwrap();
    println!("seed {seed} differs; to repeat it:");
    println!("  cargo xtask sim programs --first-seed {seed} --seeds 1");
    for before in &one.lines[..common] {
        if number(before) == Some(seed) {
            println!("    {before}");
        }
    }
    println!("  - {}\n  + {}", line(one), line(other));
    let log: Vec<_> = other.log.lines().rev().take(6).collect();
    log.iter().rev().for_each(|line| println!("    {line}"));
    seed
}

#[test]
#[ignore = "needs root"]
fn random_programs_print_the_same_as_with_the_kernel() {
    let _turn = turn();
    let census = RandomPrograms::new().compare([false, true]);
    let seeds = setting("HAIRPIN_SIM_SEEDS").unwrap_or(SEEDS);
    for class in CLASSES {
        assert!(seeds < SEEDS || census.of(class) >= seeds, "too rare: {class}");
    }
}

#[test]
#[ignore = "needs root"]
fn random_programs_print_the_same_twice_on_the_kernel() {
    let _turn = turn();
    RandomPrograms::new().compare([false; 2]);
}
