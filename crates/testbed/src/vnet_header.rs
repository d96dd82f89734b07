//! The work of a network card: checksum completion and segmentation, before a frame is on the wire.
//!
//! A veth passes frames as the kernel hands them to it: up to 64 KiB of a stream in one frame, and
//! UDP and TCP checksums that a card would complete. A packet socket prepends `struct
//! virtio_net_hdr` to such a frame (linux/virtio_net.h, in native byte order), which describes the
//! remaining work.

use std::ops::Range;

use crate::frame::{Frame, PROTOCOL_TCP, PROTOCOL_UDP, UDP_HEADER, word};

/// The offset of the checksum in the UDP header.
const UDP_CHECKSUM: u16 = 6;
/// Flag: the transport checksum contains only the sum of the pseudo header.
const NEEDS_CHECKSUM: u8 = 1;
const GSO_NONE: u8 = 0;
const GSO_TCP_IPV4: u8 = 1;
const GSO_UDP: u8 = 5;
/// Added to a type: the first segment keeps the CWR flag.
const GSO_ECN: u8 = 0x80;
/// The TCP flags (RFC 9293 3.1) of the last segment, and that of the first.
const FIN_PSH: u8 = 0x09;
const CWR: u8 = 0x80;

/// The fields of `struct virtio_net_hdr` that are used here.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct VnetHeader {
    flags: u8,
    gso_type: u8,
    /// The payload bytes of each segment.
    gso_size: u16,
    /// The offset of the transport header in the frame, and of the checksum in that header.
    checksum_start: u16,
    checksum_offset: u16,
}

/// The frame needs work of an unsupported or inconsistent kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

impl VnetHeader {
    /// The length of `struct virtio_net_hdr`.
    pub(crate) const LENGTH: usize = 10;

    pub(crate) fn parse(bytes: [u8; Self::LENGTH]) -> Self {
        let half = |at| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        Self {
            flags: bytes[0],
            gso_type: bytes[1],
            gso_size: half(4),
            checksum_start: half(6),
            checksum_offset: half(8),
        }
    }

    /// Returns the bytes of a header for a frame with a partial checksum.
    pub(crate) fn partial(start: u16, offset: u16) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        bytes[0] = NEEDS_CHECKSUM;
        bytes[6..8].copy_from_slice(&start.to_ne_bytes());
        bytes[8..10].copy_from_slice(&offset.to_ne_bytes());
        bytes
    }

    /// Completes a frame and passes each frame for the wire to `on`. `segment` is a buffer for
    /// reuse.
    pub(crate) fn complete(
        self,
        bytes: &mut [u8],
        segment: &mut Vec<u8>,
        mut on: impl FnMut(&[u8]),
    ) -> Result<(), Malformed> {
        if self.gso_type != GSO_NONE {
            return self.segment(bytes, segment, on);
        }
        if self.flags & NEEDS_CHECKSUM != 0 {
            self.complete_checksum(bytes)?;
        }
        on(bytes);
        Ok(())
    }

    fn complete_checksum(self, bytes: &mut [u8]) -> Result<(), Malformed> {
        let start = usize::from(self.checksum_start);
        let at = start + usize::from(self.checksum_offset);
        if at + 2 > bytes.len() {
            return Err(Malformed);
        }
        // The checksum field contains the sum of the pseudo header, which is thus included.
        let sum = checksum(sum_of(&bytes[start..]));
        put(bytes, at, if self.checksum_offset == UDP_CHECKSUM { or_all_ones(sum) } else { sum });
        Ok(())
    }

    fn segment(
        self,
        bytes: &[u8],
        segment: &mut Vec<u8>,
        mut on: impl FnMut(&[u8]),
    ) -> Result<(), Malformed> {
        let headers = Headers::parse(self, bytes).ok_or(Malformed)?;
        let size = usize::from(self.gso_size);
        let payload = &bytes[headers.payload.clone()];
        if size == 0 || payload.is_empty() {
            return Err(Malformed);
        }
        for (index, piece) in payload.chunks(size).enumerate() {
            segment.clear();
            segment.extend_from_slice(&bytes[..headers.payload.start]);
            segment.extend_from_slice(piece);
            let last = (index + 1) * size >= payload.len();
            headers.complete_segment(segment, index, size, last);
            on(segment);
        }
        Ok(())
    }
}

/// The offsets of the headers of a frame for segmentation: IPv4 with TCP or UDP.
#[derive(Debug)]
struct Headers {
    ip: usize,
    transport: usize,
    protocol: u8,
    payload: Range<usize>,
}

impl Headers {
    /// Parses the headers; `None` unless all are complete and consistent.
    fn parse(vnet: VnetHeader, bytes: &[u8]) -> Option<Self> {
        let frame = Frame::parse(bytes);
        let (ip, transport) = (frame.packet.start, usize::from(vnet.checksum_start));
        let header = usize::from(bytes.get(ip)? & 0x0f) * 4;
        let (protocol, length) = match vnet.gso_type & !GSO_ECN {
            GSO_TCP_IPV4 => (PROTOCOL_TCP, usize::from(bytes.get(transport + 12)? >> 4) * 4),
            GSO_UDP => (PROTOCOL_UDP, UDP_HEADER),
            _ => return None,
        };
        let is_valid = frame.is_ipv4
            && vnet.flags & NEEDS_CHECKSUM != 0
            && (header >= 20 && ip + header == transport)
            && *bytes.get(ip + 9)? == protocol
            && (length >= UDP_HEADER && transport + length <= bytes.len());
        let payload = transport + length..bytes.len();
        is_valid.then_some(Self { ip, transport, protocol, payload })
    }

    /// Sets lengths, sequence numbers, flags and checksums for the segment `index`.
    fn complete_segment(&self, segment: &mut [u8], index: usize, size: usize, last: bool) {
        let Self { ip, transport, .. } = *self;
        let length = (segment.len() - ip) as u16;
        put(segment, ip + 2, length);
        // Consecutive numbers from that of the frame. RFC 6864 only requires uniqueness.
        let identification = word(segment, ip + 4).unwrap_or(0).wrapping_add(index as u16);
        put(segment, ip + 4, identification);
        put(segment, ip + 10, 0);
        put(segment, ip + 10, checksum(sum_of(&segment[ip..transport])));
        let field = if self.protocol == PROTOCOL_TCP {
            self.complete_tcp(segment, (index * size) as u32, index == 0, last);
            transport + 16
        } else {
            put(segment, transport + 4, (segment.len() - transport) as u16);
            transport + usize::from(UDP_CHECKSUM)
        };
        put(segment, field, 0);
        let sum = checksum(self.pseudo_header(segment) + sum_of(&segment[transport..]));
        put(segment, field, if self.protocol == PROTOCOL_UDP { or_all_ones(sum) } else { sum });
    }

    fn complete_tcp(&self, segment: &mut [u8], bytes_before: u32, first: bool, last: bool) {
        let at = self.transport;
        let sequence = [4, 5, 6, 7].map(|offset| segment[at + offset]);
        let sequence = u32::from_be_bytes(sequence).wrapping_add(bytes_before);
        segment[at + 4..at + 8].copy_from_slice(&sequence.to_be_bytes());
        let last_only = if last { 0 } else { FIN_PSH };
        let first_only = if first { 0 } else { CWR };
        segment[at + 13] &= !(last_only | first_only);
    }

    /// Returns the sum of the pseudo header (RFC 9293 3.1, RFC 768): addresses, protocol, length.
    fn pseudo_header(&self, segment: &[u8]) -> u64 {
        let addresses = sum_of(&segment[self.ip + 12..self.ip + 20]);
        addresses + u64::from(self.protocol) + (segment.len() - self.transport) as u64
    }
}

fn put(bytes: &mut [u8], at: usize, number: u16) {
    bytes[at..at + 2].copy_from_slice(&number.to_be_bytes());
}

/// Returns the sum of RFC 1071 before folding.
fn sum_of(bytes: &[u8]) -> u64 {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let whole: u64 = pairs.iter().map(|&pair| u64::from(u16::from_be_bytes(pair))).sum();
    whole + rest.first().map_or(0, |&last| u64::from(last) << 8)
}

/// Folds and complements a sum (RFC 1071).
fn checksum(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Replaces a UDP checksum of zero by all ones, because zero means no checksum (RFC 768).
fn or_all_ones(sum: u16) -> u16 {
    if sum == 0 { 0xffff } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TCP_SEGMENTS: VnetHeader = VnetHeader {
        flags: NEEDS_CHECKSUM,
        gso_type: GSO_TCP_IPV4,
        gso_size: 100,
        checksum_start: 34,
        checksum_offset: 16,
    };
    const UDP_SEGMENTS: VnetHeader =
        VnetHeader { gso_type: GSO_UDP, checksum_offset: 6, ..TCP_SEGMENTS };

    fn frame(protocol: u8, transport: &[u8], payload: usize) -> Vec<u8> {
        let mut bytes = vec![2; 12];
        bytes.extend([0x08, 0x00, 0x45, 0, 0, 0, 0xff, 0xff, 0x40, 0, 64, protocol, 0, 0]);
        bytes.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        bytes.extend(transport);
        bytes.extend((0..payload).map(|index| index as u8));
        let length = (bytes.len() - 14) as u16;
        put(&mut bytes, 16, length);
        let sum = checksum(sum_of(&bytes[14..34]));
        put(&mut bytes, 24, sum);
        bytes
    }

    /// Sequence number 0xffff_ff00; CWR, PSH, ACK and FIN; a window; and 12 bytes of options.
    fn tcp(payload: usize) -> Vec<u8> {
        let mut header = vec![0, 1, 0, 2, 0xff, 0xff, 0xff, 0x00, 0, 0, 0, 9, 0x80, 0x99, 2, 0];
        header.extend([0xaa, 0xbb, 0, 0]);
        header.extend([1; 12]);
        frame(PROTOCOL_TCP, &header, payload)
    }

    fn udp(payload: usize) -> Vec<u8> {
        frame(PROTOCOL_UDP, &[0, 1, 0, 2, 0, 0, 0xaa, 0xbb], payload)
    }

    fn complete(vnet: VnetHeader, mut bytes: Vec<u8>) -> Result<Vec<Vec<u8>>, Malformed> {
        let mut frames = Vec::new();
        vnet.complete(&mut bytes, &mut Vec::new(), |frame| frames.push(frame.to_vec()))?;
        Ok(frames)
    }

    /// Returns `true` if a receiver accepts the length and both checksums.
    fn is_valid(bytes: &[u8]) -> bool {
        let transport = &bytes[34..];
        let pseudo = sum_of(&bytes[26..34]) + u64::from(bytes[23]) + transport.len() as u64;
        let has_length = word(bytes, 16) == Some((bytes.len() - 14) as u16);
        has_length
            && checksum(sum_of(&bytes[14..34])) == 0
            && checksum(pseudo + sum_of(transport)) == 0
    }

    /// The example of RFC 1071 section 3.
    #[test]
    fn sum_matches_rfc_1071() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(checksum(sum_of(&bytes)), !0xddf2);
        assert_eq!(sum_of(&[0x12]), 0x1200);
    }

    #[test]
    fn complete_frames_stay_unchanged() {
        let bytes = tcp(10);
        assert_eq!(complete(VnetHeader::default(), bytes.clone()), Ok(vec![bytes]));
    }

    #[test]
    fn checksums_are_completed() {
        for length in [0, 1, 17, 1_000] {
            let mut bytes = udp(length);
            let udp_length = (8 + length) as u16;
            put(&mut bytes, 38, udp_length);
            let pseudo = sum_of(&bytes[26..34]) + 17 + u64::from(udp_length);
            put(&mut bytes, 40, !checksum(pseudo));
            assert!(!is_valid(&bytes));
            let vnet = VnetHeader { gso_type: GSO_NONE, ..UDP_SEGMENTS };
            let frames = complete(vnet, bytes.clone()).unwrap();
            assert!(frames.len() == 1 && is_valid(&frames[0]), "{length}");
            assert_eq!(frames[0][42..], bytes[42..]);
        }
    }

    #[test]
    fn completed_checksum_of_zero_is_sent_as_all_ones() {
        // Chooses the payload so that the checksum is zero.
        let mut bytes = udp(2);
        put(&mut bytes, 38, 10);
        put(&mut bytes, 42, 0);
        let pseudo = sum_of(&bytes[26..34]) + 17 + 10;
        put(&mut bytes, 40, !checksum(pseudo));
        let rest = checksum(sum_of(&bytes[34..]));
        put(&mut bytes, 42, rest);
        let vnet = VnetHeader { gso_type: GSO_NONE, ..UDP_SEGMENTS };
        let frames = complete(vnet, bytes).unwrap();
        assert!(word(&frames[0], 40) == Some(0xffff) && is_valid(&frames[0]));
    }

    #[test]
    fn tcp_frames_are_segmented_with_consecutive_numbers() {
        let bytes = tcp(250);
        let frames = complete(TCP_SEGMENTS, bytes.clone()).unwrap();
        let lengths: Vec<_> = frames.iter().map(|frame| frame.len() - 66).collect();
        assert_eq!(lengths, [100, 100, 50]);
        assert!(frames.iter().all(|frame| is_valid(frame)));
        let payload: Vec<u8> = frames.iter().flat_map(|frame| frame[66..].to_vec()).collect();
        assert_eq!(payload, bytes[66..]);
        let sequence = |frame: &Vec<u8>| u32::from_be_bytes(frame[38..42].try_into().unwrap());
        let sequences: Vec<_> = frames.iter().map(sequence).collect();
        assert_eq!(sequences, [0xffff_ff00, 0xffff_ff64, 0xffff_ffc8]);
        let identifications: Vec<_> = frames.iter().map(|frame| word(frame, 18)).collect();
        assert_eq!(identifications, [Some(0xffff), Some(0), Some(1)]);
    }

    #[test]
    fn segments_have_the_flags_of_their_position() {
        let flags = |frames: Vec<Vec<u8>>| frames.iter().map(|f| f[47]).collect::<Vec<_>>();
        assert_eq!(flags(complete(TCP_SEGMENTS, tcp(250)).unwrap()), [0x90, 0x10, 0x19]);
        let ecn = VnetHeader { gso_type: GSO_TCP_IPV4 | GSO_ECN, ..TCP_SEGMENTS };
        assert_eq!(flags(complete(ecn, tcp(200)).unwrap()), [0x90, 0x19]);
        assert_eq!(flags(complete(TCP_SEGMENTS, tcp(100)).unwrap()), [0x99]);
    }

    #[test]
    fn udp_frames_are_segmented() {
        let frames = complete(UDP_SEGMENTS, udp(230)).unwrap();
        let lengths: Vec<_> = frames.iter().map(|frame| word(frame, 38)).collect();
        assert_eq!(lengths, [Some(108), Some(108), Some(38)]);
        assert!(frames.iter().all(|frame| is_valid(frame)));
    }

    #[test]
    fn segment_checksum_of_zero_is_sent_as_all_ones() {
        // Chooses the payload so that the checksum is zero.
        let mut bytes = udp(2);
        put(&mut bytes, 42, 0);
        let sum = word(&complete(UDP_SEGMENTS, bytes.clone()).unwrap()[0], 40).unwrap();
        put(&mut bytes, 42, sum);
        let frames = complete(UDP_SEGMENTS, bytes).unwrap();
        assert_eq!(word(&frames[0], 40), Some(0xffff));
        assert!(is_valid(&frames[0]));
    }

    #[test]
    fn inconsistent_headers_are_malformed() {
        let rejects = |vnet, bytes| complete(vnet, bytes) == Err(Malformed);
        assert!(rejects(VnetHeader { gso_type: 4, ..TCP_SEGMENTS }, tcp(10)), "TCP over IPv6");
        assert!(rejects(VnetHeader { gso_size: 0, ..TCP_SEGMENTS }, tcp(10)));
        assert!(rejects(VnetHeader { flags: 0, ..TCP_SEGMENTS }, tcp(10)));
        assert!(rejects(VnetHeader { checksum_start: 35, ..TCP_SEGMENTS }, tcp(10)));
        assert!(rejects(TCP_SEGMENTS, udp(10)) && rejects(UDP_SEGMENTS, tcp(10)));
        assert!(rejects(TCP_SEGMENTS, tcp(0)), "no payload");
        let beyond = VnetHeader { gso_type: GSO_NONE, checksum_start: 60_000, ..TCP_SEGMENTS };
        assert!(rejects(beyond, tcp(10)));
        for length in 0..66 {
            assert!(rejects(TCP_SEGMENTS, tcp(10)[..length].to_vec()), "{length}");
        }
    }

    #[test]
    fn header_is_parsed_in_native_byte_order() {
        let mut bytes = [0; 10];
        (bytes[0], bytes[1]) = (NEEDS_CHECKSUM, GSO_TCP_IPV4);
        for (at, number) in [(2, 66_u16), (4, 100), (6, 34), (8, 16)] {
            bytes[at..at + 2].copy_from_slice(&number.to_ne_bytes());
        }
        assert_eq!(VnetHeader::parse(bytes), TCP_SEGMENTS);
    }
}
