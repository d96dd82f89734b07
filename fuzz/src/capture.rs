//! A capture file of any bytes, as `hairpin decode` and `hairpin feed --pcap` read it; and streams
//! whose segments were captured in any order.
//!
//! Proves that none makes the reader panic; that there is a line for each message, one for each
//! error, and a last one; that the lines as JSON are JSON and count the same; that the packets of a
//! file that was cut are the first of those of the whole; and that segments which overlap, repeat
//! and come in any order give what one segment gives.
//!
//! An input is the file; or 0xFF, which no capture begins with, and a script: the framing, messages
//! and how their stream is cut.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use etherparse::PacketBuilder;

use crate::Seed;
use crate::command::decode::capture::{self, Captured};
use crate::command::decode::codecs::Codecs;
use crate::command::decode::{DecodeCounts, Format, Framing, Settings, decode};
use crate::copy;
use crate::scratch;
use crate::script::Script;

/// One input.
pub fn run(bytes: &[u8]) {
    let folder = scratch::folder();
    let path = folder.path().join("capture");
    match bytes {
        [0xFF, script @ ..] => check_stream(&path, &mut Script(script)),
        _ => check_file(&path, bytes),
    }
}

fn check_file(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("there is room");
    let text = decoded(path, None, Format::Text);
    let json = decoded(path, None, Format::Json);
    let (Ok(text), Ok(json)) = (text, json) else { return };
    assert_eq!(text.counts, json.counts);
    for line in json.lines() {
        let value: Result<serde_json::Value, _> = serde_json::from_str(line);
        assert!(value.is_ok(), "{line}");
    }
    let whole = packets(path).expect("it was decoded");
    assert_eq!(whole.len() as u64, text.counts.packets);
    fs::write(path, &bytes[..bytes.len() * 3 / 4]).expect("there is room");
    if let Ok(first) = packets(path) {
        assert!(whole.starts_with(&first), "{first:?} {whole:?}");
    }
    for framing in [Framing::Udp, Framing::ConflatedTcp, Framing::Ilink3, Framing::Replay] {
        fs::write(path, bytes).expect("there is room");
        let forced = decoded(path, Some(framing), Format::Text).expect("it was decoded");
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

/// What `hairpin decode` prints of a file.
fn decoded(path: &Path, framing: Option<Framing>, format: Format) -> io::Result<Decoded> {
    let settings = Settings { codecs: Codecs::default(), framing, format };
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    let mut counts = DecodeCounts::default();
    decode(path, &settings, &mut counts, &mut out, &mut errors)?;
    let out = String::from_utf8(out).expect("it is text");
    let errors = String::from_utf8(errors).expect("it is text");
    let DecodeCounts { messages, unknown, errors: count, .. } = counts;
    assert_eq!(out.lines().count() as u64, messages + unknown + 1, "{out}");
    let is_note = |line: &&str| line.starts_with("hairpin: note: ");
    let notes = errors.lines().filter(is_note).count();
    assert!(notes <= 1, "{errors}");
    assert_eq!((errors.lines().count() - notes) as u64, count, "{errors}");
    Ok(Decoded { out, counts })
}

/// Every packet of a file, as words.
fn packets(path: &Path) -> io::Result<Vec<String>> {
    let mut packets = Vec::new();
    let ending = capture::read(File::open(path)?, |Captured { time, payload }| {
        packets.push(format!("{time:?} {payload:?}"));
        Ok(())
    })?;
    assert!(!ending.is_some_and(|what| what.is_empty()));
    Ok(packets)
}

/// A stream in one segment, and the same stream in many.
fn check_stream(path: &Path, script: &mut Script<'_>) {
    let framing = [Framing::ConflatedTcp, Framing::Ilink3, Framing::Replay];
    let framing = framing[usize::from(script.below(3))];
    let start = u32::from_le_bytes([(); 4].map(|()| script.byte()));
    let count = script.below(6);
    let stream: Vec<u8> = (0..count).flat_map(|_| frame(framing, script)).collect();
    let begins = segment(start, true, &[]);
    let first = start.wrapping_add(1);
    write(path, &[begins.clone(), segment(first, false, &stream)]);
    let whole = decoded(path, Some(framing), Format::Text).expect("it is a capture");
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
    let cut = decoded(path, Some(framing), Format::Text).expect("it is a capture");
    let lines = whole.out.lines().take(count.into());
    assert!(cut.lines().take(count.into()).eq(lines), "{} {}", whole.out, cut.out);
    assert_eq!(cut.counts.errors, 0);
}

/// A message of any template in a frame.
fn frame(framing: Framing, script: &mut Script<'_>) -> Vec<u8> {
    const ORDERS: [u16; 8] = [500, 503, 506, 507, 514, 515, 522, 538];
    const DATA: [u16; 8] = [4, 12, 15, 30, 46, 52, 54, 63];
    let (which, number) = (usize::from(script.below(8)), script.byte());
    let mut message = vec![0; 2_048];
    let length = match framing {
        Framing::Ilink3 => copy::ilink3::empty(ORDERS[which], &mut message),
        _ => copy::mdp3::empty(DATA[which], &mut message),
    };
    message.truncate(length.expect("there is room"));
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
    builder.write(&mut packet, bytes).expect("memory takes all");
    packet
}

fn datagram(bytes: &[u8]) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2([0; 6], [1; 6]).ipv4([10, 0, 0, 1], [224, 0, 28, 5], 1);
    let mut packet = Vec::new();
    builder.udp(14_310, 14_310).write(&mut packet, bytes).expect("memory takes all");
    packet
}

fn write(path: &Path, packets: &[Vec<u8>]) {
    fs::write(path, pcap(packets)).expect("there is room");
}

/// Of microseconds, Ethernet.
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

/// A section, an interface, and a block of each kind that holds packets.
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

/// Files of either kind, of datagrams and of streams; and streams to be cut.
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
        seed("conflated", script(0, &[0, 30, 3, 1, 9, 3, 0, 2, 1])),
        seed("ilink3", script(1, &[0, 77, 3, 0, 40, 0, 1, 5, 2, 0, 1, 1])),
        seed("replay", script(2, &[0, 99, 3, 1, 30, 3, 2, 2, 1, 0, 10, 2])),
    ]
}
