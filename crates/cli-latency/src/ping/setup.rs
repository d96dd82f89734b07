//! The messages between the parent of a ping and its two children.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};

use clap::ValueEnum;
use hairpin_cli_harness::transport;
use hairpin_endpoint::Timestamping;
use hairpin_host::ClockSource;
use hairpin_measure::{Clock, Kind, Row, Setting};
use hairpin_wire::MacAddress;
use serde::{Deserialize, Serialize};

use super::flood::Sent;
use super::latency_breakdown::StampCounts;
use super::ping_loop::{Load, PingCounts};
use crate::pong::{FloodReceived, Slowness};

/// The protocol of the pings and their answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum Protocol {
    /// UDP, one datagram per message
    Udp,
    /// UDP to a multicast group; answers are sent to the same group at the next port
    Multicast,
    /// TCP, messages of a fixed length
    Tcp,
    /// Ethernet frames without an IP packet, with AF_XDP
    Raw,
    /// Reliable datagrams over UDP
    Rds,
    /// Reliable datagrams over Ethernet frames, with AF_XDP
    RdsEthernet,
}

impl Protocol {
    /// Returns `true` for reliable datagrams.
    pub(crate) const fn is_rds(self) -> bool {
        matches!(self, Self::Rds | Self::RdsEthernet)
    }

    /// Returns the name in tables and results.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Multicast => "multicast",
            Self::Tcp => "tcp",
            Self::Raw => "raw",
            Self::Rds => "rds",
            Self::RdsEthernet => "rds-ethernet",
        }
    }
}

/// The source of packet timestamps.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum Stamping {
    /// No timestamps
    #[default]
    None,
    /// Timestamps of the kernel
    Software,
    /// Timestamps of the network card where available, else of the kernel
    Hardware,
}

impl Stamping {
    /// Returns the clock for the times of pings. With kernel timestamps it is the kernel's clock:
    /// two clocks that differ by a microsecond would have answers read before they arrived.
    pub(crate) fn clock(self) -> hairpin_host::Clock {
        match self {
            Self::None => hairpin_host::Clock::new(),
            Self::Software | Self::Hardware => hairpin_host::Clock::from_kernel(),
        }
    }
}

impl From<Stamping> for Timestamping {
    fn from(stamping: Stamping) -> Self {
        match stamping {
            Stamping::None => Self::Off,
            Stamping::Software => Self::Software,
            Stamping::Hardware => Self::Hardware,
        }
    }
}

/// Returns the group and port of the answers to multicast pings.
pub(crate) fn answers_to(group: SocketAddrV4) -> SocketAddrV4 {
    SocketAddrV4::new(*group.ip(), group.port().wrapping_add(1))
}

/// The address of a pong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PongAddress {
    /// The IP address or multicast group; unspecified for raw frames.
    pub(crate) address: SocketAddrV4,
    /// The Ethernet address for raw frames, if known.
    pub(crate) mac: Option<[u8; 6]>,
}

impl PongAddress {
    /// The placeholder for a pong that must be discovered, and for setups of which only the setting
    /// is used.
    pub(crate) const NOWHERE: Self =
        Self { address: SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0), mac: None };

    /// Returns the address for raw frames.
    pub(crate) fn raw(mac: Option<[u8; 6]>) -> Self {
        Self { mac, ..Self::NOWHERE }
    }
}

impl From<SocketAddrV4> for PongAddress {
    fn from(address: SocketAddrV4) -> Self {
        Self { address, mac: None }
    }
}

impl fmt::Display for PongAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mac {
            Some(mac) => MacAddress(mac).fmt(f),
            None if *self == Self::NOWHERE => f.write_str("the first that answers"),
            None => self.address.fmt(f),
        }
    }
}

/// The setup of a pong.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PongSetup {
    pub(crate) protocol: Protocol,
    /// The address to listen on, or the multicast group; port 0 lets the kernel choose.
    pub(crate) address: SocketAddrV4,
    /// The local address that joins groups and sends answers.
    pub(crate) interface: Ipv4Addr,
    /// The interface name.
    pub(crate) device: String,
    pub(crate) transport: transport::TransportArgs,
    pub(crate) wait: String,
    pub(crate) core: Option<usize>,
    pub(crate) slowness: Slowness,
    /// `true` if messages are counted, not answered.
    pub(crate) is_flood: bool,
    /// The longest message.
    pub(crate) size_max: usize,
}

/// The pong's address, once it listens.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PongReady {
    pub(crate) place: PongAddress,
    /// The description of its AF_XDP datapath.
    pub(crate) datapath: Option<String>,
}

impl PongReady {
    /// Returns the address of a pong on kernel sockets.
    pub(crate) fn new(address: SocketAddrV4) -> Self {
        Self { place: address.into(), datapath: None }
    }
}

/// The ping is ready to start.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PingReady {
    /// The description of its AF_XDP datapath.
    pub(crate) datapath: Option<String>,
}

/// The counts of a pong.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(crate) struct PongOutcome {
    /// Messages answered.
    pub(crate) answered: u64,
    /// Answers that the kernel did not send.
    pub(crate) refused: u64,
    /// The counts of a flood.
    pub(crate) flood: Option<FloodReceived>,
}

/// The setup of a ping.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PingSetup {
    pub(crate) protocol: Protocol,
    pub(crate) remote: PongAddress,
    /// The local address to send from; unspecified lets the kernel choose.
    pub(crate) interface: Ipv4Addr,
    /// The interface name.
    pub(crate) device: String,
    pub(crate) transport: transport::TransportArgs,
    pub(crate) wait: String,
    pub(crate) core: Option<usize>,
    /// The message size in bytes.
    pub(crate) size: usize,
    pub(crate) load: Load,
    /// The duration of a flood in milliseconds, which replaces the load.
    pub(crate) flood_ms: Option<u64>,
    pub(crate) stamping: Stamping,
}

/// The results of a ping.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PingOutcome {
    pub(crate) rows: Vec<Row>,
    pub(crate) counts: PingCounts,
    /// `true` if the parent stopped the round before its end.
    pub(crate) interrupted: bool,
    /// The counts of timestamps, if enabled.
    pub(crate) stamps: Option<StampCounts>,
    /// The messages sent, for a flood.
    pub(crate) flood: Option<Sent>,
}

/// The case from the intended send time of a ping to its answer.
pub(crate) const PING: &str = "ping";
/// The case from the actual send time.
pub(crate) const SENT: &str = "sent to answer";
/// The case of a flood: nanoseconds per message.
pub(crate) const FLOOD: &str = "flood";

impl PingSetup {
    /// Returns the settings of the rows of a round: from the intended and from the actual send
    /// time.
    pub(crate) fn settings(&self, source: ClockSource) -> [Setting; 2] {
        [PING, SENT].map(|case| self.setting(case, Kind::Rtt, source))
    }

    /// Returns the setting of a flood's row.
    pub(crate) fn flood_setting(&self, source: ClockSource) -> Setting {
        Setting { interval_us: 0, ..self.setting(FLOOD, Kind::Batch, source) }
    }

    fn setting(&self, case: &str, kind: Kind, source: ClockSource) -> Setting {
        Setting {
            bench: "ping".to_owned(),
            case: case.to_owned(),
            feed: None,
            transport: self.transport.transport.name().to_owned(),
            wait: self.wait.clone(),
            protocol: self.protocol.name().to_owned(),
            size_bytes: self.size as u64,
            interval_us: micros(self.load.interval_ns),
            kind,
            clock: match source {
                ClockSource::Tsc => Clock::Tsc,
                ClockSource::Kernel => Clock::Monotonic,
            },
            rounds: 1,
        }
    }
}

/// Returns the nearest number of microseconds, at least 1 for an open loop, because zero means a
/// closed loop.
fn micros(interval_ns: u64) -> u64 {
    match interval_ns {
        0 => 0,
        nanos => ((nanos + 500) / 1_000).max(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_open_from_closed_loop() {
        assert_eq!([0, 1, 1_499, 1_500, 33_333].map(micros), [0, 1, 1, 2, 33]);
    }

    #[test]
    fn answers_come_by_the_next_port() {
        let group = "239.192.1.2:5000".parse().unwrap();
        assert_eq!(answers_to(group), "239.192.1.2:5001".parse().unwrap());
    }
}
