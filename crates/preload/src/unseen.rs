//! Epoll instances that the program uses by system calls that the library does not see, as programs
//! on rustix do. A thread that waits there does not learn of what bypasses the kernel.

use std::collections::HashSet;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::clock::now_ns;
use crate::{epoll, guard, process, real, slots};

/// The numbers beyond the highest known descriptor that an instance may have.
const BEYOND: c_int = 256;

/// The searches before takeovers, 10 ms apart, and those of the library's thread.
static TAKEOVERS: Pace = Pace { pause_ns: 10_000_000, next_ns: AtomicU64::new(0) };
static THREAD: Pace = Pace { pause_ns: 0, next_ns: AtomicU64::new(0) };

/// The calls that duplicate descriptors or close ranges of them.
static DUPLICATIONS: Changes = Changes::new();

/// Counts the calls that change what descriptors refer to. From its begin to its end, the table of
/// descriptors and the kernel may differ.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    begun: AtomicU32,
    ended: AtomicU32,
}

impl Changes {
    const fn new() -> Self {
        Self { begun: AtomicU32::new(0), ended: AtomicU32::new(0) }
    }

    /// Makes a call. A thread that is cancelled in it does not end it: no search takes a result of
    /// the descriptor from then on.
    fn during<T>(&self, call: impl FnOnce() -> T) -> T {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let result = call();
        self.ended.fetch_add(1, Ordering::SeqCst);
        result
    }

    /// Returns the number of calls, or `None` while one has not ended.
    fn count(&self) -> Option<u32> {
        let ended = self.ended.load(Ordering::SeqCst);
        (self.begun.load(Ordering::SeqCst) == ended).then_some(ended)
    }
}

/// Makes a call that duplicates a descriptor or closes several.
pub(crate) fn while_duplicated<T>(call: impl FnOnce() -> T) -> T {
    // A child of vfork(2) may end within the call, and the memory is the parent's.
    if guard::is_lent() { call() } else { DUPLICATIONS.during(call) }
}

/// Makes a call that closes a descriptor.
pub(crate) fn while_closed<T>(fd: c_int, call: impl FnOnce() -> T) -> T {
    match slots::find(fd).filter(|_| !guard::is_lent()) {
        Some(slot) => slot.changes.during(call),
        None => call(),
    }
}

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
    DUPLICATIONS.begun.store(0, Ordering::Relaxed);
    DUPLICATIONS.ended.store(0, Ordering::Relaxed);
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
    (0..=highest + BEYOND).any(|fd| {
        let before = changes(fd);
        before.is_some() && is_unknown(fd) && has_socket(fd) && changes(fd) == before
    })
}

/// Returns the numbers of the calls that may have changed what a descriptor refers to, or `None`
/// while one has not ended: the library forgets an instance before the call that closes it, and
/// records a duplicate after the call that creates it.
fn changes(fd: c_int) -> Option<(u32, u32)> {
    let of_slot = slots::find(fd).map_or(Some(0), |slot| slot.changes.count());
    of_slot.zip(DUPLICATIONS.count())
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
    fn calls_that_have_not_ended_are_noticed() {
        let changes = Changes::new();
        assert_eq!(changes.count(), Some(0));
        changes.during(|| {
            changes.during(|| ());
            assert_eq!(changes.count(), None);
        });
        assert_eq!(changes.count(), Some(2));
    }

    #[test]
    fn members_are_read() {
        let line = "tfd:        5 events:       19 data:                5  pos:0 ino:1b9 sdev:8";
        assert_eq!(inode_of_member(line), Some(0x1b9));
        for other in ["pos:\t0", "flags:\t02", "tfd: 5", ""] {
            assert_eq!(inode_of_member(other), None);
        }
    }
}
