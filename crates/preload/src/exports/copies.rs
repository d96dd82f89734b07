//! Copies between descriptors: sendfile(2) and splice(2).

use std::ffi::{c_int, c_uint};

use libc::{off_t, size_t, ssize_t};

use crate::{guard, process, real, slots};

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
    sent(to, unsafe { real::sendfile(to, from, offset, length) })
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
    // SAFETY: the program's arguments.
    sent(to, unsafe { real::splice(from, from_offset, to, to_offset, length, flags) })
}
