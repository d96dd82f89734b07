//! The files of a journal: its segments and its lock file.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::JournalError;
use super::format::SegmentHeader;
use super::segment::Segment;

/// The name of the file that is locked while a journal is open.
const LOCK: &str = "lock";
/// The extensions of complete and of unfinished segments.
const WHOLE: &str = "segment";
const UNFINISHED: &str = "unfinished";

/// A mapped segment file.
#[derive(Debug)]
pub(super) struct MappedSegment {
    pub(super) file: File,
    pub(super) path: PathBuf,
    pub(super) segment: Segment,
}

/// Returns the path of the segment with this number.
pub(super) fn path_of(directory: &Path, number: u32) -> PathBuf {
    directory.join(format!("{number:010}.{WHOLE}"))
}

/// Creates the directory of a journal, unless an empty one exists. Returns `true` if it was
/// created.
///
/// # Errors
/// `AlreadyExists` if the path is a non-empty directory or not a directory.
pub(super) fn create_directory(directory: &Path) -> io::Result<bool> {
    match fs::DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => {
            check_empty(directory)?;
            Ok(false)
        }
        made => made.map(|()| true),
    }
}

/// # Errors
/// `AlreadyExists` if the directory contains more than the leftovers of a creator that died before
/// its first segment.
pub(super) fn check_empty(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let is_leftover = path.file_name().is_some_and(|name| name == LOCK)
            || path.extension().is_some_and(|extension| extension == UNFINISHED);
        if !is_leftover {
            let what =
                "cannot create the journal: the directory is not empty and contains no journal";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
        }
    }
    Ok(())
}

/// Lists the segment numbers of a directory in order. Other files are ignored.
pub(super) fn segments(directory: &Path) -> io::Result<Vec<u32>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| {
            let digits = name.strip_suffix(WHOLE)?.strip_suffix('.')?;
            (digits.len() == 10).then(|| digits.parse::<u32>().ok())?
        });
        numbers.extend(number);
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Returns the size of the newest segment in bytes, or the default size without segments.
pub(super) fn newest_bytes(directory: &Path) -> io::Result<u64> {
    let Some(&newest) = segments(directory)?.last() else {
        return Ok(super::JournalSettings::SEGMENT_BYTES);
    };
    Ok(path_of(directory, newest).metadata()?.len().min(super::format::SEGMENT_MAX))
}

/// Locks the directory for as long as the returned file is open.
///
/// # Errors
/// [`JournalError::Busy`] if it is already locked, by this process or another.
pub(super) fn lock(directory: &Path) -> Result<File, JournalError> {
    let path = directory.join(LOCK);
    let mut options = OpenOptions::new();
    let file =
        options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(JournalError::Busy { path: directory.to_owned() }),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// Creates the file of an empty segment, atomically.
///
/// Its blocks are allocated and its pages present. If `durable`, its directory entry is on disk.
pub(super) fn create(
    directory: &Path,
    number: u32,
    bytes: u64,
    durable: bool,
) -> io::Result<MappedSegment> {
    let path = path_of(directory, number);
    let unfinished = path.with_extension(UNFINISHED);
    let made = make(&unfinished, number, bytes, durable).and_then(|(file, segment)| {
        fs::rename(&unfinished, &path)?;
        Ok(MappedSegment { file, path, segment })
    });
    if made.is_err() {
        // Return the first error.
        let _ = fs::remove_file(&unfinished);
    } else if durable {
        File::open(directory)?.sync_all()?;
    }
    made
}

fn make(path: &Path, number: u32, bytes: u64, durable: bool) -> io::Result<(File, Segment)> {
    let mut options = OpenOptions::new();
    // A file of that name is a leftover of a process that died while creating it.
    let file = options.read(true).write(true).create(true).truncate(true).mode(0o600).open(path)?;
    let created = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let header = SegmentHeader { number, bytes, created: created as u64, boot: boot_id()? };
    Segment::format(&file, &header)?;
    if durable {
        file.sync_all()?;
    }
    let segment = Segment::map(&file, number)?;
    Ok((file, segment))
}

/// Removes the unfinished segments of a process that died.
pub(super) fn remove_unfinished(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == UNFINISHED) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Returns the kernel's boot id, which changes with each boot.
pub(super) fn boot_id() -> io::Result<[u8; 16]> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    let number = u128::from_str_radix(&digits, 16).map_err(|_| io::ErrorKind::InvalidData)?;
    Ok(number.to_be_bytes())
}
