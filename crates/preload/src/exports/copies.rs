//! Copies between descriptors: sendfile(2) and splice(2).

use std::ffi::{c_int, c_uint};

use libc::{iovec, off_t, size_t, ssize_t};

use crate::memory::{self, Access};
use crate::stream::LONG_ROUND;
use crate::stream_counters::Cause;
use crate::{guard, process, real, slots, stream, stream_io};

/// Counts a message that a copy has sent through the kernel socket.
fn sent(fd: c_int, result: ssize_t) -> ssize_t {
    if let Some(slot) = slots::stream(fd) {
        slot.stream.count_sent(result);
    }
    if result >= 0
        && let Some(slot) = slots::socket(fd)
        && let Some(_inside) = guard::enter()
        && let Some(socket) = slot.socket().as_deref_mut()
    {
        socket.counters.sent_kernel += 1;
        socket.expect_kernel();
    }
    result
}

/// Runs a call that moves bytes inside the kernel, after a handback of a connection.
fn after_handback<R>(fd: c_int, call: impl Fn() -> R, failed: R) -> R {
    loop {
        let Some(slot) = slots::stream(fd) else { return call() };
        if stream::leave(fd, Cause::Splice, "sendfile or splice") {
            return failed;
        }
        let is_kernels = || !slot.stream.is_bypassing() || guard::is_inside();
        if let Some(result) = slot.stream.use_kernel(is_kernels, &call) {
            return result;
        }
    }
}

/// Sends a short part of a file on a connection that is taken over, from a copy. Returns `None` if
/// the kernel must send it.
///
/// # Safety
/// As for sendfile(2).
unsafe fn send_copy(to: c_int, from: c_int, offset: *mut off_t, length: size_t) -> Option<ssize_t> {
    let slot = slots::stream(to).filter(|slot| slot.stream.is_bypassing())?;
    let is_place =
        offset.is_null() || memory::is_valid(offset.cast(), size_of::<off_t>(), Access::Write);
    if !(1..LONG_ROUND).contains(&length) || !is_place {
        return None;
    }
    let mut bytes = Vec::<u8>::with_capacity(length);
    // SAFETY: the caller guarantees the position; the kernel writes at most `length` bytes.
    let (at, count) = unsafe {
        let at = if offset.is_null() { libc::lseek(from, 0, libc::SEEK_CUR) } else { *offset };
        (at, libc::pread(from, bytes.as_mut_ptr().cast(), length, at))
    };
    // What is not a file has no positions.
    let count = usize::try_from(count).ok()?;
    if count == 0 {
        return Some(0);
    }
    let part = iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: count };
    // SAFETY: the part outlives the calls.
    let sent = unsafe {
        stream_io::send(to, slot, 0, &[part], || real::send(to, part.iov_base, count, 0))
    };
    if sent > 0 {
        let next = at + sent as off_t;
        // SAFETY: as above.
        unsafe {
            if offset.is_null() {
                libc::lseek(from, next, libc::SEEK_SET);
            } else {
                *offset = next;
            }
        }
    }
    Some(sent)
}

/// # Safety
/// As for sendfile(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn sendfile(
    to: c_int,
    from: c_int,
    offset: *mut off_t,
    length: size_t,
) -> ssize_t {
    // SAFETY: the program's arguments.
    let call = || unsafe { real::sendfile(to, from, offset, length) };
    // SAFETY: the program passes a valid position, or none.
    if let Some(result) = unsafe { send_copy(to, from, offset, length) } {
        return result;
    }
    sent(to, after_handback(to, call, -1))
}

/// # Safety
/// As for sendfile(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn sendfile64(
    to: c_int,
    from: c_int,
    offset: *mut off_t,
    length: size_t,
) -> ssize_t {
    // SAFETY: the program's arguments.
    unsafe { sendfile(to, from, offset, length) }
}

/// # Safety
/// As for splice(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn splice(
    from: c_int,
    from_offset: *mut off_t,
    to: c_int,
    to_offset: *mut off_t,
    length: size_t,
    flags: c_uint,
) -> ssize_t {
    if slots::socket(from).is_some()
        && let Some(_inside) = guard::enter()
    {
        process::share(from, "splice reads it");
    }
    // One end is a pipe.
    let connection = if slots::stream(from).is_some() { from } else { to };
    // SAFETY: the program's arguments.
    let call = || unsafe { real::splice(from, from_offset, to, to_offset, length, flags) };
    sent(to, after_handback(connection, call, -1))
}
