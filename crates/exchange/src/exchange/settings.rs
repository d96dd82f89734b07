//! The settings and addresses of an exchange.

use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_endpoint::Transport;

use crate::{Credentials, SimulatedMarketSettings};

/// A feed line: each feed is sent twice, on A and on B. CME calls them feed A and feed B.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FeedLine {
    /// Line A.
    A,
    /// Line B.
    B,
}

impl FeedLine {
    /// Both lines, in the order of sending.
    pub const ALL: [Self; 2] = [Self::A, Self::B];
}

/// The multicast destinations of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Groups {
    /// Multicast group and port of line A.
    pub a: SocketAddrV4,
    /// Multicast group and port of line B, if the feed has one.
    pub b: Option<SocketAddrV4>,
}

/// The multicast feeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Multicast {
    /// The local address of the outgoing interface.
    pub interface: Ipv4Addr,
    /// The time to live of the packets: 1 stays on the link.
    pub ttl: u8,
    /// The incremental feed: events and heartbeats.
    pub incremental: Groups,
    /// The instrument feed: definitions.
    pub instruments: Groups,
    /// The snapshot feed.
    pub snapshots: Groups,
    /// The order snapshot feed, if there is one.
    pub order_snapshots: Option<Groups>,
}

/// The TCP feeds. Each connection carries all feeds; each packet follows its length in two bytes,
/// little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpFeed {
    /// The listening address of line A; with port 0 the kernel chooses a port.
    pub a: SocketAddrV4,
    /// The listening address of line B, if there is one.
    pub b: Option<SocketAddrV4>,
    /// The maximum number of connections on each line. The capacity of the reactor limits the sum
    /// of these and the gateway's connections.
    pub connections: u32,
    /// Bytes queued for a connection that does not read, in addition to the kernel's buffer. A
    /// connection that needs more is closed.
    pub backlog: usize,
}

impl TcpFeed {
    /// Creates both lines, with up to eight traders each. Each trader may be 4 MiB behind, which is
    /// a few seconds at the fastest pace.
    #[must_use]
    pub const fn new(a: SocketAddrV4, b: SocketAddrV4) -> Self {
        Self { a, b: Some(b), connections: 8, backlog: 4 << 20 }
    }
}

/// The addresses of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addresses {
    /// The multicast feeds, if any.
    pub multicast: Option<Multicast>,
    /// The TCP feeds, if any. An exchange can have both.
    pub tcp: Option<TcpFeed>,
    /// The listening address of the gateway; with port 0 the kernel chooses a port.
    pub gateway: SocketAddrV4,
}

/// The settings of an [`Exchange`](crate::Exchange).
#[derive(Debug, Clone)]
pub struct ExchangeSettings {
    /// The settings of instruments, order flow and publisher.
    pub market: SimulatedMarketSettings,
    /// Enables the generator. If `false`, the generated order flow stops after the seeding and
    /// there are no ticks. Orders of sessions are still matched.
    pub matching: bool,
    /// The accounts that may log on.
    pub accounts: Vec<Credentials>,
    /// The maximum number of gateway connections.
    pub connections: u32,
    /// The addresses of feeds and gateway.
    pub addresses: Addresses,
    /// The transport of the multicast packets and the gateway's connections: through the kernel or
    /// bypassing it.
    pub transport: Transport,
}
