//! Real frames captured in 2020, through the reassembly and the session.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::PathBuf;

use hairpin_cme_codecs::ilink3::{ExecutionReportStatus532, KeepAliveLapsed, Sequence506};
use hairpin_ilink3::Reassembly;
use hairpin_sbe::MessageHeader;
use pcap_file::pcap::PcapReader;

/// The UUID of the captured session.
const UUID: u64 = 1_585_839_227_794_207;

/// Returns the TCP payload of each packet of a capture, or `None` if the captures are not
/// available.
fn payloads(name: &str) -> Option<Vec<Vec<u8>>> {
    let data = std::env::var_os("HAIRPIN_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        PathBuf::from,
    );
    let path = data.join("captures/ilink3").join(name);
    if !data.exists() {
        assert!(std::env::var_os("HAIRPIN_DATA_REQUIRED").is_none(), "{data:?} is missing");
        println!("skipped: {} is not available", path.display());
        return None;
    }
    let mut reader = PcapReader::new(File::open(path).unwrap()).unwrap();
    let mut payloads = Vec::new();
    while let Some(packet) = reader.next_packet() {
        payloads.push(tcp_payload(&packet.unwrap().data).to_vec());
    }
    Some(payloads)
}

/// Returns the payload of an Ethernet, IPv4 and TCP packet without VLAN, as in all captures.
fn tcp_payload(packet: &[u8]) -> &[u8] {
    assert_eq!(packet[12..14], [0x08, 0x00], "IPv4");
    let ip = &packet[14..];
    let (ip_header, total) = (usize::from(ip[0] & 15) * 4, u16::from_be_bytes([ip[2], ip[3]]));
    let tcp = &ip[ip_header..usize::from(total)];
    &tcp[usize::from(tcp[12] >> 4) * 4..]
}

/// Reassembles the one frame of a capture, split at every pair of offsets.
fn frame(name: &str) -> Option<Vec<u8>> {
    let payloads = payloads(name)?;
    let [payload] = &payloads[..] else { panic!("one packet") };
    for cut in 0..=payload.len() {
        let mut reassembly = Reassembly::new();
        let mut frames = Vec::new();
        for part in [&payload[..cut], &payload[cut..]] {
            let on = |frame: &[u8]| {
                frames.push(frame.to_vec());
                ControlFlow::Continue(())
            };
            reassembly.feed(part, on).unwrap();
        }
        assert_eq!(frames, [&payload[..]], "cut at {cut}");
        assert_eq!(reassembly.buffered(), 0);
    }
    Some(payload.clone())
}

#[test]
fn client_sequence_is_one_frame() {
    let Some(frame) = frame("Sequence.pcap") else { return };
    assert_eq!(frame.len(), 26);
    let (header, body) = MessageHeader::decode(&frame[4..]).unwrap();
    assert_eq!((header.schema_id, header.version), (8, 5));
    let mut scratch = Sequence506::SCRATCH;
    let sequence = Sequence506::decode(&header, body, &mut scratch).unwrap();
    assert_eq!((sequence.uuid(), sequence.next_seq_no()), (UUID, 3));
    assert_eq!(sequence.keep_alive_interval_lapsed(), KeepAliveLapsed::NOT_LAPSED);
    assert_eq!(sequence.encoded_length() + 4, frame.len());
}

#[test]
fn status_report_of_version_5_is_one_frame() {
    let Some(frame) = frame("ExecutionReportStatus.pcap") else { return };
    let (header, body) = MessageHeader::decode(&frame[4..]).unwrap();
    let mut scratch = ExecutionReportStatus532::SCRATCH;
    let report = ExecutionReportStatus532::decode(&header, body, &mut scratch).unwrap();
    assert_eq!((report.uuid(), report.seq_num()), (UUID, 1));
    assert_eq!(report.text(), "Order Status Not Found");
    assert_eq!(report.encoded_length() + 4, frame.len());
}
