//! `hairpin stat` beside running Hairpin processes, as their user sees it.
//!
//! Nothing here asserts how fast anything is. What watching costs is printed by
//! `what_watching_costs`, shortly; at length, on a quiet machine, by
//!
//! ```text
//! HAIRPIN_STAT_ROUNDS=15 HAIRPIN_STAT_SAMPLES=20000 \
//!     cargo test --release -p hairpin --test stat -- --nocapture what_watching_costs
//! ```
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

#[path = "support/processes.rs"]
mod support;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use hairpin_feed_handler::config::{ChannelConfig, Config};
use hairpin_feed_handler::{Addresses, Lines, Multicast};
use hairpin_mapped::CounterPages;
use hairpin_testbed::{Host, Testbed};
use serde_json::Value;
use support::{Process, assert_done, assert_status, hairpin, rows, turn};

const PATIENCE: Duration = Duration::from_secs(60);
const GATEWAY_PORT: u16 = 9_100;
/// Neither root nor anybody who has a process of his own here.
const NOBODY: u32 = 65_534;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `hairpin stat` with these words.
fn stat(words: &[&str]) -> Output {
    hairpin().arg("stat").args(words).output().unwrap()
}

/// What `hairpin stat --format json` says of a process; null if nothing.
fn process(id: u32) -> Value {
    let output = stat(&[&id.to_string(), "--format", "json"]);
    process_in(&text(&output.stdout), id)
}

/// A process in a document of `stat`.
fn process_in(document: &str, id: u32) -> Value {
    let document: Value = serde_json::from_str(document).unwrap();
    assert_eq!(document["schema"], "hairpin.stat/1");
    let processes = document["processes"].as_array().unwrap();
    processes.iter().find(|process| process["pid"] == id).cloned().unwrap_or_default()
}

/// A value of a process, 0 if it is not published.
fn value(process: &Value, name: &str) -> u64 {
    let values = process["values"].as_array().map(Vec::as_slice).unwrap_or_default();
    let named = values.iter().find(|value| value["name"] == name);
    named.and_then(|value| value["value"].as_u64()).unwrap_or_default()
}

/// Reads the counters of a process until `is_enough`.
fn wait_until(id: u32, is_enough: impl Fn(&Value) -> bool) -> Value {
    let until = Instant::now() + PATIENCE;
    loop {
        let process = process(id);
        if is_enough(&process) {
            return process;
        }
        assert!(Instant::now() < until, "not within {PATIENCE:?}: {process}");
        sleep(Duration::from_millis(20));
    }
}

/// An exchange on loopback or on a host of its own, and what its traders need to know.
struct Venue {
    folder: tempfile::TempDir,
    gateway: String,
    exchange: Process,
}

impl Venue {
    fn open(words: &[&str]) -> Self {
        let gateway = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        Self::start(None, gateway, words)
    }

    fn open_on(host: &Host, words: &[&str]) -> Self {
        Self::start(Some(host), format!("{}:{GATEWAY_PORT}", host.address()), words)
    }

    fn start(host: Option<&Host>, gateway: String, words: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = hairpin();
        command.args(["exchange", "--gateway", &gateway]).args(words);
        command.arg("--config-out").arg(folder.path().join("config.xml"));
        command.arg("--json").arg(folder.path().join("results.json"));
        let mut exchange = spawn(host, command);
        let until = Instant::now() + PATIENCE;
        while !folder.path().join("config.xml").exists() {
            assert!(exchange.runs() && Instant::now() < until, "the exchange does not listen");
            sleep(Duration::from_millis(5));
        }
        Self { folder, gateway, exchange }
    }

    fn trader(&self, host: Option<&Host>) -> Process {
        let mut command = hairpin();
        command.args(["trader", "--gateway", &self.gateway, "--wait", "epoll"]);
        command.arg("--config").arg(self.folder.path().join("config.xml"));
        spawn(host, command)
    }

    fn results(&self) -> PathBuf {
        self.folder.path().join("results.json")
    }
}

/// Starts a process here or on a host, where it uses that host's interface.
fn spawn(host: Option<&Host>, mut command: Command) -> Process {
    let Some(host) = host else { return Process::start(&mut command) };
    command.args(["--interface", host.interface()]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    Process::of(host.spawn(command, &[]).unwrap())
}

/// The number before a word: `1891 orders` of `trader 1: 1891 orders, …`.
fn number_before(line: &str, word: &str) -> u64 {
    let words: Vec<&str> = line.split([' ', ',', ';', '\n']).filter(|w| !w.is_empty()).collect();
    let at = words.iter().position(|&found| found == word).unwrap();
    words[at - 1].parse().unwrap()
}

/// Watches an exchange and a trader at work, and compares the end with what they say themselves.
fn watch_at_work(venue: Venue, host: Option<&Host>) {
    let trader = venue.trader(host);
    let (exchange_id, trader_id) = (venue.exchange.id(), trader.id());
    let first = wait_until(exchange_id, |process| value(process, "trader.1.orders") > 100);
    assert_eq!(first["command"], "exchange");
    assert!(first["title"].as_str().unwrap().contains(&venue.gateway), "{first}");
    assert!(first["started"].as_str().unwrap().starts_with("20"), "{first}");
    let mut before = [first, process(trader_id)];
    assert_eq!(before[1]["command"], "trader");
    for gauge in ["session.established", "feed.in_sync"] {
        assert_eq!(value(&before[1], gauge), 1, "{gauge}");
    }
    let start = before.clone();
    for _ in 0..5 {
        sleep(Duration::from_millis(150));
        let now = [process(exchange_id), process(trader_id)];
        for (before, now) in before.iter().zip(&now) {
            assert_counters_only_grow(before, now);
        }
        before = now;
    }
    for (process, names) in [
        (0, &["exchange.ticks", "gateway.orders", "trader.1.ticks", "exchange.bytes_sent"][..]),
        (1, &["trader.orders", "feed.packets_a", "session.out.business_messages"]),
    ] {
        for name in names {
            let values = [&start[process], &before[process]].map(|process| value(process, name));
            assert!(values[0] < values[1], "{name} stands still at {values:?} under load");
        }
    }

    trader.signal("INT");
    let said = trader.output();
    assert_status(&said, 130);
    let said = text(&said.stdout);
    let orders = number_before(&said, "orders");
    let last = wait_until(exchange_id, |process| value(process, "trader.1.present") == 0);
    assert_eq!(value(&last, "gateway.orders"), orders, "{said}");
    assert_eq!(value(&last, "trader.1.departures"), 1);
    assert_eq!(value(&last, "run.traders"), 0);

    venue.exchange.signal("INT");
    let said = venue.exchange.output();
    assert_status(&said, 130);
    let said = text(&said.stdout);
    let rounds: Vec<&str> = said.lines().filter(|line| line.starts_with("round ")).collect();
    for (word, name) in [
        ("ticks", "trader.1.ticks"),
        ("orders", "trader.1.orders"),
        ("acknowledged", "trader.1.acknowledgements"),
        ("canceled", "trader.1.cancels"),
        ("lost", "trader.1.lost"),
    ] {
        let sum: u64 = rounds.iter().map(|line| number_before(line, word)).sum();
        assert_eq!(value(&last, name), sum, "{name} and\n{said}");
    }
}

fn assert_counters_only_grow(before: &Value, now: &Value) {
    for counter in now["values"].as_array().unwrap() {
        if counter["kind"] == "counter" {
            let name = counter["name"].as_str().unwrap();
            assert!(value(before, name) <= counter["value"].as_u64().unwrap(), "{name}");
        }
    }
}

#[test]
fn counters_of_a_loaded_exchange_rise_and_agree_with_its_outcome() {
    let _turn = turn();
    watch_at_work(Venue::open(&["--interval-us", "1000", "--samples", "400"]), None);
}

#[test]
#[ignore = "needs root"]
fn processes_in_other_network_namespaces_are_found() {
    let _turn = turn();
    let bed = Testbed::namespaces().unwrap();
    let [exchange, trader] = bed.hosts();
    let words = ["--interval-us", "1000", "--samples", "400"];
    watch_at_work(Venue::open_on(exchange, &words), Some(trader));
}

#[test]
#[ignore = "needs root"]
fn stat_itself_may_be_in_another_network_namespace() {
    let _turn = turn();
    let bed = Testbed::namespaces().unwrap();
    let [host, other] = bed.hosts();
    let venue = Venue::open_on(host, &[]);
    let id = venue.exchange.id();
    wait_until(id, |process| !process.is_null());
    let mut command = hairpin();
    command.args(["stat", "--format", "json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = other.spawn(command, &[]).unwrap().wait_with_output().unwrap();
    assert_done(&output);
    assert_eq!(process_in(&text(&output.stdout), id)["command"], "exchange");
}

#[test]
fn a_line_is_five_words() {
    let _turn = turn();
    let venue = Venue::open(&[]);
    let id = venue.exchange.id();
    wait_until(id, |process| value(process, "exchange.instrument_packets") > 0);
    let output = stat(&[&id.to_string(), "--name", "exchange.*_packets", "--name", "traders"]);
    assert_done(&output);
    let lines = text(&output.stdout);
    let words: Vec<Vec<&str>> =
        lines.lines().map(|line| line.split_whitespace().collect()).collect();
    let id = id.to_string();
    let of_line = |words: &Vec<&str>| {
        let [process, command, name, value, unit] = words[..] else { panic!("{words:?}") };
        assert_eq!((process, command), (&*id, "exchange"));
        value.parse::<u64>().unwrap();
        format!("{name} {unit}")
    };
    let expected = [
        "run.traders count",
        "exchange.incremental_packets packets",
        "exchange.instrument_packets packets",
        "exchange.snapshot_packets packets",
        "exchange.order_snapshot_packets packets",
    ];
    assert_eq!(words.iter().map(of_line).collect::<Vec<_>>(), expected);
}

#[test]
fn a_stopped_process_is_read_all_the_same() {
    let _turn = turn();
    let venue = Venue::open(&[]);
    let id = venue.exchange.id();
    wait_until(id, |process| value(process, "exchange.instrument_packets") > 0);
    venue.exchange.signal("STOP");
    let until = Instant::now() + PATIENCE;
    while !fs::read_to_string(format!("/proc/{id}/stat")).unwrap().contains(") T ") {
        assert!(Instant::now() < until, "not stopped");
    }
    let [first, second] = [process(id), process(id)];
    assert!(value(&first, "exchange.instrument_packets") > 0);
    assert_eq!(first["values"], second["values"]);
    venue.exchange.signal("CONT");
    let sent = value(&second, "exchange.instrument_packets");
    wait_until(id, |process| value(process, "exchange.instrument_packets") > sent);
}

/// `hairpin stat --watch`, its lines as they come.
struct Watch {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Watch {
    fn start(words: &[&str]) -> Self {
        let mut command = hairpin();
        command.arg("stat").args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn line(&mut self) -> Option<String> {
        self.lines.next().map(Result::unwrap)
    }

    /// Status and standard error, once it has ended by itself.
    fn end(mut self) -> (Option<i32>, String) {
        while self.line().is_some() {}
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a process has any page of counters open.
fn holds_a_page(process: u32) -> bool {
    let links = fs::read_dir(format!("/proc/{process}/fd")).unwrap().filter_map(Result::ok);
    links.filter_map(|link| fs::read_link(link.path()).ok()).any(|to| is_page(&to))
}

fn is_page(target: &Path) -> bool {
    target.to_string_lossy().starts_with("/memfd:hairpin-counters")
}

#[test]
fn nothing_is_left_of_a_killed_process() {
    let _turn = turn();
    let venue = Venue::open(&[]);
    let id = venue.exchange.id();
    wait_until(id, |process| !process.is_null());
    assert!(holds_a_page(id));
    let mut everything = Watch::start(&["--watch", "0.05", "--name", "run.rounds"]);
    let mut one = Watch::start(&[&id.to_string(), "--watch", "0.05", "--name", "run.rounds"]);
    for watch in [&mut everything, &mut one] {
        let words = watch.line().unwrap();
        assert!(words.contains(&format!("Z {id} exchange run.rounds")), "{words}");
        assert!(!holds_a_page(watch.child.id()), "a page is held by those who write it only");
    }
    venue.exchange.signal("KILL");
    let _ = venue.exchange.output();
    let (status, said) = one.end();
    assert_eq!(status, Some(0), "nobody is left to be watched: {said}");
    assert!(said.contains(&format!("exchange, process {id}, has ended")), "{said}");
    let pages = CounterPages::find().unwrap();
    assert!(pages.found.iter().all(|found| found.process != id), "{pages:?}");
    assert!(!holds_a_page(everything.child.id()));
    let output = stat(&[&id.to_string()]);
    assert_status(&output, 1);
    assert_eq!(text(&output.stderr), format!("hairpin: process {id} does not exist\n"));
}

#[test]
fn processes_may_begin_and_end_while_all_are_watched() {
    let _turn = turn();
    let mut watch = Watch::start(&["--watch", "0.1", "--format", "text"]);
    let venue = Venue::open(&[]);
    let id = venue.exchange.id();
    loop {
        let line = watch.line().unwrap();
        if line.contains(&format!(" {id} exchange run.rounds")) {
            break;
        }
    }
    venue.exchange.signal("TERM");
    let _ = venue.exchange.output();
    // It looks for processes every second.
    let watching = watch.child.id();
    let interrupt = std::thread::spawn(move || {
        sleep(Duration::from_secs(3));
        support::signal("INT", watching);
    });
    let (status, said) = watch.end();
    interrupt.join().unwrap();
    assert_eq!(status, Some(130), "{said}");
    for words in ["has begun", "has ended"] {
        let line = format!("hairpin: exchange, process {id}, {words}\n");
        assert!(said.contains(&line), "{said}");
    }
}

fn empty_lines() -> std::io::Lines<BufReader<std::process::ChildStdout>> {
    let mut child = Command::new("true").stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    child.wait().unwrap();
    lines
}

#[test]
fn a_signal_ends_the_watch_with_the_shells_status() {
    for (signal, status) in [("INT", 130), ("TERM", 143)] {
        let mut watch = Watch::start(&["--watch", "3600", "--format", "json"]);
        let document: Value = serde_json::from_str(&watch.line().unwrap()).unwrap();
        assert_eq!(document["schema"], "hairpin.stat/1");
        support::signal(signal, watch.child.id());
        assert_eq!(watch.end().0, Some(status), "{signal}");
    }
}

#[test]
fn the_watch_ends_when_nobody_reads_it() {
    let mut watch = Watch::start(&["--watch", "0.01", "--format", "json"]);
    watch.line().unwrap();
    drop(std::mem::replace(&mut watch.lines, empty_lines()));
    assert_eq!(watch.child.wait().unwrap().code(), Some(0));
}

#[test]
fn what_cannot_be_shown_is_said_with_the_status() {
    let output = stat(&[&std::process::id().to_string()]);
    assert_status(&output, 1);
    assert!(text(&output.stderr).ends_with("publishes no live counters\n"), "{output:?}");
    let output = stat(&["--name", "no.such.value"]);
    assert_status(&output, 1);
    assert!(text(&output.stderr).contains("with such names"), "{output:?}");
    let watch = Watch::start(&[&std::process::id().to_string(), "--watch", "0.01"]);
    assert_eq!(watch.end().0, Some(1));
    for words in [
        &["0"][..],
        &["exchange"],
        &["--watch", "0"],
        &["--watch=-1"],
        &["--watch", "1e9"],
        &["--name", ""],
        &["--format", "xml"],
    ] {
        let output = stat(words);
        assert_status(&output, 2);
        assert_eq!(text(&output.stderr).lines().count(), 1, "{output:?}");
    }
}

/// The command where anybody may run it.
fn for_everybody() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let path = folder.path().join("hairpin");
    fs::copy(env!("CARGO_BIN_EXE_hairpin"), &path).unwrap();
    (folder, path)
}

#[test]
#[ignore = "needs root"]
fn an_ordinary_user_sees_his_own_processes_and_how_many_he_does_not() {
    let _turn = turn();
    let (folder, program) = for_everybody();
    let nobodys = |words: &[&str]| {
        let mut command = Command::new(&program);
        command.args(words).current_dir(folder.path()).uid(NOBODY).gid(NOBODY);
        command.env_remove("HAIRPIN_SECRET_KEY").stdin(Stdio::null());
        command
    };
    let roots = Venue::open(&[]);
    let id = roots.exchange.id().to_string();
    wait_until(roots.exchange.id(), |process| !process.is_null());
    let output = nobodys(&["stat", &id]).output().unwrap();
    assert_status(&output, 1);
    let said = text(&output.stderr);
    assert_eq!(
        said,
        format!(
            "hairpin: process {id} belongs to another user; root may read \
                              it\n"
        )
    );
    let output = nobodys(&["stat"]).output().unwrap();
    assert_status(&output, 1);
    let said = text(&output.stderr);
    assert!(said.contains(" processes of other users skipped; root may read them\n"), "{said}");
    assert!(number_before(&said, "processes") >= 2, "{said}");
    roots.exchange.signal("TERM");
    let _ = roots.exchange.output();

    let own = Process::start(&mut nobodys(&["exchange"]));
    let until = Instant::now() + PATIENCE;
    loop {
        let output = nobodys(&["stat", "--format", "json"]).output().unwrap();
        let shown = process_in(&text(&output.stdout), own.id());
        if !shown.is_null() {
            assert_done(&output);
            assert_eq!(shown["command"], "exchange");
            break;
        }
        assert!(Instant::now() < until, "{output:?}");
        sleep(Duration::from_millis(20));
    }
    // And root sees them all.
    assert_eq!(process(own.id())["command"], "exchange");
}

/// A configuration file with one channel.
fn config(folder: &Path) -> PathBuf {
    let group = |last| SocketAddrV4::new(Ipv4Addr::new(239, 192, 1, last), 14_310);
    let addresses = Addresses::Multicast(Multicast {
        incremental: Lines::both(group(1), group(2)),
        instrument: Lines::both(group(3), group(4)),
        snapshot: Lines::both(group(5), group(6)),
        snapshot_orders: Lines::default(),
        interface: Ipv4Addr::LOCALHOST,
        transport: Default::default(),
        replay: None,
    });
    let channels = vec![ChannelConfig::from_addresses("310", "a test's", &addresses)];
    let path = folder.join("config.xml");
    fs::write(&path, Config { channels, ..Config::default() }.to_string()).unwrap();
    path
}

#[test]
fn the_process_that_runs_the_rounds_tells_how_many_are_over() {
    let _turn = turn();
    let mut command = hairpin();
    command.args(["t2t", "--interface", "lo", "--feed", "tcp", "--wait", "epoll"]);
    command.args(["--interval-us", "500", "--samples", "1400", "--rounds", "7"]);
    let rounds = Process::start(&mut command);
    let shown = wait_until(rounds.id(), |process| value(process, "run.rounds") >= 2);
    assert_eq!(shown["title"], "t2t --rounds 7", "{shown}");
    assert!(value(&shown, "run.rounds") <= value(&shown, "run.rounds_planned"), "{shown}");
    // A set whose generator was late is planned once more.
    assert_eq!(value(&shown, "run.rounds_planned") % 7, 0, "{shown}");
    assert_eq!(value(&shown, "run.failed_rounds"), 0, "{shown}");
    assert!(rounds.output().status.success());
}

#[test]
fn a_replay_tells_how_far_it_is() {
    const FRAMES: u64 = 10_000;
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("short.pcap");
    // In microseconds, of Ethernet; all frames are too short for anything, each an error.
    let header = [2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0];
    let frame = [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 7, 7];
    let magic = 0xa1b2_c3d4_u32.to_le_bytes();
    let frames = frame.repeat(FRAMES as usize);
    fs::write(&capture, [&magic[..], &header, &frames].concat()).unwrap();
    let mut command = hairpin();
    command.args(["feed", "--config"]).arg(config(folder.path())).arg("--pcap").arg(&capture);
    // It waits for somebody who reads its errors.
    let feed = Process::start(&mut command);
    let shown = wait_until(feed.id(), |process| value(process, "capture.packets") > 0);
    assert!(shown["title"].as_str().unwrap().ends_with("short.pcap"), "{shown}");
    assert!(value(&shown, "capture.packets") < FRAMES, "{shown}");
    assert_eq!(value(&shown, "capture.errors"), value(&shown, "capture.packets"));
    assert_eq!(value(&shown, "feed.in_sync"), 0);
    let said = text(&feed.output().stdout);
    assert_eq!(number_before(said.lines().last().unwrap(), "packets"), FRAMES);
}

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values[values.len() / 2]
}

/// The median latency, in ns, of one run of an exchange and a trader; watched or not.
fn median_latency(samples: usize, is_watched: bool) -> u64 {
    let samples = samples.to_string();
    let words = ["--interval-us", "500", "--samples", &samples, "--rounds", "1"];
    let venue = Venue::open(&words);
    let id = venue.exchange.id().to_string();
    let watch = is_watched.then(|| {
        // Its lines go where nobody waits for them.
        let mut command = hairpin();
        command.args(["stat", "--watch", "0.1"]).stdout(Stdio::null()).stderr(Stdio::null());
        Process::of(command.spawn().unwrap())
    });
    let trader = venue.trader(None);
    if is_watched {
        let seen = wait_until(venue.exchange.id(), |p| value(p, "trader.1.orders") > 0);
        assert_eq!(seen["pid"].to_string(), id);
    }
    let results = venue.results();
    assert_done(&venue.exchange.output());
    assert_done(&trader.output());
    drop(watch);
    let rows = rows(&results);
    assert_eq!((&rows[0]["case"], &rows[0]["lost"]), (&"intended to order".into(), &0.into()));
    rows[0]["p50"].as_u64().unwrap()
}

#[test]
fn what_watching_costs() {
    let _turn = turn();
    let rounds = number("HAIRPIN_STAT_ROUNDS", 1);
    let samples = number("HAIRPIN_STAT_SAMPLES", 600);
    let mut alone = Vec::new();
    let mut watched = Vec::new();
    for round in 1..=rounds {
        // Each goes first in half of the rounds.
        for is_watched in [round % 2 == 0, round % 2 != 0] {
            let latency = median_latency(samples, is_watched);
            let which = if is_watched { "with stat --watch 0.1" } else { "alone" };
            println!("round {round}, {which}: p50 {latency} ns of {samples}");
            if is_watched { &mut watched } else { &mut alone }.push(latency);
        }
    }
    let ratios = watched.iter().zip(&alone).map(|(watched, alone)| watched * 1_000 / alone);
    let ratio = median(ratios.collect()) as f64 / 1_000.0;
    let (alone, watched) = (median(alone), median(watched));
    println!(
        "median p50 of {rounds} rounds: {alone} ns alone, {watched} ns watched; \
         median of the rounds' ratios {ratio:.3}"
    );
}
