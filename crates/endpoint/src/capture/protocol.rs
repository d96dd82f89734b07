//! The protocols of packets that are not decoded.

use std::fmt;

/// The innermost protocol of a packet that is neither UDP nor TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Protocol {
    /// A frame with this EtherType.
    EtherType(u16),
    /// A frame with this destination service access point of IEEE 802.2.
    Llc(u8),
    /// An IP packet with this protocol number, or IPv6 next header.
    Ip(u8),
    /// A Linux cooked packet of this ARPHRD type whose protocol field has another meaning.
    Hardware(u16),
    /// A loopback packet of this address family.
    Family(u32),
    /// A frame that ends within the header of its link type.
    Short,
    /// A frame with more headers in each other than are decoded.
    Nested,
}

impl Protocol {
    /// Returns the usual name.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::EtherType(0x0806) => "ARP",
            Self::EtherType(0x8035) => "RARP",
            Self::EtherType(0x8808) => "Ethernet flow control",
            Self::EtherType(0x8809) => "slow protocols",
            Self::EtherType(0x8863) => "PPPoE discovery",
            Self::EtherType(0x8864) => "PPPoE",
            Self::EtherType(0x888e) => "802.1X",
            Self::EtherType(0x88cc) => "LLDP",
            Self::EtherType(0x88e5) => "MACsec",
            Self::EtherType(0x88f7) => "PTP",
            Self::EtherType(0x8902) => "CFM",
            Self::EtherType(0x8906) => "FCoE",
            Self::EtherType(0x8914) => "FIP",
            Self::EtherType(0x8915) => "RoCE",
            Self::EtherType(0x9000) => "loopback test",
            Self::EtherType(0x0800) => "IPv4",
            Self::EtherType(0x86dd) => "IPv6",
            Self::EtherType(0x8847 | 0x8848) => "MPLS",
            Self::EtherType(0xd28b) => "Arista",
            Self::Llc(0x42) => "spanning tree",
            Self::Llc(0xfe) => "IS-IS",
            Self::Ip(1) => "ICMP",
            Self::Ip(2) => "IGMP",
            Self::Ip(47) => "GRE",
            Self::Ip(50) => "ESP",
            Self::Ip(58) => "ICMPv6",
            Self::Ip(59) => "no next header",
            Self::Ip(88) => "EIGRP",
            Self::Ip(89) => "OSPF",
            Self::Ip(103) => "PIM",
            Self::Ip(112) => "VRRP",
            Self::Ip(132) => "SCTP",
            _ => return None,
        })
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EtherType(number) => write!(f, "EtherType 0x{number:04x}")?,
            Self::Llc(number) => write!(f, "LLC service access point 0x{number:02x}")?,
            Self::Ip(number) => write!(f, "IP protocol {number}")?,
            Self::Hardware(number) => write!(f, "cooked hardware type {number}")?,
            Self::Family(number) => write!(f, "address family {number}")?,
            Self::Short => f.write_str("frames without a whole link header")?,
            Self::Nested => f.write_str("too many nested headers")?,
        }
        self.name().map_or(Ok(()), |name| write!(f, " ({name})"))
    }
}
