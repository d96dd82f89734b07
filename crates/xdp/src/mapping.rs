//! Memory mappings, unmapped on drop.

use std::ffi::{CStr, c_int};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;

use crate::fork_guard::{Process, watch_forks, without_forks};

/// The seals of a memory file: it cannot shrink, grow or lose its seals.
const SEALS: c_int = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;

/// A readable and writable mapping, without any notion of its content.
///
/// A forked child does not inherit the mapping. A mapped ring would keep the socket open, and
/// memory that the kernel receives into must not become copy-on-write.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    length: usize,
    process: Process,
}

// SAFETY: a mapping belongs to the process, not to a thread.
unsafe impl Send for Mapping {}
// SAFETY: the value only returns an address; each dereference carries its own SAFETY comment.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps private anonymous memory with every page populated.
    pub(crate) fn anonymous(length: usize, huge_pages: bool) -> io::Result<Self> {
        let huge = if huge_pages { libc::MAP_HUGETLB } else { 0 };
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE | huge;
        Self::map(length, flags, -1, 0)
    }

    /// Maps the first `length` bytes of `fd` from `offset`, shared with other mappings of the file.
    pub(crate) fn shared(fd: BorrowedFd<'_>, length: usize, offset: i64) -> io::Result<Self> {
        Self::map(length, libc::MAP_SHARED | libc::MAP_POPULATE, fd.as_raw_fd(), offset)
    }

    fn map(length: usize, flags: c_int, fd: c_int, offset: i64) -> io::Result<Self> {
        without_forks(|| {
            watch_forks()?;
            let mapping = Self::map_inheritable(length, flags, fd, offset)?;
            // SAFETY: the range is the whole mapping, which outlives the call.
            match unsafe { libc::madvise(mapping.start().cast(), length, libc::MADV_DONTFORK) } {
                0 => Ok(mapping),
                _ => Err(io::Error::last_os_error()),
            }
        })
    }

    fn map_inheritable(length: usize, flags: c_int, fd: c_int, offset: i64) -> io::Result<Self> {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: without MAP_FIXED the kernel chooses the address, so no existing mapping is
        // replaced.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length, rights, flags, fd, offset) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, length, process: Process::this() })
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // In a forked child the address may already belong to another mapping.
        if !self.process.is_this() {
            return;
        }
        // SAFETY: the mapping is owned by this value and no reference to it remains. On failure the
        // memory stays mapped, which is harmless.
        unsafe { libc::munmap(self.start().cast(), self.length) };
    }
}

/// Creates a memory file of a sealed size with all its memory allocated; close-on-exec.
pub(crate) fn sealed_file(name: &CStr, length: u64) -> io::Result<File> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: `name` is a NUL-terminated string that outlives the call.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), flags) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and has no other owner.
    let file = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
    allocate(&file, length)?;
    // SAFETY: F_ADD_SEALS takes an integer and accesses no memory of this process.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, SEALS) } {
        0 => Ok(file),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Extends the file to `length` with allocated pages, so that no later store can fail for lack of
/// memory.
fn allocate(file: &File, length: u64) -> io::Result<()> {
    let length = i64::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge)?;
    loop {
        // SAFETY: the call takes a descriptor and two integers and accesses no memory of this
        // process.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, length) } {
            0 => return Ok(()),
            libc::EINTR => {}
            number => return Err(io::Error::from_raw_os_error(number)),
        }
    }
}

/// Returns `true` if the file's size is sealed. `false` for anything but a sealed memory file.
pub(crate) fn is_sealed(file: &File) -> bool {
    // SAFETY: F_GET_SEALS takes no argument and accesses no memory of this process.
    let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
    seals >= 0 && seals & SEALS == SEALS
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: usize = 4_096;
    const ROUNDS: u32 = 40;

    /// Returns `true` if memory is mapped at the address. Async-signal-safe.
    fn is_mapped(at: *mut u8) -> bool {
        // SAFETY: the call only queries an address range.
        unsafe { libc::msync(at.cast(), LENGTH, libc::MS_ASYNC) == 0 }
    }

    /// Checks in the child that the range is unmapped and that dropping the handle leaves a new
    /// mapping there alone.
    fn is_unmapped_and_drop_is_harmless(mapping: Mapping) -> bool {
        let at = mapping.start();
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: MAP_FIXED_NOREPLACE maps only where nothing is mapped.
        let other = unsafe { libc::mmap(at.cast(), LENGTH, libc::PROT_READ, flags, -1, 0) };
        drop(mapping);
        other == at.cast() && is_mapped(at)
    }

    #[test]
    fn forked_child_has_no_mapping_and_unmaps_nothing() {
        let file = sealed_file(c"hairpin-test", LENGTH as u64).unwrap();
        let shared = Mapping::shared(std::os::fd::AsFd::as_fd(&file), LENGTH, 0).unwrap();
        for mapping in [Mapping::anonymous(LENGTH, false).unwrap(), shared] {
            assert!(is_mapped(mapping.start()));
            // SAFETY: the child makes only system calls and exits.
            match unsafe { libc::fork() } {
                0 => {
                    let passed = is_unmapped_and_drop_is_harmless(mapping);
                    // SAFETY: ends the child immediately.
                    unsafe { libc::_exit(i32::from(!passed)) }
                }
                child => {
                    let mut status = -1;
                    // SAFETY: the status outlives the call.
                    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
                    assert_eq!(status, 0);
                }
            }
        }
    }

    /// Forks a child that sleeps until it is killed.
    fn sleeper() -> libc::pid_t {
        // SAFETY: the child only sleeps, and ends after a minute at the latest.
        match unsafe { libc::fork() } {
            // SAFETY: as above.
            0 => unsafe {
                libc::alarm(60);
                loop {
                    libc::pause();
                }
            },
            child => child,
        }
    }

    /// Returns `true` if the child has a mapping of that name, and kills the child.
    fn has(child: libc::pid_t, name: &str) -> bool {
        let maps = std::fs::read_to_string(format!("/proc/{child}/maps"));
        // SAFETY: the child is a child of this process that no other caller waits for.
        unsafe {
            libc::kill(child, libc::SIGKILL);
            libc::waitpid(child, std::ptr::null_mut(), 0);
        }
        maps.unwrap().contains(name)
    }

    /// A large mapping takes long enough that another thread forks during the call; the fork must
    /// wait.
    #[test]
    fn fork_never_sees_a_mapping_in_progress() {
        const BIG: usize = 64 << 20;
        let file = sealed_file(c"hairpin-fork", BIG as u64).unwrap();
        let together = std::sync::Barrier::new(2);
        let begun = std::sync::atomic::AtomicU32::new(0);
        let seen = std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    together.wait();
                    begun.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    let mapping = Mapping::shared(std::os::fd::AsFd::as_fd(&file), BIG, 0);
                    // Nothing is unmapped while children are created and inspected.
                    together.wait();
                    drop(mapping.unwrap());
                }
            });
            let fork_sees_it = |round: &u32| {
                together.wait();
                while begun.load(std::sync::atomic::Ordering::SeqCst) <= *round {
                    std::hint::spin_loop();
                }
                let children = [(); 3].map(|()| sleeper());
                let seen_by = children.map(|child| has(child, "hairpin-fork"));
                together.wait();
                seen_by.contains(&true)
            };
            (0..ROUNDS).filter(fork_sees_it).count()
        });
        assert_eq!(seen, 0, "of {ROUNDS} rounds");
    }
}
