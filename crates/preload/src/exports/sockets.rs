//! Bind, connect, options and shutdown.

use std::ffi::{c_int, c_ulong, c_void};

use libc::{sockaddr, socklen_t};

use super::after;
use crate::errno::{errno, fail, keep};
use crate::membership::{self, Change};
use crate::options::SocketState;
use crate::stream_counters::Cause;
use crate::{guard, process, real, slots, stream};

/// # Safety
/// As for socket(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn socket(
    domain: c_int,
    kind: c_int,
    protocol: c_int,
) -> c_int {
    // SAFETY: the call takes integers.
    let fd = unsafe { real::socket(domain, kind, protocol) };
    // The descriptor's last owner may have closed it by a call that is not replaced.
    after(fd, |fd| {
        stream::discard(fd);
        process::forget(fd);
        process::expect_binding(fd, domain, kind);
    })
}

/// Answers `hairpin_host::is_accelerated`: 1 if the messages of a socket bypass the kernel now.
///
/// # Safety
/// The call takes any number.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn hairpin_preload_is_accelerated(fd: c_int) -> c_int {
    c_int::from(slots::bypasses(fd))
}

/// # Safety
/// As for bind(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn bind(
    fd: c_int,
    address: *const sockaddr,
    length: socklen_t,
) -> c_int {
    // SAFETY: the program's arguments.
    after(unsafe { real::bind(fd, address, length) }, |_| process::adopt(fd))
}

/// # Safety
/// As for connect(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn connect(
    fd: c_int,
    address: *const sockaddr,
    length: socklen_t,
) -> c_int {
    if slots::stream(fd).is_some() {
        // Only the kernel dissolves a connection.
        after(0, |_| stream::hand_back(fd, Cause::Other));
    }
    // SAFETY: the program's arguments.
    let result = unsafe { real::connect(fd, address, length) };
    if result == 0 || errno() == libc::EINPROGRESS {
        keep(|| stream::connected(fd));
    }
    after(result, |_| process::adopt(fd))
}

/// # Safety
/// As for shutdown(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn shutdown(fd: c_int, how: c_int) -> c_int {
    if slots::stream(fd).is_some() {
        after(0, |_| stream::give_up(fd, Cause::Shutdown));
    }
    // SAFETY: the call takes integers.
    let result = unsafe { real::shutdown(fd, how) };
    after(result, |_| process::hand_back(fd, "the program shuts it down"))
}

/// # Safety
/// As for setsockopt(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn setsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: socklen_t,
) -> c_int {
    if slots::stream(fd).is_some() {
        // SAFETY: the program's arguments.
        return unsafe { super::streams::set_option(fd, level, name, value, length) };
    }
    // SAFETY: the program's arguments.
    let result = unsafe { real::setsockopt(fd, level, name, value, length) };
    if result == 0 && (level, name) == (libc::IPPROTO_IP, libc::IP_MULTICAST_IF) {
        // SAFETY: the kernel has read that many bytes of the program's value.
        process::set_multicast_interface(fd, unsafe { last_index(value, length) });
    }
    if result == 0
        && slots::is_candidate(fd)
        && let Some(_inside) = guard::enter()
        // SAFETY: the kernel has read that many bytes of the program's value.
        && let Some(request) = unsafe { membership::Request::new(level, name, value, length) }
    {
        process::record_membership(fd, request);
    }
    let Some(slot) = slots::socket(fd) else { return result };
    after(result, |_| {
        if level == libc::SOL_SOCKET
            && matches!(name, libc::SO_BINDTODEVICE | libc::SO_BINDTOIFINDEX)
        {
            return process::adopt(fd);
        }
        let (stacks, local) = match slot.socket().as_deref() {
            Some(socket) if socket.is_adopted() => (socket.stacks(), socket.local),
            _ => return,
        };
        // SAFETY: the kernel has read that many bytes of the program's value.
        match unsafe { membership::change(stacks.into_iter(), level, name, value, length) } {
            Change::Here(membership) => process::update_membership(fd, Some(membership)),
            Change::Unsupported => process::update_membership(fd, None),
            Change::Elsewhere => {}
            Change::None => match SocketState::read(fd, local) {
                Ok(state) => {
                    if let Some(socket) = slot.socket().as_deref_mut() {
                        socket.set_state(state);
                    }
                }
                Err(reason) => process::hand_back(fd, reason),
            },
        }
    })
}

/// Returns the interface's index of `struct ip_mreqn`; 0 for the shorter structures.
unsafe fn last_index(value: *const c_void, length: socklen_t) -> u32 {
    if (length as usize) < size_of::<libc::ip_mreqn>() {
        return 0;
    }
    // SAFETY: the caller guarantees that many bytes.
    let request = unsafe { value.cast::<libc::ip_mreqn>().read_unaligned() };
    request.imr_ifindex.cast_unsigned()
}

/// # Safety
/// As for ioctl(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn ioctl(
    fd: c_int,
    request: c_ulong,
    argument: usize,
) -> c_int {
    if [libc::FIOCLEX as c_ulong, libc::FIONCLEX as c_ulong].contains(&request)
        && super::descriptors::is_hidden(fd)
    {
        return fail(libc::EBADF) as c_int;
    }
    if let Some(slot) = slots::stream(fd) {
        // SAFETY: the program's arguments.
        return unsafe { super::streams::control(fd, slot, request, argument) };
    }
    // SAFETY: the program's arguments.
    let result = unsafe { real::ioctl(fd, request, argument) };
    let Some(slot) = slots::socket(fd) else { return result };
    after(result, |_| {
        let mut place = slot.socket();
        let Some(socket) = place.as_deref_mut() else { return };
        if request == libc::FIONBIO {
            // SAFETY: the kernel has read the program's integer.
            let is_set = unsafe { (argument as *const c_int).read_unaligned() } != 0;
            socket.state.nonblocking.set(is_set);
        } else if request == libc::FIONREAD
            && let Some(length) = socket.next_length()
        {
            // SAFETY: the kernel has written the program's integer.
            unsafe { (argument as *mut c_int).write_unaligned(length as c_int) };
        }
    })
}

/// # Safety
/// As for fcntl(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int {
    if super::descriptors::is_hidden(fd) {
        return fail(libc::EBADF) as c_int;
    }
    // SAFETY: the program's arguments.
    let call = || unsafe { real::fcntl(fd, command, argument) };
    if matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC) {
        return super::descriptors::duplicate(fd, call);
    }
    let result = call();
    if command != libc::F_SETFL {
        return result;
    }
    if let Some(slot) = slots::stream(fd) {
        return after(result, |_| super::streams::set_flags(fd, slot, argument as c_int));
    }
    let Some(slot) = slots::socket(fd) else { return result };
    after(result, |_| {
        if let Some(socket) = slot.socket().as_deref_mut() {
            socket.state.nonblocking.set(argument & libc::O_NONBLOCK as usize != 0);
        }
    })
}

/// # Safety
/// As for fcntl(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn fcntl64(
    fd: c_int,
    command: c_int,
    argument: usize,
) -> c_int {
    // SAFETY: the program's arguments.
    unsafe { fcntl(fd, command, argument) }
}
