//! The captures to read, with their feeds and the source of their times.

use std::io::{self, Cursor, Read};
use std::path::PathBuf;

use hairpin_endpoint::capture::{CaptureReader, DeviceTime, Payload};
use hairpin_feed_handler::CapturedFeed;

use super::Times;
use crate::decode::capture;

/// The beginning of the captures in which feeds and times are detected: seconds of a busy channel.
const FIRST_BYTES: u64 = 32 << 20;
/// The packets whose times are compared.
const COMPARED: u32 = 2_000;
/// The most by which the times of a device and of the capture differ, to be recognized: a day.
const NEAR: u64 = 86_400_000_000_000;
/// The part of the packets that have a device's time, to be recognized: 95 %.
const ENOUGH_PERCENT: u32 = 95;

/// Captures that are open at their beginning.
pub(super) struct Input {
    pub(super) reader: Box<dyn Read + Send>,
    /// The feeds at the beginning, unless they are known.
    pub(super) feeds: Vec<CapturedFeed>,
    /// The device whose times are used; `None` for those of the capture.
    pub(super) device: Option<DeviceTime>,
}

/// Opens captures. `known`: their feeds, from a configuration file.
///
/// # Errors
/// A file that cannot be read or is not a capture; times of a device that the packets lack.
pub(super) fn open(
    paths: &[PathBuf],
    times: Times,
    known: Option<Vec<CapturedFeed>>,
) -> io::Result<Input> {
    let mut input = capture::open_all(paths)?;
    let mut first = Vec::new();
    let end = (&mut input).take(FIRST_BYTES).read_to_end(&mut first).err();
    if first.is_empty()
        && let Some(error) = end
    {
        return Err(error);
    }
    let feeds = match known {
        Some(feeds) => feeds,
        None => CapturedFeed::detect(&first[..])?,
    };
    let device = detect_device(&first, times)?;
    let reader = Cursor::new(first).chain(FailingEnd(end)).chain(input);
    Ok(Input { reader: Box::new(reader), feeds, device })
}

/// Chooses the source of times. Without a choice, a device's are used if nearly all packets have
/// one that is near the capture's.
fn detect_device(first: &[u8], times: Times) -> io::Result<Option<DeviceTime>> {
    let is_candidate = |device: &DeviceTime| match times {
        Times::Auto => true,
        Times::Capture => false,
        Times::Metamako => matches!(device, DeviceTime::Metamako { .. }),
        Times::Exablaze => matches!(device, DeviceTime::Exablaze { .. }),
        Times::Arista => matches!(device, DeviceTime::Arista),
    };
    let mut votes: Vec<(DeviceTime, u32)> =
        DeviceTime::ALL.into_iter().filter(is_candidate).map(|device| (device, 0)).collect();
    let (mut packets, mut reader) = (0, CaptureReader::new(first)?);
    while packets < COMPARED
        && !votes.is_empty()
        && let Ok(Some(frame)) = reader.next_frame()
    {
        let Ok(payload) = frame.payload() else { continue };
        if payload == Payload::Other {
            continue;
        }
        packets += 1;
        for (device, count) in &mut votes {
            let is_near = |time: u64| {
                let captured = frame.time.map(|captured| captured.utc.as_nanos());
                times != Times::Auto || captured.is_some_and(|it| it.abs_diff(time) <= NEAR)
            };
            let time = device.read(&frame, &payload);
            *count += u32::from(time.is_some_and(|time| is_near(time.as_nanos())));
        }
    }
    // Of equals, the first.
    let best = votes.into_iter().rev().max_by_key(|(_, count)| *count);
    match (best, times) {
        (Some((device, count)), Times::Auto) => {
            Ok((packets > 0 && count * 100 >= packets * ENOUGH_PERCENT).then_some(device))
        }
        (Some((_, 0)), _) => {
            let what = format!("no packet of the first {packets} has such a time");
            Err(io::Error::new(io::ErrorKind::InvalidData, format!("cannot use --times: {what}")))
        }
        (best, _) => Ok(best.map(|(device, _)| device)),
    }
}

/// An empty reader that returns an error once.
struct FailingEnd(Option<io::Error>);

impl Read for FailingEnd {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}
