//! Several captures as one, in the order of their times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use super::{CaptureReader, Frame, Interface};

/// The bytes that are merged in advance.
const CHUNK: usize = 1 << 16;

/// A capture to merge.
pub enum CaptureInput {
    /// A file. It is open only from its first packet to its last, so that any number of files of
    /// one recorder can be merged.
    File(PathBuf),
    /// A name for errors, and the capture.
    Reader(String, Box<dyn Read + Send>),
}

/// A reader that merges captures into one pcapng file, in the order of their times: of equal times,
/// the first file's packet is first. Each file keeps its own order. A packet without a time has
/// that
/// of the packet before it.
///
/// A file that ends with an error is merged to there; the error follows at the end.
pub struct MergedCaptures {
    sources: Vec<Source>,
    /// The time of the next packet and the number of its source.
    next: BinaryHeap<Reverse<(u64, usize)>>,
    /// The interfaces written: source, number in it, and the interface.
    interfaces: Vec<(usize, u32, Interface)>,
    /// The merged bytes, of which some were read.
    bytes: Vec<u8>,
    read: usize,
    errors: Vec<String>,
}

/// A source of packets.
struct Source {
    name: String,
    path: Option<PathBuf>,
    /// `None` before the first packet is due, and after the last.
    reader: Option<CaptureReader<Box<dyn Read + Send>>>,
    /// The time of the last packet.
    time: u64,
}

impl MergedCaptures {
    /// Opens the captures.
    ///
    /// # Errors
    /// A file that cannot be read, or is not a capture: one line with its name.
    pub fn new(inputs: impl IntoIterator<Item = CaptureInput>) -> io::Result<Self> {
        let mut merged = Self {
            sources: Vec::new(),
            next: BinaryHeap::new(),
            interfaces: Vec::new(),
            bytes: Vec::new(),
            read: 0,
            errors: Vec::new(),
        };
        for input in inputs {
            let (name, path, reader) = match input {
                CaptureInput::File(path) => (path.display().to_string(), Some(path), None),
                CaptureInput::Reader(name, reader) => (name, None, Some(reader)),
            };
            let mut source = Source { name, path, reader: None, time: 0 };
            source.open(reader)?;
            merged.sources.push(source);
            merged.advance(merged.sources.len() - 1);
            // A pipe cannot be read twice.
            let source = merged.sources.last_mut().expect("a source was added");
            let is_file = source.path.as_ref().is_some_and(|path| path.is_file());
            if is_file {
                source.reader = None;
            }
        }
        // A section in little-endian byte order, of unknown length.
        let section = [&0x1a2b_3c4d_u32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xff; 8]];
        merged.block(0x0a0d_0d0a, &section);
        Ok(merged)
    }

    /// Reads the next packet of a source, and enters its time.
    fn advance(&mut self, number: usize) {
        let source = &mut self.sources[number];
        let Some(reader) = &mut source.reader else { return };
        match reader.next_frame() {
            Ok(Some(frame)) => {
                source.time = frame.time.map_or(source.time, |time| time.utc.as_nanos());
                self.next.push(Reverse((source.time, number)));
            }
            Ok(None) => source.reader = None,
            Err(error) => {
                self.errors.push(format!("{}: {error}", source.name));
                source.reader = None;
            }
        }
    }

    /// Writes the next packet. Returns `false` at the end.
    fn merge_next(&mut self) -> bool {
        let Some(Reverse((time, number))) = self.next.pop() else { return false };
        let source = &mut self.sources[number];
        if source.reader.is_none() {
            // Its first packet is due.
            let outcome =
                source.open(None).map(|()| source.reader.as_mut().map(CaptureReader::advance));
            let error = match outcome {
                Ok(None | Some(Ok(_))) => None,
                Ok(Some(Err(error))) => Some(format!("{}: {error}", source.name)),
                Err(error) => Some(error.to_string()),
            };
            if let Some(error) = error {
                self.errors.push(error);
                source.reader = None;
                return true;
            }
        }
        let Some(reader) = source.reader.take() else { return true };
        if let Some(frame) = reader.frame() {
            let interface = reader.interfaces().get(frame.interface as usize);
            let interface = interface.map_or(u32::MAX, |it| self.interface(number, &frame, it));
            self.packet(interface, time, &frame);
        }
        self.sources[number].reader = Some(reader);
        self.advance(number);
        true
    }

    /// Returns the number of an interface, which is written before its first packet.
    fn interface(&mut self, source: usize, frame: &Frame<'_>, interface: &Interface) -> u32 {
        let is_written = |(from, number, known): &(usize, u32, Interface)| {
            (*from, *number) == (source, frame.interface) && known == interface
        };
        if let Some(place) = self.interfaces.iter().rposition(is_written) {
            return place as u32;
        }
        self.interfaces.push((source, frame.interface, interface.clone()));
        let link = u16::try_from(interface.link.0).unwrap_or(u16::MAX);
        let mut body = [&link.to_le_bytes()[..], &[0; 6]].concat();
        for (code, text) in [(2, &interface.name), (3, &interface.description)] {
            option(&mut body, code, text.as_bytes());
        }
        // Times are nanoseconds.
        option(&mut body, 9, &[9]);
        self.block(1, &[&body]);
        self.interfaces.len() as u32 - 1
    }

    fn packet(&mut self, interface: u32, time: u64, frame: &Frame<'_>) {
        let captured = frame.bytes.len() as u32;
        let words = [interface, (time >> 32) as u32, time as u32, captured, frame.length];
        let mut head = [0; 20];
        for (place, word) in head.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        self.block(6, &[&head, frame.bytes]);
    }

    /// Writes a block.
    fn block(&mut self, kind: u32, parts: &[&[u8]]) {
        let body: usize = parts.iter().map(|part| part.len()).sum();
        let length = (12 + body.next_multiple_of(4)) as u32;
        self.bytes.extend_from_slice(&kind.to_le_bytes());
        self.bytes.extend_from_slice(&length.to_le_bytes());
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        self.bytes.resize(self.bytes.len() + body.next_multiple_of(4) - body, 0);
        self.bytes.extend_from_slice(&length.to_le_bytes());
    }
}

impl Source {
    /// Opens the capture.
    fn open(&mut self, reader: Option<Box<dyn Read + Send>>) -> io::Result<()> {
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", self.name));
        let reader: Box<dyn Read + Send> = match (reader, &self.path) {
            (Some(reader), _) => reader,
            (None, Some(path)) => Box::new(File::open(path).map_err(named)?),
            (None, None) => return Ok(()),
        };
        let reader = CaptureReader::new(reader).map_err(io::Error::from).map_err(named)?;
        self.reader = Some(reader);
        Ok(())
    }
}

impl Read for MergedCaptures {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read == self.bytes.len() {
            self.bytes.clear();
            self.read = 0;
            while self.bytes.len() < CHUNK && self.merge_next() {}
        }
        let rest = &self.bytes[self.read..];
        if rest.is_empty() && !self.errors.is_empty() {
            let errors = std::mem::take(&mut self.errors).join("; ");
            return Err(io::Error::new(io::ErrorKind::InvalidData, errors));
        }
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.read += count;
        Ok(count)
    }
}

/// Appends an option of a block, unless it is empty.
fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = &value[..value.len().min(1 << 15)];
    if !value.is_empty() {
        body.extend_from_slice(&code.to_le_bytes());
        body.extend_from_slice(&(value.len() as u16).to_le_bytes());
        body.extend_from_slice(value);
        body.resize(body.len().next_multiple_of(4), 0);
    }
}
