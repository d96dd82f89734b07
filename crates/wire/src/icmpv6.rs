//! ICMP for IPv6.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned, big_endian::U16};

use crate::Sum;

/// The header of an ICMPv6 message, 8 bytes including the type-dependent word (RFC 4443 §2.1):
///
/// ```text
///  0      1      2          4            8
/// | kind | code | checksum | by kind    | data, or the packet that is quoted …
/// ```
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned,
)]
#[repr(C)]
pub struct Icmpv6Header {
    kind: u8,
    code: u8,
    checksum: U16,
    rest: [u8; 4],
}

view!(Icmpv6Header);

accessors!(Icmpv6Header {
    /// Byte 0: the type; values below 128 are errors (RFC 4443 §2.1).
    kind, set_kind: u8;
    /// Byte 1: the code, which refines the type (RFC 4443 §2.1).
    code, set_code: u8;
    /// Bytes 2..4: the checksum over pseudo header, header and data (RFC 4443 §2.3).
    checksum, set_checksum: u16;
    /// Bytes 4..8: depend on the type (RFC 4443 §3 and §4).
    rest, set_rest: [u8; 4];
});

/// An ICMPv6 message. Errors quote the packet that caused them, which
/// [`QuotedPacket::parse_ipv6`](crate::QuotedPacket::parse_ipv6) reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Icmpv6Message<'a> {
    /// Type 1: destination unreachable (RFC 4443 §3.1).
    DestinationUnreachable {
        /// The code: 0 no route, 1 prohibited, 2 beyond scope, 3 address, 4 port, 5 source policy,
        /// 6 rejected route.
        code: u8,
        /// The quoted packet.
        quoted: &'a [u8],
    },
    /// Type 2: packet too big (RFC 4443 §3.2).
    PacketTooBig {
        /// Bytes 4..8: the MTU of the next hop.
        mtu: u32,
        /// The quoted packet.
        quoted: &'a [u8],
    },
    /// Type 3: time exceeded (RFC 4443 §3.3).
    TimeExceeded {
        /// The code: 0 hop limit exceeded, 1 fragment reassembly time exceeded.
        code: u8,
        /// The quoted packet.
        quoted: &'a [u8],
    },
    /// Type 4: parameter problem (RFC 4443 §3.4).
    ParameterProblem {
        /// The code: 0 a header field, 1 a next header, 2 an option.
        code: u8,
        /// Bytes 4..8: the offset of the invalid byte in the packet.
        pointer: u32,
        /// The quoted packet.
        quoted: &'a [u8],
    },
    /// Type 128: echo request (RFC 4443 §4.1).
    EchoRequest {
        /// Bytes 4..6: the identifier.
        identifier: u16,
        /// Bytes 6..8: the sequence number.
        sequence: u16,
        /// The data to echo.
        data: &'a [u8],
    },
    /// Type 129: echo reply (RFC 4443 §4.2).
    EchoReply {
        /// Bytes 4..6: the identifier of the request.
        identifier: u16,
        /// Bytes 6..8: the sequence number of the request.
        sequence: u16,
        /// The data of the request.
        data: &'a [u8],
    },
    /// Another type, such as neighbor discovery.
    Other,
}

impl Icmpv6Header {
    /// Creates an echo request or reply; the checksum must be filled in.
    #[must_use]
    pub fn echo(is_reply: bool, identifier: u16, sequence: u16) -> Self {
        let ([a, b], [c, d]) = (identifier.to_be_bytes(), sequence.to_be_bytes());
        let kind = if is_reply { 129 } else { 128 };
        Self { kind, code: 0, checksum: U16::ZERO, rest: [a, b, c, d] }
    }

    /// Decodes the message; `data` are the bytes after the header.
    #[must_use]
    pub fn message<'a>(&self, data: &'a [u8]) -> Icmpv6Message<'a> {
        let (code, word, quoted) = (self.code, u32::from_be_bytes(self.rest), data);
        let (identifier, sequence) = ((word >> 16) as u16, word as u16);
        match self.kind {
            1 => Icmpv6Message::DestinationUnreachable { code, quoted },
            2 => Icmpv6Message::PacketTooBig { mtu: word, quoted },
            3 => Icmpv6Message::TimeExceeded { code, quoted },
            4 => Icmpv6Message::ParameterProblem { code, pointer: word, quoted },
            128 => Icmpv6Message::EchoRequest { identifier, sequence, data },
            129 => Icmpv6Message::EchoReply { identifier, sequence, data },
            _ => Icmpv6Message::Other,
        }
    }

    /// Returns `true` if the checksum is correct. `pseudo` is the sum of the pseudo header with the
    /// message's length, and `data` are the bytes after the header.
    #[must_use]
    pub fn is_checksum_valid(&self, pseudo: Sum, data: &[u8]) -> bool {
        pseudo.bytes(self.as_bytes()).bytes(data).is_valid()
    }

    /// Fills in the checksum.
    pub fn fill_checksum(&mut self, pseudo: Sum, data: &[u8]) {
        self.checksum = U16::ZERO;
        self.checksum = pseudo.bytes(self.as_bytes()).bytes(data).checksum().into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Protocol;
    use core::net::Ipv6Addr;

    #[test]
    fn decodes_each_type() {
        let message = |kind, code| {
            let mut header = Icmpv6Header::echo(false, 1, 2);
            header.set_kind(kind);
            header.set_code(code);
            header.message(&[9])
        };
        let (quoted, data) = (&[9][..], &[9][..]);
        let (identifier, sequence) = (1, 2);
        let expected = [
            (1, 4, Icmpv6Message::DestinationUnreachable { code: 4, quoted }),
            (2, 0, Icmpv6Message::PacketTooBig { mtu: 0x1_0002, quoted }),
            (3, 1, Icmpv6Message::TimeExceeded { code: 1, quoted }),
            (4, 2, Icmpv6Message::ParameterProblem { code: 2, pointer: 0x1_0002, quoted }),
            (128, 0, Icmpv6Message::EchoRequest { identifier, sequence, data }),
            (129, 0, Icmpv6Message::EchoReply { identifier, sequence, data }),
            (135, 0, Icmpv6Message::Other),
        ];
        for (kind, code, expected) in expected {
            assert_eq!(message(kind, code), expected);
        }
        assert_eq!(Icmpv6Header::echo(true, 1, 2).kind(), 129);
    }

    #[test]
    fn checksum_covers_pseudo_header() {
        let localhost = Ipv6Addr::LOCALHOST;
        let pseudo = Sum::pseudo_ipv6(localhost, localhost, Protocol::ICMPV6, 9);
        let mut header = Icmpv6Header::echo(false, 1, 2);
        header.set_checksum(0x1234);
        header.fill_checksum(pseudo, &[3]);
        assert!(header.is_checksum_valid(pseudo, &[3]));
        let other = Sum::pseudo_ipv6(localhost, Ipv6Addr::UNSPECIFIED, Protocol::ICMPV6, 9);
        assert!(!header.is_checksum_valid(other, &[3]));
    }
}
