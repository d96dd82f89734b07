//! An arbitrary capture file, as read by the library's reader and written again.
//!
//! Checks:
//!
//! - No file makes the reader or the replay panic.
//! - A pipe that delivers a few bytes at a time yields the same as the file.
//! - The frames of a truncated file are the first frames of the whole file, and nothing follows an
//!   error.
//! - A replay yields every frame once, in the file's order, on a monotonic clock, and the same at
//!   any speed.
//! - Datagrams written to a file of either format are read back unchanged.
//!
//! Input: the file.

use std::io::{self, Read};
use std::net::SocketAddr;

use hairpin_endpoint::capture::{
    CaptureClock, CaptureFormat, CaptureReader, CaptureWriter, Datagrams, Payload, Replay, Speed,
    Step,
};
use hairpin_time::{Instant, Utc};

use crate::Seed;

/// The frames, and the file's final error.
type Frames = (Vec<(Option<u64>, u32, u32, Vec<u8>)>, Option<String>);

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let Some(whole) = frames(bytes) else {
        assert!(frames(Pipe(bytes, 3)).is_none());
        return;
    };
    assert_eq!(frames(Pipe(bytes, 1 + bytes.len() % 7)).as_ref(), Some(&whole));
    if let Some((first, _)) = frames(&bytes[..bytes.len() * 3 / 4]) {
        assert!(whole.0.starts_with(&first));
    }
    let replayed = replay(bytes, Speed::FlatOut);
    assert_eq!(replayed.len(), whole.0.len());
    assert_eq!(replay(bytes, Speed::Times(3.0)), replayed);
    for format in [CaptureFormat::Pcap, CaptureFormat::Pcapng] {
        check_written(bytes, format);
    }
}

/// A reader that returns a few bytes at a time.
struct Pipe<'a>(&'a [u8], usize);

impl Read for Pipe<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.1.min(buffer.len());
        self.0.read(&mut buffer[..count])
    }
}

fn frames(input: impl Read) -> Option<Frames> {
    let mut reader = CaptureReader::new(input).ok()?;
    let mut frames = Vec::new();
    loop {
        match reader.next_frame() {
            Ok(Some(frame)) => {
                let payload = frame.payload();
                assert!(!matches!(payload, Ok(Payload::Other)) || frame.protocol().is_some());
                let time = frame.time.map(|time| time.utc.as_nanos());
                frames.push((time, frame.interface, frame.length, frame.bytes.to_vec()));
            }
            Ok(None) => return Some((frames, None)),
            Err(error) => {
                assert!(matches!(reader.next_frame(), Ok(None)));
                return Some((frames, Some(error.to_string())));
            }
        }
    }
}

/// Returns each frame's time on the replay's clock, with a timer started at each frame.
fn replay(bytes: &[u8], speed: Speed) -> Vec<u64> {
    let Ok(reader) = CaptureReader::new(bytes) else { return Vec::new() };
    let mut replay = Replay::new(reader, speed);
    let (mut frames, mut timer, mut last) = (Vec::new(), None, Instant::ZERO);
    let mut now = Instant::ZERO;
    loop {
        match replay.step(now, timer) {
            Ok(Step::Wait(until)) => {
                assert!(until > now);
                now = until;
            }
            Ok(Step::Timeout(at)) => {
                assert!(at.monotonic >= last);
                last = at.monotonic;
                timer = None;
            }
            Ok(Step::Frame(at)) => {
                assert!(at.monotonic >= last && replay.frame().is_some());
                last = at.monotonic;
                frames.push(last.as_nanos());
                timer = last.as_nanos().checked_add(1_000).map(Instant::from_nanos);
            }
            Ok(Step::End) => return frames,
            Err(_) => {}
        }
    }
}

/// Writes the datagrams of a file and reads them again.
fn check_written(bytes: &[u8], format: CaptureFormat) {
    let mut file = Vec::new();
    let mut written = Vec::new();
    let mut writer = CaptureWriter::new(&mut file, format).expect("memory writes succeed");
    let interface =
        writer.interface("a", "b", CaptureClock::Software).expect("memory writes succeed");
    let Ok(reader) = CaptureReader::new(bytes) else { return };
    let mut datagrams = Datagrams::new(reader);
    while let Ok(Some(datagram)) = datagrams.next() {
        let (SocketAddr::V4(source), SocketAddr::V4(group)) =
            (datagram.source, datagram.destination)
        else {
            continue;
        };
        let time = datagram.time.map_or(Utc::EPOCH, |time| time.utc);
        if writer.datagram(interface, time, [source, group], datagram.bytes).is_ok() {
            written.push((time, source, group, datagram.bytes.to_vec()));
        }
    }
    let mut again =
        Datagrams::new(CaptureReader::new(&file[..]).expect("the file is a valid capture"));
    for (time, source, group, bytes) in written {
        let datagram = again.next().expect("the input is complete").expect("the file was written");
        assert_eq!(datagram.time.map(|time| time.utc), Some(time));
        assert_eq!((datagram.source, datagram.destination), (source.into(), group.into()));
        assert_eq!(datagram.bytes, bytes);
    }
    assert!(again.next().expect("the input is complete").is_none());
}

/// Returns files of either format: those of the target `capture`.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    crate::capture::seeds().into_iter().filter(|(_, bytes)| bytes[0] != 0xFF).collect()
}
