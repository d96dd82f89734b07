//! The examples do what they say, against an exchange on loopback.
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
/// Ticks that are answered, and the pause between two.
const TICKS: u64 = 100;
const PAUSE: Duration = Duration::from_millis(1);
/// In which the first tick is answered, if it is.
const ANSWER: Duration = Duration::from_secs(1);
/// After which what has not happened will not happen.
const PATIENCE: Duration = Duration::from_secs(60);

/// An exchange, the folder with the config.xml that says where it is, and an example.
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
        let deadline = now.monotonic + PATIENCE;
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
            self.turn(true);
        }
    }

    /// One turn of the exchange, and a tick if `ticks` and one is due.
    fn turn(&mut self, ticks: bool) {
        let now = self.clock.now();
        assert!(now.monotonic < self.deadline, "it did not happen");
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
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_strategy_sends_from_both_kinds_of_callback() {
    let mut bench = Bench::new();
    let gateway = bench.exchange.gateway_address().to_string();
    let program = env!("CARGO_BIN_EXE_strategy");
    let mut example = Example::start(program, &bench.config(), &gateway);
    while !bench.exchange.has_session() {
        bench.turn(false);
    }
    let now = bench.clock.now();
    bench.exchange.set_pace(Pace::Paced, now);
    // A tick that leaves right after the logon was acknowledged may be read before that, and is
    // then not answered: one more, until one is.
    while bench.orders() == 0 {
        bench.tick_to(bench.ticks() + 1);
        let next = bench.clock.now().monotonic + ANSWER;
        while bench.orders() == 0 && bench.clock.now().monotonic < next {
            bench.turn(false);
        }
    }
    bench.tick_to(bench.ticks() + TICKS - 1);
    while bench.cancels() < TICKS {
        bench.turn(false);
    }
    bench.exchange.terminate(bench.clock.now(), &mut ());
    while example.0.try_wait().unwrap().is_none() {
        bench.turn(false);
    }
    let mut said = String::new();
    BufReader::new(example.0.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, format!("{TICKS} orders, {TICKS} cancels\n"));
    assert!(example.0.wait().unwrap().success());
    assert_eq!([bench.orders(), bench.cancels()], [TICKS; 2]);
}

#[test]
fn the_top_of_a_book_is_printed() {
    let mut bench = Bench::new();
    let first = SimulatedMarketSettings::default().instruments[0].security_id.to_string();
    let mut example = Example::start(env!("CARGO_BIN_EXE_books"), &bench.config(), &first);
    let output = BufReader::new(example.0.stdout.take().unwrap());
    let reading = std::thread::spawn(move || output.lines().next().unwrap().unwrap());
    while !reading.is_finished() {
        bench.turn(true);
    }
    let line = reading.join().unwrap();
    let words: Vec<&str> = line.split(' ').collect();
    let [_, _, "x", bid, "|", _, "x", ask] = words[..] else { panic!("{line}") };
    let [bid, ask] = [bid, ask].map(|price| price.parse::<f64>().unwrap());
    assert!(bid < ask, "{line}");
}

#[test]
fn an_engine_of_ones_own_feeds_a_channel() {
    let mut engine = Command::new(env!("CARGO_BIN_EXE_engine"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // A heartbeat on the incremental feed, a line that is none, and the end.
    let packet = "0a000000 0000000000000000 0a00 0000 0c00 0100 0d00".replace(' ', "");
    let lines = format!("0 {packet}\nnothing\n9 {packet}\n");
    std::io::Write::write_all(&mut engine.stdin.take().unwrap(), lines.as_bytes()).unwrap();
    let output = engine.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "CollectingDefinitions\n");
}
