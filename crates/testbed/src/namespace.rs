//! System calls for namespaces. Each affects the calling thread only.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

/// Moves the calling thread into new namespaces of the kinds in `flags`.
pub(crate) fn unshare(flags: libc::c_int) -> io::Result<()> {
    // SAFETY: the call takes an integer and accesses no memory of the process. The flags used here
    // (CLONE_NEWNET, CLONE_NEWUSER) change the thread's view and rights, not the memory that it
    // shares with other threads.
    match unsafe { libc::unshare(flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Moves the calling thread into the network namespace of `fd`.
pub(crate) fn enter(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the call takes two integers and accesses no memory of the process.
    match unsafe { libc::setns(fd.as_raw_fd(), libc::CLONE_NEWNET) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns the network namespace of the calling thread. It exists as long as the descriptor.
pub(crate) fn current() -> io::Result<OwnedFd> {
    Ok(File::open("/proc/thread-self/ns/net")?.into())
}
