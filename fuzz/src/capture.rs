//! An arbitrary capture file, as read by `hairpin decode` and `hairpin feed --pcap`; and streams
//! whose segments were captured in any order.
//!
//! Checks:
//!
//! - No file makes the reader panic.
//! - The output has one line per message, and a last line. There are at most as many lines with
//!   errors as errors, and some if there are any. JSON output is valid and has the same counts.
//! - The packets of a truncated file are the first packets of the whole file.
//! - Segments that overlap, repeat or arrive in any order yield the same as one segment.
//! - Of a stream with lost segments, or whose beginning is missing, every frame that was captured
//! as
//!   a whole is printed, and no other.
//!
//! Input: the file; or 0xFF, which starts no capture, and a script with the framing, the messages
//! and the cuts of their stream; or 0xFE, and a script with the messages, the cuts, and which of
//! the
//! segments are lost.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use etherparse::PacketBuilder;

use crate::Seed;
use crate::decode::capture::{self, Captured};
use crate::decode::codecs::Codecs;
use crate::decode::{DecodeCounts, Format, Framing, Settings, decode};
use crate::scratch;
use crate::script::Script;

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let folder = scratch::folder();
    let path = folder.path().join("capture");
    match bytes {
        [0xFF, script @ ..] => check_stream(&path, &mut Script(script)),
        [0xFE, script @ ..] => check_loss(&path, &mut Script(script)),
        _ => check_file(&path, bytes),
    }
}

fn check_file(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("the buffer has room");
    let text = decoded(path, None, Format::Text);
    let json = decoded(path, None, Format::Json);
    let (Ok(text), Ok(json)) = (text, json) else { return };
    assert_eq!(text.counts, json.counts);
    for line in json.lines() {
        let value: Result<serde_json::Value, _> = serde_json::from_str(line);
        assert!(value.is_ok(), "{line}");
    }
    let whole = packets(path).expect("the message was decoded before");
    assert_eq!(whole.len() as u64, text.counts.packets);
    fs::write(path, &bytes[..bytes.len() * 3 / 4]).expect("the buffer has room");
    if let Ok(first) = packets(path) {
        assert!(whole.starts_with(&first), "{first:?} {whole:?}");
    }
    for framing in [Framing::Udp, Framing::ConflatedTcp, Framing::Ilink3, Framing::Replay] {
        fs::write(path, bytes).expect("the buffer has room");
        let forced =
            decoded(path, Some(framing), Format::Text).expect("the message was decoded before");
        assert_eq!(forced.counts.packets, text.counts.packets);
    }
}

struct Decoded {
    out: String,
    counts: DecodeCounts,
}

impl Decoded {
    fn lines(&self) -> impl Iterator<Item = &str> {
        self.out.lines()
    }
}

/// Returns the output of `hairpin decode` for a file.
fn decoded(path: &Path, framing: Option<Framing>, format: Format) -> io::Result<Decoded> {
    let settings = Settings { codecs: Codecs::default(), framing, format };
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    let mut counts = DecodeCounts::default();
    decode(&[path.to_owned()], &settings, &mut counts, &mut out, &mut errors)?;
    let out = String::from_utf8(out).expect("the output is UTF-8");
    let errors = String::from_utf8(errors).expect("the output is UTF-8");
    let DecodeCounts { messages, unknown, errors: count, .. } = counts;
    assert_eq!(out.lines().count() as u64, messages + unknown + 1, "{out}");
    let lines = errors.lines().filter(|line| line.starts_with("hairpin: packet ")).count();
    assert!(lines as u64 <= count && (lines > 0) == (count > 0), "{errors}");
    Ok(Decoded { out, counts })
}

/// Returns every packet of a file as text.
fn packets(path: &Path) -> io::Result<Vec<String>> {
    let mut packets = Vec::new();
    let ending = capture::read(File::open(path)?, |Captured { time, payload, .. }| {
        packets.push(format!("{time:?} {payload:?}"));
        Ok(())
    })?;
    assert!(!ending.is_some_and(|what| what.is_empty()));
    Ok(packets)
}

/// Compares a stream in one segment with the same stream in many.
fn check_stream(path: &Path, script: &mut Script<'_>) {
    let framing = [Framing::ConflatedTcp, Framing::Ilink3, Framing::Replay];
    let framing = framing[usize::from(script.below(3))];
    let start = u32::from_le_bytes([(); 4].map(|()| script.byte()));
    let count = script.below(6);
    let stream: Vec<u8> = (0..count).flat_map(|_| frame(framing, script)).collect();
    let begins = segment(start, true, &[]);
    let first = start.wrapping_add(1);
    write(path, &[begins.clone(), segment(first, false, &stream)]);
    let whole = decoded(path, Some(framing), Format::Text).expect("the file is a valid capture");
    assert_eq!((whole.counts.messages, whole.counts.errors), (count.into(), 0), "{}", whole.out);
    let mut segments = vec![(0, stream.len())];
    while !script.is_over() {
        let [which, place, kind] = [(); 3].map(|()| usize::from(script.byte()));
        let which = which % segments.len();
        let (from, to) = segments[which];
        let cut = from + place % (to - from + 1);
        match kind % 4 {
            0 => segments.push((from, to)),
            1 => {
                let other = place % segments.len();
                segments.swap(which, other);
            }
            2 if cut > 0 => segments.push((place % cut, to)),
            _ => {
                segments[which] = (from, cut);
                segments.push((cut, to));
            }
        }
    }
    let of = |&(from, to): &(usize, usize)| {
        segment(first.wrapping_add(from as u32), false, &stream[from..to])
    };
    let cut: Vec<_> = [begins].into_iter().chain(segments.iter().map(of)).collect();
    write(path, &cut);
    let cut = decoded(path, Some(framing), Format::Text).expect("the file is a valid capture");
    let lines = whole.out.lines().take(count.into());
    assert!(cut.lines().take(count.into()).eq(lines), "{} {}", whole.out, cut.out);
    assert_eq!(cut.counts.errors, 0);
}

/// Loses segments of a session, and compares the messages with those of the frames that are left.
fn check_loss(path: &Path, script: &mut Script<'_>) {
    let start = u32::from_le_bytes([(); 4].map(|()| script.byte()));
    let mut stream = Vec::new();
    let frames: Vec<_> = (1..=1 + u32::from(script.below(30)))
        .map(|number| {
            let begin = stream.len();
            stream.extend(sequence(number));
            (number, begin..stream.len())
        })
        .collect();
    let mut is_captured = vec![false; stream.len()];
    let (mut segments, mut from) = (Vec::new(), 0);
    while from < stream.len() {
        let (length, fate) = (1 + usize::from(script.byte()), script.byte());
        let to = (from + length).min(stream.len());
        // Without a script every segment is captured.
        if fate % 4 != 1 {
            is_captured[from..to].fill(true);
            segments.push(segment(start.wrapping_add(from as u32), false, &stream[from..to]));
        }
        from = to;
    }
    write(path, &segments);
    let decoded = decoded(path, None, Format::Text).expect("the file is a valid capture");
    let is_whole = |range: &std::ops::Range<usize>| is_captured[range.clone()].iter().all(|it| *it);
    let expected = frames.iter().filter(|(_, range)| is_whole(range)).map(|(number, _)| *number);
    let printed = decoded.lines().take(decoded.counts.messages as usize);
    let printed = printed.map(|line| line.split(' ').next().and_then(|it| it.parse().ok()));
    assert!(printed.eq(expected.map(Some)), "{}", decoded.out);
}

/// Creates a Sequence506 in a frame.
fn sequence(number: u32) -> Vec<u8> {
    let mut message = [0; 64];
    let length = hairpin_cme_copy::ilink3::empty(506, &mut message).expect("the buffer has room");
    message[16..20].copy_from_slice(&number.to_le_bytes());
    let size = (length as u16 + 4).to_le_bytes();
    [&size[..], &[0xFE, 0xCA], &message[..length]].concat()
}

/// Creates a message of any template in a frame.
fn frame(framing: Framing, script: &mut Script<'_>) -> Vec<u8> {
    const ORDERS: [u16; 8] = [500, 503, 506, 507, 514, 515, 522, 538];
    const DATA: [u16; 8] = [4, 12, 15, 30, 46, 52, 54, 63];
    let (which, number) = (usize::from(script.below(8)), script.byte());
    let mut message = vec![0; 2_048];
    let length = match framing {
        Framing::Ilink3 => hairpin_cme_copy::ilink3::empty(ORDERS[which], &mut message),
        _ => hairpin_cme_copy::mdp3::empty(DATA[which], &mut message),
    };
    message.truncate(length.expect("the buffer has room"));
    let sized = |header: usize| ((message.len() + header) as u16).to_le_bytes();
    let packet = [number, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
    match framing {
        Framing::Ilink3 => [&sized(4)[..], &[0xFE, 0xCA], &message].concat(),
        Framing::ConflatedTcp => [&[0xFE, 0xCA][..], &packet, &sized(2), &message].concat(),
        _ => [&sized(2 + packet.len())[..], &packet, &sized(2), &message].concat(),
    }
}

fn segment(sequence: u32, is_syn: bool, bytes: &[u8]) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2([0; 6], [1; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
    let builder = builder.tcp(40_000, 9_000, sequence, 512);
    let builder = if is_syn { builder.syn() } else { builder };
    let mut packet = Vec::new();
    builder.write(&mut packet, bytes).expect("memory writes succeed");
    packet
}

fn datagram(bytes: &[u8]) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2([0; 6], [1; 6]).ipv4([10, 0, 0, 1], [224, 0, 28, 5], 1);
    let mut packet = Vec::new();
    builder.udp(14_310, 14_310).write(&mut packet, bytes).expect("memory writes succeed");
    packet
}

fn write(path: &Path, packets: &[Vec<u8>]) {
    fs::write(path, pcap(packets)).expect("the buffer has room");
}

/// Creates a pcap file: microseconds, Ethernet.
fn pcap(packets: &[Vec<u8>]) -> Vec<u8> {
    let words = [0xA1B2_C3D4_u32, 0x0004_0002, 0, 0, 262_144, 1];
    let mut file: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    for (second, packet) in packets.iter().enumerate() {
        let length = packet.len() as u32;
        let words = [second as u32, 0, length, length];
        file.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        file.extend(packet);
    }
    file
}

/// Creates a pcapng file: a section, an interface, and one block of each kind that contains
/// packets.
fn pcapng(packets: &[Vec<u8>]) -> Vec<u8> {
    let block = |kind: u32, body: &[u8]| {
        let length = (12 + body.len().next_multiple_of(4)) as u32;
        let mut block = [kind.to_le_bytes(), length.to_le_bytes()].concat();
        block.extend(body);
        block.resize(length as usize - 4, 0);
        block.extend(length.to_le_bytes());
        block
    };
    let magic = 0x1A2B_3C4D_u32.to_le_bytes();
    let mut file = block(0x0A0D_0D0A, &[&magic[..], &[1, 0, 0, 0], &[255; 8]].concat());
    file.extend(block(1, &[1, 0, 0, 0, 0, 0, 4, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0]));
    for packet in packets {
        let length = (packet.len() as u32).to_le_bytes();
        let simple = [&length[..], packet].concat();
        let enhanced = [&[0; 4][..], &[1; 8], &length, &length, packet].concat();
        file.extend(block(6, &enhanced));
        file.extend(block(3, &simple));
    }
    file
}

/// Returns files of either format, with datagrams and streams, and streams to split.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let mut script = Script(&[4, 1, 2, 2, 6, 3, 4, 5, 1, 6, 2, 7]);
    let mut next = |framing| frame(framing, &mut script);
    let udp = |framed: Vec<u8>| datagram(&framed[2..]);
    let datagrams = [udp(next(Framing::Replay)), udp(next(Framing::Replay))];
    let [orders, more] = [next(Framing::Ilink3), next(Framing::Ilink3)];
    let middle = orders.len() / 2;
    let streams = [
        segment(9, true, &[]),
        segment(10 + middle as u32, false, &[&orders[middle..], &more].concat()),
        segment(10, false, &orders[..middle]),
        segment(10 + orders.len() as u32 + 5_000, false, &more),
    ];
    let conflated = [segment(1, false, &next(Framing::ConflatedTcp))];
    let script = |framing: u8, steps: &[u8]| {
        [&[0xFF, framing, 250, 255, 255, 255, 4, 0, 1, 2, 3, 4, 5, 6, 7], steps].concat()
    };
    let seed = |name: &str, bytes: Vec<u8>| (name.to_owned(), bytes);
    vec![
        seed("pcap-datagrams", pcap(&datagrams)),
        seed("pcap-streams", pcap(&streams)),
        seed("pcap-conflated", pcap(&conflated)),
        seed("pcapng-datagrams", pcapng(&datagrams)),
        seed("pcapng-streams", pcapng(&streams)),
        seed("loss", vec![0xFE, 1, 2, 3, 4, 12, 9, 0, 40, 1, 60, 0, 255, 1, 90, 0, 30, 1, 200, 0]),
        seed("beginning", vec![0xFE, 250, 255, 255, 255, 5, 17, 1, 90, 0, 255, 0]),
        seed("conflated", script(0, &[0, 30, 3, 1, 9, 3, 0, 2, 1])),
        seed("ilink3", script(1, &[0, 77, 3, 0, 40, 0, 1, 5, 2, 0, 1, 1])),
        seed("replay", script(2, &[0, 99, 3, 1, 30, 3, 2, 2, 1, 0, 10, 2])),
    ]
}
