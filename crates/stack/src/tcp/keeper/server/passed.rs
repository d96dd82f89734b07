//! Descriptors that programs have passed.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use socket2::{Protocol, SockRef};

/// The most threads that close descriptors.
const THREADS_MAX: usize = 64;
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
/// The descriptors to close aside, and the number of threads that do it.
static CLOSING: Mutex<(Vec<OwnedFd>, usize)> = Mutex::new((Vec::new(), 0));

fn closing() -> MutexGuard<'static, (Vec<OwnedFd>, usize)> {
    CLOSING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Closes a descriptor in another thread: a close can wait for another process, such as the server
/// of a file system, or for the peer of a socket with `SO_LINGER`. While the closes of all threads
/// wait, later descriptors stay open, until this process has none left.
pub(in crate::tcp::keeper) fn close_aside(descriptor: OwnedFd) {
    let (waiting, threads) = &mut *closing();
    waiting.push(descriptor);
    if *threads < THREADS_MAX
        && thread::Builder::new().stack_size(64 << 10).spawn(close_waiting).is_ok()
    {
        *threads += 1;
    }
}

fn close_waiting() {
    loop {
        let descriptor = {
            let (waiting, threads) = &mut *closing();
            let Some(descriptor) = waiting.pop() else {
                *threads -= 1;
                return;
            };
            descriptor
        };
        drop(descriptor);
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
