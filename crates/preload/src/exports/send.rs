//! Sends: send(2) and its relatives.

use std::ffi::{c_int, c_void};
use std::net::SocketAddr;
use std::ptr::null;

use libc::{iovec, mmsghdr, msghdr, off_t, size_t, sockaddr, socklen_t, ssize_t};

use super::receive::plain_message;
use crate::errno::fail;
use crate::memory::{self, Access};
use crate::messages::{PARTS_MAX, gather, header, is_count_of_parts, valid_parts};
use crate::stream_counters::Cause;
use crate::{addresses, errno, guard, process, real, slots, stream, stream_io};

/// The longest payload of a UDP datagram over IPv6; the kernel reports longer ones.
const LONGEST: usize = 65_527;
/// The bytes of an address that the kernel reads.
const ADDRESS_MAX: usize = size_of::<libc::sockaddr_storage>();

/// Sends a datagram over an accelerated socket. Returns `None` if the kernel socket must send it.
///
/// # Safety
/// Each part is valid for reads of its length, or its pointer is wrong.
#[inline]
unsafe fn send_over_xdp(
    fd: c_int,
    flags: c_int,
    to: Result<Option<SocketAddr>, ()>,
    parts: &[iovec],
) -> Option<isize> {
    let length = stream_io::length(parts);
    let is_sendable = length <= LONGEST && memory::are_valid(parts, length, Access::Read);
    let to = to.ok().filter(|_| is_sendable);
    let slot = slots::socket(fd)?;
    let _inside = guard::enter()?;
    let mut place = slot.socket();
    let socket = place.as_deref_mut()?;
    let Some(to) = to else {
        socket.leave_send(flags);
        return None;
    };
    // SAFETY: the caller guarantees the parts.
    let fill = |payload: &mut [u8]| unsafe { gather(parts, payload) };
    socket.send(flags, to, length, fill).then_some(length as isize)
}

/// Accelerates a socket after its first send to an address, which has bound it.
#[inline]
fn sent(fd: c_int, is_named: bool, result: ssize_t) -> ssize_t {
    if is_named && result >= 0 && slots::socket(fd).is_none() {
        errno::keep(|| process::adopt_sender(fd));
    }
    result
}

/// Reads a destination; an error is one that only the kernel can judge.
unsafe fn destination(name: *const sockaddr, length: socklen_t) -> Result<Option<SocketAddr>, ()> {
    if name.is_null() {
        return Ok(None);
    }
    if !memory::is_valid(name.cast(), (length as usize).min(ADDRESS_MAX), Access::Read) {
        return Err(());
    }
    // SAFETY: the program passes that many bytes.
    unsafe { addresses::read(name, length) }.map(Some).ok_or(())
}

/// # Safety
/// As for sendto(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn sendto(
    fd: c_int,
    buffer: *const c_void,
    length: size_t,
    flags: c_int,
    name: *const sockaddr,
    name_length: socklen_t,
) -> ssize_t {
    if let Some(slot) = slots::stream(fd) {
        let part = iovec { iov_base: buffer.cast_mut(), iov_len: length };
        // SAFETY: the program's arguments.
        return unsafe {
            stream_io::send(fd, slot, flags, &[part], || {
                real::sendto(fd, buffer, length, flags, name, name_length)
            })
        };
    }
    if slots::socket(fd).is_some() {
        let part = iovec { iov_base: buffer.cast_mut(), iov_len: length };
        // SAFETY: the program's arguments.
        let sent = unsafe {
            let to = destination(name, name_length);
            send_over_xdp(fd, flags, to, &[part])
        };
        if let Some(sent) = sent {
            return sent;
        }
    }
    // SAFETY: the program's arguments.
    sent(fd, !name.is_null(), unsafe { real::sendto(fd, buffer, length, flags, name, name_length) })
}

/// # Safety
/// As for send(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn send(
    fd: c_int,
    buffer: *const c_void,
    length: size_t,
    flags: c_int,
) -> ssize_t {
    if !slots::carries_data(fd) {
        // SAFETY: the program's arguments.
        return unsafe { real::send(fd, buffer, length, flags) };
    }
    // SAFETY: as above.
    let call = || unsafe { real::send(fd, buffer, length, flags) };
    if let Some(result) = stream_io::send_in_kernel(fd, call) {
        return result;
    }
    // SAFETY: the program's arguments.
    unsafe { sendto(fd, buffer, length, flags, null(), 0) }
}

/// # Safety
/// As for write(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn write(
    fd: c_int,
    buffer: *const c_void,
    length: size_t,
) -> ssize_t {
    if !slots::carries_data(fd) {
        // SAFETY: the program's arguments.
        return unsafe { real::write(fd, buffer, length) };
    }
    // SAFETY: as above.
    let call = || unsafe { real::write(fd, buffer, length) };
    if let Some(result) = stream_io::send_in_kernel(fd, call) {
        return result;
    }
    // SAFETY: the program's arguments.
    unsafe { sendto(fd, buffer, length, 0, null(), 0) }
}

/// # Safety
/// As for writev(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn writev(
    fd: c_int,
    list: *const iovec,
    count: c_int,
) -> ssize_t {
    // SAFETY: the program's arguments.
    let kernel = || unsafe { real::writev(fd, list, count) };
    if !slots::carries_data(fd) || !is_count_of_parts(count) {
        return kernel();
    }
    // SAFETY: as above.
    let Some(parts) = (unsafe { valid_parts(list, count as usize) }) else { return kernel() };
    if let Some(slot) = slots::stream(fd) {
        // SAFETY: as above.
        return unsafe { stream_io::send(fd, slot, 0, parts, kernel) };
    }
    // SAFETY: as above.
    unsafe { send_over_xdp(fd, 0, Ok(None), parts) }.unwrap_or_else(kernel)
}

/// # Safety
/// As for pwritev2(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn pwritev2(
    fd: c_int,
    parts: *const iovec,
    count: c_int,
    offset: off_t,
    flags: c_int,
) -> ssize_t {
    // An offset of -1 is that of writev(2). The kernel refuses any other for a socket.
    if !slots::carries_data(fd)
        || !is_count_of_parts(count)
        || offset != -1
        || flags & !libc::RWF_NOWAIT != 0
    {
        // SAFETY: the program's arguments.
        return unsafe { real::pwritev2(fd, parts, count, offset, flags) };
    }
    let message = plain_message(parts.cast_mut(), count as usize);
    let flags = if flags == 0 { 0 } else { libc::MSG_DONTWAIT };
    // SAFETY: the program's arguments.
    unsafe { sendmsg(fd, &raw const message, flags) }
}

/// # Safety
/// As for pwritev2(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn pwritev64v2(
    fd: c_int,
    parts: *const iovec,
    count: c_int,
    offset: off_t,
    flags: c_int,
) -> ssize_t {
    // SAFETY: the program's arguments.
    unsafe { pwritev2(fd, parts, count, offset, flags) }
}

/// # Safety
/// As for sendmsg(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn sendmsg(
    fd: c_int,
    message: *const msghdr,
    flags: c_int,
) -> ssize_t {
    // SAFETY: the program passes a message, or a wrong pointer.
    if let Some((header, parts)) = unsafe { header(message) } {
        if let Some(slot) = slots::stream(fd) {
            if header.msg_controllen > 0 && stream::leave(fd, Cause::Flag, "a control message") {
                return -1;
            }
            // SAFETY: as above.
            return unsafe {
                let kernel = || real::sendmsg(fd, message, flags);
                stream_io::send(fd, slot, flags, parts, kernel)
            };
        }
        if slots::socket(fd).is_some() {
            // SAFETY: as above.
            let sent = unsafe {
                let to = match header.msg_controllen {
                    0 => destination(header.msg_name.cast(), header.msg_namelen),
                    _ => Err(()),
                };
                send_over_xdp(fd, flags, to, parts)
            };
            if let Some(sent) = sent {
                return sent;
            }
        } else if header.msg_controllen > 0 {
            // SAFETY: as above.
            unsafe { return_passed_sockets(header) };
        }
    }
    // SAFETY: the program's arguments.
    let result = unsafe { real::sendmsg(fd, message, flags) };
    // SAFETY: the kernel has read the message.
    let is_named = result >= 0 && unsafe { !(*message).msg_name.is_null() };
    sent(fd, is_named, result)
}

/// Returns the sockets to the kernel whose descriptors a message passes to another process.
#[cold]
unsafe fn return_passed_sockets(header: &msghdr) {
    let is_valid = memory::is_valid(header.msg_control, header.msg_controllen, Access::Read);
    let Some(_inside) = guard::enter().filter(|_| is_valid) else { return };
    // SAFETY: the program passes a valid message; the macros walk its control messages.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(header) };
    // SAFETY: not null, so within the control buffer.
    while let Some(control) = unsafe { next.as_ref() } {
        if (control.cmsg_level, control.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
            // SAFETY: as above; the data are descriptors.
            let (data, begin) = unsafe { (libc::CMSG_DATA(control), libc::CMSG_LEN(0) as usize) };
            let count = control.cmsg_len.saturating_sub(begin) / size_of::<c_int>();
            for at in 0..count {
                // SAFETY: as above.
                let fd = unsafe { data.cast::<c_int>().add(at).read_unaligned() };
                process::share(fd, "the descriptor is passed to another process");
            }
        }
        // SAFETY: as above.
        next = unsafe { libc::CMSG_NXTHDR(header, control) };
    }
}

/// # Safety
/// As for sendmmsg(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn sendmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: u32,
    flags: c_int,
) -> c_int {
    if !slots::carries_data(fd) {
        // SAFETY: the program's arguments.
        return unsafe { real::sendmmsg(fd, messages, count, flags) };
    }
    for done in 0..count.min(PARTS_MAX as u32) {
        let message = messages.wrapping_add(done as usize);
        if !memory::is_valid(message.cast(), size_of::<mmsghdr>(), Access::Write) {
            return if done > 0 { done as c_int } else { fail(libc::EFAULT) as c_int };
        }
        // SAFETY: the program passes that many messages.
        let message = unsafe { &mut *message };
        // SAFETY: as above.
        let sent = unsafe { sendmsg(fd, &raw const message.msg_hdr, flags) };
        if sent < 0 {
            return if done > 0 { done as c_int } else { -1 };
        }
        message.msg_len = sent as u32;
    }
    count.min(PARTS_MAX as u32) as c_int
}

/// # Safety
/// As for sendmmsg(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn __sendmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: u32,
    flags: c_int,
) -> c_int {
    // SAFETY: the program's arguments.
    unsafe { sendmmsg(fd, messages, count, flags) }
}
