//! A case of the order benchmark: interval, wait and subject.

use hairpin_reactor::Wait;
use serde::{Deserialize, Serialize};

use crate::bench::bench_case;
pub(crate) use crate::bench::bench_case::Load;
use hairpin_cli_harness::transport::{self, Transport};

/// The measured subject and its peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Subject {
    /// Order entry at the exchange's gateway.
    Gateway,
    /// Order entry at a bare gateway, which only reports every order as new.
    BareGateway,
    /// Bare sockets on both sides.
    BareSockets,
    /// Order entry alone, with reports in memory.
    Batch,
}

/// A case: the parameters that its rounds have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OrderCase {
    pub(crate) subject: Subject,
    /// The transport of both sides.
    pub(crate) transport: transport::TransportArgs,
    pub(crate) wait: Wait,
    /// The load of all rounds together.
    pub(crate) load: Load,
}

impl Subject {
    /// Returns the name of a column with this transport and wait.
    pub(super) fn name(self, transport: &str, wait: &str) -> String {
        let datapath = Transport::prefix(transport);
        match self {
            Self::Gateway => format!("{datapath}{wait}"),
            Self::BareGateway => format!("bare gateway, {datapath}{wait}"),
            Self::BareSockets => format!("bare sockets, {datapath}{wait}"),
            Self::Batch => "batch".to_owned(),
        }
    }
}

impl bench_case::BenchCase for OrderCase {
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
        self.subject.name(self.transport.transport.name(), self.wait.name())
    }
}
