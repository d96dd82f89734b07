//! Epoll instances that the program uses by system calls that the library does not see, as programs
//! on rustix do. A thread that waits there does not learn of what bypasses the kernel.

use std::collections::HashSet;
use std::ffi::c_int;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::clock::now_ns;
use crate::{epoll, process, slots};

/// The shortest time between two searches: 10 ms.
const INTERVAL_NS: u64 = 10_000_000;
/// A search takes a twentieth of the time at most.
const SHARE: u64 = 20;

/// The time of the next search.
static NEXT_NS: AtomicU64 = AtomicU64::new(0);

/// Returns `true` if an unknown epoll instance has a socket that the library accelerates or may
/// accelerate. Searches at intervals.
pub(crate) fn is_found() -> bool {
    let begin = now_ns();
    if begin < NEXT_NS.load(Ordering::Relaxed) {
        return false;
    }
    NEXT_NS.store(u64::MAX, Ordering::Relaxed);
    let is_found = descriptors().iter().any(|&fd| is_unknown(fd) && has_socket(fd));
    let end = now_ns();
    let pause = ((end - begin) * SHARE).max(INTERVAL_NS);
    NEXT_NS.store(end.saturating_add(pause), Ordering::Relaxed);
    is_found
}

/// Returns the open descriptors of this process.
fn descriptors() -> Vec<RawFd> {
    let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn is_unknown(fd: c_int) -> bool {
    !slots::is_known(fd) && !process::is_internal(fd) && epoll::is_epoll(fd)
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
