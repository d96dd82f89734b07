//! The machine that a result comes from.

use hairpin_host::HostFacts;
use serde::{Deserialize, Serialize};

/// What must be known of a machine to read its numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// The processor's own name.
    pub cpu: String,
    /// Cores that the measuring processes could use.
    pub cores: usize,
    /// The kernel's release.
    pub kernel: String,
    /// Whether it is a virtual machine, whose host may stop it at any time.
    pub virtualised: bool,
    /// Ticks of the time stamp counter per second; `None` if it was not used.
    pub tsc_hz: Option<u64>,
    /// The frequency governor; `None` if the kernel does not scale frequencies.
    pub governor: Option<String>,
    /// What the packets went through: a driver's name, `veth` or `loopback`.
    pub nic: String,
    /// Who stamped the packets that arrived.
    pub timestamping: Timestamping,
}

impl Host {
    /// A host by its facts, and by what the packets of this run went through.
    #[must_use]
    pub fn new(facts: HostFacts, nic: impl Into<String>, timestamping: Timestamping) -> Self {
        let HostFacts { cpu, cores, kernel, virtualised, tsc_hz, governor } = facts;
        let nic = nic.into();
        Self { cpu, cores, kernel, virtualised, tsc_hz, governor, nic, timestamping }
    }
}

/// Who stamps packets with their time of arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timestamping {
    /// Nobody.
    None,
    /// The kernel, when its driver hands the packet over.
    Software,
    /// The network card.
    Hardware,
}
