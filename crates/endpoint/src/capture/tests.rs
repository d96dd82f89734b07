//! Tests of captures made byte by byte, by `pcap-file`, and by tcpdump.

mod compressed;
pub(super) mod files;
mod links;
mod recorded;
mod replayed;
mod tunnels;
mod written;

use std::io::{self, Read};
use std::net::SocketAddr;

use hairpin_time::Utc;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::{PcapNgBlock, PcapNgWriter};
use pcap_file::{DataLink, Endianness, TsResolution};
use proptest::prelude::*;

use super::*;
use files::*;

/// Returns the contents of a file: times in nanoseconds, bytes, and the final error.
type Contents = (Vec<(Option<u64>, Vec<u8>)>, Option<String>);

fn frames(bytes: impl Read) -> Result<Contents, CaptureError> {
    let mut reader = CaptureReader::new(bytes)?;
    let mut frames = Vec::new();
    loop {
        match reader.next_frame() {
            Ok(Some(frame)) => {
                let time = frame.time.map(|time| time.utc.as_nanos());
                frames.push((time, frame.bytes.to_vec()));
            }
            Ok(None) => return Ok((frames, None)),
            Err(error) => {
                assert!(matches!(reader.next_frame(), Ok(None)), "no frame follows an error");
                return Ok((frames, Some(error.to_string())));
            }
        }
    }
}

/// A pipe that returns a few bytes at a time and sometimes an interruption.
struct Pipe<'a>(&'a [u8], usize, u32);

impl Read for Pipe<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.2 += 1;
        if self.2.is_multiple_of(3) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let count = self.1.min(buffer.len()).min(self.0.len());
        let (some, rest) = self.0.split_at(count);
        buffer[..count].copy_from_slice(some);
        self.0 = rest;
        Ok(count)
    }
}

#[test]
fn reads_pcap_in_both_byte_orders_and_units() {
    for is_big in [false, true] {
        for (nanos, unit) in [(false, 1_000), (true, 1)] {
            let file = pcap(is_big, nanos, 1, &[(3, 7, b"one"), (4, 999_999, b"three")]);
            let expected = vec![
                (Some(3_000_000_000 + 7 * unit), b"one".to_vec()),
                (Some(4_000_000_000 + 999_999 * unit), b"three".to_vec()),
            ];
            assert_eq!(frames(&file[..]).unwrap(), (expected, None), "{is_big} {nanos}");
            let mut reader = CaptureReader::new(&file[..]).unwrap();
            let time = reader.next_frame().unwrap().unwrap().time.unwrap();
            assert_eq!(time.precision.as_nanos(), unit);
            assert_eq!(time.clock, CaptureClock::Unknown);
        }
    }
}

#[test]
fn reads_pcapng_sections_in_both_byte_orders() {
    let mut file = Vec::new();
    for is_big in [true, false] {
        let ng = PcapngBuilder { is_big };
        file.extend(ng.section());
        file.extend(ng.interface(1, 0, &[(9, &[9])]));
        file.extend(ng.interface(101, 0, &[]));
        file.extend(ng.enhanced(0, 5, b"nanoseconds"));
        file.extend(ng.enhanced(1, 5, b"microseconds"));
    }
    let frames = frames(&file[..]).unwrap();
    let each = [(Some(5), b"nanoseconds".to_vec()), (Some(5_000), b"microseconds".to_vec())];
    assert_eq!(frames, ([&each[..], &each[..]].concat(), None));
    // The second section does not describe interface 2.
    file.extend(PcapngBuilder { is_big: false }.enhanced(2, 5, b"?"));
    let mut reader = CaptureReader::new(&file[..]).unwrap();
    let mut last = None;
    while let Some(frame) = reader.next_frame().unwrap() {
        last = Some((frame.link, frame.time, frame.payload().err()));
    }
    assert_eq!(last, Some((None, None, Some(PacketError::NoInterface(2)))));
}

#[test]
fn reads_every_clock_resolution_and_offset() {
    let cases: [(&[u8], i64, u64, Option<u64>); 9] = [
        (&[6], 0, 7, Some(7_000)),
        (&[9], 0, 7, Some(7)),
        (&[0], 0, 7, Some(7_000_000_000)),
        (&[12], 0, 7_999, Some(7)),
        (&[3], 2, 7, Some(2_007_000_000)),
        (&[9], -1, 2_000_000_005, Some(1_000_000_005)),
        (&[9], -3, 2_000_000_005, None),
        // The unit is 2^-10 of a second.
        (&[0x8a], 0, 1_536, Some(1_500_000_000)),
        (&[0], 0, u64::MAX, None),
    ];
    for is_big in [false, true] {
        for (resolution, offset, units, expected) in cases {
            let ng = PcapngBuilder { is_big };
            let offset = if is_big { offset.to_be_bytes() } else { offset.to_le_bytes() };
            let interface = ng.interface(1, 0, &[(9, resolution), (14, &offset)]);
            let file = [ng.section(), interface, ng.enhanced(0, units, b"x")].concat();
            let (frames, _) = frames(&file[..]).unwrap();
            assert_eq!(frames[0].0, expected, "{resolution:?} {offset:?}");
        }
    }
}

#[test]
fn simple_packets_have_no_time_and_end_at_snapshot_length() {
    for is_big in [false, true] {
        let ng = PcapngBuilder { is_big };
        let interface = ng.interface(1, 6, &[]);
        let file = [ng.section(), interface, ng.simple(5, b"12345"), ng.simple(9, b"123456")];
        let frames = frames(&file.concat()[..]).unwrap();
        assert_eq!(frames.0, [(None, b"12345".to_vec()), (None, b"123456".to_vec())]);
    }
}

#[test]
fn enhanced_packet_ignores_snapshot_length() {
    let ng = PcapngBuilder { is_big: false };
    let file = [ng.section(), ng.interface(1, 6, &[]), ng.enhanced(0, 1, b"123456789")].concat();
    let frames = frames(&file[..]).unwrap();
    assert_eq!(frames.0, [(Some(1_000), b"123456789".to_vec())]);
}

#[test]
fn stops_at_end_of_options() {
    let ng = PcapngBuilder { is_big: false };
    let interface = ng.interface(1, 0, &[(0, &[]), (9, &[9])]);
    let file = [ng.section(), interface, ng.enhanced(0, 5, b"x")].concat();
    let frames = frames(&file[..]).unwrap();
    assert_eq!(frames.0, [(Some(5_000), b"x".to_vec())], "microseconds");
}

#[test]
fn reads_obsolete_packet_block() {
    for is_big in [false, true] {
        let ng = PcapngBuilder { is_big };
        let interfaces = [ng.interface(1, 0, &[]), ng.interface(1, 0, &[(9, &[9])])].concat();
        // Interface 1, and 77 dropped packets.
        let halves = if is_big { [0, 1, 0, 77] } else { [1, 0, 77, 0] };
        let words = [0, 5, 3, 3].map(|word| ng.word(word)).concat();
        let block = ng.block(2, &[&halves[..], &words, b"old"].concat());
        let frames = frames(&[ng.section(), interfaces, block].concat()[..]).unwrap();
        assert_eq!(frames.0, [(Some(5), b"old".to_vec())]);
    }
}

#[test]
fn skips_unknown_blocks_and_options() {
    let ng = PcapngBuilder { is_big: false };
    // No end of options, an unknown option, a truncated option, and a reserved field.
    let mut body = [ng.half(1), ng.half(9), ng.word(0).to_vec()].concat();
    body.extend([ng.half(99), ng.half(2), vec![1, 2, 0, 0]].concat());
    body.extend([ng.half(9), ng.half(1), vec![9, 0, 0, 0]].concat());
    body.extend([ng.half(2), ng.half(200)].concat());
    let interface = ng.block(1, &body);
    let (statistics, unknown) = (ng.block(5, &[7; 12]), ng.block(0xbad, b"whatever"));
    let file = [ng.section(), unknown.clone(), interface, statistics, ng.enhanced(0, 5, b"x")];
    let frames = frames(&[file.concat(), unknown].concat()[..]).unwrap();
    assert_eq!(frames, (vec![(Some(5), b"x".to_vec())], None));
}

#[test]
fn reads_interface_name_and_clock() {
    let ng = PcapngBuilder { is_big: true };
    for (description, clock) in [
        ("feed I side A clock=hardware", CaptureClock::Hardware),
        ("clock=software", CaptureClock::Software),
        ("eth0", CaptureClock::Unknown),
    ] {
        let interface = ng.interface(1, 0, &[(2, b"310IA"), (3, description.as_bytes())]);
        let file = [ng.section(), interface, ng.enhanced(0, 5, b"x")].concat();
        let mut reader = CaptureReader::new(&file[..]).unwrap();
        let time = reader.next_frame().unwrap().unwrap().time.unwrap();
        assert_eq!(time.clock, clock);
        let (five, is_hardware) = (Utc::from_nanos(5_000), clock == CaptureClock::Hardware);
        let expected = match is_hardware {
            true => crate::Timestamp::Hardware(five),
            false => crate::Timestamp::Software(five),
        };
        assert_eq!(time.timestamp(), expected);
        let [interface] = reader.interfaces() else { panic!("one interface") };
        assert_eq!((&interface.name[..], &interface.description[..]), ("310IA", description));
    }
}

#[test]
fn truncated_file_returns_complete_packets_then_error() {
    let ng = PcapngBuilder { is_big: false };
    let head = [ng.section(), ng.interface(1, 0, &[])].concat();
    let packets = [ng.enhanced(0, 1, b"one"), ng.enhanced(0, 2, b"two")].concat();
    let of_pcap = pcap(false, false, 1, &[(0, 1, b"one"), (0, 2, b"two")]);
    for (file, first, second) in
        [(&[head.clone(), packets].concat(), head.len(), head.len() + 36), (&of_pcap, 24, 24 + 19)]
    {
        for cut in first..=file.len() {
            let (frames, ending) = frames(&file[..cut]).unwrap();
            let whole = if cut < second { 0 } else { 1 + usize::from(cut == file.len()) };
            assert_eq!(frames.len(), whole, "cut at {cut}");
            let start = [first, second, file.len()][whole];
            let expected = (cut > start).then(|| {
                let left = cut - start;
                format!("the file ends {left} bytes into a packet or block, at byte {start}")
            });
            assert_eq!(ending, expected, "cut at {cut}");
        }
        for cut in 0..24 {
            if cut < 12 || file == &of_pcap {
                assert!(matches!(frames(&file[..cut]), Err(CaptureError::NoCapture)), "{cut}");
            }
        }
    }
}

#[test]
fn inconsistent_block_ends_file_with_error() {
    let ng = PcapngBuilder { is_big: false };
    let head = [ng.section(), ng.interface(1, 0, &[]), ng.enhanced(0, 1, b"one")].concat();
    let mut short = ng.enhanced(0, 2, b"two");
    short[20] = 200;
    // One byte more than the packet and its padding.
    let mut shorter = ng.enhanced(0, 2, b"two");
    shorter[20] = 5;
    let mut tail = ng.enhanced(0, 2, b"two");
    *tail.last_mut().unwrap() = 1;
    let long = [[6, 0, 0, 0], [0xfc, 0xff, 0xff, 0x7f]].concat();
    let endless = [head.clone(), long, vec![0; 17 << 20]].concat();
    for (file, text) in [
        ([head.clone(), short].concat(), "enhanced packet block shorter than its packet"),
        ([head.clone(), shorter].concat(), "enhanced packet block shorter than its packet"),
        ([head.clone(), tail].concat(), "Block: initial_length != trailer_length at byte "),
        (endless, "packet or block at byte "),
    ] {
        let (frames, ending) = frames(&file[..]).unwrap();
        assert_eq!(frames.len(), 1);
        assert!(ending.as_ref().is_some_and(|it| it.starts_with(text)), "{ending:?}");
    }
    for no_capture in [&b""[..], b"\x0a\x0d\x0d", b"\x0a\x0d\x0d\x0a\x1c\0\0\0\0\0\0\0", &[0; 99]] {
        assert!(matches!(CaptureReader::new(no_capture), Err(CaptureError::NoCapture)));
    }
}

#[test]
fn reads_pipe_in_any_chunks() {
    let packet = vec![7; 3_000];
    let file = pcap(false, true, 1, &vec![(1, 2, &packet[..]); 700]);
    for some in [1_000, 4_096, 1 << 20] {
        let (frames, ending) = frames(Pipe(&file, some, 0)).unwrap();
        assert_eq!((frames.len(), ending), (700, None));
        assert!(frames.iter().all(|(_, bytes)| *bytes == packet));
    }
}

#[test]
fn buffer_grows_for_long_packet() {
    let packet = vec![7; 3 << 20];
    let file = pcap(true, true, 1, &[(1, 2, b"before"), (1, 2, &packet), (1, 2, b"after")]);
    let (frames, ending) = frames(&file[..]).unwrap();
    assert_eq!((frames.len(), ending), (3, None));
    assert!(frames[1].1 == packet && frames[2].1 == b"after");
}

/// Reads files written by `pcap-file`.
#[test]
fn reads_files_of_pcap_file() {
    for endianness in [Endianness::Big, Endianness::Little] {
        for ts_resolution in [TsResolution::MicroSecond, TsResolution::NanoSecond] {
            let header = PcapHeader { endianness, ts_resolution, ..PcapHeader::default() };
            let mut writer = PcapWriter::with_header(Vec::new(), header).unwrap();
            let time = std::time::Duration::new(5, 6_000);
            writer.write_packet(&PcapPacket::new(time, 3, b"abc")).unwrap();
            let read = frames(&writer.into_writer()[..]).unwrap();
            assert_eq!(read, (vec![(Some(5_000_006_000), b"abc".to_vec())], None));
        }
        let mut writer = PcapNgWriter::with_endianness(Vec::new(), endianness).unwrap();
        let options = vec![
            InterfaceDescriptionOption::IfName("eth0".into()),
            InterfaceDescriptionOption::IfTsResol(9),
        ];
        let linktype = DataLink::ETHERNET;
        let interface = InterfaceDescriptionBlock { linktype, snaplen: 0, options };
        writer.write_block(&interface.into_block()).unwrap();
        let packet = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: std::time::Duration::from_nanos(u64::from(u32::MAX) + 9),
            original_len: 3,
            data: b"abc"[..].into(),
            options: Vec::new(),
        };
        writer.write_block(&packet.into_block()).unwrap();
        let read = frames(&writer.into_inner()[..]).unwrap();
        assert_eq!(read, (vec![(Some(u64::from(u32::MAX) + 9), b"abc".to_vec())], None));
    }
}

proptest! {
    #[test]
    fn never_panics_on_any_bytes(
        is_ng: bool,
        is_big: bool,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let packet = datagram_of(&[1, 2, 3]);
        let ng = PcapngBuilder { is_big };
        let mut file = match is_ng {
            true => [ng.section(), ng.interface(1, 0, &[(9, &[9])]), ng.enhanced(0, 1, &packet),
                     ng.simple(packet.len() as u32, &packet)].concat(),
            false => pcap(is_big, false, 1, &[(1, 2, &packet), (1, 2, &packet)]),
        };
        for (place, value) in changes {
            *place.get_mut(&mut file) = value;
        }
        let whole = frames(&file[..]);
        let first = frames(&file[..cut.index(file.len())]);
        if let (Ok((whole, _)), Ok((first, _))) = (&whole, &first) {
            prop_assert!(whole.starts_with(first), "a truncated file has the same first frames");
        }
        if let Ok((whole, _)) = whole {
            let mut datagrams = Datagrams::new(CaptureReader::new(&file[..]).unwrap());
            while let Ok(Some(_)) = datagrams.next() {}
            prop_assert_eq!(datagrams.counters().packets, whole.len() as u64);
        }
    }
}
