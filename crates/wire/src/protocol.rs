//! IP protocol numbers.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The number of an IP payload's protocol: IPv4's protocol field, IPv6's next header (IANA).
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
pub struct Protocol(pub u8);

impl Protocol {
    /// ICMP for IPv4 (RFC 792).
    pub const ICMPV4: Self = Self(1);
    /// IGMP (RFC 9776).
    pub const IGMP: Self = Self(2);
    /// TCP (RFC 9293).
    pub const TCP: Self = Self(6);
    /// UDP (RFC 768).
    pub const UDP: Self = Self(17);
    /// A fragment of an IPv6 packet (RFC 8200 §4.5).
    pub const IPV6_FRAGMENT: Self = Self(44);
    /// ICMP for IPv6 (RFC 4443).
    pub const ICMPV6: Self = Self(58);
}
