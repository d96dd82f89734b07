//! The arguments of `hairpin bench t2t`.

use std::path::PathBuf;

use clap::ValueEnum;
use hairpin_cli_harness::args::{FeedTransport, INTERVAL_US_MAX, SAMPLES, SAMPLES_MAX, WARM_UP};
use hairpin_cli_harness::t2t_setup::Load;

use super::WAITS;
use crate::t2t::{INTERVALS_US, ROUNDS_MAX, ROUNDS_PUBLISHED, RunArgs, RunPlan, T2tCase};

/// The samples of each row of the published table.
const SAMPLES_PUBLISHED: u64 = 20_000;
/// The interval of `--quick`, in microseconds.
const QUICK_INTERVAL_US: u64 = 500;

/// Measure exchange and trader with poll() against epoll(), half the round trip
///
/// Records 20,000 samples each at 500, 1000, 5000 and 10000 us between ticks, over multicast and
/// TCP. The samples are split over 7 rounds, in which all cases alternate, each with its own
/// processes. The run takes about 25 minutes; --quick (2,000 samples at 500 us) about 20 seconds.
///
/// A case whose generator was late is marked. At the end it runs once more, both runs are in the
/// results, and the table shows the later one that was not late; --quick only marks it.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct BenchT2tArgs {
    /// Print the table of a results file written with --json, without measuring
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "quick", "samples", "interval_us", "feed", "rounds", "seed"])]
    pub(crate) from: Option<PathBuf>,

    /// Start of the latency of a tick
    #[arg(long, value_enum, default_value_t = Case::Intended)]
    pub(crate) case: Case,

    /// Transports of market data [default: both]
    #[arg(long, value_enum, value_delimiter = ',')]
    feed: Vec<FeedTransport>,

    /// Intervals between ticks in microseconds [default: 500,1000,5000,10000]
    #[arg(long, value_name = "N", value_delimiter = ',',
          value_parser = clap::value_parser!(u64).range(1..=INTERVAL_US_MAX))]
    interval_us: Vec<u64>,

    /// Ticks recorded per row
    #[arg(long, value_name = "N", default_value_t = SAMPLES_PUBLISHED,
          value_parser = clap::value_parser!(u64).range(1..=SAMPLES_MAX))]
    samples: u64,

    /// Record 2,000 samples at 500 us and do not repeat late cases: about 20 seconds
    #[arg(long, conflicts_with_all = ["samples", "interval_us"])]
    quick: bool,

    /// Rounds that the samples of a row are split over, 7 or more
    #[arg(long, value_name = "N", default_value_t = ROUNDS_PUBLISHED,
          value_parser = clap::value_parser!(u32).range(i64::from(ROUNDS_PUBLISHED)..=ROUNDS_MAX))]
    rounds: u32,

    /// Seed of the books and the order flow
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    pub(crate) context: RunArgs,
}

/// The start of the latency of a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Case {
    /// The intended send time, which includes the wait for a late tick
    Intended,
    /// The actual send time
    Sent,
}

impl Case {
    /// Returns the name in the results file.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Intended => "intended to order",
            Self::Sent => "sent to order",
        }
    }
}

impl BenchT2tArgs {
    /// Returns the cases of the table.
    pub(super) fn plan(&self) -> RunPlan {
        let feeds = self.context.feeds(&self.feed);
        let intervals: &[u64] = match (self.quick, self.interval_us.is_empty()) {
            (true, _) => &[QUICK_INTERVAL_US],
            (false, true) => &INTERVALS_US,
            (false, false) => &self.interval_us,
        };
        let of = |interval_us| self.load(interval_us);
        let cases = T2tCase::all(feeds, intervals, &[self.context.transport], &WAITS, of);
        RunPlan::new(cases, self.rounds, !self.quick)
    }

    /// Returns the selected transports of market data.
    pub(super) fn feeds(&self) -> &[FeedTransport] {
        &self.feed
    }

    fn load(&self, interval_us: u64) -> Load {
        Load {
            interval_us,
            warm_up: WARM_UP,
            samples: if self.quick { SAMPLES } else { self.samples },
            seed: self.seed,
            matching: true,
            outage_a: None,
            outage_b: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairpin_cli_harness::args::parse_line;
    use hairpin_reactor::Wait;

    fn parse(words: &[&str]) -> Result<BenchT2tArgs, clap::Error> {
        parse_line(words.iter().copied())
    }

    fn plan(words: &[&str]) -> RunPlan {
        parse(words).unwrap().plan()
    }

    #[test]
    fn plans_poll_and_epoll_for_feeds_at_four_intervals() {
        let plan = plan(&[]);
        assert_eq!((plan.cases.len(), plan.rounds, plan.repeats_late), (16, 7, true));
        assert!(plan.cases.iter().all(|case| case.load.samples == 20_000));
        // The cases to compare are adjacent in the plan and so in time.
        let is_pair = |pair: &[T2tCase]| {
            let [a, b] = [pair[0], pair[1]];
            a.wait == Wait::Poll && b.wait == Wait::Epoll && T2tCase { wait: Wait::Poll, ..b } == a
        };
        assert!(plan.cases.chunks(2).all(is_pair));
    }

    #[test]
    fn quick_is_one_interval_in_as_many_rounds() {
        let plan = plan(&["--quick"]);
        assert_eq!((plan.cases.len(), plan.rounds, plan.repeats_late), (4, 7, false));
        let is_quick = |case: &T2tCase| case.load.interval_us == 500 && case.load.samples == 2_000;
        assert!(plan.cases.iter().all(is_quick));
    }

    #[test]
    fn fewer_than_seven_rounds_are_refused() {
        assert!(parse(&["--rounds", "6"]).is_err());
        assert_eq!(plan(&["--rounds", "15"]).rounds, 15);
    }

    #[test]
    fn prints_file_without_measuring() {
        assert!(parse(&["--from", "a.json"]).is_ok());
        for words in [["--samples", "9"], ["--rounds", "7"], ["--feed", "tcp"], ["--seed", "1"]] {
            assert!(parse(&[&["--from", "a.json"], &words[..]].concat()).is_err());
        }
    }
}
