//! The members of epoll instances that are accelerated sockets.
//!
//! The instance stays a kernel one, and each member stays registered there: the kernel reports
//! datagrams through the kernel socket, errors and writability. This module adds what bypasses the
//! kernel, and merges both.
//!
//! While a connection is taken over, the kernel's instance has it without events. What the program
//! changes meanwhile is recorded here without a call; the handback passes it on to the kernel.

mod set;

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};

use libc::epoll_event;

pub(crate) use self::set::EpollSet;
use self::set::Member;
use crate::slots::{self, Slot};
use crate::socket::KERNEL_INTERVAL_NS;
use crate::stream_counters::Cause;
use crate::{addresses, clock, real, sleep, stream};

const READABLE: u32 = (libc::EPOLLIN | libc::EPOLLRDNORM) as u32;
const WRITABLE: u32 = (libc::EPOLLOUT | libc::EPOLLWRNORM) as u32;
const EDGE: u32 = libc::EPOLLET as u32;
const ONE_SHOT: u32 = libc::EPOLLONESHOT as u32;
const EXCLUSIVE: u32 = libc::EPOLLEXCLUSIVE as u32;

/// The data of a member that is suspended in the kernel's instance: this number and the descriptor.
const SUSPENDED: u64 = 0xb529_7a4d << 32;

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
        for epoll in slot.instances().iter().copied().filter_map(slots::epoll) {
            if let Some(set) = epoll.epoll().as_deref_mut() {
                set.add_candidate(fd);
            }
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
        if !self.armed || self.is_removed || self.events & (READABLE | WRITABLE) == 0 {
            return None;
        }
        let slot = slots::handled(self.fd)?;
        let (ready, arrivals) = if slot.is_stream() {
            let ready = stream::ready(self.fd, slot)?;
            (u32::from(ready.events.cast_unsigned()), ready.arrivals)
        } else if slot.is_epoll() {
            (if is_ready(slot) { READABLE } else { 0 }, self.seen.wrapping_add(1))
        } else {
            let place = slot.socket();
            let socket = place.as_deref()?;
            (if socket.has_datagram() { READABLE } else { 0 }, socket.arrivals())
        };
        let ready = self.events & ready;
        let is_new = !self.is_edge_triggered() || arrivals != self.seen;
        (ready != 0 && is_new).then_some((ready, arrivals))
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
    let slot = slots::epoll(epoll)?;
    slots::stream(fd).filter(|slot| slot.stream.is_bypassing())?;
    let mut place = slot.epoll();
    let set = place.as_deref_mut()?;
    let member = set.get(fd).filter(|member| member.is_suspended)?;
    let is_member = !member.is_removed;
    match operation {
        libc::EPOLL_CTL_ADD if is_member => return Some(Err(libc::EEXIST)),
        libc::EPOLL_CTL_DEL | libc::EPOLL_CTL_MOD if !is_member => {
            return Some(Err(libc::ENOENT));
        }
        libc::EPOLL_CTL_DEL => member.is_removed = true,
        libc::EPOLL_CTL_ADD | libc::EPOLL_CTL_MOD => {
            let &epoll_event { events, u64: data } = event?;
            if events & EXCLUSIVE != 0 {
                drop(place);
                stream::hand_back(fd, Cause::Option);
                return None;
            }
            member.change(events, data);
            set.has_one_shot |= events & ONE_SHOT != 0;
            set.add_candidate(fd);
            let member = set.get(fd).copied();
            drop(place);
            if sleep::has_sleepers() && member.is_some_and(|member| member.ready().is_some()) {
                sleep::wake(epoll);
            }
        }
        _ => return None,
    }
    Some(Ok(()))
}

/// Follows a successful epoll_ctl(2) of the kernel.
pub(crate) fn control(epoll: c_int, operation: c_int, fd: c_int, event: Option<&epoll_event>) {
    let is_member = slots::epoll(epoll).is_some_and(|slot| has_member(slot, fd));
    let removes = operation == libc::EPOLL_CTL_DEL;
    if !is_member && (removes || !is_relevant(fd)) {
        return;
    }
    let (Some(slot), Some(member)) = (slots::find_or_create(epoll), slots::find_or_create(fd))
    else {
        return;
    };
    slot.set_epoll();
    {
        let mut instances = member.instances();
        instances.retain(|known| *known != epoll);
        if !removes {
            instances.push(epoll);
        }
    }
    let Some(&epoll_event { events, u64: data }) = event.filter(|_| !removes) else {
        if let Some(set) = slot.epoll().as_deref_mut() {
            set.remove(fd);
        }
        return;
    };
    let new = Member::new(fd, events, data, member.is_stream() || is_tcp(fd));
    let is_new = slot.epoll().get_or_insert_default().insert(new);
    if member.is_stream() && member.stream.is_bypassing() && !suspend_in(epoll, slot, fd) {
        stream::hand_back(fd, Cause::Option);
    }
    if is_new || new.ready().is_some() {
        // A thread that waits for the instance must see the member.
        sleep::wake(epoll);
    }
}

/// Stops the kernel from reporting a connection to one instance. Returns `false` if the kernel does
/// not permit it.
fn suspend_in(epoll: c_int, slot: &Slot, fd: c_int) -> bool {
    let mut place = slot.epoll();
    if !place.as_deref_mut().is_some_and(|set| set.suspend(fd)) {
        return true;
    }
    let data = SUSPENDED | u64::from(fd.cast_unsigned());
    set_kernel_events(epoll, libc::EPOLL_CTL_MOD, fd, 0, data)
}

/// Changes a member of the kernel's instance.
fn set_kernel_events(epoll: c_int, operation: c_int, fd: c_int, events: u32, data: u64) -> bool {
    let mut event = epoll_event { events, u64: data };
    // SAFETY: the event outlives the call.
    unsafe { real::epoll_ctl(epoll, operation, fd, &raw mut event) == 0 }
}

fn has_member(slot: &Slot, fd: c_int) -> bool {
    slot.epoll().as_deref_mut().is_some_and(|set| set.get(fd).is_some())
}

/// Calls `on` with every instance that has the member.
fn for_each_with(fd: c_int, mut on: impl FnMut(c_int, &'static Slot)) {
    let Some(slot) = slots::find(fd) else { return };
    let instances = slot.instances().clone();
    for epoll in instances {
        if let Some(slot) = slots::epoll(epoll)
            && has_member(slot, fd)
        {
            on(epoll, slot);
        }
    }
}

/// Stops the kernel from reporting a connection that is taken over. Returns `false`, and changes
/// nothing, if a thread waits in the kernel for an instance with that member, or if the kernel
/// does not permit it.
pub(crate) fn suspend(fd: c_int) -> bool {
    let mut is_done = true;
    for_each_with(fd, |epoll, slot| {
        is_done = is_done && suspend_in(epoll, slot, fd) && !slot.stream.is_used();
        for_each_with(epoll, |_, outer| is_done &= !outer.stream.is_used());
    });
    if !is_done {
        resume(fd);
    }
    is_done
}

/// Lets the kernel report a connection again. What is ready is an edge.
pub(crate) fn resume(fd: c_int) {
    for_each_with(fd, |epoll, slot| {
        // The lock is held during the call: a change of the program comes before or after it.
        let mut place = slot.epoll();
        let Some(member) = place.as_deref_mut().and_then(|set| set.resume(fd)) else { return };
        if member.is_removed {
            set_kernel_events(epoll, libc::EPOLL_CTL_DEL, fd, 0, 0);
        } else {
            let events = member.kernel_events();
            set_kernel_events(epoll, libc::EPOLL_CTL_MOD, fd, events, member.data);
        }
    });
}

/// Returns `true` for a UDP or TCP socket, which may be accelerated later, and for an instance with
/// such members.
fn is_relevant(fd: c_int) -> bool {
    slots::handled(fd).is_some() || is_kind(fd, libc::SOCK_DGRAM, libc::IPPROTO_UDP) || is_tcp(fd)
}

fn is_tcp(fd: c_int) -> bool {
    is_kind(fd, libc::SOCK_STREAM, libc::IPPROTO_TCP)
}

fn is_kind(fd: c_int, kind: c_int, protocol: c_int) -> bool {
    let is = |name, value| addresses::option(fd, libc::SOL_SOCKET, name) == Some(value);
    is(libc::SO_TYPE, kind) && is(libc::SO_PROTOCOL, protocol)
}

/// Returns `true` if a member is accelerated, so that the instance must be polled in user space.
pub(crate) fn has_accelerated(slot: &Slot) -> bool {
    slot.epoll().as_deref().is_some_and(|set| {
        set.has_taken_over() || set.always().iter().any(|fd| slots::is_accelerated(*fd))
    })
}

/// Returns the descriptors that a thread waits for that waits for an instance.
pub(crate) fn interests(slot: &Slot) -> u64 {
    let mut place = slot.epoll();
    let members = place.iter_mut().flat_map(|set| set.members());
    members.fold(0, |all, member| {
        // The members of an instance that is a member may change meanwhile.
        let is_instance = slots::epoll(member.fd).is_some();
        all | if is_instance { u64::MAX } else { sleep::interest(member.fd) }
    })
}

/// Returns `true` if a member has something that the kernel does not know.
pub(crate) fn is_ready(slot: &Slot) -> bool {
    // The lock is not held while members are checked: an instance may be a member.
    let members = slot.epoll().as_deref_mut().map(EpollSet::unknown_to_kernel).unwrap_or_default();
    members.iter().any(|member| member.ready().is_some())
}

/// Writes the events of the ready members. Returns how many.
pub(crate) fn take_ready(slot: &Slot, epoll: c_int, events: &mut [epoll_event]) -> usize {
    distribute_listed();
    let count = slot.epoll().as_deref_mut().map_or(0, EpollSet::begin_wait);
    let mut found = 0;
    for _ in 0..count {
        if found == events.len() {
            break;
        }
        // The lock is not held while a member is checked: a connection that is handed back changes
        // the members.
        let Some(member) = slot.epoll().as_deref_mut().and_then(EpollSet::next_candidate) else {
            break;
        };
        let ready = member.ready();
        let mut place = slot.epoll();
        let Some(set) = place.as_deref_mut() else { break };
        set.end_check(member.fd, ready.is_some());
        let Some((ready, arrivals)) = ready else { continue };
        let is_same =
            |it: &&mut Member| (it.seen, it.armed) == (member.seen, member.armed) && !it.is_removed;
        let Some(member) = set.get(member.fd).filter(is_same) else { continue };
        member.seen = arrivals;
        if member.events & ONE_SHOT != 0 {
            member.armed = false;
            if !member.is_suspended {
                // The kernel keeps the member, without events.
                let (fd, data) = (member.fd, member.data);
                set_kernel_events(epoll, libc::EPOLL_CTL_MOD, fd, ONE_SHOT, data);
            }
        }
        events[found] = epoll_event { events: ready, u64: member.data };
        found += 1;
    }
    found
}

/// Returns `true` if the kernel must be asked: once per interval, and when the call has to ask it
/// (`must_ask`) if no event was found, or if there are UDP sockets, whose writability it reports.
pub(crate) fn takes_kernel_turn(slot: &Slot, must_ask: bool, found: usize) -> bool {
    let mut place = slot.epoll();
    let Some(set) = place.as_deref_mut() else { return true };
    let now = clock::now_ns();
    let is_required = must_ask && (found == 0 || !set.always().is_empty());
    let is_due = is_required || now.saturating_sub(set.kernel_ns) >= KERNEL_INTERVAL_NS;
    if is_due {
        set.kernel_ns = now;
    }
    is_due
}

/// Follows a sleep in which the kernel had nothing, or is asked next.
pub(crate) fn set_kernel_asked(slot: &Slot) {
    if let Some(set) = slot.epoll().as_deref_mut() {
        set.kernel_ns = clock::now_ns();
    }
}

/// Merges `added` events of the kernel, which follow `found` of ours, into one event per member.
/// Returns how many remain of the kernel's.
pub(crate) fn merge(
    slot: &Slot,
    epoll: c_int,
    events: &mut [epoll_event],
    found: usize,
    added: usize,
) -> usize {
    let mut place = slot.epoll();
    let mut kept = 0;
    for at in found..found + added {
        let epoll_event { events: bits, u64: mut data } = events[at];
        if let Some(set) = place.as_deref_mut() {
            if data & !u64::from(u32::MAX) == SUSPENDED {
                let fd = (data as u32).cast_signed();
                match set.get(fd).filter(|member| member.armed) {
                    Some(member) if member.is_removed => {
                        set_kernel_events(epoll, libc::EPOLL_CTL_DEL, fd, 0, 0);
                        set.remove(fd);
                        continue;
                    }
                    Some(member) => data = member.data,
                    None => continue,
                }
            }
            if set.has_one_shot {
                let one_shot = set.members().filter(|it| it.events & ONE_SHOT != 0);
                one_shot.filter(|it| it.data == data).for_each(|it| it.armed = false);
            }
        }
        let ours = events[..found].iter_mut().find(|ours| { ours.u64 } == data);
        match ours {
            Some(ours) => ours.events |= bits,
            None => {
                events[found + kept] = epoll_event { events: bits, u64: data };
                kept += 1;
            }
        }
    }
    kept
}

/// Removes a descriptor that is about to be closed from all instances, or an instance's members.
pub(crate) fn forget(fd: c_int, slot: &Slot) {
    if slot.is_epoll() {
        *slot.epoll() = None;
        return slot.set_plain();
    }
    let instances = std::mem::take(&mut *slot.instances());
    for instance in instances.into_iter().filter_map(slots::epoll) {
        if let Some(set) = instance.epoll().as_deref_mut() {
            set.remove(fd);
        }
    }
}
