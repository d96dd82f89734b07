//! Frames sent by CME and its clients.

use std::fs::File;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use hairpin_wire::{
    EtherType, EthernetHeader, Ipv4Header, Protocol, Sum, TcpHeader, TcpOption, UdpHeader,
};
use pcap_file::pcap::PcapReader;

/// Returns the path of a capture file, or `None` and a message if it is missing.
fn data(path: &str) -> Option<PathBuf> {
    let sibling = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    let folder = std::env::var_os("HAIRPIN_DATA").unwrap_or(sibling.into());
    let file = PathBuf::from(folder).join(path);
    if file.exists() {
        return Some(file);
    }
    let required = std::env::var_os("HAIRPIN_DATA_REQUIRED").is_some();
    assert!(!required, "missing file {}", file.display());
    println!("skipped: missing file {}", file.display());
    None
}

fn first_frame(path: &str) -> Option<Vec<u8>> {
    let mut reader = PcapReader::new(File::open(data(path)?).unwrap()).unwrap();
    Some(reader.next_packet().unwrap().unwrap().data.into_owned())
}

/// The expected fields of a captured datagram.
struct Datagram {
    path: &'static str,
    source: [u8; 4],
    group: [u8; 4],
    port: u16,
    ttl: u8,
    identification: u16,
    ip_checksum: u16,
    checksum: u16,
    payload: usize,
}

const DATAGRAMS: [Datagram; 3] = [
    Datagram {
        path: "captures/mdp3/v1.5/MdIncrementalRefreshBook.pcap",
        source: [205, 209, 223, 70],
        group: [224, 0, 31, 1],
        port: 14_310,
        ttl: 58,
        identification: 0x5B39,
        ip_checksum: 0x391A,
        checksum: 0x8831,
        payload: 100,
    },
    Datagram {
        path: "captures/mdp3/v1.9/MdIncrementalRefreshBook.pcap",
        source: [69, 50, 112, 95],
        group: [224, 0, 28, 20],
        port: 14_361,
        ttl: 17,
        identification: 0,
        ip_checksum: 0xB37F,
        checksum: 0x08B2,
        payload: 1_196,
    },
    Datagram {
        path: "captures/mdp3/v1.9/MdIncrementalRefreshTradeSummary.pcap",
        source: [69, 50, 112, 91],
        group: [224, 0, 28, 5],
        port: 14_314,
        ttl: 17,
        identification: 0,
        ip_checksum: 0xB6B2,
        checksum: 0xD3AA,
        payload: 396,
    },
];

/// Checks every field and both checksums, and that encoding the same fields gives the same bytes.
#[test]
fn reads_and_writes_market_data_datagrams() {
    for expected in &DATAGRAMS {
        let Some(frame) = first_frame(expected.path) else { return };
        let (ethernet, packet) = EthernetHeader::split(&frame).unwrap();
        let (ip, options, datagram) = Ipv4Header::parse(packet).unwrap();
        let (udp, payload) = UdpHeader::parse(datagram).unwrap();
        let group = Ipv4Addr::from(expected.group);
        let destination = hairpin_wire::MacAddress::from_ipv4_group(group);
        let ours = EthernetHeader::new(destination, ethernet.source(), EtherType::IPV4);
        assert_eq!(ours.as_bytes(), &frame[..14], "{}", expected.path);

        assert!(ip.is_checksum_valid(packet) && options.is_empty());
        let mut ours = Ipv4Header::new(Protocol::UDP, expected.source.into(), group);
        ours.set_total_length(expected.payload as u16 + 28);
        ours.set_identification(expected.identification);
        ours.set_ttl(expected.ttl);
        ours.fill_checksum();
        assert_eq!((ours.as_bytes(), ours.checksum()), (&packet[..20], expected.ip_checksum));

        let length = udp.length();
        let pseudo = Sum::pseudo_ipv4(ip.source(), ip.destination(), Protocol::UDP, length);
        assert!(udp.is_checksum_valid(pseudo, payload), "{}", expected.path);
        let mut ours = UdpHeader::new(expected.port, expected.port);
        ours.set_length(expected.payload as u16 + 8);
        ours.fill_checksum(pseudo, payload);
        assert_eq!((ours.as_bytes(), ours.checksum()), (&datagram[..8], expected.checksum));
        assert_eq!((payload.len(), frame.len()), (expected.payload, expected.payload + 42));
    }
}

/// Captured from a server that completes its checksums: both are correct, and there are no options.
#[test]
fn reads_order_entry_segment() {
    let Some(frame) = first_frame("captures/ilink3/ExecutionReportStatus.pcap") else { return };
    let (_, packet) = EthernetHeader::split(&frame).unwrap();
    let (ip, _, segment) = Ipv4Header::parse(packet).unwrap();
    assert_eq!((ip.source(), ip.destination()), ([10, 2, 227, 3].into(), [10, 2, 227, 54].into()));
    assert_eq!((ip.ttl(), ip.identification(), ip.total_length()), (57, 0xB00D, 532));
    assert!(ip.is_checksum_valid(packet) && ip.protocol() == Protocol::TCP);
    let (tcp, mut options, payload) = TcpHeader::parse(segment).unwrap();
    assert_eq!((tcp.source_port(), tcp.destination_port()), (0x7E74, 0xD0A0));
    assert_eq!((tcp.sequence_number(), tcp.acknowledgement_number()), (0xC7D3_6007, 0x8DFD_77B2));
    assert_eq!((tcp.flags().0, tcp.window(), tcp.checksum()), (0x18, 0x0077, 0x94A5));
    assert_eq!((payload.len(), options.next()), (492, None::<Result<TcpOption<'_>, _>>));
    let length = segment.len() as u16;
    let pseudo = Sum::pseudo_ipv4(ip.source(), ip.destination(), Protocol::TCP, length);
    assert!(TcpHeader::is_checksum_valid(pseudo, segment));
}

/// Captured on the sending host, whose NIC completes the checksums: neither is correct.
#[test]
fn offloaded_checksums_are_invalid() {
    let Some(frame) = first_frame("captures/ilink3/Sequence.pcap") else { return };
    let (_, packet) = EthernetHeader::split(&frame).unwrap();
    let (ip, _, segment) = Ipv4Header::parse(packet).unwrap();
    assert_eq!((ip.checksum(), ip.is_checksum_valid(packet)), (0, false));
    let length = segment.len() as u16;
    let pseudo = Sum::pseudo_ipv4(ip.source(), ip.destination(), Protocol::TCP, length);
    assert!(!TcpHeader::is_checksum_valid(pseudo, segment));
    // The kernel leaves the sum of the pseudo header there, which the NIC completes.
    let (tcp, ..) = TcpHeader::parse(segment).unwrap();
    assert_eq!(tcp.checksum(), !pseudo.checksum());
}
