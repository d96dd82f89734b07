//! Runs `hairpin exchange` and `hairpin trader` on one host.
//!
//! The tests assert no latency or throughput.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::{
    Process, TIMEOUT, assert_done, assert_status, hairpin, rows, turn, wait_for_count,
};

/// An exchange on loopback, and the addresses for its traders.
struct Venue {
    folder: tempfile::TempDir,
    gateway: String,
    exchange: Process,
}

impl Venue {
    fn open(args: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let gateway = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let mut command = hairpin();
        command.args(["exchange", "--gateway", &gateway]).args(args);
        command.arg("--config-out").arg(folder.path().join("config.xml"));
        command.arg("--json").arg(folder.path().join("results.json"));
        let mut exchange = Process::start(&mut command);
        let until = Instant::now() + TIMEOUT;
        while !folder.path().join("config.xml").exists() && exchange.runs() {
            assert!(Instant::now() < until, "no config.xml within {TIMEOUT:?}");
            sleep(Duration::from_millis(5));
        }
        Self { folder, gateway, exchange }
    }

    fn results(&self) -> PathBuf {
        self.folder.path().join("results.json")
    }

    fn trader(&self, id: u32, wait: &str) -> Process {
        let mut command = hairpin();
        command.args(["trader", "--gateway", &self.gateway, "--id", &id.to_string()]);
        command.args(["--wait", wait]).arg("--config").arg(self.folder.path().join("config.xml"));
        Process::start(&mut command)
    }

    /// Waits until a round is saved.
    fn wait_for_a_round(&mut self) {
        let until = Instant::now() + TIMEOUT;
        while !self.results().exists() {
            assert!(self.exchange.runs(), "the exchange has ended");
            assert!(Instant::now() < until, "no round within 60 s");
            sleep(Duration::from_millis(20));
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn rounds_are_printed_and_saved() {
    let _turn = turn();
    for feed in ["multicast", "tcp"] {
        let args = ["--feed", feed, "--interval-us", "500", "--samples", "300", "--rounds", "2"];
        // The trader names its wait.
        let venue = Venue::open(&args);
        let (results, trader) = (venue.results(), venue.trader(1, "epoll"));
        let exchange = venue.exchange.output();
        assert_done(&exchange);
        let trader = trader.output();
        assert_done(&trader);
        let rows = rows(&results);
        assert_eq!(rows.len(), 4, "expected two cases per round");
        for row in &rows {
            assert_eq!((&row["samples"], &row["lost"]), (&300.into(), &0.into()), "{row}");
            assert_eq!((&row["feed"], &row["wait"]), (&feed.into(), &"epoll".into()), "{row}");
            assert!(row["failed"].is_null(), "{row}");
        }
        let stdout = text(&exchange.stdout);
        for round in ["round 1, trader 1: 400 ticks", "round 2, trader 1: 400 ticks"] {
            assert!(stdout.contains(round), "{stdout}");
        }
        let stdout = text(&trader.stdout);
        assert!(
            stdout.starts_with("trader 1: 800 orders, 800 acknowledged, 800 canceled"),
            "{stdout}"
        );
    }
}

#[test]
fn three_traders_each_answer_every_tick() {
    let _turn = turn();
    let args = ["--traders", "3", "--interval-us", "2000", "--samples", "300", "--rounds", "1"];
    let venue = Venue::open(&args);
    let results = venue.results();
    let traders =
        [(1, "poll"), (2, "epoll"), (3, "block")].map(|(id, wait)| venue.trader(id, wait));
    assert_done(&venue.exchange.output());
    for trader in traders {
        assert_done(&trader.output());
    }
    let rows = rows(&results);
    assert_eq!(rows.len(), 6);
    assert!(rows.iter().all(|row| row["samples"] == 300 && row["lost"] == 0));
}

#[test]
fn restarted_trader_loses_only_orders_of_the_outage() {
    let _turn = turn();
    let args = ["--traders", "2", "--interval-us", "1000", "--samples", "500"];
    let mut venue = Venue::open(&args);
    let (steady, victim) = (venue.trader(1, "epoll"), venue.trader(2, "epoll"));
    venue.wait_for_a_round();
    victim.signal("KILL");
    drop(victim);
    let successor = venue.trader(2, "poll");
    let before = rows(&venue.results()).len();
    let until = Instant::now() + TIMEOUT;
    while rows(&venue.results()).len() < before + 8 {
        assert!(Instant::now() < until, "fewer than two more rounds within 60 s");
        sleep(Duration::from_millis(50));
    }
    venue.exchange.signal("INT");
    let results = venue.results();
    let exchange = venue.exchange.output();
    assert_status(&exchange, 130);
    for trader in [steady, successor] {
        assert_done(&trader.output());
    }
    let stdout = text(&exchange.stdout);
    assert!(stdout.contains("trader 2: ") && stdout.contains("; left 1 time"), "{stdout}");
    let steady = stdout.lines().filter(|line| line.contains(", trader 1: "));
    let mut steady = steady.inspect(|line| assert!(!line.contains("left"), "{line}")).peekable();
    assert!(steady.peek().is_some(), "{stdout}");
    assert!(steady.all(|line| line.ends_with(" 0 lost")), "{stdout}");
    for row in rows(&results) {
        assert_eq!(row["lost"], 0, "{row}");
        assert!(row["failed"].is_null(), "{row}\n{stdout}");
    }
}

#[test]
fn exchange_continues_after_an_interrupted_trader() {
    let _turn = turn();
    let mut venue = Venue::open(&["--interval-us", "500", "--samples", "400"]);
    let first = venue.trader(1, "spin");
    venue.wait_for_a_round();
    first.signal("INT");
    let output = first.output();
    assert_status(&output, 130);
    assert!(text(&output.stdout).starts_with("trader 1: "), "{output:?}");
    let rounds = rows(&venue.results()).len();
    let second = venue.trader(1, "epoll");
    let until = Instant::now() + TIMEOUT;
    while rows(&venue.results()).len() < rounds + 4 {
        assert!(Instant::now() < until, "no round of the second trader within 60 s");
        sleep(Duration::from_millis(50));
    }
    venue.exchange.signal("TERM");
    let results = venue.results();
    assert_status(&venue.exchange.output(), 143);
    assert_done(&second.output());
    assert!(rows(&results).iter().all(|row| row["lost"] == 0 && row["failed"].is_null()));
}

#[test]
fn exchange_without_a_trader_can_be_interrupted() {
    let _turn = turn();
    let venue = Venue::open(&[]);
    venue.exchange.signal("INT");
    let results = venue.results();
    assert_status(&venue.exchange.output(), 130);
    assert!(!results.exists(), "no round has taken place");
}

/// Starts a simulator in this folder, and waits for its last file.
fn simulate(folder: &Path) -> Process {
    // The file of an earlier start would not be waited for.
    let _ = std::fs::remove_file(folder.join("config.xml"));
    let mut command = hairpin();
    command.args(["exchange", "--instruments", "5"]).current_dir(folder);
    let mut exchange = Process::start(&mut command);
    let until = Instant::now() + TIMEOUT;
    while !folder.join("config.xml").exists() {
        assert!(exchange.runs() && Instant::now() < until, "no config.xml within {TIMEOUT:?}");
        sleep(Duration::from_millis(5));
    }
    exchange
}

#[test]
fn simulator_ticks_and_trades_without_a_trader_or_a_table() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let script = "buy 1 market HP001\nexpect fill within 60s\nbuy 1 @ 900 HP001\nexpect new\n";
    std::fs::write(folder.path().join("script"), script).unwrap();
    for starts in 0..2 {
        let exchange = simulate(folder.path());
        let key = std::fs::metadata(folder.path().join("order.key")).unwrap();
        assert_eq!(key.permissions().mode() & 0o777, 0o600);
        let mut command = hairpin();
        command.args(["feed", "--config", "config.xml", "--interface", "lo", "--books"]);
        let stdout = std::fs::File::create(folder.path().join("books")).unwrap();
        command.current_dir(folder.path()).stdout(stdout).stderr(Stdio::piped());
        let feed = Process::of(command.spawn().unwrap());
        let until = Instant::now() + TIMEOUT;
        while !std::fs::read_to_string(folder.path().join("books")).unwrap().contains("HP001") {
            assert!(Instant::now() < until, "no book within {TIMEOUT:?}");
            sleep(Duration::from_millis(5));
        }
        feed.signal("INT");
        assert_status(&feed.output(), 130);
        let mut command = hairpin();
        command.args(["order", "order.toml", "--script", "script"]).current_dir(folder.path());
        let order = command.output().unwrap();
        assert_done(&order);
        let left = text(&order.stderr);
        assert!(left.starts_with("hairpin: 1 order stays working at the exchange: "), "{left}");
        exchange.signal("INT");
        let output = exchange.output();
        assert_status(&output, 130);
        assert_eq!(text(&output.stdout), "", "no table");
        let stderr = text(&output.stderr);
        let is_note = |line: &&str| line.starts_with("journal: a journal of earlier sessions");
        assert_eq!(stderr.lines().filter(is_note).count(), starts, "{stderr}");
        let lines: Vec<&str> = stderr.lines().skip(1).filter(|line| !is_note(line)).collect();
        let expected = [
            "config.xml: the feed addresses of the market data",
            "order.toml: the settings of trader 1, with its key in order.key",
            "prices: hairpin feed --config config.xml --interface lo --watch",
            "orders: hairpin order order.toml",
        ];
        assert_eq!(lines, expected, "{stderr}");
    }
}

/// Returns how often the exchange's thread has given up its core by itself.
fn sleeps(exchange: &Process) -> u64 {
    let threads = std::fs::read_dir(format!("/proc/{}/task", exchange.id())).unwrap();
    let statuses = threads.map(|it| std::fs::read_to_string(it.unwrap().path().join("status")));
    let mut statuses = statuses.map(Result::unwrap);
    let status = statuses.find(|it| it.starts_with("Name:\texchange\n")).unwrap();
    let count = status.lines().find_map(|it| it.strip_prefix("voluntary_ctxt_switches:"));
    count.unwrap().trim().parse().unwrap()
}

#[test]
fn simulator_sleeps_between_ticks() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let exchange = simulate(folder.path());
    wait_for_count(exchange.id(), "exchange.ticks", 100);
    let before = sleeps(&exchange);
    wait_for_count(exchange.id(), "exchange.ticks", 2_000);
    // On a busy machine several ticks may follow one sleep.
    assert!(sleeps(&exchange) >= before + 20);
}

#[test]
fn files_of_a_running_exchange_are_replaced_with_a_line() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let first = simulate(folder.path());
    let second = simulate(folder.path());
    let lines = |exchange: Process| {
        exchange.signal("INT");
        let stderr = text(&exchange.output().stderr);
        stderr.lines().filter(|line| line.contains("which still runs")).count()
    };
    assert_eq!(lines(second), 1);
    assert_eq!(lines(first), 0);
}

#[test]
fn file_of_the_user_is_not_replaced() {
    let _turn = turn();
    for (name, flag) in [("config.xml", "--config-out"), ("order.toml", "--order-out")] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, "mine").unwrap();
        for args in [&["exchange"][..], &["exchange", flag, name]] {
            let output = hairpin().args(args).current_dir(folder.path()).output().unwrap();
            assert_status(&output, 1);
            let expected = format!(
                "hairpin: cannot replace {name}: `hairpin exchange` has not written it: use \
                 another folder, or {flag} FILE\n"
            );
            assert_eq!(text(&output.stderr), expected);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }
}

#[test]
fn second_trader_takes_over_the_account() {
    let _turn = turn();
    let mut venue = Venue::open(&["--interval-us", "1000", "--samples", "300"]);
    let first = venue.trader(1, "epoll");
    venue.wait_for_a_round();
    let second = venue.trader(1, "epoll");
    let output = first.output();
    assert_status(&output, 0);
    venue.exchange.signal("INT");
    assert_status(&venue.exchange.output(), 130);
    assert_done(&second.output());
}
