//! The arguments of `hairpin bench feed`.

use std::path::PathBuf;

use clap::ArgAction;
use hairpin_cli_harness::args::{SAMPLES_MAX, WARM_UP, parse_switch, parse_wait};
use hairpin_cli_harness::transport::XdpMode;
use hairpin_cli_harness::{cores, output, transport};
use hairpin_reactor::Wait;

use super::feed_case::{FeedCase, Load, Receiver};

/// The intervals of the published tables, in microseconds.
const INTERVALS_US: [u64; 2] = [5_000, 0];
/// The default number of packets recorded per column with an interval.
const SAMPLES: u64 = 20_000;
/// The packets recorded per column with --quick.
const QUICK_SAMPLES: u64 = 350;
/// The factor for the packets without an interval, which take no time.
const MORE: u64 = 10;
/// The divisor for the number of batches of 64 packets.
const BATCHES_PART: u64 = 2;
/// The default number of rounds of each column.
const ROUNDS: u32 = 7;

/// Measure the feed handler: packet in the process to callback, and receive timestamp to callback,
/// with 5 ms and with no delay between packets
///
/// The exchange's publisher sends packets of one book entry (template 46) for 100 instruments, in
/// its own process on its own core. As root, and as an ordinary user where the kernel allows user
/// namespaces, packets travel over a veth between two namespaces; otherwise over loopback. Besides
/// the published figures the table shows the feed handler with each wait, kept warm, with AF_XDP
/// (xdp), under `hairpin run` (preload), the channel alone in batches of 64 packets, and a bare
/// socket.
///
/// Columns alternate in rounds (A B C A B C ...), each with its own processes. A run takes about 7
/// minutes for each wait, --quick about 20 seconds.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct BenchFeedArgs {
    /// Print the tables of a results file written with --json, without measuring
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "quick", "samples", "rounds", "seed", "wait", "keep_warm", "xdp", "preload", "xdp_mode"])]
    pub(super) from: Option<PathBuf>,

    /// Waits of the receiver: block, poll, epoll, spin, io_uring [default: spin]
    #[arg(long, value_name = "WAIT", value_delimiter = ',', value_parser = parse_wait)]
    wait: Vec<Wait>,

    /// Measure the feed handler kept warm as well, with 5 ms between packets and wait spin
    #[arg(long, value_name = "on|off", default_value = "on", action = ArgAction::Set,
          value_parser = parse_switch)]
    keep_warm: bool,

    /// Measure the feed handler with AF_XDP as well; requires root and two hosts
    #[arg(long, value_name = "on|off", default_value = "on", action = ArgAction::Set,
          value_parser = parse_switch)]
    xdp: bool,

    /// Measure the feed handler under hairpin run as well (preload); requires root and two hosts
    #[arg(long, value_name = "on|off", default_value = "on", action = ArgAction::Set,
          value_parser = parse_switch)]
    preload: bool,

    /// Mode of the filter of the column xdp: auto, generic, native [default: auto]
    #[arg(long, value_enum, value_name = "MODE")]
    xdp_mode: Option<XdpMode>,

    /// Packets recorded per column with 5 ms between them; ten times as many with no delay
    #[arg(long, value_name = "N", default_value_t = SAMPLES,
          value_parser = clap::value_parser!(u64).range(1..=SAMPLES_MAX / MORE))]
    samples: u64,

    /// Record 350 samples per column, 3,500 with no delay: about 20 seconds
    #[arg(long, conflicts_with = "samples")]
    quick: bool,

    /// Rounds that the samples of a column are split over
    #[arg(long, value_name = "N", default_value_t = ROUNDS,
          value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rounds: u32,

    /// Seed of the books and the orders
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Run over loopback with the address of this interface
    #[arg(long, value_name = "IF")]
    pub(super) interface: Option<String>,

    #[command(flatten)]
    pub(super) cores: cores::CoreArgs,

    #[command(flatten)]
    pub(super) output: output::OutputArgs,
}

impl BenchFeedArgs {
    /// Returns the columns, in the order of the tables.
    pub(super) fn plan(&self) -> Vec<FeedCase> {
        let waits: &[Wait] = if self.wait.is_empty() { &[Wait::Spin] } else { &self.wait };
        let mut cases = Vec::new();
        for interval_us in INTERVALS_US {
            for &wait in waits {
                let is_warmed = self.keep_warm && interval_us > 0 && wait == Wait::Spin;
                let warm = is_warmed.then_some(Receiver::Handler { is_kept_warm: true });
                let handler = Receiver::Handler { is_kept_warm: false };
                let kernel = transport::TransportArgs::default();
                let xdp = transport::TransportArgs::xdp(self.xdp_mode);
                let receivers = [
                    Some((handler, kernel)),
                    warm.map(|warm| (warm, kernel)),
                    self.xdp.then_some((handler, xdp)),
                    self.preload.then_some((handler, transport::TransportArgs::preload())),
                    Some((Receiver::Bare, kernel)),
                ];
                let load = self.load(interval_us);
                let of = |(receiver, transport)| FeedCase { receiver, transport, wait, load };
                cases.extend(receivers.into_iter().flatten().map(of));
            }
        }
        let of_batch = self.load(0);
        let load = Load { samples: of_batch.samples.div_ceil(BATCHES_PART), ..of_batch };
        let (receiver, transport) = (Receiver::Batch, transport::TransportArgs::default());
        cases.push(FeedCase { receiver, transport, wait: waits[0], load });
        cases
    }

    /// Returns the number of rounds of each column, at most the number of samples.
    pub(super) fn rounds(&self) -> usize {
        (self.rounds as usize).min(self.load(INTERVALS_US[0]).samples as usize).max(1)
    }

    fn load(&self, interval_us: u64) -> Load {
        let samples = if self.quick { QUICK_SAMPLES } else { self.samples };
        Load {
            interval_us,
            warm_up: WARM_UP,
            samples: if interval_us == 0 { samples * MORE } else { samples },
            seed: self.seed,
        }
    }
}

#[cfg(test)]
mod tests {
    use hairpin_cli_harness::args::parse_line;

    use super::*;
    use crate::bench::bench_case::BenchCase as _;

    fn parse(words: &[&str]) -> Result<BenchFeedArgs, clap::Error> {
        parse_line(words.iter().copied())
    }

    fn names(words: &[&str]) -> Vec<(u64, String)> {
        let plan = parse(words).unwrap().plan();
        plan.iter().map(|case| (case.load.interval_us, case.name())).collect()
    }

    #[test]
    fn plans_handler_bare_receiver_and_batch() {
        let expected = [
            (5_000, "spin"),
            (5_000, "spin, kept warm"),
            (5_000, "xdp, spin"),
            (5_000, "preload, spin"),
            (5_000, "bare receiver, spin"),
            (0, "spin"),
            (0, "xdp, spin"),
            (0, "preload, spin"),
            (0, "bare receiver, spin"),
            (0, "batch"),
        ];
        assert_eq!(names(&[]), expected.map(|(interval, name)| (interval, name.to_owned())));
    }

    #[test]
    fn keeps_spinning_receiver_warm_only() {
        let all = names(&["--wait", "spin,epoll"]);
        assert_eq!(all.iter().filter(|(_, name)| name.contains("warm")).count(), 1);
        let by_kernel = names(&["--xdp", "off"]);
        assert_eq!(by_kernel.len(), names(&[]).len() - 2);
        assert!(by_kernel.iter().all(|(_, name)| !name.contains("xdp")));
        let cold = names(&["--keep-warm", "off"]);
        assert!(cold.iter().all(|(_, name)| !name.contains("warm")));
    }

    #[test]
    fn without_a_pause_there_are_ten_times_as_many_samples() {
        let plan = parse(&["--samples", "70"]).unwrap().plan();
        let samples: Vec<u64> = plan.iter().map(|case| case.load.samples).collect();
        assert_eq!(samples, [70, 70, 70, 70, 70, 700, 700, 700, 700, 350]);
        assert_eq!(parse(&["--quick"]).unwrap().plan()[0].load.samples, 350);
    }

    #[test]
    fn there_are_no_rounds_without_samples() {
        assert_eq!(parse(&["--samples", "3"]).unwrap().rounds(), 3);
        assert_eq!(parse(&[]).unwrap().rounds(), 7);
    }

    #[test]
    fn prints_file_without_measuring() {
        assert!(parse(&["--from", "a.json"]).is_ok());
        for words in ["--samples 9", "--rounds 7", "--wait spin", "--seed 1", "--xdp-mode generic"]
        {
            let words: Vec<&str> = words.split(' ').collect();
            assert!(parse(&[&["--from", "a.json"], &words[..]].concat()).is_err());
        }
    }
}
