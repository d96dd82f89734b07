//! The arguments of `hairpin t2t`.

use anyhow::Result;
use clap::ArgAction;
use hairpin_cli_harness::args::{
    FeedTransport, INTERVAL_US_MAX, SAMPLES, SAMPLES_MAX, WARM_UP, parse_line_outage, parse_switch,
    parse_wait,
};
use hairpin_cli_harness::t2t_setup::{LineOutage, Load};
use hairpin_cli_harness::transport::TransportArgs;
use hairpin_cli_harness::usage::usage_error;
use hairpin_reactor::Wait;

use super::run_context::RunArgs;
use super::run_plan::{INTERVALS_US, ROUNDS_MAX, ROUNDS_PUBLISHED, RunPlan, T2tCase};

/// The interval of `--quick`, in microseconds.
const QUICK_INTERVAL_US: u64 = 500;
/// Ticks recorded per row with `--full`.
const FULL_SAMPLES: u64 = 20_000;

/// `hairpin t2t`: measures tick-to-trade latency. For each feed, wait and interval, an exchange and
/// a trader run as two processes. The exchange publishes a tick at each interval, whether or not
/// earlier ones are answered, and the trader answers each with an order. Latency runs from the
/// intended (and from the actual) time of the tick to the arrival of its order.
///
/// As root, and as an ordinary user where the kernel allows user namespaces, each process has a
/// network namespace, joined by a veth. Otherwise both use loopback.
///
/// With --rounds, every combination of feed, wait and interval is a case measured in that many
/// rounds, and the cases alternate: A B C A B C. Its samples are divided over the rounds. Each
/// round has its own processes, warmed up by 100 ticks. A round that fails also fails its row; the
/// others continue.
///
/// A case whose generator was late is marked. At the end of the table all its rounds run once more,
/// and both runs are reported; with --quick it is only marked.
///
/// The whole table takes about six minutes, --full an hour, --quick about 15 seconds. With interval
/// 0, a tick is intended at the moment it leaves, so such a row does not show waiting time.
#[derive(clap::Args, Debug, Clone)]
pub struct T2tArgs {
    /// Transports of market data [default: both]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) feed: Vec<FeedTransport>,

    /// Waits of the trader: block, poll, epoll, spin, io_uring [default: all]
    #[arg(long, value_name = "WAIT", value_delimiter = ',', value_parser = parse_wait)]
    pub(crate) wait: Vec<Wait>,

    /// With --transport xdp, measure every case over kernel sockets too, in the same run
    #[arg(long)]
    pub(crate) against_kernel: bool,

    /// Microseconds between ticks, 0 for no pause [default: 500,1000,5000,10000]
    #[arg(long, value_name = "N", value_delimiter = ',',
          value_parser = clap::value_parser!(u64).range(0..=INTERVAL_US_MAX))]
    pub(crate) interval_us: Vec<u64>,

    /// Ticks recorded per row
    #[arg(long, value_name = "N", default_value_t = SAMPLES,
          value_parser = clap::value_parser!(u64).range(1..=SAMPLES_MAX))]
    pub(crate) samples: u64,

    /// Do not run late rows again; without --interval-us, run one row per feed and wait at 500 us
    #[arg(long)]
    pub(crate) quick: bool,

    /// Record 20,000 samples per row in 7 rounds: about an hour in all
    #[arg(long, conflicts_with_all = ["samples", "quick"])]
    pub(crate) full: bool,

    /// Divide the samples of a row over N rounds, at most --samples [default: 1; with --full: 7]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=ROUNDS_MAX))]
    pub(crate) rounds: Option<u32>,

    #[command(flatten)]
    pub(crate) context: RunArgs,

    /// Match the generated orders; with `off` there are no ticks
    #[arg(long, value_name = "on|off", default_value = "on", action = ArgAction::Set,
          value_parser = parse_switch)]
    pub(crate) matching: bool,

    /// Seed of the books and the order flow
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Silence side A of the market data after tick FROM for TICKS ticks
    #[arg(long = "mute-a", value_name = "FROM,TICKS", hide = true)]
    #[arg(value_parser = parse_line_outage)]
    pub(crate) outage_a: Option<LineOutage>,

    /// Silence side B of the market data after tick FROM for TICKS ticks
    #[arg(long = "mute-b", value_name = "FROM,TICKS", hide = true)]
    #[arg(value_parser = parse_line_outage)]
    pub(crate) outage_b: Option<LineOutage>,
}

impl T2tArgs {
    /// Returns the cases to run, in the order of the table, and their number of rounds.
    pub(crate) fn plan(&self) -> RunPlan {
        let feeds = self.context.feeds(&self.feed);
        let waits: &[Wait] = if self.wait.is_empty() { &Wait::ALL } else { &self.wait };
        let intervals: &[u64] = match (self.interval_us.is_empty(), self.quick) {
            (true, true) => &[QUICK_INTERVAL_US],
            (true, false) => &INTERVALS_US,
            (false, _) => &self.interval_us,
        };
        let of = |interval_us| self.load(interval_us);
        let cases = T2tCase::all(feeds, intervals, &self.transports(), waits, of);
        let usual = if self.full { ROUNDS_PUBLISHED } else { 1 };
        RunPlan::new(cases, self.rounds.unwrap_or(usual), !self.quick)
    }

    /// Returns the command after this one: after a first run one that counts, then the report.
    pub(super) fn next_command(&self) -> &'static str {
        match self.full {
            true => "compare two such runs: hairpin bench-compare A.json B.json",
            false => "publishable figures: hairpin t2t --full --json t2t.json --report",
        }
    }

    /// Returns the transports, kernel sockets first.
    fn transports(&self) -> Vec<TransportArgs> {
        let kernel = self.against_kernel.then(TransportArgs::default);
        kernel.into_iter().chain([self.context.transport]).collect()
    }

    /// Checks for arguments that conflict with each other.
    ///
    /// # Errors
    /// One line for each.
    pub(super) fn check(&self) -> Result<()> {
        if self.against_kernel && !self.context.transport.bypasses_kernel() {
            usage_error!("--against-kernel is for --transport xdp and preload");
        }
        self.context.check(&self.feed)
    }

    fn load(&self, interval_us: u64) -> Load {
        Load {
            interval_us,
            warm_up: WARM_UP,
            samples: if self.full { FULL_SAMPLES } else { self.samples },
            seed: self.seed,
            matching: self.matching,
            outage_a: self.outage_a,
            outage_b: self.outage_b,
        }
    }
}

#[cfg(test)]
mod tests {
    use hairpin_cli_harness::args::parse_line;

    use super::*;

    fn plan(words: &[&str]) -> RunPlan {
        parse_line::<T2tArgs>(words.iter().copied()).unwrap().plan()
    }

    fn cases(words: &[&str]) -> Vec<T2tCase> {
        plan(words).cases
    }

    #[test]
    fn runs_every_feed_and_wait_at_every_interval() {
        assert_eq!(cases(&[]).len(), 2 * Wait::ALL.len() * INTERVALS_US.len());
    }

    #[test]
    fn quick_is_one_row_per_feed_and_wait() {
        let rows = cases(&["--quick"]);
        assert_eq!(rows.len(), 2 * Wait::ALL.len());
        let is_quick = |case: &T2tCase| case.load.interval_us == 500 && case.load.samples == 2_000;
        assert!(rows.iter().all(is_quick));
        let rows = cases(&["--quick", "--samples", "9", "--interval-us", "7"]);
        assert!(rows.iter().all(|case| (case.load.samples, case.load.interval_us) == (9, 7)));
        assert_eq!(rows.len(), 2 * Wait::ALL.len());
    }

    #[test]
    fn full_is_ten_times_as_many_samples() {
        assert!(cases(&["--full"]).iter().all(|case| case.load.samples == 20_000));
    }

    #[test]
    fn uses_seven_rounds_for_published_results() {
        let rounds = |words: &[&str]| plan(words).rounds;
        assert_eq!((rounds(&[]), rounds(&["--quick"]), rounds(&["--full"])), (1, 1, 7));
        assert_eq!((rounds(&["--rounds", "9"]), rounds(&["--full", "--rounds", "3"])), (9, 3));
    }

    #[test]
    fn late_sets_are_run_again_but_for_quick() {
        assert!(plan(&[]).repeats_late && plan(&["--full"]).repeats_late);
        assert!(!plan(&["--quick"]).repeats_late);
    }

    #[test]
    fn takes_lists() {
        let words = ["--feed", "tcp", "--wait", "epoll,spin", "--interval-us", "100,200,0"];
        let rows = cases(&words);
        assert_eq!(rows.len(), 6);
        assert!(rows.iter().all(|case| case.feed == FeedTransport::Tcp));
    }

    #[test]
    fn kernel_sockets_are_measured_beside_xdp() {
        let words = ["--transport", "xdp", "--against-kernel", "--quick"];
        let rows = cases(&words);
        assert_eq!(rows.len(), 2 * Wait::ALL.len());
        let is_xdp = |case: &T2tCase| case.transport.is_xdp();
        assert!(rows[..5].iter().all(|case| !is_xdp(case)) && rows[5..].iter().all(is_xdp));
        let check = |words: &[&str]| parse_line::<T2tArgs>(words.iter().copied()).unwrap().check();
        assert!(check(&["--against-kernel"]).is_err());
    }

    #[test]
    fn refuses_one_core_for_both() {
        for cpus in ["1,1", "1"] {
            assert!(parse_line::<T2tArgs>(["--cpus", cpus]).is_err());
        }
    }
}
