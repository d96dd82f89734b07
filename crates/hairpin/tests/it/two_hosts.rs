//! Runs an exchange and three traders on two hosts joined by a veth pair.
//!
//! `HAIRPIN_TICKS` sets the ticks of each run (an hour at a tick a millisecond is 3,600,000),
//! `HAIRPIN_INTERVAL_US` the pause between them. `HAIRPIN_FEED` and `HAIRPIN_WAIT` limit the runs
//! to one feed and one wait. The tests assert that nothing is lost; they assert no latency.

use std::fs;
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::{Process, TIMEOUT, assert_done, assert_status, hairpin, rows, turn};
use hairpin_reactor::Wait;
use hairpin_testbed::{Host, Testbed};
use serde_json::Value;

/// The traders of one exchange, unless they spin.
const TRADERS: u32 = 3;
const GATEWAY_PORT: u16 = 9_100;
/// The ticks of a round that are not recorded.
const WARM_UP: u64 = 100;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

/// Returns the number of traders that this host supports with a wait. A trader that spins needs a
/// core of its own, and the exchange needs another.
fn traders_for(wait: Wait) -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    if wait == Wait::Spin { (cores - 1).min(TRADERS) } else { TRADERS }
}

/// Two hosts, an exchange on the first, and a folder shared by both.
struct Market {
    bed: Testbed,
    folder: tempfile::TempDir,
    exchange: Process,
    traders: u32,
}

impl Market {
    fn open(args: &[&str]) -> Self {
        Self::open_to(TRADERS, args)
    }

    fn open_to(traders: u32, args: &[&str]) -> Self {
        let bed = Testbed::namespaces().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let [host, _] = bed.hosts();
        let gateway = format!("{}:{GATEWAY_PORT}", host.address());
        let interval = number("HAIRPIN_INTERVAL_US", 1_000).to_string();
        let quorum = traders.to_string();
        let mut command = hairpin();
        command.args(["exchange", "--interface", host.interface(), "--gateway", &gateway]);
        command.args(["--traders", &quorum, "--interval-us", &interval]).args(args);
        command.arg("--config-out").arg(folder.path().join("config.xml"));
        command.arg("--json").arg(folder.path().join("results.json"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut exchange = Process::of(host.spawn(command, &[]).unwrap());
        let until = Instant::now() + TIMEOUT;
        while !folder.path().join("config.xml").exists() {
            assert!(
                exchange.runs() && Instant::now() < until,
                "the exchange did not start to listen"
            );
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

    /// Returns the number of rows saved so far.
    fn saved(&self) -> usize {
        let text = fs::read_to_string(self.results()).unwrap_or_default();
        let document: Value = serde_json::from_str(&text).unwrap_or_default();
        document["rows"].as_array().map_or(0, Vec::len)
    }

    /// Waits until `rounds` more rounds of the three traders are saved.
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

/// Returns `true` if a run is selected. Without the environment variable, every run is selected.
fn is_wanted(variable: &str, name: &str) -> bool {
    std::env::var(variable).map_or(true, |wanted| wanted == name)
}

/// Returns the waits that this host supports for at least one trader.
fn waits() -> impl Iterator<Item = Wait> {
    let is_there = |wait: &Wait| traders_for(*wait) > 0 && wait.probe().is_ok();
    Wait::ALL.into_iter().filter(is_there).filter(|wait| is_wanted("HAIRPIN_WAIT", wait.name()))
}

fn assert_nothing_lost(results: &[Value], output: &Output) {
    for row in results {
        assert_eq!(row["lost"], 0, "{row}\n{output:?}");
        assert!(row["failed"].is_null(), "{row}\n{output:?}");
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
    let ticks = number("HAIRPIN_TICKS", hairpin_testbed::scaled(200));
    // A round contains up to a million samples.
    let rounds = ticks.div_ceil(500_000);
    let samples = ticks / rounds;
    let (said_samples, said_rounds) = (samples.to_string(), rounds.to_string());
    let args = ["--feed", feed, "--samples", &said_samples, "--rounds", &said_rounds];
    let market = Market::open_to(traders_for(wait), &args);
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
fn outage_of_a_feed_line_is_not_a_gap() {
    let _turn = turn();
    for cut in ["--mute-a", "--mute-b"] {
        let args = ["--samples", "600", "--rounds", "1", cut, "200,200"];
        let market = Market::open(&args);
        let traders = market.traders(Wait::Epoll);
        let results = market.results();
        let exchange = market.exchange.output();
        assert_done(&exchange);
        assert_nothing_lost(&rows(&results), &exchange);
        for trader in traders {
            let output = trader.output();
            assert_done(&output);
            let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
            let orders = format!("{} orders", 600 + WARM_UP);
            assert!(stdout.contains(&orders) && stdout.contains("; 0 gaps"), "{stdout}");
        }
    }
}

/// Sends a last datagram, and waits until it is in the recording.
fn wait_until_written([from, to]: &[Host; 2], path: &Path) {
    const LAST: &[u8] = b"the last datagram of the recording";
    let sender = from.run(|| UdpSocket::bind((from.address(), 0)).unwrap()).unwrap();
    sender.send_to(LAST, (to.address(), 9)).unwrap();
    let until = Instant::now() + TIMEOUT;
    while !fs::read(path).unwrap().windows(LAST.len()).any(|bytes| bytes == LAST) {
        assert!(Instant::now() < until, "the recording does not end");
        sleep(Duration::from_millis(100));
    }
}

/// Records the packets at the traders' interface with tcpdump, an independent program, and replays
/// the recording through the feed handler. The feed handler must report every tick of the run.
#[test]
#[ignore = "needs root"]
fn recording_has_every_best_price_change_of_the_run() {
    let _turn = turn();
    let market = Market::open(&["--samples", "800", "--rounds", "1"]);
    let pcap = market.folder.path().join("run.pcap");
    let [_, host] = market.bed.hosts();
    let mut command = Command::new("tcpdump");
    // Without `-Z root`, tcpdump drops the privilege to write to this folder.
    command.args(["-i", host.interface(), "-Z", "root", "-B", "65536", "-U"]);
    // Each slot of the capture ring has the size of the longest packet. With the default snapshot
    // length the ring has only 256 slots.
    command.args(["-s", "2048"]);
    // Without immediate mode, tcpdump loses the packets that are still in the kernel when it exits.
    command.args(["--immediate-mode", "-w"]);
    command.arg(&pcap).arg("udp").stdout(Stdio::null()).stderr(Stdio::piped());
    let mut recorder = Process::of(host.spawn(command, &[]).unwrap());
    let until = Instant::now() + TIMEOUT;
    while fs::metadata(&pcap).map_or(0, |file| file.len()) == 0 {
        assert!(recorder.runs() && Instant::now() < until, "tcpdump did not start to record");
        sleep(Duration::from_millis(10));
    }
    let traders = market.traders(Wait::Epoll);
    let results = market.results();
    let exchange = market.exchange.output();
    assert_done(&exchange);
    assert_nothing_lost(&rows(&results), &exchange);
    traders.into_iter().for_each(|trader| assert_done(&trader.output()));
    wait_until_written(market.bed.hosts(), &pcap);
    recorder.signal("INT");
    let recorded = recorder.output();
    let stderr = String::from_utf8_lossy(&recorded.stderr).into_owned();
    assert!(stderr.contains("\n0 packets dropped by kernel"), "{stderr}");

    let config = market.folder.path().join("config.xml");
    for args in [&[][..], &["--config", config.to_str().unwrap()]] {
        let feed = hairpin().arg("feed").arg("--pcap").arg(&pcap).args(args).output().unwrap();
        assert_done(&feed);
        let out = String::from_utf8_lossy(&feed.stdout).into_owned();
        let last: Vec<&str> = out.lines().rev().take(2).collect();
        let expected = format!(" {} best-price changes", 800 + WARM_UP);
        assert!(last[1].starts_with("100 of 100 instruments in sync, 0 gaps, "), "{last:?}");
        assert!(last[1].contains(&expected), "{last:?}");
        assert!(last[0].ends_with(" 0 unknown, 0 errors"), "{last:?}");
    }
}

#[test]
#[ignore = "needs root"]
fn restarted_traders_lose_only_orders_of_the_outage() {
    let _turn = turn();
    let mut market = Market::open(&["--samples", "500"]);
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
    let stdout = String::from_utf8_lossy(&exchange.stdout).into_owned();
    assert_eq!(stdout.matches("; left 1 time: ").count(), 2, "{stdout}");
}
