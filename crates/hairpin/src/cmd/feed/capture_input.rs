//! The capture to read, and its groups if no configuration file names them.

use std::io::{self, Cursor, Read};
use std::path::Path;

use hairpin_feed_handler::CaptureGroups;

use crate::cmd::decode::capture;

/// The part of a pipe that is read, before anything is printed, to detect its groups: seconds of a
/// busy channel, enough to see all its feeds.
const LOOKED_AT: u64 = 32 << 20;

/// Opens a capture at its beginning. Groups that are not given are detected: a file is read to its
/// end once before; for a pipe, the beginning is buffered.
///
/// # Errors
/// If it cannot be read or is not a capture, or if it does not contain exactly one channel.
pub(super) fn open(
    path: &Path,
    groups: Option<CaptureGroups>,
) -> io::Result<(CaptureGroups, Box<dyn Read>)> {
    let mut input = capture::open(path)?;
    if let Some(groups) = groups {
        return Ok((groups, input));
    }
    if !is_pipe(path)? {
        return Ok((CaptureGroups::detect(input)?, capture::open(path)?));
    }
    let mut first = Vec::new();
    (&mut input).take(LOOKED_AT).read_to_end(&mut first)?;
    let groups = CaptureGroups::detect(&first[..])?;
    Ok((groups, Box::new(Cursor::new(first).chain(input))))
}

/// Returns `true` if it can be read only once.
fn is_pipe(path: &Path) -> io::Result<bool> {
    Ok(capture::is_standard_input(path) || !path.metadata()?.is_file())
}
