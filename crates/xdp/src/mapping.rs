//! Memory that is mapped, and unmapped when it is dropped.

use std::ffi::{CStr, c_int};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;

use crate::forked::{Process, watch_forks, without_forks};

/// What a sealed memory file can no longer do: shrink, grow, or lose its seals.
const SEALS: c_int = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;

/// A mapping that can be read and written. It knows nothing of what lies in it.
///
/// A forked child does not have it: a mapping of a socket's ring keeps the socket, and what the
/// kernel receives into must not be copied on write.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    length: usize,
    process: Process,
}

// SAFETY: a mapping belongs to the process, not to a thread.
unsafe impl Send for Mapping {}
// SAFETY: it hands out an address only; whoever follows that answers for what happens there.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Memory of this process alone, every page there.
    pub(crate) fn anonymous(length: usize, huge_pages: bool) -> io::Result<Self> {
        let huge = if huge_pages { libc::MAP_HUGETLB } else { 0 };
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE | huge;
        Self::map(length, flags, -1, 0)
    }

    /// The first `length` bytes of `fd` from `offset`, shared with whoever else has it.
    pub(crate) fn shared(fd: BorrowedFd<'_>, length: usize, offset: i64) -> io::Result<Self> {
        Self::map(length, libc::MAP_SHARED | libc::MAP_POPULATE, fd.as_raw_fd(), offset)
    }

    fn map(length: usize, flags: c_int, fd: c_int, offset: i64) -> io::Result<Self> {
        without_forks(|| {
            watch_forks()?;
            let mapping = Self::map_for_children_too(length, flags, fd, offset)?;
            // SAFETY: the range is the whole mapping, which lives through the call.
            match unsafe { libc::madvise(mapping.start().cast(), length, libc::MADV_DONTFORK) } {
                0 => Ok(mapping),
                _ => Err(io::Error::last_os_error()),
            }
        })
    }

    fn map_for_children_too(
        length: usize,
        flags: c_int,
        fd: c_int,
        offset: i64,
    ) -> io::Result<Self> {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: without MAP_FIXED the kernel chooses where, so no memory of ours is replaced.
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
        // In a forked child something else may be there by now.
        if !self.process.is_this() {
            return;
        }
        // SAFETY: the mapping is ours, whole, and nobody can reach it through us any more. Where it
        // fails there is nothing to be done: the memory stays mapped.
        unsafe { libc::munmap(self.start().cast(), self.length) };
    }
}

/// A file in memory only, of this size for as long as it exists, and with all of its memory there;
/// close-on-exec.
pub(crate) fn sealed_file(name: &CStr, length: u64) -> io::Result<File> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: `name` is a NUL-terminated string that outlives the call.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), flags) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just given us this descriptor and nobody else knows it.
    let file = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
    allocate(&file, length)?;
    // SAFETY: F_ADD_SEALS takes an integer and touches no memory of ours.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, SEALS) } {
        0 => Ok(file),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Makes the file so long, of real pages: a store can find no memory missing later.
fn allocate(file: &File, length: u64) -> io::Result<()> {
    let length = i64::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge)?;
    loop {
        // SAFETY: takes a descriptor and two integers and touches no memory of ours.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, length) } {
            0 => return Ok(()),
            libc::EINTR => {}
            number => return Err(io::Error::from_raw_os_error(number)),
        }
    }
}

/// Whether a file's size is fixed for good. False for anything but a sealed memory file.
pub(crate) fn is_sealed(file: &File) -> bool {
    // SAFETY: F_GET_SEALS takes no argument and touches no memory of ours.
    let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
    seals >= 0 && seals & SEALS == SEALS
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: usize = 4_096;
    const ROUNDS: u32 = 40;

    /// Whether anything is mapped there. Fit for a forked child.
    fn is_mapped(at: *mut u8) -> bool {
        // SAFETY: asks about a range.
        unsafe { libc::msync(at.cast(), LENGTH, libc::MS_ASYNC) == 0 }
    }

    /// In the child: not there, and what is put there stays when the handle is dropped.
    fn leaves_alone_what_is_not_its_own(mapping: Mapping) -> bool {
        let at = mapping.start();
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: takes memory only where there is none.
        let other = unsafe { libc::mmap(at.cast(), LENGTH, libc::PROT_READ, flags, -1, 0) };
        drop(mapping);
        other == at.cast() && is_mapped(at)
    }

    #[test]
    fn a_forked_child_has_no_mapping_and_unmaps_nothing_foreign() {
        let file = sealed_file(c"hairpin-test", LENGTH as u64).unwrap();
        let shared = Mapping::shared(std::os::fd::AsFd::as_fd(&file), LENGTH, 0).unwrap();
        for mapping in [Mapping::anonymous(LENGTH, false).unwrap(), shared] {
            assert!(is_mapped(mapping.start()));
            // SAFETY: the child makes system calls alone, and ends.
            match unsafe { libc::fork() } {
                0 => {
                    let is_so = leaves_alone_what_is_not_its_own(mapping);
                    // SAFETY: ends the child at once.
                    unsafe { libc::_exit(i32::from(!is_so)) }
                }
                child => {
                    let mut status = -1;
                    // SAFETY: the number lives through the call.
                    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
                    assert_eq!(status, 0);
                }
            }
        }
    }

    /// A child that sleeps until it is killed.
    fn sleeper() -> libc::pid_t {
        // SAFETY: the child sleeps, and ends in a minute if not before.
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

    /// Whether a child has the mapping of that name. It is ended.
    fn has(child: libc::pid_t, name: &str) -> bool {
        let maps = std::fs::read_to_string(format!("/proc/{child}/maps"));
        // SAFETY: the child is ours, and nobody else waits for it.
        unsafe {
            libc::kill(child, libc::SIGKILL);
            libc::waitpid(child, std::ptr::null_mut(), 0);
        }
        maps.unwrap().contains(name)
    }

    /// A big one takes a while to be mapped, in which another thread forks: it waits.
    #[test]
    fn no_moment_of_a_mapping_is_seen_by_a_fork() {
        const BIG: usize = 64 << 20;
        let file = sealed_file(c"hairpin-moment", BIG as u64).unwrap();
        let together = std::sync::Barrier::new(2);
        let begun = std::sync::atomic::AtomicU32::new(0);
        let seen = std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    together.wait();
                    begun.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    let mapping = Mapping::shared(std::os::fd::AsFd::as_fd(&file), BIG, 0);
                    // Nothing is unmapped while children are made and looked at.
                    together.wait();
                    drop(mapping.unwrap());
                }
            });
            let is_seen = |round: &u32| {
                together.wait();
                while begun.load(std::sync::atomic::Ordering::SeqCst) <= *round {
                    std::hint::spin_loop();
                }
                let children = [(); 3].map(|()| sleeper());
                let are_seen = children.map(|child| has(child, "hairpin-moment"));
                together.wait();
                are_seen.contains(&true)
            };
            (0..ROUNDS).filter(is_seen).count()
        });
        assert_eq!(seen, 0, "of {ROUNDS} rounds");
    }
}
