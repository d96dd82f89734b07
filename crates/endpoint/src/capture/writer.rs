//! The capture writer.

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

/// The link type of written files. `RAW` is not used, since it has another number on some systems:
/// libpcap 1.10 then treats a second `RAW` interface as a different type and fails.
const LINK: DataLink = DataLink::IPV4;
const SECOND: u64 = 1_000_000_000;
/// The header length: IPv4 without options, and UDP.
const HEADERS: usize = 28;
/// The maximum UDP payload over IPv4, in bytes.
const PAYLOAD_MAX: usize = 65_507;
/// The resolution of one nanosecond as a negative power of ten, for `if_tsresol`.
const NANOSECONDS: u8 = 9;

/// The format of a capture file.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum CaptureFormat {
    /// The older format, which contains only packets.
    Pcap,
    /// The newer format, which also contains interface names.
    #[default]
    Pcapng,
}

impl CaptureFormat {
    /// Returns the format of a file extension: pcap for `.pcap`, otherwise pcapng.
    #[must_use]
    pub fn from_path(path: &Path) -> Self {
        match path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pcap")) {
            true => Self::Pcap,
            false => Self::Pcapng,
        }
    }
}

/// A writer of UDP datagrams with times in nanoseconds, as IPv4 packets without a link header.
///
/// Received payloads have no headers. The writer recreates them from the addresses, with TTL 1 and
/// without a UDP checksum, which IPv4 permits.
#[derive(Debug)]
pub struct CaptureWriter<W> {
    writer: W,
    format: CaptureFormat,
    packet: Vec<u8>,
    interfaces: u32,
    written: u64,
}

impl<W: Write> CaptureWriter<W> {
    /// Writes the file header. `W` should be buffered: a packet takes several small writes.
    ///
    /// # Errors
    /// The writer's errors.
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

    /// Describes an interface and returns its number. A pcap file has no place for the description.
    ///
    /// # Errors
    /// The writer's errors.
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
        let clock_text =
            clock.map_or_else(String::new, |(_, clock_text)| format!("; {clock_text}"));
        let options = vec![
            InterfaceDescriptionOption::Comment(description.into()),
            InterfaceDescriptionOption::IfName(name.into()),
            InterfaceDescriptionOption::IfDescription(format!("{description}{clock_text}").into()),
            InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
        ];
        let block = InterfaceDescriptionBlock { linktype: LINK, snaplen: 0, options };
        let block = block.into_block();
        self.written += block.write_to::<LittleEndian, _>(&mut self.writer)? as u64;
        Ok(number)
    }

    /// Writes a datagram that arrived at `time` on `interface`, from `source` to `destination`.
    ///
    /// # Errors
    /// `InvalidInput` if the payload is longer than a datagram's, or if the time is after 2106 and
    /// the format is pcap. Otherwise the writer's errors.
    #[inline]
    pub fn datagram(
        &mut self,
        interface: u32,
        time: Utc,
        [source, destination]: [SocketAddrV4; 2],
        payload: &[u8],
    ) -> io::Result<()> {
        if payload.len() > PAYLOAD_MAX {
            return Err(refused("cannot write a datagram: payload longer than 65507 bytes"));
        }
        headers(&mut self.packet, source, destination, payload.len() as u16);
        self.packet.extend_from_slice(payload);
        let (length, data) = (self.packet.len() as u32, Cow::Borrowed(&self.packet[..]));
        let written = match self.format {
            CaptureFormat::Pcap => {
                let seconds = u32::try_from(time.as_nanos() / SECOND);
                let packet = RawPcapPacket {
                    ts_sec: seconds.map_err(|_| {
                        refused("cannot write a datagram: pcap times end in 2106, use pcapng")
                    })?,
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

    /// Returns the number of bytes written.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Flushes the writer.
    ///
    /// # Errors
    /// The writer's errors.
    pub fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Encodes the IPv4 and UDP headers of a payload of `length` bytes.
#[inline]
fn headers(packet: &mut Vec<u8>, source: SocketAddrV4, destination: SocketAddrV4, length: u16) {
    let total = (HEADERS as u16 + length).to_be_bytes();
    let mut ip = [0; 20];
    // Version 4, five words; don't fragment; TTL 1; UDP.
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
