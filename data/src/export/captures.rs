//! The captures to read, with the number of bytes read so far.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hairpin_endpoint::capture::{CaptureInput, MergedCaptures};

/// The most files that are open at once; of more, each is open only while it is read.
const MAX_OPEN: usize = 256;

/// The bytes of files that were read.
pub(crate) type BytesRead = Arc<AtomicU64>;

/// A file that counts what is read from it.
struct CountedFile {
    file: File,
    bytes: BytesRead,
}

impl Read for CountedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Opens a capture, or several as one in the order of their packets' times.
///
/// # Errors
/// A file that cannot be read or, of several, is not a capture: one line with its name.
pub(crate) fn open(paths: &[PathBuf], bytes: &BytesRead) -> io::Result<Box<dyn Read + Send>> {
    let open = |path: &PathBuf| -> io::Result<Box<dyn Read + Send>> {
        let failed = |error: io::Error| named(path, &error);
        let file = File::open(path).map_err(failed)?;
        if file.metadata().map_err(failed)?.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        Ok(Box::new(CountedFile { file, bytes: bytes.clone() }))
    };
    if let [path] = paths {
        return open(path);
    }
    let input = |path: &PathBuf| {
        if paths.len() > MAX_OPEN {
            return Ok(CaptureInput::File(path.clone()));
        }
        Ok(CaptureInput::Reader(path.display().to_string(), open(path)?))
    };
    let inputs = paths.iter().map(input).collect::<io::Result<Vec<_>>>()?;
    let merged = MergedCaptures::new(inputs);
    Ok(Box::new(merged.map_err(|error| text(&error, &format!("cannot read {error}")))?))
}

/// Returns the size of all files, or `None` if what is read of them is not counted.
pub(super) fn total_bytes(paths: &[PathBuf]) -> Option<u64> {
    if paths.len() > MAX_OPEN {
        return None;
    }
    paths.iter().map(|path| path.metadata().ok().map(|it| it.len())).sum()
}

/// Returns the name of captures for messages.
pub(super) fn name_of(paths: &[PathBuf]) -> String {
    match paths {
        [path] => path.display().to_string(),
        _ => format!("{} captures", paths.len()),
    }
}

fn named(path: &std::path::Path, error: &io::Error) -> io::Error {
    text(error, &format!("cannot read {}: {error}", path.display()))
}

fn text(error: &io::Error, text: &str) -> io::Error {
    io::Error::new(error.kind(), text.to_owned())
}
