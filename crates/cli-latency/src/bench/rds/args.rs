//! The arguments of `hairpin bench rds`.

use std::path::PathBuf;

use clap::ArgAction;
use hairpin_cli_harness::args::{SAMPLES_MAX, parse_switch, parse_wait};
use hairpin_cli_harness::transport::{TransportArgs, XdpMode};
use hairpin_cli_harness::{cores, output};
use hairpin_reactor::Wait;

use super::published_results::TABLE;
use super::rds_case::RdsCase;
use crate::bench::bench_case::Load;
use crate::ping::{Protocol, SIZE_MAX};

/// The default number of pings recorded per case, over all its rounds.
const SAMPLES: u64 = 21_000;
/// The pings recorded per case with --quick.
const QUICK_SAMPLES: u64 = 1_500;
/// The message sizes with --quick.
const QUICK_SIZES: [usize; 3] = [4, 64, 1_024];
/// The default number of rounds of each case.
const ROUNDS: u32 = 7;
/// The number of rounds with --quick.
const QUICK_ROUNDS: u32 = 3;
/// The pings of each round that are not recorded.
const WARM_UP: u64 = 200;
/// The message size of the flood.
const FLOOD_SIZE: usize = 64;
/// The duration of each round of the flood in milliseconds, and with --quick.
const FLOOD_MS: [u64; 2] = [1_000, 200];

/// Measure reliable datagrams: round trips next to UDP and TCP on the same path, for each message
/// size and carrier
///
/// The carriers are kernel UDP, UDP over AF_XDP and raw Ethernet. Reliable datagrams are compared
/// with UDP and TCP through the kernel, with UDP over AF_XDP, and with raw frames. Both processes
/// spin on a core each. As root, packets travel over a veth between two namespaces. AF_XDP and raw
/// Ethernet need root; otherwise they are left out, with the reason. A flood of 64-byte messages
/// compares the message rate with that of UDP.
///
/// Cases alternate in rounds (A B C A B C ...), each with its own processes. A ratio is the median
/// over rounds. A run takes about 3 minutes, --quick less than 20 seconds.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct BenchRdsArgs {
    /// Print the tables of a results file written with --json, without measuring
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "quick", "samples", "rounds", "size", "wait", "xdp", "xdp_mode", "flood"])]
    pub(super) from: Option<PathBuf>,

    /// Message sizes in bytes, 1 to 65000 [default: 4 to 1024, as published; with --quick:
    /// 4,64,1024]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = parse_size)]
    size: Vec<usize>,

    /// Wait of both processes: block, poll, epoll, spin, io_uring
    #[arg(long, value_name = "WAIT", default_value = "spin", value_parser = parse_wait)]
    wait: Wait,

    /// Measure AF_XDP and raw Ethernet as well; requires root and two hosts
    #[arg(long, value_name = "on|off", default_value = "on", action = ArgAction::Set,
          value_parser = parse_switch)]
    xdp: bool,

    /// Mode of the filter of AF_XDP: auto, generic, native [default: auto]
    #[arg(long, value_enum, value_name = "MODE")]
    xdp_mode: Option<XdpMode>,

    /// Measure the message rate of a flood as well
    #[arg(long, value_name = "on|off", default_value = "on", action = ArgAction::Set,
          value_parser = parse_switch)]
    flood: bool,

    /// Pings recorded per case, over all its rounds
    #[arg(long, value_name = "N", default_value_t = SAMPLES,
          value_parser = clap::value_parser!(u64).range(1..=SAMPLES_MAX))]
    samples: u64,

    /// Record 1,500 samples of 3 message sizes in 3 rounds: less than 20 seconds
    #[arg(long, conflicts_with = "samples")]
    quick: bool,

    /// Rounds that the samples of a case are split over [default: 7; with --quick: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rounds: Option<u32>,

    /// Run over loopback with the address of this interface
    #[arg(long, value_name = "IF")]
    pub(super) interface: Option<String>,

    #[command(flatten)]
    pub(super) cores: cores::CoreArgs,

    #[command(flatten)]
    pub(super) output: output::OutputArgs,
}

impl BenchRdsArgs {
    /// Returns the cases. Those that are compared with each other are adjacent in time.
    pub(super) fn plan(&self) -> Vec<RdsCase> {
        let (kernel, xdp) = (TransportArgs::default(), TransportArgs::xdp(self.xdp_mode));
        let case = |protocol, transport, size, flood_ms| RdsCase {
            protocol,
            transport,
            wait: self.wait,
            size,
            load: self.load(),
            flood_ms,
        };
        let mut cases = Vec::new();
        for size in self.sizes() {
            for protocol in [Protocol::Tcp, Protocol::Udp, Protocol::Rds] {
                cases.push(case(protocol, kernel, size, None));
            }
            if self.xdp {
                let protocols =
                    [Protocol::Udp, Protocol::Rds, Protocol::Raw, Protocol::RdsEthernet];
                cases.extend(protocols.map(|protocol| case(protocol, xdp, size, None)));
            }
        }
        if self.flood {
            let flood_ms = Some(FLOOD_MS[usize::from(self.quick)]);
            let protocols = [Protocol::Udp, Protocol::Rds];
            cases.extend(protocols.map(|protocol| case(protocol, kernel, FLOOD_SIZE, flood_ms)));
        }
        cases
    }

    /// Returns the number of rounds of each case, at most the number of samples.
    pub(super) fn rounds(&self) -> usize {
        let usual = if self.quick { QUICK_ROUNDS } else { ROUNDS };
        (self.rounds.unwrap_or(usual) as usize).min(self.load().samples as usize)
    }

    fn sizes(&self) -> Vec<usize> {
        match (&self.size[..], self.quick) {
            ([], true) => QUICK_SIZES.to_vec(),
            ([], false) => TABLE.iter().map(|line| line.size).collect(),
            (sizes, _) => sizes.to_vec(),
        }
    }

    fn load(&self) -> Load {
        let samples = if self.quick { QUICK_SAMPLES } else { self.samples };
        Load { interval_us: 0, warm_up: WARM_UP, samples, seed: 0 }
    }
}

fn parse_size(text: &str) -> Result<usize, String> {
    let size = text.trim().parse().ok().filter(|size| (1..=SIZE_MAX).contains(size));
    size.ok_or_else(|| format!("expected a number of bytes from 1 to {SIZE_MAX}"))
}

#[cfg(test)]
mod tests {
    use hairpin_cli_harness::args::parse_line;

    use super::*;

    fn parse(words: &str) -> Result<BenchRdsArgs, clap::Error> {
        parse_line(words.split_whitespace())
    }

    fn names(words: &str) -> Vec<String> {
        use crate::bench::bench_case::BenchCase as _;
        parse(words).unwrap().plan().iter().map(RdsCase::name).collect()
    }

    #[test]
    fn compared_cases_are_adjacent() {
        let expected = [
            "kernel, tcp, 64 bytes",
            "kernel, udp, 64 bytes",
            "kernel, rds, 64 bytes",
            "xdp, udp, 64 bytes",
            "xdp, rds, 64 bytes",
            "xdp, raw, 64 bytes",
            "xdp, rds-ethernet, 64 bytes",
            "kernel, udp, 64 bytes, flood",
            "kernel, rds, 64 bytes, flood",
        ];
        assert_eq!(names("--size 64"), expected);
        assert_eq!(names("--size 64 --xdp off --flood off"), expected[..3]);
        assert_eq!(names("").len(), 9 * 7 + 2);
        assert_eq!(names("--quick").len(), 3 * 7 + 2);
    }

    #[test]
    fn there_are_no_rounds_without_samples() {
        let rounds = |words: &str| parse(words).unwrap().rounds();
        assert_eq!(["", "--quick", "--samples 2"].map(rounds), [7, 3, 2]);
    }

    #[test]
    fn rejects_impossible_sizes_and_conflicts() {
        for words in ["--size 0", "--size 65001", "--quick --samples 5", "--from a --rounds 3"] {
            assert!(parse(words).is_err(), "{words}");
        }
        assert!(parse("--from a").is_ok());
    }
}
