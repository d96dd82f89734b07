//! What the parent of a ping tells its two children, and what they tell it back.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};

use clap::ValueEnum;
use hairpin_endpoint::Timestamping;
use hairpin_host::ClockSource;
use hairpin_measure::{Clock, Kind, Row, Setting};
use hairpin_wire::MacAddress;
use serde::{Deserialize, Serialize};

use super::flood::Sent;
use super::rally::{Counts, Load};
use super::stages::StampCounts;
use crate::pong::{Received, Slowness};
use crate::transport;

/// How pings travel, there and back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum Protocol {
    /// UDP, a datagram a message
    Udp,
    /// UDP to a multicast group; answers come by the same group, at the next port
    Multicast,
    /// TCP, messages of a known length
    Tcp,
    /// Ethernet frames without an IP packet, past the kernel
    Raw,
}

impl Protocol {
    /// The name in tables and results.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Multicast => "multicast",
            Self::Tcp => "tcp",
            Self::Raw => "raw",
        }
    }
}

/// Whose time stamps pings are cut at.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum Stamping {
    /// Nobody's
    #[default]
    None,
    /// The kernel's
    Software,
    /// The network card's where it takes them, else the kernel's
    Hardware,
}

impl Stamping {
    /// What the times of pings are read from. Beside the kernel's stamps it is the kernel's clock,
    /// which they are taken with: two clocks a microsecond apart would have answers read before
    /// they came.
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

/// The group and port by which answers to a multicast ping come.
pub(crate) fn answers_to(group: SocketAddrV4) -> SocketAddrV4 {
    SocketAddrV4::new(*group.ip(), group.port().wrapping_add(1))
}

/// Where a pong is to be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    /// The address, by multicast the group; by raw frames there is none.
    pub(crate) address: SocketAddrV4,
    /// By raw frames the Ethernet address, where it is known.
    pub(crate) mac: Option<[u8; 6]>,
}

impl Place {
    /// For a set-up of which only the setting is wanted, and for a pong that has to be found.
    pub(crate) const NOWHERE: Self =
        Self { address: SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0), mac: None };

    /// By raw frames.
    pub(crate) fn of_raw(mac: Option<[u8; 6]>) -> Self {
        Self { mac, ..Self::NOWHERE }
    }
}

impl From<SocketAddrV4> for Place {
    fn from(address: SocketAddrV4) -> Self {
        Self { address, mac: None }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mac {
            Some(mac) => MacAddress(mac).fmt(f),
            None if *self == Self::NOWHERE => f.write_str("whoever answers"),
            None => self.address.fmt(f),
        }
    }
}

/// What a pong needs to know.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PongSetup {
    pub(crate) protocol: Protocol,
    /// Where it is to be reached, by multicast the group; port 0 has the kernel choose.
    pub(crate) address: SocketAddrV4,
    /// The local address that groups are joined and answered by.
    pub(crate) interface: Ipv4Addr,
    /// The interface's name, and how packets get to it.
    pub(crate) device: String,
    pub(crate) transport: transport::Arguments,
    pub(crate) wait: String,
    pub(crate) core: Option<usize>,
    pub(crate) slowness: Slowness,
    /// Messages are counted, not answered.
    pub(crate) is_flood: bool,
    /// The longest message.
    pub(crate) size_max: usize,
}

/// The pong listens.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PongReady {
    pub(crate) place: Place,
    /// What it stands on past the kernel, in a line.
    pub(crate) way: Option<String>,
}

impl PongReady {
    /// A pong behind the kernel.
    pub(crate) fn at(address: SocketAddrV4) -> Self {
        Self { place: address.into(), way: None }
    }
}

/// The ping is about to begin.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PingReady {
    /// What it stands on past the kernel, in a line.
    pub(crate) way: Option<String>,
}

/// What a pong counted.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(crate) struct PongOutcome {
    /// Messages answered.
    pub(crate) answered: u64,
    /// Answers that the kernel would not send.
    pub(crate) refused: u64,
    /// What came of a flood.
    pub(crate) flood: Option<Received>,
}

/// What a ping needs to know.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PingSetup {
    pub(crate) protocol: Protocol,
    pub(crate) remote: Place,
    /// The local address to send from; unspecified: the kernel's choice.
    pub(crate) interface: Ipv4Addr,
    /// The interface's name, and how packets get to it.
    pub(crate) device: String,
    pub(crate) transport: transport::Arguments,
    pub(crate) wait: String,
    pub(crate) core: Option<usize>,
    /// Bytes of a message.
    pub(crate) size: usize,
    pub(crate) load: Load,
    /// For so many milliseconds messages leave as fast as they can, instead of the load.
    pub(crate) flood_ms: Option<u64>,
    pub(crate) stamping: Stamping,
}

/// What a ping measured.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PingOutcome {
    pub(crate) rows: Vec<Row>,
    pub(crate) counts: Counts,
    /// True when the parent stopped the round before its end.
    pub(crate) interrupted: bool,
    /// What became of its packets' stamps, if any were asked for.
    pub(crate) stamps: Option<StampCounts>,
    /// What left, of a flood.
    pub(crate) flood: Option<Sent>,
}

/// From the intended time of a ping to its answer; product's name.
pub(crate) const PING: &str = "ping";
/// From the time at which it did leave.
pub(crate) const SENT: &str = "sent to answer";
/// Nanoseconds a message of a flood.
pub(crate) const FLOOD: &str = "flood";

impl PingSetup {
    /// The settings of the rows of a round: from the intended time and from the actual one.
    pub(crate) fn settings(&self, source: ClockSource) -> [Setting; 2] {
        [PING, SENT].map(|case| self.setting(case, Kind::Rtt, source))
    }

    /// The setting of a flood's row.
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

/// The nearest number of microseconds; zero is a closed loop and nothing else.
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
    fn an_open_loop_never_reads_as_a_closed_one() {
        assert_eq!([0, 1, 1_499, 1_500, 33_333].map(micros), [0, 1, 1, 2, 33]);
    }

    #[test]
    fn answers_come_by_the_next_port() {
        let group = "239.192.1.2:5000".parse().unwrap();
        assert_eq!(answers_to(group), "239.192.1.2:5001".parse().unwrap());
    }
}
