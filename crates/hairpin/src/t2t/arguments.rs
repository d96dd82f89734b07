//! The words of `hairpin t2t`.

use std::net::SocketAddrV4;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{ArgAction, ValueEnum};
use hairpin_reactor::Wait;

use crate::setup::{Load, Mute};

/// Intervals of the whole table, in microseconds.
const INTERVALS_US: [u64; 4] = [500, 1_000, 5_000, 10_000];
/// The interval of `--quick`, in microseconds.
const QUICK_INTERVAL_US: u64 = 500;
/// Ticks recorded per row unless told otherwise.
const SAMPLES: u64 = 2_000;
/// Ticks recorded per row with `--full`.
const FULL_SAMPLES: u64 = 20_000;
/// More would ask for gigabytes of journal.
const SAMPLES_MAX: u64 = 1_000_000;
/// Longest pause between ticks: a minute.
const INTERVAL_US_MAX: u64 = 60_000_000;
/// Ticks at the start of each row that are not recorded.
const WARM_UP: u64 = 100;

/// `hairpin t2t`: for each wait and interval an exchange and a trader are started as two processes;
/// the exchange publishes a tick at each interval, whatever has become of those before, and the
/// trader answers each with an order. Latency runs from the intended (and from the actual) time of
/// the tick to the arrival of its order.
///
/// As root the two processes get a network namespace each, joined by a veth; as an ordinary user
/// too where the kernel lets users make namespaces; else they speak over loopback.
///
/// The whole table takes about three minutes, --quick a few seconds. Without a pause (interval 0) a
/// tick is intended at the moment it leaves, so that such a row says nothing of what had to wait.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct Arguments {
    /// How market data travels
    #[arg(long, value_enum, default_value_t = FeedTransport::Multicast)]
    pub(crate) feed: FeedTransport,

    /// Waits of the trader: block, poll, epoll, spin [default: all]
    #[arg(long, value_name = "WAIT", value_delimiter = ',', value_parser = parse_wait)]
    pub(crate) wait: Vec<Wait>,

    /// Microseconds between ticks, 0 for no pause [default: 500,1000,5000,10000]
    #[arg(long, value_name = "N", value_delimiter = ',',
          value_parser = clap::value_parser!(u64).range(0..=INTERVAL_US_MAX))]
    pub(crate) interval_us: Vec<u64>,

    /// Ticks recorded per row
    #[arg(long, value_name = "N", default_value_t = SAMPLES,
          value_parser = clap::value_parser!(u64).range(1..=SAMPLES_MAX))]
    pub(crate) samples: u64,

    /// One row per wait: 2,000 samples at 500 us
    #[arg(long, conflicts_with_all = ["samples", "interval_us"])]
    pub(crate) quick: bool,

    /// 20,000 samples a row: about a quarter of an hour in all
    #[arg(long, conflicts_with_all = ["samples", "quick"])]
    pub(crate) full: bool,

    /// Cores: the exchange on A, the trader on B [default: the first two allowed]
    #[arg(long, value_name = "A,B", value_parser = parse_cores)]
    pub(crate) cpus: Option<(usize, usize)>,

    /// Run over loopback by the address of this interface instead of hosts of our own
    #[arg(long, value_name = "IF")]
    pub(crate) interface: Option<String>,

    /// Where the exchange's gateway listens [default: a free port]
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) gateway: Option<SocketAddrV4>,

    /// Join groups from any source instead of from the exchange only
    #[arg(long)]
    pub(crate) any_source: bool,

    /// Match the generated orders; off, nothing ticks
    #[arg(long, value_name = "on|off", default_value = "on", action = ArgAction::Set,
          value_parser = parse_switch)]
    pub(crate) matching: bool,

    /// Seed of the books and the order flow
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// File with the iLink secret key, base64url [default: $HAIRPIN_SECRET_KEY, else a test key]
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_key_file: Option<PathBuf>,

    /// Write the results to FILE
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Silence side B of the market data after tick FROM for TICKS ticks
    #[arg(long, value_name = "FROM,TICKS", hide = true, value_parser = parse_mute)]
    pub(crate) mute_b: Option<Mute>,
}

/// How market data travels from the exchange to the trader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FeedTransport {
    /// UDP multicast, sides A and B
    Multicast,
}

impl Arguments {
    /// The rows to run, in the order of the table.
    pub(crate) fn plan(&self) -> Vec<(Wait, Load)> {
        let waits: &[Wait] = if self.wait.is_empty() { &Wait::ALL } else { &self.wait };
        let intervals: &[u64] = match (self.quick, self.interval_us.is_empty()) {
            (true, _) => &[QUICK_INTERVAL_US],
            (false, true) => &INTERVALS_US,
            (false, false) => &self.interval_us,
        };
        let rows = intervals
            .iter()
            .flat_map(|&interval_us| waits.iter().map(move |&wait| (wait, self.load(interval_us))));
        rows.collect()
    }

    fn load(&self, interval_us: u64) -> Load {
        Load {
            interval_us,
            warm_up: WARM_UP,
            samples: match (self.quick, self.full) {
                (true, _) => SAMPLES,
                (false, true) => FULL_SAMPLES,
                (false, false) => self.samples,
            },
            seed: self.seed,
            matching: self.matching,
            mute_b: self.mute_b,
        }
    }
}

fn parse_wait(text: &str) -> Result<Wait, String> {
    Wait::from_str(text).map_err(|_| "it is block, poll, epoll or spin".to_owned())
}

fn parse_switch(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("it is on or off".to_owned()),
    }
}

fn parse_pair(text: &str) -> Option<(u64, u64)> {
    let (first, second) = text.split_once(',')?;
    Some((first.trim().parse().ok()?, second.trim().parse().ok()?))
}

fn parse_cores(text: &str) -> Result<(usize, usize), String> {
    let pair = parse_pair(text).ok_or("two core numbers, such as 0,1")?;
    let core = |number| usize::try_from(number).map_err(|_| "no such core".to_owned());
    match (core(pair.0)?, core(pair.1)?) {
        (a, b) if a == b => Err("exchange and trader need a core each".to_owned()),
        cores => Ok(cores),
    }
}

fn parse_mute(text: &str) -> Result<Mute, String> {
    let (from_tick, ticks) = parse_pair(text).ok_or("two numbers of ticks")?;
    Ok(Mute { from_tick, ticks })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn plan(words: &[&str]) -> Vec<(Wait, Load)> {
        let line = [&["t2t"], words].concat();
        Line::try_parse_from(line).unwrap().arguments.plan()
    }

    #[test]
    fn runs_every_wait_at_every_interval() {
        assert_eq!(plan(&[]).len(), Wait::ALL.len() * INTERVALS_US.len());
    }

    #[test]
    fn quick_is_one_row_per_wait() {
        let rows = plan(&["--quick"]);
        assert_eq!(rows.len(), Wait::ALL.len());
        assert!(rows.iter().all(|(_, load)| load.interval_us == 500 && load.samples == 2_000));
    }

    #[test]
    fn full_is_ten_times_as_many_samples() {
        assert!(plan(&["--full"]).iter().all(|(_, load)| load.samples == 20_000));
    }

    #[test]
    fn takes_lists() {
        let rows = plan(&["--wait", "epoll,spin", "--interval-us", "100,200,0"]);
        assert_eq!(rows.len(), 6);
    }

    #[test]
    fn refuses_one_core_for_both() {
        assert!(Line::try_parse_from(["t2t", "--cpus", "1,1"]).is_err());
        assert!(Line::try_parse_from(["t2t", "--cpus", "1"]).is_err());
    }
}
