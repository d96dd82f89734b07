//! Behavior of the exchange when no more connections can be accepted.

#![allow(clippy::unwrap_used, reason = "this is all tests")]

#[path = "it/client.rs"]
mod client;

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::process::Command;

use client::credentials;
use hairpin_exchange::{
    Addresses, Exchange, ExchangeSettings, FeedLine, ReplaySettings, SimulatedMarketSettings,
    TcpFeed,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant, Now, Utc};

const LOCAL: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
/// The environment variable set in the process with a low descriptor limit.
const LOW_LIMIT: &str = "HAIRPIN_TEST_FEW_DESCRIPTORS";

struct Harness {
    reactor: Reactor,
    exchange: Exchange,
    now: Now,
}

impl Harness {
    fn new(wait: Wait) -> Self {
        let settings = ExchangeSettings {
            market: SimulatedMarketSettings::default(),
            matching: false,
            accounts: vec![credentials()],
            connections: 2,
            transport: Default::default(),
            addresses: Addresses {
                multicast: None,
                tcp: Some(TcpFeed::new(LOCAL, LOCAL)),
                gateway: LOCAL,
            },
        };
        let now = Now {
            monotonic: Instant::from_nanos(1),
            utc: Utc::from_nanos(1_700_000_000_000_000_000),
        };
        let mut reactor = Reactor::new(wait).unwrap();
        let exchange = Exchange::new(settings, now, &mut reactor).unwrap();
        Self { reactor, exchange, now }
    }

    fn turn(&mut self) {
        self.now.monotonic += Duration::from_millis(1);
        let ready = self.reactor.wait(self.now.monotonic, Some(Instant::ZERO)).unwrap();
        self.exchange.step(self.now, ready, &mut self.reactor, &mut ()).unwrap();
    }

    fn until(&mut self, is_done: impl Fn(&Exchange) -> bool) {
        for _ in 0..10_000 {
            self.turn();
            if is_done(&self.exchange) {
                return;
            }
        }
        panic!("condition not reached: {:?}", self.exchange.counters());
    }

    fn failed(&self) -> u64 {
        self.exchange.counters().failed_accepts
    }

    /// Connects while no descriptor is free, then frees descriptors.
    #[must_use]
    fn run_out(
        &mut self,
        address: SocketAddrV4,
        is_accepted: impl Fn(&Exchange) -> bool,
    ) -> TcpStream {
        let before = self.failed();
        let client = TcpStream::connect(address).unwrap();
        let mut files = Vec::new();
        while let Ok(file) = File::open("/dev/null") {
            files.push(file);
        }
        self.until(|exchange| exchange.counters().failed_accepts > before);
        // The listener is not retried at once, though the connection is pending.
        let failed = self.failed();
        (0..50).for_each(|_| self.turn());
        assert_eq!(self.failed(), failed);
        assert!(self.exchange.poll_timeout().is_some());
        drop(files);
        self.until(is_accepted);
        assert_eq!(self.failed(), failed);
        client
    }
}

/// The descriptor limit applies to a process, so this test runs in a child process.
#[test]
fn counts_failed_accepts_only() {
    if std::env::var_os(LOW_LIMIT).is_none() {
        let test = std::env::current_exe().unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -n 64 && exec \"$0\" --exact counts_failed_accepts_only"]);
        assert!(shell.arg(test).env(LOW_LIMIT, "").status().unwrap().success());
        return;
    }
    let mut harness = Harness::new(Wait::Epoll);
    let _client = harness.run_out(harness.exchange.gateway_address(), Exchange::has_connections);
    for (other, count) in harness.exchange.counters().iter().skip(14) {
        assert_eq!(count, u64::from(other == "failed_accepts"), "{other}");
    }
    // A wait that reports everything as ready fails at all three listeners.
    for wait in Wait::ALL {
        let mut harness = Harness::new(wait);
        let gateway = harness.exchange.gateway_address();
        // The client stays connected, since each descriptor counts.
        let _client = harness.run_out(gateway, Exchange::has_connections);
        let side = harness.exchange.tcp_feed_address(FeedLine::B).unwrap();
        let is_there = |exchange: &Exchange| exchange.tcp_feed_connections(FeedLine::B) == 1;
        let _trader = harness.run_out(side, is_there);
    }
}

/// Without a free descriptor the connection that has not logged on is closed, and the new one is
/// accepted in the same turn.
#[test]
fn idle_connection_gives_way_when_descriptors_run_out() {
    if std::env::var_os(LOW_LIMIT).is_none() {
        let test = std::env::current_exe().unwrap();
        let name = "idle_connection_gives_way_when_descriptors_run_out";
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -n 64 && exec \"$0\" --exact {name}")]);
        assert!(shell.arg(test).env(LOW_LIMIT, "").status().unwrap().success());
        return;
    }
    for wait in Wait::ALL {
        let mut harness = Harness::new(wait);
        let replay = ReplaySettings::default();
        let reactor = &mut harness.reactor;
        let replay = harness.exchange.serve_replay(replay, LOCAL, harness.now, reactor).unwrap();
        let gateway = harness.exchange.gateway_address();
        let _idle = [gateway, replay].map(|address| TcpStream::connect(address).unwrap());
        let replays = |exchange: &Exchange| exchange.replay_counters().unwrap().connections;
        harness.until(|exchange| exchange.has_connections() && replays(exchange) == 1);
        let _new = [gateway, replay].map(|address| TcpStream::connect(address).unwrap());
        let mut files = Vec::new();
        while let Ok(file) = File::open("/dev/null") {
            files.push(file);
        }
        harness.until(|exchange| replays(exchange) == 2);
        harness.until(|exchange| exchange.gateway_counters().connections == 2);
        let closed = harness.exchange.gateway_counters().idle_connections_closed;
        let replay = harness.exchange.replay_counters().unwrap().idle_closed;
        assert_eq!((closed, replay, harness.failed()), (1, 1, 0), "{wait:?}");
    }
}

#[test]
fn counts_failed_accepts_when_the_reactor_is_full() {
    let mut harness = Harness::new(Wait::Epoll);
    let mut sources = Vec::new();
    loop {
        let mut source = hairpin_endpoint::TcpListener::bind(LOCAL).unwrap();
        if harness.reactor.add(&mut source, hairpin_reactor::Interest::READABLE).is_err() {
            break;
        }
        sources.push(source);
    }
    let _trader = TcpStream::connect(harness.exchange.tcp_feed_address(FeedLine::A).unwrap());
    harness.until(|exchange| exchange.counters().failed_accepts == 1);
    let _client = TcpStream::connect(harness.exchange.gateway_address());
    harness.until(|exchange| exchange.counters().failed_accepts == 2);
    assert!(!harness.exchange.has_connections());
    assert_eq!(harness.exchange.tcp_feed_connections(FeedLine::A), 0);
}
