//! Kills a trader's process with SIGKILL at random times while it trades with a live gateway on
//! loopback.
//!
//! Each next process continues from the journal. No message may be lost, applied twice or
//! unreported.
//!
//! `HAIRPIN_ORDER_DEATHS` sets the number of kills, 25 by default.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod checker;
mod child;
mod loopback_exchange;

use std::fs::File;
use std::io::{Read, Write};
use std::net::SocketAddrV4;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use hairpin_netsim::Random;
use hairpin_time::{Duration, Instant};

use checker::Checker;
use loopback_exchange::LoopbackExchange;

const KILLS: &str = "HAIRPIN_ORDER_DEATHS";
/// The number of processes that share a journal and an exchange.
const PROCESSES_PER_CHAIN: u64 = 50;
/// The time limit of each wait.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A process and its report.
struct Trader {
    child: Child,
    report: File,
    text: String,
}

impl Trader {
    fn start(folder: &Path, gateway: SocketAddrV4, process: u64) -> Self {
        let report = folder.join(format!("report-{process}"));
        File::create_new(&report).unwrap();
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child::trades_until_it_is_killed", "--nocapture"])
            .env(child::FOLDER, folder)
            .env(child::GATEWAY, gateway.to_string())
            .env(child::PROCESS, process.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self { child, report: File::open(report).unwrap(), text: String::new() }
    }

    /// Returns the next line of the report.
    fn line(&mut self) -> Option<String> {
        self.report.read_to_string(&mut self.text).unwrap();
        let end = self.text.find('\n')?;
        Some(self.text.drain(..=end).collect::<String>().trim_end().to_owned())
    }

    fn resume(&mut self) {
        self.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    }

    fn assert_alive(&mut self) {
        let status = self.child.try_wait().unwrap();
        assert_eq!(status, None, "the trader exited by itself");
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        let status = self.child.wait().unwrap();
        assert_eq!(status.signal(), Some(9), "{status}");
    }
}

/// Kills the process when a test fails.
impl Drop for Trader {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A chain of processes, each of which continues where the previous one was killed.
struct ProcessChain {
    folder: tempfile::TempDir,
    exchange: LoopbackExchange,
    checker: Checker,
    random: Random,
    processes: u64,
}

impl ProcessChain {
    fn new(seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let checker = Checker::new(&folder.path().join("journal"));
        Self {
            folder,
            exchange: LoopbackExchange::open(),
            checker,
            random: Random::new(seed),
            processes: 0,
        }
    }

    /// Runs one process and kills it, a time after its start or after it has settled.
    fn run_process(&mut self, kill_time: KillTime) {
        self.processes += 1;
        let mut trader = Trader::start(self.folder.path(), self.exchange.gateway(), self.processes);
        let start = self.exchange.now();
        let mut due =
            if let KillTime::Early(after) = kill_time { Some(start + after) } else { None };
        while due.is_none_or(|due| self.exchange.now() < due) {
            assert!(self.exchange.now() < start + TIMEOUT, "not settled within {TIMEOUT:?}");
            self.exchange.step(due);
            trader.assert_alive();
            while let Some(line) = trader.line() {
                if self.checker.handle_report_line(self.processes, &line, &self.exchange) {
                    trader.resume();
                    due = due.or_else(|| kill_time.after_settling(self.exchange.now()));
                }
            }
        }
        trader.kill();
        self.exchange.drain();
        self.checker.handle_killed(&self.exchange);
    }

    fn draw(&mut self) -> KillTime {
        match self.random.below(5) {
            // During start, opening of the journal, logon or delivery of the NotApplied.
            0 => KillTime::Early(Duration::from_micros(self.random.below(40_000))),
            _ => KillTime::Trading(Duration::from_micros(self.random.below(15_000))),
        }
    }
}

#[derive(Clone, Copy)]
enum KillTime {
    Early(Duration),
    Trading(Duration),
}

impl KillTime {
    fn after_settling(self, now: Instant) -> Option<Instant> {
        match self {
            Self::Early(_) => None,
            Self::Trading(after) => Some(now + after),
        }
    }
}

#[test]
fn killed_trader_messages_are_applied_once_or_reported() {
    let kills: u64 = std::env::var(KILLS).map_or(25, |text| text.parse().unwrap());
    let (mut done, mut counts) = (0, checker::Counts::default());
    while done < kills {
        let mut chain = ProcessChain::new(done);
        let count = PROCESSES_PER_CHAIN.min(kills - done);
        for _ in 0..count {
            let kill_time = chain.draw();
            chain.run_process(kill_time);
        }
        counts.add(&chain.checker.counts);
        // Messages of the last process are settled too.
        chain.run_process(KillTime::Trading(Duration::ZERO));
        done += count;
    }
    println!("{kills} kills: {counts:?}");
    let least = kills.div_ceil(2);
    assert!(
        counts.unacknowledged >= least,
        "{counts:?}: unacknowledged orders after fewer than {least} kills"
    );
    assert!(
        kills < 25 || counts.not_applied > 0,
        "{counts:?}: no message was reported as not applied"
    );
}
