//! Kills a trader's process with SIGKILL at random times while it trades with a live gateway on
//! loopback.
//!
//! Each next process continues from the journal. No message may be lost, applied twice or
//! unreported.
//!
//! `HAIRPIN_ORDER_DEATHS` sets the number of kills, 25 by default.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod doomed;
mod house;
mod judge;

use std::fs::File;
use std::io::{Read, Write};
use std::net::SocketAddrV4;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use hairpin_netsim::Random;
use hairpin_time::{Duration, Instant};

use house::House;
use judge::Judge;

const DEATHS: &str = "HAIRPIN_ORDER_DEATHS";
/// The number of processes that share a journal and an exchange.
const LINE: u64 = 50;
/// The time limit of each wait.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process and its report.
struct Trader {
    child: Child,
    report: File,
    text: String,
}

impl Trader {
    fn start(folder: &Path, gateway: SocketAddrV4, life: u64) -> Self {
        let report = folder.join(format!("report-{life}"));
        File::create_new(&report).unwrap();
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "doomed::trades_until_it_is_killed", "--nocapture"])
            .env(doomed::FOLDER, folder)
            .env(doomed::GATEWAY, gateway.to_string())
            .env(doomed::LIFE, life.to_string())
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

    fn go_on(&mut self) {
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
struct Line {
    folder: tempfile::TempDir,
    house: House,
    judge: Judge,
    random: Random,
    lives: u64,
}

impl Line {
    fn new(seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let judge = Judge::new(&folder.path().join("journal"));
        Self { folder, house: House::open(), judge, random: Random::new(seed), lives: 0 }
    }

    /// Runs one process and kills it, a time after its start or after it has settled.
    fn live(&mut self, dies: Dies) {
        self.lives += 1;
        let mut trader = Trader::start(self.folder.path(), self.house.gateway(), self.lives);
        let start = self.house.now();
        let mut due = if let Dies::Early(after) = dies { Some(start + after) } else { None };
        while due.is_none_or(|due| self.house.now() < due) {
            assert!(self.house.now() < start + PATIENCE, "not settled within 60 s");
            self.house.step(due);
            trader.assert_alive();
            while let Some(line) = trader.line() {
                if self.judge.hear(self.lives, &line, &self.house) {
                    trader.go_on();
                    due = due.or_else(|| dies.after_settling(self.house.now()));
                }
            }
        }
        trader.kill();
        self.house.drain();
        self.judge.bury(&self.house);
    }

    fn draw(&mut self) -> Dies {
        match self.random.below(5) {
            // During start, opening of the journal, logon or delivery of the NotApplied.
            0 => Dies::Early(Duration::from_micros(self.random.below(40_000))),
            _ => Dies::Trading(Duration::from_micros(self.random.below(15_000))),
        }
    }
}

#[derive(Clone, Copy)]
enum Dies {
    Early(Duration),
    Trading(Duration),
}

impl Dies {
    fn after_settling(self, now: Instant) -> Option<Instant> {
        match self {
            Self::Early(_) => None,
            Self::Trading(after) => Some(now + after),
        }
    }
}

#[test]
fn what_a_killed_trader_has_sent_is_applied_once_or_told_not_to_be() {
    let deaths: u64 = std::env::var(DEATHS).map_or(25, |text| text.parse().unwrap());
    let (mut done, mut sum) = (0, judge::Sum::default());
    while done < deaths {
        let mut line = Line::new(done);
        let count = LINE.min(deaths - done);
        for _ in 0..count {
            let dies = line.draw();
            line.live(dies);
        }
        sum.add(&line.judge.sum);
        // Messages of the last process are settled too.
        line.live(Dies::Trading(Duration::ZERO));
        done += count;
    }
    println!("{deaths} kills: {sum:?}");
    let least = deaths.div_ceil(2);
    assert!(
        sum.unacknowledged >= least,
        "{sum:?}: unacknowledged orders after fewer than {least} kills"
    );
    assert!(deaths < 25 || sum.not_applied > 0, "{sum:?}: no message was reported as not applied");
}
