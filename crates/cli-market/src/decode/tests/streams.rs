//! Captured streams with loss, reordering, repetition, other starts and ports used again, compared
//! with a model: every frame that was captured as a whole is printed once, and in order.

use std::ops::Range;

use hairpin_cme_codecs::ilink3::BusinessReject521;
use hairpin_testkit::Random;

use super::*;

/// The numbers of frames in texts.
const FIRST_FAKE: u32 = 5_000_000;

/// A stream and the place of each numbered frame in it.
#[derive(Default)]
struct Sent {
    bytes: Vec<u8>,
    frames: Vec<(u32, Range<usize>)>,
}

impl Sent {
    fn push(&mut self, number: u32, frame: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(frame);
        self.frames.push((number, start..self.bytes.len()));
    }
}

/// Returns a message whose text contains headers, a whole frame, or a frame longer than the text.
fn hostile(number: u32, random: &mut Random) -> Vec<u8> {
    const MARK: &str = "0123456789012345678901234567890123456789";
    let mut buffer = [0; BusinessReject521::ENCODED_LENGTH];
    let mut message = BusinessReject521::encode(&mut buffer).unwrap();
    message.set_seq_num(number).set_text(MARK);
    let place = buffer.windows(MARK.len()).position(|text| text == MARK.as_bytes()).unwrap();
    let mut fake = sequence(FIRST_FAKE + number);
    match random.index(4) {
        0 => fake[1] = 0x80,
        1 => fake[0] += 7,
        2 => fake.truncate(12),
        _ => {}
    }
    for start in [place + random.index(4), place + 40 + random.index(150)] {
        buffer[start..start + fake.len()].copy_from_slice(&fake);
    }
    frame(&buffer)
}

fn session(first: u32, count: u32, random: &mut Random) -> Sent {
    let mut sent = Sent::default();
    for number in first..first + count {
        let frame = match random.index(4) {
            0 => order(number),
            1 => hostile(number, random),
            _ => sequence(number),
        };
        sent.push(number, &frame);
    }
    sent
}

/// Returns packets of market data over TCP, each with one message.
fn market_data(framing: Framing, first: u32, count: u32) -> Sent {
    let mut sent = Sent::default();
    for number in first..first + count {
        let mut packet = datagram();
        packet[..4].copy_from_slice(&number.to_le_bytes());
        let framed = match framing {
            Framing::Replay => replayed(&packet),
            _ => [&[0xfe, 0xca][..], &packet].concat(),
        };
        sent.push(number, &framed);
    }
    sent
}

/// Captures parts of a stream, and returns the numbers of the frames that are whole.
fn captured(
    capture: &mut Capture,
    sent: &Sent,
    start: u32,
    has_beginning: bool,
    random: &mut Random,
) -> Vec<u32> {
    let length = sent.bytes.len();
    let longest = [1, 30, 200, 1_400][random.index(4)];
    let mut segments = Vec::new();
    let mut at = 0;
    while at < length {
        let end = (at + 1 + random.index(longest)).min(length);
        segments.push(at..end);
        at = end;
    }
    let first = if has_beginning { 0 } else { random.index(segments.len()) };
    segments.drain(..first);
    let mut kept = Vec::new();
    let losses = [1_000_000, 20, 5][random.index(3)];
    for segment in segments {
        // A probe of one byte at the beginning of a capture is not one of these segments.
        if !random.one_in(losses) {
            kept.push(segment.clone());
            if random.one_in(6) {
                let from = segment.start - random.index(segment.start.min(40) + 1);
                let known = from.max(kept[0].start);
                kept.push(known..segment.end);
            }
        }
    }
    for place in 0..kept.len().saturating_sub(1) {
        if random.one_in(5) {
            let other = (place + 1 + random.index(8)).min(kept.len() - 1);
            kept.swap(place, other);
        }
    }
    let mut is_captured = vec![false; length];
    for segment in kept {
        is_captured[segment.clone()].fill(true);
        capture.segment(start.wrapping_add(segment.start as u32), &sent.bytes[segment.clone()]);
        if random.one_in(9) && segment.end > 1 {
            // A keep-alive probe repeats a byte with another value, or none.
            let before = start.wrapping_add(segment.end as u32 - 1);
            capture.segment(before, if random.one_in(2) { &[] } else { &[0xa5] });
        }
    }
    let is_whole =
        |(_, range): &&(u32, Range<usize>)| is_captured[range.clone()].iter().all(|it| *it);
    sent.frames.iter().filter(is_whole).map(|(number, _)| *number).collect()
}

fn numbers(out: &str) -> Vec<u32> {
    let lines = out.lines().filter(|line| !line.contains(" unknown, "));
    lines.filter_map(|line| line.split(' ').next()?.parse().ok()).collect()
}

fn captures(seed: u64, framing: Framing) {
    let mut random = Random::new(seed);
    let mut capture = Capture::new();
    let mut expected = Vec::new();
    let mut start = random.index(1 << 32) as u32;
    let (has_beginning, mut is_ordered) = (random.one_in(2), true);
    for connection in 0..1 + random.index(3) as u32 {
        let (first, count) = (1 + 1_000 * connection, 1 + random.index(40) as u32);
        let sent = match framing {
            Framing::Ilink3 => session(first, count, &mut random),
            _ => market_data(framing, first, count),
        };
        let is_opened = random.one_in(2);
        if is_opened {
            capture.flagged(start.wrapping_sub(1), "SYN");
        }
        let begins = has_beginning || is_opened;
        expected.extend(captured(&mut capture, &sent, start, begins, &mut random));
        let end = start.wrapping_add(sent.bytes.len() as u32);
        match random.index(3) {
            0 => capture.flagged(end, "RST"),
            1 => capture.flagged(end, "FIN"),
            // The frames after a gap of this connection may be printed after the next one's.
            _ => is_ordered = false,
        }
        // Lower, higher, or anywhere: but not so near that it continues this connection.
        start = start.wrapping_add((1 << 30) + random.index(1 << 31) as u32);
    }
    let bytes = capture.0.into_writer();
    let (out, err, counts) = decode_bytes(&bytes, None, Format::Text).unwrap();
    let mut printed = numbers(&out);
    if !is_ordered {
        printed.sort_unstable();
    }
    // Messages without their packet's number are printed too. A frame in a text is printed if a gap
    // follows it: nothing contradicts it there.
    printed.retain(|number| (1..FIRST_FAKE).contains(number));
    assert_eq!(printed, expected, "seed {seed}: {err}");
    assert_eq!(counts.unknown, 0, "seed {seed}: {out}");
}

#[test]
fn every_whole_frame_of_a_session_is_printed_once_in_order() {
    (0..400).for_each(|seed| captures(seed, Framing::Ilink3));
}

#[test]
fn every_whole_packet_over_tcp_is_printed_once_in_order() {
    for seed in 0..150 {
        captures(seed, Framing::ConflatedTcp);
        captures(seed, Framing::Replay);
    }
}

#[test]
fn lost_segment_costs_only_its_frames() {
    let frames: Vec<_> = (1..=10).map(order).collect();
    let stream = frames.concat();
    let length = frames[0].len();
    let mut capture = Capture::new();
    // The segment that is lost begins within frame 4 and ends within frame 6.
    for (from, to) in [(0, 4 * length - 9), (6 * length - 9, stream.len())] {
        capture.segment(50 + from as u32, &stream[from..to]);
    }
    let (out, err, counts) = capture.decode(None, Format::Text);
    assert_eq!(numbers(&out), [1, 2, 3, 7, 8, 9, 10]);
    let missing = 2 * length;
    let skipped = length - 9 + 9;
    let what = format!(
        "hairpin: packet 2: {missing} bytes of a stream missing, and {skipped} bytes of incomplete \
         frames skipped\n"
    );
    assert_eq!((err, counts.errors), (what, 1));
}

#[test]
fn capture_begins_within_a_frame() {
    let stream = [order(1), sequence(2), sequence(3)].concat();
    let mut capture = Capture::new();
    capture.segment(500, &stream[17..]);
    let (out, err, counts) = capture.decode(None, Format::Text);
    assert_eq!(numbers(&out), [2, 3]);
    let skipped = order(1).len() - 17;
    let what = format!(
        "hairpin: note: packet 1: the capture begins within a frame; {skipped} bytes skipped\n"
    );
    assert_eq!((err, counts.errors), (what, 0));
}

#[test]
fn first_segment_may_be_overtaken() {
    let stream = [sequence(1), sequence(2), sequence(3)].concat();
    let mut capture = Capture::new();
    for (from, to) in [(40, 60), (10, 40), (0, 10), (60, stream.len())] {
        capture.segment(7 + from as u32, &stream[from..to]);
    }
    let (out, err, _) = capture.decode(None, Format::Text);
    assert_eq!((numbers(&out), err.as_str()), (vec![1, 2, 3], ""));
}

#[test]
fn lower_numbers_after_a_reset_are_a_new_connection() {
    let mut capture = Capture::new();
    capture.flagged(900_000, "SYN");
    capture.segment(900_001, &sequence(1));
    capture.flagged(900_027, "RST");
    capture.segment(2_000, &sequence(2));
    capture.segment(2_026, &sequence(3));
    let (out, err, counts) = capture.decode(None, Format::Text);
    assert_eq!((numbers(&out), err.as_str(), counts.errors), (vec![1, 2, 3], "", 0));
}

#[test]
fn data_in_syn_is_read() {
    let mut packet = Vec::new();
    PacketBuilder::ethernet2([0; 6], [1; 6])
        .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        .tcp(40_000, 9_000, 77, 512)
        .syn()
        .write(&mut packet, &sequence(1))
        .unwrap();
    let mut capture = Capture::new();
    capture.packet(&packet);
    capture.segment(78 + 26, &sequence(2));
    capture.packet(&packet);
    let (out, err, _) = capture.decode(None, Format::Text);
    assert_eq!((numbers(&out), err.as_str()), (vec![1, 2], ""));
}

#[test]
fn length_of_zero_means_the_whole_frame() {
    let mut capture = Capture::new();
    let stream: Vec<_> = (1..=100).flat_map(sequence).collect();
    let mut packet = Vec::new();
    PacketBuilder::ethernet2([0; 6], [1; 6])
        .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        .tcp(40_000, 9_000, 1, 512)
        .write(&mut packet, &stream)
        .unwrap();
    packet[16..18].fill(0);
    capture.packet(&packet);
    let (out, err, _) = capture.decode(None, Format::Text);
    assert_eq!((numbers(&out), err.as_str()), ((1..=100).collect(), ""));
}

#[test]
fn truncated_segments_are_gaps() {
    let mut writer = PcapWriter::new(Vec::new()).unwrap();
    for (at, numbers) in [(1, [1, 2]), (53, [3, 4])] {
        let mut packet = Vec::new();
        PacketBuilder::ethernet2([0; 6], [1; 6])
            .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
            .tcp(40_000, 9_000, at, 512)
            .write(&mut packet, &numbers.map(sequence).concat())
            .unwrap();
        let length = packet.len() as u32;
        let kept = &packet[..packet.len() - 10];
        let packet = PcapPacket::new(std::time::Duration::ZERO, length, kept);
        writer.write_packet(&packet).unwrap();
    }
    let (out, err, counts) = decode_bytes(&writer.into_writer(), None, Format::Text).unwrap();
    assert_eq!((numbers(&out), counts.errors), (vec![1, 3], 2));
    let what = "hairpin: packet 1: 10 bytes of a stream missing, and 16 bytes of incomplete frames \
                skipped (2 of this kind, the last in packet 2)\n";
    assert_eq!(err, what);
}

#[test]
fn other_traffic_is_one_line() {
    let mut capture = Capture::new();
    capture.segment(1, &sequence(1));
    for (from, to, port) in
        [([10, 0, 0, 3], [10, 0, 0, 4], 53), ([10, 0, 0, 3], [224, 0, 1, 129], 319)]
    {
        let mut packet = Vec::new();
        PacketBuilder::ethernet2([0; 6], [1; 6])
            .ipv4(from, to, 1)
            .udp(50_000, port)
            .write(&mut packet, &[0x12; 44])
            .unwrap();
        capture.packet(&packet);
    }
    capture.packet(&[&[0; 12][..], &[8, 6], &[0; 28]].concat());
    let (out, err, counts) = capture.decode(None, Format::Text);
    assert_eq!((numbers(&out), counts.errors), (vec![1], 0));
    let what = "hairpin: note: 2 packets of other traffic ignored: 1 of UDP port 53, 1 of UDP port \
                319\n\
                hairpin: note: 1 packet not decoded: EtherType 0x0806 (ARP)\n";
    assert_eq!(err, what);
}

#[test]
fn damaged_length_loses_only_its_frame() {
    let mut damaged = sequence(2);
    damaged[0] = 26 + 26 + 5;
    let stream = [sequence(1), damaged, sequence(3), sequence(4), sequence(5)].concat();
    let mut capture = Capture::new();
    capture.flagged(0, "SYN");
    capture.segment(1, &stream);
    let (out, err, counts) = capture.decode(None, Format::Text);
    assert_eq!((numbers(&out), counts.errors), (vec![1, 3, 4, 5], 1), "{err}");
    assert!(err.contains(": 26 bytes skipped"), "{err}");
}
