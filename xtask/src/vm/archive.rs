//! A writer of cpio archives in the "newc" format, which the kernel unpacks as its initial RAM file
//! system (Linux, Documentation/driver-api/early-userspace/buffer-format.rst).

use std::collections::BTreeSet;
use std::io::{self, Write};

const DIRECTORY: u32 = 0o040_755;
const FILE: u32 = 0o100_755;
const CHARACTER_DEVICE: u32 = 0o020_600;

/// An archive. Everything in it belongs to root and is executable.
pub(super) struct Archive<W> {
    out: W,
    inode: u32,
    folders: BTreeSet<String>,
}

impl<W: Write> Archive<W> {
    /// Starts an archive, with the console that the kernel opens for its first process.
    pub(super) fn new(out: W) -> io::Result<Self> {
        let mut archive = Self { out, inode: 0, folders: BTreeSet::new() };
        archive.folders_of("dev/console")?;
        archive.entry("dev/console", CHARACTER_DEVICE, (5, 1), &[])?;
        Ok(archive)
    }

    /// Adds a file, and the folders above it.
    pub(super) fn file(&mut self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let path = path.trim_start_matches('/');
        self.folders_of(path)?;
        self.entry(path, FILE, (0, 0), bytes)
    }

    /// Ends the archive.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.entry("TRAILER!!!", 0, (0, 0), &[])?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn folders_of(&mut self, path: &str) -> io::Result<()> {
        for (end, _) in path.match_indices('/') {
            let folder = &path[..end];
            if self.folders.insert(folder.to_owned()) {
                self.entry(folder, DIRECTORY, (0, 0), &[])?;
            }
        }
        Ok(())
    }

    /// Writes a header of 110 bytes, the name and the bytes, each padded to 4 bytes.
    fn entry(&mut self, name: &str, mode: u32, device: (u32, u32), bytes: &[u8]) -> io::Result<()> {
        self.inode += 1;
        let too_long = |_| io::Error::other(format!("{name} is too long for a cpio archive"));
        let size = u32::try_from(bytes.len()).map_err(too_long)?;
        let name_size = u32::try_from(name.len() + 1).map_err(too_long)?;
        let (inode, (major, minor)) = (self.inode, device);
        // Inode, mode, user, group, links, time, size, device of the file system, device, length
        // of the name, check sum.
        let fields = [inode, mode, 0, 0, 1, 0, size, 0, 0, major, minor, name_size, 0];
        write!(self.out, "070701")?;
        for field in fields {
            write!(self.out, "{field:08x}")?;
        }
        write!(self.out, "{name}\0")?;
        self.pad(110 + name.len() + 1)?;
        self.out.write_all(bytes)?;
        self.pad(bytes.len())
    }

    fn pad(&mut self, length: usize) -> io::Result<()> {
        self.out.write_all(&[0; 3][..length.next_multiple_of(4) - length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligns_entries_and_adds_each_folder_once() {
        let mut archive = Archive::new(Vec::new()).unwrap();
        archive.file("/a/b/c", b"hello").unwrap();
        archive.file("a/b/d", b"").unwrap();
        let bytes = archive.finish().unwrap();
        assert_eq!(bytes.len() % 4, 0);
        let text = String::from_utf8_lossy(&bytes);
        let starts: Vec<usize> = text.match_indices("070701").map(|(at, _)| at).collect();
        // dev, dev/console, a, a/b, a/b/c, a/b/d, the trailer.
        assert_eq!(starts.len(), 7);
        assert!(starts.iter().all(|at| at % 4 == 0));
        assert!(text.contains("a/b/c\0"));
    }
}
