//! The members of epoll instances that are accelerated sockets.
//!
//! The instance stays a kernel one, and each member stays registered there, with the program's
//! data: the kernel reports datagrams through the kernel socket, errors and writability. This
//! module adds what bypasses the kernel, and merges both.
//!
//! While a connection is taken over, the kernel's instance has it without events. The program's
//! changes of its events are recorded here; the handback passes them on to the kernel.
//!
//! A thread sleeps in poll(2) on the instance, where the library can wake it. So a member that is
//! added or accelerated meanwhile is noticed. While the cores are crowded and no member is
//! accelerated, it sleeps in epoll_wait(2), for 10 ms at a time.

mod instance;
mod set;

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Weak};

use libc::epoll_event;

pub(crate) use self::instance::Instance;
use self::instance::duplicate_of;
pub(crate) use self::instance::is_epoll;
use self::set::Member;
pub(crate) use self::set::{EpollSet, has_one_shot};
use crate::errno::errno;
use crate::guard::Inside;
use crate::slots::{self, Slot};
use crate::socket::KERNEL_INTERVAL_NS;
use crate::stream_counters::Cause;
use crate::{addresses, clock, process, real, sleep, stream};

const READABLE: u32 = (libc::EPOLLIN | libc::EPOLLRDNORM) as u32;
const WRITABLE: u32 = (libc::EPOLLOUT | libc::EPOLLWRNORM) as u32;
const EDGE: u32 = libc::EPOLLET as u32;
const ONE_SHOT: u32 = libc::EPOLLONESHOT as u32;
const EXCLUSIVE: u32 = libc::EPOLLEXCLUSIVE as u32;
/// The events of a member that the kernel does not report: it adds EPOLLERR and EPOLLHUP itself.
const SILENT: u32 = 0;

/// The first of the descriptors that may be ready, or -1. The others follow by `Slot::next_listed`.
static LISTED: AtomicI32 = AtomicI32::new(-1);

/// Records that a connection may be ready, and wakes the threads that wait for it.
/// Async-signal-safe.
pub(crate) fn wake(fd: c_int) {
    if let Some(slot) = slots::find(fd)
        && !slot.is_listed.swap(true, Ordering::SeqCst)
    {
        let link = |first| {
            slot.next_listed.store(first, Ordering::Relaxed);
            Some(fd)
        };
        let _ = LISTED.fetch_update(Ordering::AcqRel, Ordering::Relaxed, link);
    }
    sleep::wake(fd);
}

/// Makes the recorded connections candidates of their instances.
fn distribute_listed() {
    if LISTED.load(Ordering::Relaxed) == -1 {
        return;
    }
    let mut fd = LISTED.swap(-1, Ordering::AcqRel);
    while let Some(slot) = slots::find(fd) {
        let next = slot.next_listed.load(Ordering::Relaxed);
        // What becomes ready from now on is recorded again.
        slot.is_listed.store(false, Ordering::SeqCst);
        for instance in slot.instances().iter().filter_map(Weak::upgrade) {
            instance.set().add_candidate(fd);
        }
        fd = next;
    }
}

/// Forgets the recorded connections, in a forked child.
pub(crate) fn forget_listed() {
    LISTED.store(-1, Ordering::Relaxed);
}

impl Member {
    /// Returns the events to report now, without those of the kernel, and the arrivals.
    fn ready(&self) -> Option<(u32, u64)> {
        if !self.armed || self.events & (READABLE | WRITABLE) == 0 {
            return None;
        }
        let slot = slots::handled(self.fd)?;
        let (ready, arrivals) = if slot.is_stream() {
            let ready = stream::ready(self.fd, slot)?;
            // What arrives is no edge for a member that waits for room, and the reverse.
            let readable = if self.events & READABLE == 0 { 0 } else { u64::from(u32::MAX) };
            let writable = if self.events & WRITABLE == 0 { 0 } else { u64::from(u32::MAX) << 32 };
            (u32::from(ready.events.cast_unsigned()), ready.arrivals & (readable | writable))
        } else if let Some(instance) = slot.instance() {
            (if is_ready(&instance) { READABLE } else { 0 }, self.seen.wrapping_add(1))
        } else {
            let place = slot.socket();
            let socket = place.as_deref()?;
            let writable = if self.events & ONE_SHOT == 0 { 0 } else { self.kernel_writability() };
            (if socket.has_datagram() { READABLE | writable } else { 0 }, socket.arrivals())
        };
        let ready = self.events & ready;
        let is_new = !self.is_edge_triggered() || arrivals != self.seen;
        (ready != 0 && is_new).then_some((ready, arrivals))
    }

    /// Returns the events of a UDP socket's room. The kernel cannot add them to an event of ours
    /// that disarms the member.
    #[cold]
    fn kernel_writability(&self) -> u32 {
        let events = (self.events & WRITABLE) as i16;
        let mut entry = libc::pollfd { fd: self.fd, events, revents: 0 };
        // SAFETY: the entry outlives the call.
        unsafe { real::poll(&raw mut entry, 1, 0) };
        u32::from(entry.revents.cast_unsigned())
    }
}

/// Returns the instance of a descriptor. One that the library has not seen created, because it was
/// inherited or received, is known from now on.
pub(crate) fn instance(fd: c_int) -> Option<Arc<Instance>> {
    if let Some(slot) = slots::epoll(fd) {
        return slot.instance();
    }
    if !process::is_accelerating() || !instance::is_epoll(fd) {
        return None;
    }
    let instance = duplicate_of(fd).unwrap_or_default();
    add_descriptor(&instance, fd);
    Some(instance)
}

/// Records a new instance.
pub(crate) fn created(fd: c_int) {
    if process::is_accelerating() {
        add_descriptor(&Arc::default(), fd);
    }
}

/// Records that a descriptor refers to the instance of another one.
pub(crate) fn duplicated(from: c_int, to: c_int) {
    if let Some(instance) = slots::epoll(from).and_then(Slot::instance) {
        add_descriptor(&instance, to);
    }
}

fn add_descriptor(instance: &Arc<Instance>, fd: c_int) {
    // Its last owner may have closed the number by a call that is not replaced.
    stream::discard(fd);
    process::forget(fd);
    if let Some(slot) = slots::find_or_create(fd) {
        instance.descriptors().push(fd);
        slot.set_instance(Arc::clone(instance));
    }
}

/// Changes a member whose connection is taken over, as epoll_ctl(2) does. Returns `None` if the
/// kernel must do it.
///
/// # Errors
/// The `errno` of the kernel.
pub(crate) fn change_taken_over(
    epoll: c_int,
    operation: c_int,
    fd: c_int,
    event: Option<&epoll_event>,
) -> Option<Result<(), c_int>> {
    let slot = slots::stream(fd).filter(|slot| slot.stream.is_bypassing())?;
    let &epoll_event { events, u64: data } = event?;
    if !matches!(operation, libc::EPOLL_CTL_ADD | libc::EPOLL_CTL_MOD) {
        return None;
    }
    let instance = instance(epoll)?;
    if events & EXCLUSIVE != 0 {
        // The kernel does not change such a member.
        stream::hand_back(fd, Cause::Option);
        return None;
    }
    let mut set = instance.set();
    let known = set.get(fd).filter(|member| member.is_suspended).map(|member| member.data);
    let is_changed = |operation| instance.change_kernel(operation, fd, SILENT, data);
    match (operation, known) {
        (libc::EPOLL_CTL_MOD, Some(before)) => {
            if before != data && !is_changed(operation) {
                return Some(Err(errno()));
            }
            set.get(fd)?.change(events, data);
        }
        (libc::EPOLL_CTL_ADD, None) => {
            if !is_changed(operation) {
                return Some(Err(errno()));
            }
            set.insert(Member::new(fd, events, data, true));
            set.suspend(fd);
        }
        _ => return None,
    }
    set.note_events(events);
    set.add_candidate(fd);
    let member = set.get(fd).copied();
    drop(set);
    add_instance(slot, &instance);
    // A thread that sleeps has not named a member that is added, also one that was removed before.
    let is_added = operation == libc::EPOLL_CTL_ADD;
    if is_added || member.is_some_and(|member| member.ready().is_some()) {
        instance.wake();
    }
    Some(Ok(()))
}

/// Records the instance at a member.
fn add_instance(member: &Slot, instance: &Arc<Instance>) {
    if !has_instance(member, instance) {
        let mut instances = member.instances();
        instances.retain(|known| known.strong_count() > 0);
        instances.push(Arc::downgrade(instance));
    }
}

/// Returns `true` if the instance is recorded at a member.
fn has_instance(member: &Slot, instance: &Arc<Instance>) -> bool {
    member.instances().iter().any(|known| known.as_ptr() == Arc::as_ptr(instance))
}

/// Changes a tracked connection of the kernel by `call`, the program's epoll_ctl(2), and records
/// the change. Both are done under the lock, so that a takeover and a handback find the same as the
/// kernel. Returns `None` without the call if [`control`] must follow it.
///
/// # Safety
/// The event is valid for a call that succeeds, unless it removes the descriptor.
pub(crate) unsafe fn control_in_kernel(
    (epoll, operation, fd): (c_int, c_int, c_int),
    event: *const epoll_event,
    inside: &mut Inside,
    call: impl FnOnce() -> c_int,
) -> Option<c_int> {
    let (slot, member) = slots::epoll(epoll).zip(slots::stream(fd))?;
    let place = slot.epoll();
    let instance = place.as_ref()?;
    let is_added = operation == libc::EPOLL_CTL_ADD;
    if is_added && !has_instance(member, instance) {
        return None;
    }
    let mut set = instance.set();
    let known = set.get(fd).map(|member| member.is_suspended);
    if known == Some(true) || known.is_none() && operation == libc::EPOLL_CTL_MOD {
        return None;
    }
    let result = call();
    if result != 0 {
        return Some(result);
    }
    if operation == libc::EPOLL_CTL_DEL {
        set.remove(fd);
        return Some(result);
    }
    // SAFETY: the call has succeeded.
    let epoll_event { events, u64: data } = unsafe { *event };
    set.insert(Member::new(fd, events, data, true));
    drop(set);
    if is_added {
        // A sleeping thread must see the member.
        instance.wake();
        if member.stream.is_bypassing() {
            // The takeover may not have seen it.
            let instance = Arc::clone(instance);
            drop(place);
            inside.widen();
            if !suspend_in(&instance, fd) {
                stream::hand_back(fd, Cause::Option);
            }
        }
    }
    Some(result)
}

/// Follows a successful epoll_ctl(2) of the kernel.
pub(crate) fn control(epoll: c_int, operation: c_int, fd: c_int, event: Option<&epoll_event>) {
    let Some(instance) = instance(epoll) else { return };
    let Some(&epoll_event { events, u64: data }) =
        event.filter(|_| operation != libc::EPOLL_CTL_DEL)
    else {
        instance.set().remove(fd);
        return;
    };
    let is_member = instance.set().get(fd).is_some();
    // A TCP or UDP socket may be accelerated later.
    let is_tcp = match slots::handled(fd) {
        Some(slot) => Some(slot.is_stream()),
        None => protocol(fd).map(|protocol| protocol == libc::IPPROTO_TCP),
    };
    if !is_member && is_tcp.is_none() {
        return;
    }
    let Some(member) = slots::find_or_create(fd) else { return };
    add_instance(member, &instance);
    let new = Member::new(fd, events, data, is_tcp == Some(true));
    let is_new = instance.set().insert(new);
    if member.is_stream() && member.stream.is_bypassing() && !suspend_in(&instance, fd) {
        stream::hand_back(fd, Cause::Option);
    }
    if is_new || new.ready().is_some() {
        // A thread that waits for the instance must see the member.
        instance.wake();
    }
}

/// Stops the kernel from reporting a connection to one instance. Returns `false` if the kernel does
/// not permit it.
fn suspend_in(instance: &Instance, fd: c_int) -> bool {
    let mut set = instance.set();
    match set.suspend(fd) {
        Some(data) => instance.change_kernel(libc::EPOLL_CTL_MOD, fd, SILENT, data),
        None => true,
    }
}

/// Calls `on` with every instance that has the member.
fn for_each_with(fd: c_int, mut on: impl FnMut(&Instance)) {
    let Some(slot) = slots::find(fd) else { return };
    let instances = slot.instances().clone();
    for instance in instances.iter().filter_map(Weak::upgrade) {
        if instance.set().get(fd).is_some() {
            on(&instance);
        }
    }
}

/// Stops the kernel from reporting a connection that is taken over. Returns `false`, and changes
/// nothing, if the kernel does not permit it.
pub(crate) fn suspend(fd: c_int) -> bool {
    let mut is_done = true;
    for_each_with(fd, |instance| is_done = is_done && suspend_in(instance, fd));
    if !is_done {
        resume(fd);
    }
    is_done
}

/// Lets the kernel report a connection again. What is ready is an edge.
pub(crate) fn resume(fd: c_int) {
    for_each_with(fd, |instance| {
        // The lock is held during the call: a change of the program comes before or after it.
        let mut set = instance.set();
        if let Some(member) = set.resume(fd) {
            let events = member.kernel_events();
            instance.change_kernel(libc::EPOLL_CTL_MOD, fd, events, member.data);
        }
    });
}

/// Returns the protocol of a TCP or UDP socket; `None` for any other descriptor. A program may add
/// and remove a member for each message, so the kernel is asked once.
fn protocol(fd: c_int) -> Option<c_int> {
    let known = slots::find(fd).and_then(|slot| slot.protocol.get());
    known.or_else(|| {
        let option = |name| addresses::option(fd, libc::SOL_SOCKET, name);
        let protocol = option(libc::SO_PROTOCOL)?;
        let kind = match protocol {
            libc::IPPROTO_TCP => libc::SOCK_STREAM,
            libc::IPPROTO_UDP => libc::SOCK_DGRAM,
            _ => return None,
        };
        // Raw sockets have such protocols too.
        option(libc::SO_TYPE).filter(|found| *found == kind)?;
        slots::find_or_create(fd)?.protocol.set(Some(protocol));
        Some(protocol)
    })
}

/// Returns `true` if a member is accelerated, so that the instance must be polled in user space.
pub(crate) fn has_accelerated(instance: &Instance) -> bool {
    if !slots::is_any_accelerated() {
        return false;
    }
    let (has_taken_over, always) = {
        let set = instance.set();
        (set.has_taken_over(), set.always().to_vec())
    };
    // The lock is not held while members are checked: an instance may be a member.
    has_taken_over || always.iter().any(|fd| slots::is_accelerated(*fd))
}

/// Returns the descriptors that a thread waits for that waits for an instance.
pub(crate) fn interests(instance: &Instance) -> u64 {
    instance.set().members().fold(0, |all, member| {
        // The members of an instance that is a member may change meanwhile.
        let is_instance = slots::epoll(member.fd).is_some();
        all | if is_instance { u64::MAX } else { sleep::interest(member.fd) }
    })
}

/// Returns `true` if a member has something that the kernel does not know.
pub(crate) fn is_ready(instance: &Instance) -> bool {
    // The lock is not held while members are checked: an instance may be a member.
    let members = instance.set().unknown_to_kernel();
    members.iter().any(|member| member.ready().is_some())
}

/// Writes the events of the ready members. Returns how many.
pub(crate) fn take_ready(instance: &Instance, events: &mut [epoll_event]) -> usize {
    distribute_listed();
    let count = instance.set().begin_wait();
    let mut found = 0;
    for _ in 0..count {
        if found == events.len() {
            break;
        }
        // The lock is not held while a member is checked: a connection that is handed back changes
        // the members.
        let next = instance.set().next_candidate();
        let Some(member) = next else { break };
        let ready = member.ready();
        let mut set = instance.set();
        set.end_check(member.fd, ready.is_some());
        let Some((ready, arrivals)) = ready else { continue };
        let is_same = |it: &&mut Member| (it.seen, it.armed) == (member.seen, member.armed);
        let Some(member) = set.get(member.fd).filter(is_same) else { continue };
        member.seen = arrivals;
        if member.events & ONE_SHOT != 0 {
            member.armed = false;
            if !member.is_suspended {
                // The kernel keeps the member, without events.
                let (fd, data) = (member.fd, member.data);
                instance.change_kernel(libc::EPOLL_CTL_MOD, fd, ONE_SHOT, data);
            }
        }
        events[found] = epoll_event { events: ready, u64: member.data };
        found += 1;
    }
    found
}

/// Returns `true` if the kernel must be asked: once per interval, and when the call has to ask it
/// (`must_ask`) if no event was found, or if there are UDP sockets, whose writability it reports.
pub(crate) fn takes_kernel_turn(instance: &Instance, must_ask: bool, found: usize) -> bool {
    let mut set = instance.set();
    let now = clock::now_ns();
    let is_required = must_ask && (found == 0 || !set.always().is_empty());
    let is_due = is_required || now.saturating_sub(set.kernel_ns) >= KERNEL_INTERVAL_NS;
    if is_due {
        set.kernel_ns = now;
    }
    is_due
}

/// Follows a sleep in which the kernel had nothing, or is asked next.
pub(crate) fn set_kernel_asked(instance: &Instance) {
    instance.set().kernel_ns = clock::now_ns();
}

/// Merges `added` events of the kernel, which follow `found` of ours, into one event per member.
/// Returns how many remain of the kernel's.
pub(crate) fn merge(
    instance: &Instance,
    events: &mut [epoll_event],
    found: usize,
    added: usize,
) -> usize {
    let mut set = instance.set();
    let mut kept = 0;
    for at in found..found + added {
        let epoll_event { events: bits, u64: data } = events[at];
        if set.has_one_shot {
            let one_shot = set.members().filter(|it| it.events & ONE_SHOT != 0);
            one_shot.filter(|it| it.data == data).for_each(|it| it.armed = false);
        }
        let ours = events[..found].iter_mut().find(|ours| { ours.u64 } == data);
        match ours {
            // Members with the same data are reported each by an event of its own.
            Some(ours) if set.members().filter(|it| it.data == data).count() == 1 => {
                ours.events |= bits;
            }
            _ => {
                events[found + kept] = epoll_event { events: bits, u64: data };
                kept += 1;
            }
        }
    }
    kept
}

/// Removes a descriptor that is about to be closed from all instances, or from its instance.
pub(crate) fn forget(fd: c_int, slot: &Slot) {
    if let Some(instance) = slot.take_instance() {
        instance.descriptors().retain(|known| *known != fd);
    }
    slot.protocol.set(None);
    let instances = std::mem::take(&mut *slot.instances());
    for instance in instances.iter().filter_map(Weak::upgrade) {
        instance.set().remove(fd);
    }
}
