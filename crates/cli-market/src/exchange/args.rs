//! The arguments of `hairpin exchange`.

use std::net::SocketAddrV4;
use std::path::PathBuf;

use anyhow::Result;
use hairpin_cli_harness::args::{
    FeedTransport, INTERVAL_US_MAX, SAMPLES, SAMPLES_MAX, WARM_UP, parse_host_and_port,
    parse_line_outage, parse_wait,
};
use hairpin_cli_harness::multicast_groups::MulticastGroups;
use hairpin_cli_harness::t2t_setup::{LineOutage, Load, TRADERS_MAX};
use hairpin_cli_harness::usage::usage_error;
use hairpin_cli_harness::{cores, output, secret_key, transport};
use hairpin_endpoint::capture::Speed;
use hairpin_reactor::Wait;

use super::market_args;

/// The default interval, in microseconds.
const INTERVAL_US: u64 = 1_000;
/// The shortest interval, in microseconds, that a sleep can keep: the kernel ends one up to 50 µs
/// late, and a wakeup adds some more.
const SLEEP_US_MIN: u64 = 200;

/// `hairpin exchange`: runs a matching engine, a market data publisher and an order entry gateway
/// in one thread, for programs on this host or others.
///
/// It publishes a tick at each interval until Ctrl-C, and writes config.xml and order.toml, which
/// `hairpin feed`, `hairpin order` and programs read. Between ticks it sleeps, at intervals of at
/// least 200 µs. With --rounds, --samples, --json, --report, --wait or --traders it measures
/// instead: it spins, waits until enough traders have logged on, then measures how each one answers
/// the ticks. After every --samples ticks it prints the results and rewrites the results file; then
/// it continues. Traders may log on and off at any time. Ctrl-C ends it and logs the traders off.
#[derive(clap::Args, Debug, Clone)]
pub struct ExchangeArgs {
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
    #[arg(long, value_name = "ADDR:PORT", value_parser = parse_host_and_port)]
    pub(crate) gateway: Option<SocketAddrV4>,

    /// Write the addresses of market data to FILE, in the form of CME's config.xml [default:
    /// config.xml, without --order-out and unless it measures]
    #[arg(long, value_name = "FILE")]
    pub(super) config_out: Option<PathBuf>,

    /// Write the settings of trader 1 to FILE, in the form of order.toml [default: order.toml,
    /// without --config-out and unless it measures]
    #[arg(long, value_name = "FILE")]
    pub(super) order_out: Option<PathBuf>,

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

    /// Number of traders that must log on before the first tick, 0 for none [default: 1 if it
    /// measures]
    #[arg(long, value_name = "N",
          value_parser = clap::value_parser!(u32).range(0..=i64::from(TRADERS_MAX)))]
    traders: Option<u32>,

    /// Microseconds between ticks, 0 for no pause
    #[arg(long, value_name = "N", default_value_t = INTERVAL_US,
          value_parser = clap::value_parser!(u64).range(0..=INTERVAL_US_MAX))]
    interval_us: u64,

    /// Ticks recorded per round [default: 2000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=SAMPLES_MAX))]
    samples: Option<u64>,

    /// Rounds to run [default: until Ctrl-C]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rounds: Option<u64>,

    /// Wait of the traders, as named in the results [default: what `hairpin trader` names]
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

    /// Returns `true` if the exchange measures traders, `false` if it only simulates.
    pub(crate) fn measures(&self) -> bool {
        self.rounds.is_some()
            || self.samples.is_some()
            || self.wait.is_some()
            || self.traders.is_some_and(|traders| traders > 0)
            || self.output.is_requested()
    }

    /// Returns the wait of the exchange itself. A simulator sleeps until the next tick; a
    /// measurement spins, and so does AF_XDP.
    pub(crate) fn own_wait(&self) -> Wait {
        let sleeps = !self.measures() && self.interval_us >= SLEEP_US_MIN;
        if sleeps && !self.transport.bypasses_kernel() { Wait::Epoll } else { Wait::Spin }
    }

    /// Returns `true` if the exchange publishes a capture instead of its own market.
    pub(super) fn publishes(&self) -> bool {
        !self.publish.is_empty()
    }

    /// Returns the number of traders that a round needs to begin.
    pub(crate) fn quorum(&self) -> usize {
        self.traders.unwrap_or(self.measures().into()) as usize
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
        let (warm_up, samples) = match self.measures() {
            true => (WARM_UP, self.samples.unwrap_or(SAMPLES)),
            false => Load::UNMEASURED,
        };
        Load {
            interval_us: self.interval_us,
            warm_up,
            samples,
            seed: self.seed,
            matching: true,
            outage_a: self.outage_a,
            outage_b: self.outage_b,
        }
    }
}

fn parse_groups(text: &str) -> Result<MulticastGroups, String> {
    let first = text.parse().map_err(|_| "a group and a port, such as 239.1.1.0:14310")?;
    MulticastGroups::from(first)
}

#[cfg(test)]
mod tests {
    use hairpin_cli_harness::args::parse_line;

    use super::*;

    #[test]
    fn only_a_simulator_over_the_kernel_sleeps() {
        let wait =
            |line: &str| parse_line::<ExchangeArgs>(line.split_whitespace()).unwrap().own_wait();
        for line in ["", "--traders 0", "--interval-us 200", "--instruments 3 --feed tcp"] {
            assert_eq!(wait(line), Wait::Epoll, "{line}");
        }
        for line in [
            "--rounds 1",
            "--samples 5",
            "--traders 1",
            "--wait epoll",
            "--json f",
            "--report",
            "--interval-us 100",
            "--interval-us 0",
            "--transport xdp --interface eth0",
        ] {
            assert_eq!(wait(line), Wait::Spin, "{line}");
        }
    }
}
