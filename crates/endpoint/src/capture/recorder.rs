//! What is received, recorded by another thread.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use hairpin_time::Utc;
use rtrb::{Producer, RingBuffer};

use super::recording::{Recording, Shared};
use super::{CaptureClock, CaptureFormat};
use crate::Timestamp;

/// Bytes that stand before each datagram in the ring.
pub(super) const HEAD: usize = 24;

/// Where and how much is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecorderSettings {
    /// The file; what was there before is gone. With `file_bytes` a number is put before its
    /// ending, from 00001: `feed.00001.pcapng`.
    pub path: PathBuf,
    /// Its format.
    pub format: CaptureFormat,
    /// The most bytes of a file before the next is begun; 0: one file, whatever becomes of it.
    pub file_bytes: u64,
    /// The most files, of which the oldest is removed; 0: any number. Without `file_bytes` of no
    /// meaning.
    pub files: usize,
    /// Bytes of the ring to the writer.
    pub ring_bytes: usize,
}

impl RecorderSettings {
    /// Room for what comes while a disk takes its time: at 1 Gbit/s an eighth of a second.
    pub const RING_BYTES: usize = 16 << 20;

    /// One file, in the format that its name asks for, with the usual ring.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let format = CaptureFormat::of(&path);
        Self { path, format, file_bytes: 0, files: 0, ring_bytes: Self::RING_BYTES }
    }
}

/// One side of one feed: an interface of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedLine {
    /// Its short name: `310IA`.
    pub name: String,
    /// What it is, for a person: feed, side, group.
    pub description: String,
    /// Where its datagrams go.
    pub group: SocketAddrV4,
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What has become of datagrams that were to be recorded; every counter only grows.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct RecorderCounters {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl RecorderCounters {
            /// Every counter with its name, in the order of declaration.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }
        }
    };
}

counters! {
    /// Datagrams handed to the writer; should it fail, some of the last were not written.
    recorded_datagrams,
    /// Their payloads in bytes.
    recorded_bytes,
    /// Errors: datagrams that the ring had no room for: the disk is too slow.
    ring_overflows,
    /// Errors: datagrams that came after the writer had failed.
    unwritten_datagrams,
}

/// Records datagrams in a file, off the path of whoever receives them.
///
/// A datagram is copied into a ring, which costs no system call and no wait, and written by a
/// thread called `recorder`. Where the ring has no room the datagram is left out and counted. When
/// the file cannot be written any more recording stops, [`Recorder::failure`] says why, and
/// whoever receives goes on.
#[derive(Debug)]
pub struct Recorder {
    ring: Producer<u8>,
    shared: Arc<Shared>,
    writer: Option<JoinHandle<()>>,
    counters: RecorderCounters,
}

impl Recorder {
    /// Begins the file and the thread.
    ///
    /// # Errors
    /// Those of the file system, with the path; no thread is left.
    pub fn start(settings: &RecorderSettings, lines: Vec<RecordedLine>) -> io::Result<Self> {
        let (ring, consumer) = RingBuffer::new(settings.ring_bytes.max(1 << 17));
        let shared = Arc::new(Shared::default());
        let recording = Recording::begin(settings.clone(), lines, consumer, Arc::clone(&shared))?;
        let thread = std::thread::Builder::new().name("recorder".to_owned());
        let writer = thread.spawn(move || recording.run())?;
        let counters = RecorderCounters::default();
        Ok(Self { ring, shared, writer: Some(writer), counters })
    }

    /// Records a datagram that came to a line, by its number, at `timestamp`, or at `now` if nobody
    /// took the time.
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
        let Ok(mut chunk) = self.ring.write_chunk(HEAD + payload.len()) else {
            self.counters.ring_overflows += 1;
            return;
        };
        let head = Head { length: payload.len(), line, source, timestamp, now }.encode();
        let (first, second) = chunk.as_mut_slices();
        copy(first, second, 0, &head);
        copy(first, second, HEAD, payload);
        chunk.commit_all();
        self.counters.recorded_datagrams += 1;
        self.counters.recorded_bytes += payload.len() as u64;
    }

    /// What was recorded so far.
    #[must_use]
    pub fn counters(&self) -> RecorderCounters {
        self.counters
    }

    /// Why recording has stopped, if it has. One line, with the path.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.shared.failure()
    }

    /// Waits until all that was recorded is written, and ends.
    ///
    /// # Errors
    /// Why it could not be.
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
            // It does not panic, and nothing could be done about it if it did.
            let _ = writer.join();
        }
    }

    /// The writer is gone.
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

/// Copies into what may be two parts, behind the first `at` bytes of them.
#[inline]
fn copy(first: &mut [u8], second: &mut [u8], at: usize, bytes: &[u8]) {
    let split = first.len().saturating_sub(at).min(bytes.len());
    let (before, behind) = bytes.split_at(split);
    if !before.is_empty() {
        first[at..at + split].copy_from_slice(before);
    }
    if !behind.is_empty() {
        let at = (at + split) - first.len();
        second[at..at + behind.len()].copy_from_slice(behind);
    }
}

/// What stands before a datagram in the ring.
///
/// | bytes | is |
/// |---|---|
/// | 0..4 | length of the payload |
/// | 4..6 | line |
/// | 6 | clock: 0 the recorder's, 1 the kernel's, 2 the NIC's |
/// | 8..16 | time, nanoseconds since 1970 |
/// | 16..20 | the sender's address |
/// | 20..22 | and port |
///
/// All little-endian: it never leaves the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) length: usize,
    pub(super) line: usize,
    pub(super) source: SocketAddrV4,
    pub(super) timestamp: Timestamp,
    pub(super) now: Utc,
}

impl Head {
    #[inline]
    fn encode(self) -> [u8; HEAD] {
        let (clock, time) = match self.timestamp {
            Timestamp::None => (0, self.now),
            Timestamp::Software(time) => (1, time),
            Timestamp::Hardware(time) => (2, time),
        };
        let mut head = [0; HEAD];
        head[..4].copy_from_slice(&(self.length as u32).to_le_bytes());
        head[4..6].copy_from_slice(&(self.line as u16).to_le_bytes());
        head[6] = clock;
        head[8..16].copy_from_slice(&time.as_nanos().to_le_bytes());
        head[16..20].copy_from_slice(&self.source.ip().octets());
        head[20..22].copy_from_slice(&self.source.port().to_le_bytes());
        head
    }

    pub(super) fn decode(head: [u8; HEAD]) -> Self {
        let [l0, l1, l2, l3, n0, n1, clock, _, rest @ ..] = head;
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

    /// When the datagram came, and by whose clock.
    pub(super) fn time(&self) -> (Utc, CaptureClock) {
        match self.timestamp {
            Timestamp::None => (self.now, CaptureClock::Unknown),
            Timestamp::Software(time) => (time, CaptureClock::Software),
            Timestamp::Hardware(time) => (time, CaptureClock::Hardware),
        }
    }
}
