//! An exchange in this process, and the two files of its traders.
#![allow(dead_code, reason = "each test uses a part")]

use std::fs::Permissions;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::unix::fs::PermissionsExt;

use hairpin::feed_handler::TcpLines;
use hairpin::feed_handler::config::{ChannelConfig, Config};
use hairpin_exchange::{
    Addresses, Credentials, Exchange, ExchangeSettings, FeedLine, GatewayFaults, GatewaySettings,
    Instrument, Pace, SimulatedMarketSettings, TcpFeed,
};
use hairpin_host::Clock;
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::Now;
use tempfile::TempDir;

const LOCAL: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
/// A published test vector.
const TEST_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
/// The number of instruments.
const INSTRUMENTS: u32 = 4;
/// The connections that the gateway accepts: a killed process leaves one for a while.
const CONNECTIONS: u32 = 8;

/// An exchange that runs when the test calls it.
pub(crate) struct Venue {
    clock: Clock,
    reactor: Reactor,
    pub(crate) exchange: Exchange,
    pub(crate) folder: TempDir,
    due: hairpin_time::Instant,
}

impl Venue {
    /// Opens an exchange. `journal` is the table `[journal]` of order.toml.
    pub(crate) fn open(journal: &str) -> Self {
        let account = Credentials::new("HAIRPIN-TRADER-00001", TEST_KEY, "H01", "HPIN0").unwrap();
        let instruments = Instrument::numbered(INSTRUMENTS);
        let settings = ExchangeSettings {
            market: SimulatedMarketSettings { instruments, ..SimulatedMarketSettings::default() },
            matching: true,
            accounts: vec![account],
            connections: CONNECTIONS,
            transport: Default::default(),
            addresses: Addresses {
                multicast: None,
                tcp: Some(TcpFeed::new(LOCAL, LOCAL)),
                gateway: LOCAL,
            },
        };
        let (clock, mut reactor) = (Clock::new(), Reactor::new(Wait::Spin).unwrap());
        let exchange = Exchange::new(settings, clock.now(), &mut reactor).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let [a, b] = FeedLine::ALL.map(|side| exchange.tcp_feed_address(side).unwrap());
        let channel = ChannelConfig::from_addresses("310", "Hairpin", &TcpLines::both(a, b).into());
        let config = Config { channels: vec![channel], ..Config::default() };
        let order = format!(
            "[gateway]\nprimary = [\"{}\"]\n[logon]\naccess_key_id = \"HAIRPIN-TRADER-00001\"\n\
             secret_file = \"key\"\nsession = \"H01\"\nfirm = \"HPIN0\"\n\
             system_name = \"Hairpin\"\n\
             system_version = \"1\"\nsystem_vendor = \"Hairpin\"\n\
             [operator]\nsender_id = \"TRADER\"\nlocation = \"US,IL\"\n\
             [journal]\n{journal}\n[instruments]\nHP001 = 1001\n",
            exchange.gateway_address(),
        );
        for (name, text) in [
            ("config.xml", config.to_string()),
            ("key", TEST_KEY.to_owned()),
            ("order.toml", order),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            // A key file that other users can read is refused.
            std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        }
        Self { clock, reactor, exchange, folder, due: hairpin_time::Instant::ZERO }
    }

    /// Lets the exchange handle what has arrived, and sends what is due.
    pub(crate) fn step(&mut self) -> Now {
        let now = self.clock.now();
        let ready = self.reactor.wait(now.monotonic, None).unwrap();
        self.exchange.step(now, ready, &mut self.reactor, &mut ()).unwrap();
        now
    }

    /// Publishes a tick.
    pub(crate) fn tick(&mut self) {
        let now = self.step();
        assert!(self.exchange.tick(now, now.monotonic, &mut ()).unwrap());
        self.step();
    }

    /// Slows the loops of definitions and snapshots down, once the traders are in sync.
    pub(crate) fn set_paced(&mut self) {
        let now = self.clock.now();
        self.exchange.set_pace(Pace::Paced, now);
    }
}

/// Functions for tests that observe the gateway, or disturb it.
impl Venue {
    pub(crate) fn step_with(&mut self, listener: &mut impl hairpin_exchange::Listener) {
        let now = self.clock.now();
        let ready = self.reactor.wait(now.monotonic, None).unwrap();
        self.exchange.step(now, ready, &mut self.reactor, listener).unwrap();
    }

    /// Publishes a tick, at most one per millisecond, and lets the exchange run.
    pub(crate) fn tick_with(&mut self, listener: &mut impl hairpin_exchange::Listener) {
        let now = self.clock.now();
        if now.monotonic >= self.due {
            self.due = now.monotonic + hairpin_time::Duration::from_millis(1);
            self.exchange.tick(now, now.monotonic, listener).unwrap();
        }
        self.step_with(listener);
    }

    /// Replaces the gateway by one that injects these faults.
    pub(crate) fn set_gateway_faults(&mut self, faults: GatewayFaults) {
        let account = Credentials::new("HAIRPIN-TRADER-00001", TEST_KEY, "H01", "HPIN0").unwrap();
        let settings = GatewaySettings::lenient(vec![account], CONNECTIONS, 100_000);
        self.exchange.set_gateway(GatewaySettings { faults: Some(faults), ..settings });
    }
}
