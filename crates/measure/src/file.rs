//! Files that others may read while they are written.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file whole or not at all: readers see what was there before or all that is new.
///
/// A symbolic link is followed. What is there and is no file (a pipe, a terminal) is written to,
/// not replaced.
///
/// # Errors
/// What the system says of the file or of the one beside it, or what `content` says.
pub(crate) fn write(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    match fs::metadata(&target) {
        Ok(there) if !there.is_file() => write_into(&target, content),
        _ => replace(&target, content),
    }
}

/// Puts `text` in the place of a file, whole or not at all, as results and reports are written:
/// readers see what was there before or all that is new.
///
/// # Errors
/// What the system says of the file or of the one beside it.
pub fn write_text(path: &Path, text: &str) -> io::Result<()> {
    write(path, |file| file.write_all(text.as_bytes()))
}

fn replace(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let beside = path_beside(path);
    let written = write_into(&beside, content).and_then(|()| fs::rename(&beside, path));
    written.inspect_err(|_| {
        // If it is not there, there is nothing to clear away.
        let _ = fs::remove_file(&beside);
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

/// A name in the same folder, for a rename cannot leave its file system. The process id keeps two
/// runs apart.
fn path_beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_beside_stays_in_the_folder() {
        let beside = path_beside(Path::new("out/a.json"));
        assert_eq!(beside.parent(), Some(Path::new("out")));
        assert_ne!(beside, Path::new("out/a.json"));
    }

    #[test]
    fn what_fails_half_way_leaves_the_old_file() {
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
