//! A byte arena that several processes map, each at its own address.

use std::fs::File;
use std::io;

use memmap2::MmapRaw;

use crate::mapping;

const FILE_NAME: &std::ffi::CStr = c"hairpin-arena";

/// The error of creating or opening an arena.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArenaError {
    /// The file is not a memory file of sealed size. It could shrink while it is mapped.
    #[error("not a memory file of sealed size")]
    NotSealed,
    /// The file does not have the expected size.
    #[error("the file has {found} bytes, expected {expected}")]
    Size {
        /// The expected size in bytes.
        expected: usize,
        /// The file's size in bytes.
        found: u64,
    },
    /// The kernel returned an error.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// An arena of bytes: a memory file of sealed size, mapped completely.
///
/// Any process with the descriptor can map the arena at any address, since the arena contains no
/// addresses. The arena is page-aligned and fully populated. It exists until the last process
/// closes and unmaps it. The descriptor is close-on-exec.
///
/// Concurrent access is undefined behavior, within a process and between processes. All users must
/// agree on a lock and access the bytes only while they hold it. The lock is outside this type.
///
/// ```
/// use hairpin_mapped::Arena;
///
/// let mut ours = Arena::create(4_096)?;
/// let mut theirs = Arena::open(ours.file().try_clone()?, 4_096)?;
/// // SAFETY: no other process has the arena, and the two mappings are used one after the other.
/// unsafe {
///     ours.as_mut_bytes()[..5].copy_from_slice(b"order");
///     assert_eq!(&theirs.as_mut_bytes()[..5], b"order");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Arena {
    memory: MmapRaw,
    file: File,
}

impl Arena {
    /// Creates an arena of `length` zero bytes.
    ///
    /// # Errors
    /// [`ArenaError::Io`] if memory or descriptors are exhausted, and for a length of 0.
    pub fn create(length: usize) -> Result<Self, ArenaError> {
        let file = mapping::create(FILE_NAME)?;
        mapping::allocate(&file, length as u64)?;
        mapping::seal(&file)?;
        Self::open(file, length)
    }

    /// Maps the arena of another process. `length` is the length that the process reported.
    ///
    /// # Errors
    /// Every [`ArenaError`].
    pub fn open(file: File, length: usize) -> Result<Self, ArenaError> {
        // Checked first: a file that shrinks while it is mapped kills the process.
        if !mapping::is_sealed(&file) || !mapping::is_ordinary(&file)? {
            return Err(ArenaError::NotSealed);
        }
        let found = file.metadata()?.len();
        if found != length as u64 {
            return Err(ArenaError::Size { expected: length, found });
        }
        Ok(Self { memory: mapping::map(&file)?, file })
    }

    /// Returns the file, to be passed to another process.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns the bytes.
    ///
    /// # Safety
    /// While the bytes are borrowed, no other thread or process reads or writes them through any
    /// mapping: the caller holds the lock that all users of the arena have agreed on.
    #[must_use]
    #[inline]
    pub unsafe fn as_mut_bytes(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is readable and writable and has the length of the file, whose size
        // is sealed. It lives as long as `self`, which is borrowed for as long as the bytes are.
        // Any byte value is valid. The caller guarantees exclusive access.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr(), self.memory.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the bytes of one mapping; the tests use mappings one after the other.
    fn bytes(arena: &mut Arena) -> &mut [u8] {
        // SAFETY: the tests use one mapping at a time, on one thread.
        unsafe { arena.as_mut_bytes() }
    }

    #[test]
    fn mappings_share_bytes() {
        let mut ours = Arena::create(10_000).unwrap();
        let mut theirs = Arena::open(ours.file().try_clone().unwrap(), 10_000).unwrap();
        assert_eq!((bytes(&mut theirs).len(), bytes(&mut ours).len()), (10_000, 10_000));
        assert!(bytes(&mut theirs).iter().all(|&byte| byte == 0));
        bytes(&mut ours)[9_999] = 7;
        drop(ours);
        assert_eq!(bytes(&mut theirs)[9_999], 7);
        assert_eq!(bytes(&mut theirs).as_ptr() as usize % 4_096, 0);
    }

    #[test]
    fn open_rejects_wrong_length() {
        let arena = Arena::create(8_192).unwrap();
        for length in [0, 4_096, 8_191, 8_193, 1 << 40] {
            let error = Arena::open(arena.file().try_clone().unwrap(), length).unwrap_err();
            assert!(
                matches!(error, ArenaError::Size { expected, found: 8_192 } if expected == length)
            );
        }
        assert!(matches!(Arena::create(0), Err(ArenaError::Io(_))));
    }

    #[test]
    fn open_rejects_unsealed_file() {
        let file = mapping::create(FILE_NAME).unwrap();
        mapping::allocate(&file, 4_096).unwrap();
        let unsealed = Arena::open(file.try_clone().unwrap(), 4_096);
        assert!(matches!(unsealed, Err(ArenaError::NotSealed)));
        mapping::seal(&file).unwrap();
        assert!(Arena::open(file, 4_096).is_ok());
        let file = tempfile::tempfile().unwrap();
        file.set_len(4_096).unwrap();
        assert!(matches!(Arena::open(file, 4_096), Err(ArenaError::NotSealed)));
        if let Some(huge) = mapping::tests::huge() {
            assert!(matches!(Arena::open(huge, 2 << 20), Err(ArenaError::NotSealed)));
        }
    }

    #[test]
    fn size_is_sealed_and_descriptor_is_close_on_exec() {
        use std::os::fd::AsRawFd;
        let arena = Arena::create(4_096).unwrap();
        assert!(arena.file().set_len(0).is_err());
        assert!(arena.file().set_len(8_192).is_err());
        // SAFETY: F_GETFD takes no argument and accesses no memory of this process.
        let flags = unsafe { libc::fcntl(arena.file().as_raw_fd(), libc::F_GETFD) };
        assert_eq!(flags & libc::FD_CLOEXEC, libc::FD_CLOEXEC);
    }
}
