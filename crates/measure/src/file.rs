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
    let written = write_into(&temporary, content).and_then(|()| fs::rename(&temporary, path));
    written.inspect_err(|_| {
        // The file may not exist.
        let _ = fs::remove_file(&temporary);
    })
}

fn write_into(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    content(&mut file)?;
    file.flush()
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
