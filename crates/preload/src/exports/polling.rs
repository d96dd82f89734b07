//! poll(2) and select(2), with the accelerated sockets among the descriptors polled in user space.

use std::ffi::{c_int, c_long};
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use libc::{fd_set, nfds_t, pollfd, sigset_t, size_t, timespec, timeval};

use crate::errno::fail;
use crate::guard::Signals;
use crate::memory::{self, Access, optional};
use crate::sleep::{EndsOn, Turn, Wait};
use crate::socket::KERNEL_INTERVAL_NS;
use crate::{clock, epoll, guard, process, real, sleep, slots, stream};

/// The longest sleep that the library cannot end: what other threads accelerate meanwhile waits so
/// long.
const CROWDED_SLEEP: Duration = Duration::from_millis(10);

/// The most events that one epoll_wait(2) returns where a member is accelerated.
const MOST_EVENTS: usize = 256;

const READABLE: i16 = libc::POLLIN | libc::POLLRDNORM;
const WRITABLE: i16 = libc::POLLOUT | libc::POLLWRNORM | libc::POLLWRBAND;

/// Returns the events of the descriptor that the kernel does not know.
fn ready_events(fd: c_int) -> i16 {
    let Some(slot) = slots::handled(fd) else { return 0 };
    if slot.is_stream() {
        return stream::ready(fd, slot).map_or(0, |ready| ready.events);
    }
    let is_ready = if let Some(instance) = slot.instance() {
        epoll::is_ready(&instance)
    } else {
        slot.socket().as_deref().is_some_and(crate::socket::Socket::has_datagram)
    };
    if is_ready { READABLE } else { 0 }
}

/// Returns `true` for a TCP connection that is taken over: the kernel knows nothing of it.
fn is_taken_over(entry: &pollfd) -> bool {
    slots::stream(entry.fd).is_some_and(|slot| slot.stream.is_bypassing())
}

/// Returns `true` if the kernel must be asked at once. UDP sockets polled for datagrams only need
/// no call while the rings have something.
fn needs_kernel(entry: &pollfd) -> bool {
    entry.fd >= 0
        && !is_taken_over(entry)
        && (slots::socket(entry.fd).is_none() || entry.events & WRITABLE != 0)
}

/// Polls the kernel's descriptors without waiting. Returns `false` on failure.
///
/// # Safety
/// The mask is null or valid.
unsafe fn poll_kernel(fds: &mut [pollfd], mask: *const sigset_t) -> bool {
    let mut hidden = Vec::new();
    for (at, entry) in fds.iter_mut().enumerate() {
        if is_taken_over(entry) {
            hidden.push((at, std::mem::replace(&mut entry.fd, -1)));
        }
    }
    let zero = timespec { tv_sec: 0, tv_nsec: 0 };
    let count = fds.len() as nfds_t;
    // SAFETY: the entries outlive the call; the caller guarantees the mask.
    let result = unsafe { real::ppoll(fds.as_mut_ptr(), count, &raw const zero, mask) };
    hidden.into_iter().for_each(|(at, fd)| fds[at].fd = fd);
    for entry in fds.iter().filter(|entry| result > 0 && entry.revents & !WRITABLE != 0) {
        process::expect_kernel(entry.fd);
    }
    result >= 0
}

/// Sets the events of the ready descriptors. Returns how many are ready.
fn mark_ready(fds: &mut [pollfd]) -> usize {
    let mut count = 0;
    for entry in fds {
        entry.revents |= ready_events(entry.fd) & entry.events;
        count += usize::from(entry.revents != 0);
    }
    count
}

/// Polls descriptors of which at least one is handled. Returns the number that are ready, 0 after
/// the timeout, or -1 and `errno`.
///
/// # Safety
/// The mask is null or valid.
unsafe fn poll_handled(
    fds: &mut [pollfd],
    timeout: Option<Duration>,
    mask: *const sigset_t,
) -> c_int {
    let signals = guard::signals();
    let mut wait = None;
    let mut asks_kernel = fds.iter().any(needs_kernel);
    let mut taken_over = usize::MAX;
    let mut kernel_ns = 0;
    loop {
        fds.iter_mut().for_each(|entry| entry.revents = 0);
        let now = clock::now_ns();
        // A connection may have been handed back, and is the kernel's then.
        let taken_over_now = fds.iter().filter(|entry| is_taken_over(entry)).count();
        asks_kernel |=
            taken_over_now < std::mem::replace(&mut taken_over, taken_over_now) && kernel_ns != 0;
        let is_due = wait.is_some() && now - kernel_ns >= KERNEL_INTERVAL_NS;
        if asks_kernel || is_due && taken_over < fds.len() {
            kernel_ns = now;
            // SAFETY: the caller guarantees the mask.
            if !unsafe { poll_kernel(fds, mask) } {
                return -1;
            }
        }
        let Some(inside) = guard::enter() else { return 0 };
        process::poll_stacks();
        let ready = mark_ready(fds);
        let spins = wait.is_none() && fds.iter().any(|entry| slots::is_accelerated(entry.fd));
        drop(inside);
        if ready > 0 {
            if fds.iter().filter(|entry| is_taken_over(entry)).count() == taken_over {
                return ready as c_int;
            }
            // One was handed back in this turn: only the kernel knows its events.
            asks_kernel = true;
            continue;
        }
        let Some(wait) = &mut wait else {
            // The kernel is polled at least once, even without a timeout.
            asks_kernel = kernel_ns == 0 && !fds.iter().all(is_taken_over);
            wait = Some(Wait::new(timeout, EndsOn::AnySignal, signals, spins));
            continue;
        };
        let mut copies = if wait.may_sleep() { fds.to_vec() } else { Vec::new() };
        for entry in copies.iter_mut().filter(|entry| is_taken_over(entry)) {
            // Only the library polls it.
            entry.fd = !entry.fd;
        }
        let check = || {
            process::poll_stacks();
            // After a handback the connection is the kernel's.
            fds.iter().filter(|entry| is_taken_over(entry)).count() < taken_over
                || fds.iter().any(|entry| ready_events(entry.fd) & entry.events != 0)
        };
        match wait.turn(&mut copies, mask, check) {
            // After a sleep the kernel's descriptors come first.
            Turn::Again => asks_kernel = !copies.is_empty() && !fds.iter().all(is_taken_over),
            Turn::TimedOut => {
                fds.iter_mut().for_each(|entry| entry.revents = 0);
                return 0;
            }
            Turn::Interrupted => return fail(libc::EINTR) as c_int,
        }
    }
}

/// Runs a call of the kernel on these descriptors, unless one of them is accelerated.
fn wait_in_kernel(fds: &[pollfd], call: impl FnOnce() -> c_int) -> Option<c_int> {
    stream::wait_in_kernel(fds.iter().map(|entry| entry.fd), call)
}

/// Returns the entries, or `None` if the pointer is wrong.
///
/// # Safety
/// As for a slice of that many entries, or the pointer is wrong.
unsafe fn entries<'a>(fds: *mut pollfd, count: nfds_t) -> Option<&'a mut [pollfd]> {
    if count == 0 {
        return Some(&mut []);
    }
    let length = (count as usize).saturating_mul(size_of::<pollfd>());
    // SAFETY: the program passes that many entries.
    memory::is_valid(fds.cast(), length, Access::Write)
        .then(|| unsafe { std::slice::from_raw_parts_mut(fds, count as usize) })
}

pub(super) fn duration(timeout: &timespec) -> Option<Duration> {
    let nanos = u32::try_from(timeout.tv_nsec).ok().filter(|nanos| *nanos < 1_000_000_000)?;
    Some(Duration::new(timeout.tv_sec.try_into().ok()?, nanos))
}

/// # Safety
/// As for poll(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn poll(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: c_int,
) -> c_int {
    // SAFETY: the program's arguments.
    unsafe {
        let kernel = || real::poll(fds, count, timeout);
        let Some(list) = entries(fds, count) else { return kernel() };
        if let Some(result) = wait_in_kernel(list, kernel) {
            return result;
        }
        let timeout = u64::try_from(timeout).ok().map(Duration::from_millis);
        poll_handled(list, timeout, std::ptr::null())
    }
}

/// # Safety
/// As for poll(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn __poll(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: c_int,
) -> c_int {
    // SAFETY: the program's arguments.
    unsafe { poll(fds, count, timeout) }
}

/// # Safety
/// As for poll(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn __poll_chk(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: c_int,
    room: size_t,
) -> c_int {
    super::receive::check(count as usize * size_of::<pollfd>(), room);
    // SAFETY: the program's arguments.
    unsafe { poll(fds, count, timeout) }
}

/// # Safety
/// As for ppoll(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn ppoll(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the program's arguments.
    unsafe {
        let kernel = || real::ppoll(fds, count, timeout, mask);
        let Some((list, limit)) = entries(fds, count).zip(optional(timeout)) else {
            return kernel();
        };
        match limit.map(duration) {
            // The kernel rejects an invalid timeout.
            Some(None) => kernel(),
            limit => wait_in_kernel(list, kernel)
                .unwrap_or_else(|| poll_handled(list, limit.flatten(), mask)),
        }
    }
}

/// # Safety
/// As for ppoll(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn __ppoll_chk(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
    room: size_t,
) -> c_int {
    super::receive::check(count as usize * size_of::<pollfd>(), room);
    // SAFETY: the program's arguments.
    unsafe { ppoll(fds, count, timeout, mask) }
}

/// The sets of a select(2), in the order of its arguments, and the events of each.
type Sets = [*mut fd_set; 3];
const SET_EVENTS: [i16; 3] = [libc::POLLIN, libc::POLLOUT, libc::POLLPRI];
/// The events that set a descriptor's bit in the result.
const SET_RESULTS: [i16; 3] = [
    READABLE | libc::POLLRDBAND | libc::POLLHUP | libc::POLLERR,
    WRITABLE | libc::POLLERR,
    libc::POLLPRI,
];

/// Returns the number of descriptors that select(2) checks: not more than the kernel's table has.
fn checked(count: c_int) -> c_int {
    if usize::try_from(count).unwrap_or(0) <= libc::FD_SETSIZE {
        return count;
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let size = status.lines().find_map(|line| line.strip_prefix("FDSize:"));
    size.and_then(|size| size.trim().parse().ok()).map_or(count, |size: c_int| count.min(size))
}

/// Returns `true` if the pointers to the sets are valid or null.
fn are_sets(sets: Sets, count: c_int) -> bool {
    let length = usize::try_from(count).unwrap_or(0).div_ceil(64) * size_of::<c_long>();
    sets.iter().all(|set| set.is_null() || memory::is_valid(set.cast(), length, Access::Write))
}

/// Runs select(2) in the kernel, unless a descriptor of the sets is accelerated.
///
/// # Safety
/// The sets are null or valid for `count` descriptors.
unsafe fn select_in_kernel(
    count: c_int,
    sets: Sets,
    call: impl FnOnce() -> c_int,
) -> Option<c_int> {
    // SAFETY: the caller's guarantee.
    let is_member =
        move |fd: &c_int| sets.iter().any(|set| !set.is_null() && unsafe { is_in(*fd, *set) });
    stream::wait_in_kernel((0..count).filter(is_member), call)
}

/// Reads a bit. A set may be larger than `fd_set`, so libc's macros, which check its size, do not
/// serve.
unsafe fn is_in(fd: c_int, set: *const fd_set) -> bool {
    let at = fd as usize;
    // SAFETY: the program's set has a bit for each descriptor below its count.
    unsafe { *set.cast::<c_long>().add(at / 64) >> (at % 64) & 1 != 0 }
}

/// # Safety
/// The sets are null or valid for `count` descriptors; the mask is null or valid.
unsafe fn select_handled(
    count: c_int,
    sets: Sets,
    timeout: Option<Duration>,
    mask: *const sigset_t,
) -> c_int {
    let mut fds = Vec::new();
    for fd in 0..count {
        let mut events = 0;
        for (set, bits) in sets.iter().zip(SET_EVENTS) {
            // SAFETY: the caller's guarantee.
            if !set.is_null() && unsafe { is_in(fd, *set) } {
                events |= bits;
            }
        }
        if events != 0 {
            fds.push(pollfd { fd, events, revents: 0 });
        }
    }
    // SAFETY: the caller's guarantee.
    if unsafe { poll_handled(&mut fds, timeout, mask) } < 0 {
        return -1;
    }
    if fds.iter().any(|entry| entry.revents & libc::POLLNVAL != 0) {
        return fail(libc::EBADF) as c_int;
    }
    let mut total = 0;
    for entry in &fds {
        for ((set, events), results) in sets.iter().zip(SET_EVENTS).zip(SET_RESULTS) {
            if set.is_null() || entry.events & events == 0 {
                continue;
            }
            let at = entry.fd as usize;
            // SAFETY: the caller's guarantee.
            let word = unsafe { &mut *set.cast::<c_long>().add(at / 64) };
            if entry.revents & results != 0 {
                total += 1;
            } else {
                *word &= !(1 << (at % 64));
            }
        }
    }
    total
}

/// # Safety
/// As for select(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn select(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *mut timeval,
) -> c_int {
    // SAFETY: the program's arguments.
    unsafe {
        let sets = [read, write, except];
        let kernel = || real::select(count, read, write, except, timeout);
        let count = checked(count);
        let is_invalid = |limit: &timeval| limit.tv_sec < 0 || limit.tv_usec < 0;
        // The kernel rejects an invalid timeout.
        if !are_sets(sets, count) || optional(timeout).is_none_or(|it| it.is_some_and(is_invalid)) {
            return kernel();
        }
        if let Some(result) = select_in_kernel(count, sets, kernel) {
            return result;
        }
        let limit = timeout.as_ref().map(|timeout| {
            let micros = u64::try_from(timeout.tv_usec).unwrap_or(0);
            Duration::from_secs(u64::try_from(timeout.tv_sec).unwrap_or(0))
                + Duration::from_micros(micros)
        });
        let begin = clock::now_ns();
        let result = select_handled(count, sets, limit, std::ptr::null());
        // Linux updates the timeout to the time not slept.
        if let (Some(timeout), Some(limit)) = (timeout.as_mut(), limit) {
            let spent = Duration::from_nanos(clock::now_ns() - begin);
            let left = limit.saturating_sub(spent);
            timeout.tv_sec = left.as_secs() as libc::time_t;
            timeout.tv_usec = libc::suseconds_t::from(left.subsec_micros());
        }
        result
    }
}

/// # Safety
/// As for pselect(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn pselect(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the program's arguments.
    unsafe {
        let sets = [read, write, except];
        let kernel = || real::pselect(count, read, write, except, timeout, mask);
        let count = checked(count);
        let Some(limit) = optional(timeout).filter(|_| are_sets(sets, count)) else {
            return kernel();
        };
        match limit.map(duration) {
            Some(None) => kernel(),
            limit => select_in_kernel(count, sets, kernel)
                .unwrap_or_else(|| select_handled(count, sets, limit.flatten(), mask)),
        }
    }
}

/// # Safety
/// As for epoll_create1(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn epoll_create1(flags: c_int) -> c_int {
    // SAFETY: the call takes an integer.
    super::after(unsafe { real::epoll_create1(flags) }, epoll::created)
}

/// # Safety
/// As for epoll_create(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn epoll_create(size: c_int) -> c_int {
    // SAFETY: the call takes an integer.
    super::after(unsafe { real::epoll_create(size) }, epoll::created)
}

/// # Safety
/// As for epoll_ctl(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn epoll_ctl(
    epoll: c_int,
    operation: c_int,
    fd: c_int,
    event: *mut libc::epoll_event,
) -> c_int {
    // SAFETY: the program's arguments.
    let call = || unsafe { real::epoll_ctl(epoll, operation, fd, event) };
    let Some(mut inside) = guard::enter_briefly() else { return call() };
    let is_removed = operation == libc::EPOLL_CTL_DEL;
    if slots::is_any_accelerated() {
        inside.widen();
        // SAFETY: the program passes an event, null or a wrong pointer.
        let change = if is_removed { Some(None) } else { unsafe { optional(event) } };
        let Some(change) = change else { return call() };
        match epoll::change_taken_over(epoll, operation, fd, change) {
            Some(Ok(())) => return 0,
            Some(Err(number)) => return fail(number) as c_int,
            None => {}
        }
    }
    let what = (epoll, operation, fd);
    // SAFETY: the kernel checks the pointer.
    if let Some(result) = unsafe { epoll::control_in_kernel(what, event, &mut inside, call) } {
        return result;
    }
    inside.widen();
    let result = call();
    if result == 0 {
        // SAFETY: the kernel has read it.
        let change = if is_removed { None } else { unsafe { event.as_ref() } };
        epoll::control(epoll, operation, fd, change);
    }
    result
}

/// # Safety
/// As for epoll_pwait2(2).
unsafe fn epoll_wait_in_kernel(
    epoll: c_int,
    events: *mut libc::epoll_event,
    most: c_int,
    timeout: Option<Duration>,
    mask: *const sigset_t,
) -> c_int {
    let is_whole = |it: &Duration| it.subsec_nanos().is_multiple_of(1_000_000);
    let millis = match timeout {
        None => Some(-1),
        Some(timeout) => c_int::try_from(timeout.as_millis()).ok().filter(|_| is_whole(&timeout)),
    };
    let limit = timeout.map(|timeout| timespec {
        tv_sec: timeout.as_secs() as libc::time_t,
        tv_nsec: timeout.subsec_nanos().into(),
    });
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the caller's guarantee.
    unsafe {
        match millis {
            Some(millis) => real::epoll_pwait(epoll, events, most, millis, mask),
            None => epoll_pwait2_in_kernel(epoll, events, most, limit, mask),
        }
    }
}

/// Only for a program that makes this call itself: Linux before 5.11 lacks it, and the C library
/// before 2.35 its function.
///
/// # Safety
/// As for epoll_pwait2(2).
unsafe fn epoll_pwait2_in_kernel(
    epoll: c_int,
    events: *mut libc::epoll_event,
    most: c_int,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    const MASK_SIZE: usize = 8;
    let call = libc::SYS_epoll_pwait2;
    // SAFETY: the caller's guarantee.
    unsafe { libc::syscall(call, epoll, events, most, timeout, mask, MASK_SIZE) as c_int }
}

/// Waits on an epoll instance. The sleep is one that the library can end.
///
/// # Safety
/// As for epoll_pwait2(2).
unsafe fn epoll_wait_for(
    epoll: c_int,
    events: *mut libc::epoll_event,
    most: c_int,
    timeout: Option<Duration>,
    mask: *const sigset_t,
) -> c_int {
    let ask = |timeout| {
        // SAFETY: the caller's guarantee.
        unsafe { epoll_wait_in_kernel(epoll, events, most, timeout, mask) }
    };
    if most <= 0 || !is_known(epoll) {
        return ask(timeout);
    }
    let signals = guard::signals();
    // SAFETY: the caller's guarantee.
    let waited = unsafe { ask_kernel_first(epoll, events, timeout, signals, ask) };
    let timeout = match waited {
        Ok(added) => return added,
        Err(left) => left,
    };
    // The program may name more room than it has.
    let length = size_of::<libc::epoll_event>() * (most as usize).min(MOST_EVENTS);
    let room = memory::valid_prefix(events.cast(), length, Access::Write);
    let Some(count) = NonZero::new(room / size_of::<libc::epoll_event>()) else {
        return fail(libc::EFAULT) as c_int;
    };
    let Some(instance) = guarded_instance(epoll) else { return ask(timeout) };
    // SAFETY: the caller's guarantee; the events are valid.
    unsafe {
        let list = std::slice::from_raw_parts_mut(events, count.get());
        wait_for_both(epoll, &instance, list, timeout, mask, signals)
    }
}

/// Waits for members that are accelerated and those of the kernel.
///
/// # Safety
/// The mask is null or valid.
unsafe fn wait_for_both(
    epoll: c_int,
    instance: &epoll::Instance,
    list: &mut [libc::epoll_event],
    timeout: Option<Duration>,
    mask: *const sigset_t,
    signals: Signals,
) -> c_int {
    let kernel = |list: &mut [libc::epoll_event], timeout| {
        // SAFETY: the caller's guarantee.
        unsafe {
            epoll_wait_in_kernel(epoll, list.as_mut_ptr(), list.len() as c_int, timeout, mask)
        }
    };
    let mut wait: Option<Wait> = None;
    // The kernel is asked at least once, by this call or by a sleep.
    let mut asks_kernel = timeout.is_some_and(|timeout| timeout.is_zero());
    let mut has_asked = false;
    loop {
        let Some(inside) = guard::enter() else { return kernel(list, timeout) };
        process::poll_stacks();
        let found = epoll::take_ready(instance, list);
        let mut total = found;
        // A thread that does not busy-poll asks the kernel by its sleep.
        let is_first = wait.is_none();
        let is_asked = found > 0 || asks_kernel || !is_first;
        if found < list.len()
            && is_asked
            && epoll::takes_kernel_turn(instance, asks_kernel || is_first, found)
        {
            (asks_kernel, has_asked) = (false, true);
            let added = kernel(&mut list[found..], Some(Duration::ZERO));
            if added < 0 && found == 0 {
                return added;
            }
            total += epoll::merge(instance, list, found, added.max(0) as usize);
        }
        let spins = is_first && total == 0 && epoll::has_accelerated(instance);
        drop(inside);
        if total > 0 {
            return total as c_int;
        }
        let wait =
            wait.get_or_insert_with(|| Wait::new(timeout, EndsOn::AnySignal, signals, spins));
        if is_first && !wait.may_sleep() && !asks_kernel {
            asks_kernel = true;
            continue;
        }
        match epoll_turn(wait, epoll, instance, mask) {
            (Turn::Again, None) => {}
            (Turn::Again, Some(is_ready)) => (asks_kernel, has_asked) = (is_ready, true),
            (Turn::TimedOut, _) if has_asked => return 0,
            (Turn::TimedOut, _) => asks_kernel = true,
            (Turn::Interrupted, _) => return fail(libc::EINTR) as c_int,
        }
    }
}

/// Returns `true` for an instance, unless the thread is inside the library.
#[inline]
fn is_known(epoll: c_int) -> bool {
    !guard::is_inside() && slots::epoll(epoll).is_some() || guarded_instance(epoll).is_some()
}

/// Returns the instance of a descriptor, unless the thread is inside the library.
#[cold]
fn guarded_instance(epoll: c_int) -> Option<Arc<epoll::Instance>> {
    guard::enter().and_then(|_inside| epoll::instance(epoll))
}

/// Asks by the program's own call while nothing of the instance is accelerated: once, or as long as
/// the cores are crowded. The sleep that the library can end takes two more calls. Returns the
/// call's result, or the time that is left.
///
/// # Safety
/// `events` is valid for writes of as many events as `kernel` returns.
unsafe fn ask_kernel_first(
    epoll: c_int,
    events: *mut libc::epoll_event,
    timeout: Option<Duration>,
    signals: Signals,
    kernel: impl Fn(Option<Duration>) -> c_int,
) -> Result<c_int, Option<Duration>> {
    let mut left = timeout;
    let mut has_asked = false;
    let has_accelerated = || {
        slots::is_any_accelerated()
            && guarded_instance(epoll).is_some_and(|it| epoll::has_accelerated(&it))
    };
    loop {
        let is_crowded = !sleep::are_cores_free();
        if has_asked && !is_crowded || has_accelerated() {
            return Err(left);
        }
        has_asked = true;
        if !process::open_stacks().is_empty()
            && let Some(_inside) = guard::enter()
        {
            process::poll_stacks();
        }
        let most = if is_crowded { CROWDED_SLEEP } else { Duration::ZERO };
        let slice = left.map_or(most, |left| left.min(most));
        let added = kernel(Some(slice));
        if added > 0
            && epoll::has_one_shot()
            && let Some(_inside) = guard::enter()
            && let Some(instance) = epoll::instance(epoll)
        {
            // SAFETY: the caller guarantees the events.
            let list = unsafe { std::slice::from_raw_parts_mut(events, added as usize) };
            epoll::merge(&instance, list, 0, list.len());
        }
        if added != 0 || left == Some(slice) {
            return Ok(added);
        }
        // Between two slices.
        if guard::signals().handled != signals.handled {
            return Ok(fail(libc::EINTR) as c_int);
        }
        left = left.map(|left| left - slice);
    }
}

/// Busy-polls once, or sleeps. After a sleep, returns `true` if the kernel's instance is ready.
fn epoll_turn(
    wait: &mut Wait,
    epoll: c_int,
    instance: &epoll::Instance,
    mask: *const sigset_t,
) -> (Turn, Option<bool>) {
    let mut fds = Vec::new();
    if wait.may_sleep() {
        fds.push(pollfd { fd: epoll, events: libc::POLLIN, revents: 0 });
    }
    let check = || {
        process::poll_stacks();
        epoll::is_ready(instance)
    };
    let turn = wait.turn(&mut fds, mask, check);
    let is_ready = fds.first().map(|entry| entry.revents != 0);
    if is_ready.is_some() {
        epoll::set_kernel_asked(instance);
    }
    (turn, is_ready)
}

/// # Safety
/// As for epoll_wait(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn epoll_wait(
    epoll: c_int,
    events: *mut libc::epoll_event,
    most: c_int,
    timeout: c_int,
) -> c_int {
    if !process::is_accelerating() {
        // SAFETY: the program's arguments.
        return unsafe { real::epoll_wait(epoll, events, most, timeout) };
    }
    let timeout = u64::try_from(timeout).ok().map(Duration::from_millis);
    // SAFETY: as above.
    unsafe { epoll_wait_for(epoll, events, most, timeout, std::ptr::null()) }
}

/// # Safety
/// As for epoll_pwait(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn epoll_pwait(
    epoll: c_int,
    events: *mut libc::epoll_event,
    most: c_int,
    timeout: c_int,
    mask: *const sigset_t,
) -> c_int {
    if !process::is_accelerating() {
        // SAFETY: the program's arguments.
        return unsafe { real::epoll_pwait(epoll, events, most, timeout, mask) };
    }
    let timeout = u64::try_from(timeout).ok().map(Duration::from_millis);
    // SAFETY: as above.
    unsafe { epoll_wait_for(epoll, events, most, timeout, mask) }
}

/// # Safety
/// As for epoll_pwait2(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn epoll_pwait2(
    epoll: c_int,
    events: *mut libc::epoll_event,
    most: c_int,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: the program's arguments.
    unsafe {
        match timeout.as_ref().map(duration) {
            Some(None) => epoll_pwait2_in_kernel(epoll, events, most, timeout, mask),
            limit => epoll_wait_for(epoll, events, most, limit.flatten(), mask),
        }
    }
}
