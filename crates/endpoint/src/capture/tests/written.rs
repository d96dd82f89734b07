//! Tests of the writer, with our reader and others.

use std::net::SocketAddrV4;
use std::process::Command;

use pcap_file::pcapng::{Block, PcapNgReader};

use super::*;

fn address(text: &str) -> SocketAddrV4 {
    text.parse().unwrap()
}

fn write(format: CaptureFormat, payloads: &[&[u8]]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = CaptureWriter::new(&mut file, format).unwrap();
    let a = writer.interface("310IA", "incremental feed, side A", CaptureClock::Hardware).unwrap();
    let b = writer.interface("310IB", "incremental feed, side B", CaptureClock::Unknown).unwrap();
    assert_eq!((a, b), (0, 1));
    for (index, payload) in payloads.iter().enumerate() {
        let time = Utc::from_nanos(1_700_000_000_123_456_789 + index as u64);
        let group = address(["224.0.31.1:14310", "224.0.32.1:15310"][index % 2]);
        let addresses = [address("10.0.0.1:40000"), group];
        writer.datagram((index % 2) as u32, time, addresses, payload).unwrap();
    }
    let written = writer.written();
    assert_eq!(written, file.len() as u64);
    file
}

#[test]
fn reader_reads_written_files() {
    let long = vec![9; 65_507];
    let payloads = [&b"one"[..], b"", &long, b"four"];
    for format in [CaptureFormat::Pcap, CaptureFormat::Pcapng] {
        let file = write(format, &payloads);
        let mut datagrams = Datagrams::new(CaptureReader::new(&file[..]).unwrap());
        for (index, payload) in payloads.iter().enumerate() {
            let it = datagrams.next().unwrap().unwrap();
            assert_eq!(it.bytes, *payload);
            assert_eq!(it.source.to_string(), "10.0.0.1:40000");
            let group = ["224.0.31.1:14310", "224.0.32.1:15310"][index % 2];
            assert_eq!(it.destination.to_string(), group);
            let time = it.time.unwrap();
            assert_eq!(time.utc.as_nanos(), 1_700_000_000_123_456_789 + index as u64);
            assert_eq!(time.precision.as_nanos(), 1);
        }
        assert!(datagrams.next().unwrap().is_none());
        let clocks: Vec<_> = datagrams.reader().interfaces().iter().map(|it| it.clock).collect();
        let expected = match format {
            CaptureFormat::Pcap => &[CaptureClock::Unknown][..],
            CaptureFormat::Pcapng => &[CaptureClock::Hardware, CaptureClock::Unknown],
        };
        assert_eq!(clocks, expected);
    }
}

#[test]
fn writes_datagram_headers() {
    let file = write(CaptureFormat::Pcap, &[b"payload"]);
    let packet = &file[24 + 16..];
    let sliced = etherparse::SlicedPacket::from_ip(packet).unwrap();
    let Some(etherparse::NetSlice::Ipv4(ip)) = sliced.net else { panic!("IPv4") };
    let header = ip.header().to_header();
    assert_eq!(header.header_checksum, header.calc_header_checksum());
    assert_eq!((header.time_to_live, header.dont_fragment), (1, true));
    assert_eq!(usize::from(header.total_len), packet.len());
}

/// Includes a sum with two carries.
#[test]
fn writes_valid_ip_checksum() {
    let mut file = Vec::new();
    let mut writer = CaptureWriter::new(&mut file, CaptureFormat::Pcap).unwrap();
    let group = address("224.0.31.1:14310");
    for low in 0..=u16::MAX {
        let [high, low] = low.to_be_bytes();
        let source = SocketAddrV4::new([255, 255, high, low].into(), 40_000);
        writer.datagram(0, Utc::from_nanos(1), [source, group], b"").unwrap();
    }
    for packet in file[24..].chunks(16 + 28) {
        let words = packet[16..36].as_chunks::<2>().0.iter();
        let sum: u32 = words.map(|word| u32::from(u16::from_be_bytes(*word))).sum();
        assert_eq!(sum % 0xffff, 0, "{:?}", &packet[28..32]);
    }
}

#[test]
fn pcap_file_reads_written_interfaces() {
    let file = write(CaptureFormat::Pcapng, &[b"one"]);
    let mut reader = PcapNgReader::new(&file[..]).unwrap();
    let mut names = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::InterfaceDescription(interface) = block.unwrap() {
            for option in interface.options {
                if let InterfaceDescriptionOption::Comment(comment) = option {
                    names.push(comment.into_owned());
                }
            }
        }
    }
    assert_eq!(names, ["incremental feed, side A", "incremental feed, side B"]);
}

#[test]
fn tcpdump_reads_written_files() {
    for format in [CaptureFormat::Pcap, CaptureFormat::Pcapng] {
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, &write(format, &[b"one", b"three"])).unwrap();
        io::Seek::rewind(&mut file).unwrap();
        let mut tcpdump = Command::new("tcpdump");
        tcpdump.args(["-tt", "-nn", "-v", "--nano", "-r", "-"]).stdin(file);
        let Ok(output) = tcpdump.output() else {
            println!("skipped: tcpdump is not installed");
            return;
        };
        let theirs = String::from_utf8(output.stdout).unwrap();
        for expected in [
            "1700000000.123456789 IP",
            "10.0.0.1.40000 > 224.0.31.1.14310: ",
            "10.0.0.1.40000 > 224.0.32.1.15310: ",
            "UDP, length 3",
            "UDP, length 5",
        ] {
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(theirs.contains(expected), "{expected}: {theirs} {errors}");
        }
        assert!(!theirs.contains("bad"), "{theirs}");
    }
}

#[test]
fn rejects_invalid_datagrams() {
    let mut writer = CaptureWriter::new(io::sink(), CaptureFormat::Pcap).unwrap();
    let addresses = [address("10.0.0.1:1"), address("10.0.0.2:2")];
    let mut kind = |time, length| {
        let outcome = writer.datagram(0, Utc::from_nanos(time), addresses, &vec![0; length]);
        outcome.err().map(|error| error.kind())
    };
    let refused = Some(io::ErrorKind::InvalidInput);
    assert_eq!((kind(0, 65_507), kind(0, 65_508)), (None, refused));
    let end = u64::from(u32::MAX) * 1_000_000_000;
    assert_eq!((kind(end, 1), kind(end + 1_000_000_000, 1)), (None, refused));
}

#[test]
fn file_extension_selects_format() {
    for (name, format) in [
        ("a.pcap", CaptureFormat::Pcap),
        ("a.PCAP", CaptureFormat::Pcap),
        ("a.pcapng", CaptureFormat::Pcapng),
        ("a", CaptureFormat::Pcapng),
    ] {
        assert_eq!(CaptureFormat::from_path(name.as_ref()), format, "{name}");
    }
}
