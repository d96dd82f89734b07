//! Epoll instances that the program uses by system calls that the library does not see, as programs
//! on rustix do. A thread that waits there does not learn of what bypasses the kernel.

use std::collections::HashSet;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::now_ns;
use crate::{epoll, process, real, slots};

/// The numbers beyond the highest known descriptor that an instance may have.
const BEYOND: c_int = 256;

/// The searches before takeovers, 10 ms apart, and those of the library's thread.
static TAKEOVERS: Pace = Pace { pause_ns: 10_000_000, next_ns: AtomicU64::new(0) };
static THREAD: Pace = Pace { pause_ns: 0, next_ns: AtomicU64::new(0) };

/// Searches that take a hundredth of the time at most: they look at all descriptors.
struct Pace {
    /// The shortest time between two.
    pause_ns: u64,
    /// The time of the next one.
    next_ns: AtomicU64,
}

impl Pace {
    fn search(&self, is_found: impl FnOnce() -> bool) -> bool {
        let (begin, next) = (now_ns(), self.next_ns.load(Ordering::Relaxed));
        let (order, none) = (Ordering::Relaxed, u64::MAX);
        // One thread at a time.
        if begin < next || self.next_ns.compare_exchange(next, none, order, order).is_err() {
            return false;
        }
        let is_found = is_found();
        let end = now_ns();
        let pause = ((end - begin) * 100).max(self.pause_ns);
        self.next_ns.store(end.saturating_add(pause), Ordering::Relaxed);
        is_found
    }
}

/// Allows searches in a forked child: a thread that does not exist there may have begun one.
pub(crate) fn forget() {
    for pace in [&TAKEOVERS, &THREAD] {
        pace.next_ns.store(0, Ordering::Relaxed);
    }
}

/// Returns `true` if an unknown epoll instance has a socket that the library accelerates or may
/// accelerate. Searches at intervals.
pub(crate) fn is_found() -> bool {
    TAKEOVERS.search(has_instance)
}

/// Returns `true` if the library's thread may search.
pub(crate) fn is_due() -> bool {
    now_ns() >= THREAD.next_ns.load(Ordering::Relaxed)
}

/// The same for the library's thread.
pub(crate) fn is_found_by_thread() -> bool {
    THREAD.search(has_instance)
}

/// No descriptor is opened here, in a thread of the library: the program may expect the number that
/// it has just closed.
fn has_instance() -> bool {
    let mut highest = 0;
    slots::for_each(|fd, _| highest = highest.max(fd));
    let is_found = |fd| is_unknown(fd) && has_socket(fd);
    let is_found_again = |fd| {
        // The library records an instance after the call that creates or duplicates it.
        std::thread::sleep(Duration::from_millis(2));
        is_found(fd)
    };
    (0..=highest + BEYOND).any(|fd| is_found(fd) && is_found_again(fd))
}

fn is_unknown(fd: c_int) -> bool {
    // SAFETY: the call takes integers.
    let is_open = || unsafe { real::fcntl(fd, libc::F_GETFD, 0) } >= 0;
    !slots::is_known(fd) && is_open() && !process::is_internal(fd) && epoll::is_epoll(fd)
}

/// Returns `true` if the instance has such a socket, by the list of its members
/// (proc_pid_fdinfo(5)).
fn has_socket(epoll: c_int) -> bool {
    let members = std::fs::read_to_string(format!("/proc/self/fdinfo/{epoll}")).unwrap_or_default();
    let members: HashSet<u64> = members.lines().filter_map(inode_of_member).collect();
    let mut has_socket = false;
    if !members.is_empty() {
        slots::for_each(|fd, slot| {
            let is_socket = slot.is_stream() || slot.is_socket();
            has_socket |= is_socket && inode(fd).is_some_and(|inode| members.contains(&inode));
        });
    }
    has_socket
}

/// Reads `tfd: 5 events: 19 data: 5 pos:0 ino:1b9 sdev:8`.
fn inode_of_member(line: &str) -> Option<u64> {
    let words = line.strip_prefix("tfd:")?.split_whitespace();
    let inode = words.filter_map(|word| word.strip_prefix("ino:")).next()?;
    u64::from_str_radix(inode, 16).ok()
}

fn inode(fd: c_int) -> Option<u64> {
    // SAFETY: a structure of integers, for which zero is a valid value; the kernel writes it.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        (libc::fstat(fd, &raw mut status) == 0).then_some(status.st_ino)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_read() {
        let line = "tfd:        5 events:       19 data:                5  pos:0 ino:1b9 sdev:8";
        assert_eq!(inode_of_member(line), Some(0x1b9));
        for other in ["pos:\t0", "flags:\t02", "tfd: 5", ""] {
            assert_eq!(inode_of_member(other), None);
        }
    }
}
