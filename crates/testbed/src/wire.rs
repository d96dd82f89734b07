//! What the network card of a host would have done to a frame before the wire.
//!
//! A veth hands on what it is given: a stream's next 64 KiB as one frame, and UDP and TCP checksums
//! that only the card was to finish. What a packet socket says of that (`struct virtio_net_hdr`,
//! linux/virtio_net.h, in the byte order of the machine) is enough to do it here.

use std::ops::Range;

use crate::frame::{Frame, PROTOCOL_TCP, PROTOCOL_UDP, UDP_HEADER, word};

/// Where the checksum stands in the header of UDP.
const UDP_CHECKSUM: u16 = 6;
/// Flag: the transport checksum holds the sum of the pseudo header only.
const NEEDS_CHECKSUM: u8 = 1;
const GSO_NONE: u8 = 0;
const GSO_TCP_IPV4: u8 = 1;
const GSO_UDP: u8 = 5;
/// Beside a type: the first segment says that the congestion window is reduced.
const GSO_ECN: u8 = 0x80;
/// TCP flags (RFC 9293 3.1) that belong to the last segment, and the one of the first.
const FIN_PSH: u8 = 0x09;
const CWR: u8 = 0x80;

/// What the kernel says of a frame.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unfinished {
    flags: u8,
    gso_type: u8,
    /// Bytes that each segment carries.
    gso_size: u16,
    /// Where the transport header begins, and where in it the checksum stands.
    checksum_start: u16,
    checksum_offset: u16,
}

/// A frame that no wire could carry, and that is of no kind that is known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

impl Unfinished {
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

    /// Each frame that the wire would carry, to one call of `on`.
    ///
    /// `segment` is memory to be used again.
    pub(crate) fn finish(
        self,
        bytes: &mut [u8],
        segment: &mut Vec<u8>,
        mut on: impl FnMut(&[u8]),
    ) -> Result<(), Malformed> {
        if self.gso_type != GSO_NONE {
            return self.cut_up(bytes, segment, on);
        }
        if self.flags & NEEDS_CHECKSUM != 0 {
            self.finish_checksum(bytes)?;
        }
        on(bytes);
        Ok(())
    }

    fn finish_checksum(self, bytes: &mut [u8]) -> Result<(), Malformed> {
        let start = usize::from(self.checksum_start);
        let at = start + usize::from(self.checksum_offset);
        if at + 2 > bytes.len() {
            return Err(Malformed);
        }
        // The sum of the pseudo header is there already and adds itself.
        let sum = checksum(sum_of(&bytes[start..]));
        put(bytes, at, if self.checksum_offset == UDP_CHECKSUM { or_all_ones(sum) } else { sum });
        Ok(())
    }

    fn cut_up(
        self,
        bytes: &[u8],
        segment: &mut Vec<u8>,
        mut on: impl FnMut(&[u8]),
    ) -> Result<(), Malformed> {
        let headers = Headers::find(self, bytes).ok_or(Malformed)?;
        let size = usize::from(self.gso_size);
        let payload = &bytes[headers.payload.clone()];
        if size == 0 || payload.is_empty() {
            return Err(Malformed);
        }
        for (index, piece) in payload.chunks(size).enumerate() {
            segment.clear();
            segment.extend_from_slice(&bytes[..headers.payload.start]);
            segment.extend_from_slice(piece);
            let is_last = (index + 1) * size >= payload.len();
            headers.finish_segment(segment, index, size, is_last);
            on(segment);
        }
        Ok(())
    }
}

/// Where the headers of a frame begin that is to be cut up: IPv4, and TCP or UDP in it.
#[derive(Debug)]
struct Headers {
    ip: usize,
    transport: usize,
    protocol: u8,
    payload: Range<usize>,
}

impl Headers {
    /// `None` unless all of them are there and fit together.
    fn find(unfinished: Unfinished, bytes: &[u8]) -> Option<Self> {
        let frame = Frame::parse(bytes);
        let (ip, transport) = (frame.packet.start, usize::from(unfinished.checksum_start));
        let header = usize::from(bytes.get(ip)? & 0x0f) * 4;
        let (protocol, length) = match unfinished.gso_type & !GSO_ECN {
            GSO_TCP_IPV4 => (PROTOCOL_TCP, usize::from(bytes.get(transport + 12)? >> 4) * 4),
            GSO_UDP => (PROTOCOL_UDP, UDP_HEADER),
            _ => return None,
        };
        let fits = frame.is_ipv4
            && unfinished.flags & NEEDS_CHECKSUM != 0
            && (header >= 20 && ip + header == transport)
            && *bytes.get(ip + 9)? == protocol
            && (length >= UDP_HEADER && transport + length <= bytes.len());
        let payload = transport + length..bytes.len();
        fits.then_some(Self { ip, transport, protocol, payload })
    }

    /// Makes lengths, numbers, flags and checksums those of the segment `index`.
    fn finish_segment(&self, segment: &mut [u8], index: usize, size: usize, is_last: bool) {
        let Self { ip, transport, .. } = *self;
        let length = (segment.len() - ip) as u16;
        put(segment, ip + 2, length);
        // Segments count on where their frame began (RFC 6864 asks for no more than uniqueness).
        let identification = word(segment, ip + 4).unwrap_or(0).wrapping_add(index as u16);
        put(segment, ip + 4, identification);
        put(segment, ip + 10, 0);
        put(segment, ip + 10, checksum(sum_of(&segment[ip..transport])));
        let field = if self.protocol == PROTOCOL_TCP {
            self.finish_tcp(segment, (index * size) as u32, index == 0, is_last);
            transport + 16
        } else {
            put(segment, transport + 4, (segment.len() - transport) as u16);
            transport + usize::from(UDP_CHECKSUM)
        };
        put(segment, field, 0);
        let sum = checksum(self.pseudo_header(segment) + sum_of(&segment[transport..]));
        put(segment, field, if self.protocol == PROTOCOL_UDP { or_all_ones(sum) } else { sum });
    }

    fn finish_tcp(&self, segment: &mut [u8], bytes_before: u32, is_first: bool, is_last: bool) {
        let at = self.transport;
        let number = [4, 5, 6, 7].map(|offset| segment[at + offset]);
        let number = u32::from_be_bytes(number).wrapping_add(bytes_before);
        segment[at + 4..at + 8].copy_from_slice(&number.to_be_bytes());
        let of_the_last = if is_last { 0 } else { FIN_PSH };
        let of_the_first = if is_first { 0 } else { CWR };
        segment[at + 13] &= !(of_the_last | of_the_first);
    }

    /// RFC 9293 3.1, RFC 768: addresses, protocol and length of header and payload.
    fn pseudo_header(&self, segment: &[u8]) -> u64 {
        let addresses = sum_of(&segment[self.ip + 12..self.ip + 20]);
        addresses + u64::from(self.protocol) + (segment.len() - self.transport) as u64
    }
}

fn put(bytes: &mut [u8], at: usize, number: u16) {
    bytes[at..at + 2].copy_from_slice(&number.to_be_bytes());
}

/// The sum of RFC 1071 before it is folded.
fn sum_of(bytes: &[u8]) -> u64 {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let whole: u64 = pairs.iter().map(|&pair| u64::from(u16::from_be_bytes(pair))).sum();
    whole + rest.first().map_or(0, |&last| u64::from(last) << 8)
}

/// Folds a sum and turns it over (RFC 1071).
fn checksum(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// RFC 768: a sum of nought is sent as all ones, because nought is no sum.
fn or_all_ones(sum: u16) -> u16 {
    if sum == 0 { 0xffff } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNFINISHED_TCP: Unfinished = Unfinished {
        flags: NEEDS_CHECKSUM,
        gso_type: GSO_TCP_IPV4,
        gso_size: 100,
        checksum_start: 34,
        checksum_offset: 16,
    };
    const UNFINISHED_UDP: Unfinished =
        Unfinished { gso_type: GSO_UDP, checksum_offset: 6, ..UNFINISHED_TCP };

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

    fn finished(unfinished: Unfinished, mut bytes: Vec<u8>) -> Result<Vec<Vec<u8>>, Malformed> {
        let mut frames = Vec::new();
        unfinished.finish(&mut bytes, &mut Vec::new(), |frame| frames.push(frame.to_vec()))?;
        Ok(frames)
    }

    /// A receiver's view: sums over header and pseudo header with the checksum in it are all ones.
    fn is_sound(bytes: &[u8]) -> bool {
        let transport = &bytes[34..];
        let pseudo = sum_of(&bytes[26..34]) + u64::from(bytes[23]) + transport.len() as u64;
        let is_long = word(bytes, 16) == Some((bytes.len() - 14) as u16);
        is_long
            && checksum(sum_of(&bytes[14..34])) == 0
            && checksum(pseudo + sum_of(transport)) == 0
    }

    /// The example of RFC 1071 3.
    #[test]
    fn sums_are_those_of_rfc_1071() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(checksum(sum_of(&bytes)), !0xddf2);
        assert_eq!(sum_of(&[0x12]), 0x1200);
    }

    #[test]
    fn a_finished_frame_is_left_as_it_is() {
        let bytes = tcp(10);
        assert_eq!(finished(Unfinished::default(), bytes.clone()), Ok(vec![bytes]));
    }

    #[test]
    fn an_unfinished_checksum_is_finished() {
        for length in [0, 1, 17, 1_000] {
            let mut bytes = udp(length);
            let udp_length = (8 + length) as u16;
            put(&mut bytes, 38, udp_length);
            let pseudo = sum_of(&bytes[26..34]) + 17 + u64::from(udp_length);
            put(&mut bytes, 40, !checksum(pseudo));
            assert!(!is_sound(&bytes));
            let unfinished = Unfinished { gso_type: GSO_NONE, ..UNFINISHED_UDP };
            let frames = finished(unfinished, bytes.clone()).unwrap();
            assert!(frames.len() == 1 && is_sound(&frames[0]), "{length}");
            assert_eq!(frames[0][42..], bytes[42..]);
        }
    }

    #[test]
    fn an_unfinished_sum_of_nought_is_sent_as_all_ones() {
        // The two bytes that make the sum of all else come out as nought.
        let mut bytes = udp(2);
        put(&mut bytes, 38, 10);
        put(&mut bytes, 42, 0);
        let pseudo = sum_of(&bytes[26..34]) + 17 + 10;
        put(&mut bytes, 40, !checksum(pseudo));
        let rest = checksum(sum_of(&bytes[34..]));
        put(&mut bytes, 42, rest);
        let unfinished = Unfinished { gso_type: GSO_NONE, ..UNFINISHED_UDP };
        let frames = finished(unfinished, bytes).unwrap();
        assert!(word(&frames[0], 40) == Some(0xffff) && is_sound(&frames[0]));
    }

    #[test]
    fn a_stream_is_cut_into_segments_that_count_on() {
        let bytes = tcp(250);
        let frames = finished(UNFINISHED_TCP, bytes.clone()).unwrap();
        let lengths: Vec<_> = frames.iter().map(|frame| frame.len() - 66).collect();
        assert_eq!(lengths, [100, 100, 50]);
        assert!(frames.iter().all(|frame| is_sound(frame)));
        let payload: Vec<u8> = frames.iter().flat_map(|frame| frame[66..].to_vec()).collect();
        assert_eq!(payload, bytes[66..]);
        let sequence = |frame: &Vec<u8>| u32::from_be_bytes(frame[38..42].try_into().unwrap());
        let sequences: Vec<_> = frames.iter().map(sequence).collect();
        assert_eq!(sequences, [0xffff_ff00, 0xffff_ff64, 0xffff_ffc8]);
        let identifications: Vec<_> = frames.iter().map(|frame| word(frame, 18)).collect();
        assert_eq!(identifications, [Some(0xffff), Some(0), Some(1)]);
    }

    #[test]
    fn the_last_segment_ends_and_pushes_and_the_first_reduces_the_window() {
        let flags = |frames: Vec<Vec<u8>>| frames.iter().map(|f| f[47]).collect::<Vec<_>>();
        assert_eq!(flags(finished(UNFINISHED_TCP, tcp(250)).unwrap()), [0x90, 0x10, 0x19]);
        let ecn = Unfinished { gso_type: GSO_TCP_IPV4 | GSO_ECN, ..UNFINISHED_TCP };
        assert_eq!(flags(finished(ecn, tcp(200)).unwrap()), [0x90, 0x19]);
        assert_eq!(flags(finished(UNFINISHED_TCP, tcp(100)).unwrap()), [0x99]);
    }

    #[test]
    fn datagrams_sent_together_are_parted() {
        let frames = finished(UNFINISHED_UDP, udp(230)).unwrap();
        let lengths: Vec<_> = frames.iter().map(|frame| word(frame, 38)).collect();
        assert_eq!(lengths, [Some(108), Some(108), Some(38)]);
        assert!(frames.iter().all(|frame| is_sound(frame)));
    }

    #[test]
    fn a_sum_of_nought_is_sent_as_all_ones() {
        // The two bytes that make the sum of all else come out as nought.
        let mut bytes = udp(2);
        put(&mut bytes, 42, 0);
        let sum = word(&finished(UNFINISHED_UDP, bytes.clone()).unwrap()[0], 40).unwrap();
        put(&mut bytes, 42, sum);
        let frames = finished(UNFINISHED_UDP, bytes).unwrap();
        assert_eq!(word(&frames[0], 40), Some(0xffff));
        assert!(is_sound(&frames[0]));
    }

    #[test]
    fn what_cannot_be_cut_up_is_malformed() {
        let refused = |unfinished, bytes| finished(unfinished, bytes) == Err(Malformed);
        assert!(refused(Unfinished { gso_type: 4, ..UNFINISHED_TCP }, tcp(10)), "TCP over IPv6");
        assert!(refused(Unfinished { gso_size: 0, ..UNFINISHED_TCP }, tcp(10)));
        assert!(refused(Unfinished { flags: 0, ..UNFINISHED_TCP }, tcp(10)));
        assert!(refused(Unfinished { checksum_start: 35, ..UNFINISHED_TCP }, tcp(10)));
        assert!(refused(UNFINISHED_TCP, udp(10)) && refused(UNFINISHED_UDP, tcp(10)));
        assert!(refused(UNFINISHED_TCP, tcp(0)), "nothing to cut");
        let beyond = Unfinished { gso_type: GSO_NONE, checksum_start: 60_000, ..UNFINISHED_TCP };
        assert!(refused(beyond, tcp(10)));
        for length in 0..66 {
            assert!(refused(UNFINISHED_TCP, tcp(10)[..length].to_vec()), "{length}");
        }
    }

    #[test]
    fn the_kernels_words_are_read_in_the_byte_order_of_the_machine() {
        let mut bytes = [0; 10];
        (bytes[0], bytes[1]) = (NEEDS_CHECKSUM, GSO_TCP_IPV4);
        for (at, number) in [(2, 66_u16), (4, 100), (6, 34), (8, 16)] {
            bytes[at..at + 2].copy_from_slice(&number.to_ne_bytes());
        }
        assert_eq!(Unfinished::parse(bytes), UNFINISHED_TCP);
    }
}
