//! The arguments of `hairpin exchange`.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use hairpin_endpoint::capture::Speed;
use hairpin_feed_handler::config::{ChannelConfig, Config};
use hairpin_feed_handler::{Addresses, Group, Lines, ReplayServer};
use hairpin_mapped::Secret;
use hairpin_measure::write_text;
use hairpin_reactor::Wait;

use super::market_args;
use crate::harness::args::{
    FeedTransport, INTERVAL_US_MAX, SAMPLES, SAMPLES_MAX, WARM_UP, parse_line_outage, parse_wait,
};
use crate::harness::multicast_groups::MulticastGroups;
use crate::harness::t2t_setup::{Account, FIRM, LineOutage, Load, MarketData, TRADERS_MAX};
use crate::harness::usage::usage_error;
use crate::harness::{cores, output, secret_key, transport};

/// The default interval, in microseconds.
const INTERVAL_US: u64 = 1_000;

/// `hairpin exchange`: runs a matching engine, a market data publisher and an order entry gateway
/// in one spinning thread, for `hairpin trader` on this host or others.
///
/// It waits until enough traders have logged on, then publishes a tick at each interval, whether or
/// not earlier ones are answered, and measures each trader's orders. After every --samples ticks it
/// prints the results and rewrites the results file; then it continues. Traders may log on and off
/// at any time. Ctrl-C ends it and logs the traders off.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct ExchangeArgs {
    /// Interface from which market data leaves and on which the gateway listens
    #[arg(long, value_name = "IF", default_value = "lo")]
    pub(crate) interface: String,

    #[command(flatten)]
    pub(crate) transport: transport::TransportArgs,

    /// Transport of market data
    #[arg(long, value_enum, default_value_t = FeedTransport::Multicast)]
    pub(crate) feed: FeedTransport,

    /// First of six multicast groups and of three ports [default: free ones of 239.192/16]
    #[arg(long, value_name = "GROUP:PORT", value_parser = parse_groups)]
    pub(crate) groups: Option<MulticastGroups>,

    /// TCP port of side A of market data, side B at the next one [default: free ports]
    #[arg(long, value_name = "PORT", conflicts_with = "groups",
          value_parser = clap::value_parser!(u16).range(1..=65_534))]
    feed_port: Option<u16>,

    /// Where the gateway listens [default: the interface's address and a free port]
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) gateway: Option<SocketAddrV4>,

    /// Write the addresses of market data to FILE, in the form of CME's config.xml
    #[arg(long, value_name = "FILE")]
    config_out: Option<PathBuf>,

    /// Write the settings of trader 1 to FILE, in the form of order.toml
    #[arg(long, value_name = "FILE")]
    order_out: Option<PathBuf>,

    /// Publish the market data of a capture to its groups instead, `-` for standard input; several
    /// are read in the order of their packets' times
    #[arg(long, value_name = "FILE", num_args = 1..,
          conflicts_with_all = ["feed", "groups", "gateway", "order_out", "traders",
                                "interval_us", "samples", "rounds", "wait", "seed",
                                "secret_key_file", "record", "events", "json", "report"])]
    pub(crate) publish: Vec<PathBuf>,

    /// Speed of the capture's publication: 1 as recorded, `max` as fast as possible
    #[arg(long, value_name = "TIMES", default_value = "1", requires = "publish")]
    pub(crate) speed: Speed,

    /// Record what is published by multicast: pcapng, or pcap if the name ends in .pcap
    #[arg(long, value_name = "FILE", conflicts_with = "feed_port")]
    pub(crate) record: Option<PathBuf>,

    /// Script of market events at given times: resets, a new week, trading states, limits
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,

    /// Number of traders that must log on before the first tick, 0 for none
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(0..=i64::from(TRADERS_MAX)))]
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

    /// Wait of the traders, as named in the results
    #[arg(long, value_name = "WAIT", value_parser = parse_wait)]
    pub(crate) wait: Option<Wait>,

    /// Seed of the books and the order flow
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    pub(super) market: market_args::MarketArgs,

    #[command(flatten)]
    pub(crate) cores: cores::CoreArgs,

    #[command(flatten)]
    pub(crate) key: secret_key::KeyArgs,

    #[command(flatten)]
    pub(crate) output: output::OutputArgs,

    /// Silence side A of the market data after tick FROM of each round for TICKS ticks
    #[arg(long = "mute-a", value_name = "FROM,TICKS", hide = true)]
    #[arg(value_parser = parse_line_outage)]
    outage_a: Option<LineOutage>,

    /// Silence side B of the market data after tick FROM of each round for TICKS ticks
    #[arg(long = "mute-b", value_name = "FROM,TICKS", hide = true)]
    #[arg(value_parser = parse_line_outage)]
    outage_b: Option<LineOutage>,
}

impl ExchangeArgs {
    /// Checks for arguments that conflict with each other.
    ///
    /// # Errors
    /// One line for each.
    pub(crate) fn check(&self) -> Result<()> {
        self.transport.check_interface(Some(&self.interface))?;
        if self.transport.is_xdp() && self.feed == FeedTransport::Tcp {
            usage_error!(
                "market data over TCP needs kernel sockets: --transport xdp is for multicast"
            );
        }
        Ok(())
    }

    /// Returns the number of traders that a round needs to begin.
    pub(crate) fn quorum(&self) -> usize {
        self.traders as usize
    }

    /// Returns the number of the channel, as config.xml has it.
    pub(crate) fn channel(&self) -> String {
        self.market.channel.to_string()
    }

    /// Returns the TCP ports of sides A and B; with 0 the kernel chooses.
    pub(crate) fn feed_ports(&self) -> [u16; 2] {
        self.feed_port.map_or([0, 0], |port| [port, port + 1])
    }

    /// Returns the spacing and number of ticks.
    pub(crate) fn load(&self) -> Load {
        Load {
            interval_us: self.interval_us,
            warm_up: WARM_UP,
            samples: self.samples,
            seed: self.seed,
            matching: true,
            outage_a: self.outage_a,
            outage_b: self.outage_b,
        }
    }

    /// Returns `true` if a configuration file must be written.
    pub(crate) fn wants_config(&self) -> bool {
        self.config_out.is_some()
    }

    /// Writes the configuration file, if any. The file is complete or absent. `replay` is where
    /// packets are replayed, if they are.
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
            let channel = self.channel();
            feeds.replay = replay.map(|address| ReplayServer::new(&channel, &[address]));
        }
        self.write_addresses(&addresses)
    }

    /// Writes the settings of trader 1, if requested: order.toml, and next to it the published test
    /// key if the exchange uses that one. The journal's folder is next to the file, too.
    ///
    /// # Errors
    /// Those of the file system, with the path.
    pub(crate) fn write_order_settings(&self, gateway: SocketAddrV4) -> Result<()> {
        let Some(path) = &self.order_out else { return Ok(()) };
        let key = secret_key::read(&self.key)?;
        let secret = match &self.key.secret_key_file {
            Some(file) => {
                let insecure =
                    if self.key.insecure_key_file { "\ninsecure_key_file = true" } else { "" };
                format!("secret_file = {}{insecure}", quoted(&file.canonicalize()?))
            }
            None if key.is_test_key => {
                let file = path.with_extension("key");
                write_test_key(&file, key.base64url())?;
                format!("secret_file = {}", quoted(Path::new(file.file_name().unwrap_or_default())))
            }
            None => format!("secret_env = \"{}\"", secret_key::VARIABLE),
        };
        let Account { access_key_id, session } = Account::new(1);
        let instruments = self.market.floor(0).instruments;
        let instruments: String = instruments
            .iter()
            .map(|it| format!("{} = {}\n", toml_key(&it.symbol), it.security_id))
            .collect();
        let text = format!(
            "# Trader 1 of `hairpin exchange`.\n\
             [gateway]\nprimary = [\"{gateway}\"]\n\n\
             [logon]\naccess_key_id = \"{access_key_id}\"\n{secret}\nsession = \"{session}\"\n\
             firm = \"{FIRM}\"\nsystem_name = \"Hairpin\"\nsystem_version = \"{}\"\n\
             system_vendor = \"Hairpin\"\n\n\
             [operator]\nsender_id = \"TRADER\"\nlocation = \"US,IL\"\n\n\
             [journal]\nfolder = \"journal\"\n\n\
             [instruments]\n{instruments}",
            env!("CARGO_PKG_VERSION"),
        );
        write_file(path, &text)
    }

    /// Writes the configuration file for the groups found in a capture.
    ///
    /// # Errors
    /// Those of the file system, with the path.
    pub(crate) fn write_detected(
        &self,
        groups: &hairpin_feed_handler::CaptureGroups,
        interface: Ipv4Addr,
    ) -> Result<()> {
        self.write_addresses(&Addresses::Multicast(groups.multicast(interface)))
    }

    fn write_addresses(&self, addresses: &Addresses) -> Result<()> {
        let Some(path) = &self.config_out else { return Ok(()) };
        let id = self.channel();
        let mut channel = ChannelConfig::from_addresses(&id, "Hairpin's benchmark", addresses);
        // The routes of most hosts lead multicast to another interface than lo.
        if let Addresses::Multicast(feeds) = addresses
            && feeds.interface.is_loopback()
        {
            let multicast = channel.connections.iter_mut().filter(|it| it.group.is_some());
            multicast.for_each(|it| it.interface = Some(feeds.interface));
        }
        let config = Config {
            environment: "Hairpin".to_owned(),
            channels: vec![channel],
            ..Config::default()
        };
        write_file(path, &config.to_string())
    }
}

fn write_file(path: &Path, text: &str) -> Result<()> {
    write_text(path, text).with_context(|| format!("{} cannot be written", path.display()))
}

/// Writes the published test key to a file that only the user can access, as the key files of
/// sessions must be. Does not replace another file.
fn write_test_key(path: &Path, key: &str) -> Result<()> {
    let failed = || format!("{} cannot be written", path.display());
    let mut options = OpenOptions::new();
    match options.write(true).create_new(true).mode(0o600).open(path) {
        Ok(mut file) => writeln!(file, "{key}").with_context(failed),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let found = Secret::read_file(path, true).with_context(failed)?;
            if found.as_text().map(str::trim) != Some(key) {
                bail!("{}: the file exists with another key", failed());
            }
            let permissions = Permissions::from_mode(0o600);
            fs::set_permissions(path, permissions).with_context(failed)
        }
        Err(error) => Err(error).with_context(failed),
    }
}

/// Returns a symbol as a TOML key, quoted if it has blanks.
fn toml_key(symbol: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    match !symbol.is_empty() && symbol.bytes().all(is_bare) {
        true => symbol.to_owned(),
        false => toml::Value::String(symbol.to_owned()).to_string(),
    }
}

/// Returns a path as a TOML string.
fn quoted(path: &Path) -> toml::Value {
    toml::Value::String(path.display().to_string())
}

fn parse_groups(text: &str) -> Result<MulticastGroups, String> {
    let first = text.parse().map_err(|_| "a group and a port, such as 239.1.1.0:14310")?;
    MulticastGroups::from(first)
}
