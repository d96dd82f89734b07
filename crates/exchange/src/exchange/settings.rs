//! What an exchange is made from.

use std::net::{Ipv4Addr, SocketAddrV4};

use crate::{Credentials, FloorSettings};

/// One of the two sides on which each feed is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FeedSide {
    /// The first.
    A,
    /// The second.
    B,
}

/// Where a feed goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Groups {
    /// Multicast group and port of side A.
    pub a: SocketAddrV4,
    /// Those of side B, if the feed has one.
    pub b: Option<SocketAddrV4>,
}

/// The addresses of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addresses {
    /// Local address of the interface that packets leave from.
    pub interface: Ipv4Addr,
    /// Time to live of the packets: 1 stays on the link.
    pub ttl: u8,
    /// Events and heartbeats.
    pub incremental: Groups,
    /// Definitions.
    pub instruments: Groups,
    /// Snapshots.
    pub snapshots: Groups,
    /// Where the gateway listens; port 0 has the kernel choose one.
    pub gateway: SocketAddrV4,
}

/// What an [`Exchange`](crate::Exchange) is made from.
#[derive(Debug, Clone)]
pub struct ExchangeSettings {
    /// Instruments, order flow, publisher.
    pub floor: FloorSettings,
    /// With it off nothing of the generator's flow is applied after the seeding, and there are no
    /// ticks. Sessions' orders are matched all the same.
    pub matching: bool,
    /// Who may log on.
    pub accounts: Vec<Credentials>,
    /// Connections at once.
    pub connections: u32,
    /// Where everything is.
    pub addresses: Addresses,
}
