//! Runs the examples against an exchange on loopback.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use hairpin_exchange::{
    Addresses, Credentials, Exchange, ExchangeSettings, FeedLine, Pace, SimulatedMarketSettings,
    TcpFeed,
};
use hairpin_feed_handler::TcpLines;
use hairpin_feed_handler::config::{ChannelConfig, Config};
use hairpin_host::Clock;
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant};
use tempfile::TempDir;

const LOCAL: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
const TEST_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
/// The number of ticks that the strategy answers.
const TICKS: u64 = 100;
/// The pause between two ticks.
const PAUSE: Duration = Duration::from_millis(1);
/// The time for an answer to the first tick, before another tick is sent.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);
/// The time limit of each test.
const TIMEOUT: Duration = Duration::from_secs(300);

/// An exchange, and the folder with its config.xml.
struct Bench {
    clock: Clock,
    reactor: Reactor,
    exchange: Exchange,
    folder: TempDir,
    deadline: Instant,
    due: Instant,
}

impl Bench {
    fn new() -> Self {
        let account = Credentials::new("HAIRPIN-TRADER-00001", TEST_KEY, "H01", "HPIN0").unwrap();
        let settings = ExchangeSettings {
            market: SimulatedMarketSettings::default(),
            matching: true,
            accounts: vec![account],
            connections: 1,
            transport: Default::default(),
            addresses: Addresses {
                multicast: None,
                tcp: Some(TcpFeed::new(LOCAL, LOCAL)),
                gateway: LOCAL,
            },
        };
        let (clock, mut reactor) = (Clock::new(), Reactor::new(Wait::Epoll).unwrap());
        let now = clock.now();
        let exchange = Exchange::new(settings, now, &mut reactor).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let [a, b] = FeedLine::ALL.map(|side| exchange.tcp_feed_address(side).unwrap());
        let channel = ChannelConfig::from_addresses("310", "Hairpin", &TcpLines::both(a, b).into());
        let config = Config { channels: vec![channel], ..Config::default() };
        std::fs::write(folder.path().join("config.xml"), config.to_string()).unwrap();
        let deadline = now.monotonic + TIMEOUT;
        Self { clock, reactor, exchange, folder, deadline, due: now.monotonic }
    }

    fn config(&self) -> PathBuf {
        self.folder.path().join("config.xml")
    }

    fn ticks(&self) -> u64 {
        self.exchange.counters().ticks
    }

    fn orders(&self) -> u64 {
        self.exchange.gateway_counters().orders
    }

    fn cancels(&self) -> u64 {
        self.exchange.gateway_counters().cancels
    }

    /// Turns until there were so many ticks.
    fn tick_to(&mut self, ticks: u64) {
        while self.ticks() < ticks {
            self.run_once(true);
        }
    }

    /// Runs one iteration of the exchange, with a tick if `ticks` is set and one is due.
    fn run_once(&mut self, ticks: bool) {
        let now = self.clock.now();
        assert!(now.monotonic < self.deadline, "timeout");
        let wake = self.due.max(now.monotonic);
        let wake = self.exchange.poll_timeout().map_or(wake, |timeout| timeout.min(wake));
        let ready = self.reactor.wait(now.monotonic, Some(wake)).unwrap();
        let now = self.clock.now();
        if now.monotonic >= self.due {
            self.due = now.monotonic + PAUSE;
            if ticks {
                assert!(self.exchange.tick(now, now.monotonic, &mut ()).unwrap());
            }
        }
        self.exchange.step(now, ready, &mut self.reactor, &mut ()).unwrap();
    }
}

/// An example that runs; it does not outlive the test.
struct Example(Child);

impl Example {
    fn start(program: &str, config: &Path, argument: &str) -> Self {
        let mut command = Command::new(program);
        command.arg(config).arg(argument).env_remove("HAIRPIN_SECRET_KEY");
        Self(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap())
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        // The example may have exited already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn advanced_sends_from_feed_and_session_callbacks() {
    let mut bench = Bench::new();
    let gateway = bench.exchange.gateway_address().to_string();
    let program = env!("CARGO_BIN_EXE_advanced");
    let mut example = Example::start(program, &bench.config(), &gateway);
    while !bench.exchange.has_session() {
        bench.run_once(false);
    }
    let now = bench.clock.now();
    bench.exchange.set_pace(Pace::Paced, now);
    // The strategy may read a tick before the acknowledgment of its logon and then not answer the
    // tick. So ticks are sent until one is answered.
    while bench.orders() == 0 {
        bench.tick_to(bench.ticks() + 1);
        let next = bench.clock.now().monotonic + ANSWER_TIMEOUT;
        while bench.orders() == 0 && bench.clock.now().monotonic < next {
            bench.run_once(false);
        }
    }
    bench.tick_to(bench.ticks() + TICKS - 1);
    while bench.cancels() < TICKS {
        bench.run_once(false);
    }
    bench.exchange.terminate(bench.clock.now(), &mut ());
    while example.0.try_wait().unwrap().is_none() {
        bench.run_once(false);
    }
    let mut output = String::new();
    BufReader::new(example.0.stdout.take().unwrap()).read_line(&mut output).unwrap();
    assert_eq!(output, format!("{TICKS} orders, {TICKS} cancels, 0 working\n"));
    assert!(example.0.wait().unwrap().success());
    assert_eq!([bench.orders(), bench.cancels()], [TICKS; 2]);
}

#[test]
fn books_prints_wire_and_display_prices() {
    let mut bench = Bench::new();
    let first = SimulatedMarketSettings::default().instruments[0].security_id.to_string();
    let mut example = Example::start(env!("CARGO_BIN_EXE_books"), &bench.config(), &first);
    let output = BufReader::new(example.0.stdout.take().unwrap());
    let reading = std::thread::spawn(move || output.lines().next().unwrap().unwrap());
    while !reading.is_finished() {
        bench.run_once(true);
    }
    let line = reading.join().unwrap();
    let words: Vec<&str> = line.split(' ').collect();
    let [_, _, "x", bid, shown_bid, "|", _, "x", ask, shown_ask] = words[..] else {
        panic!("{line}")
    };
    assert!([shown_bid, shown_ask].iter().all(|it| it.starts_with('(')), "{line}");
    let [bid, ask] = [bid, ask].map(|price| price.parse::<f64>().unwrap());
    assert!(bid < ask, "{line}");
}

#[test]
fn engine_feeds_a_channel_from_standard_input() {
    let mut engine = Command::new(env!("CARGO_BIN_EXE_engine"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // A heartbeat on the incremental feed, and two invalid lines.
    let packet = "0a000000 0000000000000000 0a00 0000 0c00 0100 0d00".replace(' ', "");
    let lines = format!("0 {packet}\nnothing\n9 {packet}\n");
    std::io::Write::write_all(&mut engine.stdin.take().unwrap(), lines.as_bytes()).unwrap();
    let output = engine.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "CollectingDefinitions\n");
}

#[test]
fn readme_sample_is_in_best_prices() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let (readme, example) = (read("../README.md"), read("best_prices.rs"));
    let sample = readme.split("```rust\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(example.contains(sample), "the sample in README.md differs from best_prices.rs");
}
