//! Neighbors: the Ethernet addresses of hosts on the same link.

use std::net::IpAddr;

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourFlags, NeighbourHeader, NeighbourMessage,
};

use super::attributes::{self, attributes, family};

/// The size of `struct ndmsg`.
const HEADER: usize = 12;

/// A neighbor with a usable address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Neighbor {
    /// The Ethernet address.
    pub(crate) mac: [u8; 6],
    /// The state of the entry.
    pub(crate) state: NeighborState,
}

/// The state of a neighbor entry (ip-neighbour(8)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NeighborState {
    /// Entered administratively, without expiry.
    Permanent,
    /// No resolution is needed: a group or loopback.
    NoArp,
    /// Confirmed recently.
    Reachable,
    /// Not confirmed recently and not used since.
    Stale,
    /// Not confirmed recently but used since; a probe follows soon.
    Delay,
    /// Being probed.
    Probe,
}

/// An entry of the kernel's neighbor table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) interface: u32,
    pub(crate) address: IpAddr,
    /// `None` while the first resolution is in progress or after it failed.
    pub(crate) neighbor: Option<Neighbor>,
}

/// Builds a request for a neighbor.
pub(super) fn request(interface: u32, address: IpAddr) -> RouteNetlinkMessage {
    RouteNetlinkMessage::GetNeighbour(message(interface, address))
}

/// Builds a message that marks a neighbor as used (`NTF_USE`).
pub(super) fn used_message(interface: u32, address: IpAddr) -> NeighbourMessage {
    let mut message = message(interface, address);
    message.header.flags = NeighbourFlags::Use;
    message
}

fn message(interface: u32, address: IpAddr) -> NeighbourMessage {
    let mut message = NeighbourMessage::default();
    message.header.family = family(address);
    message.header.ifindex = interface;
    let destination = match address {
        IpAddr::V4(address) => NeighbourAddress::Inet(address),
        IpAddr::V6(address) => NeighbourAddress::Inet6(address),
    };
    message.attributes = vec![NeighbourAttribute::Destination(destination)];
    message
}

/// Returns `true` for a neighbor of a bridge port or a proxy entry; neither is a next hop.
pub(super) fn is_ignored(payload: &[u8]) -> bool {
    NeighbourHeader::parse(payload).is_ok_and(|header| {
        let is_ip = [libc::AF_INET, libc::AF_INET6].map(|family| family as u8);
        !is_ip.contains(&header.family.into()) || header.flags.contains(NeighbourFlags::Proxy)
    })
}

/// Parses `RTM_NEWNEIGH` and `RTM_DELNEIGH`.
pub(crate) fn parse(kind: u16, payload: &[u8]) -> Option<Entry> {
    let header = NeighbourHeader::parse(payload).ok()?;
    let (mut address, mut mac) = (None, None);
    for (kind, value) in attributes(&payload[HEADER..]) {
        match kind {
            libc::NDA_DST => address = attributes::address(value),
            libc::NDA_LLADDR => mac = attributes::mac(value),
            _ => {}
        }
    }
    let state = match kind {
        libc::RTM_NEWNEIGH => NeighborState::from_bits(header.state.into()),
        libc::RTM_DELNEIGH => None,
        _ => return None,
    };
    let neighbor = mac.zip(state).map(|(mac, state)| Neighbor { mac, state });
    Some(Entry { interface: header.ifindex, address: address?, neighbor })
}

impl NeighborState {
    fn from_bits(state: u16) -> Option<Self> {
        match state {
            libc::NUD_PERMANENT => Some(Self::Permanent),
            libc::NUD_NOARP => Some(Self::NoArp),
            libc::NUD_REACHABLE => Some(Self::Reachable),
            libc::NUD_STALE => Some(Self::Stale),
            libc::NUD_DELAY => Some(Self::Delay),
            libc::NUD_PROBE => Some(Self::Probe),
            _ => None,
        }
    }
}
