//! The functions that replace the C library's.
//!
//! Each passes a call on unless it concerns a descriptor of the table. Most are `C-unwind`, because
//! a thread that waits in one may be canceled.

mod aliases;
mod copies;
mod descriptors;
mod execution;
mod polling;
mod receive;
mod send;
mod sockets;
mod streams;
#[cfg(target_arch = "x86_64")]
mod syscall;
mod system;

#[cfg(test)]
mod inside_calls;

use std::ffi::c_int;

use crate::errno;
use crate::guard;

/// Runs `then` with the result of a successful call, inside the library, and keeps `errno`.
fn after(result: c_int, then: impl FnOnce(c_int)) -> c_int {
    if result >= 0
        && let Some(_inside) = guard::enter()
    {
        errno::keep(|| then(result));
    }
    result
}
