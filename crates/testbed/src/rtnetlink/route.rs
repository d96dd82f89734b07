//! Routes and routing rules.

use std::net::IpAddr;

use netlink_packet_route::route::{
    RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType,
    RouteVia,
};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};

use super::family;

/// The treatment of packets to a network.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum RouteKind {
    /// Forwarded to the interface or gateway.
    #[default]
    Unicast,
    /// Dropped silently.
    Blackhole,
    /// Rejected as unreachable.
    Unreachable,
    /// Rejected as prohibited.
    Prohibited,
}

/// A route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The network and its prefix length.
    pub network: (IpAddr, u8),
    /// The treatment of packets.
    pub kind: RouteKind,
    /// The index of the outgoing interface.
    pub interface: Option<u32>,
    /// The next hop, of either address family; `None` if the destination is on the link.
    pub gateway: Option<IpAddr>,
    /// The preferred source address of packets.
    pub source: Option<IpAddr>,
    /// The MTU: the longest packet in bytes without the Ethernet header.
    pub mtu: Option<u32>,
    /// The routing table, 1 to 255; `None` for the main table.
    pub table: Option<u8>,
}

impl Route {
    /// Returns a route of the main table to a network, without interface and gateway.
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
            address_family: family(self.network.0),
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

    /// Returns the scope, which IPv4 requires.
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

/// A rule that selects the routing table for packets from a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// The source network and its prefix length.
    pub from: (IpAddr, u8),
    /// The table, 1 to 255.
    pub table: u8,
    /// The priority: rules with lower numbers are first. The main table has 32766.
    pub priority: u32,
}

impl Rule {
    pub(super) fn message(&self) -> RuleMessage {
        let mut message = RuleMessage::default();
        message.header.family = family(self.from.0);
        message.header.src_len = self.from.1;
        message.header.table = self.table;
        message.header.action = RuleAction::ToTable;
        message.attributes =
            vec![RuleAttribute::Source(self.from.0), RuleAttribute::Priority(self.priority)];
        message
    }
}
