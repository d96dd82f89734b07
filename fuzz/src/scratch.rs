//! A temporary folder for readers that require a file.

use tempfile::TempDir;

/// Creates a folder in memory, if the system has one. Dropping it deletes the folder.
pub(crate) fn folder() -> TempDir {
    let in_memory = tempfile::tempdir_in("/dev/shm");
    in_memory.or_else(|_| tempfile::tempdir()).expect("a temporary folder can be created")
}
