//! Files that appear under their names when they are complete.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::Builder;

/// The beginning of the names of incomplete files.
const PREFIX: &str = ".hairpin-export-";

/// Returns an error with the path of a file.
pub(super) fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()))
}

/// Returns the error of a file that must not be replaced.
pub(super) fn exists(path: &Path) -> io::Error {
    let text = format!("cannot write {}: file exists; --force replaces it", path.display());
    io::Error::new(io::ErrorKind::AlreadyExists, text)
}

/// Writes a file by `write`, syncs it to disk and renames it into place. After an error, or if the
/// process dies, no file has the name.
///
/// # Errors
/// Those of `write` and the file system, with the path; the file exists and `force` is not set.
pub(crate) fn write(
    path: &Path,
    force: bool,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let failed = |error: io::Error| named(path, &error);
    // As any program creates a file: the umask removes permissions.
    let permissions = Permissions::from_mode(0o666);
    let mut builder = Builder::new();
    builder.prefix(PREFIX).permissions(permissions);
    let mut file = builder.tempfile_in(folder).map_err(failed)?;
    // Marks the file as one of a living process.
    file.as_file().try_lock().map_err(|error| failed(error.into()))?;
    write(file.as_file_mut()).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    let placed = if force { file.persist(path) } else { file.persist_noclobber(path) };
    match placed {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Err(exists(path)),
        Err(error) => Err(failed(error.error)),
    }
}

/// Removes the incomplete files of killed processes from a folder. What cannot be removed stays.
pub(super) fn remove_abandoned(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_partial = entry.file_name().to_string_lossy().starts_with(PREFIX);
        // In a shared folder the name may be that of anything, and opening a pipe waits.
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        let is_free = || File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
        if is_partial && is_file && is_free() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn failed_file_has_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.dbn");
        let error = write(&path, false, |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("disk full"))
        });
        let text = error.unwrap_err().to_string();
        assert_eq!(text, format!("cannot write {}: disk full", path.display()));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn existing_file_stays_without_force() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.dbn");
        fs::write(&path, "first").unwrap();
        let error = write(&path, false, |file| file.write_all(b"second")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"first");
        write(&path, true, |file| file.write_all(b"second")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
    }

    #[test]
    fn abandoned_files_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let [dead, other] = [".hairpin-export-dead", "kept"].map(|name| folder.path().join(name));
        fs::write(&dead, "").unwrap();
        fs::write(&other, "").unwrap();
        let alive = Builder::new().prefix(PREFIX).tempfile_in(folder.path()).unwrap();
        alive.as_file().try_lock().unwrap();
        remove_abandoned(folder.path());
        assert!(!dead.exists() && other.exists() && alive.path().exists());
    }
}
