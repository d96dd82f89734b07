//! What stands before the IP header of a frame.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};

use etherparse::err::packet::SliceError;
use etherparse::{EtherType, NetSlice, SlicedPacket, TransportSlice};

use super::{PacketError, Payload};

/// The kind of link that frames were captured on, in the numbers of tcpdump.org's registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkType(pub u32);

impl LinkType {
    /// BSD's loopback: a protocol family in the byte order of the host.
    pub const NULL: Self = Self(0);
    /// Ethernet without preamble and check sequence.
    pub const ETHERNET: Self = Self(1);
    /// IPv4 or IPv6 without anything before it.
    pub const RAW: Self = Self(101);
    /// OpenBSD's loopback: a protocol family, big-endian.
    pub const LOOP: Self = Self(108);
    /// Linux cooked capture: 16 bytes.
    pub const LINUX_SLL: Self = Self(113);
    /// IPv4 without anything before it.
    pub const IPV4: Self = Self(228);
    /// IPv6 without anything before it.
    pub const IPV6: Self = Self(229);
    /// Linux cooked capture, version 2: 20 bytes.
    pub const LINUX_SLL2: Self = Self(276);
    /// RAW as BSD and OpenBSD number it in their own files.
    const RAW_OF_BSD: Self = Self(12);
    const RAW_OF_OPENBSD: Self = Self(14);

    /// Whether frames behind such a link can be read.
    #[must_use]
    pub fn is_supported(self) -> bool {
        matches!(
            self,
            Self::NULL
                | Self::ETHERNET
                | Self::RAW
                | Self::LOOP
                | Self::LINUX_SLL
                | Self::IPV4
                | Self::IPV6
                | Self::LINUX_SLL2
                | Self::RAW_OF_BSD
                | Self::RAW_OF_OPENBSD
        )
    }

    /// What a frame of `length` bytes carries, of which `bytes` were captured.
    #[inline]
    pub(super) fn payload(self, bytes: &[u8], length: u32) -> Result<Payload<'_>, PacketError> {
        let packet = match self {
            Self::ETHERNET if bytes.get(12..ETHERNET_HEADER) == Some(&ETHER_TYPE_IPV4) => {
                &bytes[ETHERNET_HEADER..]
            }
            Self::RAW | Self::IPV4 => bytes,
            _ => &[],
        };
        match plain_datagram(packet) {
            Some(datagram) => Ok(datagram),
            None => self.any_payload(bytes, length),
        }
    }

    /// The same, whatever it is.
    fn any_payload(self, bytes: &[u8], length: u32) -> Result<Payload<'_>, PacketError> {
        let sliced = match self {
            Self::ETHERNET => SlicedPacket::from_ethernet(bytes),
            Self::RAW | Self::IPV4 | Self::IPV6 | Self::RAW_OF_BSD | Self::RAW_OF_OPENBSD => {
                SlicedPacket::from_ip(bytes)
            }
            Self::LINUX_SLL => SlicedPacket::from_linux_sll(bytes),
            // The numbers of the families differ between systems; the packet says it too.
            Self::NULL | Self::LOOP => match bytes.get(4..) {
                Some(packet @ [first, ..]) if matches!(first >> 4, 4 | 6) => {
                    SlicedPacket::from_ip(packet)
                }
                _ => return Ok(Payload::Other),
            },
            Self::LINUX_SLL2 => match *bytes {
                [high, low, ..] if bytes.len() >= SLL2_HEADER => {
                    let ether_type = EtherType(u16::from_be_bytes([high, low]));
                    SlicedPacket::from_ether_type(ether_type, &bytes[SLL2_HEADER..])
                }
                _ => return Ok(Payload::Other),
            },
            other => return Err(PacketError::LinkType(other)),
        };
        match sliced {
            Ok(packet) => carried(&packet),
            Err(error) => Err(refused(&error, bytes.len(), length)),
        }
    }
}

/// The datagram of a packet of IPv4 without options, in one fragment, which nearly all of a capture
/// of market data are. `None` of everything else, and of whatever is odd: then somebody looks who
/// knows all of it.
#[inline]
fn plain_datagram(packet: &[u8]) -> Option<Payload<'_>> {
    let (headers, _) = packet.split_first_chunk::<PLAIN_HEADERS>()?;
    let half = |at: usize| u16::from_be_bytes([headers[at], headers[at + 1]]);
    // Version and length of the IP header; offset of the fragment, and more to come.
    let is_plain = headers[0] == 0x45 && half(6) & 0x3fff == 0 && headers[9] == UDP;
    let (total, udp) = (usize::from(half(2)), usize::from(half(24)));
    if !is_plain || total != IP_HEADER + udp {
        return None;
    }
    let bytes = packet.get(PLAIN_HEADERS..total)?;
    let address = |at: usize, port: usize| {
        let ip = Ipv4Addr::new(headers[at], headers[at + 1], headers[at + 2], headers[at + 3]);
        SocketAddr::V4(SocketAddrV4::new(ip, half(port)))
    };
    Some(Payload::Datagram { source: address(12, 20), destination: address(16, 22), bytes })
}

const ETHERNET_HEADER: usize = 14;
const ETHER_TYPE_IPV4: [u8; 2] = [0x08, 0x00];
const IP_HEADER: usize = 20;
const PLAIN_HEADERS: usize = IP_HEADER + 8;
/// The protocol's number.
const UDP: u8 = 17;

/// Bytes before the packet in a Linux cooked capture, version 2.
const SLL2_HEADER: usize = 20;

#[inline]
fn carried<'a>(packet: &SlicedPacket<'a>) -> Result<Payload<'a>, PacketError> {
    let (from, to): (IpAddr, IpAddr) = match &packet.net {
        Some(NetSlice::Ipv4(ip)) => {
            let header = ip.header();
            (header.source_addr().into(), header.destination_addr().into())
        }
        Some(NetSlice::Ipv6(ip)) => {
            let header = ip.header();
            (header.source_addr().into(), header.destination_addr().into())
        }
        _ => return Ok(Payload::Other),
    };
    if packet.is_ip_payload_fragmented() {
        return Err(PacketError::Fragment);
    }
    match &packet.transport {
        Some(TransportSlice::Udp(udp)) => Ok(Payload::Datagram {
            source: (from, udp.source_port()).into(),
            destination: (to, udp.destination_port()).into(),
            bytes: udp.payload(),
        }),
        Some(TransportSlice::Tcp(tcp)) => Ok(Payload::Segment {
            source: (from, tcp.source_port()).into(),
            destination: (to, tcp.destination_port()).into(),
            sequence: tcp.sequence_number(),
            is_syn: tcp.syn(),
            bytes: tcp.payload(),
        }),
        _ => Ok(Payload::Other),
    }
}

#[cold]
fn refused(error: &SliceError, captured: usize, length: u32) -> PacketError {
    if captured < length as usize {
        PacketError::Cut { captured, length }
    } else {
        PacketError::Malformed(error.to_string().into())
    }
}

#[cfg(test)]
mod tests {
    use etherparse::PacketBuilder;
    use proptest::prelude::*;

    use super::*;

    /// A frame with a datagram of so many bytes.
    fn frame(payload: &[u8]) -> Vec<u8> {
        let builder = PacketBuilder::ethernet2([1, 0, 94, 0, 31, 1], [2; 6])
            .ipv4([205, 209, 223, 70], [224, 0, 31, 1], 9)
            .udp(40_000, 14_310);
        let mut frame = Vec::new();
        builder.write(&mut frame, payload).unwrap();
        frame
    }

    #[test]
    fn a_plain_datagram_is_found_at_once() {
        for length in [0, 1, 68, 1_400] {
            let payload = vec![7; length];
            let frame = frame(&payload);
            let plain = plain_datagram(&frame[ETHERNET_HEADER..]).unwrap();
            let any = LinkType::ETHERNET.any_payload(&frame, frame.len() as u32).unwrap();
            assert_eq!(plain, any);
            assert!(matches!(plain, Payload::Datagram { bytes, .. } if bytes == payload));
        }
    }

    #[test]
    fn what_is_padded_ends_where_its_header_says() {
        let mut padded = frame(b"six");
        padded.resize(60, 0);
        let plain = plain_datagram(&padded[ETHERNET_HEADER..]).unwrap();
        assert!(matches!(plain, Payload::Datagram { bytes: b"six", .. }));
    }

    proptest! {
        /// Whatever byte of the headers is another, and wherever the frame is cut.
        #[test]
        fn both_ways_tell_the_same(
            at in 0..ETHERNET_HEADER + PLAIN_HEADERS,
            value: u8,
            length in 0..24_usize,
            cut in 0..80_usize,
        ) {
            let mut frame = frame(&[5; 24][..length]);
            frame[at] = value;
            frame.truncate(cut);
            let packet = frame.get(ETHERNET_HEADER..).unwrap_or_default();
            for (link, bytes) in [
                (LinkType::ETHERNET, &frame[..]),
                (LinkType::RAW, packet),
                (LinkType::IPV4, packet),
            ] {
                let length = bytes.len() as u32;
                prop_assert_eq!(link.payload(bytes, length), link.any_payload(bytes, length));
            }
        }
    }
}
