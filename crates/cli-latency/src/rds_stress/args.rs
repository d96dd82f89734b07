//! The arguments of `hairpin rds-stress`.

use std::net::SocketAddr;

use anyhow::Result;
use hairpin_cli_harness::args::{parse_host_and_port, parse_wait};
use hairpin_cli_harness::transport::TransportArgs;
use hairpin_cli_harness::usage::usage_error;
use hairpin_endpoint::rds::MESSAGE_MAX;
use hairpin_reactor::Wait;
use serde::{Deserialize, Serialize};

use super::message::HEADER;

/// The most tasks of a side.
pub(super) const TASKS_MAX: usize = 64;
/// The most requests of a task in flight.
pub(super) const DEPTH_MAX: usize = 4_096;
/// The default size of a request in bytes, as in the original.
const REQUEST: usize = 1_024;
/// The default size of an acknowledgment in bytes.
const ACKNOWLEDGMENT: usize = 32;

/// `hairpin rds-stress`: exchanges requests and acknowledgments in reliable datagrams between two
/// hosts, in both directions at once, and prints rates and round trips each second.
///
/// One side listens (--listen), the other connects to it and sets the parameters. Each side runs
/// the same number of tasks. A task sends requests to its counterpart, up to a depth, and
/// acknowledges those it receives. Order and number of the messages are always checked. Parameters
/// travel over TCP at ADDR:PORT; the tasks of the listening side use the RDS ports from PORT on.
///
/// Columns: tasks, requests sent and received per second, kilobytes per second of all messages in
/// both directions, microseconds per send, microseconds from a request to its acknowledgment, and
/// processor time in percent of one core.
#[derive(clap::Args, Debug, Clone)]
pub struct RdsStressArgs {
    /// Address of the listening side
    #[arg(value_name = "HOST:PORT", required_unless_present = "listen", conflicts_with = "listen",
          value_parser = parse_remote)]
    pub(super) remote: Option<SocketAddr>,

    /// Listen for the other side, one after another, until Ctrl-C
    #[arg(long, value_name = "ADDR:PORT")]
    pub(super) listen: Option<SocketAddr>,

    /// Tasks of each side, 1 to 64
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = parse_tasks,
          conflicts_with = "listen")]
    tasks: usize,

    /// Requests of a task in flight, 1 to 4096
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = parse_depth,
          conflicts_with = "listen")]
    depth: usize,

    /// Size of a request in bytes, 16 to 1048576
    #[arg(short = 'q', long, value_name = "BYTES", default_value_t = REQUEST,
          value_parser = parse_size, conflicts_with = "listen")]
    request_size: usize,

    /// Size of an acknowledgment in bytes, 16 to 1048576
    #[arg(short = 'a', long, value_name = "BYTES", default_value_t = ACKNOWLEDGMENT,
          value_parser = parse_size, conflicts_with = "listen")]
    ack_size: usize,

    /// Verify every byte of every message
    #[arg(short, long, conflicts_with = "listen")]
    verify: bool,

    /// Run for N seconds [default: until Ctrl-C]
    #[arg(short = 'T', long, value_name = "N", conflicts_with = "listen",
          value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    pub(super) seconds: Option<u64>,

    /// Wait of the tasks for packets: block, poll, epoll, spin, io_uring
    #[arg(long, value_name = "WAIT", default_value = "epoll", value_parser = parse_wait)]
    pub(super) wait: Wait,

    /// Send in Ethernet frames without IP; requires --transport xdp and one task
    #[arg(long)]
    pub(super) ethernet: bool,

    /// Interface for --transport xdp
    #[arg(long, value_name = "IF")]
    pub(super) interface: Option<String>,

    #[command(flatten)]
    pub(super) transport: TransportArgs,
}

/// The parameters that both sides have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Parameters {
    pub(super) tasks: usize,
    pub(super) depth: usize,
    pub(super) request_size: usize,
    pub(super) ack_size: usize,
    pub(super) verify: bool,
}

impl RdsStressArgs {
    /// Checks for arguments that conflict with each other.
    ///
    /// # Errors
    /// One line for each conflict.
    pub(super) fn check(&self) -> Result<()> {
        self.transport.check_interface(self.interface.as_deref())?;
        if self.interface.is_some() && !self.transport.is_xdp() {
            usage_error!("--interface is for --transport xdp");
        }
        if self.ethernet && !self.transport.is_xdp() {
            usage_error!("--ethernet needs --transport xdp");
        }
        if self.ethernet && self.tasks > 1 {
            usage_error!("--ethernet takes the whole interface: it has one task");
        }
        match self.remote {
            Some(remote) if remote.port() == 0 => {
                usage_error!("{remote}: port 0 is not a destination")
            }
            _ => Ok(()),
        }
    }

    /// Returns the parameters of the connecting side.
    pub(super) fn parameters(&self) -> Parameters {
        let Self { tasks, depth, request_size, ack_size, verify, .. } = *self;
        Parameters { tasks, depth, request_size, ack_size, verify }
    }
}

impl Parameters {
    /// Returns `true` if all values are in their ranges.
    pub(super) fn is_valid(&self) -> bool {
        let sizes = HEADER..=MESSAGE_MAX;
        (1..=TASKS_MAX).contains(&self.tasks)
            && (1..=DEPTH_MAX).contains(&self.depth)
            && sizes.contains(&self.request_size)
            && sizes.contains(&self.ack_size)
    }
}

/// Parses the address of the listening side; a name is resolved to its first IPv4 address.
fn parse_remote(text: &str) -> Result<SocketAddr, String> {
    text.parse().or_else(|_| parse_host_and_port(text).map(SocketAddr::V4))
}

fn parse_in(text: &str, min: usize, max: usize) -> Result<usize, String> {
    let number = text.trim().parse().ok().filter(|number| (min..=max).contains(number));
    number.ok_or_else(|| format!("expected a number from {min} to {max}"))
}

fn parse_tasks(text: &str) -> Result<usize, String> {
    parse_in(text, 1, TASKS_MAX)
}

fn parse_depth(text: &str) -> Result<usize, String> {
    parse_in(text, 1, DEPTH_MAX)
}

fn parse_size(text: &str) -> Result<usize, String> {
    parse_in(text, HEADER, MESSAGE_MAX)
}

#[cfg(test)]
mod tests {
    use hairpin_cli_harness::args::parse_line;

    use super::*;

    fn parse(words: &str) -> Result<RdsStressArgs, clap::Error> {
        parse_line(words.split_whitespace())
    }

    #[test]
    fn short_flags_are_those_of_the_original() {
        let args = parse("10.0.0.1:4000 -t 4 -d 8 -q 4096 -a 64 -v -T 5").unwrap();
        let parameters =
            Parameters { tasks: 4, depth: 8, request_size: 4_096, ack_size: 64, verify: true };
        assert_eq!((args.parameters(), args.seconds), (parameters, Some(5)));
        assert!(parameters.is_valid());
        assert!(!Parameters { tasks: 65, ..parameters }.is_valid());
        assert!(!Parameters { request_size: 15, ..parameters }.is_valid());
    }

    #[test]
    fn one_side_connects_and_sets_the_parameters() {
        assert!(parse("--listen 10.0.0.1:4000").is_ok());
        for words in [
            "",
            "10.0.0.1:4000 --listen 10.0.0.1:4000",
            "--listen 10.0.0.1:4000 -d 8",
            "--listen 10.0.0.1:4000 -v",
            "10.0.0.1",
            "10.0.0.1:4000 -t 0",
            "10.0.0.1:4000 -t 65",
            "10.0.0.1:4000 -q 15",
            "10.0.0.1:4000 -a 1048577",
        ] {
            assert!(parse(words).is_err(), "{words}");
        }
    }

    #[test]
    fn ethernet_has_one_task_over_xdp() {
        let check = |words: &str| parse(&format!("10.0.0.1:4000 {words}")).unwrap().check();
        assert!(check("--ethernet --transport xdp --interface eth1").is_ok());
        assert!(check("--ethernet").is_err());
        assert!(check("--ethernet --transport xdp --interface eth1 -t 2").is_err());
        assert!(check("--transport xdp").is_err());
        assert!(check("--interface eth1").is_err());
    }
}
