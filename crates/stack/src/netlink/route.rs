//! Routes: where the kernel sends what is for an address.

use std::net::IpAddr;

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::route::{RouteAttribute, RouteHeader, RouteMessage, RouteType};

use super::attributes::{address, attributes, bits, family, number};

/// `struct rtmsg`.
const HEADER: usize = 12;
/// What stands before the address in an `RTA_VIA`: its family.
const VIA_FAMILY: usize = 2;
/// `RTAX_MTU`, an attribute within `RTA_METRICS`.
const METRIC_MTU: u16 = 2;

/// Where packets go, and what they say they come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Route {
    /// The interface that they leave by; of a local route, that which the host has to itself.
    pub(crate) interface: u32,
    /// The source that was asked for, else that which the kernel gives them.
    pub(crate) source: IpAddr,
    /// The next hop; without one it is the destination itself. An IPv4 route may have an IPv6 one.
    pub(crate) gateway: Option<IpAddr>,
    /// Whom they reach.
    pub(crate) kind: RouteKind,
    /// The longest packet in bytes, if the route has a bound of its own or the path has shown one.
    pub(crate) mtu: Option<u32>,
}

/// Whom packets to a destination reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RouteKind {
    /// Another host.
    Unicast,
    /// This host, by an address of its own or one that others have too (anycast).
    Local,
    /// All hosts of the network.
    Broadcast,
    /// The members of a group.
    Multicast,
}

/// Asks the kernel where it would send something.
pub(super) fn question(
    destination: IpAddr,
    source: Option<IpAddr>,
    interface: Option<u32>,
) -> RouteNetlinkMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = family(destination);
    message.header.destination_prefix_length = bits(destination);
    message.header.source_prefix_length = source.map_or(0, bits);
    message.attributes = vec![RouteAttribute::Destination(destination.into())];
    message.attributes.extend(source.map(|source| RouteAttribute::Source(source.into())));
    message.attributes.extend(interface.map(RouteAttribute::Oif));
    RouteNetlinkMessage::GetRoute(message)
}

/// What the kernel answers: a route, perhaps without a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    interface: u32,
    source: Option<IpAddr>,
    gateway: Option<IpAddr>,
    kind: RouteKind,
    mtu: Option<u32>,
}

impl Found {
    /// Reads `RTM_NEWROUTE`.
    pub(crate) fn parse(kind: u16, payload: &[u8]) -> Option<Self> {
        let header = RouteHeader::parse(payload).ok()?;
        if kind != libc::RTM_NEWROUTE {
            return None;
        }
        let (mut interface, mut source, mut gateway, mut mtu) = (None, None, None, None);
        for (kind, value) in attributes(&payload[HEADER..]) {
            match kind {
                libc::RTA_OIF => interface = number(value),
                libc::RTA_PREFSRC => source = address(value),
                libc::RTA_GATEWAY => gateway = address(value),
                libc::RTA_VIA => gateway = value.get(VIA_FAMILY..).and_then(address),
                libc::RTA_METRICS => mtu = metric_mtu(value),
                _ => {}
            }
        }
        let kind = RouteKind::of(header.kind)?;
        Some(Self { interface: interface?, source, gateway, kind, mtu })
    }

    /// The route of packets from `source`, which the kernel does not repeat if it was asked for.
    pub(crate) fn from(self, source: Option<IpAddr>) -> Option<Route> {
        let Self { interface, gateway, kind, mtu, .. } = self;
        let source = source.or(self.source)?;
        Some(Route { interface, source, gateway, kind, mtu })
    }
}

impl RouteKind {
    fn of(kind: RouteType) -> Option<Self> {
        match kind {
            RouteType::Unicast => Some(Self::Unicast),
            RouteType::Local | RouteType::Anycast => Some(Self::Local),
            RouteType::Broadcast => Some(Self::Broadcast),
            RouteType::Multicast => Some(Self::Multicast),
            _ => None,
        }
    }
}

/// Nought stands for none.
fn metric_mtu(metrics: &[u8]) -> Option<u32> {
    let mut found = attributes(metrics).filter(|(kind, _)| *kind == METRIC_MTU);
    found.next().and_then(|(_, value)| number(value)).filter(|&mtu| mtu > 0)
}
