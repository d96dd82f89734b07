//! What of a ping's words is run, and in how many parts.

use hairpin_reactor::Wait;

use super::ping_loop::Load;
use super::setup::Protocol;

/// One setting: what its rounds have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PingCase {
    pub(super) protocol: Protocol,
    pub(super) wait: Wait,
    /// The pong's.
    pub(super) pong_wait: Wait,
    pub(super) size: usize,
    /// Of all rounds together.
    pub(super) load: Load,
    /// Milliseconds of each round, if it is a flood.
    pub(super) flood_ms: Option<u64>,
}

impl PingCase {
    /// What round `round`, counted from zero, of `rounds` does of it: samples are divided up, none
    /// is lost, and no round is without.
    pub(super) fn share(&self, round: usize, rounds: usize) -> Self {
        let (round, rounds) = (round as u64, rounds as u64);
        let samples = self.load.samples;
        let share = samples / rounds + u64::from(round < samples % rounds);
        Self { load: Load { samples: share.max(1), ..self.load }, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_share_all_samples() {
        for (samples, rounds) in [(20_000, 7), (7, 7), (8, 7), (100, 1)] {
            let load = Load { interval_ns: 0, warm_up: 5, samples, connections: 1 };
            let (protocol, wait) = (Protocol::Udp, Wait::Spin);
            let case = PingCase { protocol, wait, pong_wait: wait, size: 1, load, flood_ms: None };
            let shares = (0..rounds).map(|round| case.share(round, rounds).load.samples);
            assert_eq!(shares.clone().sum::<u64>(), samples);
            assert!(shares.clone().max().unwrap() - shares.min().unwrap() <= 1);
        }
    }
}
