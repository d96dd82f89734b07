//! The files of a journal: its locked directory and its segments.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::ops::Deref;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::JournalError;
use super::format::SegmentHeader;
use super::segment::Segment;

/// The name of the file that versions before 0.3 lock while a journal is open.
const LOCK: &str = "lock";
/// The extensions of complete and of unfinished segments.
const WHOLE: &str = "segment";
const UNFINISHED: &str = "unfinished";

/// A mapped segment file.
#[derive(Debug)]
pub(super) struct MappedSegment {
    pub(super) file: LockedFile,
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

/// The locked directory of a journal.
///
/// The lock is on the directory itself, so no file can be removed to break it. All files are
/// reached through the descriptor: the journal stays in the directory that is locked, also after
/// the directory was renamed.
#[derive(Debug)]
pub(super) struct Directory {
    file: LockedFile,
    /// The path as given by the caller, for messages.
    path: PathBuf,
    /// `true` if this call has created the directory.
    is_new: bool,
    /// The locked lock file, if a version before 0.3 has left one.
    _earlier_lock: Option<LockedFile>,
}

impl Directory {
    /// Locks a directory until the value is dropped.
    ///
    /// # Errors
    /// [`JournalError::Busy`] if it is already locked, by this process or another.
    pub(super) fn lock(path: &Path) -> Result<Self, JournalError> {
        loop {
            let file = OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY).open(path)?;
            let file = LockedFile::new(file, path)?;
            let mut directory =
                Self { file, path: path.to_owned(), is_new: false, _earlier_lock: None };
            // A creator that failed may have removed the directory before it was locked here.
            if directory.is_at_path()? {
                directory._earlier_lock = directory.lock_earlier()?;
                return Ok(directory);
            }
        }
    }

    /// Creates a directory, unless an empty one exists, and locks it.
    ///
    /// # Errors
    /// Those of [`create_directory`] and [`lock`](Self::lock). Nothing is removed then: another
    /// process has the directory.
    pub(super) fn create(path: &Path) -> Result<Self, JournalError> {
        let is_new = create_directory(path)?;
        Ok(Self { is_new, ..Self::lock(path)? })
    }

    /// Returns the path of the files, which is valid while the directory is locked.
    pub(super) fn files(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.file.as_raw_fd()).into()
    }

    /// Returns a path below [`files`](Self::files) as a path below the caller's path.
    pub(super) fn named(&self, path: &Path) -> PathBuf {
        path.strip_prefix(self.files()).map_or(path.to_owned(), |name| self.path.join(name))
    }

    /// Returns an error with the caller's path.
    pub(super) fn named_error(&self, error: JournalError) -> JournalError {
        match error {
            JournalError::Corrupt { path, offset } => {
                JournalError::Corrupt { path: self.named(&path), offset }
            }
            JournalError::Busy { .. } => JournalError::Busy { path: self.path.clone() },
            error => error,
        }
    }

    /// Removes the directory if [`create`](Self::create) has created it and it is still empty.
    pub(super) fn remove_if_created(&self) {
        if self.is_new && self.is_at_path().unwrap_or(false) {
            // Return the first error. Only an empty directory can be removed.
            let _ = fs::remove_dir(&self.path);
        }
    }

    /// Returns `true` if the caller's path still leads to this directory.
    fn is_at_path(&self) -> io::Result<bool> {
        let id = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        match fs::metadata(&self.path) {
            Ok(found) => Ok(id(found) == id(self.file.metadata()?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn lock_earlier(&self) -> Result<Option<LockedFile>, JournalError> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        match options.open(self.files().join(LOCK)) {
            Ok(file) => LockedFile::new(file, &self.path).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// A locked file or directory.
///
/// The lock ends with the value, also while a child that another thread has forked still has a copy
/// of the descriptor. The end of a child's copy of the value changes nothing.
#[derive(Debug)]
pub(super) struct LockedFile {
    file: File,
    process: u32,
}

impl LockedFile {
    /// # Errors
    /// [`JournalError::Busy`] with the directory if the file is locked; [`JournalError::Io`].
    pub(super) fn new(file: File, directory: &Path) -> Result<Self, JournalError> {
        match file.try_lock() {
            Ok(()) => Ok(Self { file, process: std::process::id() }),
            Err(TryLockError::WouldBlock) => Err(JournalError::Busy { path: directory.to_owned() }),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }
}

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        if self.process == std::process::id() {
            // Otherwise the close ends it.
            let _ = self.file.unlock();
        }
    }
}

/// Opens a segment for writing and locks it: two directories may have links to one file.
///
/// # Errors
/// [`JournalError::Busy`] if another journal has the segment; [`JournalError::Io`].
pub(super) fn open(path: &Path) -> Result<LockedFile, JournalError> {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).custom_flags(libc::O_NOFOLLOW).open(path)?;
    LockedFile::new(file, path.parent().unwrap_or(path))
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
        // No other journal is in the locked directory: another program has created the file.
        if path.symlink_metadata().is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
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

fn make(path: &Path, number: u32, bytes: u64, durable: bool) -> io::Result<(LockedFile, Segment)> {
    // A file of that name is a leftover of a process that died while creating it.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create_new(true).mode(0o600).open(path)?;
    let file = LockedFile::new(file, path).map_err(io::Error::other)?;
    let created = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let header = SegmentHeader { number, bytes, created: created as u64, boot: boot_id()? };
    Segment::format(&file, &header)?;
    if durable {
        file.sync_all()?;
    }
    let segment = Segment::map_guarded(&file, number)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_ends_with_its_value_while_a_child_has_a_copy_of_the_descriptor() {
        let folder = tempfile::tempdir().unwrap();
        let directory = Directory::lock(folder.path()).unwrap();
        let copy = directory.file.try_clone().unwrap();
        let busy = Directory::lock(folder.path());
        assert!(matches!(busy, Err(JournalError::Busy { .. })), "{busy:?}");
        drop(directory);
        drop(Directory::lock(folder.path()).unwrap());
        drop(copy);
    }
}
