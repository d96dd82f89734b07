//! The process at the other end of a pair of sockets.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use socket2::{Domain, SockRef, Type};

/// Returns the process that has created the other end of a pair of sockets.
///
/// # Errors
/// `InvalidInput` for another descriptor.
pub(super) fn credentials(socket: &OwnedFd) -> io::Result<libc::ucred> {
    let reference = SockRef::from(socket);
    if (reference.domain()?, reference.r#type()?) != (Domain::UNIX, Type::SEQPACKET) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    option(socket.as_fd(), libc::SO_PEERCRED, peer)
}

/// Opens the process that has created the other end. Before Linux 6.5 it is the process that has
/// its number now.
///
/// # Errors
/// The kernel's: for a process that has ended, or that this process cannot see.
pub(super) fn process(socket: &OwnedFd, process_id: libc::pid_t) -> io::Result<OwnedFd> {
    const SO_PEERPIDFD: libc::c_int = 77;
    let fd = match option(socket.as_fd(), SO_PEERPIDFD, -1) {
        Err(error) if error.raw_os_error() == Some(libc::ENOPROTOOPT) => open(process_id)?,
        fd => fd?,
    };
    // SAFETY: the descriptor is new.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Opens a process (pidfd_open(2)).
fn open(process_id: libc::pid_t) -> io::Result<RawFd> {
    // SAFETY: the call takes integers.
    match unsafe { libc::syscall(libc::SYS_pidfd_open, process_id, 0) } {
        -1 => Err(io::Error::last_os_error()),
        fd => Ok(fd as RawFd),
    }
}

/// Returns an option of a socket.
fn option<T: Copy>(socket: BorrowedFd<'_>, name: libc::c_int, mut value: T) -> io::Result<T> {
    let mut length = size_of::<T>() as libc::socklen_t;
    let (level, at) = (libc::SOL_SOCKET, (&raw mut value).cast());
    // SAFETY: the kernel writes at most `length` bytes to the value, which are integers.
    match unsafe { libc::getsockopt(socket.as_raw_fd(), level, name, at, &raw mut length) } {
        0 => Ok(value),
        _ => Err(io::Error::last_os_error()),
    }
}
