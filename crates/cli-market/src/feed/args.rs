//! The arguments of `hairpin feed`.

use std::env;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::ArgGroup;
use hairpin_cli_harness::args::parse_wait;
use hairpin_cli_harness::transport;
use hairpin_cli_harness::usage::usage_error;
use hairpin_endpoint::capture::{RecorderSettings, Speed};
use hairpin_feed_handler::config::{ChannelConfig, Config, ConfigError};
use hairpin_feed_handler::{
    Addresses, CaptureGroups, Feed, FeedLine, Filter, Multicast, OrderBooks, Text, Timestamping,
};
use hairpin_mapped::Secret;
use hairpin_reactor::Wait;
use hairpin_time::Duration;

use super::selection_check::Names;
use super::statistics;
use crate::decode::Format;

/// The arguments that select the source of packets, of which one is given.
const SOURCES: [&str; 3] = ["pcap", "interface", "interface_a"];

/// Run the feed handler on a live channel or a capture: print messages, books and statistics
///
/// Live: --config, --channel and --interface, or --interface-a and -b. On captures (pcap or
/// pcapng, also compressed with gzip or zstd): --pcap. Exit status: 0 if every packet was
/// understood, 1 after any error, 2 for wrong
/// arguments, 130 when interrupted.
#[derive(clap::Args, Debug, Clone)]
#[command(group = ArgGroup::new("source").args(SOURCES).required(true))]
#[command(group = ArgGroup::new("live").args(["interface", "interface_a"]))]
pub struct FeedArgs {
    /// Capture of one market data channel, `-` for standard input; several are read in the order of
    /// their packets' times
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(super) pcap: Vec<PathBuf>,

    /// Interface on which to receive
    #[arg(long, value_name = "IF", requires = "config")]
    pub(super) interface: Option<String>,

    /// Interface on which to receive side A, and replays; with --interface-b
    #[arg(long, value_name = "IF", requires_all = ["config", "interface_b"])]
    pub(super) interface_a: Option<String>,

    /// Interface on which to receive side B
    #[arg(long, value_name = "IF", requires = "interface_a")]
    pub(super) interface_b: Option<String>,

    /// Receive timestamps: of the kernel, or of the NIC
    #[arg(long, value_enum, value_name = "SOURCE", default_value_t = Timestamps::Software,
          requires = "live")]
    pub(super) timestamps: Timestamps,

    #[command(flatten)]
    pub(super) transport: transport::TransportArgs,

    /// CME's config.xml with the addresses of each feed [default: from --pcap itself]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Channel in that file [default: the only one]
    #[arg(long, value_name = "ID", requires = "config")]
    channel: Option<String>,

    /// Speed of the capture's replay: 1 as recorded, `max` as fast as possible
    #[arg(long, value_name = "TIMES", default_value = "max", conflicts_with = "interface")]
    pub(super) speed: Speed,

    /// Wait for packets with: block, poll, epoll, spin or io_uring
    #[arg(long, value_name = "WAIT", default_value = "epoll", value_parser = parse_wait,
          conflicts_with = "pcap")]
    pub(super) wait: Wait,

    /// End after SECONDS seconds [default: until interrupted]
    #[arg(long = "for", value_name = "SECONDS", value_parser = statistics::parse_interval)]
    pub(super) duration: Option<Duration>,

    /// Print the top of each book that an event has changed, and gaps and states
    #[arg(long)]
    pub(super) books: bool,

    /// Print every callback: orders, trades, statistics, states and more; implies --books
    #[arg(long)]
    pub(super) callbacks: bool,

    /// Orders to keep: all (a Premium channel), or the ten best (a conflated one)
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Orders::None)]
    pub(super) orders: Orders,

    /// Only these instruments, by SecurityID or symbol [default: all]
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = parse_symbol)]
    security: Vec<Text<20>>,

    /// Only instruments of these security groups [default: all]
    #[arg(long, value_name = "GROUP", value_delimiter = ',', value_parser = parse_name)]
    group: Vec<Text<6>>,

    /// Only instruments of these assets (products) [default: all]
    #[arg(long, value_name = "ASSET", value_delimiter = ',', value_parser = parse_name)]
    asset: Vec<Text<6>>,

    /// Keep up to N instruments with their books, about 2,300 bytes each
    #[arg(long, value_name = "N", default_value_t = CaptureGroups::MAX_INSTRUMENTS as u32,
          value_parser = clap::value_parser!(u32).range(1..=2_000_000))]
    pub(super) instruments: u32,

    /// Request from the channel's replay server what both sides lost, before waiting for snapshots.
    /// The user is CME, or $HAIRPIN_REPLAY_USER with $HAIRPIN_REPLAY_PASSWORD
    #[arg(long, requires = "live")]
    pub(super) replay: bool,

    /// Print statistics every SECONDS seconds instead of messages [default: 1]
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "1",
          value_parser = statistics::parse_interval)]
    pub(super) stats: Option<Duration>,

    /// Show books and rates on the terminal
    #[arg(long, conflicts_with_all = ["books", "callbacks", "stats"])]
    pub(super) watch: bool,

    /// SBE schema (XML) for printing messages; may be given several times
    #[arg(long, value_name = "FILE")]
    pub(super) schema: Vec<PathBuf>,

    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,

    /// Record received packets with their receive timestamps: pcapng, or pcap if the name ends in
    /// .pcap
    #[arg(long, value_name = "FILE", requires = "live")]
    log: Option<PathBuf>,

    /// Begin another file after MB megabytes: FILE with 00001 and so on before its extension
    #[arg(long, value_name = "MB", requires = "log",
          value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    log_megabytes: Option<u64>,

    /// Keep only the last N files [default: all]
    #[arg(long, value_name = "N", requires = "log_megabytes",
          value_parser = clap::value_parser!(u32).range(1..))]
    log_files: Option<u32>,
}

/// The source of receive timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Timestamps {
    Off,
    Software,
    Hardware,
}

impl From<Timestamps> for Timestamping {
    fn from(timestamps: Timestamps) -> Self {
        match timestamps {
            Timestamps::Off => Self::Off,
            Timestamps::Software => Self::Software,
            Timestamps::Hardware => Self::Hardware,
        }
    }
}

/// The orders to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Orders {
    None,
    Top,
    Full,
}

impl From<Orders> for OrderBooks {
    fn from(orders: Orders) -> Self {
        match orders {
            Orders::None => Self::None,
            Orders::Top => Self::Top,
            Orders::Full => Self::Full,
        }
    }
}

/// Parses a symbol or a number.
fn parse_symbol(word: &str) -> Result<Text<20>, String> {
    let symbol = Text::new(word).filter(|symbol| !symbol.as_bytes().is_empty());
    symbol
        .ok_or_else(|| "expected a SecurityID, or a symbol of one to twenty characters".to_owned())
}

/// Parses the name of a group or an asset.
fn parse_name(word: &str) -> Result<Text<6>, String> {
    let name = Text::new(word).filter(|name| !name.as_bytes().is_empty());
    name.ok_or_else(|| "expected a name of one to six characters".to_owned())
}

/// Returns the channels of a configuration file, with their labels; none if it cannot be read.
#[must_use]
pub fn channels_in(config: &Path) -> Vec<(String, String)> {
    let channels = Config::read(config).unwrap_or_default().channels;
    channels.into_iter().map(|channel| (channel.id, channel.label)).collect()
}

impl FeedArgs {
    /// Returns the channel in the configuration file, if one is given.
    ///
    /// # Errors
    /// One line with the file and the cause.
    pub(super) fn channel(&self) -> Result<Option<ChannelConfig>, String> {
        let Some(path) = &self.config else { return Ok(None) };
        let named = |error: ConfigError| format!("{}: {error}", path.display());
        let config = Config::read(path).map_err(named)?;
        let channel = config.channel(self.channel.as_deref()).map_err(named)?.clone();
        for (connection, cause) in channel.unknown_connections() {
            let ignored = format!("ignored connection {}: {cause}", connection.id);
            let _ = writeln!(io::stderr(), "hairpin: channel {}: {ignored}", channel.id);
        }
        Ok(Some(channel))
    }

    /// Returns the addresses of that channel, to be received on the interface with this address.
    ///
    /// # Errors
    /// One line with the file and the cause.
    pub(super) fn addresses(
        &self,
        channel: &ChannelConfig,
        interface: Ipv4Addr,
    ) -> Result<Addresses, String> {
        let path = self.config.as_deref().unwrap_or("".as_ref());
        let named = |error: ConfigError| format!("{}: {error}", path.display());
        let mut addresses = channel.addresses(interface).map_err(named)?;
        if self.replay {
            self.log_on(channel, &mut addresses)?;
        }
        Ok(addresses)
    }

    /// Returns the interfaces of side A and of side B, which may be the same.
    pub(super) fn interfaces(&self) -> Option<(&str, &str)> {
        let both = self.interface.as_deref();
        Some((self.interface_a.as_deref().or(both)?, self.interface_b.as_deref().or(both)?))
    }

    /// Receives each side on its own interface, if the arguments name two.
    ///
    /// # Errors
    /// A channel over TCP, which connects from one interface.
    pub(super) fn set_interfaces(
        &self,
        channel: &ChannelConfig,
        addresses: &mut Addresses,
        a: Ipv4Addr,
        b: Ipv4Addr,
    ) -> Result<()> {
        match addresses {
            _ if self.interface_a.is_none() => {}
            Addresses::Multicast(feeds) => feeds.set_interfaces(a, b),
            Addresses::Tcp(_) => {
                bail!("channel {} uses TCP: receive it on one --interface", channel.id);
            }
        }
        Ok(())
    }

    /// Checks for conflicting arguments about the datapath.
    ///
    /// # Errors
    /// One line.
    pub(super) fn check(&self) -> Result<()> {
        if !self.pcap.is_empty() && self.transport.bypasses_kernel() {
            usage_error!("a capture needs no network: --transport is for --interface");
        }
        let bypasses = self.transport.bypasses_kernel();
        if self.interface_a.is_some() && bypasses && !self.transport.is_xdp() {
            let name = self.transport.transport.name();
            usage_error!("--transport {name} receives on one interface: use --interface");
        }
        if self.timestamps != Timestamps::Software && self.transport.bypasses_kernel() {
            usage_error!("--timestamps is for --transport kernel");
        }
        let (a, b) = self.interfaces().unzip();
        self.transport.check_interface(a)?;
        self.transport.check_interface(b)
    }

    /// Returns the logon for the replay server.
    fn log_on(&self, channel: &ChannelConfig, addresses: &mut Addresses) -> Result<(), String> {
        let Addresses::Multicast(Multicast { replay: Some(server), .. }) = addresses else {
            return Err(format!("channel {} has no replay server (feed-type H)", channel.id));
        };
        let user = env::var("HAIRPIN_REPLAY_USER").ok();
        // Children and `/proc/PID/environ` must not have it.
        let password = Secret::take_variable("HAIRPIN_REPLAY_PASSWORD")
            .map_err(|error| format!("cannot use HAIRPIN_REPLAY_PASSWORD: {error}"))?;
        server.user = user.unwrap_or_else(|| server.user.clone());
        if let Some(password) = password {
            server.password = password
                .as_text()
                .ok_or("cannot use HAIRPIN_REPLAY_PASSWORD: it is not UTF-8")?
                .to_owned();
        }
        Ok(())
    }

    /// Returns the filter of instruments.
    pub(super) fn filter(&self) -> Filter {
        let mut filter = Filter::default();
        for &symbol in &self.security {
            // A number may be either.
            filter = filter.with_symbol(symbol);
            if let Ok(id) = symbol.as_str().parse() {
                filter = filter.with_security_id(id);
            }
        }
        filter = self.group.iter().fold(filter, |filter, &group| filter.with_group(group));
        self.asset.iter().fold(filter, |filter, &asset| filter.with_asset(asset))
    }

    /// Returns the names of the filter.
    pub(super) fn names(&self) -> Names {
        let Self { security, group, asset, .. } = self;
        Names { securities: security.clone(), groups: group.clone(), assets: asset.clone() }
    }

    /// Returns the groups in the configuration file, if one is given.
    ///
    /// # Errors
    /// One line with the file and the cause.
    pub(super) fn groups(&self) -> Result<Option<CaptureGroups>, String> {
        let Some(channel) = self.channel()? else { return Ok(None) };
        let addresses = self.addresses(&channel, Ipv4Addr::UNSPECIFIED)?;
        addresses.check().map_err(|error| format!("channel {}: {error}", channel.id))?;
        groups_of(&addresses)
            .map(Some)
            .ok_or_else(|| format!("channel {} uses TCP, and --pcap reads datagrams", channel.id))
    }

    /// Returns where to record and the limits, if recording was requested.
    pub(super) fn recording(&self) -> Option<RecorderSettings> {
        let path = self.log.as_ref()?;
        Some(RecorderSettings {
            file_bytes: self.log_megabytes.unwrap_or_default() * 1_000_000,
            files: self.log_files.unwrap_or_default() as usize,
            ..RecorderSettings::new(path)
        })
    }
}

/// Returns which group carries which feed; none for a channel over TCP.
pub(super) fn groups_of(addresses: &Addresses) -> Option<CaptureGroups> {
    matches!(addresses, Addresses::Multicast(_)).then(|| CaptureGroups::new(lines_of(addresses)))
}

/// Returns the group of each line of each feed; none for a channel over TCP.
pub(crate) fn lines_of(addresses: &Addresses) -> Vec<(SocketAddr, Feed, FeedLine)> {
    let Addresses::Multicast(feeds) = addresses else { return Vec::new() };
    let each = Feed::ALL.into_iter().flat_map(|feed| FeedLine::ALL.map(|side| (feed, side)));
    let line = |(feed, side)| Some((SocketAddr::V4(feeds.group(feed, side)?.address), feed, side));
    each.filter_map(line).collect()
}
