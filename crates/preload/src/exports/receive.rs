//! Receives: recv(2) and its relatives.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use libc::{iovec, mmsghdr, msghdr, off_t, size_t, sockaddr, socklen_t, ssize_t, timespec};

use super::polling::duration;
use crate::addresses::{self, option};
use crate::errno::{errno, fail};
use crate::memory::{self, Access, optional};
use crate::messages::{deliver, header, is_count_of_parts, received_length, scatter};
use crate::options::{SocketState, timeout as read_timeout};
use crate::sleep::{Turn, Wait};
use crate::socket::{Datagram, has_error};
use crate::stream_io::{self, Received};
use crate::{guard, process, real, slots};

/// Runs a receive on an accelerated socket: without waiting first, then until a datagram arrives.
///
/// `kernel` is the same call on the kernel socket with the given flags, also for other descriptors.
#[inline]
fn receive(
    fd: c_int,
    flags: c_int,
    mut deliver: impl FnMut(&Datagram<'_>, &SocketState) -> isize,
    kernel: impl Fn(c_int) -> isize,
) -> isize {
    if slots::is_candidate(fd) && flags & libc::MSG_DONTWAIT == 0 && !await_candidate(fd) {
        return -1;
    }
    let Some(slot) = slots::socket(fd) else { return kernel(flags) };
    if flags & (libc::MSG_ERRQUEUE | libc::MSG_OOB) != 0 {
        return kernel(flags);
    }
    let signals = guard::signals();
    let mut wait = None;
    loop {
        let Some(inside) = guard::enter() else { return kernel(flags) };
        let mut place = slot.socket();
        let Some(socket) = place.as_deref_mut() else {
            drop(place);
            drop(inside);
            return kernel(flags);
        };
        if let Some(result) = socket.receive(flags, &mut deliver, &kernel) {
            socket.state.nonblocking.found();
            return result;
        }
        if socket.is_finished() {
            // Returned to the kernel, and all kept datagrams are read.
            socket.counters.close();
            slot.set_plain();
            *place = None;
            drop(place);
            drop(inside);
            return kernel(flags);
        }
        if socket.refuses_wait(flags) {
            return fail(libc::EAGAIN);
        }
        drop(place);
        drop(inside);
        let wait = wait.get_or_insert_with(|| Wait::for_call(fd, libc::SO_RCVTIMEO, signals));
        let mut fds = Vec::new();
        if wait.may_sleep() {
            fds.push(libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
        }
        let check = || {
            process::poll_stacks();
            slot.socket().as_deref_mut().is_none_or(|socket| {
                socket.expect_kernel();
                socket.has_datagram()
            })
        };
        match wait.turn(&mut fds, std::ptr::null(), check) {
            Turn::Again => {}
            Turn::TimedOut => return fail(libc::EAGAIN),
            Turn::Interrupted => return fail(libc::EINTR),
        }
    }
}

/// Waits until a socket that is not bound yet has something, and may be accelerated meanwhile: a
/// thread that waits in the kernel would not notice. Returns `false` with `errno` if the receive
/// ends.
#[cold]
fn await_candidate(fd: c_int) -> bool {
    // SAFETY: the call takes integers.
    let status = unsafe { real::fcntl(fd, libc::F_GETFL, 0) };
    if status < 0 || status & libc::O_NONBLOCK != 0 || guard::is_inside() {
        return true;
    }
    let timeout = read_timeout(fd, libc::SO_RCVTIMEO);
    let milliseconds = timeout.map_or(-1, |timeout| timeout.as_micros().div_ceil(1_000) as c_int);
    let before = guard::signals().interrupts;
    loop {
        let mut entry = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: the entry outlives the call.
        match unsafe { super::polling::poll(&raw mut entry, 1, milliseconds) } {
            0 => return fail(libc::EAGAIN) >= 0,
            // A limit of descriptors below one: nothing can be waited for but in the kernel.
            -1 if errno() == libc::EINVAL => return true,
            // A handler with `SA_RESTART` does not end a receive without a timeout.
            -1 if timeout.is_none() && errno() == libc::EINTR => {
                if guard::signals().interrupts != before {
                    return false;
                }
            }
            result => return result > 0,
        }
    }
}

/// Returns `true` if a sender's address of so many bytes can be written, or none is wanted.
fn is_name(name: *mut sockaddr, length: *mut socklen_t, size: usize) -> bool {
    if name.is_null() {
        return true;
    }
    if !memory::is_valid(length.cast(), size_of::<socklen_t>(), Access::Write) {
        return false;
    }
    // SAFETY: the pointer is valid.
    let room = unsafe { *length } as usize;
    memory::is_valid(name.cast(), room.min(size), Access::Write)
}

/// # Safety
/// As for recvfrom(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn recvfrom(
    fd: c_int,
    buffer: *mut c_void,
    length: size_t,
    flags: c_int,
    name: *mut sockaddr,
    name_length: *mut socklen_t,
) -> ssize_t {
    if let Some(slot) = slots::stream(fd) {
        let part = iovec { iov_base: buffer, iov_len: length };
        // SAFETY: the program's arguments.
        let received = unsafe {
            stream_io::receive(fd, slot, flags, &[part], |flags| {
                real::recvfrom(fd, buffer, length, flags, name, name_length)
            })
        };
        return match received {
            Received::Kernel(result) => result,
            Received::Bypass(result) => {
                // A stream has no sender's address.
                if result >= 0 && !name.is_null() {
                    if !is_name(name, name_length, 0) {
                        return fail(libc::EFAULT);
                    }
                    // SAFETY: the pointer is valid.
                    unsafe { *name_length = 0 };
                }
                result
            }
        };
    }
    let part = iovec { iov_base: buffer, iov_len: length };
    // SAFETY: the program's arguments.
    let kernel = |flags| unsafe { real::recvfrom(fd, buffer, length, flags, name, name_length) };
    if !memory::is_addressable(&part) {
        return kernel(flags);
    }
    let deliver = |datagram: &Datagram<'_>, _: &SocketState| {
        let count = length.min(datagram.payload.len());
        let size = addresses::size(datagram.source);
        if !memory::is_valid(buffer, count, Access::Write) || !is_name(name, name_length, size) {
            return fail(libc::EFAULT);
        }
        // SAFETY: the program guarantees its buffers.
        unsafe {
            let copied = scatter(datagram.payload, &[part]);
            if let Some(name_length) = name_length.as_mut() {
                crate::addresses::write(datagram.source, name, name_length);
            }
            received_length(flags, datagram.payload, copied)
        }
    };
    receive(fd, flags, deliver, kernel)
}

/// # Safety
/// As for recv(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn recv(
    fd: c_int,
    buffer: *mut c_void,
    length: size_t,
    flags: c_int,
) -> ssize_t {
    if !slots::carries_data(fd) {
        // SAFETY: the program's arguments.
        return unsafe { real::recv(fd, buffer, length, flags) };
    }
    if flags & !libc::MSG_DONTWAIT == 0 {
        // SAFETY: as above.
        let call = || unsafe { real::recv(fd, buffer, length, flags) };
        if let Some(result) = stream_io::receive_in_kernel(fd, call) {
            return result;
        }
    }
    // SAFETY: the program's arguments.
    unsafe { recvfrom(fd, buffer, length, flags, null_mut(), null_mut()) }
}

/// # Safety
/// As for read(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn read(
    fd: c_int,
    buffer: *mut c_void,
    length: size_t,
) -> ssize_t {
    if !slots::carries_data(fd) || length == 0 {
        // SAFETY: the program's arguments.
        return unsafe { real::read(fd, buffer, length) };
    }
    // SAFETY: as above.
    let call = || unsafe { real::read(fd, buffer, length) };
    if let Some(result) = stream_io::receive_in_kernel(fd, call) {
        return result;
    }
    // SAFETY: the program's arguments.
    unsafe { recvfrom(fd, buffer, length, 0, null_mut(), null_mut()) }
}

/// # Safety
/// As for readv(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn readv(
    fd: c_int,
    parts: *const iovec,
    count: c_int,
) -> ssize_t {
    if !slots::carries_data(fd) || !is_count_of_parts(count) {
        // SAFETY: the program's arguments.
        return unsafe { real::readv(fd, parts, count) };
    }
    let mut message = plain_message(parts.cast_mut(), count as usize);
    // SAFETY: the program's arguments.
    unsafe { recvmsg(fd, &raw mut message, 0) }
}

/// # Safety
/// As for preadv2(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn preadv2(
    fd: c_int,
    parts: *const iovec,
    count: c_int,
    offset: off_t,
    flags: c_int,
) -> ssize_t {
    // An offset of -1 is that of readv(2). The kernel refuses any other for a socket.
    if !slots::carries_data(fd)
        || !is_count_of_parts(count)
        || offset != -1
        || flags & !libc::RWF_NOWAIT != 0
    {
        // SAFETY: the program's arguments.
        return unsafe { real::preadv2(fd, parts, count, offset, flags) };
    }
    let mut message = plain_message(parts.cast_mut(), count as usize);
    let flags = if flags == 0 { 0 } else { libc::MSG_DONTWAIT };
    // SAFETY: the program's arguments.
    unsafe { recvmsg(fd, &raw mut message, flags) }
}

/// # Safety
/// As for preadv2(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn preadv64v2(
    fd: c_int,
    parts: *const iovec,
    count: c_int,
    offset: off_t,
    flags: c_int,
) -> ssize_t {
    // SAFETY: the program's arguments.
    unsafe { preadv2(fd, parts, count, offset, flags) }
}

pub(super) fn plain_message(parts: *mut iovec, count: usize) -> msghdr {
    // SAFETY: a header consists of integers and pointers, for which zero is a valid value.
    let mut message: msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (parts, count);
    message
}

/// # Safety
/// As for recvmsg(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn recvmsg(
    fd: c_int,
    message: *mut msghdr,
    flags: c_int,
) -> ssize_t {
    // SAFETY: the program's arguments.
    unsafe { receive_message(fd, message, flags, |flags| real::recvmsg(fd, message, flags)) }
}

/// Receives a message. `kernel` is the same call on the kernel's socket.
///
/// # Safety
/// As for recvmsg(2).
unsafe fn receive_message(
    fd: c_int,
    message: *mut msghdr,
    flags: c_int,
    kernel: impl Fn(c_int) -> isize,
) -> isize {
    if !slots::carries_data(fd) {
        return kernel(flags);
    }
    // SAFETY: the program passes a message, or a wrong pointer.
    let Some((_, parts)) = (unsafe { header(message) }) else {
        return kernel(flags);
    };
    if let Some(slot) = slots::stream(fd) {
        // SAFETY: the program's arguments.
        let received = unsafe { stream_io::receive(fd, slot, flags, parts, kernel) };
        return match received {
            Received::Kernel(result) => result,
            Received::Bypass(result) => {
                if result >= 0 {
                    if !memory::is_valid(message.cast(), size_of::<msghdr>(), Access::Write) {
                        return fail(libc::EFAULT);
                    }
                    // SAFETY: the pointer is valid.
                    let header = unsafe { &mut *message };
                    (header.msg_namelen, header.msg_controllen) = (0, 0);
                    header.msg_flags = flags & libc::MSG_CMSG_CLOEXEC;
                }
                result
            }
        };
    }
    if !parts.iter().all(memory::is_addressable) {
        return kernel(flags);
    }
    let deliver = |datagram: &Datagram<'_>, state: &SocketState| {
        // SAFETY: the program guarantees its message.
        unsafe { deliver(message, flags, datagram, state) }
    };
    receive(fd, flags, deliver, kernel)
}

/// # Safety
/// As for recvmmsg(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn recvmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: u32,
    mut flags: c_int,
    timeout: *mut timespec,
) -> c_int {
    if !slots::carries_data(fd) {
        // SAFETY: the program's arguments.
        return unsafe { real::recvmmsg(fd, messages, count, flags, timeout) };
    }
    if slots::stream(fd).is_some_and(|slot| !slot.stream.is_bypassing()) {
        // As in the kernel, an error comes before what is unread.
        let error = option(fd, libc::SOL_SOCKET, libc::SO_ERROR).unwrap_or(0);
        if error != 0 {
            return fail(error) as c_int;
        }
    }
    let waits_for_one = flags & libc::MSG_WAITFORONE != 0;
    flags &= !libc::MSG_WAITFORONE;
    // As in the kernel, the timeout is checked after each datagram only.
    // SAFETY: the program passes a structure, null or a wrong pointer.
    let Some(limit) = (unsafe { optional(timeout) }) else { return fail(libc::EFAULT) as c_int };
    let until = match limit.map(duration) {
        Some(None) => return fail(libc::EINVAL) as c_int,
        limit => limit.flatten().map(|limit| {
            let length = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
            crate::clock::now_ns().saturating_add(length)
        }),
    };
    let mut done = 0;
    while done < count {
        let message = messages.wrapping_add(done as usize);
        let is_valid = move |access| memory::is_valid(message.cast(), size_of::<mmsghdr>(), access);
        let end = |done| if done > 0 { done as c_int } else { fail(libc::EFAULT) as c_int };
        if !is_valid(Access::Read) {
            return end(done);
        }
        // SAFETY: the program passes that many messages.
        let message = unsafe { &mut *message };
        let header = &raw mut message.msg_hdr;
        // The kernel keeps an error that ends the call for the next one.
        let keeps_error = Cell::new(false);
        let kernel = |flags| {
            keeps_error.set(done > 0 && has_error(fd));
            if keeps_error.get() {
                // Not EAGAIN, after which the receive would wait.
                return fail(libc::EIO);
            }
            // SAFETY: as above.
            unsafe { real::recvmsg(fd, header, flags) }
        };
        // SAFETY: as above.
        let received = unsafe { receive_message(fd, header, flags, kernel) };
        if received < 0 {
            if keeps_error.get() {
                process::expect_kernel(fd);
            }
            return if done > 0 { done as c_int } else { -1 };
        }
        if !is_valid(Access::Write) {
            return end(done);
        }
        message.msg_len = received as u32;
        done += 1;
        if waits_for_one {
            flags |= libc::MSG_DONTWAIT;
        }
        if until.is_some_and(|until| crate::clock::now_ns() >= until) {
            break;
        }
    }
    done as c_int
}

/// # Safety
/// As for recv(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn __recv_chk(
    fd: c_int,
    buffer: *mut c_void,
    length: size_t,
    room: size_t,
    flags: c_int,
) -> ssize_t {
    check(length, room);
    // SAFETY: the program's arguments.
    unsafe { recv(fd, buffer, length, flags) }
}

/// # Safety
/// As for recvfrom(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn __recvfrom_chk(
    fd: c_int,
    buffer: *mut c_void,
    length: size_t,
    room: size_t,
    flags: c_int,
    name: *mut sockaddr,
    name_length: *mut socklen_t,
) -> ssize_t {
    check(length, room);
    // SAFETY: the program's arguments.
    unsafe { recvfrom(fd, buffer, length, flags, name, name_length) }
}

/// # Safety
/// As for read(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn __read_chk(
    fd: c_int,
    buffer: *mut c_void,
    length: size_t,
    room: size_t,
) -> ssize_t {
    check(length, room);
    // SAFETY: the program's arguments.
    unsafe { read(fd, buffer, length) }
}

/// Ends the program as the C library does when a call would overflow a buffer of known size.
pub(super) fn check(length: usize, room: usize) {
    if length > room {
        crate::log::fatal("buffer overflow detected");
    }
}
