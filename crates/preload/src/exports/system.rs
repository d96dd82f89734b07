//! Processes and signals.

use std::ffi::{c_char, c_int};

use libc::{pid_t, sigaction as SigAction, sighandler_t};

use crate::stream_counters::Cause;
use crate::{guard, process, real, signals, slots, stream};

/// # Safety
/// As for sigaction(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sigaction(
    signal: c_int,
    new: *const SigAction,
    old: *mut SigAction,
) -> c_int {
    // SAFETY: the program's arguments.
    unsafe { signals::set_action(signal, new, old) }
}

/// # Safety
/// As for signal(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn signal(signal: c_int, handler: sighandler_t) -> sighandler_t {
    signals::set_handler(signal, handler, libc::SA_RESTART)
}

/// # Safety
/// As for siginterrupt(3).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn siginterrupt(signal: c_int, interrupts: c_int) -> c_int {
    signals::set_interrupt(signal, interrupts != 0)
}

/// Does the same as fork(2): the child must not share the parent's memory, because closing a
/// descriptor there would end the acceleration here.
///
/// # Safety
/// As for vfork(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn vfork() -> pid_t {
    // SAFETY: as for fork(2).
    unsafe { real::fork() }
}

/// # Safety
/// As for execve(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn execve(
    path: *const c_char,
    arguments: *const *const c_char,
    variables: *const *const c_char,
) -> c_int {
    if let Some(_inside) = guard::enter() {
        // Also those that the kernel closes: their unsent bytes are here.
        stream::give_up_all(Cause::Exec);
        slots::for_each(|fd, _| {
            // SAFETY: the call takes integers.
            let flags = unsafe { real::fcntl(fd, libc::F_GETFD, 0) };
            if flags & libc::FD_CLOEXEC == 0 {
                process::hand_back(fd, "the process runs another program");
            }
        });
    }
    // SAFETY: the program's arguments.
    unsafe { real::execve(path, arguments, variables) }
}
