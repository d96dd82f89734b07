//! Neighbours: the Ethernet addresses of hosts on the same network.

use std::net::IpAddr;

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourFlags, NeighbourHeader, NeighbourMessage,
};

use super::attributes::{self, attributes, family};

/// `struct ndmsg`.
const HEADER: usize = 12;

/// A neighbour that can be sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Neighbour {
    /// Its Ethernet address.
    pub(crate) mac: [u8; 6],
    /// How sure the kernel is of it.
    pub(crate) state: NeighbourState,
}

/// How sure the kernel is of a neighbour's Ethernet address (ip-neighbour(8)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NeighbourState {
    /// Somebody has entered it for ever.
    Permanent,
    /// It needs no finding out: a group's, or loopback.
    NoArp,
    /// It has been heard of lately.
    Reachable,
    /// It has not, and nothing was sent there.
    Stale,
    /// It has not, and something was sent there: it is asked about soon.
    Delay,
    /// It is being asked about.
    Probe,
}

/// An entry of the kernel's table of neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) interface: u32,
    pub(crate) address: IpAddr,
    /// Nothing while it is asked about for the first time, or after it was in vain.
    pub(crate) neighbour: Option<Neighbour>,
}

/// Asks for a neighbour.
pub(super) fn question(interface: u32, address: IpAddr) -> RouteNetlinkMessage {
    RouteNetlinkMessage::GetNeighbour(message(interface, address))
}

/// A neighbour that something is about to be sent to.
pub(super) fn used(interface: u32, address: IpAddr) -> NeighbourMessage {
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

/// Whether a message is about a neighbour of a bridge's port, or one that is answered for here:
/// neither is one to send to.
pub(super) fn is_of_no_concern(payload: &[u8]) -> bool {
    NeighbourHeader::parse(payload).is_ok_and(|header| {
        let is_ip = [libc::AF_INET, libc::AF_INET6].map(|family| family as u8);
        !is_ip.contains(&header.family.into()) || header.flags.contains(NeighbourFlags::Proxy)
    })
}

/// Reads `RTM_NEWNEIGH` and `RTM_DELNEIGH`.
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
        libc::RTM_NEWNEIGH => NeighbourState::of(header.state.into()),
        libc::RTM_DELNEIGH => None,
        _ => return None,
    };
    let neighbour = mac.zip(state).map(|(mac, state)| Neighbour { mac, state });
    Some(Entry { interface: header.ifindex, address: address?, neighbour })
}

impl NeighbourState {
    fn of(state: u16) -> Option<Self> {
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
