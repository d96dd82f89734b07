//! The frames of a capture, one after the other.

use std::io::Read;

use byteorder_slice::{BigEndian, LittleEndian};
use hairpin_time::Duration;
use pcap_file::pcap::PcapParser;
use pcap_file::pcapng::RawBlock;
use pcap_file::{PcapError, TsResolution};

use super::buffer::Buffer;
use super::pcapng::{self, Content, Packet};
use super::{CaptureError, CaptureTime, Frame, Interface, LinkType};

/// The number of the link in a pcap header's last word; the bits above tell of check sequences.
const LINK_MASK: u32 = 0x03ff_ffff;
/// A block's type, its length, and its length again.
const LEAST_BLOCK: usize = 12;
/// A pcapng file begins so in either byte order.
const PCAPNG: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// Of a pcap file: magic number, version, two zeros, longest frame, link.
const PCAP_HEADER: usize = 24;
/// The numbers by which a section says its byte order, as they are in a little-endian one.
const LITTLE_ENDIAN: [u8; 4] = [0x4d, 0x3c, 0x2b, 0x1a];

/// Reads a capture of either format, forward only and in one pass.
///
/// Memory is taken when it is made (256 KiB), and again only for a longer packet or block or
/// another interface.
#[derive(Debug)]
pub struct CaptureReader<R> {
    buffer: Buffer<R>,
    format: Format,
    interfaces: Vec<Interface>,
    current: Option<Found>,
    /// An error was given, or the end: there is nothing more.
    is_over: bool,
}

#[derive(Debug)]
enum Format {
    /// With the nanoseconds that the fractions of its times count.
    Pcap(PcapParser, u64),
    Pcapng {
        is_little_endian: bool,
    },
}

/// A frame by where it lies in the bytes that are consumed with it.
#[derive(Debug)]
struct Found {
    interface: u32,
    time: Option<CaptureTime>,
    start: usize,
    captured: usize,
    length: u32,
    consumed: usize,
}

/// What the unused bytes begin with.
enum Begins {
    Frame(Found),
    /// Something that is no frame, of so many bytes.
    Other(usize),
}

impl<R: Read> CaptureReader<R> {
    /// Reads the head of a capture.
    ///
    /// # Errors
    /// [`CaptureError::NoCapture`], also of an empty file; [`CaptureError::Io`].
    pub fn new(reader: R) -> Result<Self, CaptureError> {
        let mut buffer = Buffer::new(reader);
        while buffer.unused().len() < PCAPNG.len() {
            if !buffer.fill()? {
                return Err(CaptureError::NoCapture);
            }
        }
        let (format, interfaces) = if buffer.unused().starts_with(&PCAPNG) {
            open_pcapng(&mut buffer)?
        } else {
            open_pcap(&mut buffer)?
        };
        Ok(Self { buffer, format, interfaces, current: None, is_over: false })
    }

    /// The next frame; nothing at the end of the file.
    ///
    /// # Errors
    /// What is wrong with the file from here on: [`CaptureError::Truncated`], `TooLong`,
    /// `Malformed`, `Io`. After an error there is nothing more.
    #[inline]
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, CaptureError> {
        Ok(if self.advance()? { self.frame() } else { None })
    }

    /// Goes on to the next frame, which [`CaptureReader::frame`] then is; false at the end.
    ///
    /// # Errors
    /// As of [`CaptureReader::next_frame`].
    #[inline]
    pub fn advance(&mut self) -> Result<bool, CaptureError> {
        self.current = None;
        let found = self.find();
        self.is_over = !matches!(found, Ok(Some(_)));
        let Some(found) = found? else { return Ok(false) };
        self.buffer.consume(found.consumed);
        self.current = Some(found);
        Ok(true)
    }

    /// The frame that was read last; nothing before the first and after the last.
    #[must_use]
    #[inline]
    pub fn frame(&self) -> Option<Frame<'_>> {
        let &Found { interface, time, start, captured, length, consumed } =
            self.current.as_ref()?;
        let link = self.interfaces.get(interface as usize).map(|interface| interface.link);
        let bytes = self.buffer.used(consumed - start, captured);
        Some(Frame { interface, link, time, bytes, length })
    }

    /// The interfaces that the section has described so far, by number.
    #[must_use]
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// How far the file has been used, in bytes from its start: up to the end of the last frame.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.buffer.offset()
    }

    /// Reads until the unused bytes begin with a whole frame.
    #[inline]
    fn find(&mut self) -> Result<Option<Found>, CaptureError> {
        while !self.is_over {
            match self.begins() {
                Ok(Begins::Frame(found)) => return Ok(Some(found)),
                Ok(Begins::Other(length)) => {
                    self.buffer.consume(length);
                }
                Err(PcapError::IncompleteBuffer) => {
                    if !self.buffer.fill()? {
                        return self.ending().map(|()| None);
                    }
                }
                Err(error) => return Err(self.malformed(&error)),
            }
        }
        Ok(None)
    }

    /// Says what the unused bytes begin with; `IncompleteBuffer` if there are too few to tell.
    #[inline]
    fn begins(&mut self) -> Result<Begins, PcapError> {
        let unused = self.buffer.unused();
        match &mut self.format {
            Format::Pcap(parser, unit) => {
                let (rest, packet) = parser.next_raw_packet(unused)?;
                let consumed = unused.len() - rest.len();
                let nanos =
                    u64::from(packet.ts_sec) * 1_000_000_000 + u64::from(packet.ts_frac) * *unit;
                Ok(Begins::Frame(Found {
                    interface: 0,
                    time: self.interfaces.first().and_then(|interface| interface.time(nanos)),
                    start: consumed - packet.data.len(),
                    captured: packet.data.len(),
                    length: packet.orig_len,
                    consumed,
                }))
            }
            Format::Pcapng { is_little_endian } => {
                if let Some(magic) = magic_of_section(unused) {
                    *is_little_endian = magic == LITTLE_ENDIAN;
                }
                let (consumed, content) = match *is_little_endian {
                    true => block::<LittleEndian>(unused)?,
                    false => block::<BigEndian>(unused)?,
                };
                Ok(self.content(consumed, content))
            }
        }
    }

    /// What a block means.
    #[inline]
    fn content(&mut self, consumed: usize, content: Content) -> Begins {
        match content {
            Content::Packet(packet) => {
                let interface = self.interfaces.get(packet.interface as usize);
                let time = interface
                    .and_then(|interface| packet.time.and_then(|units| interface.time(units)));
                // Behind the block's type and length.
                let start = 8 + packet.bytes.start;
                let mut captured = packet.bytes.len();
                if let Some(interface) = interface.filter(|it| it.longest_frame > 0)
                    && packet.is_simple
                {
                    captured = captured.min(interface.longest_frame as usize);
                }
                let Packet { interface, length, .. } = packet;
                let found = Found { interface, time, start, captured, length, consumed };
                return Begins::Frame(found);
            }
            Content::Section => self.interfaces.clear(),
            Content::Interface(interface) => self.interfaces.push(*interface),
            Content::Other => {}
        }
        Begins::Other(consumed)
    }

    /// The file has no more: which is as it should be behind a whole packet.
    #[cold]
    fn ending(&self) -> Result<(), CaptureError> {
        match self.buffer.unused().len() {
            0 => Ok(()),
            left => Err(CaptureError::Truncated { at: self.buffer.offset(), left }),
        }
    }

    #[cold]
    fn malformed(&self, error: &PcapError) -> CaptureError {
        let what = match error {
            PcapError::InvalidField(what) => *what,
            _ => "a block that is none",
        };
        CaptureError::Malformed { at: self.buffer.offset(), what }
    }
}

/// What a section says of its byte order, if a section begins here.
#[inline]
fn magic_of_section(unused: &[u8]) -> Option<&[u8]> {
    if unused.starts_with(&PCAPNG) { unused.get(8..LEAST_BLOCK) } else { None }
}

#[inline]
fn block<B: byteorder_slice::ByteOrder>(unused: &[u8]) -> Result<(usize, Content), PcapError> {
    let (rest, block) = RawBlock::from_slice::<B>(unused)?;
    let consumed = unused.len() - rest.len();
    let content = pcapng::read::<B>(block.type_, &block.body).map_err(PcapError::InvalidField)?;
    Ok((consumed, content))
}

fn open_pcap<R: Read>(buffer: &mut Buffer<R>) -> Result<(Format, Vec<Interface>), CaptureError> {
    while buffer.unused().len() < PCAP_HEADER {
        if !buffer.fill()? {
            return Err(CaptureError::NoCapture);
        }
    }
    let (_, parser) = PcapParser::new(buffer.unused()).map_err(|_| CaptureError::NoCapture)?;
    buffer.consume(PCAP_HEADER);
    let header = parser.header();
    let link = LinkType(u32::from(header.datalink) & LINK_MASK);
    let unit = match header.ts_resolution {
        TsResolution::MicroSecond => 1_000,
        TsResolution::NanoSecond => 1,
    };
    let interface = Interface::of_pcap(link, Duration::from_nanos(unit));
    Ok((Format::Pcap(parser, unit), vec![interface]))
}

/// The section itself is read as a block like any other.
fn open_pcapng<R: Read>(buffer: &mut Buffer<R>) -> Result<(Format, Vec<Interface>), CaptureError> {
    while buffer.unused().len() < LEAST_BLOCK {
        if !buffer.fill()? {
            return Err(CaptureError::NoCapture);
        }
    }
    match magic_of_section(buffer.unused()) {
        Some([0x1a, 0x2b, 0x3c, 0x4d] | [0x4d, 0x3c, 0x2b, 0x1a]) => {}
        _ => return Err(CaptureError::NoCapture),
    }
    Ok((Format::Pcapng { is_little_endian: false }, Vec::new()))
}
