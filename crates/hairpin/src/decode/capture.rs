//! The packets of a capture file and what they carry.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::net::{IpAddr, SocketAddr};

use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use pcap_file::DataLink;
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::{Block, PcapNgReader};

/// One direction of a TCP connection: from, to.
pub(super) type Flow = (SocketAddr, SocketAddr);

/// What a packet carries.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Payload<'a> {
    /// A UDP datagram.
    Datagram(&'a [u8]),
    /// A TCP segment, perhaps without payload.
    Segment { flow: Flow, sequence: u32, is_syn: bool, bytes: &'a [u8] },
    /// Neither.
    Other,
}

/// Calls `on_packet` with each packet of the file, or with what is wrong with it; gives what is
/// wrong with the file's end, if anything.
///
/// # Errors
/// If the file is no capture, or whatever `on_packet` gives.
pub(super) fn read(
    mut file: File,
    on_packet: impl FnMut(Result<Payload<'_>, String>) -> io::Result<()>,
) -> io::Result<Option<String>> {
    let mut magic = [0; 4];
    file.read_exact(&mut magic).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => no_capture(),
        _ => error,
    })?;
    file.rewind()?;
    match magic {
        [0x0a, 0x0d, 0x0d, 0x0a] => read_pcapng(file, on_packet),
        _ => read_pcap(file, on_packet),
    }
}

fn no_capture() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not a pcap or pcapng file")
}

fn read_pcap(
    file: File,
    mut on_packet: impl FnMut(Result<Payload<'_>, String>) -> io::Result<()>,
) -> io::Result<Option<String>> {
    let mut reader = PcapReader::new(BufReader::new(file)).map_err(|_| no_capture())?;
    let link = reader.header().datalink;
    while let Some(packet) = reader.next_packet() {
        match packet {
            Ok(packet) => on_packet(payload(link, &packet.data))?,
            Err(error) => return Ok(Some(format!("the file ends in a packet: {error}"))),
        }
    }
    Ok(None)
}

fn read_pcapng(
    file: File,
    mut on_packet: impl FnMut(Result<Payload<'_>, String>) -> io::Result<()>,
) -> io::Result<Option<String>> {
    let mut reader = PcapNgReader::new(BufReader::new(file)).map_err(|_| no_capture())?;
    let mut links = Vec::new();
    while let Some(block) = reader.next_block() {
        let (interface, data) = match block {
            Ok(Block::SectionHeader(_)) => {
                links.clear();
                continue;
            }
            Ok(Block::InterfaceDescription(interface)) => {
                links.push(interface.linktype);
                continue;
            }
            Ok(Block::EnhancedPacket(packet)) => (packet.interface_id as usize, packet.data),
            Ok(Block::SimplePacket(packet)) => (0, packet.data),
            Ok(Block::Packet(packet)) => (usize::from(packet.interface_id), packet.data),
            Ok(_) => continue,
            Err(error) => return Ok(Some(format!("the file ends in a block: {error}"))),
        };
        let packet = match links.get(interface) {
            Some(link) => payload(*link, &data),
            None => Err(format!("interface {interface} is not described")),
        };
        on_packet(packet)?;
    }
    Ok(None)
}

/// What the packet carries behind its link, network and transport headers.
fn payload(link: DataLink, data: &[u8]) -> Result<Payload<'_>, String> {
    let sliced = match link {
        DataLink::ETHERNET => SlicedPacket::from_ethernet(data),
        DataLink::RAW | DataLink::IPV4 | DataLink::IPV6 => SlicedPacket::from_ip(data),
        DataLink::LINUX_SLL => SlicedPacket::from_linux_sll(data),
        other => return Err(format!("link type {} is not supported", u32::from(other))),
    };
    let packet = sliced.map_err(|error| error.to_string())?;
    if packet.is_ip_payload_fragmented() {
        return Err("fragment of an IP packet; fragments are not put together".into());
    }
    match (&packet.transport, &packet.net) {
        (Some(TransportSlice::Udp(udp)), _) => Ok(Payload::Datagram(udp.payload())),
        (Some(TransportSlice::Tcp(tcp)), Some(net)) => {
            let Some((from, to)) = addresses(net) else { return Ok(Payload::Other) };
            let from = SocketAddr::new(from, tcp.source_port());
            let to = SocketAddr::new(to, tcp.destination_port());
            Ok(Payload::Segment {
                flow: (from, to),
                sequence: tcp.sequence_number(),
                is_syn: tcp.syn(),
                bytes: tcp.payload(),
            })
        }
        _ => Ok(Payload::Other),
    }
}

fn addresses(net: &NetSlice<'_>) -> Option<(IpAddr, IpAddr)> {
    match net {
        NetSlice::Ipv4(ip) => {
            let header = ip.header();
            Some((header.source_addr().into(), header.destination_addr().into()))
        }
        NetSlice::Ipv6(ip) => {
            let header = ip.header();
            Some((header.source_addr().into(), header.destination_addr().into()))
        }
        NetSlice::Arp(_) => None,
    }
}
