//! Other names of the C library for the same functions.

use std::ffi::{c_int, c_void};

use libc::{fd_set, pid_t, size_t, sockaddr, socklen_t, ssize_t, timeval};

use super::{descriptors, polling, receive, send, sockets, system};

macro_rules! aliases {
    ($(
        $alias:ident = $module:ident::$name:ident($($argument:ident: $kind:ty),*) -> $result:ty;
    )*) => {$(
        /// # Safety
        /// As for the function without the underscores.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $alias($($argument: $kind),*) -> $result {
            // SAFETY: the program's arguments.
            unsafe { $module::$name($($argument),*) }
        }
    )*};
}

aliases! {
    __close = descriptors::close(fd: c_int) -> c_int;
    __dup2 = descriptors::dup2(from: c_int, to: c_int) -> c_int;
    __connect = sockets::connect(fd: c_int, to: *const sockaddr, length: socklen_t) -> c_int;
    __fcntl = sockets::fcntl(fd: c_int, command: c_int, argument: usize) -> c_int;
    __libc_fcntl64 = sockets::fcntl(fd: c_int, command: c_int, argument: usize) -> c_int;
    __read = receive::read(fd: c_int, buffer: *mut c_void, length: size_t) -> ssize_t;
    __recv = receive::recv(fd: c_int, buffer: *mut c_void, length: size_t, flags: c_int) -> ssize_t;
    __write = send::write(fd: c_int, buffer: *const c_void, length: size_t) -> ssize_t;
    __send = send::send(fd: c_int, buffer: *const c_void, length: size_t, flags: c_int) -> ssize_t;
    __select = polling::select(
        count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set,
        timeout: *mut timeval
    ) -> c_int;
    __libc_system = system::system(command: *const std::ffi::c_char) -> c_int;
}

/// Runs vfork(2), which returns twice: a jump, so that no frame lies between.
///
/// # Safety
/// As for vfork(2).
#[cfg(target_arch = "x86_64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn __vfork() -> pid_t {
    std::arch::naked_asm!("jmp {vfork}", vfork = sym system::vfork)
}
