//! Link types, and the fast path of decoding frames.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use super::decapsulation::{Decoded, decode};
use super::tunnels::is_tunnel_port;
use super::{PacketError, Payload, erf};

/// A link type, as numbered by tcpdump.org's registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkType(pub u32);

impl LinkType {
    /// BSD loopback: a protocol family in host byte order.
    pub const NULL: Self = Self(0);
    /// Ethernet without preamble and frame check sequence.
    pub const ETHERNET: Self = Self(1);
    /// Raw IPv4 or IPv6.
    pub const RAW: Self = Self(101);
    /// OpenBSD loopback: a big-endian protocol family.
    pub const LOOP: Self = Self(108);
    /// Linux cooked capture: 16 bytes.
    pub const LINUX_SLL: Self = Self(113);
    /// Raw IPv4.
    pub const IPV4: Self = Self(228);
    /// Raw IPv6.
    pub const IPV6: Self = Self(229);
    /// Linux cooked capture, version 2: 20 bytes.
    pub const LINUX_SLL2: Self = Self(276);
    /// Packets of CME DataMine, after their length. The numbers are for private use.
    pub(super) const DATAMINE: Self = Self(161);
    /// The same, after the channel's number and their length.
    pub(super) const DATAMINE_WITH_CHANNEL: Self = Self(162);
    /// `RAW` as numbered in the files of BSD and OpenBSD.
    pub(super) const RAW_OF_BSD: Self = Self(12);
    pub(super) const RAW_OF_OPENBSD: Self = Self(14);

    /// Returns `true` if frames of this link type can be decoded.
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
                | Self::DATAMINE
                | Self::DATAMINE_WITH_CHANNEL
                | Self::RAW_OF_BSD
                | Self::RAW_OF_OPENBSD
                | erf::LINK
        )
    }

    /// Decodes a frame of `length` bytes, of which `bytes` were captured.
    #[inline]
    pub(super) fn payload(self, bytes: &[u8], length: u32) -> Result<Payload<'_>, PacketError> {
        let packet = match self {
            Self::ETHERNET if bytes.get(12..ETHERNET_HEADER) == Some(&ETHER_TYPE_IPV4) => {
                &bytes[ETHERNET_HEADER..]
            }
            Self::RAW | Self::IPV4 => bytes,
            _ => &[],
        };
        match fast_path_datagram(packet) {
            Some(datagram) => Ok(datagram),
            None => self.decode_general(bytes, length),
        }
    }

    /// Decodes any supported frame.
    fn decode_general(self, bytes: &[u8], length: u32) -> Result<Payload<'_>, PacketError> {
        match decode(self, bytes, length)? {
            Decoded::Payload(payload) => Ok(payload),
            Decoded::Other(_) => Ok(Payload::Other),
        }
    }
}

/// The fast path for an unfragmented IPv4 UDP packet without options, as nearly all market data
/// packets are. Returns `None` for everything else and for any inconsistency; the general decoder
/// then handles the packet.
#[inline]
fn fast_path_datagram(packet: &[u8]) -> Option<Payload<'_>> {
    let (headers, _) = packet.split_first_chunk::<FAST_PATH_HEADERS>()?;
    let half = |at: usize| u16::from_be_bytes([headers[at], headers[at + 1]]);
    // The version and length of the IP header; the fragment offset and the more-fragments flag.
    let is_fast_path = headers[0] == 0x45 && half(6) & 0x3fff == 0 && headers[9] == UDP;
    let (total, udp) = (usize::from(half(2)), usize::from(half(24)));
    // A datagram to a tunnel's port may contain another.
    if !is_fast_path || total != IP_HEADER + udp || is_tunnel_port(half(22)) {
        return None;
    }
    let bytes = packet.get(FAST_PATH_HEADERS..total)?;
    let address = |at: usize, port: usize| {
        let ip = Ipv4Addr::new(headers[at], headers[at + 1], headers[at + 2], headers[at + 3]);
        SocketAddr::V4(SocketAddrV4::new(ip, half(port)))
    };
    Some(Payload::Datagram { source: address(12, 20), destination: address(16, 22), bytes })
}

const ETHERNET_HEADER: usize = 14;
const ETHER_TYPE_IPV4: [u8; 2] = [0x08, 0x00];
const IP_HEADER: usize = 20;
const FAST_PATH_HEADERS: usize = IP_HEADER + 8;
/// The protocol number.
const UDP: u8 = 17;

#[cfg(test)]
mod tests {
    use etherparse::PacketBuilder;
    use proptest::prelude::*;

    use super::*;

    /// Returns a frame with a datagram of this payload.
    fn frame(payload: &[u8]) -> Vec<u8> {
        let builder = PacketBuilder::ethernet2([1, 0, 94, 0, 31, 1], [2; 6])
            .ipv4([205, 209, 223, 70], [224, 0, 31, 1], 9)
            .udp(40_000, 14_310);
        let mut frame = Vec::new();
        builder.write(&mut frame, payload).unwrap();
        frame
    }

    #[test]
    fn fast_path_equals_general_decoder() {
        for length in [0, 1, 68, 1_400] {
            let payload = vec![7; length];
            let frame = frame(&payload);
            let fast = fast_path_datagram(&frame[ETHERNET_HEADER..]).unwrap();
            let any = LinkType::ETHERNET.decode_general(&frame, frame.len() as u32).unwrap();
            assert_eq!(fast, any);
            assert!(matches!(fast, Payload::Datagram { bytes, .. } if bytes == payload));
        }
    }

    #[test]
    fn fast_path_ignores_ethernet_padding() {
        let mut padded = frame(b"six");
        padded.resize(60, 0);
        let fast = fast_path_datagram(&padded[ETHERNET_HEADER..]).unwrap();
        assert!(matches!(fast, Payload::Datagram { bytes: b"six", .. }));
    }

    proptest! {
        /// Covers a change of any header byte and truncation at any place.
        #[test]
        fn fast_path_never_contradicts_general_decoder(
            at in 0..ETHERNET_HEADER + FAST_PATH_HEADERS,
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
                prop_assert_eq!(link.payload(bytes, length), link.decode_general(bytes, length));
            }
        }
    }
}
