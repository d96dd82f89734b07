//! Bytes that several processes share, each at an address of its own.

use std::fs::File;
use std::io;

use memmap2::MmapRaw;

use crate::memory;

const FILE_NAME: &std::ffi::CStr = c"hairpin-arena";

/// Why there is no arena.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArenaError {
    /// The file's size is not fixed, or it is no memory file: it could end under who has mapped it.
    #[error("no sealed memory file")]
    NotSealed,
    /// The file is not as long as it was said to be.
    #[error("{found} bytes, where {expected} were promised")]
    Size {
        /// What was promised, in bytes.
        expected: usize,
        /// The file's, in bytes.
        found: u64,
    },
    /// The kernel's error.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// An arena of bytes in a memory file whose size is sealed, mapped whole.
///
/// Any process that has got the descriptor maps it too, wherever there is room for it: what lies in
/// it holds no addresses. It begins on a page, all of it is in memory at once, and it is there
/// until the last process that has it open or mapped is gone. The descriptor is close-on-exec.
///
/// Who reads or writes while another does sees nonsense, in the same process as in another one. So
/// all of them agree on a lock, and take the bytes only while they hold it: that is theirs to see
/// to, and outside this type.
///
/// ```
/// use hairpin_mapped::Arena;
///
/// let mut ours = Arena::create(4_096)?;
/// let mut theirs = Arena::open(ours.file().try_clone()?, 4_096)?;
/// // SAFETY: nobody else has it, and here one is done before the other begins.
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
    /// Makes an arena of `length` bytes, all zero.
    ///
    /// # Errors
    /// [`ArenaError::Io`] for want of memory or descriptors, and for a length of 0.
    pub fn create(length: usize) -> Result<Self, ArenaError> {
        let file = memory::create(FILE_NAME)?;
        memory::allocate(&file, length as u64)?;
        memory::seal(&file)?;
        Self::open(file, length)
    }

    /// Maps the arena of another process, whose length it has told.
    ///
    /// # Errors
    /// Every [`ArenaError`].
    pub fn open(file: File, length: usize) -> Result<Self, ArenaError> {
        // Before anything else: a file that can shrink kills whoever maps it.
        if !memory::is_sealed(&file) || !memory::is_ordinary(&file)? {
            return Err(ArenaError::NotSealed);
        }
        let found = file.metadata()?.len();
        if found != length as u64 {
            return Err(ArenaError::Size { expected: length, found });
        }
        Ok(Self { memory: memory::map(&file)?, file })
    }

    /// The file, to be given to another process.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Its bytes.
    ///
    /// # Safety
    /// While they are borrowed nobody else reads or writes them, by whatever mapping and in
    /// whatever process: the caller holds the lock that all users of the arena have agreed on.
    #[must_use]
    #[inline]
    pub unsafe fn as_mut_bytes(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is readable and writable, as long as the file, whose size is sealed,
        // and lives as long as `self`, which is borrowed for as long as the bytes are. Any byte is
        // a value. That nobody else uses them is the caller's word.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr(), self.memory.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One is used after the other.
    fn bytes(arena: &mut Arena) -> &mut [u8] {
        // SAFETY: the tests use one mapping at a time, on one thread.
        unsafe { arena.as_mut_bytes() }
    }

    #[test]
    fn what_one_writes_the_other_reads() {
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
    fn another_length_than_was_told_is_refused() {
        let arena = Arena::create(8_192).unwrap();
        for length in [0, 4_096, 8_191, 8_193, 1 << 40] {
            let refused = Arena::open(arena.file().try_clone().unwrap(), length).unwrap_err();
            assert!(
                matches!(refused, ArenaError::Size { expected, found: 8_192 } if expected == length)
            );
        }
        assert!(matches!(Arena::create(0), Err(ArenaError::Io(_))));
    }

    #[test]
    fn what_is_not_sealed_is_refused() {
        let file = memory::create(FILE_NAME).unwrap();
        memory::allocate(&file, 4_096).unwrap();
        let unsealed = Arena::open(file.try_clone().unwrap(), 4_096);
        assert!(matches!(unsealed, Err(ArenaError::NotSealed)));
        memory::seal(&file).unwrap();
        assert!(Arena::open(file, 4_096).is_ok());
        let file = tempfile::tempfile().unwrap();
        file.set_len(4_096).unwrap();
        assert!(matches!(Arena::open(file, 4_096), Err(ArenaError::NotSealed)));
        if let Some(huge) = memory::tests::huge() {
            assert!(matches!(Arena::open(huge, 2 << 20), Err(ArenaError::NotSealed)));
        }
    }

    #[test]
    fn its_size_is_fixed_and_its_descriptor_is_not_inherited() {
        use std::os::fd::AsRawFd;
        let arena = Arena::create(4_096).unwrap();
        assert!(arena.file().set_len(0).is_err());
        assert!(arena.file().set_len(8_192).is_err());
        // SAFETY: F_GETFD takes no argument and touches no memory of ours.
        let flags = unsafe { libc::fcntl(arena.file().as_raw_fd(), libc::F_GETFD) };
        assert_eq!(flags & libc::FD_CLOEXEC, libc::FD_CLOEXEC);
    }
}
