//! What an exchange is made from.

use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_endpoint::Transport;

use crate::{Credentials, SimulatedMarketSettings};

/// One of the two sides on which each feed is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FeedSide {
    /// The first.
    A,
    /// The second.
    B,
}

impl FeedSide {
    /// Both, in the order in which a packet leaves on them.
    pub const ALL: [Self; 2] = [Self::A, Self::B];
}

/// Where a feed goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Groups {
    /// Multicast group and port of side A.
    pub a: SocketAddrV4,
    /// Those of side B, if the feed has one.
    pub b: Option<SocketAddrV4>,
}

/// The feeds by multicast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Multicast {
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
    /// Snapshots of orders, if they are sent.
    pub order_snapshots: Option<Groups>,
}

/// The feeds by TCP: on each connection all of them, each packet behind its length in two bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpFeed {
    /// Where side A listens; port 0 has the kernel choose one.
    pub a: SocketAddrV4,
    /// Where side B listens, if there is one.
    pub b: Option<SocketAddrV4>,
    /// Connections at once, on each side. All that is waited for together, the gateway's
    /// connections too, is limited by what a reactor holds.
    pub connections: u32,
    /// Bytes that are kept for a connection that does not take them, beside what the kernel keeps.
    /// A connection that needs more is closed.
    pub backlog: usize,
}

impl TcpFeed {
    /// Both sides, for up to eight traders, each of which may be 4 MiB behind: some seconds of the
    /// fastest pace.
    #[must_use]
    pub const fn new(a: SocketAddrV4, b: SocketAddrV4) -> Self {
        Self { a, b: Some(b), connections: 8, backlog: 4 << 20 }
    }
}

/// The addresses of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addresses {
    /// The feeds by multicast, if they go that way.
    pub multicast: Option<Multicast>,
    /// The feeds by TCP, if they go that way. Both may be.
    pub tcp: Option<TcpFeed>,
    /// Where the gateway listens; port 0 has the kernel choose one.
    pub gateway: SocketAddrV4,
}

/// What an [`Exchange`](crate::Exchange) is made from.
#[derive(Debug, Clone)]
pub struct ExchangeSettings {
    /// Instruments, order flow, publisher.
    pub floor: SimulatedMarketSettings,
    /// With it off nothing of the generator's flow is applied after the seeding, and there are no
    /// ticks. Sessions' orders are matched all the same.
    pub matching: bool,
    /// Who may log on.
    pub accounts: Vec<Credentials>,
    /// Connections of the gateway at once.
    pub connections: u32,
    /// Where everything is.
    pub addresses: Addresses,
    /// How what goes by multicast leaves, through the kernel or past it.
    pub transport: Transport,
}
