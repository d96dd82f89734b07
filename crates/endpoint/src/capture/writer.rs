//! Captures written.

use std::borrow::Cow;
use std::io::{self, Write};
use std::net::SocketAddrV4;
use std::path::Path;
use std::time::Duration;

use byteorder_slice::LittleEndian;
use hairpin_time::Utc;
use pcap_file::pcap::{PcapHeader, RawPcapPacket};
use pcap_file::pcapng::PcapNgBlock;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};

use super::{CaptureClock, pcapng};

/// Not the link type for IP of either version, which has another number on some systems: libpcap
/// 1.10 then takes a second interface of it for one of another type, and gives up.
const LINK: DataLink = DataLink::IPV4;
/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;
/// IPv4 without options, and UDP.
const HEADERS: usize = 28;
/// The longest payload of a datagram by IPv4.
const PAYLOAD_MAX: usize = 65_507;
/// The negative power of ten that a nanosecond is of a second, as `if_tsresol` has it.
const NANOSECONDS: u8 = 9;

/// Which of the two formats a file has.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum CaptureFormat {
    /// The older one: packets alone.
    Pcap,
    /// The newer one: interfaces with their names too.
    #[default]
    Pcapng,
}

impl CaptureFormat {
    /// The format that a file's name asks for: pcap if it ends in `.pcap`, else pcapng.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        match path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pcap")) {
            true => Self::Pcap,
            false => Self::Pcapng,
        }
    }
}

/// Writes UDP datagrams with times in nanoseconds, as packets of IPv4 without a link header.
///
/// What a socket gives has no headers any more. They are made again from the addresses: time to
/// live 1, no checksum of UDP, which IPv4 allows.
#[derive(Debug)]
pub struct CaptureWriter<W> {
    writer: W,
    format: CaptureFormat,
    packet: Vec<u8>,
    interfaces: u32,
    written: u64,
}

impl<W: Write> CaptureWriter<W> {
    /// Begins a file. `W` is best buffered: a packet is several small writes.
    ///
    /// # Errors
    /// Those of `writer`.
    pub fn new(mut writer: W, format: CaptureFormat) -> io::Result<Self> {
        let written = match format {
            CaptureFormat::Pcap => {
                let header = PcapHeader {
                    datalink: LINK,
                    ts_resolution: TsResolution::NanoSecond,
                    endianness: Endianness::Little,
                    ..PcapHeader::default()
                };
                header.write_to(&mut writer).map_err(system)?
            }
            CaptureFormat::Pcapng => {
                let program = concat!("hairpin ", env!("CARGO_PKG_VERSION"));
                let section = SectionHeaderBlock {
                    endianness: Endianness::Little,
                    options: vec![SectionHeaderOption::UserApplication(program.into())],
                    ..SectionHeaderBlock::default()
                };
                section.into_block().write_to::<LittleEndian, _>(&mut writer)?
            }
        };
        let packet = Vec::with_capacity(2_048);
        Ok(Self { writer, format, packet, interfaces: 0, written: written as u64 })
    }

    /// Describes an interface, and gives its number. A pcap file has no place for it.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn interface(
        &mut self,
        name: &str,
        description: &str,
        clock: CaptureClock,
    ) -> io::Result<u32> {
        let number = self.interfaces;
        self.interfaces += 1;
        if self.format == CaptureFormat::Pcap {
            return Ok(number);
        }
        let clock = pcapng::CLOCKS.iter().find(|(known, _)| *known == clock);
        let words = clock.map_or_else(String::new, |(_, words)| format!("; {words}"));
        let options = vec![
            InterfaceDescriptionOption::Comment(description.into()),
            InterfaceDescriptionOption::IfName(name.into()),
            InterfaceDescriptionOption::IfDescription(format!("{description}{words}").into()),
            InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
        ];
        let block = InterfaceDescriptionBlock { linktype: LINK, snaplen: 0, options };
        let block = block.into_block();
        self.written += block.write_to::<LittleEndian, _>(&mut self.writer)? as u64;
        Ok(number)
    }

    /// Writes a datagram that came at `time` to `interface`, from `source` to `destination`.
    ///
    /// # Errors
    /// `InvalidInput` if the payload is longer than a datagram's can be, or if a pcap file cannot
    /// tell the time, beyond 2106; else those of the writer.
    #[inline]
    pub fn datagram(
        &mut self,
        interface: u32,
        time: Utc,
        [source, destination]: [SocketAddrV4; 2],
        payload: &[u8],
    ) -> io::Result<()> {
        if payload.len() > PAYLOAD_MAX {
            return Err(refused("longer than the payload of a datagram"));
        }
        headers(&mut self.packet, source, destination, payload.len() as u16);
        self.packet.extend_from_slice(payload);
        let (length, data) = (self.packet.len() as u32, Cow::Borrowed(&self.packet[..]));
        let written = match self.format {
            CaptureFormat::Pcap => {
                let seconds = u32::try_from(time.as_nanos() / SECOND);
                let packet = RawPcapPacket {
                    ts_sec: seconds.map_err(|_| refused("a time beyond what pcap can tell"))?,
                    ts_frac: (time.as_nanos() % SECOND) as u32,
                    incl_len: length,
                    orig_len: length,
                    data,
                };
                packet.write_to::<_, LittleEndian>(&mut self.writer).map_err(system)?
            }
            CaptureFormat::Pcapng => {
                let packet = EnhancedPacketBlock {
                    interface_id: interface,
                    timestamp: Duration::from_nanos(time.as_nanos()),
                    original_len: length,
                    data,
                    options: Vec::new(),
                };
                packet.into_block().write_to::<LittleEndian, _>(&mut self.writer)?
            }
        };
        self.written += written as u64;
        Ok(())
    }

    /// Bytes written.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Has what was written leave the buffer.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// The headers of IPv4 and UDP before `length` bytes.
#[inline]
fn headers(packet: &mut Vec<u8>, source: SocketAddrV4, destination: SocketAddrV4, length: u16) {
    let total = (HEADERS as u16 + length).to_be_bytes();
    let mut ip = [0; 20];
    // Version 4, five words; not to be fragmented; time to live 1, UDP.
    ip[..12].copy_from_slice(&[0x45, 0, total[0], total[1], 0, 0, 0x40, 0, 1, 17, 0, 0]);
    ip[12..16].copy_from_slice(&source.ip().octets());
    ip[16..].copy_from_slice(&destination.ip().octets());
    let (words, _) = ip.as_chunks::<2>();
    let sum: u32 = words.iter().map(|word| u32::from(u16::from_be_bytes(*word))).sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    ip[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    packet.clear();
    packet.extend_from_slice(&ip);
    packet.extend_from_slice(&source.port().to_be_bytes());
    packet.extend_from_slice(&destination.port().to_be_bytes());
    packet.extend_from_slice(&(8 + length).to_be_bytes());
    packet.extend_from_slice(&[0; 2]);
}

#[cold]
fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

#[cold]
fn system(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => refused(&other.to_string()),
    }
}
