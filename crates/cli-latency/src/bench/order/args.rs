//! The arguments of `hairpin bench order`.

use std::path::PathBuf;

use clap::ArgAction;
use hairpin_cli_harness::args::{SAMPLES_MAX, WARM_UP, parse_switch, parse_wait};
use hairpin_cli_harness::transport::{TransportArgs, XdpMode};
use hairpin_cli_harness::{cores, output};
use hairpin_reactor::Wait;

use super::order_case::{Load, OrderCase, Subject};

/// The default intervals between orders, in microseconds; the published interval is unknown.
const INTERVALS_US: [u64; 2] = [1_000, 0];
/// The longest interval: neither side may assume that the other has failed.
const INTERVAL_US_MAX: u64 = 1_000_000;
/// The default number of orders recorded per column.
const SAMPLES: u64 = 20_000;
/// The orders recorded per column with --quick.
const QUICK_SAMPLES: u64 = 1_000;
/// The divisor for the number of batches of 64 orders or reports.
const BATCHES_PART: u64 = 2;
/// The default number of rounds of each column.
const ROUNDS: u32 = 7;

/// Measure order entry from the send call to the callback of the report, in five stages, with 1 ms
/// and with no delay between orders
///
/// A session sends NewOrderSingle and receives ExecutionReportNew, with the journal on. The
/// gateway, the exchange's or a bare one, is a process on its own core. As root, and as an ordinary
/// user where the kernel allows user namespaces, it runs over a veth between two namespaces;
/// otherwise over loopback. Besides the published figures the table shows the session with each
/// wait, at the exchange's gateway and at the bare one, bare sockets, the same with AF_XDP on both
/// sides (xdp), under `hairpin run` on both sides (preload), and the session alone in batches of
/// 64.
///
/// One order is outstanding at a time. Columns alternate in rounds (A B C A B C ...), each with its
/// own processes. A run takes about 6 minutes for each wait, --quick about 60 seconds.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct BenchOrderArgs {
    /// Print the tables of a results file written with --json, without measuring
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "quick", "samples", "rounds", "interval_us", "wait", "xdp", "preload", "xdp_mode"])]
    pub(super) from: Option<PathBuf>,

    /// Waits of the session: block, poll, epoll, spin, io_uring [default: spin]
    #[arg(long, value_name = "WAIT", value_delimiter = ',', value_parser = parse_wait)]
    wait: Vec<Wait>,

    /// Measure order entry with AF_XDP as well; requires root and two hosts
    #[arg(long, value_name = "on|off", default_value = "on", action = ArgAction::Set,
          value_parser = parse_switch)]
    xdp: bool,

    /// Measure order entry under hairpin run as well (preload); requires root and two hosts
    #[arg(long, value_name = "on|off", default_value = "on", action = ArgAction::Set,
          value_parser = parse_switch)]
    preload: bool,

    /// Mode of the filter of the columns xdp: auto, generic, native [default: auto]
    #[arg(long, value_enum, value_name = "MODE")]
    xdp_mode: Option<XdpMode>,

    /// Intervals between orders in microseconds, 0 to 1000000 [default: 1000,0]
    #[arg(long, value_name = "US", value_delimiter = ',',
          value_parser = clap::value_parser!(u64).range(0..=INTERVAL_US_MAX))]
    interval_us: Vec<u64>,

    /// Orders recorded per column
    #[arg(long, value_name = "N", default_value_t = SAMPLES,
          value_parser = clap::value_parser!(u64).range(1..=SAMPLES_MAX))]
    samples: u64,

    /// Record 1,000 samples per column: about 60 seconds
    #[arg(long, conflicts_with = "samples")]
    quick: bool,

    /// Rounds that the samples of a column are split over
    #[arg(long, value_name = "N", default_value_t = ROUNDS,
          value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rounds: u32,

    /// Run over loopback with the address of this interface
    #[arg(long, value_name = "IF")]
    pub(super) interface: Option<String>,

    #[command(flatten)]
    pub(super) cores: cores::CoreArgs,

    #[command(flatten)]
    pub(super) output: output::OutputArgs,
}

impl BenchOrderArgs {
    /// Returns the columns, in the order of the tables.
    pub(super) fn plan(&self) -> Vec<OrderCase> {
        let waits: &[Wait] = if self.wait.is_empty() { &[Wait::Spin] } else { &self.wait };
        let intervals =
            if self.interval_us.is_empty() { &INTERVALS_US[..] } else { &self.interval_us };
        let subjects = [Subject::Gateway, Subject::BareGateway, Subject::BareSockets];
        let mut cases = Vec::new();
        for &interval_us in intervals {
            let load = self.load(interval_us);
            for &wait in waits {
                for transport in self.transports() {
                    let of = |subject| OrderCase { subject, transport, wait, load };
                    cases.extend(subjects.map(of));
                }
            }
        }
        let load = self.load(0);
        let load = Load { samples: load.samples.div_ceil(BATCHES_PART), ..load };
        let (subject, transport) = (Subject::Batch, TransportArgs::default());
        cases.push(OrderCase { subject, transport, wait: waits[0], load });
        cases
    }

    fn transports(&self) -> impl Iterator<Item = TransportArgs> {
        let xdp = self.xdp.then_some(TransportArgs::xdp(self.xdp_mode));
        let preload = self.preload.then(TransportArgs::preload);
        std::iter::once(TransportArgs::default()).chain(xdp).chain(preload)
    }

    /// Returns the number of rounds of each column, at most the number of samples.
    pub(super) fn rounds(&self) -> usize {
        (self.rounds as usize).min(self.load(0).samples as usize).max(1)
    }

    fn load(&self, interval_us: u64) -> Load {
        let samples = if self.quick { QUICK_SAMPLES } else { self.samples };
        // Only the exchange's books are random, and no order reaches their levels.
        Load { interval_us, warm_up: WARM_UP, samples, seed: 1 }
    }
}

#[cfg(test)]
mod tests {
    use hairpin_cli_harness::args::parse_line;

    use super::*;
    use crate::bench::bench_case::BenchCase as _;

    fn parse(words: &[&str]) -> Result<BenchOrderArgs, clap::Error> {
        parse_line(words.iter().copied())
    }

    fn names(words: &[&str]) -> Vec<(u64, String)> {
        let plan = parse(words).unwrap().plan();
        plan.iter().map(|case| (case.load.interval_us, case.name())).collect()
    }

    #[test]
    fn plans_session_floors_and_batch() {
        let expected = [
            (1_000, "spin"),
            (1_000, "bare gateway, spin"),
            (1_000, "bare sockets, spin"),
            (1_000, "xdp, spin"),
            (1_000, "bare gateway, xdp, spin"),
            (1_000, "bare sockets, xdp, spin"),
            (1_000, "preload, spin"),
            (1_000, "bare gateway, preload, spin"),
            (1_000, "bare sockets, preload, spin"),
            (0, "spin"),
            (0, "bare gateway, spin"),
            (0, "bare sockets, spin"),
            (0, "xdp, spin"),
            (0, "bare gateway, xdp, spin"),
            (0, "bare sockets, xdp, spin"),
            (0, "preload, spin"),
            (0, "bare gateway, preload, spin"),
            (0, "bare sockets, preload, spin"),
            (0, "batch"),
        ];
        assert_eq!(names(&[]), expected.map(|(interval, name)| (interval, name.to_owned())));
        let of_two_waits = ["--interval-us", "500", "--wait", "spin,epoll"];
        assert_eq!(names(&of_two_waits).len(), 19);
        assert_eq!(
            names(&[&of_two_waits[..], &["--xdp", "off", "--preload", "off"]].concat()).len(),
            7
        );
    }

    #[test]
    fn halves_number_of_batches() {
        let plan = parse(&["--samples", "71"]).unwrap().plan();
        let samples: Vec<u64> = plan.iter().map(|case| case.load.samples).collect();
        assert_eq!(samples[..18], [71; 18]);
        assert_eq!(samples[18..], [36]);
        assert_eq!(parse(&["--quick"]).unwrap().plan()[0].load.samples, 1_000);
    }

    #[test]
    fn there_are_no_rounds_without_samples() {
        assert_eq!(parse(&["--samples", "3"]).unwrap().rounds(), 3);
        assert_eq!(parse(&[]).unwrap().rounds(), 7);
    }

    #[test]
    fn prints_file_without_measuring() {
        assert!(parse(&["--from", "a.json"]).is_ok());
        let measured =
            [["--samples", "9"], ["--rounds", "7"], ["--wait", "spin"], ["--interval-us", "1"]];
        for words in measured {
            assert!(parse(&[&["--from", "a.json"], &words[..]].concat()).is_err());
        }
    }

    #[test]
    fn limits_pause_to_session_lifetime() {
        assert!(parse(&["--interval-us", "1000000"]).is_ok());
        assert!(parse(&["--interval-us", "1000001"]).is_err());
    }
}
