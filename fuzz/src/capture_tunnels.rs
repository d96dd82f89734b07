//! Frames with any tags and tunnels, as read by the library's capture reader.
//!
//! Checks:
//!
//! - No frame makes the decoder panic, of whatever link type, however it is truncated.
//! - A payload is within its frame.
//! - A datagram in valid tags and tunnels is found, whatever they are.
//! - A truncated frame yields an error, another protocol, or the beginning of the same payload.
//!
//! Input: a link type, a frame's bytes; or 0xFF and a script with the headers around a datagram.

use std::net::SocketAddr;

use hairpin_endpoint::capture::{CaptureReader, Frame, LinkType, Payload};

use crate::Seed;
use crate::script::Script;

const LINKS: [u32; 10] = [1, 113, 276, 101, 0, 108, 228, 229, 161, 162];
/// The payload of the innermost datagram.
const DATA: &[u8] = b"innermost";

/// Runs one input.
pub fn run(bytes: &[u8]) {
    match bytes {
        [0xFF, script @ ..] => check_nested(&mut Script(script)),
        [link, frame @ ..] => check_frame(LINKS[usize::from(*link) % LINKS.len()], frame),
        [] => {}
    }
}

fn check_frame(link: u32, bytes: &[u8]) {
    let length = bytes.len() as u32;
    for cut in [bytes.len(), bytes.len() / 2, bytes.len().saturating_sub(1)] {
        let cut = &bytes[..cut];
        with_frame(link, cut, length, |frame| {
            let is_within = |part: &[u8]| {
                frame.bytes.as_ptr_range().contains(&part.as_ptr()) || part.is_empty()
            };
            match frame.payload() {
                Ok(Payload::Datagram { bytes, .. }) => {
                    assert!(is_within(bytes) && bytes.len() <= frame.bytes.len());
                }
                Ok(Payload::Segment { bytes, .. }) => {
                    assert!(is_within(bytes) && bytes.len() <= frame.bytes.len());
                }
                Ok(Payload::Other) => assert!(frame.protocol().is_some()),
                Err(_) => assert!(frame.protocol().is_none()),
            }
        });
    }
}

/// Reads a frame of a pcap file.
fn with_frame(link: u32, bytes: &[u8], length: u32, check: impl FnOnce(&Frame<'_>)) {
    let words = [0xA1B2_C3D4, 0x0004_0002, 0, 0, 262_144, link, 1, 2, bytes.len() as u32, length];
    let mut file: Vec<u8> = words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
    file.extend(bytes);
    let mut reader = CaptureReader::new(&file[..]).expect("the header is valid");
    let frame = reader.next_frame().expect("the file is complete").expect("the file has a frame");
    assert_eq!(frame.link, Some(LinkType(link)));
    check(&frame);
}

/// Wraps a datagram in headers, which are then removed again.
fn check_nested(script: &mut Script<'_>) {
    let mut packet = udp(14_310, DATA);
    packet = ip(17, &packet, false);
    // Whether the packet begins with an Ethernet header, or with an IP header.
    let mut is_frame = false;
    for _ in 0..script.below(7) {
        (packet, is_frame) = wrap(script, &packet, is_frame);
    }
    let link = if is_frame { 1 } else { 101 };
    let length = packet.len() as u32;
    with_frame(link, &packet, length, |frame| match frame.payload() {
        Ok(Payload::Datagram { destination, bytes, .. }) => {
            assert_eq!((destination, bytes), (SocketAddr::from(([224, 0, 28, 5], 14_310)), DATA));
        }
        other => panic!("{other:?}"),
    });
    check_frame(link, &packet);
}

/// Adds a header. Returns whether the result is a frame too.
fn wrap(script: &mut Script<'_>, packet: &[u8], is_frame: bool) -> (Vec<u8>, bool) {
    let is_v6 = script.below(2) == 1;
    let ether_type = match (is_frame, packet[0] >> 4) {
        (true, _) => [0x65, 0x58],
        (false, 6) => [0x86, 0xDD],
        (false, _) => [8, 0],
    };
    let kind = script.below(10);
    if !is_frame && matches!(kind, 0..=2) {
        let tags: &[u8] = match script.below(6) {
            0 => &[0x81, 0, 0, 5],
            1 => &[0x88, 0xA8, 0, 5, 0x92, 0, 0, 6],
            2 => &[0x89, 0x26, 0, 1, 0, 2],
            3 => &[0xD2, 0x8B, 0, 1, 0, 0x10, 1, 2, 3, 4, 5, 6, 7, 8],
            4 => &[0xD2, 0x8B, 0, 1, 1, 0x20, 1, 2, 3, 4, 5, 6],
            _ => &[],
        };
        return ([&[2; 12][..], tags, &ether_type, packet].concat(), true);
    }
    let gre = |flags: u8, options: usize, protocol: [u8; 2], inner: &[u8]| {
        let head = [&[flags, 0][..], &protocol, &vec![1; options]].concat();
        (ip(47, &[&head, inner].concat(), is_v6), false)
    };
    match (kind, is_frame) {
        (3, _) => gre(0, 0, ether_type, packet),
        (4, _) => gre(0xB0, 12, ether_type, packet),
        (5, true) => gre(0, 0, [0x88, 0xBE], packet),
        (6, true) => {
            gre(0x10, 4, [0x88, 0xBE], &[&[0x10, 5, 0, 1, 0, 0, 0, 3][..], packet].concat())
        }
        (7, true) => {
            let header = [0x20, 5, 0, 1, 0, 0, 0, 9, 0, 0, 0, 1];
            gre(0x10, 4, [0x22, 0xEB], &[&header[..], &[0; 8], packet].concat())
        }
        (8, true) => {
            let inner = [&[8, 0, 0, 0, 0, 0, 7, 0][..], packet].concat();
            (ip(17, &udp(4_789, &inner), is_v6), false)
        }
        (9, true) => {
            let labels = [&[0, 1, 0, 9, 0, 2, 1, 9][..], &[0; 4], packet].concat();
            gre(0x20, 4, [0x88, 0x47], &labels)
        }
        (9, false) => gre(0, 0, [0x88, 0x47], &[&[0, 2, 1, 9][..], packet].concat()),
        (_, false) => (ip(if packet[0] >> 4 == 6 { 41 } else { 4 }, packet, is_v6), false),
        (_, true) => {
            let inner = [&[2, 0, 0x65, 0x58, 0, 0, 7, 0][..], &[1; 8], packet].concat();
            (ip(17, &udp(6_081, &inner), is_v6), false)
        }
    }
}

fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let halves = [50_000, port, 8 + payload.len() as u16, 0].map(u16::to_be_bytes);
    [&halves.concat()[..], payload].concat()
}

fn ip(protocol: u8, payload: &[u8], is_v6: bool) -> Vec<u8> {
    if is_v6 {
        let [high, low] = (payload.len() as u16).to_be_bytes();
        let header = [0x60, 0, 0, 0, high, low, protocol, 9];
        return [&header[..], &[0xFD; 32], payload].concat();
    }
    let [high, low] = (20 + payload.len() as u16).to_be_bytes();
    let header = [0x45, 0, high, low, 0, 0, 0, 0, 9, protocol, 0, 0];
    [&header[..], &[10, 0, 0, 1, 224, 0, 28, 5], payload].concat()
}

/// Returns frames of each kind, and scripts.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let mut seeds: Vec<Seed> = (0..10_u8)
        .map(|kind| {
            let script = vec![0xFF, 5, 0, kind, 1, 1, kind, 3, 0, 0, 4, 1, kind, 0, kind, 2];
            (format!("nested-{kind}"), script)
        })
        .collect();
    let inner = ip(17, &udp(14_310, DATA), false);
    let cooked = [&[0, 0, 3, 4, 0, 6][..], &[0; 8], &[8, 0], &inner].concat();
    let cooked_2 = [&[8, 0, 0, 0, 0, 0, 0, 1, 3, 4][..], &[0; 10], &inner].concat();
    let snap = [&[2; 12][..], &[0, 45, 0xAA, 0xAA, 3, 0, 0, 0, 8, 0], &inner].concat();
    for (link, name, frame) in [(0, "snap", snap), (1, "cooked", cooked), (2, "cooked-2", cooked_2)]
    {
        seeds.push((name.to_owned(), [&[link][..], &frame].concat()));
    }
    seeds
}
