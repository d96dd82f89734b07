//! Atomic writing of files that other processes may read.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Replaces a file atomically: readers see the old or the complete new contents.
///
/// Follows a symbolic link. Writes to an existing pipe or terminal instead of replacing it.
///
/// # Errors
/// The system's, for the file or the temporary file next to it; the error of `content`.
pub(crate) fn write(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    match fs::metadata(&target) {
        Ok(existing) if !existing.is_file() => write_into(&target, content),
        _ => replace(&target, content),
    }
}

/// Replaces a file by `text` atomically, like results and reports: readers see the old or the
/// complete
/// new contents.
///
/// # Errors
/// The system's, for the file or the temporary file next to it.
pub fn write_text(path: &Path, text: &str) -> io::Result<()> {
    write(path, |file| file.write_all(text.as_bytes()))
}

fn replace(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let temporary = temporary_path(path);
    let created = create_temporary(&temporary);
    let written = created.and_then(|file| fill(file, content));
    let written = written.and_then(|()| fs::rename(&temporary, path));
    written.inspect_err(|_| {
        // The file may not exist.
        let _ = fs::remove_file(&temporary);
    })
}

fn write_into(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    fill(File::create(path)?, content)
}

fn fill(
    file: File,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = BufWriter::new(file);
    content(&mut file)?;
    file.flush()
}

/// Creates a temporary file, in a folder in which other users may create links. A file or link of
/// this name is a leftover, which is removed.
///
/// # Errors
/// The system's; `AlreadyExists` if another process creates the name in the meantime.
pub fn create_temporary(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // A new file follows no link.
    File::create_new(path)
}

/// Returns a temporary name in the same folder, because a rename cannot leave its file system. The
/// process id separates concurrent runs.
fn temporary_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_path_is_in_the_same_folder() {
        let temporary = temporary_path(Path::new("out/a.json"));
        assert_eq!(temporary.parent(), Some(Path::new("out")));
        assert_ne!(temporary, Path::new("out/a.json"));
    }

    #[test]
    fn temporary_file_follows_no_link() {
        let folder = tempfile::tempdir().unwrap();
        let [path, other] = ["a.json", "other"].map(|name| folder.path().join(name));
        fs::write(&other, "kept").unwrap();
        std::os::unix::fs::symlink(&other, temporary_path(&path)).unwrap();
        write_text(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_to_string(&other).unwrap(), "kept");
        assert!(path.symlink_metadata().unwrap().is_file());
    }

    #[test]
    fn failed_write_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.svg");
        write(&path, |file| file.write_all(b"old")).unwrap();
        let broken = write(&path, |file| {
            file.write_all(b"new")?;
            Err(io::Error::other("no more"))
        });
        assert_eq!(broken.unwrap_err().to_string(), "no more");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
