//! Closing and duplicating descriptors.

use std::ffi::{c_char, c_int};

use super::after;
use crate::errno::fail;
use crate::settings::settings;
use crate::{guard, process, real, slots, unseen};

/// The flag of close_range(2) that only marks the descriptors.
const CLOSE_RANGE_CLOEXEC: c_int = 4;
/// Both flags of close_range(2): `CLOSE_RANGE_UNSHARE` is 2.
const CLOSE_RANGE_FLAGS: c_int = 2 | CLOSE_RANGE_CLOEXEC;
/// The highest descriptor that the library can own or know.
const LAST: u32 = 1 << 20;

/// Returns `true` if the descriptor is the library's own: for the program there is no such one.
pub(super) fn is_hidden(fd: c_int) -> bool {
    match guard::enter() {
        Some(_inside) => process::is_internal(fd),
        // A child of vfork(2): the program that it runs inherits them.
        None => guard::is_lent() && process::is_inherited(fd),
    }
}

/// Forgets what the library knows of a descriptor. Returns `false` if the program must not close
/// it, because it is the library's own.
fn release(fd: c_int) -> bool {
    let Some(_inside) = guard::enter() else {
        // A child of vfork(2): the program that it runs inherits them.
        return !(guard::is_lent() && process::is_inherited(fd));
    };
    if process::is_internal(fd) {
        return false;
    }
    process::forget(fd);
    true
}

/// # Safety
/// As for close(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn close(fd: c_int) -> c_int {
    unseen::while_closed(fd, || {
        if !release(fd) {
            return fail(libc::EBADF) as c_int;
        }
        // SAFETY: the call takes an integer.
        unsafe { real::close(fd) }
    })
}

/// Returns the open descriptors of a range in order.
pub(super) fn open_descriptors(first: u32, last: u32) -> Vec<u32> {
    let _inside = guard::enter();
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else {
        return (first..=last.min(LAST)).collect();
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let mut open: Vec<u32> = names.filter(|fd| (first..=last).contains(fd)).collect();
    open.sort_unstable();
    open
}

/// # Safety
/// As for close_range(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn close_range(first: u32, last: u32, flags: c_int) -> c_int {
    if first > last || flags & !CLOSE_RANGE_FLAGS != 0 {
        // SAFETY: the call takes integers. The kernel refuses it.
        return unsafe { real::close_range(first, last, flags) };
    }
    if flags & CLOSE_RANGE_CLOEXEC != 0 || !process::is_accelerating() || guard::is_lent() {
        let inherited = settings().inherited().map(c_int::cast_unsigned);
        let kept = inherited.filter(|fd| (first..=last).contains(fd));
        return close_between(first, last, flags, kept);
    }
    unseen::while_duplicated(|| {
        let kept = open_descriptors(first, last).into_iter().filter(|fd| !release(*fd as c_int));
        close_between(first, last, flags, kept)
    })
}

/// Closes or marks a range of descriptors except some of it, in order.
fn close_between(
    first: u32,
    last: u32,
    flags: c_int,
    kept: impl IntoIterator<Item = u32>,
) -> c_int {
    let mut begin = first;
    for fd in kept {
        // SAFETY: the call takes integers.
        if fd > begin && unsafe { real::close_range(begin, fd - 1, flags) } < 0 {
            return -1;
        }
        begin = fd + 1;
    }
    if begin > last && begin > first {
        return 0;
    }
    // SAFETY: as above.
    unsafe { real::close_range(begin, last, flags) }
}

/// # Safety
/// As for closefrom(3).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn closefrom(first: c_int) {
    // SAFETY: the call takes integers.
    unsafe { close_range(first.max(0).cast_unsigned(), u32::MAX, 0) };
}

/// Duplicates a descriptor by `call`.
pub(super) fn duplicate(fd: c_int, call: impl FnOnce() -> c_int) -> c_int {
    if is_hidden(fd) {
        return fail(libc::EBADF) as c_int;
    }
    share(fd);
    unseen::while_duplicated(|| after(call(), |copy| process::duplicated(fd, copy)))
}

/// Returns a socket to the kernel before its descriptor is duplicated.
fn share(fd: c_int) {
    if slots::carries_data(fd)
        && let Some(_inside) = guard::enter()
    {
        process::share(fd, "the descriptor is duplicated");
    }
}

/// # Safety
/// As for dup(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn dup(fd: c_int) -> c_int {
    // SAFETY: the call takes an integer.
    duplicate(fd, || unsafe { real::dup(fd) })
}

/// # Safety
/// As for dup2(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn dup2(from: c_int, to: c_int) -> c_int {
    // SAFETY: the call takes integers.
    let call = || unsafe { real::dup2(from, to) };
    if from == to { call() } else { replace(from, to, call) }
}

/// Duplicates a descriptor to the number of another one, which `call` closes.
fn replace(from: c_int, to: c_int, call: impl FnOnce() -> c_int) -> c_int {
    if is_hidden(from) {
        return fail(libc::EBADF) as c_int;
    }
    // A call that fails closes nothing.
    // SAFETY: the call takes integers.
    if unsafe { real::fcntl(from, libc::F_GETFD, 0) } < 0 || to.cast_unsigned() >= descriptors() {
        return call();
    }
    unseen::while_duplicated(|| {
        share(from);
        if !release(to) {
            return fail(libc::EBUSY) as c_int;
        }
        after(call(), |copy| process::duplicated(from, copy))
    })
}

/// Returns the number of descriptors that the process may have: a new one is below it. One that was
/// opened before the limit was lowered may be above.
fn descriptors() -> u32 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel writes the structure.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    u32::try_from(limit.rlim_cur).unwrap_or(u32::MAX)
}

/// # Safety
/// As for dup3(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn dup3(from: c_int, to: c_int, flags: c_int) -> c_int {
    // SAFETY: the call takes integers. The kernel refuses equal ones.
    let call = || unsafe { real::dup3(from, to, flags) };
    let is_refused = from == to || flags & !libc::O_CLOEXEC != 0;
    if is_refused { call() } else { replace(from, to, call) }
}

/// # Safety
/// As for fdopen(3).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn fdopen(fd: c_int, mode: *const c_char) -> *mut libc::FILE {
    // The stream's reads, writes and close do not pass through this library.
    if slots::carries_data(fd)
        && let Some(_inside) = guard::enter()
    {
        process::share(fd, "a stream uses it");
    }
    // SAFETY: the program's arguments.
    unsafe { real::fdopen(fd, mode) }
}
