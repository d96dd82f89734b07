//! A case of the feed benchmark: interval, wait and receiver.

use hairpin_reactor::Wait;
use serde::{Deserialize, Serialize};

use crate::bench::bench_case;
pub(crate) use crate::bench::bench_case::Load;
use hairpin_cli_harness::transport::{self, Transport};

/// The receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Receiver {
    /// The feed handler.
    Handler {
        /// `true` if warm-up packets are handled while no packet arrives.
        is_kept_warm: bool,
    },
    /// A socket without a feed handler.
    Bare,
    /// The feed handler's channel alone, on packets in memory.
    Batch,
}

/// A case: the parameters that its rounds have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FeedCase {
    pub(crate) receiver: Receiver,
    /// The transport of the packets.
    pub(crate) transport: transport::TransportArgs,
    pub(crate) wait: Wait,
    /// The load of all rounds together.
    pub(crate) load: Load,
}

impl bench_case::BenchCase for FeedCase {
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
        name(self.receiver, self.transport.transport.name(), self.wait.name())
    }
}

/// Returns the name of a column.
pub(super) fn name(receiver: Receiver, transport: &str, wait: &str) -> String {
    let datapath = Transport::prefix(transport);
    match receiver {
        Receiver::Handler { is_kept_warm: false } => format!("{datapath}{wait}"),
        Receiver::Handler { is_kept_warm: true } => format!("{datapath}{wait}, kept warm"),
        Receiver::Bare => format!("bare receiver, {datapath}{wait}"),
        Receiver::Batch => "batch".to_owned(),
    }
}
