//! Descriptors that programs have passed.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use socket2::{Protocol, SockRef};

/// The most descriptors that are closed aside at a time.
const CLOSING_MAX: usize = 64;
/// The number of descriptors for requests when no more connections are held.
const DESCRIPTORS_LEFT: libc::rlim_t = 16;

/// Descriptors that a process has passed. Those that are not used are closed aside.
pub(super) struct Passed(pub(super) Vec<OwnedFd>);

impl Passed {
    /// Takes the first one.
    pub(super) fn take(&mut self) -> Option<OwnedFd> {
        if self.0.is_empty() { None } else { Some(self.0.remove(0)) }
    }
}

impl Drop for Passed {
    fn drop(&mut self) {
        self.0.drain(..).for_each(close_aside);
    }
}
/// Closes a descriptor in a thread of its own: a close can wait for another process, such as the
/// server of a file system, or for the peer of a socket with `SO_LINGER`.
pub(in crate::tcp::keeper) fn close_aside(descriptor: OwnedFd) {
    static CLOSING: AtomicUsize = AtomicUsize::new(0);
    let close = move || {
        drop(descriptor);
        CLOSING.fetch_sub(1, Ordering::Relaxed);
    };
    if CLOSING.fetch_add(1, Ordering::Relaxed) >= CLOSING_MAX {
        // Only a process that attacks the keeper gets here: it loses its descriptors' closes.
        std::mem::forget(close);
    } else if let Err(_closed) = thread::Builder::new().stack_size(64 << 10).spawn(close) {
        CLOSING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Closes what should be a UDP socket, whose close never waits.
pub(super) fn close_udp(socket: OwnedFd) {
    match SockRef::from(&socket).protocol() {
        Ok(Some(Protocol::UDP)) => drop(socket),
        _ => close_aside(socket),
    }
}

/// Returns `true` if the number of a descriptor, which is the lowest free one, shows that this
/// process has few left.
pub(super) fn is_full(descriptor: &OwnedFd) -> bool {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel writes the structure.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    descriptor.as_raw_fd() as libc::rlim_t + DESCRIPTORS_LEFT >= limit.rlim_cur
}
