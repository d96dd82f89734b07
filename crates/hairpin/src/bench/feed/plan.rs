//! What is measured: sets of interval, wait and receiver, and in how many parts.

use hairpin_reactor::Wait;
use serde::{Deserialize, Serialize};

/// Who receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Receiver {
    /// The feed handler.
    Handler {
        /// Dry packets go through it while nothing comes.
        is_kept_warm: bool,
    },
    /// A socket and nothing behind it.
    Bare,
    /// The feed handler's channel alone, on packets in memory, back to back.
    Batch,
}

/// What is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Load {
    /// Microseconds between packets; 0 for no delay.
    pub(crate) interval_us: u64,
    /// Packets of each round before recording begins.
    pub(crate) warm_up: u64,
    /// Packets recorded; of [`Receiver::Batch`] batches.
    pub(crate) samples: u64,
    /// Seed of books and orders.
    pub(crate) seed: u64,
}

/// One set: what its rounds have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) receiver: Receiver,
    pub(crate) wait: Wait,
    /// Of all rounds together.
    pub(crate) load: Load,
}

impl Cell {
    /// What round `round`, counted from zero, of `rounds` does of it: samples are divided up, none
    /// is lost, and no round is without.
    pub(super) fn share(&self, round: usize, rounds: usize) -> Self {
        let (round, rounds) = (round as u64, rounds as u64);
        let samples = self.load.samples;
        let share = samples / rounds + u64::from(round < samples % rounds);
        Self { load: Load { samples: share.max(1), ..self.load }, ..*self }
    }

    /// Its name beside others of the same interval.
    pub(super) fn name(&self) -> String {
        let Self { wait, .. } = self;
        match self.receiver {
            Receiver::Handler { is_kept_warm: false } => format!("{wait}"),
            Receiver::Handler { is_kept_warm: true } => format!("{wait}, kept warm"),
            Receiver::Bare => format!("bare receiver, {wait}"),
            Receiver::Batch => "batch".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_share_all_samples() {
        for (samples, rounds) in [(20_000, 7), (7, 7), (8, 7), (100, 1)] {
            let load = Load { interval_us: 5_000, warm_up: 5, samples, seed: 1 };
            let cell = Cell { receiver: Receiver::Bare, wait: Wait::Spin, load };
            let shares = (0..rounds).map(|round| cell.share(round, rounds).load.samples);
            assert_eq!(shares.clone().sum::<u64>(), samples);
            assert!(shares.clone().max().unwrap() - shares.min().unwrap() <= 1);
        }
    }
}
