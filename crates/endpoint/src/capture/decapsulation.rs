//! Decoding of frames: link headers, tags and tunnels, down to the innermost UDP or TCP.
//!
//! Each header yields the kind of the next one and its bytes. The innermost packet decides: what
//! may be a tunnel, such as UDP port 4789, is one only if a packet is found in it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::{LinkType, PacketError, Payload, Protocol, datamine, erf, tunnels};

/// The most headers in a frame: eight tunnels with two tags each.
const MOST_HEADERS: usize = 32;

/// The decoded contents of a frame.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Decoded<'a> {
    Payload(Payload<'a>),
    Other(Protocol),
}

/// The kind of the next header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Header {
    Ethernet,
    EtherType(u16),
    /// IPv4 or IPv6, as its version field is.
    Ip,
}

/// The result of a header.
#[derive(Debug)]
pub(super) enum Step<'a> {
    /// The next header begins here.
    Next(Header, &'a [u8]),
    Done(Decoded<'a>),
}

/// The outcome of one header.
pub(super) type Outcome<'a> = Result<Step<'a>, PacketError>;

/// Returns the outcome of a protocol that is not decoded.
pub(super) fn other<'a>(protocol: Protocol) -> Outcome<'a> {
    Ok(Step::Done(Decoded::Other(protocol)))
}

/// The frame whose headers are decoded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decoder {
    /// The captured and the original length of the frame.
    captured: usize,
    length: u32,
    /// The headers that may follow. Attempts use them up too, so that no frame takes long.
    headers: usize,
}

/// Decodes a frame of `length` bytes, of which `bytes` were captured.
pub(super) fn decode(
    link: LinkType,
    bytes: &[u8],
    length: u32,
) -> Result<Decoded<'_>, PacketError> {
    let mut decoder = Decoder { captured: bytes.len(), length, headers: MOST_HEADERS };
    match link_header(link, bytes)? {
        Step::Next(header, rest) => decoder.decode(header, rest),
        Step::Done(decoded) => Ok(decoded),
    }
}

/// Decodes the header of a link type.
fn link_header(link: LinkType, bytes: &[u8]) -> Outcome<'_> {
    /// The header lengths of Linux cooked captures.
    const SLL: usize = 16;
    const SLL2: usize = 20;
    Ok(match link {
        LinkType::ETHERNET => Step::Next(Header::Ethernet, bytes),
        LinkType::RAW
        | LinkType::IPV4
        | LinkType::IPV6
        | LinkType::RAW_OF_BSD
        | LinkType::RAW_OF_OPENBSD => Step::Next(Header::Ip, bytes),
        LinkType::LINUX_SLL if bytes.len() >= SLL => {
            return cooked(half(bytes, 2), half(bytes, 14), &bytes[SLL..]);
        }
        LinkType::LINUX_SLL2 if bytes.len() >= SLL2 => {
            return cooked(half(bytes, 8), half(bytes, 0), &bytes[SLL2..]);
        }
        // The family numbers differ between systems, so the packet's version field is used.
        LinkType::NULL | LinkType::LOOP => match bytes {
            [_, _, _, _, packet @ ..] if matches!(packet, [0x40..=0x6f, ..]) => {
                Step::Next(Header::Ip, packet)
            }
            [a, b, c, d, ..] => {
                let family = [*a, *b, *c, *d];
                // Families are small numbers in either byte order.
                let family = u32::from_be_bytes(family).min(u32::from_le_bytes(family));
                return other(Protocol::Family(family));
            }
            _ => return other(Protocol::Short),
        },
        LinkType::LINUX_SLL | LinkType::LINUX_SLL2 => return other(Protocol::Short),
        LinkType::DATAMINE | LinkType::DATAMINE_WITH_CHANNEL => {
            match datamine::payload(link, bytes) {
                Some(payload) => Step::Done(Decoded::Payload(payload)),
                None => return other(Protocol::Short),
            }
        }
        erf::LINK => match erf::contents(bytes) {
            Some((header, packet)) => Step::Next(header, packet),
            None => return other(Protocol::Short),
        },
        unsupported => return Err(PacketError::LinkType(unsupported)),
    })
}

/// Decodes the packet after a Linux cooked header. Its protocol field is an EtherType, also for
/// GRE, except for some hardware types (tcpdump.org, LINKTYPE_LINUX_SLL).
fn cooked(hardware: u16, protocol: u16, packet: &[u8]) -> Outcome<'_> {
    const FRAME_RELAY: u16 = 770;
    const RADIOTAP: u16 = 803;
    const NETLINK: u16 = 824;
    /// Frames that begin with an IEEE 802.2 header.
    const LLC: u16 = 4;
    match (hardware, protocol) {
        (FRAME_RELAY | RADIOTAP | NETLINK, _) => other(Protocol::Hardware(hardware)),
        (_, LLC) => llc(packet),
        _ => Ok(Step::Next(Header::EtherType(protocol), packet)),
    }
}

impl Decoder {
    /// Decodes headers until the payload.
    pub(super) fn decode<'a>(
        &mut self,
        mut header: Header,
        mut bytes: &'a [u8],
    ) -> Result<Decoded<'a>, PacketError> {
        while let Some(left) = self.headers.checked_sub(1) {
            self.headers = left;
            let step = match header {
                Header::Ethernet => self.ethernet(bytes),
                Header::EtherType(number) => self.ether_type(number, bytes),
                Header::Ip => self.ip(bytes),
            };
            match step? {
                Step::Next(next, rest) => (header, bytes) = (next, rest),
                Step::Done(decoded) => return Ok(decoded),
            }
        }
        Ok(Decoded::Other(Protocol::Nested))
    }

    /// Decodes what may be a tunnel's contents. `None` if there is no packet in it.
    pub(super) fn try_decode<'a>(
        &mut self,
        header: Header,
        bytes: &'a [u8],
    ) -> Option<Result<Decoded<'a>, PacketError>> {
        match self.decode(header, bytes) {
            // Tunnels that could not be decoded: nothing confirms the header before them.
            Ok(Decoded::Other(
                Protocol::EtherType(0x8847 | 0x8848 | 0x8864 | 0xd28b) | Protocol::Ip(47),
            )) => None,
            Ok(Decoded::Other(protocol)) => protocol.name().map(|_| Ok(Decoded::Other(protocol))),
            Err(PacketError::Malformed(_)) => None,
            decoded => Some(decoded),
        }
    }

    /// Returns the error of a header that its bytes do not contain.
    pub(super) fn short<T>(&self, what: &'static str) -> Result<T, PacketError> {
        Err(if self.captured < self.length as usize {
            PacketError::Cut { captured: self.captured, length: self.length }
        } else {
            PacketError::Malformed(what.into())
        })
    }

    fn ethernet<'a>(&self, bytes: &'a [u8]) -> Outcome<'a> {
        let Some(([.., high, low], rest)) = bytes.split_first_chunk::<14>() else {
            return self.short("frame is shorter than an Ethernet header");
        };
        let number = u16::from_be_bytes([*high, *low]);
        self.typed(number, rest)
    }

    /// Decodes what follows an EtherType or, if it is less than 1,536, the length of an 802.3
    /// frame.
    fn typed<'a>(&self, number: u16, rest: &'a [u8]) -> Outcome<'a> {
        match number {
            0..0x600 => llc(&rest[..rest.len().min(number.into())]),
            _ => Ok(Step::Next(Header::EtherType(number), rest)),
        }
    }

    fn ether_type<'a>(&mut self, number: u16, bytes: &'a [u8]) -> Outcome<'a> {
        // Bytes between this EtherType and the next one.
        let between = match number {
            0x0800 | 0x86dd => return Ok(Step::Next(Header::Ip, bytes)),
            // VLAN tags: 802.1Q, 802.1ad, and those before the standard.
            0x8100 | 0x88a8 | 0x9100 | 0x9200 | 0x9300 => 2,
            // VN-Tag, and the E-Tag of 802.1BR.
            0x8926 => 4,
            0x893f => 6,
            0xd28b => match tunnels::arista_timestamp(bytes) {
                Some(length) => length,
                None => return other(Protocol::EtherType(number)),
            },
            0x8847 | 0x8848 => return self.mpls(number, bytes),
            0x8864 => return tunnels::pppoe(bytes),
            0x6558 => return Ok(Step::Next(Header::Ethernet, bytes)),
            _ => return other(Protocol::EtherType(number)),
        };
        match bytes.get(between..).and_then(|rest| rest.split_first_chunk()) {
            Some((next, rest)) => self.typed(u16::from_be_bytes(*next), rest),
            None => self.short("frame ends within a tag"),
        }
    }

    fn ip<'a>(&mut self, bytes: &'a [u8]) -> Outcome<'a> {
        match bytes.first().map(|first| first >> 4) {
            Some(4) => self.ipv4(bytes),
            Some(6) => self.ipv6(bytes),
            Some(_) => Err(PacketError::Malformed("IP version is neither 4 nor 6".into())),
            None => self.short("frame ends before an IP header"),
        }
    }

    fn ipv4<'a>(&mut self, bytes: &'a [u8]) -> Outcome<'a> {
        const LEAST: usize = 20;
        let header = 4 * usize::from(bytes[0] & 0xf);
        if header < LEAST {
            return Err(PacketError::Malformed("IPv4 header length is less than 20".into()));
        }
        if bytes.len() < header {
            return self.short("frame ends within an IPv4 header");
        }
        let address = |at: usize| {
            IpAddr::V4(Ipv4Addr::new(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]))
        };
        let total = match half(bytes, 2) {
            // Segmentation offload: the NIC writes the length of each part.
            0 => bytes.len(),
            total => total.into(),
        };
        if total < header {
            return Err(PacketError::Malformed("IPv4 length is less than its header".into()));
        }
        // The fragment offset and the more-fragments flag.
        if half(bytes, 6) & 0x3fff != 0 {
            return Err(PacketError::Fragment);
        }
        let packet = Packet {
            source: address(12),
            destination: address(16),
            bytes: &bytes[header..bytes.len().min(total)],
            missing: total.saturating_sub(bytes.len()),
        };
        self.transport(bytes[9], packet)
    }

    fn ipv6<'a>(&mut self, bytes: &'a [u8]) -> Outcome<'a> {
        let Some((header, rest)) = bytes.split_first_chunk::<40>() else {
            return self.short("frame ends within an IPv6 header");
        };
        let address = |at: usize| {
            let octets = header[at..].first_chunk().expect("both addresses are in the header");
            IpAddr::V6(Ipv6Addr::from_octets(*octets))
        };
        let length = match half(header, 4) {
            // A jumbogram, or segmentation offload.
            0 => rest.len(),
            length => length.into(),
        };
        let packet = Packet {
            source: address(8),
            destination: address(24),
            bytes: &rest[..rest.len().min(length)],
            missing: length.saturating_sub(rest.len()),
        };
        self.transport(header[6], packet)
    }

    /// Decodes extension headers and what follows them.
    fn transport<'a>(&mut self, mut number: u8, mut packet: Packet<'a>) -> Outcome<'a> {
        loop {
            let header = match number {
                // Hop-by-hop and destination options, routing, mobility.
                0 | 43 | 60 | 135 => {
                    packet.bytes.get(1).map(|length| 8 * (1 + usize::from(*length)))
                }
                // Authentication.
                51 => packet.bytes.get(1).map(|length| 4 * (2 + usize::from(*length))),
                // A fragment, or a whole packet with that header.
                44 => match packet.bytes {
                    [_, _, high, low, ..] if u16::from_be_bytes([*high, *low]) & !6 == 0 => Some(8),
                    [_, _, _, _, ..] => return Err(PacketError::Fragment),
                    _ => None,
                },
                _ => break,
            };
            let Some(rest) = header.and_then(|length| packet.bytes.get(length..)) else {
                return self.short("packet ends within an extension header");
            };
            number = packet.bytes[0];
            packet.bytes = rest;
        }
        match number {
            17 => self.udp(packet),
            6 => self.tcp(packet),
            // The inner packet has a length of its own.
            4 | 41 => Ok(Step::Next(Header::Ip, packet.bytes)),
            47 => tunnels::gre(packet.bytes),
            137 => self.mpls(0x8847, packet.bytes),
            _ => other(Protocol::Ip(number)),
        }
    }

    fn udp<'a>(&mut self, packet: Packet<'a>) -> Outcome<'a> {
        let Some((header, rest)) = packet.bytes.split_first_chunk::<8>() else {
            return self.short("packet is shorter than a UDP header");
        };
        let (from, to) = (half(header, 0), half(header, 2));
        let length = match half(header, 4) {
            // A jumbogram, or segmentation offload.
            0 => rest.len() + packet.missing,
            length @ ..8 => {
                return Err(PacketError::Malformed(format!("UDP length {length}").into()));
            }
            length => usize::from(length) - 8,
        };
        let bytes = &rest[..rest.len().min(length)];
        if tunnels::is_tunnel_port(to)
            && let Some(inner) = self.tunnel(to, bytes)
        {
            return inner.map(Step::Done);
        }
        if packet.missing > 0 || bytes.len() < length {
            return self.short("UDP datagram is longer than its packet");
        }
        let (source, destination) = packet.addresses(from, to);
        Ok(Step::Done(Decoded::Payload(Payload::Datagram { source, destination, bytes })))
    }

    fn tcp<'a>(&self, packet: Packet<'a>) -> Outcome<'a> {
        let bytes = packet.bytes;
        let Some(header) = bytes.first_chunk::<20>() else {
            return self.short("packet is shorter than a TCP header");
        };
        let length = 4 * usize::from(header[12] >> 4);
        if length < header.len() {
            return Err(PacketError::Malformed("TCP header length is less than 20".into()));
        }
        let Some(payload) = bytes.get(length..) else {
            return self.short("packet ends within a TCP header");
        };
        if packet.missing > 0 && self.captured >= self.length as usize {
            return self.short("IP packet is longer than its frame");
        }
        let (source, destination) = packet.addresses(half(header, 0), half(header, 2));
        let [_, _, _, _, a, b, c, d, ..] = *header;
        let has = |flag: u8| header[13] & flag != 0;
        Ok(Step::Done(Decoded::Payload(Payload::Segment {
            source,
            destination,
            sequence: u32::from_be_bytes([a, b, c, d]),
            syn: has(2),
            fin: has(1),
            rst: has(4),
            bytes: payload,
            missing: packet.missing as u32,
        })))
    }
}

/// The payload of an IP packet.
#[derive(Debug, Clone, Copy)]
struct Packet<'a> {
    source: IpAddr,
    destination: IpAddr,
    bytes: &'a [u8],
    /// The bytes that are not in the frame.
    missing: usize,
}

impl Packet<'_> {
    fn addresses(&self, from: u16, to: u16) -> (SocketAddr, SocketAddr) {
        ((self.source, from).into(), (self.destination, to).into())
    }
}

/// Decodes an IEEE 802.2 header, and that of SNAP after it.
fn llc(bytes: &[u8]) -> Outcome<'_> {
    match bytes {
        // Organizations: EtherTypes of RFC 1042, and of bridge tunnels (802.1H).
        [0xaa, 0xaa, 3, 0, 0, 0 | 0xf8, high, low, rest @ ..] => {
            Ok(Step::Next(Header::EtherType(u16::from_be_bytes([*high, *low])), rest))
        }
        [access_point, ..] => other(Protocol::Llc(*access_point)),
        [] => other(Protocol::Short),
    }
}

/// Returns the big-endian `u16` at `at`.
pub(super) fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}
