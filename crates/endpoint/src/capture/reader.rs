//! The capture reader.

use std::io::Read;

use byteorder_slice::{BigEndian, LittleEndian};
use hairpin_time::Duration;
use pcap_file::pcap::PcapParser;
use pcap_file::pcapng::RawBlock;
use pcap_file::{PcapError, TsResolution};

use super::buffer::Buffer;
use super::compression::is_compressed;
use super::datamine::{self, Record};
use super::erf;
use super::pcapng::{self, Content, Packet};
use super::{CaptureClock, CaptureError, CaptureTime, Frame, Interface, LinkType};

/// The link type bits in a pcap header's last word. The bits above describe frame check sequences.
const LINK_MASK: u32 = 0x03ff_ffff;
/// The minimum block length: type, length, and the repeated length.
const LEAST_BLOCK: usize = 12;
/// The first bytes of a pcapng file, equal in both byte orders.
const PCAPNG: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// The pcap header length: magic number, version, two zeros, snapshot length, link type.
const PCAP_HEADER: usize = 24;
/// The byte-order magic of a little-endian section.
const LITTLE_ENDIAN: [u8; 4] = [0x4d, 0x3c, 0x2b, 0x1a];

/// A reader of pcap, pcapng, ERF and the packet files of CME DataMine, forward only and in one
/// pass. A file that is compressed with gzip or zstd is decompressed; offsets are then those of its
/// contents.
///
/// The reader allocates 256 KiB when it is created. Afterwards it allocates only for a longer
/// packet or block, or for another interface.
#[derive(Debug)]
pub struct CaptureReader<R> {
    buffer: Buffer<R>,
    format: Format,
    interfaces: Vec<Interface>,
    current: Option<FoundFrame>,
    /// `true` after an error or the end of the file.
    finished: bool,
}

#[derive(Debug)]
enum Format {
    /// The parser, and the length of a time fraction in nanoseconds.
    Pcap(PcapParser, u64),
    Pcapng {
        little_endian: bool,
    },
    DataMine(LinkType),
    Erf,
}

/// A frame, located in the bytes that are consumed with it.
#[derive(Debug)]
struct FoundFrame {
    interface: u32,
    time: Option<CaptureTime>,
    start: usize,
    captured: usize,
    length: u32,
    consumed: usize,
}

/// The item at the front of the unconsumed bytes.
enum Item {
    Frame(FoundFrame),
    /// Another item of this length in bytes.
    Other(usize),
}

impl<R: Read> CaptureReader<R> {
    /// Reads the file header of a capture.
    ///
    /// # Errors
    /// [`CaptureError::NoCapture`], also for an empty file; [`CaptureError::Io`].
    pub fn new(reader: R) -> Result<Self, CaptureError> {
        let mut buffer = Buffer::new(reader);
        fill_to(&mut buffer, PCAPNG.len())?;
        if is_compressed(buffer.unused()) {
            buffer = buffer.decompressed();
            fill_to(&mut buffer, PCAPNG.len())?;
        }
        let (format, interfaces) = if buffer.unused().starts_with(&PCAPNG) {
            open_pcapng(&mut buffer)?
        } else {
            match open_pcap(&mut buffer) {
                Err(CaptureError::NoCapture) => open_records(&mut buffer)?,
                opened => opened?,
            }
        };
        Ok(Self { buffer, format, interfaces, current: None, finished: false })
    }

    /// Returns the next frame, or `None` at the end of the file.
    ///
    /// # Errors
    /// The errors of the file: [`CaptureError::Truncated`], `TooLong`, `Malformed`, `Io`. After an
    /// error there are no more frames.
    #[inline]
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, CaptureError> {
        Ok(if self.advance()? { self.frame() } else { None })
    }

    /// Advances to the next frame, which [`CaptureReader::frame`] then returns. Returns `false` at
    /// the end.
    ///
    /// # Errors
    /// Same as [`CaptureReader::next_frame`].
    #[inline]
    pub fn advance(&mut self) -> Result<bool, CaptureError> {
        self.current = None;
        let found = self.find();
        self.finished = !matches!(found, Ok(Some(_)));
        let Some(found) = found? else { return Ok(false) };
        self.buffer.consume(found.consumed);
        self.current = Some(found);
        Ok(true)
    }

    /// Returns the last frame read. `None` before the first and after the last frame.
    #[must_use]
    #[inline]
    pub fn frame(&self) -> Option<Frame<'_>> {
        let &FoundFrame { interface, time, start, captured, length, consumed } =
            self.current.as_ref()?;
        let link = self.interfaces.get(interface as usize).map(|interface| interface.link);
        let bytes = self.buffer.used(consumed - start, captured);
        Some(Frame { interface, link, time, bytes, length })
    }

    /// Returns the interfaces that the section has described so far, by number.
    #[must_use]
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// Returns the file offset of the end of the last frame, in bytes.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.buffer.offset()
    }

    /// Reads until the unconsumed bytes begin with a complete frame.
    #[inline]
    fn find(&mut self) -> Result<Option<FoundFrame>, CaptureError> {
        while !self.finished {
            match self.next_item() {
                Ok(Item::Frame(found)) => return Ok(Some(found)),
                Ok(Item::Other(length)) => {
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

    /// Decodes the item at the front of the unconsumed bytes. `IncompleteBuffer` if there are too
    /// few bytes.
    #[inline]
    fn next_item(&mut self) -> Result<Item, PcapError> {
        let unused = self.buffer.unused();
        match &mut self.format {
            Format::Pcap(parser, unit) => {
                let (rest, packet) = parser.next_raw_packet(unused)?;
                let consumed = unused.len() - rest.len();
                let nanos =
                    u64::from(packet.ts_sec) * 1_000_000_000 + u64::from(packet.ts_frac) * *unit;
                Ok(Item::Frame(FoundFrame {
                    interface: 0,
                    time: self.interfaces.first().and_then(|interface| interface.time(nanos)),
                    start: consumed - packet.data.len(),
                    captured: packet.data.len(),
                    length: packet.orig_len,
                    consumed,
                }))
            }
            Format::DataMine(link) => {
                let record = datamine::record(*link, unused).map_err(PcapError::InvalidField)?;
                let Record { length, nanos } = record.ok_or(PcapError::IncompleteBuffer)?;
                Ok(Item::Frame(FoundFrame {
                    interface: 0,
                    time: self.interfaces.first().and_then(|interface| interface.time(nanos)),
                    start: 0,
                    captured: length,
                    length: length as u32,
                    consumed: length,
                }))
            }
            Format::Erf => {
                let record = erf::record(unused).map_err(PcapError::InvalidField)?;
                let record = record.ok_or(PcapError::IncompleteBuffer)?;
                let erf::Record { length, time, captured, wire, padding } = record;
                if padding {
                    return Ok(Item::Other(length));
                }
                Ok(Item::Frame(FoundFrame {
                    interface: 0,
                    time: self.interfaces.first().and_then(|interface| interface.time(time)),
                    start: 0,
                    captured,
                    length: wire,
                    consumed: length,
                }))
            }
            Format::Pcapng { little_endian } => {
                if let Some(magic) = section_magic(unused) {
                    *little_endian = magic == LITTLE_ENDIAN;
                }
                let (consumed, content) = match *little_endian {
                    true => block::<LittleEndian>(unused)?,
                    false => block::<BigEndian>(unused)?,
                };
                Ok(self.content(consumed, content))
            }
        }
    }

    /// Handles a block.
    #[inline]
    fn content(&mut self, consumed: usize, content: Content) -> Item {
        match content {
            Content::Packet(packet) => {
                let interface = self.interfaces.get(packet.interface as usize);
                let time = interface
                    .and_then(|interface| packet.time.and_then(|units| interface.time(units)));
                // After the block's type and length.
                let start = 8 + packet.bytes.start;
                let mut captured = packet.bytes.len();
                if let Some(interface) = interface.filter(|it| it.longest_frame > 0)
                    && packet.simple
                {
                    captured = captured.min(interface.longest_frame as usize);
                }
                let Packet { interface, length, .. } = packet;
                let found = FoundFrame { interface, time, start, captured, length, consumed };
                return Item::Frame(found);
            }
            Content::Section => self.interfaces.clear(),
            Content::Interface(interface) => self.interfaces.push(*interface),
            Content::Other => {}
        }
        Item::Other(consumed)
    }

    /// Checks that the file ended after a complete packet.
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
            _ => "invalid block",
        };
        CaptureError::Malformed { at: self.buffer.offset(), what }
    }
}

/// Reads until there are so many bytes.
fn fill_to<R: Read>(buffer: &mut Buffer<R>, length: usize) -> Result<(), CaptureError> {
    while buffer.unused().len() < length {
        if !buffer.fill()? {
            return Err(CaptureError::NoCapture);
        }
    }
    Ok(())
}

/// Returns the byte-order magic if a section begins here.
#[inline]
fn section_magic(unused: &[u8]) -> Option<&[u8]> {
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
    fill_to(buffer, PCAP_HEADER)?;
    let (_, parser) = PcapParser::new(buffer.unused()).map_err(|_| CaptureError::NoCapture)?;
    buffer.consume(PCAP_HEADER);
    let header = parser.header();
    let link = LinkType(u32::from(header.datalink) & LINK_MASK);
    let unit = match header.ts_resolution {
        TsResolution::MicroSecond => 1_000,
        TsResolution::NanoSecond => 1,
    };
    let interface = Interface::from_pcap(link, Duration::from_nanos(unit));
    Ok((Format::Pcap(parser, unit), vec![interface]))
}

/// Opens a file of records without a magic number.
fn open_records<R: Read>(buffer: &mut Buffer<R>) -> Result<(Format, Vec<Interface>), CaptureError> {
    if let Some(link) = datamine::detect(buffer)? {
        let interface = Interface::from_pcap(link, Duration::from_nanos(1));
        return Ok((Format::DataMine(link), vec![interface]));
    }
    if !erf::detect(buffer)? {
        return Err(CaptureError::NoCapture);
    }
    let mut interface = Interface::new(erf::LINK, 0);
    // The card or appliance stamps.
    interface.clock = CaptureClock::Hardware;
    // The unit is 2^-32 of a second.
    interface.set_resolution(0x80 | 32);
    Ok((Format::Erf, vec![interface]))
}

/// Opens a pcapng file. The section header is then read like any other block.
fn open_pcapng<R: Read>(buffer: &mut Buffer<R>) -> Result<(Format, Vec<Interface>), CaptureError> {
    fill_to(buffer, LEAST_BLOCK)?;
    match section_magic(buffer.unused()) {
        Some([0x1a, 0x2b, 0x3c, 0x4d] | [0x4d, 0x3c, 0x2b, 0x1a]) => {}
        _ => return Err(CaptureError::NoCapture),
    }
    Ok((Format::Pcapng { little_endian: false }, Vec::new()))
}
