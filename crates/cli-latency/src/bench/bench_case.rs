//! The load and the case of a benchmark column.

use hairpin_reactor::Wait;
use serde::{Deserialize, Serialize};

/// The messages of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Load {
    /// The interval between messages in microseconds; 0 for no delay.
    pub(crate) interval_us: u64,
    /// The messages of each round before recording.
    pub(crate) warm_up: u64,
    /// The messages (or batches) recorded.
    pub(crate) samples: u64,
    /// The seed of random values.
    pub(crate) seed: u64,
}

impl Load {
    /// Returns the part of round `round` (from 0) of `rounds`. Samples are divided evenly without
    /// loss, at least one for each round.
    fn share(self, round: usize, rounds: usize) -> Self {
        let (round, rounds) = (round as u64, rounds as u64);
        let share = self.samples / rounds + u64::from(round < self.samples % rounds);
        Self { samples: share.max(1), ..self }
    }
}

/// One column: the parameters that its rounds have in common.
pub(super) trait BenchCase: Clone {
    /// Returns the load of all rounds together.
    fn load(&self) -> Load;

    /// Returns the same case with another load.
    fn with_load(&self, load: Load) -> Self;

    /// Returns the wait of the measured process.
    fn wait(&self) -> Wait;

    /// Returns the name among columns of the same interval.
    fn name(&self) -> String;

    /// Returns the part of one round.
    fn share(&self, round: usize, rounds: usize) -> Self {
        self.with_load(self.load().share(round, rounds))
    }

    /// Describes the interval between messages.
    fn pause(&self) -> String {
        pause(self.load().interval_us)
    }
}

/// Formats microseconds as milliseconds.
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
    fn parses_pause_in_milliseconds() {
        let expected = [(0, "no delay"), (1_000, "1 ms"), (500, "0.5 ms"), (5_000, "5 ms")];
        assert!(expected.iter().all(|&(interval, words)| pause(interval) == words));
    }
}
