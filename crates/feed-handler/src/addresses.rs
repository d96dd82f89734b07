//! Where a channel's feeds are.

use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_mdp3::{Feed, Side};

/// The multicast groups of one feed. Either side may be missing.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    /// Group and port of side A.
    pub a: Option<SocketAddrV4>,
    /// Group and port of side B.
    pub b: Option<SocketAddrV4>,
}

impl Lines {
    /// A feed on both sides.
    #[must_use]
    pub const fn both(a: SocketAddrV4, b: SocketAddrV4) -> Self {
        Self { a: Some(a), b: Some(b) }
    }

    /// A feed on side A alone.
    #[must_use]
    pub const fn only_a(a: SocketAddrV4) -> Self {
        Self { a: Some(a), b: None }
    }

    const fn side(&self, side: Side) -> Option<SocketAddrV4> {
        match side {
            Side::A => self.a,
            Side::B => self.b,
        }
    }
}

/// The feeds of a channel, and the network they come by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses {
    /// Feed I: everything as it happens.
    pub incremental: Lines,
    /// Feed N: the loop of definitions.
    pub instrument: Lines,
    /// Feed S: the loop of snapshots.
    pub snapshot: Lines,
    /// The local address of the interface to receive on.
    pub interface: Ipv4Addr,
    /// The only senders to receive from (source-specific multicast); empty: any.
    pub sources: Vec<Ipv4Addr>,
}

impl Addresses {
    /// The group of one side of a feed, if it is sent there.
    #[must_use]
    pub fn group(&self, feed: Feed, side: Side) -> Option<SocketAddrV4> {
        let lines = match feed {
            Feed::Incremental => self.incremental,
            Feed::Instrument => self.instrument,
            Feed::Snapshot => self.snapshot,
            _ => Lines::default(),
        };
        lines.side(side)
    }
}
