//! The calling thread's `errno`.

use std::ffi::c_int;

pub(crate) fn errno() -> c_int {
    // SAFETY: the location is valid for the calling thread.
    unsafe { *libc::__errno_location() }
}

pub(crate) fn set_errno(number: c_int) {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = number };
}

/// Does what follows a call of the program and keeps the call's `errno`. The library's own calls
/// change it, also a lock that is contended (futex(2)).
#[inline]
pub(crate) fn keep<R>(follow: impl FnOnce() -> R) -> R {
    let before = errno();
    let result = follow();
    set_errno(before);
    result
}

/// Sets `errno` and returns the result of a failed call.
pub(crate) fn fail(number: c_int) -> isize {
    set_errno(number);
    -1
}

pub(crate) fn is_would_block(number: c_int) -> bool {
    number == libc::EAGAIN || number == libc::EWOULDBLOCK
}
