//! Routes: the kernel's path to an address.

use std::net::IpAddr;

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::route::{RouteAttribute, RouteHeader, RouteMessage, RouteType};

use super::attributes::{address, attributes, bits, family, number};

/// The size of `struct rtmsg`.
const HEADER: usize = 12;
/// The size of the family that precedes the address in `RTA_VIA`.
const VIA_FAMILY: usize = 2;
/// `RTAX_MTU`, an attribute within `RTA_METRICS`.
const METRIC_MTU: u16 = 2;

/// The route of packets and their source address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Route {
    /// The outgoing interface; for a local route, the loopback interface.
    pub(crate) interface: u32,
    /// The requested source, else the kernel's choice.
    pub(crate) source: IpAddr,
    /// The next hop; `None` if the destination is on the link. An IPv4 route may have an IPv6
    /// gateway.
    pub(crate) gateway: Option<IpAddr>,
    /// The kind of destination.
    pub(crate) kind: RouteKind,
    /// The longest packet in bytes, if the route or the path has its own MTU.
    pub(crate) mtu: Option<u32>,
}

/// The kind of destination of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RouteKind {
    /// Another host.
    Unicast,
    /// This host, by its own or an anycast address.
    Local,
    /// All hosts of the subnet.
    Broadcast,
    /// The members of a group.
    Multicast,
}

/// Builds a route request.
pub(super) fn request(
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

/// The kernel's reply: a route, possibly without a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    interface: u32,
    source: Option<IpAddr>,
    gateway: Option<IpAddr>,
    kind: RouteKind,
    mtu: Option<u32>,
}

impl Found {
    /// Parses `RTM_NEWROUTE`.
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
        let kind = RouteKind::from_route_type(header.kind)?;
        Some(Self { interface: interface?, source, gateway, kind, mtu })
    }

    /// Adds the source of packets, which the kernel does not repeat if it was requested.
    pub(crate) fn with_source(self, source: Option<IpAddr>) -> Option<Route> {
        let Self { interface, gateway, kind, mtu, .. } = self;
        let source = source.or(self.source)?;
        Some(Route { interface, source, gateway, kind, mtu })
    }
}

impl RouteKind {
    fn from_route_type(kind: RouteType) -> Option<Self> {
        match kind {
            RouteType::Unicast => Some(Self::Unicast),
            RouteType::Local | RouteType::Anycast => Some(Self::Local),
            RouteType::Broadcast => Some(Self::Broadcast),
            RouteType::Multicast => Some(Self::Multicast),
            _ => None,
        }
    }
}

/// Parses the MTU; 0 means no MTU.
fn metric_mtu(metrics: &[u8]) -> Option<u32> {
    let mut found = attributes(metrics).filter(|(kind, _)| *kind == METRIC_MTU);
    found.next().and_then(|(_, value)| number(value)).filter(|&mtu| mtu > 0)
}
