//! An exchange and three traders on two hosts of their own, joined by a veth.
//!
//! `HAIRPIN_TICKS` sets the ticks of each run (an hour at a tick a millisecond is 3,600,000),
//! `HAIRPIN_INTERVAL_US` the pause between them; `HAIRPIN_FEED` and `HAIRPIN_WAIT` leave one of
//! each. What is asserted is that nothing is lost, never how fast it is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::{Process, assert_done, assert_status, hairpin, rows, turn};
use hairpin_reactor::Wait;
use hairpin_testbed::Testbed;
use serde_json::Value;

/// Traders of one exchange, if they do not spin.
const TRADERS: u32 = 3;
const GATEWAY_PORT: u16 = 9_100;
/// Ticks of a round that are not recorded.
const WARM_UP: u64 = 100;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

/// How many traders a wait can have here: one that spins needs a core to itself, and the exchange
/// has another.
fn traders_for(wait: Wait) -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    if wait == Wait::Spin { (cores - 1).min(TRADERS) } else { TRADERS }
}

/// Two hosts, an exchange on the first, and the folder that both see.
struct Market {
    bed: Testbed,
    folder: tempfile::TempDir,
    exchange: Process,
    traders: u32,
}

impl Market {
    fn open(words: &[&str]) -> Self {
        Self::open_to(TRADERS, words)
    }

    fn open_to(traders: u32, words: &[&str]) -> Self {
        let bed = Testbed::namespaces().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let [host, _] = bed.hosts();
        let gateway = format!("{}:{GATEWAY_PORT}", host.address());
        let interval = number("HAIRPIN_INTERVAL_US", 1_000).to_string();
        let quorum = traders.to_string();
        let mut command = hairpin();
        command.args(["exchange", "--interface", host.interface(), "--gateway", &gateway]);
        command.args(["--traders", &quorum, "--interval-us", &interval]).args(words);
        command.arg("--config-out").arg(folder.path().join("config.xml"));
        command.arg("--json").arg(folder.path().join("results.json"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut exchange = Process::of(host.spawn(command, &[]).unwrap());
        let until = Instant::now() + Duration::from_secs(20);
        while !folder.path().join("config.xml").exists() {
            assert!(exchange.runs() && Instant::now() < until, "the exchange does not listen");
            sleep(Duration::from_millis(5));
        }
        Self { bed, folder, exchange, traders }
    }

    fn trader(&self, id: u32, wait: Wait) -> Process {
        let [exchange, host] = self.bed.hosts();
        let gateway = format!("{}:{GATEWAY_PORT}", exchange.address());
        let mut command = hairpin();
        command.args(["trader", "--interface", host.interface(), "--gateway", &gateway]);
        command.args(["--id", &id.to_string(), "--wait", wait.name()]);
        command.arg("--config").arg(self.folder.path().join("config.xml"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Process::of(host.spawn(command, &[]).unwrap())
    }

    fn traders(&self, wait: Wait) -> Vec<Process> {
        (1..=self.traders).map(|id| self.trader(id, wait)).collect()
    }

    fn results(&self) -> PathBuf {
        self.folder.path().join("results.json")
    }

    /// Rows saved so far.
    fn saved(&self) -> usize {
        let text = fs::read_to_string(self.results()).unwrap_or_default();
        let document: Value = serde_json::from_str(&text).unwrap_or_default();
        document["rows"].as_array().map_or(0, Vec::len)
    }

    /// Waits until so many more rounds of the three are saved.
    fn wait_for_rounds(&mut self, rounds: usize) {
        let rows = self.saved() + rounds * 2 * self.traders as usize;
        let until = Instant::now() + Duration::from_secs(120);
        while self.saved() < rows {
            assert!(self.exchange.runs(), "the exchange has ended");
            assert!(Instant::now() < until, "{} of {rows} rows within 120 s", self.saved());
            sleep(Duration::from_millis(20));
        }
    }
}

/// Whether a run is wanted: all are, unless a variable names others.
fn is_wanted(variable: &str, name: &str) -> bool {
    std::env::var(variable).map_or(true, |wanted| wanted == name)
}

/// The waits that this host has for at least one trader.
fn waits() -> impl Iterator<Item = Wait> {
    let is_there = |wait: &Wait| traders_for(*wait) > 0 && wait.probe().is_ok();
    Wait::ALL.into_iter().filter(is_there).filter(|wait| is_wanted("HAIRPIN_WAIT", wait.name()))
}

fn assert_nothing_lost(results: &[Value], said: &Output) {
    for row in results {
        assert_eq!(row["lost"], 0, "{row}\n{said:?}");
        assert!(row["failed"].is_null(), "{row}\n{said:?}");
    }
}

#[test]
#[ignore = "needs root"]
fn traders_answer_every_tick_under_every_wait() {
    let _turn = turn();
    for feed in ["multicast", "tcp"].into_iter().filter(|feed| is_wanted("HAIRPIN_FEED", feed)) {
        for wait in waits() {
            answer_every_tick(feed, wait);
        }
    }
}

fn answer_every_tick(feed: &str, wait: Wait) {
    let ticks = number("HAIRPIN_TICKS", 2_000);
    // A round holds up to a million samples.
    let rounds = ticks.div_ceil(500_000);
    let samples = ticks / rounds;
    let (said_samples, said_rounds) = (samples.to_string(), rounds.to_string());
    let words = ["--feed", feed, "--samples", &said_samples, "--rounds", &said_rounds];
    let market = Market::open_to(traders_for(wait), &words);
    let count = u64::from(market.traders);
    let traders = market.traders(wait);
    let results = market.results();
    let exchange = market.exchange.output();
    let traders: Vec<Output> = traders.into_iter().map(Process::output).collect();
    traders.iter().for_each(assert_done);
    assert_done(&exchange);
    let rows = rows(&results);
    assert_nothing_lost(&rows, &exchange);
    assert!(rows.iter().all(|row| row["samples"] == samples));
    assert_eq!(rows.len() as u64, 2 * count * rounds);
    let p50 = rows.iter().filter(|row| row["case"] == "sent to order").map(|row| &row["p50"]);
    println!(
        "{feed}, wait {wait}: {count} traders answered {rounds} x {samples} ticks each, 0 lost, \
         sent to order p50 up to {} ns",
        p50.filter_map(Value::as_u64).max().unwrap_or_default()
    );
}

#[test]
#[ignore = "needs root"]
fn a_side_that_is_cut_is_no_gap() {
    let _turn = turn();
    for cut in ["--mute-a", "--mute-b"] {
        let words = ["--samples", "2000", "--rounds", "1", cut, "500,1000"];
        let market = Market::open(&words);
        let traders = market.traders(Wait::Epoll);
        let results = market.results();
        let exchange = market.exchange.output();
        assert_done(&exchange);
        assert_nothing_lost(&rows(&results), &exchange);
        for trader in traders {
            let output = trader.output();
            assert_done(&output);
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            let orders = format!("{} orders", 2_000 + WARM_UP);
            assert!(said.contains(&orders) && said.contains("; 0 gaps"), "{said}");
        }
    }
}

/// Waits until a file has not grown for half a second.
fn wait_until_written(path: &Path) {
    let mut length = 0;
    while fs::metadata(path).unwrap().len() > length {
        length = fs::metadata(path).unwrap().len();
        sleep(Duration::from_millis(500));
    }
}

/// Bytes from the wire, read by another program's eyes: what tcpdump has recorded at the traders'
/// interface goes through the feed handler, which must see every tick of the run.
#[test]
#[ignore = "needs root"]
fn a_recording_has_the_best_price_changes_of_the_run() {
    let _turn = turn();
    let market = Market::open(&["--samples", "2000", "--rounds", "1"]);
    let pcap = market.folder.path().join("run.pcap");
    let [_, host] = market.bed.hosts();
    let mut command = Command::new("tcpdump");
    // As root it would give up the right to write here.
    command.args(["-i", host.interface(), "-Z", "root", "-B", "65536", "-U"]);
    // A place in its ring is as long as the longest packet: else there are 256 of them.
    command.args(["-s", "2048"]);
    // Else what the kernel has not handed over yet when it is told to end is missing.
    command.args(["--immediate-mode", "-w"]);
    command.arg(&pcap).arg("udp").stdout(Stdio::null()).stderr(Stdio::piped());
    let mut recorder = Process::of(host.spawn(command, &[]).unwrap());
    let until = Instant::now() + Duration::from_secs(20);
    while fs::metadata(&pcap).map_or(0, |file| file.len()) == 0 {
        assert!(recorder.runs() && Instant::now() < until, "tcpdump does not record");
        sleep(Duration::from_millis(10));
    }
    let traders = market.traders(Wait::Epoll);
    let results = market.results();
    let exchange = market.exchange.output();
    assert_done(&exchange);
    assert_nothing_lost(&rows(&results), &exchange);
    traders.into_iter().for_each(|trader| assert_done(&trader.output()));
    wait_until_written(&pcap);
    recorder.signal("INT");
    let recorded = recorder.output();
    let said = String::from_utf8_lossy(&recorded.stderr).into_owned();
    assert!(said.contains("\n0 packets dropped by kernel"), "{said}");

    let config = market.folder.path().join("config.xml");
    for words in [&[][..], &["--config", config.to_str().unwrap()]] {
        let feed = hairpin().arg("feed").arg("--pcap").arg(&pcap).args(words).output().unwrap();
        assert_done(&feed);
        let out = String::from_utf8_lossy(&feed.stdout).into_owned();
        let last: Vec<&str> = out.lines().rev().take(2).collect();
        let expected = format!(" {} best-price changes", 2_000 + WARM_UP);
        assert!(last[1].starts_with("100 of 100 instruments in sync, 0 gaps, "), "{last:?}");
        assert!(last[1].contains(&expected), "{last:?}");
        assert!(last[0].ends_with(" 0 unknown, 0 errors"), "{last:?}");
    }
}

#[test]
#[ignore = "needs root"]
fn traders_killed_and_restarted_lose_what_that_explains() {
    let _turn = turn();
    let mut market = Market::open(&["--samples", "1000"]);
    let mut traders: Vec<Process> = market.traders(Wait::Epoll);
    market.wait_for_rounds(1);
    for (id, wait) in (2..).zip([Wait::Poll, Wait::Epoll]) {
        let victim = traders.remove(1);
        victim.signal("KILL");
        assert!(victim.output().status.code().is_none());
        traders.push(market.trader(id, wait));
        market.wait_for_rounds(2);
    }
    market.exchange.signal("INT");
    let results = market.results();
    let exchange = market.exchange.output();
    assert_status(&exchange, 130);
    for trader in traders {
        assert_done(&trader.output());
    }
    assert_nothing_lost(&rows(&results), &exchange);
    let said = String::from_utf8_lossy(&exchange.stdout).into_owned();
    assert_eq!(said.matches("; left 1 times: ").count(), 2, "{said}");
}
