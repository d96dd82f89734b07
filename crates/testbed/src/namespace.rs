//! The three calls that network namespaces are made of, each for the calling thread alone.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

/// Moves the calling thread into new namespaces of the kinds in `flags`.
pub(crate) fn unshare(flags: libc::c_int) -> io::Result<()> {
    // SAFETY: takes an integer and touches no memory of ours. The flags used here (CLONE_NEWNET,
    // CLONE_NEWUSER) change what the thread may see and do, not what it shares with the others.
    match unsafe { libc::unshare(flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Moves the calling thread into the network namespace behind `fd`.
pub(crate) fn enter(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: takes two integers and touches no memory of ours.
    match unsafe { libc::setns(fd.as_raw_fd(), libc::CLONE_NEWNET) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The network namespace of the calling thread; it exists at least as long as the descriptor.
pub(crate) fn current() -> io::Result<OwnedFd> {
    Ok(File::open("/proc/thread-self/ns/net")?.into())
}
