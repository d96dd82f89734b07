//! The recorder: passes received datagrams to a writer thread.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use hairpin_time::Utc;
use rtrb::{Producer, RingBuffer};

use super::recorder_thread::{RecorderThread, Shared};
use super::{CaptureClock, CaptureFormat};
use crate::Timestamp;

/// The header length of each datagram in the ring, in bytes.
pub(super) const HEADER_LENGTH: usize = 24;

/// The settings of a recorder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecorderSettings {
    /// The file, which is overwritten. With `file_bytes` a number is inserted before the extension,
    /// from 00001: `feed.00001.pcapng`.
    pub path: PathBuf,
    /// The file format.
    pub format: CaptureFormat,
    /// The maximum size of a file in bytes before the next is started. 0: one file of any size.
    pub file_bytes: u64,
    /// The maximum number of files; the oldest is removed. 0: any number. Without `file_bytes` this
    /// has no effect.
    pub files: usize,
    /// The size of the ring to the writer in bytes.
    pub ring_bytes: usize,
}

impl RecorderSettings {
    /// The default ring size. It holds the data of an eighth of a second at 1 Gbit/s while the disk
    /// is slow.
    pub const RING_BYTES: usize = 16 << 20;

    /// Creates settings for one file, in the format of its extension, with the default ring.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let format = CaptureFormat::from_path(&path);
        Self { path, format, file_bytes: 0, files: 0, ring_bytes: Self::RING_BYTES }
    }
}

/// A feed line, which becomes an interface of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedLine {
    /// The short name: `310IA`.
    pub name: String,
    /// The description for users: feed, line, group.
    pub description: String,
    /// The multicast group.
    pub group: SocketAddrV4,
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The counters of a recorder. Every counter only grows.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct RecorderCounters {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl RecorderCounters {
            /// Iterates over the counters with their names, in declaration order.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }
        }
    };
}

counters! {
    /// The datagrams passed to the writer. If the writer fails, some of the last were not written.
    recorded_datagrams,
    /// The payload bytes of these datagrams.
    recorded_bytes,
    /// Errors: datagrams dropped because the ring was full, as when the disk is too slow.
    ring_overflows,
    /// Errors: datagrams received after the writer had failed.
    unwritten_datagrams,
}

/// A recorder of datagrams to a file, off the hot path of the receiver.
///
/// A datagram is copied into a ring, without a system call or a wait, and written by a thread named
/// `recorder`. If the ring is full, the datagram is dropped and counted. If the file cannot be
/// written, recording stops and [`Recorder::failure`] returns the reason; the receiver continues.
#[derive(Debug)]
pub struct Recorder {
    ring: Producer<u8>,
    shared: Arc<Shared>,
    writer: Option<JoinHandle<()>>,
    counters: RecorderCounters,
}

impl Recorder {
    /// Creates the file and starts the thread.
    ///
    /// # Errors
    /// The file system's errors, with the path. No thread remains.
    pub fn start(settings: &RecorderSettings, lines: Vec<RecordedLine>) -> io::Result<Self> {
        let (ring, consumer) = RingBuffer::new(settings.ring_bytes.max(1 << 17));
        let shared = Arc::new(Shared::default());
        let thread_state =
            RecorderThread::new(settings.clone(), lines, consumer, Arc::clone(&shared))?;
        let thread = std::thread::Builder::new().name("recorder".to_owned());
        let writer = thread.spawn(move || thread_state.run())?;
        let counters = RecorderCounters::default();
        Ok(Self { ring, shared, writer: Some(writer), counters })
    }

    /// Records a datagram of a line, given by its index. Its time is `timestamp`, or `now` if there
    /// is no timestamp.
    #[inline]
    pub fn record(
        &mut self,
        line: usize,
        source: SocketAddrV4,
        timestamp: Timestamp,
        now: Utc,
        payload: &[u8],
    ) {
        if self.ring.is_abandoned() {
            return self.refuse();
        }
        let Ok(mut chunk) = self.ring.write_chunk(HEADER_LENGTH + payload.len()) else {
            self.counters.ring_overflows += 1;
            return;
        };
        let header = RecordHeader { length: payload.len(), line, source, timestamp, now }.encode();
        let (first, second) = chunk.as_mut_slices();
        copy(first, second, 0, &header);
        copy(first, second, HEADER_LENGTH, payload);
        chunk.commit_all();
        self.counters.recorded_datagrams += 1;
        self.counters.recorded_bytes += payload.len() as u64;
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> RecorderCounters {
        self.counters
    }

    /// Returns the reason why recording has stopped, if it has: one line with the path.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.shared.failure()
    }

    /// Waits until everything recorded is written, and stops the thread.
    ///
    /// # Errors
    /// The reason why the file could not be written.
    pub fn finish(mut self) -> Result<RecorderCounters, String> {
        self.end();
        match self.shared.failure() {
            Some(failure) => Err(failure),
            None => Ok(self.counters),
        }
    }

    fn end(&mut self) {
        self.shared.stop();
        if let Some(writer) = self.writer.take() {
            // The thread does not panic, and the caller could not handle a panic.
            let _ = writer.join();
        }
    }

    /// Counts a datagram after the writer has ended.
    #[cold]
    fn refuse(&mut self) {
        self.counters.unwritten_datagrams += 1;
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.end();
    }
}

/// Copies `bytes` into a buffer of two parts, starting at offset `at`.
#[inline]
fn copy(first: &mut [u8], second: &mut [u8], at: usize, bytes: &[u8]) {
    let split = first.len().saturating_sub(at).min(bytes.len());
    let (before, after) = bytes.split_at(split);
    if !before.is_empty() {
        first[at..at + split].copy_from_slice(before);
    }
    if !after.is_empty() {
        let at = (at + split) - first.len();
        second[at..at + after.len()].copy_from_slice(after);
    }
}

/// The header of a datagram in the ring.
///
/// | bytes | content |
/// |---|---|
/// | 0..4 | length of the payload |
/// | 4..6 | line |
/// | 6 | clock: 0 the recorder's, 1 the kernel's, 2 the NIC's |
/// | 8..16 | time, nanoseconds since 1970 |
/// | 16..20 | the source address |
/// | 20..22 | the source port |
///
/// Integers are little-endian. The header never leaves the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordHeader {
    pub(super) length: usize,
    pub(super) line: usize,
    pub(super) source: SocketAddrV4,
    pub(super) timestamp: Timestamp,
    pub(super) now: Utc,
}

impl RecordHeader {
    #[inline]
    fn encode(self) -> [u8; HEADER_LENGTH] {
        let (clock, time) = match self.timestamp {
            Timestamp::None => (0, self.now),
            Timestamp::Software(time) => (1, time),
            Timestamp::Hardware(time) => (2, time),
        };
        let mut header = [0; HEADER_LENGTH];
        header[..4].copy_from_slice(&(self.length as u32).to_le_bytes());
        header[4..6].copy_from_slice(&(self.line as u16).to_le_bytes());
        header[6] = clock;
        header[8..16].copy_from_slice(&time.as_nanos().to_le_bytes());
        header[16..20].copy_from_slice(&self.source.ip().octets());
        header[20..22].copy_from_slice(&self.source.port().to_le_bytes());
        header
    }

    pub(super) fn decode(header: [u8; HEADER_LENGTH]) -> Self {
        let [l0, l1, l2, l3, n0, n1, clock, _, rest @ ..] = header;
        let [t0, t1, t2, t3, t4, t5, t6, t7, a, b, c, d, p0, p1, ..] = rest;
        let time = Utc::from_nanos(u64::from_le_bytes([t0, t1, t2, t3, t4, t5, t6, t7]));
        let timestamp = match clock {
            0 => Timestamp::None,
            1 => Timestamp::Software(time),
            _ => Timestamp::Hardware(time),
        };
        Self {
            length: u32::from_le_bytes([l0, l1, l2, l3]) as usize,
            line: u16::from_le_bytes([n0, n1]).into(),
            source: SocketAddrV4::new(Ipv4Addr::new(a, b, c, d), u16::from_le_bytes([p0, p1])),
            timestamp,
            now: time,
        }
    }

    /// Returns the arrival time and its clock.
    pub(super) fn time(&self) -> (Utc, CaptureClock) {
        match self.timestamp {
            Timestamp::None => (self.now, CaptureClock::Unknown),
            Timestamp::Software(time) => (time, CaptureClock::Software),
            Timestamp::Hardware(time) => (time, CaptureClock::Hardware),
        }
    }
}
