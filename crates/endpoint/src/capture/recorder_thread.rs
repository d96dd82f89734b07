//! The writer thread of a recorder.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rtrb::Consumer;

use super::recorder::{HEADER_LENGTH, RecordHeader};
use super::{CaptureClock, CaptureWriter, RecordedLine, RecorderSettings};

/// The sleep between two checks of an empty ring: a small part of the time to fill it.
const PAUSE: Duration = Duration::from_millis(5);
/// The size of the file buffer in bytes.
const BUFFER: usize = 1 << 18;

/// The state that the two threads share besides the ring.
#[derive(Debug, Default)]
pub(super) struct Shared {
    stopping: AtomicBool,
    failure: Mutex<Option<String>>,
}

impl Shared {
    /// Requests the writer to stop when the ring is empty.
    pub(super) fn stop(&self) {
        // Release: a thread that sees this flag also sees everything pushed to the ring before.
        self.stopping.store(true, Ordering::Release);
    }

    pub(super) fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn fail(&self, why: String) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }
}

/// The state of the writer thread: the consumer of the ring, and the file.
pub(super) struct RecorderThread {
    settings: RecorderSettings,
    lines: Vec<RecordedLine>,
    ring: Consumer<u8>,
    shared: Arc<Shared>,
    writer: CaptureWriter<BufWriter<File>>,
    /// The described interfaces of this file, by line and clock.
    interfaces: Vec<(usize, CaptureClock, u32)>,
    /// The files so far; the last one is being written.
    files: VecDeque<PathBuf>,
    number: u32,
    payload: Vec<u8>,
}

impl RecorderThread {
    /// Creates the first file.
    pub(super) fn new(
        settings: RecorderSettings,
        lines: Vec<RecordedLine>,
        ring: Consumer<u8>,
        shared: Arc<Shared>,
    ) -> io::Result<Self> {
        let number = 1;
        let path = path_of(&settings, number);
        let named = |error| named(&path, &error);
        let writer = open(&settings, &path).map_err(named)?;
        let mut recording = Self {
            settings,
            lines,
            ring,
            shared,
            writer,
            interfaces: Vec::new(),
            files: VecDeque::from([path]),
            number,
            payload: Vec::new(),
        };
        let described = recording.describe();
        described.map_err(|error| recording.named(&error))?;
        Ok(recording)
    }

    /// Writes until the ring is empty after a stop request, or until a write fails.
    pub(super) fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        if let Err(error) = self.write_all() {
            let error = self.named(&error);
            // Stored before the ring is abandoned, which is how the receiver detects the failure.
            shared.fail(format!("{error}: recording has stopped"));
        }
    }

    fn write_all(&mut self) -> io::Result<()> {
        let mut is_flushed = true;
        loop {
            let is_last = self.shared.stopping.load(Ordering::Acquire);
            while let Some(header) = self.next() {
                self.write(&header)?;
                is_flushed = false;
            }
            if !is_flushed {
                self.writer.flush()?;
                is_flushed = true;
            }
            if is_last {
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Takes the next datagram into `payload`. A datagram is in the ring completely or not at all.
    fn next(&mut self) -> Option<RecordHeader> {
        let mut header = [0; HEADER_LENGTH];
        take(&mut self.ring, &mut header)?;
        let header = RecordHeader::decode(header);
        self.payload.resize(header.length, 0);
        take(&mut self.ring, &mut self.payload)?;
        Some(header)
    }

    fn write(&mut self, header: &RecordHeader) -> io::Result<()> {
        let most = self.settings.file_bytes;
        // A block is the packet and fewer than a hundred bytes around it.
        if most > 0 && self.writer.written() + header.length as u64 + 100 > most {
            self.rotate()?;
        }
        let (time, clock) = header.time();
        let interface = self.interface(header.line, clock)?;
        let group = self.lines.get(header.line).map_or(UNSPECIFIED, |line| line.group);
        self.writer.datagram(interface, time, [header.source, group], &self.payload)
    }

    /// Starts the next file, and removes the oldest if there are too many.
    fn rotate(&mut self) -> io::Result<()> {
        self.writer.flush()?;
        self.number += 1;
        let path = path_of(&self.settings, self.number);
        self.files.push_back(path.clone());
        self.writer = open(&self.settings, &path)?;
        self.interfaces.clear();
        self.describe()?;
        if self.settings.files > 0
            && self.files.len() > self.settings.files
            && let Some(oldest) = self.files.pop_front()
        {
            // The file may already have been removed by a user.
            let _ = fs::remove_file(oldest);
        }
        Ok(())
    }

    /// Describes every line, with its most likely clock.
    fn describe(&mut self) -> io::Result<()> {
        (0..self.lines.len())
            .try_for_each(|line| self.interface(line, CaptureClock::Software).map(drop))?;
        // Makes the file a valid capture at any time.
        self.writer.flush()
    }

    /// Returns the interface of a line and clock. Describes it if it is new.
    fn interface(&mut self, line: usize, clock: CaptureClock) -> io::Result<u32> {
        let described = self.interfaces.iter().find(|(of, by, _)| (*of, *by) == (line, clock));
        if let Some((.., interface)) = described {
            return Ok(*interface);
        }
        let (name, description) = match self.lines.get(line) {
            Some(line) => (&line.name[..], &line.description[..]),
            None => ("", ""),
        };
        let interface = self.writer.interface(name, description, clock)?;
        self.interfaces.push((line, clock, interface));
        Ok(interface)
    }

    /// Adds the path of the current file to an error.
    fn named(&self, error: &io::Error) -> io::Error {
        let path = self.files.back().map_or(&self.settings.path, |path| path);
        named(path, error)
    }
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// The destination of an unknown line.
const UNSPECIFIED: SocketAddrV4 = SocketAddrV4::new(std::net::Ipv4Addr::UNSPECIFIED, 0);

fn open(settings: &RecorderSettings, path: &Path) -> io::Result<CaptureWriter<BufWriter<File>>> {
    let file = File::create(path);
    let file =
        file.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    CaptureWriter::new(BufWriter::with_capacity(BUFFER, file), settings.format)
}

/// Returns the path of a file by number: `feed.00001.pcapng` for `feed.pcapng` if there may be
/// several.
fn path_of(settings: &RecorderSettings, number: u32) -> PathBuf {
    if settings.file_bytes == 0 {
        return settings.path.clone();
    }
    let path = &settings.path;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = match path.extension() {
        Some(extension) => format!("{stem}.{number:05}.{}", extension.to_string_lossy()),
        None => format!("{stem}.{number:05}"),
    };
    path.with_file_name(name)
}

/// Takes exactly `bytes.len()` bytes from the ring. `None` if there are fewer.
fn take(ring: &mut Consumer<u8>, bytes: &mut [u8]) -> Option<()> {
    let chunk = ring.read_chunk(bytes.len()).ok()?;
    let (first, second) = chunk.as_slices();
    let (to_first, to_second) = bytes.split_at_mut(first.len());
    to_first.copy_from_slice(first);
    to_second.copy_from_slice(second);
    chunk.commit_all();
    Some(())
}
