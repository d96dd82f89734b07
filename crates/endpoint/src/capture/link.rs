//! What stands before the IP header of a frame.

use std::net::IpAddr;

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
