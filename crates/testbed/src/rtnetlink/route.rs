//! Routes and rules, as a test asks for them.

use std::net::IpAddr;

use netlink_packet_route::route::{
    RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType,
    RouteVia,
};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};

use super::family_of;

/// What becomes of packets to a network.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum RouteKind {
    /// They go on.
    #[default]
    Unicast,
    /// They are dropped without a word.
    Blackhole,
    /// They are refused as unreachable.
    Unreachable,
    /// They are refused as prohibited.
    Prohibited,
}

/// A route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The network, and how many bits of it count.
    pub network: (IpAddr, u8),
    /// What becomes of packets.
    pub kind: RouteKind,
    /// The interface they go out of.
    pub interface: Option<u32>,
    /// The next hop; without one it is the destination itself. It may be of the other family.
    pub gateway: Option<IpAddr>,
    /// The source of those that have none.
    pub source: Option<IpAddr>,
    /// The longest packet in bytes, without the Ethernet header.
    pub mtu: Option<u32>,
    /// The routing table, 1 to 255; without a wish the main one.
    pub table: Option<u8>,
}

impl Route {
    /// A route to a network, of the main table, that leads nowhere yet.
    #[must_use]
    pub fn to(network: IpAddr, prefix_length: u8) -> Self {
        Self {
            network: (network, prefix_length),
            kind: RouteKind::Unicast,
            interface: None,
            gateway: None,
            source: None,
            mtu: None,
            table: None,
        }
    }

    pub(super) fn message(&self) -> RouteMessage {
        let mut message = RouteMessage::default();
        message.header = RouteHeader {
            address_family: family_of(self.network.0),
            destination_prefix_length: self.network.1,
            table: self.table.unwrap_or(RouteHeader::RT_TABLE_MAIN),
            protocol: RouteProtocol::Static,
            scope: self.scope(),
            kind: match self.kind {
                RouteKind::Unicast => RouteType::Unicast,
                RouteKind::Blackhole => RouteType::BlackHole,
                RouteKind::Unreachable => RouteType::Unreachable,
                RouteKind::Prohibited => RouteType::Prohibit,
            },
            ..RouteHeader::default()
        };
        message.attributes = vec![RouteAttribute::Destination(self.network.0.into())];
        message.attributes.extend(self.interface.map(RouteAttribute::Oif));
        message.attributes.extend(self.gateway.map(|gateway| self.gateway_attribute(gateway)));
        let source = self.source.map(|source| RouteAttribute::PrefSource(source.into()));
        message.attributes.extend(source);
        let metrics = self.mtu.map(|mtu| RouteAttribute::Metrics(vec![RouteMetric::Mtu(mtu)]));
        message.attributes.extend(metrics);
        message
    }

    /// IPv4 wants to know how far a route goes.
    fn scope(&self) -> RouteScope {
        match self {
            Self { kind: RouteKind::Unicast, gateway: None, .. } => RouteScope::Link,
            _ => RouteScope::Universe,
        }
    }

    fn gateway_attribute(&self, gateway: IpAddr) -> RouteAttribute {
        match gateway {
            _ if gateway.is_ipv4() == self.network.0.is_ipv4() => {
                RouteAttribute::Gateway(gateway.into())
            }
            IpAddr::V4(gateway) => RouteAttribute::Via(RouteVia::Inet(gateway)),
            IpAddr::V6(gateway) => RouteAttribute::Via(RouteVia::Inet6(gateway)),
        }
    }
}

/// Which routing table packets from a network are looked up in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// The network they come from, and how many bits of it count.
    pub from: (IpAddr, u8),
    /// The table, 1 to 255.
    pub table: u8,
    /// Rules of a lower number come first; 32766 is that of the main table.
    pub priority: u32,
}

impl Rule {
    pub(super) fn message(&self) -> RuleMessage {
        let mut message = RuleMessage::default();
        message.header.family = family_of(self.from.0);
        message.header.src_len = self.from.1;
        message.header.table = self.table;
        message.header.action = RuleAction::ToTable;
        message.attributes =
            vec![RuleAttribute::Source(self.from.0), RuleAttribute::Priority(self.priority)];
        message
    }
}
