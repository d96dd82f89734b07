//! Forks and signals.

use std::ffi::c_int;

use libc::{pid_t, sigaction as SigAction, sighandler_t};

use crate::{process, real, signals};

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

/// Does the same as _Fork(3), or the same as fork(2) once an interface is open: handlers of
/// pthread_atfork(3) keep its descriptors out of the child.
///
/// # Safety
/// As for _Fork(3).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn _Fork() -> pid_t {
    // SAFETY: as for _Fork(3).
    unsafe { if process::open_stacks().is_empty() { real::_Fork() } else { real::fork() } }
}
