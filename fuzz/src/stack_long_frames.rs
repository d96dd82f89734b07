//! Arbitrary bytes as a long frame, which the kernel delivers in parts of any length.
//!
//! The first byte is the number of parts; two bytes for each further part are its length. The rest
//! is the frame.
//!
//! Checks:
//!
//! - No frame and no division makes the stack panic.
//! - Only TCP has headers to repeat, and only if the first part contains all of them.
//! - Each part becomes a frame whose lengths and checksums are valid, as an independent decoder
//!   finds, with the headers of the first one.
//! - The segments' payloads join, in sequence, to the payload of the long frame.
//! - FIN and PSH belong to the last segment alone.

use etherparse::{NetHeaders, PacketHeaders, TransportHeader};

use crate::Seed;
use crate::long_frames_of_stack::Headers;

/// The longest part that a frame of the UMEM holds.
const PART_MAX: usize = 4_096;
const PARTS_MAX: usize = 40;

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let Some((&count, rest)) = bytes.split_first() else { return };
    let count = 1 + usize::from(count) % PARTS_MAX;
    let Some((lengths, frame)) = rest.split_at_checked(2 * (count - 1)) else { return };
    let mut parts = Vec::new();
    let mut left = frame;
    for length in lengths.chunks(2) {
        let length = usize::from(u16::from_le_bytes([length[0], length[1]])) % PART_MAX;
        let (part, others) = left.split_at(length.min(left.len()));
        parts.push(part);
        left = others;
    }
    parts.push(&left[..left.len().min(PART_MAX)]);
    let Some(headers) = Headers::read(parts[0]) else {
        return assert!(!is_plain_tcp(parts[0]), "headers that are not read: {:?}", parts[0]);
    };
    assert!(headers.length <= parts[0].len());
    check(headers, &parts);
}

/// Returns `true` if an independent decoder finds TCP directly in IP without fragmentation.
fn is_plain_tcp(frame: &[u8]) -> bool {
    let Ok(found) = PacketHeaders::from_ethernet_slice(frame) else { return false };
    let is_plain = match &found.net {
        Some(NetHeaders::Ipv4(_, extensions)) => extensions.is_empty(),
        Some(NetHeaders::Ipv6(_, extensions)) => extensions.is_empty(),
        _ => false,
    };
    let is_tcp = matches!(found.transport, Some(TransportHeader::Tcp(_)));
    is_plain && is_tcp && found.link_exts.is_empty()
}

/// Returns the ones' complement sum of 16-bit words (RFC 1071). All parts but the last have an even
/// length.
fn sum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks(2));
    let sum: u32 =
        words.map(|word| u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0))).sum();
    let folded = (sum >> 16) + (sum & 0xffff);
    (folded + (folded >> 16)) as u16
}

/// Makes each part a frame, and checks all of them.
fn check(mut headers: Headers, parts: &[&[u8]]) {
    let first = headers;
    let (mut payload, mut sequence) = (Vec::new(), None);
    for (at, part) in parts.iter().enumerate() {
        let before = if at == 0 { &[][..] } else { &first.bytes[..first.length] };
        let mut frame = [before, part].concat();
        let is_last = at + 1 == parts.len();
        headers.complete(&mut frame, is_last).expect("the headers are whole");
        let decoded = PacketHeaders::from_ethernet_slice(&frame).expect("the frame is valid");
        let Some(TransportHeader::Tcp(tcp)) = decoded.transport else { panic!("{decoded:?}") };
        let segment = decoded.payload.slice();
        let ip = &frame[14..];
        let (start, pseudo) = match decoded.net.as_ref().expect("a network header") {
            NetHeaders::Ipv4(header, _) => {
                let start = header.header_len();
                assert_eq!(sum(&[&ip[..start]]), 0xffff);
                assert_eq!(usize::from(header.total_len), ip.len());
                (start, &ip[12..20])
            }
            NetHeaders::Ipv6(header, _) => {
                assert_eq!(usize::from(header.payload_length), ip.len() - 40);
                (40, &ip[8..40])
            }
            other => panic!("{other:?}"),
        };
        let length = (ip.len() - start) as u16;
        let protocol = [0, 6];
        assert_eq!(sum(&[pseudo, &protocol, &length.to_be_bytes(), &ip[start..]]), 0xffff);
        assert!(is_last || !(tcp.fin || tcp.psh), "a flag of the last segment");
        let expected = sequence.unwrap_or(tcp.sequence_number);
        assert_eq!(tcp.sequence_number, expected);
        sequence = Some(expected.wrapping_add(segment.len() as u32));
        // The other bytes of the headers are those of the first part.
        assert_eq!(frame[..12], first.bytes[..12]);
        payload.extend_from_slice(segment);
    }
    assert_eq!(payload, parts.concat()[first.length..]);
}

/// Returns the initial corpus.
pub fn seeds() -> Vec<Seed> {
    use etherparse::PacketBuilder;
    let ethernet = || PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
    let payload: Vec<u8> = (0..5_000_u32).map(|at| at as u8).collect();
    let v4 = ethernet().ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
    let v6 = ethernet().ipv6([0xfd; 16], [0xfe; 16], 64);
    let [v4, v6] = [v4, v6].map(|builder| {
        let mut frame = Vec::new();
        let tcp = builder.tcp(7_000, 8_000, u32::MAX - 100, 65_535).ack(9).psh();
        tcp.write(&mut frame, &payload).expect("it is short enough");
        frame
    });
    let mut udp = Vec::new();
    let builder = ethernet().ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(7_000, 8_000);
    builder.write(&mut udp, &payload[..2_000]).expect("it is short enough");
    // Three parts of 1,792 bytes.
    let parts = [&[2][..], &1_792_u16.to_le_bytes(), &1_792_u16.to_le_bytes()].concat();
    [("v4", v4), ("v6", v6), ("udp", udp)]
        .map(|(name, frame)| (name.to_string(), [&parts[..], &frame].concat()))
        .to_vec()
}
