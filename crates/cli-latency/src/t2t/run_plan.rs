//! What to measure: cases of feed, wait and load, and their number of rounds.

use hairpin_cli_harness::args::FeedTransport;
use hairpin_cli_harness::t2t_setup::Load;
use hairpin_cli_harness::transport::TransportArgs;
use hairpin_reactor::Wait;

/// The intervals of the whole table, in microseconds.
pub(crate) const INTERVALS_US: [u64; 4] = [500, 1_000, 5_000, 10_000];
/// The number of rounds of published results: an interval over fewer means little.
pub(crate) const ROUNDS_PUBLISHED: u32 = 7;
/// The largest number of rounds: with more, all would be warm-up.
pub(crate) const ROUNDS_MAX: i64 = 1_000;

/// One case of the plan: what runs, without where and with what key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct T2tCase {
    pub(crate) feed: FeedTransport,
    pub(crate) transport: TransportArgs,
    pub(crate) wait: Wait,
    pub(crate) load: Load,
}

impl T2tCase {
    /// Returns every wait over every transport at every interval over every feed, in the order of
    /// the table.
    pub(crate) fn all(
        feeds: &[FeedTransport],
        intervals: &[u64],
        transports: &[TransportArgs],
        waits: &[Wait],
        load: impl Fn(u64) -> Load,
    ) -> Vec<Self> {
        let mut cases = Vec::with_capacity(feeds.len() * intervals.len() * waits.len());
        for &feed in feeds {
            for load in intervals.iter().map(|&interval_us| load(interval_us)) {
                for &transport in transports {
                    cases.extend(waits.iter().map(|&wait| Self { feed, transport, wait, load }));
                }
            }
        }
        cases
    }
}

/// Cases, and the number of rounds of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunPlan {
    pub(crate) cases: Vec<T2tCase>,
    pub(crate) rounds: u32,
    /// Cases whose generator was late run once more.
    pub(crate) repeats_late: bool,
}

impl RunPlan {
    /// Creates a plan of `rounds` rounds, or of one per sample if there are fewer samples.
    pub(crate) fn new(cases: Vec<T2tCase>, rounds: u32, repeats_late: bool) -> Self {
        let fewest = cases.iter().map(|case| case.load.samples).min().unwrap_or(1);
        let rounds = rounds.min(u32::try_from(fewest).unwrap_or(u32::MAX)).max(1);
        Self { cases, rounds, repeats_late }
    }

    /// Returns one round of one case: its part of the samples. The first rounds may have one more.
    pub(super) fn share(&self, side: usize, round: usize) -> T2tCase {
        let case = self.cases[side];
        let (samples, rounds) = (case.load.samples, u64::from(self.rounds));
        let extra = u64::from((round as u64) < samples % rounds);
        T2tCase { load: Load { samples: samples / rounds + extra, ..case.load }, ..case }
    }

    /// Drops the cases of waits that this host does not have, and returns a note that names them.
    pub(crate) fn leave_out(&mut self) -> String {
        let mut said = String::new();
        for wait in Wait::ALL {
            let mut reasons = Vec::new();
            self.cases.retain(|case| {
                let probed = if case.wait == wait { case.transport.probe(wait) } else { Ok(()) };
                probed.map_err(|reason| reasons.push(reason)).is_ok()
            });
            if let Some(reason) = reasons.first() {
                said += &format!("\nwait {wait} is not available: {reason}");
            }
        }
        said
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a load of so many samples.
    pub(in crate::t2t) fn load(samples: u64, interval_us: u64) -> Load {
        Load {
            interval_us,
            warm_up: 100,
            samples,
            seed: 1,
            matching: true,
            outage_a: None,
            outage_b: None,
        }
    }

    /// Returns so many cases with the intervals 100, 200, 300 us and so on.
    pub(in crate::t2t) fn plan(sets: u64, samples: u64, rounds: u32) -> RunPlan {
        let intervals: Vec<u64> = (1..=sets).map(|set| set * 100).collect();
        let load = |interval_us| load(samples, interval_us);
        let (feeds, transports) = ([FeedTransport::Tcp], [TransportArgs::default()]);
        let cases = T2tCase::all(&feeds, &intervals, &transports, &[Wait::Epoll], load);
        RunPlan::new(cases, rounds, true)
    }

    #[test]
    fn samples_are_split_over_the_rounds_and_none_is_left() {
        for (samples, rounds) in [(2_000, 7), (20_000, 7), (7, 7), (1, 1), (100, 3)] {
            let plan = plan(2, samples, rounds);
            let share = |round| plan.share(1, round as usize).load.samples;
            let shares: Vec<u64> = (0..rounds).map(share).collect();
            assert_eq!(shares.iter().sum::<u64>(), samples);
            assert!(shares.iter().all(|&share| share.abs_diff(shares[0]) <= 1), "{shares:?}");
        }
    }

    #[test]
    fn share_changes_only_samples() {
        let plan = plan(3, 70, 7);
        let share = plan.share(2, 4);
        let whole = plan.cases[2];
        assert_eq!(T2tCase { load: Load { samples: 70, ..share.load }, ..share }, whole);
        assert_eq!((share.load.samples, share.load.interval_us), (10, 300));
    }

    #[test]
    fn there_are_no_rounds_without_samples() {
        assert_eq!(plan(1, 3, 7).rounds, 3);
        assert_eq!(plan(0, 3, 7).rounds, 1);
    }
}
