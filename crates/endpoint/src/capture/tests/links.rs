//! Tests of link types and IP packets.

use std::process::Command;

use etherparse::PacketBuilder;

use super::*;

const FROM: &str = "10.0.0.1:1";
const TO: &str = "224.0.28.5:14310";

fn read_one(link: u32, frame: &[u8]) -> Result<(String, String, Vec<u8>), PacketError> {
    let file = pcap(false, true, link, &[(1, 2, frame)]);
    let mut reader = CaptureReader::new(&file[..]).unwrap();
    match reader.next_frame().unwrap().unwrap().payload()? {
        Payload::Datagram { source, destination, bytes } => {
            Ok((source.to_string(), destination.to_string(), bytes.to_vec()))
        }
        other => Ok((format!("{other:?}"), String::new(), Vec::new())),
    }
}

fn ip() -> Vec<u8> {
    datagram_of(b"data")[14..].to_vec()
}

#[test]
fn finds_datagrams_on_every_link_type() {
    let ethernet = datagram_of(b"data");
    let (macs, ip) = (&ethernet[..12], ip());
    let loopback_6 = |family: [u8; 4]| [&family[..], &ip].concat();
    let sll = [&[0, 0, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 8, 0][..], &ip].concat();
    let sll2 = |protocol: [u8; 2], more: &[u8]| {
        [&protocol[..], &[0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0], more, &ip].concat()
    };
    let tagged = |tags: &[u8]| [macs, tags, &[8, 0], &ip].concat();
    let mut padded = ethernet.clone();
    padded.resize(60, 0xee);
    for (link, frame, what) in [
        (1, ethernet.clone(), "Ethernet"),
        (1, padded, "with padding"),
        (1 | 0x1000_0000, ethernet.clone(), "with a check sequence of length 0"),
        (1, tagged(&[0x81, 0, 0, 7]), "VLAN"),
        (1, tagged(&[0x88, 0xa8, 0, 7, 0x81, 0, 0, 8]), "QinQ"),
        (1, tagged(&[0x91, 0, 0, 7, 0x81, 0, 0, 8]), "pre-standard QinQ"),
        (1, tagged(&[0x81, 0, 0, 7, 0x81, 0, 0, 8, 0x81, 0, 0, 9]), "three tags"),
        (101, ip.clone(), "raw"),
        (12, ip.clone(), "BSD raw"),
        (14, ip.clone(), "OpenBSD raw"),
        (228, ip.clone(), "IPv4"),
        (0, loopback_6([2, 0, 0, 0]), "null"),
        (0, loopback_6([0, 0, 0, 2]), "null in the other byte order"),
        (108, loopback_6([0, 0, 0, 2]), "loop"),
        (113, sll, "cooked"),
        (276, sll2([8, 0], &[]), "cooked 2"),
        (276, sll2([0x81, 0], &[0, 7, 8, 0]), "cooked 2 with VLAN"),
    ] {
        let expected = (FROM.to_owned(), TO.to_owned(), b"data".to_vec());
        assert_eq!(read_one(link, &frame), Ok(expected), "{what}");
    }
}

#[test]
fn reads_ipv6() {
    let (from, to) = ([0xfe; 16], [0xff; 16]);
    let mut frame = Vec::new();
    let builder = PacketBuilder::ethernet2([0; 6], [1; 6]).ipv6(from, to, 1);
    builder.udp(1, 2).write(&mut frame, b"six").unwrap();
    let all = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";
    let (source, destination, bytes) = read_one(1, &frame).unwrap();
    assert!(source.starts_with("[fefe:"), "{source}");
    assert_eq!((destination, bytes), (format!("[{all}]:2"), b"six".to_vec()));
    assert_eq!(read_one(229, &frame[14..]).unwrap().2, b"six");
    assert_eq!(read_one(0, &[&[30, 0, 0, 0], &frame[14..]].concat()).unwrap().2, b"six");
}

#[test]
fn distinguishes_fragment_from_datagram() {
    // More fragments follow, or it is not the first fragment.
    for (place, value) in [(6, 0x20), (7, 1)] {
        let mut packet = ip();
        packet[place] = value;
        assert_eq!(read_one(101, &packet), Err(PacketError::Fragment));
    }
}

#[test]
fn reports_unsupported_link_and_truncated_frame() {
    let error = read_one(105, &ip()).unwrap_err();
    assert_eq!(error, PacketError::LinkType(LinkType(105)));
    assert!(
        error.to_string().starts_with("link type 105 is not supported: use Ethernet"),
        "{error}"
    );
    let ng = PcapngBuilder { is_big: false };
    let frame = datagram_of(b"data");
    let words = [0, 0, 0, 40, frame.len() as u32].map(|word| ng.word(word)).concat();
    let cut = ng.block(6, &[&words, &frame[..40]].concat());
    let file = [ng.section(), ng.interface(1, 40, &[]), cut].concat();
    let mut reader = CaptureReader::new(&file[..]).unwrap();
    let error = reader.next_frame().unwrap().unwrap().payload().unwrap_err();
    assert_eq!(error, PacketError::Cut { captured: 40, length: frame.len() as u32 });
}

#[test]
fn returns_other_traffic_as_such() {
    let arp = [&[0; 12][..], &[8, 6, 0, 1, 8, 0, 6, 4, 0, 1], &[0; 20]].concat();
    assert_eq!(read_one(1, &arp).unwrap().0, "Other");
    assert_eq!(read_one(0, &[7, 0, 0, 0, 0, 0]).unwrap().0, "Other");
    assert_eq!(read_one(276, &[8, 0]).unwrap().0, "Other");
    let mut frame = Vec::new();
    let builder = PacketBuilder::ethernet2([0; 6], [1; 6]).ipv4([1; 4], [2; 4], 1);
    builder.tcp(1, 2, 77, 9).syn().write(&mut frame, b"tcp").unwrap();
    let segment = read_one(1, &frame).unwrap().0;
    assert!(segment.contains("sequence: 77, syn: true, bytes: [116, 99, 112]"), "{segment}");
}

#[test]
fn delivers_datagrams_in_place_and_counts_others() {
    let one = datagram_of(b"one");
    let mut fragment = one.clone();
    fragment[20] = 0x20;
    let arp = [&[0; 12][..], &[8, 6, 0, 1, 8, 0, 6, 4, 0, 1], &[0; 20]].concat();
    let file = pcap(false, true, 1, &[(1, 2, &arp), (1, 2, &one), (1, 3, &fragment), (1, 4, &one)]);
    let mut datagrams = Datagrams::new(CaptureReader::new(&file[..]).unwrap());
    assert!(datagrams.current().is_none());
    for nanos in [2, 4] {
        assert!(datagrams.advance().unwrap());
        let it = datagrams.current().unwrap();
        assert_eq!(
            (it.bytes, it.time.unwrap().utc.as_nanos()),
            (&b"one"[..], 1_000_000_000 + nanos)
        );
        assert_eq!((it.source.to_string(), it.destination.to_string()), (FROM.into(), TO.into()));
    }
    assert!(!datagrams.advance().unwrap() && datagrams.current().is_none());
    let counters = datagrams.counters();
    let counted =
        (counters.packets, counters.datagrams, counters.other_packets, counters.fragments);
    assert_eq!(counted, (4, 2, 1, 1));
    assert_eq!(
        counters.bytes,
        [&arp, &one, &fragment, &one].map(|it| it.len() as u64).iter().sum()
    );
}

/// Compares with tcpdump, where it is installed.
#[test]
fn agrees_with_tcpdump() {
    let ng = PcapngBuilder { is_big: false };
    let mut file = [ng.section(), ng.interface(1, 0, &[(9, &[9])])].concat();
    file.extend(ng.interface(1, 0, &[(9, &[6])]));
    let tagged = [&datagram_of(b"vlan")[..12], &[0x81, 0, 0, 7, 8, 0], &ip()].concat();
    for (interface, time, frame) in [
        (0, 1_500_000_007, datagram_of(b"one")),
        (1, 2_500_000, datagram_of(b"other")),
        (0, 3_000_000_000, tagged),
    ] {
        file.extend(ng.enhanced(interface, time, &frame));
    }
    // Through a pipe: as root tcpdump drops the privilege to open files.
    let mut input = tempfile::tempfile().unwrap();
    io::Write::write_all(&mut input, &file).unwrap();
    io::Seek::rewind(&mut input).unwrap();
    let mut tcpdump = Command::new("tcpdump");
    tcpdump.args(["-tt", "-nn", "--nano", "-r", "-"]).stdin(input);
    let Ok(output) = tcpdump.output() else {
        println!("skipped: tcpdump is not installed");
        return;
    };
    let theirs = String::from_utf8(output.stdout).unwrap();
    let theirs: Vec<_> = theirs.lines().collect();
    let mut datagrams = Datagrams::new(CaptureReader::new(&file[..]).unwrap());
    for line in &theirs {
        let ours = datagrams.next().unwrap().unwrap();
        let time = ours.time.unwrap().utc.as_nanos();
        let dotted = |address: SocketAddr| format!("{}.{}", address.ip(), address.port());
        for expected in [
            format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000),
            format!("{} > {}", dotted(ours.source), dotted(ours.destination)),
            format!("length {}", ours.bytes.len()),
        ] {
            assert!(line.contains(&expected), "{line}: {expected}");
        }
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(theirs.len(), 3, "{errors}");
}
