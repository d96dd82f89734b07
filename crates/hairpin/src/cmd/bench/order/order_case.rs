//! A case of the order benchmark: interval, wait and subject.

use hairpin_reactor::Wait;
use serde::{Deserialize, Serialize};

use crate::cmd::bench::bench_case;
pub(crate) use crate::cmd::bench::bench_case::Load;

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
    pub(crate) wait: Wait,
    /// The load of all rounds together.
    pub(crate) load: Load,
}

impl Subject {
    /// Returns the name of a column with this wait.
    pub(super) fn name(self, wait: &str) -> String {
        match self {
            Self::Gateway => wait.to_owned(),
            Self::BareGateway => format!("bare gateway, {wait}"),
            Self::BareSockets => format!("bare sockets, {wait}"),
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
        self.subject.name(self.wait.name())
    }
}
