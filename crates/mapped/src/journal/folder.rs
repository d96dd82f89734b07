//! The files of a journal: one for each segment, and one that is locked.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::JournalError;
use super::format::SegmentHeader;
use super::segment::Segment;

/// The file that is locked while a journal is open.
const LOCK: &str = "lock";
/// How files of segments end, and those not yet whole.
const WHOLE: &str = "segment";
const UNFINISHED: &str = "unfinished";

/// The file of a segment, mapped.
#[derive(Debug)]
pub(super) struct Mapped {
    pub(super) file: File,
    pub(super) path: PathBuf,
    pub(super) segment: Segment,
}

/// Where the segment of this number is.
pub(super) fn path_of(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("{number:010}.{WHOLE}"))
}

/// Makes the folder of a journal, unless there is an empty one: whether it was made.
///
/// # Errors
/// `AlreadyExists` if it holds anything, or is none.
pub(super) fn make_folder(folder: &Path) -> io::Result<bool> {
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {
            check_empty(folder)?;
            Ok(false)
        }
        made => made.map(|()| true),
    }
}

/// # Errors
/// `AlreadyExists` if a folder holds more than a maker leaves that dies before its first segment.
pub(super) fn check_empty(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_left = path.file_name().is_some_and(|name| name == LOCK)
            || path.extension().is_some_and(|extension| extension == UNFINISHED);
        if !is_left {
            let what = "the folder is not empty, and holds no journal";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
        }
    }
    Ok(())
}

/// The segments of a folder, by number. Files of other names are none of ours.
pub(super) fn segments(folder: &Path) -> io::Result<Vec<u32>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder)? {
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

/// Bytes of the newest segment; of a new one if there is none.
pub(super) fn newest_bytes(folder: &Path) -> io::Result<u64> {
    let Some(&newest) = segments(folder)?.last() else {
        return Ok(super::JournalSettings::SEGMENT_BYTES);
    };
    Ok(path_of(folder, newest).metadata()?.len().min(super::format::SEGMENT_MAX))
}

/// Locks the folder for as long as the file returned is open.
///
/// # Errors
/// [`JournalError::Busy`] if somebody has it open, this process included.
pub(super) fn lock(folder: &Path) -> Result<File, JournalError> {
    let path = folder.join(LOCK);
    let mut options = OpenOptions::new();
    let file =
        options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(JournalError::Busy { path: folder.to_owned() }),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// Makes the file of an empty segment: whole or not at all.
///
/// Its blocks are there, its pages present, and, if `durable`, its name is on the disk.
pub(super) fn create(folder: &Path, number: u32, bytes: u64, durable: bool) -> io::Result<Mapped> {
    let path = path_of(folder, number);
    let unfinished = path.with_extension(UNFINISHED);
    let made = make(&unfinished, number, bytes, durable).and_then(|(file, segment)| {
        fs::rename(&unfinished, &path)?;
        Ok(Mapped { file, path, segment })
    });
    if made.is_err() {
        // The first error is the one worth telling.
        let _ = fs::remove_file(&unfinished);
    } else if durable {
        File::open(folder)?.sync_all()?;
    }
    made
}

fn make(path: &Path, number: u32, bytes: u64, durable: bool) -> io::Result<(File, Segment)> {
    let mut options = OpenOptions::new();
    // A file of that name was left by a process that died while it made it.
    let file = options.read(true).write(true).create(true).truncate(true).mode(0o600).open(path)?;
    let created = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let header = SegmentHeader { number, bytes, created: created as u64, boot: boot()? };
    Segment::format(&file, &header)?;
    if durable {
        file.sync_all()?;
    }
    let segment = Segment::map(&file, number)?;
    Ok((file, segment))
}

/// Removes what a process left that died while it made segments.
pub(super) fn remove_unfinished(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == UNFINISHED) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// What the kernel calls this run of the machine: other after each start of it.
pub(super) fn boot() -> io::Result<[u8; 16]> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    let number = u128::from_str_radix(&digits, 16).map_err(|_| io::ErrorKind::InvalidData)?;
    Ok(number.to_be_bytes())
}
