//! Ethernet II.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned, big_endian::U16};

use crate::MacAddress;

/// The EtherType: the protocol of a frame's payload or of the data after a tag (IEEE 802.3 §3.2.6,
/// IANA).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EtherType(pub u16);

impl EtherType {
    /// IPv4 (RFC 894).
    pub const IPV4: Self = Self(0x0800);
    /// ARP (RFC 826).
    pub const ARP: Self = Self(0x0806);
    /// A customer VLAN tag (IEEE 802.1Q).
    pub const VLAN: Self = Self(0x8100);
    /// IPv6 (RFC 2464 §3).
    pub const IPV6: Self = Self(0x86DD);
    /// A provider VLAN tag, outside a customer tag (IEEE 802.1ad).
    pub const PROVIDER_VLAN: Self = Self(0x88A8);

    /// Returns `true` if a [`VlanTag`](crate::VlanTag) follows.
    #[must_use]
    #[inline]
    pub const fn is_vlan(self) -> bool {
        matches!(self, Self::VLAN | Self::PROVIDER_VLAN)
    }

    /// Returns `true` if the value is a length, below 0x0600: the frame is then an 802.3 frame with
    /// LLC.
    #[must_use]
    #[inline]
    pub const fn is_length(self) -> bool {
        self.0 < 0x0600
    }
}

impl From<U16> for EtherType {
    #[inline]
    fn from(word: U16) -> Self {
        Self(word.get())
    }
}

impl From<EtherType> for U16 {
    #[inline]
    fn from(ether_type: EtherType) -> Self {
        Self::new(ether_type.0)
    }
}

/// The header of an Ethernet frame, 14 bytes (IEEE 802.3 §3.1.1):
///
/// ```text
///  0           6           12     14
/// | destination | source    | type | payload …
/// ```
///
/// A frame is padded to 60 bytes, so the payload may be longer than the packet in it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned,
)]
#[repr(C)]
pub struct EthernetHeader {
    destination: MacAddress,
    source: MacAddress,
    ether_type: U16,
}

view!(EthernetHeader);

accessors!(EthernetHeader {
    /// Bytes 0..6: the destination address (IEEE 802.3 §3.2.4).
    destination, set_destination: MacAddress;
    /// Bytes 6..12: the source address (IEEE 802.3 §3.2.5).
    source, set_source: MacAddress;
    /// Bytes 12..14: the EtherType (IEEE 802.3 §3.2.6).
    ether_type, set_ether_type: EtherType;
});

impl EthernetHeader {
    /// Creates a header with these fields.
    #[must_use]
    pub fn new(destination: MacAddress, source: MacAddress, ether_type: EtherType) -> Self {
        Self { destination, source, ether_type: ether_type.into() }
    }
}
