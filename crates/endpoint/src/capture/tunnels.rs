//! Headers of tunnels, and of devices that mirror traffic.
//!
//! Sources: RFC 2784 and 2890 (GRE), draft-foschiano-erspan (ERSPAN), RFC 7348 (VXLAN),
//! draft-ietf-nvo3-vxlan-gpe, RFC 8926 (GENEVE), RFC 3032 and 4385 (MPLS and its control word),
//! RFC 7510 (MPLS in UDP), RFC 2516 (PPPoE), Arista's EOS manual (timestamps).

use super::decapsulation::{Decoded, Decoder, Header, Outcome, Step, half, other};
use super::{PacketError, Protocol};

/// The UDP ports.
const VXLAN: u16 = 4789;
const VXLAN_GPE: u16 = 4790;
const GENEVE: u16 = 6081;
const MPLS_IN_UDP: u16 = 6635;
/// VXLAN, as Linux had it before the port was assigned.
const VXLAN_OF_LINUX: u16 = 8472;

const GRE: u8 = 47;
const MPLS: u16 = 0x8847;

/// Returns `true` if datagrams to this port may contain packets.
#[inline]
pub(super) fn is_tunnel_port(port: u16) -> bool {
    matches!(port, VXLAN | VXLAN_GPE | GENEVE | MPLS_IN_UDP | VXLAN_OF_LINUX)
}

impl Decoder {
    /// Decodes the packet in a datagram to a tunnel's port. `None` if there is no packet in it:
    /// then
    /// the port is used for something else.
    pub(super) fn tunnel<'a>(
        &mut self,
        port: u16,
        bytes: &'a [u8],
    ) -> Option<Result<Decoded<'a>, PacketError>> {
        let (header, rest) = match port {
            MPLS_IN_UDP => (Header::EtherType(MPLS), bytes),
            GENEVE => geneve(bytes)?,
            _ => vxlan(port, bytes)?,
        };
        self.try_decode(header, rest)
    }

    /// Decodes a stack of MPLS labels and the packet after it. Nothing names the packet's kind: it
    /// is IP, or an Ethernet pseudowire with or without a control word.
    pub(super) fn mpls<'a>(&mut self, number: u16, bytes: &'a [u8]) -> Outcome<'a> {
        const BOTTOM: u8 = 1;
        let mut labels = bytes.chunks_exact(4);
        let Some(bottom) = labels.position(|label| label[2] & BOTTOM != 0) else {
            return self.short("frame ends within MPLS labels");
        };
        let packet = &bytes[4 * (bottom + 1)..];
        let may_be = match packet.first().map(|first| first >> 4) {
            Some(4 | 6) => [Some((Header::Ip, packet)), Some((Header::Ethernet, packet))],
            Some(0) => {
                [packet.get(4..).map(|it| (Header::Ethernet, it)), Some((Header::Ethernet, packet))]
            }
            _ => [Some((Header::Ethernet, packet)), None],
        };
        for (header, rest) in may_be.into_iter().flatten() {
            if let Some(decoded) = self.try_decode(header, rest) {
                return decoded.map(Step::Done);
            }
        }
        other(Protocol::EtherType(number))
    }
}

/// Decodes a GRE header, and that of ERSPAN after it.
pub(super) fn gre(bytes: &[u8]) -> Outcome<'_> {
    const CHECKSUM: u16 = 0x8000;
    const ROUTING: u16 = 0x4000;
    const KEY: u16 = 0x2000;
    const SEQUENCE: u16 = 0x1000;
    const VERSION: u16 = 7;
    const ERSPAN: u16 = 0x88be;
    const ERSPAN_3: u16 = 0x22eb;
    let Some(([a, b, c, d], _)) = bytes.split_first_chunk() else {
        return other(Protocol::Ip(GRE));
    };
    let (flags, protocol) = (u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d]));
    if flags & (ROUTING | VERSION) != 0 {
        return other(Protocol::Ip(GRE));
    }
    let options = [CHECKSUM, KEY, SEQUENCE].iter().filter(|flag| flags & **flag != 0).count();
    let Some(rest) = bytes.get(4 + 4 * options..) else { return other(Protocol::Ip(GRE)) };
    let inner = match protocol {
        // Type I has neither a sequence number nor a header.
        ERSPAN if flags & SEQUENCE == 0 => Some((Header::Ethernet, rest)),
        ERSPAN | ERSPAN_3 => erspan(rest),
        _ => Some((Header::EtherType(protocol), rest)),
    };
    match inner {
        Some((header, rest)) => Ok(Step::Next(header, rest)),
        None => other(Protocol::EtherType(protocol)),
    }
}

/// Decodes an ERSPAN header of type II (version 1) or III (version 2).
fn erspan(bytes: &[u8]) -> Option<(Header, &[u8])> {
    const TYPE_II: usize = 8;
    const TYPE_III: usize = 12;
    const SUBHEADER: usize = 8;
    match bytes.first()? >> 4 {
        1 => Some((Header::Ethernet, bytes.get(TYPE_II..)?)),
        2 => {
            let last = half(bytes.get(..TYPE_III)?, TYPE_III - 2);
            // The lowest bit: a subheader of the platform follows.
            let length = if last & 1 == 0 { TYPE_III } else { TYPE_III + SUBHEADER };
            // The frame type is 0 for Ethernet, 2 for IP.
            let header = match last >> 10 & 0x1f {
                0 => Header::Ethernet,
                2 => Header::Ip,
                _ => return None,
            };
            Some((header, bytes.get(length..)?))
        }
        _ => None,
    }
}

/// Decodes a header of VXLAN or its generic protocol extension.
fn vxlan(port: u16, bytes: &[u8]) -> Option<(Header, &[u8])> {
    /// The network identifier is valid.
    const VALID: u8 = 0x08;
    /// The last reserved byte before the identifier is the next protocol.
    const HAS_PROTOCOL: u8 = 0x04;
    let ([flags, _, _, protocol, ..], rest) = bytes.split_first_chunk::<8>()?;
    if flags & VALID == 0 {
        return None;
    }
    let header = match (port, flags & HAS_PROTOCOL, protocol) {
        (VXLAN_GPE, HAS_PROTOCOL, 1 | 2) => Header::Ip,
        (VXLAN_GPE, HAS_PROTOCOL, 5) => Header::EtherType(MPLS),
        _ => Header::Ethernet,
    };
    Some((header, rest))
}

/// Decodes a GENEVE header and its options.
fn geneve(bytes: &[u8]) -> Option<(Header, &[u8])> {
    let ([first, _, high, low, ..], rest) = bytes.split_first_chunk::<8>()?;
    if first >> 6 != 0 {
        return None;
    }
    let options = 4 * usize::from(first & 0x3f);
    Some((Header::EtherType(u16::from_be_bytes([*high, *low])), rest.get(options..)?))
}

/// Decodes a PPPoE session packet.
pub(super) fn pppoe(bytes: &[u8]) -> Outcome<'_> {
    const SESSION: u16 = 0x8864;
    match bytes {
        // Version and type 1, session data, session, length; then PPP's protocol.
        [0x11, 0, _, _, _, _, 0, 0x21 | 0x57, rest @ ..] => Ok(Step::Next(Header::Ip, rest)),
        _ => other(Protocol::EtherType(SESSION)),
    }
}

/// Returns the length of the header that Arista's switches insert before an EtherType: subtype,
/// version, timestamp. `None` if it is another subtype or version.
pub(super) fn arista_timestamp(bytes: &[u8]) -> Option<usize> {
    let (&[subtype_high, subtype, timescale, version], _) = bytes.split_first_chunk()?;
    // The timescale is TAI or UTC.
    match (subtype_high, subtype, timescale, version) {
        (0, 1, 0 | 1, 0x10 | 0x11) => Some(4 + 8),
        (0, 1, 0 | 1, 0x20 | 0x21) => Some(4 + 6),
        _ => None,
    }
}
