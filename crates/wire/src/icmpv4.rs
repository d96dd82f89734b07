//! ICMP for IPv4.

use core::net::Ipv4Addr;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned, big_endian::U16};

use crate::Sum;

/// The header of an ICMP message, 8 bytes (RFC 792):
///
/// ```text
///  0      1      2          4                    8
/// | kind | code | checksum | by kind and code   | data, or the packet that is quoted …
/// ```
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned,
)]
#[repr(C)]
pub struct Icmpv4Header {
    kind: u8,
    code: u8,
    checksum: U16,
    rest: [u8; 4],
}

view!(Icmpv4Header);

accessors!(Icmpv4Header {
    /// Byte 0: the type (RFC 792).
    kind, set_kind: u8;
    /// Byte 1: the code, which refines the type (RFC 792).
    code, set_code: u8;
    /// Bytes 2..4: the checksum over header and data (RFC 792).
    checksum, set_checksum: u16;
    /// Bytes 4..8: depend on the type (RFC 792).
    rest, set_rest: [u8; 4];
});

/// An ICMP message. Errors quote the packet that caused them, which
/// [`QuotedPacket::parse_ipv4`](crate::QuotedPacket::parse_ipv4) reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Icmpv4Message<'a> {
    /// Type 8: echo request (RFC 792, "Echo").
    EchoRequest {
        /// Bytes 4..6: the identifier.
        identifier: u16,
        /// Bytes 6..8: the sequence number.
        sequence: u16,
        /// The data to echo.
        data: &'a [u8],
    },
    /// Type 0: echo reply (RFC 792, "Echo").
    EchoReply {
        /// Bytes 4..6: the identifier of the request.
        identifier: u16,
        /// Bytes 6..8: the sequence number of the request.
        sequence: u16,
        /// The data of the request.
        data: &'a [u8],
    },
    /// Type 3: destination unreachable (RFC 792; codes also RFC 1812 §5.2.7.1).
    DestinationUnreachable {
        /// The code: 0 net, 1 host, 2 protocol, 3 port, 4 fragmentation needed, 13 prohibited.
        code: u8,
        /// Bytes 6..8, with code 4: the MTU of the next hop, or 0 (RFC 1191 §4).
        next_hop_mtu: u16,
        /// The quoted packet.
        quoted: &'a [u8],
    },
    /// Type 5: redirect (RFC 792, "Redirect").
    Redirect {
        /// The code: 0 for the net, 1 for the host.
        code: u8,
        /// Bytes 4..8: the router to use.
        gateway: Ipv4Addr,
        /// The quoted packet.
        quoted: &'a [u8],
    },
    /// Type 11: time exceeded (RFC 792, "Time exceeded").
    TimeExceeded {
        /// The code: 0 TTL exceeded in transit, 1 fragment reassembly time exceeded.
        code: u8,
        /// The quoted packet.
        quoted: &'a [u8],
    },
    /// Type 12: parameter problem (RFC 792, "Parameter problem").
    ParameterProblem {
        /// The code: with 0 the pointer is valid.
        code: u8,
        /// Byte 4: the offset of the invalid byte in the packet.
        pointer: u8,
        /// The quoted packet.
        quoted: &'a [u8],
    },
    /// Another type.
    Other,
}

impl Icmpv4Header {
    /// Creates an echo request or reply; the checksum must be filled in.
    #[must_use]
    pub fn echo(is_reply: bool, identifier: u16, sequence: u16) -> Self {
        let ([a, b], [c, d]) = (identifier.to_be_bytes(), sequence.to_be_bytes());
        let kind = if is_reply { 0 } else { 8 };
        Self { kind, code: 0, checksum: U16::ZERO, rest: [a, b, c, d] }
    }

    /// Decodes the message; `data` are the bytes after the header.
    #[must_use]
    pub fn message<'a>(&self, data: &'a [u8]) -> Icmpv4Message<'a> {
        let (code, [a, b, c, d], quoted) = (self.code, self.rest, data);
        let (identifier, sequence) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        match self.kind {
            0 => Icmpv4Message::EchoReply { identifier, sequence, data },
            3 => {
                let next_hop_mtu = if code == 4 { sequence } else { 0 };
                Icmpv4Message::DestinationUnreachable { code, next_hop_mtu, quoted }
            }
            5 => Icmpv4Message::Redirect { code, gateway: self.rest.into(), quoted },
            8 => Icmpv4Message::EchoRequest { identifier, sequence, data },
            11 => Icmpv4Message::TimeExceeded { code, quoted },
            12 => Icmpv4Message::ParameterProblem { code, pointer: a, quoted },
            _ => Icmpv4Message::Other,
        }
    }

    /// Returns `true` if the checksum is correct; `data` are the bytes after the header.
    #[must_use]
    pub fn is_checksum_valid(&self, data: &[u8]) -> bool {
        Sum::ZERO.bytes(self.as_bytes()).bytes(data).is_valid()
    }

    /// Fills in the checksum; `data` are the bytes after the header.
    pub fn fill_checksum(&mut self, data: &[u8]) {
        self.checksum = U16::ZERO;
        self.checksum = Sum::ZERO.bytes(self.as_bytes()).bytes(data).checksum().into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn echo_round_trips() {
        let bytes = [8, 0, 0x49, 0x35, 0x12, 0x34, 0, 1, 0x61, 0x62, 0x63, 0x64, 0, 0, 0xD7, 0xCE];
        let (header, data) = Icmpv4Header::split(&bytes).unwrap();
        let mut ours = Icmpv4Header::echo(false, 0x1234, 1);
        ours.set_checksum(0x1234);
        ours.fill_checksum(data);
        assert!(ours.is_checksum_valid(data) && !ours.is_checksum_valid(&data[2..]));
        assert_eq!(ours.as_bytes(), header.as_bytes());
        let request = Icmpv4Message::EchoRequest { identifier: 0x1234, sequence: 1, data };
        assert_eq!((ours.message(data), header.message(data)), (request, request));
        let reply = Icmpv4Header::echo(true, 0x1234, 1);
        assert!(matches!(reply.message(data), Icmpv4Message::EchoReply { sequence: 1, .. }));
    }

    #[test]
    fn decodes_each_error() {
        let message = |kind, code| {
            let mut header = Icmpv4Header::echo(false, 0x0102, 1_400);
            header.set_kind(kind);
            header.set_code(code);
            header.message(&[9])
        };
        let quoted = &[9][..];
        let unreachable = |code, next_hop_mtu| Icmpv4Message::DestinationUnreachable {
            code,
            next_hop_mtu,
            quoted,
        };
        assert_eq!(message(3, 3), unreachable(3, 0));
        assert_eq!(message(3, 4), unreachable(4, 1_400));
        let gateway = Ipv4Addr::new(1, 2, 0x05, 0x78);
        assert_eq!(message(5, 1), Icmpv4Message::Redirect { code: 1, gateway, quoted });
        assert_eq!(message(11, 1), Icmpv4Message::TimeExceeded { code: 1, quoted });
        assert_eq!(message(12, 0), Icmpv4Message::ParameterProblem { code: 0, pointer: 1, quoted });
        assert_eq!(message(13, 0), Icmpv4Message::Other);
    }
}
