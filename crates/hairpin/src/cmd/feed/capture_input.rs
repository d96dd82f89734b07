//! The capture that is read, and its groups where nobody says them.

use std::io::{self, Cursor, Read};
use std::path::Path;

use super::group_map::GroupMap;
use crate::cmd::decode::capture;

/// So much of a pipe is read before anything is printed, to find out its groups: seconds of a busy
/// channel, in which all its feeds are seen.
const LOOKED_AT: u64 = 32 << 20;

/// Opens a capture at its beginning. GroupMap that are not given are found out: a file is read to its
/// end once before, of a pipe the beginning is held.
///
/// # Errors
/// If it cannot be read or is no capture, or if there is not one channel in it.
pub(super) fn open(path: &Path, groups: Option<GroupMap>) -> io::Result<(GroupMap, Box<dyn Read>)> {
    let mut input = capture::open(path)?;
    if let Some(groups) = groups {
        return Ok((groups, input));
    }
    if !is_pipe(path)? {
        return Ok((GroupMap::detect(input)?, capture::open(path)?));
    }
    let mut first = Vec::new();
    (&mut input).take(LOOKED_AT).read_to_end(&mut first)?;
    let groups = GroupMap::detect(&first[..])?;
    Ok((groups, Box::new(Cursor::new(first).chain(input))))
}

/// Whether it can be read only once.
fn is_pipe(path: &Path) -> io::Result<bool> {
    Ok(capture::is_standard_input(path) || !path.metadata()?.is_file())
}
