//! A case of the benchmark: protocol, transport and message size.

use hairpin_cli_harness::transport::TransportArgs;
use hairpin_measure::{Clock, Kind, Setting};
use hairpin_reactor::Wait;

use crate::bench::bench_case::{self, Load};
use crate::ping::{Load as PingLoad, PingCase, Protocol};

/// The parameters that the rounds of a case have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RdsCase {
    pub(super) protocol: Protocol,
    pub(super) transport: TransportArgs,
    /// The wait of both processes.
    pub(super) wait: Wait,
    /// The message size in bytes.
    pub(super) size: usize,
    /// The load of all rounds together.
    pub(super) load: Load,
    /// The duration of each round of a flood in milliseconds; `None` for pings.
    pub(super) flood_ms: Option<u64>,
}

impl RdsCase {
    /// Returns the case as one of `hairpin ping`.
    pub(super) fn ping_case(&self) -> PingCase {
        let Load { warm_up, samples, .. } = self.load;
        PingCase {
            protocol: self.protocol,
            transport: self.transport,
            wait: self.wait,
            pong_wait: self.wait,
            size: self.size,
            load: PingLoad { interval_ns: 0, warm_up, samples, connections: 1 },
            flood_ms: self.flood_ms,
        }
    }

    /// Returns the setting of the rows of a failed case.
    pub(super) fn setting(&self) -> Setting {
        let (case, kind) = match self.flood_ms {
            Some(_) => ("flood", Kind::Batch),
            None => ("ping", Kind::Rtt),
        };
        Setting {
            bench: "rds".to_owned(),
            case: case.to_owned(),
            feed: None,
            transport: self.transport.transport.name().to_owned(),
            wait: self.wait.to_string(),
            protocol: self.protocol.name().to_owned(),
            size_bytes: self.size as u64,
            interval_us: 0,
            kind,
            clock: match hairpin_host::Clock::new().source() {
                hairpin_host::ClockSource::Tsc => Clock::Tsc,
                hairpin_host::ClockSource::Kernel => Clock::Monotonic,
            },
            rounds: 1,
        }
    }
}

impl bench_case::BenchCase for RdsCase {
    fn load(&self) -> Load {
        self.load
    }

    fn with_load(&self, load: Load) -> Self {
        Self { load, ..*self }
    }

    fn wait(&self) -> Wait {
        self.wait
    }

    fn name(&self) -> String {
        let (transport, protocol) = (self.transport.transport.name(), self.protocol.name());
        let flood = if self.flood_ms.is_some() { ", flood" } else { "" };
        format!("{transport}, {protocol}, {} bytes{flood}", self.size)
    }
}
