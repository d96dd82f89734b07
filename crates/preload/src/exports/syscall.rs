//! syscall(2): system calls by number, dispatched to the functions of the same name.
//!
//! Only on x86-64: the arguments of a function with a variable number of them are passed there like
//! all others.

use std::ffi::{c_int, c_long, c_uint};

use libc::sigset_t;

use super::{copies, descriptors, execution, polling, receive, send, sockets, system};
use crate::errno::set_errno;
use crate::{memory, process, real};

/// `SECCOMP_SET_MODE_STRICT` and `SECCOMP_SET_MODE_FILTER`.
const STRICT: usize = 0;
const FILTER: usize = 1;

// The C library's functions have the same arguments as the kernel in all of these calls, except
// the size of a signal mask, which follows them.
macro_rules! call {
    ($module:ident::$name:ident($($value:ident $(as $kind:ty)?),*)) => {
        // SAFETY: the program's arguments, of the types that the system call has.
        unsafe { $module::$name($($value as call!(@ $($kind)?)),*) as c_long }
    };
    (@ $kind:ty) => { $kind };
    (@) => { _ };
}

/// # Safety
/// As for the system call.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn syscall(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    let arguments = [a, b, c, d, e, f];
    // SAFETY: the program's arguments.
    let done = unsafe { transfer(number, arguments).or_else(|| control(number, arguments)) };
    if let Some(result) = done {
        return result;
    }
    if number == libc::SYS_io_uring_setup && !process::leave_to_kernel("the process uses io_uring")
    {
        set_errno(libc::EOPNOTSUPP);
        return -1;
    }
    if number == libc::SYS_seccomp && matches!(a, STRICT | FILTER) && !process::leave_for_filter() {
        set_errno(libc::EPERM);
        return -1;
    }
    // SAFETY: the program's arguments.
    unsafe { real::syscall(number, a, b, c, d, e, f) }
}

/// Dispatches the calls that transfer data.
///
/// # Safety
/// As for the system call.
#[inline]
unsafe fn transfer(number: c_long, [a, b, c, d, e, f]: [usize; 6]) -> Option<c_long> {
    Some(match number {
        libc::SYS_read => call!(receive::read(a as c_int, b, c)),
        libc::SYS_readv => call!(receive::readv(a as c_int, b, c as c_int)),
        libc::SYS_recvfrom => call!(receive::recvfrom(a as c_int, b, c, d as c_int, e, f)),
        libc::SYS_recvmsg => call!(receive::recvmsg(a as c_int, b, c as c_int)),
        libc::SYS_recvmmsg => call!(receive::recvmmsg(a as c_int, b, c as c_uint, d as c_int, e)),
        libc::SYS_write => call!(send::write(a as c_int, b, c)),
        libc::SYS_writev => call!(send::writev(a as c_int, b, c as c_int)),
        libc::SYS_sendto => call!(send::sendto(a as c_int, b, c, d as c_int, e, f as c_uint)),
        libc::SYS_sendmsg => call!(send::sendmsg(a as c_int, b, c as c_int)),
        libc::SYS_sendmmsg => call!(send::sendmmsg(a as c_int, b, c as c_uint, d as c_int)),
        libc::SYS_sendfile => call!(copies::sendfile(a as c_int, b as c_int, c, d)),
        libc::SYS_splice => call!(copies::splice(a as c_int, b, c as c_int, d, e, f as c_uint)),
        _ => return None,
    })
}

/// Dispatches the calls on descriptors, waits and processes.
///
/// # Safety
/// As for the system call.
#[inline]
unsafe fn control(number: c_long, [a, b, c, d, e, f]: [usize; 6]) -> Option<c_long> {
    Some(match number {
        libc::SYS_socket => call!(sockets::socket(a as c_int, b as c_int, c as c_int)),
        libc::SYS_bind => call!(sockets::bind(a as c_int, b, c as c_uint)),
        libc::SYS_connect => call!(sockets::connect(a as c_int, b, c as c_uint)),
        libc::SYS_shutdown => call!(sockets::shutdown(a as c_int, b as c_int)),
        libc::SYS_setsockopt => {
            call!(sockets::setsockopt(a as c_int, b as c_int, c as c_int, d, e as c_uint))
        }
        libc::SYS_ioctl => call!(sockets::ioctl(a as c_int, b as libc::c_ulong, c)),
        libc::SYS_fcntl => call!(sockets::fcntl(a as c_int, b as c_int, c)),
        libc::SYS_close => call!(descriptors::close(a as c_int)),
        libc::SYS_close_range => {
            call!(descriptors::close_range(a as c_uint, b as c_uint, c as c_int))
        }
        libc::SYS_dup => call!(descriptors::dup(a as c_int)),
        libc::SYS_dup2 => call!(descriptors::dup2(a as c_int, b as c_int)),
        libc::SYS_dup3 => call!(descriptors::dup3(a as c_int, b as c_int, c as c_int)),
        libc::SYS_poll => call!(polling::poll(a, b as libc::nfds_t, c as c_int)),
        libc::SYS_ppoll => call!(polling::ppoll(a, b as libc::nfds_t, c, d)),
        libc::SYS_select => call!(polling::select(a as c_int, b, c, d, e)),
        libc::SYS_pselect6 => {
            // The kernel's last argument points to the mask and its size.
            // SAFETY: null, the program's structure, or a wrong pointer.
            let mask = unsafe { memory::optional(f as *const *const sigset_t) };
            let mask = mask?.map_or(0, |mask| *mask as usize);
            call!(polling::pselect(a as c_int, b, c, d, e, mask))
        }
        libc::SYS_epoll_create => call!(polling::epoll_create(a as c_int)),
        libc::SYS_epoll_create1 => call!(polling::epoll_create1(a as c_int)),
        libc::SYS_epoll_ctl => call!(polling::epoll_ctl(a as c_int, b as c_int, c as c_int, d)),
        libc::SYS_epoll_wait => call!(polling::epoll_wait(a as c_int, b, c as c_int, d as c_int)),
        libc::SYS_epoll_pwait => {
            call!(polling::epoll_pwait(a as c_int, b, c as c_int, d as c_int, e))
        }
        libc::SYS_epoll_pwait2 => call!(polling::epoll_pwait2(a as c_int, b, c as c_int, d, e)),
        libc::SYS_setrlimit => call!(system::setrlimit(a as c_uint, b)),
        libc::SYS_prlimit64 => call!(system::prlimit(a as libc::pid_t, b as c_uint, c, d)),
        libc::SYS_prctl => call!(system::prctl(a as c_int, b, c, d, e)),
        libc::SYS_execve => call!(execution::execve(a, b, c)),
        libc::SYS_execveat => {
            call!(execution::execveat(a as c_int, b, c, d, e as c_int))
        }
        libc::SYS_preadv2 => {
            call!(receive::preadv2(a as c_int, b, c as c_int, d as libc::off_t, f as c_int))
        }
        libc::SYS_pwritev2 => {
            call!(send::pwritev2(a as c_int, b, c as c_int, d as libc::off_t, f as c_int))
        }
        // SAFETY: as for _Fork(3).
        libc::SYS_fork => (unsafe { system::_Fork() }).into(),
        _ => return None,
    })
}
