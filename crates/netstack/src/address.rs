//! IPv4 and IPv6 addresses in sixteen bytes.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// An IPv6 address, or an IPv4-mapped IPv6 address (`::ffff:a.b.c.d`, RFC 4291 §2.5.5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Address {
    /// Bytes 0..8 in network order. Two words compare faster than sixteen bytes.
    pub(crate) front: u64,
    /// Bytes 8..16 in network order; an IPv4 address is the last four of them.
    pub(crate) back: u64,
}

/// The second word of an IPv4-mapped address, without the IPv4 address.
const MAPPED: u64 = u64::from_ne_bytes([0, 0, 0xFF, 0xFF, 0, 0, 0, 0]);

impl Address {
    /// The unspecified IPv4 address.
    pub const ANY_IPV4: Self = Self::from_ipv4([0; 4]);
    /// The unspecified IPv6 address.
    pub const ANY_IPV6: Self = Self { front: 0, back: 0 };

    /// The IPv4 limited broadcast address (RFC 919 §7).
    pub const BROADCAST: Self = Self::from_ipv4([0xFF; 4]);

    #[inline]
    pub(crate) const fn from_ipv4(octets: [u8; 4]) -> Self {
        let [a, b, c, d] = octets;
        Self { front: 0, back: MAPPED | u64::from_ne_bytes([0, 0, 0, 0, a, b, c, d]) }
    }

    #[inline]
    const fn octets(self) -> [u8; 16] {
        zerocopy::transmute!(self)
    }

    /// Returns `true` for an IPv4 address.
    #[must_use]
    #[inline]
    pub fn is_ipv4(self) -> bool {
        self.front == 0 && u64::from_be(self.back) >> 32 == 0xFFFF
    }

    /// Returns `true` for the unspecified address of either family.
    #[must_use]
    #[inline]
    pub fn is_any(self) -> bool {
        self == Self::ANY_IPV4 || self == Self::ANY_IPV6
    }

    /// Returns the unspecified address of the same family.
    #[must_use]
    #[inline]
    pub fn any(self) -> Self {
        if self.is_ipv4() { Self::ANY_IPV4 } else { Self::ANY_IPV6 }
    }

    /// Returns `true` for a multicast address.
    #[must_use]
    #[inline]
    pub fn is_multicast(self) -> bool {
        if self.is_ipv4() {
            u64::from_be(self.back) as u32 >> 28 == 0xE
        } else {
            u64::from_be(self.front) >> 56 == 0xFF
        }
    }

    /// Converts to the standard library's type.
    #[inline]
    #[must_use]
    pub fn to_ip(self) -> IpAddr {
        let address = self.to_ipv6();
        address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4)
    }

    #[inline]
    pub(crate) fn ipv4_octets(self) -> [u8; 4] {
        let [.., a, b, c, d] = self.octets();
        [a, b, c, d]
    }

    #[inline]
    pub(crate) const fn to_ipv6(self) -> Ipv6Addr {
        Ipv6Addr::from_octets(self.octets())
    }
}

impl From<Ipv4Addr> for Address {
    #[inline]
    fn from(address: Ipv4Addr) -> Self {
        Self::from_ipv4(address.octets())
    }
}

impl From<Ipv6Addr> for Address {
    #[inline]
    fn from(address: Ipv6Addr) -> Self {
        zerocopy::transmute!(address.octets())
    }
}

impl From<IpAddr> for Address {
    fn from(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => address.into(),
            IpAddr::V6(address) => address.into(),
        }
    }
}

/// An IP address and a UDP port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketAddress {
    /// The IP address.
    pub address: Address,
    /// The port, host byte order.
    pub port: u16,
}

impl SocketAddress {
    /// Creates a socket address.
    #[must_use]
    pub fn new(address: impl Into<Address>, port: u16) -> Self {
        Self { address: address.into(), port }
    }
}
