//! The packet quoted by an ICMP error.

use core::net::IpAddr;

use crate::{Error, Ipv4Header, Ipv6Header, Protocol, UdpHeader};

/// The beginning of the packet that caused an ICMP error. It is data from the sender of the error,
/// so accept it only if it matches a packet of this host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotedPacket<'a> {
    /// The source address: this host.
    pub source: IpAddr,
    /// The destination address.
    pub destination: IpAddr,
    /// The protocol of the payload.
    pub protocol: Protocol,
    /// The first bytes of the payload, at least 8 if the sender conforms (RFC 792; RFC 4443 §3.1
    /// quotes as much as fits).
    pub transport: &'a [u8],
}

impl<'a> QuotedPacket<'a> {
    /// Parses a packet quoted by ICMP. The total length is not checked, since the packet is
    /// truncated.
    ///
    /// # Errors
    /// The errors of [`Ipv4Header::parse_start`], and [`Error::LaterFragment`].
    pub fn parse_ipv4(bytes: &'a [u8]) -> Result<Self, Error> {
        let (header, _, transport) = Ipv4Header::parse_start(bytes)?;
        if header.fragment_offset() != 0 {
            return Err(Error::LaterFragment);
        }
        let (source, destination) = (header.source().into(), header.destination().into());
        Ok(Self { source, destination, protocol: header.protocol(), transport })
    }

    /// Parses a packet quoted by ICMPv6. Extension headers are not walked: the protocol may then be
    /// one of those.
    ///
    /// # Errors
    /// The errors of [`Ipv6Header::parse_start`].
    pub fn parse_ipv6(bytes: &'a [u8]) -> Result<Self, Error> {
        let (header, transport) = Ipv6Header::parse_start(bytes)?;
        let (source, destination) = (header.source().into(), header.destination().into());
        Ok(Self { source, destination, protocol: header.next_header(), transport })
    }

    /// Returns the source and destination ports, if the packet carried UDP or TCP and contains
    /// them.
    #[must_use]
    pub fn ports(&self) -> Option<(u16, u16)> {
        if !matches!(self.protocol, Protocol::UDP | Protocol::TCP) {
            return None;
        }
        // Both headers begin with the ports, and at least eight bytes are quoted.
        let (header, _) = UdpHeader::split(self.transport).ok()?;
        Some((header.source_port(), header.destination_port()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_truncated_ipv4_packet() {
        let mut bytes = [0; 28];
        let (header, udp) = Ipv4Header::split_mut(&mut bytes).unwrap();
        *header = Ipv4Header::new(Protocol::UDP, [10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        header.set_total_length(1_000);
        *UdpHeader::split_mut(udp).unwrap().0 = UdpHeader::new(7, 9);
        let quoted = QuotedPacket::parse_ipv4(&bytes).unwrap();
        assert_eq!((quoted.ports(), quoted.transport.len()), (Some((7, 9)), 8));
        assert_eq!(quoted.source, IpAddr::from([10, 0, 0, 1]));
        assert_eq!(QuotedPacket::parse_ipv4(&bytes[..27]).unwrap().ports(), None);
        bytes[9] = 1;
        assert_eq!(QuotedPacket::parse_ipv4(&bytes).unwrap().ports(), None);
        bytes[7] = 1;
        assert_eq!(QuotedPacket::parse_ipv4(&bytes), Err(Error::LaterFragment));
    }

    #[test]
    fn parses_ipv6_packet_with_next_header() {
        let mut bytes = [0; 48];
        let (header, tcp) = Ipv6Header::split_mut(&mut bytes).unwrap();
        *header = Ipv6Header::new(Protocol::TCP, [1; 16].into(), [2; 16].into());
        *UdpHeader::split_mut(tcp).unwrap().0 = UdpHeader::new(7, 9);
        let quoted = QuotedPacket::parse_ipv6(&bytes).unwrap();
        assert_eq!((quoted.ports(), quoted.destination), (Some((7, 9)), IpAddr::from([2; 16])));
        bytes[6] = 44;
        assert_eq!(QuotedPacket::parse_ipv6(&bytes).unwrap().ports(), None);
    }
}
