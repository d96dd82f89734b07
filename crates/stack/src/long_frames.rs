//! Frames that are longer than a frame of the UMEM: the kernel delivers them in parts.
//!
//! In generic mode the filter sees what segmentation and receive offloads have made of a stream:
//! TCP segments of up to 64 KiB. Each part becomes a segment of its own, with headers in the free
//! bytes in front. The engine then needs no other code. Long frames of other protocols are dropped.
//!
//! An offload leaves the partial sum in the checksum of a merged frame, so its parts are passed on
//! as they arrive. Any other frame is one long packet of the wire (a jumbo frame): its parts wait
//! until the checksum of all of them is known to be valid.

use std::collections::HashMap;

use hairpin_wire::{
    EtherType, EthernetHeader, Ipv4Header, Ipv6Header, Protocol, Sum, TcpFlags, TcpHeader,
};
use hairpin_xdp::{Interface, Packet};

use crate::drops::DropCause;

/// The longest headers: Ethernet, IPv4 with options, TCP with options.
const HEADERS_MAX: usize = 14 + 60 + 60;
/// The flags that belong to the last segment.
const LAST_FLAGS: [TcpFlags; 2] = [TcpFlags::FIN, TcpFlags::PSH];

/// The long frames that are being received, by queue.
#[derive(Debug, Default)]
pub(crate) struct LongFrames {
    frames: HashMap<u32, LongFrame>,
}

/// What becomes of a part.
#[derive(Debug)]
pub(crate) enum Part {
    /// A segment of its own.
    Segment(Packet),
    /// It was the last part of a frame whose checksum is valid: its segments.
    Segments(Vec<Packet>),
    /// It waits, or belongs to a frame that is dropped.
    Pending,
    /// Its frame is dropped from here on.
    Dropped(DropCause),
}

/// A long frame of TCP that is being received.
#[derive(Debug)]
struct LongFrame {
    headers: Headers,
    /// The number of bytes of the IP packet that are still to come.
    left: usize,
    /// The parts so far of a frame whose checksum is verified.
    unverified: Option<Unverified>,
}

/// The parts of a frame until its checksum is known.
#[derive(Debug)]
struct Unverified {
    sum: Sum,
    /// `true` after an odd number of bytes.
    is_odd: bool,
    parts: Vec<Packet>,
}

impl Unverified {
    fn add(&mut self, bytes: &[u8]) {
        let (low, rest) = bytes.split_at(usize::from(self.is_odd && !bytes.is_empty()));
        let sum = low.iter().fold(self.sum, |sum, &low| sum.word(low.into()));
        self.sum = sum.bytes(rest);
        self.is_odd = if bytes.is_empty() { self.is_odd } else { rest.len() % 2 != 0 };
    }
}

/// The headers of a segment's parts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Headers {
    pub(crate) bytes: [u8; HEADERS_MAX],
    pub(crate) length: usize,
    /// The offset of the TCP header.
    tcp: usize,
    flags: TcpFlags,
    /// The sequence number of the next part.
    sequence: u32,
}

impl LongFrames {
    /// Makes a part a segment.
    pub(crate) fn split(
        &mut self,
        interface: &mut Interface,
        queue: u32,
        mut part: Packet,
    ) -> Part {
        let (is_first, is_last) = (part.is_first_part(), part.is_last_part());
        if is_first {
            self.discard(interface, queue);
            match LongFrame::read(interface.bytes(&part)) {
                Ok(frame) => drop(self.frames.insert(queue, frame)),
                Err(cause) => {
                    interface.release(part.into_frame());
                    return Part::Dropped(cause);
                }
            }
        }
        let Some(frame) = self.frames.get_mut(&queue) else {
            interface.release(part.into_frame());
            return Part::Pending;
        };
        if !frame.complete(interface, &mut part, is_first, is_last) {
            // Parts after one that is dropped would have wrong sequence numbers.
            interface.release(part.into_frame());
            self.discard(interface, queue);
            return Part::Dropped(DropCause::Malformed);
        }
        part.make_whole();
        let Some(unverified) = &mut frame.unverified else {
            if is_last {
                self.frames.remove(&queue);
            }
            return Part::Segment(part);
        };
        unverified.parts.push(part);
        if !is_last {
            return Part::Pending;
        }
        if !unverified.sum.is_valid() {
            self.discard(interface, queue);
            return Part::Dropped(DropCause::Checksum);
        }
        let parts = std::mem::take(&mut unverified.parts);
        self.frames.remove(&queue);
        Part::Segments(parts)
    }

    /// Releases the parts of an incomplete frame.
    fn discard(&mut self, interface: &mut Interface, queue: u32) {
        let unverified = self.frames.remove(&queue).and_then(|frame| frame.unverified);
        for part in unverified.into_iter().flat_map(|unverified| unverified.parts) {
            interface.release(part.into_frame());
        }
    }
}

impl LongFrame {
    /// Reads the first part of a frame.
    fn read(first: &[u8]) -> Result<Self, DropCause> {
        let headers = Headers::read(first).ok_or(DropCause::TooLong)?;
        let pseudo = headers.pseudo_header(first).ok_or(DropCause::Checksum)?;
        let (tcp, _) = TcpHeader::split(&first[headers.tcp..]).map_err(|_| DropCause::Malformed)?;
        let is_verified = !pseudo.is_partial(tcp.checksum());
        let unverified = Unverified { sum: pseudo, is_odd: false, parts: Vec::new() };
        let left = headers.packet_length(first).ok_or(DropCause::Malformed)?;
        Ok(Self { headers, left, unverified: is_verified.then_some(unverified) })
    }

    /// Adds a part to the sum, and makes it a segment. Returns `false` if that is not possible.
    fn complete(
        &mut self,
        interface: &Interface,
        part: &mut Packet,
        is_first: bool,
        is_last: bool,
    ) -> bool {
        let headers = &mut self.headers;
        // Bytes behind the packet are not part of it.
        let before = if is_first { EthernetHeader::SIZE } else { 0 };
        let length = (part.length() as usize).min(before + self.left);
        part.truncate(length as u32);
        self.left -= length.saturating_sub(before);
        if is_last && self.left > 0 {
            return false;
        }
        if let Some(unverified) = &mut self.unverified {
            let bytes = interface.bytes(part);
            unverified.add(if is_first { &bytes[headers.tcp..] } else { bytes });
        }
        if !is_first {
            if (part.offset() as usize) < headers.length {
                return false;
            }
            part.grow_front(headers.length as u32);
            interface.bytes_mut(part)[..headers.length]
                .copy_from_slice(&headers.bytes[..headers.length]);
        }
        headers.complete(interface.bytes_mut(part), is_last).is_some()
    }
}

impl Headers {
    /// Reads the headers of a frame's first part; `None` if they are not those of TCP.
    pub(crate) fn read(frame: &[u8]) -> Option<Self> {
        let (ethernet, packet) = EthernetHeader::split(frame).ok()?;
        let start = match ethernet.ether_type() {
            EtherType::IPV4 => {
                let (ip, ..) = Ipv4Header::parse_start(packet).ok()?;
                let is_whole = !ip.is_fragment() && ip.protocol() == Protocol::TCP;
                is_whole.then_some(ip.header_length())?
            }
            EtherType::IPV6 => {
                let (ip, _) = Ipv6Header::parse_start(packet).ok()?;
                (ip.next_header() == Protocol::TCP).then_some(Ipv6Header::SIZE)?
            }
            _ => return None,
        };
        let tcp = EthernetHeader::SIZE + start;
        let (header, _) = TcpHeader::split(frame.get(tcp..)?).ok()?;
        if header.header_length() < TcpHeader::SIZE {
            return None;
        }
        let length = tcp + header.header_length();
        let mut bytes = [0; HEADERS_MAX];
        bytes.get_mut(..length)?.copy_from_slice(frame.get(..length)?);
        Some(Self { bytes, length, tcp, flags: header.flags(), sequence: header.sequence_number() })
    }

    /// Returns the length of the whole IP packet.
    fn packet_length(&self, frame: &[u8]) -> Option<usize> {
        let packet = frame.get(EthernetHeader::SIZE..)?;
        match Ipv4Header::parse_start(packet) {
            Ok((ip, ..)) => Some(usize::from(ip.total_length())),
            Err(_) => {
                let (ip, _) = Ipv6Header::parse_start(packet).ok()?;
                Some(Ipv6Header::SIZE + usize::from(ip.payload_length()))
            }
        }
    }

    /// Returns the sum of the pseudo header of the whole frame; `None` if the IP header is invalid.
    fn pseudo_header(&self, frame: &[u8]) -> Option<Sum> {
        let (ethernet, packet) = EthernetHeader::split(frame).ok()?;
        if ethernet.ether_type() == EtherType::IPV4 {
            let (ip, ..) = Ipv4Header::parse_start(packet).ok()?;
            let length = ip.total_length().checked_sub(ip.header_length() as u16)?;
            let (source, to) = (ip.source(), ip.destination());
            let pseudo = Sum::pseudo_ipv4(source, to, Protocol::TCP, length);
            return ip.is_checksum_valid(packet).then_some(pseudo);
        }
        let (ip, _) = Ipv6Header::parse_start(packet).ok()?;
        let length = u32::from(ip.payload_length());
        Some(Sum::pseudo_ipv6(ip.source(), ip.destination(), Protocol::TCP, length))
    }

    /// Writes lengths, sequence number, flags and checksums of the next segment.
    pub(crate) fn complete(&mut self, frame: &mut [u8], is_last: bool) -> Option<()> {
        let payload = frame.len().checked_sub(self.length)?;
        let (_, packet) = EthernetHeader::split(frame).ok()?;
        let (length, is_v4) = (packet.len(), packet.first()? >> 4 == 4);
        let (packet, segment) =
            frame[EthernetHeader::SIZE..].split_at_mut(self.tcp - EthernetHeader::SIZE);
        let pseudo = if is_v4 {
            let (ip, _) = Ipv4Header::split_mut(packet).ok()?;
            ip.set_total_length(u16::try_from(length).ok()?);
            let (source, to) = (ip.source(), ip.destination());
            Sum::pseudo_ipv4(source, to, Protocol::TCP, segment.len() as u16)
        } else {
            let (ip, _) = Ipv6Header::split_mut(packet).ok()?;
            ip.set_payload_length(segment.len() as u16);
            Sum::pseudo_ipv6(ip.source(), ip.destination(), Protocol::TCP, segment.len() as u32)
        };
        if is_v4 {
            fill_ipv4_checksum(packet);
        }
        let (tcp, _) = TcpHeader::split_mut(segment).ok()?;
        tcp.set_sequence_number(self.sequence);
        let flags = if is_last { self.flags } else { without_last(self.flags) };
        tcp.set_flags(flags);
        tcp.set_checksum(0);
        let checksum = pseudo.bytes(segment).checksum();
        TcpHeader::split_mut(segment).ok()?.0.set_checksum(checksum);
        self.sequence = self.sequence.wrapping_add(payload as u32);
        Some(())
    }
}

fn without_last(flags: TcpFlags) -> TcpFlags {
    LAST_FLAGS.iter().fold(flags, |flags, last| TcpFlags(flags.0 & !last.0))
}

/// Fills the checksum of a header with options.
fn fill_ipv4_checksum(header: &mut [u8]) {
    header[10..12].fill(0);
    let checksum = Sum::ZERO.bytes(header).checksum();
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use hairpin_wire::MacAddress;

    use super::*;

    const PAYLOAD: usize = 5_000;
    const PART: usize = 1_792;

    /// Returns a frame of a long segment, without valid lengths and checksums.
    fn frame(is_v4: bool, protocol: Protocol) -> Vec<u8> {
        let ether_type = if is_v4 { EtherType::IPV4 } else { EtherType::IPV6 };
        let [to, from] = [1, 2].map(|last| MacAddress([2, 0, 0, 0, 0, last]));
        let mut bytes = EthernetHeader::new(to, from, ether_type).as_bytes().to_vec();
        if is_v4 {
            let ip = Ipv4Header::new(protocol, [10, 0, 0, 1].into(), [10, 0, 0, 2].into());
            bytes.extend(ip.as_bytes());
        } else {
            let [source, to] = [1, 2].map(|last| [0xFC, 0, 0, 0, 0, 0, 0, last].into());
            bytes.extend(Ipv6Header::new(protocol, source, to).as_bytes());
        }
        let mut tcp = TcpHeader::new(7, 8);
        tcp.set_header_length(32);
        tcp.set_sequence_number(u32::MAX - 100);
        tcp.set_flags(TcpFlags::ACK | TcpFlags::PSH);
        bytes.extend(tcp.as_bytes());
        bytes.extend([1; 12]);
        bytes.extend((0..PAYLOAD).map(|at| at as u8));
        bytes
    }

    /// Returns the segments that `split` makes of a frame.
    fn segments(frame: &[u8]) -> Vec<Vec<u8>> {
        let mut headers = Headers::read(frame).unwrap();
        let parts = frame.chunks(PART).enumerate();
        let count = frame.len().div_ceil(PART);
        let complete = |(at, part): (usize, &[u8])| {
            let before = if at == 0 { &[][..] } else { &headers.bytes[..headers.length] };
            let mut segment = [before, part].concat();
            headers.complete(&mut segment, at + 1 == count).unwrap();
            segment
        };
        parts.map(complete).collect()
    }

    /// Checks lengths and checksums of a frame. Returns its segment.
    fn check(frame: &[u8]) -> (TcpHeader, Vec<u8>) {
        let (ethernet, packet) = EthernetHeader::split(frame).unwrap();
        let (segment, pseudo) = if ethernet.ether_type() == EtherType::IPV4 {
            let (ip, _, segment) = Ipv4Header::parse(packet).unwrap();
            assert!(ip.is_checksum_valid(packet));
            let (source, to, length) = (ip.source(), ip.destination(), segment.len() as u16);
            (segment, Sum::pseudo_ipv4(source, to, Protocol::TCP, length))
        } else {
            let (ip, segment) = Ipv6Header::parse(packet).unwrap();
            let (source, to, length) = (ip.source(), ip.destination(), segment.len() as u32);
            (segment, Sum::pseudo_ipv6(source, to, Protocol::TCP, length))
        };
        assert!(TcpHeader::is_checksum_valid(pseudo, segment));
        let (tcp, _, payload) = TcpHeader::parse(segment).unwrap();
        (*tcp, payload.to_vec())
    }

    #[test]
    fn parts_become_valid_segments_in_sequence() {
        for is_v4 in [true, false] {
            let frame = frame(is_v4, Protocol::TCP);
            let segments: Vec<_> = segments(&frame).iter().map(|frame| check(frame)).collect();
            assert_eq!(segments.len(), 3);
            let (mut next, mut stream) = (u32::MAX - 100, Vec::<u8>::new());
            for (at, (tcp, payload)) in segments.iter().enumerate() {
                assert_eq!(tcp.sequence_number(), next);
                assert_eq!(tcp.flags().contains(TcpFlags::PSH), at == 2, "part {at}");
                assert!(tcp.flags().contains(TcpFlags::ACK));
                next = next.wrapping_add(payload.len() as u32);
                stream.extend(payload);
            }
            assert_eq!(stream, frame[frame.len() - PAYLOAD..]);
        }
    }

    #[test]
    fn frames_with_a_short_tcp_header_have_no_headers() {
        for (is_v4, tcp) in [(true, 34), (false, 54)] {
            let mut frame = frame(is_v4, Protocol::TCP);
            // The data offset is the high half of byte 12.
            for words in 0..5 {
                frame[tcp + 12] = words << 4;
                assert!(Headers::read(&frame).is_none(), "{words}");
            }
        }
    }

    #[test]
    fn frames_of_other_protocols_have_no_headers() {
        for is_v4 in [true, false] {
            assert!(Headers::read(&frame(is_v4, Protocol::UDP)).is_none());
            let frame = frame(is_v4, Protocol::TCP);
            assert!((0..66).all(|length| Headers::read(&frame[..length]).is_none()));
        }
    }
}
