//! Runs `hairpin stat` on running Hairpin processes.
//!
//! The tests assert no latency. `watching_overhead_is_printed` prints the overhead of watching
//! after a short run. For an accurate figure on an idle machine, run
//!
//! ```text
//! HAIRPIN_STAT_ROUNDS=15 HAIRPIN_STAT_SAMPLES=20000 \
//!     cargo test --release -p hairpin-cli --test stat -- --nocapture watching_overhead_is_printed
//! ```
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

#[path = "support/processes.rs"]
mod support;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
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
use support::{Process, assert_done, assert_status, copy_hairpin, hairpin, rows, turn};

const TIMEOUT: Duration = Duration::from_secs(300);
const GATEWAY_PORT: u16 = 9_100;
/// A user id that is not root and has no other process.
const UNPRIVILEGED: u32 = 65_534;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs `hairpin stat` with these arguments.
fn stat(args: &[&str]) -> Output {
    hairpin().arg("stat").args(args).output().unwrap()
}

/// Returns the object of a process in `hairpin stat --format json`, or null.
fn process(id: u32) -> Value {
    let output = stat(&[&id.to_string(), "--format", "json"]);
    process_in(&text(&output.stdout), id)
}

/// Returns the object of a process in a document of `stat`.
fn process_in(document: &str, id: u32) -> Value {
    let document: Value = serde_json::from_str(document).unwrap();
    assert_eq!(document["schema"], "hairpin.stat/1");
    let processes = document["processes"].as_array().unwrap();
    processes.iter().find(|process| process["pid"] == id).cloned().unwrap_or_default()
}

/// Returns a counter of a process, or 0 if the process does not publish it.
fn value(process: &Value, name: &str) -> u64 {
    let values = process["values"].as_array().map(Vec::as_slice).unwrap_or_default();
    let named = values.iter().find(|value| value["name"] == name);
    named.and_then(|value| value["value"].as_u64()).unwrap_or_default()
}

/// Reads the counters of a process until `is_enough`.
fn wait_until(id: u32, is_enough: impl Fn(&Value) -> bool) -> Value {
    let until = Instant::now() + TIMEOUT;
    loop {
        let process = process(id);
        if is_enough(&process) {
            return process;
        }
        assert!(Instant::now() < until, "no match within {TIMEOUT:?}: {process}");
        sleep(Duration::from_millis(20));
    }
}

/// An exchange on loopback or on a separate host, and the addresses for its traders.
struct Venue {
    folder: tempfile::TempDir,
    gateway: String,
    exchange: Process,
}

impl Venue {
    fn open(args: &[&str]) -> Self {
        let gateway = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        Self::start(None, gateway, args)
    }

    fn open_on(host: &Host, args: &[&str]) -> Self {
        Self::start(Some(host), format!("{}:{GATEWAY_PORT}", host.address()), args)
    }

    fn start(host: Option<&Host>, gateway: String, args: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = hairpin();
        command.args(["exchange", "--gateway", &gateway]).args(args);
        command.arg("--config-out").arg(folder.path().join("config.xml"));
        command.arg("--json").arg(folder.path().join("results.json"));
        let mut exchange = spawn(host, command);
        let until = Instant::now() + TIMEOUT;
        while !folder.path().join("config.xml").exists() {
            assert!(
                exchange.runs() && Instant::now() < until,
                "the exchange did not start to listen"
            );
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

/// Starts a process locally, or on a host with that host's interface.
fn spawn(host: Option<&Host>, mut command: Command) -> Process {
    let Some(host) = host else { return Process::start(&mut command) };
    command.args(["--interface", host.interface()]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    Process::of(host.spawn(command, &[]).unwrap())
}

/// Returns the number before a word, for example 1891 in `trader 1: 1891 orders, …`.
fn number_before(line: &str, word: &str) -> u64 {
    let words: Vec<&str> = line.split([' ', ',', ';', '\n']).filter(|w| !w.is_empty()).collect();
    let at = words.iter().position(|&found| found == word).unwrap();
    words[at - 1].parse().unwrap()
}

/// Reads the counters of an exchange and a trader under load, and compares the final values with
/// their own results.
fn assert_counters_match_results(venue: Venue, host: Option<&Host>) {
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
            // A round pauses until its ticks are answered.
            let id = [exchange_id, trader_id][process];
            wait_until(id, |now| value(now, name) > value(&start[process], name));
        }
    }

    trader.signal("INT");
    let output = trader.output();
    assert_status(&output, 130);
    let stdout = text(&output.stdout);
    let orders = number_before(&stdout, "orders");
    let last = wait_until(exchange_id, |process| value(process, "trader.1.present") == 0);
    assert_eq!(value(&last, "gateway.orders"), orders, "{stdout}");
    assert_eq!(value(&last, "trader.1.departures"), 1);
    assert_eq!(value(&last, "run.traders"), 0);

    venue.exchange.signal("INT");
    let output = venue.exchange.output();
    assert_status(&output, 130);
    let stdout = text(&output.stdout);
    let rounds: Vec<&str> = stdout.lines().filter(|line| line.starts_with("round ")).collect();
    for (word, name) in [
        ("ticks", "trader.1.ticks"),
        ("orders", "trader.1.orders"),
        ("acknowledged", "trader.1.acknowledgements"),
        ("canceled", "trader.1.cancels"),
        ("lost", "trader.1.lost"),
    ] {
        let sum: u64 = rounds.iter().map(|line| number_before(line, word)).sum();
        assert_eq!(value(&last, name), sum, "{name} differs from the results\n{stdout}");
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
fn counters_under_load_rise_and_match_the_results() {
    let _turn = turn();
    assert_counters_match_results(
        Venue::open(&["--interval-us", "1000", "--samples", "400"]),
        None,
    );
}

#[test]
#[ignore = "needs root"]
fn processes_in_other_network_namespaces_are_found() {
    let _turn = turn();
    let bed = Testbed::namespaces().unwrap();
    let [exchange, trader] = bed.hosts();
    let args = ["--interval-us", "1000", "--samples", "400"];
    assert_counters_match_results(Venue::open_on(exchange, &args), Some(trader));
}

#[test]
#[ignore = "needs root"]
fn stat_can_run_in_another_network_namespace() {
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
fn line_has_five_fields() {
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
fn stopped_process_is_readable() {
    let _turn = turn();
    let venue = Venue::open(&[]);
    let id = venue.exchange.id();
    wait_until(id, |process| value(process, "exchange.instrument_packets") > 0);
    venue.exchange.signal("STOP");
    let until = Instant::now() + TIMEOUT;
    while !fs::read_to_string(format!("/proc/{id}/stat")).unwrap().contains(") T ") {
        assert!(Instant::now() < until, "the process did not stop");
    }
    let [first, second] = [process(id), process(id)];
    assert!(value(&first, "exchange.instrument_packets") > 0);
    assert_eq!(first["values"], second["values"]);
    venue.exchange.signal("CONT");
    let sent = value(&second, "exchange.instrument_packets");
    wait_until(id, |process| value(process, "exchange.instrument_packets") > sent);
}

/// A running `hairpin stat --watch` and its output lines.
struct Watch {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Watch {
    fn start(args: &[&str]) -> Self {
        let mut command = hairpin();
        command.arg("stat").args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn line(&mut self) -> Option<String> {
        self.lines.next().map(Result::unwrap)
    }

    /// Waits for the command to exit, and returns its status and standard error.
    fn end(mut self) -> (Option<i32>, String) {
        while self.line().is_some() {}
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        (self.child.wait().unwrap().code(), stderr)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a request, and returns the whole answer.
fn request(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Starts `hairpin stat --listen`. Returns its address too.
fn listen(args: &[&str]) -> (Watch, String) {
    let mut endpoint = Watch::start(&[&["--listen", "127.0.0.1:0"], args].concat());
    let line = endpoint.line().unwrap();
    let url = line.strip_prefix("serving http://").unwrap();
    let address = url.split('/').next().unwrap().to_owned();
    (endpoint, address)
}

#[test]
fn scraper_reads_a_stopped_process_beside_clients_that_never_read() {
    let _turn = turn();
    let venue = Venue::open(&[]);
    let id = venue.exchange.id();
    wait_until(id, |process| value(process, "exchange.instrument_packets") > 0);
    venue.exchange.signal("STOP");
    let (endpoint, address) = listen(&[]);
    let silent: Vec<_> = (0..4).map(|_| TcpStream::connect(&address).unwrap()).collect();
    let accept = "Accept: application/openmetrics-text;version=1.0.0";
    let open = request(&address, &format!("GET /metrics HTTP/1.1\r\n{accept}\r\n\r\n"));
    assert!(open.starts_with("HTTP/1.1 200 OK\r\n"), "{open}");
    assert!(open.contains("Content-Type: application/openmetrics-text; version=1.0.0"), "{open}");
    assert!(open.ends_with("# EOF\n"), "{open}");
    let labels = format!("command=\"exchange\",page=\"exchange\",pid=\"{id}\"");
    let name = format!("hairpin_exchange_instrument_packets_total{{{labels}}} ");
    let sent = open.lines().find_map(|line| line.strip_prefix(&*name)).unwrap();
    let known = value(&process(id), "exchange.instrument_packets");
    assert_eq!(sent.parse::<f64>().unwrap(), known as f64);
    let plain = request(&address, "GET /metrics HTTP/1.0\r\n\r\n");
    assert!(plain.contains("Content-Type: text/plain; version=0.0.4"), "{plain}");
    assert!(request(&address, "GET / HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 404 "));
    assert!(request(&address, "POST /metrics HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 405 "));
    let head = request(&address, "HEAD /metrics HTTP/1.0\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"), "{head}");
    drop(silent);
    venue.exchange.signal("CONT");

    let second = stat(&["--listen", &address]);
    assert_status(&second, 1);
    let stderr = text(&second.stderr);
    let expected = format!("hairpin: cannot listen on {address}: Address already in use");
    assert!(stderr.starts_with(&expected), "{stderr}");
    support::signal("INT", endpoint.child.id());
    assert_eq!(endpoint.end().0, Some(130));
}

#[test]
fn scraper_reads_only_the_named_values() {
    let _turn = turn();
    let venue = Venue::open(&[]);
    let id = venue.exchange.id();
    wait_until(id, |process| !process.is_null());
    let (endpoint, address) = listen(&[&id.to_string(), "--name", "ticks"]);
    let answer = request(&address, "GET /metrics HTTP/1.0\r\n\r\n");
    let is_value = |line: &&str| line.starts_with("hairpin_") && line.contains("pid=");
    let names: Vec<&str> = answer.lines().filter(is_value).collect();
    assert!(names.iter().any(|it| it.starts_with("hairpin_exchange_ticks_total{")), "{answer}");
    assert!(!answer.contains("instrument_packets"), "{answer}");
    drop(endpoint);
}

/// Returns `true` if a process has any counter page open.
fn has_open_counters(process: u32) -> bool {
    let links = fs::read_dir(format!("/proc/{process}/fd")).unwrap().filter_map(Result::ok);
    links.filter_map(|link| fs::read_link(link.path()).ok()).any(|to| is_counter_page(&to))
}

fn is_counter_page(target: &Path) -> bool {
    target.to_string_lossy().starts_with("/memfd:hairpin-counters")
}

#[test]
fn killed_process_leaves_no_counters() {
    let _turn = turn();
    let venue = Venue::open(&[]);
    let id = venue.exchange.id();
    wait_until(id, |process| !process.is_null());
    assert!(has_open_counters(id));
    let mut everything = Watch::start(&["--watch", "0.05", "--name", "run.rounds"]);
    let mut one = Watch::start(&[&id.to_string(), "--watch", "0.05", "--name", "run.rounds"]);
    for watch in [&mut everything, &mut one] {
        // Exchanges of other tests may run on this host.
        let expected = format!("Z {id} exchange run.rounds");
        assert!((0..100).any(|_| watch.line().unwrap().contains(&expected)), "{expected}");
        assert!(
            !has_open_counters(watch.child.id()),
            "only the writer may keep a counter page open"
        );
    }
    venue.exchange.signal("KILL");
    let _ = venue.exchange.output();
    let (status, stderr) = one.end();
    assert_eq!(status, Some(0), "the watch must end with its last process: {stderr}");
    assert!(stderr.contains(&format!("exchange, process {id}, has ended")), "{stderr}");
    let pages = CounterPages::find().unwrap();
    assert!(pages.found.iter().all(|found| found.process != id), "{pages:?}");
    assert!(!has_open_counters(everything.child.id()));
    let output = stat(&[&id.to_string()]);
    assert_status(&output, 1);
    assert_eq!(text(&output.stderr), format!("hairpin: process {id} does not exist\n"));
}

#[test]
fn watch_follows_processes_that_start_and_end() {
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
    // The watch searches for processes every second. It is interrupted once it has printed the end.
    let watching = watch.child.id();
    let mut errors = BufReader::new(watch.child.stderr.take().unwrap());
    let last = format!("hairpin: exchange, process {id}, has ended\n");
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        while !text.ends_with(&last) && errors.read_line(&mut text).unwrap() > 0 {}
        support::signal("INT", watching);
        errors.read_to_string(&mut text).unwrap();
        text
    });
    while watch.line().is_some() {}
    let (status, stderr) = (watch.child.wait().unwrap().code(), reader.join().unwrap());
    assert_eq!(status, Some(130), "{stderr}");
    for args in ["has begun", "has ended"] {
        let line = format!("hairpin: exchange, process {id}, {args}\n");
        assert!(stderr.contains(&line), "{stderr}");
    }
}

fn empty_lines() -> std::io::Lines<BufReader<std::process::ChildStdout>> {
    let mut child = Command::new("true").stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    child.wait().unwrap();
    lines
}

#[test]
fn signal_ends_the_watch_with_status_128_plus_signal() {
    for (signal, status) in [("INT", 130), ("TERM", 143)] {
        let mut watch = Watch::start(&["--watch", "3600", "--format", "json"]);
        let document: Value = serde_json::from_str(&watch.line().unwrap()).unwrap();
        assert_eq!(document["schema"], "hairpin.stat/1");
        support::signal(signal, watch.child.id());
        assert_eq!(watch.end().0, Some(status), "{signal}");
    }
}

#[test]
fn closed_output_pipe_ends_the_watch() {
    let mut watch = Watch::start(&["--watch", "0.01", "--format", "json"]);
    watch.line().unwrap();
    drop(std::mem::replace(&mut watch.lines, empty_lines()));
    assert_eq!(watch.child.wait().unwrap().code(), Some(0));
}

#[test]
fn unavailable_counters_exit_with_an_error_status() {
    let output = stat(&[&std::process::id().to_string()]);
    assert_status(&output, 1);
    assert!(text(&output.stderr).ends_with("publishes no live counters\n"), "{output:?}");
    let output = stat(&["--name", "no.such.value"]);
    assert_status(&output, 1);
    assert!(text(&output.stderr).contains("with such names"), "{output:?}");
    let watch = Watch::start(&[&std::process::id().to_string(), "--watch", "0.01"]);
    assert_eq!(watch.end().0, Some(1));
    for args in [
        &["0"][..],
        &["exchange"],
        &["--watch", "0"],
        &["--watch=-1"],
        &["--watch", "1e9"],
        &["--name", ""],
        &["--format", "xml"],
    ] {
        let output = stat(args);
        assert_status(&output, 2);
        assert_eq!(text(&output.stderr).lines().count(), 1, "{output:?}");
    }
}

/// Copies the command to a folder where every user can run it.
fn copy_for_all_users() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let path = folder.path().join("hairpin");
    copy_hairpin(&path);
    (folder, path)
}

#[test]
#[ignore = "needs root"]
fn ordinary_user_sees_own_processes_and_number_of_others() {
    let _turn = turn();
    let (folder, program) = copy_for_all_users();
    let nobodys = |args: &[&str]| {
        let mut command = Command::new(&program);
        command.args(args).current_dir(folder.path()).uid(UNPRIVILEGED).gid(UNPRIVILEGED);
        command.env_remove("HAIRPIN_SECRET_KEY").stdin(Stdio::null());
        command
    };
    let roots = Venue::open(&[]);
    let id = roots.exchange.id().to_string();
    wait_until(roots.exchange.id(), |process| !process.is_null());
    let output = nobodys(&["stat", &id]).output().unwrap();
    assert_status(&output, 1);
    let stderr = text(&output.stderr);
    assert_eq!(
        stderr,
        format!(
            "hairpin: process {id} belongs to another user; root may read \
                              it\n"
        )
    );
    let output = nobodys(&["stat"]).output().unwrap();
    assert_status(&output, 1);
    let stderr = text(&output.stderr);
    assert!(stderr.contains(" processes of other users skipped; root may read them\n"), "{stderr}");
    assert!(number_before(&stderr, "processes") >= 2, "{stderr}");
    roots.exchange.signal("TERM");
    let _ = roots.exchange.output();

    // The exchange writes its files to the folder that it starts in.
    let own_folder = folder.path().join("own");
    fs::create_dir(&own_folder).unwrap();
    std::os::unix::fs::chown(&own_folder, Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
    let own = Process::start(nobodys(&["exchange"]).current_dir(&own_folder));
    let until = Instant::now() + TIMEOUT;
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
    // Root sees every process.
    assert_eq!(process(own.id())["command"], "exchange");
}

/// Writes a configuration file with one channel.
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
fn parent_process_counts_completed_rounds() {
    let _turn = turn();
    let mut command = hairpin();
    command.args(["t2t", "--interface", "lo", "--feed", "tcp", "--wait", "epoll"]);
    command.args(["--interval-us", "500", "--samples", "1400", "--rounds", "7"]);
    let rounds = Process::start(&mut command);
    let shown = wait_until(rounds.id(), |process| value(process, "run.rounds") >= 2);
    assert_eq!(shown["title"], "t2t --rounds 7", "{shown}");
    assert!(value(&shown, "run.rounds") <= value(&shown, "run.rounds_planned"), "{shown}");
    // A late benchmark case is repeated.
    assert_eq!(value(&shown, "run.rounds_planned") % 7, 0, "{shown}");
    let output = rounds.output();
    assert_done(&output);
    assert_eq!(value(&shown, "run.failed_rounds"), 0, "{shown} {output:?}");
}

#[test]
fn replay_reports_its_progress() {
    const FRAMES: u64 = 10_000;
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("short.pcap");
    // An Ethernet capture with microsecond timestamps. Every frame is too short and counts as an
    // error. The last one follows after an hour.
    let header = [2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0];
    let frame = |second: u16| {
        [&second.to_le_bytes()[..], &[0; 6], &[2, 0, 0, 0, 2, 0, 0, 0, 7, 7]].concat()
    };
    let magic = 0xa1b2_c3d4_u32.to_le_bytes();
    let frames = frame(1).repeat(FRAMES as usize);
    fs::write(&capture, [&magic[..], &header, &frames, &frame(3_601)].concat()).unwrap();
    let mut command = hairpin();
    command.args(["feed", "--speed", "1", "--config"]).arg(config(folder.path()));
    command.arg("--pcap").arg(&capture);
    let feed = Process::start(&mut command);
    let shown = wait_until(feed.id(), |process| value(process, "capture.packets") == FRAMES);
    assert!(shown["title"].as_str().unwrap().ends_with("short.pcap"), "{shown}");
    assert_eq!(value(&shown, "capture.errors"), FRAMES);
    assert_eq!(value(&shown, "feed.in_sync"), 0);
    feed.signal("INT");
    let stdout = text(&feed.output().stdout);
    assert_eq!(number_before(stdout.lines().last().unwrap(), "packets"), FRAMES);
}

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values[values.len() / 2]
}

/// Returns the median latency in nanoseconds of one run of an exchange and a trader.
fn median_latency(samples: usize, is_watched: bool) -> u64 {
    let samples = samples.to_string();
    let args = ["--interval-us", "500", "--samples", &samples, "--rounds", "1"];
    let venue = Venue::open(&args);
    let id = venue.exchange.id().to_string();
    let watch = is_watched.then(|| {
        // The output is discarded, so that it cannot block the watch.
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
fn watching_overhead_is_printed() {
    let _turn = turn();
    let rounds = number("HAIRPIN_STAT_ROUNDS", 1);
    let samples = number("HAIRPIN_STAT_SAMPLES", 600);
    let mut alone = Vec::new();
    let mut watched = Vec::new();
    for round in 1..=rounds {
        // Each variant runs first in half of the rounds.
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
