//! A case of a ping benchmark and its share of the samples in each round.

use hairpin_cli_harness::transport::TransportArgs;
use hairpin_reactor::Wait;

use super::ping_loop::Load;
use super::setup::Protocol;

/// A case: the parameters that its rounds have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PingCase {
    pub(crate) protocol: Protocol,
    pub(crate) transport: TransportArgs,
    pub(crate) wait: Wait,
    /// The wait of the pong.
    pub(crate) pong_wait: Wait,
    pub(crate) size: usize,
    /// The load of all rounds together.
    pub(crate) load: Load,
    /// The duration of each round in milliseconds, for a flood.
    pub(crate) flood_ms: Option<u64>,
}

impl PingCase {
    /// Returns the part of round `round` (from 0) of `rounds`. Samples are divided evenly without
    /// loss, at least one for each round.
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
            let case = PingCase {
                protocol,
                transport: TransportArgs::default(),
                wait,
                pong_wait: wait,
                size: 1,
                load,
                flood_ms: None,
            };
            let shares = (0..rounds).map(|round| case.share(round, rounds).load.samples);
            assert_eq!(shares.clone().sum::<u64>(), samples);
            assert!(shares.clone().max().unwrap() - shares.min().unwrap() <= 1);
        }
    }
}
