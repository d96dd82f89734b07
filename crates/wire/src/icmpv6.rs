//! ICMP for IPv6.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned, big_endian::U16};

use crate::Sum;

/// The header of an ICMPv6 message, 8 bytes with those that depend on the type (RFC 4443 §2.1):
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
    /// Byte 0: the type; below 128 it is an error (RFC 4443 §2.1).
    kind, set_kind: u8;
    /// Byte 1: the code, what is meant within a type (RFC 4443 §2.1).
    code, set_code: u8;
    /// Bytes 2..4: the checksum over pseudo header, header and data (RFC 4443 §2.3).
    checksum, set_checksum: u16;
    /// Bytes 4..8: what they are depends on the type (RFC 4443 §3 and §4).
    rest, set_rest: [u8; 4];
});

/// What an ICMPv6 message says. The errors quote the packet that they are about, which
/// [`QuotedPacket::parse_ipv6`](crate::QuotedPacket::parse_ipv6) reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Icmpv6Message<'a> {
    /// Type 1: it could not be delivered (RFC 4443 §3.1).
    DestinationUnreachable {
        /// 0 no route, 1 prohibited, 2 beyond scope, 3 address, 4 port, 5 and 6 refused.
        code: u8,
        /// The packet it is about.
        quoted: &'a [u8],
    },
    /// Type 2: it is longer than the next hop takes (RFC 4443 §3.2).
    PacketTooBig {
        /// Bytes 4..8: what that takes.
        mtu: u32,
        /// The packet it is about.
        quoted: &'a [u8],
    },
    /// Type 3: it was too long under way (RFC 4443 §3.3).
    TimeExceeded {
        /// 0 its hop limit, 1 its fragments.
        code: u8,
        /// The packet it is about.
        quoted: &'a [u8],
    },
    /// Type 4: a field is wrong (RFC 4443 §3.4).
    ParameterProblem {
        /// 0 a header field, 1 a next header, 2 an option.
        code: u8,
        /// Bytes 4..8: which byte of the packet.
        pointer: u32,
        /// The packet it is about.
        quoted: &'a [u8],
    },
    /// Type 128: answer, please (RFC 4443 §4.1).
    EchoRequest {
        /// Bytes 4..6: whose.
        identifier: u16,
        /// Bytes 6..8: which.
        sequence: u16,
        /// What is to come back.
        data: &'a [u8],
    },
    /// Type 129: the answer (RFC 4443 §4.2).
    EchoReply {
        /// Bytes 4..6, of the request.
        identifier: u16,
        /// Bytes 6..8, of the request.
        sequence: u16,
        /// What was in the request.
        data: &'a [u8],
    },
    /// Another type: neighbour discovery for one.
    Other,
}

impl Icmpv6Header {
    /// An echo request, or the reply to one, with the checksum to be filled in.
    #[must_use]
    pub fn echo(is_reply: bool, identifier: u16, sequence: u16) -> Self {
        let ([a, b], [c, d]) = (identifier.to_be_bytes(), sequence.to_be_bytes());
        let kind = if is_reply { 129 } else { 128 };
        Self { kind, code: 0, checksum: U16::ZERO, rest: [a, b, c, d] }
    }

    /// What it says; `data` is what follows the header.
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

    /// Whether the checksum is right; `pseudo` is the pseudo header's with the message's length,
    /// `data` what follows the header.
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
    fn each_kind_has_its_own_words() {
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
    fn the_checksum_covers_the_pseudo_header() {
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
