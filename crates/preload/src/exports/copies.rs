//! Copies between descriptors: sendfile(2) and splice(2).

use std::ffi::{c_int, c_uint};

use libc::{off_t, size_t, ssize_t};

use crate::stream_counters::Cause;
use crate::{guard, process, real, slots, stream};

/// Counts a datagram that a copy has sent through the kernel socket.
fn sent(fd: c_int, result: ssize_t) -> ssize_t {
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

/// # Safety
/// As for sendfile(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sendfile(
    to: c_int,
    from: c_int,
    offset: *mut off_t,
    length: size_t,
) -> ssize_t {
    // SAFETY: the program's arguments.
    let call = || unsafe { real::sendfile(to, from, offset, length) };
    sent(to, after_handback(to, call, -1))
}

/// # Safety
/// As for sendfile(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sendfile64(
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
pub(crate) unsafe extern "C" fn splice(
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
