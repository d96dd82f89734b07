//! The parts of a frame that the relay uses.

use std::ops::Range;

use crate::faults::{Filter, Part};

/// The length of two addresses and the EtherType (IEEE 802.3).
pub(crate) const ETHERNET_HEADER: usize = 14;
/// The length of an 802.1Q tag in front of the EtherType.
pub(crate) const VLAN_TAG: usize = 4;
const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_ARP: u16 = 0x0806;
const ETHERTYPE_IPV6: u16 = 0x86dd;
/// The EtherTypes of 802.1Q and 802.1ad tags.
const ETHERTYPES_VLAN: [u16; 2] = [0x8100, 0x88a8];
pub(crate) const PROTOCOL_TCP: u8 = 6;
pub(crate) const PROTOCOL_UDP: u8 = 17;
pub(crate) const UDP_HEADER: usize = 8;

/// The positions of headers and payload in a frame. All ranges are within the frame, even if its
/// length fields are wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) is_arp: bool,
    pub(crate) is_ipv4: bool,
    /// The protocol number of the IP header.
    protocol: Option<u8>,
    /// The source and destination port.
    ports: Option<[u16; 2]>,
    /// Everything after the Ethernet header and its tags.
    pub(crate) packet: Range<usize>,
    /// The payload of UDP or TCP, otherwise of IP, otherwise the packet.
    payload: Range<usize>,
}

impl Frame {
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let mut at = ETHERNET_HEADER;
        while word(bytes, at - 2).is_some_and(|kind| ETHERTYPES_VLAN.contains(&kind)) {
            at += VLAN_TAG;
        }
        let kind = word(bytes, at - 2);
        let packet = at.min(bytes.len())..bytes.len();
        let mut frame = Self {
            is_arp: kind == Some(ETHERTYPE_ARP),
            is_ipv4: kind == Some(ETHERTYPE_IPV4),
            protocol: None,
            ports: None,
            payload: packet.clone(),
            packet,
        };
        match kind {
            Some(ETHERTYPE_IPV4) => frame.parse_ipv4(bytes),
            Some(ETHERTYPE_IPV6) => frame.parse_ipv6(bytes),
            _ => None,
        };
        frame
    }

    /// Parses an IPv4 header (RFC 791 3.1).
    fn parse_ipv4(&mut self, bytes: &[u8]) -> Option<()> {
        let at = self.packet.start;
        let header = usize::from(bytes.get(at)? & 0x0f) * 4;
        let length = usize::from(word(bytes, at + 2)?);
        let fragment = word(bytes, at + 6)? & 0x1fff;
        self.protocol = Some(*bytes.get(at + 9)?);
        let end = (at + length).min(bytes.len());
        self.payload = (at + header).min(end)..end;
        if fragment == 0 { self.parse_transport(bytes) } else { None }
    }

    /// Parses an IPv6 header (RFC 8200 3). Extension headers are not parsed.
    fn parse_ipv6(&mut self, bytes: &[u8]) -> Option<()> {
        let at = self.packet.start;
        let length = usize::from(word(bytes, at + 4)?);
        self.protocol = Some(*bytes.get(at + 6)?);
        let end = (at + 40 + length).min(bytes.len());
        self.payload = (at + 40).min(end)..end;
        self.parse_transport(bytes)
    }

    /// Parses a UDP (RFC 768) or TCP header (RFC 9293 3.1).
    fn parse_transport(&mut self, bytes: &[u8]) -> Option<()> {
        let Range { start, end } = self.payload;
        let header = match self.protocol? {
            PROTOCOL_UDP => UDP_HEADER,
            PROTOCOL_TCP => usize::from(bytes.get(start + 12)? >> 4) * 4,
            _ => return None,
        };
        self.ports = Some([word(bytes, start)?, word(bytes, start + 2)?]);
        self.payload = (start + header).min(end)..end;
        Some(())
    }

    pub(crate) fn is_selected_by(&self, filter: &Filter) -> bool {
        if self.is_arp {
            return filter.arp;
        }
        let ports = self.ports.unwrap_or_default();
        filter.protocol.is_none_or(|protocol| self.protocol == Some(protocol.number()))
            && filter.port.is_none_or(|port| self.ports.is_some() && ports.contains(&port))
    }

    /// Returns the bytes of a part.
    pub(crate) fn part(&self, part: Part) -> Range<usize> {
        match part {
            Part::Payload => self.payload.clone(),
            Part::Packet => self.packet.clone(),
        }
    }
}

/// Returns a 16-bit number in network byte order; `None` beyond the end.
pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::Protocol;

    /// Returns an IPv4 packet with this protocol, transport header and payload.
    pub(crate) fn ipv4(protocol: u8, fragment: u16, rest: &[u8]) -> Vec<u8> {
        let mut bytes = vec![2; 12];
        bytes.extend([0x08, 0x00, 0x45, 0]);
        bytes.extend((20 + rest.len() as u16).to_be_bytes());
        bytes.extend([0, 7]);
        bytes.extend(fragment.to_be_bytes());
        bytes.extend([64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        bytes.extend(rest);
        bytes
    }

    fn udp() -> Vec<u8> {
        ipv4(17, 0, &[0x12, 0x34, 0x56, 0x78, 0, 11, 0, 0, b'a', b'b', b'c'])
    }

    fn tcp() -> Vec<u8> {
        let mut rest = vec![0x12, 0x34, 0x56, 0x78, 0, 0, 0, 0, 0, 0, 0, 0, 0x60, 0x10];
        rest.resize(24, 0);
        rest.push(b'x');
        ipv4(6, 0, &rest)
    }

    fn arp() -> Vec<u8> {
        let mut bytes = vec![2; 12];
        bytes.extend([0x08, 0x06]);
        bytes.resize(42, 0);
        bytes
    }

    fn selected(bytes: &[u8], filter: Filter) -> bool {
        Frame::parse(bytes).is_selected_by(&filter)
    }

    #[test]
    fn payload_is_that_of_udp_or_tcp() {
        for (bytes, payload) in [(udp(), &b"abc"[..]), (tcp(), b"x")] {
            let frame = Frame::parse(&bytes);
            assert_eq!(&bytes[frame.part(Part::Payload)], payload);
            assert_eq!(frame.part(Part::Packet), 14..bytes.len());
        }
    }

    #[test]
    fn payload_excludes_padding() {
        let mut bytes = udp();
        bytes.resize(60, 0);
        assert_eq!(&bytes[Frame::parse(&bytes).part(Part::Payload)], b"abc");
    }

    #[test]
    fn payload_is_that_of_ip_for_other_packets() {
        let bytes = ipv4(1, 0, b"icmp");
        assert_eq!(&bytes[Frame::parse(&bytes).part(Part::Payload)], b"icmp");
        let later = ipv4(17, 3, b"later part");
        assert_eq!(&later[Frame::parse(&later).part(Part::Payload)], b"later part");
    }

    #[test]
    fn tags_are_skipped() {
        let mut bytes = udp();
        bytes.splice(12..12, [0x81, 0x00, 0x00, 0x05]);
        let frame = Frame::parse(&bytes);
        assert_eq!(&bytes[frame.part(Part::Payload)], b"abc");
        assert_eq!(frame.part(Part::Packet).start, 18);
    }

    #[test]
    fn ipv6_is_parsed() {
        let mut bytes = vec![2; 12];
        bytes.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 11, 17, 64]);
        bytes.extend([0; 32]);
        bytes.extend([0x12, 0x34, 0x56, 0x78, 0, 11, 0, 0, b'a', b'b', b'c']);
        assert_eq!(&bytes[Frame::parse(&bytes).part(Part::Payload)], b"abc");
        let filter = Filter { port: Some(0x5678), ..Filter::default() };
        assert!(selected(&bytes, filter) && !Frame::parse(&bytes).is_ipv4);
    }

    #[test]
    fn arp_is_selected_on_request() {
        assert!(!selected(&arp(), Filter::default()));
        let protocol = Some(Protocol::Udp);
        assert!(selected(&arp(), Filter { arp: true, protocol, port: Some(1) }));
        assert!(selected(&udp(), Filter::default()));
    }

    #[test]
    fn filters_select_by_protocol_and_either_port() {
        let only = |protocol| Filter { protocol: Some(protocol), ..Filter::default() };
        assert!(selected(&udp(), only(Protocol::Udp)) && !selected(&udp(), only(Protocol::Tcp)));
        assert!(selected(&tcp(), only(Protocol::Tcp)) && !selected(&tcp(), only(Protocol::Udp)));
        let port = |port| Filter { port: Some(port), ..Filter::default() };
        assert!(selected(&udp(), port(0x1234)) && selected(&tcp(), port(0x5678)));
        assert!(!selected(&udp(), port(0x1235)));
        assert!(!selected(&ipv4(1, 0, &[0; 8]), port(0)), "ICMP has no ports");
        assert!(
            !selected(&ipv4(17, 3, &udp()[34..]), port(0x1234)),
            "a later fragment has no ports"
        );
    }

    #[test]
    fn ranges_are_within_truncated_frames() {
        for whole in [udp(), tcp(), arp()] {
            for length in 0..whole.len() {
                let frame = Frame::parse(&whole[..length]);
                assert!(frame.packet.end <= length && frame.payload.end <= length);
                assert!(frame.packet.start <= frame.packet.end);
                assert!(frame.payload.start <= frame.payload.end);
            }
        }
    }
}
