//! Ethernet addresses.

use core::fmt;
use core::net::{Ipv4Addr, Ipv6Addr};

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// An Ethernet address: six bytes in transmission order (IEEE 802.3 §3.2.3).
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    FromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
    Unaligned,
)]
#[repr(transparent)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// The broadcast address `ff:ff:ff:ff:ff:ff`.
    pub const BROADCAST: Self = Self([0xFF; 6]);

    /// Returns `true` for a group address, including broadcast: the lowest bit of the first byte is
    /// set.
    #[must_use]
    #[inline]
    pub const fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }

    /// Returns the address of an IPv4 multicast group: `01:00:5e` and the group's lowest 23 bits
    /// (RFC 1112 §6.4).
    #[must_use]
    pub const fn from_ipv4_group(group: Ipv4Addr) -> Self {
        let [_, b, c, d] = group.octets();
        Self([0x01, 0x00, 0x5E, b & 0x7F, c, d])
    }

    /// Returns the address of an IPv6 multicast group: `33:33` and the group's lowest 32 bits (RFC
    /// 2464 §7).
    #[must_use]
    pub const fn from_ipv6_group(group: Ipv6Addr) -> Self {
        let [.., a, b, c, d] = group.octets();
        Self([0x33, 0x33, a, b, c, d])
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    #[test]
    fn ipv4_group_keeps_lowest_23_bits() {
        // 224.0.1.129 of PTP (IEEE 1588 annex D), and one whose highest bits are lost.
        let mac = |group| MacAddress::from_ipv4_group(group).to_string();
        assert_eq!(mac(Ipv4Addr::new(224, 0, 1, 129)), "01:00:5e:00:01:81");
        assert_eq!(mac(Ipv4Addr::new(239, 129, 255, 7)), "01:00:5e:01:ff:07");
    }

    #[test]
    fn ipv6_group_keeps_lowest_32_bits() {
        let group = "ff02::1:ffab:cdef".parse().unwrap();
        assert_eq!(MacAddress::from_ipv6_group(group).to_string(), "33:33:ff:ab:cd:ef");
    }

    #[test]
    fn group_bit_is_lowest_bit_of_first_byte() {
        assert!(MacAddress::BROADCAST.is_group() && MacAddress([1, 0, 0, 0, 0, 0]).is_group());
        assert!(!MacAddress([0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]).is_group());
    }
}
