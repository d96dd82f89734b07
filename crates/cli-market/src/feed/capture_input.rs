//! The capture to read, and its groups if no configuration file names them.

use std::io::{self, Cursor, Read, Write};
use std::path::{Path, PathBuf};

use hairpin_feed_handler::CaptureGroups;
use hairpin_measure::counted;

use crate::decode::capture::{self, Captured, Payload};
use crate::decode::error_lines::ErrorLines;
use crate::decode::other_traffic::OtherTraffic;

/// The part of a pipe that is read, before anything is printed, to detect its groups: seconds of a
/// busy channel, enough to see all its feeds.
const LOOKED_AT: u64 = 32 << 20;

/// Opens captures at their beginning. Groups that are not given are detected: a file is read to its
/// end once before; for a pipe, the beginning is buffered. If it has no groups, `err` receives what
/// was
/// not decoded.
///
/// # Errors
/// If it cannot be read or is not a capture, or if it does not contain exactly one channel.
pub(super) fn open(
    paths: &[PathBuf],
    groups: Option<CaptureGroups>,
    err: &mut impl Write,
) -> io::Result<(CaptureGroups, Box<dyn Read + Send>)> {
    let mut input = capture::open_all(paths)?;
    if let Some(groups) = groups {
        return Ok((groups, input));
    }
    let are_pipes = paths.iter().map(|path| is_pipe(path)).collect::<io::Result<Vec<_>>>()?;
    if !are_pipes.contains(&true) {
        let groups = match CaptureGroups::detect(input) {
            Ok(groups) => groups,
            Err(error) => return Err(explain(error, capture::open_all(paths)?, err)?),
        };
        return Ok((groups, capture::open_all(paths)?));
    }
    let mut first = Vec::new();
    (&mut input).take(LOOKED_AT).read_to_end(&mut first)?;
    match CaptureGroups::detect(&first[..]) {
        Ok(groups) => Ok((groups, Box::new(Cursor::new(first).chain(input)))),
        Err(error) => Err(explain(error, &first[..], err)?),
    }
}

/// Writes one line for each kind of packets that cannot be decoded, and returns the error of the
/// detection, with the command for a capture of TCP.
///
/// # Errors
/// Those of `err`.
fn explain(error: io::Error, input: impl Read, err: &mut impl Write) -> io::Result<io::Error> {
    let (mut others, mut errors) = (OtherTraffic::default(), ErrorLines::default());
    let (mut packets, mut segments) = (0, 0_u64);
    let read = capture::read(input, |Captured { payload, protocol, .. }| {
        packets += 1;
        protocol.into_iter().for_each(|protocol| others.count_protocol(protocol));
        match payload {
            Err(what) => drop(errors.record(packets, &what)),
            Ok(Payload::Segment { bytes, .. }) => segments += u64::from(!bytes.is_empty()),
            Ok(_) => {}
        }
        Ok(())
    });
    // Its error is the one of the detection.
    if read.is_ok() {
        errors.write("", err)?;
        others.write(err)?;
    }
    Ok(match segments {
        0 => error,
        _ => io::Error::new(
            error.kind(),
            format!(
                "{error}; {} found: `hairpin decode` prints order entry and replays",
                counted(segments, "TCP packet")
            ),
        ),
    })
}

/// Returns `true` if it can be read only once.
fn is_pipe(path: &Path) -> io::Result<bool> {
    Ok(capture::is_standard_input(path) || !path.metadata()?.is_file())
}
