//! The machine of a measurement.

use hairpin_host::HostFacts;
use serde::{Deserialize, Serialize};

/// The facts of a machine that affect its results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// The name of the processor.
    pub cpu: String,
    /// The number of cores available to the measuring processes.
    pub cores: usize,
    /// The kernel's release.
    pub kernel: String,
    /// `true` for a virtual machine, whose host may suspend it at any time.
    pub virtualised: bool,
    /// Ticks of the time stamp counter per second; `None` if it was not used.
    pub tsc_hz: Option<u64>,
    /// The frequency governor; `None` if the kernel does not scale frequencies.
    pub governor: Option<String>,
    /// The network device: a driver's name, `veth` or `loopback`.
    pub nic: String,
    /// The source of receive timestamps.
    pub timestamping: Timestamping,
}

impl Host {
    /// Returns a host from its facts and from the network device and timestamps of this run.
    #[must_use]
    pub fn new(facts: HostFacts, nic: impl Into<String>, timestamping: Timestamping) -> Self {
        let HostFacts { cpu, cores, kernel, virtualised, tsc_hz, governor } = facts;
        let nic = nic.into();
        Self { cpu, cores, kernel, virtualised, tsc_hz, governor, nic, timestamping }
    }
}

/// The source of receive timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timestamping {
    /// No timestamps.
    None,
    /// The kernel, when the driver passes the packet to it.
    Software,
    /// The network card.
    Hardware,
}
