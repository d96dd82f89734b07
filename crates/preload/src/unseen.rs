//! Waits by system calls that the library does not see. A thread that waits so does not learn of
//! what bypasses the kernel.
//!
//! Programs on rustix create epoll instances so, which are found before a takeover. Threads that
//! wait so are found when something has arrived for them.

use std::collections::HashSet;
use std::ffi::{c_int, c_long, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::clock::now_ns;
use crate::socket::Socket;
use crate::stream::Stream;
use crate::{epoll, process, real, sleep, slots};

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

/// Returns `true` if that is so, or a thread waits unseen while nothing is exchanged. Searches at
/// intervals.
pub(crate) fn is_found_or_awaited(is_quiet: bool) -> bool {
    THREAD.search(|| has_instance() || is_quiet && is_awaited())
}

/// No descriptor is opened here, in a thread of the library: the program may expect the number that
/// it has just closed.
fn has_instance() -> bool {
    let mut highest = 0;
    slots::for_each(|fd, _| highest = highest.max(fd));
    (0..=highest + BEYOND).any(|fd| is_unknown(fd) && has_socket(fd))
}

/// Returns `true` if something has arrived at an accelerated socket, and a thread waits for it in
/// the kernel. The library's own waits are not such ones.
fn is_awaited() -> bool {
    let mut arrived = HashSet::new();
    slots::for_each(|fd, slot| {
        let has_datagram = || slot.socket().as_deref().is_some_and(Socket::has_datagram);
        // This is not a poll of the owner, which the stack waits for.
        let has_bytes = || slot.stream.stream().as_deref().is_some_and(Stream::has_unread);
        if slot.is_socket() && has_datagram() || slot.is_stream() && has_bytes() {
            arrived.insert(fd);
        }
    });
    if arrived.is_empty() {
        return false;
    }
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let calls = threads.filter_map(|thread| {
        // A running thread is in no call.
        parse_call(&std::fs::read_to_string(thread.path().join("syscall")).ok()?)
    });
    calls.into_iter().any(|call| waits_for(call, &arrived))
}

/// The number and the first two arguments of a system call.
type Call = [u64; 3];

/// Reads `7 0x7ffd5c9e3a40 0x1 0xffffffff …` (proc_pid_syscall(5)).
fn parse_call(text: &str) -> Option<Call> {
    let mut words = text.split_whitespace();
    let number = words.next()?.parse().ok()?;
    let mut argument = || u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
    Some([number, argument()?, argument()?])
}

fn waits_for([number, first, second]: Call, fds: &HashSet<c_int>) -> bool {
    let Ok(number) = c_long::try_from(number) else { return false };
    match number {
        libc::SYS_read
        | libc::SYS_readv
        | libc::SYS_recvfrom
        | libc::SYS_recvmsg
        | libc::SYS_recvmmsg => fds.contains(&(first as c_int)),
        libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 => waits_on_instance(first as c_int),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_epoll_wait => waits_on_instance(first as c_int),
        libc::SYS_ppoll => is_polled(first, second, fds),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_poll => is_polled(first, second, fds),
        _ => false,
    }
}

/// The threads of the stacks wait on instances of the library.
fn waits_on_instance(fd: c_int) -> bool {
    !process::is_internal(fd) && has_socket(fd)
}

/// Returns `true` if an array of poll(2) has one of the descriptors. The library's arrays have an
/// event of the thread too.
fn is_polled(at: u64, count: u64, fds: &HashSet<c_int>) -> bool {
    let mut entries =
        vec![libc::pollfd { fd: -1, events: 0, revents: 0 }; count.min(1_024) as usize];
    let length = size_of_val(&entries[..]);
    let to = libc::iovec { iov_base: entries.as_mut_ptr().cast(), iov_len: length };
    let from = libc::iovec { iov_base: at as *mut c_void, iov_len: length };
    // SAFETY: the kernel writes to the entries; it reports an address that has become invalid.
    let read =
        unsafe { libc::process_vm_readv(libc::getpid(), &raw const to, 1, &raw const from, 1, 0) };
    let has = |is: &dyn Fn(c_int) -> bool| entries.iter().any(|entry| is(entry.fd));
    read == length as isize && has(&|fd| fds.contains(&fd)) && !has(&sleep::is_event)
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
    fn calls_are_read() {
        let text = "7 0x7ffd5c9e3a40 0x1 0xffffffff 0x0 0x0 0x0 0x7ffd5c9e39f0 0x7f1c0b3a\n";
        assert_eq!(parse_call(text), Some([7, 0x7ffd_5c9e_3a40, 1]));
        for other in ["running\n", "-1 0x7ffd5c9e39f0 0x7f1c0b3a\n", ""] {
            assert_eq!(parse_call(other), None, "{other}");
        }
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
