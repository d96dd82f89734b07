//! Receives and sends of TCP connections.

use std::ffi::c_int;
use std::io;

use libc::{iovec, msghdr};

use crate::clock;
use crate::errno::fail;
use crate::guard;
use crate::memory::{self, Access};
use crate::messages::gather;
use crate::nonblocking::Nonblocking;
use crate::options;
use crate::process;
use crate::real;
use crate::sleep::{Turn, Wait};
use crate::slots::{self, Slot};
use crate::stream::{self, Stream};
use crate::stream_counters::{Cause, Counter, add};

/// The flags of a receive and of a send that a connection taken over implements.
const RECEIVE_FLAGS: c_int = libc::MSG_DONTWAIT
    | libc::MSG_NOSIGNAL
    | libc::MSG_PEEK
    | libc::MSG_WAITALL
    | libc::MSG_TRUNC
    | libc::MSG_CMSG_CLOEXEC
    | libc::MSG_ERRQUEUE;
const SEND_FLAGS: c_int =
    libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL | libc::MSG_CONFIRM | libc::MSG_EOR | libc::MSG_MORE;
/// The longest send that is tried as one segment, written in place.
const SEGMENT: usize = 2_048;
/// The bytes of a send in several parts that are gathered at once.
const GATHERED: usize = 64 << 10;

/// The result of a receive.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Received {
    /// The kernel's: it has filled in everything.
    Kernel(isize),
    /// Bytes that bypassed the kernel, or -1 and `errno`.
    Bypass(isize),
}

/// Returns the total length of buffers.
pub(crate) fn length(parts: &[iovec]) -> usize {
    parts.iter().fold(0, |sum, part| sum.saturating_add(part.iov_len))
}

/// Returns the buffers after the first `done` bytes.
fn rest(parts: &[iovec], mut done: usize) -> Vec<iovec> {
    let mut left = Vec::with_capacity(parts.len());
    for part in parts {
        let skipped = done.min(part.iov_len);
        done -= skipped;
        if skipped < part.iov_len {
            // SAFETY: within the buffer.
            let iov_base = unsafe { part.iov_base.byte_add(skipped) };
            left.push(iovec { iov_base, iov_len: part.iov_len - skipped });
        }
    }
    left
}

fn message(parts: &mut [iovec]) -> msghdr {
    // SAFETY: a header consists of integers and pointers, for which zero is a valid value.
    let mut message: msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (parts.as_mut_ptr(), parts.len());
    message
}

/// Copies bytes to the buffers from `at` on. Returns how many fit; none, with `is_wrong`, if one of
/// the pointers is wrong, as the kernel does.
///
/// # Safety
/// Each part is valid for writes of its length, or its pointer is wrong.
unsafe fn scatter(bytes: &[u8], parts: &[iovec], mut at: usize, is_wrong: &mut bool) -> usize {
    let mut done = 0;
    for part in parts {
        let skipped = at.min(part.iov_len);
        at -= skipped;
        let count = (part.iov_len - skipped).min(bytes.len() - done);
        let to = part.iov_base.wrapping_byte_add(skipped);
        if !memory::is_valid(to, count, Access::Write) {
            *is_wrong = true;
            return 0;
        }
        if count > 0 {
            // SAFETY: the part is valid; the source has that many bytes.
            unsafe {
                std::ptr::copy_nonoverlapping(bytes[done..].as_ptr(), to.cast::<u8>(), count);
            }
            done += count;
        }
    }
    done
}

/// Receives by the program's own call if the descriptor is a connection of the kernel; otherwise
/// returns `None`.
#[inline]
pub(crate) fn receive_in_kernel(fd: c_int, call: impl FnOnce() -> isize) -> Option<isize> {
    let slot = slots::stream(fd).filter(|_| !guard::is_inside())?;
    let result = slot.stream.use_kernel(|| !slot.stream.is_bypassing(), call)?;
    slot.stream.count_received(fd, slot, result);
    Some(result)
}

/// Sends by the program's own call if the descriptor is a connection of the kernel; otherwise
/// returns `None`.
#[inline]
pub(crate) fn send_in_kernel(fd: c_int, call: impl FnOnce() -> isize) -> Option<isize> {
    let slot = slots::stream(fd).filter(|_| !guard::is_inside())?;
    let result = slot.stream.use_kernel(|| !slot.stream.is_bypassing(), call)?;
    slot.stream.count_sent(result);
    Some(result)
}

/// Receives from a tracked connection. `kernel` is the same call on the kernel's socket.
///
/// # Safety
/// Each part is valid for writes of its length.
pub(crate) unsafe fn receive(
    fd: c_int,
    slot: &'static Slot,
    flags: c_int,
    parts: &[iovec],
    kernel: impl Fn(c_int) -> isize,
) -> Received {
    if guard::is_inside() || flags & libc::MSG_ERRQUEUE != 0 {
        return Received::Kernel(kernel(flags));
    }
    let signals = guard::signals();
    let total = length(parts);
    let peeks = flags & libc::MSG_PEEK != 0;
    let mut done = 0;
    let mut wait = None;
    loop {
        if !slot.stream.is_bypassing() {
            // SAFETY: the caller guarantees the buffers.
            match unsafe { receive_by_kernel(fd, slot, flags, (parts, done), &wait, &kernel) } {
                Some(received) => return received,
                None => continue,
            }
        }
        if flags & !RECEIVE_FLAGS != 0 {
            if stream::leave(fd, Cause::Flag, "a flag of this receive") {
                return Received::Bypass(-1);
            }
            continue;
        }
        let Some(inside) = guard::enter() else { continue };
        let mut place = slot.stream.stream();
        let Some(stream) = place.as_deref_mut() else { continue };
        // SAFETY: the caller guarantees the buffers.
        let received = unsafe { stream.receive(flags, parts, done) };
        let (count, is_kernels) = stream.finish_call(fd, slot, received);
        let is_kernels = is_kernels || !peeks && stream.count_received(fd, slot, count);
        done = if peeks { count } else { done + count };
        let nonblocking = &mut stream.state.nonblocking;
        let ends = done >= total
            || done > 0 && (flags & libc::MSG_WAITALL == 0 || nonblocking.refuses(fd, flags))
            || done > 0 && stream.found_wrong;
        let is_wrong = !ends && !is_kernels && stream.found_wrong;
        let is_refused = !ends && !is_kernels && !is_wrong && nonblocking.refuses(fd, flags);
        if ends {
            nonblocking.found();
            stream.unreported.count_received(if peeks { 0 } else { done });
        }
        drop(place);
        drop(inside);
        match (ends, is_kernels) {
            (true, _) => return Received::Bypass(done as isize),
            (false, true) => continue,
            // The kernel refuses it, and keeps the bytes.
            (false, false) if is_wrong => {
                if stream::leave(fd, Cause::Flag, "a pointer of this receive") {
                    return Received::Bypass(-1);
                }
                continue;
            }
            (false, false) if is_refused => return Received::Bypass(fail(libc::EAGAIN)),
            (false, false) => {}
        }
        let wait = wait.get_or_insert_with(|| Wait::for_call(fd, libc::SO_RCVTIMEO, signals));
        if let Some(number) = pause(wait, fd, slot, libc::POLLIN) {
            return Received::Bypass(if done > 0 { done as isize } else { fail(number) });
        }
    }
}

/// Receives through the kernel, after `done` bytes that bypassed it. Returns `None` if the
/// connection is taken over.
///
/// # Safety
/// Each part is valid for writes of its length.
#[inline]
unsafe fn receive_by_kernel(
    fd: c_int,
    slot: &'static Slot,
    flags: c_int,
    (parts, done): (&[iovec], usize),
    wait: &Option<Wait>,
    kernel: &impl Fn(c_int) -> isize,
) -> Option<Received> {
    let peeks = flags & libc::MSG_PEEK != 0;
    // A peek begins again.
    let is_whole = done == 0 || peeks;
    // SAFETY: the caller guarantees the buffers.
    let left = || unsafe { receive_rest(fd, flags, parts, done, wait) }.cast_signed();
    let call = || if is_whole { kernel(flags) } else { left() };
    let result = slot.stream.use_kernel(|| !slot.stream.is_bypassing(), call)?;
    if !peeks {
        count_bypass([Counter::ReceivedBypass, Counter::ReceivedBypassBytes], done);
        slot.stream.count_received(fd, slot, result);
    }
    Some(match is_whole {
        true => Received::Kernel(result),
        false => Received::Bypass(done as isize + result),
    })
}

/// Sends on a tracked connection. `kernel` is the same call on the kernel's socket.
///
/// # Safety
/// Each part is valid for reads of its length.
pub(crate) unsafe fn send(
    fd: c_int,
    slot: &'static Slot,
    flags: c_int,
    parts: &[iovec],
    kernel: impl Fn() -> isize,
) -> isize {
    if guard::is_inside() {
        return kernel();
    }
    let signals = guard::signals();
    let total = length(parts);
    let mut done = 0;
    let mut wait = None;
    loop {
        if !slot.stream.is_bypassing() {
            let call = || match done {
                0 => kernel(),
                // SAFETY: the caller guarantees the buffers.
                _ => unsafe { send_rest(fd, flags, parts, done, &wait) }.cast_signed(),
            };
            let is_kernels = || !slot.stream.is_bypassing();
            let Some(result) = slot.stream.use_kernel(is_kernels, call) else { continue };
            count_bypass([Counter::SentBypass, Counter::SentBypassBytes], done);
            slot.stream.count_sent(result);
            return done as isize + result;
        }
        let is_unsupported = flags & !SEND_FLAGS != 0;
        if is_unsupported || done == 0 && !memory::are_valid(parts, total, Access::Read) {
            let what = ["a pointer of this send", "a flag of this send"];
            if stream::leave(fd, Cause::Flag, what[usize::from(is_unsupported)]) {
                return -1;
            }
            continue;
        }
        let Some(inside) = guard::enter() else { continue };
        let mut place = slot.stream.stream();
        let Some(stream) = place.as_deref_mut() else { continue };
        stream.hold(flags & libc::MSG_MORE != 0);
        // SAFETY: the caller guarantees the buffers.
        let sent = unsafe { stream.send(parts, done) };
        let (count, is_kernels) = stream.finish_call(fd, slot, sent);
        done += count;
        stream.count_sent(count);
        stream.is_blocked = done < total;
        let is_refused = done < total && !is_kernels && stream.state.nonblocking.refuses(fd, flags);
        let ends = done >= total || is_refused && done > 0;
        if ends {
            stream.unreported.count_sent(done);
        }
        drop(place);
        drop(inside);
        if ends {
            return done as isize;
        }
        if is_kernels {
            continue;
        }
        if is_refused {
            return fail(libc::EAGAIN);
        }
        let wait = wait.get_or_insert_with(|| Wait::for_call(fd, libc::SO_SNDTIMEO, signals));
        if let Some(number) = pause(wait, fd, slot, libc::POLLOUT) {
            return if done > 0 { done as isize } else { fail(number) };
        }
    }
}

/// Receives through the kernel what follows the first `done` bytes. Returns the number of bytes.
///
/// # Safety
/// Each part is valid for writes of its length.
#[cold]
unsafe fn receive_rest(
    fd: c_int,
    flags: c_int,
    parts: &[iovec],
    done: usize,
    wait: &Option<Wait>,
) -> usize {
    let deadline = deadline(fd, flags, libc::SO_RCVTIMEO, wait);
    move_rest(fd, rest(parts, done), libc::POLLIN, deadline, |header| {
        let mut unread: c_int = 0;
        // SAFETY: the caller guarantees the buffers; the number outlives the call.
        unsafe {
            real::ioctl(fd, libc::FIONREAD, (&raw mut unread).addr());
            // An error comes before the end of the stream, so the end is left to the next call.
            let flags = flags & !libc::MSG_WAITALL | libc::MSG_DONTWAIT;
            if unread > 0 { real::recvmsg(fd, header, flags) } else { 0 }
        }
    })
}

/// Sends through the kernel what follows the first `done` bytes. Returns the number of bytes.
///
/// # Safety
/// Each part is valid for reads of its length.
#[cold]
unsafe fn send_rest(
    fd: c_int,
    flags: c_int,
    parts: &[iovec],
    done: usize,
    wait: &Option<Wait>,
) -> usize {
    let deadline = deadline(fd, flags, libc::SO_SNDTIMEO, wait);
    move_rest(fd, rest(parts, done), libc::POLLOUT, deadline, |header| {
        let flags = flags | libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        // SAFETY: the caller guarantees the buffers.
        unsafe { real::sendmsg(fd, header, flags) }
    })
}

/// Returns the time until which a call of the kernel may wait: that of the call's wait so far, if
/// it has waited.
fn deadline(fd: c_int, flags: c_int, timeout: c_int, wait: &Option<Wait>) -> Option<u64> {
    let now = clock::now_ns();
    if Nonblocking::read(fd).refuses(fd, flags) {
        return Some(now);
    }
    let limit = || options::timeout(fd, timeout).map(|limit| limit.as_nanos());
    let until = |limit| now.saturating_add(u64::try_from(limit).unwrap_or(u64::MAX));
    wait.as_ref().map_or_else(|| limit().map(until), Wait::deadline_ns)
}

/// Receives or sends the rest of a call of which a part has bypassed the kernel. The call returns
/// at an error that the connection has, which stays for the next one, and at any signal. `step` is
/// not called while the kernel has an error, and does not wait.
fn move_rest(
    fd: c_int,
    mut left: Vec<iovec>,
    events: i16,
    deadline_ns: Option<u64>,
    step: impl Fn(*mut msghdr) -> isize,
) -> usize {
    let mut moved = 0;
    while !left.is_empty() {
        let mut entry = libc::pollfd { fd, events, revents: 0 };
        let nanos = deadline_ns.map(|deadline| deadline.saturating_sub(clock::now_ns()));
        let milliseconds =
            nanos.map_or(-1, |it| it.div_ceil(1_000_000).try_into().unwrap_or(c_int::MAX));
        // SAFETY: the entry outlives the call.
        let count = unsafe { real::poll(&raw mut entry, 1, milliseconds) };
        if count <= 0 || entry.revents & (libc::POLLERR | libc::POLLNVAL) != 0 {
            break;
        }
        let mut header = message(&mut left);
        let Ok(count @ 1..) = usize::try_from(step(&raw mut header)) else { break };
        moved += count;
        left = rest(&left, count);
    }
    moved
}

/// Counts a message of which this number of bytes has bypassed the kernel, and the rest has not.
#[cold]
fn count_bypass([messages, bytes]: [Counter; 2], count: usize) {
    if count > 0 {
        add(messages, 1);
        add(bytes, count as u64);
    }
}

/// Waits for an event of a connection. Returns the `errno` of a call that ends without one.
fn pause(wait: &mut Wait, fd: c_int, slot: &Slot, event: i16) -> Option<c_int> {
    let mut fds = Vec::new();
    if wait.may_sleep() {
        // The peer may wait for what it has.
        if stream::follow_beside(fd, slot) {
            return None;
        }
        // The kernel's socket reports late segments and the state after a handback.
        fds.push(libc::pollfd { fd, events: event & libc::POLLIN, revents: 0 });
    }
    let check = || {
        process::poll_stacks();
        stream::ready(fd, slot).is_none_or(|ready| ready.events & event != 0)
    };
    match wait.turn(&mut fds, std::ptr::null(), check) {
        Turn::Again => None,
        Turn::TimedOut => Some(libc::EAGAIN),
        Turn::Interrupted => Some(libc::EINTR),
    }
}

impl Stream {
    /// Ends a receive or send under the lock. Returns the number of bytes, and `true` if the
    /// connection is the kernel's now.
    #[inline]
    fn finish_call(
        &mut self,
        fd: c_int,
        slot: &Slot,
        result: io::Result<Option<usize>>,
    ) -> (usize, bool) {
        let is_kernels = !self.tcp.is_bypassing() || result.is_err();
        let (count, error) = match result {
            Ok(count) => (count.unwrap_or(0), None),
            Err(error) => (0, Some(error)),
        };
        if is_kernels {
            self.settle(fd, slot, error);
        }
        (count, is_kernels)
    }

    /// Receives without waiting, into the buffers from `done` on. Returns the number of bytes, and
    /// `None` if the connection is the kernel's.
    ///
    /// # Safety
    /// Each part is valid for writes of its length.
    #[inline]
    unsafe fn receive(
        &mut self,
        flags: c_int,
        parts: &[iovec],
        done: usize,
    ) -> io::Result<Option<usize>> {
        let is_wrong = &mut self.found_wrong;
        *is_wrong = false;
        if flags & libc::MSG_PEEK != 0 {
            if !self.tcp.poll()? {
                return Ok(None);
            }
            let mut at = 0;
            // SAFETY: the caller's guarantee.
            self.tcp.peek(|bytes| at += unsafe { scatter(bytes, parts, at, is_wrong) });
            return Ok(Some(at));
        }
        let discards = flags & libc::MSG_TRUNC != 0;
        let total = length(parts);
        let mut at = done;
        self.tcp.receive(|bytes| {
            let count = match discards {
                true => bytes.len().min(total - at),
                // SAFETY: the caller's guarantee.
                false => unsafe { scatter(bytes, parts, at, is_wrong) },
            };
            at += count;
            count
        })
    }

    /// Sends without waiting what follows the first `done` bytes. Returns the number of bytes, and
    /// `None` if the connection is the kernel's.
    ///
    /// # Safety
    /// Each part is valid for reads of its length.
    #[inline]
    unsafe fn send(&mut self, parts: &[iovec], done: usize) -> io::Result<Option<usize>> {
        let total = length(parts);
        // SAFETY: the caller's guarantee.
        let fill = |payload: &mut [u8]| unsafe { gather(parts, payload) };
        let is_segment = done == 0 && (1..=SEGMENT).contains(&total) && !self.holds;
        if is_segment && self.tcp.transmit(total, fill)? {
            return Ok(Some(total));
        }
        if let [part] = parts {
            let count = part.iov_len - done;
            if count == 0 {
                return self.tcp.send(&[]);
            }
            // SAFETY: the caller's guarantee; within the part.
            let bytes = unsafe {
                std::slice::from_raw_parts(part.iov_base.byte_add(done).cast::<u8>(), count)
            };
            return self.tcp.send(bytes);
        }
        let left = rest(parts, done);
        self.scratch.resize((total - done).min(GATHERED), 0);
        // SAFETY: the caller's guarantee.
        unsafe { gather(&left, &mut self.scratch) };
        self.tcp.send(&self.scratch)
    }
}
