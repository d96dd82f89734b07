//! The framing of a TCP feed, with a stream in chunks and a receiver that refuses packets.
//!
//! Checks, for any stream, chunks and refusals:
//!
//! - The delivered packets are those of the whole stream, in order and each once, up to the same
//!   invalid length.
//! - The number of missing bytes at the end is correct.
//! - Each packet's feed and number match a second reader's.
//!
//! Input: the maximum packet length, the refusals, a count of chunk sizes, the sizes, and the
//! stream: a byte for its kind, then bytes or packet lengths.

use hairpin_feed_handler::{Feed, FrameError};

use crate::Seed;
use crate::frame_decoder::{FrameDecoder, packet_feed, packet_sequence};
use crate::script::Script;

/// The length of a packet header.
const SHORTEST: usize = 12;
/// The maximum chunk length: a size of 255 and its factor.
const MAX_CHUNK: usize = 255 * 8;

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    let max = SHORTEST + usize::from(script.byte());
    let refusals = script.byte();
    let count = usize::from(script.below(16));
    let sizes = script.bytes(count);
    let stream = match script.flag() {
        true => script.0.to_vec(),
        false => stream_of(script.0, max),
    };
    let (expected, outcome, missing) = whole(&stream, max);
    let mut reader = Reader {
        frames: FrameDecoder::new(max, MAX_CHUNK),
        refusals,
        refused: 0,
        received: Vec::new(),
    };
    assert_eq!(reader.read(&stream, sizes), outcome);
    assert_eq!(reader.received, expected);
    if outcome.is_ok() {
        assert_eq!(reader.frames.missing(), missing);
        assert!(reader.frames.deferred().is_none());
    }
    // A cleared reader starts over.
    reader.frames.clear();
    reader.received.clear();
    assert_eq!(reader.read(&stream, &[]), outcome);
    assert_eq!(reader.received, expected);
}

/// Creates packets of valid lengths, in which every byte identifies its packet.
fn stream_of(lengths: &[u8], max: usize) -> Vec<u8> {
    let mut stream = Vec::new();
    for (number, length) in lengths.iter().enumerate() {
        let length = SHORTEST + usize::from(*length) % (max - SHORTEST + 1);
        stream.extend((length as u16).to_le_bytes());
        stream.extend(std::iter::repeat_n(number as u8, length));
    }
    stream
}

type Whole = (Vec<Vec<u8>>, Result<(), FrameError>, Option<usize>);

/// Returns the packets of a whole stream, its final error and the missing bytes.
fn whole(mut stream: &[u8], max: usize) -> Whole {
    let mut packets = Vec::new();
    loop {
        let length = match stream {
            [] => return (packets, Ok(()), None),
            [_] => return (packets, Ok(()), Some(1)),
            [low, high, ..] => usize::from(*low) + usize::from(*high) * 256,
        };
        let error = match length {
            0 => Some(FrameError::Empty),
            1..SHORTEST => Some(FrameError::TooShort { length }),
            _ if length > max => Some(FrameError::TooLong { length, max }),
            _ => None,
        };
        if let Some(error) = error {
            return (packets, Err(error), None);
        }
        if stream.len() < 2 + length {
            return (packets, Ok(()), Some(2 + length - stream.len()));
        }
        packets.push(stream[2..2 + length].to_vec());
        stream = &stream[2 + length..];
    }
}

struct Reader {
    frames: FrameDecoder,
    /// A bit mask over eight consecutive packets: those refused once or twice.
    refusals: u8,
    refused: u32,
    received: Vec<Vec<u8>>,
}

impl Reader {
    /// Reads chunks of these sizes in rotation; without sizes, the largest possible chunks.
    fn read(&mut self, mut stream: &[u8], sizes: &[u8]) -> Result<(), FrameError> {
        let mut round = 0;
        while !stream.is_empty() {
            let size = sizes.get(round % sizes.len().max(1)).map_or(MAX_CHUNK, |&size| {
                // Small chunks, and chunks with several packets.
                if size % 4 == 0 { usize::from(size) * 8 } else { usize::from(size) }
            });
            round += 1;
            // Empty chunks are legal, but must not repeat forever.
            let size = if round % 2 == 0 { size.max(1) } else { size };
            let (chunk, rest) = stream.split_at(size.min(stream.len()));
            stream = rest;
            let Self { frames, refusals, refused, received } = self;
            let mut take = |packet: &[u8]| Self::take(*refusals, refused, received, packet);
            frames.handle_bytes(chunk, &mut take)?;
            while let Some(held) = frames.deferred() {
                let held = held.to_vec();
                frames.resume(|packet| {
                    assert!(!held.is_empty() || packet.is_empty());
                    take(packet)
                })?;
            }
        }
        Ok(())
    }

    fn take(refusals: u8, refused: &mut u32, received: &mut Vec<Vec<u8>>, packet: &[u8]) -> bool {
        let bit = received.len() % 8;
        let times = u32::from(refusals >> bit & 1) + u32::from(refusals >> (7 - bit) & 1);
        if *refused < times {
            *refused += 1;
            return false;
        }
        *refused = 0;
        check(packet);
        received.push(packet.to_vec());
        true
    }
}

/// Compares the feed (from the first message's template) and MsgSeqNum with a second reading.
fn check(packet: &[u8]) {
    let template = packet.get(16..18).map(|two| u32::from(two[0]) | u32::from(two[1]) << 8);
    let feed = match template {
        Some(54 | 55 | 56 | 57 | 58 | 63) => Feed::Instrument,
        Some(52 | 53 | 69) => Feed::Snapshot,
        _ => Feed::Incremental,
    };
    assert_eq!(
        packet_feed(packet, &hairpin_feed_handler::TemplateIds::AS_PUBLISHED),
        feed,
        "{template:?}"
    );
    let number = packet[..4].iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte));
    assert_eq!(packet_sequence(packet), number);
}

/// Returns whole and truncated packets, packets of each feed, and each kind of invalid length.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let seed = |name: &str, parts: &[&[u8]]| (name.to_owned(), parts.concat());
    let packet = |template: u8| {
        let mut packet = vec![20, 0, 7, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 0, 11, 0, template, 0];
        packet.extend([1, 0]);
        packet
    };
    let feeds = [46, 52, 54, 63, 69].map(packet).concat();
    vec![
        seed("whole", &[&[100, 0, 0, 0, 0, 1, 2, 3, 100]]),
        seed("byte-by-byte", &[&[100, 0b101, 1, 1, 0, 0, 1, 88, 3, 100]]),
        seed("several-in-a-chunk", &[&[50, 0b1100_0001, 3, 0, 16, 3, 0, 5, 5, 5, 5, 5, 5, 5, 5]]),
        seed("feeds", &[&[100, 0xFF, 2, 7, 12, 1], &feeds]),
        seed("cut", &[&[100, 0, 2, 7, 12, 1], &feeds[..50]]),
        seed("empty", &[&[100, 1, 2, 7, 12, 1], &feeds, &[0, 0, 1]]),
        seed("short", &[&[100, 1, 2, 7, 12, 1], &feeds, &[11, 0, 1]]),
        seed("long", &[&[8, 1, 2, 7, 12, 1], &feeds, &[21, 0, 1]]),
    ]
}
