//! A folder for what can only be read from a file.

use tempfile::TempDir;

/// A folder in memory, if the system has one; gone when dropped.
pub(crate) fn folder() -> TempDir {
    let in_memory = tempfile::tempdir_in("/dev/shm");
    in_memory.or_else(|_| tempfile::tempdir()).expect("a temporary folder can be made")
}
