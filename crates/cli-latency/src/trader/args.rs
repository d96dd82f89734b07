//! The arguments of `hairpin trader`.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;

use anyhow::{Context, Result};
use hairpin_cli_harness::args::{parse_host_and_port, parse_wait};
use hairpin_cli_harness::secret_key::KeyArgs;
use hairpin_cli_harness::t2t_setup::TRADERS_MAX;
use hairpin_cli_harness::{cores, transport};
use hairpin_feed_handler::Addresses;
use hairpin_feed_handler::config::Config;
use hairpin_reactor::Wait;

/// `hairpin trader`: joins the market data of `hairpin exchange`, logs on, and answers every event
/// that changes a best price with an order, which it cancels when it is acknowledged.
///
/// It ends when the exchange logs it off or on a signal, and prints its counts.
#[derive(clap::Args, Debug, Clone)]
pub struct TraderArgs {
    /// Read the feed addresses from FILE, which the exchange writes with --config-out
    #[arg(long, value_name = "FILE")]
    config: PathBuf,

    /// Channel in that file [default: the only one]
    #[arg(long, value_name = "ID")]
    channel: Option<String>,

    /// Address of the exchange's gateway
    #[arg(long, value_name = "HOST:PORT", value_parser = parse_host_and_port)]
    pub(crate) gateway: SocketAddrV4,

    /// Interface that joins the groups
    #[arg(long, value_name = "IF", default_value = "lo")]
    pub(crate) interface: String,

    #[command(flatten)]
    pub(crate) transport: transport::TransportArgs,

    /// Number of the exchange's account; each of several traders needs its own
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(TRADERS_MAX)))]
    pub(crate) id: u32,

    /// Wait for packets with: block, poll, epoll, spin, io_uring
    #[arg(long, value_name = "WAIT", default_value = "epoll", value_parser = parse_wait)]
    pub(crate) wait: Wait,

    /// Join groups from any source instead of the sources in the file
    #[arg(long)]
    any_source: bool,

    #[command(flatten)]
    pub(crate) cores: cores::CoreArgs,

    #[command(flatten)]
    pub(crate) key: KeyArgs,
}

impl TraderArgs {
    /// Returns the feed addresses for the interface with this address.
    ///
    /// # Errors
    /// The file cannot be read or has no such channel.
    pub(crate) fn addresses(&self, interface: Ipv4Addr) -> Result<Addresses> {
        let named = || self.config.display().to_string();
        let config = Config::read(&self.config).with_context(named)?;
        let channel = config.channel(self.channel.as_deref()).with_context(named)?;
        let mut addresses = channel.addresses(interface).with_context(named)?;
        self.transport.check_feed(&addresses)?;
        if self.any_source
            && let Addresses::Multicast(feeds) = &mut addresses
        {
            let lines = [&mut feeds.incremental, &mut feeds.instrument, &mut feeds.snapshot];
            let groups = lines.into_iter().flat_map(|lines| [&mut lines.a, &mut lines.b]);
            groups.flatten().for_each(|group| group.sources.clear());
        }
        Ok(addresses)
    }
}
