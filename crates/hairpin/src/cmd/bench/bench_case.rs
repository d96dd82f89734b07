//! What the columns of every table have in common: a load, in so many rounds.

use hairpin_reactor::Wait;
use serde::{Deserialize, Serialize};

/// What is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Load {
    /// Microseconds between messages; 0 for no delay.
    pub(crate) interval_us: u64,
    /// Messages of each round before recording begins.
    pub(crate) warm_up: u64,
    /// Messages recorded; of a column of batches, batches.
    pub(crate) samples: u64,
    /// Seed of whatever is random.
    pub(crate) seed: u64,
}

impl Load {
    /// What round `round`, counted from zero, of `rounds` does of it: samples are divided up, none
    /// is lost, and no round is without.
    fn share(self, round: usize, rounds: usize) -> Self {
        let (round, rounds) = (round as u64, rounds as u64);
        let share = self.samples / rounds + u64::from(round < self.samples % rounds);
        Self { samples: share.max(1), ..self }
    }
}

/// One column: what its rounds have in common.
pub(super) trait BenchCase: Clone {
    /// Of all rounds together.
    fn load(&self) -> Load;

    /// The same with another load.
    fn with_load(&self, load: Load) -> Self;

    /// How the measured process waits.
    fn wait(&self) -> Wait;

    /// Its name beside others of the same interval.
    fn name(&self) -> String;

    /// What one round of several does of it.
    fn share(&self, round: usize, rounds: usize) -> Self {
        self.with_load(self.load().share(round, rounds))
    }

    /// What lies between its messages, for a person.
    fn pause(&self) -> String {
        pause(self.load().interval_us)
    }
}

/// Microseconds, for a person.
pub(super) fn pause(interval_us: u64) -> String {
    match interval_us {
        0 => "no delay".to_owned(),
        interval => format!("{} ms", interval as f64 / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_share_all_samples() {
        for (samples, rounds) in [(20_000, 7), (7, 7), (8, 7), (100, 1)] {
            let load = Load { interval_us: 5_000, warm_up: 5, samples, seed: 1 };
            let shares = (0..rounds).map(|round| load.share(round, rounds).samples);
            assert_eq!(shares.clone().sum::<u64>(), samples);
            assert!(shares.clone().max().unwrap() - shares.min().unwrap() <= 1);
        }
    }

    #[test]
    fn a_pause_is_in_milliseconds() {
        let expected = [(0, "no delay"), (1_000, "1 ms"), (500, "0.5 ms"), (5_000, "5 ms")];
        assert!(expected.iter().all(|&(interval, words)| pause(interval) == words));
    }
}
