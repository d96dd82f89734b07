//! The packets of a capture file and what they carry.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::net::{IpAddr, SocketAddr};

use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use hairpin_time::Utc;
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::{DataLink, TsResolution};

/// One direction of a TCP connection, or of datagrams: from, to.
pub(crate) type Flow = (SocketAddr, SocketAddr);

/// Nanoseconds in a second.
const SECOND: u128 = 1_000_000_000;

/// A packet of the file.
#[derive(Debug)]
pub(crate) struct Captured<'a> {
    /// When it was captured; nothing if the file does not say.
    pub(crate) time: Option<Utc>,
    /// What it carries, or what is wrong with it.
    pub(crate) payload: Result<Payload<'a>, String>,
}

/// What a packet carries.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Payload<'a> {
    /// A UDP datagram.
    Datagram { flow: Flow, bytes: &'a [u8] },
    /// A TCP segment, perhaps without payload.
    Segment { flow: Flow, sequence: u32, is_syn: bool, bytes: &'a [u8] },
    /// Neither.
    Other,
}

/// Calls `on_packet` with each packet of the file; gives what is wrong with the file's end, if
/// anything.
///
/// # Errors
/// If the file is no capture, or whatever `on_packet` gives.
pub(crate) fn read(
    mut file: File,
    on_packet: impl FnMut(Captured<'_>) -> io::Result<()>,
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
    mut on_packet: impl FnMut(Captured<'_>) -> io::Result<()>,
) -> io::Result<Option<String>> {
    let mut reader = PcapReader::new(BufReader::new(file)).map_err(|_| no_capture())?;
    let header = reader.header();
    let mut links = Links::default();
    while let Some(packet) = reader.next_raw_packet() {
        let packet = match packet {
            Ok(packet) => packet,
            Err(error) => return Ok(Some(format!("the file ends in a packet: {error}"))),
        };
        let unit = if header.ts_resolution == TsResolution::MicroSecond { 1_000 } else { 1 };
        let time = u64::from(packet.ts_sec) * SECOND as u64 + u64::from(packet.ts_frac) * unit;
        on_packet(Captured {
            time: Some(Utc::from_nanos(time)),
            payload: links.payload(header.datalink, &packet.data, packet.orig_len),
        })?;
    }
    Ok(None)
}

/// What is known of an interface of a pcapng file.
#[derive(Clone, Copy)]
struct Interface {
    link: DataLink,
    /// How many units of its clock a second has.
    resolution: u128,
    /// Seconds to be added.
    offset: u64,
}

impl Interface {
    /// The time of so many units; nothing if it is beyond all reason.
    fn time(self, units: u128) -> Option<Utc> {
        let nanos = units.checked_mul(SECOND)? / self.resolution;
        let nanos = nanos + u128::from(self.offset) * SECOND;
        nanos.try_into().ok().map(Utc::from_nanos)
    }
}

fn read_pcapng(
    file: File,
    mut on_packet: impl FnMut(Captured<'_>) -> io::Result<()>,
) -> io::Result<Option<String>> {
    let mut reader = PcapNgReader::new(BufReader::new(file)).map_err(|_| no_capture())?;
    let (mut interfaces, mut links) = (Vec::<Interface>::new(), Links::default());
    while let Some(block) = reader.next_block() {
        // The reader takes units of any length for nanoseconds.
        let (interface, units, data, length) = match block {
            Ok(Block::SectionHeader(_)) => {
                interfaces.clear();
                continue;
            }
            Ok(Block::InterfaceDescription(description)) => {
                interfaces.push(interface(description.linktype, &description.options));
                continue;
            }
            Ok(Block::EnhancedPacket(packet)) => {
                let units = Some(packet.timestamp.as_nanos());
                (packet.interface_id as usize, units, packet.data, packet.original_len)
            }
            Ok(Block::SimplePacket(packet)) => (0, None, packet.data, packet.original_len),
            Ok(Block::Packet(packet)) => {
                let units = Some(packet.timestamp.into());
                (usize::from(packet.interface_id), units, packet.data, packet.original_len)
            }
            Ok(_) => continue,
            Err(error) => return Ok(Some(format!("the file ends in a block: {error}"))),
        };
        on_packet(match interfaces.get(interface) {
            Some(known) => Captured {
                time: units.and_then(|units| known.time(units)),
                payload: links.payload(known.link, &data, length),
            },
            None => Captured {
                time: None,
                payload: Err(format!("interface {interface} is not described")),
            },
        })?;
    }
    Ok(None)
}

/// Units are microseconds unless the file says otherwise: a power of ten, or of two.
fn interface(link: DataLink, options: &[InterfaceDescriptionOption<'_>]) -> Interface {
    let mut interface = Interface { link, resolution: 1_000_000, offset: 0 };
    for option in options {
        match option {
            InterfaceDescriptionOption::IfTsResol(power @ 0..=27) => {
                interface.resolution = 10_u128.pow(u32::from(*power));
            }
            InterfaceDescriptionOption::IfTsResol(power @ 0x80..) => {
                interface.resolution = 1 << (power & 0x3f);
            }
            InterfaceDescriptionOption::IfTsOffset(seconds) => interface.offset = *seconds,
            _ => {}
        }
    }
    interface
}

/// The link types of a file.
#[derive(Default)]
struct Links {
    /// Those that it was said of that they are not supported.
    refused: Vec<u32>,
}

impl Links {
    /// What the packet carries behind its link, network and transport headers.
    fn payload<'a>(
        &mut self,
        link: DataLink,
        data: &'a [u8],
        length: u32,
    ) -> Result<Payload<'a>, String> {
        let sliced = match (link, data) {
            (DataLink::ETHERNET, _) => SlicedPacket::from_ethernet(data),
            (DataLink::RAW | DataLink::IPV4 | DataLink::IPV6, _) => SlicedPacket::from_ip(data),
            (DataLink::LINUX_SLL, _) => SlicedPacket::from_linux_sll(data),
            // A protocol family, whose numbers differ between systems; the packet says it too.
            (DataLink::NULL | DataLink::LOOP, [_, _, _, _, packet @ ..]) => {
                SlicedPacket::from_ip(packet)
            }
            (DataLink::LINUX_SLL2, [0x08, 0x00, ..] | [0x86, 0xdd, ..]) => {
                SlicedPacket::from_ip(data.get(20..).unwrap_or_default())
            }
            (DataLink::LINUX_SLL2, _) => return Ok(Payload::Other),
            (other, _) => return self.refuse(other),
        };
        let cut = data.len() < length as usize;
        let packet = sliced.map_err(|error| match cut {
            true => format!("only {} of its {length} bytes were captured", data.len()),
            false => error.to_string(),
        })?;
        carried(&packet)
    }

    /// Says that packets behind such links are left out, once.
    fn refuse(&mut self, link: DataLink) -> Result<Payload<'static>, String> {
        let link = u32::from(link);
        if self.refused.contains(&link) {
            return Ok(Payload::Other);
        }
        self.refused.push(link);
        Err(format!(
            "link type {link} is not supported, all such packets are left out; \
             Ethernet, raw IP, loopback and Linux cooked captures are"
        ))
    }
}

fn carried<'a>(packet: &SlicedPacket<'a>) -> Result<Payload<'a>, String> {
    if packet.is_ip_payload_fragmented() {
        return Err("fragment of an IP packet; fragments are not put together".into());
    }
    let Some((from, to)) = packet.net.as_ref().and_then(addresses) else {
        return Ok(Payload::Other);
    };
    let flow =
        |source, destination| (SocketAddr::new(from, source), SocketAddr::new(to, destination));
    match &packet.transport {
        Some(TransportSlice::Udp(udp)) => Ok(Payload::Datagram {
            flow: flow(udp.source_port(), udp.destination_port()),
            bytes: udp.payload(),
        }),
        Some(TransportSlice::Tcp(tcp)) => Ok(Payload::Segment {
            flow: flow(tcp.source_port(), tcp.destination_port()),
            sequence: tcp.sequence_number(),
            is_syn: tcp.syn(),
            bytes: tcp.payload(),
        }),
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
