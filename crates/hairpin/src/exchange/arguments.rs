//! The words of `hairpin exchange`.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;

use anyhow::{Context, Result};
use hairpin_endpoint::capture::Speed;
use hairpin_feed_handler::config::{ChannelConfig, Config};
use hairpin_feed_handler::{Addresses, Group, Lines, ReplayServer};
use hairpin_measure::write_text;
use hairpin_reactor::Wait;

use super::market;
use crate::groups::Groups;
use crate::setup::{Load, MarketData, Mute, TRADERS_MAX};
use crate::usage::refuse;
use crate::words::{
    FeedTransport, INTERVAL_US_MAX, SAMPLES, SAMPLES_MAX, WARM_UP, parse_mute, parse_wait,
};
use crate::{cores, output, transport};

/// The number of the benchmark's channel.
pub(super) const CHANNEL: &str = "310";
/// The interval unless told otherwise, in microseconds.
const INTERVAL_US: u64 = 1_000;

/// `hairpin exchange`: matching engine, market data publisher and order entry gateway in one
/// spinning thread, for `hairpin trader` on this host or others.
///
/// It waits until enough traders have logged on, then publishes a tick at each interval, whatever
/// has become of those before, and measures each trader's orders. Whenever as many ticks as
/// --samples are done it prints what that gave and writes the results anew; then it goes on.
/// Traders may come and go meanwhile. Ctrl-C ends it and logs the traders off.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct Arguments {
    /// The interface that market data leaves from and the gateway listens on
    #[arg(long, value_name = "IF", default_value = "lo")]
    pub(crate) interface: String,

    #[command(flatten)]
    pub(crate) transport: transport::Arguments,

    /// How market data travels
    #[arg(long, value_enum, default_value_t = FeedTransport::Multicast)]
    pub(crate) feed: FeedTransport,

    /// First of six multicast groups and of three ports [default: free ones of 239.192/16]
    #[arg(long, value_name = "GROUP:PORT", value_parser = parse_groups)]
    pub(crate) groups: Option<Groups>,

    /// Port of side A of market data by TCP, side B at the next one [default: free ports]
    #[arg(long, value_name = "PORT", conflicts_with = "groups",
          value_parser = clap::value_parser!(u16).range(1..=65_534))]
    feed_port: Option<u16>,

    /// Where the gateway listens [default: the interface's address and a free port]
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) gateway: Option<SocketAddrV4>,

    /// Write to FILE where market data is to be had, in the form of CME's config.xml
    #[arg(long, value_name = "FILE")]
    config_out: Option<PathBuf>,

    /// Play the market data of a capture to its groups, in place of an exchange; `-` for standard
    /// input
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["feed", "groups", "gateway", "traders", "interval_us", "samples",
                                "rounds", "wait", "seed", "secret_key_file", "record", "json",
                                "report"])]
    pub(crate) publish: Option<PathBuf>,

    /// How many times as fast as it was recorded: 1 as it was, `max` as fast as can be
    #[arg(long, value_name = "TIMES", default_value = "1", requires = "publish")]
    pub(crate) speed: Speed,

    /// Record what is published by multicast: pcapng, or pcap by its ending
    #[arg(long, value_name = "FILE", conflicts_with = "feed_port")]
    pub(crate) record: Option<PathBuf>,

    /// How many traders must have logged on before the first tick
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(TRADERS_MAX)))]
    traders: u32,

    /// Microseconds between ticks, 0 for no pause
    #[arg(long, value_name = "N", default_value_t = INTERVAL_US,
          value_parser = clap::value_parser!(u64).range(0..=INTERVAL_US_MAX))]
    interval_us: u64,

    /// Ticks recorded per round
    #[arg(long, value_name = "N", default_value_t = SAMPLES,
          value_parser = clap::value_parser!(u64).range(1..=SAMPLES_MAX))]
    samples: u64,

    /// Rounds to run [default: until Ctrl-C]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rounds: Option<u64>,

    /// How the traders wait, to be named in the results
    #[arg(long, value_name = "WAIT", value_parser = parse_wait)]
    pub(crate) wait: Option<Wait>,

    /// Seed of the books and the order flow
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    pub(super) market: market::Arguments,

    #[command(flatten)]
    pub(crate) cores: cores::Arguments,

    /// File with the iLink secret key, base64url [default: $HAIRPIN_SECRET_KEY, else a test key]
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_key_file: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) output: output::Arguments,

    /// Silence side A of the market data after tick FROM of each round for TICKS ticks
    #[arg(long, value_name = "FROM,TICKS", hide = true, value_parser = parse_mute)]
    mute_a: Option<Mute>,

    /// Silence side B of the market data after tick FROM of each round for TICKS ticks
    #[arg(long, value_name = "FROM,TICKS", hide = true, value_parser = parse_mute)]
    mute_b: Option<Mute>,
}

impl Arguments {
    /// Words that contradict each other.
    ///
    /// # Errors
    /// One line for each.
    pub(crate) fn check(&self) -> Result<()> {
        self.transport.check_by(Some(&self.interface))?;
        if self.transport.is_xdp() && self.feed == FeedTransport::Tcp {
            refuse!("market data by TCP goes through the kernel: --transport xdp is for multicast");
        }
        Ok(())
    }

    /// How many traders a round needs to begin.
    pub(crate) fn quorum(&self) -> usize {
        self.traders as usize
    }

    /// Ports of sides A and B by TCP; 0 has the kernel choose.
    pub(crate) fn feed_ports(&self) -> [u16; 2] {
        self.feed_port.map_or([0, 0], |port| [port, port + 1])
    }

    /// How ticks are spaced and counted.
    pub(crate) fn load(&self) -> Load {
        Load {
            interval_us: self.interval_us,
            warm_up: WARM_UP,
            samples: self.samples,
            seed: self.seed,
            matching: true,
            mute_a: self.mute_a,
            mute_b: self.mute_b,
        }
    }

    /// Whether a configuration file was asked for.
    pub(crate) fn wants_config(&self) -> bool {
        self.config_out.is_some()
    }

    /// Writes the configuration file, if one was asked for. It is there whole or not at all.
    /// `replay` is where packets are replayed, if they are.
    ///
    /// # Errors
    /// Those of the file system, with the path.
    pub(crate) fn write_config(
        &self,
        data: &MarketData,
        replay: Option<SocketAddrV4>,
        interface: Ipv4Addr,
    ) -> Result<()> {
        let mut addresses = data.addresses(interface, &[interface]);
        if let (MarketData::Multicast(groups), Addresses::Multicast(feeds)) = (data, &mut addresses)
        {
            let group = |address| Group::new(address, &[interface]);
            if let Some(hairpin_exchange::Groups { a, b }) =
                self.market.order_snapshots(groups.snapshot)
            {
                feeds.snapshot_orders = Lines { a: Some(group(a)), b: b.map(group) };
            }
            feeds.replay = replay.map(|address| ReplayServer::new(CHANNEL, &[address]));
        }
        self.write_addresses(&addresses)
    }

    /// The same, of the groups that were found in a capture.
    ///
    /// # Errors
    /// Those of the file system, with the path.
    pub(crate) fn write_detected(
        &self,
        groups: &crate::feed::groups::Groups,
        interface: Ipv4Addr,
    ) -> Result<()> {
        self.write_addresses(&Addresses::Multicast(groups.multicast(interface)))
    }

    fn write_addresses(&self, addresses: &Addresses) -> Result<()> {
        let Some(path) = &self.config_out else { return Ok(()) };
        let channel = ChannelConfig::from_addresses(CHANNEL, "Hairpin's benchmark", addresses);
        let config = Config {
            environment: "Hairpin".to_owned(),
            channels: vec![channel],
            ..Config::default()
        };
        write_text(path, &config.to_string())
            .with_context(|| format!("{} cannot be written", path.display()))
    }
}

fn parse_groups(text: &str) -> Result<Groups, String> {
    let first = text.parse().map_err(|_| "a group and a port, such as 239.1.1.0:14310")?;
    Groups::from(first)
}
