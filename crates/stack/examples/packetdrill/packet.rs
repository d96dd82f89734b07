//! Segments that the engine does not write: those of the handshake and the end of a connection.

use std::net::SocketAddrV4;

use hairpin_wire::{Ipv4Header, Protocol, Sum, TcpFlags, TcpHeader, TcpOption};

/// The options of a SYN.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct SynOptions {
    pub(crate) segment_size: Option<u16>,
    pub(crate) scale: Option<u8>,
    pub(crate) selective: bool,
    pub(crate) timestamp: Option<u32>,
}

/// A segment that arrived.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrived<'p> {
    pub(crate) from: SocketAddrV4,
    pub(crate) to: SocketAddrV4,
    pub(crate) header: &'p TcpHeader,
    pub(crate) options: SynOptions,
    pub(crate) payload: &'p [u8],
    /// Header, options and payload.
    pub(crate) segment: &'p [u8],
}

/// Parses an IPv4 packet with TCP.
pub(crate) fn parse(packet: &[u8]) -> Option<Arrived<'_>> {
    let (ip, _, segment) = Ipv4Header::parse(packet).ok()?;
    let (header, found, payload) = TcpHeader::parse(segment).ok()?;
    let mut options = SynOptions::default();
    for option in found.flatten() {
        match option {
            TcpOption::MaximumSegmentSize(size) => options.segment_size = Some(size),
            TcpOption::WindowScale(scale) => options.scale = Some(scale),
            TcpOption::SackPermitted => options.selective = true,
            TcpOption::Timestamps { value, .. } => options.timestamp = Some(value),
            _ => {}
        }
    }
    let from = SocketAddrV4::new(ip.source(), header.source_port());
    let to = SocketAddrV4::new(ip.destination(), header.destination_port());
    Some(Arrived { from, to, header, options, payload, segment })
}

/// The fields of a segment to write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
    pub(crate) from: SocketAddrV4,
    pub(crate) to: SocketAddrV4,
    pub(crate) sequence: u32,
    pub(crate) acknowledgment: u32,
    pub(crate) flags: TcpFlags,
    pub(crate) window: u16,
    /// TSval and TSecr.
    pub(crate) timestamps: Option<(u32, u32)>,
    /// The options of a SYN, in the kernel's order.
    pub(crate) syn: Option<SynOptions>,
}

impl Segment {
    pub(crate) fn write(&self) -> Vec<u8> {
        let options = self.options();
        let mut header = TcpHeader::new(self.from.port(), self.to.port());
        header.set_sequence_number(self.sequence);
        header.set_acknowledgement_number(self.acknowledgment);
        header.set_flags(self.flags);
        header.set_window(self.window);
        header.set_header_length(TcpHeader::SIZE + options.len());
        let mut segment = header.as_bytes().to_vec();
        segment.extend_from_slice(&options);
        let length = segment.len() as u16;
        let pseudo = Sum::pseudo_ipv4(*self.from.ip(), *self.to.ip(), Protocol::TCP, length);
        let checksum = pseudo.bytes(&segment).checksum().to_be_bytes();
        segment[16..18].copy_from_slice(&checksum);
        with_ip(self.from, self.to, &segment)
    }

    fn options(&self) -> Vec<u8> {
        const NO_OPERATION: u8 = 1;
        let mut options = Vec::new();
        if let Some(syn) = self.syn {
            let [high, low] = syn.segment_size.unwrap_or(536).to_be_bytes();
            options.extend([2, 4, high, low]);
            match (syn.selective, self.timestamps) {
                (true, Some(_)) => options.extend([4, 2]),
                (true, None) => options.extend([NO_OPERATION, NO_OPERATION, 4, 2]),
                (false, Some(_)) => options.extend([NO_OPERATION; 2]),
                (false, None) => {}
            }
        } else if self.timestamps.is_some() {
            options.extend([NO_OPERATION; 2]);
        }
        if let Some((value, echo)) = self.timestamps {
            options.extend([8, 10]);
            options.extend(value.to_be_bytes());
            options.extend(echo.to_be_bytes());
        }
        if let Some(scale) = self.syn.and_then(|syn| syn.scale) {
            options.extend([NO_OPERATION, 3, 3, scale]);
        }
        options
    }
}

/// Puts an IPv4 header before a segment.
fn with_ip(from: SocketAddrV4, to: SocketAddrV4, segment: &[u8]) -> Vec<u8> {
    let mut header = Ipv4Header::new(Protocol::TCP, *from.ip(), *to.ip());
    header.set_ttl(64);
    header.set_total_length((Ipv4Header::SIZE + segment.len()) as u16);
    let checksum = header.sum().checksum();
    header.set_checksum(checksum);
    let mut packet = header.as_bytes().to_vec();
    packet.extend_from_slice(segment);
    packet
}

/// Appends the payload of `next` to `packet` if it continues the new data of that packet, as
/// segmentation offload combines them. Returns `false` if it does not.
pub(crate) fn combine(packet: &mut Vec<u8>, next: &[u8]) -> bool {
    let (Some(first), Some(second)) = (parse(packet), parse(next)) else { return false };
    let end = first.header.sequence_number().wrapping_add(first.payload.len() as u32);
    let is_next = second.header.sequence_number() == end
        && !first.payload.is_empty()
        && !second.payload.is_empty()
        && first.header.acknowledgement_number() == second.header.acknowledgement_number()
        && first.header.header_length() == second.header.header_length();
    if !is_next {
        return false;
    }
    let (from, to) = (first.from, first.to);
    let mut segment = first.segment.to_vec();
    segment[13] |= second.header.flags().0;
    segment.extend_from_slice(second.payload);
    segment[16..18].fill(0);
    let pseudo = Sum::pseudo_ipv4(*from.ip(), *to.ip(), Protocol::TCP, segment.len() as u16);
    let checksum = pseudo.bytes(&segment).checksum().to_be_bytes();
    segment[16..18].copy_from_slice(&checksum);
    *packet = with_ip(from, to, &segment);
    true
}
