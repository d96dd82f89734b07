//! Tests with captures built packet by packet.

use std::io::Cursor;

use etherparse::PacketBuilder;
use hairpin_cme_codecs::ilink3::{NewOrderSingle514, Sequence506};
use hairpin_cme_codecs::mdp3::{MDIncrementalRefreshBook46, Price9};
use pcap_file::pcap::{PcapPacket, PcapWriter};
use proptest::prelude::*;

use super::*;

mod streams;

/// A capture being written.
struct Capture(PcapWriter<Vec<u8>>);

impl Capture {
    fn new() -> Self {
        Self(PcapWriter::new(Vec::new()).unwrap())
    }

    fn packet(&mut self, bytes: &[u8]) {
        let length = bytes.len() as u32;
        self.0.write_packet(&PcapPacket::new(std::time::Duration::ZERO, length, bytes)).unwrap();
    }

    fn datagram(&mut self, payload: &[u8]) {
        let builder =
            PacketBuilder::ethernet2([0; 6], [1; 6]).ipv4([10, 0, 0, 1], [224, 0, 28, 5], 1);
        let mut packet = Vec::new();
        builder.udp(14_310, 14_310).write(&mut packet, payload).unwrap();
        self.packet(&packet);
    }

    fn segment(&mut self, sequence: u32, payload: &[u8]) {
        let builder =
            PacketBuilder::ethernet2([0; 6], [1; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
        let mut packet = Vec::new();
        builder.tcp(40_000, 9_000, sequence, 512).write(&mut packet, payload).unwrap();
        self.packet(&packet);
    }

    /// Adds a segment without data that has a flag.
    fn flagged(&mut self, sequence: u32, flag: &str) {
        let builder =
            PacketBuilder::ethernet2([0; 6], [1; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
        let builder = builder.tcp(40_000, 9_000, sequence, 512);
        let builder = match flag {
            "SYN" => builder.syn(),
            "FIN" => builder.fin(),
            _ => builder.rst(),
        };
        let mut packet = Vec::new();
        builder.write(&mut packet, &[]).unwrap();
        self.packet(&packet);
    }

    /// Returns standard output, standard error and counts.
    fn decode(self, framing: Option<Framing>, format: Format) -> (String, String, DecodeCounts) {
        decode_bytes(&self.0.into_writer(), framing, format).unwrap()
    }
}

fn decode_bytes(
    bytes: &[u8],
    framing: Option<Framing>,
    format: Format,
) -> io::Result<(String, String, DecodeCounts)> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let (mut out, mut err) = (Cursor::new(Vec::new()), Vec::new());
    let settings = Settings { codecs: Codecs::default(), framing, format };
    let mut counts = DecodeCounts::default();
    decode(&[file.path().to_owned()], &settings, &mut counts, &mut out, &mut err)?;
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ok((text(out.into_inner()), text(err), counts))
}

/// Returns a packet header with sequence number 7 and sending time 9, and a book update of one
/// entry.
fn datagram() -> Vec<u8> {
    let mut payload = [&7_u32.to_le_bytes()[..], &9_u64.to_le_bytes(), &[0, 0]].concat();
    let mut buffer = [0; 128];
    let (mut root, mut groups) = MDIncrementalRefreshBook46::encode(&mut buffer).unwrap();
    root.set_transact_time(8);
    let mut entries = groups.no_md_entries().unwrap();
    entries.push().unwrap().set_security_id(5).set_md_entry_px(Price9(-1_250_000_000));
    let length = groups.finish().unwrap();
    payload[12..].copy_from_slice(&(length as u16 + 2).to_le_bytes());
    payload.extend_from_slice(&buffer[..length]);
    payload
}

/// Returns an iLink 3 frame around an encoded message.
fn frame(message: &[u8]) -> Vec<u8> {
    let size = message.len() as u16 + 4;
    [&size.to_le_bytes()[..], &[0xfe, 0xca], message].concat()
}

fn order(number: u32) -> Vec<u8> {
    let mut buffer = [0; NewOrderSingle514::ENCODED_LENGTH];
    let mut order = NewOrderSingle514::encode(&mut buffer).unwrap();
    order.set_seq_num(number).set_price(Price9(1)).set_cl_ord_id("a b").set_sending_time_epoch(3);
    frame(&buffer)
}

fn sequence(next: u32) -> Vec<u8> {
    let mut buffer = [0; Sequence506::ENCODED_LENGTH];
    Sequence506::encode(&mut buffer).unwrap().set_uuid(6).set_next_seq_no(next);
    frame(&buffer)
}

#[test]
fn prints_sequence_time_template_name_and_fields() {
    let mut capture = Capture::new();
    capture.datagram(&datagram());
    let (out, err, _) = capture.decode(None, Format::Text);
    assert_eq!(
        out,
        "7 9 46 MDIncrementalRefreshBook46 TransactTime=8 MatchEventIndicator=0 \
         NoMDEntries[0].MDEntryPx=-1.25 NoMDEntries[0].MDEntrySize=- NoMDEntries[0].SecurityID=5 \
         NoMDEntries[0].RptSeq=0 NoMDEntries[0].NumberOfOrders=- NoMDEntries[0].MDPriceLevel=0 \
         NoMDEntries[0].MDUpdateAction=New(0) NoMDEntries[0].MDEntryType=?(\\x00) \
         NoMDEntries[0].TradeableSize=-\n1 packet, 1 message, 0 unknown, 0 errors\n"
    );
    assert_eq!(err, "");
}

#[test]
fn json_is_one_object_a_line() {
    let mut capture = Capture::new();
    capture.datagram(&datagram());
    capture.segment(1, &order(2));
    let (out, _, _) = capture.decode(None, Format::Json);
    let lines: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["packet_seq"], 7);
    assert_eq!(lines[0]["fields"]["NoMDEntries"][0]["MDEntryPx"], "-1.25");
    assert_eq!(lines[0]["fields"]["NoMDEntries"][0]["MDEntrySize"], serde_json::Value::Null);
    assert_eq!(lines[0]["fields"]["NoOrderIDEntries"], serde_json::json!([]));
    assert_eq!(lines[1]["fields"]["ClOrdID"], "a b");
    assert_eq!(lines[1]["sending_time"], 3);
    assert_eq!(lines[2], serde_json::json!({"packets":2,"messages":2,"unknown":0,"errors":0}));
}

#[test]
fn frames_are_put_together_across_segments_and_split_within_one() {
    let stream = [order(1), sequence(2), order(2)].concat();
    for cut in 1..stream.len() {
        let mut capture = Capture::new();
        capture.segment(100, &stream[..cut]);
        capture.segment(100 + cut as u32, &stream[cut..]);
        let (out, err, counts) = capture.decode(None, Format::Text);
        assert_eq!((err.as_str(), counts.messages), ("", 3), "cut at {cut}");
        let firsts: Vec<_> =
            out.lines().map(|line| line.split(' ').take(3).collect::<Vec<_>>()).collect();
        assert_eq!(firsts[..3], [["1", "3", "514"], ["2", "-", "506"], ["2", "3", "514"]]);
    }
}

#[test]
fn packets_of_conflated_tcp_are_put_together() {
    let packet = [&[0xfe, 0xca][..], &datagram()].concat();
    let stream = [packet.clone(), packet].concat();
    for cut in 1..stream.len() {
        let mut capture = Capture::new();
        capture.segment(0, &stream[..cut]);
        capture.segment(cut as u32, &stream[cut..]);
        let (out, err, counts) = capture.decode(None, Format::Text);
        assert_eq!((err.as_str(), counts.messages), ("", 2), "cut at {cut}");
        assert!(out.lines().take(2).all(|line| line.starts_with("7 9 46 ")), "cut at {cut}: {out}");
    }
}

#[test]
fn keeps_packet_number_across_segments() {
    let one = datagram();
    let packet = [&[0xfe, 0xca][..], &one, &one[12..]].concat();
    let mut capture = Capture::new();
    capture.segment(0, &packet[..packet.len() - 3]);
    capture.segment(packet.len() as u32 - 3, &packet[packet.len() - 3..]);
    let (out, _, counts) = capture.decode(None, Format::Text);
    assert_eq!(counts.messages, 2);
    assert!(out.lines().nth(1).unwrap().starts_with("7 9 46 "), "{out}");
}

#[test]
fn ignores_other_framings() {
    let capture = |framing| {
        let mut capture = Capture::new();
        capture.datagram(&datagram());
        capture.segment(1, &order(1));
        let counts = capture.decode(Some(framing), Format::Text).2;
        (counts.packets, counts.messages, counts.errors)
    };
    assert_eq!(capture(Framing::Udp), (2, 1, 0));
    assert_eq!(capture(Framing::Ilink3), (2, 1, 0));
}

#[test]
fn counts_and_reports_each_error() {
    let whole = datagram();
    let mut long = whole.clone();
    long.extend_from_slice(&[0; 8]);
    let size = long.len() as u16 - 12;
    long[12..14].copy_from_slice(&size.to_le_bytes());
    let mut gap = order(1);
    gap.truncate(20);
    let cases: [(&[u8], &str); 6] = [
        (&whole[..11], "packet 1: datagram is shorter than a packet header"),
        (&whole[..40], "packet 1: message is longer than its datagram"),
        (&[&whole[..12], &[3, 0, 0]].concat(), "packet 1: message size 3"),
        (
            &[&whole[..12], &[10, 0, 11, 0, 46, 0, 1, 0, 13, 0]].concat(),
            "template 46: root block is truncated",
        ),
        (&long, "packet 1: template 46: 8 surplus bytes"),
        (&[&whole[..], &[9]].concat(), "packet 1: message is longer than its datagram"),
    ];
    for (payload, what) in cases {
        let mut capture = Capture::new();
        capture.datagram(payload);
        let (out, err, counts) = capture.decode(None, Format::Text);
        assert!(err.contains(what) && err.lines().count() == 1, "{what}: {err}");
        assert_eq!(counts.errors, 1, "{what}");
        assert!(out.ends_with("0 unknown, 1 error\n"), "{out}");
    }
    let mut capture = Capture::new();
    capture.segment(1, &gap);
    capture.segment(99, &order(2));
    capture.segment(500, b"GET / HTTP/1.1");
    let (_, err, counts) = capture.decode(None, Format::Text);
    assert_eq!(
        err,
        "hairpin: packet 2: 78 bytes of a stream missing, and 20 bytes of incomplete frames \
         skipped (2 of this kind, the last in packet 3)\n"
    );
    assert_eq!((counts.messages, counts.errors), (1, 2));
}

#[test]
fn notes_capture_that_ends_within_frame() {
    let mut capture = Capture::new();
    capture.segment(1, &[sequence(1), sequence(2)[..9].to_vec()].concat());
    let (out, err, _) = capture.decode(None, Format::Text);
    assert!(out.ends_with("1 packet, 1 message, 0 unknown, 0 errors\n"), "{out}");
    assert_eq!(err, "hairpin: note: the capture ends 9 bytes into a frame\n");
}

#[test]
fn other_templates_are_unknown_and_no_error() {
    let mut payload = datagram();
    payload[16] = 32;
    let mut capture = Capture::new();
    capture.datagram(&payload);
    let (out, _, counts) = capture.decode(None, Format::Text);
    assert!(out.starts_with("7 9 32 - schema=1 version=13 bytes="), "{out}");
    assert_eq!((counts.unknown, counts.errors), (1, 0));
}

#[test]
fn pcapng_is_read_too() {
    use pcap_file::pcapng::PcapNgWriter;
    use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
    use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionBlock;
    let mut packet = Vec::new();
    let builder = PacketBuilder::ethernet2([0; 6], [1; 6])
        .single_vlan(etherparse::VlanId::ZERO)
        .ipv4([10, 0, 0, 1], [224, 0, 28, 5], 1);
    builder.udp(14_310, 14_310).write(&mut packet, &datagram()).unwrap();
    let mut writer = PcapNgWriter::new(Vec::new()).unwrap();
    let interface = InterfaceDescriptionBlock::new(pcap_file::DataLink::ETHERNET, 0xffff);
    writer.write_pcapng_block(interface).unwrap();
    let block = EnhancedPacketBlock {
        interface_id: 0,
        timestamp: std::time::Duration::ZERO,
        original_len: packet.len() as u32,
        data: packet.into(),
        options: Vec::new(),
    };
    writer.write_pcapng_block(block).unwrap();
    let (_, err, counts) = decode_bytes(&writer.into_inner(), None, Format::Text).unwrap();
    assert_eq!((err.as_str(), counts.packets, counts.messages), ("", 1, 1));
}

#[test]
fn rejects_file_that_is_not_a_capture() {
    for bytes in [&b""[..], b"abc", b"not a capture at all, but long enough to have a header"] {
        let error = decode_bytes(bytes, None, Format::Text).unwrap_err();
        assert_eq!(error.to_string(), "not a pcap or pcapng file");
    }
}

#[test]
fn reports_every_truncation_of_capture() {
    let mut capture = Capture::new();
    capture.datagram(&datagram());
    capture.segment(1, &order(1));
    let bytes = capture.0.into_writer();
    let second = 24 + 16 + 42 + datagram().len();
    for length in 24..bytes.len() {
        let (_, err, counts) = decode_bytes(&bytes[..length], None, Format::Text).unwrap();
        let is_whole = length == 24 || length == second;
        assert_eq!(counts.errors, u64::from(!is_whole), "{length}: {err}");
    }
}

/// Returns a packet as the replay frames it.
fn replayed(packet: &[u8]) -> Vec<u8> {
    [&(packet.len() as u16).to_le_bytes()[..], packet].concat()
}

#[test]
fn detects_and_reassembles_replay() {
    let two = [&datagram()[..], &datagram()[12..]].concat();
    let stream = [replayed(&two), replayed(&datagram())].concat();
    for framing in [None, Some(Framing::Replay)] {
        for cut in 1..stream.len() {
            let mut capture = Capture::new();
            capture.segment(7, &stream[..cut]);
            capture.segment(7 + cut as u32, &stream[cut..]);
            let (out, err, counts) = capture.decode(framing, Format::Text);
            assert_eq!((err.as_str(), counts.messages), ("", 3), "cut at {cut}");
            assert!(out.lines().take(3).all(|line| line.starts_with("7 9 46 ")), "{out}");
        }
    }
}

#[test]
fn limits_error_to_packet_of_replay() {
    let mut wrong = datagram();
    wrong[12] = 200;
    let mut capture = Capture::new();
    capture.segment(0, &[replayed(&datagram()), replayed(&wrong), replayed(&datagram())].concat());
    let (_, err, counts) = capture.decode(None, Format::Text);
    assert_eq!(err, "hairpin: packet 1: message is longer than its packet\n");
    assert_eq!((counts.messages, counts.errors), (2, 1));
    let mut capture = Capture::new();
    capture.segment(0, &[replayed(&datagram()), vec![11, 0, 0]].concat());
    let (_, err, _) = capture.decode(None, Format::Text);
    assert_eq!(err, "hairpin: packet 1: packet length 11: 3 bytes skipped\n");
}

#[test]
fn text_and_other_streams_are_counted_as_other_traffic() {
    let mut capture = Capture::new();
    capture.segment(0, b"9=20\x0135=A\x01553=CME\x01");
    capture.segment(18, b"9=30\x0135=V\x01");
    assert_eq!(capture.decode(None, Format::Text).2.errors, 0);
    let mut capture = Capture::new();
    capture.segment(0, &[0xaa; 50]);
    capture.segment(50, &[0xbb; 50]);
    let (_, err, counts) = capture.decode(None, Format::Text);
    let what = "hairpin: note: 2 packets of other traffic ignored: 2 of TCP port 9000\n\
                hairpin: nothing of CME's protocols in 2 packets\n";
    assert_eq!((err.as_str(), counts.errors), (what, 0));
}

#[test]
fn segments_in_any_order_and_repeated_are_read() {
    let stream = [order(1), sequence(2), order(3)].concat();
    let mut capture = Capture::new();
    for (from, to) in [(0, 50), (100, stream.len()), (30, 70), (40, 120)] {
        capture.segment(900 + from as u32, &stream[from..to]);
    }
    let (out, err, counts) = capture.decode(None, Format::Text);
    assert_eq!((err.as_str(), counts.messages, counts.errors), ("", 3, 0));
    let numbers: Vec<_> = out.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(numbers[..3], ["1", "2", "3"]);
}

/// Returns an Ethernet frame with a datagram in it, and the options of its headers.
fn ethernet(tags: usize, options: &[u8], fragment: bool, payload: &[u8]) -> Vec<u8> {
    use etherparse::{IpNumber, Ipv4Header, Ipv4Options, UdpHeader};
    let mut frame = [[0; 6], [1; 6]].concat();
    for tag in 0..tags {
        frame.extend_from_slice(if tag + 1 < tags { &[0x88, 0xa8] } else { &[0x81, 0x00] });
        frame.extend_from_slice(&[0, 9]);
    }
    frame.extend_from_slice(&[0x08, 0x00]);
    let addresses = ([10, 0, 0, 1], [224, 0, 28, 5]);
    let mut ip =
        Ipv4Header::new(8 + payload.len() as u16, 1, IpNumber::UDP, addresses.0, addresses.1)
            .unwrap();
    ip.options = Ipv4Options::try_from(options).unwrap();
    ip.set_payload_len(8 + payload.len()).unwrap();
    ip.more_fragments = fragment;
    ip.header_checksum = ip.calc_header_checksum();
    ip.write(&mut frame).unwrap();
    UdpHeader::without_ipv4_checksum(1, 2, payload.len()).unwrap().write(&mut frame).unwrap();
    frame.extend_from_slice(payload);
    // Frames shorter than Ethernet allows are padded.
    frame.resize(frame.len().max(60) + 3, 0xee);
    frame
}

#[test]
fn skips_tags_options_and_padding_and_counts_fragments() {
    for (tags, options) in [(0, &[][..]), (1, &[]), (2, &[]), (0, &[1; 8]), (2, &[1; 40])] {
        let mut capture = Capture::new();
        capture.packet(&ethernet(tags, options, false, &datagram()));
        let (_, err, counts) = capture.decode(None, Format::Text);
        assert_eq!((err.as_str(), counts.messages), ("", 1), "{tags} tags");
    }
    let mut capture = Capture::new();
    capture.packet(&ethernet(0, &[], true, &datagram()));
    capture.packet(&ethernet(1, &[], true, &datagram()));
    let (_, err, counts) = capture.decode(None, Format::Text);
    assert_eq!((counts.messages, counts.errors), (0, 2));
    let what = "hairpin: packet 1: IP fragment: fragments are not reassembled \
                (2 of this kind, the last in packet 2)\n";
    assert_eq!(err, what);
}

#[test]
fn reports_truncated_packet() {
    let frame = ethernet(0, &[], false, &datagram());
    let mut writer = PcapWriter::new(Vec::new()).unwrap();
    let length = frame.len() as u32;
    let packet = PcapPacket::new(std::time::Duration::ZERO, length, &frame[..60]);
    writer.write_packet(&packet).unwrap();
    let (_, err, counts) = decode_bytes(&writer.into_writer(), None, Format::Text).unwrap();
    let what = format!("hairpin: packet 1: truncated packet: 60 of {length} bytes were captured\n");
    assert_eq!((err, counts.errors), (what, 1));
}

/// Returns a capture of link type `link`.
fn linked(link: pcap_file::DataLink, packets: &[Vec<u8>]) -> Vec<u8> {
    let header = pcap_file::pcap::PcapHeader { datalink: link, ..Default::default() };
    let mut capture = Capture(PcapWriter::with_header(Vec::new(), header).unwrap());
    packets.iter().for_each(|packet| capture.packet(packet));
    capture.0.into_writer()
}

#[test]
fn reads_supported_link_types_and_reports_others_once() {
    use pcap_file::DataLink;
    let ip = ethernet(0, &[], false, &datagram())[14..].to_vec();
    let behind = |head: &[u8]| [head, &ip].concat();
    let cooked = [&[0, 0, 0, 1, 0, 6][..], &[0; 8], &[0x08, 0x00]].concat();
    let cooked2 = [&[0x08, 0x00][..], &[0; 6], &[0, 1, 0, 6], &[0; 8]].concat();
    for (link, packet) in [
        (DataLink::RAW, ip.clone()),
        (DataLink::IPV4, ip.clone()),
        (DataLink::NULL, behind(&[2, 0, 0, 0])),
        (DataLink::LOOP, behind(&[0, 0, 0, 2])),
        (DataLink::LINUX_SLL, behind(&cooked)),
        (DataLink::LINUX_SLL2, behind(&cooked2)),
    ] {
        let (_, err, counts) = decode_bytes(&linked(link, &[packet]), None, Format::Text).unwrap();
        assert_eq!((err.as_str(), counts.messages), ("", 1), "{link:?}");
    }
    let packets = [vec![1; 60], vec![2; 60]];
    let bytes = linked(DataLink::IEEE802_11, &packets);
    let (_, err, counts) = decode_bytes(&bytes, None, Format::Text).unwrap();
    assert!(err.starts_with("hairpin: packet 1: link type 105 is not supported"), "{err}");
    assert_eq!((err.lines().count(), counts.packets, counts.errors), (1, 2, 1));
}

/// A writer that is closed after so many lines.
struct Closing(usize);

impl Write for Closing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.0 -= usize::from(bytes.ends_with(b"\n"));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn errors_that_were_counted_outlive_a_reader_that_is_gone() {
    for (first, failed) in [(&datagram()[..11], true), (&datagram(), false)] {
        let mut capture = Capture::new();
        capture.datagram(first);
        (0..5).for_each(|_| capture.datagram(&datagram()));
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&capture.0.into_writer()).unwrap();
        let settings = Settings { codecs: Codecs::default(), framing: None, format: Format::Text };
        let mut counts = DecodeCounts::default();
        let outcome =
            decode(&[file.path().to_owned()], &settings, &mut counts, Closing(2), Vec::new());
        assert_eq!(outcome.as_ref().unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        let status = counts.status(outcome, "capture");
        let expected = if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        assert_eq!(format!("{status:?}"), format!("{expected:?}"));
    }
}

/// Returns the times of the packets of a capture.
fn times(bytes: &[u8]) -> Vec<Option<u64>> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    io::Seek::rewind(&mut file).unwrap();
    let mut times = Vec::new();
    let ending = capture::read(file, |packet| {
        times.push(packet.time.map(hairpin_time::Utc::as_nanos));
        Ok(())
    });
    assert_eq!(ending.unwrap(), None);
    times
}

#[test]
fn times_are_in_the_units_that_the_file_says() {
    use pcap_file::TsResolution;
    use pcap_file::pcapng::PcapNgWriter;
    use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
    use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionBlock;
    use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption::{
        IfTsOffset, IfTsResol,
    };
    let at = std::time::Duration::from_nanos(3_000_001_999);
    for (ts_resolution, nanos) in
        [(TsResolution::NanoSecond, 3_000_001_999), (TsResolution::MicroSecond, 3_000_001_000)]
    {
        let header = pcap_file::pcap::PcapHeader { ts_resolution, ..Default::default() };
        let mut writer = PcapWriter::with_header(Vec::new(), header).unwrap();
        writer.write_packet(&PcapPacket::new(at, 1, &[0])).unwrap();
        assert_eq!(times(&writer.into_writer()), [Some(nanos)]);
    }
    for (options, nanos) in [
        (vec![], 5_000_000),
        (vec![IfTsResol(9)], 5_000),
        (vec![IfTsResol(9), IfTsOffset(2)], 2_000_005_000),
        (vec![IfTsResol(0x80 | 10)], 4_882_812_500),
    ] {
        let mut writer = PcapNgWriter::new(Vec::new()).unwrap();
        let link = pcap_file::DataLink::ETHERNET;
        let mut interface = InterfaceDescriptionBlock::new(link, 0xffff);
        interface.options = options;
        writer.write_pcapng_block(interface).unwrap();
        let block = EnhancedPacketBlock {
            interface_id: 0,
            // Written in so many units.
            timestamp: std::time::Duration::from_nanos(5_000),
            original_len: 1,
            data: vec![0].into(),
            options: Vec::new(),
        };
        writer.write_pcapng_block(block).unwrap();
        assert_eq!(times(&writer.into_inner()), [Some(nanos)]);
    }
}

proptest! {
    #[test]
    fn changed_bytes_never_panic(at in 0_usize..400, value: u8, more: u8) {
        let mut capture = Capture::new();
        capture.datagram(&datagram());
        capture.segment(1, &[order(1), sequence(2)].concat());
        let mut bytes = capture.0.into_writer();
        let at = at % bytes.len();
        bytes[at] = value;
        let other = (at + usize::from(more)) % bytes.len();
        bytes[other] = more;
        let _ = decode_bytes(&bytes, None, Format::Text);
        let _ = decode_bytes(&bytes, Some(Framing::Ilink3), Format::Json);
    }
}
