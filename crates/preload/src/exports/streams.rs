//! Calls of TCP connections besides receives and sends.

use std::ffi::{c_int, c_ulong, c_void};

use libc::{sockaddr, socklen_t};

use crate::errno::fail;
use crate::memory::{self, Access};
use crate::slots::Slot;
use crate::stream_counters::Cause;
use crate::stream_options::Effect;
use crate::{guard, real, slots, stream};

/// # Safety
/// As for accept4(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn accept4(
    fd: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
    flags: c_int,
) -> c_int {
    // SAFETY: the program's arguments.
    let accepted = unsafe { real::accept4(fd, address, length, flags) };
    if accepted >= 0
        && let Some(_inside) = guard::enter()
    {
        stream::discard(accepted);
        if slots::handled(accepted).is_some() {
            crate::process::forget(accepted);
        }
        stream::track(accepted);
    }
    accepted
}

/// # Safety
/// As for accept(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn accept(
    fd: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
) -> c_int {
    // SAFETY: the program's arguments.
    unsafe { accept4(fd, address, length, 0) }
}

/// Sets an option of a tracked connection.
///
/// # Safety
/// As for setsockopt(2).
pub(super) unsafe fn set_option(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: socklen_t,
) -> c_int {
    let has_integer = length as usize >= size_of::<c_int>()
        && memory::is_valid(value, size_of::<c_int>(), Access::Read);
    // SAFETY: the program passes that many bytes.
    let number = has_integer.then(|| unsafe { value.cast::<c_int>().read_unaligned() });
    if (level, name) == (libc::IPPROTO_TCP, libc::TCP_CORK)
        && let Some(number) = number
        && let Some(_inside) = guard::enter()
        && stream::set_corked(fd, number != 0)
    {
        return 0;
    }
    let effect = Effect::new(level, name, number);
    match effect {
        Effect::None => {}
        Effect::Retake => {
            if let Some(_inside) = guard::enter() {
                stream::hand_back(fd, Cause::Option);
            }
        }
        Effect::Unsupported(what) => {
            if stream::leave(fd, Cause::Option, what) {
                return -1;
            }
        }
    }
    // SAFETY: the program's arguments.
    let result = unsafe { real::setsockopt(fd, level, name, value, length) };
    if effect == Effect::None
        && result == 0
        && let Some(slot) = slots::stream(fd).filter(|slot| slot.stream.is_bypassing())
        && let Some(_inside) = guard::enter()
        && let Some(stream) = slot.stream.stream().as_deref_mut()
        && (level, name) == (libc::IPPROTO_TCP, libc::TCP_NODELAY)
    {
        stream.tcp.set_nagle(number == Some(0));
    }
    result
}

/// Calls ioctl(2) on a tracked connection.
///
/// # Safety
/// As for ioctl(2).
pub(super) unsafe fn control(fd: c_int, slot: &Slot, request: c_ulong, argument: usize) -> c_int {
    let place = argument as *mut c_int;
    if request == libc::FIOASYNC && stream::leave(fd, Cause::Option, "FIOASYNC") {
        return -1;
    }
    if matches!(request, libc::FIONREAD | libc::TIOCOUTQ)
        && let Some(_inside) = guard::enter()
        && stream::ready(fd, slot).is_some()
        && let Some(status) = slot.stream.stream().as_deref().and_then(|it| it.tcp.status())
    {
        let count = if request == libc::FIONREAD { status.unread } else { status.unacknowledged };
        if !memory::is_valid(place.cast(), size_of::<c_int>(), Access::Write) {
            return fail(libc::EFAULT) as c_int;
        }
        // SAFETY: the pointer is valid.
        unsafe { place.write_unaligned(count as c_int) };
        return 0;
    }
    // SAFETY: the program's arguments.
    let result = unsafe { real::ioctl(fd, request, argument) };
    if result == 0
        && request == libc::FIONBIO
        && let Some(_inside) = guard::enter()
        && let Some(stream) = slot.stream.stream().as_deref_mut()
    {
        // SAFETY: the kernel has read the program's integer.
        stream.state.nonblocking.set(unsafe { place.read_unaligned() } != 0);
    }
    result
}

/// Follows a successful change of the flags of a tracked connection.
pub(super) fn set_flags(fd: c_int, slot: &Slot, flags: c_int) {
    if flags & libc::O_ASYNC != 0 {
        stream::hand_back(fd, Cause::Option);
    }
    if let Some(stream) = slot.stream.stream().as_deref_mut() {
        stream.state.nonblocking.set(flags & libc::O_NONBLOCK != 0);
    }
}

/// # Safety
/// As for getsockopt(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn getsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    length: *mut socklen_t,
) -> c_int {
    // SAFETY: the program's arguments.
    let result = unsafe { real::getsockopt(fd, level, name, value, length) };
    if result == 0 && (level, name) == (libc::IPPROTO_TCP, libc::TCP_INFO) {
        // SAFETY: the kernel has written the program's length.
        let length = unsafe { *length } as usize;
        if length > 0
            && let Some(_inside) = guard::enter()
        {
            // SAFETY: the kernel has written as many bytes there.
            let info = unsafe { std::slice::from_raw_parts_mut(value.cast(), length) };
            stream::complete_info(fd, info);
        }
        return result;
    }
    // The kernel's socket does not have these values while the connection is taken over.
    if result == 0
        && let (libc::SOL_SOCKET, libc::SO_KEEPALIVE) | (libc::IPPROTO_TCP, libc::TCP_CORK) =
            (level, name)
        && let Some(slot) = slots::stream(fd).filter(|slot| slot.stream.is_bypassing())
        && let Some(_inside) = guard::enter()
        && let Some(stream) = slot.stream.stream().as_deref()
        && let Some(found) = match name {
            libc::SO_KEEPALIVE => stream.tcp.keepalive(),
            _ => Some(stream.state.corked.into()),
        }
    {
        // SAFETY: the kernel has written the program's value and length.
        unsafe {
            if *length as usize >= size_of::<c_int>() {
                value.cast::<c_int>().write_unaligned(found);
            }
        }
    }
    result
}

/// # Safety
/// As for _exit(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn _exit(status: c_int) -> ! {
    stream::exit(Cause::Exit);
    // SAFETY: ends all threads of the process, as the C library's function does.
    unsafe { libc::syscall(libc::SYS_exit_group, status) };
    unreachable!("the system call does not return")
}

/// # Safety
/// As for _Exit(3).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn _Exit(status: c_int) -> ! {
    // SAFETY: as above.
    unsafe { _exit(status) }
}
