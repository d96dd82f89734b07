//! IPv6.

use core::net::Ipv6Addr;

use zerocopy::{
    FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned, big_endian::U16, big_endian::U32,
};

use crate::{Error, Protocol};

/// The header of an IPv6 packet, 40 bytes (RFC 8200 §3):
///
/// ```text
///  0                                       4                6             7           8
/// | version | traffic class | flow label  | payload length | next header | hop limit |
///  8                        24                       40
/// | source                 | destination            | payload …
/// ```
///
/// Extension headers are not walked: for a packet with extension headers, the next header is not
/// the transport.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned,
)]
#[repr(C)]
pub struct Ipv6Header {
    version_class_label: U32,
    payload_length: U16,
    next_header: Protocol,
    hop_limit: u8,
    source: [u8; 16],
    destination: [u8; 16],
}

view!(Ipv6Header);

accessors!(Ipv6Header {
    /// Bytes 4..6: the payload length in bytes, including extension headers (RFC 8200 §3).
    payload_length, set_payload_length: u16;
    /// Byte 6: the next header (RFC 8200 §3).
    next_header, set_next_header: Protocol;
    /// Byte 7: the hop limit (RFC 8200 §3).
    hop_limit, set_hop_limit: u8;
});

impl Ipv6Header {
    /// Creates a header without a flow label and with a hop limit of 64 (RFC 1700). The length must
    /// be filled in.
    #[must_use]
    pub fn new(next_header: Protocol, source: Ipv6Addr, destination: Ipv6Addr) -> Self {
        Self {
            version_class_label: U32::new(0x6000_0000),
            payload_length: U16::ZERO,
            next_header,
            hop_limit: 64,
            source: source.octets(),
            destination: destination.octets(),
        }
    }

    /// Returns the header, and the payload without the frame's padding.
    ///
    /// # Errors
    /// [`Error::TooShort`] below 40 bytes, [`Error::Version`] if the version is not 6,
    /// [`Error::TotalLength`] if the payload ends beyond `bytes`. A jumbogram (RFC 2675) has length
    /// 0 and appears empty.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Result<(&Self, &[u8]), Error> {
        let (header, rest) = Self::parse_start(bytes)?;
        let payload = rest.get(..usize::from(header.payload_length()));
        Ok((header, payload.ok_or(Error::TotalLength)?))
    }

    /// Parses the start of a truncated packet, such as one quoted by an error. The payload length
    /// is not checked.
    ///
    /// # Errors
    /// [`Error::TooShort`], [`Error::Version`].
    #[inline]
    pub fn parse_start(bytes: &[u8]) -> Result<(&Self, &[u8]), Error> {
        let (header, rest) = Self::split(bytes)?;
        if header.version() != 6 {
            return Err(Error::Version);
        }
        Ok((header, rest))
    }

    /// Returns the highest four bits of byte 0: 6 (RFC 8200 §3).
    #[must_use]
    #[inline]
    pub fn version(&self) -> u8 {
        (self.version_class_label.get() >> 28) as u8
    }

    /// Returns the traffic class, the eight bits after the version: DSCP and ECN (RFC 8200 §7).
    #[must_use]
    #[inline]
    pub fn traffic_class(&self) -> u8 {
        (self.version_class_label.get() >> 20) as u8
    }

    /// Sets [`Self::traffic_class`].
    #[inline]
    pub fn set_traffic_class(&mut self, traffic_class: u8) {
        let others = self.version_class_label.get() & 0xF00F_FFFF;
        self.version_class_label = U32::new(others | u32::from(traffic_class) << 20);
    }

    /// Returns the flow label, the lowest 20 bits of bytes 0..4 (RFC 6437).
    #[must_use]
    #[inline]
    pub fn flow_label(&self) -> u32 {
        self.version_class_label.get() & 0x000F_FFFF
    }

    /// Sets [`Self::flow_label`] to the lowest 20 bits of the argument.
    #[inline]
    pub fn set_flow_label(&mut self, flow_label: u32) {
        let others = self.version_class_label.get() & 0xFFF0_0000;
        self.version_class_label = U32::new(others | flow_label & 0x000F_FFFF);
    }

    /// Returns bytes 8..24: the source address (RFC 8200 §3).
    #[must_use]
    #[inline]
    pub const fn source(&self) -> Ipv6Addr {
        Ipv6Addr::from_octets(self.source)
    }

    /// Sets [`Self::source`].
    #[inline]
    pub const fn set_source(&mut self, source: Ipv6Addr) {
        self.source = source.octets();
    }

    /// Returns bytes 24..40: the destination address (RFC 8200 §3).
    #[must_use]
    #[inline]
    pub const fn destination(&self) -> Ipv6Addr {
        Ipv6Addr::from_octets(self.destination)
    }

    /// Sets [`Self::destination`].
    #[inline]
    pub const fn set_destination(&mut self, destination: Ipv6Addr) {
        self.destination = destination.octets();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_and_label_share_a_word_with_the_version() {
        let mut header = Ipv6Header::new(Protocol::UDP, Ipv6Addr::LOCALHOST, Ipv6Addr::LOCALHOST);
        header.set_traffic_class(0xAB);
        header.set_flow_label(0xFFF1_2345);
        assert_eq!(header.as_bytes()[..4], [0x6A, 0xB1, 0x23, 0x45]);
        header.set_traffic_class(0x01);
        header.set_flow_label(0);
        assert_eq!(header.as_bytes()[..4], [0x60, 0x10, 0, 0]);
        assert_eq!((header.version(), header.traffic_class(), header.flow_label()), (6, 1, 0));
    }

    #[test]
    fn lengths_are_held_against_the_bytes() {
        let mut packet = [0; 45];
        let (header, _) = Ipv6Header::split_mut(&mut packet).unwrap();
        *header = Ipv6Header::new(Protocol::UDP, Ipv6Addr::LOCALHOST, Ipv6Addr::LOCALHOST);
        header.set_payload_length(3);
        assert_eq!(Ipv6Header::parse(&packet).unwrap().1.len(), 3);
        packet[5] = 6;
        assert_eq!(Ipv6Header::parse(&packet), Err(Error::TotalLength));
        assert!(Ipv6Header::parse_start(&packet).is_ok());
        packet[0] = 0x45;
        assert_eq!(Ipv6Header::parse_start(&packet), Err(Error::Version));
        assert_eq!(Ipv6Header::parse(&packet[..39]), Err(Error::TooShort));
    }
}
